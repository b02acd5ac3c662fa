// SPDX-License-Identifier: BSL-1.0
// What a console is told: where it listens, who may look, and who may act.
#pragma once

#include <settle/metrics.hpp>
#include <settle/protocol/state.hpp>

#include <functional>
#include <optional>
#include <string>

SETTLE_BEGIN

/// An action that a person has asked a console for.
struct console_action {
    timestamp when;
    std::string name; ///< from console_options::name_header, else the role: "operator"
    /// "recover", "cancel", "reverse", "resolve", "stop", "pause", "resume", "sweep"
    std::string action;
    transaction_id id;  ///< or what else it was for: "service shop", or the id of an action on all
    std::string result; ///< what happened, as the person was told
};

/// The options of a console. Each has a default.
struct console_options {
    std::uint16_t port = 0; ///< 0: a free one, which console::port() tells
    /// The address of this machine to listen on. Another one than loopback needs a token.
    std::string address = "127.0.0.1";
    /// Who gives this token may look and act. A token has at least 16 bytes, all of them visible
    /// ASCII. Without any token, everybody on this machine may look and act.
    std::string operator_token{};
    std::string viewer_token{}; ///< who gives this token may look
    /// The path in front of each path of the console, as a reverse proxy passes it on: "/settle".
    std::string base_path{};
    /// The header in which a reverse proxy names the person whom it has let in, for console_action.
    std::string name_header{};
    /// The figures of transactions for `/metrics` and the overview, if no settle::metrics observes
    /// the engine itself.
    std::optional<metrics> figures{};
    /// Is told each action that was not a dry run, after it, and each entry of an action on all.
    /// Called by one thread. The log keeps the actions without it.
    std::function<void(console_action const&)> audit{};
    /// How long a client may take to send a request, and to take the answer. A connection without a
    /// request ends then, too.
    time_limit client_limit = std::chrono::seconds{10};
    /// How long an answer may wait for the log and the stores; an action has five times as long.
    time_limit store_limit = std::chrono::seconds{2};
};

SETTLE_END
