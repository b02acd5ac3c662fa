// SPDX-License-Identifier: BSL-1.0
// Unfinished transactions in a SQLite file, left by a worker that ended.
#pragma once

#include "settle_side.hpp"

#include <settle/testing/faults.hpp>

namespace bench {

/// Runs transactions in two phases, window by window, and ends their worker before a step of each.
/// Shape:   before - "commit": they stay pending; "confirm": they stay applied. All have marks
inline void leave_unfinished(std::string const& path, std::span<transfer_request const> requests,
                             std::string_view before) {
    using settle::testing::fault;
    using settle::testing::fault_kind;
    settle::sqlite::database db{path};
    settle::testing::faulty faulty_db{db};
    while (!requests.empty()) {
        auto const window = requests.first(std::min(usual_window, requests.size()));
        requests = requests.subspan(window.size());
        faulty_db.plan([before](settle::testing::call const& call) {
            return call.what == before ? fault{fault_kind::crash_before} : fault{};
        });
        auto engine = make_two_phases<transfer_type>(faulty_db);
        bool ended = false;
        try {
            static_cast<void>(
                engine.run_all(window, settle::batch_options{.window = usual_window}));
        } catch (settle::testing::crash const&) {
            ended = true;
        }
        if (!ended) throw wrong_result("settle: no crash came, so all transactions have ended");
    }
}

} // namespace bench
