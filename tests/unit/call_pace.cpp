// SPDX-License-Identifier: BSL-1.0
// The pace of the calls of a service, by a clock of the test.
#include <settle/kinds/services/call_pace.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace call_pace_test {

using settle::call_pace;
using settle::call_status;
using namespace std::chrono_literals;
using moment = call_pace::moment;

namespace {

/// The times of the calls that are made when calls always wait.
/// Shape:   status - of each answer, which comes at once
std::vector<moment> times_of(call_pace& pace, moment from, moment to, call_status status) {
    std::vector<moment> calls;
    for (moment now = from; now < to;) {
        if (pace.next() > now) {
            now = pace.next();
            continue;
        }
        pace.note_call(now);
        pace.note_answer(status);
        calls.push_back(now);
        now += 100us;
    }
    return calls;
}

/// The most calls within any second.
std::size_t most_in_a_second(std::vector<moment> const& times) {
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < times.size(); ++last) {
        while (times[last] - times[first] >= 1s) ++first;
        most = std::max(most, last - first + 1);
    }
    return most;
}

moment const begin{1h};

} // namespace

TEST_CASE("call pace: a service that fails gets few calls, until one is answered") {
    call_pace pace{{0, 10}};
    auto const failed = times_of(pace, begin, begin + 60s, call_status::unavailable);
    std::vector<moment> const slow(failed.begin() + call_pace::failures_to_slow, failed.end());
    CHECK(most_in_a_second(slow) <= 11);
    // It is asked all the same.
    CHECK(slow.size() >= 590);
    CHECK(slow.size() <= 601);
    CHECK(pace.is_failing());
    pace.note_answer(call_status::refused);
    CHECK_FALSE(pace.is_failing());
    CHECK(times_of(pace, begin + 60s, begin + 61s, call_status::ok).size() == 10'000);
}

TEST_CASE("call pace: single failures slow no service") {
    call_pace pace{{0, 10}};
    for (int round = 0; round < 100; ++round) {
        for (std::size_t failure = 1; failure < call_pace::failures_to_slow; ++failure) {
            CHECK(pace.next() <= begin);
            pace.note_call(begin);
            pace.note_answer(round % 2 == 0 ? call_status::unknown : call_status::unavailable);
        }
        pace.note_answer(call_status::ok);
    }
    CHECK_FALSE(pace.is_failing());
}

TEST_CASE("call pace: a service gets its calls of a second, and no more") {
    call_pace pace{{200, 10}};
    auto const calls = times_of(pace, begin, begin + 10s, call_status::ok);
    CHECK(calls.size() >= 1990);
    // After a rest, calls of a tenth of a second come together.
    CHECK(most_in_a_second(calls) <= 222);
    auto const failed = times_of(pace, begin + 10s, begin + 20s, call_status::unknown);
    CHECK(failed.size() <= call_pace::failures_to_slow + 101);
}

TEST_CASE("call pace: processes that share a limit have their part of it") {
    call_pace pace{{200, 10}};
    pace.note_call(begin, 50);
    pace.note_call(begin, 50);
    // None of them come together after a rest.
    CHECK(pace.next() == begin + 500ms);
}

TEST_CASE("call pace: a limit of failing services above the usual one changes nothing") {
    call_pace pace{{5, 10}};
    auto const failed = times_of(pace, begin, begin + 20s, call_status::unavailable);
    CHECK(failed.size() <= 101);
    CHECK(failed.size() >= 99);
}

} // namespace call_pace_test
