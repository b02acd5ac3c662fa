// SPDX-License-Identifier: BSL-1.0
// The applications killed at random moments: after each the rest settles, and the sum is exact.
#include <kill_settings.hpp>
#include <log_growth.hpp>
#include <program.hpp>
#include <sql.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>

namespace {

using testing::ask;
using testing::ended;
using testing::program;
using testing::run_sample;
using testing::scratch_folder;

/// A sample program and its input.
struct sample {
    std::string name;
    std::string input;
    std::vector<std::string> opening; ///< arguments of `open` besides the file
    int code;                         ///< of `open` and `run`: 1 when the file holds unusable lines
    std::size_t transactions;         ///< how many the file holds
    std::vector<std::string> batches; ///< sizes that a kill lands in the middle of
    /// Compares the records with the done entries of the log; each row is a difference.
    std::string differences;
};

/// The first orders of the bank's file: enough for a kill to land in the middle of any step.
sample bank(scratch_folder const& folder, std::size_t count) {
    std::ifstream input{testing::data_file("transfer/payment_orders.csv")};
    std::string text;
    std::string line;
    for (std::size_t i = 0; i <= count && std::getline(input, line); ++i) text += line + "\n";
    return {"transfer",
            folder.write("orders.csv", text),
            {"--balance", "1000.00"},
            0,
            count,
            {"7", "40", "200", "1000"},
            "WITH moved(id, amount) AS ("
            "SELECT parameters ->> 'source', -(parameters ->> 'amount') FROM settle_entries "
            "WHERE state = 'done' UNION ALL "
            "SELECT parameters ->> 'destination', parameters ->> 'amount' FROM settle_entries "
            "WHERE state = 'done' UNION ALL SELECT id, opened_with - balance FROM accounts) "
            "SELECT id, sum(amount) FROM moved GROUP BY id HAVING sum(amount) <> 0"};
}

/// The shop with its whole file: 400 invoices and 43 refunds.
sample shop() {
    return {"payment",
            testing::data_file("payment/online_retail.csv"),
            {"--balance", "2000.00", "--stock", "1000"},
            1,
            443,
            {"3", "20", "100"},
            "WITH entry AS MATERIALIZED (SELECT iif(type = 'payment', 1, -1) AS sign, "
            "parameters FROM settle_entries WHERE state = 'done'), "
            "moved(what, amount) AS ("
            "SELECT 'order ' || (parameters ->> 'invoice'), 1 FROM entry WHERE sign = 1 UNION ALL "
            "SELECT 'order ' || invoice, -(status = 'paid') FROM orders UNION ALL "
            "SELECT 'till', sign * (parameters ->> 'amount') FROM entry UNION ALL "
            "SELECT 'till', -takings FROM tills UNION ALL "
            "SELECT 'customer ' || (parameters ->> 'customer'), "
            "-sign * (parameters ->> 'amount') FROM entry UNION ALL "
            "SELECT 'customer ' || id, opened_with - balance FROM customers UNION ALL "
            "SELECT 'item ' || (line.value ->> 'stock_code'), "
            "-sign * (line.value ->> 'quantity') FROM entry, "
            "json_each(entry.parameters, '$.lines') AS line UNION ALL "
            "SELECT 'item ' || stock_code, 1000 - in_stock FROM items) "
            "SELECT what, sum(amount) FROM moved GROUP BY what HAVING sum(amount) <> 0"};
}

/// A file of a sample whose programs are killed.
class victim {
public:
    victim(scratch_folder const& folder, sample const& what)
        : folder_(&folder), what_(&what), path_(folder.at("killed.db")) {
        for (char const* end : {"-wal", "-shm"}) std::filesystem::remove(path_ + end);
        // Opening takes longer than all later steps, so it is done once.
        auto const opened_once = folder.at("opened.db");
        if (!std::filesystem::exists(opened_once)) {
            std::vector<std::string> arguments{"open", what.input};
            arguments.insert(arguments.end(), what.opening.begin(), what.opening.end());
            auto const opened = call(arguments);
            REQUIRE_MESSAGE(opened.code == what.code, opened.err);
            std::filesystem::copy_file(path_, opened_once);
        }
        // Over the same file, so its log stays at home.
        std::filesystem::copy_file(opened_once, path_,
                                   std::filesystem::copy_options::overwrite_existing);
    }

    [[nodiscard]] std::unique_ptr<program> start(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(),
                         {std::string{SETTLE_BIN_DIR} + "/" + what_->name, "--store", store()});
        return std::make_unique<program>(*folder_, std::move(arguments));
    }
    /// Starts a run with a varying batch size, number of threads and number of phases. A later run
    /// with other settings settles the leftovers of an earlier run.
    template <typename Chance>
    [[nodiscard]] std::unique_ptr<program> start_run(Chance& chance) const {
        std::vector<std::string> arguments{"run", what_->input};
        auto const& batches = what_->batches;
        if (chance() % 4 == 0) arguments.insert(arguments.end(), {"--batch", "1"});
        else if (chance() % 4 != 0) {
            arguments.insert(arguments.end(), {"--batch", batches[chance() % batches.size()]});
        }
        if (chance() % 2 == 0) arguments.emplace_back("--two-phases");
        if (chance() % 4 == 0) arguments.insert(arguments.end(), {"--threads", "3"});
        return start(std::move(arguments));
    }

    [[nodiscard]] std::string const& path() const { return path_; }

    /// Restarts the program for the rest: every entry settles, and the money is right.
    /// Returns: whether an entry was unfinished
    bool settle() {
        auto const settled = call({"recover", "check"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        REQUIRE(settled.out.starts_with("recovered: "));
        for (auto const& row : ask(path_, "SELECT id, state FROM settle_entries")) {
            bool const over = row[1] == "done" || row[1] == "canceled";
            if (!over) FAIL_CHECK(row[0] << " is " << row[1]);
            // A final entry never changes.
            auto const [before, fresh] = ends_.emplace(row[0], row[1]);
            if (before->second != row[1]) {
                FAIL_CHECK(row[0] << " was " << before->second << " and is " << row[1]);
            }
        }
        for (auto const& row : ask(path_, what_->differences)) {
            FAIL_CHECK(row[0] << " differs by " << row[1] << " from the done entries");
        }
        return !settled.out.starts_with("recovered: 0 done, 0 canceled, ");
    }

    /// Runs the rest of the file: every transaction in it is done or canceled once.
    void finish() {
        auto const last = call({"run", what_->input});
        CHECK_MESSAGE(last.code == what_->code, last.out << last.err);
        settle();
        CHECK(ends_.size() == what_->transactions);
    }

    /// A program that was not killed has read the file to its end.
    [[nodiscard]] bool was_killed(ended const& how) const {
        if (how.signal == SIGKILL) return true;
        CHECK_MESSAGE(how.code == what_->code, how.out << how.err);
        return false;
    }

private:
    [[nodiscard]] std::string store() const { return "sqlite:" + path_; }
    ended call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--store", store()});
        return run_sample(*folder_, what_->name, std::move(arguments));
    }

    scratch_folder const* folder_;
    sample const* what_;
    std::string path_;
    std::map<std::string, std::string> ends_; ///< every state that was final once
};

/// The number of kills of each of the four long cases.
std::size_t quarter() { return (testing::kills(300) + 3) / 4; }

class killer {
public:
    struct result {
        std::size_t killed = 0; ///< programs that had not ended
        bool at_work = false;   ///< whether one of them had added an entry to the log
    };

    /// Shape:   longest - the longest while before a kill, in microseconds: it reaches from before
    ///          the file is open to the middle of any step
    killer(std::uint64_t from, std::uint64_t longest) : chance_(from), longest_(longest) {}

    /// Starts programs on one file and kills them one after another, in every other call not before
    /// one of them is at work.
    result strike(victim const& victim, std::size_t programs) {
        bool const waits = ++strikes_ % 2 == 0;
        auto const before = waits ? testing::entries_in(victim.path()) : 0;
        std::vector<std::unique_ptr<program>> running;
        for (std::size_t i = 0; i < programs; ++i) running.push_back(victim.start_run(chance_));
        auto const has_ended = [&] {
            return std::any_of(running.begin(), running.end(),
                               [](auto const& one) { return one->has_ended(); });
        };
        bool const grown = waits && testing::wait_for_entries(victim.path(), before, has_ended);
        wait(grown ? longest_ / 8 : longest_);
        result struck;
        for (auto& one : running) {
            one->signal(SIGKILL);
            if (victim.was_killed(one->wait())) ++struck.killed;
            // The other programs find the leftovers of the killed program, or are killed with it.
            if (chance_() % 2 == 0) wait(longest_ / 8);
        }
        // Now and then the program that settles the rest is killed as well.
        if (chance_() % 4 == 0) {
            std::vector<std::string> arguments{"recover"};
            if (chance_() % 2 == 0) arguments.emplace_back("--two-phases");
            auto const settling = victim.start(std::move(arguments));
            wait(longest_ / 6);
            settling->signal(SIGKILL);
            settling->wait();
        }
        struck.at_work = grown && struck.killed > 0;
        return struck;
    }

private:
    void wait(std::uint64_t longest) {
        std::this_thread::sleep_for(std::chrono::microseconds{chance_() % longest});
    }

    std::mt19937_64 chance_;
    std::uint64_t longest_;
    std::size_t strikes_ = 0;
};

/// Kills programs on one file repeatedly and checks everything after each round. A finished file is
/// replaced by a new file. The rounds go on until a third of them has hit a program at work, and a
/// later program has found an unfinished entry.
void kill_often(scratch_folder const& folder, sample const& what, std::size_t programs,
                std::size_t kills) {
    std::uint64_t const from = testing::seed();
    killer striking{from, 60'000};
    std::size_t struck = 0;
    std::size_t at_work = 0;
    std::size_t unfinished = 0;
    auto const goes_on = [&] { return struck < kills || at_work < kills / 3 || unfinished == 0; };
    while (goes_on()) {
        victim victim{folder, what};
        bool through = false;
        while (goes_on() && !through) {
            INFO(what.name << " killed " << struck << " of " << kills << " times, seed " << from);
            auto const round = striking.strike(victim, programs);
            through = round.killed < programs;
            if (round.killed > 0) ++struck;
            if (round.at_work) ++at_work;
            if (victim.settle()) ++unfinished;
        }
        victim.finish();
    }
    MESSAGE("struck " << struck << " times, " << at_work << " times at work; left unfinished "
                      << "entries " << unfinished << " times");
}

} // namespace

TEST_CASE("kills: transfer is killed 50 times, every order ends once, and the sum is exact") {
    scratch_folder const folder{"kill-one"};
    kill_often(folder, bank(folder, 1500), 1, 50);
}

TEST_CASE("kills: three transfer programs on one file are killed 10 times") {
    scratch_folder const folder{"kill-three"};
    kill_often(folder, bank(folder, 600), 3, 10);
}

TEST_CASE("kills: payment is killed 20 times, and orders, stock, takings and balances agree") {
    scratch_folder const folder{"kill-shop"};
    kill_often(folder, shop(), 1, 20);
}

TEST_CASE("long: kills: transfer is killed often") {
    scratch_folder const folder{"kill-long-one"};
    kill_often(folder, bank(folder, 1500), 1, quarter());
}

TEST_CASE("long: kills: three transfer programs on one file are killed often") {
    scratch_folder const folder{"kill-long-three"};
    kill_often(folder, bank(folder, 1500), 3, quarter());
}

TEST_CASE("long: kills: payment is killed often") {
    scratch_folder const folder{"kill-long-shop"};
    kill_often(folder, shop(), 1, quarter());
}

TEST_CASE("long: kills: three payment programs on one file are killed often") {
    scratch_folder const folder{"kill-long-shop-three"};
    kill_often(folder, shop(), 3, quarter());
}
