// SPDX-License-Identifier: BSL-1.0
// The records of all collections that a wave meets, for one attempt.
#pragma once

#include <settle/mongodb/records/record_table.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

class unit_of_work : public settle::detail::unit_of_work<record_table> {
public:
    /// Shape:   codecs - of the collections; earlier - an attempt whose faults are known; or null
    unit_of_work(std::span<record_codec const> codecs, reading when,
                 unit_of_work const* earlier = nullptr) {
        for (std::size_t number = 0; number < codecs.size(); ++number) {
            auto table = std::make_unique<record_table>(codecs[number], when);
            if (earlier != nullptr) table->learn(earlier->at(number));
            add(std::move(table));
        }
    }

    [[nodiscard]] bool has_to_read() const {
        bool has_to = false;
        for_each([&](record_table const& table) { has_to = has_to || table.has_to_read(); });
        return has_to;
    }
    void fetch(link& link) const {
        for_each([&](record_table& table) {
            within_database const within{link, table.database()};
            table.fetch(link);
        });
    }
    /// As the table does; a record that cannot be used becomes the request's result.
    [[nodiscard]] part_result execute(part_request const& request, link& client) {
        try {
            auto result = of(request).execute(request);
            if (result.what != answer::record_missing) return result;
            within_database const within{client, of(request).database()};
            auto const& absent = of(request).absence(client);
            return absent.empty() ? result : result_of_unusable(request.action, absent);
        } catch (failure const& caught) {
            return result_of_unusable(request.action, caught.problem());
        }
    }
    /// How many records have a fault.
    [[nodiscard]] std::size_t faults() const {
        std::size_t count = 0;
        for_each([&](record_table const& table) { count += table.faults(); });
        return count;
    }

    /// As in record_table, for all tables.
    [[nodiscard]] bool write(link& client, writing how, commit_result& ended) const {
        return write_each(client, ended, [&](record_table& table, commit_result& result) {
            return table.write(client, how, result);
        });
    }
    [[nodiscard]] bool write_unread(link& client, commit_result& ended) const {
        return write_each(client, ended, [&](record_table& table, commit_result& result) {
            return table.write_unread(client, result);
        });
    }

private:
    using write_table = settle::detail::function_view<bool(record_table&, commit_result&)>;
    bool write_each(link& client, commit_result& ended, write_table write) const {
        bool all_matched = true;
        bool wrote = false;
        for_each([&](record_table& table) {
            within_database const within{client, table.database()};
            commit_result of_table{};
            all_matched = write(table, of_table) && all_matched;
            wrote = wrote || (of_table.status != commit_status::undone && !table.empty());
            // The worst status stays.
            if (of_table.status > ended.status) ended = std::move(of_table);
        });
        if (ended.status == commit_status::undone && wrote) ended.status = commit_status::unknown;
        return all_matched;
    }
};

} // namespace mongodb::detail
SETTLE_END
