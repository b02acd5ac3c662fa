// SPDX-License-Identifier: BSL-1.0
// The version of the library, the namespace that carries its ABI, and how it is compiled.
#pragma once

// Without one of these, each header fails in its own way, so the compiler stops at the first.
#if __cplusplus < 202002L
#error "settle: this compiler does not compile C++20. Add -std=c++20 to its options."
#include <settle/stopped_by_the_error_above>
#elif !defined(__SIZEOF_INT128__)
#error "settle: this target has no integers of 128 bits. Compile for one of 64 bits."
#include <settle/stopped_by_the_error_above>
#endif

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
