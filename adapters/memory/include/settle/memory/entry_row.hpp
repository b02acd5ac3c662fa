// SPDX-License-Identifier: BSL-1.0
// One entry in memory: what is its own in a row, what its type has in common beside it, once.
#pragma once

#include <settle/store/wave.hpp>

SETTLE_BEGIN
namespace memory {

/// A place in a circle; the circle's owner is a place, too, so that joining and leaving never ask
/// whether there is a neighbour.
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

struct entry_row;

/// What the entries of one type have in common.
struct row_kind {
    std::string const& (*name)();
    std::uint64_t (*definition)();
    std::string (*json)(entry_row const&);
    part_name (*name_part)(entry_row const&, std::size_t part);
};

/// One entry, without its parameters. A row that holds none has no kind.
struct entry_row : links {
    transaction_id id;
    row_kind const* kind = nullptr;
    std::string const* owner = nullptr;
    timestamp created{};
    timestamp modified{};
    epoch epoch_number = 0;
    epoch committed = 0;
    std::size_t failed_part = coordinator::no_part;
    std::uint32_t attempts = 0;
    settle::state state = settle::state::initial;
    reason why = reason::none;
    /// Few entries have any, and they are what makes an entry large.
    std::unique_ptr<std::vector<image>> images;

    [[nodiscard]] entry read() const {
        entry copy;
        copy.id = id;
        copy.type = kind->name();
        copy.definition = kind->definition();
        copy.parameters = kind->json(*this);
        copy.state = state;
        copy.epoch_number = epoch_number;
        copy.committed = committed;
        copy.owner = *owner;
        copy.created = created;
        copy.modified = modified;
        copy.attempts = attempts;
        copy.why = why;
        if (failed_part != coordinator::no_part) {
            part_name const where = kind->name_part(*this, failed_part);
            copy.participant = where.participant;
            copy.line = where.line;
        }
        if (images) copy.images = *images;
        return copy;
    }
};

/// An entry of one type: its parameters stand behind it as they are.
template <typename Direction>
struct typed_row : entry_row {
    static constexpr bool has_parameters = !std::is_same_v<Direction, undescribed>;

    typename Direction::parameters parameters{};

    static std::string json(entry_row const& row) {
        if constexpr (has_parameters) {
            return encode_json(static_cast<typed_row const&>(row).parameters);
        } else {
            static_cast<void>(row);
            return {};
        }
    }
    static part_name name_part(entry_row const& row, std::size_t part) {
        if constexpr (has_parameters) {
            return Direction::name_part(
                Direction::user(static_cast<typed_row const&>(row).parameters), part);
        } else {
            static_cast<void>(row);
            static_cast<void>(part);
            return {};
        }
    }
};

template <typename Direction>
inline constexpr row_kind kind_of{&Direction::name, &Direction::definition,
                                  &typed_row<Direction>::json, &typed_row<Direction>::name_part};

/// Rows of one kind, without knowing which.
class row_pool_base {
public:
    explicit row_pool_base(row_kind const& kind) : kind_(&kind) {}
    row_pool_base(row_pool_base const&) = delete;
    row_pool_base& operator=(row_pool_base const&) = delete;
    virtual ~row_pool_base() = default;

    [[nodiscard]] row_kind const& kind() const noexcept { return *kind_; }

    /// Takes a row back: what it held goes, its memory stays for the next.
    virtual void give_back(entry_row& row) = 0;

private:
    row_kind const* kind_;
};

/// Rows of one type, made many at a time. A row stays where it is until the pool goes.
/// Cost:    one allocation for up to 1,024 rows, none for those that were reserved
template <typename Direction>
class row_pool final : public row_pool_base {
    using row_type = typed_row<Direction>;
    static constexpr std::size_t most_at_once = 1024;

public:
    row_pool() : row_pool_base(kind_of<Direction>) {}

    row_type& take() {
        if (free_ == nullptr) make(std::clamp(made_, std::size_t{16}, most_at_once));
        links* const taken = std::exchange(free_, free_->next);
        taken->next = nullptr;
        --free_count_;
        auto& row = static_cast<row_type&>(static_cast<entry_row&>(*taken));
        row.kind = &kind();
        return row;
    }

    void reserve(std::size_t room) {
        if (room > free_count_) make(room - free_count_);
    }

    void give_back(entry_row& row) override {
        auto& typed = static_cast<row_type&>(row);
        // What was moved from has given up its memory; a row that is reset keeps its own.
        static_cast<void>(transaction_id{std::move(row.id)});
        row.id.clear();
        static_cast<void>(typename Direction::parameters{std::move(typed.parameters)});
        typed.parameters = {};
        row.images.reset();
        row.kind = nullptr;
        row.failed_part = coordinator::no_part;
        row.committed = 0;
        row.attempts = 0;
        row.why = reason::none;
        row.next = std::exchange(free_, &row);
        ++free_count_;
    }

private:
    void make(std::size_t count) {
        chunks_.push_back(std::make_unique<row_type[]>(count));
        row_type* const rows = chunks_.back().get();
        // The first row ends up in front, so that entries which follow each other lie side by side.
        for (std::size_t i = count; i-- > 0;) rows[i].next = std::exchange(free_, &rows[i]);
        made_ += count;
        free_count_ += count;
    }

    std::vector<std::unique_ptr<row_type[]>> chunks_;
    links* free_ = nullptr;
    std::size_t free_count_ = 0;
    std::size_t made_ = 0;
};

} // namespace memory
SETTLE_END
