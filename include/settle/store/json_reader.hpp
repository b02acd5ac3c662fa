// SPDX-License-Identifier: BSL-1.0
// Reads JSON text piece by piece, strictly, and says where it is damaged.
#pragma once

#include <settle/store/error.hpp>
#include <settle/store/json_cursor.hpp>
#include <settle/store/json_writer.hpp>
#include <settle/store/utf8.hpp>
#include <settle/version.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

SETTLE_BEGIN

/// The kind of the next value. A number with a fraction or an exponent is `real`, else `whole`.
enum class json_kind : std::uint8_t { none, null, boolean, whole, real, text, array, object };

/// A reader that the caller pulls values from, in the order of the text:
///
///     json_reader reader{text};
///     if (reader.begin_object()) {
///         for (std::string_view name; reader.next_member(name);) {
///             if (name == "balance") reader.read_integer(balance); else reader.skip_value();
///         }
///     }
///     if (!reader.finish()) return reader.problem();
///
/// The first failure stays: everything after it returns false and changes nothing.
/// Errors: errc::damaged for a text that is not JSON by RFC 8259, a member named twice, a text with
///         a NUL, and nesting deeper than max_depth; with the place, never with a value, since a
///         value may be secret
/// Cost:   linear in the text, but n log n in the members of one object; no recursion
class json_reader {
public:
    static constexpr std::size_t max_depth = 32;

    /// Shape:   text - any bytes; must outlive the reader
    explicit json_reader(std::string_view text) noexcept : cursor_(text) {}

    /// The kind of the value that can be read now; `none` when there is none.
    [[nodiscard]] json_kind peek() noexcept;

    bool begin_object();
    /// Goes to the next member's value, which must then be read. False at the object's end, which
    /// is then left, and after a failure.
    /// Shape:   name - valid until the next call of next_member, at any depth
    bool next_member(std::string_view& name);

    bool begin_array();
    /// Goes to the next element, which must then be read. False at the array's end, which is then
    /// left, and after a failure.
    bool next_element();

    bool read_null() { return expect(json_kind::null) && take_word("null"); }
    bool read_bool(bool& value);
    bool read_integer(std::int64_t& value);
    /// Takes whole numbers as well.
    bool read_real(double& value);
    bool read_text(std::string& value);
    bool skip_value();

    /// True when the one value was read whole and nothing but white space follows it.
    bool finish();

    [[nodiscard]] bool failed() const noexcept { return failed_; }
    /// Shape:   only after a failure
    [[nodiscard]] error problem() const { return {make_error_code(errc::damaged), problem_}; }

    /// The offset of the value, or member name, that was begun last.
    [[nodiscard]] std::size_t offset() const noexcept { return begun_; }
    /// Refuses the value that was begun last, for a reason of the caller's. Always false.
    bool fail(std::string_view reason) { return fail(reason, begun_); }
    bool fail(std::string_view reason, std::size_t offset);

private:
    struct seen_name {
        std::size_t begin;
        std::size_t length;
        std::size_t offset;
    };
    struct level {
        std::size_t names = 0;  ///< in an object: how many names stood before its first
        std::size_t length = 0; ///< how many members or elements were begun
        bool object = false;
        bool inside = false; ///< a member or an element was begun and belongs to the path
    };

    bool fail_here(std::string_view reason) { return fail(reason, cursor_.position()); }
    bool expect(json_kind wanted);
    bool take_word(std::string_view word);
    bool begin(json_kind kind);
    bool next(char close);
    bool leave();
    bool check_names();
    /// Copies the cursor's error.
    bool check(bool taken) {
        return taken || fail(cursor_.reason(), cursor_.refused_at());
    }
    bool skip_one();
    [[nodiscard]] std::string_view view(seen_name const& seen) const noexcept {
        return std::string_view{name_text_}.substr(seen.begin, seen.length);
    }
    [[nodiscard]] std::string path() const;

    detail::json_cursor cursor_;
    std::size_t begun_ = 0;
    std::size_t depth_ = 0;
    bool ready_ = true; ///< a value may be read now
    bool failed_ = false;
    std::array<level, max_depth> levels_{};
    // The names of all open objects, to find one that appears twice; unescaped, one after another.
    std::string name_text_;
    std::vector<seen_name> names_;
    std::string problem_;
};

namespace detail {

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
inline void append_path_name(std::string& path, std::string_view name) {
    constexpr std::size_t longest = 48;
    auto const plain = std::all_of(name.begin(), name.end(), [](char character) {
        return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
               (character >= '0' && character <= '9') || character == '_';
    });
    // Cut where a code point ends, and say that it was cut.
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

inline json_kind json_reader::peek() noexcept {
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

inline bool json_reader::fail(std::string_view reason, std::size_t offset) {
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

inline std::string json_reader::path() const {
    std::string path;
    for (std::size_t at = 0; at < depth_ && levels_[at].inside; ++at) {
        if (levels_[at].object) {
            auto const end = at + 1 < depth_ ? levels_[at + 1].names : names_.size();
            detail::append_path_name(path, view(names_[end - 1]));
        } else {
            path += '[';
            append_json_integer(path, static_cast<std::int64_t>(levels_[at].length) - 1);
            path += ']';
        }
    }
    return path;
}

inline bool json_reader::expect(json_kind wanted) {
    if (failed_) return false;
    auto const found = peek();
    begun_ = cursor_.position();
    if (!ready_) return fail("no value can be read here");
    if (found != wanted) {
        std::string reason{"expected "};
        reason.append(detail::words_for(wanted)).append(", found ");
        return fail(reason.append(detail::words_for(found)));
    }
    ready_ = false;
    return true;
}

inline bool json_reader::take_word(std::string_view word) {
    return cursor_.take(word) || fail("expected a value");
}

inline bool json_reader::begin(json_kind kind) {
    if (!expect(kind)) return false;
    if (depth_ == max_depth) return fail("nested deeper than 32 levels");
    levels_[depth_++] = level{names_.size(), 0, kind == json_kind::object, false};
    return cursor_.take(kind == json_kind::object ? "{" : "[");
}

inline bool json_reader::begin_object() { return begin(json_kind::object); }
inline bool json_reader::begin_array() { return begin(json_kind::array); }

/// Skips the comma before the next member or element, or leaves at the closing character.
inline bool json_reader::next(char close) {
    if (failed_) return false;
    auto const object = close == '}';
    if (depth_ == 0 || levels_[depth_ - 1].object != object) {
        return fail_here(object ? "no object is open here" : "no array is open here");
    }
    auto& here = levels_[depth_ - 1];
    if (ready_) return fail_here("the value before was not read");
    cursor_.skip_space();
    if (cursor_.take({&close, 1})) {
        here.inside = false;
        return leave();
    }
    if (here.length > 0) {
        if (!cursor_.take(",")) {
            return fail_here(object ? "expected ',' or '}'" : "expected ',' or ']'");
        }
        cursor_.skip_space();
    }
    here.inside = !object;
    ++here.length;
    ready_ = !object;
    return true;
}

inline bool json_reader::leave() {
    if (!levels_[depth_ - 1].object || check_names()) --depth_;
    return false;
}

inline bool json_reader::next_element() { return next(']'); }

inline bool json_reader::next_member(std::string_view& name) {
    if (!next('}')) return false;
    begun_ = cursor_.position();
    if (cursor_.look() != '"') return fail("expected a member name");
    auto const begin = name_text_.size();
    if (!check(cursor_.take_text(&name_text_))) return false;
    names_.push_back({begin, name_text_.size() - begin, begun_});
    levels_[depth_ - 1].inside = true;
    cursor_.skip_space();
    if (!cursor_.take(":")) return fail_here("expected ':' after the member name");
    ready_ = true;
    name = view(names_.back());
    return true;
}

/// At an object's end: refuses a name that appears twice, and forgets the object's names.
inline bool json_reader::check_names() {
    auto const first = names_.begin() + static_cast<std::ptrdiff_t>(levels_[depth_ - 1].names);
    if (first == names_.end()) return true;
    auto const begin = first->begin;
    std::sort(first, names_.end(), [this](seen_name const& left, seen_name const& right) {
        auto const order = view(left).compare(view(right));
        return order != 0 ? order < 0 : left.offset < right.offset;
    });
    auto const twice = std::adjacent_find(first, names_.end(), [this](auto& left, auto& right) {
        return view(left) == view(right);
    });
    if (twice != names_.end()) {
        std::string shown;
        detail::append_path_name(shown, view(*twice));
        return fail("the member " + shown + " appears twice", (twice + 1)->offset);
    }
    names_.erase(first, names_.end());
    name_text_.resize(begin);
    return true;
}

inline bool json_reader::read_bool(bool& value) {
    if (!expect(json_kind::boolean)) return false;
    auto const read = cursor_.look() == 't';
    if (!take_word(read ? "true" : "false")) return false;
    value = read;
    return true;
}

inline bool json_reader::read_integer(std::int64_t& value) {
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

inline bool json_reader::read_real(double& value) {
    std::string_view number;
    auto const kind = peek() == json_kind::whole ? json_kind::whole : json_kind::real;
    if (!expect(kind) || !check(cursor_.take_number(number))) return false;
    double read = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), read).ec != std::errc{}) {
        return fail("the number is too large or too small for a double");
    }
    value = read;
    return true;
}

inline bool json_reader::read_text(std::string& value) {
    if (!expect(json_kind::text)) return false;
    std::string read;
    if (!check(cursor_.take_text(&read))) return false;
    value = std::move(read);
    return true;
}

inline bool json_reader::skip_one() {
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

inline bool json_reader::skip_value() {
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

inline bool json_reader::finish() {
    if (failed_) return false;
    cursor_.skip_space();
    if (depth_ != 0 || ready_) return fail_here("the value was not read to its end");
    if (!cursor_.at_end()) return fail_here("something follows the value");
    return true;
}

SETTLE_END
