// SPDX-License-Identifier: BSL-1.0
// Sets of fields are kept as the bits of a number.
// expect: settle: SETTLE_STRUCT lists more than 64 members,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    int m0;
    int m1;
    int m2;
    int m3;
    int m4;
    int m5;
    int m6;
    int m7;
    int m8;
    int m9;
    int m10;
    int m11;
    int m12;
    int m13;
    int m14;
    int m15;
    int m16;
    int m17;
    int m18;
    int m19;
    int m20;
    int m21;
    int m22;
    int m23;
    int m24;
    int m25;
    int m26;
    int m27;
    int m28;
    int m29;
    int m30;
    int m31;
    int m32;
    int m33;
    int m34;
    int m35;
    int m36;
    int m37;
    int m38;
    int m39;
    int m40;
    int m41;
    int m42;
    int m43;
    int m44;
    int m45;
    int m46;
    int m47;
    int m48;
    int m49;
    int m50;
    int m51;
    int m52;
    int m53;
    int m54;
    int m55;
    int m56;
    int m57;
    int m58;
    int m59;
    int m60;
    int m61;
#else
    std::int64_t value;
    std::int64_t more;
    int m0;
    int m1;
    int m2;
    int m3;
    int m4;
    int m5;
    int m6;
    int m7;
    int m8;
    int m9;
    int m10;
    int m11;
    int m12;
    int m13;
    int m14;
    int m15;
    int m16;
    int m17;
    int m18;
    int m19;
    int m20;
    int m21;
    int m22;
    int m23;
    int m24;
    int m25;
    int m26;
    int m27;
    int m28;
    int m29;
    int m30;
    int m31;
    int m32;
    int m33;
    int m34;
    int m35;
    int m36;
    int m37;
    int m38;
    int m39;
    int m40;
    int m41;
    int m42;
    int m43;
    int m44;
    int m45;
    int m46;
    int m47;
    int m48;
    int m49;
    int m50;
    int m51;
    int m52;
    int m53;
    int m54;
    int m55;
    int m56;
    int m57;
    int m58;
    int m59;
    int m60;
    int m61;
#endif
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13,
              m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30,
              m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41, m42, m43, m44, m45, m46, m47,
              m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61);
#else
SETTLE_STRUCT(bank::thing, id, value, more, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12,
              m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29,
              m30, m31, m32, m33, m34, m35, m36, m37, m38, m39, m40, m41, m42, m43, m44, m45, m46,
              m47, m48, m49, m50, m51, m52, m53, m54, m55, m56, m57, m58, m59, m60, m61);
#endif

#include "things_in_use.hpp"
