// SPDX-License-Identifier: BSL-1.0
// The coordinator as a value: copied, compared, hashed, without the heap, its epochs renamed.
#include "coordinator_steps.hpp"
#include "counted_new.hpp"

#include <unordered_map>

namespace coordinator_test {
namespace {

/// Every coordinator that one answer of the log or of the stores leads to.
[[nodiscard]] std::vector<coordinator> successors(coordinator const& from) {
    std::vector<coordinator> coordinators;
    auto const add = [&](auto&& move) {
        auto next = from;
        move(next);
        coordinators.push_back(std::move(next));
    };
    constexpr log_answer log_answers[]{log_answer::taken,       log_answer::conflict,
                                       log_answer::unavailable, log_answer::unfit,
                                       log_answer::blocked,     log_answer::unknown};
    switch (from.next()) {
    case step::insert:
        for (auto reply : log_answers) add([&](auto& c) { c.inserted(reply, false); });
        add([](auto& c) { c.inserted(log_answer::taken, true); });
        break;
    case step::claim:
        for (auto reply : log_answers) add([&](auto& c) { c.claimed(reply, false); });
        add([](auto& c) { c.claimed(log_answer::taken, true); });
        break;
    case step::commit:
    case step::commit_and_close:
        for (auto reply : log_answers) add([&](auto& c) { c.committed(reply); });
        break;
    case step::close:
        for (auto reply : log_answers) add([&](auto& c) { c.closed(reply); });
        break;
    case step::cancel:
        for (auto reply : log_answers) add([&](auto& c) { c.canceled(reply); });
        break;
    case step::read:
        add([](auto& c) { c.found_nothing(own); });
        for (auto view : {own, of_another, abandoned}) {
            for (state now : {state::initial, state::pending, state::applied, state::done,
                              state::canceling, state::canceled}) {
                standing const entry{now, first_epoch + 1, first_epoch, 1};
                add([&](auto& c) { c.found(entry, view); });
            }
        }
        break;
    case step::pause: add([](auto& c) { c.resume(); }); break;
    case step::wait: add([](auto& c) { c.look_again(); }); break;
    case step::end: break;
    default:
        for (std::size_t part = 0; part < from.parts(); ++part) {
            if (!from.due(part)) continue;
            for (answer reply : {answer::applied, answer::fenced, answer::overflow, answer::busy,
                                 answer::unavailable, answer::unknown}) {
                add([&](auto& c) { c.answered(part, reply); });
            }
        }
        add([](auto& c) { c.decide(1); });
    }
    return coordinators;
}

TEST_CASE("coordinator: equal values have equal hashes, and each member counts") {
    // All coordinators within a few steps of each first state; each has its own hash.
    std::vector<coordinator> reached{
        coordinator::begin(2, first_epoch),
        coordinator::begin(2, first_epoch + 1),
        coordinator::begin(1, first_epoch),
        coordinator::begin(2, first_epoch, goal::submit),
        coordinator::begin(2, first_epoch, goal::tombstone),
        coordinator::cancel(2),
        coordinator::cancel(2, reason::expired),
        coordinator::take(2, standing{state::pending, first_epoch, 0, 1}),
        coordinator::take(2, standing{state::pending, first_epoch, 0, 2}),
        coordinator::take(2, standing{state::applied, first_epoch, 1, 1}),
        coordinator::take(2, standing{state::applied, first_epoch, 2, 1}),
        coordinator{}};
    std::unordered_map<std::size_t, coordinator> by_hash;
    std::size_t index = 0;
    for (int depth = 0; depth < 7; ++depth) {
        std::size_t const end = reached.size();
        for (; index < end; ++index) {
            coordinator const current = reached[index];
            auto const [place, fresh] = by_hash.emplace(current.hash(), current);
            if (!fresh) {
                REQUIRE(place->second == current);
                continue;
            }
            for (auto& next : successors(current)) reached.push_back(std::move(next));
        }
    }
    for (auto const& [hash, one] : by_hash) {
        auto const copy = one;
        REQUIRE(copy == one);
        REQUIRE(copy.hash() == hash);
    }
    CHECK(by_hash.size() > 1000);
}

TEST_CASE("coordinator: a copy is independent") {
    auto const original = applying(3);
    auto copy = original;
    answer_due(copy, {answer::applied, answer::busy, answer::unknown});
    CHECK_FALSE(copy == original);
    CHECK(original.next() == step::apply);
    CHECK(due_parts(original) == std::vector<bool>{true, true, true});
    copy = original;
    CHECK(copy == original);
    CHECK(copy.hash() == original.hash());
}

TEST_CASE("coordinator: up to sixteen parts allocate no memory") {
    auto const before = counted_new::calls();
    bool as_expected = true;
    for (std::size_t parts = 1; parts <= 16; ++parts) {
        auto c = coordinator::begin(parts, first_epoch);
        c.inserted(log_answer::taken, false);
        for (std::size_t part = 0; part < parts; ++part) {
            c.answered(part, part % 2 == 0 ? answer::applied : answer::busy);
        }
        c.decide(many_attempts);
        auto copy = c;
        as_expected = as_expected && copy == c && copy.hash() == c.hash() &&
                      copy.next() == (parts == 1 ? step::commit : step::back_off);
        copy = coordinator::cancel(parts);
    }
    auto const allocated = counted_new::calls() - before;
    CHECK(as_expected);
    CHECK(allocated == 0);
}

TEST_CASE("coordinator: more than sixteen parts are kept on the heap") {
    auto c = applying(17);
    for (std::size_t part = 0; part < 16; ++part) c.answered(part, answer::applied);
    c.answered(16, answer::record_missing);
    auto copy = c;
    c.decide(many_attempts);
    CHECK(c.failed_part() == 16);
    CHECK(c.why() == reason::record_missing);
    CHECK(copy.answer_of(16) == answer::record_missing);
    CHECK_FALSE(copy == c);
}

TEST_CASE("coordinator: a search can rename every epoch that it holds") {
    auto low = coordinator::take(1, standing{state::applied, 7, 6, 0});
    low.claimed(log_answer::taken, false);
    auto high = coordinator::take(1, standing{state::applied, 1007, 1006, 0});
    high.claimed(log_answer::taken, false);
    CHECK_FALSE(low == high);
    low.visit_epochs([](settle::epoch& epoch) { epoch += epoch != 0 ? 1000 : 0; });
    CHECK(low == high);
    CHECK(low.hash() == high.hash());

    std::vector<settle::epoch> seen;
    high.visit_epochs([&](settle::epoch const& epoch) {
        if (epoch != 0) seen.push_back(epoch);
    });
    // The committed epoch, and the higher epoch of the claim, in all members that hold them.
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    CHECK(seen == std::vector<settle::epoch>{1006, 1008});

    auto tired = coordinator::take(1, standing{state::pending, 7, 0, 9});
    tired.visit_attempts([](std::uint32_t& attempts) { attempts = std::min(attempts, 3U); });
    CHECK(tired == coordinator::take(1, standing{state::pending, 7, 0, 3}));
}

} // namespace
} // namespace coordinator_test
