// SPDX-License-Identifier: BSL-1.0
// The types of a SQL server, for the checks that several servers share.
#pragma once

#include "patiently.hpp"

namespace settle_test {

/// Shape:   Database, Options - of the adapter; Place - a new database of the server, or a schema;
///          Session - of another program
template <typename Database, typename Options, typename Place, typename Session>
struct sql_fixture {
    using database = Database;
    using options = Options;
    using place = Place;
    using session = Session;

    static Options patient_limits() { return settle_test::patient_limits<Options>(); }
};

} // namespace settle_test
