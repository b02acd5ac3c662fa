// SPDX-License-Identifier: BSL-1.0
// The request of a call, from the arguments that its participant gives.
#pragma once

#include <settle/definition/call.hpp>

SETTLE_BEGIN
namespace detail {

/// Sets each member of a request to the value of its argument.
/// Shape:   scope - the scope of the arguments; its overflow is set if an argument exceeds 64 bits
template <typename Request, typename Arguments, typename Scope>
void fill_request(Request& value, Arguments const& arguments, Scope const& scope) {
    [&]<std::size_t... Member>(std::index_sequence<Member...>) {
        (store_value(member<Request, Member>::in(value),
                     evaluate(boost::hana::at_c<Member>(arguments), scope), *scope.overflow),
         ...);
    }(std::make_index_sequence<member_count<Request>>{});
}

} // namespace detail
SETTLE_END
