// SPDX-License-Identifier: BSL-1.0
// A client that answers in time, whatever another client does.
#include "engine_types.hpp"

#include <settle/kinds/services/bounded_client.hpp>

#include <atomic>
#include <latch>
#include <set>
#include <stdexcept>

namespace bounded_client_test {

using namespace engine_test;

struct order {
    std::string item;
};
struct parcel {
    std::string number;
};

SETTLE_STRUCT(order, item);
SETTLE_STRUCT(parcel, number);

inline constexpr settle::service<order, parcel, "shop", settle::barrier> shop;
inline constexpr auto order_type =
    settle::transaction<order, "order">(settle::participant<"goods">(shop)
                                            .apply(settle::call(settle::param<&order::item>))
                                            .compensate(settle::call()));

namespace {

using namespace std::chrono_literals;
using settle::call_status;
using settle::service_answer;
using settle::service_call;

/// Its first sends do not return before the test says so.
class hanging_client {
public:
    explicit hanging_client(int hanging) : hanging_(hanging) {}

    void send(std::span<service_call const> calls, std::span<service_answer> answers) {
        if (hanging_-- > 0) goes_on_.wait();
        std::scoped_lock const guard{mutex_};
        for (std::size_t index = 0; index < calls.size(); ++index) {
            keys_.emplace(calls[index].key);
            bool const is_kept =
                calls[index].traceparent.empty() || calls[index].traceparent == "trace";
            CHECK(is_kept);
            answers[index] = service_answer::ok(R"({"number":"7"})");
        }
    }
    void go_on() { goes_on_.count_down(); }
    [[nodiscard]] std::set<std::string> keys() {
        std::scoped_lock const guard{mutex_};
        return keys_;
    }

private:
    std::atomic<int> hanging_;
    std::latch goes_on_{1};
    std::mutex mutex_;
    std::set<std::string> keys_;
};

struct throwing_client {
    void send(std::span<service_call const>, std::span<service_answer> answers) {
        answers.front() = service_answer::refused("sold out");
        throw std::runtime_error{"no route"};
    }
};

struct slow_client {
    void send(std::span<service_call const>, std::span<service_answer> answers) {
        std::this_thread::sleep_for(20ms);
        for (service_answer& one : answers) one = service_answer::ok();
    }
};

using bounded = settle::bounded_client<hanging_client>;

/// Two calls with texts that are gone after the send.
std::vector<service_answer> send_two(auto& client, settle::wait_limits const& limits = {}) {
    std::string const keys[]{"log/t1/goods", "log/t2/goods"};
    std::string const trace = "trace";
    std::vector<service_call> calls;
    for (auto const& key : keys) {
        service_call call{};
        call.service = "shop";
        call.key = key;
        call.request = "{}";
        call.traceparent = trace;
        calls.push_back(call);
    }
    std::vector<service_answer> answers(calls.size());
    client.send(calls, answers, limits);
    return answers;
}

void wait_until_under_way(bounded const& client, std::size_t count) {
    for (int i = 0; i < 10'000 && client.under_way() != count; ++i) {
        std::this_thread::sleep_for(1ms);
    }
    REQUIRE(client.under_way() == count);
}
void wait_for_none(bounded const& client) { wait_until_under_way(client, 0); }

} // namespace

} // namespace bounded_client_test

using namespace bounded_client_test;

TEST_CASE("bounded client: a client in time gives its own answers") {
    bounded client{std::make_shared<hanging_client>(0), 10s};
    for (auto const& one : send_two(client)) CHECK(one == service_answer::ok(R"({"number":"7"})"));
    wait_for_none(client);
}

TEST_CASE("bounded client: a send ends with its caller's deadline or stop request") {
    auto const inner = std::make_shared<hanging_client>(2);
    bounded client{inner, 24h};
    std::stop_source stop;
    stop.request_stop();
    auto const now = std::chrono::steady_clock::now();
    for (auto const& limits : {settle::wait_limits{{}, now}, {stop.get_token(), {}}}) {
        for (auto const& one : send_two(client, limits)) {
            CHECK(one.status == call_status::unknown);
            CHECK(one.text ==
                  "settle: the client did not return before " + std::string{limits.name()});
        }
    }
    inner->go_on();
    wait_for_none(client);
}

TEST_CASE("bounded client: a send that does not return makes all its calls unknown") {
    auto const inner = std::make_shared<hanging_client>(1);
    bounded client{inner, 20ms, 1};
    auto const in_vain = service_answer::unknown("settle: the client did not return in time");
    for (auto const& one : send_two(client)) CHECK(one == in_vain);
    CHECK(client.under_way() == 1);
    for (auto const& one : send_two(client)) CHECK(one.status == call_status::unavailable);
    inner->go_on();
    wait_for_none(client);
    // The client had its own copies of the texts.
    CHECK(inner->keys() == std::set<std::string>{"log/t1/goods", "log/t2/goods"});
    // A busy machine may not run the thread of a send within 20 ms; that send is made again.
    auto last = send_two(client);
    for (int tries = 0; tries < 1000 && last[0] == in_vain; ++tries) {
        wait_for_none(client);
        last = send_two(client);
    }
    for (auto const& one : last) CHECK(one == service_answer::ok(R"({"number":"7"})"));
}

TEST_CASE("bounded client: an exception leaves the answers that were given") {
    settle::bounded_client<throwing_client> client{std::make_shared<throwing_client>(), 10s};
    auto const answers = send_two(client);
    CHECK(answers[0] == service_answer::refused("sold out"));
    CHECK(answers[1] == service_answer::unknown("no route"));
}

TEST_CASE("bounded client: a limit may be for ever") {
    auto const inner = std::make_shared<slow_client>();
    settle::bounded_client<slow_client> in_milliseconds{inner, std::chrono::milliseconds::max()};
    settle::bounded_client<slow_client> in_hours{inner, std::chrono::hours::max()};
    for (auto const& one : send_two(in_milliseconds)) CHECK(one == service_answer::ok());
    for (auto const& one : send_two(in_hours)) CHECK(one == service_answer::ok());
}

TEST_CASE("bounded client: a transaction goes on while an earlier send of its call hangs") {
    auto const inner = std::make_shared<hanging_client>(2);
    bounded client{inner, 20ms};
    settle::memory::database log;
    {
        settle::engine engine{settle::log_in(log), settle::bind(shop, client),
                              settle::type<order_type>};
        auto const ended = engine.run("t1", order{"book"});
        CHECK_MESSAGE(ended.done(), ended.text());
        CHECK(settle::result_of<order_type, "goods">(ended).value().number == "7");
    }
    // A further send that was given up may not have returned yet.
    wait_until_under_way(client, 2);
    inner->go_on();
    wait_for_none(client);
    CHECK(inner->keys() == std::set<std::string>{log.name() + "/t1/goods"});
}
