// SPDX-License-Identifier: BSL-1.0
// The store suite requires each member of the seam of a log.
// expect: settle: bind_log() returns no session of a log.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/testing/store_suite/members.hpp>

namespace bank {

struct log_session : settle::memory::log_session<std::mutex> {
    using settle::memory::log_session<std::mutex>::log_session;
#ifndef FIXED
    void look_up() = delete;
#endif
};

struct database : settle::memory::database {
    log_session bind_log() { return log_session{*this}; }
};

static_assert(settle::testing::has_members<database>);

} // namespace bank
