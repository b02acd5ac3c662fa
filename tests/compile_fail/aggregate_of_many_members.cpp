// SPDX-License-Identifier: BSL-1.0
// The compiler reads 32 members without a macro.
// expect: settle: a struct has more than 32 members,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
    int m0, m1, m2, m3, m4, m5, m6, m7, m8, m9;
    int m10, m11, m12, m13, m14, m15, m16, m17, m18, m19;
    int m20, m21, m22, m23, m24, m25, m26, m27, m28, m29;
#ifndef FIXED
    int m30;
#endif
};

} // namespace bank

#include "things_in_use.hpp"
