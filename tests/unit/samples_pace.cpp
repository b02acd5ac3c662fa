// SPDX-License-Identifier: BSL-1.0
// The samples share work among threads, and remember records that they have read.
#include <shared/open_records.hpp>
#include <shared/pulled.hpp>
#include <shared/shares.hpp>

#include <doctest/doctest.h>

#include <range/v3/range/concepts.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using pieces = std::vector<std::vector<std::string>>;
using numbers = std::vector<std::vector<std::size_t>>;

numbers split(pieces const& all, std::size_t threads) {
    samples::shares kin;
    for (auto const& piece : all) {
        kin.begin_piece();
        for (auto const& name : piece) kin.touches(name);
    }
    return kin.split(threads);
}

/// Fails unless each order is in one share, in order, and no name is in two shares.
void check_shares(pieces const& all, numbers const& found) {
    std::map<std::string, std::size_t> owner;
    std::vector<int> count(all.size());
    for (std::size_t thread = 0; thread < found.size(); ++thread) {
        CHECK(std::is_sorted(found[thread].begin(), found[thread].end()));
        for (std::size_t const piece : found[thread]) {
            ++count[piece];
            for (auto const& name : all[piece]) {
                CHECK(owner.emplace(name, thread).first->second == thread);
            }
        }
    }
    CHECK(std::count(count.begin(), count.end(), 1) == static_cast<std::ptrdiff_t>(all.size()));
}

/// Counts its calls.
struct counting_engine {
    struct collection {
        using key_type = std::string;
        static constexpr std::string_view name = "things";
    };

    settle::result<std::optional<int>> read(collection const&, std::string const& key) {
        ++reads;
        if (key == "damaged") return {settle::errc::damaged, "it is damaged"};
        if (key == "far away") return {settle::errc::store_unreachable, "nobody answers"};
        return key == "none" ? std::optional<int>{} : std::optional<int>{1};
    }
    int reads = 0;
};

} // namespace

TEST_SUITE("samples: pace") {
    TEST_CASE("shares: orders without a common record are shared out evenly") {
        pieces all;
        for (int i = 0; i < 100; ++i) all.push_back({"a" + std::to_string(i)});
        auto const found = split(all, 4);
        REQUIRE(found.size() == 4);
        for (auto const& one : found) CHECK(one.size() == 25);
        check_shares(all, found);
    }

    TEST_CASE("shares: a chain is one share, although its ends have nothing in common") {
        pieces const all{{"a", "b"}, {"x"}, {"c", "d"}, {"b", "c"}, {"y"}};
        auto const found = split(all, 2);
        CHECK(found == numbers{{0, 2, 3}, {1, 4}});
    }

    TEST_CASE("shares: a record that all orders touch gives one share") {
        pieces const all{{"till", "a"}, {"till", "b"}, {"c", "till"}};
        CHECK(split(all, 8) == numbers{{0, 1, 2}});
    }

    TEST_CASE("shares: no orders, no threads, and more threads than orders are handled") {
        CHECK(split({}, 3).empty());
        CHECK(split({{"a"}}, 64) == numbers{{0}});
        CHECK(split({{"a"}, {"b"}}, 1) == numbers{{0, 1}});
    }

    TEST_CASE("shares: each order has one share, in order, and no name is on two threads") {
        std::mt19937 chance{7};
        for (unsigned round = 0; round < 50; ++round) {
            pieces all(200);
            for (auto& piece : all) {
                for (int i = 0; i < 2; ++i) piece.push_back(std::to_string(chance() % 300));
            }
            auto const found = split(all, 1 + round % 7);
            CHECK(found.size() <= 1 + round % 7);
            check_shares(all, found);
        }
    }

    TEST_CASE("pulled: a range of a function's values ends with them") {
        static_assert(ranges::input_range<samples::pulled<int>>);
        int given = 0;
        samples::pulled<int> range{[&](int& next) { return (next = ++given) <= 3; }};
        std::vector<int> seen;
        for (int const one : range) seen.push_back(one);
        CHECK(seen == std::vector{1, 2, 3});
        CHECK(given == 4);
        samples::pulled<int> empty{[](int&) { return false; }};
        CHECK(empty.begin() == empty.end());
    }

    TEST_CASE("open records: only a record that was not seen is looked up again") {
        counting_engine engine;
        samples::open_records<counting_engine> open{engine};
        for (int i = 0; i < 3; ++i) {
            CHECK(open.has(counting_engine::collection{}, "one"));
            CHECK_FALSE(open.has(counting_engine::collection{}, "none"));
        }
        CHECK(engine.reads == 1 + 3);
        // The number of remembered records has a bound.
        for (int i = 0; i < 120'000; ++i)
            open.has(counting_engine::collection{}, std::to_string(i));
        CHECK(open.has(counting_engine::collection{}, "one"));
        CHECK(engine.reads == 1 + 3 + 120'000 + 1);
        // A damaged record is reported by its transaction; an unreachable store is reported at
        // once.
        CHECK(open.has(counting_engine::collection{}, "damaged"));
        CHECK_THROWS_AS(open.has(counting_engine::collection{}, "far away"), settle::failure);
    }

    TEST_CASE("open records: records of two collections have different names") {
        CHECK(samples::record_name("a", "b/c") != samples::record_name("b", "a/c"));
        CHECK(samples::record_name("orders", "1") != samples::record_name("order", "s1"));
    }
}
