// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the receiver on SQLite: an airline with a clock of its own.
#pragma once

#include "sqlite_file.hpp"

#include <receiver_service.hpp>

#include <settle/testing/manual_environment.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sqlite_receiver_test {

using namespace airline;
using settle::errc;
using settle::receiver;
using settle::receiver_options;
using settle::testing::manual_environment;
using sqlite_test::contains;
using sqlite_test::folder;
using sqlite_test::refusal;
using sqlite_test::sql_value;
using std::chrono::milliseconds;

/// An airline with ten free seats.
struct office {
    explicit office(std::string const& path) : db(path, "airline") { create_tables(db, 10); }

    receiver_database db;
    manual_environment clock;
    receiver<receiver_database, manual_environment> airline_receiver{db, {}, clock};
};

/// A handler whose apply is a function.
template <typename Apply>
struct applying {
    Apply apply;
    service_answer compensate(receiver_session&, service_call const&) const {
        return service_answer::ok();
    }
};
template <typename Apply>
applying(Apply) -> applying<Apply>;

inline std::optional<receiver_status> status_of(office& in, std::string_view key) {
    auto const row = in.airline_receiver.find(key).value();
    if (!row) return std::nullopt;
    return row->standing.status;
}

} // namespace sqlite_receiver_test
