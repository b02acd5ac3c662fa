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
TEST_CASE("receivers: a key on MongoDB that comes with another request is refused") {
    receiver_checks::check_another_request<office>();
}
TEST_CASE("receivers: a confirm on MongoDB whose row was lost is for a person") {
    receiver_checks::check_lost_row<office>();
}
TEST_CASE("receivers: work on MongoDB that fails is undone and may be sent again") {
    receiver_checks::check_failed_work<office>();
}
TEST_CASE("receivers: the work of a handler that uses MongoDB's driver itself is undone as well") {
    struct native : seats {
        service_answer apply(receiver_session& db, service_call const&) const {
            mongoc_collection_t* const flights =
                mongoc_client_get_collection(db.client(), db.database().c_str(), "flights");
            bson_t* const flight = BCON_NEW("_id", "LH2", "free", BCON_INT64(1));
            bson_t options = BSON_INITIALIZER;
            bson_error_t problem{};
            bool const inserted =
                mongoc_client_session_append(db.native(), &options, &problem) &&
                mongoc_collection_insert_one(flights, flight, &options, nullptr, &problem);
            if (!inserted) db.fail(problem, nullptr);
            bson_destroy(&options);
            bson_destroy(flight);
            mongoc_collection_destroy(flights);
            if (throws) throw std::runtime_error{"the printer is out of paper"};
            return refuses ? service_answer::refused("no") : service_answer::ok("1");
        }
        bool refuses = false;
        bool throws = false;
    };
    office in{10};
    native handler;
    handler.refuses = true;
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), handler) ==
          service_answer::refused("no"));
    CHECK(in.flights() == 1);
    handler.refuses = false;
    handler.throws = true;
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "b"), handler).status ==
          call_status::unavailable);
    CHECK(in.flights() == 1);
    handler.throws = false;
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "b"), handler).status ==
          call_status::ok);
    CHECK(in.flights() == 2);
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
