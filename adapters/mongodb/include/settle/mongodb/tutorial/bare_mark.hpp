// SPDX-License-Identifier: BSL-1.0
// Bare marks, ids alone in pendingTransactions, which a program of the tutorial left in a record.
// Their effects are not in the record: a reader that knows the transaction type supplies them.
#pragma once

#include <settle/mongodb/records/record_table.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// Reads the effect of the bare mark of a request's transaction: what the request is to end.
/// Shape:   now - the record under the mark
/// Returns: why the mark cannot be ended; empty when it can
using bare_reader = std::string (*)(part_request const&, void const* now, mark_data& into);

/// Ends the bare marks of the records of one transaction type.
class bare_marks final : public bare_mark_rule {
public:
    constexpr explicit bare_marks(bare_reader read) noexcept : read_(read) {}

    void adopt(record_state& state, collection_descriptor const& descriptor,
               part_request const& request) const override;

    /// Raises the mark, also a bare one, of the next announced request to the request's epoch.
    /// Errors:  throws errc::damaged when the record cannot be used
    [[nodiscard]] answer raise(record_table& table, part_request const& request) const;

    /// Pulls the bare mark that a request's transaction left behind in the next announced record.
    /// Shape:   committed - the transaction is done, so an assigned value stays. An added amount is
    ///          undone in either case, since it was added after the transaction ended;
    ///          confirmed - the transaction is applied, and the effect is its own
    [[nodiscard]] answer pull(record_table& table, part_request const& request, bool committed,
                              bool confirmed) const;

private:
    /// Removes the bare mark from the list, and returns it as a mark of settle.
    [[nodiscard]] mark_data take(record_state& state, collection_descriptor const& descriptor,
                                 part_request const& request, bool committed) const;

    bare_reader read_;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/tutorial/bare_mark.ipp>
#endif
