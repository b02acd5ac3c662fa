// SPDX-License-Identifier: BSL-1.0
// Reads JSON text piece by piece, strictly, and reports the position of damage.
#pragma once

#include <settle/base/error.hpp>
#include <settle/base/json_cursor.hpp>
#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>
#include <settle/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
///         a NUL, and nesting deeper than max_depth; with the position, never with a value, since a
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
    /// Takes a whole number in every spelling that is exact: `300`, `300.0`, `3e2`, `"300"`.
    bool read_whole(std::int64_t& value);
    /// Takes whole numbers as well.
    bool read_real(double& value);
    bool read_text(std::string& value);
    bool skip_value();
    /// Skips a value and gives its text.
    /// Shape:   json - a part of the reader's text
    bool skip_value(std::string_view& json);

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
        std::size_t names = 0;  ///< in an object: the number of names in outer objects
        std::size_t length = 0; ///< how many members or elements were begun
        bool object = false;
        bool inside = false; ///< a member or an element was begun and belongs to the path
    };

    bool fail_here(std::string_view reason) { return fail(reason, cursor_.position()); }
    bool expect(json_kind expected);
    bool take_word(std::string_view word);
    bool begin(json_kind kind);
    bool next(char close);
    bool leave();
    bool check_names();
    /// Copies the cursor's error.
    bool check(bool taken) { return taken || fail(cursor_.reason(), cursor_.refused_at()); }
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

namespace detail {} // namespace detail

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/json_reader.ipp>
#endif
