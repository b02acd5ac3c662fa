// SPDX-License-Identifier: BSL-1.0
// The sample of two banks and both servers are killed at random moments. Afterwards each transfer
// stands in both banks or in none, and nothing is in doubt.
#include "two_banks.hpp"

#include <kill_settings.hpp>

#include <algorithm>
#include <random>

using namespace settle_test;
using namespace std::chrono_literals;

namespace {

/// Two banks, killed until all orders have ended.
class killed_banks {
public:
    static constexpr std::size_t of_each = 80;
    static constexpr char const* foreign = "settle-of-another-program";

    killed_banks(testing::scratch_folder const& folder, std::mt19937_64& chance)
        : folder_{&folder}, banks_{folder}, input_{orders_of_both(folder, of_each)},
          chance_{&chance} {
        auto const opened = banks_.call({"open", input_, "--balance", "900.00"});
        REQUIRE_MESSAGE(opened.code == 0, opened.out << opened.err);
        prepare_foreign();
    }

    /// Runs the orders and kills the program, now and then the server. Returns the number of kills.
    std::size_t strike() {
        auto const before = banks_.states().size();
        auto const running = banks_.begin(run_arguments());
        // In every other call the program is at work before the first kill.
        if (++strikes_ % 2 == 0) {
            while (banks_.states().size() == before && !running->has_ended()) pause(2'000);
            pause(100'000);
        } else {
            pause(700'000);
        }
        std::size_t killed = 0;
        if (auto const which = chance() % 6; which < 3) {
            // The ledger's server twice as often as the other.
            kill_server(which == 0);
            ++killed;
            pause(500'000);
            // The program continues with the restarted server.
            if (chance() % 2 == 0) start_servers();
            pause(700'000);
        }
        if (!running->has_ended()) {
            running->signal(SIGKILL);
            ++killed;
        }
        auto const how = running->wait();
        if (how.signal == 0) CHECK_MESSAGE((how.code == 0 || how.code == 3), how.out << how.err);
        through_ = how.signal == 0 && how.code == 0;
        start_servers();
        left_ += banks_.in_doubt().size() - 1;
        if (chance() % 4 == 0) killed += strike_settling();
        return killed;
    }

    /// Every transaction ends, and both servers agree.
    void settle() {
        auto const settled = banks_.call({"recover", "check", "doubts"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        CHECK_MESSAGE(settled.out.find("\n0 in doubt\n") != std::string::npos, settled.out);
        CHECK(banks_.sum("balance") == banks_.sum("opened_with"));
        // The servers' own list has the foreign name alone.
        CHECK(banks_.in_doubt() == std::vector<std::string>{foreign});
        std::vector<std::string> done;
        for (auto const& [id, state] : banks_.states()) {
            if (state == "done") done.push_back(id);
            else if (state != "canceled") FAIL_CHECK(id << " is " << state);
            // A final entry never changes.
            auto const before = ends_.emplace(id, state).first;
            if (before->second != state) {
                FAIL_CHECK(id << " was " << before->second << " and is " << state);
            }
        }
        std::sort(done.begin(), done.end());
        auto booked = banks_.booked();
        std::sort(booked.begin(), booked.end());
        CHECK(booked == done);
    }

    /// Runs the rest of the file: every order is done or canceled once.
    void finish() {
        auto const last = banks_.call({"run", input_});
        CHECK_MESSAGE(last.code == 0, last.out << last.err);
        settle();
        CHECK(ends_.size() == 2 * of_each);
        mariadb_session{banks_.second.address()}.ask("XA ROLLBACK '" + std::string{foreign} + "'");
        CHECK(banks_.in_doubt().empty());
    }

    [[nodiscard]] bool through() const { return through_; }
    /// How many names the kills have left in doubt.
    [[nodiscard]] std::size_t left() const { return left_; }

private:
    std::uint64_t chance() { return (*chance_)(); }
    void pause(std::uint64_t longest) {
        std::this_thread::sleep_for(std::chrono::microseconds{chance() % longest});
    }
    void kill_server(bool first) {
        if (first) banks_.first.kill();
        else banks_.second.kill();
    }
    void start_servers() {
        if (!banks_.first.running()) banks_.first.start();
        if (!listens_at(banks_.second.port())) banks_.second.start();
    }

    std::vector<std::string> run_arguments() {
        std::vector<std::string> command{"run", input_};
        if (chance() % 4 == 0) command.insert(command.end(), {"--batch", "4"});
        if (chance() % 2 == 0) command.insert(command.end(), {"--threads", "4"});
        return command;
    }

    /// Kills a program that settles the rest.
    std::size_t strike_settling() {
        auto const settling = banks_.begin({"recover"});
        pause(400'000);
        bool const under_way = !settling->has_ended();
        if (under_way) settling->signal(SIGKILL);
        settling->wait();
        return under_way ? 1 : 0;
    }

    /// MariaDB's own client prepares a native transaction, and ends.
    void prepare_foreign() {
        std::string const name{foreign};
        auto const prepared =
            testing::program{*folder_,
                             {"/usr/bin/mariadb", "--no-defaults", "--host=127.0.0.1",
                              "--port=" + std::to_string(banks_.second.port()), "--user=root",
                              "test", "-e",
                              "CREATE TABLE other (id INT PRIMARY KEY); XA START '" + name +
                                  "'; INSERT INTO other VALUES (1); XA END '" + name +
                                  "'; XA PREPARE '" + name + "'"}}
                .wait();
        REQUIRE_MESSAGE(prepared.code == 0, prepared.out << prepared.err);
        REQUIRE(banks_.in_doubt() == std::vector<std::string>{name});
    }

    testing::scratch_folder const* folder_;
    two_banks banks_;
    std::string input_;
    std::mt19937_64* chance_;
    bool through_ = false;
    std::size_t strikes_ = 0;
    std::size_t left_ = 0;
    std::map<std::string, std::string> ends_; ///< every state that was final once
};

/// Kills often, and checks everything after each round. A finished file is replaced by a new one.
/// The rounds go on until a name has been left in doubt.
void kill_often(std::size_t kills) {
    std::uint64_t const from = testing::seed();
    std::mt19937_64 chance{from};
    std::size_t struck = 0;
    std::size_t left = 0;
    for (int round = 0; struck < kills || left == 0; ++round) {
        testing::scratch_folder const folder{"kill-books-" + std::to_string(round)};
        killed_banks banks{folder, chance};
        while ((struck < kills || left + banks.left() == 0) && !banks.through()) {
            INFO("killed " << struck << " of " << kills << " times, seed " << from);
            struck += banks.strike();
            if (chance() % 2 == 0) banks.settle();
        }
        banks.finish();
        left += banks.left();
    }
    MESSAGE("killed " << struck << " times, " << left << " names left in doubt");
}

} // namespace

TEST_CASE("kills: books and both servers are killed 20 times, and each transfer is in both banks "
          "or in none") {
    kill_often(20);
}

TEST_CASE("long: kills: books and both servers are killed often") {
    kill_often(testing::kills(200));
}
