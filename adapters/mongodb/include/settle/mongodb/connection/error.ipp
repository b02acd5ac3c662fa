// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/mongodb/connection/error.hpp>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

[[nodiscard]] SETTLE_FUNCTION bool is_cut_login(bson_error_t const& problem) noexcept {
    if (problem.domain != MONGOC_ERROR_CLIENT || problem.code != MONGOC_ERROR_CLIENT_AUTHENTICATE) {
        return false;
    }
    // Texts of the driver and the server about a refused name, password or mechanism.
    constexpr std::array<std::string_view, 5> refusals{"uthentication failed", "auth failed",
                                                       "mechanism", "find user", "certificate"};
    std::string_view const reply{problem.message};
    return std::none_of(refusals.begin(), refusals.end(), [&](std::string_view one) {
        return reply.find(one) != std::string_view::npos;
    });
}

SETTLE_FUNCTION int code_of(bson_error_t const& problem) noexcept {
    if (is_cut_login(problem)) return code_of_cut_login;
    bool const by_server = problem.domain == MONGOC_ERROR_SERVER ||
                           problem.domain == MONGOC_ERROR_QUERY ||
                           problem.domain == MONGOC_ERROR_WRITE_CONCERN;
    auto const code = static_cast<int>(problem.code);
    return by_server ? code : -(static_cast<int>(problem.domain) * domain_width + code);
}

} // namespace mongodb::detail

namespace mongodb {

SETTLE_FUNCTION std::error_category const& mongodb_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "mongodb"; }
        std::string message(int code) const override {
            return "MongoDB error " + std::to_string(code);
        }
        std::error_condition default_error_condition(int code) const noexcept override {
            return make_error_condition(detail::condition_of(code));
        }
    };
    static category const instance;
    return instance;
}

} // namespace mongodb

namespace mongodb::detail {

/// Shape:   reply - "not authorized on bank to execute command { update: ..."
[[nodiscard]] SETTLE_FUNCTION std::optional<missing_right>
missing_right_of(std::string_view reply) {
    constexpr std::string_view before = "not authorized on ";
    constexpr std::string_view between = " to execute command { ";
    auto const from = reply.find(before);
    auto const to = reply.find(between);
    if (from == std::string_view::npos || to == std::string_view::npos || to < from) {
        return std::nullopt;
    }
    auto const database = reply.substr(from + before.size(), to - from - before.size());
    auto const command = reply.substr(to + between.size());
    return missing_right{command.substr(0, command.find(':')), database};
}

/// The actions that a role needs for a command.
[[nodiscard]] SETTLE_FUNCTION std::string actions_of(std::string_view command) {
    if (command == "delete") return "'remove'";
    if (command == "create") return "'insert'";
    if (command == "createIndexes") return "'createIndex'";
    if (command == "findAndModify") return "'insert' or 'update'";
    return "'" + std::string{command} + "'";
}

inline constexpr std::string_view advice_for_rights =
    "Give the address's user the rights that are listed, or the role readWrite. See mongodb#rights";
inline constexpr std::string_view advice_for_login =
    "Check the name, the password and authSource in the address. See mongodb#errors";

/// Advice for code 8000, which a hosted server has for its refusals of every kind.
[[nodiscard]] SETTLE_FUNCTION std::string_view advice_for_hosted(std::string_view reply) {
    auto const says = [reply](std::string_view words) {
        return std::search(reply.begin(), reply.end(), words.begin(), words.end(),
                           [](char left, char right) {
                               bool const is_upper = left >= 'A' && left <= 'Z';
                               return (is_upper ? left - 'A' + 'a' : left) == right;
                           }) != reply.end();
    };
    if (says("bad auth") || says("authentication")) return advice_for_login;
    if (says("not allowed to do action") || says("not authorized")) return advice_for_rights;
    if (says("quota")) return "Make room in the hosted cluster, or enlarge it. See mongodb#errors";
    if (says("tier") || says("unsupported") || says("unavailable") || says("unrecognized")) {
        return "The hosted cluster's tier does not have this command. Choose a tier that does. "
               "See mongodb#errors";
    }
    return "This code is the hosting service's own, and its text says why. See mongodb#errors";
}

/// Advice for the user, by the code.
[[nodiscard]] SETTLE_FUNCTION std::string_view advice_for(bson_error_t const& problem) {
    switch (code_of(problem)) {
    case unauthorized: return advice_for_rights;
    case disk_is_full: return "Make room on the server's disk. See mongodb#errors";
    case atlas_error: return advice_for_hosted(problem.message);
    case authentication_failed:
    case user_not_found:
    case user_disabled:
    case -(MONGOC_ERROR_CLIENT * domain_width + MONGOC_ERROR_CLIENT_AUTHENTICATE):
        return advice_for_login;
    default: break;
    }
    if (std::string_view{problem.message}.find("TLS") != std::string_view::npos) {
        return "Check the host's name and the certificates that the address names (tlsCAFile, "
               "tlsCertificateKeyFile). See mongodb#errors";
    }
    if (problem.domain == MONGOC_ERROR_SERVER_SELECTION) {
        return "Check the address, whether the server asks for tls=true, and that it runs and can "
               "be reached from here. See mongodb#errors";
    }
    return "See mongodb#errors";
}

SETTLE_FUNCTION std::string native_text(bson_error_t const& problem) {
    std::string_view const reply{problem.message};
    // A refusal repeats the whole command. is_of_taken_key() needs the whole text of its code.
    std::size_t end = code_of(problem) == duplicate_key ? reply.size() : 300;
    if (missing_right_of(reply)) end = std::min(end, reply.find(','));
    return settle::detail::native_text(reply, end);
}

SETTLE_FUNCTION error describe(bson_error_t const& problem, std::string_view phase) {
    auto const reply = native_text(problem);
    auto code = code_of(problem);
    std::string text{"settle: "};
    if (auto const right = missing_right_of(reply); right && code == unauthorized) {
        text.append("the right ").append(actions_of(right->command));
        text.append(" on the database '").append(right->database);
        text.append("' is missing, so ");
    }
    text.append("MongoDB could not ").append(phase).append(": ").append(reply);
    text.append(" (code ").append(std::to_string(problem.code)).append("). ");
    text.append(advice_for(problem));
    // The driver checks sizes, too, and has one code for every unacceptable document.
    bool const measured =
        problem.domain == MONGOC_ERROR_BSON && reply.find("too large") != std::string::npos;
    if (measured) code = object_too_large;
    return {std::error_code{code == 0 ? -1 : code, mongodb_category()}, std::move(text)};
}

SETTLE_FUNCTION void raise(errc code, std::string text) {
    throw failure({make_error_code(code), std::move(text)});
}

SETTLE_FUNCTION bool is_of_taken_key(error const& problem, std::string_view key) noexcept {
    if (problem.code != std::error_code{duplicate_key, mongodb_category()}) return false;
    // The server names the index first, then its fields with their values, which may be any text.
    auto const after = [](std::string_view text, std::string_view label) {
        auto const at = text.find(label);
        return at == std::string_view::npos ? std::string_view{} : text.substr(at + label.size());
    };
    auto const index = after(problem.text, " index: ");
    if (key == "_id") return index.starts_with("_id_ ");
    auto const value = after(index, " dup key: { ");
    return value.starts_with(key) && value.substr(key.size()).starts_with(": ");
}

SETTLE_FUNCTION bool is_lost_primary(std::error_code const& code) noexcept {
    if (code.category() != mongodb_category()) return false;
    constexpr std::array codes{6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436};
    bool const by_driver = code.value() < 0 && -code.value() / domain_width == MONGOC_ERROR_STREAM;
    return by_driver || code.value() == code_of_cut_login ||
           std::find(codes.begin(), codes.end(), code.value()) != codes.end();
}

SETTLE_FUNCTION error held_by_another(std::string const& what) {
    return {{write_conflict, mongodb_category()},
            "settle: " + what + " is held by another native transaction of MongoDB. " +
                std::string{advice_for_held}};
}

SETTLE_FUNCTION std::string text_of_slow_change(std::string const& what) {
    return "settle: MongoDB has taken too long to change " + what +
           ", which another native transaction may hold. " + std::string{advice_for_held};
}

SETTLE_FUNCTION bool is_of_one_record(std::error_code const& code) noexcept {
    if (code == errc::damaged || code == errc::unfit_store) return true;
    if (code.category() != mongodb_category()) return false;
    constexpr std::array codes{document_validation_failure, duplicate_key, path_not_viable,
                               cannot_build_index_keys, index_key_too_long};
    return is_too_large(code) || std::find(codes.begin(), codes.end(), code.value()) != codes.end();
}

} // namespace mongodb::detail

SETTLE_END
