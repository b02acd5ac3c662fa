// SPDX-License-Identifier: BSL-1.0
// Payments of structs that SETTLE_STRUCT lists, and of the same structs without it. They are
// compiled once, over any_database, for the tests that compare what each store keeps of them.
#pragma once

#include <settle/adapter/any_database.hpp>

#include <string>
#include <vector>

namespace aggregates {

/// Leaves two invoices in an empty database, and an entry 'restore' with images.
/// Returns: both invoices, and the entry's parameters and new image, as the engine reads them
std::vector<std::string> run_payments(settle::any_database& db, bool are_listed);

/// The parameters of the entry 'restore'.
inline std::string const restored_parameters =
    R"({"id":"i2","amount":0,"replacement":{"id":"i2","total":9,"checked":true,"state":0,)"
    R"("due":86400,"note":"ä","home":{"street":"Hill","door":7},"lines":[],)"
    R"("counts":[1,-1]},"lines":[]})";

} // namespace aggregates
