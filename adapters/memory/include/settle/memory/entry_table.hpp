// SPDX-License-Identifier: BSL-1.0
// The log in memory: entries by their ids, with parameters in their own type.
#pragma once

#include <settle/memory/entry_row.hpp>
#include <settle/memory/id_index.hpp>

#include <cstdlib>
#include <set>

SETTLE_BEGIN
namespace memory {

/// Errors:  a change that finds no memory throws, and has changed nothing
/// Cost:    every step of a transaction is O(1), and allocates nothing while the reserved room
///          lasts and texts are short; the end of an entry adds O(log n) at most. A listing of
///          unfinished entries reads no other entries. Any other listing reads every entry for its
///          first page and sorts them for the second; each later page costs its own size
class entry_table {
public:
    entry_table() { open_.previous = open_.next = &open_; }
    entry_table(entry_table const&) = delete;
    entry_table& operator=(entry_table const&) = delete;

    /// Shape:   row_number - see entry_write::row
    [[gnu::noinline]] log_answer insert(entry_write const& write, std::int64_t& row_number,
                                        write_context const& context) {
        transition const& change = write.change;
        if (write.is_late(context)) return log_answer::unavailable;
        std::string const* const owner = interned_owner(context.owner);
        if (is_final(change.to)) make_room(ended_);
        if (sorted_) make_room(new_);
        if (write.replaces_bar()) erase_bar(*write.id, change.from_epoch);
        auto const [row, fresh] = by_id_.find_or_add(*write.id, [&] { return new_row(write); });
        row_number = number_of(row);
        if (!fresh) return log_answer::conflict;
        row->state = change.to;
        row->epoch_number = change.to_epoch;
        row->committed = change.committed;
        row->failed_part = write.failed_part;
        row->stages_kept = change.stages_kept;
        row->owner = owner;
        row->created = write.created;
        row->modified = context.now;
        row->why = change.why;
        if (is_final(row->state)) {
            note_end(*row);
        } else {
            row->join_before(open_);
            in_order_ = false;
        }
        if (sorted_) new_.push_back(row);
        return log_answer::taken;
    }

    [[gnu::noinline]] log_answer change(entry_write const& write, std::int64_t& row_number,
                                        write_context const& context) {
        entry_row* const row = find(*write.id, row_number);
        if (row == nullptr) return log_answer::conflict;
        transition const& change = write.change;
        if (!may_change(standing_of(*row), change, write.action)) return log_answer::conflict;
        std::string const* const owner =
            change.takes_owner ? interned_owner(context.owner) : row->owner;
        if (is_final(change.to)) make_room(ended_);
        bool const any_list = write.images != nullptr || write.results != nullptr;
        if (any_list || write.action == step::pause || !write.why_text.empty()) {
            store_lists(*row, write);
        }
        bool const goes_on = change.to != row->state || change.stages_kept != row->stages_kept;
        if (goes_on && row->lists) row->lists->forget_tries();
        change_entry(*row, change);
        row->modified = context.now;
        row->owner = owner;
        if (change.why != reason::none && row->why == reason::none) {
            row->why = change.why;
            row->failed_part = write.failed_part;
        }
        if (is_final(row->state)) {
            row->leave();
            note_end(*row);
        }
        return log_answer::taken;
    }

    /// Prefetches the slot of an id that will be inserted soon.
    void expect(transaction_id const& id) const { by_id_.expect(id); }

    [[nodiscard]] std::optional<entry> read(transaction_id const& id) const {
        entry_row const* const row = by_id_.find(id);
        if (row == nullptr) return std::nullopt;
        return row->read();
    }
    /// The fields of an entry that the protocol reads.
    [[nodiscard]] std::optional<standing> stand(transaction_id const& id) const {
        entry_row const* const row = by_id_.find(id);
        if (row == nullptr) return std::nullopt;
        return standing_of(*row);
    }
    /// Shape:   same - becomes true when the entry has the request's parameters; the returned entry
    ///          lacks them then
    [[nodiscard]] std::optional<entry> read(read_request const& request, bool& same) {
        entry_row const* const row = find(*request.id, *request.row);
        if (row == nullptr) return std::nullopt;
        same = request.type != nullptr && row->direction == request.type &&
               row->direction->same(row->parameters(), request.parameters);
        return row->read(!same);
    }

    /// Entries in the order of their ids, after an id.
    [[nodiscard]] std::vector<entry> list(entry_filter const& filter, transaction_id const& after,
                                          std::size_t limit) {
        bool const open = filter.unfinished || (filter.state && !is_final(*filter.state));
        auto const rows = open ? list_open(filter, after, limit) : list_all(filter, after, limit);
        std::vector<entry> entries;
        entries.reserve(rows.size());
        for (entry_row const* const row : rows) entries.push_back(row->read());
        return entries;
    }

    /// Erases finished entries, oldest first.
    /// Cost:    O(log n) for each erased entry, nothing for other entries of any date
    purged purge(timestamp before, std::size_t limit) {
        purged gone;
        auto const due = [&] { return !ended_.empty() && ended_.front().moved < before; };
        for (; due() && gone.erased < limit; ++gone.erased) {
            std::pop_heap(ended_.begin(), ended_.end(), later);
            entry_row& row = *ended_.back().row;
            ended_.pop_back();
            erase(row);
        }
        gone.more = due();
        if (gone.erased != 0) forget_order();
        return gone;
    }

    /// Reserves memory for additional entries of one type.
    void reserve(transaction_descriptor const& descriptor, std::size_t room) {
        pool_of(descriptor).reserve(room);
        by_id_.reserve(by_id_.size() + room);
        ended_.reserve(by_id_.size() + room);
    }

private:
    struct ended {
        timestamp moved; ///< the later of its two times: either clock may have been wrong
        entry_row* row;
    };
    static bool later(ended const& left, ended const& right) { return left.moved > right.moved; }

    static std::int64_t number_of(entry_row* row) {
        return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(row));
    }

    /// A transaction looks up its own entry repeatedly, so it keeps the row's address. A row
    /// keeps its address, but a purge may have given it to another entry.
    [[gnu::always_inline]] entry_row* find(transaction_id const& id, std::int64_t& row) {
        auto* const kept = reinterpret_cast<entry_row*>(static_cast<std::intptr_t>(row));
        if (kept != nullptr && settle::detail::same_text(kept->id, id)) return kept;
        return find_by_id(id, row);
    }

    [[gnu::noinline]] entry_row* find_by_id(transaction_id const& id, std::int64_t& row) {
        entry_row* const found = by_id_.find(id);
        row = number_of(found);
        return found;
    }

    /// Erases the entry of an id if it is this bar.
    [[gnu::cold, gnu::noinline]] void erase_bar(transaction_id const& id, epoch barred) {
        entry_row* const row = by_id_.find(id);
        if (row == nullptr || row->state != state::barred || row->epoch_number != barred) return;
        std::erase_if(ended_, [&](ended const& entry) { return entry.row == row; });
        std::make_heap(ended_.begin(), ended_.end(), later);
        erase(*row);
        forget_order();
    }
    void erase(entry_row& row) {
        by_id_.erase(row.id);
        pool_of(*row.direction).give_back(row);
    }

    /// Ensures that one more entry can be added without an allocation.
    template <typename Value>
    [[gnu::always_inline]] static void make_room(std::vector<Value>& in) {
        if (in.size() == in.capacity()) in.reserve(std::max<std::size_t>(16, 2 * in.size()));
    }

    [[gnu::always_inline]] entry_row* new_row(entry_write const& write) {
        row_pool& pool = pool_of(*write.type);
        entry_row& row = pool.take(write.parameters);
        try {
            row.id = *write.id;
            bool const has_text = !write.why_text.empty() || !write.traceparent.empty();
            if (has_text || write.images != nullptr) store_lists(row, write);
        } catch (...) {
            pool.give_back(row);
            throw;
        }
        return &row;
    }

    [[gnu::noinline]] static void store_lists(entry_row& row, entry_write const& write) {
        auto position =
            row.lists ? std::make_unique<kept_lists>(*row.lists) : std::make_unique<kept_lists>();
        if (write.images != nullptr) position->images = *write.images;
        if (write.results != nullptr) position->results = *write.results;
        if (!write.why_text.empty()) position->why_text = write.why_text;
        if (!write.traceparent.empty()) position->traceparent = write.traceparent;
        if (write.action == step::pause) {
            position->call_tries = write.call_tries;
            position->next_try = write.next_try;
        }
        row.lists = std::move(position);
    }

    /// Entries end nearly in the order of their times: then one comparison suffices.
    [[gnu::always_inline]] void note_end(entry_row& row) {
        ended const added{std::max(row.created, row.modified), &row};
        bool const in_place = ended_.empty() || !later(ended_[(ended_.size() - 1) / 2], added);
        ended_.push_back(added);
        if (!in_place) std::push_heap(ended_.begin(), ended_.end(), later);
    }

    [[gnu::always_inline]] std::string const* interned_owner(std::string const& owner) {
        if (owner_ == nullptr || *owner_ != owner) intern_owner(owner);
        return owner_;
    }

    [[gnu::noinline]] void intern_owner(std::string const& owner) {
        owner_ = &*owners_.insert(owner).first;
    }

    [[gnu::always_inline]] row_pool& pool_of(transaction_descriptor const& descriptor) {
        if (pool_ != nullptr && &pool_->direction() == &descriptor) return *pool_;
        return find_pool(descriptor);
    }

    [[gnu::noinline]] row_pool& find_pool(transaction_descriptor const& descriptor) {
        for (auto const& one : pools_) {
            if (&one->direction() == &descriptor) return *(pool_ = one.get());
        }
        return *(pool_ = pools_.emplace_back(std::make_unique<row_pool>(descriptor)).get());
    }

    static bool passes(entry_filter const& filter, entry_row const& row) {
        bool const unfinished = !is_final(row.state) && row.state != state::initial;
        bool const still =
            !filter.before || row.modified <= *filter.before ||
            (filter.ahead_of && std::max(row.created, row.modified) > *filter.ahead_of);
        return (!filter.state || *filter.state == row.state) &&
               (!filter.unfinished || unfinished) && still;
    }

    static bool comes_first(entry_row const* left, entry_row const* right) {
        return left->id < right->id;
    }

    /// Sorts the unfinished entries by id. A listing of several pages sorts once, and inserts
    /// entries that arrived in between.
    void put_in_order() {
        if (in_order_) return;
        std::vector<entry_row*> rows;
        for (links* at = open_.next; at != &open_; at = at->next) {
            rows.push_back(static_cast<entry_row*>(at));
        }
        auto const fresh = std::is_sorted_until(rows.begin(), rows.end(), comes_first);
        std::sort(fresh, rows.end(), comes_first);
        std::inplace_merge(rows.begin(), fresh, rows.end(), comes_first);
        open_.previous = open_.next = &open_;
        for (entry_row* const row : rows) row->join_before(open_);
        in_order_ = true;
    }

    std::vector<entry_row const*> list_open(entry_filter const& filter, transaction_id const& after,
                                            std::size_t limit) {
        put_in_order();
        entry_row const* const last = by_id_.find(after);
        links const* links = last != nullptr && last->next != nullptr ? last->next : open_.next;
        while (links != &open_ && static_cast<entry_row const*>(links)->id <= after)
            links = links->next;
        std::vector<entry_row const*> rows;
        for (; links != &open_ && rows.size() < limit; links = links->next) {
            auto const* const row = static_cast<entry_row const*>(links);
            if (passes(filter, *row)) rows.push_back(row);
        }
        return rows;
    }

    std::vector<entry_row const*> list_all(entry_filter const& filter, transaction_id const& after,
                                           std::size_t limit) {
        // Many listings end with their first page, so only the second page sorts all entries.
        if (after.empty() && !sorted_) return first_page(filter, limit);
        sort_all();
        auto position = std::upper_bound(
            all_.begin(), all_.end(), after,
            [](transaction_id const& id, entry_row const* row) { return id < row->id; });
        std::vector<entry_row const*> rows;
        for (; position != all_.end() && rows.size() < limit; ++position) {
            if (passes(filter, **position)) rows.push_back(*position);
        }
        if (position == all_.end()) forget_order();
        return rows;
    }

    std::vector<entry_row const*> first_page(entry_filter const& filter, std::size_t limit) const {
        std::vector<entry_row const*> rows;
        if (limit == 0) return rows;
        // The last entry of the page is in front, so that most entries cost one comparison.
        by_id_.for_each([&](entry_row const& row) {
            if (!passes(filter, row)) return;
            if (rows.size() == limit) {
                if (rows.front()->id <= row.id) return;
                std::pop_heap(rows.begin(), rows.end(), comes_first);
                rows.pop_back();
            }
            rows.push_back(&row);
            std::push_heap(rows.begin(), rows.end(), comes_first);
        });
        std::sort_heap(rows.begin(), rows.end(), comes_first);
        return rows;
    }

    /// Sorts all entries by id, or only the entries added since the last sort.
    void sort_all() {
        all_.reserve(by_id_.size());
        auto const sorted = static_cast<std::ptrdiff_t>(all_.size());
        if (std::exchange(sorted_, true)) {
            all_.insert(all_.end(), new_.begin(), new_.end());
        } else {
            by_id_.for_each([&](entry_row const& row) { all_.push_back(&row); });
        }
        new_.clear();
        std::sort(all_.begin() + sorted, all_.end(), comes_first);
        std::inplace_merge(all_.begin(), all_.begin() + sorted, all_.end(), comes_first);
    }

    void forget_order() {
        sorted_ = false;
        all_ = {};
        new_ = {};
    }

    id_index<entry_row> by_id_;
    std::vector<std::unique_ptr<row_pool>> pools_;
    row_pool* pool_ = nullptr; ///< the pool used last
    links open_;               ///< unfinished entries
    bool in_order_ = true;     ///< `open_` is sorted by id
    std::vector<ended> ended_; ///< finished entries, a heap: the oldest in front
    std::set<std::string> owners_;
    std::string const* owner_ = nullptr; ///< the owner of the last write
    std::vector<entry_row const*> all_;  ///< every entry by id, while a listing is under way
    std::vector<entry_row const*> new_;  ///< entries added since that sort
    bool sorted_ = false;                ///< `all_` and `new_` are in use
};

} // namespace memory
SETTLE_END
