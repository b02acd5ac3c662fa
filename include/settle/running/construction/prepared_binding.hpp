// SPDX-License-Identifier: BSL-1.0
// Binds a prepared target to its database and its work.
#pragma once

#include <settle/running/construction/binding.hpp>

SETTLE_BEGIN

/// Has this database run the work of a settle::prepared, and prepare it.
/// Shape:   resource - a PreparingResource that outlives the engine; work - a function
///          (connection&, request const&) that returns settle::work_result. Threads that share the
///          engine call it at the same time. The engine owns a function that is a temporary, and
///          refers to any other
/// Errors:  the engine's constructor throws settle::failure if the server cannot prepare
template <typename Target, typename Resource, typename Work>
auto bind(Target const&, Resource&& resource, Work&& work) {
    using resource_type = std::remove_reference_t<Resource>;
    constexpr bool prepares = detail::is_prepared<Target> && PreparingResource<resource_type>;
    static_assert(prepares,
                  "settle: settle::bind takes a settle::prepared first, then a database that can "
                  "prepare, then the work. See running#construction");
    if constexpr (!prepares || !detail::check_database<Resource>()) {
        return detail::refused_binding{};
    } else {
        constexpr bool works =
            detail::does_work_of<std::remove_reference_t<Work>, Target, resource_type>;
        static_assert(works, "settle: the work of a settle::prepared is a function (connection&, "
                             "request const&) that returns settle::work_result. "
                             "See running#construction");
        if constexpr (works) {
            using worker = prepared_work<Target, resource_type, Work>;
            return client_binding<Target, worker>{worker{resource, std::forward<Work>(work)}};
        } else {
            return detail::refused_binding{};
        }
    }
}

SETTLE_END
