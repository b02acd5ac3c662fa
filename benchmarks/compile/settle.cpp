// SPDX-License-Identifier: BSL-1.0
// Compiled to measure the cost of the library's header.
#include <settle/settle.hpp>
