// SPDX-License-Identifier: BSL-1.0
// The container of a record's marks, in order. A single mark is stored in the container itself;
// several marks are stored in short sorted vectors, the runs.
#pragma once

#include <settle/protocol/state.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// True if two ids or keys are equal. Most have 8 to 16 characters: two comparisons of 8 bytes,
/// which may overlap, cost less than a call.
[[nodiscard, SETTLE_INLINED]] inline bool same_text(std::string_view left,
                                                    std::string_view right) noexcept {
    std::size_t const size = left.size();
    if (size != right.size()) return false;
    if (size < 8 || size > 16) return left == right;
    return std::memcmp(left.data(), right.data(), 8) == 0 &&
           std::memcmp(left.data() + size - 8, right.data() + size - 8, 8) == 0;
}

/// Assigns a text; if both are equally long ids, this costs two stores.
[[SETTLE_INLINED]] inline void copy_text(std::string& to, std::string const& from) {
    std::size_t const size = from.size();
    if (to.size() != size || size < 8 || size > 16) {
        to = from;
        return;
    }
    std::array<char, 8> head;
    std::array<char, 8> tail;
    std::memcpy(head.data(), from.data(), 8);
    std::memcpy(tail.data(), from.data() + size - 8, 8);
    std::memcpy(to.data(), head.data(), 8);
    std::memcpy(to.data() + size - 8, tail.data(), 8);
}

/// Keeps no sums.
struct no_sums {
    template <int Sign, typename Mark>
    void count(Mark const&) {}
};

} // namespace detail

/// Marks in the order of transaction and part.
/// Shape:   Mark - has `id` and `part`, a unique pair; Sums - is notified of each change of several
///          marks: `count<1>(mark)` for an added mark, `count<-1>(mark)` for an erased mark
/// Cost:    find is O(log n); a change moves at most `longest` marks, and sometimes the list of
///          runs. A single mark needs no heap; several marks reuse the memory of erased marks
template <typename Mark, typename Sums = detail::no_sums>
class ordered_marks {
    using run = std::vector<Mark>;

    /// Converts to a mark in the mark's final memory: copies the id once and moves nothing.
    struct mark_maker {
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
            // At the end of a run go on with the next run. A single mark is in no run.
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
        iterator(Mark const* mark, run const* in, run const* last)
            : at_(mark), run_(in), last_(last) {}

        Mark const* at_ = nullptr;
        run const* run_ = nullptr;
        run const* last_ = nullptr;
    };

    ordered_marks() = default;
    ordered_marks(ordered_marks const& other)
        : only_(other.only_), has_only_(other.has_only_),
          several_(other.has_several() ? std::make_unique<mark_runs>(*other.several_) : nullptr) {}
    ordered_marks(ordered_marks&& other) noexcept
        : only_(std::move(other.only_)), has_only_(std::exchange(other.has_only_, false)),
          several_(std::move(other.several_)) {}
    ordered_marks& operator=(ordered_marks other) noexcept {
        only_ = std::move(other.only_);
        has_only_ = other.has_only_;
        several_ = std::move(other.several_);
        return *this;
    }
    ~ordered_marks() = default;

    [[nodiscard, SETTLE_INLINED]] bool empty() const noexcept {
        return !has_only_ && !has_several();
    }
    [[nodiscard]] std::size_t size() const noexcept {
        if (!has_several()) return has_only_ ? 1 : 0;
        std::size_t count = 0;
        for (std::size_t i = 0; i < several_->used; ++i) count += several_->runs[i].size();
        return count;
    }

    /// The single mark; null if there is none or there are several.
    [[nodiscard]] Mark const* single() const noexcept { return has_only_ ? &only_ : nullptr; }
    /// The sums of several marks; null if there are fewer.
    [[nodiscard]] Sums const* sums() const noexcept {
        return has_several() ? &several_->sums : nullptr;
    }

    [[nodiscard]] iterator begin() const noexcept {
        if (!has_several()) return {single(), nullptr, nullptr};
        return {several_->runs[0].data(), several_->runs.data(),
                several_->runs.data() + several_->used};
    }
    [[nodiscard]] iterator end() const noexcept {
        if (!has_several()) return {has_only_ ? &only_ + 1 : nullptr, nullptr, nullptr};
        run const& last = several_->runs[several_->used - 1];
        return {last.data() + last.size(), nullptr, nullptr};
    }

    /// The first mark that is not ordered before this part of this transaction.
    [[nodiscard]] iterator lower_bound(transaction_id const& id, part_number part) const {
        if (!has_several()) {
            return has_only_ && std::tie(only_.id, only_.part) < std::tie(id, part) ? end()
                                                                                    : begin();
        }
        auto const& runs = several_->runs;
        std::size_t i = several_->run_of(id, part);
        std::size_t const index = index_in(runs[i], id, part);
        run const* const last = runs.data() + several_->used;
        if (index < runs[i].size()) return {&runs[i][index], &runs[i], last};
        if (++i == several_->used) return end();
        return {runs[i].data(), &runs[i], last};
    }

    [[nodiscard, SETTLE_INLINED]] Mark* find(transaction_id const& id, part_number part) {
        if (has_only_) {
            return only_.part == part && detail::same_text(only_.id, id) ? &only_ : nullptr;
        }
        return has_several() ? several_->find(id, part) : nullptr;
    }

    void insert(Mark&& added) {
        if (empty()) {
            only_ = std::move(added);
            has_only_ = true;
            return;
        }
        mark_runs& into = runs_for_insert();
        into.sums.template count<1>(into.put(added.id, added.part, std::move(added)));
    }

    /// Adds a mark. `fill(Mark&)` must set all other members: an erased mark may have left values
    /// in the same memory.
    template <typename Fill>
    [[SETTLE_INLINED]] void add(transaction_id const& id, part_number part, Fill&& fill) {
        if (empty()) {
            detail::copy_text(only_.id, id);
            only_.part = part;
            fill(only_);
            has_only_ = true;
            return;
        }
        mark_runs& into = runs_for_insert();
        Mark& made = into.put(id, part, mark_maker{id, part});
        fill(made);
        into.sums.template count<1>(made);
    }

    /// Erases a mark that find() returned.
    [[SETTLE_INLINED]] void erase(Mark* erased) {
        if (!has_only_) return several_->erase(erased);
        has_only_ = false;
        if constexpr (requires { only_.release_effect(); }) only_.release_effect();
    }

    /// Calls `function(Mark&)` for every mark of one transaction. The function must not change the
    /// id, the part or a member that the sums count.
    template <typename Function>
    void visit(transaction_id const& id, Function&& function) {
        if (has_only_ && only_.id == id) function(only_);
        for (std::size_t i = 0; has_several() && i < several_->used; ++i) {
            for (Mark& one : several_->runs[i]) {
                if (one.id == id) function(one);
            }
        }
    }

    friend bool operator==(ordered_marks const& left, ordered_marks const& right) {
        return std::equal(left.begin(), left.end(), right.begin(), right.end());
    }

private:
    /// Several marks and their sums.
    struct mark_runs {
        std::vector<run> runs;
        std::size_t used = 0; ///< the number of runs in use; none of these is empty
        Sums sums{};

        [[gnu::noinline]] Mark* find(transaction_id const& id, part_number part) {
            run& in = runs[run_of(id, part)];
            std::size_t const at = index_in(in, id, part);
            return at < in.size() && in[at].part == part && in[at].id == id ? &in[at] : nullptr;
        }

        /// Adds the mark of a part. If the memory is exhausted, it throws and changes nothing.
        template <typename From>
        [[gnu::noinline]] Mark& put(transaction_id const& id, part_number part, From&& from) {
            auto const [in, at] = room_for(id, part);
            try {
                return *in->emplace(in->begin() + at, std::forward<From>(from));
            } catch (...) {
                // room_for() may have opened the run for this mark.
                if (in->empty()) close_run(static_cast<std::size_t>(in - runs.data()));
                throw;
            }
        }

        [[gnu::noinline]] void erase(Mark* erased) {
            sums.template count<-1>(*erased);
            std::size_t const i = run_of(erased->id, erased->part);
            runs[i].erase(runs[i].begin() + (erased - runs[i].data()));
            if (runs[i].empty()) close_run(i);
        }

        /// The run and the position in it for one more mark. Requires at least one run in use.
        std::pair<run*, std::ptrdiff_t> room_for(transaction_id const& id, part_number part) {
            std::size_t i = run_of(id, part);
            std::size_t index = index_in(runs[i], id, part);
            if (runs[i].size() == longest) {
                // Ids mostly grow, so most marks are added at the end. Then the run is not split.
                std::size_t const kept = index == longest && i + 1 == used ? longest : longest / 2;
                open_run(i + 1, longest - kept);
                run& from = runs[i];
                auto const cut = from.begin() + static_cast<std::ptrdiff_t>(kept);
                runs[i + 1].assign(std::move_iterator{cut}, std::move_iterator{from.end()});
                from.erase(cut, from.end());
                if (index > kept || index == longest) {
                    ++i;
                    index -= kept;
                }
            }
            return {&runs[i], static_cast<std::ptrdiff_t>(index)};
        }

        /// The run that has a mark or would get it. Requires at least one run in use.
        [[nodiscard]] std::size_t run_of(transaction_id const& id, part_number part) const {
            if (used == 1) return 0;
            auto const first = runs.begin();
            auto const after = std::partition_point(
                first + 1, first + static_cast<std::ptrdiff_t>(used), [&](run const& run) {
                    return std::tie(run.front().id, run.front().part) <= std::tie(id, part);
                });
            return static_cast<std::size_t>(after - first) - 1;
        }

        /// Inserts an empty run with room for `room` marks. Closed runs follow the runs in use, and
        /// keep their memory for later inserts.
        void open_run(std::size_t index, std::size_t room) {
            if (used == runs.size()) runs.emplace_back();
            runs[used].reserve(room);
            auto const first = runs.begin();
            std::rotate(first + static_cast<std::ptrdiff_t>(index),
                        first + static_cast<std::ptrdiff_t>(used),
                        first + static_cast<std::ptrdiff_t>(used) + 1);
            ++used;
        }

        void close_run(std::size_t index) {
            auto const first = runs.begin();
            std::rotate(first + static_cast<std::ptrdiff_t>(index),
                        first + static_cast<std::ptrdiff_t>(index) + 1,
                        first + static_cast<std::ptrdiff_t>(used));
            --used;
        }
    };

    [[nodiscard]] static std::size_t index_in(run const& in, transaction_id const& id,
                                              part_number part) {
        auto const position = std::partition_point(in.begin(), in.end(), [&](Mark const& mark) {
            return std::tie(mark.id, mark.part) < std::tie(id, part);
        });
        return static_cast<std::size_t>(position - in.begin());
    }

    [[nodiscard]] bool has_several() const noexcept { return several_ && several_->used != 0; }

    /// The runs, ready for one more mark: a single mark moves into them.
    [[gnu::noinline]] mark_runs& runs_for_insert() {
        if (!several_) several_ = std::make_unique<mark_runs>();
        if (has_only_) {
            several_->open_run(0, 1);
            several_->sums.template count<1>(only_);
            several_->runs[0].push_back(std::move(only_));
            has_only_ = false;
        }
        return *several_;
    }

    /// The single mark, if `has_only_`. Several marks are all in the runs, and stay there until the
    /// last is erased. A record with one mark at a time uses this member alone, and reuses the
    /// memory of its id.
    Mark only_{};
    bool has_only_ = false;
    std::unique_ptr<mark_runs> several_;
};

SETTLE_END
