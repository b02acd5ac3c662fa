// SPDX-License-Identifier: BSL-1.0
// Where marks are in their table, for databases that find a row by its place faster than by its
// key.
#pragma once

#include <settle/protocol/state.hpp>

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// A mark of a wave.
struct mark_name {
    std::string_view id;
    part_number part;
};

/// The places of marks that this program has added, and not ended. A place is a hint: a statement
/// that uses it compares the mark, too. Threads may share the places.
class mark_places {
public:
    /// Shape:   place_of(number) - of a mark in `names`
    template <typename PlaceOf>
    void keep(std::span<mark_name const> names, PlaceOf&& place_of) {
        std::lock_guard const guard{mutex_};
        // Marks that were undone leave their places behind.
        if (places_.size() > most) places_.clear();
        for (std::size_t number = 0; number < names.size(); ++number) {
            places_.insert_or_assign(key_of(names[number]), std::string{place_of(number)});
        }
    }
    /// Takes the places of some marks out. Empty if one of them is not known.
    [[nodiscard]] std::vector<std::string> take(std::span<mark_name const> names) {
        std::vector<std::string> places;
        std::lock_guard const guard{mutex_};
        for (auto const& name : names) {
            auto taken = places_.extract(key_of(name));
            if (taken.empty()) return {};
            places.push_back(std::move(taken.mapped()));
        }
        return places;
    }

private:
    static constexpr std::size_t most = 20'000;

    [[nodiscard]] static std::string key_of(mark_name const& name) {
        std::string key{name.id};
        return key.append(" ")
            .append(std::to_string(name.part.participant))
            .append(" ")
            .append(std::to_string(name.part.line));
    }

    std::mutex mutex_;
    std::unordered_map<std::string, std::string> places_;
};

} // namespace detail::sql
SETTLE_END
