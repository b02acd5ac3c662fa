// SPDX-License-Identifier: BSL-1.0
// Transfers between records in memory, by the protocol of settle, written by hand for one type.
//
// It keeps the data of the protocol: marks with id, part and epoch, running bounds for guards, and
// a log whose entries change by compare-and-set on state and epoch. It checks the age of an entry
// after the insert, by the same reading of the clock. It is written for one type, one thread and
// one process: it holds the entry by reference from step to step, neither checks texts nor copies
// them twice, and has no recovery.
#pragma once

#include "clock.hpp"

#include <settle/memory/id_index.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace baseline::memory {

enum class state : std::uint8_t { pending, applied, done, canceling, canceled };
enum class reason : std::uint8_t { none, guard_failed, record_missing, overflow, busy, expired };

template <typename Key>
struct memory_transfer {
    Key source;
    Key destination;
    std::int64_t amount;
};

/// The entry of a transfer in a hand-written log.
template <typename Key>
struct memory_entry {
    std::string id;
    state now = state::pending;
    reason why = reason::none;
    std::uint32_t attempts = 0;
    std::uint64_t epoch = 0;
    std::uint64_t committed = 0;
    std::string const* owner = nullptr;
    std::int64_t created = 0;
    std::int64_t modified = 0;
    memory_transfer<Key> parameters{};
};

struct memory_mark {
    std::string id;
    std::uint32_t part;
    std::uint64_t epoch;
    std::int64_t confirm_delta;
    std::int64_t undo_delta;
};

/// An account, its marks, and the range in which they can still move its balance.
template <typename Key>
struct memory_account {
    Key id{};
    std::int64_t balance = 0;
    std::vector<memory_mark> marks{};
    std::int64_t low = 0;
    std::int64_t high = 0;
};

template <typename Key>
[[nodiscard]] memory_mark* find_mark(memory_account<Key>& account, std::string const& id,
                                     std::uint32_t part) {
    for (memory_mark& one : account.marks) {
        if (one.part == part && one.id == id) return &one;
    }
    return nullptr;
}

/// Adds `now` to the balance and leaves a mark that adds the rest at the end, for either outcome. A
/// debit needs a sufficient balance under every outcome of the other marks.
template <typename Key>
[[nodiscard]] reason apply_mark(memory_account<Key>& account, std::string const& id,
                                std::uint32_t part, std::uint64_t epoch, std::int64_t now,
                                std::int64_t confirm, std::int64_t undo) {
    if (memory_mark* const mark = find_mark(account, id, part)) {
        if (mark->epoch > epoch) return reason::busy;
        mark->epoch = epoch;
        return reason::none;
    }
    std::int64_t least = 0;
    std::int64_t most = 0;
    if (__builtin_add_overflow(account.balance, account.low + now, &least) ||
        __builtin_add_overflow(account.balance, account.high + confirm, &most)) {
        return reason::overflow;
    }
    if (now < 0 && least < 0) return reason::guard_failed;
    account.marks.push_back({id, part, epoch, confirm, undo});
    account.balance += now;
    account.high += confirm + undo;
    return reason::none;
}

/// Ends a mark: a mark of the committed epoch is confirmed, any other is undone.
/// Shape:   committed - 0 when the transaction is canceled
template <typename Key>
void finish_mark(memory_account<Key>& account, std::string const& id, std::uint32_t part,
                 std::uint64_t committed) {
    memory_mark* const mark = find_mark(account, id, part);
    if (mark == nullptr || (committed != 0 && mark->epoch > committed)) return;
    account.balance += mark->epoch == committed ? mark->confirm_delta : mark->undo_delta;
    account.high -= mark->confirm_delta + mark->undo_delta;
    if (mark != &account.marks.back()) *mark = std::move(account.marks.back());
    account.marks.pop_back();
}

/// Changes the state of an entry that has the expected state and epoch.
template <typename Entry>
bool compare_and_set(Entry& entry, state from, std::uint64_t epoch, state to, std::int64_t now) {
    if (entry.now != from || entry.epoch != epoch) return false;
    entry.now = to;
    entry.modified = now;
    return true;
}

/// An epoch unique to one insert.
class epochs {
public:
    [[nodiscard]] std::uint64_t fresh(std::int64_t now) noexcept {
        chance_ ^= chance_ << 13U;
        chance_ ^= chance_ >> 7U;
        chance_ ^= chance_ << 17U;
        constexpr std::int64_t first = 1735689600000;
        return static_cast<std::uint64_t>(now - first) << 11U | (chance_ & 2047U);
    }

private:
    std::uint64_t chance_ = 0x9e3779b97f4a7c15U;
};

/// Entries in the standard library's hash table.
template <typename Entry>
class entries_in_a_map {
public:
    explicit entries_in_a_map(std::size_t room) { entries_.reserve(room); }
    [[nodiscard]] Entry* add(std::string const& id) {
        auto const [at, fresh] = entries_.try_emplace(id);
        return fresh ? &at->second : nullptr;
    }
    [[nodiscard]] Entry const* find(std::string const& id) const {
        auto const at = entries_.find(id);
        return at == entries_.end() ? nullptr : &at->second;
    }

private:
    std::unordered_map<std::string, Entry> entries_;
};

/// An array of entries, with the same kind of index as the memory store.
template <typename Entry>
class entries_in_an_array {
public:
    explicit entries_in_an_array(std::size_t room) {
        entries_ = std::make_unique<Entry[]>(room);
        by_id_.reserve(room);
    }
    [[nodiscard]] Entry* add(std::string const& id) {
        auto const [made, fresh] = by_id_.find_or_add(id, [&] { return &entries_[used_++]; });
        if (!fresh) return nullptr;
        made->id = id;
        return made;
    }
    [[nodiscard]] Entry const* find(std::string const& id) const { return by_id_.find(id); }
    /// Prefetches the slot of an id, and the memory of the next entry.
    void expect(std::string const& id) const {
        by_id_.expect(id);
        __builtin_prefetch(&entries_[used_], 1);
    }

private:
    settle::memory::id_index<Entry> by_id_;
    std::unique_ptr<Entry[]> entries_;
    std::size_t used_ = 0;
};

/// When the memory of a transfer is fetched.
enum class fetch : std::uint8_t {
    as_used,
    ahead ///< by prefetches before the insert
};

/// The marks of an account for which memory is reserved, so that the first marks allocate none.
inline constexpr std::size_t room_for_marks = 4;

/// Prefetches the value of a key. It computes the bucket as libstdc++ does, as settle's table does.
template <typename Table, typename Key>
void expect_in(Table const& in, Key const& key) {
    auto const bucket = in.hash_function()(key) % in.bucket_count();
    auto const first = in.begin(bucket);
    if (first != in.end(bucket)) __builtin_prefetch(&*first, 1);
}

/// True if an account of a table has a mark.
template <typename Table>
[[nodiscard]] bool any_mark(Table const& in) {
    return std::any_of(in.begin(), in.end(),
                       [](auto const& one) { return !one.second.marks.empty(); });
}

template <typename Key, template <typename> typename Entries, fetch Fetches = fetch::as_used>
class memory_bank {
    static constexpr bool is_text = std::is_same_v<Key, std::string>;
    using log_entry = memory_entry<Key>;
    using account = memory_account<Key>;
    using hash = std::conditional_t<is_text, settle::memory::text_hash, std::hash<std::int64_t>>;

public:
    using transfer = memory_transfer<Key>;
    using transfer_request = std::pair<std::string, transfer>;

    memory_bank(std::size_t accounts, std::size_t entries) : entries_(entries) {
        accounts_.reserve(accounts);
    }

    void open(Key const& id, std::int64_t balance) {
        account& opened = accounts_[id];
        opened = account{id, balance};
        opened.marks.reserve(room_for_marks);
    }
    [[nodiscard]] std::int64_t balance(Key const& id) const {
        return accounts_.find(id)->second.balance;
    }
    [[nodiscard]] bool is_done(std::string const& id) const {
        log_entry const* const found = entries_.find(id);
        return found != nullptr && found->now == state::done;
    }

    [[nodiscard]] bool has_marks() const { return any_mark(accounts_); }

    /// False when the transfer was canceled.
    bool run(transfer_request const& request) {
        now_ = baseline::now();
        expect(request);
        log_entry* const made = insert(request);
        return made != nullptr && settle_one(*made, apply(*made));
    }

    /// The same for a batch, phase after phase. False if a transfer was canceled.
    bool run_batch(std::span<transfer_request const> batch) {
        work_.clear();
        bool all_done = true;
        now_ = baseline::now();
        for (std::size_t at = 0; at < batch.size(); ++at) {
            if (at + distance < batch.size()) expect(batch[at + distance]);
            if (log_entry* const made = insert(batch[at])) work_.push_back({made, reason::none});
        }
        for (auto& [made, refusal] : work_) refusal = apply(*made);
        for (auto& [made, refusal] : work_) {
            if (refusal == reason::none && !commit(*made)) refusal = reason::busy;
        }
        for (auto& [made, refusal] : work_) {
            if (refusal == reason::none) confirm(*made);
        }
        for (auto& [made, refusal] : work_) {
            bool const done = refusal == reason::none ? close(*made) : give_up(*made, refusal);
            all_done = all_done && done;
        }
        return all_done && work_.size() == batch.size();
    }

private:
    static constexpr std::int64_t lifetime = std::int64_t{7} * 24 * 3600 * 1000;
    /// How many transfers of a batch the prefetches are ahead.
    static constexpr std::size_t distance = 8;

    void expect([[maybe_unused]] transfer_request const& request) const {
        if constexpr (Fetches == fetch::ahead) {
            entries_.expect(request.first);
            expect_in(accounts_, request.second.source);
            expect_in(accounts_, request.second.destination);
        }
    }

    log_entry* insert(transfer_request const& request) {
        auto const& [id, parameters] = request;
        if (parameters.amount <= 0 || parameters.source == parameters.destination) return nullptr;
        log_entry* const entry = entries_.add(id);
        if (entry == nullptr) return nullptr;
        if (entry->id.empty()) entry->id = id;
        entry->parameters = parameters;
        entry->epoch = epochs_.fresh(now_);
        entry->owner = &owner_;
        entry->created = now_;
        entry->modified = now_;
        return entry;
    }

    /// Applies both parts. Returns the reason of a refusal.
    reason apply(log_entry const& entry) {
        if (now_ - entry.created > lifetime) return reason::expired;
        auto const& [source, destination, amount] = entry.parameters;
        if (reason const refusal = apply_part(source, entry, 0, -amount, 0, amount);
            refusal != reason::none) {
            return refusal;
        }
        return apply_part(destination, entry, 1, 0, amount, 0);
    }

    reason apply_part(Key const& key, log_entry const& entry, std::uint32_t part, std::int64_t now,
                      std::int64_t confirm, std::int64_t undo) {
        auto const at = accounts_.find(key);
        if (at == accounts_.end()) return reason::record_missing;
        return apply_mark(at->second, entry.id, part, entry.epoch, now, confirm, undo);
    }

    bool commit(log_entry& entry) const {
        if (!compare_and_set(entry, state::pending, entry.epoch, state::applied, now_))
            return false;
        entry.committed = entry.epoch;
        return true;
    }

    void confirm(log_entry const& entry) {
        finish_part(entry.parameters.source, entry, 0, true);
        finish_part(entry.parameters.destination, entry, 1, true);
    }

    void finish_part(Key const& key, log_entry const& entry, std::uint32_t part, bool committed) {
        auto const at = accounts_.find(key);
        if (at == accounts_.end()) return;
        finish_mark(at->second, entry.id, part, committed ? entry.committed : 0);
    }

    bool close(log_entry& entry) const {
        return compare_and_set(entry, state::applied, entry.epoch, state::done, now_);
    }

    bool settle_one(log_entry& entry, reason refusal) {
        if (refusal != reason::none) return give_up(entry, refusal);
        if (!commit(entry)) return false;
        confirm(entry);
        return close(entry);
    }

    bool give_up(log_entry& entry, reason why) {
        if (!compare_and_set(entry, state::pending, entry.epoch, state::canceling, now_))
            return false;
        entry.why = why;
        finish_part(entry.parameters.source, entry, 0, false);
        finish_part(entry.parameters.destination, entry, 1, false);
        compare_and_set(entry, state::canceling, entry.epoch, state::canceled, now_);
        return false;
    }

    std::unordered_map<Key, account, hash, std::equal_to<>> accounts_;
    Entries<log_entry> entries_;
    epochs epochs_;
    std::string const owner_ = "by hand";
    std::int64_t now_ = 0;
    std::vector<std::pair<log_entry*, reason>> work_;
};

} // namespace baseline::memory
