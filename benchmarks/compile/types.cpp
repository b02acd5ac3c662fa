// SPDX-License-Identifier: BSL-1.0
// Compiled to measure the cost of a transaction type: SETTLE_TYPES types, 1 or 10, in one engine on
// SQLite or in memory. With SETTLE_LISTED a macro lists the members of each struct.
#include <settle/settle.hpp>
#if SETTLE_ON_SQLITE
#include <settle/sqlite.hpp>
#else
#include <settle/memory.hpp>
#endif

#include <cstdint>
#include <string>

#ifdef SETTLE_LISTED
#define SETTLE_LIST(...) SETTLE_STRUCT(__VA_ARGS__)
#else
#define SETTLE_LIST(...) static_assert(true)
#endif

struct account {
    std::string id;
    std::int64_t balance;
};
SETTLE_LIST(account, id, balance);

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

// Each type has its own parameters, and its own fee, which stays with the bank.
#define SETTLE_ONE_TYPE(number)                                                                    \
    struct transfer_##number {                                                                     \
        std::string source;                                                                        \
        std::string destination;                                                                   \
        std::int64_t amount;                                                                       \
    };                                                                                             \
    SETTLE_LIST(transfer_##number, source, destination, amount);                                   \
    inline constexpr auto type_##number =                                                          \
        settle::transaction<transfer_##number, "transfer_" #number>(                               \
            settle::participant<"source">(accounts, settle::param<&transfer_##number::source>)     \
                .require(settle::field<&account::balance> >=                                       \
                         settle::param<&transfer_##number::amount> + settle::lit<number>)          \
                .apply(settle::field<&account::balance> -=                                         \
                       settle::param<&transfer_##number::amount> + settle::lit<number>)            \
                .compensate(settle::inverse),                                                      \
            settle::participant<"destination">(accounts,                                           \
                                               settle::param<&transfer_##number::destination>)     \
                .confirm(settle::field<&account::balance> +=                                       \
                         settle::param<&transfer_##number::amount>))                               \
            .require(settle::param<&transfer_##number::amount> > settle::lit<0>);

SETTLE_ONE_TYPE(0)
#if SETTLE_TYPES > 1
SETTLE_ONE_TYPE(1)
SETTLE_ONE_TYPE(2)
SETTLE_ONE_TYPE(3)
SETTLE_ONE_TYPE(4)
SETTLE_ONE_TYPE(5)
SETTLE_ONE_TYPE(6)
SETTLE_ONE_TYPE(7)
SETTLE_ONE_TYPE(8)
SETTLE_ONE_TYPE(9)
#endif

int main() {
    bool done = true;
#if SETTLE_ON_SQLITE
    settle::sqlite::database db{"types.db"};
#else
    settle::memory::database db;
#endif
#if SETTLE_TYPES == 1
    settle::engine engine{db, settle::type<type_0>};
#else
    settle::engine engine{db,
                          settle::type<type_0>,
                          settle::type<type_1>,
                          settle::type<type_2>,
                          settle::type<type_3>,
                          settle::type<type_4>,
                          settle::type<type_5>,
                          settle::type<type_6>,
                          settle::type<type_7>,
                          settle::type<type_8>,
                          settle::type<type_9>};
    done = engine.run(transfer_1{"A", "B", 1}).done() && done;
    done = engine.run(transfer_2{"A", "B", 1}).done() && done;
    done = engine.run(transfer_3{"A", "B", 1}).done() && done;
    done = engine.run(transfer_4{"A", "B", 1}).done() && done;
    done = engine.run(transfer_5{"A", "B", 1}).done() && done;
    done = engine.run(transfer_6{"A", "B", 1}).done() && done;
    done = engine.run(transfer_7{"A", "B", 1}).done() && done;
    done = engine.run(transfer_8{"A", "B", 1}).done() && done;
    done = engine.run(transfer_9{"A", "B", 1}).done() && done;
#endif
    done = engine.run(transfer_0{"A", "B", 1}).done() && done;
    return done ? 0 : 1;
}
