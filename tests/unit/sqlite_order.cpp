// SPDX-License-Identifier: BSL-1.0
// The order of a table's keys, byte by byte, and of a record's marks.
#include "sqlite_file.hpp"

#include <settle/sqlite/records/key_order.hpp>

#include <algorithm>
#include <limits>
#include <random>

namespace sqlite_test {
namespace {

using settle::sqlite::detail::in_order;
using settle::sqlite::detail::key_sorter;

/// The indexes of keys in their order.
template <typename Key>
std::vector<std::size_t> indexes_of(std::vector<Key> const& keys) {
    std::vector<in_order> elements;
    for (std::size_t i = 0; i < keys.size(); ++i) elements.push_back({i});
    key_sorter{}.sort(elements, [&](std::size_t index) {
        if constexpr (std::is_same_v<Key, std::string>) return std::string_view{keys[index]};
        else return keys[index];
    });
    std::vector<std::size_t> indexes;
    for (auto const& one : elements) indexes.push_back(one.index);
    return indexes;
}

template <typename Key>
bool in_their_order(std::vector<Key> const& keys) {
    auto const indexes = indexes_of(keys);
    return std::is_sorted(indexes.begin(), indexes.end(), [&](std::size_t left, std::size_t right) {
        return keys[left] < keys[right];
    });
}

TEST_CASE("sqlite order: texts are sorted by their bytes, with any common prefix") {
    CHECK(indexes_of(std::vector<std::string>{}).empty());
    CHECK(indexes_of(std::vector<std::string>{"only"}) == std::vector<std::size_t>{0});
    CHECK(indexes_of(std::vector<std::string>{"ab", "a", "abc"}) ==
          std::vector<std::size_t>{1, 0, 2});
    CHECK(indexes_of(std::vector<std::string>{"\xC3\xA4", "z", "Z", "~"}) ==
          std::vector<std::size_t>{2, 1, 3, 0});
    CHECK(indexes_of(std::vector<std::string>{"x-12345678-2", "x-12345678-1", "x-12345678"}) ==
          std::vector<std::size_t>{2, 1, 0});

    std::mt19937_64 chance{11};
    for (std::string const common : {"", "a", "account-", "account-account-account-"}) {
        for (std::size_t const most : {1U, 3U, 8U, 20U}) {
            std::vector<std::string> keys;
            for (int i = 0; i < 200; ++i) {
                auto& key = keys.emplace_back(common);
                for (auto left = chance() % (most + 1); left > 0; --left) {
                    key += static_cast<char>(chance() % 3 == 0 ? 'a' : 1 + chance() % 255);
                }
            }
            CHECK(in_their_order(keys));
        }
    }
}

TEST_CASE("sqlite order: numbers are sorted by value, negative numbers first") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(in_their_order(std::vector<std::int64_t>{5, -1, most, 0, least, 1, -5}));
}

TEST_CASE("sqlite order: the marks of a record are sorted by transaction and part") {
    std::vector<settle::transaction_id> const ids{"b", "a", "c"};
    std::vector<in_order> elements;
    for (auto const& id : ids) {
        for (std::uint32_t const participant : {1U, 0U})
            elements.push_back({7, &id, {participant, 0}});
    }
    key_sorter{}.sort(elements, [](std::size_t) { return std::string_view{"key"}; });
    std::string seen;
    for (auto const& one : elements) seen += *one.id + std::to_string(one.part.participant) + " ";
    CHECK(seen == "a0 a1 b0 b1 c0 c1 ");
}

TEST_CASE("sqlite order: a sort does not depend on the sort before it") {
    std::vector<std::string> keys{"d", "b", "a", "c"};
    std::vector<settle::transaction_id> ids{"1", "2", "3", "4"};
    auto const key_of = [&](std::size_t index) { return std::string_view{keys[index]}; };
    settle::sqlite::detail::key_sorter sorter;
    auto const sorted = [&](std::vector<std::size_t> const& indexes) {
        std::vector<in_order> elements;
        for (std::size_t i = 0; i < indexes.size(); ++i)
            elements.push_back({indexes[i], &ids[i], {}});
        sorter.sort(elements, key_of);
        std::string seen;
        for (auto const& one : elements) seen += keys[one.index] + *one.id + " ";
        return seen;
    };
    CHECK(sorted({0, 1, 2, 3}) == "a3 b2 c4 d1 ");
    CHECK(sorted({0, 1, 2, 3}) == "a3 b2 c4 d1 "); // the same again
    CHECK(sorted({3, 2, 1, 0}) == "a2 b3 c1 d4 "); // others, as many
    keys[3] = "z";
    CHECK(sorted({3, 2, 1, 0}) == "a2 b3 d4 z1 "); // the same indexes of other keys
    CHECK(sorted({1, 1, 0, 1}) == "b1 b2 b4 d3 "); // marks of one record, by their ids
    std::swap(ids[0], ids[1]);
    CHECK(sorted({1, 1, 0, 1}) == "b1 b2 b4 d3 "); // the same marks, given the other way round
    CHECK(sorted({0, 1, 2}) == "a3 b1 d2 ");
    CHECK(sorted({0, 1, 2, 3}) == "a3 b1 d2 z4 ");
}

} // namespace
} // namespace sqlite_test
