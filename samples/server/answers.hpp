// SPDX-License-Identifier: BSL-1.0
// What the server answers: each outcome of a transaction as a status of HTTP and a JSON object.
#pragma once

#include <settle/base/json_writer.hpp>
#include <settle/settle.hpp>

#include <boost/beast/http.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace counter {

struct reply {
    boost::beast::http::status status;
    std::string body; ///< JSON
    std::string location{};

    [[nodiscard]] static reply with(boost::beast::http::status status, std::string_view state,
                                    std::string_view text = {}) {
        std::string body{"{\"state\":"};
        settle::append_json_text(body, state);
        if (!text.empty()) {
            body += ",\"text\":";
            settle::append_json_text(body, text);
        }
        return {status, body + "}\n"};
    }
    [[nodiscard]] static reply wrong(std::string_view why) {
        return with(boost::beast::http::status::bad_request, "refused", why);
    }
    [[nodiscard]] static reply not_found(std::string_view why) {
        return with(boost::beast::http::status::not_found, "unknown", why);
    }

    [[nodiscard]] auto message(unsigned version, bool keeps_alive) const {
        boost::beast::http::response<boost::beast::http::string_body> response{status, version};
        response.set(boost::beast::http::field::content_type, "application/json");
        if (!location.empty()) response.set(boost::beast::http::field::location, location);
        if (status == boost::beast::http::status::service_unavailable)
            response.set(boost::beast::http::field::retry_after, "1");
        response.keep_alive(keeps_alive);
        response.body() = body;
        response.prepare_payload();
        return response;
    }
};

/// The trip is not decided yet, and goes on: the client asks again at the same address.
[[nodiscard]] inline reply goes_on(settle::transaction_id const& id, std::string_view why) {
    auto made = reply::with(boost::beast::http::status::accepted, "under way", why);
    made.location = "/trips/" + id;
    return made;
}

[[nodiscard]] inline reply ended(settle::outcome const& outcome) {
    using boost::beast::http::status;
    switch (outcome.verdict) {
    case settle::verdict::done: return reply::with(status::ok, "done");
    case settle::verdict::canceled:
        return reply::with(status::conflict, "canceled", outcome.text());
    case settle::verdict::refused: return reply::wrong(outcome.text());
    default: break;
    }
    if (outcome.problem.code == settle::errc::runner_full)
        return reply::with(status::service_unavailable, "busy", "Send it again later.");
    return goes_on(outcome.id, outcome.text());
}

/// Shape:   entry - as engine.find() gives it
[[nodiscard]] inline reply found(settle::result<std::optional<settle::entry>> const& entry) {
    using boost::beast::http::status;
    if (!entry) return reply::with(status::internal_server_error, "unknown", entry.problem().text);
    if (!entry->has_value()) return reply::not_found("no trip has this id");
    settle::entry const& stored = **entry;
    if (stored.state == settle::state::done) return reply::with(status::ok, "done");
    if (stored.state == settle::state::canceled)
        return reply::with(status::conflict, "canceled", stored.why_text);
    return goes_on(stored.id, name_of(stored.state));
}

} // namespace counter
