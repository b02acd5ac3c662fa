// SPDX-License-Identifier: BSL-1.0
// An engine whose arguments were refused. It declares every call, so that the sentence about the
// arguments is the only error. A function that takes a lambda has a body, since the lambda's type
// is local to the caller; no other function has a body. Records and options may be in braces.
#pragma once

#include <settle/running/calls/creation.hpp>
#include <settle/running/calls/doubts.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/calls/statistics.hpp>
#include <settle/running/calls/wrong_calls.hpp>
#include <settle/running/construction/engine_checks.hpp>

#include <vector>

SETTLE_BEGIN

template <typename... Arguments>
class engine;
template <typename Engine>
class entry_listing;
template <typename Engine, typename Collection>
class record_listing;

template <typename... Arguments>
    requires(detail::fault_of_engine<Arguments...>() != detail::engine_fault::none)
class engine<Arguments...> {
    static_assert(detail::explain_engine<detail::fault_of_engine<Arguments...>()>());

    /// A function cannot return an abstract record.
    template <typename Record>
    using record_or_nothing = std::conditional_t<std::is_abstract_v<Record>, nothing, Record>;

public:
    template <typename... Given>
    explicit engine(Given&&...);

    template <auto const&... Type>
    outcome run(auto&&...);
    template <auto const&... Type>
    outcome run(detail::anything, call_options const&);
    template <auto const&... Type>
    outcome run(detail::anything, detail::anything, call_options const&);
    template <auto const&... Type>
    batch_outcomes run_all(auto&&...) {
        return {};
    }
    template <auto const&... Type, typename Range, typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, outcome>
    batch_report run_all(Range&&, Ended&&, auto&&...) {
        return {};
    }
    template <auto const&... Type>
    outcome submit(auto&&...);
    recovery_report work(auto&&...);
    recovery_report recover(auto&&...);
    outcome cancel(auto&&...);
    outcome reverse(auto&&...);
    outcome retry(auto&&...);
    outcome resolve(auto&&...);
    sweep_report sweep(auto&&...);
    purge_report purge(auto&&...);

    result<std::optional<entry>> find(auto&&...);
    entry_listing<engine> list(auto&&...);
    entry_filter still_for(auto&&...) const;
    result<std::vector<entry>> page(auto&&...);
    result<std::vector<entry>> stuck(auto&&...);
    settle::statistics statistics() const;
    result<std::vector<doubtful_part>> in_doubt(auto&&...);
    result<std::vector<doubt_count>> count_in_doubt(auto&&...);
    result<std::uint64_t> marks(auto&&...);
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<record_or_nothing<Record>>> read(collection<Record, Name, Key> const&,
                                                          auto&&...);
    template <typename Record, fixed_string Name, auto Key>
    record_or_nothing<Record> at(collection<Record, Name, Key> const&, auto&&...);
    result<void> create(detail::anything, detail::anything, call_options const& = {});
    create_report create_all(auto&&...) { return {}; }
    template <typename Record, fixed_string Name, auto Key>
    record_listing<engine, collection<Record, Name, Key>>
    scan(collection<Record, Name, Key> const&);
    template <typename Collection>
    result<std::vector<typename Collection::record_type>> scan_page(auto&&...);

    [[nodiscard]] options const& limits() const;
    [[nodiscard]] std::string const& owner() const;
};

SETTLE_END
