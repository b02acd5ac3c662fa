// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions of its file.
#pragma once

#include <settle/adapter/one_phase.hpp>
#include <settle/sqlite/entry_table.hpp>
#include <settle/sqlite/file.hpp>
#include <settle/sqlite/record_store.hpp>
#include <settle/sqlite/record_table.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// The tables of a session's collections.
class unit_of_work : public settle::detail::unit_of_work<record_table> {
public:
    void begin(bool unchanged) {
        for_each([&](record_table& table) { table.begin(unchanged); });
    }
    void fetch() {
        for_each([](record_table& table) { table.fetch(); });
    }
    void write_back() {
        for_each([](record_table& table) { table.write_back(); });
    }
};

/// Shape:   the file outlives this object, which is in use by one thread at a time, inside of the
///          file's native transactions
class record_waves {
public:
    record_waves(file& of, unit_of_work& unit) : file_(&of), unit_(&unit) {}

    /// Executes requests in one native transaction.
    void execute(std::span<part_request const> all, std::span<part_result> results) {
        if (all.empty()) return;
        auto const ended = in_native([&](transaction& native, attempt& how) {
            if (!how.apart) {
                for (auto const& one : all) unit_->expect(one);
                unit_->fetch();
            }
            for (std::size_t at = 0; at < all.size(); ++at) {
                results[at] =
                    how.apart ? execute_apart(native, how, all[at]) : unit_->execute(all[at]);
            }
        });
        settle::detail::replace_results(results, ended);
    }

    /// Settles requests in one native transaction, which the calls of several threads share.
    void one_phase(std::span<one_phase_request> all, entry_table& entries, write_context const& at,
                   one_phase_decider& decider) {
        auto const requests = settle::detail::pointers_to(all);
        call mine{requests, at, decider};
        groups_.perform(mine, [&](group& members) {
            auto const ended = settle_group(members, entries);
            bool const is_for_all =
                members.members().size() == 1 || settle::detail::is_same_for_each(ended);
            if (is_for_all) members.end_all(ended);
        });
        // If a request of another call made the shared native transaction fail, this call runs
        // alone.
        if (!mine.end) {
            group alone{mine};
            mine.end = settle_group(alone, entries);
        }
        if (mine.end->status != commit_status::committed) mine.set_all(*mine.end);
    }

private:
    using call = settle::detail::one_phase_call;
    using groups = settle::detail::groups<call>;
    using group = groups::group;

    /// How the work of a wave is attempted.
    struct attempt {
        bool looks_for_ids = false; ///< an insert has shown that an id exists
        bool apart = false;         ///< each request by itself
        /// Requests that would abort the whole native transaction, as a trigger can, with the
        /// errors.
        std::vector<std::pair<part_request const*, error>> aborts_transaction{};
    };

    /// Does the work of a wave in a native transaction. If one record makes the transaction fail,
    /// the work is repeated with each request apart, so that the other requests take effect; and
    /// once more without each request that aborts the whole transaction.
    /// Shape:   function(native, attempt)
    using action = settle::detail::function_view<void(transaction&, attempt&)>;
    commit_result in_native(action function) {
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
            // If only existing ids caused the failure, the requests stay together.
            how.apart = how.apart || how.looks_for_ids == looked_for_ids;
        }
    }

    part_result execute_apart(transaction& native, attempt& how, part_request const& one) {
        part_result kept;
        part_request const* under_way = &one;
        auto const problem = apart(native, how, {&one, 1}, under_way, [&] {
            unit_->expect(one);
            unit_->fetch();
            kept = unit_->execute(one);
            unit_->write_back();
        });
        if (problem.empty()) return kept;
        // Without a mark there is nothing to end.
        bool const ends = applies(one.action) || unit_->of(one).has_mark_of(one);
        if (!ends) return {answer::nothing, nullptr, {}};
        return result_of_unusable(one.action, problem);
    }

    /// Calls a function whose work is undone alone if one record makes it fail.
    /// Shape:   parts - the requests of that work; under_way - the request that is being executed
    /// Returns: the error of the record, or an empty error
    error apart(transaction& native, attempt& how, std::span<part_request const> parts,
                part_request const*& under_way, settle::detail::function_view<void()> function) {
        for (auto const& known : how.aborts_transaction) {
            auto const is_this = [&](part_request const& part) { return &part == known.first; };
            if (std::none_of(parts.begin(), parts.end(), is_this)) continue;
            under_way = known.first;
            return known.second;
        }
        try {
            native.in_savepoint(function);
            return {};
        } catch (failure const& problem) {
            // Any other error concerns the whole file.
            if (!is_of_one_record(problem.problem().code)) throw;
            unit_->begin(false);
            if (native.is_open()) return problem.problem();
            // The work of the other requests was rolled back as well, and is repeated.
            if (under_way != nullptr)
                how.aborts_transaction.emplace_back(under_way, problem.problem());
            throw;
        }
    }

    /// Performs the requests of a group in one native transaction.
    commit_result settle_group(group& all, entry_table& entries) {
        return in_native([&](transaction& native, attempt& how) {
            if (how.apart) {
                for (auto const* const one : all.members()) {
                    settle_each_apart(native, how, *one, entries);
                }
                return;
            }
            auto const look = [&](one_phase_request const& one) {
                return entries.refusal_of(*one.id);
            };
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

    static void write_entry(entry_table& entries, one_phase_request& one, write_context const& at) {
        sent_write alone{&one};
        if (one.inserts) entries.insert({&alone, 1}, at);
        else entries.change({&alone, 1}, at);
    }

    /// Errors:  throws when an id exists already: the next attempt looks for every id
    static void insert_new(entry_table& entries, std::span<one_phase_request* const> fresh,
                           write_context const& at, attempt& how) {
        std::vector<sent_write> all(fresh.begin(), fresh.end());
        entries.insert(all, at);
        for (auto const* const one : fresh) {
            if (one->result.reply == log_answer::taken) continue;
            how.looks_for_ids = true;
            throw failure({{SQLITE_CONSTRAINT_UNIQUE, sqlite_category()}, "an id is there"});
        }
    }

    /// An unusable record cancels only the transaction that names it.
    void settle_each_apart(transaction& native, attempt& how, call const& of,
                           entry_table& entries) {
        for (auto* const one : of.requests) settle_apart(native, how, *one, of, entries);
    }
    void settle_apart(transaction& native, attempt& how, one_phase_request& request, call const& of,
                      entry_table& entries) {
        if (request.inserts) {
            auto const refused = entries.refusal_of(*request.id);
            if (refused) return settle::detail::leave_out(request, of.decider, *refused);
        }
        // A part that is not executed has no result.
        for (part_result& one : request.results) one = {};
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
                    // Written back alone, the failing record is known.
                    unit_->write_back();
                });
        });
        if (problem.empty()) return;
        if (under_way != nullptr) {
            auto const number = static_cast<std::size_t>(under_way - request.parts.data());
            request.results[number].fail(answer::record_unusable, problem);
        }
        // An unusable part cancels its transaction, unless an earlier transaction comes first.
        request.result.reply = log_answer::held_back;
        if (of.decider.decide(request)) write_entry(entries, request, of.at);
    }

    /// The limit of a group, so that its commit is not delayed without end.
    static constexpr std::size_t largest_group = 1024;

    file* file_;
    unit_of_work* unit_;
    groups groups_{1, largest_group};
};

/// The records of a session's collections, and the statements that read them.
class held_tables final : public record_store {
public:
    /// The tables come first: the reader needs them in the file.
    /// Errors:  throws settle::failure when a table does not fit its collection
    held_tables(file& of, std::span<collection_descriptor const* const> bound)
        : file_(&of), unit_(tables_of(of, bound)), marks_(of.reader(), names_of(bound)),
          waves_(of, unit_) {
        for (auto const* const one : bound) readers_.emplace_back(*one, of.reader());
    }

    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        waves_.execute(requests, results);
    }
    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) override {
        waves_.one_phase(requests, log.entries(), at, decider);
    }
    result<void> read(std::size_t number, part_key const& key, made_record made) override {
        return reading(number, [&](record_reader const& from) { from.read(key, made); });
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record made) override {
        return reading(number, [&](record_reader const& from) { from.scan(after, limit, made); });
    }
    void create_all(std::size_t number, record_at at, std::span<result<void>> answers) override {
        auto const ended = file_->perform([&](transaction& here) {
            static_cast<void>(file_->unchanged_for(nullptr));
            record_table& table = unit_.at(number);
            for (std::size_t one = 0; one < answers.size(); ++one) {
                answers[one] = {};
                try {
                    bool made = false;
                    here.in_savepoint([&] { made = table.create(at(one)); });
                    if (!made) answers[one] = record_exists_in(table.of().name);
                } catch (failure const& caught) {
                    // An error of one record does not affect the others.
                    if (!here.is_open() || caught.problem().code != condition::permanent) throw;
                    answers[one] = caught.problem();
                }
            }
        });
        if (ended.status == commit_status::committed) return;
        for (auto& one : answers) one = ended.problem;
    }

    /// Lists first the damaged marks that have no position in the order.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        return file_->reading([&] { return marks_.read(after, limit); });
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        return file_->writing([&] {
            answer reply = answer::nothing;
            unit_.for_each([&](record_table& table) {
                if (where.collection == table.of().name) reply = table.resolve(where, confirmed);
            });
            return reply;
        });
    }

private:
    result<void> reading(std::size_t number,
                         settle::detail::function_view<void(record_reader const&)> function) {
        auto const ended = file_->reading([&] {
            function(readers_[number]);
            return true;
        });
        if (!ended.has_value()) return ended.problem();
        return {};
    }
    static unit_of_work tables_of(file& of, std::span<collection_descriptor const* const> bound) {
        unit_of_work made;
        for (auto const* const one : bound) {
            settle_table(of.with(), need_of(*one));
            made.add(std::make_unique<record_table>(*one, of.with()));
        }
        return made;
    }
    /// The collections as an SQL list.
    static std::string names_of(std::span<collection_descriptor const* const> bound) {
        std::string all;
        for (auto const* const one : bound) {
            all += (all.empty() ? "'" : ", '") + std::string{one->name} + "'";
        }
        return all;
    }

    file* file_;
    unit_of_work unit_;
    std::vector<record_reader> readers_;
    mark_reader marks_;
    record_waves waves_;
};

} // namespace sqlite::detail
SETTLE_END
