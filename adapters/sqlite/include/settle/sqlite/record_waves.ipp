// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_waves.hpp declares.
#pragma once

#include <settle/sqlite/record_waves.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION record_table& unit_of_work::of(part_request const& one) const {
    std::size_t at = 0;
    while (tables_[at].target != one.descriptor->target) ++at;
    return *tables_[at].table;
}

SETTLE_FUNCTION void record_waves::execute(std::span<part_request const> all,
                                           std::span<part_result> results) {
    if (all.empty()) return;
    std::vector<part_result> kept;
    auto const ended = in_native([&](transaction& native, attempt& how) {
        kept.clear();
        if (!how.apart) {
            for (auto const& one : all) unit_->expect(one);
            unit_->fetch();
        }
        for (auto const& one : all) {
            kept.push_back(how.apart ? execute_apart(native, how, one) : unit_->execute(one));
        }
    });
    settle::detail::set_results(results, kept, ended);
}

SETTLE_FUNCTION void record_waves::one_phase(std::span<one_phase_request> all, entry_table& entries,
                                             write_context const& at, one_phase_decider& decider) {
    auto const requests = settle::detail::pointers_to(all);
    call mine{requests, at, decider};
    groups_.perform(mine, [&](group& members) {
        auto const ended = settle_group(members, entries);
        bool const is_for_all =
            members.members().size() == 1 || settle::detail::is_same_for_each(ended);
        if (is_for_all) members.end_all(ended);
    });
    // A call that another call's request has ended is repeated alone.
    if (!mine.end) {
        group alone{mine};
        mine.end = settle_group(alone, entries);
    }
    if (mine.end->status != commit_status::committed) mine.set_all(*mine.end);
}

SETTLE_FUNCTION commit_result record_waves::in_native(action function) {
    for (attempt how;;) {
        auto const count = how.aborts_transaction.size();
        bool const looked_for_ids = how.looks_for_ids;
        auto ended = file_->perform([&](transaction& native) {
            unit_->begin(file_->unchanged_for(unit_));
            function(native, how);
            unit_->write_back();
        });
        bool const again = ended.status == commit_status::undone &&
                           is_of_one_record(ended.problem.code) &&
                           (!how.apart || how.aborts_transaction.size() > count);
        if (!again) return ended;
        // If only ids are in the way, the other jobs stay together.
        how.apart = how.apart || how.looks_for_ids == looked_for_ids;
    }
}

SETTLE_FUNCTION part_result record_waves::execute_apart(transaction& native, attempt& how,
                                                        part_request const& one) {
    part_result kept;
    part_request const* under_way = &one;
    auto const problem = apart(native, how, {&one, 1}, under_way, [&] {
        unit_->expect(one);
        unit_->fetch();
        kept = unit_->execute(one);
        unit_->write_back();
    });
    if (problem.empty()) return kept;
    // Without a mark there is nothing to undo.
    if (undoes(one.action) && !unit_->has_mark_of(one)) return {answer::nothing, nullptr, {}};
    return result_of_unusable(one.action, problem);
}

SETTLE_FUNCTION error record_waves::apart(transaction& native, attempt& how,
                                          std::span<part_request const> parts,
                                          part_request const*& under_way,
                                          settle::detail::function_view<void()> function) {
    for (auto const& known : how.aborts_transaction) {
        auto const is_this = [&](part_request const& part) { return &part == known.first; };
        if (std::none_of(parts.begin(), parts.end(), is_this)) continue;
        under_way = known.first;
        return known.second;
    }
    try {
        native.in_part(function);
        return {};
    } catch (failure const& problem) {
        // Any other error concerns the whole file.
        if (!is_of_one_record(problem.problem().code)) throw;
        unit_->begin(false);
        if (native.is_open()) return problem.problem();
        // The work of the others was rolled back with it, and is repeated.
        if (under_way != nullptr) how.aborts_transaction.emplace_back(under_way, problem.problem());
        throw;
    }
}

SETTLE_FUNCTION commit_result record_waves::settle_group(group& all, entry_table& entries) {
    return in_native([&](transaction& native, attempt& how) {
        if (how.apart) {
            for (auto const* const one : all.members()) {
                settle_each_apart(native, how, *one, entries);
            }
            return;
        }
        auto const look = [&](one_phase_request const& one) { return entries.refusal_of(*one.id); };
        settle::detail::insert_refusal const refusal{look};
        std::size_t done = 0;
        do {
            auto const come = all.members().subspan(done);
            done += come.size();
            auto const fresh = settle::detail::settle_side_by_side(
                *unit_, come, [&] { unit_->fetch(); },
                [&](part_request const& part) { return unit_->execute(part); },
                [&](one_phase_request& one, write_context const& at) {
                    write_entry(entries, one, at);
                },
                how.looks_for_ids ? &refusal : nullptr);
            insert_new(entries, fresh, come.back()->at, how);
            // A caller that arrives meanwhile need not wait for the next commit.
        } while (all.join() > 0);
    });
}

SETTLE_FUNCTION void record_waves::write_entry(entry_table& entries, one_phase_request& one,
                                               write_context const& at) {
    entry_job const alone{&one.write, &one.result};
    if (one.inserts) entries.insert({&alone, 1}, at);
    else entries.change({&alone, 1}, at);
}

SETTLE_FUNCTION void record_waves::insert_new(entry_table& entries,
                                              std::span<one_phase_request* const> fresh,
                                              write_context const& at, attempt& how) {
    std::vector<entry_job> jobs;
    jobs.reserve(fresh.size());
    for (auto* const one : fresh) jobs.push_back({&one->write, &one->result});
    for_each_type(jobs, [&](std::span<entry_job const> some) { entries.insert(some, at); });
    for (auto const* const one : fresh) {
        if (one->result.reply == log_answer::taken) continue;
        how.looks_for_ids = true;
        throw failure({{SQLITE_CONSTRAINT_UNIQUE, sqlite_category()}, "an id is there"});
    }
}

SETTLE_FUNCTION void record_waves::settle_apart(transaction& native, attempt& how,
                                                one_phase_request& request, call const& of,
                                                entry_table& entries) {
    if (request.inserts) {
        auto const refused = entries.refusal_of(*request.id);
        if (refused) return settle::detail::leave_out(request, of.decider, *refused);
    }
    part_request const* under_way = nullptr;
    auto const problem = apart(native, how, request.parts, under_way, [&] {
        settle::detail::settle_in_native(
            request, of.decider,
            [&](part_request const& part) {
                under_way = &part;
                unit_->expect(part);
                unit_->fetch();
                return unit_->execute(part);
            },
            [&] { write_entry(entries, request, of.at); },
            [&](part_request const& part, bool done) {
                under_way = &part;
                unit_->end_one_phase(part, done);
                // Alone, the failing record is known.
                unit_->write_back();
            });
    });
    if (problem.empty()) return;
    if (under_way != nullptr) {
        auto const number = static_cast<std::size_t>(under_way - request.parts.data());
        request.results[number].fail(answer::record_unusable, problem);
    }
    // A part that cannot be used cancels, unless it is not its transaction's turn.
    request.result.reply = log_answer::held_back;
    if (of.decider.decide(request)) write_entry(entries, request, of.at);
}

SETTLE_FUNCTION unit_of_work held_tables::tables_of(file& of,
                                                    std::vector<bound_collection> const& bound) {
    unit_of_work made;
    for (auto const& [target, collection] : bound) {
        settle_table(of.with(), need_of(*collection));
        made.add(target, std::make_unique<record_table>(*collection, of.with()));
    }
    return made;
}

SETTLE_FUNCTION std::string held_tables::names_of(std::vector<bound_collection> const& bound) {
    std::string all;
    for (auto const& one : bound) {
        all += (all.empty() ? "'" : ", '") + std::string{one.collection->name} + "'";
    }
    return all;
}

} // namespace sqlite::detail
SETTLE_END
