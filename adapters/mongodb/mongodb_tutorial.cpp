// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mongodb_tutorial.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/mongodb/tutorial/bare_mark.ipp>
#include <settle/mongodb/tutorial/layout.ipp>
