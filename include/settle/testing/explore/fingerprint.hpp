// SPDX-License-Identifier: BSL-1.0
// A 128-bit hash by which a search recognizes a state.
#pragma once

#include <settle/definition/field_type.hpp>
#include <settle/definition/reflection.hpp>
#include <settle/protocol/mark.hpp>

SETTLE_BEGIN
namespace testing {

/// States with equal fingerprints count as equal. The probability of a collision among n states is
/// about n² / 2¹²⁹: 10⁻²³ for a hundred million.
struct fingerprint {
    std::uint64_t first = 0x2d358dccaa6c78a5U;
    std::uint64_t second = 0x8bb84b93962eacc9U;

    void add(std::uint64_t value) {
        first = fold(first ^ value, 0x9e3779b97f4a7c15U) + value;
        second = fold(second + value, 0xd6e8feb86659fd93U) ^ value;
    }
    void add(fingerprint const& part) {
        add(part.first);
        add(part.second);
    }
    void add_text(std::string_view text) { add(std::hash<std::string_view>{}(text)); }

    template <typename Field>
    void add_field(Field const& value) {
        if constexpr (field_traits<Field>::optional) {
            add(value ? 1U : 0U);
            if (value) add_field(*value);
        } else if constexpr (field_traits<Field>::kind == field_kind::text) {
            add_text(value);
        } else if constexpr (Described<Field>) {
            add_record(value);
        } else if constexpr (settle::detail::is_list<Field>) {
            add(value.size());
            for (auto const& item : value) add_field(item);
        } else {
            add(static_cast<std::uint64_t>(to_integer(value)));
        }
    }

    template <Described Record>
    void add_record(Record const& record) {
        for_each_member<Record>([&](auto m) { add_field(m.in(record)); });
    }
    template <Described Record>
    void add_record(std::optional<Record> const& record) {
        add(record ? 1U : 0U);
        if (record) add_record(*record);
    }

    template <Described Record>
    void add_mark(mark<Record> const& added) {
        add_text(added.id);
        add(std::uint64_t{added.part.participant} << 32U | added.part.line);
        add(added.epoch_number);
        for (auto const delta : added.confirm_delta) add(static_cast<std::uint64_t>(delta));
        for (auto const delta : added.undo_delta) add(static_cast<std::uint64_t>(delta));
        add(added.is_exclusive() ? 1U : 0U);
        if (!added.is_exclusive()) return;
        auto const& effect = *added.exclusive;
        add_record(effect.undone);
        add_record(effect.confirmed);
        add(effect.undo_fields);
        add(effect.confirm_fields);
        add((effect.created ? 1U : 0U) | (effect.erases ? 2U : 0U));
    }

    friend bool operator==(fingerprint const&, fingerprint const&) = default;
    friend auto operator<=>(fingerprint const&, fingerprint const&) = default;

private:
    static std::uint64_t fold(std::uint64_t value, std::uint64_t by) {
        __extension__ typedef unsigned __int128 doubled;
        doubled const product = doubled{value} * by;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }
};

} // namespace testing
SETTLE_END
