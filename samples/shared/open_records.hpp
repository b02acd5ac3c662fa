// SPDX-License-Identifier: BSL-1.0
// Which records are open, remembered, so that a store is not asked of the same one again and again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace samples {

/// How a record is called beside those of other collections.
inline std::string record_name(std::string_view collection, std::string_view key) {
    // No name of a collection holds a slash, so no two records are called the same.
    return std::string{collection}.append(1, '/').append(key);
}

/// Records that were seen once. The samples never erase one, so what was there is there.
/// Memory:  as many names as `most`
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
        // What is damaged is there; its transaction is told why nothing can be done with it.
        if (!found.has_value() && found.problem().code == settle::errc::damaged) return true;
        if (!found.value()) return false;
        // Beginning anew is rare, and costs one look at each of them.
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
