// SPDX-License-Identifier: BSL-1.0
// The tutorial's recovery by hand, page by page: pending transactions are applied again and
// finished, and applied transactions are finished.
#pragma once

#include "tutorial.hpp"

#include <vector>

namespace baseline {

/// The text between a member's name and an end character. The program wrote this JSON itself, so no
/// parser is needed.
[[nodiscard]] inline std::string_view between(std::string_view json, std::string_view name,
                                              char end) {
    auto const begin = json.find(name) + name.size();
    return json.substr(begin, json.find(end, begin) - begin);
}

[[nodiscard]] inline bench::transfer read_json(std::string_view json) {
    bench::transfer read;
    read.source = between(json, R"("source":")", '"');
    read.destination = between(json, R"("destination":")", '"');
    auto const digits = between(json, R"("amount":)", '}');
    std::from_chars(digits.data(), digits.data() + digits.size(), read.amount);
    return read;
}

class tutorial_recovery {
public:
    tutorial_recovery(connection const& connection, marks kept)
        : steps_(connection, kept),
          page_(connection, "SELECT id, state, parameters FROM log WHERE state IN (1, 2) AND "
                            "modified <= ?1 AND id > ?2 ORDER BY id LIMIT 1000") {}

    /// Returns the number of transactions that it finished.
    std::size_t run() {
        std::size_t count = 0;
        auto const before = now();
        std::string after;
        while (read_page(before, after)) {
            if (!pending_.empty()) steps_.recover_pending(pending_);
            if (!applied_.empty()) steps_.recover_applied(applied_);
            count += pending_.size() + applied_.size();
        }
        return count;
    }

private:
    bool read_page(std::int64_t before, std::string& after) {
        pending_.clear();
        applied_.clear();
        page_.bind(before, after);
        while (page_.next()) {
            bool const is_pending = page_.integer(1) == static_cast<std::int64_t>(state::pending);
            auto& into = is_pending ? pending_ : applied_;
            into.emplace_back(page_.text(0), read_json(page_.text(2)));
        }
        page_.reset();
        // The statement held the text while it ran.
        for (auto const* part : {&pending_, &applied_}) {
            if (!part->empty()) after = std::max(after, part->back().first);
        }
        return !pending_.empty() || !applied_.empty();
    }

    tutorial steps_;
    statement page_;
    std::vector<bench::transfer_request> pending_;
    std::vector<bench::transfer_request> applied_;
};

} // namespace baseline
