// SPDX-License-Identifier: BSL-1.0
// The description of the overview's JSON.
#include "openapi_schemas.hpp"

SETTLE_BEGIN
namespace detail {

namespace openapi {

console_json overview() {
    auto const text = typed("string");
    auto const number = typed("integer");
    auto const problem = object({{"problem", text}}, {{"at", time_of_day()}});
    auto const by_type_and_state = object({{"type", text},
                                           {"state", state_names({})},
                                           {"stage", or_null("integer")},
                                           {"count", number},
                                           {"oldest_seconds", number}});
    auto const stuck = object({{"id", text},
                               {"type", text},
                               {"state", state_names({"damaged"})},
                               {"age_seconds", number},
                               {"why", text}});
    auto const in_doubt = object({{"store", text},
                                  {"count", or_null("integer")},
                                  {"oldest_seconds", or_null("integer")},
                                  {"not_listed", or_null("integer")},
                                  {"problem", or_null("string")}});
    auto const part_in_doubt = object({{"store", text},
                                       {"name", text},
                                       {"id", or_null("string")},
                                       {"age_seconds", number},
                                       {"what_ends_it", text}});
    auto const early =
        object({{"collection", text}, {"count", number}, {"oldest_seconds", number}});
    auto const store = object({{"name", text},
                               {"kind", text},
                               {"answers", or_null("boolean")},
                               {"problem", or_null("string")}},
                              {{"took_ms", number}, {"at", time_of_day()}});
    auto const call = object({{"service", text},
                              {"ok", number},
                              {"refused", number},
                              {"unavailable", number},
                              {"unknown", number}});
    auto const pause =
        object({{"what", text}, {"name", text}, {"since", time_of_day()}, {"reason", text}});
    auto const minute = object({{"minute", time_of_day()}, {"done", number}, {"canceled", number}});
    return object(
        {{"at", time_of_day()},
         {"log", text},
         {"may_act", typed("boolean")},
         {"unfinished", object({{"total", number},
                                {"complete", typed("boolean")},
                                {"at", time_of_day()},
                                {"by_type_and_state", list_of(by_type_and_state)}},
                               {{"note", text}, {"problem", text}})},
         {"stuck", object({{"total", number},
                           {"older_than_seconds", number},
                           {"seen_in_calls_of_this_program", number},
                           {"oldest", list_of(stuck)}},
                          {{"problem", text}})},
         {"in_doubt", list_of(in_doubt)},
         {"parts_in_doubt", list_of(part_in_doubt)},
         {"marks_without_entry",
          one_of({object({{"at", time_of_day()}, {"by_collection", list_of(early)}}), problem})},
         {"stores", list_of(store)}},
        {{"transactions", object({{"in_flight", number}, {"ended_by_minute", list_of(minute)}})},
         {"calls_of_this_program", list_of(call)},
         {"paused", one_of({list_of(pause), problem})}});
}

} // namespace openapi

} // namespace detail
SETTLE_END
