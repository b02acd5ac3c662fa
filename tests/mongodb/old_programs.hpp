// SPDX-License-Identifier: BSL-1.0
// The writes of programs that follow MongoDB's tutorial "Perform Two Phase Commits", step by step,
// in the spellings of its copies.
#pragma once

#include "commands.hpp"

#include <settle/mongodb/tutorial.hpp>

#include <fmt/format.h>

#include <chrono>

namespace settle_test {

/// The spelling of the documents of one such program.
struct dialect {
    std::string name;
    std::string id;         ///< of a transaction, as extended JSON around its number
    std::string id_text;    ///< as settle knows it
    std::string key;        ///< the field by which it finds accounts
    std::string number;     ///< of an amount, as extended JSON around {}
    std::string modified;   ///< the whole member lastModified with a comma, or nothing
    std::string applied;
    std::string canceled;
    std::string application; ///< the whole member that a claim sets, with a comma, or nothing
    settle::mongodb::spelling words;
    settle::mongodb::id_kind ids;
};

inline std::vector<dialect> dialects() {
    using settle::mongodb::id_kind;
    using settle::mongodb::spelling;
    std::string const now = R"(, "lastModified": {"$date": {"$numberLong": "1700000000000"}})";
    return {
        {"the old shell", "{}", "{}", "_id", R"({{"$numberDouble": "{}.0"}})", now, "applied",
         "canceled", "", spelling::lower, id_kind::number},
        {"the new shell", "{}", "{}", "_id", R"({{"$numberInt": "{}"}})", now, "applied",
         "cancelled", R"(, "application": "App1")", spelling::lower, id_kind::number},
        {"the Java program", R"("t{}")", "t{}", "_id", R"({{"$numberInt": "{}"}})",
         R"(, "lastModified": {"$numberLong": "1700000000000"})", "applied", "canceled", "",
         spelling::upper, id_kind::text},
        {"the Python article", R"("t{}")", "t{}", "_id", R"({{"$numberInt": "{}"}})", "", "applied",
         "canceled", "", spelling::capitalised, id_kind::text},
        {"older texts", R"({{"$oid": "0123456789abcdef012345{}"}})",
         "0123456789abcdef012345{}",
         "name", R"({{"$numberInt": "{}"}})", now, "committed", "canceled", "", spelling::lower,
         id_kind::object_id},
    };
}

/// Lets the program have written just now; false when it writes no times.
inline bool make_recent(dialect& words) {
    std::string const then = "1700000000000";
    auto const at = words.modified.find(then);
    if (at == std::string::npos) return false;
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    auto const count = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    words.modified.replace(at, then.size(), std::to_string(count));
    // An ObjectId begins with the second in which it was made.
    for (auto* const id : {&words.id, &words.id_text}) {
        auto const second = id->find("01234567");
        if (second != std::string::npos) id->replace(second, 8, fmt::format("{:x}", count / 1000));
    }
    return true;
}

/// A program of that kind, which stops at a chosen step.
class old_program {
public:
    old_program(std::string const& address, dialect const& words) : to_{address}, words_{words} {}

    /// The accounts A<number> and B<number> of a transfer, with 1000 each.
    void open(int number_of) {
        for (auto const* account : {"A", "B"}) {
            run(R"({{"insert": "accounts", "documents": [{{"{}": "{}{}", "balance": {}, )"
                R"("pendingTransactions": [], "owner": {{"of": "{}"}}}}]}})",
                words_.key, account, number_of, number(1000), account);
        }
    }

    /// Does the first so many of the documents' writes for a transfer of 100, in their order.
    static constexpr int steps = 8;
    void transfer(int of, int count) {
        if (count > 0) insert(of);
        if (count > 1) set_state(of, "initial", "pending");
        if (count > 2) apply(of, "A", -100);
        if (count > 3) apply(of, "B", 100);
        if (count > 4) set_state(of, "pending", words_.applied);
        if (count > 5) pull(of, "A");
        if (count > 6) pull(of, "B");
        if (count > 7) set_state(of, words_.applied, "done");
    }
    /// Then cancels it, with so many of its writes.
    static constexpr int cancel_steps = 4;
    void cancel(int of, int count) {
        if (count > 0) set_state(of, "pending", "canceling");
        if (count > 1) undo(of, "A", 100);
        if (count > 2) undo(of, "B", -100);
        if (count > 3) set_state(of, "canceling", words_.canceled);
    }
    /// One effect, which may arrive late.
    void apply(int of, std::string const& account, int amount) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({{"$ne": {}}}}}, "u": {{"$inc": {{"balance": {}}}, "$push": )"
            R"({{"pendingTransactions": {}}}}}}}]}})",
            words_.key, account, of, id(of), number(amount), id(of));
    }

    [[nodiscard]] std::string id_text(int of) const {
        return fmt::format(fmt::runtime(words_.id_text), of);
    }

private:
    void insert(int of) {
        run(R"({{"insert": "transactions", "documents": [{{"_id": {}, "source": "A{}", )"
            R"("destination": "B{}", "value": {}, "state": "{}"{}}}]}})",
            id(of), of, of, number(100), spelled("initial"), words_.modified);
    }
    void set_state(int of, std::string const& from, std::string const& to) {
        run(R"({{"update": "transactions", "updates": [{{"q": {{"_id": {}, "state": "{}"}}, )"
            R"("u": {{"$set": {{"state": "{}"{}{}}}}}}}]}})",
            id(of), spelled(from), spelled(to), words_.modified, words_.application);
    }
    void pull(int of, std::string const& account) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({}}}, "u": {{"$pull": {{"pendingTransactions": {}}}}}}}]}})",
            words_.key, account, of, id(of), id(of));
    }
    void undo(int of, std::string const& account, int amount) {
        run(R"({{"update": "accounts", "updates": [{{"q": {{"{}": "{}{}", "pendingTransactions": )"
            R"({}}}, "u": {{"$inc": {{"balance": {}}}, "$pull": )"
            R"({{"pendingTransactions": {}}}}}}}]}})",
            words_.key, account, of, id(of), number(amount), id(of));
    }

    [[nodiscard]] std::string id(int of) const { return fmt::format(fmt::runtime(words_.id), of); }
    [[nodiscard]] std::string number(int amount) const {
        return fmt::format(fmt::runtime(words_.number), amount);
    }
    [[nodiscard]] std::string spelled(std::string word) const {
        using settle::mongodb::spelling;
        for (std::size_t at = 0; at < word.size(); ++at) {
            bool const upper = words_.words == spelling::upper ||
                               (words_.words == spelling::capitalised && at == 0);
            if (upper) word[at] = static_cast<char>(std::toupper(word[at]));
        }
        return word;
    }
    template <typename... Values>
    void run(std::string_view text, Values const&... values) {
        auto const reply = to_.run(fmt::format(fmt::runtime(text), values...));
        if (!reply.ok) throw std::runtime_error(reply.error);
    }

    connection to_;
    dialect const& words_;
};

} // namespace settle_test
