// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: what an engine hands its waves to.
#pragma once

#include <settle/mongodb/desk.hpp>
#include <settle/mongodb/group.hpp>
#include <settle/mongodb/log_session.hpp>

#include <tuple>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   the database outlives its sessions; threads may share one
/// Cost:    on a replica set a wave is one native transaction, however many operations: a read and
///          a bulk of writes for each collection, and a commit. On a single server it is a read and
///          a bulk, in which a record changes only if it still stands as it was read. A transaction
///          that goes alone first tries a bulk without reading
template <typename... Collections>
class record_session {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    explicit record_session(detail::server& with, detail::record_layout layout = {})
        : server_(&with), layout_(std::move(layout)),
          together_(std::make_shared<detail::group<wish>>()),
          luck_(std::make_shared<detail::luck>()) {}

    /// Answers every due part of this session's collections: `unavailable` when it took no effect,
    /// `record_unusable` when it never will, `unknown` when its acknowledgement was lost.
    template <step Step, typename Direction>
    void start(std::span<job> wave) {
        settle::detail::answer_in_native<holds, Step, Direction>(wave, [&](auto& kept) {
            auto const meet_all = [&](desks& here, detail::link& with) {
                kept.clear();
                for_each_operation<holds, Step, Direction>(
                    wave, [&](auto const& one) { here.of(one).expect(one); });
                here.fetch(with);
                for_each_operation<holds, Step, Direction>(
                    wave, [&](auto const& one) { kept.push_back(meet<Step>(here, one)); });
            };
            if constexpr (Step == step::apply || Step == step::confirm) {
                if (settle::detail::jobs_of(wave, Step).size() == 1) {
                    return at_desks_unread(meet_all, &record_session::try_apart);
                }
            }
            return at_desks(meet_all);
        });
    }

    template <step Step, typename Direction>
    void finish(std::span<job>) {}

    /// Settles transactions at once, each as `judge(job)` has it, in the order of the wave: every
    /// part and the entry in one native transaction.
    /// Shape:   log - of the same database, which has native transactions
    template <typename Direction, typename Judge>
    void at_once(std::span<job> wave, log_session& log, occasion const& at, Judge&& judge) {
        auto jobs = settle::detail::jobs_of(wave, step::at_once);
        if (jobs.size() == 1 && settled_together<Direction>(*jobs.front(), log, at, judge)) return;
        while (!jobs.empty()) {
            std::vector<job*> fresh;
            auto ended = at_desks([&](desks& here, detail::link& with) {
                fresh.clear();
                for (auto* const work : jobs) expect_parts<Direction>(here, *work);
                here.fetch(with);
                for (auto* const work : jobs) {
                    if (settle_one<Direction>(here, with, *work, log, at, judge)) {
                        fresh.push_back(work);
                    }
                }
                if (!fresh.empty()) log.insert_within(with, fresh, at);
            });
            if (ended.fate == detail::fate::committed) return;
            if (ended.problem.code == std::error_code{duplicate_key, mongodb_category()}) {
                auto others = log.without_taken(jobs);
                if (!others.has_value()) {
                    ended.problem = others.problem();
                } else if (others.value().size() < jobs.size()) {
                    jobs = std::move(others.value());
                    continue;
                }
            }
            if (ended.problem.code == errc::bad_parameters) {
                auto const known = jobs.size();
                jobs = log.without_unfit(jobs, at, [](auto const&) {});
                if (jobs.size() < known) continue;
            }
            return settle::detail::say(jobs, ended);
        }
    }
    static constexpr bool settles_at_once = true;
    /// Not on a single server, which has no native transactions.
    [[nodiscard]] bool can_settle_at_once() const noexcept { return server_->has_transactions(); }

    /// A record as a majority has it.
    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        try {
            auto with = server_->connect();
            detail::desk<C> here{layout_};
            here.expect(key);
            here.fetch(with);
            return here.only_record();
        } catch (failure const& met) {
            return met.problem();
        }
    }

    /// Errors:  errc::record_exists when a record has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        try {
            auto with = server_->connect();
            detail::bulk one{with, C::name};
            one.insert(detail::record_codec<C>{layout_}.encode({record, {}}));
            auto const made = one.execute("create a record");
            if (!made.problem.empty()) return made.problem;
            if (made.refused.empty()) return {};
            auto const& refused = made.refused.front().problem;
            if (refused.code != std::error_code{duplicate_key, mongodb_category()}) return refused;
        } catch (failure const& met) {
            return met.problem();
        }
        return {errc::record_exists, "settle: a record with this key is in '" +
                                         std::string{C::name} + "' already. README#errors"};
    }

    /// Records in the order of their keys, beginning behind one of them.
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        std::vector<typename C::record_type> found;
        if (limit == 0) return found;
        detail::document filter;
        if (after) filter.object(layout_.key, compared<C>("$gt", *after));
        try {
            auto with = server_->connect();
            detail::desk<C> const here{layout_};
            with.find(C::name, filter, detail::page_of(layout_.key, limit), "read records",
                      [&](detail::document const& one) { found.push_back(here.record_of(one)); });
        } catch (failure const& met) {
            return met.problem();
        }
        return found;
    }

    /// Marks in the order of the collections, the keys, the transactions and their parts.
    result<std::vector<mark_place>> marks(std::optional<mark_place> const& after,
                                          std::size_t limit) {
        std::vector<mark_place> found;
        bool reached = !after;
        try {
            auto with = server_->connect();
            auto const look_at = [&]<typename C>(std::type_identity<C>) {
                bool const here = !reached && after->collection == C::name;
                if (reached || here) append_marks<C>(with, found, here ? &*after : nullptr, limit);
                reached = reached || here;
            };
            (look_at(std::type_identity<Collections>{}), ...);
        } catch (failure const& met) {
            return met.problem();
        }
        return found;
    }

    /// Ends a mark that still has the epoch of its place.
    result<answer> resolve(mark_place const& where, bool confirmed) {
        result<answer> said = answer::nothing;
        auto const resolve_in = [&]<typename C>(std::type_identity<C>) {
            auto const* const key = std::get_if<typename detail::desk<C>::stored_key>(&where.key);
            typename C::key_type typed{};
            if (where.collection != C::name || key == nullptr || !read_key(*key, typed)) return;
            said = at_record<C>(
                typed, [&](auto& table) { return table.resolve(where, confirmed); });
        };
        (resolve_in(std::type_identity<Collections>{}), ...);
        return said;
    }

protected:
    /// The desks of all collections, for one attempt.
    class desks {
    public:
        explicit desks(detail::record_layout const& layout,
                       detail::reading when = detail::reading::always)
            : all_(detail::desk<Collections>{layout, when}...) {}

        template <typename C>
        detail::desk<C>& get() {
            return std::get<detail::desk<C>>(all_);
        }
        template <typename Operation>
        auto& of(Operation const&) {
            return get<typename Operation::collection>();
        }
        void fetch(detail::link& with) { (get<Collections>().fetch(with), ...); }
        void learn(desks const& earlier) {
            (get<Collections>().learn(std::get<detail::desk<Collections>>(earlier.all_)), ...);
        }
        /// How many records are known to be unusable.
        [[nodiscard]] std::size_t faults() const {
            return (std::size_t{0} + ... +
                    std::get<detail::desk<Collections>>(all_).faults());
        }
        /// Whether every change took effect.
        bool write(detail::link& with, bool alone, detail::ending& ended) {
            bool all = true;
            bool wrote = false;
            auto const write_one = [&](auto& table) {
                detail::ending here{};
                all = table.write(with, alone, here) && all;
                wrote = wrote || (here.fate != detail::fate::undone && !table.empty());
                // What is worse stays.
                if (here.fate > ended.fate) ended = std::move(here);
            };
            (write_one(get<Collections>()), ...);
            if (ended.fate == detail::fate::undone && wrote) ended.fate = detail::fate::unknown;
            return all;
        }

    private:
        std::tuple<detail::desk<Collections>...> all_;
    };

    /// Lets a tutorial's session undo a mark of which it alone knows what it did.
    template <typename C, typename Function>
    result<answer> at_record(typename C::key_type const& key, Function&& function) {
        answer said = answer::nothing;
        auto const ended = at_desks([&](desks& here, detail::link& with) {
            auto& table = here.template get<C>();
            table.expect(key);
            here.fetch(with);
            said = function(table);
        });
        if (ended.fate != detail::fate::committed) return ended.problem;
        return said;
    }

    /// Lets operations meet their records, and writes what they change.
    /// Shape:   function(desks, link) - called anew, from the start, as long as others are in the
    ///          way or a record turns out to be unusable
    using action = settle::detail::function_view<void(desks&, detail::link&)>;
    detail::ending at_desks(action function) {
        auto known = std::make_unique<desks>(layout_);
        if (!server_->has_transactions()) return at_desks_apart(function, known);
        for (;;) {
            auto before = known->faults();
            detail::native_transaction native{*server_};
            auto ended = native.perform([&](detail::link& with) {
                auto here = desks_after(known);
                function(*here, with);
                detail::ending ignored{};
                try {
                    here->write(with, true, ignored);
                } catch (...) {
                    known = std::move(here);
                    throw;
                }
            });
            bool const again = ended.fate == detail::fate::undone &&
                               detail::is_of_one_record(ended.problem.code) &&
                               known->faults() > before;
            if (!again) return ended;
        }
    }

private:
    /// One attempt that reads only where it must.
    /// Returns: nothing when something was in the way
    using attempt = std::optional<detail::ending> (record_session::*)(action);

    /// Tries it without reading what is to be changed, and reads it when something was in the way.
    detail::ending at_desks_unread(action function, attempt tried) {
        if (!layout_.is_own() || !luck_->is_tried()) return at_desks(function);
        auto ended = (this->*tried)(function);
        luck_->ended(ended.has_value());
        if (ended) return *std::move(ended);
        auto then = at_desks(function);
        // Of writes that stand by themselves, some may have taken place before.
        bool const wrote = tried == &record_session::try_apart;
        if (wrote && then.fate == detail::fate::undone) then.fate = detail::fate::unknown;
        return then;
    }

    std::optional<detail::ending> try_apart(action function) {
        detail::ending ended{};
        bool began = false;
        try {
            auto with = server_->connect();
            desks here{layout_, detail::reading::if_needed};
            function(here, with);
            began = true;
            bool const all = here.write(with, false, ended);
            if (!all && ended.problem.empty()) return std::nullopt;
        } catch (failure const& met) {
            return detail::ending{began ? detail::fate::unknown : detail::fate::undone,
                                  met.problem()};
        }
        return ended;
    }

    std::optional<detail::ending> try_in_native(action function) {
        bool mistaken = false;
        std::unique_ptr<desks> here;
        detail::native_transaction native{*server_};
        auto ended = native.perform([&](detail::link& with) {
            here = std::make_unique<desks>(layout_, detail::reading::if_needed);
            function(*here, with);
            detail::ending ignored{};
            mistaken = !here->write(with, true, ignored);
            // Leaves nothing done.
            if (mistaken) throw failure({make_error_code(errc::stopped), "a record differs"});
        });
        bool const faulty = ended.fate == detail::fate::undone && here && here->faults() > 0;
        if (mistaken || faulty) return std::nullopt;
        return ended;
    }

    /// Without native transactions each record changes by itself, if it is as it was read. Who
    /// looks again at a part that has changed already finds it as it left it.
    detail::ending at_desks_apart(action function, std::unique_ptr<desks>& known) {
        auto with = server_->connect();
        bool wrote = false;
        for (detail::pauses between;;) {
            detail::ending ended{};
            auto here = desks_after(known);
            bool const wrote_before = wrote;
            try {
                function(*here, with);
                wrote = true;
                if (here->write(with, false, ended)) return ended;
            } catch (failure const& met) {
                return {wrote ? detail::fate::unknown : detail::fate::undone, met.problem()};
            }
            if (wrote_before && !ended.problem.empty()) ended.fate = detail::fate::unknown;
            if (!ended.problem.empty()) return ended;
            known = std::move(here);
            if (!between.next()) {
                return {detail::fate::unknown,
                        {make_error_code(errc::store_unreachable),
                         "settle: others changed the same records again and again. "
                         "README#mongodb-errors"}};
            }
        }
    }

    [[nodiscard]] std::unique_ptr<desks> desks_after(std::unique_ptr<desks> const& known) const {
        auto made = std::make_unique<desks>(layout_);
        made->learn(*known);
        return made;
    }

    template <step Step, typename Operation>
    static settle::detail::kept_answer meet(desks& here, Operation const& one) {
        using settle::detail::kept_answer;
        try {
            return kept_answer::of(here.of(one).meet(one));
        } catch (failure const& met) {
            return kept_answer::of_unusable(Step, met.problem());
        }
    }

    template <typename Direction>
    static void expect_parts(desks& here, job& work) {
        for_each_part<holds, step::at_once, Direction>(
            work, [](std::size_t) { return true; },
            [&](auto const& one) { here.of(one).expect(one); });
    }

    /// True when its entry is to be inserted with those of the others, as if the id were new.
    template <typename Direction, typename Judge>
    static bool settle_one(desks& here, detail::link& with, job& work, log_session& log,
                           occasion const& at, Judge& judge) {
        bool inserts = false;
        settle::detail::settle_in_native<holds, Direction>(
            work, judge, [](std::size_t) {},
            [&](auto const& one) {
                try {
                    one.answered(here.of(one).meet(one));
                } catch (failure const& met) {
                    one.failed(answer::record_unusable, met.problem());
                }
            },
            [&] {
                inserts = work.coordinator.inserts();
                if (!inserts) log.change_within(with, work, at);
            },
            [&](auto const& one, bool done) { here.of(one).end_at_once(one, done); });
        return inserts;
    }

    /// One transaction that is to settle at once, beside those of other threads.
    struct wish {
        job* work;
        occasion const* at;
        void* judge;
        void (*expect)(desks&, job&);
        bool (*settle)(wish const&, desks&, detail::link&, log_session&);
    };

    /// Shares a native transaction with what other threads want at this moment. False when it must
    /// be tried alone.
    template <typename Direction, typename Judge>
    bool settled_together(job& work, log_session& log, occasion const& at, Judge& judge) {
        wish mine{&work, &at, const_cast<void*>(static_cast<void const*>(std::addressof(judge))),
                  [](desks& here, job& one) { expect_parts<Direction>(here, one); },
                  [](wish const& one, desks& here, detail::link& with, log_session& to) {
                      return settle_one<Direction>(here, with, *one.work, to, *one.at,
                                                   *static_cast<Judge*>(one.judge));
                  }};
        auto const ended = together_->join(mine, [&](std::span<wish* const> all) {
            auto const settle_all = [&](desks& here, detail::link& with) {
                std::vector<job*> fresh;
                for (wish* const one : all) one->expect(here, *one->work);
                here.fetch(with);
                for (wish* const one : all) {
                    if (one->settle(*one, here, with, log)) fresh.push_back(one->work);
                }
                if (!fresh.empty()) log.insert_within(with, fresh, at);
            };
            if (all.size() > 1) return at_desks(settle_all);
            return at_desks_unread(settle_all, &record_session::try_in_native);
        });
        if (!ended) return false;
        if (ended->fate == detail::fate::committed) return true;
        auto const& code = ended->problem.code;
        bool const of_all = code == condition::unknown || code == condition::retryable;
        if (ended->fate == detail::fate::undone && !of_all) return false;
        settle::detail::say(work, *ended);
        return true;
    }

    static bool read_key(std::string const& stored, std::string& key) {
        key = stored;
        return true;
    }
    template <typename Key>
    static bool read_key(std::int64_t stored, Key& key) {
        return from_integer(stored, key);
    }

    template <typename C>
    static detail::document compared(char const* how, typename C::key_type const& key) {
        detail::document made;
        detail::append_field(made, how, key);
        return made;
    }

    template <typename C>
    void append_marks(detail::link& with, std::vector<mark_place>& found, mark_place const* after,
                      std::size_t limit) const {
        if (found.size() >= limit) return;
        detail::document filter;
        detail::document there;
        filter.object(std::string{detail::marks_field} + ".0", there.boolean("$exists", true));
        if (after != nullptr) {
            detail::document from;
            std::visit(
                [&](auto const& key) { detail::append_field(from, "$gte", key); }, after->key);
            filter.object(layout_.key, from);
        }
        auto options = detail::page_of(layout_.key, limit - found.size() + 1);
        detail::document fields;
        fields.integer(detail::marks_field, 1).integer(layout_.key, 1);
        options.object("projection", fields);
        detail::desk<C> const here{layout_};
        with.find(C::name, filter, std::move(options), "read marks",
                  [&](detail::document const& one) {
                      auto all = here.marks_of(one);
                      for (mark_place& place : all) {
                          bool const behind =
                              after == nullptr || place.key != after->key ||
                              std::tie(place.id, place.part) > std::tie(after->id, after->part);
                          if (behind && found.size() < limit) found.push_back(std::move(place));
                      }
                  });
    }

    detail::server* server_;
    detail::record_layout layout_;
    std::shared_ptr<detail::group<wish>> together_;
    std::shared_ptr<detail::luck> luck_;
};

} // namespace mongodb
SETTLE_END
