// SPDX-License-Identifier: BSL-1.0
// The peak memory of the transfer application for a file of many orders.
#include "child.hpp"
#include "sqlite_files.hpp"

#include <fstream>
#include <random>

namespace bench {

namespace {

constexpr std::size_t account_count = 1'000;

/// Payment orders in the format of the application. All orders of a full run, kept in memory, would
/// exceed the limit.
void write_orders(std::string const& path, std::size_t count) {
    std::mt19937_64 chance{20251121};
    std::ofstream file{path};
    file << "id,source,destination,amount\n";
    // The first lines name every account, so that a short file opens them all.
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t const source = i < account_count ? i : chance() % account_count;
        std::size_t const step = 1 + chance() % (account_count - 1);
        file << "order-" << i << ",account-" << source << ",account-"
             << (source + step) % account_count << ',' << 1 + chance() % 100 << ".00\n";
    }
    if (!file.flush()) throw wrong_result("cannot write " + path);
}

child_usage expect_success(std::vector<std::string> const& command) {
    auto const used = run_child(command);
    if (used.exit_code == 0) return used;
    throw wrong_result(command.front() + " " + command[3] + " ended with exit code " +
                       std::to_string(used.exit_code));
}

// This case runs first: the kernel counts this process's own peak as the child's peak.
add_case const peak{
    1, "peak memory of the transfer application", [](context& context, std::string const& name) {
        std::size_t const count = context.size(1'000'000, 20'000);
        std::string const orders = context.file("orders.csv");
        std::string const few = context.file("few_orders.csv");
        std::string const path = context.file("peak.db");
        std::string const program = SETTLE_TRANSFER_PROGRAM;
        erase_file(path);
        write_orders(orders, count);
        write_orders(few, account_count);
        std::string const store = "sqlite:" + path;
        expect_success({program, "--store", store, "open", few, "--balance", "1000000.00"});
        auto const used = expect_success({program, "--store", store, "run", orders});
        expect_success({program, "--store", store, "check"});
        check_count(path, "SELECT count(*) FROM settle_entries", count);
        context.add(
            row_of_limit(name + (context.quick() ? ", 20,000 orders" : ", 1,000,000 orders"), "MiB",
                         used.peak_mebibytes, 64));
        erase_file(path);
        std::filesystem::remove(orders);
        std::filesystem::remove(few);
    }};

} // namespace

} // namespace bench
