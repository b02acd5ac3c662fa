// SPDX-License-Identifier: BSL-1.0
// A wrong type is reported once, whatever uses it.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type =
    transaction<transfer, "gift">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                      .require(field<&account::balance> >= param<&transfer::amount>)
#endif
                                      .apply(field<&account::balance> -= param<&transfer::amount>)
                                      .compensate(settle::inverse));

inline void run(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    static_cast<void>(engine.create(accounts, account{}));
    settle::outcome const outcome = engine.run("t1", transfer{});
    std::vector<transfer> const many(3);
    for (settle::outcome const& one : engine.run_all(many)) {
        static_cast<void>(one.verdict == outcome.verdict);
    }
    static_cast<void>(engine.recover({}));
    static_cast<void>(engine.read(accounts, "a"));
}

} // namespace bank
