// SPDX-License-Identifier: BSL-1.0
// A type creates records in a store that only changes them.
// expect: settle: a store cannot create or erase records, and a type of this engine does.
#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {
struct account {
    std::string id;
    std::int64_t balance;
};
struct opening {
    std::string id;
};
} // namespace bank
SETTLE_STRUCT(bank::account, id, balance);
SETTLE_STRUCT(bank::opening, id);

namespace bank {

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr auto opening_type = settle::transaction<opening, "opening">(
    settle::participant<"account">(accounts, settle::param<&opening::id>)
        .apply(settle::create(settle::field<&account::balance> = settle::lit<0>))
        .compensate(settle::inverse));

#ifdef FIXED
struct store : settle::memory::database {};
#else
struct store : settle::memory::database {
    static constexpr bool creates_records = false;
};
#endif

using opener = settle::engine<store, settle::type_tag<opening_type>>;
constexpr std::size_t size = sizeof(opener);
static_assert(size > 0);

} // namespace bank
