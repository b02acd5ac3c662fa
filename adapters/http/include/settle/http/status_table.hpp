// SPDX-License-Identifier: BSL-1.0
// The meaning of HTTP status codes as answers to calls.
#pragma once

#include <settle/base/error.hpp>
#include <settle/kinds/services/service.hpp>

#include <array>
#include <cstddef>

SETTLE_BEGIN
namespace http {

/// The meaning of each status code for each operation. A new table has the meanings that the page
/// lists.
/// Source:  RFC 9110, section 15; RFC 6585; RFC 8470. See http#status-codes
class status_table {
public:
    constexpr status_table() {
        for (auto const operation : operations) {
            for (int status = first; status <= last; ++status) {
                at(operation, status) = usual_meaning(operation, status);
            }
        }
    }

    /// Shape:   status - any number; a number outside 200 to 599 is `unknown`
    [[nodiscard]] constexpr call_status meaning(call_operation operation, int status) const {
        if (status < first || status > last) return call_status::unknown;
        return meanings_[static_cast<std::size_t>(operation)]
                        [static_cast<std::size_t>(status - first)];
    }

    /// True if the status is a refusal, also while an earlier try of the call may be under way. 409
    /// is such a refusal only in a table in which the user has given it this meaning.
    /// Source:  draft-ietf-httpapi-idempotency-key-header, section 2.7
    [[nodiscard]] constexpr bool always_refuses(call_operation operation, int status) const {
        return meaning(operation, status) == call_status::refused &&
               (status != conflict || conflict_refuses_[static_cast<std::size_t>(operation)]);
    }

    /// A table with another meaning of one status for one operation.
    /// Errors:  throws errc::bad_option for a status outside 200 to 599, and for a refused confirm
    ///          or compensate: only an apply or a query can be refused
    [[nodiscard]] constexpr status_table with(call_operation operation, int status,
                                              call_status meaning) const {
        if (status < first || status > last) {
            throw failure({make_error_code(errc::bad_option),
                           "settle: only a status from 200 to 599 can have another meaning. "
                           "See http#status-codes"});
        }
        if (meaning == call_status::refused && !can_be_refused(operation)) {
            throw failure({make_error_code(errc::bad_option),
                           "settle: only the status of an apply or a query can mean 'refused'. "
                           "See http#status-codes"});
        }
        status_table changed = *this;
        changed.at(operation, status) = meaning;
        if (status == conflict) {
            changed.conflict_refuses_[static_cast<std::size_t>(operation)] =
                meaning == call_status::refused;
        }
        return changed;
    }

    /// The same for all operations. `refused` is the meaning for an apply and a query; for a
    /// confirm or a compensate the status is then `unknown`.
    [[nodiscard]] constexpr status_table with(int status, call_status meaning) const {
        bool const refused = meaning == call_status::refused;
        auto const rest = refused ? call_status::unknown : meaning;
        return with(call_operation::apply, status, meaning)
            .with(call_operation::query, status, meaning)
            .with(call_operation::confirm, status, rest)
            .with(call_operation::compensate, status, rest);
    }

private:
    static constexpr int first = 200;
    static constexpr int last = 599;
    static constexpr int conflict = 409;
    static constexpr std::array operations{call_operation::apply, call_operation::confirm,
                                           call_operation::compensate, call_operation::query};

    static constexpr bool can_be_refused(call_operation operation) {
        return operation == call_operation::apply || operation == call_operation::query;
    }

    static constexpr call_status usual_meaning(call_operation operation, int status) {
        switch (status) {
        case 202: // accepted, and not done yet
        case 206: // a part of an answer
        case 408: // the call may have arrived whole
            return call_status::unknown;
        case 307:
        case 308: // the server asks for the same call elsewhere, so it did nothing
        case 503: return call_status::unavailable;
        case conflict: // or a request with this key is under way: see always_refuses()
        case 422: return can_be_refused(operation) ? call_status::refused : call_status::unknown;
        default:
            if (status < 300) return call_status::ok;
            return status >= 400 && status < 500 ? call_status::unavailable : call_status::unknown;
        }
    }

    constexpr call_status& at(call_operation operation, int status) {
        return meanings_[static_cast<std::size_t>(operation)]
                        [static_cast<std::size_t>(status - first)];
    }

    std::array<std::array<call_status, last - first + 1>, operations.size()> meanings_{};
    std::array<bool, operations.size()> conflict_refuses_{}; ///< by the user's word
};

} // namespace http
SETTLE_END
