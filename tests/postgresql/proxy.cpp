// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"
#include "wire.hpp"

#include <algorithm>
#include <utility>

namespace settle_test {
namespace {

int count_of(std::vector<std::string> const& all, std::string const& sql) {
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [&](std::string const& one) { return one.find(sql) != one.npos; }));
}

} // namespace

void proxy::pass_requests(link& one) {
    request_reader reader{one.to_client};
    std::string sql;
    std::int64_t number = 0; // the server answers in order
    while (auto const bytes = reader.next(sql)) {
        verdict decided;
        {
            std::lock_guard const lock{mutex_};
            decided = decide(rules_, [&](rule const& of) { return sql.find(of.sql) != sql.npos; });
            if (decided.hit && decided.what == fault::drop_request) break;
            if (!reader.is_terminate()) one.waiting[number++] = {sql, decided};
        }
        if (!pause(decided, fault::delay_request, fault::hold_request)) break;
        {
            std::lock_guard const lock{mutex_};
            requests_.push_back(sql);
        }
        if (!send_all(one.to_server, *bytes)) break;
    }
    end_requests(one);
}

void proxy::pass_replies(link& one) {
    reply_reader reader{one.to_server};
    bool client_listens = true;
    while (auto const bytes = reader.next()) {
        verdict decided;
        if (reader.answers_request()) {
            std::lock_guard const lock{mutex_};
            if (!one.waiting.empty()) {
                auto const first = one.waiting.begin();
                decided = first->second.decided;
                replies_.push_back(std::move(first->second.text));
                one.waiting.erase(first);
            }
            changed_.notify_all();
        }
        // Once the client is cut off, replies are only waited for.
        if (!client_listens) continue;
        bool const drops = decided.hit && decided.what == fault::drop_reply;
        bool const cuts = decided.hit && decided.what == fault::cut_reply;
        bool const passes =
            !drops && pause(decided, fault::delay_reply, fault::hold_reply) &&
            send_all(one.to_client, cuts ? bytes->substr(0, bytes->size() / 2) : *bytes);
        if (passes && bytes->front() == 'A') {
            std::lock_guard const lock{mutex_};
            ++notices_;
        }
        if (passes && !cuts) continue;
        client_listens = false;
        ::shutdown(one.to_client, SHUT_RDWR);
    }
    end_replies(one);
}

void proxy::add(rule one) {
    std::lock_guard const lock{mutex_};
    rules_.push_back({std::move(one)});
}

void proxy::clear_rules() {
    std::lock_guard const lock{mutex_};
    rules_.clear();
}

int proxy::requests(std::string const& sql) const {
    std::lock_guard const lock{mutex_};
    return count_of(requests_, sql);
}

int proxy::replies(std::string const& sql) const {
    std::lock_guard const lock{mutex_};
    return count_of(replies_, sql);
}

int proxy::notices() const {
    std::lock_guard const lock{mutex_};
    return notices_;
}

void proxy::reset_counts() {
    std::lock_guard const lock{mutex_};
    requests_.clear();
    replies_.clear();
}

bool proxy::wait_for_replies(std::string const& sql, int count, milliseconds limit) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return count_of(replies_, sql) >= count; });
}

} // namespace settle_test
