// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that connection.hpp declares.
#pragma once

#include <settle/adapter/socket_wait.hpp>
#include <settle/postgresql/connection/connection.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>

#include <locale.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

SETTLE_BEGIN
namespace postgresql::detail {

/// libpq's texts in English for this thread: their words tell errors of TLS and of options.
class plain_messages {
public:
    plain_messages() : plain_(::newlocale(LC_MESSAGES_MASK, "C", locale_t{})) {
        if (plain_ != locale_t{}) before_ = ::uselocale(plain_);
    }
    plain_messages(plain_messages const&) = delete;
    plain_messages& operator=(plain_messages const&) = delete;
    ~plain_messages() {
        if (plain_ == locale_t{}) return;
        ::uselocale(before_);
        ::freelocale(plain_);
    }

private:
    locale_t plain_;
    locale_t before_{};
};

/// The SQLSTATE and the text of a failed connect. libpq gives the SQLSTATE only within a verbose
/// text: "FATAL:  28P01: password authentication failed\nLOCATION: …".
[[nodiscard]] SETTLE_FUNCTION error problem_of_connect(PGconn* failed,
                                                       address::keywords const& host) {
    std::string text{PQerrorMessage(failed)};
    auto const is_letter = [](char character) {
        return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z');
    };
    int code = not_connected;
    for (auto position = text.find(":  "); position != text.npos;
         position = text.find(":  ", position + 1)) {
        auto const state = std::string_view{text}.substr(position + 3, 5);
        bool const is_state = state.size() == 5 && text.substr(position + 8, 2) == ": " &&
                              std::all_of(state.begin(), state.end(), is_letter);
        if (!is_state) continue;
        code = number_of(state);
        text.erase(position + 3, 7);
        break;
    }
    // Hints and other tries follow.
    text.resize(std::min(text.size(), text.find('\n')));
    auto const words = without_names(text);
    auto const has = [&](char const* part) { return words.find(part) != words.npos; };
    // libpq checks the values of some options when it connects.
    bool const is_of_option = text.starts_with("invalid ") || has("failed: invalid ");
    if (code == not_connected && is_of_option) refuse_address(settle::detail::native_text(text));
    if (code == not_connected && PQconnectionNeedsPassword(failed) == 1) code = invalid_password;
    // A server that stops ends the connection in the midst of the handshake.
    bool const lost = has("SYSCALL") || has("unexpected eof") || has("closed unexpectedly");
    if (code == not_connected && !lost && (has("SSL") || has("certificate"))) code = tls_failed;
    return describe(code, text, "be reached at " + name_of(host));
}

/// The keywords for each address of a host: libpq would wait for the first address that does not
/// answer as long as for all of them.
[[nodiscard]] SETTLE_FUNCTION std::vector<address::keywords>
each_address(address::keywords const& host) {
    std::string name;
    bool has_address = false;
    for (auto const& [keyword, value] : host) {
        if (keyword == "host") name = value;
        has_address = has_address || keyword == "hostaddr";
    }
    // A name that begins so is the folder of a socket.
    bool const is_name = !name.empty() && !name.starts_with('/') && !name.starts_with('@');
    std::vector<address::keywords> addresses;
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* resolved = nullptr;
    if (is_name && !has_address && ::getaddrinfo(name.c_str(), nullptr, &wanted, &resolved) == 0) {
        std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> const held{resolved, &::freeaddrinfo};
        for (; resolved != nullptr; resolved = resolved->ai_next) {
            std::array<char, NI_MAXHOST> digits{};
            if (::getnameinfo(resolved->ai_addr, resolved->ai_addrlen, digits.data(), digits.size(),
                              nullptr, 0, NI_NUMERICHOST) != 0) {
                continue;
            }
            addresses.push_back(host);
            addresses.back().emplace_back("hostaddr", digits.data());
        }
    }
    // libpq gives the reason why a name has no address.
    if (addresses.empty()) addresses.push_back(host);
    return addresses;
}

SETTLE_FUNCTION connection::connection(address const& to, database_options const& options,
                                       deadline until, std::size_t first)
    : options_(options) {
    auto const& hosts = to.hosts();
    for (std::size_t index = 0; index < hosts.size(); ++index) {
        // A host that does not answer leaves time for the hosts after it.
        auto const now = std::chrono::steady_clock::now();
        auto const share = (until - now) / static_cast<int>(hosts.size() - index);
        server_.host = (first + index) % hosts.size();
        try {
            try_host(hosts[server_.host], now + share);
            made_at_ = settle::detail::next_session_moment();
            return;
        } catch (failure const&) {
            if (index + 1 == hosts.size()) throw;
        }
    }
}

SETTLE_FUNCTION void connection::try_host(address::keywords const& host, deadline until) {
    auto const addresses = each_address(host);
    for (std::size_t index = 0; index < addresses.size(); ++index) {
        auto const now = std::chrono::steady_clock::now();
        auto const share = (until - now) / static_cast<int>(addresses.size() - index);
        try {
            connect(addresses[index], now + share);
            prepare_session();
            return;
        } catch (failure const& caught) {
            lose();
            // A server that refuses the user is not asked again.
            bool const goes_on = caught.problem().code == condition::retryable;
            if (!goes_on || index + 1 == addresses.size()) throw;
        }
    }
}

SETTLE_FUNCTION connection::~connection() = default;

SETTLE_FUNCTION void connection::connect(address::keywords const& host, deadline until) {
    plain_messages const english;
    std::vector<char const*> names;
    std::vector<char const*> values;
    auto const add = [&](char const* name, char const* value) {
        names.push_back(name);
        values.push_back(value);
    };
    add("fallback_application_name", "settle");
    for (auto const& [name, value] : host) add(name.c_str(), value.c_str());
    add("client_encoding", "UTF8");
    add(nullptr, nullptr);
    handle_.reset(PQconnectStartParams(names.data(), values.data(), 0));
    if (!handle_) throw std::bad_alloc{};
    PQsetErrorVerbosity(native(), PQERRORS_VERBOSE);
    PQsetNoticeReceiver(native(), &take_notice, this);
    settle::detail::store_wait wait{until};
    auto state =
        PQstatus(native()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED) throw failure(problem_of_connect(native(), host));
        short const events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!settle::detail::wait_for_socket(PQsocket(native()), events, wait)) {
            throw failure(
                describe(not_connected, "it does not answer", "be reached at " + name_of(host)));
        }
        state = PQconnectPoll(native());
    }
    if (PQsetnonblocking(native(), 1) != 0 || PQenterPipelineMode(native()) != 1) lose();
}

SETTLE_FUNCTION bool connection::alive() noexcept {
    while (good()) {
        pollfd waits{PQsocket(native()), POLLIN, 0};
        if (::poll(&waits, 1, 0) == 0) return true;
        // An unsolicited message is a notice, or the end of the session.
        if (PQconsumeInput(native()) == 0) break;
        static_cast<void>(PQisBusy(native()));
    }
    if (handle_ != nullptr && PQisBusy(native()) == 0) {
        // If the queue holds a message, the server sends its end as the result of that message.
        rows const last{PQgetResult(native())};
        take_notice(this, last.native());
    }
    lose();
    return false;
}

SETTLE_FUNCTION void connection::lose() noexcept {
    handle_.reset();
    queue_.clear();
    open_ = begins_ = is_sent_ = false;
}

SETTLE_FUNCTION error connection::problem_of_loss(char const* phase) const {
    return describe(loss_.code, loss_.text, phase);
}

[[nodiscard]] SETTLE_FUNCTION std::string_view field_of(PGresult const* from, int which) noexcept {
    char const* const text = PQresultErrorField(from, which);
    return text == nullptr ? "" : text;
}

SETTLE_FUNCTION void connection::take_notice(void* self, PGresult const* notice) noexcept {
    auto& this_connection = *static_cast<connection*>(self);
    // The COMMIT is answered, but without the wait for the standby.
    if (field_of(notice, PG_DIAG_SOURCE_FUNCTION) == "SyncRepWaitForLSN") {
        this_connection.not_replicated_ = true;
    }
    auto const severity = field_of(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    auto const state = field_of(notice, PG_DIAG_SQLSTATE);
    bool const ends = severity == "FATAL" || (severity == "WARNING" && state.starts_with("57P"));
    if (!ends) return;
    try {
        this_connection.loss_ = {number_of(state),
                                 std::string{field_of(notice, PG_DIAG_MESSAGE_PRIMARY)}};
    } catch (std::bad_alloc const&) {
        // The loss of the connection is reported without its reason.
    }
}

SETTLE_FUNCTION void connection::prepare_queue() {
    if (queue_.empty()) results_.clear();
    if (std::exchange(begins_, false)) queue_prepared("BEGIN", message::begin, "begin");
}

SETTLE_FUNCTION void connection::queue(int sent, message kind, char const* phase,
                                       std::size_t number) {
    if (sent != 1) {
        if (handle_ != nullptr) loss_.text = PQerrorMessage(native());
        lose();
        throw failure(problem_of_loss(phase));
    }
    queue_.push_back({kind, number, phase});
}

SETTLE_FUNCTION void connection::queue_sql(char const* sql, message kind, char const* phase) {
    queue(PQsendQueryParams(native(), sql, 0, nullptr, nullptr, nullptr, nullptr, 1), kind, phase);
}

SETTLE_FUNCTION void connection::queue_prepared(char const* sql, message kind, char const* phase) {
    queue(PQsendQueryPrepared(native(), sql, 0, nullptr, nullptr, nullptr, 1), kind, phase);
}

SETTLE_FUNCTION std::size_t connection::send(statement const& statement, parameters const& values) {
    if (statement.of_one_row != nullptr && values.wave_size() == 1) {
        return send(*statement.of_one_row, values.of_one_row());
    }
    prepare_queue();
    auto const name = "s" + std::to_string(statement.number);
    if (prepared_.size() <= statement.number) prepared_.resize(statement.number + 1);
    if (!prepared_[statement.number]) {
        queue(PQsendPrepare(native(), name.c_str(), statement.sql.c_str(),
                            static_cast<int>(statement.types.size()), statement.types.data()),
              message::preparation, statement.phase, statement.number);
        prepared_[statement.number] = true;
    }
    static constexpr auto binary = [] {
        std::array<int, parameters::most> all{};
        all.fill(1);
        return all;
    }();
    auto const all = values.values();
    queue(PQsendQueryPrepared(native(), name.c_str(), values.count(), all.data(), values.lengths(),
                              binary.data(), 1),
          message::statement, statement.phase);
    return sent_++;
}

SETTLE_FUNCTION std::size_t connection::send_sql(std::string const& sql, char const* phase) {
    prepare_queue();
    queue_sql(sql.c_str(), message::statement, phase);
    return sent_++;
}

SETTLE_FUNCTION std::size_t connection::send_texts(std::string const& sql,
                                                   std::span<sql_value const> values,
                                                   char const* phase) {
    prepare_queue();
    std::vector<std::string> texts(values.size());
    std::vector<char const*> native(values.size());
    for (std::size_t index = 0; index < values.size(); ++index) {
        auto const& value = values[index].get();
        if (std::holds_alternative<std::nullptr_t>(value)) continue;
        if (auto const* const integer = std::get_if<std::int64_t>(&value)) {
            texts[index] = std::to_string(*integer);
        } else if (auto const* const real = std::get_if<double>(&value)) {
            std::array<char, 32> digits{};
            auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), *real);
            texts[index].assign(digits.data(), end.ptr);
        } else {
            texts[index] = std::get<std::string_view>(value);
            if (texts[index].find('\0') != texts[index].npos) {
                raise(errc::bad_text, "settle: a parameter has a NUL byte, which PostgreSQL cannot "
                                      "hold in a text. Remove it, or write it as bytea");
            }
        }
        native[index] = texts[index].c_str();
    }
    queue(PQsendQueryParams(this->native(), sql.c_str(), static_cast<int>(native.size()), nullptr,
                            native.data(), nullptr, nullptr, 0),
          message::statement, phase);
    return sent_++;
}

SETTLE_FUNCTION void connection::sync() {
    if (queue_.empty()) return;
    auto const* const phase = queue_.front().phase;
    auto const ended = run_queue();
    if (ended.at != none) raise_failure(ended, phase);
}

SETTLE_FUNCTION void connection::start_commit() {
    if (std::exchange(begins_, false)) {
        // Nothing was sent since begin().
        open_ = false;
        return;
    }
    start_end(&connection::queue_prepared, "COMMIT", "commit");
}

SETTLE_FUNCTION void connection::finish_commit() {
    if (open_) finish_end("commit");
}

SETTLE_FUNCTION void connection::prepare(std::string const& name) {
    auto const sql = "PREPARE TRANSACTION " + quoted_text(name);
    // What a work has set would outlast its native transaction, choose the role that may end it,
    // and change the meaning of the quotes in its name.
    bool const renews = ran_work_;
    auto const number = renews ? send_renewal() : 0;
    finish(&connection::queue_sql, sql.c_str(), "prepare a native transaction");
    if (!renews) return;
    ran_work_ = false;
    if (!has_statements(number)) lose();
}

SETTLE_FUNCTION void connection::end_prepared(std::string const& verb, std::string const& name,
                                              char const* phase) {
    finish(&connection::queue_sql, (verb + quoted_text(name)).c_str(), phase);
}

SETTLE_FUNCTION void connection::start_end(decltype(&connection::queue_sql) queues, char const* sql,
                                           char const* phase) {
    // A loss that shows before the last message is sent has a certain end.
    if (!alive()) throw failure(problem_of_loss(phase));
    not_replicated_ = false;
    (this->*queues)(sql, message::end, phase);
    start_queue();
}

SETTLE_FUNCTION void connection::finish_end(char const* phase) {
    auto const last = queue_.size() - 1;
    auto const ended = run_queue();
    // The server answers in order: after an error of its own, it did not run the last message.
    bool const answered = ended.at > last;
    if (!answered && (!ended.lost || (ended.at < last && ended.problem)))
        raise_failure(ended, phase);
    open_ = false;
    if (answered && !not_replicated_) return;
    throw failure(describe(commit_unknown,
                           not_replicated_ ? "the wait for the standby was canceled" : loss_.text,
                           "say whether this took effect: " + std::string{phase}));
}

SETTLE_FUNCTION void connection::rollback() noexcept {
    if (!std::exchange(open_, false) || std::exchange(begins_, false)) return;
    try {
        if (good() && !queue_.empty()) static_cast<void>(run_queue());
        if (good()) {
            // The server has ended a native transaction whose COMMIT failed.
            if (PQtransactionStatus(native()) == PQTRANS_IDLE) return;
            queue_sql("ROLLBACK", message::statement, "roll back");
            if (run_queue().at == none) return;
        }
    } catch (std::exception const&) {
        // The end of the connection undoes the native transaction.
    }
    lose();
}

SETTLE_FUNCTION connection::queue_failure connection::run_queue() {
    queue_failure ended;
    ++round_trips_;
    auto const statements = std::exchange(queue_, {});
    results_.clear();
    sent_ = 0;
    auto const lost_at = [&](std::size_t index) {
        ended.lost = true;
        ended.at = std::min(ended.at, index);
        if (loss_.text.empty()) loss_.text = PQerrorMessage(native());
        lose();
        return ended;
    };
    if (!is_sent_) start_queue();
    if (!std::exchange(is_sent_, false)) return lost_at(0);
    for (std::size_t position = 0; position < statements.size(); ++position) {
        rows answer;
        rows end;
        if (!next_result(answer)) return lost_at(position);
        take_result(statements[position], position, std::move(answer), ended);
        if (ended.lost) return lost_at(position);
        if (!next_result(end)) return lost_at(position + 1);
    }
    rows synced;
    if (!next_result(synced)) return lost_at(statements.size());
    return ended;
}

SETTLE_FUNCTION bool connection::next_result(rows& into) {
    settle::detail::store_wait wait{settle::detail::deadline_after(options_.answer_timeout)};
    while (PQisBusy(native()) == 1) {
        if (PQstatus(native()) == CONNECTION_BAD) return false;
        bool const writes = PQflush(native()) == 1;
        short const events = writes ? POLLIN | POLLOUT : POLLIN;
        if (!settle::detail::wait_for_socket(PQsocket(native()), events, wait)) {
            auto const limit = wait.limit();
            loss_.text = limit.empty() ? "no answer came in time (database_options::answer_timeout)"
                                       : "no answer came before " + std::string{limit};
            return false;
        }
        // A failure shows in the status, after the results that came before it.
        static_cast<void>(PQconsumeInput(native()));
    }
    into = rows{PQgetResult(native())};
    return true;
}

SETTLE_FUNCTION void connection::take_result(queued const& sent, std::size_t index, rows rows,
                                             queue_failure& into) {
    auto const status = PQresultStatus(rows.native());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        // PREPARE TRANSACTION has this tag too, if a statement before it failed.
        bool const is_other =
            sent.kind == message::end && std::string_view{PQcmdStatus(rows.native())} == "ROLLBACK";
        if (is_other) {
            into.at = index;
            into.problem = describe(failed_transaction, "a statement before it failed", sent.phase);
        }
        if (sent.kind == message::statement) results_.push_back(std::move(rows));
        return;
    }
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
        into.at = index;
        into.lost = true;
        into.problem = describe(feature_not_supported,
                                "COPY with STDIN or STDOUT is not possible here; use INSERT or "
                                "SELECT",
                                sent.phase);
        return;
    }
    if (status == PGRES_EMPTY_QUERY) {
        into.at = std::min(into.at, index);
        into.problem = describe(feature_not_supported, "the statement is empty", sent.phase);
        return;
    }
    if (sent.kind == message::preparation) prepared_[sent.number] = false;
    if (status == PGRES_PIPELINE_ABORTED || into.at != none) return;
    into.at = index;
    auto const field = [&](int which) { return std::string{field_of(rows.native(), which)}; };
    auto const state = field(PG_DIAG_SQLSTATE);
    auto text = field(PG_DIAG_MESSAGE_PRIMARY);
    if (state.empty()) {
        // The error is of libpq: the results that follow cannot be trusted.
        into.lost = true;
        loss_.text = PQresultErrorMessage(rows.native());
        return;
    }
    if (state.starts_with("23")) text += ": " + field(PG_DIAG_MESSAGE_DETAIL);
    if (field(PG_DIAG_SEVERITY_NONLOCALIZED) == "FATAL") loss_ = {number_of(state), text};
    int code = number_of(state);
    name_raised(code, text, field(PG_DIAG_SOURCE_FUNCTION));
    into.problem = describe(code, text, sent.phase);
    into.names = {field(PG_DIAG_CONSTRAINT_NAME), field(PG_DIAG_SCHEMA_NAME),
                  field(PG_DIAG_TABLE_NAME), field(PG_DIAG_COLUMN_NAME)};
}

SETTLE_FUNCTION void connection::raise_failure(queue_failure const& caught,
                                               char const* phase) const {
    if (caught.problem) throw statement_failure(caught.problem, caught.names);
    throw failure(problem_of_loss(phase));
}

} // namespace postgresql::detail
SETTLE_END
