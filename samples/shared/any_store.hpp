// SPDX-License-Identifier: BSL-1.0
// A database of any kind behind one type: the engine of an application is compiled once, and each
// kind of store in a small file.
#pragma once

#include <settle/store/seam.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace samples {

/// The records of one collection.
template <typename Collection>
class any_collection {
public:
    using record = typename Collection::record_type;
    using key = typename Collection::key_type;

    any_collection() = default;
    any_collection(any_collection const&) = delete;
    any_collection& operator=(any_collection const&) = delete;
    virtual ~any_collection() = default;

    virtual settle::result<std::optional<record>> read(key const& of) = 0;
    virtual settle::result<void> create(record const& made) = 0;
    virtual void create_all(std::span<record const> wave,
                            std::span<settle::result<void>> answers) = 0;
    virtual settle::result<std::vector<record>> scan(std::optional<key> const& after,
                                                     std::size_t limit) = 0;
};

/// A log with the calls of settle's seam.
class any_log {
public:
    any_log() = default;
    any_log(any_log const&) = delete;
    any_log& operator=(any_log const&) = delete;
    virtual ~any_log() = default;

    virtual std::string const& name() = 0;
    virtual void write(std::span<settle::entry_write const> writes,
                       std::span<settle::write_result> results,
                       settle::write_context const& at) = 0;
    virtual void look_up(std::span<settle::read_request const> requests,
                         settle::found_function found) = 0;
    virtual settle::result<std::optional<settle::entry>> read(settle::transaction_id const& id) = 0;
    virtual settle::result<std::vector<settle::entry>> list(settle::entry_filter const& filter,
                                                            settle::transaction_id const& after,
                                                            std::size_t limit) = 0;
    virtual settle::result<settle::purged> purge(settle::timestamp before, std::size_t limit,
                                                 std::int64_t passed) = 0;
    virtual settle::result<std::chrono::milliseconds>
    keep_horizon(std::chrono::milliseconds least) = 0;
    virtual settle::result<settle::log_home> home() = 0;
    virtual settle::result<void> take_home(settle::log_home const& seen, bool renames) = 0;
};

/// The records of a database, whose log is the any_log of the same object.
class any_records {
public:
    any_records() = default;
    any_records(any_records const&) = delete;
    any_records& operator=(any_records const&) = delete;
    virtual ~any_records() = default;

    virtual void execute(std::span<settle::part_request const> requests,
                         std::span<settle::part_result> results) = 0;
    virtual settle::result<std::vector<settle::mark_locator>>
    marks(std::optional<settle::mark_locator> const& after, std::size_t limit) = 0;
    virtual settle::result<settle::answer> resolve(settle::mark_locator const& at,
                                                   bool confirmed) = 0;
    [[nodiscard]] virtual bool can_settle_in_one_phase() const = 0;
    virtual void one_phase(std::span<settle::one_phase_request> requests,
                           settle::write_context const& at, settle::one_phase_decider& decider) = 0;
};

/// A database of records and a log. An engine takes it as it takes the database itself. One engine
/// at a time may use it: a new session ends the sessions before it. The log is bound first, and is
/// the log of the records.
template <typename... Collections>
class any_store {
public:
    class log_session {
    public:
        explicit log_session(any_log& log) : log_(&log) {}

        [[nodiscard]] std::string const& name() const { return log_->name(); }
        void write(std::span<settle::entry_write const> writes,
                   std::span<settle::write_result> results, settle::write_context const& at) {
            log_->write(writes, results, at);
        }
        void look_up(std::span<settle::read_request const> requests, settle::found_function found) {
            log_->look_up(requests, found);
        }
        auto read(settle::transaction_id const& id) { return log_->read(id); }
        auto list(settle::entry_filter const& filter, settle::transaction_id const& after,
                  std::size_t limit) {
            return log_->list(filter, after, limit);
        }
        auto purge(settle::timestamp before, std::size_t limit, std::int64_t passed) {
            return log_->purge(before, limit, passed);
        }
        auto keep_horizon(std::chrono::milliseconds least) { return log_->keep_horizon(least); }
        auto home() { return log_->home(); }
        auto take_home(settle::log_home const& seen, bool renames) {
            return log_->take_home(seen, renames);
        }

    private:
        any_log* log_;
    };

    using collections = std::tuple<any_collection<Collections>&...>;

    class record_session {
    public:
        template <typename C>
        using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

        record_session(any_records& records, collections const& all)
            : records_(&records), collections_(all) {}

        void execute(std::span<settle::part_request const> requests,
                     std::span<settle::part_result> results) {
            records_->execute(requests, results);
        }
        auto marks(std::optional<settle::mark_locator> const& after, std::size_t limit) {
            return records_->marks(after, limit);
        }
        auto resolve(settle::mark_locator const& at, bool confirmed) {
            return records_->resolve(at, confirmed);
        }

        static constexpr bool settles_in_one_phase = true;
        [[nodiscard]] bool can_settle_in_one_phase() const {
            return records_->can_settle_in_one_phase();
        }
        void one_phase(std::span<settle::one_phase_request> requests, log_session&,
                       settle::write_context const& at, settle::one_phase_decider& decider) {
            records_->one_phase(requests, at, decider);
        }

        template <typename C>
        auto read(typename C::key_type const& key) {
            return of<C>().read(key);
        }
        template <typename C>
        auto create(typename C::record_type const& record) {
            return of<C>().create(record);
        }
        template <typename C>
        void create_all(std::span<typename C::record_type const> wave,
                        std::span<settle::result<void>> answers) {
            of<C>().create_all(wave, answers);
        }
        template <typename C>
        auto scan(std::optional<typename C::key_type> const& after, std::size_t limit) {
            return of<C>().scan(after, limit);
        }

    private:
        template <typename C>
        any_collection<C>& of() {
            return std::get<any_collection<C>&>(collections_);
        }

        any_records* records_;
        collections collections_;
    };

    any_store() = default;
    any_store(any_store const&) = delete;
    any_store& operator=(any_store const&) = delete;
    virtual ~any_store() = default;

    log_session bind_log() { return log_session{open_log()}; }
    template <typename... Bound>
    record_session bind(std::string const& log_name) {
        static_assert((record_session::template holds<Bound>::value && ...));
        auto& records = open_records(log_name);
        return {records, opened_collections()};
    }

    /// The number of entries that the store prefers to be claimed at a time; 0 is settle's default.
    [[nodiscard]] virtual std::size_t recovery_window() const = 0;

private:
    virtual any_log& open_log() = 0;
    virtual any_records& open_records(std::string const& log_name) = 0;
    virtual collections opened_collections() = 0;
};

} // namespace samples
