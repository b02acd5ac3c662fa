// SPDX-License-Identifier: BSL-1.0
// A description in a function, where the language takes no function that describes the struct.
// expect: settle: SETTLE_STRUCT is in a function.
// also: function
#include "bank.hpp"

namespace bank {

#ifdef FIXED
struct note {
    std::string id;
};
SETTLE_STRUCT(note, id);
#endif

inline void describe() {
#ifndef FIXED
    struct note {
        std::string id;
    };
    SETTLE_STRUCT(note, id);
#endif
}

} // namespace bank
