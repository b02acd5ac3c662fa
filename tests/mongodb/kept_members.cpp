// SPDX-License-Identifier: BSL-1.0
// A struct that SETTLE_STRUCT lists and one that it does not are the same fields of documents.
#include "documents.hpp"
#include "fixtures.hpp"

#include <aggregates_suite.hpp>

namespace {

template <bool Listed>
std::vector<std::string> kept_documents() {
    settle_test::documents kept{settle_test::replica_set_address};
    auto engine = aggregates::engine_of<Listed>(settle_test::opened(kept.own.address()));
    aggregates::run_payments<Listed>(engine);
    return {kept.look("invoices", "i1"), kept.look("invoices", "i2"),
            kept.look("settle_entries", "restore",
                      R"({"definition": 1, "parameters": 1, "images": 1})")};
}

} // namespace

TEST_CASE("aggregates: a listed and an unlisted struct are the same in MongoDB") {
    auto const documents = kept_documents<false>();
    CHECK(documents == kept_documents<true>());
    std::string all;
    for (auto const& r : documents) all += r + "\n";
    MESSAGE(all);
}
