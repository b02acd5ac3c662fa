// SPDX-License-Identifier: BSL-1.0
// What is compiled to see what the library's header costs.
#include <settle/settle.hpp>
