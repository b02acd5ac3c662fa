// SPDX-License-Identifier: BSL-1.0
// One transaction's entry, written by one worker of a test.
#pragma once

#include <settle/testing/requests.hpp>

SETTLE_BEGIN
namespace testing {

/// A worker's view of one entry. Each call sends one write; a write that the log takes changes the
/// view, and any other leaves it.
template <typename Log>
class entry_writer {
public:
    /// Shape:   view - the entry's state, epoch and revision, as this worker knows them
    entry_writer(Log& log, test_transaction transaction, standing view = {})
        : log_(&log), transaction_(std::move(transaction)), view_(view) {}

    [[nodiscard]] entry read() { return log_->read(transaction_.id).value().value(); }
    [[nodiscard]] test_transaction& transaction() { return transaction_; }
    [[nodiscard]] standing const& view() const { return view_; }
    /// The error of the last write.
    [[nodiscard]] error const& problem() const { return problem_; }

    /// Shape:   why - of an entry that is inserted as `canceled`
    log_answer insert(state as, epoch first, timestamp when, std::string const& owner,
                      timestamp created, reason why = reason::none) {
        return send(transaction_.insert(as, first, created, why), when, owner);
    }
    log_answer claim(timestamp when, std::string const& owner) {
        return change(step::claim, claim_of(view_), when, owner);
    }
    log_answer keep(timestamp when, std::string const& owner,
                    std::vector<kept_result> const& results) {
        auto made = transaction_.change(step::keep, keep_of(view_));
        made.results = &results;
        return send(made, when, owner);
    }
    log_answer pause(timestamp when, std::string const& owner, std::uint32_t tries,
                     timestamp next_try) {
        auto write = transaction_.change(step::pause, transition_to(view_, view_.state));
        write.call_tries = tries;
        write.next_try = next_try;
        return send(write, when, owner);
    }
    log_answer commit(timestamp when, std::string const& owner,
                      std::vector<image> const& images = {},
                      std::vector<kept_result> const& results = {}) {
        auto change = transaction_.change(step::commit, commit_of(view_));
        if (!images.empty()) change.images = &images;
        if (!results.empty()) change.results = &results;
        return send(change, when, owner);
    }
    log_answer close(timestamp when, std::string const& owner) {
        return change(step::close, close_of(view_), when, owner);
    }
    /// Shape:   part - that failed; takes_owner - by a worker that does not own the entry;
    ///          text - of the reason
    log_answer cancel(timestamp when, std::string const& owner, reason why,
                      std::size_t part = entry_write::no_part, bool takes_owner = false,
                      std::vector<kept_result> const& results = {}, std::string_view text = {}) {
        auto change = transaction_.change(step::cancel, cancel_of(view_, why, takes_owner));
        change.failed_part = part;
        change.why_text = text;
        if (!results.empty()) change.results = &results;
        return send(change, when, owner);
    }

private:
    log_answer change(step action, transition const& requested, timestamp when,
                      std::string const& owner) {
        return send(transaction_.change(action, requested), when, owner);
    }
    log_answer send(entry_write const& write, timestamp when, std::string const& owner) {
        auto result = write_one(*log_, transaction_, write, when, owner);
        problem_ = std::move(result.problem);
        if (result.reply == log_answer::taken) view_ = standing_after(write.change);
        return result.reply;
    }

    Log* log_;
    test_transaction transaction_;
    standing view_;
    error problem_{};
};

} // namespace testing
SETTLE_END
