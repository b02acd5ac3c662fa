// SPDX-License-Identifier: BSL-1.0
// A console: one object in a program serves a page, JSON and text about the transactions of its
// engine, and settles single transactions for an operator.
#pragma once

#include <settle/console/options.hpp>
#include <settle/console/served_engine.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

class console_server; // console.cpp

} // namespace detail

/// Serves HTTP until its destructor: `settle::console console{engine, {.port = 8080}};`.
/// Errors:  the constructor throws settle::failure: the port is in use, the address is none of this
///          machine, a token is missing or too short, or another option makes no sense
/// Cost:    three threads: one has all connections, one calls the engine, and a metrics_thread
///          counts what waits in the log and the stores. The transactions of the engine do nothing
///          for it
/// Example: samples/transfer, command serve
class console {
public:
    /// Shape:   engine - outlives this object, and may be shared between threads
    template <typename... Arguments>
    explicit console(engine<Arguments...>& engine, console_options options = {})
        : console(std::make_unique<detail::served_engine_of<Arguments...>>(engine),
                  std::move(options)) {
#ifndef SETTLE_COMPILED
        static_assert(sizeof...(Arguments) == 0,
                      "settle: the console is a library, which a header-only program lacks. Link "
                      "settle::console without SETTLE_HEADER_ONLY. See console#use");
#endif
    }
    ~console();
    console(console const&) = delete;
    console& operator=(console const&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// The address of the page: `http://127.0.0.1:8080/`.
    [[nodiscard]] std::string url() const;

private:
    console(std::unique_ptr<detail::served_engine> engine, console_options options);

    process_stamp made_in_;
    std::unique_ptr<detail::console_server> server_;
};

SETTLE_END
