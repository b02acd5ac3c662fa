// SPDX-License-Identifier: BSL-1.0
// The bank's program, without its main(): it takes any store.
#pragma once

#include "transfer.hpp"

#include <shared/store.hpp>

namespace bank {

int main_of(samples::linked_store const& linked, int argc, char** argv);

} // namespace bank
