// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session, lists marks, reads and creates records.
#pragma once

#include <settle/adapter/conditional_tries.hpp>
#include <settle/adapter/one_phase.hpp>
#include <settle/adapter/waves_under_way.hpp>
#include <settle/mongodb/mark_listing.hpp>
#include <settle/mongodb/record_store.hpp>
#include <settle/mongodb/unit_of_work.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

class record_waves final : public record_store {
public:
    record_waves(server& with, record_layout const& layout, std::span<bound_collection const> bound)
        : server_(&with), layout_(layout) {
        for (auto const& one : bound) codecs_.emplace_back(one, layout);
    }

    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        if (requests.empty()) return;
        std::vector<part_result> kept;
        auto const ended = perform(requests, kept);
        settle::detail::set_results(results, kept, ended);
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        bool const begun =
            beside_ && !requests.empty() && beside_->start(results, [this, requests](auto& kept) {
                return perform(requests, kept);
            });
        if (!begun) execute(requests, results);
    }
    void finish(std::span<part_result> results) override {
        if (beside_) beside_->finish(results);
    }
    void expect_others() override { beside_ = std::make_unique<settle::detail::waves_under_way>(); }
    void abandon(std::span<part_result> results) noexcept override {
        if (beside_) beside_->abandon(results);
    }

    void one_phase(one_phase_requests all, log_session& log, write_context const& at,
                   one_phase_decider& decider) override {
        settle::detail::for_each_run(
            all, [&](auto const* one) { return held_up_.contains(*one->id); },
            [&](one_phase_requests some, bool held) {
                call mine{some, at, decider};
                bool id_was_there = false;
                if (some.size() == 1 && !held && settled_together(mine, log, id_was_there)) return;
                settle_apart(mine, log, !held, id_was_there);
            });
    }

    result<void> read(std::size_t number, part_key const& key, made_record made) override {
        try {
            auto with = server_->connect();
            record_table here{codecs_[number]};
            here.expect(key);
            here.fetch(with);
            here.copy_only_record(with, made);
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record made) override {
        if (limit == 0) return {};
        record_codec const& codec = codecs_[number];
        try {
            auto with = server_->connect();
            bool empty = true;
            document filter;
            if (after != nullptr) {
                auto const locator = locator_of(with, codec, *after);
                append_after_key(filter, codec, *locator.find(layout_.key), "$gt");
            }
            with.find(codec.collection(), filter, page_of(layout_.key, limit), "read records",
                      [&](document const& one) {
                          codec.read(one, made());
                          empty = false;
                      });
            if (!empty || after != nullptr) return {};
            auto absent = absence_of(with, codec.collection());
            return absent.empty() ? result<void>{} : result<void>{std::move(absent)};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    /// Creates records in one command. A record that is too large to send gets its own error: the
    /// others are created.
    void create_all(std::size_t number, record_at at, std::span<result<void>> answers) override {
        record_codec const& codec = codecs_[number];
        try {
            auto with = server_->connect();
            bulk all{with, codec.collection()};
            std::vector<result<void>*> sent;
            for (std::size_t one = 0; one < answers.size(); ++one) {
                try {
                    all.insert(codec.encode(at(one), {}));
                    sent.push_back(&answers[one]);
                } catch (failure const& caught) {
                    answers[one] = caught.problem();
                }
            }
            auto const made = all.execute("create records");
            for (auto* const one : sent) *one = made.problem;
            for (auto const& one : made.refused) {
                bool const taken = is_of_taken_key(one.problem, layout_.key);
                *sent[one.index] = taken ? record_exists_in(codec.collection()) : one.problem;
            }
        } catch (failure const& caught) {
            for (auto& one : answers) one = caught.problem();
        }
    }

    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        std::vector<mark_locator> found;
        bool reached = !after;
        try {
            auto with = server_->connect();
            for (record_codec const& one : codecs_) {
                bool const here = !reached && after->collection == one.collection();
                if (reached || here) {
                    mark_listing{one}.append(with, found, here ? &*after : nullptr, limit);
                }
                reached = reached || here;
            }
        } catch (failure const& caught) {
            return caught.problem();
        }
        return found;
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        bool const text = std::holds_alternative<std::string>(where.key);
        for (record_codec const& one : codecs_) {
            auto const& of = *one.of().of;
            if (where.collection != of.name || text != of.text_key) continue;
            auto const end = [&](record_table& table) { return table.end_mark(where, confirmed); };
            return at_record(of.target, settle::detail::view_of(where.key), end);
        }
        return answer::nothing;
    }

    result<answer>
    at_record(void const* target, part_key const& key,
              settle::detail::function_view<answer(record_table&)> function) override {
        answer reply = answer::nothing;
        auto const change = [&](unit_of_work& here, link& with) {
            auto& table = here.of(target);
            table.expect(key);
            table.fetch(with);
            reply = function(table);
        };
        auto const ended = in_unit(change, for_long);
        if (ended.status != commit_status::committed) return ended.problem;
        return reply;
    }

    commit_result in_unit(action function) override {
        return in_unit(function, effort_for(1, true));
    }

private:
    using call = settle::detail::one_phase_call;
    using groups = settle::detail::groups<call>;

    /// Shape:   how - the effort after conflicts; first - how the first attempt reads, while all
    ///          later attempts read everything
    commit_result in_unit(action function, effort how, reading first = reading::always) {
        if (!server_->has_transactions()) return in_unit_apart(function, first);
        if (!how.names || how.longest.count() > 0) {
            auto ended = in_unit_together(function, how.longest, first, writing::together);
            if (!how.names || !is_conflict(ended)) return ended;
        }
        return in_unit_together(function, {}, reading::always, writing::separately);
    }

    /// Shape:   longest - time limit of the repetitions
    commit_result in_unit_together(action function, std::chrono::milliseconds longest,
                                   reading first, writing how_written) {
        std::unique_ptr<unit_of_work> earlier;
        for (auto how = first;; how = reading::always) {
            auto const before = earlier ? earlier->faults() : 0;
            bool missed = false;
            native_transaction native{*server_};
            auto ended = native.perform(
                [&](link& with) {
                    auto here = std::make_unique<unit_of_work>(codecs_, how, earlier.get());
                    function(*here, with);
                    commit_result ignored{};
                    try {
                        bool const all = here->write(with, how_written, ignored);
                        missed = !all && how == reading::if_needed;
                    } catch (...) {
                        earlier = std::move(here);
                        throw;
                    }
                    // The exception aborts the native transaction.
                    if (missed) throw failure({make_error_code(errc::stopped), "a record differs"});
                },
                longest);
            bool const faulty = ended.status == commit_status::undone && earlier &&
                                is_of_one_record(ended.problem.code) && earlier->faults() > before;
            if (how == reading::if_needed) conditional_tries_.ended(!missed && !faulty);
            if (!missed && !faulty) return ended;
        }
    }
    /// Without native transactions each record changes alone, if it is unchanged since its read. A
    /// repetition finds its own earlier changes.
    commit_result in_unit_apart(action function, reading first) {
        auto with = server_->connect();
        std::unique_ptr<unit_of_work> earlier;
        bool wrote = false;
        retry_pauses between;
        for (auto how = first;; how = reading::always) {
            commit_result ended{};
            auto here = std::make_unique<unit_of_work>(codecs_, how, earlier.get());
            bool const wrote_before = wrote;
            bool all = false;
            try {
                function(*here, with);
                wrote = true;
                all = here->write(with, writing::as_read, ended);
            } catch (failure const& caught) {
                return {wrote ? commit_status::unknown : commit_status::undone, caught.problem()};
            }
            bool const unread = how == reading::if_needed;
            bool const missed = !all && ended.problem.empty();
            if (unread) conditional_tries_.ended(!missed);
            if (wrote_before && !ended.problem.empty()) ended.status = commit_status::unknown;
            if (!missed) return ended;
            earlier = std::move(here);
            if (!unread && !between.next()) {
                return {commit_status::unknown,
                        {make_error_code(errc::store_unreachable),
                         "settle: others changed the same records again and again. "
                         "See mongodb#errors"}};
            }
        }
    }

    /// How a single transaction reads first.
    [[nodiscard]] reading first_reading() {
        return layout_.is_own() && conditional_tries_.is_tried() ? reading::if_needed
                                                                 : reading::always;
    }

    /// Executes a wave, and puts its results into `kept`. If another native transaction holds a
    /// record, only the requests on that record fail.
    commit_result perform(std::span<part_request const> all, std::vector<part_result>& kept) {
        part_request const& first_one = all.front();
        bool const conditional =
            first_one.action == step::apply || first_one.action == step::confirm;
        // Two transactions of a wave may have one id, and different epochs.
        bool const alone = first_one.id == all.back().id;
        // A single transaction may change its records one by one.
        bool const unread =
            conditional && alone && layout_.is_own() && !held_up_.contains(*first_one.id);
        if (!server_->has_transactions()) {
            return execute_all(all, kept, effort_for(1, true),
                               unread ? first_reading() : reading::always);
        }
        bool sent = false;
        if (unread && first_reading() == reading::if_needed) {
            if (auto const ended = without_reading(all, kept, sent)) return *ended;
        }
        kept.resize(all.size());
        held_up_.isolate(all, [&](std::span<part_request const> some, bool first) {
            auto const before = static_cast<std::size_t>(some.data() - all.data());
            return perform_some(some, {&kept[before], some.size()}, effort_for(some.size(), first),
                                sent);
        });
        return {};
    }
    /// False when nothing was done, and each half is to be tried alone.
    bool perform_some(std::span<part_request const> some, std::span<part_result> kept, effort how,
                      bool sent) {
        bool const one = some.size() == 1;
        std::vector<part_result> made;
        auto ended = execute_all(some, made, how);
        bool const held = is_conflict(ended);
        if (held && !one) return false;
        if (one) held_up_.note(*some.front().id, held);
        // An earlier write without reading may have taken effect.
        if (sent && ended.status == commit_status::undone) ended.status = commit_status::unknown;
        settle::detail::set_results(kept, made, ended);
        return true;
    }
    commit_result execute_all(std::span<part_request const> all, std::vector<part_result>& kept,
                              effort how, reading first = reading::always) {
        auto const execute_each = [&](unit_of_work& here, link& with) {
            kept.clear();
            for (auto const& one : all) here.expect(one);
            here.fetch(with);
            for (auto const& one : all) kept.push_back(here.execute(one, with));
        };
        return in_unit(execute_each, how, first);
    }
    /// Changes each record alone, if that needs no reading. Otherwise a native transaction must
    /// read: on a new primary the majority's state may be older than an acknowledged write, and
    /// only a commit proves that the state was current. Nothing when a record did not match its
    /// conditional update or must be read.
    /// Shape:   sent - becomes true when a write may have taken effect
    std::optional<commit_result> without_reading(std::span<part_request const> all,
                                                 std::vector<part_result>& kept, bool& sent) {
        kept.clear();
        commit_result ended{};
        unit_of_work here{codecs_, reading::if_needed};
        for (auto const& one : all) here.expect(one);
        if (here.has_to_read()) return std::nullopt;
        bool took_effect = false;
        try {
            auto with = server_->connect();
            for (auto const& one : all) kept.push_back(here.execute(one, with));
            sent = true;
            took_effect = here.write_unread(with, ended);
        } catch (failure const& caught) {
            return commit_result{commit_status::unknown, caught.problem()};
        }
        // After a miss the next attempt reads: a native transaction detects a held record at once.
        conditional_tries_.ended(took_effect);
        if (!took_effect && ended.problem.empty()) return std::nullopt;
        return ended;
    }

    /// Shape:   one_id_twice - two of the requests may have the same id
    commit_result settle_all(std::span<call* const> all, log_session& log, effort how,
                             reading first = reading::always, bool one_id_twice = false) {
        auto const settle_each = [&](unit_of_work& here, link& with) {
            auto const fresh = settle::detail::settle_side_by_side(
                here, all, [&] { here.fetch(with); },
                [&](part_request const& part) { return here.execute(part, with); },
                [&](one_phase_request& one, write_context const& at) {
                    log.change_within(with, one, at);
                },
                one_id_twice ? &settle::detail::no_id_exists() : nullptr);
            if (!fresh.empty()) log.insert_within(with, fresh, all.front()->at);
        };
        return in_unit(settle_each, how, first);
    }
    /// Shares a native transaction with the concurrent calls of other threads. False when this call
    /// must be tried alone.
    bool settled_together(call& mine, log_session& log, bool& id_was_there) {
        groups_.perform(mine, [&](auto& all) {
            auto const members = all.members();
            bool const alone = members.size() == 1;
            auto const ended = settle_all(members, log, effort_for(members.size(), true),
                                          alone ? first_reading() : reading::always);
            bool const held = is_conflict(ended);
            if (alone) held_up_.note(*members.front()->requests.front()->id, held);
            // After a conflict each of several calls is tried alone, which finds the held record.
            if (alone || !held) all.end_all(ended);
        });
        id_was_there = mine.end && log_session::is_of_taken_id(mine.end->problem);
        if (!mine.end || !is_same_for_each(*mine.end)) return false;
        if (mine.end->status != commit_status::committed) mine.set_all(*mine.end);
        return true;
    }
    /// Shape:   first - see effort_for; id_was_there - an insert found its id taken
    void settle_apart(call const& mine, log_session& log, bool first, bool id_was_there = false) {
        std::vector<one_phase_request*> left(mine.requests.begin(), mine.requests.end());
        if (id_was_there) static_cast<void>(log.remove_taken(left, false));
        while (!left.empty()) {
            std::size_t const count = left.size();
            call rest{left, mine.at, mine.decider};
            call* const only = &rest;
            auto ended = settle_all({&only, 1}, log, effort_for(count, first), reading::always,
                                    id_was_there);
            if (count == 1) held_up_.note(*left.front()->id, is_conflict(ended));
            if (ended.status == commit_status::committed) return;
            // The first look reads the majority's state; the next also finds newer entries.
            auto const looked = log.remove_rejected(left, ended.problem, mine.at, id_was_there);
            if (!looked.has_value()) ended.problem = looked.problem();
            bool const first_time =
                log_session::is_of_taken_id(ended.problem) && !std::exchange(id_was_there, true);
            if (looked.has_value() && (first_time || left.size() < count)) continue;
            bool const of_some = ended.problem.code == errc::bad_parameters || is_conflict(ended);
            one_phase_requests const all{left};
            if (!of_some || count == 1) return call{all, mine.at, mine.decider}.set_all(ended);
            // Halving finds the request with the failed entry or record.
            for (auto const& half : {all.first(all.size() / 2), all.subspan(all.size() / 2)}) {
                settle_apart(call{half, mine.at, mine.decider}, log, false);
            }
            return;
        }
    }

    /// Enough leaders that a few threads do not wait for each other, and few enough that many
    /// threads share a native transaction of limited size.
    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest_group = 1000;

    server* server_;
    record_layout layout_;
    std::vector<record_codec> codecs_; ///< of the collections
    groups groups_{most_leaders, largest_group};
    settle::detail::conditional_tries conditional_tries_;
    held_up held_up_;
    std::unique_ptr<settle::detail::waves_under_way> beside_; ///< null without other stores
};

} // namespace mongodb::detail
SETTLE_END
