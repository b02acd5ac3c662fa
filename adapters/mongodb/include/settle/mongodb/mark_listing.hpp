// SPDX-License-Identifier: BSL-1.0
// Lists the marks of one collection, ordered by key, transaction and part.
#pragma once

#include <settle/mongodb/key_order.hpp>
#include <settle/store/seam.hpp>

#include <tuple>

SETTLE_BEGIN
namespace mongodb::detail {

template <typename Collection>
class mark_listing {
    using key_type = typename Collection::key_type;
    using record_type = typename Collection::record_type;
    static constexpr bool has_text_key = std::is_same_v<key_type, std::string>;
    using stored_key = std::conditional_t<has_text_key, std::string, std::int64_t>;

public:
    explicit mark_listing(record_layout const& layout) : layout_(layout) {}

    /// Shape:   after - the mark to begin behind, or null; limit - of all marks in `found`
    /// Errors:  throws command_failure
    void append(link& with, std::vector<mark_locator>& found, mark_locator const* after,
                std::size_t limit) const {
        document locator;
        char const* how = "$gte";
        if (after != nullptr) {
            locator = std::visit(
                [&](auto const& key) { return locator_of(with, Collection::name, layout_, key); },
                after->key);
        }
        // Documents with unreadable keys give no marks, so an empty page need not be the last.
        for (bool more = true; more && found.size() < limit;) {
            std::size_t const page = limit - found.size() + 1;
            std::size_t seen = 0;
            document last;
            with.find(Collection::name, marked(locator, how), page_of_marks(page), "read marks",
                      [&](document const& one) {
                          for (mark_locator& at : marks_of(one)) {
                              if (found.size() < limit && is_behind(at, after)) {
                                  found.push_back(std::move(at));
                              }
                          }
                          if (++seen == page) last.copy(layout_.key, *one.find(layout_.key));
                      });
            more = seen == page;
            locator = std::move(last);
            how = "$gt";
        }
    }

private:
    /// The marks of a document; a bare mark has epoch 0 and no known part.
    [[nodiscard]] std::vector<mark_locator> marks_of(document const& from) const {
        std::vector<mark_locator> all;
        auto const marks = from.find(marks_field);
        key_type key{};
        auto const id = from.find(layout_.key);
        if (!marks || !id || !read_key(layout_, *id, key).empty()) return all;
        mark_locator locator;
        locator.collection = Collection::name;
        locator.key = stored_key(key);
        std::uint32_t number = 0;
        marks->for_each([&](value_view const& value) {
            all.push_back(read_locator(value, locator));
            // So that each of several damaged marks has its own place in the order.
            if (!all.back().fault.empty()) all.back().part.line = number;
            ++number;
            return true;
        });
        std::sort(all.begin(), all.end(), comes_before);
        return all;
    }

    [[nodiscard]] mark_locator read_locator(value_view const& value, mark_locator locator) const {
        auto const bare = layout_.bare_marks ? value.id() : std::nullopt;
        mark<record_type> found;
        if (bare) {
            locator.id = *bare;
        } else if (read_mark_key(value, found)) {
            locator.id = found.id;
            locator.part = found.part;
            locator.epoch_number = found.epoch_number;
        } else {
            auto const named = value.find("id");
            if (named && named->text()) locator.id = *named->text();
            std::string shown;
            if constexpr (has_text_key) shown = std::get<std::string>(locator.key);
            else shown = std::to_string(std::get<std::int64_t>(locator.key));
            locator.fault = {make_error_code(errc::damaged),
                           "settle: a mark of the record '" + shown + "' of '" +
                               locator.collection + "' is damaged: it is no mark of settle's. "
                               "Repair its " + marks_field + ". See errors#damaged"};
        }
        return locator;
    }

    /// Matches the kinds that can be a key. A comparison alone skips documents of other kinds.
    [[nodiscard]] document readable_keys() const {
        document kinds;
        kinds.text("0", has_text_key ? "string" : "number");
        if (takes_any_key()) kinds.text("1", "number").text("2", "objectId");
        document made;
        made.array("$type", kinds);
        return made;
    }
    [[nodiscard]] bool takes_any_key() const { return has_text_key && layout_.any_keys; }
    /// Matches records with marks.
    /// Shape:   place - a document with the key to begin at or behind; empty for all records
    [[nodiscard]] document marked(document const& locator, char const* how) const {
        document there;
        document filter = only(std::string{marks_field} + ".0", there.boolean("$exists", true));
        auto const from = locator.find(layout_.key);
        if (!from || takes_any_key()) filter.object(layout_.key, readable_keys());
        if (from) append_behind_key<key_type>(filter, layout_, *from, how);
        return filter;
    }
    [[nodiscard]] document page_of_marks(std::size_t limit) const {
        auto options = page_of(layout_.key, limit);
        document fields;
        fields.integer(marks_field, 1).integer(layout_.key, 1);
        options.object("projection", fields);
        return options;
    }

    static bool comes_before(mark_locator const& left, mark_locator const& right) {
        return std::tie(left.id, left.part) < std::tie(right.id, right.part);
    }
    static bool is_behind(mark_locator const& locator, mark_locator const* after) {
        return after == nullptr || locator.key != after->key || comes_before(*after, locator);
    }

    record_layout const& layout_;
};

} // namespace mongodb::detail
SETTLE_END
