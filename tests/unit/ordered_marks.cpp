// SPDX-License-Identifier: BSL-1.0
// The container of marks: as a sorted list would be, and no dearer when there are many.
#include <settle/protocol/ordered_marks.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>

namespace {

/// A mark that counts its moves.
struct counted {
    std::string id;
    settle::part_number part;
    int value = 0;

    static inline std::size_t moves = 0;

    counted() = default;
    counted(std::string name, settle::part_number number, int carried = 0)
        : id(std::move(name)), part(number), value(carried) {}
    counted(counted const&) = default;
    counted& operator=(counted const&) = default;
    counted(counted&& other) noexcept
        : id(std::move(other.id)), part(other.part), value(other.value) {
        ++moves;
    }
    counted& operator=(counted&& other) noexcept {
        id = std::move(other.id);
        part = other.part;
        value = other.value;
        ++moves;
        return *this;
    }
    ~counted() = default;

    friend bool operator==(counted const&, counted const&) = default;
};

using marks = settle::ordered_marks<counted>;
using model = std::map<std::pair<std::string, settle::part_number>, int>;

std::string name_of(std::size_t number) { return "t" + std::to_string(10000 + number); }

void compare(marks const& stored, model const& there) {
    REQUIRE(stored.size() == there.size());
    REQUIRE(stored.empty() == there.empty());
    REQUIRE(std::equal(stored.begin(), stored.end(), there.begin(), there.end(),
                       [](counted const& left, auto const& right) {
                           return left.id == right.first.first && left.part == right.first.second &&
                                  left.value == right.second;
                       }));
}

void put(marks& stored, model& there, std::string const& id, settle::part_number part, int value) {
    stored.insert(counted{id, part, value});
    there[{id, part}] = value;
}

void erase(marks& stored, model& there, model::iterator which) {
    auto* const mark = stored.find(which->first.first, which->first.second);
    REQUIRE(mark != nullptr);
    REQUIRE(mark->value == which->second);
    stored.erase(mark);
    there.erase(which);
}

} // namespace

TEST_CASE("marks in order: they agree with a map after any changes") {
    std::mt19937_64 chance{20251121};
    for (std::size_t const most : {1U, 2U, 3U, 17U, 40U, 400U}) {
        marks stored;
        model there;
        for (int i = 0; i < 4000; ++i) {
            std::string const id = name_of(chance() % most);
            settle::part_number const part{static_cast<std::uint32_t>(chance() % 2),
                                           static_cast<std::uint32_t>(chance() % 3)};
            auto const in_model = there.find({id, part});
            auto* const found = stored.find(id, part);
            REQUIRE((found != nullptr) == (in_model != there.end()));
            if (in_model != there.end()) erase(stored, there, in_model);
            else if (there.size() < most) put(stored, there, id, part, i);
            auto const behind = stored.lower_bound(id, part);
            auto const expected = there.lower_bound({id, part});
            REQUIRE((behind == stored.end()) == (expected == there.end()));
            if (expected != there.end()) REQUIRE(behind->value == expected->second);
            if (i % 16 == 0) compare(stored, there);
        }
        marks const copy = stored;
        compare(copy, there);
        CHECK(copy == stored);
        while (!there.empty()) erase(stored, there, there.begin());
        CHECK(stored.empty());
        CHECK(stored.begin() == stored.end());
    }
}

TEST_CASE("marks in order: the same marks are equal, whatever their order of insertion") {
    marks upwards;
    marks downwards;
    for (std::size_t i = 0; i < 100; ++i) {
        upwards.insert(counted{name_of(i), {}, 7});
        downwards.insert(counted{name_of(99 - i), {}, 7});
    }
    CHECK(upwards == downwards);
    upwards.find(name_of(50), {})->value = 8;
    CHECK_FALSE(upwards == downwards);
    downwards.erase(downwards.find(name_of(99), {}));
    CHECK_FALSE(upwards == downwards);
}

TEST_CASE("marks in order: a search for a transaction visits only its marks") {
    marks stored;
    for (std::uint32_t i = 0; i < 50; ++i) {
        stored.insert(counted{"a", {0, i}, 1});
        stored.insert(counted{"b", {0, i}, 1});
        stored.insert(counted{"c", {0, i}, 1});
    }
    stored.visit("b", [](counted& counted) { counted.value = 2; });
    CHECK(std::count_if(stored.begin(), stored.end(),
                        [](auto const& one) { return one.value == 2; }) == 50);
    CHECK(stored.lower_bound("b", {})->part == settle::part_number{0, 0});
    CHECK(stored.lower_bound("b", {0, 49})->value == 2);
    CHECK(stored.lower_bound("bb", {})->id == "c");
    CHECK(stored.lower_bound("d", {}) == stored.end());
    marks alone;
    alone.insert(counted{"a", {}, 1});
    alone.visit("a", [](counted& counted) { counted.value = 2; });
    CHECK(alone.begin()->value == 2);
    CHECK(alone.lower_bound("a", {}) == alone.begin());
    CHECK(alone.lower_bound("b", {}) == alone.end());
}

TEST_CASE("marks in order: a change among a thousand marks costs a few moves") {
    constexpr std::size_t many = 1000;
    std::vector<std::size_t> order(many);
    for (std::size_t i = 0; i < many; ++i) order[i] = i;
    auto const moves_of = [&](auto&& shuffle) {
        marks marks;
        counted::moves = 0;
        shuffle(order);
        for (std::size_t const one : order) marks.insert(counted{name_of(one), {}, 0});
        shuffle(order);
        for (std::size_t const one : order) {
            marks.erase(marks.find(name_of(one), {}));
        }
        return counted::moves / (2 * many);
    };
    CHECK(moves_of([](auto& all) { std::sort(all.begin(), all.end()); }) < 16);
    CHECK(moves_of([](auto& all) { std::sort(all.rbegin(), all.rend()); }) < 16);
    std::mt19937_64 chance{7};
    CHECK(moves_of([&](auto& all) { std::shuffle(all.begin(), all.end(), chance); }) < 16);
}
