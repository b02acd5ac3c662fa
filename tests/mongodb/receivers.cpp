// SPDX-License-Identifier: BSL-1.0
// The receiver on MongoDB: rows and work in one native transaction of a replica set.
#include "receiver_office.hpp"

namespace mongodb_receivers {

TEST_CASE("receivers: the receiver on MongoDB has the grade barrier") {
    receiver_checks::check_grade<office>();
}
TEST_CASE("receivers: a refusal on MongoDB undoes the work, and its row is stored alone") {
    receiver_checks::check_refusal<office>();
}
TEST_CASE("receivers: work on MongoDB that fails is undone and may be sent again") {
    receiver_checks::check_failed_work<office>();
}
TEST_CASE("receivers: threads on MongoDB that share keys take effect once for each") {
    receiver_checks::check_threads<office>();
}
TEST_CASE("receivers: rows on MongoDB are listed and purged") {
    receiver_checks::check_rows<office>();
}
TEST_CASE("receivers: a database of another receiver, or without transactions, is refused") {
    receiver_checks::check_owner<office>();
    fresh_database const single{standalone_address};
    auto const alone = receiver_database::open(single.address(), "airline");
    CHECK(contains(alone.problem().text, "a receiver needs native transactions"));
}

} // namespace mongodb_receivers
