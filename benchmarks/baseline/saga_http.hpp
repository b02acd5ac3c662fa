// SPDX-License-Identifier: BSL-1.0
// The calls of a trip over HTTP by hand, on libcurl: the same requests as settle's. One call takes
// an easy handle, and many take a multi handle; both keep their connections.
#pragma once

#include "../travel.hpp"
#include "sqlite.hpp"

#include <array>
#include <ctime>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <curl/curl.h>

namespace baseline {

inline void append_json(std::string& to, bench::seat_request const& request) {
    to.append(R"({"flight":")").append(request.flight).append(R"(","people":)");
    append_number(to, request.people);
    to += '}';
}
inline void append_json(std::string& to, bench::room_request const& request) {
    to.append(R"({"traveller":")").append(request.traveller).append(R"(","ticket":)");
    append_number(to, request.ticket);
    to += '}';
}
inline void append_json(std::string& to, bench::charge const& request) {
    to.append(R"({"traveller":")").append(request.traveller).append(R"(","amount":)");
    append_number(to, request.amount);
    to += '}';
}

/// The number after `"name":` in the body of an answer.
[[nodiscard]] inline std::int64_t number_in(std::string_view body, std::string_view name) {
    std::int64_t number = 0;
    auto const at = body.find(name);
    if (at != std::string_view::npos) {
        auto const* const digits = body.data() + at + name.size();
        if (std::from_chars(digits, body.data() + body.size(), number).ec == std::errc{}) {
            return number;
        }
    }
    throw std::runtime_error("by hand: a service answers " + std::string{body});
}
inline void read_answer(std::string_view body, bench::ticket& into) {
    into = {number_in(body, R"("number":)"), number_in(body, R"("price":)")};
}
inline void read_answer(std::string_view body, bench::room& into) {
    into = {number_in(body, R"("number":)")};
}
inline void read_answer(std::string_view, settle::nothing&) {}

inline void expect_curl(bool done, char const* problem) {
    if (!done) throw std::runtime_error(std::string{"by hand: libcurl: "} + problem);
}

/// A handle of one service, and its call under way.
class http_call {
public:
    explicit http_call(std::string const& url) : handle_(curl_easy_init(), &curl_easy_cleanup) {
        expect_curl(handle_ != nullptr, "no memory");
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_PRIVATE, static_cast<void*>(this));
        set(CURLOPT_WRITEFUNCTION, &http_call::take_body);
        set(CURLOPT_WRITEDATA, static_cast<void*>(this));
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_PROXY, "");
        set(CURLOPT_TIMEOUT_MS, 30'000L);
    }
    http_call(http_call const&) = delete;
    http_call& operator=(http_call const&) = delete;

    [[nodiscard]] CURL* get() const noexcept { return handle_.get(); }

    /// Shape:   fixed - the headers of all calls of the service
    template <typename Request>
    void prepare(std::string const& id, std::string_view participant,
                 std::span<std::string const> fixed, Request const& request) {
        body_.clear();
        request_.assign(R"({"request":)");
        append_json(request_, request);
        request_ += '}';
        headers_.reset();
        for (auto const& line : fixed) add(line.c_str());
        line_.assign("Settle-Transaction: ").append(id);
        add(line_.c_str());
        line_.assign("Settle-Key: saga.db/").append(id).append("/").append(participant);
        add(line_.c_str());
        line_.replace(0, std::string_view{"Settle-Key"}.size(), "Idempotency-Key").append("/apply");
        add(line_.c_str());
        set(CURLOPT_HTTPHEADER, headers_.get());
        set(CURLOPT_POSTFIELDS, request_.c_str());
        set(CURLOPT_POSTFIELDSIZE, static_cast<long>(request_.size()));
    }

    template <typename Answer>
    void read(Answer& into) const {
        long status = 0;
        curl_easy_getinfo(get(), CURLINFO_RESPONSE_CODE, &status);
        expect_curl(status == 200 || status == 204, "a service refuses a call");
        read_answer(body_, into);
    }

private:
    template <typename Value>
    void set(CURLoption option, Value value) const {
        auto const code = curl_easy_setopt(get(), option, value);
        expect_curl(code == CURLE_OK, curl_easy_strerror(code));
    }
    void add(char const* line) {
        auto* const longer = curl_slist_append(headers_.get(), line);
        expect_curl(longer != nullptr, "no memory");
        static_cast<void>(headers_.release());
        headers_.reset(longer);
    }
    static std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* self) {
        static_cast<http_call*>(self)->body_.append(bytes, count);
        return count;
    }

    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr,
                                                                         &curl_slist_free_all};
    std::string request_;
    std::string line_;
    std::string body_;
};

/// The calls of the three services.
class http_calls {
public:
    /// Shape:   addresses - of the airline, the hotel and the bank
    explicit http_calls(std::array<std::string, 3> const& addresses)
        : multi_(curl_multi_init(), &curl_multi_cleanup),
          services_{service{addresses[0], "airline", "flight"},
                    service{addresses[1], "hotel", "room"}, service{addresses[2], "bank", "card"}} {
        expect_curl(multi_ != nullptr, "no memory");
        curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 192L);
    }

    /// As local_calls::call_all().
    template <typename Ask, typename Take>
    void call_all(std::span<bench::trip_request const> batch, std::int64_t created, Ask const& ask,
                  Take const& take) {
        using transfer_request = std::decay_t<decltype(ask(0))>;
        service& to = services_[number_of<transfer_request>];
        to.set_time(created);
        while (to.calls.size() < batch.size()) {
            to.calls.push_back(std::make_unique<http_call>(to.url));
        }
        for (std::size_t at = 0; at < batch.size(); ++at) {
            to.calls[at]->prepare(batch[at].first, to.participant, to.fixed, ask(at));
        }
        if (batch.size() == 1) {
            auto const code = curl_easy_perform(to.calls.front()->get());
            expect_curl(code == CURLE_OK, curl_easy_strerror(code));
        } else {
            perform(std::span{to.calls}.first(batch.size()));
        }
        for (std::size_t index = 0; index < batch.size(); ++index) {
            answer_of<transfer_request> made{};
            to.calls[index]->read(made);
            take(index, made);
        }
    }

private:
    template <typename Request>
    using answer_of =
        decltype(std::declval<bench::travel_services&>().answer(std::declval<Request const&>()));
    template <typename Request>
    static constexpr std::size_t number_of = std::is_same_v<Request, bench::seat_request>   ? 0
                                             : std::is_same_v<Request, bench::room_request> ? 1
                                                                                            : 2;

    struct service {
        service(std::string const& address, std::string const& name, std::string own_participant)
            : url(address + "/apply"), participant(std::move(own_participant)),
              fixed{"Content-Type: application/json",
                    "Settle-Service: " + name,
                    "Settle-Participant: " + participant,
                    "Settle-Has-Apply: true",
                    "",
                    ""} {}

        void set_time(std::int64_t created) {
            fixed[4] = "Settle-Epoch: " + std::to_string(created);
            constexpr std::int64_t week = 604'800'000;
            auto const moment = static_cast<std::time_t>((created + week) / 1000);
            std::tm parts{};
            gmtime_r(&moment, &parts);
            char text[48];
            fixed[5].assign(text, std::strftime(text, sizeof text,
                                                "Settle-Last-Moment: %Y-%m-%dT%H:%M:%SZ", &parts));
        }

        std::string url;
        std::string participant;
        std::array<std::string, 6> fixed;
        std::vector<std::unique_ptr<http_call>> calls{};
    };

    void perform(std::span<std::unique_ptr<http_call> const> calls) const {
        for (auto const& one : calls) curl_multi_add_handle(multi_.get(), one->get());
        for (int running = 1; running > 0;) {
            auto code = curl_multi_perform(multi_.get(), &running);
            if (code == CURLM_OK && running > 0) {
                code = curl_multi_poll(multi_.get(), nullptr, 0, 1000, nullptr);
            }
            expect_curl(code == CURLM_OK, curl_multi_strerror(code));
        }
        int left = 0;
        while (CURLMsg const* const one = curl_multi_info_read(multi_.get(), &left)) {
            auto const code = one->data.result;
            expect_curl(code == CURLE_OK, curl_easy_strerror(code));
        }
        for (auto const& one : calls) curl_multi_remove_handle(multi_.get(), one->get());
    }

    std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;
    std::array<service, 3> services_;
};

} // namespace baseline
