// SPDX-License-Identifier: BSL-1.0
// An outcome is not equal to a bool: it may also be undecided.
// expect: settle: an outcome is not true or false
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline bool pay(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
#ifdef FIXED
    return engine.run(transfer{}).done();
#else
    return engine.run(transfer{}) == true;
#endif
}

} // namespace bank
