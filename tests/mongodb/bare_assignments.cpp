// SPDX-License-Identifier: BSL-1.0
// A bare mark has only an id and not the old value. Where the type's guard shows the old value, the
// mark is undone; elsewhere an applied transaction is finished, and any other is left unchanged.
#include "documents.hpp"

#include <settle/mongodb/tutorial/tutorial.hpp>
#include <settle/settle.hpp>

namespace notes {

struct note {
    std::string id;
    std::string text;
    bool read;
    std::int64_t count;
};
struct change {
    std::string id;
    std::string before;
    std::string after;
    std::int64_t amount;
};

} // namespace notes
BOOST_HANA_ADAPT_STRUCT(notes::note, id, text, read, count);
BOOST_HANA_ADAPT_STRUCT(notes::change, id, before, after, amount);

namespace settle_test {
namespace {

using notes::change;
using notes::note;
using settle::field;
using settle::lit;
using settle::param;
using settle::state;
using namespace std::chrono_literals;

constexpr settle::collection<note, "notes", &note::id> all_notes;

template <typename Guard, typename... Effects>
constexpr auto type_of(Guard const& guard, Effects const&... effects) {
    return settle::transaction<change, "change">(
        settle::participant<"note">(all_notes, param<&change::id>)
            .require(guard)
            .apply(effects...)
            .compensate(settle::inverse));
}
constexpr auto set_text = field<&note::text> = lit<"new">;
constexpr auto by_literal = type_of(field<&note::text> == lit<"old">, set_text);
constexpr auto by_mirrored = type_of(lit<"old"> == field<&note::text>, set_text);
constexpr auto by_one_of_two =
    type_of(field<&note::count> > lit<0> && (lit<"old"> == field<&note::text>), set_text);
constexpr auto by_parameter = type_of(field<&note::text> == param<&change::before>,
                                      field<&note::text> = param<&change::after>);
constexpr auto by_negation = type_of(!field<&note::read> && field<&note::text> == lit<"old">,
                                     set_text, field<&note::read> = lit<true>);
constexpr auto beside_a_sum = type_of(field<&note::text> == lit<"old">, set_text,
                                      field<&note::count> += param<&change::amount>);
constexpr auto by_nothing = type_of(field<&note::text> != lit<"new">, set_text);
constexpr auto by_either =
    type_of(field<&note::text> == lit<"old"> || field<&note::text> == lit<"older">, set_text);

template <auto const& Type>
class taken_notes {
public:
    taken_notes(std::string const& address)
        : held_{address, {}}, engine{held_, settle::type<Type>} {}

    settle::recovery_report recover() {
        settle::recover_options options;
        options.older_than = 0s;
        return engine.recover(options);
    }

private:
    settle::mongodb::tutorial_database<Type> held_;

public:
    settle::engine<settle::mongodb::tutorial_database<Type>, settle::type_tag<Type>> engine;
};

std::string values(note const& note) {
    return note.text + ", " + (note.read ? "read" : "unread") + ", " + std::to_string(note.count);
}

void leave(documents& documents, std::string const& id, std::string const& state,
           std::string const& under) {
    documents.put("notes", R"({"_id": "n)" + id + R"(", "pendingTransactions": [")" + id +
                               R"("], )" + under + "}");
    documents.put("transactions",
                  R"({"_id": ")" + id + R"(", "id": "n)" + id +
                      R"(", "before": "old", "after": "new", "amount": 3, "state": ")" + state +
                      R"("})");
}

constexpr char const* under_text = R"("text": "new", "read": false, "count": 5)";
constexpr char const* under_all = R"("text": "new", "read": true, "count": 5)";

template <auto const& Type>
void is_undone(std::string const& under, std::string const& stays, std::string const& before) {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        documents documents{*server};
        leave(documents, "1", "applied", under);
        leave(documents, "2", "canceling", under);
        leave(documents, "3", "pending", under); // which is too old to be committed
        taken_notes<Type> notes{documents.own.address()};
        auto const report = notes.recover();
        for (auto const& one : report.skipped) FAIL_CHECK(one.problem.text);
        CHECK(report.done == 1);
        CHECK(report.canceled == 2);
        CHECK(notes.engine.marks().value() == 0);
        auto const shown = [&](char const* id) {
            return values(notes.engine.read(all_notes, id).value().value());
        };
        CHECK(shown("n1") == stays);
        CHECK(shown("n2") == before);
        CHECK(shown("n3") == before);
    }
}

template <auto const& Type>
void is_left(std::string const& under, std::string const& stays) {
    for (auto* const server : {&replica_set_address, &standalone_address}) {
        documents documents{*server};
        leave(documents, "1", "applied", under);
        leave(documents, "2", "canceling", under);
        leave(documents, "3", "pending", under);
        auto const left = [&](char const* id) {
            return documents.look("transactions", id) +
                   documents.look("notes", std::string{"n"} + id);
        };
        auto const second = left("2");
        auto const third = left("3");
        taken_notes<Type> notes{documents.own.address()};
        auto const report = notes.recover();
        CHECK(report.done == 1);
        REQUIRE(report.skipped.size() == 2);
        for (auto const& one : report.skipped) {
            CHECK(one.problem.text.find("'n" + one.id + "' of 'notes'") != std::string::npos);
            CHECK(one.problem.text.find("does not hold the value that it replaced") !=
                  std::string::npos);
        }
        CHECK(values(notes.engine.read(all_notes, "n1").value().value()) == stays);
        CHECK(left("2") == second);
        CHECK(left("3") == third);
    }
}

} // namespace

TEST_CASE("bare assignments: a bare mark is undone where a guard requires the old value") {
    is_undone<by_literal>(under_text, "new, unread, 5", "old, unread, 5");
    is_undone<by_mirrored>(under_text, "new, unread, 5", "old, unread, 5");
    is_undone<by_one_of_two>(under_text, "new, unread, 5", "old, unread, 5");
    is_undone<by_parameter>(under_text, "new, unread, 5", "old, unread, 5");
    is_undone<by_negation>(under_all, "new, read, 5", "old, unread, 5");
    is_undone<beside_a_sum>(under_text, "new, unread, 5", "old, unread, 2");
}

TEST_CASE("bare assignments: a bare mark without a known old value is finished or left") {
    is_left<by_nothing>(under_text, "new, unread, 5");
    is_left<by_either>(under_text, "new, unread, 5");
}

} // namespace settle_test
