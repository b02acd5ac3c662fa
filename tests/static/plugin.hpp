// SPDX-License-Identifier: BSL-1.0
// What the plug-in of the test gives to the program that loads it.
#pragma once

#include <settle/base/error.hpp>

namespace plugin {

/// Calls `use` with an error of the library and with the error of an adapter, and throws the first.
using function = void (*)(void (*use)(settle::error const& own, settle::error const& adapters));

} // namespace plugin
