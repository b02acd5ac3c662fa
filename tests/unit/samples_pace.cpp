// SPDX-License-Identifier: BSL-1.0
// The samples share work among threads.
#include <shared/shares.hpp>

#include <doctest/doctest.h>

#include <algorithm>
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

} // namespace

TEST_SUITE("samples: pace") {
    TEST_CASE("shares: orders with a common record stay together, the others are shared out") {
        CHECK(split({{"a", "b"}, {"x"}, {"c", "d"}, {"b", "c"}, {"y"}}, 2) ==
              numbers{{0, 2, 3}, {1, 4}});
        CHECK(split({{"till", "a"}, {"till", "b"}, {"c", "till"}}, 8) == numbers{{0, 1, 2}});
        CHECK(split({}, 3).empty());
        CHECK(split({{"a"}, {"b"}}, 1) == numbers{{0, 1}});
        CHECK(split({{"a"}, {"b"}, {"c"}, {"d"}}, 2) == numbers{{0, 2}, {1, 3}});
    }

    TEST_CASE("shares: each order has one share, in order, and no name is on two threads") {
        std::mt19937 chance{7};
        for (unsigned round = 0; round < 50; ++round) {
            pieces orders(200);
            for (auto& piece : orders) {
                for (int i = 0; i < 2; ++i) piece.push_back(std::to_string(chance() % 300));
            }
            auto const shares = split(orders, 1 + round % 7);
            CHECK(shares.size() <= 1 + round % 7);
            std::map<std::string, std::size_t> owner;
            std::size_t count = 0;
            for (std::size_t thread = 0; thread < shares.size(); ++thread) {
                CHECK(std::is_sorted(shares[thread].begin(), shares[thread].end()));
                count += shares[thread].size();
                for (std::size_t const piece : shares[thread]) {
                    for (auto const& name : orders[piece]) {
                        CHECK(owner.emplace(name, thread).first->second == thread);
                    }
                }
            }
            CHECK(count == orders.size());
        }
    }
}
