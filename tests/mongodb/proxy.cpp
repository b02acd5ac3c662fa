// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"
#include "commands.hpp"

#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace settle_test {

bool is_greeting(std::string const& command) {
    return command == "hello" || command == "isMaster" || command == "ismaster" ||
           command == "endSessions" || command.empty();
}

std::string proxy::address(std::string const& database, std::string const& options) const {
    return "mongodb://127.0.0.1:" + std::to_string(port()) + "/" + database +
           "?directConnection=true" + (options.empty() ? "" : "&") + options;
}

void proxy::pass_requests(link& passing) {
    wire_message message;
    while (receive(passing.to_client, message) && pass_request(passing, message)) {
    }
    end_requests(passing);
}

void proxy::pass_replies(link& passing) {
    wire_message message;
    bool client_listens = true;
    while (receive(passing.to_server, message)) {
        auto const decided = take_reply(passing, message);
        // Once the client is cut off, replies are only waited for.
        if (client_listens && !pass_reply(passing, message, decided)) {
            client_listens = false;
            ::shutdown(passing.to_client, SHUT_RDWR);
        }
    }
    end_replies(passing);
}

bool proxy::pass_request(link& passing, wire_message& message) {
    message.command = message.name_of_command();
    auto const decided = enter_request(passing, message);
    if (decided.hit && decided.what == fault::drop_request) return false;
    if (decided.hit && decided.what == fault::refuse) {
        auto const reply = wire_message::reply_to(message.id(), document{decided.answer}.get());
        return send_all(passing.to_client, reply.bytes.data(), reply.bytes.size());
    }
    if (!pause(decided, fault::delay_request, fault::hold_request)) return false;
    change(on_request_, message);
    return send_all(passing.to_server, message.bytes.data(), message.bytes.size());
}

/// Names a reply by its request, counts it, and returns the verdict on it.
proxy::verdict proxy::take_reply(link& passing, wire_message& message) {
    verdict decided;
    std::lock_guard const lock{mutex_};
    auto const request = passing.waiting.find(message.answers());
    // A server may send several replies to one greeting: then this stays empty.
    message.command = "";
    if (request != passing.waiting.end()) {
        message.command = request->second.text;
        decided = request->second.decided;
        passing.waiting.erase(request);
    }
    ++replies_[message.command];
    changed_.notify_all();
    return decided;
}

/// False when the client gets nothing more.
bool proxy::pass_reply(link const& passing, wire_message& message, verdict const& decided) {
    if (decided.hit && decided.what == fault::drop_reply) return false;
    if (!pause(decided, fault::delay_reply, fault::hold_reply)) return false;
    if (decided.hit && decided.what == fault::replace_reply) {
        message = wire_message::reply_to(message.answers(), document{decided.answer}.get());
    } else if (decided.hit && decided.what == fault::add_to_reply) {
        message.add(document{decided.answer}.get());
    }
    change(on_reply_, message);
    bool const cut = decided.hit && decided.what == fault::cut_reply;
    auto const length = cut ? message.bytes.size() / 2 : message.bytes.size();
    return send_all(passing.to_client, message.bytes.data(), length) && !cut;
}

/// Counts a request, finds its rule, and enters it if the server is to answer it.
proxy::verdict proxy::enter_request(link& passing, wire_message const& message) {
    auto const& command = message.command;
    std::lock_guard const lock{mutex_};
    ++requests_[command];
    auto decided = decide(rules_, [&](rule const& pattern) {
        return pattern.command.empty() ? !is_greeting(command) : pattern.command == command;
    });
    bool const passes =
        !decided.hit || (decided.what != fault::drop_request && decided.what != fault::refuse);
    if (passes && message.wants_reply()) passing.waiting[message.id()] = {command, decided};
    return decided;
}

void proxy::add(rule rule) {
    std::lock_guard const lock{mutex_};
    rules_.push_back({std::move(rule)});
}

void proxy::clear_rules() {
    std::lock_guard const lock{mutex_};
    rules_.clear();
}

void proxy::change(hook const& by, wire_message& message) {
    std::lock_guard const lock{hooks_mutex_};
    if (!by) return;
    by(message);
    auto const length = static_cast<std::int32_t>(message.bytes.size());
    std::memcpy(message.bytes.data(), &length, sizeof length);
}

void proxy::on_request(hook change) {
    std::lock_guard const lock{hooks_mutex_};
    on_request_ = std::move(change);
}

void proxy::on_reply(hook change) {
    std::lock_guard const lock{hooks_mutex_};
    on_reply_ = std::move(change);
}

int proxy::requests(std::string const& command) const {
    std::lock_guard const lock{mutex_};
    auto const found = requests_.find(command);
    return found == requests_.end() ? 0 : found->second;
}

int proxy::replies(std::string const& command) const {
    std::lock_guard const lock{mutex_};
    auto const found = replies_.find(command);
    return found == replies_.end() ? 0 : found->second;
}

int proxy::requests() const {
    std::lock_guard const lock{mutex_};
    int sum = 0;
    for (auto const& [command, count] : requests_) sum += is_greeting(command) ? 0 : count;
    return sum;
}

std::map<std::string, int> proxy::all_requests() const {
    std::lock_guard const lock{mutex_};
    return requests_;
}

void proxy::reset_counts() {
    std::lock_guard const lock{mutex_};
    requests_.clear();
    replies_.clear();
}

bool proxy::wait_for_replies(std::string const& command, int count, milliseconds limit) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return replies_[command] >= count; });
}

} // namespace settle_test
