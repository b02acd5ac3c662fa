// SPDX-License-Identifier: BSL-1.0
// The store suite requires each member of the seam of a store.
// expect: settle: a session of the store lacks read, create or scan,
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/testing/store_suite/members.hpp>

namespace bank {

template <typename... Collections>
struct record_session : settle::memory::record_session<std::mutex, Collections...> {
    using base = settle::memory::record_session<std::mutex, Collections...>;
    explicit record_session(base&& inner) : base(std::move(inner)) {}
#ifndef FIXED
    void scan() = delete;
#endif
};

struct database : settle::memory::database {
    template <typename... Collections>
    record_session<Collections...> bind(std::string const& log_name) {
        return record_session<Collections...>{
            settle::memory::database::bind<Collections...>(log_name)};
    }
};

static_assert(settle::testing::has_members<database>);

} // namespace bank
