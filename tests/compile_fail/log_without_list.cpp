// SPDX-License-Identifier: BSL-1.0
// An engine needs a log that can list its entries.
// expect: settle: the log cannot list its entries, which recovery and the console need.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

struct log_session : settle::memory::log_session<std::mutex> {
    using settle::memory::log_session<std::mutex>::log_session;
#ifndef FIXED
    void list() = delete;
#endif
};

struct database : settle::memory::database {
    log_session bind_log() { return log_session{*this}; }
};

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void keep(database& database) {
    settle::engine engine{settle::log_in(database), settle::bind(accounts, database),
                          settle::type<gift_type>};
    std::ignore = engine.recover();
}

} // namespace bank
