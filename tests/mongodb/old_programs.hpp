// SPDX-License-Identifier: BSL-1.0
// The writes of programs that follow MongoDB's tutorial "Perform Two Phase Commits", step by step,
// in the spellings of its copies.
#pragma once

#include "commands.hpp"

#include <settle/mongodb/tutorial/tutorial.hpp>

#include <fmt/format.h>

#include <chrono>

namespace settle_test {

/// The spelling of the documents of one such program.
struct dialect {
    std::string name;
    std::string id;       ///< of a transaction, as extended JSON around its number
    std::string id_text;  ///< as settle shows it
    std::string key;      ///< the field by which it finds accounts
    std::string number;   ///< of an amount, as extended JSON around {}
    std::string modified; ///< the whole member lastModified with a comma, or nothing
    std::string applied;
    std::string canceled;
    std::string application; ///< the whole member that a claim sets, with a comma, or nothing
    settle::mongodb::spelling states;
    settle::mongodb::id_kind ids;
};

inline std::vector<dialect> dialects() {
    using settle::mongodb::id_kind;
    using settle::mongodb::spelling;
    std::string const long_ago = R"(, "lastModified": {"$date": {"$numberLong": "1700000000000"}})";
    return {
        {"the old shell", "{}", "{}", "_id", R"({{"$numberDouble": "{}.0"}})", long_ago, "applied",
         "canceled", "", spelling::lower, id_kind::number},
        {"the new shell", "{}", "{}", "_id", R"({{"$numberInt": "{}"}})", long_ago, "applied",
         "cancelled", R"(, "application": "App1")", spelling::lower, id_kind::number},
        {"the Java program", R"("t{}")", "t{}", "_id", R"({{"$numberInt": "{}"}})",
         R"(, "lastModified": {"$numberLong": "1700000000000"})", "applied", "canceled", "",
         spelling::upper, id_kind::text},
        {"the Python article", R"("t{}")", "t{}", "_id", R"({{"$numberInt": "{}"}})", "", "applied",
         "canceled", "", spelling::capitalised, id_kind::text},
        {"older texts", R"({{"$oid": "0123456789abcdef012345{}"}})", "0123456789abcdef012345{}",
         "name", R"({{"$numberInt": "{}"}})", long_ago, "committed", "canceled", "",
         spelling::lower, id_kind::object_id},
    };
}

/// Lets the program have written just now; false when it writes no times.
inline bool make_recent(dialect& dialect) {
    std::string const then = "1700000000000";
    auto const position = dialect.modified.find(then);
    if (position == std::string::npos) return false;
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    auto const count = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    dialect.modified.replace(position, then.size(), std::to_string(count));
    // An ObjectId begins with the second in which it was made.
    for (auto* const id : {&dialect.id, &dialect.id_text}) {
        auto const second = id->find("01234567");
        if (second != std::string::npos) id->replace(second, 8, fmt::format("{:x}", count / 1000));
    }
    return true;
}

/// A program of that kind, which stops at a chosen step.
class old_program {
public:
    old_program(std::string const& address, dialect const& in) : to_{address}, dialect_{in} {}

    /// The accounts A<number> and B<number> of a transfer, with 1000 each.
    void open(int number_of) {
        for (auto const* account : {"A", "B"}) {
            run(R"({{"insert": "accounts", "documents": [{{"{}": "{}{}", "balance": {}, )"
                R"("pendingTransactions": [], "owner": {{"of": "{}"}}}}]}})",
                dialect_.key, account, number_of, number(1000), account);
        }
    }

    /// Does the first steps of a transfer of 100, in the order of the tutorial.
    static constexpr int steps = 8;
    void transfer(int transfer_number, int count) {
        if (count > 0) insert(transfer_number);
        if (count > 1) set_state(transfer_number, "initial", "pending");
        if (count > 2) apply(transfer_number, "A", -100);
        if (count > 3) apply(transfer_number, "B", 100);
        if (count > 4) set_state(transfer_number, "pending", dialect_.applied);
        if (count > 5) pull(transfer_number, "A");
        if (count > 6) pull(transfer_number, "B");
        if (count > 7) set_state(transfer_number, dialect_.applied, "done");
    }
    /// Then does the first steps of its cancel.
    static constexpr int cancel_steps = 4;
    void cancel(int transfer_number, int count) {
        if (count > 0) set_state(transfer_number, "pending", "canceling");
        if (count > 1) undo(transfer_number, "A", 100);
        if (count > 2) undo(transfer_number, "B", -100);
        if (count > 3) set_state(transfer_number, "canceling", dialect_.canceled);
    }
    /// One effect, which may arrive late.
    void apply(int transfer_number, std::string const& account, int amount) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({{"$ne": {}}}}}, "u": {{"$inc": {{"balance": {}}}, "$push": )"
            R"({{"pendingTransactions": {}}}}}}}]}})",
            dialect_.key, account, transfer_number, id(transfer_number), number(amount),
            id(transfer_number));
    }

    [[nodiscard]] std::string id_text(int of) const {
        return fmt::format(fmt::runtime(dialect_.id_text), of);
    }

private:
    void insert(int transfer_number) {
        run(R"({{"insert": "transactions", "documents": [{{"_id": {}, "source": "A{}", )"
            R"("destination": "B{}", "value": {}, "state": "{}"{}}}]}})",
            id(transfer_number), transfer_number, transfer_number, number(100), spelled("initial"),
            dialect_.modified);
    }
    void set_state(int transfer_number, std::string const& from, std::string const& to) {
        run(R"({{"update": "transactions", "updates": [{{"q": {{"_id": {}, "state": "{}"}}, )"
            R"("u": {{"$set": {{"state": "{}"{}{}}}}}}}]}})",
            id(transfer_number), spelled(from), spelled(to), dialect_.modified,
            dialect_.application);
    }
    void pull(int transfer_number, std::string const& account) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({}}}, "u": {{"$pull": {{"pendingTransactions": {}}}}}}}]}})",
            dialect_.key, account, transfer_number, id(transfer_number), id(transfer_number));
    }
    void undo(int transfer_number, std::string const& account, int amount) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({}}}, "u": {{"$inc": {{"balance": {}}}, "$pull": )"
            R"({{"pendingTransactions": {}}}}}}}]}})",
            dialect_.key, account, transfer_number, id(transfer_number), number(amount),
            id(transfer_number));
    }

    [[nodiscard]] std::string id(int of) const {
        return fmt::format(fmt::runtime(dialect_.id), of);
    }
    [[nodiscard]] std::string number(int amount) const {
        return fmt::format(fmt::runtime(dialect_.number), amount);
    }
    [[nodiscard]] std::string spelled(std::string name) const {
        using settle::mongodb::spelling;
        for (std::size_t index = 0; index < name.size(); ++index) {
            bool const upper = dialect_.states == spelling::upper ||
                               (dialect_.states == spelling::capitalised && index == 0);
            if (upper) name[index] = static_cast<char>(std::toupper(name[index]));
        }
        return name;
    }
    template <typename... Values>
    void run(std::string_view text, Values const&... values) {
        auto const reply = to_.run(fmt::format(fmt::runtime(text), values...));
        if (!reply.ok) throw std::runtime_error(reply.error);
    }

    connection to_;
    dialect const& dialect_;
};

} // namespace settle_test
