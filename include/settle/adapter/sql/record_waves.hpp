// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions, lists marks, reads and creates records:
// for the databases of tables that a server holds. An adapter names its parts in a struct:
//
//   pool, connection, rows, row,         its transport
//   native_transaction
//   array                                the values of a column in a wave, as one parameter
//   bound_table, mark_table, entry_table its statements, which a connection queues
//   log_session                          as in adapter/sql/log_session.hpp
//   longest_repetition                   how long a native transaction is repeated after conflicts
//   page                                 the page of its documentation, for sentences
//   is_held(code)                        another native transaction holds a row
//   is_of_one_record(code)               a record or its table refuses a change
//   is_of_one_table(code)                a table has changed, or takes no change of this user
//   is_overtaken(code)                   a row exists that a statement inserts
//   is_of_count(code)                    a statement changed another number of rows than was meant
#pragma once

#include <settle/adapter/conditional_tries.hpp>
#include <settle/adapter/isolation.hpp>
#include <settle/adapter/one_phase.hpp>
#include <settle/adapter/record_session.hpp>
#include <settle/adapter/sent_write.hpp>
#include <settle/adapter/sql/unit_of_work.hpp>
#include <settle/adapter/waves_under_way.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace detail::sql {

/// Whether a conditional update can have the effect of a wave.
[[nodiscard]] inline bool may_be_conditional(std::span<part_request const> wave) {
    return wave.front().action == step::apply || wave.front().action == step::confirm;
}

template <typename Sql>
class record_waves final : public one_phase_store<overlapping_store, typename Sql::log_session> {
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using native_transaction = typename Sql::native_transaction;
    using bound_table = typename Sql::bound_table;
    using row = typename Sql::row;
    using entry_table = typename Sql::entry_table;
    using log_session = typename Sql::log_session;
    using array = typename Sql::array;
    using made_record = typename detail::record_store::made_record;
    using record_at = typename detail::record_store::record_at;
    using locked_records = record_table<Sql>;
    using unread_records = conditional_table<Sql>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection
    record_waves(pool& with, std::span<collection_descriptor const* const> bound)
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

    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        perform(requests, results);
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        if (!beside_ || requests.empty()) return execute(requests, results);
        auto begun = send_ahead(requests);
        bool const is_sent = begun.sent != nullptr;
        auto perform_all = [this, requests, begun = std::move(begun)](auto& kept) mutable {
            kept.resize(requests.size());
            bool const ended = begun.sent && finish_sent(*begun.sent, kept);
            begun.sent.reset();
            if (!ended) perform(requests, kept, begun.reads_first);
            return commit_result{};
        };
        if (!beside_->start(results, std::move(perform_all), is_sent)) {
            execute(requests, results);
        }
    }
    void finish(std::span<part_result> results) override {
        if (beside_) beside_->finish(results);
    }
    void abandon(std::span<part_result> results) noexcept override {
        if (beside_) beside_->abandon(results);
    }
    void expect_others() override { beside_ = std::make_unique<waves_under_way>(); }

    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) override {
        auto all = pointers_to(requests);
        for_each_run(
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

    result<void> read(std::size_t number, part_key const& key, made_record made) override {
        return reading(number, made, [&](connection& on, bound_table const& from) {
            return from.send_read(on, key);
        });
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record made) override {
        return reading(number, made, [&](connection& on, bound_table const& from) {
            return from.send_scan(on, after, limit);
        });
    }
    void create_all(std::size_t number, record_at at, std::span<result<void>> answers) override {
        bound_table const& table = *by_number_[number];
        std::vector<std::size_t> indexes;
        for (std::size_t one = 0; one < answers.size(); ++one) {
            answers[one] = table.check(at(one));
            if (answers[one].has_value()) indexes.push_back(one);
        }
        in_halves(std::span{indexes}, [&](std::span<std::size_t> some) {
            std::vector<void const*> records;
            for (auto const one : some) records.push_back(at(one));
            std::size_t sent = 0;
            native_transaction native{*pool_};
            auto const ended =
                native.perform([&](connection& on) { sent = table.send_create(on, records); },
                               Sql::longest_repetition);
            if (is_of_some(ended) && some.size() > 1) return false;
            std::unordered_map<std::string, bool> created;
            if (ended.status == commit_status::committed) {
                for_each_row(native.result(sent),
                             [&](row const& one) { created.emplace(one.text(0), true); });
            }
            for (auto const one : some) {
                if (ended.status != commit_status::committed) answers[one] = ended.problem;
                // Of two records with one key, the first was created.
                else if (created.erase(std::string{mark_key{table.of().key_of(at(one))}.text()}) ==
                         0) {
                    answers[one] = record_exists_in(table.of().name);
                }
            }
            return true;
        });
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        try {
            return marks_.read(*pool_, bound_, after, limit);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        bool const text = std::holds_alternative<std::string>(where.key);
        for (auto const* const one : bound_) {
            if (where.collection != one->name || text != one->text_key) continue;
            answer reply = answer::nothing;
            native_transaction native{*pool_};
            auto ended = native.perform(
                [&](connection& on) {
                    unit_of_work<locked_records> unit{tables_, marks_};
                    auto& table = unit.of(one->target);
                    table.expect(view_of(where.key), false, where.id, where.part);
                    unit.send_reads(on);
                    on.sync();
                    unit.receive(on);
                    reply = table.end_mark(where, confirmed);
                    unit.send_changes(on);
                },
                Sql::longest_repetition);
            explain(ended);
            if (ended.status != commit_status::committed) return ended.problem;
            return reply;
        }
        return answer::nothing;
    }

private:
    using one_phase_requests = std::span<one_phase_request*>;
    using call = one_phase_call;
    using call_groups = groups<call>;

    /// A wave of conditional updates that was sent, and whose answers have not been received.
    struct sent_wave {
        native_transaction native;
        std::vector<part_result> made{};
    };

    /// True if the members of a wave must be tried apart: one of them failed.
    [[nodiscard]] static bool is_of_some(commit_result const& ended) {
        auto const& code = ended.problem.code;
        return ended.status == commit_status::undone &&
               (Sql::is_held(code) || Sql::is_of_one_record(code) || Sql::is_of_one_table(code));
    }
    /// True if another program came between the read and the write of a record or an entry.
    [[nodiscard]] static bool is_overtaken(commit_result const& ended) {
        return ended.status == commit_status::undone && Sql::is_overtaken(ended.problem.code);
    }
    /// Explains the failure of a statement that changed another number of rows than intended.
    static void explain(commit_result& ended) {
        if (!Sql::is_of_count(ended.problem.code)) return;
        ended.problem = {make_error_code(errc::unfit_store),
                         "settle: a write changed fewer rows than were meant; has a trigger or row "
                         "security been added to a table since this program began? Remove it. "
                         "See " +
                             std::string{Sql::page} + "#existing-tables"};
    }
    /// Whether a conditional attempt did not match, so that the records must be read.
    [[nodiscard]] bool must_read(commit_result const& ended) {
        if (ended.status != commit_status::undone) {
            conditional_tries_.ended(true);
            return false;
        }
        // A request without a conditional update has sent nothing.
        if (ended.problem.code == errc::stopped) return true;
        if (!Sql::is_of_one_record(ended.problem.code) || is_overtaken(ended)) return false;
        conditional_tries_.ended(false);
        return true;
    }

    template <typename Table>
    void execute_in(connection& on, std::span<part_request const> some,
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
    commit_result execute_by(std::span<part_request const> some, std::vector<part_result>& made) {
        native_transaction native{*pool_};
        return native.perform([&](connection& on) { execute_in<Table>(on, some, made); },
                              Sql::longest_repetition);
    }
    commit_result execute_some(std::span<part_request const> some, std::vector<part_result>& made,
                               bool reads_first) {
        if (!reads_first && may_be_conditional(some) && conditional_tries_.is_tried()) {
            auto const ended = execute_by<unread_records>(some, made);
            if (!must_read(ended) && !is_overtaken(ended)) return ended;
        }
        auto ended = execute_by<locked_records>(some, made);
        for (int tries = 0; is_overtaken(ended) && tries < most_overtakes; ++tries) {
            ended = execute_by<locked_records>(some, made);
        }
        explain(ended);
        return ended;
    }

    struct begun_wave {
        std::unique_ptr<sent_wave> sent{}; ///< null if nothing was sent
        bool reads_first = false;          ///< if perform() follows, it reads the records first
    };

    /// Sends a wave of conditional updates, if they may be tried and a connection is unused.
    begun_wave send_ahead(std::span<part_request const> all) {
        bool const possible =
            may_be_conditional(all) && std::none_of(all.begin(), all.end(), [&](auto const& one) {
                return held_up_.contains(*one.id);
            });
        if (!possible) return {};
        auto unused = pool_->take_unused();
        if (!unused) return {};
        if (!conditional_tries_.is_tried()) return {nullptr, true};
        auto sent = std::make_unique<sent_wave>(sent_wave{{*pool_, *std::move(unused)}});
        auto const failed = sent->native.start(
            [&](connection& on) { execute_in<unread_records>(on, all, sent->made); });
        if (failed) sent.reset();
        return {std::move(sent), true};
    }
    /// Waits for the end of a wave. False if it has no effect.
    bool finish_sent(sent_wave& sent, std::span<part_result> kept) {
        auto const ended = sent.native.finish();
        if (must_read(ended) || ended.status == commit_status::undone) return false;
        set_results(kept, sent.made, ended);
        return true;
    }

    /// Executes a wave, and keeps the results. Only requests fail whose records other native
    /// transactions hold, or whose table refuses the change.
    void perform(std::span<part_request const> all, std::span<part_result> kept,
                 bool reads_first = false) {
        held_up_.isolate(all, [&](std::span<part_request const> some, bool) {
            auto const before = static_cast<std::size_t>(some.data() - all.data());
            return perform_some(some, kept.subspan(before, some.size()), reads_first);
        });
    }
    /// False when nothing was done, and each half is to be tried alone.
    bool perform_some(std::span<part_request const> some, std::span<part_result> kept,
                      bool reads_first) {
        std::vector<part_result> made;
        auto const ended = execute_some(some, made, reads_first);
        bool const apart = is_of_some(ended);
        if (apart && some.size() > 1) return false;
        part_request const& first = some.front();
        if (some.size() == 1) held_up_.note(*first.id, apart && Sql::is_held(ended.problem.code));
        if (apart && Sql::is_of_one_record(ended.problem.code)) {
            bool const nothing =
                !applies(first.action) && has_no_mark<Sql>(*pool_, tables_, marks_, first);
            kept.front() = nothing ? part_result{answer::nothing, nullptr, {}}
                                   : result_of_unusable(first.action, ended.problem);
        } else {
            set_results(kept, made, ended);
        }
        return true;
    }

    void settle_apart(call const& mine, log_session& log) {
        in_halves(mine.requests, [&](auto some) {
            call rest{some, mine.at, mine.decider};
            call* const only = &rest;
            auto const ended = settle_all({&only, 1}, log);
            bool const apart = is_of_some(ended);
            if (apart && some.size() > 1) return false;
            if (some.size() == 1) {
                held_up_.note(*some.front()->id, apart && Sql::is_held(ended.problem.code));
            }
            if (apart && Sql::is_of_one_record(ended.problem.code)) {
                settle_unusable(rest, log, ended.problem);
            } else if (ended.status != commit_status::committed) {
                rest.set_all(ended);
            }
            return true;
        });
    }
    /// A record that the table refuses cancels only the transaction that names it.
    void settle_unusable(call const& only, log_session& log, error const& problem) {
        one_phase_request& request = *only.requests.front();
        bool const is_read = std::none_of(request.results.begin(), request.results.end(),
                                          [](auto const& one) { return one.what == answer::none; });
        if (is_read || !find_unreadable<Sql>(*pool_, tables_, marks_, request)) {
            for (part_result& one : request.results) {
                bool const stands = one.what != answer::applied && one.what != answer::none;
                if (!stands) one.fail(answer::record_unusable, problem);
            }
        }
        request.left_out = false;
        request.result.reply = log_answer::held_back;
        if (!only.decider.decide(request)) return;
        sent_write alone{&request};
        log.write_together({&alone, 1}, only.at);
    }

    /// The ids of the entries that calls insert, or else change.
    [[nodiscard]] static array ids_of(std::span<call* const> all, bool inserts) {
        array ids = array::texts();
        for (auto const* const one : all) {
            for (auto const* const request : one->requests) {
                if (request->inserts == inserts) ids.add(std::string_view{*request->id});
            }
        }
        return ids;
    }
    /// Shape:   ids - null if the ids count as new
    template <typename Table>
    commit_result settle_by(std::span<call* const> all, entry_table const& entries,
                            insert_refusal const* ids = nullptr) {
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
                        locked[std::string{one.text(0)}] = {
                            static_cast<state>(one.integer(1)), static_cast<epoch>(one.integer(2)),
                            0, 0, static_cast<std::uint32_t>(one.integer(3))};
                    });
                };
                auto const change = [&](one_phase_request& one, write_context const&) {
                    auto const found = locked.find(*one.id);
                    bool const fits = found != locked.end() &&
                                      may_change(found->second, one.write.change, one.write.action);
                    one.result.reply = fits ? log_answer::taken : log_answer::conflict;
                    if (!fits) return;
                    locked.erase(found);
                    changes.emplace_back(&one);
                };
                auto const fresh = settle_side_by_side(
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
            Sql::longest_repetition);
    }
    commit_result settle_all(std::span<call* const> all, log_session const& log) {
        commit_result ended{};
        bool reads = !conditional_tries_.is_tried();
        if (!reads) {
            ended = settle_by<unread_records>(all, log.entries());
            reads = must_read(ended);
        }
        if (reads) ended = settle_by<locked_records>(all, log.entries());
        for (int tries = 0; is_overtaken(ended) && tries < most_overtakes; ++tries) {
            // An id exists already: look for the ids in the log and among the other requests.
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
            insert_refusal const refusal{look};
            ended = settle_by<locked_records>(all, log.entries(), &refusal);
        }
        explain(ended);
        return ended;
    }

    /// Reads records of a collection.
    /// Shape:   send(connection, table) - queues the read
    template <typename Send>
    result<void> reading(std::size_t number, made_record made, Send&& send) {
        try {
            bound_table const& table = *by_number_[number];
            auto on = pool_->take();
            auto const found = send(*on, table);
            on->sync();
            for_each_row(on->result(found), [&](row const& one) { table.read(one, made()); });
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    static constexpr int most_overtakes = 3;
    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest_group = 1000;

    pool* pool_;
    std::vector<collection_descriptor const*> bound_;
    std::vector<std::unique_ptr<bound_table>> tables_; ///< in the order of the names
    std::vector<bound_table const*> by_number_;        ///< in the order of the session
    typename Sql::mark_table marks_;
    call_groups groups_{most_leaders, largest_group};
    held_up held_up_;
    conditional_tries conditional_tries_;
    std::unique_ptr<waves_under_way> beside_; ///< null without other stores
};

} // namespace detail::sql
SETTLE_END
