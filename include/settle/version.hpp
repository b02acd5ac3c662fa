// SPDX-License-Identifier: BSL-1.0
// The version of the library and the namespace that carries its ABI.
#pragma once

/// major * 10000 + minor * 100 + patch
#define SETTLE_VERSION 100

#define SETTLE_BEGIN                                                                               \
    namespace settle {                                                                             \
    inline namespace v0 {
#define SETTLE_END                                                                                 \
    }                                                                                              \
    }

/// An attribute of what short loops call and all transaction types share: it is compiled into its
/// callers. Where nothing is optimised it is compiled once for all, which takes less time.
#ifdef __OPTIMIZE__
#define SETTLE_INLINED gnu::always_inline
#else
#define SETTLE_INLINED
#endif
