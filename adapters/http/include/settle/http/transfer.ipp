// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that transfer.hpp declares.
#pragma once

#include <settle/http/transfer.hpp>

#include <settle/http/wire.hpp>

#include <algorithm>
#include <climits>
#include <new>
#include <string>
#include <utility>

#include <sys/resource.h>

SETTLE_BEGIN
namespace http::detail {

SETTLE_FUNCTION void header_list::append(std::string_view name, std::string_view value) {
    starts_.push_back(lines_.size());
    lines_.append(name);
    // libcurl's own form of a header without a value.
    if (value.empty()) lines_ += ';';
    else lines_.append(": ").append(value);
    lines_ += '\0';
}

SETTLE_FUNCTION void header_list::clear() noexcept {
    lines_.resize(kept_.first);
    starts_.resize(kept_.second);
}

SETTLE_FUNCTION curl_slist* header_list::get() {
    list_.resize(starts_.size());
    for (std::size_t at = 0; at < list_.size(); ++at) {
        list_[at] = {lines_.data() + starts_[at], at + 1 < list_.size() ? &list_[at + 1] : nullptr};
    }
    return list_.data();
}

template <typename Value>
void transfer::set(CURLoption option, Value value) {
    require(curl_easy_setopt(easy_.get(), option, value));
}

SETTLE_FUNCTION std::size_t bounded_by_files(std::size_t calls) {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return calls;
    auto const room = static_cast<std::size_t>(files.rlim_cur - files.rlim_cur / 16);
    return std::min(calls, std::max<std::size_t>(1, room));
}

SETTLE_FUNCTION client_calls::client_calls(std::string_view address, options settings)
    : to(address, std::move(settings)), most(bounded_by_files(to.settings.calls_at_once)),
      plain_wave(
          std::make_shared<wave_values>(wave_values{{}, answer_reader{to.base, to.settings}})) {}

SETTLE_FUNCTION transfer::transfer(CURLM* multi, CURLSH* share) : multi_(multi), share_(share) {}

SETTLE_FUNCTION void transfer::set_up(destination const& to) {
    // Not curl_easy_reset: with HTTP/2 it leaves a buffer of another size than it says.
    easy_.reset(curl_easy_init());
    if (easy_ == nullptr) throw std::bad_alloc{};
    set(CURLOPT_SHARE, share_);
    set(CURLOPT_PRIVATE, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, problem_);
    set(CURLOPT_WRITEFUNCTION, &transfer::take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_PREREQFUNCTION, &transfer::before_request);
    set(CURLOPT_PREREQDATA, static_cast<void*>(this));
    set(CURLOPT_NOSIGNAL, 1L);
    // Answers are short, and thousands of calls may be under way.
    set(CURLOPT_BUFFERSIZE, 1024L);
    // A call that has timed out does not wait for the thread that looks up its host.
    set(CURLOPT_QUICK_EXIT, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // Every encoding that libcurl was built with: some services send gzip to everybody.
    set(CURLOPT_ACCEPT_ENCODING, "");
    // Without HTTP/2 in libcurl, this option is refused, and HTTP/1.1 is used.
    curl_easy_setopt(easy_.get(), CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
    // A call over TLS waits to share a connection, which HTTP/2 can.
    if (begins_like(to.base, "https:")) set(CURLOPT_PIPEWAIT, 1L);
    set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
    if (!to.settings.ca_file.empty()) set(CURLOPT_CAINFO, to.settings.ca_file.c_str());
    if (!to.settings.certificate_file.empty()) {
        set(CURLOPT_SSLCERT, to.settings.certificate_file.c_str());
        set(CURLOPT_SSLKEY, to.settings.key_file.c_str());
        // Without it, OpenSSL asks the terminal for the password of a key that has one.
        set(CURLOPT_KEYPASSWD, "");
    }
    if (to.settings.proxy) set(CURLOPT_PROXY, to.settings.proxy->c_str());
    else if (to.loopback) set(CURLOPT_PROXY, "");
    set(CURLOPT_CONNECTTIMEOUT_MS, curl_milliseconds(to.settings.connect_timeout));
    auto const version = std::to_string(SETTLE_VERSION / 10000) + '.' +
                         std::to_string(SETTLE_VERSION / 100 % 100) + '.' +
                         std::to_string(SETTLE_VERSION % 100);
    set(CURLOPT_USERAGENT, ("settle/" + version).c_str());
    headers_ = {};
    for (auto const& [name, value] : to.settings.headers) headers_.append(name, value);
    headers_.append("Content-Type", "application/json");
    headers_.append("Accept", "application/json");
    headers_.keep();
}

SETTLE_FUNCTION transfer::~transfer() {
    if (under_way_) curl_multi_remove_handle(multi_, easy_.get());
}

SETTLE_FUNCTION transfer& transfer::of(CURL* easy) {
    char* self = nullptr;
    require(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self));
    return *reinterpret_cast<transfer*>(self);
}

SETTLE_FUNCTION void transfer::begin(queued_call&& queued, std::chrono::milliseconds limit) {
    call_ = std::move(queued);
    if (client_ != call_.client) {
        client_ = call_.client;
        set_up(client_->to);
    }
    destination const& to = client_->to;
    service_call const& call = call_.call->call();
    cut_ = false;
    sent_ = sent_twice_ = false;
    problem_[0] = '\0';
    body_.clear();
    url_.assign(to.base).append("/").append(name_of(call.operation));
    write_body(request_, call, to.settings);
    headers_.clear();
    for (auto const& [name, value] : call_.wave->headers) headers_.append(name, value);
    auto const append = [this](std::string_view name, std::string_view value) {
        headers_.append(name, value);
    };
    for_each_header(call, append, to.settings);
    set(CURLOPT_URL, url_.c_str());
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_POSTFIELDS, request_.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.size()));
    set(CURLOPT_TIMEOUT_MS, curl_milliseconds(limit));
    require(curl_multi_add_handle(multi_, easy_.get()));
    begun_ = std::chrono::steady_clock::now();
    end_ = begun_ + limit;
    under_way_ = true;
}

SETTLE_FUNCTION std::size_t transfer::take_body(char* bytes, std::size_t, std::size_t count,
                                                void* self) noexcept {
    auto& to = *static_cast<transfer*>(self);
    if (count > to.client_->to.settings.longest_answer - to.body_.size()) {
        to.cut_ = true;
        return 0;
    }
    try {
        to.body_.append(bytes, count);
        return count;
    } catch (std::bad_alloc const&) {
        return 0;
    }
}

SETTLE_FUNCTION int transfer::before_request(void* self, char*, char*, int, int) noexcept {
    auto& of = *static_cast<transfer*>(self);
    of.sent_twice_ = std::exchange(of.sent_, true);
    if (!of.client_->found_at) of.client_->found_at = std::chrono::steady_clock::now();
    return CURL_PREREQFUNC_OK;
}

SETTLE_FUNCTION http_answer transfer::received() const {
    http_answer answer;
    long status = 0;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status));
    answer.status = static_cast<int>(status);
    answer.body = body_;
    char const* type = nullptr;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type));
    if (type != nullptr) answer.content_type = type;
    curl_header* header = nullptr;
    auto const has_header = [&](char const* name) {
        return curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
    };
    if (has_header(std::string{key_and_operation}.c_str())) answer.key = header->value;
    answer.asks_again = has_header("Retry-After");
    answer.sent_twice = sent_twice_;
    curl_off_t seconds = 0;
    require(curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds));
    // A longer time is shortened later in any case.
    constexpr curl_off_t longest = INT_MAX;
    // libcurl gives 0 for more digits than its numbers have.
    if (answer.asks_again && seconds == 0) {
        std::string_view const digits{header->value};
        constexpr std::size_t most_digits = 10;
        bool const is_number = digits.find_first_not_of("0123456789") == std::string_view::npos;
        if (is_number && digits.size() > most_digits) seconds = longest;
    }
    if (seconds > 0) answer.retry_after = std::chrono::seconds{std::min(seconds, longest)};
    return answer;
}

SETTLE_FUNCTION void transfer::end(CURLcode how) {
    under_way_ = false;
    require(curl_multi_remove_handle(multi_, easy_.get()));
    service_call const& call = call_.call->call();
    answer_reader const& reader = call_.wave->reader;
    if (how == CURLE_OK) {
        answer(reader.read(call, received()));
    } else if (cut_) {
        answer(reader.missing(call, sent_,
                              "the answer is longer than options::longest_answer, " +
                                  std::to_string(client_->to.settings.longest_answer) + " bytes"));
    } else {
        answer(
            reader.missing(call, sent_, problem_[0] != '\0' ? problem_ : curl_easy_strerror(how)));
    }
}

SETTLE_FUNCTION void transfer::give_up(std::string_view why, bool is_of_service) {
    under_way_ = false;
    curl_multi_remove_handle(multi_, easy_.get());
    answer(call_.wave->reader.missing(call_.call->call(), sent_, why), is_of_service);
}

SETTLE_FUNCTION void transfer::answer(service_answer&& call_answer, bool is_of_service) {
    if (is_of_service) client_->pace.note_answer(call_answer.status);
    bool const has_failed = call_answer.status == call_status::unavailable ||
                            call_answer.status == call_status::unknown;
    client_->has_worked = client_->has_worked || !has_failed;
    call_.call->answer(std::move(call_answer));
    call_ = {};
}

} // namespace http::detail
SETTLE_END
