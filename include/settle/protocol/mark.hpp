// SPDX-License-Identifier: BSL-1.0
// The mark, and the set of all marks of a record.
//
// A mark names the transaction, part and epoch that involve the record. It holds all data that a
// confirm or an undo needs, so neither needs the parameters or the definition.
#pragma once

#include <settle/definition/evaluate.hpp>
#include <settle/protocol/ordered_marks.hpp>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

SETTLE_BEGIN

namespace detail {

__extension__ typedef __int128 wide;

template <Described Record>
constexpr std::array<std::size_t, member_count<Record> + 1> integer_positions() {
    std::array<std::size_t, member_count<Record> + 1> positions{};
    std::size_t count = 0;
    for_each_member<Record>([&](auto m) {
        positions[m.index] = count;
        if constexpr (IntegerField<typename decltype(m)::type>) ++count;
    });
    positions[member_count<Record>] = count;
    return positions;
}

} // namespace detail

/// The number of integer members of Record, and the position of each among them.
template <Described Record>
inline constexpr std::size_t integer_count =
    detail::integer_positions<Record>()[member_count<Record>];
template <Described Record, std::size_t Member>
inline constexpr std::size_t integer_position = detail::integer_positions<Record>()[Member];

namespace detail {

/// A number for each integer member of a record. A record without its type (store/any_record.hpp)
/// has its own list.
template <typename Record, typename Number>
struct number_list {
    using type = std::array<Number, integer_count<Record>>;
};
template <typename Record, typename Number>
using numbers = typename number_list<Record, Number>::type;

/// Zeros for the integer members of a record.
template <Described Record>
[[nodiscard, gnu::always_inline]] constexpr auto zeros_of(Record const&) {
    return numbers<Record, std::int64_t>{};
}

} // namespace detail

/// One number for each integer member of Record.
template <typename Record>
using integers = detail::numbers<Record, std::int64_t>;

/// Calls `function(member, position)` for every integer member.
template <Described Record, typename Function>
[[gnu::always_inline]] constexpr void for_each_integer(Function&& function) {
    // Always inlined: calls would cost more than these few additions.
    auto const visit = [&](auto m) __attribute__((always_inline)) {
        using member_type = decltype(m);
        if constexpr (IntegerField<typename member_type::type>) {
            constexpr std::size_t position = integer_position<Record, member_type::index>;
            function(m, std::integral_constant<std::size_t, position>{});
        }
    };
    [&]<std::size_t... Index>(std::index_sequence<Index...>) __attribute__((always_inline)) {
        (visit(member<Record, Index>{}), ...);
    }(std::make_index_sequence<member_count<Record>>{});
}

/// The data of an exclusive mark. No other transaction changes the record while the mark is there,
/// so the mark can hold values instead of differences.
template <typename Record>
struct exclusive_effect {
    Record undone{};                  ///< the values that an undo puts back
    Record confirmed{};               ///< the values that a confirm puts in place
    std::uint64_t undo_fields = 0;    ///< a bit for each member that the apply changed
    std::uint64_t confirm_fields = 0; ///< a bit for each member that the confirm changes
    bool created = false;             ///< an undo erases the record
    bool erases = false;              ///< a confirm erases the record
    std::string image;                ///< the native record before the apply, as the store wrote it
};

template <Described Record>
[[nodiscard]] bool equal_members(Record const& left, Record const& right) {
    return detail::same_value(left, right);
}
template <Described Record>
[[nodiscard]] bool equal_members(std::optional<Record> const& left,
                                 std::optional<Record> const& right) {
    if (left.has_value() != right.has_value()) return false;
    return !left || equal_members(*left, *right);
}

template <Described Record>
[[nodiscard]] bool operator==(exclusive_effect<Record> const& left,
                              exclusive_effect<Record> const& right) {
    return equal_members(left.undone, right.undone) &&
           equal_members(left.confirmed, right.confirmed) &&
           left.undo_fields == right.undo_fields && left.confirm_fields == right.confirm_fields &&
           left.created == right.created && left.erases == right.erases &&
           left.image == right.image;
}

/// `{transaction id, part, epoch}`, and the data that a confirm or an undo needs.
template <typename Record>
struct mark {
    transaction_id id;
    part_number part;
    epoch epoch_number = 0;
    integers<Record> confirm_delta{}; ///< the number that a confirm adds to each integer member
    integers<Record> undo_delta{};    ///< the number that an undo adds to each integer member
    /// Set for an exclusive effect. Shared because it never changes: copies of a mark stay cheap.
    std::shared_ptr<exclusive_effect<Record> const> exclusive{};

    [[nodiscard]] bool is_exclusive() const noexcept { return exclusive != nullptr; }

    /// Frees the exclusive effect when the mark is erased.
    void release_effect() noexcept {
        if (exclusive) exclusive.reset();
    }

    /// The least that this mark can still add to a member; high() is the most.
    [[nodiscard]] std::int64_t low(std::size_t position) const {
        return std::min(std::min(std::int64_t{0}, confirm_delta[position]), undo_delta[position]);
    }
    [[nodiscard]] std::int64_t high(std::size_t position) const {
        return std::max(std::max(std::int64_t{0}, confirm_delta[position]), undo_delta[position]);
    }

    friend bool operator==(mark const& left, mark const& right) {
        if (left.id != right.id || left.part != right.part ||
            left.epoch_number != right.epoch_number || left.confirm_delta != right.confirm_delta ||
            left.undo_delta != right.undo_delta || left.is_exclusive() != right.is_exclusive()) {
            return false;
        }
        return !left.is_exclusive() || *left.exclusive == *right.exclusive;
    }

    /// Lets a search renumber epochs: states that differ only in absolute epochs become equal.
    template <typename Function>
    void visit_epochs(Function&& function) {
        function(epoch_number);
    }
};

namespace detail {

/// The least and the most that several marks together can still add to each integer member.
template <typename Record>
struct mark_sums {
    numbers<Record, wide> low{};
    numbers<Record, wide> high{};
    std::size_t exclusive = 0; ///< the number of exclusive marks

    template <int Sign>
    void count(mark<Record> const& mark) {
        if (mark.is_exclusive()) exclusive += Sign == 1 ? 1U : ~std::size_t{0};
        auto const size = mark.confirm_delta.size();
        if constexpr (requires { low.resize(size); }) {
            low.resize(size);
            high.resize(size);
        }
        for (std::size_t i = 0; i < size; ++i) {
            low[i] += Sign * wide{mark.low(i)};
            high[i] += Sign * wide{mark.high(i)};
        }
    }
};

} // namespace detail

/// The marks of one record, ordered by transaction and part, with the sums that escrow needs: the
/// least and the most that all marks together can still add to each integer member.
template <typename Record>
class mark_set {
public:
    using mark_type = mark<Record>;

    [[nodiscard, SETTLE_INLINED]] bool empty() const noexcept { return marks_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return marks_.size(); }
    [[nodiscard]] auto begin() const noexcept { return marks_.begin(); }
    [[nodiscard]] auto end() const noexcept { return marks_.end(); }
    [[nodiscard]] bool any_exclusive() const noexcept {
        if (auto const* const one = marks_.single()) return one->is_exclusive();
        auto const* const sums = marks_.sums();
        return sums != nullptr && sums->exclusive != 0;
    }

    /// The least that the marks together can still add to a member; high() is the most.
    [[nodiscard]] detail::wide low(std::size_t position) const {
        if (auto const* const one = marks_.single()) return one->low(position);
        auto const* const sums = marks_.sums();
        return sums != nullptr ? sums->low[position] : 0;
    }
    [[nodiscard]] detail::wide high(std::size_t position) const {
        if (auto const* const one = marks_.single()) return one->high(position);
        auto const* const sums = marks_.sums();
        return sums != nullptr ? sums->high[position] : 0;
    }

    [[nodiscard, SETTLE_INLINED]] mark_type* find(transaction_id const& id, part_number part) {
        return marks_.find(id, part);
    }
    [[nodiscard]] mark_type const* find(transaction_id const& id, part_number part) const {
        return const_cast<mark_set&>(*this).find(id, part);
    }

    /// True if some mark of this transaction passes the test.
    template <typename Test>
    [[nodiscard]] bool any_of(transaction_id const& id, Test&& test) const {
        for (auto at = marks_.lower_bound(id, {}); at != marks_.end() && at->id == id; ++at) {
            if (test(*at)) return true;
        }
        return false;
    }

    /// True if another part of this transaction has a mark here. If `only_exclusive`, only
    /// exclusive marks count. The caller's own part must have no mark.
    [[nodiscard]] bool holds_other_part(transaction_id const& id, bool only_exclusive) const {
        if (only_exclusive && !any_exclusive()) return false;
        return any_of(
            id, [&](mark_type const& mark) { return mark.is_exclusive() || !only_exclusive; });
    }

    void insert(mark_type added) { marks_.insert(std::move(added)); }

    /// Adds a mark. `fill(mark&)` must set all members but the id and the part.
    template <typename Fill>
    [[SETTLE_INLINED]] void add(transaction_id const& id, part_number part, Fill&& fill) {
        marks_.add(id, part, std::forward<Fill>(fill));
    }

    /// Erases a mark that find() returned.
    [[SETTLE_INLINED]] void erase(mark_type* erased) { marks_.erase(erased); }

    friend bool operator==(mark_set const& left, mark_set const& right) {
        return left.marks_ == right.marks_;
    }

    /// Calls `function(epoch&)` for every mark of one transaction.
    template <typename Function>
    void visit_epochs_of(transaction_id const& id, Function&& function) {
        marks_.visit(id, [&](mark_type& mark) { mark.visit_epochs(function); });
    }

private:
    ordered_marks<mark_type, detail::mark_sums<Record>> marks_;
};

/// A record, if it exists, and its marks.
template <typename Record>
struct record_slot {
    std::optional<Record> record;
    mark_set<Record> marks;

    friend bool operator==(record_slot const& left, record_slot const& right) {
        return equal_members(left.record, right.record) && left.marks == right.marks;
    }
};

SETTLE_END
