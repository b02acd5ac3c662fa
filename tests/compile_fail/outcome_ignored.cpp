// SPDX-License-Identifier: BSL-1.0
// A call whose outcome is ignored.
// expect: settle: only the outcome says whether the transaction is done.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

#pragma GCC diagnostic error "-Wunused-result"

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline bool pay(settle::engine<settle::memory::database, settle::type_tag<gift_type>>& engine,
                transfer const& parameters) {
#ifdef FIXED
    return engine.run(parameters).done();
#else
    engine.run(parameters);
    return true;
#endif
}

} // namespace bank
