// SPDX-License-Identifier: BSL-1.0
// Finds names that a person takes for one: they differ in what cannot be seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace samples {

/// The name without outer spaces and invisible characters, every run of spaces as one, and every
/// character in its one compatible form (Unicode's NFKC). Two names with one such form look alike.
std::string visible_form(std::string_view name);

/// In words what names that look alike differ in.
inline constexpr std::string_view alike_words =
    "differ only in spaces, invisible characters or the encoding of a letter";

/// Names, by what a person sees of them.
/// Memory:  every name
class alike_names {
public:
    /// The first name that looks as this one does and is another, or nothing.
    std::string const* add(std::string const& name) {
        auto const [first, fresh] = first_.emplace(visible_form(name), name);
        return fresh || first->second == name ? nullptr : &first->second;
    }

private:
    std::unordered_map<std::string, std::string> first_;
};

/// The ids of a file with the lines that named them first.
/// Memory:  14 to 27 bytes for each id
class seen_ids {
public:
    /// The earlier line that named this id, or 0.
    std::uint64_t add(std::string_view id, std::uint64_t line);

    /// The earlier line of another id that looks as this one does, or 0. To be asked once for each
    /// id, before it is added.
    std::uint64_t alike(std::string_view id, std::uint64_t line);

private:
    /// From the hash of a text to a line; equal hashes of 64 bits count as equal texts.
    class line_table {
    public:
        std::uint64_t find(std::uint64_t hash) const;
        std::uint64_t add(std::uint64_t hash, std::uint64_t line);

    private:
        std::size_t slot_of(std::uint64_t hash) const;
        void grow();

        // Two arrays, since a pair would be padded to 16 bytes.
        std::vector<std::uint64_t> hashes_;
        std::vector<std::uint32_t> lines_; // 0 where the slot is free
        std::size_t count_ = 0;
    };

    line_table ids_;
    line_table forms_; // of the ids that are not their own visible form
};

} // namespace samples
