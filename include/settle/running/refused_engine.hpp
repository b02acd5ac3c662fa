// SPDX-License-Identifier: BSL-1.0
// What remains of an engine whose arguments were refused: every call can be written down, so that
// the sentence about the arguments stays the only error. Nothing here has a body.
#pragma once

#include <settle/running/creation.hpp>
#include <settle/running/engine_checks.hpp>
#include <settle/running/outcome.hpp>
#include <settle/running/recovery.hpp>

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

public:
    template <typename... Given>
    explicit engine(Given&&...);

    template <auto const&... Type>
    outcome run(auto&&...);
    template <auto const&... Type>
    batch_outcomes run_all(auto&&...);
    template <auto const&... Type>
    outcome submit(auto&&...);
    recovery_report work(auto&&...);
    recovery_report recover(auto&&...);
    outcome cancel(auto&&...);
    outcome reverse(auto&&...);
    sweep_report sweep(auto&&...);
    purge_report purge(auto&&...);

    result<std::optional<entry>> find(auto&&...);
    entry_listing<engine> list(auto&&...);
    result<std::vector<entry>> page(auto&&...);
    result<std::uint64_t> marks();
    /// A record that is abstract cannot stand in an optional.
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<std::conditional_t<std::is_abstract_v<Record>, nothing, Record>>> read(
        collection<Record, Name, Key> const&, auto&&...);
    template <typename Record, fixed_string Name, auto Key>
    Record at(collection<Record, Name, Key> const&, auto&&...);
    result<void> create(auto&&...);
    create_report create_all(auto&&...);
    template <typename Record, fixed_string Name, auto Key>
    record_listing<engine, collection<Record, Name, Key>> scan(
        collection<Record, Name, Key> const&);
    template <typename Collection>
    result<std::vector<typename Collection::record_type>> scan_page(auto&&...);

    [[nodiscard]] options const& limits() const;
    [[nodiscard]] std::string const& owner() const;
};

SETTLE_END
