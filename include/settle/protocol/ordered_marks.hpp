// SPDX-License-Identifier: BSL-1.0
// The container of a record's marks: in order, at home in the record while there is only one, and
// cheap to change however many there are.
#pragma once

#include <settle/protocol/state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Whether two ids are the same. Most have 8 to 16 characters, and two looks of eight bytes, which
/// may overlap, are less than a call.
[[nodiscard]] inline bool same_id(std::string_view left, std::string_view right) noexcept {
    std::size_t const size = left.size();
    if (size != right.size()) return false;
    if (size < 8 || size > 16) return left == right;
    return std::memcmp(left.data(), right.data(), 8) == 0 &&
           std::memcmp(left.data() + size - 8, right.data() + size - 8, 8) == 0;
}

} // namespace detail

/// Marks in the order of transaction and part.
/// Shape:   Mark - has `id` and `part`, which together no two marks share
/// Cost:    finding one is O(log n); a change moves at most `longest` marks, and now and then the
///          heads of the runs. The first mark asks nothing of the heap, and the others nothing that
///          was there before, since the room of marks that went is kept
template <typename Mark>
class ordered_marks {
    using run = std::vector<Mark>;

    /// Turns into a mark where that is to stand, which copies the id once and moves nothing.
    struct newborn {
        transaction_id const& id;
        part_number part;
        operator Mark() const { return Mark{id, part}; }
    };

public:
    static constexpr std::size_t longest = 16;

    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Mark;
        using difference_type = std::ptrdiff_t;
        using pointer = Mark const*;
        using reference = Mark const&;

        iterator() = default;
        reference operator*() const { return *at_; }
        pointer operator->() const { return at_; }
        iterator& operator++() {
            ++at_;
            // A run that ends has the next one behind it; the mark that stands alone has none.
            if (run_ != nullptr && at_ == run_->data() + run_->size() && ++run_ != last_) {
                at_ = run_->data();
            }
            return *this;
        }
        iterator operator++(int) {
            iterator const before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(iterator const& left, iterator const& right) {
            return left.at_ == right.at_;
        }

    private:
        friend ordered_marks;
        iterator(Mark const* at, run const* in, run const* last) : at_(at), run_(in), last_(last) {}

        Mark const* at_ = nullptr;
        run const* run_ = nullptr;
        run const* last_ = nullptr;
    };

    [[nodiscard]] bool empty() const noexcept { return !alone_ && used_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t count = alone_ ? 1 : 0;
        for (std::size_t i = 0; i < used_; ++i) count += runs_[i].size();
        return count;
    }

    [[nodiscard]] iterator begin() const noexcept {
        if (used_ == 0) return {alone_ ? &*alone_ : nullptr, nullptr, nullptr};
        return {runs_[0].data(), runs_.data(), runs_.data() + used_};
    }
    [[nodiscard]] iterator end() const noexcept {
        if (used_ == 0) return {alone_ ? &*alone_ + 1 : nullptr, nullptr, nullptr};
        run const& last = runs_[used_ - 1];
        return {last.data() + last.size(), nullptr, nullptr};
    }

    /// The first mark that does not come before this part of this transaction.
    [[nodiscard]] iterator lower_bound(transaction_id const& id, part_number part) const {
        if (used_ == 0) {
            return alone_ && std::tie(alone_->id, alone_->part) < std::tie(id, part) ? end()
                                                                                    : begin();
        }
        std::size_t i = run_of(id, part);
        std::size_t const at = place_in(runs_[i], id, part);
        if (at < runs_[i].size()) return {&runs_[i][at], &runs_[i], runs_.data() + used_};
        if (++i == used_) return end();
        return {runs_[i].data(), &runs_[i], runs_.data() + used_};
    }

    [[nodiscard, gnu::always_inline]] Mark* find(transaction_id const& id, part_number part) {
        if (used_ != 0) return find_in_runs(id, part);
        return alone_ && alone_->part == part && detail::same_id(alone_->id, id) ? &*alone_
                                                                                 : nullptr;
    }

    void insert(Mark&& added) {
        if (empty()) {
            alone_.emplace(std::move(added));
            return;
        }
        auto const [in, at] = room_for(added.id, added.part);
        in->insert(in->begin() + at, std::move(added));
    }

    /// Makes a mark in its place, where the caller fills it in.
    [[gnu::always_inline]] Mark& add(transaction_id const& id, part_number part) {
        if (empty()) return alone_.emplace(newborn{id, part});
        return add_to_runs(id, part);
    }

    /// Takes out a mark that find() gave.
    [[gnu::always_inline]] void erase(Mark* erased) {
        if (used_ == 0) alone_.reset();
        else erase_in_runs(erased);
    }

    /// Calls `function(Mark&)` for every mark of one transaction; its id and part must stay.
    template <typename Function>
    void visit(transaction_id const& id, Function&& function) {
        if (alone_ && alone_->id == id) function(*alone_);
        for (std::size_t i = 0; i < used_; ++i) {
            for (Mark& one : runs_[i]) {
                if (one.id == id) function(one);
            }
        }
    }

    friend bool operator==(ordered_marks const& left, ordered_marks const& right) {
        return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }

private:
    [[gnu::noinline]] Mark* find_in_runs(transaction_id const& id, part_number part) {
        run& in = runs_[run_of(id, part)];
        std::size_t const at = place_in(in, id, part);
        return at < in.size() && in[at].part == part && in[at].id == id ? &in[at] : nullptr;
    }

    [[gnu::noinline]] Mark& add_to_runs(transaction_id const& id, part_number part) {
        auto const [in, at] = room_for(id, part);
        return *in->emplace(in->begin() + at, newborn{id, part});
    }

    [[gnu::noinline]] void erase_in_runs(Mark* erased) {
        std::size_t const i = run_of(erased->id, erased->part);
        runs_[i].erase(runs_[i].begin() + (erased - runs_[i].data()));
        if (runs_[i].empty()) close_run(i);
    }

    /// The run and the place in it where one more mark belongs; there is one already.
    std::pair<run*, std::ptrdiff_t> room_for(transaction_id const& id, part_number part) {
        if (used_ == 0) {
            open_run(0);
            runs_[0].push_back(std::move(*alone_));
            alone_.reset();
        }
        std::size_t i = run_of(id, part);
        std::size_t at = place_in(runs_[i], id, part);
        if (runs_[i].size() == longest) {
            // Ids mostly grow, so that most marks come last: then the run stays whole.
            std::size_t const kept = at == longest && i + 1 == used_ ? longest : longest / 2;
            open_run(i + 1);
            run& from = runs_[i];
            auto const cut = from.begin() + static_cast<std::ptrdiff_t>(kept);
            runs_[i + 1].assign(std::move_iterator{cut}, std::move_iterator{from.end()});
            from.erase(cut, from.end());
            if (at > kept || at == longest) {
                ++i;
                at -= kept;
            }
        }
        return {&runs_[i], static_cast<std::ptrdiff_t>(at)};
    }

    /// The run in which a mark is, or belongs. Only when there is one.
    [[nodiscard]] std::size_t run_of(transaction_id const& id, part_number part) const {
        if (used_ == 1) return 0;
        auto const first = runs_.begin();
        auto const behind = std::partition_point(
            first + 1, first + static_cast<std::ptrdiff_t>(used_), [&](run const& one) {
                return std::tie(one.front().id, one.front().part) <= std::tie(id, part);
            });
        return static_cast<std::size_t>(behind - first) - 1;
    }

    [[nodiscard]] static std::size_t place_in(run const& in, transaction_id const& id,
                                              part_number part) {
        auto const at = std::partition_point(in.begin(), in.end(), [&](Mark const& one) {
            return std::tie(one.id, one.part) < std::tie(id, part);
        });
        return static_cast<std::size_t>(at - in.begin());
    }

    /// Puts an empty run at a place. Those that were closed stand behind the used ones, and keep
    /// their room.
    void open_run(std::size_t at) {
        if (used_ == runs_.size()) runs_.emplace_back();
        auto const first = runs_.begin();
        std::rotate(first + static_cast<std::ptrdiff_t>(at),
                    first + static_cast<std::ptrdiff_t>(used_),
                    first + static_cast<std::ptrdiff_t>(used_) + 1);
        ++used_;
    }

    void close_run(std::size_t at) {
        auto const first = runs_.begin();
        std::rotate(first + static_cast<std::ptrdiff_t>(at),
                    first + static_cast<std::ptrdiff_t>(at) + 1,
                    first + static_cast<std::ptrdiff_t>(used_));
        --used_;
    }

    // The runs come last: who has one mark at a time never touches them.
    std::size_t used_ = 0; ///< runs in use, none of them empty
    /// The only mark; several are all in the runs, and stay there until none is left.
    std::optional<Mark> alone_;
    std::vector<run> runs_;
};

SETTLE_END
