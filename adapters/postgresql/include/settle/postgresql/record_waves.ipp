// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_waves.hpp declares.
#pragma once

#include <settle/postgresql/record_waves.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace postgresql::detail {

/// True if the members of a wave must be tried apart: one of them failed.
[[nodiscard]] SETTLE_FUNCTION bool is_of_some(commit_result const& ended) {
    return ended.status == commit_status::undone &&
           (is_held(ended.problem.code) || is_of_one_record(ended.problem.code));
}

/// True if another program came between the read and the write of a record or an entry.
[[nodiscard]] inline bool is_overtaken(commit_result const& ended) {
    return ended.status == commit_status::undone && ended.problem.code == unique_violation;
}
inline constexpr int most_overtakes = 3;

/// Explains the failure of a statement that changed another number of rows than was meant.
SETTLE_FUNCTION void explain(commit_result& ended) {
    if (ended.problem.code != std::error_code{division_by_zero, postgresql_category()}) return;
    ended.problem = {make_error_code(errc::unfit_store),
                     "settle: a write changed fewer rows than were meant; has a trigger or row "
                     "security been added to a table since this program began? Remove it. "
                     "See postgresql#existing-tables"};
}

SETTLE_FUNCTION record_waves::record_waves(pool& with,
                                           std::span<collection_descriptor const* const> bound)
    : pool_(&with), marks_(with) {
    for (auto const* const one : bound) {
        tables_.push_back(std::make_unique<bound_table>(with, *one));
        bound_.push_back(one);
        by_number_.push_back(tables_.back().get());
    }
    // All programs lock the tables in this order.
    std::sort(tables_.begin(), tables_.end(), [](auto const& left, auto const& right) {
        return left->of().name < right->of().name;
    });
}

SETTLE_FUNCTION bool record_waves::must_read(commit_result const& ended) {
    if (ended.status != commit_status::undone) {
        backoff_.ended(true);
        return false;
    }
    // A request without a conditional update has sent nothing.
    if (ended.problem.code == errc::stopped) return true;
    if (!is_of_one_record(ended.problem.code) || is_overtaken(ended)) return false;
    backoff_.ended(false);
    return true;
}

template <typename Table>
void record_waves::execute_in(connection& on, std::span<part_request const> some,
                              std::vector<part_result>& made) {
    unit_of_work<Table> unit{tables_, marks_};
    made.clear();
    for (auto const& one : some) unit.expect(one);
    unit.send_reads(on);
    on.sync();
    unit.receive(on);
    for (auto const& one : some) made.push_back(unit.execute(one));
    unit.send_changes(on);
}

/// Executes requests in one native transaction.
template <typename Table>
commit_result record_waves::execute_by(std::span<part_request const> some,
                                       std::vector<part_result>& made) {
    native_transaction native{*pool_};
    return native.perform([&](connection& on) { execute_in<Table>(on, some, made); },
                          longest_repetition);
}

/// Whether a conditional update can have the effect of a wave.
[[nodiscard]] inline bool may_be_conditional(std::span<part_request const> wave) {
    return wave.front().action == step::apply || wave.front().action == step::confirm;
}

SETTLE_FUNCTION commit_result record_waves::execute_some(std::span<part_request const> some,
                                                         std::vector<part_result>& made) {
    if (may_be_conditional(some) && backoff_.is_tried()) {
        auto const ended = execute_by<conditional_table>(some, made);
        if (!must_read(ended) && !is_overtaken(ended)) return ended;
    }
    auto ended = execute_by<record_table>(some, made);
    for (int tries = 0; is_overtaken(ended) && tries < most_overtakes; ++tries) {
        ended = execute_by<record_table>(some, made);
    }
    explain(ended);
    return ended;
}

SETTLE_FUNCTION void record_waves::execute(std::span<part_request const> requests,
                                           std::span<part_result> results) {
    perform(requests, results);
}

SETTLE_FUNCTION void record_waves::start(std::span<part_request const> requests,
                                         std::span<part_result> results) {
    if (!beside_ || requests.empty()) return execute(requests, results);
    auto sent = send_ahead(requests);
    bool const is_sent = sent != nullptr;
    auto perform_all = [this, requests, sent = std::move(sent)](auto& kept) mutable {
        kept.resize(requests.size());
        bool const ended = sent && finish_sent(*sent, kept);
        sent.reset();
        if (!ended) perform(requests, kept);
        return commit_result{};
    };
    if (!beside_->start(results, std::move(perform_all), is_sent)) {
        execute(requests, results);
    }
}

SETTLE_FUNCTION std::unique_ptr<record_waves::sent_wave>
record_waves::send_ahead(std::span<part_request const> all) {
    bool const possible = may_be_conditional(all) &&
                          std::none_of(all.begin(), all.end(),
                                       [&](auto const& one) { return held_up_.contains(*one.id); });
    if (!possible) return nullptr;
    auto unused = pool_->take_unused();
    if (!unused || !backoff_.is_tried()) return nullptr;
    auto sent = std::make_unique<sent_wave>(sent_wave{{*pool_, *std::move(unused)}});
    auto const failed = sent->native.start(
        [&](connection& on) { execute_in<conditional_table>(on, all, sent->made); });
    return failed ? nullptr : std::move(sent);
}

SETTLE_FUNCTION bool record_waves::finish_sent(sent_wave& sent, std::span<part_result> kept) {
    auto const ended = sent.native.finish();
    if (must_read(ended) || ended.status == commit_status::undone) return false;
    settle::detail::set_results(kept, sent.made, ended);
    return true;
}

SETTLE_FUNCTION void record_waves::perform(std::span<part_request const> all,
                                           std::span<part_result> kept) {
    held_up_.isolate(all, [&](std::span<part_request const> some, bool) {
        auto const before = static_cast<std::size_t>(some.data() - all.data());
        return perform_some(some, kept.subspan(before, some.size()));
    });
}

/// False when nothing was done, and each half is to be tried alone.
SETTLE_FUNCTION bool record_waves::perform_some(std::span<part_request const> some,
                                                std::span<part_result> kept) {
    std::vector<part_result> made;
    auto const ended = execute_some(some, made);
    bool const apart = is_of_some(ended);
    if (apart && some.size() > 1) return false;
    part_request const& first = some.front();
    if (some.size() == 1) held_up_.note(*first.id, apart && is_held(ended.problem.code));
    if (apart && is_of_one_record(ended.problem.code)) {
        kept.front() = result_of_unusable(first.action, ended.problem);
    } else {
        settle::detail::set_results(kept, made, ended);
    }
    return true;
}

SETTLE_FUNCTION void record_waves::one_phase(std::span<one_phase_request> requests,
                                             log_session& log, write_context const& at,
                                             one_phase_decider& decider) {
    auto all = settle::detail::pointers_to(requests);
    settle::detail::for_each_run(
        std::span{all}, [&](auto const* one) { return held_up_.contains(*one->id); },
        [&](one_phase_requests some, bool held) {
            call mine{some, at, decider};
            if (held) return settle_apart(mine, log);
            groups_.perform(mine, [&](auto& group) {
                auto const members = group.members();
                auto const ended = settle_all(members, log);
                if (members.size() == 1 || !is_of_some(ended)) group.end_all(ended);
            });
            if (!mine.end || is_of_some(*mine.end)) settle_apart(mine, log);
            else if (mine.end->status != commit_status::committed) mine.set_all(*mine.end);
        });
}

SETTLE_FUNCTION void record_waves::settle_apart(call const& mine, log_session& log) {
    settle::detail::in_halves(mine.requests, [&](auto some) {
        call rest{some, mine.at, mine.decider};
        call* const only = &rest;
        auto const ended = settle_all({&only, 1}, log);
        bool const apart = is_of_some(ended);
        if (apart && some.size() > 1) return false;
        if (some.size() == 1) {
            held_up_.note(*some.front()->id, apart && is_held(ended.problem.code));
        }
        if (apart && is_of_one_record(ended.problem.code)) {
            settle_unusable(rest, log, ended.problem);
        } else if (ended.status != commit_status::committed) {
            rest.set_all(ended);
        }
        return true;
    });
}

SETTLE_FUNCTION void record_waves::settle_unusable(call const& only, log_session& log,
                                                   error const& problem) {
    one_phase_request& request = *only.requests.front();
    for (part_result& one : request.results) {
        if (one.what == answer::applied) one.fail(answer::record_unusable, problem);
    }
    request.result.reply = log_answer::held_back;
    if (!only.decider.decide(request)) return;
    sent_write alone{&request};
    log.write_together({&alone, 1}, only.at);
}

/// The ids of the entries that calls insert, or else change.
[[nodiscard]] SETTLE_FUNCTION array_value
ids_of(std::span<settle::detail::one_phase_call* const> all, bool inserts) {
    array_value ids{value_type::text};
    for (auto const* const one : all) {
        for (auto const* const request : one->requests) {
            if (request->inserts == inserts) ids.add(std::string_view{*request->id});
        }
    }
    return ids;
}

template <typename Table>
commit_result record_waves::settle_by(std::span<call* const> all, entry_table const& entries,
                                      settle::detail::insert_refusal const* ids) {
    native_transaction native{*pool_};
    return native.perform(
        [&](connection& on) {
            unit_of_work<Table> unit{tables_, marks_};
            std::unordered_map<std::string, standing> locked;
            std::vector<sent_write> changes;
            auto const fetch = [&] {
                unit.send_reads(on);
                auto const changed = ids_of(all, false);
                auto const number = changed.size() > 0 ? entries.send_locks(on, changed) : 0;
                on.sync();
                unit.receive(on);
                if (changed.size() == 0) return;
                for_each_row(on.result(number), [&](row const& one) {
                    locked[std::string{one.text(0)}] = {static_cast<state>(one.integer(1)),
                                                        static_cast<epoch>(one.integer(2)), 0, 0,
                                                        static_cast<std::uint32_t>(one.integer(3))};
                });
            };
            auto const change = [&](one_phase_request& one, write_context const&) {
                transition const& wanted = one.write.change;
                auto const found = locked.find(*one.id);
                bool const fits = found != locked.end() && found->second.state == wanted.from &&
                                  found->second.epoch_number == wanted.from_epoch &&
                                  found->second.revision == wanted.from_revision;
                one.result.reply = fits ? log_answer::taken : log_answer::conflict;
                if (!fits) return;
                locked.erase(found);
                changes.emplace_back(&one);
            };
            auto const fresh = settle::detail::settle_side_by_side(
                unit, all, fetch, [&](part_request const& part) { return unit.execute(part); },
                change, ids);
            std::vector<sent_write> inserts(fresh.begin(), fresh.end());
            // In the order of the ids, so that two waves do not wait for each other.
            std::sort(inserts.begin(), inserts.end(),
                      [](auto const& left, auto const& right) { return *left.id < *right.id; });
            unit.send_changes(on);
            if (!inserts.empty()) entries.send_new(on, inserts, all.front()->at);
            if (!changes.empty()) entries.send_certain(on, changes, all.front()->at);
        },
        longest_repetition);
}

SETTLE_FUNCTION commit_result record_waves::settle_all(std::span<call* const> all,
                                                       log_session const& log) {
    commit_result ended{};
    bool reads = !backoff_.is_tried();
    if (!reads) {
        ended = settle_by<conditional_table>(all, log.entries());
        reads = must_read(ended);
    }
    if (reads) ended = settle_by<record_table>(all, log.entries());
    for (int tries = 0; is_overtaken(ended) && tries < most_overtakes; ++tries) {
        // An id may exist: then it is looked for, in the log and among the others.
        std::unordered_map<std::string, log_answer> there;
        try {
            auto const ids = ids_of(all, true);
            auto on = pool_->take();
            auto const number = log.entries().send_look(*on, ids);
            on->sync();
            for_each_row(on->result(number), [&](row const& one) {
                bool const open = one.integer(1) != 0;
                there.emplace(one.text(0), open ? log_answer::conflict : log_answer::ended);
            });
        } catch (failure const& caught) {
            return {commit_status::undone, caught.problem()};
        }
        auto const look = [&](one_phase_request const& one) {
            auto const found = there.find(*one.id);
            return found == there.end() ? std::nullopt : std::optional{found->second};
        };
        settle::detail::insert_refusal const refusal{look};
        ended = settle_by<record_table>(all, log.entries(), &refusal);
    }
    explain(ended);
    return ended;
}

SETTLE_FUNCTION result<void>
record_waves::reading(settle::detail::function_view<void(connection&)> function) {
    try {
        auto on = pool_->take();
        function(*on);
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<void> record_waves::read(std::size_t number, part_key const& key,
                                                made_record made) {
    return reading([&](connection& on) {
        auto const found = by_number_[number]->send_read(on, key);
        on.sync();
        for_each_row(on.result(found),
                     [&](row const& one) { by_number_[number]->read(one, made()); });
    });
}

SETTLE_FUNCTION result<void> record_waves::scan(std::size_t number, part_key const* after,
                                                std::size_t limit, made_record made) {
    return reading([&](connection& on) {
        auto const found = by_number_[number]->send_scan(on, after, limit);
        on.sync();
        for_each_row(on.result(found),
                     [&](row const& one) { by_number_[number]->read(one, made()); });
    });
}

SETTLE_FUNCTION void record_waves::create_all(std::size_t number, record_at at,
                                              std::span<result<void>> answers) {
    bound_table const& table = *by_number_[number];
    std::vector<std::size_t> places;
    for (std::size_t one = 0; one < answers.size(); ++one) {
        answers[one] = table.check(at(one));
        if (answers[one].has_value()) places.push_back(one);
    }
    settle::detail::in_halves(std::span{places}, [&](std::span<std::size_t> some) {
        std::vector<void const*> records;
        for (auto const one : some) records.push_back(at(one));
        std::size_t sent = 0;
        native_transaction native{*pool_};
        auto const ended = native.perform(
            [&](connection& on) { sent = table.send_create(on, records); }, longest_repetition);
        if (is_of_some(ended) && some.size() > 1) return false;
        std::unordered_map<std::string, bool> created;
        if (ended.status == commit_status::committed) {
            for_each_row(native.result(sent),
                         [&](row const& one) { created.emplace(one.text(0), true); });
        }
        for (auto const one : some) {
            if (ended.status != commit_status::committed) answers[one] = ended.problem;
            // Of two records with one key, the first was created.
            else if (created.erase(std::string{mark_key{table.of().key_of(at(one))}.text()}) == 0) {
                answers[one] = record_exists_in(table.of().name);
            }
        }
        return true;
    });
}

SETTLE_FUNCTION result<std::vector<mark_locator>>
record_waves::marks(std::optional<mark_locator> const& after, std::size_t limit) {
    try {
        return marks_.read(*pool_, bound_, after, limit);
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<answer> record_waves::resolve(mark_locator const& where, bool confirmed) {
    bool const text = std::holds_alternative<std::string>(where.key);
    for (auto const* const one : bound_) {
        if (where.collection != one->name || text != one->text_key) continue;
        answer reply = answer::nothing;
        native_transaction native{*pool_};
        auto ended = native.perform(
            [&](connection& on) {
                unit_of_work<record_table> unit{tables_, marks_};
                auto& table = unit.of(one->target);
                table.expect(settle::detail::view_of(where.key), false, where.id, where.part);
                unit.send_reads(on);
                on.sync();
                unit.receive(on);
                reply = table.end_mark(where, confirmed);
                unit.send_changes(on);
            },
            longest_repetition);
        explain(ended);
        if (ended.status != commit_status::committed) return ended.problem;
        return reply;
    }
    return answer::nothing;
}

} // namespace postgresql::detail
SETTLE_END
