// SPDX-License-Identifier: BSL-1.0
// A direction without its C++ types, as drivers and logs use it: its name, and functions on its
// parameters. So only code that touches records is compiled for each type.
#pragma once

#include <settle/protocol/direction.hpp>
#include <settle/store/codec.hpp>

#include <cstddef>
#include <new>
#include <optional>
#include <string>

SETTLE_BEGIN

/// Shape:   `parameters` points at a Direction::parameters wherever it stands
struct erased_direction {
    std::string const& (*name)();
    std::uint64_t (*definition)();
    void (*append_json)(std::string& out, void const* parameters, secrets shown);
    /// Stored parameters as append_json writes them; nothing when they cannot be read.
    std::optional<std::string> (*normal_json)(std::string const& stored);
    /// True if append_json writes the same text for both values.
    bool (*same)(void const* left, void const* right);
    part_name (*name_part)(void const* parameters, std::size_t part);
    /// Copies the value into `size` bytes of storage with the strictest alignment.
    void (*copy)(void* slot, void const* parameters);
    void (*destroy)(void* parameters);
    std::size_t size;
    bool described; ///< false if no record is described

    [[nodiscard]] std::string json(void const* parameters) const {
        std::string out;
        append_json(out, parameters, secrets::written);
        return out;
    }
};

/// The direction of an entry without a definition, inserted by a cancel or a sweep.
struct undescribed {
    using parameters = nothing;
    static std::string const& name() {
        static std::string const empty;
        return empty;
    }
    static std::uint64_t definition() { return 0; }
};

namespace detail {

template <typename Direction>
struct erased_functions {
    using parameters = typename Direction::parameters;
    static constexpr bool described = !std::is_same_v<Direction, undescribed>;
    static_assert(alignof(parameters) <= alignof(std::max_align_t),
                  "settle: parameters with a larger alignment than any scalar's are not supported. "
                  "See definition#parameters");

    static parameters const& of(void const* given) {
        return *static_cast<parameters const*>(given);
    }
    static void append_json([[maybe_unused]] std::string& out, [[maybe_unused]] void const* given,
                            [[maybe_unused]] secrets shown) {
        if constexpr (described) {
            // The images of a reversal are native text, in which nothing can be hidden.
            if (shown == secrets::written) settle::append_json(out, of(given));
            else settle::append_json(out, Direction::user(of(given)), shown);
        }
    }
    static std::optional<std::string> normal_json([[maybe_unused]] std::string const& stored) {
        if constexpr (described) {
            parameters found{};
            if (read_whole(codec_of<parameters>, stored, json_form::exact, &found).empty()) {
                return encode_json(found);
            }
        }
        return std::nullopt;
    }
    static bool same([[maybe_unused]] void const* left, [[maybe_unused]] void const* right) {
        if constexpr (described) return same_value(of(left), of(right));
        else return true;
    }
    static part_name name_part([[maybe_unused]] void const* given,
                               [[maybe_unused]] std::size_t part) {
        if constexpr (described) return Direction::name_part(Direction::user(of(given)), part);
        else return {};
    }
    static void copy(void* slot, void const* given) { ::new (slot) parameters(of(given)); }
    static void destroy(void* given) { static_cast<parameters*>(given)->~parameters(); }
};

} // namespace detail

template <typename Direction>
inline constexpr erased_direction erased_direction_of{
    &Direction::name,
    &Direction::definition,
    &detail::erased_functions<Direction>::append_json,
    &detail::erased_functions<Direction>::normal_json,
    &detail::erased_functions<Direction>::same,
    &detail::erased_functions<Direction>::name_part,
    &detail::erased_functions<Direction>::copy,
    &detail::erased_functions<Direction>::destroy,
    sizeof(typename Direction::parameters),
    detail::erased_functions<Direction>::described};

SETTLE_END
