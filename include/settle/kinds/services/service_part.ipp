// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that service_part.hpp declares.
#pragma once

#include <settle/kinds/services/service_part.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::string_view kept_result_of(part_request const& request, part_number part) {
    if (request.results == nullptr) return {};
    for (kept_result const& one : *request.results) {
        if (one.participant == part.participant && one.line == part.line) return one.value;
    }
    return {};
}

SETTLE_FUNCTION error read_answer(value_codec const& codec, std::string_view text, void* value) {
    auto problem = read_whole(codec, text, json_form::foreign, value);
    constexpr std::string_view stored = "the stored JSON is damaged at ";
    if (problem.text.starts_with(stored)) {
        problem.text.replace(0, stored.size(), "the answer's JSON does not fit its type at ");
    }
    return problem;
}

SETTLE_FUNCTION error read_kept(part_request const& request, std::uint32_t participant,
                                value_codec const& codec, void* value) {
    auto problem =
        read_whole(codec, kept_result_of(request, {participant, 0}), json_form::exact, value);
    if (problem.empty()) return {};
    std::size_t part = 0;
    for (std::uint32_t before = 0; before < participant; ++before) {
        part += request.type->lines(request.parameters, before);
    }
    auto const name = request.type->name_part(request.parameters, part).participant;
    problem.text = "settle: the entry '" + *request.id + "' has no readable result of '" +
                   std::string{name} + "': " + problem.text + ". See errors#damaged";
    return problem;
}

} // namespace detail
SETTLE_END
