// SPDX-License-Identifier: BSL-1.0
// Lists the marks of one collection, ordered by key, transaction and part.
#pragma once

#include <settle/mongodb/records/key_order.hpp>
#include <settle/store/seam.hpp>

#include <tuple>

SETTLE_BEGIN
namespace mongodb::detail {

class mark_listing {
public:
    explicit mark_listing(record_codec const& codec) : codec_(codec) {}

    /// Shape:   after - the mark before the listing, or null; limit - of all marks in `locators`
    /// Errors:  throws command_failure
    void append(link& client, std::vector<mark_locator>& locators, mark_locator const* after,
                std::size_t limit) const {
        auto const& key = codec_.layout().key;
        document locator;
        char const* how = "$gte";
        if (after != nullptr)
            locator = locator_of(client, codec_, settle::detail::view_of(after->key));
        auto const comes_after = [&](mark_locator const& listed) {
            return after == nullptr || listed.key != after->key || comes_before(*after, listed);
        };
        // Documents with unreadable keys give no marks, so an empty page need not be the last.
        for (bool more = true; more && locators.size() < limit;) {
            std::size_t const page = limit - locators.size() + 1;
            std::size_t seen = 0;
            document last;
            client.find(codec_.collection(), marked(locator, how), page_of_marks(page),
                        "read marks", [&](document const& stored) {
                            for (mark_locator& at : marks_of(stored)) {
                                if (locators.size() < limit && comes_after(at))
                                    locators.push_back(std::move(at));
                            }
                            if (++seen == page) last.copy(key, *stored.find(key));
                        });
            more = seen == page;
            locator = std::move(last);
            how = "$gt";
        }
    }

private:
    static bool comes_before(mark_locator const& left, mark_locator const& right) {
        return std::tie(left.id, left.part) < std::tie(right.id, right.part);
    }

    /// The marks of a document; a bare mark has epoch 0 and no known part.
    [[nodiscard]] std::vector<mark_locator> marks_of(document const& from) const {
        std::vector<mark_locator> locators;
        auto const marks = from.find(marks_field);
        auto const key = codec_.key_in(from);
        if (!marks || !key) return locators;
        mark_locator locator;
        locator.collection = codec_.collection();
        locator.key = *key;
        std::uint32_t number = 0;
        marks->for_each([&](value_view const& value) {
            locators.push_back(read_locator(value, locator));
            // Several damaged marks need different positions in the order.
            if (!locators.back().fault.empty()) locators.back().part.line = number;
            ++number;
            return true;
        });
        std::sort(locators.begin(), locators.end(), comes_before);
        return locators;
    }

    [[nodiscard]] mark_locator read_locator(value_view const& value, mark_locator locator) const {
        auto const bare = codec_.layout().bare_marks != nullptr ? value.id() : std::nullopt;
        mark_data mark;
        if (bare) {
            locator.id = *bare;
        } else if (read_mark_key(value, mark)) {
            locator.id = mark.id;
            locator.part = mark.part;
            locator.epoch_number = mark.epoch_number;
        } else {
            auto const named = value.find("id");
            if (named && named->text()) locator.id = *named->text();
            locator.fault = {make_error_code(errc::damaged),
                             "settle: a mark of " + name_of_record(codec_.of(), locator.key) +
                                 " is damaged: it is no mark of settle's. Repair its " +
                                 marks_field + ". See errors#damaged"};
        }
        return locator;
    }

    /// Matches the kinds that can be a key. A comparison alone skips documents of other kinds.
    [[nodiscard]] document readable_keys() const {
        document kinds;
        kinds.text("0", codec_.of().text_key ? "string" : "number");
        if (codec_.takes_any_key()) kinds.text("1", "number").text("2", "objectId");
        document made;
        made.array("$type", kinds);
        return made;
    }
    /// Matches records with marks.
    /// Shape:   locator - a document with the key to begin at or after; empty for all records
    [[nodiscard]] document marked(document const& locator, char const* how) const {
        document there;
        document filter = only(std::string{marks_field} + ".0", there.boolean("$exists", true));
        auto const from = locator.find(codec_.layout().key);
        if (!from || codec_.takes_any_key()) filter.object(codec_.layout().key, readable_keys());
        if (from) append_after_key(filter, codec_, *from, how);
        return filter;
    }
    [[nodiscard]] document page_of_marks(std::size_t limit) const {
        auto const& key = codec_.layout().key;
        auto options = page_of(key, limit);
        document fields;
        fields.integer(marks_field, 1).integer(key, 1);
        options.object("projection", fields);
        return options;
    }

    record_codec const& codec_;
};

} // namespace mongodb::detail
SETTLE_END
