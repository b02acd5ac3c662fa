// SPDX-License-Identifier: BSL-1.0
#include "proxy.hpp"
#include "commands.hpp"
#include "sockets.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

/// Both directions are small messages that wait for each other.
void send_at_once(int fd) {
    int const on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool connect_to(int fd, int port) {
    auto const address = loopback(port);
    return ::connect(fd, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0;
}

} // namespace

bool is_greeting(std::string const& command) {
    return command == "hello" || command == "isMaster" || command == "ismaster" ||
           command == "endSessions" || command.empty();
}

/// A client's connection and its connection to the server, with a thread for each direction. The
/// descriptors are closed when both threads have ended, never before.
struct proxy::link {
    struct open_request {
        std::string command;
        verdict decided;
    };

    explicit link(int client) : to_client{client}, to_server{new_socket()} {}
    link(link const&) = delete;
    link& operator=(link const&) = delete;
    ~link() {
        if (requests.joinable()) requests.join();
        if (replies.joinable()) replies.join();
        ::close(to_client);
        ::close(to_server);
    }
    void cut() const {
        ::shutdown(to_client, SHUT_RDWR);
        ::shutdown(to_server, SHUT_RDWR);
    }

    int const to_client;
    int const to_server;
    std::map<std::int32_t, open_request> waiting; ///< requests without a reply; under proxy's mutex
    std::atomic<int> ended = 0;              ///< how many of the two threads
    std::thread requests;
    std::thread replies;
};

proxy::proxy(int server_port) : server_port_{server_port}, listener_{new_socket()} {
    auto address = loopback(0);
    socklen_t size = sizeof address;
    auto* const native = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, native, size) != 0 || ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, native, &size) != 0) {
        int const code = errno;
        ::close(listener_);
        throw std::system_error{code, std::generic_category(), "proxy"};
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread{[this] { accept_clients(); }};
}

proxy::~proxy() {
    {
        std::lock_guard const lock{mutex_};
        ending_ = true;
        for (auto const& one : links_) one->cut();
    }
    changed_.notify_all();
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    links_.clear();
}

std::string proxy::address(std::string const& database, std::string const& options) const {
    return "mongodb://127.0.0.1:" + std::to_string(port_) + "/" + database +
           "?directConnection=true" + (options.empty() ? "" : "&") + options;
}

void proxy::accept_clients() {
    for (;;) {
        int const client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (client < 0) return;
        remove_ended();
        auto const one = std::make_shared<link>(client);
        {
            std::lock_guard const lock{mutex_};
            if (ending_ || refusing_) continue;
        }
        if (!connect_to(one->to_server, server_port_)) continue;
        send_at_once(one->to_client);
        send_at_once(one->to_server);
        std::lock_guard const lock{mutex_};
        if (ending_ || refusing_) continue;
        links_.push_back(one);
        // A link's destructor joins its threads, so the threads must not own the link.
        auto* const raw = one.get();
        one->requests = std::thread{[this, raw] { pass_requests(*raw); ++raw->ended; }};
        one->replies = std::thread{[this, raw] { pass_replies(*raw); ++raw->ended; }};
    }
}

/// A test that reconnects a thousand times must not keep two thousand threads.
void proxy::remove_ended() {
    std::list<std::shared_ptr<link>> ended;
    std::lock_guard const lock{mutex_};
    for (auto one = links_.begin(); one != links_.end();) {
        auto const next = std::next(one);
        if ((*one)->ended == 2) ended.splice(ended.end(), links_, one);
        one = next;
    }
}

void proxy::pass_requests(link& one) {
    wire_message message;
    while (receive(one.to_client, message) && pass_request(one, message)) {}
    // A late message must also take effect: a server may give up a request whose client has gone.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, 10s, [&] { return ending_ || one.waiting.empty(); });
    lock.unlock();
    one.cut();
}

void proxy::pass_replies(link& one) {
    wire_message message;
    bool client_listens = true;
    while (receive(one.to_server, message)) {
        auto const decided = take_reply(one, message);
        // Once the client is cut off, replies are only waited for.
        if (client_listens && !pass_reply(one, message, decided)) {
            client_listens = false;
            ::shutdown(one.to_client, SHUT_RDWR);
        }
    }
    std::lock_guard const lock{mutex_};
    one.waiting.clear();
    changed_.notify_all();
    one.cut();
}

bool proxy::pass_request(link& one, wire_message& message) {
    message.command = message.name_of_command();
    auto const decided = first_rule(message.command);
    if (decided.hit && decided.what == fault::drop_request) return false;
    if (decided.hit && decided.what == fault::refuse) {
        auto const reply = wire_message::reply_to(message.id(), document{decided.answer}.get());
        return send_all(one.to_client, reply.bytes.data(), reply.bytes.size());
    }
    if (!pause(decided, fault::delay_request, fault::hold_request)) return false;
    {
        std::lock_guard const lock{mutex_};
        if (message.wants_reply()) one.waiting[message.id()] = {message.command, decided};
    }
    change(on_request_, message);
    return send_all(one.to_server, message.bytes.data(), message.bytes.size());
}

/// Names a reply by its request, counts it, and returns the verdict on it.
proxy::verdict proxy::take_reply(link& one, wire_message& message) {
    verdict decided;
    std::lock_guard const lock{mutex_};
    auto const found = one.waiting.find(message.answers());
    // A server may send several replies to one greeting: then this stays empty.
    message.command = "";
    if (found != one.waiting.end()) {
        message.command = found->second.command;
        decided = found->second.decided;
        one.waiting.erase(found);
    }
    ++replies_[message.command];
    changed_.notify_all();
    return decided;
}

/// False when the client gets nothing more.
bool proxy::pass_reply(link const& one, wire_message& message, verdict const& decided) {
    if (decided.hit && decided.what == fault::drop_reply) return false;
    if (!pause(decided, fault::delay_reply, fault::hold_reply)) return false;
    if (decided.hit && decided.what == fault::answer_so) {
        message = wire_message::reply_to(message.answers(), document{decided.answer}.get());
    } else if (decided.hit && decided.what == fault::add_to_reply) {
        message.add(document{decided.answer}.get());
    }
    change(on_reply_, message);
    bool const cut = decided.hit && decided.what == fault::cut_reply;
    auto const length = cut ? message.bytes.size() / 2 : message.bytes.size();
    return send_all(one.to_client, message.bytes.data(), length) && !cut;
}

/// Counts a request and finds the first rule that matches it.
proxy::verdict proxy::first_rule(std::string const& command) {
    verdict decided;
    std::lock_guard const lock{mutex_};
    ++requests_[command];
    for (auto& [pattern, seen] : rules_) {
        bool const meant =
            pattern.command.empty() ? !is_greeting(command) : pattern.command == command;
        if (!meant) continue;
        ++seen;
        if (decided.hit || seen < pattern.nth || seen >= pattern.nth + pattern.times) continue;
        decided = {true, pattern.what, pattern.time, releases_, pattern.answer};
    }
    return decided;
}

/// Waits for as long as a message is to wait; false when the proxy ends.
bool proxy::pause(verdict const& by, fault delay, fault hold) {
    std::unique_lock lock{mutex_};
    if (by.hit && by.what == delay) changed_.wait_for(lock, by.time, [&] { return ending_; });
    if (by.hit && by.what == hold) {
        changed_.wait(lock, [&] { return ending_ || releases_ > by.releases; });
    }
    changed_.wait(lock, [&] { return ending_ || !gate_closed_; });
    return !ending_;
}

void proxy::add(rule one) {
    std::lock_guard const lock{mutex_};
    rules_.push_back({std::move(one)});
}

void proxy::clear_rules() {
    std::lock_guard const lock{mutex_};
    rules_.clear();
}

void proxy::release() {
    std::lock_guard const lock{mutex_};
    ++releases_;
    changed_.notify_all();
}

void proxy::black_hole(bool on) {
    std::lock_guard const lock{mutex_};
    gate_closed_ = on;
    changed_.notify_all();
}

void proxy::refuse(bool on) {
    std::lock_guard const lock{mutex_};
    refusing_ = on;
}

void proxy::cut_connections() {
    std::lock_guard const lock{mutex_};
    for (auto const& one : links_) one->cut();
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
