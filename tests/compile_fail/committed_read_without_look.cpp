// SPDX-License-Identifier: BSL-1.0
// A committed read needs a store that gives a record with its marks in one look.
// expect: settle: the store of this collection gives no record with its marks in one look,
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

template <typename... Collections>
struct record_session : settle::memory::record_session<std::mutex, Collections...> {
    using base = settle::memory::record_session<std::mutex, Collections...>;
    explicit record_session(base&& inner) : base(std::move(inner)) {}
#ifndef FIXED
    void look() = delete;
#endif
};

struct database : settle::memory::database {
    template <typename... Collections>
    record_session<Collections...> bind(std::string const& log_name) {
        return record_session<Collections...>{
            settle::memory::database::bind<Collections...>(log_name)};
    }
};

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void read(database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    std::ignore = engine.read_committed(accounts, "A");
}

} // namespace bank
