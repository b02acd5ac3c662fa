// SPDX-License-Identifier: BSL-1.0
// The sample of trips and its four services are killed at random moments. Afterwards each trip is
// whole, or it never was, in all five files.
#include <kill_settings.hpp>
#include <log_growth.hpp>
#include <trip_services.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

namespace trip_kill_test {

namespace {

using testing::program;
using testing::scratch_folder;
using testing::trip_services;

/// The first lines of the sample's orders.
std::string orders(scratch_folder const& folder, std::size_t count) {
    std::ifstream file{testing::data_file("trip/orders.csv")};
    std::string text;
    std::string line;
    for (std::size_t i = 0; i <= count && std::getline(file, line); ++i) text += line + "\n";
    return folder.write("orders.csv", text);
}

/// An agency with its services, which are killed until all orders have ended.
class victim {
public:
    static constexpr std::size_t lines = 150;
    static constexpr std::size_t trips = 145; ///< the other lines are refused

    victim(scratch_folder const& folder, std::mt19937_64& chance)
        : services_(folder), input_(orders(folder, lines)), chance_(&chance) {
        auto const opened = services_.call({"open", input_, "--balance", "3000.00"});
        REQUIRE_MESSAGE(opened.code == 1, opened.out << opened.err);
    }

    /// Runs the orders, and kills programs meanwhile. Returns the number of kills.
    /// Shape:   limit - at most so many
    std::size_t strike(std::size_t limit) {
        std::size_t killed = 0;
        bool const waits = ++strikes_ % 2 == 0;
        std::string const log = services_.file("trip");
        auto const before = waits ? testing::entries_in(log) : 0;
        auto running = services_.begin(run_arguments());
        auto const has_ended = [&] { return running->has_ended(); };
        bool const grown = waits && testing::wait_for_entries(log, before, has_ended);
        bool under_way = true;
        while (under_way && killed < limit) {
            wait(250'000);
            under_way = !running->has_ended();
            if (!under_way) break;
            // The fifth process is the program itself; now and then all of them are killed.
            auto const which = chance() % (trip_services::count + 2);
            for (std::size_t index = 0; index < trip_services::count; ++index) {
                if (which != index && which != trip_services::count + 1) continue;
                if (!services_.runs(index)) continue;
                services_.kill(index);
                ++killed;
            }
            if (which >= trip_services::count) {
                running->signal(SIGKILL);
                ++killed;
                under_way = false;
            }
            // Most services come back soon, some stay away until the end.
            if (chance() % 3 != 0) {
                wait(60'000);
                for (std::size_t at = 0; at < trip_services::count; ++at) {
                    if (!services_.runs(at)) services_.start(at);
                }
            }
        }
        if (under_way) running->signal(SIGKILL);
        auto const how = running->wait();
        if (how.signal == 0) {
            // 1: refused lines; 3: a service was away for too long, which leaves something open.
            CHECK_MESSAGE((how.code == 1 || how.code == 3), how.out << how.err);
            through_ = how.code == 1;
        } else if (under_way) {
            ++killed;
        }
        if (grown) at_work_ += killed;
        if (chance() % 4 == 0) killed += strike_settling();
        return killed;
    }

    /// Starts everything again: every trip ends, and all five files agree.
    void settle() {
        services_.start_missing();
        auto const settled = services_.call({"recover", "check"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        REQUIRE(settled.out.starts_with("recovered: "));
        if (!settled.out.starts_with("recovered: 0 done, 0 canceled, ")) ++unfinished_;
        for (auto const& row : services_.ask_all("SELECT id, state FROM settle_entries")) {
            bool const over = row[1] == "done" || row[1] == "canceled";
            if (!over) FAIL_CHECK(row[0] << " is " << row[1]);
            // A final entry never changes.
            auto const before = ends_.emplace(row[0], row[1]).first;
            if (before->second != row[1]) {
                FAIL_CHECK(row[0] << " was " << before->second << " and is " << row[1]);
            }
        }
        for (auto const& row : services_.faults()) {
            FAIL_CHECK(row[0] << " at " << row[1] << ": " << row[2] << ", " << row[3]);
        }
    }

    /// Runs the rest of the file: every order is done or canceled once.
    void finish() {
        auto const last = services_.call({"run", input_});
        CHECK_MESSAGE(last.code == 1, last.out << last.err);
        settle();
        CHECK(ends_.size() == trips);
    }

    [[nodiscard]] bool through() const { return through_; }
    /// How many kills of a strike came after the program had added an entry to the log.
    [[nodiscard]] std::size_t at_work() const { return at_work_; }
    /// How often settle() found an unfinished entry.
    [[nodiscard]] std::size_t unfinished() const { return unfinished_; }

private:
    std::uint64_t chance() { return (*chance_)(); }
    void wait(std::uint64_t longest) {
        std::this_thread::sleep_for(std::chrono::microseconds{chance() % longest});
    }

    std::vector<std::string> run_arguments() {
        std::vector<std::string> arguments{"run", input_};
        constexpr char const* batches[]{"1", "3", "10", "40"};
        arguments.insert(arguments.end(), {"--batch", batches[chance() % 4]});
        if (chance() % 4 == 0) arguments.insert(arguments.end(), {"--threads", "3"});
        return arguments;
    }

    /// Kills a program that settles the rest, and a service with it.
    std::size_t strike_settling() {
        services_.start_missing();
        auto const settling = services_.begin({"recover"});
        wait(80'000);
        std::size_t killed = 0;
        if (!settling->has_ended()) {
            settling->signal(SIGKILL);
            ++killed;
        }
        settling->wait();
        services_.kill(chance() % trip_services::count);
        return killed + 1;
    }

    trip_services services_;
    std::string input_;
    std::mt19937_64* chance_;
    bool through_ = false;
    std::size_t strikes_ = 0;
    std::size_t at_work_ = 0;
    std::size_t unfinished_ = 0;
    std::map<std::string, std::string> ends_; ///< every state that was final once
};

/// Kills often, and checks everything after each round. A finished file is replaced by a new one.
/// The rounds go on until a third of the kills has hit a program at work, and a later program has
/// found an unfinished entry.
void kill_often(std::size_t kills) {
    std::uint64_t const from = testing::seed();
    std::mt19937_64 chance{from};
    std::size_t struck = 0;
    std::size_t at_work = 0;
    std::size_t unfinished = 0;
    auto const goes_on = [&](std::size_t more_at_work, std::size_t more_unfinished) {
        return struck < kills || at_work + more_at_work < kills / 3 ||
               unfinished + more_unfinished == 0;
    };
    for (int round = 0; goes_on(0, 0); ++round) {
        scratch_folder const folder{"kill-trip-" + std::to_string(round)};
        victim victim{folder, chance};
        while (goes_on(victim.at_work(), victim.unfinished()) && !victim.through()) {
            INFO("killed " << struck << " of " << kills << " times, seed " << from);
            struck += victim.strike(kills > struck ? std::min<std::size_t>(kills - struck, 4) : 4);
            victim.settle();
        }
        victim.finish();
        at_work += victim.at_work();
        unfinished += victim.unfinished();
    }
    MESSAGE("killed " << struck << " times, " << at_work << " times at work; left unfinished "
                      << "entries " << unfinished << " times");
}

} // namespace

TEST_CASE("kills: trip and its services are killed 60 times, and each trip is whole or never was") {
    kill_often(60);
}

TEST_CASE("long: kills: trip and its services are killed often") {
    kill_often(testing::kills(200));
}

} // namespace trip_kill_test
