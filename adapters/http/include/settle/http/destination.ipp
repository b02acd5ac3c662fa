// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that destination.hpp declares.
#pragma once

#include <settle/http/destination.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <memory>
#include <new>
#include <utility>

#include <arpa/inet.h>

SETTLE_BEGIN
namespace http::detail {

[[noreturn]] SETTLE_FUNCTION void refuse_option(std::string text) {
    text.insert(0, "settle: ").append(". See http#options");
    throw failure({make_error_code(errc::bad_option), std::move(text)});
}

/// Errors:  throws settle::failure if libcurl has refused, or std::bad_alloc
SETTLE_FUNCTION void require_curl(bool done, bool lacks_memory, char const* problem) {
    if (done) return;
    if (lacks_memory) throw std::bad_alloc{};
    throw failure(
        {make_error_code(errc::store_unreachable),
         std::string{"settle: libcurl refuses a request: "} + problem + ". See http#no-answer"});
}
SETTLE_FUNCTION void require(CURLcode code) {
    require_curl(code == CURLE_OK, code == CURLE_OUT_OF_MEMORY, curl_easy_strerror(code));
}
SETTLE_FUNCTION void require(CURLMcode code) {
    require_curl(code == CURLM_OK, code == CURLM_OUT_OF_MEMORY, curl_multi_strerror(code));
}

/// A time in libcurl's form: at least 1 ms, and at most 24 days.
[[nodiscard]] SETTLE_FUNCTION long curl_milliseconds(std::chrono::milliseconds time) {
    return static_cast<long>(std::clamp<std::int64_t>(time.count(), 1, INT_MAX));
}

/// Whether a text begins with another text, in any case.
[[nodiscard]] SETTLE_FUNCTION bool begins_like(std::string_view name, std::string_view other) {
    auto const small = [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    };
    return name.size() >= other.size() &&
           std::equal(other.begin(), other.end(), name.begin(),
                      [&](char left, char right) { return small(left) == small(right); });
}

SETTLE_FUNCTION void check_header(std::string_view name, std::string_view value) {
    auto const is_sign = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
               (each >= '0' && each <= '9') ||
               std::string_view{"!#$%&'*+-.^_`|~"}.find(each) != std::string_view::npos;
    };
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_sign)) {
        refuse_option("options::headers has a name that no header can have");
    }
    constexpr std::array<std::string_view, 9> own{
        "Accept",          "Connection", "Content-Length",   "Content-Type", "Expect", "Host",
        "Idempotency-Key", "TE",         "Transfer-Encoding"};
    bool const is_own = begins_like(name, "Settle-") ||
                        std::any_of(own.begin(), own.end(), [&](std::string_view each) {
                            return name.size() == each.size() && begins_like(name, each);
                        });
    if (is_own) {
        refuse_option("options::headers has '" + std::string{name} +
                      "', which the client itself sets");
    }
    bool const printable = std::all_of(value.begin(), value.end(), [](char each) {
        return (each >= ' ' && each <= '~') || each == '\t';
    });
    if (!printable) {
        refuse_option("options::headers has a value for '" + std::string{name} +
                      "' with characters beside visible ASCII");
    }
}

SETTLE_FUNCTION void check_options(options const& settings) {
    using limit = std::pair<std::string_view, std::chrono::milliseconds>;
    for (auto const& [name, value] : {limit{"connect_timeout", settings.connect_timeout},
                                      limit{"call_timeout", settings.call_timeout},
                                      limit{"wave_timeout", settings.wave_timeout}}) {
        if (value.count() <= 0) {
            refuse_option("options::" + std::string{name} + " is not above 0");
        }
    }
    if (settings.longest_retry_after.count() < 0) {
        refuse_option("options::longest_retry_after is below 0");
    }
    if (settings.calls_at_once == 0 || settings.longest_answer == 0) {
        refuse_option("options::calls_at_once or options::longest_answer is 0");
    }
    for (auto const& [name, value] : settings.headers) check_header(name, value);
    using file = std::pair<std::string_view, std::string const*>;
    for (auto const& [name, path] :
         {file{"ca_file", &settings.ca_file}, file{"certificate_file", &settings.certificate_file},
          file{"key_file", &settings.key_file}}) {
        if (path->empty() || std::ifstream{*path}) continue;
        refuse_option("options::" + std::string{name} + " cannot be read: " + *path);
    }
    if (settings.certificate_file.empty() != settings.key_file.empty()) {
        refuse_option("options::certificate_file and options::key_file belong together, and one "
                      "of them is empty");
    }
}

/// The address without a slash at its end.
SETTLE_FUNCTION std::string checked_address(std::string_view address) {
    // The address is not shown: it may have a password.
    if (address.find('@') != std::string_view::npos) {
        refuse_option("the address of the service has an '@'. Give credentials in "
                      "options::headers");
    }
    std::string const shown{address};
    bool const visible = std::all_of(address.begin(), address.end(),
                                     [](char each) { return each > ' ' && each <= '~'; });
    if (!visible) {
        refuse_option("the address of the service has characters beside visible ASCII. Write "
                      "each of their bytes as %XX");
    }
    if (!begins_like(address, "http://") && !begins_like(address, "https://")) {
        refuse_option("the address of the service does not begin with http:// or https://: " +
                      shown);
    }
    if (address.find_first_of("?#") != std::string_view::npos) {
        refuse_option("the address of the service has a '?' or a '#', and the operation is "
                      "appended to its path: " +
                      shown);
    }
    auto base = shown;
    while (base.ends_with('/')) base.pop_back();
    return base;
}

/// The host of an address.
SETTLE_FUNCTION std::string host_of(std::string const& base) {
    std::unique_ptr<CURLU, void (*)(CURLU*)> const parsed{curl_url(), &curl_url_cleanup};
    if (parsed == nullptr) throw std::bad_alloc{};
    char* text = nullptr;
    auto const read = curl_url_set(parsed.get(), CURLUPART_URL, base.c_str(), 0);
    if (read != CURLUE_OK || curl_url_get(parsed.get(), CURLUPART_HOST, &text, 0) != CURLUE_OK) {
        refuse_option("the address of the service is no address: " + base);
    }
    std::string host{text};
    curl_free(text);
    return host;
}

SETTLE_FUNCTION bool is_loopback(std::string host) {
    // Names have no case, and a dot at their end says that they are whole.
    std::transform(host.begin(), host.end(), host.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    if (host.ends_with('.')) host.pop_back();
    // Not every name that begins with 127: its owner may be anybody.
    auto const is_in_127 = [&] {
        in_addr address{};
        return ::inet_pton(AF_INET, host.c_str(), &address) == 1 && host.starts_with("127.");
    };
    return host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || is_in_127();
}

SETTLE_FUNCTION destination::destination(std::string_view address, options options)
    : settings(std::move(options)), base(checked_address(address)) {
    check_options(settings);
    static CURLcode const ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    require(ready);
    loopback = is_loopback(host_of(base));
}

} // namespace http::detail
SETTLE_END
