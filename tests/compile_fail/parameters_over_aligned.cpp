// SPDX-License-Identifier: BSL-1.0
// Parameters that no store can put beside an entry.
// expect: settle: parameters with a larger alignment than any scalar's are not supported.
#include "bank.hpp"

#include <settle/store/record.hpp>

namespace bank {

#ifdef FIXED
struct payout {
#else
struct alignas(2 * alignof(std::max_align_t)) payout {
#endif
    std::string to;
    std::int64_t amount;
};

} // namespace bank
SETTLE_STRUCT(bank::payout, to, amount);

namespace bank {

inline constexpr auto payout_type =
    transaction<payout, "payout">(participant<"to">(accounts, param<&payout::to>)
                                      .confirm(field<&account::balance> += param<&payout::amount>));
auto const& descriptor = settle::descriptor_of<settle::forward<payout_type>>;

} // namespace bank
