// SPDX-License-Identifier: BSL-1.0
// Lists the prepared parts that are in doubt, each with the entry that it waits for.
#pragma once

#include <settle/kinds/prepared/preparing_resource.hpp>

SETTLE_BEGIN

/// A prepared part that is neither committed nor rolled back. It holds its locks.
struct doubtful_part {
    std::string name;   ///< as the database shows it
    timestamp prepared; ///< by the clock of the database
    transaction_id id;  ///< empty if the library has not given the name
    part_number part;
    epoch epoch_number = 0;
    std::optional<entry> waits_for{}; ///< empty if there is no entry; a sweep then ends the part
};

namespace detail {

/// Shape:   Session - a prepared_session; Log - the session of its engine's log
template <typename Session, typename Log, typename Patience>
result<std::vector<doubtful_part>> parts_in_doubt(Session& session, Log& log, Patience& patience) {
    constexpr std::size_t page = 256;
    std::vector<doubtful_part> parts;
    for (std::string after;;) {
        auto const names = patience([&] { return session.in_doubt(after, page); });
        if (!names.has_value()) return names.problem();
        for (in_doubt_name const& doubtful : names.value()) {
            after = doubtful.name;
            doubtful_part listed{doubtful.name, doubtful.prepared, {}, {}};
            if (auto const name = read_prepared_name(doubtful.name)) {
                listed.id = name->of.id;
                listed.part = name->of.part;
                listed.epoch_number = name->epoch_number;
                auto stored = patience([&] { return log.read(listed.id); });
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
