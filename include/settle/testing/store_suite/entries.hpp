// SPDX-License-Identifier: BSL-1.0
// The store suite: the entries of its cases.
#pragma once

#include <settle/testing/entry_writer.hpp>
#include <settle/testing/store_suite/types.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

[[nodiscard]] inline timestamp at_millisecond(std::int64_t count) {
    return timestamp{std::chrono::milliseconds{1800000000000 + count}};
}

/// An entry_writer whose times are milliseconds after at_millisecond(0).
template <typename Log>
class suite_entry : public entry_writer<Log> {
    using base = entry_writer<Log>;

public:
    using base::base;

    log_answer insert(state as, epoch first, std::int64_t when, std::string const& owner,
                      reason why = reason::none) {
        return base::insert(as, first, at_millisecond(when), owner, at_millisecond(0), why);
    }
    log_answer claim(std::int64_t when, std::string const& owner) {
        return base::claim(at_millisecond(when), owner);
    }
    log_answer keep(std::int64_t when, std::string const& owner,
                    std::vector<kept_result> const& results) {
        return base::keep(at_millisecond(when), owner, results);
    }
    log_answer pause(std::int64_t when, std::string const& owner, std::uint32_t tries,
                     std::int64_t next_try) {
        return base::pause(at_millisecond(when), owner, tries, at_millisecond(next_try));
    }
    log_answer commit(std::int64_t when, std::string const& owner,
                      std::vector<image> const& images = {},
                      std::vector<kept_result> const& results = {}) {
        return base::commit(at_millisecond(when), owner, images, results);
    }
    log_answer close(std::int64_t when, std::string const& owner) {
        return base::close(at_millisecond(when), owner);
    }
    log_answer cancel(std::int64_t when, std::string const& owner, reason why,
                      std::size_t part = entry_write::no_part, bool takes_owner = false,
                      std::vector<kept_result> const& results = {}, std::string_view text = {}) {
        return base::cancel(at_millisecond(when), owner, why, part, takes_owner, results, text);
    }
};
template <typename Log>
suite_entry(Log&, test_transaction) -> suite_entry<Log>;
template <typename Log>
suite_entry(Log&, test_transaction, standing) -> suite_entry<Log>;

[[nodiscard]] inline move usual_move() { return {"A\"ä'", "B\\", 10}; }

/// A new transaction of the type move.
template <typename Log>
[[nodiscard]] auto new_move(Log& log, transaction_id id) {
    return suite_entry<Log>{log,
                            test_transaction::of<forward<move_type>>(std::move(id), usual_move())};
}
/// The same, with its entry inserted as `pending`.
template <typename Log>
[[nodiscard]] auto pending_move(Log& log, transaction_id id, epoch first, std::int64_t when,
                                std::string const& owner) {
    auto made = new_move(log, std::move(id));
    REQUIRE(made.insert(state::pending, first, when, owner) == log_answer::taken);
    return made;
}
/// Another worker, which knows the entry as it is now.
template <typename Log>
[[nodiscard]] auto worker_on(Log& log, transaction_id const& id) {
    auto const found = log.read(id).value().value();
    return suite_entry<Log>{log, test_transaction::of<forward<move_type>>(id, usual_move()),
                            standing_of(found)};
}

/// The ids of entries, with a space after each.
[[nodiscard]] inline std::string ids_of(std::vector<entry> const& entries) {
    std::string out;
    for (entry const& one : entries) out += one.id + ' ';
    return out;
}

} // namespace testing
SETTLE_END
#endif
