// SPDX-License-Identifier: BSL-1.0
// Every call that a receiver makes to the disk fails in turn, or the power is lost there. Every
// answer that a sender got stays true, and no call takes effect twice.
#include "power_vfs.hpp"

#include <receiver_service.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace receiver_disk {
namespace {

using namespace airline;
using namespace std::chrono_literals;
using power::disk;
using power::loss;
using power::trouble;

constexpr char const* path = "/receiver.db";
constexpr std::int64_t seats_at_first = 10;

struct sent {
    service_call call;
    service_answer answer{};
};

/// The calls of the story, in order.
std::vector<sent> calls_of_story() {
    return {{apply_call("a", "2")},      {apply_call("refused", "100")},
            {compensate_call("a")},      {apply_call("a", "2")},
            {apply_call("c")},           {confirm_call("c")},
            {compensate_call("d")},      {apply_call("d")},
            {apply_call("e")},           {apply_call("c")},
            {compensate_call("refused")}};
}

/// A sender that sends each call once, and remembers its answer. A receiver that cannot be opened
/// gives no answer.
std::vector<sent> play() {
    auto story = calls_of_story();
    try {
        receiver_database db{path, "airline", {.busy_timeout = 1ms}};
        create_tables(db, seats_at_first);
        settle::receiver airline_receiver{db};
        for (auto& one : story) one.answer = airline_receiver.take(one.call, seats{});
    } catch (settle::failure const& problem) {
        CHECK_MESSAGE(std::string_view{problem.what()}.starts_with("settle: "), problem.what());
    }
    return story;
}

/// The bookings that the rows of a receiver represent.
books books_by_rows(std::vector<settle::receiver_row> const& rows) {
    books books{seats_at_first};
    for (auto const& row : rows) {
        using enum receiver_status;
        auto const status = row.standing.status;
        if (status != applied && status != confirmed && status != compensated) continue;
        ++books.bookings;
        if (status == compensated) ++books.undone;
        else books.free -= row.key == "a" ? 2 : 1;
        if (status == confirmed) ++books.confirms;
    }
    return books;
}

bool was_sent(std::vector<sent> const& story, std::string_view key, call_operation operation) {
    for (auto const& one : story) {
        bool const same = one.call.key == key && one.call.operation == operation;
        if (same && one.answer.status != call_status::unavailable) return true;
    }
    return false;
}

/// Opens the database again on a good disk, and compares it with the answers.
void check(std::vector<sent> const& story) {
    receiver_database db{path, "airline", {.busy_timeout = 1ms}};
    create_tables(db, seats_at_first);
    settle::receiver airline_receiver{db};
    CHECK(books_of(db) == books_by_rows(airline_receiver.list().value()));
    // `unavailable` is certain: nothing was stored.
    for (auto const& delivery : story) {
        bool effect = false;
        for (auto const operation :
             {call_operation::apply, call_operation::confirm, call_operation::compensate}) {
            effect = effect || was_sent(story, delivery.call.key, operation);
        }
        std::string const key{delivery.call.key};
        if (!effect) CHECK_MESSAGE(!airline_receiver.find(key).value(), key);
    }
    for (auto const& delivery : story) {
        if (delivery.call.operation != call_operation::apply) continue;
        auto const& answer = delivery.answer;
        auto const again = airline_receiver.take(delivery.call, seats{});
        std::string const key{delivery.call.key};
        if (answer.status == call_status::refused) CHECK_MESSAGE(again == answer, key);
        bool const undone = was_sent(story, key, call_operation::compensate);
        if (answer.status == call_status::ok && !undone) CHECK_MESSAGE(again == answer, key);
    }
    for (auto const& one : story) {
        if (one.call.operation == call_operation::apply) continue;
        auto const again = airline_receiver.take(one.call, seats{});
        CHECK_MESSAGE(again == service_answer::ok(), again.text);
    }
    for (auto const& delivery : story) {
        bool const undone = was_sent(story, delivery.call.key, call_operation::compensate);
        if (delivery.call.operation != call_operation::apply || !undone) continue;
        CHECK(airline_receiver.take(delivery.call, seats{}).status == call_status::refused);
    }
    auto const books = books_of(db);
    CHECK(books == books_by_rows(airline_receiver.list().value()));
    CHECK(books.free == seats_at_first - 2);
    CHECK(books.confirms == 1);
}

/// The story on a disk with a fault at one of its calls.
struct faulty {
    explicit faulty(power::plan const& wrong) {
        power::vfs const files{on};
        on.arm(wrong);
        story = play();
        calls = on.calls();
        on.arm({});
        CHECK(files.open_files() == 0);
    }

    void check_after(loss kind, std::uint64_t seed) {
        disk copy = on;
        power::vfs const files{copy};
        copy.restart(kind, seed);
        check(story);
    }

    disk on;
    std::vector<sent> story;
    std::size_t calls = 0;
};

constexpr std::array every_loss{loss::all, loss::nothing, loss::some};

TEST_CASE("receiver: on a good disk the story ends as each answer says") {
    faulty good{{}};
    CHECK(good.story[0].answer == service_answer::ok(R"({"ticket":1})"));
    CHECK(good.story[1].answer.status == call_status::refused);
    CHECK(good.story[3].answer.status == call_status::refused);
    for (auto const kind : every_loss) good.check_after(kind, 1);
}

TEST_CASE("receiver: a loss of power at any call keeps every answer") {
    std::size_t const calls = faulty{{trouble::power_loss, 0, false}}.calls;
    CHECK(calls > 50);
    for (std::size_t index = 1; index <= calls; ++index) {
        faulty dark{{trouble::power_loss, index, false}};
        for (auto const kind : every_loss) {
            INFO("power lost at call " << index << " of " << calls);
            dark.check_after(kind, index);
        }
    }
}

TEST_CASE("receiver: a disk error at any call keeps every answer") {
    std::map<call_status, int> answers;
    for (auto const kind :
         {trouble::io_error, trouble::short_write, trouble::failing_sync, trouble::full}) {
        std::size_t const calls = faulty{{kind, 0, false}}.calls;
        CHECK(calls > 10);
        for (std::size_t index = 1; index <= calls; ++index) {
            for (bool const lasting : {false, true}) {
                faulty wrong{{kind, index, lasting}};
                for (auto const& one : wrong.story) ++answers[one.answer.status];
                INFO(name_of(kind) << " at call " << index << " of " << calls);
                wrong.check_after(every_loss[index % 3], index);
            }
        }
    }
    // The faults have hit commits, and work before commits.
    CHECK(answers[call_status::unknown] > 100);
    CHECK(answers[call_status::unavailable] > 100);
    CHECK(answers[call_status::ok] > 100);
}

} // namespace
} // namespace receiver_disk
