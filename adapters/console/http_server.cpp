// SPDX-License-Identifier: BSL-1.0
#include "http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <csignal>
#include <list>
#include <thread>
#include <tuple>

SETTLE_BEGIN
namespace detail {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

[[nodiscard]] std::string_view std_view(beast::string_view text) {
    return {text.data(), text.size()};
}
[[nodiscard]] beast::string_view beast_view(std::string_view text) {
    return {text.data(), text.size()};
}

[[nodiscard]] tcp::endpoint endpoint_of(std::string const& address, std::uint16_t port) {
    boost::system::error_code problem;
    auto const read = asio::ip::make_address(address, problem);
    if (!problem) return {read, port};
    throw failure({make_error_code(errc::bad_option),
                   "settle: console_options::address '" + address +
                       "' is no IP address. Give it one of this machine, such as 127.0.0.1, or "
                       "0.0.0.0 for all. See console#options"});
}

/// The answer to a request that breaks a limit or is no HTTP; nothing if the client is gone.
[[nodiscard]] std::optional<console_answer> answer_to(boost::system::error_code problem) {
    if (problem == http::error::header_limit)
        return console_answer{431, "text/plain", "settle: the header has more than 16 KiB\n"};
    if (problem == http::error::body_limit)
        return console_answer{413, "text/plain", "settle: the body has more than 16 KiB\n"};
    bool const is_gone = problem == http::error::end_of_stream ||
                         problem == http::error::partial_message ||
                         problem.category() != make_error_code(http::error::bad_method).category();
    if (is_gone) return std::nullopt;
    return console_answer{
        400, {}, "settle: the request is no HTTP/1.1: " + problem.message() + '\n'};
}

} // namespace

struct http_server::state {
    state(std::string const& address, std::uint16_t number, std::string&& name, server_limits given,
          console_handler& handles)
        : limits(given), name_header(std::move(name)), handler(handles) {
        listen(endpoint_of(address, number));
    }

    void listen(tcp::endpoint const& endpoint) {
        boost::system::error_code problem;
        auto const check = [&](char const* advice) {
            if (!problem) return;
            std::string place = endpoint.address().to_string();
            throw failure({std::error_code{problem.value(), std::system_category()},
                           "settle: the console cannot listen on " + place + " port " +
                               std::to_string(endpoint.port()) + ": " + problem.message() + ". " +
                               advice + ". See console#options"});
        };
        std::ignore = acceptor.open(endpoint.protocol(), problem);
        check("Give another address");
        std::ignore = acceptor.set_option(tcp::acceptor::reuse_address{true}, problem);
        std::ignore = acceptor.bind(endpoint, problem);
        check(problem == asio::error::address_in_use
                  ? "Give another port, or 0 for a free one, or end the program that has it"
              : problem == asio::error::access_denied ? "Give a port of 1024 or more"
                                                      : "Give an address of this machine");
        std::ignore = acceptor.listen(asio::socket_base::max_listen_connections, problem);
        check("Give another port, or 0 for a free one");
        port = acceptor.local_endpoint().port();
    }

    void accept();

    void work_after(std::chrono::milliseconds pause) {
        work.expires_after(pause);
        work.async_wait([this](boost::system::error_code stopped) {
            if (!stopped) work_after(handler.work());
        });
    }

    server_limits const limits;
    std::string const name_header;
    console_handler& handler;
    std::size_t open = 0;             ///< connections
    std::list<connection*> waiting{}; ///< for a request, the longest first
    asio::io_context connections{1};
    asio::io_context questions{1};
    tcp::acceptor acceptor{connections};
    asio::steady_timer retry{connections};
    asio::steady_timer work{questions};
    std::uint16_t port = 0;
    std::vector<std::jthread> threads{};
};

class http_server::connection : public std::enable_shared_from_this<connection> {
public:
    connection(tcp::socket&& socket, state& server) : server_(server), stream_(std::move(socket)) {
        ++server_.open;
    }
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection() {
        --server_.open;
        if (is_waiting_) server_.waiting.erase(place_);
    }

    void read() {
        parser_.emplace();
        parser_->header_limit(server_limits::header_bytes);
        parser_->body_limit(server_limits::body_bytes);
        place_ = server_.waiting.insert(server_.waiting.end(), this);
        is_waiting_ = true;
        // One limit for the whole request: a client that sends a byte now and then gets no more.
        stream_.expires_after(server_.limits.client);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](boost::system::error_code problem,
                                                     std::size_t) { self->take(problem); });
    }
    /// Ends the connection; its handlers are called with an error.
    void close() {
        boost::system::error_code ignored;
        std::ignore = stream_.socket().close(ignored);
    }

private:
    void take(boost::system::error_code problem) {
        if (is_waiting_) server_.waiting.erase(place_);
        is_waiting_ = false;
        if (problem) {
            keeps_ = false;
            if (auto const answer = answer_to(problem)) send(*answer);
            return;
        }
        auto const& request = parser_->get();
        keeps_ = request.keep_alive();
        auto const method = request.method();
        is_head_ = method == http::verb::head;
        received_request received;
        received.is_other = !is_head_ && method != http::verb::get && method != http::verb::post;
        received.is_post = method == http::verb::post;
        received.target = std_view(request.target());
        received.body = request.body();
        received.host = std_view(request[http::field::host]);
        received.origin = std_view(request[http::field::origin]);
        received.accept = std_view(request[http::field::accept]);
        received.authorization = std_view(request[http::field::authorization]);
        received.custom = std_view(request["Settle-Console"]);
        if (!server_.name_header.empty())
            received.person = std_view(request[beast_view(server_.name_header)]);
        console_question question;
        if (auto const answer = answer_at_once(received, question)) return send(*answer);
        asio::post(server_.questions, [self = shared_from_this(),
                                       question = std::move(question)]() mutable {
            auto answer = self->server_.handler.ask(question);
            self->server_.work_after({});
            auto& connections = self->server_.connections;
            asio::post(connections, [self = std::move(self), answer = std::move(answer)] {
                self->send(answer);
            });
        });
    }

    std::optional<console_answer> answer_at_once(received_request const& received,
                                                 console_question& question) {
        try {
            return server_.handler.at_once(received, question);
        } catch (std::exception const& thrown) {
            return console_answer{500, "text/plain", std::string{thrown.what()} + '\n'};
        }
    }

    void send(console_answer const& answer) {
        response_ = {};
        response_.version(11);
        response_.result(answer.status);
        response_.keep_alive(keeps_);
        if (!answer.type.empty()) response_.set(http::field::content_type, beast_view(answer.type));
        response_.set(http::field::cache_control, "no-store");
        response_.set(http::field::vary, "Accept");
        response_.set(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            "form-action 'none'; base-uri 'none'; frame-ancestors 'none'");
        response_.set("X-Content-Type-Options", "nosniff");
        response_.set("Referrer-Policy", "no-referrer");
        response_.set("Cross-Origin-Resource-Policy", "same-origin");
        if (answer.status == 401) response_.set(http::field::www_authenticate, "Bearer");
        if (!answer.allow.empty()) response_.set(http::field::allow, beast_view(answer.allow));
        response_.content_length(answer.body.size());
        if (!is_head_) response_.body() = answer.body;
        stream_.expires_after(server_.limits.client);
        http::async_write(
            stream_, response_,
            [self = shared_from_this()](boost::system::error_code problem, std::size_t) {
                if (problem) return;
                if (self->keeps_) return self->read();
                std::ignore = self->stream_.socket().shutdown(tcp::socket::shutdown_send, problem);
                self->stream_.expires_after(std::chrono::seconds{1});
                self->drain();
            });
    }

    /// Reads what the client still sends: if it were left unread, the client might lose the answer.
    void drain() {
        buffer_.clear();
        stream_.async_read_some(
            buffer_.prepare(4096),
            [self = shared_from_this()](boost::system::error_code problem, std::size_t) {
                if (!problem) self->drain();
            });
    }

    state& server_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{};
    std::optional<http::request_parser<http::string_body>> parser_{};
    http::response<http::string_body> response_{};
    std::list<connection*>::iterator place_{};
    bool is_waiting_ = false;
    bool keeps_ = false;
    bool is_head_ = false;
};

void http_server::state::accept() {
    acceptor.async_accept([this](boost::system::error_code problem, tcp::socket socket) {
        if (problem == asio::error::operation_aborted) return;
        bool const is_full = open >= server_limits::connections;
        if ((problem || is_full) && !waiting.empty()) waiting.front()->close();
        if (problem) {
            // Most often the process has no file descriptor left.
            retry.expires_after(std::chrono::milliseconds{20});
            retry.async_wait([this](boost::system::error_code stopped) {
                if (!stopped) accept();
            });
            return;
        }
        if (!is_full || !waiting.empty())
            std::make_shared<connection>(std::move(socket), *this)->read();
        accept();
    });
}

http_server::http_server(std::string const& address, std::uint16_t port, std::string name_header,
                         server_limits const& limits, console_handler& handler)
    : state_(std::make_unique<state>(address, port, std::move(name_header), limits, handler)) {
    state_->accept();
    state_->work_after({});
    // The program's signals are for its own threads.
    sigset_t all_signals;
    sigset_t before;
    sigfillset(&all_signals);
    pthread_sigmask(SIG_BLOCK, &all_signals, &before);
    auto const run = [](asio::io_context& context) {
        auto const work = asio::make_work_guard(context);
        context.run();
    };
    state_->threads.emplace_back([this, run] { run(state_->connections); });
    state_->threads.emplace_back([this, run] { run(state_->questions); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

http_server::~http_server() {
    state_->connections.stop();
    state_->questions.stop();
    state_->threads.clear();
}

std::uint16_t http_server::port() const noexcept { return state_->port; }

bool is_loopback(std::string const& address) {
    return endpoint_of(address, 0).address().is_loopback();
}

} // namespace detail
SETTLE_END
