// SPDX-License-Identifier: BSL-1.0
// The memory of a simulated service: the rows of its receiver, its books, and a journal that takes
// both back to an earlier moment.
#pragma once

#include <settle/receiver.hpp>

#include <map>

SETTLE_BEGIN
namespace testing::detail {

/// The books of one key: the effects of its calls.
struct service_books {
    std::string transaction;
    std::string participant;
    std::optional<std::uint32_t> line;
    std::int64_t applies = 0;
    std::int64_t undos = 0;
    std::int64_t confirms = 0;
    std::string request; ///< of the first effect
    std::string result;  ///< of the first apply

    [[nodiscard]] std::int64_t effects() const { return applies - undos; }
};

/// The memory of one key.
struct service_page {
    std::optional<settle::receiver_row> row{};
    /// A receiver without rows remembers its compensation by itself.
    bool compensated = false;
    service_books books{};
};

/// A ReceiverDatabase in memory. A handler's session is the whole memory.
class service_memory {
public:
    using time = std::chrono::nanoseconds;
    using session = service_memory;

    class transaction {
    public:
        explicit transaction(service_memory& memory) : of_(&memory) {}
        void expect(std::span<settle::service_call const>) noexcept {}
        [[nodiscard]] std::optional<settle::receiver_row> find(std::string_view key) const {
            return of_->row_of(key);
        }
        void store(settle::receiver_row const& row) { of_->page(row.key).row = row; }
        template <typename Work>
        bool attempt(Work&& work) {
            std::size_t const before = of_->moments();
            bool const kept = work(*of_);
            if (!kept) of_->go_back(before);
            return kept;
        }

    private:
        service_memory* of_;
    };

    static constexpr std::size_t largest_wave = 1;

    template <typename Function>
    settle::detail::commit_result perform(Function&& function) {
        transaction native{*this};
        function(native);
        return {};
    }
    result<std::size_t> erase(timestamp before, std::size_t limit) {
        std::size_t count = 0;
        for (auto const& [key, one] : pages_) {
            if (count == limit) break;
            auto const end = one.row ? end_of(one.row->standing) : std::nullopt;
            if (!end || *end >= before) continue;
            page(key).row.reset();
            ++count;
        }
        return count;
    }
    result<std::vector<settle::receiver_row>>
    list(receiver_filter const& filter, std::string_view after, std::size_t limit) const {
        std::vector<settle::receiver_row> rows;
        for (auto position = pages_.upper_bound(after); position != pages_.end(); ++position) {
            if (rows.size() == limit) break;
            auto const& row = position->second.row;
            bool const fits =
                row && (!filter.status || *filter.status == row->standing.status) &&
                (filter.transaction.empty() || filter.transaction == row->transaction);
            if (fits) rows.push_back(*row);
        }
        return rows;
    }
    [[nodiscard]] result<std::optional<settle::receiver_row>> find(std::string_view key) const {
        return row_of(key);
    }

    // For the service:

    [[nodiscard]] auto const& pages() const { return pages_; }
    [[nodiscard]] service_page look(std::string_view key) const {
        auto const found = pages_.find(key);
        return found == pages_.end() ? service_page{} : found->second;
    }
    /// The page of a key, which the caller changes next.
    service_page& page(std::string_view key) {
        auto position = pages_.find(key);
        bool const fresh = position == pages_.end();
        if (fresh) position = pages_.emplace(key, service_page{}).first;
        journal_.push_back(
            {now_, position->first, fresh ? std::nullopt : std::optional{position->second}});
        return position->second;
    }

    void note_time(time now) { now_ = now; }
    /// The number of changes so far.
    [[nodiscard]] std::size_t moments() const { return journal_.size(); }
    /// The number of changes up to a time.
    [[nodiscard]] std::size_t moments_until(time end) const {
        auto const later =
            std::upper_bound(journal_.begin(), journal_.end(), end,
                             [](time left, change const& right) { return left < right.at; });
        return static_cast<std::size_t>(later - journal_.begin());
    }
    /// Undoes every change but the first `moments`.
    void go_back(std::size_t moments) {
        for (; journal_.size() > moments; journal_.pop_back()) {
            change& last = journal_.back();
            if (last.before) pages_.find(last.key)->second = *std::move(last.before);
            else pages_.erase(pages_.find(last.key));
        }
    }

private:
    struct change {
        time at;
        std::string key;
        std::optional<service_page> before;
    };

    [[nodiscard]] std::optional<settle::receiver_row> row_of(std::string_view key) const {
        auto const found = pages_.find(key);
        return found == pages_.end() ? std::nullopt : found->second.row;
    }

    std::map<std::string, service_page, std::less<>> pages_;
    std::vector<change> journal_;
    time now_{};
};

static_assert(ReceiverDatabase<service_memory>);

} // namespace testing::detail
SETTLE_END
