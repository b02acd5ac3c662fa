// SPDX-License-Identifier: BSL-1.0
// Marks as arrays, one for each column of the table settle_mark: a statement on all marks of a wave
// takes them as its parameters.
#pragma once

#include <settle/adapter/mark_row.hpp>

#include <charconv>

SETTLE_BEGIN
namespace detail::sql {

/// A key as marks keep it. The text of a text key stays where it is.
class mark_key {
public:
    explicit mark_key(part_key const& key) {
        if (auto const* const text = std::get_if<std::string_view>(&key)) view_ = *text;
        else view_ = made_ = std::to_string(std::get<std::int64_t>(key));
    }
    mark_key(mark_key const&) = delete;
    mark_key& operator=(mark_key const&) = delete;
    [[nodiscard]] std::string_view text() const noexcept { return view_; }

private:
    std::string made_;
    std::string_view view_;
};

/// The key of a collection's type, as the table of marks has it; a damaged key stays a text.
[[nodiscard]] inline key_value key_of_text(collection_descriptor const& collection,
                                           std::string text) {
    std::int64_t number = 0;
    auto const* const end = text.data() + text.size();
    auto const read = std::from_chars(text.data(), end, number);
    if (collection.text_key || read.ec != std::errc{} || read.ptr != end) return text;
    return number;
}

/// Gives a mark that was read the key of its collection's type.
inline void restore_key(mark_locator& locator,
                        std::span<collection_descriptor const* const> collections) {
    auto const* const text = std::get_if<std::string>(&locator.key);
    if (text == nullptr) return;
    for (auto const* const collection : collections) {
        if (collection->name != locator.collection) continue;
        locator.key = key_of_text(*collection, std::string{*text});
        return;
    }
}

/// The keys, ids, participants and lines of marks.
/// Shape:   Array - has texts() and integers(), which make an empty array, add(value) and size()
template <typename Array>
struct mark_arrays {
    Array keys = Array::texts();
    Array ids = Array::texts();
    Array participants = Array::integers();
    Array lines = Array::integers();

    void add(part_key const& key, transaction_id const& id, part_number part) {
        keys.add(mark_key{key}.text());
        ids.add(std::string_view{id});
        participants.add(std::int64_t{part.participant});
        lines.add(std::int64_t{part.line});
    }
    [[nodiscard]] std::int64_t count() const noexcept {
        return static_cast<std::int64_t>(keys.size());
    }
};

/// Marks that are added, with the columns of their effects.
template <typename Array>
struct added_marks : mark_arrays<Array> {
    Array epochs = Array::integers();
    Array effects = Array::texts();
    Array confirms = Array::texts();
    Array undos = Array::texts();
    Array images = Array::texts();

    void add(part_key const& key, record_descriptor const& descriptor, mark_view const& mark) {
        mark_arrays<Array>::add(key, *mark.id, mark.part);
        mark_columns columns;
        encode_mark(descriptor, mark, columns);
        auto const give = [](Array& to, std::string_view text) {
            if (text.empty()) to.add(nullptr);
            else to.add(text);
        };
        epochs.add(static_cast<std::int64_t>(mark.epoch_number));
        effects.add(columns.effect);
        give(confirms, columns.confirm);
        give(undos, columns.undo);
        give(images, columns.image);
    }
};

} // namespace detail::sql
SETTLE_END
