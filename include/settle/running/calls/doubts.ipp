// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that doubts.hpp declares.
#pragma once

#include <settle/running/calls/doubts.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION result<doubt_count> count_doubts(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    patience& patience) {
    constexpr std::size_t page = 256;
    doubt_count counted;
    for (std::string after;;) {
        auto const names = patience([&] { return in_doubt(after, page); });
        if (!names.has_value()) return names.problem();
        for (in_doubt_name const& doubtful : names.value()) {
            after = doubtful.name;
            bool const is_older = counted.count == 0 || doubtful.prepared < counted.oldest;
            if (is_older) counted.oldest = doubtful.prepared;
            ++counted.count;
        }
        if (names.value().size() < page) return counted;
    }
}

SETTLE_FUNCTION result<std::vector<doubtful_part>> parts_in_doubt(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    function_view<result<std::optional<entry>>(transaction_id const& id)> read,
    patience& patience) {
    constexpr std::size_t page = 256;
    std::vector<doubtful_part> parts;
    for (std::string after;;) {
        auto const names = patience([&] { return in_doubt(after, page); });
        if (!names.has_value()) return names.problem();
        for (in_doubt_name const& doubtful : names.value()) {
            after = doubtful.name;
            doubtful_part listed{doubtful.name, doubtful.prepared, {}, {}};
            if (auto const name = read_prepared_name(doubtful.name)) {
                listed.id = name->of.id;
                listed.part = name->of.part;
                listed.epoch_number = name->epoch_number;
                auto stored = patience([&] { return read(listed.id); });
                if (!stored.has_value()) return stored.problem();
                listed.waits_for = std::move(stored).value();
            }
            parts.push_back(std::move(listed));
        }
        if (names.value().size() < page) return parts;
    }
}

} // namespace detail
SETTLE_END
