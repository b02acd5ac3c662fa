// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions of its file.
#pragma once

#include <settle/adapter/one_phase.hpp>
#include <settle/sqlite/log_session.hpp>
#include <settle/sqlite/record_table.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// The tables of a session's collections.
class unit_of_work {
public:
    /// Shape:   target - see part_descriptor::target
    void add(void const* target, std::unique_ptr<record_table> table) {
        tables_.push_back({target, std::move(table)});
    }
    /// A table, in the order in which they were added.
    [[nodiscard]] record_table& at(std::size_t number) const { return *tables_[number].table; }

    void begin(bool unchanged) {
        for (auto const& one : tables_) one.table->begin(unchanged);
    }
    void fetch() {
        for (auto const& one : tables_) one.table->fetch();
    }
    void write_back() {
        for (auto const& one : tables_) one.table->write_back();
    }
    void expect(part_request const& one) { of(one).expect(one); }
    [[nodiscard]] part_result execute(part_request const& one) { return of(one).execute(one); }
    void end_one_phase(part_request const& one, bool confirmed) {
        of(one).end_one_phase(one, confirmed);
    }
    [[nodiscard]] bool has_mark_of(part_request const& one) const {
        return of(one).has_mark_of(one);
    }

private:
    struct target_table {
        void const* target;
        std::unique_ptr<record_table> table;
    };

    [[nodiscard]] record_table& of(part_request const& one) const;

    std::vector<target_table> tables_;
};

/// Shape:   the file outlives this object, which is in use by one thread at a time, inside of the
///          file's native transactions
class record_waves {
public:
    record_waves(file& of, unit_of_work& unit) : file_(&of), unit_(&unit) {}

    /// Executes requests in one native transaction.
    void execute(std::span<part_request const> all, std::span<part_result> results);

    /// Settles requests in one native transaction, which the calls of several threads share.
    void one_phase(std::span<one_phase_request> all, entry_table& entries,
                   write_context const& at, one_phase_decider& decider);

private:
    using call = settle::detail::one_phase_call;
    using groups = settle::detail::groups<call>;
    using group = groups::group;

    /// How the work of a wave is attempted.
    struct attempt {
        bool looks_for_ids = false; ///< an insert has shown that an id exists
        bool apart = false;         ///< each request by itself
        /// Requests that would abort the whole native transaction, as a trigger can, and why.
        std::vector<std::pair<part_request const*, error>> aborts_transaction{};
    };

    /// Does the work of a wave in a native transaction. If one record makes the transaction fail,
    /// the work is repeated with each request apart, so that the other requests take effect; and
    /// once more without each request that aborts the whole transaction.
    /// Shape:   function(native, attempt)
    using action = settle::detail::function_view<void(transaction&, attempt&)>;
    commit_result in_native(action function);

    part_result execute_apart(transaction& native, attempt& how, part_request const& one);

    /// Calls a function whose work is undone alone if one record makes it fail.
    /// Shape:   parts - the requests of that work; under_way - the request that is being executed
    /// Returns: the error of the record, or an empty error
    error apart(transaction& native, attempt& how, std::span<part_request const> parts,
                part_request const*& under_way, settle::detail::function_view<void()> function);

    /// Performs the requests of a group in one native transaction.
    commit_result settle_group(group& all, entry_table& entries);

    static void write_entry(entry_table& entries, one_phase_request& one,
                            write_context const& at);

    /// Errors:  throws when an id is there already: then each is looked for
    static void insert_new(entry_table& entries, std::span<one_phase_request* const> fresh,
                           write_context const& at, attempt& how);

    /// An unusable record cancels only the transaction that names it.
    void settle_each_apart(transaction& native, attempt& how, call const& of,
                           entry_table& entries) {
        for (auto* const one : of.requests) settle_apart(native, how, *one, of, entries);
    }
    void settle_apart(transaction& native, attempt& how, one_phase_request& request,
                      call const& of, entry_table& entries);

    /// A limit, so that a commit comes.
    static constexpr std::size_t largest_group = 1024;

    file* file_;
    unit_of_work* unit_;
    groups groups_{1, largest_group};
};

/// A collection, and the target of the parts that name it.
struct bound_collection {
    void const* target;
    collection_descriptor const* collection;
};

/// The tables of a session's collections, and the statements that read them.
struct held_tables {
    /// The tables come first: the reader needs them in the file.
    /// Errors:  throws settle::failure when a table does not fit its collection
    held_tables(file& of, std::vector<bound_collection> const& bound)
        : unit(tables_of(of, bound)), marks(of.reader(), names_of(bound)), waves(of, unit) {
        for (auto const& one : bound) readers.emplace_back(*one.collection, of.reader());
    }

    unit_of_work unit;
    std::vector<record_reader> readers;
    mark_reader marks;
    record_waves waves;

private:
    static unit_of_work tables_of(file& of, std::vector<bound_collection> const& bound);
    /// The collections as an SQL list.
    static std::string names_of(std::vector<bound_collection> const& bound);
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/record_waves.ipp>
#endif
