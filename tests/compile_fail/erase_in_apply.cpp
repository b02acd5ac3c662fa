// SPDX-License-Identifier: BSL-1.0
// An erase at apply takes its mark away.
// expect: settle: an erase at apply would erase the mark with the record.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .confirm(settle::erase)
#else
                                          .apply(settle::erase)
                                          .compensate(settle::inverse)
#endif
    );

} // namespace bank
