// SPDX-License-Identifier: BSL-1.0
// A non-owning view of a function, called through a pointer, so that its user is compiled once.
#pragma once

#include <settle/version.hpp>

#include <memory>
#include <type_traits>
#include <utility>

SETTLE_BEGIN
namespace detail {

template <typename Signature>
class function_view;

/// Shape:   the function lives longer than the view
template <typename Result, typename... Arguments>
class function_view<Result(Arguments...)> {
public:
    template <typename Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, function_view>)
    function_view(Function&& function)
        : held_(const_cast<void*>(static_cast<void const*>(std::addressof(function)))),
          call_(&call<std::remove_reference_t<Function>>) {}

    Result operator()(Arguments... arguments) const {
        return call_(held_, std::forward<Arguments>(arguments)...);
    }

private:
    template <typename Function>
    static Result call(void* held, Arguments... arguments) {
        return (*static_cast<Function*>(held))(std::forward<Arguments>(arguments)...);
    }

    void* held_;
    Result (*call_)(void*, Arguments...);
};

} // namespace detail
SETTLE_END
