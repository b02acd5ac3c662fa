// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bson.hpp declares.
#pragma once

#include <settle/mongodb/connection/bson.hpp>

#include <array>
#include <cmath>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION std::optional<std::string_view> value_view::text() const noexcept {
    if (type() != BSON_TYPE_UTF8) return std::nullopt;
    std::uint32_t size = 0;
    char const* const begin = bson_iter_utf8(&at_, &size);
    return std::string_view{begin, size};
}

SETTLE_FUNCTION std::optional<std::int64_t> value_view::integer() const noexcept {
    switch (type()) {
    case BSON_TYPE_INT32: return bson_iter_int32(&at_);
    case BSON_TYPE_INT64: return bson_iter_int64(&at_);
    case BSON_TYPE_DOUBLE: {
        double const value = bson_iter_double(&at_);
        // Beyond 2^53 a double represents several integers.
        constexpr double exact = 9007199254740992.0;
        if (!(value >= -exact && value <= exact) || std::trunc(value) != value) break;
        return static_cast<std::int64_t>(value);
    }
    default: break;
    }
    return std::nullopt;
}

SETTLE_FUNCTION std::optional<std::int64_t> value_view::whole_double() const noexcept {
    if (type() != BSON_TYPE_DOUBLE) return std::nullopt;
    double const value = bson_iter_double(&at_);
    constexpr double end = 9223372036854775808.0; // 2^63
    if (!(value >= -end && value < end) || std::trunc(value) != value) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

SETTLE_FUNCTION std::optional<std::int64_t> value_view::date() const noexcept {
    if (type() == BSON_TYPE_TIMESTAMP) {
        std::uint32_t seconds = 0;
        std::uint32_t number = 0;
        bson_iter_timestamp(&at_, &seconds, &number);
        return std::int64_t{seconds} * 1000;
    }
    if (type() != BSON_TYPE_DATE_TIME) return std::nullopt;
    return bson_iter_date_time(&at_);
}

SETTLE_FUNCTION std::optional<std::string> value_view::decimal() const {
    bson_decimal128_t value;
    if (type() != BSON_TYPE_DECIMAL128 || !bson_iter_decimal128(&at_, &value)) {
        return std::nullopt;
    }
    std::array<char, BSON_DECIMAL128_STRING> text{};
    bson_decimal128_to_string(&value, text.data());
    return text.data();
}

SETTLE_FUNCTION std::optional<std::string> value_view::id() const {
    if (auto const found = text()) return std::string{*found};
    if (auto const number = integer()) return std::to_string(*number);
    if (type() != BSON_TYPE_OID) return std::nullopt;
    std::string digits(24, '\0');
    bson_oid_to_string(bson_iter_oid(&at_), digits.data());
    return digits;
}

SETTLE_FUNCTION std::optional<value_view> value_view::find(std::string_view name) const {
    bson_iter_t inside;
    if (type() != BSON_TYPE_DOCUMENT || !bson_iter_recurse(&at_, &inside) ||
        !bson_iter_find_w_len(&inside, name.data(), static_cast<int>(name.size()))) {
        return std::nullopt;
    }
    return value_view{inside};
}

SETTLE_FUNCTION document& document::decimal(std::string_view name, std::string const& digits) {
    bson_decimal128_t value;
    bson_decimal128_from_string(digits.c_str(), &value);
    bson_append_decimal128(native(), name.data(), length(name), &value);
    return *this;
}

SETTLE_FUNCTION document& document::object_id(std::string_view name, std::string const& digits) {
    bson_oid_t id;
    bson_oid_init_from_string(&id, digits.c_str());
    bson_append_oid(native(), name.data(), length(name), &id);
    return *this;
}

SETTLE_FUNCTION std::optional<value_view> document::find(std::string_view name) const {
    bson_iter_t at;
    if (!bson_iter_init_find_w_len(&at, held_, name.data(), length(name))) return std::nullopt;
    return value_view{at};
}

SETTLE_FUNCTION document value_view::as_document() const {
    std::uint32_t size = 0;
    std::uint8_t const* bytes = nullptr;
    bson_iter_document(&at_, &size, &bytes);
    bson_t* const made = bson_new_from_data(bytes, size);
    return made == nullptr ? document{} : document::adopt(made);
}

} // namespace mongodb::detail

SETTLE_END
