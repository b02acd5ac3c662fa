// SPDX-License-Identifier: BSL-1.0
// The applications on an SQL server: their outcomes, and their errors if a database cannot be used.
// Backend gives
//
//   database                 A database or a schema of the shared server.
//   name, scheme, server     Of the folders, of an address, and in sentences.
//   ask(address, sql), ask_one(address, sql)
//       One statement of another program.
#pragma once

#include "sample_runs.hpp"
#include "server_process.hpp"

#include <algorithm>
#include <chrono>

namespace settle_test {

using testing::call_sample;
using testing::ended;
using testing::first_lines;
using testing::scratch_folder;

/// The bank, opened in a database.
template <typename Backend>
class bank_at {
public:
    /// Shape:   orders - how many of the table
    bank_at(std::string const& name, std::string address, int orders)
        : folder_{Backend::name + ("-" + name)}, address_{std::move(address)},
          input_{first_lines(folder_, "transfer/payment_orders.csv", orders + 1)} {
        auto const opened = call({"open", input_, "--balance", "9000.00"});
        REQUIRE_MESSAGE(opened.code == 0, opened.err);
    }

    [[nodiscard]] ended call(arguments const& more) const { return call_at(address_, more); }
    [[nodiscard]] ended call_at(std::string const& address, arguments const& more) const {
        return call_sample(folder_, "transfer", address, more);
    }
    [[nodiscard]] testing::program start_at(std::string const& address, arguments more) const {
        more.insert(more.begin(), {std::string{SETTLE_BIN_DIR} + "/transfer", "--store", address});
        return {folder_, std::move(more)};
    }
    [[nodiscard]] std::string const& input() const { return input_; }
    [[nodiscard]] std::string write(std::string const& orders) const {
        return folder_.write("orders.csv", orders);
    }

    /// The number of orders that are done, for another client of the server.
    [[nodiscard]] int done() const {
        return std::stoi(
            Backend::ask_one(address_, "SELECT count(*) FROM settle_entries WHERE state = 'done'"));
    }
    /// Waits until more orders are done than before, however long a busy machine takes. The program
    /// has not ended then.
    void wait_for_more(testing::program const& running, int before) const {
        CHECK(wait_until(std::chrono::seconds{60},
                         [&] { return done() > before || running.has_ended(); }));
        REQUIRE_FALSE(running.has_ended());
    }

    /// Every transaction is settled, no money is lost, and each account agrees with the log.
    void check_whole() const {
        auto const checked = call({"check"});
        CHECK_MESSAGE(checked.code == 0, checked.out << checked.err);
        CHECK(checked.out.find("ok  money ") != std::string::npos);
        CHECK(checked.out.find(" agree with the log\n") != std::string::npos);
    }

private:
    scratch_folder folder_;
    std::string address_;
    std::string input_;
};

/// The program ended without a usable store: with one sentence, which contains a text.
inline void refused(ended const& how, std::string const& text) {
    INFO(how.out << how.err);
    CHECK(how.code == 3);
    CHECK(how.err.starts_with("transfer: "));
    CHECK(how.err.find(text) != std::string::npos);
    CHECK(std::count(how.err.begin(), how.err.end(), '\n') == 1);
    CHECK(how.err.find("secret") == std::string::npos);
}

template <typename Backend>
void same_outcomes(testing::sample_table const& what) {
    scratch_folder const folder{Backend::name + ("-" + what.program)};
    testing::same_as_in_a_file(folder, what,
                               {{}, {"--two-phases"}, {"--threads", "4"}, {"--batch", "20"}},
                               [] { return typename Backend::database{}; });
}

/// Each command works on a database.
template <typename Backend>
void sample_commands() {
    typename Backend::database const own;
    auto const ask = [&](std::string const& sql) { Backend::ask(own.address(), sql); };
    bank_at<Backend> const teller{"commands", own.address(), 4};
    auto const ran = teller.call({"run", teller.input(), "--two-phases"});
    REQUIRE_MESSAGE(ran.code == 0, ran.out << ran.err);
    CHECK(ran.out.find("  done       4\n") != std::string::npos);
    CHECK(teller.call({"list", "--state", "done"}).out.ends_with("4 entries\n"));
    CHECK(teller.call({"show", "29401"}).out.find("done") != std::string::npos);
    CHECK(teller.call({"show", "nothing"}).code == 1);
    CHECK(teller.call({"cancel", "29401"}).code == 1);
    auto const reversed = teller.call({"reverse", "29401"});
    CHECK_MESSAGE(reversed.out == "29401 is reversed by 29401/reverse\n", reversed.err);
    CHECK(teller.call({"cancel", "later", "--even-if-unknown"}).out == "later is canceled\n");
    CHECK(teller.call({"balance", "1"}).out == "9000.00\n");
    CHECK(teller.call({"recover", "--older-than", "0s"}).out ==
          "recovered: 0 done, 0 canceled, 0 undecided, 0 left alone\n");
    teller.check_whole();

    // An order as a program submits it for a worker.
    auto const big = teller.write("id,source,destination,amount\nbig,1,2,9999.00\n");
    CHECK(teller.call({"run", big}).out.find("  canceled   1\n") != std::string::npos);
    ask("UPDATE settle_entry SET state = 0, open = true WHERE id = 'big'");
    ask("UPDATE accounts SET balance = 999900, opened_with = 999900 WHERE id = '1'");
    CHECK(teller.call({"check"}).code == 1);
    CHECK(teller.call({"work"}).out == "worked: 1 done, 0 canceled, 0 undecided, 0 left alone\n");
    CHECK(teller.call({"balance", "1"}).out == "0.00\n");
    teller.check_whole();

    CHECK(teller.call({"purge"}).out == "purged: 0 entries\n");
    ask("UPDATE settle_entry SET created = created - 4000000000, modified = modified - 4000000000 "
        "WHERE id <> 'big'");
    CHECK(teller.call({"purge"}).out == "purged: 6 entries\n");
    CHECK(teller.call({"check"}).code == 0);
}

template <typename Backend>
void sample_check_compares() {
    typename Backend::database const own;
    bank_at<Backend> const teller{"check", own.address(), 3};
    REQUIRE(teller.call({"run", teller.input()}).code == 0);
    teller.check_whole();
    Backend::ask(own.address(), "UPDATE accounts SET balance = balance - 7 WHERE id = '1'");
    Backend::ask(own.address(), "UPDATE accounts SET balance = balance + 7 WHERE id = '2'");
    auto const checked = teller.call({"check"});
    CHECK(checked.code == 1);
    CHECK(checked.out.find("ok  money ") != std::string::npos);
    CHECK(checked.out.find("BAD accounts    2 of ") != std::string::npos);
}

template <typename Backend>
void sample_changed_table() {
    typename Backend::database const own;
    auto const ask = [&](std::string const& sql) { Backend::ask(own.address(), sql); };
    bank_at<Backend> const teller{"changed", own.address(), 3};
    ask("ALTER TABLE accounts DROP COLUMN opened_with");
    refused(teller.call({"run", teller.input()}), "opened_with");
    ask("ALTER TABLE accounts ADD COLUMN opened_with text NOT NULL DEFAULT ''");
    refused(teller.call({"check"}), "opened_with");
    CHECK(Backend::ask_one(own.address(), "SELECT count(*) FROM settle_entry") == "0");
}

/// A mistyped address opens no bank in another program's database.
template <typename Backend>
void sample_mistyped_address() {
    typename Backend::database const own;
    scratch_folder const folder{Backend::name + std::string{"-slip"}};
    auto const input = first_lines(folder, "transfer/payment_orders.csv", 5);
    auto const call = [&](std::string const& address, arguments const& more) {
        return call_sample(folder, "transfer", address, more);
    };
    std::string const scheme = Backend::scheme;
    refused(call(own.address(), {"check"}), "holds nothing that was opened");
    Backend::ask(own.address(), "CREATE VIEW zoo AS SELECT 1 AS lion");
    refused(call(own.address(), {"open", input, "--balance", "1.00"}),
            "belongs to another application: it has a table 'zoo' and none named 'accounts'");
    CHECK(Backend::ask_one(own.address(), "SELECT count(*) FROM information_schema.tables WHERE "
                                          "table_name = 'accounts' AND table_schema = " +
                                              std::string{Backend::schema_sql}) == "0");
    refused(call(scheme + "://127.0.0.1", {"check"}), "names no database");
    refused(call(scheme + "://bank:secret@@h/bank", {"check"}), "has two '@'");
    refused(call(Backend::unreachable, {"check"}),
            Backend::server + std::string{" could not be reached"});
    auto const wrong = call(scheme.substr(1) + "://bank:secret@h/bank", {"check"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.starts_with("transfer: '" + scheme.substr(1) +
                                ":…' is no address of a store; known are sqlite:PATH, "));
    CHECK(call(own.address(), {"--layout", "tutorial", "list"}).code == 2);
}

/// Names with quotes are stored as they are, and NUL is refused.
template <typename Backend>
void sample_names() {
    typename Backend::database const own;
    scratch_folder const folder{Backend::name + std::string{"-names"}};
    std::string const quotes = R"(o'br"";-- \x $1)";
    std::string const name = R"(o'br";-- \x $1)";
    std::string const head = "id,source,destination,amount\n";
    auto const orders = folder.write(
        "orders.csv", head + "\"" + quotes + "\",\"" + quotes + "\",b,1\nx,a" + '\0' + ",b,1\n" +
                          "y" + '\0' + ",b,a,1\n'; DROP TABLE accounts; --,b,{},1\n");
    auto const call = [&](arguments const& more) {
        return call_sample(folder, "transfer", own.address(), more);
    };
    auto const opened = call({"open", orders, "--balance", "10.00"});
    CHECK(opened.code == 1);
    CHECK_MESSAGE(opened.out.find("accounts   3 opened\n2 refused\n") != std::string::npos,
                  opened.out);
    auto const ran = call({"run", orders});
    CHECK(ran.code == 1);
    CHECK(ran.out.find("  done       2\n") != std::string::npos);
    CHECK(ran.out.find("NUL byte") != std::string::npos);
    CHECK(call({"balance", name}).out == "9.00\n");
    CHECK(call({"reverse", name}).code == 0);
    CHECK(call({"balance", name}).out == "10.00\n");
    CHECK(call({"show", "'; DROP TABLE accounts; --"}).code == 0);
    CHECK(call({"check"}).code == 0);
}

} // namespace settle_test

/// Shape:   SERVER - as the names of the tests have it, a literal
#define SETTLE_SAMPLE_SUITE(SERVER, BACKEND)                                                       \
    TEST_CASE("applications: the bank's orders have the same outcomes in " SERVER                  \
              " and in a file") {                                                                  \
        same_outcomes<BACKEND>(testing::bank_table);                                               \
    }                                                                                              \
    TEST_CASE("applications: the shop's invoices have the same outcomes in " SERVER                \
              " and in a file") {                                                                  \
        same_outcomes<BACKEND>(testing::shop_table);                                               \
    }                                                                                              \
    TEST_CASE("applications: each command works on a database of " SERVER) {                       \
        sample_commands<BACKEND>();                                                                \
    }                                                                                              \
    TEST_CASE("applications: check compares every account in " SERVER " with the log") {           \
        sample_check_compares<BACKEND>();                                                          \
    }                                                                                              \
    TEST_CASE("applications: a table that has changed is refused with a sentence") {               \
        sample_changed_table<BACKEND>();                                                           \
    }                                                                                              \
    TEST_CASE("applications: a mistyped address opens no bank in another program's database") {    \
        sample_mistyped_address<BACKEND>();                                                        \
    }                                                                                              \
    TEST_CASE("applications: names with quotes are stored as they are, and NUL is refused") {      \
        sample_names<BACKEND>();                                                                   \
    }                                                                                              \
    static_assert(true)
