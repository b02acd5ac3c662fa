// SPDX-License-Identifier: BSL-1.0
// The shop's program, without its main(): it takes any store.
#pragma once

#include "payment.hpp"

#include <shared/store.hpp>

namespace shop {

int main_of(samples::linked_store const& linked, int argc, char** argv);

} // namespace shop
