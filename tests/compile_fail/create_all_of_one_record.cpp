// SPDX-License-Identifier: BSL-1.0
// A call that no function of the engine takes is answered by a sentence, not by candidates.
// expect: settle: 'create_all' takes a collection, a range of its records
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

#include <vector>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void open(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
#ifdef FIXED
    static_cast<void>(engine.create_all(accounts, std::vector<account>{}));
#else
    static_cast<void>(engine.create_all(accounts, account{}));
#endif
}

} // namespace bank
