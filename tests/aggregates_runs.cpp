// SPDX-License-Identifier: BSL-1.0
#include "aggregates_runs.hpp"

#include "aggregates_suite.hpp"

#include <doctest/doctest.h>

namespace aggregates {
namespace {

template <bool Listed>
std::vector<std::string> run(settle::any_database& db) {
    settle::engine engine{db, settle::type<pay_type<Listed>>, settle::type<restore_type<Listed>>,
                          settle::type<credit_type<Listed>>};
    auto other = first_invoice<Listed>();
    other.id = "i2";
    engine.create(invoices<Listed>, first_invoice<Listed>()).value();
    engine.create(invoices<Listed>, other).value();
    other.total = 9;
    other.lines.clear();
    using listed_payment = payment<Listed>;
    auto const paid =
        engine.template run<pay_type<Listed>>("pay", listed_payment{"i1", 120, other, {}});
    CHECK(paid.verdict == settle::verdict::done);
    auto const again =
        engine.template run<pay_type<Listed>>("again", listed_payment{"i1", 1, {}, {}});
    CHECK(again.verdict == settle::verdict::canceled);
    auto const restored =
        engine.template run<restore_type<Listed>>("restore", listed_payment{"i2", 0, other, {}});
    CHECK(restored.verdict == settle::verdict::done);
    auto const credited = engine.template run<credit_type<Listed>>(
        "credit", listed_payment{"", 0, {}, {{"i1", 3, {}}, {"i2", 4, 1}}});
    CHECK(credited.verdict == settle::verdict::done);
    auto const entry = engine.find("restore").value().value();
    return {settle::encode_json(engine.at(invoices<Listed>, "i1")),
            settle::encode_json(engine.at(invoices<Listed>, "i2")), entry.parameters,
            entry.images.at(0).after};
}

} // namespace

std::vector<std::string> run_payments(settle::any_database& db, bool are_listed) {
    return are_listed ? run<true>(db) : run<false>(db);
}

} // namespace aggregates
