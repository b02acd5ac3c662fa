// SPDX-License-Identifier: BSL-1.0
// Remembers which records are open, to save repeated reads.
#pragma once

#include <settle/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace samples {

/// A record's name, unique among all collections.
inline std::string record_name(std::string_view collection, std::string_view key) {
    // A collection's name holds no slash, so the names are unique.
    return std::string{collection}.append(1, '/').append(key);
}

/// Records that were found. The samples erase no record, so a found record stays.
/// Memory:  at most `most` names
template <typename Engine>
class open_records {
public:
    explicit open_records(Engine& engine) : engine_(&engine) {}

    /// Errors:  settle::failure when the store cannot be read
    template <typename Collection>
    bool has(Collection const& collection, typename Collection::key_type const& key) {
        auto name = record_name(Collection::name, key);
        if (seen_.contains(name)) return true;
        auto const found = engine_->read(collection, key);
        // A damaged record exists; its transaction reports the damage.
        if (!found.has_value() && found.problem().code == settle::errc::damaged) return true;
        if (!found.value()) return false;
        // Clearing is rare, and costs one read for each record.
        if (seen_.size() == most) seen_.clear();
        seen_.insert(std::move(name));
        return true;
    }

private:
    static constexpr std::size_t most = 50'000;

    Engine* engine_;
    std::unordered_set<std::string> seen_;
};

} // namespace samples
