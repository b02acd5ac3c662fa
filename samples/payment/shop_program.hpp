// SPDX-License-Identifier: BSL-1.0
// The shop's program, without its main(): it takes any store.
#pragma once

#include "payment.hpp"

#include <shared/any_store.hpp>
#include <shared/linked_stores.hpp>
#include <shared/purge_note.hpp>

#include <type_traits>

namespace shop {

using store =
    samples::any_store<std::remove_cv_t<decltype(customers)>, std::remove_cv_t<decltype(orders)>,
                       std::remove_cv_t<decltype(items)>, std::remove_cv_t<decltype(tills)>,
                       std::remove_cv_t<decltype(samples::notes)>>;

int main_of(samples::linked_stores<store> const& stores, int argc, char** argv);

} // namespace shop
