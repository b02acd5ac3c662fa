// SPDX-License-Identifier: BSL-1.0
// A record keeps single values.
// expect: settle: this type cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::vector<std::int64_t> value;
#endif
};

} // namespace bank

BOOST_HANA_ADAPT_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
