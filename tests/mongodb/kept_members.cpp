// SPDX-License-Identifier: BSL-1.0
// A struct that SETTLE_STRUCT lists and one that it does not are the same fields of documents.
#include "documents.hpp"

#include <aggregates_runs.hpp>

#include <settle/mongodb/kind.hpp>

namespace {

std::vector<std::string> kept_documents(bool are_listed) {
    settle_test::documents kept{settle_test::replica_set_address};
    settle::any_database db{kept.own.address(), {settle::mongodb::kind()}};
    aggregates::run_payments(db, are_listed);
    return {kept.look("invoices", "i1"), kept.look("invoices", "i2"),
            kept.look("settle_entries", "restore",
                      R"({"definition": 1, "parameters": 1, "images": 1})")};
}

} // namespace

TEST_CASE("aggregates: a listed and an unlisted struct are the same in MongoDB") {
    auto const documents = kept_documents(false);
    CHECK(documents == kept_documents(true));
    REQUIRE(documents.size() == 3);
    CHECK(documents[0] ==
          R"({ "_id" : "i1", "total" : { "$numberLong" : "383" }, "checked" : true, "state" : )"
          R"({ "$numberLong" : "1" }, "due" : { "$date" : { "$numberLong" : "86400000" } }, )"
          R"("note" : "ä", "home" : { "street" : "Hill", "door" : { "$numberLong" : "7" } }, )"
          R"("lines" : [ { "article" : "pen", "quantity" : { "$numberLong" : "2" }, "price" : )"
          R"({ "$numberLong" : "40" } }, { "article" : "ink", "quantity" : )"
          R"({ "$numberLong" : "1" }, "price" : null } ], "counts" : [ { "$numberLong" : "1" }, )"
          R"({ "$numberLong" : "-1" } ], "pendingTransactions" : [  ] })");
    CHECK(documents[2].starts_with(
        R"({ "_id" : "restore", "definition" : "e71b99ec3f567e5a", "parameters" : { "id" : "i2", )"
        R"("amount" : { "$numberInt" : "0" }, "replacement" : { "id" : "i2", "total" : )"));
    CHECK(documents[2].ends_with(
        R"("after" : "{\"id\":\"i2\",\"total\":9,\"checked\":true,\"state\":0,\"due\":86400,)"
        R"(\"note\":\"ä\",\"home\":{\"street\":\"Hill\",\"door\":7},\"lines\":[],)"
        R"(\"counts\":[1,-1]}" } ] })"));
}
