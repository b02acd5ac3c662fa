// SPDX-License-Identifier: BSL-1.0
// The writes of a log as the columns of a wave, and the rows that answer them.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/adapter/sent_write.hpp>
#include <settle/adapter/sql/parameter_type.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>

SETTLE_BEGIN
namespace detail::sql {

[[nodiscard]] constexpr column_kind kind_of(entry_field field) {
    using enum entry_field;
    switch (field) {
    case id:
    case type:
    case definition:
    case parameters:
    case owner:
    case participant:
    case images:
    case results:
    case reason_text:
    case traceparent: return column_kind::text;
    case open: return column_kind::boolean;
    default: return column_kind::integer;
    }
}

/// The columns of the writes of one action: the id, state, epoch and revision that a change
/// expects, and then the fields that it stores.
struct write_columns {
    write_columns(bool inserts, step action)
        : fields(inserts ? fields_inserted() : fields_changed_by(action)),
          expected(inserts ? 0 : 4) {}

    [[nodiscard]] std::size_t size() const noexcept { return expected + fields.size(); }
    [[nodiscard]] column_kind kind(std::size_t index) const {
        if (index >= expected) return kind_of(fields[index - expected]);
        return index == 0 ? column_kind::text : column_kind::integer;
    }

    [[nodiscard]] bool is_committed(std::size_t index) const {
        return index >= expected && fields[index - expected] == entry_field::committed;
    }

    [[nodiscard]] std::size_t index_of(entry_field field) const {
        auto const found = std::find(fields.begin(), fields.end(), field);
        return expected + static_cast<std::size_t>(found - fields.begin());
    }

    /// Calls `give(column, value)` with each value of a write; without a value, it is nullptr.
    template <typename Give>
    void for_each_value(sent_write const& sent, write_context const& context, Give&& give) const {
        entry_write const& write = *sent.write;
        if (expected > 0) {
            give(std::size_t{0}, std::string_view{*sent.id});
            give(std::size_t{1}, number_in(write.change.from));
            give(std::size_t{2}, number_in(write.change.from_epoch));
            give(std::size_t{3}, number_in(write.change.from_revision));
        }
        std::string text;
        for (std::size_t number = 0; number < fields.size(); ++number) {
            bool has_lists = false;
            text.clear();
            with_stored_value(fields[number], write, context, text, [&](auto value) {
                give(expected + number, value);
                has_lists = true;
            });
            if (!has_lists) give(expected + number, nullptr);
        }
    }

    std::span<entry_field const> fields;
    std::size_t expected;
};

/// The last moment of the write that expires first; none if no write expires.
[[nodiscard]] inline std::optional<timestamp>
first_last_moment(std::span<sent_write const> writes) {
    std::optional<timestamp> first;
    for (auto const& sent : writes) {
        if (!sent.write->expires()) continue;
        first = std::min(first.value_or(timestamp::max()), sent.write->last_moment);
    }
    return first;
}

/// Sets the results of inserts.
/// Shape:   inserted - a row with the id of each new entry
template <typename Rows>
void set_inserted(Rows const& inserted, std::span<sent_write const> writes) {
    // Of two writes with one id, the first has inserted the entry.
    std::unordered_map<std::string_view, log_answer> taken;
    for_each_row(inserted, [&](auto const& one) { taken.emplace(one.text(0), log_answer::taken); });
    for (auto const& one : writes) {
        auto const position = taken.find(*one.id);
        one.result->reply = position == taken.end()
                                ? log_answer::conflict
                                : std::exchange(position->second, log_answer::conflict);
    }
}

/// Sets the results of changes.
/// Shape:   changed - a row with the number of each write that took effect, from 1 on
template <typename Rows>
void set_changed(Rows const& changed, std::span<sent_write const> writes) {
    for (auto const& one : writes) one.result->reply = log_answer::conflict;
    for_each_row(changed, [&](auto const& one) {
        writes[static_cast<std::size_t>(one.integer(0) - 1)].result->reply = log_answer::taken;
    });
}

} // namespace detail::sql
SETTLE_END
