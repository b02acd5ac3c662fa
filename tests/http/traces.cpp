// SPDX-License-Identifier: BSL-1.0
// The trace of a caller reaches the receivers of its calls, from each worker of the transaction.
#include "calls.hpp"

#include <settle/http/receiver_server.hpp>
#include <settle/http/wire.hpp>
#include <settle/settle.hpp>
#include <settle/sqlite.hpp>

#include <nlohmann/json.hpp>
#include <program.hpp>
#include <shared/otlp_spans.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>

using namespace settle_test;

namespace traces_test {

struct account {
    std::string id;
    std::int64_t balance = 0;
};
struct order {
    std::string payer;
    std::int64_t price = 0;
};
struct seat {
    std::int64_t price = 0;
};

} // namespace traces_test

namespace traces_test {

using settle::field, settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::service<seat, settle::nothing, "airline", settle::barrier> airline;
inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::payer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"flight">(airline)
        .apply(settle::call(param<&order::price>))
        .confirm(settle::call())
        .compensate(settle::call()));

/// A receiver that notes the header of each request.
class traced_server {
public:
    traced_server() {
        settle::http::add_receiver(server_, "/airline", [this](service_call const& call) {
            std::scoped_lock const guard{lock_};
            calls_.emplace_back(call.traceparent);
            if (!is_away_) return service_answer::ok();
            if (calls_.size() == 2) second_try_.request_stop();
            return service_answer::unavailable("away");
        });
        server_.set_pre_routing_handler([this](httplib::Request const& from, httplib::Response&) {
            std::scoped_lock const guard{lock_};
            headers_.push_back(from.get_header_value("traceparent"));
            return httplib::Server::HandlerResponse::Unhandled;
        });
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }
    ~traced_server() {
        server_.stop();
        thread_.join();
    }
    traced_server(traced_server const&) = delete;
    traced_server& operator=(traced_server const&) = delete;

    [[nodiscard]] std::string address() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/airline";
    }
    void be_away(bool is_away) {
        std::scoped_lock const guard{lock_};
        is_away_ = is_away;
    }
    /// A stop is requested at the second call while the service is away.
    [[nodiscard]] std::stop_token second_try() const { return second_try_.get_token(); }
    /// The headers since the last call of this function.
    std::vector<std::string> take_headers() {
        std::scoped_lock const guard{lock_};
        CHECK(calls_ == headers_); // a receiver gets what the request has
        calls_.clear();
        return std::exchange(headers_, {});
    }

private:
    httplib::Server server_;
    std::thread thread_;
    int port_ = 0;
    std::mutex lock_;
    bool is_away_ = false;
    std::stop_source second_try_;
    std::vector<std::string> headers_;
    std::vector<std::string> calls_;
};

template <typename Client>
auto agency_of(settle::sqlite::database& db, Client& client, samples::otlp_spans& spans) {
    return settle::engine{settle::log_in(db),
                          settle::bind(accounts, db),
                          settle::bind(airline, client),
                          settle::type<order_type>,
                          settle::options{.call_first_pause = std::chrono::milliseconds{1}},
                          settle::observed_by([&](settle::event const& seen) { spans.see(seen); })};
}

std::string const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// The spans that a collector would read in a body.
nlohmann::json spans_in(std::string const& body) {
    auto const whole = nlohmann::json::parse(body);
    auto const& resource = whole.at("resourceSpans").at(0);
    CHECK(resource.at("resource").at("attributes").at(0).at("value").at("stringValue") == "agency");
    return resource.at("scopeSpans").at(0).at("spans");
}
std::int64_t time_in(nlohmann::json const& span, char const* name) {
    return std::stoll(span.at(name).get<std::string>());
}

TEST_CASE("calls carry the trace of the caller, also after a recovery, and spans join them") {
    testing::scratch_folder const folder{"http-traces"};
    traced_server server;
    settle::http::client client{server.address()};
    server.be_away(true);
    samples::otlp_spans of_caller;
    {
        settle::sqlite::database db{folder.at("agency.db")};
        samples::traced_client traced{client, of_caller};
        auto agency = agency_of(db, traced, of_caller);
        agency.create(accounts, {"A", 100}).value();
        auto const left = agency.run("trip", order{"A", 10},
                                     {.stop = server.second_try(), .traceparent = caller});
        CHECK(left.verdict == settle::verdict::undecided);
    }
    server.be_away(false);
    settle::sqlite::database db{folder.at("agency.db")};
    samples::otlp_spans of_recovery;
    samples::traced_client traced{client, of_recovery};
    auto agency = agency_of(db, traced, of_recovery);
    CHECK(agency.recover({.older_than = std::chrono::milliseconds{0}}).done == 1);

    auto const headers = server.take_headers();
    CHECK(headers.size() >= 4); // tries, then apply and confirm of the recovery
    std::set<std::string> sent;
    for (auto const& header : headers) {
        REQUIRE(settle::is_traceparent(header));
        CHECK(settle::trace_of(header) == settle::trace_of(caller));
        CHECK(header.ends_with("-01"));
        CHECK_MESSAGE(sent.insert(std::string{settle::span_of(header)}).second, header);
    }

    auto spans = spans_in(of_caller.take("agency"));
    auto const later = spans_in(of_recovery.take("agency"));
    CHECK(of_recovery.take("agency").empty());
    spans.insert(spans.end(), later.begin(), later.end());
    auto const transaction = later.back();
    CHECK(transaction.at("name") == "order");
    CHECK(transaction.at("parentSpanId") == settle::span_of(caller));
    CHECK(transaction.at("status").at("code") == 1);
    std::set<std::string> noted;
    for (auto const& span : spans) {
        CHECK(span.at("traceId") == settle::trace_of(caller));
        CHECK(time_in(span, "startTimeUnixNano") <= time_in(span, "endTimeUnixNano"));
        CHECK(time_in(transaction, "startTimeUnixNano") <= time_in(span, "startTimeUnixNano"));
        CHECK(time_in(span, "endTimeUnixNano") <= time_in(transaction, "endTimeUnixNano"));
        if (span == transaction) continue;
        CHECK(span.at("parentSpanId") == transaction.at("spanId"));
        CHECK(span.at("kind") == 3);
        CHECK(noted.insert(span.at("spanId")).second);
    }
    CHECK(noted == sent);
    CHECK(spans.front().at("name") == "flight apply");
    CHECK(spans.front().at("status").at("code") == 2);
    CHECK(spans.front().at("status").at("message") == "unavailable");

    CHECK(agency.run("untraced", order{"A", 10}).done());
    CHECK(agency.run("unsampled", order{"A", 10}, {.traceparent = caller.substr(0, 54) + "0"})
              .done());
    CHECK(of_recovery.take("agency").empty());
    auto const last = server.take_headers();
    CHECK(last.at(0).empty());
    CHECK(last.back().ends_with("-00"));
}

TEST_CASE("a receiver takes a call with a wrong traceparent, without its trace") {
    using settle::http::detail::received_call;
    std::map<std::string, std::string, std::less<>> headers;
    settle::http::detail::for_each_header(
        seat_call(),
        [&](std::string_view name, std::string_view value) { headers.emplace(name, value); });
    CHECK(headers.count("traceparent") == 0);
    auto const trace_of_call = [&] {
        auto const text_of = [&](std::string_view name) -> received_call::header {
            auto const found = headers.find(name);
            return found == headers.end() ? received_call::header{} : found->second;
        };
        received_call const received{text_of, "apply", "{\"request\":1}"};
        return std::string{received.call().traceparent};
    };
    headers["traceparent"] = caller;
    CHECK(trace_of_call() == caller);
    headers["traceparent"] = caller.substr(3);
    CHECK(trace_of_call().empty());
}

} // namespace traces_test
