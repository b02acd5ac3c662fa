// SPDX-License-Identifier: BSL-1.0
// Serves the console of an application's engine. A build without settle::console lacks its header.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#if __has_include(<settle/console.hpp>)
#include <settle/console.hpp>
#endif

namespace samples {

/// Serves until a stop is requested; false if the program has no console.
/// Shape:   said(url) - is called once the console listens
/// Errors:  throws settle::failure
template <typename Engine, typename Said>
bool serve_until_stopped([[maybe_unused]] Engine& engine, [[maybe_unused]] std::uint16_t port,
                         [[maybe_unused]] Said&& said,
                         [[maybe_unused]] std::stop_token const& stop) {
#if __has_include(<settle/console.hpp>)
    settle::console const console{engine, {.port = port}};
    said(console.url());
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any{}.wait(lock, stop, [] { return false; });
    return true;
#else
    return false;
#endif
}

} // namespace samples
