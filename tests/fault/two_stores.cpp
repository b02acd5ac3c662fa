// SPDX-License-Identifier: BSL-1.0
// Accounts in memory and stock in a SQLite file.
#include "two_stores.hpp"

namespace settle_test {
namespace {

struct in_memory {
    using database = settle::memory::database;
    database& open() { return held_; }

private:
    database held_;
};

template <bool LogInFile>
using memory_and_file = two_stores<in_memory, in_file, LogInFile>;

} // namespace

TEST_CASE("two stores: an order is paid in memory and taken from a file, log in memory") {
    usual_orders<memory_and_file<false>>();
}
TEST_CASE("two stores: an order is paid in memory and taken from a file, log in the file") {
    usual_orders<memory_and_file<true>>();
}
TEST_CASE("two stores: an order fails once at every call, log in memory") {
    hit_everywhere<memory_and_file<false>>();
}
TEST_CASE("two stores: an order fails once at every call, log in the file") {
    hit_everywhere<memory_and_file<true>>();
}

TEST_CASE("two stores: each store refuses another log") {
    in_file file;
    in_memory memory;
    manual_environment const time;
    auto engine = engine_over(file.open(), memory.open(), file.open(), time);
    engine.create(ledgers, {"A", 1, 0, ""}).value();
    CHECK_THROWS_AS(engine_over(memory.open(), memory.open(), file.open(), time), settle::failure);
    in_memory another;
    CHECK_THROWS_AS(engine_over(another.open(), memory.open(), another.open(), time),
                    settle::failure);
}

} // namespace settle_test
