// SPDX-License-Identifier: BSL-1.0
// A database that is chosen when a program runs: one engine, compiled once, works on each of them.
#pragma once

#include <settle/adapter/record_session.hpp>
#include <settle/store/log_port.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace detail {

/// The log session of an any_database.
class any_log_session {
public:
    explicit any_log_session(std::shared_ptr<log_port> log) : log_(std::move(log)) {}

    static constexpr bool keeps_at_insert = true;
    [[nodiscard]] session_capabilities capabilities() const { return log_->capabilities(); }

    [[nodiscard]] std::string const& name() const { return log_->name(); }
    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        log_->write(writes, results, context);
    }
    void look_up(std::span<read_request const> requests, found_function found) {
        log_->look_up(requests, found);
    }
    result<std::optional<entry>> read(transaction_id const& id) { return log_->read(id); }
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        return log_->list(filter, after, limit);
    }
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing) {
        return log_->purge(before, limit, passed);
    }
    result<std::optional<std::string>> metadata(std::string_view name) {
        return log_->metadata(name);
    }
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text) {
        return log_->replace_metadata(name, seen, text);
    }
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit) {
        return log_->list_metadata(names, limit);
    }
    result<void> erase_metadata(metadata_range const& names) { return log_->erase_metadata(names); }
    result<std::unique_ptr<log_hold>> hold_entries() { return log_->hold_entries(); }
    result<log_home> home() { return log_->home(); }
    result<void> take_home(log_home const& seen, bool renames) {
        return log_->take_home(seen, renames);
    }

    [[nodiscard]] log_port& log() const noexcept { return *log_; }

private:
    std::shared_ptr<log_port> log_;
};

using erased_store = one_phase_store<any_log_session>;

class erased_database {
public:
    erased_database() = default;
    erased_database(erased_database const&) = delete;
    erased_database& operator=(erased_database const&) = delete;
    virtual ~erased_database() = default;

    virtual std::shared_ptr<log_port> bind_log() = 0;
    virtual std::shared_ptr<erased_store>
    bind(std::string const& log_name, std::span<collection_descriptor const* const> bound) = 0;
};

template <typename... Collections>
using any_record_session_base =
    one_phase_session<overlapping_session<erased_store, Collections...>, any_log_session>;

/// The record session of an any_database.
template <typename... Collections>
class any_record_session : public any_record_session_base<Collections...> {
    using base = any_record_session_base<Collections...>;

public:
    any_record_session(erased_database& database, std::string const& log_name)
        : base(database.bind(log_name, base::bound)) {}
};

} // namespace detail

/// A kind of database that an any_database can open: `settle::sqlite::kind()` of
/// <settle/sqlite/kind.hpp>, and so on.
struct database_kind {
    std::span<std::string_view const> schemes; ///< the texts before the ':' of its addresses
    std::string_view form;                     ///< of an address, for people
    /// Errors:  throws settle::failure
    std::unique_ptr<detail::erased_database> (*open)(std::string const& address);
};

/// A database of records and a log, of a kind that the program chooses when it runs. An engine
/// takes it as it takes the database itself, and is compiled without it.
/// Shape:   the object outlives its engines
/// Cost:    a virtual call a wave. A transaction costs what it costs on the database itself
/// Example: samples/transfer
class any_database {
public:
    /// Shape:   address - `sqlite:PATH`, or another that one of the kinds knows
    /// Errors:  throws settle::failure: errc::bad_option where no kind knows the address, and as
    ///          the constructor of the database
    any_database(std::string const& address, std::initializer_list<database_kind> kinds);
    explicit any_database(std::unique_ptr<detail::erased_database> opened)
        : database_(std::move(opened)) {}

    detail::any_log_session bind_log() { return detail::any_log_session{database_->bind_log()}; }
    template <typename... Collections>
    detail::any_record_session<Collections...> bind(std::string const& log_name) {
        return {*database_, log_name};
    }

private:
    std::unique_ptr<detail::erased_database> database_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/any_database.ipp>
#endif
