// SPDX-License-Identifier: BSL-1.0
// A store and a log in memory: for tests, and as the model of the seam.
#pragma once

#include <settle/adapter/ownership.hpp>
#include <settle/base/chrono.hpp>
#include <settle/base/process.hpp>
#include <settle/memory/entry_table.hpp>
#include <settle/memory/table.hpp>
#include <settle/running/driving/container_calls.hpp>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

SETTLE_BEGIN
namespace memory {

/// Locking for a database that one thread uses.
struct no_lock {
    void lock() noexcept {}
    void unlock() noexcept {}
};

template <typename Lock>
class basic_database;

/// The preferred number of transactions in one call is one, so that their data stays in the cache:
/// no call of this store has a cost that several transactions could share.
inline constexpr std::size_t preferred_wave_size = 1;

/// The records of some collections of one database.
template <typename Lock, typename... Collections>
class record_session {
public:
    static constexpr std::size_t wave_size = preferred_wave_size;

    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    record_session(basic_database<Lock>& database, table<Collections>&... tables)
        : database_(&database), tables_(&tables...) {}

    static constexpr bool is_container = true;
    /// Shape:   wave - has for_each<Holds>(function); its operations know their types
    template <typename Wave>
    void execute_typed(Wave const& wave) {
        std::lock_guard const guard{database_->lock()};
        wave.template for_each<holds>([&](auto const& one) {
            using collection = typename std::remove_cvref_t<decltype(one)>::collection;
            table_of<collection>().execute(one);
        });
    }

    /// The same for part requests, beside stores that are no containers.
    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        std::lock_guard const guard{database_->lock()};
        for (std::size_t index = 0; index < requests.size(); ++index) {
            auto const& request = requests[index];
            ((is_part_of<Collections>(request)
                  ? void(results[index] = table_of<Collections>().execute_request(request))
                  : void()),
             ...);
        }
    }

    static constexpr bool fetches_ahead = std::is_same_v<Lock, no_lock>;
    template <typename C, typename Key>
    void expect(Key const& key) {
        table_of<C>().expect(key);
    }

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        std::lock_guard const guard{database_->lock()};
        return table_of<C>().read(key);
    }

    result<store_look> look(look_request const& request) {
        std::lock_guard const guard{database_->lock()};
        store_look seen;
        seen.has_entries = request.with_entries;
        for (auto const& record : request.records) {
            ((record.target == &settle::detail::target_tag<Collections>
                  ? void(seen.slots.push_back(table_of<Collections>().look(record.key)))
                  : void()),
             ...);
        }
        for (auto const* const target : request.collections) {
            ((target == &settle::detail::target_tag<Collections>
                  ? table_of<Collections>().look_at_all(seen.slots)
                  : void()),
             ...);
            seen.ends.push_back(seen.slots.size());
        }
        if (!seen.has_entries) return seen;
        for (auto const& slot : seen.slots) {
            for (auto const& mark : slot.marks) add_entry(mark.id, seen);
        }
        for (auto const& id : request.ids) add_entry(id, seen);
        return seen;
    }

    template <typename C>
    result<void> create(typename C::record_type const& record) {
        std::lock_guard const guard{database_->lock()};
        if (table_of<C>().create(record)) return {};
        return record_exists_in(C::name);
    }

    template <typename C>
    result<std::vector<typename C::record_type>>
    scan(std::optional<typename C::key_type> const& after, std::size_t limit) {
        std::lock_guard const guard{database_->lock()};
        return table_of<C>().scan(after, limit);
    }

    /// In the order of the collections, the keys, the transactions and their parts.
    /// Cost:    a page reads its own records, and the records without marks between them. The first
    ///          page after a creation or an erase sorts the keys of its collection
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) {
        std::lock_guard const guard{database_->lock()};
        std::vector<mark_locator> locators;
        // After a mark of one collection: the rest of that collection, then the later collections.
        bool reached = !after;
        auto const append = [&]<typename C>(table<C>& table) {
            bool const begins = !reached && after->collection == C::name;
            if (reached || begins) table.append_marks(locators, begins ? &*after : nullptr, limit);
            reached = reached || begins;
        };
        (append(table_of<Collections>()), ...);
        return locators;
    }

    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        std::lock_guard const guard{database_->lock()};
        answer reply = answer::nothing;
        ((locator.collection == Collections::name
              ? void(reply = table_of<Collections>().resolve(locator, confirmed))
              : void()),
         ...);
        return reply;
    }

    /// The table itself, for tests that check marks.
    template <typename C>
    table<C>& table_of() {
        return *std::get<table<C>*>(tables_);
    }

private:
    void add_entry(transaction_id const& id, store_look& to) const {
        auto const entry = database_->entries().stand(id);
        if (entry) to.entries.insert_or_assign(id, *entry);
    }

    basic_database<Lock>* database_;
    std::tuple<table<Collections>*...> tables_;
};

/// The entries of one database.
template <typename Lock>
class log_session {
public:
    static constexpr std::size_t wave_size = preferred_wave_size;

    explicit log_session(basic_database<Lock>& database) : database_(&database) {}

    [[nodiscard]] std::string const& name() const { return database_->name(); }

    static constexpr bool fetches_ahead = std::is_same_v<Lock, no_lock>;
    void expect(transaction_id const& id) { database_->entries().expect(id); }

    static constexpr bool is_container = true;
    static constexpr bool keeps_at_insert = true;
    /// Locks the database for the caller's calls of write_one().
    [[nodiscard]] std::unique_lock<Lock> hold() { return database_->lock_entries(); }
    /// Entries have no earlier moments, so writes go on when the object is destroyed.
    result<std::unique_ptr<log_hold>> hold_entries() {
        return std::unique_ptr<log_hold>{std::make_unique<entry_hold>(*database_)};
    }
    /// Shape:   row - as write.row, and valid as long
    [[gnu::always_inline]] log_answer write_one(entry_write const& write, std::int64_t& row,
                                                write_context const& context) {
        entry_table& entries = database_->entries();
        return write.inserts ? entries.insert(write, row, context)
                             : entries.change(write, row, context);
    }

    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        auto const guard = hold();
        for (std::size_t i = 0; i < writes.size(); ++i) {
            results[i].reply = write_one(writes[i], results[i].row, context);
        }
    }

    template <typename Found>
    void look_up(std::span<read_request const> requests, Found&& found) {
        look_up_in(*database_, requests, found);
    }

    result<std::optional<entry>> read(transaction_id const& id) {
        std::lock_guard const guard{database_->lock()};
        return database_->entries().read(id);
    }

    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        std::lock_guard const guard{database_->lock()};
        return database_->entries().list(filter, after, limit);
    }

    /// Erases at most `limit` finished entries, the oldest first: those whose creation and last
    /// change both precede `before`. The log keeps them in order of age, so it needs no position.
    result<purged> purge(timestamp before, std::size_t limit, std::int64_t = purged::nothing) {
        auto const guard = hold();
        return database_->entries().purge(before, limit);
    }

    /// A text of the log that belongs to no entry.
    result<std::optional<std::string>> metadata(std::string_view name) {
        std::lock_guard const guard{database_->lock()};
        return database_->metadata(name);
    }
    /// Stores it if the stored text is still `seen`.
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text) {
        std::lock_guard const guard{database_->lock()};
        if (database_->metadata(name) == seen) database_->keep_metadata(name, text);
        return {};
    }
    /// The last texts of a range of names, the last name first.
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit) {
        std::lock_guard const guard{database_->lock()};
        return database_->list_metadata(names, limit);
    }
    result<void> erase_metadata(metadata_range const& names) {
        std::lock_guard const guard{database_->lock()};
        database_->erase_metadata(names);
        return {};
    }

private:
    template <typename Found>
    static void look_up_in(basic_database<Lock>& database, std::span<read_request const> requests,
                           Found& on_found) {
        for (std::size_t index = 0; index < requests.size(); ++index) {
            bool same = false;
            result<std::optional<entry>> stored = [&] {
                std::lock_guard const guard{database.lock()};
                return database.entries().read(requests[index], same);
            }();
            on_found(index, std::move(stored), same);
        }
    }

    class entry_hold final : public log_hold {
    public:
        explicit entry_hold(basic_database<Lock>& database) : database_(&database) {
            database_->begin_hold();
        }
        ~entry_hold() override { database_->end_hold(); }
        result<void> look_up(std::span<read_request const> requests,
                             found_function found) override {
            look_up_in(*database_, requests, found);
            return {};
        }
        result<void> end() override { return {}; }

    private:
        basic_database<Lock>* database_;
    };

    basic_database<Lock>* database_;
};

/// Records and entries that live as long as this object.
/// Shape:   Lock - std::mutex for a database that threads share, memory::no_lock for one thread
/// Cost:    no call leaves the process; one lock a wave
template <typename Lock>
class basic_database {
public:
    basic_database() = default;
    basic_database(basic_database const&) = delete;
    basic_database& operator=(basic_database const&) = delete;

    /// Errors: throws settle::failure when a collection of this name holds other records, or when
    ///         the database belongs to another log
    template <typename... Collections>
    record_session<Lock, Collections...> bind(std::string const& log_name) {
        check_process();
        std::lock_guard const guard{lock_};
        if (!belongs_to_.empty() && belongs_to_ != log_name) {
            settle::detail::refuse_other_log(belongs_to_);
        }
        belongs_to_ = log_name;
        return {*this, open_table<Collections>()...};
    }

    log_session<Lock> bind_log() {
        check_process();
        return log_session<Lock>{*this};
    }

    /// Reserves memory for additional records of a collection.
    /// Shape:   Collection - the definition's own: `db.reserve<accounts>(1000)`
    template <auto const& Collection>
    void reserve(std::size_t room) {
        std::lock_guard const guard{lock_};
        open_table<std::remove_cvref_t<decltype(Collection)>>().reserve(room);
    }

    /// Reserves memory for additional entries of a transaction type. A transaction with texts of at
    /// most 15 characters then allocates nothing. The log keeps entries until a purge, so the
    /// number must include all entries until then.
    /// Shape:   Type - as in settle::type: `db.reserve_entries<transfer_type>(1000)`
    template <auto const& Type>
    void reserve_entries(std::size_t room) {
        std::lock_guard const guard{lock_};
        entries_.reserve(descriptor_of<forward<Type>>, room);
    }

    [[nodiscard]] Lock& lock() { return lock_; }
    /// Locks the database for a write of entries, while no hold keeps them as they are.
    [[nodiscard]] std::unique_lock<Lock> lock_entries() {
        std::unique_lock guard{lock_};
        // A database of one thread has no writer beside its reader.
        if constexpr (!std::is_same_v<Lock, no_lock>) {
            while (is_held_) [[unlikely]]
                released_.wait(guard);
        }
        return guard;
    }
    void begin_hold() {
        auto const guard = lock_entries();
        is_held_ = true;
    }
    void end_hold() {
        {
            std::lock_guard const guard{lock_};
            is_held_ = false;
        }
        released_.notify_all();
    }
    [[nodiscard]] entry_table& entries() { return entries_; }
    [[nodiscard]] std::string const& name() const { return name_; }
    /// Shape:   the caller holds the lock
    [[nodiscard]] std::optional<std::string> metadata(std::string_view name) const {
        auto const known = metadata_.find(name);
        if (known == metadata_.end()) return std::nullopt;
        return known->second;
    }
    void keep_metadata(std::string_view name, std::string const& text) {
        metadata_.insert_or_assign(std::string{name}, text);
    }
    [[nodiscard]] std::vector<metadata_text> list_metadata(metadata_range const& names,
                                                           std::size_t limit) const {
        std::vector<metadata_text> listed;
        auto const first = metadata_.lower_bound(names.from);
        auto next = metadata_.lower_bound(names.to);
        while (next != first && listed.size() < limit) {
            --next;
            listed.push_back({next->first, next->second});
        }
        return listed;
    }
    void erase_metadata(metadata_range const& names) {
        metadata_.erase(metadata_.lower_bound(names.from), metadata_.lower_bound(names.to));
    }

private:
    /// A thread of the parent may have held the lock at the time of the fork.
    void check_process() const {
        if (!made_in_.is_here()) throw failure(settle::detail::made_before_fork("database"));
    }

    template <typename C>
    table<C>& open_table() {
        auto& kept = tables_[std::string{C::name}];
        if (!kept) kept = std::make_unique<table<C>>();
        auto* const kept_table = dynamic_cast<table<C>*>(kept.get());
        if (kept_table == nullptr) {
            throw failure({make_error_code(errc::unfit_store),
                           "settle: the collection '" + std::string{C::name} +
                               "' holds records of another type. See definition#records"});
        }
        return *kept_table;
    }

    process_stamp made_in_;
    Lock lock_;
    bool is_held_ = false; ///< a reader keeps the entries as they are
    std::condition_variable_any released_;
    // Keys of calls begin with the name, and a service keeps them longer than a process lives.
    std::string const name_ = settle::detail::fresh_log_name("memory-");
    std::string belongs_to_;
    entry_table entries_;
    std::map<std::string, std::string, std::less<>> metadata_;
    std::map<std::string, std::unique_ptr<table_base>> tables_;
};

/// The database that threads may share.
using database = basic_database<std::mutex>;

} // namespace memory
SETTLE_END
