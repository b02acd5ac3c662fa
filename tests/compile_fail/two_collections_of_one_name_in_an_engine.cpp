// SPDX-License-Identifier: BSL-1.0
// One name means one set of records, for all types of an engine.
// expect: settle: two collections of one name in an engine differ in their record or key.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<order, "orders", &order::number> others;
#else
inline constexpr settle::collection<order, "accounts", &order::number> others;
#endif
inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));
inline constexpr auto order_type =
    transaction<transfer, "order">(participant<"order">(others, param<&transfer::number>)
                                       .confirm(field<&order::total> += param<&transfer::amount>));

inline auto make(settle::memory::database& database) {
    return settle::engine{database, settle::type<gift_type>, settle::type<order_type>};
}

} // namespace bank
