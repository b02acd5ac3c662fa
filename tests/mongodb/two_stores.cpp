// SPDX-License-Identifier: BSL-1.0
// Accounts in MongoDB and stock in a SQLite file, the log in either; and both in MongoDB; each
// fault at every call.
#include "fixtures.hpp"

#include <fault/two_stores.hpp>

namespace settle_test {
namespace {

template <fresh_database::address_of& Address>
struct in_mongodb {
    using database = settle::mongodb::database;
    database& open() { return held_; }

private:
    fresh_database own_{Address};
    database held_{own_.address()};
};

using on_replica_set = in_mongodb<replica_set_address>;
using on_one_server = in_mongodb<standalone_address>;

} // namespace

TEST_CASE("an order is paid in MongoDB and taken from a file, log in MongoDB") {
    usual_orders<two_stores<on_replica_set, in_file, false>>();
}
TEST_CASE("an order is paid in MongoDB and taken from a file, log in the file") {
    usual_orders<two_stores<on_replica_set, in_file, true>>();
}
TEST_CASE("MongoDB and a file: hit once at every call, log in MongoDB") {
    hit_everywhere<two_stores<on_replica_set, in_file, false>>();
}
TEST_CASE("MongoDB and a file: hit once at every call, log in the file") {
    hit_everywhere<two_stores<on_replica_set, in_file, true>>();
}
TEST_CASE("a replica set and a single server: hit once at every call") {
    hit_everywhere<two_stores<on_replica_set, on_one_server, false>>();
}

} // namespace settle_test
