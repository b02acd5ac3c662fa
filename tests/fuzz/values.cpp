// SPDX-License-Identifier: BSL-1.0
// JSON as it is read back from a store: native values, images, results, records and parameters.
#include "fuzz.hpp"

#include <settle/adapter/image_codec.hpp>
#include <settle/testing/store_suite/types.hpp>

namespace {

using settle::json_form;

void claim_reported(settle::error const& problem) {
    fuzz::verify(!problem.text.empty(), "an error has a sentence");
}

/// Every readable value is written and read again as the same value.
template <typename T>
void read_value(std::string_view text, json_form form) {
    auto const read = settle::decode_json<T>(text, form);
    if (!read.has_value()) return claim_reported(read.problem());
    auto const written = settle::encode_json(read.value());
    auto const again = settle::decode_json<T>(written);
    fuzz::verify(again.has_value(), "a written value can be read");
    fuzz::verify(settle::encode_json(again.value()) == written,
                 "a value is written as it was read");
    fuzz::verify(settle::check_texts(read.value()).has_value(), "a read value may be stored");
}

void read_native(std::string_view text) {
    settle::json_reader reader{text};
    settle::native_value value;
    if (!settle::read_native(reader, value) || !reader.finish()) {
        return claim_reported(reader.problem());
    }
    std::string written;
    settle::append_native(written, value);
    settle::json_reader second{written};
    settle::native_value again;
    fuzz::verify(settle::read_native(second, again) && second.finish(), "a scalar is read again");
    std::string rewritten;
    settle::append_native(rewritten, again);
    fuzz::verify(rewritten == written, "a scalar is written as it was read");
}

/// Every readable list of an entry, of images or of results, is written and read again.
template <typename Decode, typename Append>
void read_list(std::string_view text, Decode const& decode, Append const& append) {
    auto const read = decode(text);
    if (!read.has_value()) return claim_reported(read.problem());
    std::string written;
    append(written, read.value());
    auto const again = decode(written);
    fuzz::verify(again.has_value(), "a written list can be read");
    fuzz::verify(again.value() == read.value(), "a list is written as it was read");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text{reinterpret_cast<char const*>(data), size};
    settle::json_reader reader{text};
    if (!reader.skip_value() || !reader.finish()) claim_reported(reader.problem());
    read_native(text);
    read_list(text, settle::detail::decode_images, settle::detail::append_images);
    read_list(text, settle::detail::decode_results, settle::detail::append_results);
    for (auto const form : {json_form::exact, json_form::row}) {
        read_value<settle::testing::card>(text, form);
        read_value<settle::testing::ledger>(text, form);
        read_value<settle::testing::order>(text, form);
        read_value<settle::testing::rewrite>(text, form);
    }
    return 0;
}
