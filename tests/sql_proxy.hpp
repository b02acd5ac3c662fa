// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one SQL server: it loses, cuts and delays single round trips.
//
//   proxy between{server.port()};
//   between.add({.sql = "COMMIT", .what = fault::drop_reply});
//   database bank{own.address_at(between.port())};
#pragma once

#include "fault_proxy.hpp"
#include "sockets.hpp"

#include <algorithm>
#include <utility>

namespace settle_test {

/// A request is what a client sends until it waits: one round trip.
struct rule {
    std::string sql = "COMMIT"; ///< is in a statement of the request, also in a prepared statement
    int nth = 1;                ///< which such request, counted from the creation of the rule
    int times = 1;              ///< the number of disturbed requests, from the nth on
    fault what = fault::drop_reply;
    std::chrono::milliseconds time{0};
};

/// The rules for single messages, of a Network of receiver_disturbed.hpp.
struct single_messages {
    using rule = settle_test::rule;

    static std::string const& name(rule const& disturbed) { return disturbed.sql; }
    /// A rule for each request since the last reset_counts().
    template <typename Proxy>
    static std::vector<rule> messages(Proxy const& between) {
        std::vector<rule> rules;
        for (int nth = 1; nth <= between.requests(); ++nth)
            rules.push_back({.sql = "", .nth = nth});
        return rules;
    }
};

/// All functions may be called from any thread, at any time.
/// Shape:   Wire - the protocol of a server, with the classes
///            requests(socket)   next(link, mutex, sql) gives the bytes of a request and its SQL;
///                               has_reply() of it
///            replies(socket)    next(link, mutex) gives the bytes of a reply; answers_request(),
///                               is_notice() of it
///          and hangs_up, true if a client whose request is held is cut off at once
template <typename Wire>
class sql_proxy : public fault_proxy {
public:
    explicit sql_proxy(int server_port) : fault_proxy{server_port} { start(); }
    ~sql_proxy() override { stop(); }

    void add(rule rule) {
        std::lock_guard const lock{mutex_};
        rules_.push_back({std::move(rule)});
    }
    void clear_rules() {
        std::lock_guard const lock{mutex_};
        rules_.clear();
    }

    /// How many requests with this SQL the server was sent, and has answered.
    [[nodiscard]] int requests(std::string const& sql = "") const { return count(requests_, sql); }
    [[nodiscard]] int replies(std::string const& sql = "") const { return count(replies_, sql); }
    /// The statements of the last request that the server was sent.
    [[nodiscard]] std::string last_request() const {
        std::lock_guard const lock{mutex_};
        return requests_.empty() ? "" : requests_.back();
    }
    /// How many notifications the clients were sent.
    [[nodiscard]] int notices() const {
        std::lock_guard const lock{mutex_};
        return notices_;
    }
    void reset_counts() {
        std::lock_guard const lock{mutex_};
        requests_.clear();
        replies_.clear();
    }
    /// Waits for late replies as well; false on a timeout.
    bool wait_for_replies(std::string const& sql, int expected,
                          milliseconds limit = milliseconds{10'000}) {
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, limit, [&] { return count_of(replies_, sql) >= expected; });
    }

private:
    static int count_of(std::vector<std::string> const& all, std::string const& sql) {
        return static_cast<int>(std::count_if(all.begin(), all.end(), [&](std::string const& one) {
            return one.find(sql) != one.npos;
        }));
    }
    [[nodiscard]] int count(std::vector<std::string> const& all, std::string const& sql) const {
        std::lock_guard const lock{mutex_};
        return count_of(all, sql);
    }

    void pass_requests(link& passing) override {
        typename Wire::requests reader{passing.to_client};
        std::string sql;
        std::int64_t number = 0; // the server answers in order
        while (auto const bytes = reader.next(passing, mutex_, sql)) {
            verdict decided;
            {
                std::lock_guard const lock{mutex_};
                decided = decide(rules_,
                                 [&](rule const& rule) { return sql.find(rule.sql) != sql.npos; });
                if (decided.hit && decided.what == fault::drop_request) break;
                if (reader.has_reply()) passing.waiting[number++] = {sql, decided};
            }
            bool const is_held = decided.hit && decided.what == fault::hold_request;
            if (Wire::hangs_up && is_held) ::shutdown(passing.to_client, SHUT_RDWR);
            if (!pause(decided, fault::delay_request, fault::hold_request)) break;
            {
                std::lock_guard const lock{mutex_};
                requests_.push_back(sql);
            }
            if (!send_all(passing.to_server, *bytes)) break;
        }
        end_requests(passing);
    }

    void pass_replies(link& passing) override {
        typename Wire::replies reader{passing.to_server};
        bool client_listens = true;
        while (auto const bytes = reader.next(passing, mutex_)) {
            verdict decided;
            if (reader.answers_request()) {
                std::lock_guard const lock{mutex_};
                if (!passing.waiting.empty()) {
                    auto const first = passing.waiting.begin();
                    decided = first->second.decided;
                    replies_.push_back(std::move(first->second.text));
                    passing.waiting.erase(first);
                }
                changed_.notify_all();
            }
            // Once the client is cut off, replies are only waited for.
            if (!client_listens) continue;
            bool const drops = decided.hit && decided.what == fault::drop_reply;
            bool const cuts = decided.hit && decided.what == fault::cut_reply;
            bool const passes =
                !drops && pause(decided, fault::delay_reply, fault::hold_reply) &&
                send_all(passing.to_client, cuts ? bytes->substr(0, bytes->size() / 2) : *bytes);
            if (passes && reader.is_notice()) {
                std::lock_guard const lock{mutex_};
                ++notices_;
            }
            if (passes && !cuts) continue;
            client_listens = false;
            ::shutdown(passing.to_client, SHUT_RDWR);
        }
        end_replies(passing);
    }

    std::vector<live_rule<rule>> rules_;
    std::vector<std::string> requests_; ///< their SQL
    std::vector<std::string> replies_;
    int notices_ = 0;
};

} // namespace settle_test
