// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that call_pauses.hpp declares.
#pragma once

#include <settle/base/json_reader.hpp>
#include <settle/running/driving/call_pauses.hpp>

#include <algorithm>

SETTLE_BEGIN

SETTLE_FUNCTION std::string_view name_of(pause_scope scope) noexcept {
    switch (scope) {
    case pause_scope::service: return "service";
    case pause_scope::type: return "type";
    case pause_scope::transaction: return "transaction";
    }
    return "unknown scope";
}

namespace detail {

/// The name of the metadata that holds the pauses: a JSON array of objects.
inline constexpr std::string_view pauses_metadata = "paused_calls";

[[nodiscard]] SETTLE_FUNCTION std::string text_of(std::vector<call_pause> const& pauses) {
    std::string text{"["};
    for (call_pause const& pause : pauses) {
        if (text.size() > 1) text += ',';
        text.append("{\"").append(name_of(pause.scope)).append("\":");
        append_json_text(text, pause.name);
        text += ",\"since\":";
        append_json_integer(text, pause.since.time_since_epoch().count());
        text += ",\"why\":";
        append_json_text(text, pause.why);
        text += '}';
    }
    return text += ']';
}

[[nodiscard]] inline call_pause pause_of(json_reader& reader) {
    call_pause pause;
    bool has_name = false;
    if (!reader.begin_object()) return pause;
    for (std::string_view member; reader.next_member(member);) {
        if (member == "since") {
            std::int64_t milliseconds = 0;
            reader.read_integer(milliseconds);
            pause.since = timestamp{std::chrono::milliseconds{milliseconds}};
        } else if (member == "why") {
            reader.read_text(pause.why);
        } else if (std::exchange(has_name, true)) {
            reader.fail("has two names");
        } else {
            for (auto const scope : all_pause_scopes) {
                if (member == name_of(scope)) pause.scope = scope;
            }
            if (member != name_of(pause.scope)) reader.fail("is not known");
            reader.read_text(pause.name);
        }
    }
    if (!has_name) reader.fail("has no name");
    return pause;
}

[[nodiscard]] SETTLE_FUNCTION result<std::vector<call_pause>>
pauses_in(std::optional<std::string> const& text) {
    std::vector<call_pause> pauses;
    if (!text) return pauses;
    json_reader reader{*text};
    if (reader.begin_array()) {
        while (reader.next_element()) pauses.push_back(pause_of(reader));
    }
    if (reader.finish()) return pauses;
    return error{make_error_code(errc::damaged),
                 "settle: the log's metadata '" + std::string{pauses_metadata} +
                     "' cannot be read: " + reader.problem().text +
                     ". Correct it, or erase it to resume all calls. See stuck#paused-calls"};
}

[[nodiscard]] inline error too_many_pauses(std::size_t count) {
    return {make_error_code(errc::bad_option),
            "settle: a list of " + std::to_string(count) +
                " pauses is too long for the log. Pause a type or a service instead of single "
                "transactions. See stuck#paused-calls"};
}

SETTLE_FUNCTION result<bool> change_pauses(log_port& log,
                                           function_view<bool(std::vector<call_pause>&)> change) {
    for (bool is_changed = false;; is_changed = true) {
        auto const stored = log.metadata(pauses_metadata);
        if (!stored.has_value()) return stored.problem();
        auto pauses = pauses_in(stored.value());
        if (!pauses.has_value()) return pauses.problem();
        if (!change(pauses.value())) return is_changed;
        auto const text = text_of(pauses.value());
        constexpr std::size_t longest = 60'000;
        if (text.size() > longest) return too_many_pauses(pauses.value().size());
        auto const written = log.replace_metadata(pauses_metadata, stored.value(), text);
        if (!written.has_value()) return written.problem();
    }
}

SETTLE_FUNCTION result<std::vector<call_pause>> read_pauses(log_port& log) {
    auto const stored = log.metadata(pauses_metadata);
    if (!stored.has_value()) return stored.problem();
    return pauses_in(stored.value());
}

SETTLE_FUNCTION void call_pauses::look() {
    auto const now = environment_.elapsed().count();
    auto looked_at = looked_at_.load(std::memory_order_relaxed);
    constexpr auto every = std::chrono::nanoseconds{look_every}.count();
    // One of the threads looks; the others go on with what is known, if anything is.
    if (looked_at != never && now - looked_at < every && last() != nullptr) return;
    if (!looked_at_.compare_exchange_strong(looked_at, now) && last() != nullptr) return;
    auto pauses = read_pauses(log_);
    auto seen = std::make_shared<last_look>();
    if (pauses.has_value()) seen->pauses = std::move(pauses).value();
    else seen->problem = pauses.problem();
    std::lock_guard const guard{mutex_};
    // A log that is away for a moment resumes nothing.
    bool const keeps = known_ != nullptr && known_->problem.empty() && !seen->problem.empty() &&
                       seen->problem.code != errc::damaged;
    if (!keeps) known_ = std::move(seen);
}

SETTLE_FUNCTION bool call_pauses::holds(std::string_view type, transaction_id const& id) const {
    auto const known = last();
    return known != nullptr &&
           std::any_of(known->pauses.begin(), known->pauses.end(), [&](call_pause const& pause) {
               return (pause.scope == pause_scope::type && pause.name == type) ||
                      (pause.scope == pause_scope::transaction && pause.name == id);
           });
}

SETTLE_FUNCTION error call_pauses::why_not(std::string_view service, std::string_view type,
                                           transaction_id const& id) const {
    auto const known = last();
    if (known == nullptr) return {};
    if (!known->problem.empty()) return known->problem;
    for (call_pause const& pause : known->pauses) {
        std::string_view const name = pause.scope == pause_scope::service ? service
                                      : pause.scope == pause_scope::type  ? type
                                                                          : std::string_view{id};
        if (pause.name != name) continue;
        return {make_error_code(errc::call_paused),
                "settle: the calls of the " + std::string{name_of(pause.scope)} + " '" +
                    pause.name + "' are paused: " + pause.why +
                    ". Resume them with resume_calls(). See stuck#paused-calls"};
    }
    return {};
}

} // namespace detail
SETTLE_END
