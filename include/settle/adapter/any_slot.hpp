// SPDX-License-Identifier: BSL-1.0
// The record and the marks of one key, without their C++ types: the record rule decides on them.
#pragma once

#include <settle/adapter/collection.hpp>

SETTLE_BEGIN
namespace detail {

/// An exclusive effect of a mark; see exclusive_effect.
struct exclusive_view {
    void const* undone = nullptr;    ///< a record
    void const* confirmed = nullptr; ///< a record
    std::uint64_t undo_fields = 0;
    std::uint64_t confirm_fields = 0;
    bool created = false;
    bool erases = false;
    std::string_view image{};
};

/// A mark in a slot.
/// Shape:   valid until the slot changes
struct mark_view {
    transaction_id const* id = nullptr;
    part_number part{};
    epoch epoch_number = 0;
    std::span<std::int64_t const> confirm{}; ///< a number for each integer member
    std::span<std::int64_t const> undo{};
    bool is_exclusive = false;
    exclusive_view exclusive{};

    /// The least that the mark can still add to an integer member; high() is the most.
    [[nodiscard]] std::int64_t low(std::size_t position) const {
        return std::min({std::int64_t{0}, confirm[position], undo[position]});
    }
    [[nodiscard]] std::int64_t high(std::size_t position) const {
        return std::max({std::int64_t{0}, confirm[position], undo[position]});
    }
};

/// An exclusive effect that a codec fills.
struct exclusive_draft {
    std::shared_ptr<void> effect{};
    void* undone = nullptr;    ///< a record
    void* confirmed = nullptr; ///< a record
    std::uint64_t* undo_fields = nullptr;
    std::uint64_t* confirm_fields = nullptr;
    bool* created = nullptr;
    bool* erases = nullptr;
    std::string* image = nullptr;
};

/// A mark to insert into a slot.
struct mark_data {
    transaction_id id{};
    part_number part{};
    epoch epoch_number = 0;
    std::vector<std::int64_t> confirm{}; ///< a number for each integer member
    std::vector<std::int64_t> undo{};
    std::shared_ptr<void> exclusive{}; ///< of an exclusive_draft
};

/// The changes that the record rule made in a slot.
struct record_changes {
    answer what = answer::nothing;
    mark_change on_mark = mark_change::none;
    record_change on_record = record_change::none;
    std::uint64_t fields = 0;
    std::shared_ptr<image const> kept{}; ///< of an exclusive effect
    epoch marked = 0;                    ///< of answer::other_call

    [[nodiscard]] part_result result() && {
        return {.what = what, .kept = std::move(kept), .marked = marked};
    }
};

/// A conditional_change. Its mark has no exclusive effect.
/// Shape:   numbers - one for each integer member
struct conditional_view {
    std::span<std::int64_t const> least;
    std::span<std::int64_t const> most;
    std::span<std::int64_t const> added;
    mark_view own;
};
using conditional_function = function_view<void(conditional_view const&)>;

/// Calls a function with the conditional update of a request, if the request has one.
void conditional(part_request const& request, conditional_function function);

/// Shape:   record - both records of the effect become copies of it, unless it is null
[[nodiscard]] exclusive_draft draft_exclusive(record_descriptor const& descriptor,
                                              void const* record);

/// The record and the marks of one key.
class any_slot {
public:
    explicit any_slot(record_descriptor const& descriptor) noexcept : of_(&descriptor) {}

    [[nodiscard]] record_descriptor const& of() const noexcept { return *of_; }

    /// The record; null if there is none.
    [[nodiscard]] void* record() const { return slot_.record ? slot_.record->get() : nullptr; }
    [[nodiscard]] bool has_record() const { return slot_.record.has_value(); }
    /// Makes a new record, and returns it.
    void* emplace() { return slot_.record.emplace(*of_).emplace(); }

    [[nodiscard]] std::optional<mark_view> find(transaction_id const& id, part_number part) const;
    [[nodiscard]] bool has_mark(transaction_id const& id, part_number part) const;
    void insert(mark_data&& added);
    void erase(transaction_id const& id, part_number part);
    /// Sets the epoch of a mark that is there.
    void raise(transaction_id const& id, part_number part, epoch to);
    void for_each_mark(function_view<void(mark_view const&)> function) const;
    [[nodiscard]] std::size_t count_marks() const { return slot_.marks.size(); }
    [[nodiscard]] bool any_exclusive() const { return slot_.marks.any_exclusive(); }
    /// The least and the most that all marks together can still add to an integer member.
    void reach(std::size_t position, wide& low, wide& high) const {
        low = slot_.marks.low(position);
        high = slot_.marks.high(position);
    }

    /// The record and the marks themselves.
    [[nodiscard]] record_slot<any_record> take() && { return std::move(slot_); }

    record_changes execute(part_request const& request, native_image_function native_image);
    record_changes end_one_phase(part_request const& request, bool confirmed);
    /// Confirms or undoes a mark that is there, and pulls it.
    record_changes resolve(transaction_id const& id, part_number part, bool confirmed);

private:
    record_descriptor const* of_;
    record_slot<any_record> slot_{};
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/any_slot.ipp>
#endif
