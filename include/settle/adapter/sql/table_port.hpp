// SPDX-License-Identifier: BSL-1.0
// Makes attempts of waves in native transactions of a database of tables that a server holds.
#pragma once

#include <settle/adapter/sent_write.hpp>
#include <settle/adapter/sql/unit_of_work.hpp>
#include <settle/adapter/wave_port.hpp>

#include <optional>
#include <unordered_map>

SETTLE_BEGIN
namespace detail::sql {

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class table_port final : public wave_port {
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using native_transaction = typename Sql::native_transaction;
    using row = typename Sql::row;
    using log_session = typename Sql::log_session;
    using tables = std::vector<std::shared_ptr<typename Sql::bound_table>>;
    using mark_table = typename Sql::mark_table;
    using locked_records = record_table<Sql>;
    using unread_records = conditional_table<Sql>;

public:
    /// Shape:   log - null for two phases
    table_port(pool& from, tables const& all, mark_table const& marks, log_session* log)
        : pool_(&from), tables_(&all), marks_(&marks), log_(log) {}

    [[nodiscard]] attempt_result perform(attempt_plan const& plan, action function) override {
        return plan.conditional ? perform_by<unread_records>(plan, function)
                                : perform_by<locked_records>(plan, function);
    }

    [[nodiscard]] std::unique_ptr<sent_attempt> send(action function) override {
        auto unused = pool_->take_unused();
        if (!unused) return nullptr;
        auto sent = std::make_unique<sent_transaction>(*this, *std::move(unused));
        return sent->starts(function) ? std::move(sent) : nullptr;
    }

    [[nodiscard]] bool may_be_conditional(std::span<part_request const> wave) const override {
        return wave.front().action == step::apply || wave.front().action == step::confirm;
    }
    [[nodiscard]] bool may_be_conditional(std::span<one_phase_call* const>) const override {
        return true;
    }

    [[nodiscard]] result<existing_ids> look_for(std::vector<transaction_id const*> const& ids,
                                                int) override {
        auto texts = Sql::array::texts();
        for (auto const* const id : ids) texts.add(std::string_view{*id});
        try {
            existing_ids existing;
            auto session = pool_->take();
            auto const number = log_->entries().send_look(*session, texts);
            session->sync();
            for_each_row(session->result(number), [&](row const& entry) {
                bool const is_open = entry.integer(1) != 0;
                existing.emplace(entry.text(0), is_open ? log_answer::conflict : log_answer::ended);
            });
            return existing;
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    /// Reads the marks alone: an undo of a part that was never applied must not wait for the repair
    /// of its row.
    [[nodiscard]] bool has_no_mark(part_request const& request) override {
        bool all_exist = true;
        native_transaction native{*pool_};
        auto const ended = native.perform(
            [&](connection& session) {
                unit_of_work<locked_records> unit{*tables_, *marks_};
                unit.expect(request);
                auto& table = unit.of(request);
                table.send_marks(session);
                session.sync();
                table.receive(session);
                all_exist = table.may_have_mark(request);
            },
            Sql::longest_repetition);
        return ended.status == commit_status::committed && !all_exist;
    }
    void name_unusable(one_phase_request& request, error const& problem) override {
        bool const is_read =
            std::none_of(request.results.begin(), request.results.end(),
                         [](auto const& result) { return result.what == answer::none; });
        if (!is_read && find_unreadable(request)) return;
        for (part_result& result : request.results) {
            bool const stands = result.what != answer::applied && result.what != answer::none;
            if (!stands) result.fail(answer::record_unusable, problem);
        }
    }
    void write_entry(one_phase_request& request, write_context const& context) override {
        sent_write alone{&request};
        log_->write_together({&alone, 1}, context);
    }

    /// The end of an attempt by the code of its error.
    [[nodiscard]] static attempt_result result_of(commit_result ended,
                                                  attempt_plan const& plan = {}) {
        using enum attempt_end;
        auto const& code = ended.problem.code;
        auto const end = [&] {
            if (ended.status == commit_status::committed) return committed;
            if (ended.status == commit_status::unknown) return unknown;
            if (Sql::is_held(code)) return held;
            if (Sql::is_overtaken(code) && plan.looks < most_looks) return id_exists;
            if (plan.conditional && Sql::is_of_one_record(code)) return unmatched;
            explain(ended.problem);
            if (Sql::is_of_one_record(code)) return refused;
            return Sql::is_of_one_table(code) ? unfit : failed;
        }();
        return {end, std::move(ended.problem)};
    }
    /// Explains the failure of a statement that changed another number of rows than intended.
    static void explain(error& problem) {
        if (!Sql::is_of_count(problem.code)) return;
        problem = {make_error_code(errc::unfit_store),
                   "settle: a write changed fewer rows than were meant; has a trigger or row "
                   "security been added to a table since this program began? Remove it. "
                   "See " +
                       std::string{Sql::page} + "#existing-tables"};
    }

private:
    /// The records of an attempt, and the writes of its entries.
    template <typename Table>
    class attempt final : public wave_attempt {
    public:
        attempt(table_port const& port, connection& session)
            : port_(&port), session_(&session), unit_(*port.tables_, *port.marks_) {}

        void expect(part_request const& request) override {
            needs_disk_ = needs_disk_ || !request.may_be_lost;
            unit_.expect(request);
        }
        void expect_change(one_phase_request const& request) override {
            if constexpr (locks_entries) changed_ids_.push_back(*request.id);
        }
        void fetch() override {
            unit_.send_reads(*session_);
            bool const changes = !changed_ids_.empty();
            std::size_t number = 0;
            if (changes) {
                // All programs lock entries in this order.
                std::sort(changed_ids_.begin(), changed_ids_.end());
                auto ids = Sql::array::texts();
                for (auto const id : changed_ids_) ids.add(id);
                number = entries().send_locks(*session_, ids);
            }
            session_->sync();
            unit_.receive(*session_);
            if (!changes) return;
            for_each_row(session_->result(number), [&](row const& entry) {
                locked_[std::string{entry.text(0)}] = {
                    static_cast<state>(entry.integer(1)), static_cast<epoch>(entry.integer(2)), 0,
                    0, static_cast<std::uint32_t>(entry.integer(3))};
            });
        }
        [[nodiscard]] part_result execute(part_request const& request) override {
            return unit_.execute(request);
        }
        void end_one_phase(part_request const& request, bool confirmed) override {
            unit_.end_one_phase(request, confirmed);
        }
        void change(one_phase_request& request, write_context const& context) override {
            request.result.reply =
                !locks_entries || takes(request.write) ? log_answer::taken : log_answer::conflict;
            if (request.result.reply != log_answer::taken) return;
            changes_.emplace_back(&request);
            context_ = &context;
        }
        [[nodiscard]] bool insert(std::span<one_phase_request* const> requests,
                                  write_context const& context) override {
            inserts_.insert(inserts_.end(), requests.begin(), requests.end());
            context_ = &context;
            return true;
        }
        void write() override {
            if constexpr (!Sql::dialect::without_disk.empty()) {
                if (!needs_disk_) {
                    session_->send_sql(std::string{Sql::dialect::without_disk}, "end parts");
                }
            }
            unit_.send_changes(*session_);
            // In the order of the ids, so that two waves do not wait for each other.
            std::sort(inserts_.begin(), inserts_.end(),
                      [](auto const& left, auto const& right) { return *left.id < *right.id; });
            if (!inserts_.empty()) entries().send_new(*session_, inserts_, *context_);
            if (!changes_.empty()) entries().send_certain(*session_, changes_, *context_);
        }
        [[nodiscard]] bool must_read() const override { return unit_.must_read(); }
        /// To be called after the commit.
        void committed() const { unit_.committed(*session_); }

    private:
        /// Without reading, the statement that changes an entry fails unless the entry matches.
        static constexpr bool locks_entries = std::is_same_v<Table, locked_records>;

        [[nodiscard]] auto const& entries() const { return port_->log_->entries(); }
        /// True if a locked entry takes a change, which is its only one.
        [[nodiscard]] bool takes(entry_write const& write) {
            auto const locked = locked_.find(*write.id);
            bool const fits =
                locked != locked_.end() && may_change(locked->second, write.change, write.action);
            if (fits) locked_.erase(locked);
            return fits;
        }

        table_port const* port_;
        connection* session_;
        unit_of_work<Table> unit_;
        bool needs_disk_ = false; ///< a request may not be lost
        std::vector<std::string_view> changed_ids_{};
        std::unordered_map<std::string, standing> locked_{}; ///< entries that are to be changed
        std::vector<sent_write> inserts_{};
        std::vector<sent_write> changes_{};
        write_context const* context_ = nullptr;
    };

    /// Calls a function that makes an attempt.
    /// Errors:  throws a failure without text if the function does not want a commit
    template <typename Table>
    void make_attempt(connection& session, action function, attempt_end& wanted,
                      std::optional<attempt<Table>>& last_attempt) const {
        last_attempt.emplace(*this, session);
        wanted = function(*last_attempt);
        if (wanted != attempt_end::committed) throw failure({});
    }
    template <typename Table>
    [[nodiscard]] attempt_result perform_by(attempt_plan const& plan, action function) const {
        auto wanted = attempt_end::committed;
        std::optional<attempt<Table>> last_attempt;
        native_transaction native{*pool_};
        auto ended = native.perform(
            [&](connection& session) {
                wanted = attempt_end::committed;
                make_attempt<Table>(session, function, wanted, last_attempt);
            },
            Sql::longest_repetition);
        if (ended.status == commit_status::committed) last_attempt->committed();
        if (wanted != attempt_end::committed) return {wanted};
        return result_of(std::move(ended), plan);
    }

    /// A conditional attempt on a connection that was unused.
    class sent_transaction final : public sent_attempt {
    public:
        sent_transaction(table_port const& port, typename pool::loan unused)
            : port_(&port), native_(*port.pool_, std::move(unused)) {}

        /// False if nothing takes effect.
        [[nodiscard]] bool starts(action function) {
            auto wanted = attempt_end::committed;
            return !native_.start([&](connection& session) {
                port_->template make_attempt<unread_records>(session, function, wanted, made_);
            });
        }
        [[nodiscard]] attempt_result finish() override {
            auto ended = native_.finish();
            if (ended.status == commit_status::committed) made_->committed();
            return result_of(std::move(ended), {.conditional = true});
        }

    private:
        table_port const* port_;
        native_transaction native_;
        std::optional<attempt<unread_records>> made_{};
    };

    /// Reads the record of each part alone, so that the entry names the part that cannot be read.
    /// False if each can be read now.
    [[nodiscard]] bool find_unreadable(one_phase_request& request) const {
        bool is_found = false;
        for (std::size_t number = 0; number < request.parts.size(); ++number) {
            native_transaction native{*pool_};
            auto const ended = native.perform(
                [&](connection& session) {
                    unit_of_work<locked_records> unit{*tables_, *marks_};
                    unit.expect(request.parts[number]);
                    unit.send_reads(session);
                },
                Sql::longest_repetition);
            if (!Sql::is_of_one_record(ended.problem.code)) continue;
            request.results[number].fail(answer::record_unusable, ended.problem);
            is_found = true;
        }
        return is_found;
    }

    pool* pool_;
    tables const* tables_;
    mark_table const* marks_;
    log_session* log_;
};

} // namespace detail::sql
SETTLE_END
