// SPDX-License-Identifier: BSL-1.0
// What cannot be changed cannot be read from a store.
// expect: settle: this type cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    const std::int64_t value;
#endif
};

} // namespace bank

BOOST_HANA_ADAPT_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
