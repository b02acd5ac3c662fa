// SPDX-License-Identifier: BSL-1.0
// The applications killed at random moments: after each the rest settles, and the sum is exact.
#include <program.hpp>

#include <settle/settle.hpp>
#include <settle/sqlite.hpp>

#include <transfer/transfer.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>

namespace {

using testing::ended;
using testing::program;
using testing::run_sample;
using testing::scratch_folder;

/// The first orders of the bank's file: enough for a kill to land in the middle of any step.
std::string first_orders(scratch_folder const& folder, std::size_t count) {
    std::ifstream all{testing::data_file("transfer/payment_orders.csv")};
    std::string text;
    std::string line;
    for (std::size_t i = 0; i <= count && std::getline(all, line); ++i) text += line + "\n";
    return folder.write("orders.csv", text);
}

/// A seed from SETTLE_SEED, so that a failing run can be had again, or from the device.
std::uint64_t seed() {
    char const* const given = std::getenv("SETTLE_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

struct killed_bank {
    scratch_folder folder;
    std::string store;
    std::string orders;
    std::size_t count;

    killed_bank(std::string const& name, std::size_t how_many)
        : folder(name), store("sqlite:" + folder.at("bank.db")),
          orders(first_orders(folder, how_many)), count(how_many) {
        auto const opened = run_sample(folder, "transfer", {"--store", store, "open", orders,
                                                            "--balance", "1000.00"});
        REQUIRE_MESSAGE(opened.code == 0, opened.err);
    }

    [[nodiscard]] std::vector<std::string> run_words() const {
        return {std::string{SETTLE_BIN_DIR} + "/transfer", "--store", store, "run", orders};
    }

    /// Every order of the file done or canceled once, the sum unchanged, no mark, nothing open.
    void check_end(std::map<std::string, settle::state> const& told) {
        auto const checked = run_sample(folder, "transfer", {"--store", store, "check"});
        CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
        settle::sqlite::database db{folder.at("bank.db")};
        settle::engine engine{db, settle::type<bank::transfer_type>};
        std::size_t seen = 0;
        for (auto const& entry : engine.list()) {
            ++seen;
            CHECK(is_final(entry.state));
            auto const before = told.find(entry.id);
            if (before != told.end()) CHECK(before->second == entry.state);
        }
        CHECK(seen == count);
    }

    /// What is final after a kill stays as it is for ever.
    void note_final(std::map<std::string, settle::state>& told) const {
        settle::sqlite::database db{folder.at("bank.db")};
        settle::engine engine{db, settle::type<bank::transfer_type>};
        for (auto const& entry : engine.list()) {
            if (!is_final(entry.state)) continue;
            auto const [at, fresh] = told.emplace(entry.id, entry.state);
            if (!fresh) CHECK(at->second == entry.state);
        }
        CHECK(engine.marks().has_value());
    }
};

/// Starts programs on one file, kills them all after a random while, again and again.
void kill_often(killed_bank& here, std::size_t programs, std::size_t kills, std::uint64_t from) {
    std::mt19937_64 chance{from};
    std::map<std::string, settle::state> told;
    for (std::size_t killed = 0; killed < kills; ++killed) {
        INFO("kill " << killed << " of " << kills << ", seed " << from);
        std::vector<std::unique_ptr<program>> running;
        for (std::size_t i = 0; i < programs; ++i) {
            running.push_back(std::make_unique<program>(here.folder, here.run_words()));
        }
        // From before the file is open to the middle of any step of any order.
        std::this_thread::sleep_for(std::chrono::microseconds{chance() % 60'000});
        for (auto& one : running) one->signal(SIGKILL);
        for (auto& one : running) one->wait();
        if (killed % 10 == 0) here.note_final(told);
    }
    auto const last =
        run_sample(here.folder, "transfer", {"--store", here.store, "run", here.orders});
    CHECK_MESSAGE(last.code == 0, last.out << last.err);
    here.check_end(told);
}

} // namespace

TEST_CASE("transfer killed 50 times: every order is done or canceled once, and the sum is exact") {
    killed_bank here{"kill-one", 1500};
    std::uint64_t const from = seed();
    kill_often(here, 1, 50, from);
}

TEST_CASE("three transfer programs on one file, killed 10 times") {
    killed_bank here{"kill-three", 600};
    std::uint64_t const from = seed();
    kill_often(here, 3, 10, from);
}

TEST_CASE("long: transfer killed 200 times, alone and in threes") {
    std::uint64_t const from = seed();
    killed_bank alone{"kill-long-one", 4000};
    kill_often(alone, 1, 150, from);
    killed_bank three{"kill-long-three", 1500};
    kill_often(three, 3, 50, from + 1);
}

TEST_CASE("payment killed 20 times: orders, stock, takings and balances agree") {
    scratch_folder const folder{"kill-shop"};
    auto const invoices = testing::data_file("payment/online_retail.csv");
    std::string const store = "sqlite:" + folder.at("shop.db");
    auto const opened = run_sample(folder, "payment", {"--store", store, "open", invoices,
                                                       "--balance", "2000.00", "--stock", "1000"});
    // The file holds invoices that are no orders, which is what exit code 1 says.
    REQUIRE_MESSAGE(opened.code == 1, opened.err);
    std::uint64_t const from = seed();
    std::mt19937_64 chance{from};
    for (int killed = 0; killed < 20; ++killed) {
        INFO("kill " << killed << ", seed " << from);
        program one{folder, {std::string{SETTLE_BIN_DIR} + "/payment", "--store", store, "run",
                             invoices}};
        std::this_thread::sleep_for(std::chrono::microseconds{chance() % 80'000});
        one.signal(SIGKILL);
        one.wait();
    }
    auto const last = run_sample(folder, "payment", {"--store", store, "run", invoices});
    CHECK_MESSAGE(last.code == 1, last.out << last.err);
    auto const checked = run_sample(folder, "payment", {"--store", store, "check"});
    CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
}
