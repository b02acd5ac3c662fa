// SPDX-License-Identifier: BSL-1.0
// Lists the prepared parts that are in doubt, each with the entry that it waits for.
#pragma once

#include <settle/kinds/prepared/preparing_resource.hpp>
#include <settle/running/calls/patience.hpp>

#include <span>
#include <tuple>

SETTLE_BEGIN

/// A prepared part that is neither committed nor rolled back. It holds its locks.
struct doubtful_part {
    std::string name;   ///< as the database shows it
    timestamp prepared; ///< by the clock of the database
    transaction_id id;  ///< empty if the library has not given the name
    part_number part;
    epoch epoch_number = 0;
    std::optional<entry> waits_for{}; ///< empty if there is no entry; a sweep then ends the part
};

/// The prepared parts of a log that a database holds in doubt.
struct doubt_count {
    std::string store; ///< the name of the prepared target; a database of several counts for each
    std::uint64_t count = 0;
    timestamp oldest{}; ///< by the clock of the database
};

namespace detail {

/// Counts what a function lists; it is given the page after a name.
[[nodiscard]] result<doubt_count> count_doubts(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    patience& patience);

/// Shape:   in_doubt - a page of the names after a name; read - of the engine's log
[[nodiscard]] result<std::vector<doubtful_part>> parts_in_doubt(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    function_view<result<std::optional<entry>>(transaction_id const& id)> read, patience& patience);

/// What the sessions of prepared targets hold in doubt.
/// Shape:   names - of the sessions
template <typename... Sessions>
result<std::vector<doubt_count>> count_doubts_of(std::tuple<Sessions...>& sessions,
                                                 std::span<std::string const> names,
                                                 patience& patience) {
    std::vector<doubt_count> counts;
    error problem;
    auto const count = [&]<typename Session>(Session& session, std::string const& name) {
        if constexpr (requires { session.in_doubt(std::string_view{}, std::size_t{}); }) {
            auto const page = [&](std::string const& after, std::size_t limit) {
                return session.in_doubt(after, limit);
            };
            auto counted = count_doubts(page, patience);
            if (!counted.has_value()) problem = counted.problem();
            else counts.push_back({name, counted.value().count, counted.value().oldest});
        }
    };
    std::size_t index = 0;
    std::apply([&](Sessions&... session) { (count(session, names[index++]), ...); }, sessions);
    if (!problem.empty()) return problem;
    return counts;
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/doubts.ipp>
#endif
