// SPDX-License-Identifier: BSL-1.0
// Compares the log with the postings of the ledger.
#pragma once

#include "books.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace books {

/// Calls function(parameters) for an entry of this program. False for any other entry, and for an
/// unreadable one.
template <typename Function>
bool with_parameters(settle::entry const& entry, Function&& function) {
    auto const as = [&]<typename Parameters>(std::type_identity<Parameters>) {
        auto const found = settle::decode_json<Parameters>(entry.parameters);
        if (found.has_value()) function(found.value());
        return found.has_value();
    };
    if (entry.type == outgoing_type.name) return as(std::type_identity<outgoing>{});
    if (entry.type == incoming_type.name) return as(std::type_identity<incoming>{});
    return false;
}

inline posting posting_of(outgoing const& outgoing) {
    return {outgoing.order_id, outgoing.payee, 0, outgoing.amount};
}
inline posting posting_of(incoming const& incoming) {
    return {incoming.order_id, incoming.payer, incoming.amount, 0};
}

/// The postings, order by order: a done transfer has one posting, any other has none.
/// Memory:  a posting for each order
class comparison {
public:
    explicit comparison(std::vector<posting> postings) {
        for (auto& each : postings) {
            auto id = each.order_id;
            if (!booked_.emplace(id, std::move(each)).second) {
                wrong(fmt::format("{} has two postings", id));
            }
        }
    }

    /// Compares one entry. An unfinished transfer may have its posting.
    void compare(settle::entry const& entry) {
        auto const booking = booked_.extract(entry.id);
        if (entry.state == settle::state::canceled && booking) {
            wrong(fmt::format("{} is canceled, and has a posting", entry.id));
        }
        if (entry.state != settle::state::done) return;
        bool const read = with_parameters(entry, [&](auto const& parameters) {
            auto const expected = posting_of(parameters);
            if (!booking) wrong(fmt::format("{} is done, and has no posting", entry.id));
            else if (!equal(expected, booking.mapped())) {
                wrong(fmt::format("{} is done, and its posting differs", entry.id));
            } else ++agreeing;
        });
        if (!read) wrong(fmt::format("{} is of no type that this program knows", entry.id));
    }

    /// After the last entry: postings that are left are wrong.
    void finish() {
        for (auto const& each : booked_) {
            wrong(fmt::format("{} has a posting, and the log has no such transfer", each.first));
        }
    }

    /// Counts a fault.
    void wrong(std::string sentence) {
        constexpr std::size_t most = 5;
        ++faults;
        if (sentences.size() < most) sentences.push_back(std::move(sentence));
    }

    std::uint64_t agreeing = 0;
    std::uint64_t faults = 0;
    std::vector<std::string> sentences; ///< on the first faults

private:
    static bool equal(posting const& one, posting const& other) {
        return one.account == other.account && one.debit == other.debit &&
               one.credit == other.credit;
    }

    std::unordered_map<std::string, posting> booked_;
};

} // namespace books
