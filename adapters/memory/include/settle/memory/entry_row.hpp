// SPDX-License-Identifier: BSL-1.0
// One entry in memory: its own data in a row, the data of its type stored once beside it.
#pragma once

#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace memory {

/// A node of a circular list. The list's owner is a node, too, so that linking and unlinking need
/// no test for a neighbour.
struct links {
    links() = default;
    links(links const&) = delete;
    links& operator=(links const&) = delete;

    links* previous = nullptr;
    links* next = nullptr;

    void join_before(links& later) noexcept {
        previous = later.previous;
        next = &later;
        previous->next = this;
        later.previous = this;
    }
    void leave() noexcept {
        previous->next = next;
        next->previous = previous;
        previous = nullptr;
        next = nullptr;
    }
};

/// The members that few entries have. They would make every row large.
struct kept_lists {
    std::vector<image> images;
    std::vector<kept_result> results;
    std::string why_text;
    std::uint32_t call_tries = 0;
    timestamp next_try{};
    std::string traceparent;

    void forget_tries() noexcept {
        call_tries = 0;
        next_try = {};
    }
};

/// One entry; its parameters follow it in memory. Only an unused row of a pool has no direction.
struct alignas(std::max_align_t) entry_row : links {
    transaction_id id;
    transaction_descriptor const* direction = nullptr;
    std::string const* owner = nullptr;
    timestamp created{};
    timestamp modified{};
    epoch epoch_number = 0;
    epoch committed = 0;
    std::size_t failed_part = entry_write::no_part;
    std::uint32_t attempts = 0;
    std::uint32_t revision = 0;
    stage_number stages_kept = 0;
    settle::state state = settle::state::initial;
    reason why = reason::none;
    std::unique_ptr<kept_lists> lists;

    [[nodiscard]] void* parameters() noexcept { return this + 1; }
    [[nodiscard]] void const* parameters() const noexcept { return this + 1; }

    [[nodiscard]] entry read(bool with_parameters = true) const {
        entry copy;
        copy.id = id;
        copy.type = direction->name();
        copy.definition = direction->definition();
        if (with_parameters) copy.parameters = direction->json(parameters());
        copy.state = state;
        copy.epoch_number = epoch_number;
        copy.committed = committed;
        copy.revision = revision;
        copy.stages_kept = stages_kept;
        copy.owner = *owner;
        copy.created = created;
        copy.modified = modified;
        copy.attempts = attempts;
        copy.why = why;
        if (failed_part != entry_write::no_part) {
            part_name const where = direction->name_part(parameters(), failed_part);
            copy.participant = where.participant;
            copy.line = where.line;
        }
        if (lists) {
            copy.images = lists->images;
            copy.results = lists->results;
            copy.why_text = lists->why_text;
            copy.call_tries = lists->call_tries;
            copy.next_try = lists->next_try;
            copy.traceparent = lists->traceparent;
        }
        return copy;
    }
};

/// Rows of one direction, allocated in blocks. A row keeps its address until the pool is destroyed.
/// Cost:    one allocation for up to 1,024 rows, none for reserved rows
class row_pool {
    static constexpr std::size_t most_at_once = 1024;

public:
    explicit row_pool(transaction_descriptor const& descriptor)
        : direction_(&descriptor),
          stride_(sizeof(entry_row) + (descriptor.size + alignof(entry_row) - 1) /
                                          alignof(entry_row) * alignof(entry_row)) {}
    row_pool(row_pool const&) = delete;
    row_pool& operator=(row_pool const&) = delete;
    ~row_pool() {
        for (auto const& block : chunks_) {
            for (std::size_t i = 0; i < block.count; ++i) {
                entry_row& row = at(block, i);
                if (row.direction != nullptr) direction_->destroy(row.parameters());
                row.~entry_row();
            }
            ::operator delete(block.rows, std::align_val_t{alignof(entry_row)});
        }
    }

    [[nodiscard]] transaction_descriptor const& direction() const noexcept { return *direction_; }

    entry_row& take(void const* parameters) {
        if (free_ == nullptr) make(std::clamp(made_, std::size_t{16}, most_at_once));
        auto& row = static_cast<entry_row&>(*free_);
        direction_->copy(row.parameters(), parameters);
        free_ = std::exchange(row.next, nullptr);
        --free_count_;
        row.direction = direction_;
        return row;
    }

    void reserve(std::size_t room) {
        if (room > free_count_) make(room - free_count_);
    }

    /// Destroys a row's contents and keeps its memory for the next row.
    void give_back(entry_row& row) {
        direction_->destroy(row.parameters());
        row.~entry_row();
        ::new (&row) entry_row;
        row.next = std::exchange(free_, &row);
        ++free_count_;
    }

private:
    struct chunk {
        void* rows;
        std::size_t count;
    };

    [[nodiscard]] entry_row& at(chunk const& block, std::size_t number) const noexcept {
        auto* const slot = static_cast<std::byte*>(block.rows) + number * stride_;
        return *reinterpret_cast<entry_row*>(slot);
    }

    void make(std::size_t count) {
        chunks_.reserve(chunks_.size() + 1);
        chunk const fresh{::operator new(count * stride_, std::align_val_t{alignof(entry_row)}),
                          count};
        chunks_.push_back(fresh);
        // The first row ends up in front, so that successive entries are neighbours in memory.
        for (std::size_t i = count; i-- > 0;) {
            auto* const row = ::new (&at(fresh, i)) entry_row;
            row->next = std::exchange(free_, row);
        }
        made_ += count;
        free_count_ += count;
    }

    transaction_descriptor const* direction_;
    std::size_t stride_; ///< bytes from row to row
    std::vector<chunk> chunks_;
    links* free_ = nullptr;
    std::size_t free_count_ = 0;
    std::size_t made_ = 0;
};

} // namespace memory
SETTLE_END
