// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that json_reader.hpp declares.
#pragma once

#include <settle/base/json_reader.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#ifndef __cpp_lib_to_chars
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

#include <locale.h>
#endif

SETTLE_BEGIN

namespace detail {

/// Parses a number of JSON. False if it is too large or too small for a double.
[[nodiscard]] SETTLE_FUNCTION bool parse_real(std::string_view number, double& into) {
#ifdef __cpp_lib_to_chars
    auto const read = std::from_chars(number.data(), number.data() + number.size(), into);
    return read.ec == std::errc{};
#else
    // libc++ has std::from_chars for integers alone. The program's locale may have another point.
    static locale_t const plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    errno = 0;
    into = ::strtod_l(std::string{number}.c_str(), nullptr, plain);
    // A number that only loses digits near 0 is no error.
    return errno != ERANGE || (into != 0 && std::isfinite(into));
#endif
}

/// Parses a number of JSON whose value is whole. False if it is not, or is beyond 64 bits.
[[nodiscard]] SETTLE_FUNCTION bool parse_whole(std::string_view number, std::int64_t& into) {
    auto const exponent_at = std::min(number.find_first_of("eE"), number.size());
    auto const point_at = std::min(number.find('.'), exponent_at);
    bool const negative = number.starts_with('-');
    std::string digits{number.substr(negative ? 1 : 0, point_at - (negative ? 1 : 0))};
    std::int64_t scale = 0; // the value is digits * 10^scale
    if (exponent_at < number.size()) {
        auto exponent = number.substr(exponent_at + 1);
        if (exponent.starts_with('+')) exponent.remove_prefix(1);
        auto const end = exponent.data() + exponent.size();
        // An exponent of more digits than 64 bits have is beyond any exact value.
        auto const read = std::from_chars(exponent.data(), end, scale);
        if (read.ec != std::errc{}) scale = std::int64_t{1} << 60U;
    }
    if (point_at < exponent_at) {
        auto const fraction = number.substr(point_at + 1, exponent_at - point_at - 1);
        digits.append(fraction);
        scale -= static_cast<std::int64_t>(fraction.size());
    }
    digits.erase(0, digits.find_first_not_of('0'));
    if (digits.empty()) {
        into = 0;
        return true;
    }
    for (; scale < 0 && digits.back() == '0'; ++scale) digits.pop_back();
    constexpr std::int64_t most_digits = 19;
    if (scale < 0 || static_cast<std::int64_t>(digits.size()) > most_digits - scale) return false;
    digits.append(static_cast<std::size_t>(scale), '0');
    if (negative) digits.insert(digits.begin(), '-');
    return std::from_chars(digits.data(), digits.data() + digits.size(), into).ec == std::errc{};
}

[[nodiscard]] constexpr std::string_view words_for(json_kind kind) noexcept {
    switch (kind) {
    case json_kind::null: return "null";
    case json_kind::boolean: return "true or false";
    case json_kind::whole: return "a whole number";
    case json_kind::real: return "a number with a fraction or an exponent";
    case json_kind::text: return "a text";
    case json_kind::array: return "an array";
    case json_kind::object: return "an object";
    case json_kind::none: break;
    }
    return "no value";
}

/// A member's name in a path: quoted when it could be mistaken for the path's own signs.
SETTLE_FUNCTION void append_path_name(std::string& path, std::string_view name) {
    constexpr std::size_t longest = 48;
    auto const plain = std::all_of(name.begin(), name.end(), [](char character) {
        return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
               (character >= '0' && character <= '9') || character == '_';
    });
    // Cut after a whole code point, and mark the cut.
    auto const shown = name.substr(0, utf8_prefix(name.substr(0, longest)));
    auto const cut = shown.size() < name.size() ? std::string_view{"..."} : std::string_view{};
    if (plain && !name.empty()) {
        if (!path.empty()) path += '.';
        path.append(shown).append(cut);
    } else {
        path += '[';
        append_json_text(path, shown);
        path.append(cut).append("]");
    }
}

} // namespace detail

SETTLE_FUNCTION json_kind json_reader::peek() noexcept {
    if (failed_ || !ready_) return json_kind::none;
    cursor_.skip_space();
    switch (cursor_.look()) {
    case 'n': return json_kind::null;
    case 't':
    case 'f': return json_kind::boolean;
    case '"': return json_kind::text;
    case '[': return json_kind::array;
    case '{': return json_kind::object;
    default: break;
    }
    if (cursor_.look() != '-' && !cursor_.look_digit()) return json_kind::none;
    return cursor_.look_real() ? json_kind::real : json_kind::whole;
}

SETTLE_FUNCTION bool json_reader::fail(std::string_view reason, std::size_t offset) {
    if (failed_) return false;
    failed_ = true;
    problem_ = "the stored JSON is damaged at ";
    auto const where = path();
    if (!where.empty()) problem_.append(where).append(", ");
    problem_ += "byte ";
    append_json_integer(problem_, static_cast<std::int64_t>(offset));
    problem_.append(": ").append(reason);
    return false;
}

SETTLE_FUNCTION std::string json_reader::path() const {
    std::string path;
    for (std::size_t index = 0; index < depth_ && levels_[index].inside; ++index) {
        if (levels_[index].object) {
            auto const end = index + 1 < depth_ ? levels_[index + 1].names : names_.size();
            detail::append_path_name(path, view(names_[end - 1]));
        } else {
            path += '[';
            append_json_integer(path, static_cast<std::int64_t>(levels_[index].length) - 1);
            path += ']';
        }
    }
    return path;
}

SETTLE_FUNCTION bool json_reader::expect(json_kind expected) {
    if (failed_) return false;
    auto const token = peek();
    begun_ = cursor_.position();
    if (!ready_) return fail("no value can be read here");
    if (token != expected) {
        std::string reason{"expected "};
        reason.append(detail::words_for(expected)).append(", found ");
        return fail(reason.append(detail::words_for(token)));
    }
    ready_ = false;
    return true;
}

SETTLE_FUNCTION bool json_reader::take_word(std::string_view word) {
    return cursor_.take(word) || fail("expected a value");
}

SETTLE_FUNCTION bool json_reader::begin(json_kind kind) {
    if (!expect(kind)) return false;
    if (depth_ == max_depth) return fail("nested deeper than 32 levels");
    if (names_.capacity() == 0) {
        // The names of most objects need no more room.
        names_.reserve(8);
        name_text_.reserve(64);
    }
    levels_[depth_++] = level{names_.size(), 0, kind == json_kind::object, false};
    return cursor_.take(kind == json_kind::object ? '{' : '[');
}

SETTLE_FUNCTION bool json_reader::begin_object() { return begin(json_kind::object); }

SETTLE_FUNCTION bool json_reader::begin_array() { return begin(json_kind::array); }

/// Skips the comma before the next member or element, or leaves at the closing character.
SETTLE_FUNCTION bool json_reader::next(char close) {
    if (failed_) return false;
    auto const object = close == '}';
    if (depth_ == 0 || levels_[depth_ - 1].object != object) {
        return fail_here(object ? "no object is open here" : "no array is open here");
    }
    auto& innermost = levels_[depth_ - 1];
    if (ready_) return fail_here("the value before was not read");
    cursor_.skip_space();
    if (cursor_.take(close)) {
        innermost.inside = false;
        return leave();
    }
    if (innermost.length > 0) {
        if (!cursor_.take(',')) {
            return fail_here(object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        cursor_.skip_space();
    }
    innermost.inside = !object;
    ++innermost.length;
    ready_ = !object;
    return true;
}

SETTLE_FUNCTION bool json_reader::leave() {
    if (!levels_[depth_ - 1].object || check_names()) --depth_;
    return false;
}

SETTLE_FUNCTION bool json_reader::next_element() { return next(']'); }

SETTLE_FUNCTION bool json_reader::next_member(std::string_view& name) {
    if (!next('}')) return false;
    begun_ = cursor_.position();
    if (cursor_.look() != '"') return fail("expected a member name");
    auto const begin = name_text_.size();
    if (!check(cursor_.take_text(&name_text_))) return false;
    names_.push_back({begin, name_text_.size() - begin, begun_});
    levels_[depth_ - 1].inside = true;
    cursor_.skip_space();
    if (!cursor_.take(':')) return fail_here("expected ':' after the member name");
    ready_ = true;
    name = view(names_.back());
    return true;
}

/// At an object's end: refuses a name that appears twice, and forgets the object's names.
SETTLE_FUNCTION bool json_reader::check_names() {
    auto const first = names_.begin() + static_cast<std::ptrdiff_t>(levels_[depth_ - 1].names);
    if (first == names_.end()) return true;
    auto const begin = first->begin;
    std::sort(first, names_.end(), [this](seen_name const& left, seen_name const& right) {
        auto const order = view(left).compare(view(right));
        return order != 0 ? order < 0 : left.offset < right.offset;
    });
    auto const twice = std::adjacent_find(
        first, names_.end(), [this](auto& left, auto& right) { return view(left) == view(right); });
    if (twice != names_.end()) {
        std::string shown;
        detail::append_path_name(shown, view(*twice));
        return fail("the member " + shown + " appears twice", (twice + 1)->offset);
    }
    names_.erase(first, names_.end());
    name_text_.resize(begin);
    return true;
}

SETTLE_FUNCTION bool json_reader::read_bool(bool& value) {
    if (!expect(json_kind::boolean)) return false;
    auto const read = cursor_.look() == 't';
    if (!take_word(read ? "true" : "false")) return false;
    value = read;
    return true;
}

SETTLE_FUNCTION bool json_reader::read_integer(std::int64_t& value) {
    std::string_view number;
    if (!expect(json_kind::whole) || !check(cursor_.take_number(number))) return false;
    // As an integer it would lose its sign.
    if (number == "-0") return fail("expected a whole number, found -0");
    std::int64_t read = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), read).ec != std::errc{}) {
        return fail("the number is beyond 64 bits");
    }
    value = read;
    return true;
}

SETTLE_FUNCTION bool json_reader::read_whole(std::int64_t& value) {
    auto const kind = peek();
    std::string text;
    std::string_view number;
    if (kind == json_kind::text) {
        if (!read_text(text)) return false;
        // A text with a point may be an amount in another unit.
        auto const digits = std::string_view{text}.substr(text.starts_with('-') ? 1 : 0);
        bool const only_digits =
            !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
        if (!only_digits) return fail("expected a whole number, found a text");
        number = text;
    } else if (kind == json_kind::whole || kind == json_kind::real) {
        if (!expect(kind) || !check(cursor_.take_number(number))) return false;
    } else {
        return expect(json_kind::whole);
    }
    return detail::parse_whole(number, value) ||
           fail("the number is not whole, or is beyond 64 bits");
}

SETTLE_FUNCTION bool json_reader::read_real(double& value) {
    std::string_view number;
    auto const kind = peek() == json_kind::whole ? json_kind::whole : json_kind::real;
    if (!expect(kind) || !check(cursor_.take_number(number))) return false;
    double read = 0;
    if (!detail::parse_real(number, read)) {
        return fail("the number is too large or too small for a double");
    }
    value = read;
    return true;
}

SETTLE_FUNCTION bool json_reader::read_text(std::string& value) {
    if (!expect(json_kind::text)) return false;
    std::string read;
    if (!check(cursor_.take_text(&read))) return false;
    value = std::move(read);
    return true;
}

SETTLE_FUNCTION bool json_reader::skip_one() {
    auto const kind = peek();
    if (kind == json_kind::none) {
        begun_ = cursor_.position();
        return fail(ready_ ? "expected a value" : "no value can be read here");
    }
    if (kind == json_kind::array || kind == json_kind::object) return begin(kind);
    if (kind == json_kind::null) return read_null();
    bool ignored = false;
    if (kind == json_kind::boolean) return read_bool(ignored);
    if (!expect(kind)) return false;
    std::string_view number;
    return check(kind == json_kind::text ? cursor_.take_text(nullptr)
                                         : cursor_.take_number(number));
}

SETTLE_FUNCTION bool json_reader::skip_value() {
    auto const outside = depth_;
    do {
        if (!skip_one()) return false;
        std::string_view name;
        while (depth_ > outside &&
               !(levels_[depth_ - 1].object ? next_member(name) : next_element())) {
            if (failed_) return false;
        }
    } while (depth_ > outside);
    return true;
}

SETTLE_FUNCTION bool json_reader::skip_value(std::string_view& json) {
    cursor_.skip_space();
    auto const begin = cursor_.position();
    if (!skip_value()) return false;
    json = cursor_.text_since(begin);
    return true;
}

SETTLE_FUNCTION bool json_reader::finish() {
    if (failed_) return false;
    cursor_.skip_space();
    if (depth_ != 0 || ready_) return fail_here("the value was not read to its end");
    if (!cursor_.at_end()) return fail_here("something follows the value");
    return true;
}

SETTLE_END
