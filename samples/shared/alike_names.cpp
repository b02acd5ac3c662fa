// SPDX-License-Identifier: BSL-1.0
// Normalises names with ICU.
#include "alike_names.hpp"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace samples {

namespace {

/// True for most names: their visible form is the name itself.
bool is_plain(std::string_view name) {
    bool after_space = true;
    for (char const each : name) {
        if (each < ' ' || each > '~' || (each == ' ' && after_space)) return false;
        after_space = each == ' ';
    }
    return !after_space || name.empty();
}

/// NFKC of a text in UTF-16; the text itself if ICU fails.
std::u16string compatible(std::u16string const& text) {
    UErrorCode error = U_ZERO_ERROR;
    UNormalizer2 const* const form = unorm2_getNFKCInstance(&error);
    if (U_FAILURE(error)) return text;
    // No UTF-16 character expands to more than 18.
    std::u16string made(text.size() * 18 + 1, u'\0');
    auto const size = unorm2_normalize(form, text.data(), static_cast<std::int32_t>(text.size()),
                                       made.data(), static_cast<std::int32_t>(made.size()), &error);
    if (U_FAILURE(error)) return text;
    made.resize(static_cast<std::size_t>(size));
    return made;
}

std::u16string to_utf16(std::string_view text) {
    std::u16string made(text.size(), u'\0');
    std::int32_t size = 0;
    UErrorCode error = U_ZERO_ERROR;
    u_strFromUTF8WithSub(made.data(), static_cast<std::int32_t>(made.size()), &size, text.data(),
                         static_cast<std::int32_t>(text.size()), 0xFFFD, nullptr, &error);
    made.resize(U_FAILURE(error) ? 0 : static_cast<std::size_t>(size));
    return made;
}

std::vector<UChar32> to_utf32(std::u16string const& text) {
    std::vector<UChar32> made(text.size());
    std::int32_t size = 0;
    UErrorCode error = U_ZERO_ERROR;
    u_strToUTF32WithSub(made.data(), static_cast<std::int32_t>(made.size()), &size, text.data(),
                        static_cast<std::int32_t>(text.size()), 0xFFFD, nullptr, &error);
    made.resize(U_FAILURE(error) ? 0 : static_cast<std::size_t>(size));
    return made;
}

std::string to_utf8(std::vector<UChar32> const& text) {
    std::u16string units(text.size() * 2, u'\0');
    std::int32_t size = 0;
    UErrorCode error = U_ZERO_ERROR;
    u_strFromUTF32(units.data(), static_cast<std::int32_t>(units.size()), &size, text.data(),
                   static_cast<std::int32_t>(text.size()), &error);
    std::string made(static_cast<std::size_t>(size) * 3, '\0');
    std::int32_t bytes = 0;
    u_strToUTF8(made.data(), static_cast<std::int32_t>(made.size()), &bytes, units.data(), size,
                &error);
    made.resize(U_FAILURE(error) ? 0 : static_cast<std::size_t>(bytes));
    return made;
}

} // namespace

std::string visible_form(std::string_view name) {
    if (is_plain(name)) return std::string{name};
    std::vector<UChar32> form;
    bool space = false;
    for (UChar32 const each : to_utf32(compatible(to_utf16(name)))) {
        if (u_isUWhiteSpace(each) != 0) {
            space = true;
            continue;
        }
        bool const unseen = u_hasBinaryProperty(each, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0 ||
                            u_iscntrl(each) != 0;
        if (unseen) continue;
        if (space && !form.empty()) form.push_back(' ');
        space = false;
        form.push_back(each);
    }
    return to_utf8(form);
}

std::uint64_t seen_ids::add(std::string_view id, std::uint64_t line) {
    return ids_.add(std::hash<std::string_view>{}(id), line);
}

std::uint64_t seen_ids::alike(std::string_view id, std::uint64_t line) {
    std::hash<std::string_view> const hash;
    if (is_plain(id)) return forms_.find(hash(id));
    auto const form = hash(visible_form(id));
    auto const plain = ids_.find(form);
    auto const other = forms_.add(form, line);
    return plain != 0 ? plain : other;
}

std::uint64_t seen_ids::line_table::find(std::uint64_t hash) const {
    return lines_.empty() ? 0 : lines_[slot_of(hash)];
}

std::uint64_t seen_ids::line_table::add(std::uint64_t hash, std::uint64_t line) {
    if (lines_.empty() || count_ >= lines_.size() / 8 * 7) grow();
    auto const slot = slot_of(hash);
    if (lines_[slot] != 0) return lines_[slot];
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    hashes_[slot] = hash;
    lines_[slot] = static_cast<std::uint32_t>(std::min(line, most));
    ++count_;
    return 0;
}

/// The slot of this hash, or the free slot for it.
std::size_t seen_ids::line_table::slot_of(std::uint64_t hash) const {
    std::size_t slot = hash & (lines_.size() - 1);
    while (lines_[slot] != 0 && hashes_[slot] != hash) slot = (slot + 1) & (lines_.size() - 1);
    return slot;
}

void seen_ids::line_table::grow() {
    line_table larger;
    std::size_t const size = std::max<std::size_t>(64, lines_.size() * 2);
    larger.hashes_.resize(size);
    larger.lines_.resize(size);
    for (std::size_t slot = 0; slot < lines_.size(); ++slot) {
        if (lines_[slot] != 0) larger.add(hashes_[slot], lines_[slot]);
    }
    *this = std::move(larger);
}

} // namespace samples
