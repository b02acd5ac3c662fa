// SPDX-License-Identifier: BSL-1.0
// A client whose answers come later, and orders that it serves.
#pragma once

#include <service_receiver.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace waiting_test {

using namespace engine_test;

struct order {
    std::string customer;
    std::int64_t price = 0;
};
struct charge {
    std::string customer;
    std::int64_t amount = 0;
};

SETTLE_STRUCT(order, customer, price);
SETTLE_STRUCT(charge, customer, amount);

using service_test::receiver;
using settle::call;
using settle::call_operation;
using settle::call_status;
using settle::service_answer;
using settle::service_call;
using namespace std::chrono_literals;
using call_pointer = std::shared_ptr<settle::call_under_way>;

inline constexpr settle::service<charge, settle::nothing, "shop", settle::barrier> shop;
inline constexpr settle::service<charge, settle::nothing, "courier", settle::barrier> courier;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"goods">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()),
    settle::participant<"parcel">(courier)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()));

/// Two calls with records after them, which two orders of one customer share.
inline constexpr auto quote_type = settle::transaction<order, "quote">(
    settle::participant<"goods">(shop)
        .apply(call(param<&order::customer>, param<&order::price>))
        .compensate(call()),
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse));

/// A client that keeps the calls that `keeps` chooses, and answers the others at once or, with
/// run(), in a thread in any order.
class later_client {
public:
    receiver services{};
    std::function<bool(service_call const&)> keeps = [](service_call const&) { return false; };

    later_client() = default;
    later_client(later_client const&) = delete;
    later_client& operator=(later_client const&) = delete;
    ~later_client() {
        {
            std::scoped_lock const guard{lock_};
            ends_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }
    void send(std::span<service_call const>, std::span<service_answer>) { FAIL("is not called"); }
    void start(settle::calls_to_start calls) {
        std::scoped_lock const guard{lock_};
        for (call_pointer const& each : calls) {
            if (keeps(each->call())) kept_.push_back(each);
            else if (thread_.joinable()) started_.push_back(each);
            else make(*each);
        }
        changed_.notify_all();
    }
    /// Answers from a thread from now on, in an order that the seed chooses.
    void run(unsigned seed) {
        thread_ = std::thread{[this, seed] {
            std::mt19937 random{seed};
            std::unique_lock guard{lock_};
            while (true) {
                changed_.wait(guard, [&] { return ends_ || !started_.empty(); });
                if (ends_) return;
                auto const chosen =
                    started_.begin() + static_cast<std::ptrdiff_t>(random() % started_.size());
                call_pointer const next = *chosen;
                started_.erase(chosen);
                make(*next);
                if (random() % 4 != 0) continue;
                guard.unlock();
                std::this_thread::yield();
                guard.lock();
            }
        }};
    }
    /// Makes the kept calls, and keeps none from now on.
    void answer_kept() {
        std::scoped_lock const guard{lock_};
        keeps = [](service_call const&) { return false; };
        for (call_pointer const& each : std::exchange(kept_, {})) make(*each);
    }
    [[nodiscard]] std::size_t kept() {
        std::scoped_lock const guard{lock_};
        return kept_.size();
    }
    /// Whether the client may begin the first kept call.
    [[nodiscard]] bool begin_kept() {
        std::scoped_lock const guard{lock_};
        return kept_.front()->begin();
    }

private:
    void make(settle::call_under_way& call) {
        if (!call.begin()) return;
        service_answer made;
        services.send({&call.call(), 1}, {&made, 1});
        call.answer(std::move(made));
        call.answer(service_answer::refused("a second answer"));
    }

    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<call_pointer> started_;
    std::vector<call_pointer> kept_;
    bool ends_ = false;
    std::thread thread_;
};

inline auto make_engine(settle::memory::database& at, later_client& client) {
    return settle::engine{at, settle::bind(shop, client), settle::bind(courier, client),
                          settle::type<order_type>, settle::type<quote_type>};
}

} // namespace waiting_test
