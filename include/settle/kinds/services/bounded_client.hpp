// SPDX-License-Identifier: BSL-1.0
// A client that answers in time, whatever another client does.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/kinds/services/service.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Copies of calls with their texts, and their answers. A client may still use them after the
/// caller has returned.
struct sent_calls {
    explicit sent_calls(std::span<service_call const> from)
        : calls(from.begin(), from.end()), answers(from.size()) {
        for (service_call& call : calls) {
            for (auto* const text : texts_of(call)) *text = texts.emplace_back(*text);
        }
    }

    std::deque<std::string> texts; ///< a deque, so that no text moves
    std::vector<service_call> calls;
    std::vector<service_answer> answers;
    bool over = false; ///< the client has returned, so the answers may be read
    std::string thrown;
};

} // namespace detail

/// A client that passes its calls to another client, on a thread of its own. If the other client
/// does not return in time, it answers `unknown` to all calls. Then the engine goes on: it sends
/// the calls again, within their limits, or lets other transactions run.
/// Shape:   Client - a ServiceClient that several threads may use
/// Cost:    a thread for each send(). A send() that never returns keeps its thread and the client
template <ServiceClient Client>
class bounded_client {
public:
    /// Shape:   most - the time after which a send() is given up; threads - how many sends may be
    ///          under way: if there are more, their calls are not sent and answered `unavailable`
    bounded_client(std::shared_ptr<Client> client, time_limit most, std::size_t threads = 64)
        : client_(std::move(client)), most_(std::min(most, longest)), threads_(threads),
          shared_(std::make_shared<shared>()) {}

    void send(std::span<service_call const> calls, std::span<service_answer> answers,
              wait_limits const& limits = {}) {
        auto const sent = std::make_shared<detail::sent_calls>(calls);
        auto const answer_all = [&](std::string const& why) {
            for (service_answer& reply : answers) reply = service_answer::unsent(why);
        };
        if (!enter()) {
            return answer_all(
                "settle: all threads of a bounded client wait for sends that do not return. "
                "Mend its client, or give it more threads. See sagas#when-a-client-hangs");
        }
        try {
            start(sent);
        } catch (std::system_error const& problem) {
            return answer_all("settle: a bounded client has no thread for its calls: " +
                              std::string{problem.what()} + ". See sagas#when-a-client-hangs");
        }
        std::unique_lock guard{shared_->mutex};
        auto until = std::chrono::steady_clock::now() + most_;
        if (limits.deadline) until = std::min(until, *limits.deadline);
        bool const over =
            shared_->changed.wait_until(guard, limits.stop, until, [&] { return sent->over; });
        for (std::size_t index = 0; index < answers.size(); ++index) {
            if (over) answers[index] = std::move(sent->answers[index]);
            else
                answers[index] = service_answer::unknown(
                    "settle: the client did not return " +
                    (limits.are_over() ? "before " + std::string{limits.name()} : "in time"));
            bool const has_no_answer = answers[index].status == call_status::unknown;
            if (over && has_no_answer && answers[index].text.empty())
                answers[index].text = sent->thrown;
        }
    }

    /// How many sends are under way, also sends that were given up.
    [[nodiscard]] std::size_t under_way() const {
        std::scoped_lock const guard{shared_->mutex};
        return shared_->under_way;
    }

private:
    /// The sum of the clock's time and a limit for ever would exceed 64 bits.
    static constexpr time_limit longest = std::chrono::hours{24 * 365};

    struct shared {
        std::mutex mutex;
        std::condition_variable_any changed;
        std::size_t under_way = 0;
    };

    bool enter() {
        std::scoped_lock const guard{shared_->mutex};
        if (shared_->under_way >= threads_) return false;
        ++shared_->under_way;
        return true;
    }

    void start(std::shared_ptr<detail::sent_calls> const& sent) {
        try {
            // The thread shares all that it uses, since it may outlive this client.
            std::thread{[sent, client = client_, all = shared_] {
                std::string thrown;
                try {
                    client->send(sent->calls, sent->answers);
                } catch (std::exception const& problem) {
                    thrown = problem.what();
                } catch (...) {
                    thrown = "an exception";
                }
                std::scoped_lock const guard{all->mutex};
                sent->thrown = std::move(thrown);
                sent->over = true;
                --all->under_way;
                all->changed.notify_all();
            }}.detach();
        } catch (...) {
            std::scoped_lock const guard{shared_->mutex};
            --shared_->under_way;
            throw;
        }
    }

    std::shared_ptr<Client> client_;
    time_limit most_;
    std::size_t threads_;
    std::shared_ptr<shared> shared_;
};

SETTLE_END
