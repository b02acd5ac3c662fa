// SPDX-License-Identifier: BSL-1.0
// Handlers of a receiver on SQLite: their failures and limits.
#include "sqlite_office.hpp"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>

namespace sqlite_receiver_test {

TEST_CASE("sqlite receiver: a confirm without an apply takes effect once") {
    folder const files;
    office in{files.file()};
    int mails = 0;
    struct mailer {
        int* mails;
        service_answer confirm(receiver_session& own, service_call const& call) const {
            ++*mails;
            own.change("INSERT INTO booking(key, people) VALUES(?1, 0)", call.key);
            return service_answer::ok();
        }
    };
    auto mail = confirm_call("mail");
    mail.has_apply = false;
    CHECK(in.airline_receiver.take(mail, mailer{&mails}) == service_answer::ok());
    CHECK(in.airline_receiver.take(mail, mailer{&mails}) == service_answer::ok());
    CHECK(mails == 1);
    CHECK(books_of(in.db).bookings == 1);
    // This call has an apply but no row: after its last moment its row may have been purged, and
    // before it the row was lost. The confirm does no work.
    auto purged = confirm_call("purged");
    purged.last_moment = in.clock.now() - milliseconds{1};
    CHECK(in.airline_receiver.take(purged, mailer{&mails}) == service_answer::ok());
    auto const lost = in.airline_receiver.take(confirm_call("lost"), mailer{&mails});
    CHECK(lost.status == call_status::unavailable);
    CHECK(contains(lost.text, "repair by hand"));
    CHECK(mails == 1);
    auto const missing = in.airline_receiver.take(apply_call("a"), mailer{&mails});
    CHECK(missing.status == call_status::unavailable);
    CHECK(contains(missing.text, "has no 'apply'"));
}

TEST_CASE("sqlite receiver: a key that comes with another request is refused") {
    folder const files;
    office in{files.file()};
    auto const take = [&](service_call const& call) {
        return in.airline_receiver.take(call, seats{});
    };
    auto const first = take(apply_call("a", "2"));
    CHECK(first.status == call_status::ok);
    auto const row = in.airline_receiver.find("a").value();
    auto const other = take(apply_call("a", "3"));
    CHECK(other.status == call_status::refused);
    CHECK(contains(other.text, "the key 'a' came with two requests"));
    auto noted = in.airline_receiver.find("a").value();
    REQUIRE(noted);
    CHECK(noted->request.starts_with(row->request + " "));
    CHECK(noted->standing == row->standing);
    CHECK(noted->answer == row->answer);
    // The other sender compensates what was refused: the first booking stays.
    auto undo = compensate_call("a");
    undo.request = "3";
    CHECK(take(undo) == service_answer::ok());
    undo.request = R"({"why":"changed"})";
    CHECK(take(undo).status == call_status::unavailable);
    CHECK(books_of(in.db).undone == 0);
    CHECK(take(apply_call("a", "3")).status == call_status::refused);
    // White space between the values of JSON is no part of a request.
    CHECK(take(apply_call("a", " 2\n")) == first);
    CHECK(take(apply_call("a", "\" 2\"")).status == call_status::refused);
    auto alone = confirm_call("mail");
    alone.has_apply = false;
    CHECK(take(alone) == service_answer::ok());
    CHECK(take(alone) == service_answer::ok());
    alone.request = "2";
    CHECK(take(alone).status == call_status::unavailable);
    CHECK(books_of(in.db).bookings == 2);
    undo.request = "2";
    CHECK(take(undo) == service_answer::ok());
    CHECK(status_of(in, "a") == receiver_status::compensated);
}

TEST_CASE("sqlite receiver: a query works each time and has no row") {
    folder const files;
    office in{files.file()};
    auto& receiver = in.airline_receiver;
    CHECK(receiver.take(query_call("k1"), seats{}) == service_answer::ok("10"));
    CHECK_FALSE(receiver.find("k1").value());
    CHECK(receiver.take(apply_call("k1", "3"), seats{}).status == call_status::ok);
    auto const row = receiver.find("k1").value();
    CHECK(receiver.take(query_call("k1"), seats{}) == service_answer::ok("7"));
    CHECK(receiver.find("k1").value() == row);
    // A query has no effect, so it may come after its last moment, and may be refused.
    auto late = query_call("k2");
    late.last_moment = {};
    CHECK(receiver.take(late, seats{}) == service_answer::ok("7"));
    struct shut {
        service_answer query(receiver_session&, service_call const&) const {
            return service_answer::refused("the office is shut");
        }
    };
    CHECK(receiver.take(late, shut{}) == service_answer::refused("the office is shut"));
    CHECK(receiver.list().value().size() == 1);
    // The answer names the missing query function of a handler.
    struct deaf {
        service_answer apply(receiver_session&, service_call const&) const {
            return service_answer::ok();
        }
    };
    CHECK(receiver.take(late, deaf{}).text.find("has no 'query'") != std::string::npos);
}

TEST_CASE("sqlite receiver: work that fails is undone and may be sent again") {
    folder const files;
    office in{files.file()};
    bool fails = true;
    applying handler{[&](receiver_session& own, service_call const& call) {
        auto answer = seats{}.apply(own, call);
        if (fails) throw std::runtime_error{"the printer is out of paper"};
        return answer;
    }};
    CHECK(in.airline_receiver.take(apply_call("a"), handler) ==
          service_answer::unavailable("the printer is out of paper"));
    CHECK(books_of(in.db) == books{10, 0, 0, 0});
    CHECK(status_of(in, "a") == std::nullopt);
    fails = false;
    CHECK(in.airline_receiver.take(apply_call("a"), handler).status == call_status::ok);
    CHECK(books_of(in.db) == books{9, 1, 0, 0});

    applying busy{[](receiver_session& own, service_call const& call) {
        std::ignore = seats{}.apply(own, call);
        auto answer = service_answer::unavailable("come back later");
        answer.retry_after = milliseconds{250};
        return answer;
    }};
    auto const later = in.airline_receiver.take(apply_call("b"), busy);
    CHECK(later.status == call_status::unavailable);
    CHECK(later.retry_after == milliseconds{250});
    CHECK(status_of(in, "b") == std::nullopt);
    applying odd{[](receiver_session&, service_call const&) -> service_answer { throw 7; }};
    CHECK(in.airline_receiver.take(apply_call("b"), odd).status == call_status::unavailable);
    CHECK(books_of(in.db) == books{9, 1, 0, 0});

    struct refusing_compensation : seats {
        service_answer compensate(receiver_session& own, service_call const& call) const {
            std::ignore = seats::compensate(own, call);
            return service_answer::refused("no refunds");
        }
    };
    auto const answer = in.airline_receiver.take(compensate_call("a"), refusing_compensation{});
    CHECK(answer.status == call_status::unavailable);
    CHECK(contains(answer.text, "refused a compensate, which must succeed in the end: no refunds"));
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
    CHECK(status_of(in, "a") == receiver_status::applied);
}

TEST_CASE("sqlite receiver: an answer that cannot be kept is a refusal with a sentence") {
    folder const files;
    office in{files.file()};
    receiver small{in.db, receiver_options{.largest_result = 20}};
    auto const answer_with = [&](std::string_view key, std::string text) {
        applying handler{[&](receiver_session& own, service_call const& call) {
            std::ignore = seats{}.apply(own, call);
            return service_answer::ok(std::move(text));
        }};
        return small.take(apply_call(key), handler);
    };
    auto const large = answer_with("a", '"' + std::string(19, 'x') + '"');
    CHECK(large.status == call_status::refused);
    CHECK(contains(large.text, "a result that has 21 bytes, more than the 20"));
    CHECK(small.take(apply_call("a"), seats{}) == large);
    CHECK(contains(answer_with("b", "{\"open\":").text, "is no JSON"));
    CHECK(contains(answer_with("c", "1 2").text, "is no JSON"));
    CHECK(contains(answer_with("d", "\"\xff\"").text, "is not UTF-8"));
    CHECK(books_of(in.db) == books{10, 0, 0, 0});
    CHECK(answer_with("e", '"' + std::string(18, 'x') + '"').status == call_status::ok);
    CHECK(answer_with("f", "").status == call_status::ok);
    CHECK(contains(refusal([&] { receiver{in.db, receiver_options{.clocks = milliseconds{-1}}}; }),
                   "receiver_options::clocks is -1 ms"));
}

TEST_CASE("sqlite receiver: a handler cannot leave its native transaction") {
    folder const files;
    office in{files.file()};
    std::string const other = files.file("other.db");
    for (std::string const& text :
         {std::string{"COMMIT"}, std::string{"ROLLBACK"}, std::string{"END"},
          std::string{"ROLLBACK TO settle_one"}, std::string{"RELEASE settle_one"},
          "ATTACH '" + other + "' AS other", std::string{"DELETE FROM settle_receiver"},
          std::string{"UPDATE settle_receiver SET status = 'refused'"},
          std::string{"DROP TABLE settle_receiver"},
          std::string{"ALTER TABLE settle_receiver ADD COLUMN more"},
          std::string{"DELETE FROM settle_receiver_meta"}}) {
        applying handler{[&](receiver_session& own, service_call const& call) {
            auto answer = seats{}.apply(own, call);
            own.change(text);
            return answer;
        }};
        auto const answer = in.airline_receiver.take(apply_call("a"), handler);
        CHECK(answer.status == call_status::unavailable);
        CHECK_MESSAGE(contains(answer.text, "not authorized"), text << ": " << answer.text);
    }
    CHECK(books_of(in.db) == books{10, 0, 0, 0});

    applying careful{[&](receiver_session& own, service_call const& call) {
        own.change("SAVEPOINT mine");
        std::ignore = seats{}.apply(own, call);
        own.change("ROLLBACK TO mine");
        own.change("RELEASE mine");
        return seats{}.apply(own, call);
    }};
    CHECK(in.airline_receiver.take(apply_call("a"), careful).status == call_status::ok);
    CHECK(books_of(in.db) == books{9, 1, 0, 0});

    applying several{[&](receiver_session& own, service_call const&) {
        own.change("UPDATE flight SET free = 0; UPDATE flight SET free = 1");
        return service_answer::ok();
    }};
    CHECK(contains(in.airline_receiver.take(apply_call("b"), several).text, "not one statement"));
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
}

TEST_CASE("sqlite receiver: a statement that a handler leaves running does not hold its call up") {
    folder const files;
    office in{files.file()};
    sqlite3_stmt* left = nullptr;
    applying handler{[&](receiver_session& own, service_call const&) {
        REQUIRE(sqlite3_prepare_v2(own.handle(),
                                   "INSERT INTO booking(key, people) VALUES('x', 1), ('y', 1) "
                                   "RETURNING number",
                                   -1, &left, nullptr) == SQLITE_OK);
        REQUIRE(sqlite3_step(left) == SQLITE_ROW);
        return service_answer::ok();
    }};
    CHECK(in.airline_receiver.take(apply_call("a"), handler).status == call_status::ok);
    CHECK(in.airline_receiver.take(apply_call("b"), seats{}).status == call_status::ok);
    CHECK(books_of(in.db).bookings == 3);
    sqlite3_finalize(left);
}

TEST_CASE("sqlite receiver: nullptr is NULL in a statement of a handler") {
    folder const files;
    office in{files.file()};
    in.db.change([](receiver_session& own) { own.change("CREATE TABLE note(text TEXT)"); }).value();
    applying handler{[&](receiver_session& own, service_call const&) {
        own.change("INSERT INTO note(text) VALUES(?1)", nullptr);
        auto const row = own.first<std::optional<std::string>>(
            "SELECT text FROM note WHERE ?1 IS NULL", nullptr);
        return row && !std::get<0>(*row) ? service_answer::ok() : service_answer::refused("none");
    }};
    CHECK(in.airline_receiver.take(apply_call("a"), handler).status == call_status::ok);
}

TEST_CASE("sqlite receiver: foreign keys of the service hold at the end of the work") {
    folder const files;
    office in{files.file()};
    in.db
        .change([](receiver_session& own) {
            own.change("CREATE TABLE person(id INTEGER PRIMARY KEY)");
            own.change("CREATE TABLE seat(person INTEGER REFERENCES person(id) "
                       "DEFERRABLE INITIALLY DEFERRED)");
        })
        .value();
    bool known = false;
    applying handler{[&](receiver_session& own, service_call const&) {
        own.change("INSERT INTO seat(person) VALUES(1)");
        if (known) own.change("INSERT INTO person(id) VALUES(1)");
        return service_answer::ok();
    }};
    auto const broken = in.airline_receiver.take(apply_call("a"), handler);
    CHECK(broken.status == call_status::unavailable);
    CHECK(contains(broken.text, "foreign key"));
    CHECK(status_of(in, "a") == std::nullopt);
    known = true;
    CHECK(in.airline_receiver.take(apply_call("a"), handler).status == call_status::ok);

    // Work that is undone breaks no foreign key.
    bool fails = false;
    applying full{[&](receiver_session& own, service_call const&) {
        own.change("INSERT INTO seat(person) VALUES(2)");
        if (fails) throw std::runtime_error{"the printer is out of paper"};
        return service_answer::refused("full");
    }};
    CHECK(in.airline_receiver.take(apply_call("b"), full) == service_answer::refused("full"));
    CHECK(status_of(in, "b") == receiver_status::refused);
    fails = true;
    CHECK(in.airline_receiver.take(apply_call("c"), full) ==
          service_answer::unavailable("the printer is out of paper"));
    CHECK(status_of(in, "c") == std::nullopt);
    CHECK(sql_value(files.file(), "SELECT count(*) FROM seat") == "1");
}

TEST_CASE("sqlite receiver: an error that ends the native transaction undoes its own call alone") {
    folder const files;
    office in{files.file()};
    in.db
        .change([](receiver_session& own) {
            own.change("CREATE TABLE once(id INTEGER PRIMARY KEY)");
            own.change("INSERT INTO once(id) VALUES(1)");
        })
        .value();
    bool hides = false;
    applying handler{[&](receiver_session& own, service_call const& call) {
        auto answer = seats{}.apply(own, call);
        if (call.request != "2") return answer;
        if (!hides) own.change("INSERT OR ROLLBACK INTO once(id) VALUES(1)");
        try {
            own.change("INSERT OR ROLLBACK INTO once(id) VALUES(1)");
        } catch (settle::failure const&) {
        }
        return answer;
    }};
    for (bool const hidden : {false, true}) {
        hides = hidden;
        std::string const prefix = hidden ? "hidden " : "thrown ";
        std::string const keys[]{prefix + "1", prefix + "2", prefix + "3"};
        std::array const calls{apply_call(keys[0]), apply_call(keys[1], "2"), apply_call(keys[2])};
        std::array<service_answer, 3> answers;
        in.airline_receiver.take_all(calls, answers, handler);
        CHECK(answers[0].status == call_status::ok);
        CHECK(answers[1].status == call_status::unavailable);
        CHECK(contains(answers[1].text, "ended the native transaction"));
        CHECK(contains(answers[1].text, "UNIQUE"));
        CHECK(answers[2].status == call_status::ok);
        CHECK(status_of(in, keys[1]) == std::nullopt);
    }
    CHECK(books_of(in.db) == books{6, 4, 0, 0});
}

TEST_CASE("sqlite receiver: a handler that calls its own receiver gets an error") {
    folder const files;
    office in{files.file()};
    service_answer inner;
    applying handler{[&](receiver_session& own, service_call const& call) {
        inner = in.airline_receiver.take(apply_call("inner"), seats{});
        return seats{}.apply(own, call);
    }};
    CHECK(in.airline_receiver.take(apply_call("outer"), handler).status == call_status::ok);
    CHECK(inner.status == call_status::unavailable);
    CHECK(contains(inner.text, "a handler called its own receiver"));
    CHECK(books_of(in.db) == books{9, 1, 0, 0});
}

} // namespace sqlite_receiver_test
