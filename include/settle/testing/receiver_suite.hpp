// SPDX-License-Identifier: BSL-1.0
// The suite for receivers: makes calls through a client, and says which grade the receiver has.
//
// The receiver may be written in any language. A test program needs a client of the service and a
// description:
//
//   settle::testing::receiver_description airline;
//   airline.service = "airline";
//   airline.accepted = R"({"flight":"LH1","people":1})";
//   airline.refused = R"({"flight":"LH1","people":100000})";
//   airline.effects = [&] { return count_of_bookings(); };
//   auto const report = settle::testing::grade_receiver(client, airline);
//   CHECK_MESSAGE(report.has(settle::barrier), report);
//
// The suite cannot see whether row and work are in one native transaction: kill the process of the
// receiver during calls, and run the suite again.
#pragma once

#include <settle/testing/receiver_suite/cases.hpp>

#include <ostream>

SETTLE_BEGIN
namespace testing {

/// The result of grade_receiver.
struct receiver_report {
    receiver_grade grade{};
    /// Why the receiver could not be graded; empty if it was.
    std::string problem;
    // The first failed case of each memory; empty if the receiver has the memory.
    std::string keys;
    std::string rows;
    std::string refusals;
    std::string closing;
    std::size_t cases = 0; ///< cases that ran

    /// True if the receiver has at least this grade.
    [[nodiscard]] bool has(receiver_grade needed) const {
        return problem.empty() && (grade | needed) == grade;
    }

    friend std::ostream& operator<<(std::ostream& out, receiver_report const& report) {
        if (!report.problem.empty()) return out << report.problem;
        out << "grade: " << receivers::text_of(report.grade) << ", " << report.cases << " cases";
        auto const add = [&](std::string_view memory, std::string const& failed) {
            if (!failed.empty()) out << "\n  no " << memory << ": " << failed;
        };
        add("keys", report.keys);
        add("rows", report.rows);
        add("refusals", report.refusals);
        add("closing", report.closing);
        return out;
    }
};

namespace receivers {

/// Runs cases until the first that fails; returns its text.
inline std::string first_failure(trial& trial, std::span<receiver_case const> cases,
                                 std::size_t& count) {
    for (auto const& test_case : cases) {
        ++count;
        std::string const wrong = test_case.run(trial);
        if (wrong.empty()) continue;
        trial.check_room();
        return std::string{test_case.name} + ": " + wrong;
    }
    return {};
}

} // namespace receivers

/// Runs every case, and says which grade the receiver has.
/// Shape:   no other program uses the receiver meanwhile. The suite makes new keys at each call
/// Errors:  receiver_report::problem, if the client answers `unknown`, or if the description does
///          not fit the receiver
template <ServiceClient Client>
[[nodiscard]] receiver_report grade_receiver(Client& client,
                                             receiver_description const& description) {
    using namespace receivers;
    receiver_report report;
    report.problem = fault_of(description);
    if (!report.problem.empty()) return report;
    receivers::trial tried{description,
                           [&](std::span<service_call const> calls,
                               std::span<service_answer> answers) { client.send(calls, answers); }};
    try {
        report.problem = first_failure(tried, basic_cases, report.cases);
        if (!report.problem.empty()) {
            report.problem =
                "settle: the description does not fit the receiver: " + report.problem +
                ". See receivers#grade-a-receiver";
            return report;
        }
        report.keys = first_failure(tried, key_cases, report.cases);
        report.rows =
            report.keys.empty() ? first_failure(tried, row_cases, report.cases) : report.keys;
        report.refusals = first_failure(tried, refusal_cases, report.cases);
        report.closing = first_failure(tried, closing_cases, report.cases);
    } catch (not_answered const& thrown) {
        report.problem = thrown.what();
        return report;
    }
    using enum receiver_grade::memory;
    report.grade.remembers = !report.keys.empty() ? nothing : !report.rows.empty() ? keys : rows;
    report.grade.keeps_refusals = report.refusals.empty();
    report.grade.closes_keys = report.closing.empty();
    return report;
}

} // namespace testing
SETTLE_END
