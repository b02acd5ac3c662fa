// SPDX-License-Identifier: BSL-1.0
// Finds names that look alike: they differ only in invisible ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace samples {

/// The name without outer spaces and invisible characters, with single spaces, and with every
/// character in compatibility form (Unicode's NFKC). Two names with the same form look alike.
std::string visible_form(std::string_view name);

/// The end of a remark on names that look alike.
inline constexpr std::string_view alike_words =
    "differ only in spaces, invisible characters or the encoding of a letter";

/// Names by visible form.
/// Memory:  every name
class alike_names {
public:
    /// An earlier, different name that looks like this name; null if there is none.
    std::string const* add(std::string const& name) {
        auto const [first, fresh] = first_.emplace(visible_form(name), name);
        return fresh || first->second == name ? nullptr : &first->second;
    }

private:
    std::unordered_map<std::string, std::string> first_;
};

/// The ids of a file with their first lines.
/// Memory:  14 to 27 bytes for each id
class seen_ids {
public:
    /// The first line of this id, or 0.
    std::uint64_t add(std::string_view id, std::uint64_t line);

    /// The line of a different id that looks like this id, or 0. Call it once for each id, before
    /// add().
    std::uint64_t alike(std::string_view id, std::uint64_t line);

private:
    /// Maps the hash of a text to a line; equal 64-bit hashes count as equal texts.
    class line_table {
    public:
        std::uint64_t find(std::uint64_t hash) const;
        std::uint64_t add(std::uint64_t hash, std::uint64_t line);

    private:
        std::size_t slot_of(std::uint64_t hash) const;
        void grow();

        // Two arrays: a pair would be padded to 16 bytes.
        std::vector<std::uint64_t> hashes_;
        std::vector<std::uint32_t> lines_; // 0 where the slot is free
        std::size_t count_ = 0;
    };

    line_table ids_;
    line_table forms_; // of ids that differ from their visible form
};

} // namespace samples
