// SPDX-License-Identifier: BSL-1.0
// SQLite: a file of orders that is run again.
#include "sqlite_rounds.hpp"

namespace bench {

namespace {

/// Three of four transfers use one of ten accounts, and so share it with others of their window.
workload work_of(context const& context) {
    return make_workload({.transfers = context.size(50'000, 10'000), .hot_percent = 50});
}

add_case const one_phase{
    61, "SQLite, one phase, repeated", [](context& context, std::string const& name) {
        workload const work = work_of(context);
        std::string const path = context.file("repeated.db");
        compare_repeated(context, name, work.requests.size(), [&](timed_run timed) {
            return one_phase_round(path, work, usual_window, timed);
        });
        erase_file(path);
    }};

add_case const two_phases{
    62, "SQLite, two phases, repeated", [](context& context, std::string const& name) {
        workload const work = work_of(context);
        std::string const path = context.file("repeated.db");
        compare_repeated(context, name, work.requests.size(), [&](timed_run timed) {
            return two_phases_round(path, work, usual_window, timed);
        });
        erase_file(path);
    }};

} // namespace

} // namespace bench
