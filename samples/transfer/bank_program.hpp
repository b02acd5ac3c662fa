// SPDX-License-Identifier: BSL-1.0
// The bank's program, without its main(): it takes any store.
#pragma once

#include "transfer.hpp"

#include <shared/any_store.hpp>
#include <shared/linked_stores.hpp>
#include <shared/purge_note.hpp>

#include <type_traits>

namespace bank {

using store = samples::any_store<std::remove_cv_t<decltype(accounts)>,
                                 std::remove_cv_t<decltype(samples::notes)>>;

int main_of(samples::linked_stores<store> const& stores, int argc, char** argv);

} // namespace bank
