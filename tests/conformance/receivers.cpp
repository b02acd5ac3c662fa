// SPDX-License-Identifier: BSL-1.0
// The suite for receivers: the receiver on SQLite has the grade barrier, and receivers with less
// memory get exactly their grades.
#include "fixtures.hpp"

#include <receiver_service.hpp>

#include <settle/testing/receiver_suite.hpp>

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace receivers_test {

using namespace airline;
using settle::receiver_grade;
using settle::testing::grade_receiver;
using settle::testing::receiver_description;
using settle::testing::receiver_report;

receiver_description description() {
    receiver_description description;
    description.service = "airline";
    description.accepted = "1";
    description.refused = "1000000";
    description.query = "1";
    description.confirms_alone = true;
    description.patience = std::chrono::milliseconds{200};
    return description;
}

/// The airline in this process, which takes the calls of a wave in threads.
struct threaded_client {
    std::optional<receiver_database>* db;

    void send(std::span<service_call const> calls, std::span<service_answer> answers) const {
        settle::receiver airline_receiver{**db};
        std::vector<std::jthread> threads;
        for (std::size_t at = 1; at < calls.size(); ++at) {
            threads.emplace_back(
                [&, at] { answers[at] = airline_receiver.take(calls[at], seats{}); });
        }
        answers[0] = airline_receiver.take(calls[0], seats{});
    }
};
static_assert(settle::ServiceClient<threaded_client>);

TEST_CASE("receiver suite: the receiver on SQLite has the grade barrier") {
    settle_test::scratch_file const file;
    std::optional<receiver_database> db;
    auto const open = [&] {
        db.reset();
        db.emplace(file.path(), "airline");
        create_tables(*db, 1000);
    };
    open();
    auto airline_description = description();
    airline_description.effects = [&] {
        auto const seen = books_of(*db);
        return seen.bookings - seen.undone;
    };
    airline_description.confirms = [&] { return books_of(*db).confirms; };
    airline_description.close = [&](std::string_view key) {
        auto const status = settle::receiver{*db}.close(key).value().standing.status;
        return status != receiver_status::applied && status != receiver_status::confirmed;
    };
    airline_description.restart = open;
    threaded_client client{&db};
    auto const report = grade_receiver(client, airline_description);
    CHECK_MESSAGE(report.grade == settle::barrier, report);
    CHECK(report.cases == 34);
    CHECK(report.problem == "");
}

/// An airline in memory with a chosen memory of its calls. Its row and work are always together.
class weak_airline {
public:
    explicit weak_airline(receiver_grade grade) : grade_(grade) {}

    void send(std::span<service_call const> calls, std::span<service_answer> answers) {
        for (std::size_t at = 0; at < calls.size(); ++at) answers[at] = take(calls[at]);
    }

    service_answer take(service_call const& call) {
        if (call.operation == call_operation::query) return service_answer::ok("10");
        std::string const key{call.key};
        bool const applies = call.operation == call_operation::apply;
        if (applies && closed_.contains(key)) return service_answer::refused("closed");
        if (applies && refused_.contains(key)) return service_answer::refused("too few seats");
        auto const step = std::pair{key, call.operation};
        bool const remembers = grade_.remembers != receiver_grade::memory::nothing;
        if (remembers && answers_.contains(step)) return answers_.at(step);
        if (grade_.remembers == receiver_grade::memory::rows) {
            bool const undone = answers_.contains({key, call_operation::compensate});
            if (applies && undone) return service_answer::refused("compensated");
            bool const applied = answers_.contains({key, call_operation::apply});
            bool const alone = call.operation == call_operation::confirm && !call.has_apply;
            if (!applies && !applied && !alone) return keep(step, service_answer::ok());
            if (applies && call.last_moment < settle::system_environment{}.now()) {
                // Only its own memory keeps this refusal, whatever the grade.
                late_.insert(key);
            }
            if (applies && late_.contains(key)) return service_answer::refused("too late");
        }
        return work(call, step);
    }

    /// Loses the memory of the confirms of applied parts.
    void forget_confirms() {
        std::erase_if(answers_, [&](auto const& answer) {
            auto const& [key, operation] = answer.first;
            bool const applied = answers_.contains({key, call_operation::apply});
            return operation == call_operation::confirm && applied;
        });
    }

    bool close(std::string_view key) {
        if (answers_.contains({std::string{key}, call_operation::apply})) return false;
        closed_.insert(std::string{key});
        return true;
    }

    [[nodiscard]] receiver_description describe() {
        auto airline_description = description();
        airline_description.effects = [this] { return effects; };
        airline_description.confirms = [this] { return confirms; };
        if (grade_.closes_keys) {
            airline_description.close = [this](std::string_view key) { return close(key); };
        }
        airline_description.restart = [] {};
        return airline_description;
    }

    std::int64_t effects = 0;
    std::int64_t confirms = 0;

private:
    using step_of = std::pair<std::string, call_operation>;

    service_answer work(service_call const& call, step_of const& step) {
        switch (call.operation) {
        case call_operation::apply:
            if (call.request != "1") {
                if (grade_.keeps_refusals) refused_.insert(step.first);
                return service_answer::refused("too few seats");
            }
            ++effects;
            return keep(step, service_answer::ok(std::to_string(++tickets_)));
        case call_operation::confirm: ++confirms; break;
        case call_operation::compensate: --effects; break;
        case call_operation::query: break;
        }
        return keep(step, service_answer::ok());
    }
    service_answer keep(step_of const& step, service_answer answer) {
        answers_[step] = answer;
        return answer;
    }

    receiver_grade grade_;
    std::map<step_of, service_answer> answers_;
    std::set<std::string> refused_;
    std::set<std::string> closed_;
    std::set<std::string> late_;
    std::int64_t tickets_ = 0;
};

receiver_report report_of(receiver_grade grade) {
    weak_airline weak{grade};
    return grade_receiver(weak, weak.describe());
}

TEST_CASE("receiver suite: a receiver gets exactly the grade of its memory") {
    using enum receiver_grade::memory;
    for (auto const memory : {nothing, keys, rows}) {
        for (bool const refusals : {false, true}) {
            for (bool const closing : {false, true}) {
                receiver_grade const grade{memory, refusals, closing};
                auto const report = report_of(grade);
                CHECK_MESSAGE(report.grade == grade, report);
                CHECK(report.has(grade));
                CHECK(report.has(settle::plain));
                CHECK(report.has(settle::barrier) == (grade == settle::barrier));
            }
        }
    }
}

TEST_CASE("receiver suite: a report names the first case that each higher grade fails") {
    std::ostringstream plain;
    plain << report_of(settle::plain);
    CHECK(plain.str() ==
          "grade: plain, 11 cases\n"
          "  no keys: a repeated apply: the number of effects changed by 1, and must change by 0\n"
          "  no rows: a repeated apply: the number of effects changed by 1, and must change by 0\n"
          "  no refusals: a refused key whose request would be accepted now: the answer is ok, and "
          "must be refused\n"
          "  no closing: a way to close a key: the description has no function that closes a key");
    std::ostringstream keys;
    keys << report_of(settle::remembers_keys | settle::keeps_refusals);
    CHECK(keys.str() ==
          "grade: remembers_keys | keeps_refusals, 23 cases\n"
          "  no rows: a compensate before its apply: the number of effects changed by -1, and must "
          "change by 0\n"
          "  no closing: a way to close a key: the description has no function that closes a key");
    CHECK(report_of(settle::barrier).rows == "");
}

/// An airline with one fault, which a case must find.
template <typename Fault>
struct faulty_airline {
    weak_airline whole{settle::barrier};
    Fault fault;
    int calls = 0;

    void send(std::span<service_call const> calls_of, std::span<service_answer> answers) {
        for (std::size_t at = 0; at < calls_of.size(); ++at) {
            answers[at] = fault(whole, calls_of[at], calls_of.size());
        }
    }
};

template <typename Fault>
receiver_report report_with(Fault fault) {
    faulty_airline<Fault> made{weak_airline{settle::barrier}, fault};
    return grade_receiver(made, made.whole.describe());
}

TEST_CASE("receiver suite: each fault of a barrier fails its own case") {
    auto const begins = [](std::string const& text, std::string_view with) {
        CHECK_MESSAGE(text.starts_with(with), text);
    };
    int text_number = 0;
    begins(report_with([&](weak_airline& in, service_call const& call, std::size_t) {
               auto answer = in.take(call);
               bool const new_text =
                   answer.status == call_status::ok && call.operation == call_operation::apply;
               if (new_text) answer.text = std::to_string(++text_number);
               return answer;
           }).keys,
           "a repeated apply: the first answer is ok");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               if (call.operation == call_operation::confirm) ++in.confirms;
               return in.take(call);
           }).problem,
           "settle: the description does not fit the receiver: a confirm: the number of confirms "
           "changed by 2");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t count) {
               bool const applies = call.operation == call_operation::apply;
               if (count > 1 && applies) ++in.effects;
               return in.take(call);
           }).keys,
           "copies of an apply at the same time: the number of effects changed by 9");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t count) {
               bool const undoes = call.operation == call_operation::compensate;
               if (count > 1 && undoes) --in.effects;
               return in.take(call);
           }).keys,
           "copies of a compensate at the same time: the number of effects changed by -9");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t count) {
               bool const confirms = call.operation == call_operation::confirm;
               if (count > 1 && confirms && call.has_apply) ++in.confirms;
               return in.take(call);
           }).keys,
           "copies of a confirm at the same time: the number of confirms changed by 9");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               auto late = call;
               late.last_moment = timestamp::max();
               return in.take(late);
           }).rows,
           "a first apply after its last moment: the answer is ok");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               auto const now = settle::system_environment{}.now();
               bool const late = call.last_moment < now;
               return late ? service_answer::refused("late") : in.take(call);
           }).rows,
           "a first apply after its last moment: the number of effects changed by 1");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               auto applied = call;
               if (call.operation == call_operation::query)
                   applied.operation = call_operation::apply;
               return in.take(applied);
           }).problem,
           "settle: the description does not fit the receiver: a query: the number of effects "
           "changed by 1");
    std::set<std::string> queried;
    begins(report_with([&](weak_airline& in, service_call const& call, std::size_t) {
               bool const asks = call.operation == call_operation::query;
               if (asks) queried.insert(std::string{call.key});
               bool const noted = !asks && queried.contains(std::string{call.key});
               return noted ? service_answer::ok("10") : in.take(call);
           }).problem,
           "settle: the description does not fit the receiver: a query: the number of effects "
           "changed by 0");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               if (call.operation == call_operation::confirm && !call.has_apply) ++in.confirms;
               return in.take(call);
           }).problem,
           "settle: the description does not fit the receiver: a confirm without an apply: the "
           "number of confirms changed by 2");
    std::set<std::string> seen;
    begins(report_with([&](weak_airline& in, service_call const& call, std::size_t) {
               bool const again = !seen.insert(std::string{call.key}).second;
               if (call.operation == call_operation::confirm && !call.has_apply && again)
                   ++in.confirms;
               return in.take(call);
           }).keys,
           "a repeated confirm without an apply: the number of confirms changed by 1");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               auto const now = settle::system_environment{}.now();
               bool const late = !call.has_apply && call.last_moment < now;
               return late ? service_answer::ok() : in.take(call);
           }).rows,
           "a confirm without an apply after the last moment: the number of confirms changed by 0");
    begins(report_with([](weak_airline& in, service_call const& call, std::size_t) {
               auto alone = call;
               alone.has_apply = false;
               return in.take(alone);
           }).rows,
           "a confirm whose row was purged: the number of confirms changed by 1");
    begins(report_with([](weak_airline&, service_call const&, std::size_t) {
               return service_answer::unknown("the network is down");
           }).problem,
           "settle: the receiver cannot be graded, since a call of apply is unknown: the network");
    begins(report_with([](weak_airline&, service_call const&, std::size_t) {
               return service_answer::unavailable("closed for the holidays");
           }).problem,
           "settle: the receiver cannot be graded, since a call of apply is unavailable: closed");
}

TEST_CASE("receiver suite: a receiver must remember its confirms over a restart") {
    weak_airline weak{settle::barrier};
    auto of = weak.describe();
    of.restart = [&] { weak.forget_confirms(); };
    auto const report = grade_receiver(weak, of);
    CHECK(report.grade.remembers == receiver_grade::memory::nothing);
    CHECK(report.keys == "a repeated confirm after a restart: the number of confirms changed by 1, "
                         "and must change by 0");
}

TEST_CASE("receiver suite: a service without room is not graded, and the report says why") {
    auto const report = report_with([](weak_airline& in, service_call const& call, std::size_t) {
        bool const full = in.effects == 3 && call.operation == call_operation::apply;
        return full ? service_answer::refused("no seat left") : in.take(call);
    });
    CHECK(report.problem == "settle: the receiver cannot be graded, since it refuses the request "
                            "receiver_description::accepted: no seat left. Give the service room "
                            "for 50 effects. See receivers#grade-a-receiver");
}

TEST_CASE("receiver suite: a description that lacks what the suite needs is refused") {
    weak_airline weak{settle::barrier};
    auto airline_description = weak.describe();
    airline_description.effects = nullptr;
    CHECK(grade_receiver(weak, airline_description).problem.find("effects is empty") !=
          std::string::npos);
    airline_description = weak.describe();
    airline_description.accepted = "";
    CHECK(grade_receiver(weak, airline_description).problem.find("accepted is empty") !=
          std::string::npos);
    airline_description = weak.describe();
    airline_description.refused = "";
    auto const report = grade_receiver(weak, airline_description);
    CHECK(report.grade == (settle::remembers_keys | settle::closes_keys |
                           receiver_grade{receiver_grade::memory::rows}));
    CHECK(report.refusals == "a refused request: the description has no request that is refused");
}

} // namespace receivers_test
