// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that marks.hpp declares.
#pragma once

#include <settle/running/calls/marks.hpp>

SETTLE_BEGIN
namespace detail {

inline constexpr std::size_t marks_a_page = 256;

SETTLE_FUNCTION void for_each_mark(store_port& store, patience& patience, error& problem,
                                   function_view<bool(mark_locator const&)> function) {
    std::optional<mark_locator> after;
    for (;;) {
        auto const page_of_marks = patience([&] { return store.marks(after, marks_a_page); });
        if (!page_of_marks.has_value()) {
            problem = page_of_marks.problem();
            return;
        }
        for (mark_locator const& one : page_of_marks.value()) {
            if (!function(one)) return;
        }
        if (page_of_marks.value().size() < marks_a_page) return;
        after = page_of_marks.value().back();
    }
}

} // namespace detail
SETTLE_END
