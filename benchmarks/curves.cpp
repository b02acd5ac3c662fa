// SPDX-License-Identifier: BSL-1.0
// Costs over the size of a batch, the number of participants, the share of hot records, the number
// of threads and the size of the store: a file of numbers for each curve, drawn by curves.gp.
#include "curves.hpp"
#include "growth.hpp"
#include "participants.hpp"
#include "sqlite_rounds.hpp"

namespace bench {

namespace {

using baseline::log_layout;
using baseline::marks;

/// Work of a moderate duration: small batches sync more often.
workload work_of_window(std::size_t window) {
    return make_workload({.transfers = window < 10 ? 500U : window < 100 ? 5'000U : 20'000U});
}

void add_batch_sizes(std::string const& path) {
    for (std::size_t const window : {1U, 10U, 100U, 1'000U, 10'000U}) {
        auto const work = std::make_shared<workload const>(work_of_window(window));
        auto const add = [&](std::string const& line, auto&& round) {
            add_point({"batch_size", line, static_cast<double>(window),
                       static_cast<double>(work->requests.size()), round});
        };
        add("settle, one phase", [=] { return one_phase_round(path, *work, window); });
        add("by hand, one phase",
            [=] { return one_phase_by_hand(path, *work, window, log_layout::by_id); });
        add("settle, two phases", [=] { return two_phases_round(path, *work, window); });
        add("the tutorial by hand",
            [=] { return tutorial_round(path, *work, window, marks::table, log_layout::by_id); });
    }
}

void add_hot_shares(std::string const& path) {
    for (unsigned const percent : {0U, 25U, 50U, 75U, 90U, 99U}) {
        auto const work = std::make_shared<workload const>(
            make_workload({.transfers = 20'000, .hot_percent = percent}));
        auto const add = [&](std::string const& line, auto&& round) {
            add_point({"hot_share", line, static_cast<double>(percent),
                       static_cast<double>(work->requests.size()), round});
        };
        add("settle, one phase", [=] { return one_phase_round(path, *work, usual_window); });
        add("settle, two phases", [=] { return two_phases_round(path, *work, usual_window); });
        add("the tutorial, marks in a table", [=] {
            return tutorial_round(path, *work, usual_window, marks::table, log_layout::by_id);
        });
        add("the tutorial, marks in JSON", [=] {
            return tutorial_round(path, *work, usual_window, marks::column, log_layout::by_id);
        });
    }
}

void add_thread_counts(std::string const& path) {
    auto const work = std::make_shared<workload const>(make_workload({.transfers = 2'560}));
    for (std::size_t const threads : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
        auto const add = [&](std::string const& line, auto&& round) {
            add_point({"threads", line, static_cast<double>(threads),
                       static_cast<double>(work->requests.size()), round});
        };
        add("settle, one phase", [=] { return threads_round(path, *work, threads); });
        add("by hand, a mutex", [=] { return threads_by_mutex(path, *work, threads); });
    }
}

void add_participant_counts(std::string const& path) {
    for (std::size_t const participants : {2U, 5U, 10U, 20U, 50U, 100U}) {
        auto const work =
            std::make_shared<spread_work const>(make_spread_work(participants, 50'000));
        auto const add = [&](std::string const& line, auto&& round) {
            add_point({"participants", line, static_cast<double>(participants),
                       static_cast<double>(work->requests.size()), round});
        };
        add("settle, one phase", [=] { return spread_round(path, *work, settle::phases::one); });
        add("by hand, one phase", [=] { return spread_by_hand(path, *work); });
        add("settle, two phases", [=] { return spread_round(path, *work, settle::two_phases); });
    }
}

void add_growth(std::string const& path) {
    auto const add = [&](content kind, std::string const& line, std::size_t most) {
        for (std::size_t count = 100; count <= most; count *= 10) {
            // The work is made in the round: all points together would fill the memory.
            add_point({"growth", line, static_cast<double>(count),
                       static_cast<double>(counted_transfers),
                       [=] { return growth_round(path, make_growth(kind, count)); }});
        }
    };
    add(content::records, "records", 1'000'000);
    add(content::finished, "finished entries", 10'000'000);
    add(content::unfinished, "unfinished entries", 100'000);
    add(content::marks, "marks on the record of all", 100'000);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
    std::string path;
    int const code = bench::draw_curves(argc, argv, [&](std::string const& folder) {
        path = folder + "/curves.db";
        bench::add_batch_sizes(path);
        bench::add_hot_shares(path);
        bench::add_thread_counts(path);
        bench::add_participant_counts(path);
        bench::add_growth(path);
    });
    if (!path.empty()) bench::erase_file(path);
    return code;
}
