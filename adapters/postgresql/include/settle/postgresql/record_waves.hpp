// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions, lists marks, reads and creates records.
#pragma once

#include <settle/adapter/backoff.hpp>
#include <settle/adapter/isolation.hpp>
#include <settle/adapter/one_phase.hpp>
#include <settle/adapter/waves_under_way.hpp>
#include <settle/postgresql/conditional_table.hpp>
#include <settle/postgresql/record_store.hpp>
#include <settle/postgresql/record_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// The tables of a session's collections in one native transaction.
/// Shape:   Table - record_table or conditional_table
template <typename Table>
class unit_of_work : public settle::detail::unit_of_work<Table> {
public:
    unit_of_work(std::span<std::unique_ptr<bound_table> const> tables, mark_table const& marks) {
        for (auto const& one : tables) this->add(std::make_unique<Table>(*one, marks));
    }

    /// Queues the reads of the announced requests: all rows are locked before any mark is read.
    void send_reads(connection& on) {
        this->for_each([&](Table& table) { table.send_locks(on); });
        this->for_each([&](Table& table) { table.send_marks(on); });
    }
    void receive(connection const& on) {
        this->for_each([&](Table& table) { table.receive(on); });
    }
    /// Queues the writes of all changes.
    void send_changes(connection& on) {
        this->for_each([&](Table& table) { table.send_changes(on); });
    }
};

class record_waves final : public record_store {
public:
    /// Errors:  throws settle::failure when a table does not fit its collection
    record_waves(pool& with, std::span<collection_descriptor const* const> bound);

    void execute(std::span<part_request const> requests, std::span<part_result> results) override;
    void start(std::span<part_request const> requests, std::span<part_result> results) override;
    void finish(std::span<part_result> results) override {
        if (beside_) beside_->finish(results);
    }
    void abandon(std::span<part_result> results) noexcept override {
        if (beside_) beside_->abandon(results);
    }
    void expect_others() override { beside_ = std::make_unique<settle::detail::waves_under_way>(); }

    void one_phase(std::span<one_phase_request> requests, log_session& log, write_context const& at,
                   one_phase_decider& decider) override;

    result<void> read(std::size_t number, part_key const& key, made_record made) override;
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record made) override;
    void create_all(std::size_t number, record_at at, std::span<result<void>> answers) override;
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override;
    result<answer> resolve(mark_locator const& where, bool confirmed) override;

private:
    using one_phase_requests = std::span<one_phase_request*>;
    using call = settle::detail::one_phase_call;
    using groups = settle::detail::groups<call>;

    /// A wave that the server works at, under the condition of conditional_table.
    struct sent_wave {
        native_transaction native;
        std::vector<part_result> made{};
    };
    /// Null if nothing was sent: the records must be read, or no connection is unused.
    std::unique_ptr<sent_wave> send_ahead(std::span<part_request const> all);
    /// Waits for the end of a wave. False if it has no effect.
    bool finish_sent(sent_wave& sent, std::span<part_result> kept);

    template <typename Table>
    void execute_in(connection& on, std::span<part_request const> some,
                    std::vector<part_result>& made);
    template <typename Table>
    commit_result execute_by(std::span<part_request const> some, std::vector<part_result>& made);
    commit_result execute_some(std::span<part_request const> some, std::vector<part_result>& made);
    /// Executes a wave, and keeps the results. Only requests fail whose records other native
    /// transactions hold, or whose table refuses the change.
    void perform(std::span<part_request const> all, std::span<part_result> kept);
    bool perform_some(std::span<part_request const> some, std::span<part_result> kept);

    commit_result settle_all(std::span<call* const> all, log_session const& log);
    /// Shape:   ids - null if the ids count as new
    template <typename Table>
    commit_result settle_by(std::span<call* const> all, entry_table const& entries,
                            settle::detail::insert_refusal const* ids = nullptr);
    /// Whether a conditional attempt did not match, so that the records must be read.
    [[nodiscard]] bool must_read(commit_result const& ended);
    void settle_apart(call const& mine, log_session& log);
    /// A record that the table refuses cancels only the transaction that names it.
    void settle_unusable(call const& only, log_session& log, error const& problem);

    result<void> reading(settle::detail::function_view<void(connection&)> function);

    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest_group = 1000;

    pool* pool_;
    std::vector<collection_descriptor const*> bound_;
    std::vector<std::unique_ptr<bound_table>> tables_; ///< in the order of the names
    std::vector<bound_table const*> by_number_;        ///< in the order of the session
    mark_table marks_;
    groups groups_{most_leaders, largest_group};
    settle::detail::held_up held_up_;
    settle::detail::backoff backoff_;
    std::unique_ptr<settle::detail::waves_under_way> beside_; ///< null without other stores
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#    include <settle/postgresql/record_waves.ipp>
#endif
