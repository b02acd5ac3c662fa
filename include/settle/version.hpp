// SPDX-License-Identifier: BSL-1.0
// The version of the library, the namespace that carries its ABI, and how it is compiled.
#pragma once

/// major * 10000 + minor * 100 + patch
#define SETTLE_VERSION 100

#define SETTLE_BEGIN                                                                               \
    namespace settle {                                                                             \
    inline namespace v0 {
#define SETTLE_END                                                                                 \
    }                                                                                              \
    }

/// Begins the definition of a function in an .ipp file: a header includes that file, or, with
/// SETTLE_COMPILED, only the source of the library does.
#ifdef SETTLE_COMPILED
#define SETTLE_FUNCTION
#else
#define SETTLE_FUNCTION inline
#endif

/// An attribute of what short loops call: it is compiled into its callers at every level of
/// optimisation.
#define SETTLE_INLINED gnu::always_inline

// All translation units of a program define SETTLE_COMPILED, or none does. A linker refuses two
// definitions of a variable if only one of them is local to a thread, and shows the name.
extern "C" {
#ifdef SETTLE_COMPILED
[[gnu::used]] inline thread_local char settle_is_mixed_header_only_with_SETTLE_COMPILED = 0;
#else
[[gnu::used]] inline char settle_is_mixed_header_only_with_SETTLE_COMPILED = 0;
#endif
}
