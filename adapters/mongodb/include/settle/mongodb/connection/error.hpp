// SPDX-License-Identifier: BSL-1.0
// MongoDB's error codes, their comparison with settle's conditions, and whether a failed write may
// have taken effect.
#pragma once

#include <settle/base/error.hpp>

#include <mongoc/mongoc.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace mongodb {

/// The server's codes that settle distinguishes.
/// Source:  src/mongo/base/error_codes.yml of MongoDB 6.0
enum server_code : int {
    bad_value = 2,
    failed_to_parse = 9,
    user_not_found = 11,
    unauthorized = 13,
    type_mismatch = 14,
    overflow = 15,
    authentication_failed = 18,
    illegal_operation = 20,
    invalid_bson = 22,
    namespace_not_found = 26,
    path_not_viable = 28,
    role_not_found = 31,
    namespace_exists = 48,
    max_time_expired = 50,
    dollar_prefixed_field_name = 52,
    empty_field_name = 56,
    dotted_field_name = 57,
    command_not_found = 59,
    shard_key_not_found = 61,
    immutable_field = 66,
    cannot_create_index = 67,
    invalid_options = 72,
    invalid_namespace = 73,
    index_options_conflict = 85,
    index_keys_conflict = 86,
    write_conflict = 112,
    command_not_supported = 115,
    document_validation_failure = 121,
    not_a_replica_set = 123,
    no_read_concern_majority = 148,
    command_not_supported_on_view = 166,
    option_not_supported_on_view = 167,
    cannot_build_index_keys = 171,
    native_transaction_too_large = 257,
    unsupported_in_native_transaction = 263,
    api_version_error = 322,
    api_strict_error = 323,
    user_disabled = 334,
    atlas_error = 8000,
    not_writable_primary = 10107,
    object_too_large = 10334,
    duplicate_key = 11000,
    disk_is_full = 14031,
    index_key_too_long = 17280,
    document_grows_too_large = 17419,
    document_too_large = 17420
};

namespace detail {

/// The driver's codes are mapped below zero, by domain; the server's codes are positive.
inline constexpr int domain_width = 100'000;

/// A login that was interrupted because the server went away or changed its role. The driver then
/// sends none of the requests that follow, and reports the code of a refused login.
inline constexpr int code_of_cut_login = -(MONGOC_ERROR_CLIENT * domain_width + 99'999);

[[nodiscard]] int code_of(bson_error_t const& problem) noexcept;

/// A write that took effect and may be rolled back.
inline constexpr int code_of_lost = 64;

/// Whether the server refuses with this code before it does anything. Any other code may come in
/// the middle of the work, as when the server changes its role or goes away.
[[nodiscard]] constexpr bool is_refusal(int code) noexcept {
    constexpr std::array codes{bad_value,
                               failed_to_parse,
                               user_not_found,
                               unauthorized,
                               type_mismatch,
                               overflow,
                               authentication_failed,
                               illegal_operation,
                               invalid_bson,
                               namespace_not_found,
                               path_not_viable,
                               role_not_found,
                               namespace_exists,
                               dollar_prefixed_field_name,
                               empty_field_name,
                               dotted_field_name,
                               command_not_found,
                               shard_key_not_found,
                               immutable_field,
                               cannot_create_index,
                               invalid_options,
                               invalid_namespace,
                               index_options_conflict,
                               index_keys_conflict,
                               command_not_supported,
                               document_validation_failure,
                               not_a_replica_set,
                               no_read_concern_majority,
                               command_not_supported_on_view,
                               option_not_supported_on_view,
                               cannot_build_index_keys,
                               native_transaction_too_large,
                               unsupported_in_native_transaction,
                               api_version_error,
                               api_strict_error,
                               user_disabled,
                               atlas_error,
                               object_too_large,
                               duplicate_key,
                               disk_is_full,
                               index_key_too_long,
                               document_grows_too_large,
                               document_too_large};
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// Whether the driver refuses with this code before it sends anything.
[[nodiscard]] constexpr bool is_refusal_of_driver(int domain, int code) noexcept {
    switch (domain) {
    case MONGOC_ERROR_CLIENT: return code == MONGOC_ERROR_CLIENT_AUTHENTICATE;
    case MONGOC_ERROR_PROTOCOL: return code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION;
    case MONGOC_ERROR_BSON:
    case MONGOC_ERROR_COMMAND:
    case MONGOC_ERROR_NAMESPACE:
    case MONGOC_ERROR_SASL:
    case MONGOC_ERROR_SCRAM:
    case MONGOC_ERROR_TRANSACTION: return true;
    default: return false;
    }
}

[[nodiscard]] constexpr condition condition_of(int code) noexcept {
    if (code == write_conflict || code == code_of_cut_login) return condition::retryable;
    int const domain = -code / domain_width;
    bool const refused =
        code > 0 ? is_refusal(code) : is_refusal_of_driver(domain, -code % domain_width);
    return refused ? condition::permanent : condition::unknown;
}

} // namespace detail

/// Codes of the server are unchanged; codes of the driver are below zero. They compare equal to
/// settle::condition, and to `unknown` also where only the answer was lost.
[[nodiscard]] std::error_category const& mongodb_category() noexcept;

namespace detail {

/// A right that a user lacks, as the server reports it.
struct missing_right {
    std::string_view command;
    std::string_view database;
};

/// The server's or the driver's text, on one line and shortened.
[[nodiscard]] std::string native_text(bson_error_t const& problem);

/// Shape:   phase - the failed action, as it follows "MongoDB could not"
[[nodiscard]] error describe(bson_error_t const& problem, std::string_view phase);

[[noreturn]] void raise(errc code, std::string text);

/// Whether a document has grown beyond the server's limit.
[[nodiscard]] inline bool is_too_large(std::error_code const& code) noexcept {
    if (code.category() != mongodb_category()) return false;
    return code.value() == object_too_large || code.value() == document_grows_too_large ||
           code.value() == document_too_large;
}

/// Whether another document has the key.
/// Shape:   key - the field of the key
[[nodiscard]] bool is_of_taken_key(error const& problem, std::string_view key) noexcept;

/// Whether the driver has found no server.
[[nodiscard]] inline bool is_unreachable(std::error_code const& code) noexcept {
    return code.category() == mongodb_category() && code.value() < 0 &&
           -code.value() / domain_width == MONGOC_ERROR_SERVER_SELECTION;
}

/// Whether the server went away, or is no longer the primary.
[[nodiscard]] bool is_lost_primary(std::error_code const& code) noexcept;

/// Whether another native transaction holds a document to be written.
[[nodiscard]] inline bool is_conflict(error const& problem) noexcept {
    return problem.code == std::error_code{write_conflict, mongodb_category()};
}

/// Advice for a document that another native transaction holds.
inline constexpr std::string_view advice_for_held =
    "End that one, or wait until the server does (transactionLifetimeLimitSeconds, 60 by "
    "default). See mongodb#errors";

/// The error of a document that another native transaction holds.
/// Shape:   what - the document: "the record 'A' of 'accounts'"
[[nodiscard]] error held_by_another(std::string const& what);

/// The error text of an update that timed out waiting for another native transaction.
/// Shape:   what - as in held_by_another()
[[nodiscard]] std::string text_of_slow_change(std::string const& what);
[[nodiscard]] inline bool is_slow_change(error const& problem) noexcept {
    return problem.code == std::error_code{max_time_expired, mongodb_category()};
}

/// True when the problem concerns one document, and the rest of its wave can continue.
[[nodiscard]] bool is_of_one_record(std::error_code const& code) noexcept;

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/error.ipp>
#endif
