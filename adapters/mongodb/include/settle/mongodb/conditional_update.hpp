// SPDX-License-Identifier: BSL-1.0
// Updates of documents that were not read: a filter that matches only where the record rule would
// answer `applied`, and the change that it would make. They save a single transaction the reads. If
// the filter does not match, the document is read and the record rule decides.
#pragma once

#include <settle/mongodb/record_codec.hpp>
#include <settle/store/record.hpp>

#include <algorithm>
#include <atomic>

SETTLE_BEGIN
namespace mongodb::detail {

struct conditional_update {
    document filter;
    document change;
};

/// Whether the kinds of all fields tell the server that a document is a record.
template <typename Collection>
[[nodiscard]] consteval bool is_told_by_kinds() {
    using record_type = typename Collection::record_type;
    bool all = true;
    for_each_member<record_type>([&](auto m) {
        using type = typename decltype(m)::type;
        constexpr auto kind = field_traits<type>::kind;
        constexpr bool plain = kind == field_kind::integer || kind == field_kind::text ||
                               kind == field_kind::boolean;
        all = all && plain && !field_traits<type>::optional &&
              decimal_places<decltype(m)::pointer> < 0;
    });
    return all;
}

/// A field must have its member's kind, and be no array of that kind.
template <typename Field>
[[nodiscard]] document of_kind() {
    document wanted;
    constexpr auto kind = field_traits<Field>::kind;
    wanted.text("$type", kind == field_kind::text      ? "string"
                         : kind == field_kind::boolean ? "bool"
                                                       : "long");
    document array;
    wanted.object("$not", array.text("$type", "array"));
    return wanted;
}

/// Matches an integer key only in an integer's form. The server also matches a double or a decimal
/// of the same value, but not every such key can be read.
[[nodiscard]] inline document integer_key(std::int64_t key) {
    document kinds;
    document wanted;
    wanted.integer("$eq", key);
    wanted.array("$type", kinds.text("0", "long").text("1", "int"));
    return wanted;
}

/// Shape:   filter - matches the document by its key
template <typename Collection>
[[nodiscard]] conditional_update update_of(
    document filter, conditional_change<typename Collection::record_type> const& wanted, step at) {
    using record_type = typename Collection::record_type;
    conditional_update made;
    made.filter = std::move(filter);
    document sums;
    for_each_member<record_type>([&](auto m) {
        using type = typename decltype(m)::type;
        if (m.index == record_codec<Collection>::key_index) return;
        document field = of_kind<type>();
        if constexpr (IntegerField<type>) {
            constexpr std::size_t position = integer_position<record_type, decltype(m)::index>;
            field.integer("$gte", wanted.least[position]);
            field.integer("$lte", wanted.most[position]);
            if (wanted.added[position] != 0) sums.integer(m.name, wanted.added[position]);
        }
        made.filter.object(m.name, field);
    });
    auto const own = encode_mark(wanted.own);
    if (at == step::confirm) {
        document exactly;
        made.filter.object(marks_field, exactly.object("$eq", own));
        made.change.object("$pull", only(marks_field, mark_key(wanted.own.id, wanted.own.part)));
    } else {
        document none;
        document either;
        document no_first;
        either.null("0").array("1", none);
        document nothing;
        made.filter.object(marks_field, nothing.array("$in", either));
        made.filter.object(std::string{marks_field} + ".0", no_first.boolean("$exists", false));
        if (at == step::apply) made.change.object("$push", only(marks_field, own));
    }
    if (!sums.empty()) made.change.object("$inc", sums);
    return made;
}

/// Decides whether to try a write without reading. After a miss the next wave reads at once; after
/// a second miss in a row the next 3 waves, then 7, and 63 at most.
class backoff {
public:
    [[nodiscard]] bool is_tried() noexcept {
        auto left = left_out_.load(std::memory_order_relaxed);
        while (left > 0 && !left_out_.compare_exchange_weak(left, left - 1)) {}
        return left == 0;
    }
    void ended(bool well) noexcept {
        if (well) {
            misses_.store(0, std::memory_order_relaxed);
            return;
        }
        unsigned const misses = std::min(misses_.load(std::memory_order_relaxed) + 1U, most);
        misses_.store(misses, std::memory_order_relaxed);
        left_out_.store((1U << misses) - 1U, std::memory_order_relaxed);
    }

private:
    static constexpr unsigned most = 6;
    std::atomic<unsigned> left_out_{0};
    std::atomic<unsigned> misses_{0};
};

} // namespace mongodb::detail
SETTLE_END
