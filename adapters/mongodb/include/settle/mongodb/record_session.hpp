// SPDX-License-Identifier: BSL-1.0
// The store: the records of some collections of one database.
#pragma once

#include <settle/adapter/one_phase.hpp>
#include <settle/adapter/waves_under_way.hpp>
#include <settle/mongodb/log_session.hpp>
#include <settle/mongodb/mark_listing.hpp>
#include <settle/mongodb/record_creation.hpp>
#include <settle/mongodb/units_of_work.hpp>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   the database outlives its sessions; threads may share a session
/// Cost:    on a replica set a wave is one native transaction, whatever its size: a read and a bulk
///          of writes for each collection, and a commit. On a single server it is a read and a bulk
///          that changes each record only if it is unchanged since its read. A single transaction
///          first tries a bulk without reading
template <typename... Collections>
class record_session {
    using one_phase_requests = std::span<one_phase_request* const>;
    using call = settle::detail::one_phase_call;
    using groups = settle::detail::groups<call>;

public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    /// Shape:   readers - see tutorial_session
    explicit record_session(detail::server& with, detail::record_layout layout = {},
                            detail::bare_readers<Collections...> const& readers = {})
        : server_(&with), layout_(std::move(layout)), readers_(readers),
          groups_(std::make_shared<groups>(most_leaders, largest_group)),
          backoff_(std::make_shared<detail::backoff>()),
          held_up_(std::make_shared<detail::held_up>()) {}

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        if (requests.empty()) return;
        std::vector<part_result> kept;
        auto const ended = perform(requests, kept);
        settle::detail::set_results(results, kept, ended);
    }

    /// Begins a wave in its own thread.
    void start(std::span<part_request const> requests, std::span<part_result> results) {
        bool const begun =
            beside_ && !requests.empty() && beside_->start(results, [this, requests](auto& kept) {
                return perform(requests, kept);
            });
        if (!begun) execute(requests, results);
    }
    void finish(std::span<part_result> results) {
        if (beside_) beside_->finish(results);
    }
    /// Announces other stores: from now on waves overlap theirs.
    void expect_others() { beside_ = std::make_shared<settle::detail::waves_under_way>(); }
    void abandon(std::span<part_result> results) noexcept {
        if (beside_) beside_->abandon(results);
    }

    /// Shape:   log - of the same database, which has native transactions
    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) {
        auto const all = settle::detail::pointers_to(requests);
        settle_all_of(all, log, at, decider);
    }
    static constexpr bool settles_in_one_phase = true;
    /// False on a single server, which has no native transactions.
    [[nodiscard]] bool can_settle_in_one_phase() const noexcept {
        return server_->has_transactions();
    }

    /// A record in the state of a majority, or with weak writes in the state of the primary.
    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        try {
            auto with = server_->connect();
            detail::unit_of_work<C> here{layout_};
            here.expect(key);
            here.fetch(with);
            return here.only_record();
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    /// Errors:  errc::record_exists when a record has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        result<void> answer;
        create_all<C>({&record, 1}, {&answer, 1});
        return answer;
    }

    /// As create for each record, in one command.
    template <typename C>
    void create_all(std::span<typename C::record_type const> wave,
                    std::span<result<void>> answers) {
        detail::create_records<C>(*server_, layout_, wave, answers);
    }

    /// Lists records in the order of their keys, behind a key.
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        std::vector<typename C::record_type> found;
        if (limit == 0) return found;
        try {
            auto with = server_->connect();
            detail::document filter;
            if (after) {
                auto const locator =
                    detail::locator_of(with, C::name, layout_, stored_key<C>(*after));
                using key = typename C::key_type;
                detail::append_behind_key<key>(filter, layout_, *locator.find(layout_.key), "$gt");
            }
            detail::unit_of_work<C> const here{layout_};
            with.find(C::name, filter, detail::page_of(layout_.key, limit), "read records",
                      [&](detail::document const& one) { found.push_back(here.record_of(one)); });
        } catch (failure const& caught) {
            return caught.problem();
        }
        return found;
    }

    /// Lists marks in the order of the collections, the keys, the transactions and their parts.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                          std::size_t limit) {
        std::vector<mark_locator> found;
        bool reached = !after;
        try {
            auto with = server_->connect();
            auto const look_at = [&]<typename C>(std::type_identity<C>) {
                bool const here = !reached && after->collection == C::name;
                if (reached || here) {
                    detail::mark_listing<C>{layout_}.append(with, found, here ? &*after : nullptr,
                                                            limit);
                }
                reached = reached || here;
            };
            (look_at(std::type_identity<Collections>{}), ...);
        } catch (failure const& caught) {
            return caught.problem();
        }
        return found;
    }

    /// Ends a mark if it still has the locator's epoch.
    result<answer> resolve(mark_locator const& where, bool confirmed) {
        result<answer> reply = answer::nothing;
        auto const resolve_in = [&]<typename C>(std::type_identity<C>) {
            auto const* const key = std::get_if<stored_key<C>>(&where.key);
            if (where.collection != C::name || key == nullptr) return;
            reply = at_record<C>(*key, [&](auto& unit) { return unit.resolve(where, confirmed); });
        };
        (resolve_in(std::type_identity<Collections>{}), ...);
        return reply;
    }

protected:
    using units_of_work = detail::units_of_work<Collections...>;
    template <typename C>
    using stored_key = typename detail::unit_of_work<C>::stored_key;

    /// Reads a record, lets a function change it, and writes the change.
    template <typename C, typename Function>
    result<answer> at_record(stored_key<C> const& key, Function&& function) {
        answer reply = answer::nothing;
        auto const read_record = [&](units_of_work& here, detail::link& with) {
            auto& unit = here.template get<C>();
            unit.expect(key);
            here.fetch(with);
            reply = function(unit);
        };
        auto const ended = in_units(read_record, detail::for_long);
        if (ended.status != detail::commit_status::committed) return ended.problem;
        return reply;
    }

    /// Executes requests on their records, and writes the changes.
    /// Shape:   function(units, link) - called again from the start after a conflict, a fault of a
    ///          record or a failed conditional update; how - the effort after conflicts; first -
    ///          how the first attempt reads, while all later attempts read everything
    using action = settle::detail::function_view<void(units_of_work&, detail::link&)>;
    detail::commit_result in_units(action function,
                                   detail::effort how = detail::effort_for(1, true),
                                   detail::reading first = detail::reading::always) {
        if (!server_->has_transactions()) return in_units_apart(function, first);
        using detail::writing;
        if (!how.names || how.longest.count() > 0) {
            auto ended = in_units_together(function, how.longest, first, writing::together);
            if (!how.names || !detail::is_conflict(ended)) return ended;
        }
        return in_units_together(function, {}, detail::reading::always, writing::separately);
    }

    /// Settles one-phase requests, in their order.
    void settle_all_of(one_phase_requests all, log_session& log, write_context const& at,
                       one_phase_decider& decider) {
        settle::detail::for_each_run(
            all, [&](auto const* one) { return held_up_->contains(*one->id); },
            [&](one_phase_requests some, bool held) {
                call mine{some, at, decider};
                bool id_was_there = false;
                if (some.size() == 1 && !held && settled_together(mine, log, id_was_there)) return;
                settle_apart(mine, log, !held, id_was_there);
            });
    }

private:
    /// Shape:   longest - time limit of the repetitions
    detail::commit_result in_units_together(action function, std::chrono::milliseconds longest,
                                     detail::reading first, detail::writing how_written) {
        std::unique_ptr<units_of_work> earlier;
        for (auto how = first;; how = detail::reading::always) {
            auto const before = earlier ? earlier->faults() : 0;
            bool missed = false;
            detail::native_transaction native{*server_};
            auto ended = native.perform([&](detail::link& with) {
                auto here = units_after(earlier, how);
                function(*here, with);
                detail::commit_result ignored{};
                try {
                    bool const all = here->write(with, how_written, ignored);
                    missed = !all && how == detail::reading::if_needed;
                } catch (...) {
                    earlier = std::move(here);
                    throw;
                }
                // The exception aborts the native transaction.
                if (missed) throw failure({make_error_code(errc::stopped), "a record differs"});
            }, longest);
            bool const faulty = ended.status == detail::commit_status::undone && earlier &&
                                detail::is_of_one_record(ended.problem.code) &&
                                earlier->faults() > before;
            if (how == detail::reading::if_needed) backoff_->ended(!missed && !faulty);
            if (!missed && !faulty) return ended;
        }
    }

    /// Without native transactions each record changes alone, if it is unchanged since its read. A
    /// repetition finds its own earlier changes.
    detail::commit_result in_units_apart(action function, detail::reading first) {
        auto with = server_->connect();
        std::unique_ptr<units_of_work> earlier;
        bool wrote = false;
        detail::pauses between;
        for (auto how = first;; how = detail::reading::always) {
            detail::commit_result ended{};
            auto here = units_after(earlier, how);
            bool const wrote_before = wrote;
            bool all = false;
            try {
                function(*here, with);
                wrote = true;
                all = here->write(with, detail::writing::as_read, ended);
            } catch (failure const& caught) {
                return {wrote ? detail::commit_status::unknown : detail::commit_status::undone,
                        caught.problem()};
            }
            bool const unread = how == detail::reading::if_needed;
            bool const missed = !all && ended.problem.empty();
            if (unread) backoff_->ended(!missed);
            if (wrote_before && !ended.problem.empty())
                ended.status = detail::commit_status::unknown;
            if (!missed) return ended;
            earlier = std::move(here);
            if (!unread && !between.next()) {
                return {detail::commit_status::unknown,
                        {make_error_code(errc::store_unreachable),
                         "settle: others changed the same records again and again. "
                         "See mongodb#errors"}};
            }
        }
    }

    /// How a single transaction reads first.
    [[nodiscard]] detail::reading first_reading() {
        bool const tried = layout_.is_own() && backoff_->is_tried();
        return tried ? detail::reading::if_needed : detail::reading::always;
    }

    [[nodiscard]] std::unique_ptr<units_of_work>
    units_after(std::unique_ptr<units_of_work> const& earlier, detail::reading how) const {
        auto made = std::make_unique<units_of_work>(layout_, how, readers_);
        if (earlier) made->learn(*earlier);
        return made;
    }

    /// Executes a wave, and keeps the results. Only requests fail whose records other native
    /// transactions hold.
    detail::commit_result perform(std::span<part_request const> all,
                                  std::vector<part_result>& kept) {
        part_request const& first_one = all.front();
        bool const conditional =
            first_one.action == step::apply || first_one.action == step::confirm;
        // Two transactions of a wave may have one id, and different epochs.
        bool const alone = first_one.id == all.back().id;
        // A single transaction may change its records one by one.
        bool const unread =
            conditional && alone && layout_.is_own() && !held_up_->contains(*first_one.id);
        if (!server_->has_transactions()) {
            return execute_all(all, kept, detail::effort_for(1, true),
                               unread ? first_reading() : detail::reading::always);
        }
        bool sent = false;
        if (unread && first_reading() == detail::reading::if_needed) {
            if (auto const ended = without_reading(all, kept, sent)) return *ended;
        }
        kept.resize(all.size());
        settle::detail::for_each_run(
            all, [&](part_request const& one) { return held_up_->contains(*one.id); },
            [&](std::span<part_request const> some, bool held) {
                bool first = !held;
                detail::in_halves(some, [&](std::span<part_request const> half) {
                    auto const before = static_cast<std::size_t>(half.data() - all.data());
                    auto const how = detail::effort_for(half.size(), std::exchange(first, false));
                    return perform_some(half, {&kept[before], half.size()}, how, sent);
                });
            });
        return {};
    }

    /// False when nothing was done, and each half is to be tried alone.
    bool perform_some(std::span<part_request const> some, std::span<part_result> kept,
                      detail::effort how, bool sent) {
        bool const one = some.size() == 1;
        std::vector<part_result> made;
        auto ended = execute_all(some, made, how);
        bool const held = detail::is_conflict(ended);
        if (held && !one) return false;
        if (one) held_up_->note(*some.front().id, held);
        // An earlier write without reading may have taken effect.
        if (sent && ended.status == detail::commit_status::undone)
            ended.status = detail::commit_status::unknown;
        settle::detail::set_results(kept, made, ended);
        return true;
    }

    detail::commit_result execute_all(std::span<part_request const> all,
                                      std::vector<part_result>& kept, detail::effort how,
                                      detail::reading first = detail::reading::always) {
        auto const execute_each = [&](units_of_work& here, detail::link& with) {
            kept.clear();
            for (auto const& one : all) here.expect(one);
            here.fetch(with);
            for (auto const& one : all) kept.push_back(execute_one(here, one));
        };
        return in_units(execute_each, how, first);
    }

    /// Changes each record alone, if that needs no reading. Otherwise a native transaction must
    /// read: on a new primary the majority's state may be older than an acknowledged write, and
    /// only a commit proves that the state was current. Nothing when a record did not match its
    /// conditional update or must be read.
    /// Shape:   sent - becomes true when a write may have taken effect
    std::optional<detail::commit_result>
    without_reading(std::span<part_request const> all, std::vector<part_result>& kept, bool& sent) {
        kept.clear();
        detail::commit_result ended{};
        units_of_work here{layout_, detail::reading::if_needed, readers_};
        for (auto const& one : all) here.expect(one);
        if (here.have_to_read()) return std::nullopt;
        for (auto const& one : all) kept.push_back(execute_one(here, one));
        bool took_effect = false;
        try {
            auto with = server_->connect();
            sent = true;
            took_effect = here.write_unread(with, ended);
        } catch (failure const& caught) {
            return detail::commit_result{detail::commit_status::unknown, caught.problem()};
        }
        // After a miss the next attempt reads: a native transaction detects a held record at once.
        backoff_->ended(took_effect);
        if (!took_effect && ended.problem.empty()) return std::nullopt;
        return ended;
    }

    static part_result execute_one(units_of_work& here, part_request const& one) {
        try {
            return here.execute(one);
        } catch (failure const& caught) {
            return result_of_unusable(one.action, caught.problem());
        }
    }

    /// Enough leaders that a few threads do not wait for each other, and few enough that many
    /// threads share a native transaction of limited size.
    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest_group = 1000;

    /// Shape:   one_id_twice - two of the requests may have the same id
    detail::commit_result settle_all(std::span<call* const> all, log_session& log,
                                     detail::effort how,
                                     detail::reading first = detail::reading::always,
                                     bool one_id_twice = false) {
        auto const settle_each = [&](units_of_work& here, detail::link& with) {
            auto const fresh = settle::detail::settle_side_by_side(
                here, all, [&] { here.fetch(with); },
                [&](part_request const& part) { return execute_one(here, part); },
                [&](one_phase_request& one, write_context const& at) {
                    log.change_within(with, one, at);
                },
                one_id_twice ? &settle::detail::log_was_asked() : nullptr);
            if (!fresh.empty()) log.insert_within(with, fresh, all.front()->at);
        };
        return in_units(settle_each, how, first);
    }

    /// Shares a native transaction with the concurrent calls of other threads. False when this call
    /// must be tried alone.
    bool settled_together(call& mine, log_session& log, bool& id_was_there) {
        groups_->perform(mine, [&](auto& all) {
            auto const members = all.members();
            bool const alone = members.size() == 1;
            auto const ended = settle_all(members, log, detail::effort_for(members.size(), true),
                                          alone ? first_reading() : detail::reading::always);
            bool const held = detail::is_conflict(ended);
            if (alone) held_up_->note(*members.front()->requests.front()->id, held);
            // After a conflict each of several calls is tried alone, which finds the held record.
            if (alone || !held) all.end_all(ended);
        });
        id_was_there = mine.end && log_session::is_of_taken_id(mine.end->problem);
        if (!mine.end || !is_same_for_each(*mine.end)) return false;
        if (mine.end->status != detail::commit_status::committed) mine.set_all(*mine.end);
        return true;
    }

    /// Shape:   first - see detail::effort_for; id_was_there - an insert found its id taken
    void settle_apart(call const& mine, log_session& log, bool first, bool id_was_there = false) {
        std::vector<one_phase_request*> left(mine.requests.begin(), mine.requests.end());
        if (id_was_there) static_cast<void>(log.remove_taken(left, false));
        while (!left.empty()) {
            std::size_t const count = left.size();
            call rest{left, mine.at, mine.decider};
            call* const only = &rest;
            auto ended = settle_all({&only, 1}, log, detail::effort_for(count, first),
                                    detail::reading::always, id_was_there);
            if (count == 1) held_up_->note(*left.front()->id, detail::is_conflict(ended));
            if (ended.status == detail::commit_status::committed) return;
            // The first look reads the majority's state; the next also finds newer entries.
            auto const looked = log.remove_rejected(left, ended.problem, mine.at, id_was_there);
            if (!looked.has_value()) ended.problem = looked.problem();
            bool const first_time = log_session::is_of_taken_id(ended.problem) &&
                                    !std::exchange(id_was_there, true);
            if (looked.has_value() && (first_time || left.size() < count)) continue;
            bool const of_some = ended.problem.code == errc::bad_parameters ||
                                 detail::is_conflict(ended);
            one_phase_requests const all{left};
            if (!of_some || count == 1) return call{all, mine.at, mine.decider}.set_all(ended);
            // Halving finds the request with the failed entry or record.
            for (auto const& half : {all.first(all.size() / 2), all.subspan(all.size() / 2)}) {
                settle_apart(call{half, mine.at, mine.decider}, log, false);
            }
            return;
        }
    }

    detail::server* server_;
    detail::record_layout layout_;
    detail::bare_readers<Collections...> readers_;
    std::shared_ptr<groups> groups_;
    std::shared_ptr<detail::backoff> backoff_;
    std::shared_ptr<detail::held_up> held_up_;
    std::shared_ptr<settle::detail::waves_under_way> beside_; ///< null without other stores
};

} // namespace mongodb
SETTLE_END
