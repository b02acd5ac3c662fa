// SPDX-License-Identifier: BSL-1.0
// MariaDB: one phase and two phases on one server, against the same work with libmariadb.
#include "baseline/mariadb_programs.hpp"
#include "mariadb_bank.hpp"
#include "server_rounds.hpp"

#include <settle/mariadb.hpp>

#include <memory>

namespace bench {

namespace {

using baseline::mariadb::one_phase;
using baseline::mariadb::tutorial;

double settle_on_mariadb(workload const& work, mode timed, settle::phases phases) {
    mariadb_bank const bank{work};
    return settle_round<settle::mariadb::database>(bank, work, timed, phases);
}

/// Shape:   connections - that 64 threads share
double one_phase_by_hand(workload const& work, mode timed, std::size_t connections = 1) {
    mariadb_bank const bank{work, {baseline::mariadb::log_sql()}};
    auto const make = [&] { return std::make_unique<one_phase>(bank.port(), bank.name()); };
    return round_by_hand(bank, work, timed, make, connections);
}

double tutorial_by_hand(workload const& work, mode timed) {
    mariadb_bank const bank{work, {baseline::mariadb::log_sql(), tutorial::mark_sql()}};
    auto const make = [&] { return std::make_unique<tutorial>(bank.port(), bank.name()); };
    double const seconds = round_by_hand(bank, work, timed, make);
    bank.check_count("mark", 0);
    return seconds;
}

add_case make_case(int number, std::string const& kind, mode timed, settle::phases phases,
                   sizes const& sizes, double budget) {
    bool const in_one = phases == settle::phases::one;
    return {
        number, (in_one ? "MariaDB, one phase, " : "MariaDB, two phases, ") + kind,
        [=](context& context, std::string const& name) {
            if (!has_mariadb()) return;
            auto const work = work_of(context.size(sizes.full, sizes.quick));
            std::vector<side> baselines;
            if (timed == mode::threads) {
                for (std::size_t const connections : {detail::thread_count, pool_size}) {
                    baselines.push_back(
                        {std::to_string(connections) + " connections",
                         [&, connections] { return one_phase_by_hand(work, timed, connections); }});
                }
            } else if (in_one) {
                baselines.push_back(
                    {"native transaction", [&] { return one_phase_by_hand(work, timed); }});
            } else {
                baselines.push_back({"tutorial", [&] { return tutorial_by_hand(work, timed); }});
            }
            compare(context, name, work,
                    {"settle", [&] { return settle_on_mariadb(work, timed, phases); }},
                    std::move(baselines), budget, timed == mode::threads ? detail::warm_up : 0);
        }};
}

add_case const all[] = {
    make_case(75, "one at a time", mode::one_at_a_time, settle::phases::one, {2'000, 600}, 1.15),
    make_case(76, "batches of 1,000", mode::batches, settle::phases::one, {30'000, 10'000}, 1.20),
    make_case(77, "64 threads", mode::threads, settle::phases::one, {6'400, 1'920}, 0.45),
    make_case(78, "one at a time", mode::one_at_a_time, settle::two_phases, {600, 200}, 0.85),
    make_case(79, "batches of 1,000", mode::batches, settle::two_phases, {10'000, 5'000}, 1.45),
};

} // namespace

} // namespace bench
