// SPDX-License-Identifier: BSL-1.0
// Closes the part of a call that its service never confirms or compensates.
#pragma once

#include <settle/running/take_over.hpp>

SETTLE_BEGIN
namespace detail {

/// The number of a named part, or no_part.
template <typename Direction>
[[nodiscard]] std::size_t number_of_part(typename Direction::parameters const& parameters,
                                         part_name const& named, part_number& number) {
    std::size_t found = coordinator::no_part;
    descriptor_of<Direction>.for_each_part(
        &parameters, [&](part_descriptor const& one, std::size_t line, std::size_t part) {
            part_name const name = descriptor_of<Direction>.name_part(&parameters, part);
            if (name.participant != named.participant || name.line != named.line) return;
            if (one.make_result == nullptr) return;
            number = {one.participant, static_cast<std::uint32_t>(line)};
            found = part;
        });
    return found;
}

/// Writes the reason into the entry. A live worker then loses its next compare-and-set, since the
/// revision is raised.
/// Errors:  why the part is not closed
template <typename Direction, typename Assembly>
error close_part(Assembly& parts, entry const& found,
                 typename Direction::parameters const& parameters, part_name const& named,
                 std::string_view why) {
    if (auto refused = check_closing(found, why); !refused.empty()) return refused;
    part_number number;
    if (number_of_part<Direction>(parameters, named, number) == coordinator::no_part) {
        return no_such_call(found, named);
    }
    std::vector<kept_result> results = found.results;
    auto const at = std::find_if(results.begin(), results.end(), [&](kept_result const& one) {
        return one.participant == number.participant && one.line == number.line;
    });
    if (at != results.end()) at->closed = std::string{why};
    else results.push_back({number.participant, number.line, {}, std::string{why}});
    entry_write write{&found.id,
                      &descriptor_of<Direction>,
                      &parameters,
                      step::keep,
                      false,
                      {found.state, found.epoch_number, found.state, found.epoch_number,
                       found.committed, found.attempts, reason::none, false, found.revision,
                       found.revision + 1, found.stages_kept},
                      found.created,
                      entry_write::no_part,
                      nullptr,
                      0,
                      &results};
    write_result answer;
    parts.log().write({&write, 1}, {&answer, 1}, {parts.environment().now(), parts.owner()});
    if (answer.reply == log_answer::taken) return {};
    if (answer.reply == log_answer::conflict) return moved_meanwhile(found);
    return answer.problem;
}

/// The unfinished entries that were created before a time.
template <typename Log>
result<std::vector<entry>> stuck_entries(Log& log, timestamp before) {
    constexpr std::size_t page = 256;
    std::vector<entry> stuck;
    for (transaction_id after;;) {
        auto found = log.list({.unfinished = true}, after, page);
        if (!found.has_value()) return found.problem();
        for (entry& one : found.value()) {
            after = one.id;
            if (one.created < before) stuck.push_back(std::move(one));
        }
        if (found.value().size() < page) return stuck;
    }
}

} // namespace detail
SETTLE_END
