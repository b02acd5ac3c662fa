// SPDX-License-Identifier: BSL-1.0
// A wrong participant is reported once, whatever uses its type.
// expect: settle: the key of a participant is a parameter of the same type
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

#include <vector>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
#ifdef FIXED
    participant<"source">(accounts, param<&transfer::source>)
#else
    participant<"source">(accounts, param<&transfer::amount>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void run(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    static_cast<void>(engine.run(transfer{}));
    static_cast<void>(engine.run<gift_type>("t1", transfer{}));
    static_cast<void>(engine.run(transfer{}, {.deadline = std::chrono::seconds{1}}));
    static_cast<void>(engine.run("t1", transfer{}, {.deadline = std::chrono::seconds{1}}));
    static_cast<void>(engine.create(accounts, {}));
    auto const listen = [](std::size_t, settle::outcome const&) {};
    static_cast<void>(engine.run_all(std::vector<transfer>{}).size());
    static_cast<void>(engine.run_all(std::vector<transfer>{}, listen).taken);
    static_cast<void>(engine.still_for(std::chrono::hours{1}).before);
    static_cast<void>(engine.at(accounts, "A").balance);
    static_cast<void>(engine.create_all(accounts, std::vector<account>{}).created);
    static_cast<void>(engine.sweep());
    static_cast<void>(engine.find("t1"));
}

} // namespace bank
