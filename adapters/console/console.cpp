// SPDX-License-Identifier: BSL-1.0
#include <settle/console.hpp>

#include "bulk.hpp"
#include "http_server.hpp"
#include "openapi.hpp"
#include "page.hpp"

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace {

constexpr std::size_t shortest_token = 16;

[[nodiscard]] failure bad_option(std::string const& text) {
    return failure(
        {make_error_code(errc::bad_option), "settle: " + text + ". See console#options"});
}

/// Errors:  throws errc::bad_option
void check_token(std::string_view name, std::string_view token) {
    if (token.empty()) return;
    bool const is_visible = std::all_of(token.begin(), token.end(),
                                        [](char each) { return each > ' ' && each < '\x7f'; });
    if (token.size() >= shortest_token && is_visible) return;
    throw bad_option("console_options::" + std::string{name} +
                     " is not usable. Give a token of at least 16 bytes of visible ASCII, for "
                     "example of 'openssl rand -hex 16'");
}

/// Errors:  throws errc::bad_option
[[nodiscard]] console_options checked(console_options options) {
    check_token("operator_token", options.operator_token);
    check_token("viewer_token", options.viewer_token);
    bool const has_token = !options.operator_token.empty() || !options.viewer_token.empty();
    if (!has_token && !is_loopback(options.address)) {
        throw bad_option("a console on " + options.address +
                         " needs a token, since other machines reach it. Give "
                         "console_options::operator_token at least 16 bytes, or listen on "
                         "127.0.0.1");
    }
    if (has_token && options.operator_token == options.viewer_token)
        throw bad_option("operator_token and viewer_token are equal. Give each its own");
    auto const& base = options.base_path;
    bool const is_path = std::all_of(base.begin(), base.end(), [](char each) {
        return percent_encoded({&each, 1}).size() == 1 || each == '/';
    });
    if (!base.empty() && (!is_path || base.front() != '/' || base.back() == '/'))
        throw bad_option("console_options::base_path '" + base +
                         "' is not usable. Give it as '/settle', of letters, digits and -._~/");
    if (options.client_limit.count() <= 0 || options.store_limit.count() <= 0)
        throw bad_option("client_limit and store_limit must be more than 0");
    return options;
}

/// The host of a header Host or Origin, without scheme and port.
[[nodiscard]] std::string_view host_of(std::string_view text) {
    auto const scheme = text.find("://");
    if (scheme != text.npos) text.remove_prefix(scheme + 3);
    if (text.starts_with('[')) return text.substr(0, text.find(']') + 1);
    return text.substr(0, text.find(':'));
}

[[nodiscard]] bool is_local_host(std::string_view host) {
    auto const name = host_of(host);
    bool const is_address = name.find_first_not_of("0123456789.") == name.npos;
    return name == "localhost" || name == "[::1]" || (is_address && name.starts_with("127."));
}

/// The methods that an address knows, as a header Allow names them.
[[nodiscard]] std::string_view methods_of(std::string_view path) {
    bool const is_stop = path.starts_with("/actions/") && path.ends_with("/stop");
    bool const is_pause = path == "/calls/pause" || path == "/calls/resume";
    if (is_stop || is_pause || path == "/sweep") return "POST";
    bool const is_action = path.starts_with("/entries/") &&
                           operator_action_from(path.substr(path.rfind('/') + 1)).has_value();
    return is_action ? "GET, HEAD, POST" : "GET, HEAD";
}

[[nodiscard]] console_answer answer_of(console_form form, unsigned status,
                                       console_json const& data) {
    // A page asks for JSON by itself.
    if (form == console_form::text) return {status, "text/plain; charset=utf-8", plain_text(data)};
    return {status, "application/json", json_text(data) + '\n'};
}

/// Appends the decoded parts of a path; false if one cannot be decoded.
/// Shape:   rest - after the first '/'
[[nodiscard]] bool read_parts(std::string_view rest, std::vector<std::string>& parts) {
    while (!rest.empty()) {
        auto const part = rest.substr(0, rest.find('/'));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        auto decoded = percent_decoded(part, false);
        if (!decoded) return false;
        parts.push_back(*std::move(decoded));
    }
    return true;
}

} // namespace

class console_server final : public console_handler {
public:
    console_server(std::unique_ptr<served_engine> engine, console_options options)
        : engine_(std::move(engine)), options_(checked(std::move(options))),
          figures_(figures() != nullptr ? *figures() : metrics{}), waiting_(*engine_, figures_),
          views_(*engine_, options_.store_limit, figures(), figures_),
          journal_(engine_->ports().log, options_.store_limit),
          bulk_(*engine_, journal_, options_.store_limit,
                [this](console_json const& row, transaction_id const& id,
                       std::string const& result) { tell(row, id, result); }),
          html_(html_below(options_.base_path)),
          server_(options_.address, options_.port, options_.name_header, {options_.client_limit},
                  *this) {}

    [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
    [[nodiscard]] std::string url() const {
        bool const is_ip6 = options_.address.find(':') != std::string::npos;
        return "http://" + (is_ip6 ? '[' + options_.address + ']' : options_.address) + ':' +
               std::to_string(port()) + options_.base_path + '/';
    }

    std::optional<console_answer> at_once(received_request const& request,
                                          console_question& question) override;
    console_answer ask(console_question const& question) override;
    std::chrono::milliseconds work() override {
        return std::min(views_.count_ended(), bulk_.work());
    }

private:
    [[nodiscard]] static std::string html_below(std::string const& base) {
        constexpr std::string_view mark = "{base}";
        std::string html{page_html()};
        for (auto at = html.find(mark); at != html.npos; at = html.find(mark, at))
            html.replace(at, mark.size(), base);
        return html;
    }
    [[nodiscard]] bool has_tokens() const {
        return !options_.operator_token.empty() || !options_.viewer_token.empty();
    }
    [[nodiscard]] console_role role_of(std::string_view authorization) const;
    [[nodiscard]] std::optional<console_answer> refuse_post(received_request const& request,
                                                            console_question const& question) const;
    [[nodiscard]] console_answer metrics_text() const;
    /// Of the options or of the engine's observer, or none.
    [[nodiscard]] metrics const* figures() const {
        return options_.figures ? &*options_.figures : engine_->figures();
    }
    [[nodiscard]] console_reply reply_to(console_question const& question);
    [[nodiscard]] console_reply act_for(console_question const& question);
    /// Keeps the row of an action in the log: who asks for it before it is taken, and its result.
    /// Shape:   take(row, note) - calls note() before it changes anything; the row may get more
    [[nodiscard]] console_reply
    take_kept(console_question const& question, std::string_view action, std::string const& target,
              function_view<console_reply(console_json&, note_function)> take);
    void tell(console_json const& row, std::string const& target, std::string const& result) const;

    std::unique_ptr<served_engine> engine_;
    console_options options_;
    metrics const figures_; ///< at least of what waits
    metrics_thread<served_engine> waiting_;
    console_views views_;
    action_journal journal_;
    bulk_actions bulk_;
    std::string html_;
    http_server server_; ///< ends first: its threads use all others
};

console_role console_server::role_of(std::string_view authorization) const {
    if (!has_tokens()) return console_role::acts;
    constexpr std::string_view scheme = "Bearer ";
    if (!authorization.starts_with(scheme)) return console_role::none;
    authorization.remove_prefix(scheme.size());
    if (is_token(authorization, options_.operator_token)) return console_role::acts;
    if (is_token(authorization, options_.viewer_token)) return console_role::viewer;
    return console_role::none;
}

std::optional<console_answer> console_server::refuse_post(received_request const& request,
                                                          console_question const& question) const {
    auto const refuse = [&](std::string const& sentence) {
        return answer_of(question.form, 403, problem_reply(403, sentence).data);
    };
    auto const scheme = request.origin.find("://");
    bool const is_own =
        request.origin.empty() ||
        (scheme != request.origin.npos && request.origin.substr(scheme + 3) == request.host);
    if (!is_own) {
        return refuse("settle: a page of another site has sent this request, so nothing was done. "
                      "Use the console's own page; a proxy must pass on the header Host. See "
                      "console#security");
    }
    if (request.custom != "1") {
        return refuse("settle: an action needs the header 'Settle-Console: 1', which no page of "
                      "another site can send. See console#actions");
    }
    if (question.role == console_role::acts) return std::nullopt;
    return refuse("settle: this token may look and not act. Give the operator's token. See "
                  "console#security");
}

console_answer console_server::metrics_text() const {
    return {200, "text/plain; version=0.0.4; charset=utf-8",
            figures() != nullptr ? figures_.text()
                                 : waiting_text_of(console_figures::of(figures_))};
}

std::optional<console_answer> console_server::at_once(received_request const& request,
                                                      console_question& question) {
    question.form = accepted_form(request.accept);
    question.is_post = request.is_post;
    auto const refuse = [&](unsigned status, std::string const& sentence) {
        return answer_of(question.form, status, problem_reply(status, sentence).data);
    };
    // A site whose name leads to this machine must not read a console that asks for no token.
    if (!has_tokens() && !is_local_host(request.host)) {
        return refuse(421, "settle: without a token the console answers to localhost alone. Give "
                           "console_options::operator_token. See console#security");
    }
    auto path = request.target.substr(0, request.target.find('?'));
    auto const query = request.target.substr(std::min(path.size() + 1, request.target.size()));
    bool const is_below = path.starts_with(options_.base_path);
    if (is_below) path.remove_prefix(options_.base_path.size());
    if (!is_below || !path.starts_with('/')) return refuse(404, "settle: there is no such page");
    auto const allow = methods_of(path);
    bool const is_refused = request.is_post ? path == "/metrics" : allow == "POST";
    if (request.is_other || is_refused) {
        auto refused = refuse(405, "settle: the console knows GET and HEAD, and POST for actions");
        refused.allow = allow;
        return refused;
    }
    if (path == "/console.js") {
        return console_answer{200, "text/javascript; charset=utf-8",
                              std::string{page_parts_script()}.append(page_script())};
    }
    // It says nothing of the log, so it needs no token.
    if (path == "/openapi.json") {
        return console_answer{200, "application/json",
                              json_text(openapi::description(options_.base_path, has_tokens()))};
    }
    if (path == "/console.css")
        return console_answer{200, "text/css; charset=utf-8", std::string{page_style()}};
    bool const is_encoded = read_parts(path.substr(1), question.path) &&
                            read_fields(query, question.fields) &&
                            (!request.is_post || read_fields(request.body, question.fields));
    if (!is_encoded) {
        return refuse(400, "settle: the address or the form cannot be read: percent-encode its "
                           "names and values as UTF-8, each name once. See console#use");
    }
    for (auto const* const flag : {"dry_run", "all"}) {
        auto const place = question.fields.find(flag);
        if (place == question.fields.end() || place->second == "1") continue;
        return refuse(400, "settle: nothing was done: '" + place->first +
                               "' is 1 or is left out. See console#actions");
    }
    auto const& front = question.path.empty() ? std::string{} : question.path.front();
    bool const is_view =
        question.path.empty() || front == "entries" || front == "actions" ||
        (request.is_post ? front == "calls" || front == "sweep" : front == "records");
    bool const is_page = !request.is_post && question.form == console_form::page;
    // The page holds nothing of the log, so it needs no token.
    if (is_view && is_page) return console_answer{200, "text/html; charset=utf-8", html_};
    question.role = role_of(request.authorization);
    if (question.role == console_role::none) {
        return refuse(401, "settle: this console needs a token. Send it as the header "
                           "'Authorization: Bearer TOKEN'. See console#security");
    }
    if (path == "/metrics") return metrics_text();
    if (!is_view) return refuse(404, "settle: there is no such page");
    if (request.is_post) {
        if (auto refused = refuse_post(request, question)) return refused;
    }
    question.person = request.person;
    return std::nullopt;
}

console_answer console_server::ask(console_question const& question) {
    console_reply reply;
    try {
        reply = reply_to(question);
    } catch (std::exception const& problem) {
        reply = problem_reply(500, problem.what());
    }
    return answer_of(question.form, reply.status, reply.data);
}

console_reply console_server::reply_to(console_question const& question) {
    auto const& path = question.path;
    if (question.is_post) return act_for(question);
    if (path.empty()) return {200, views_.overview(question.role)};
    if (path.front() == "actions") {
        if (path.size() > 2) return problem_reply(404, "settle: there is no such page");
        return path.size() == 1 ? journal_.list(question.fields) : journal_.show(path[1]);
    }
    // An id or a key may hold a '/', which a person may have left as it is.
    auto const rest = [&](std::size_t index) {
        std::string text = path[index];
        while (++index < path.size()) text.append("/").append(path[index]);
        return text;
    };
    if (path.front() == "records") {
        if (path.size() < 3) return problem_reply(404, "settle: there is no such page");
        return views_.record(path[1], rest(2));
    }
    if (path.size() == 1) return views_.list(question.fields);
    return views_.show(rest(1), question.role);
}

void console_server::tell(console_json const& row, std::string const& target,
                          std::string const& result) const {
    if (!options_.audit) return;
    options_.audit({engine_->now(), row.at("name").get<std::string>(),
                    row.at("action").get<std::string>(), target, result});
}

console_reply
console_server::take_kept(console_question const& question, std::string_view action,
                          std::string const& target,
                          function_view<console_reply(console_json&, note_function)> take) {
    auto const now = engine_->now();
    console_json row{{"when", utc(now)},
                     {"name", question.person.empty() ? "operator" : question.person},
                     {"action", action},
                     {"of", target},
                     {"state", "asked"}};
    if (auto const why = field(question.fields, "why"); !why.empty()) row["why"] = why;
    std::optional<kept_action> kept;
    bool is_noted = false;
    auto reply = take(row, [&]() -> error {
        is_noted = true;
        auto inserted = journal_.insert(now, row);
        if (!inserted.has_value()) return inserted.problem();
        kept = std::move(inserted).value();
        return {};
    });
    if (reply.data.contains("dry_run")) return reply;
    if (reply.status == 202) {
        reply.data["id"] = kept->id;
        reply.data["address"] = "actions/" + kept->id;
        bulk_.begin(*std::move(kept));
        return reply;
    }
    // What a sweep did before it failed is told, too.
    auto told = reply.data.value("text", "");
    if (auto const problem = reply.data.value("problem", ""); !problem.empty())
        told.append(told.empty() ? "" : ": ").append(problem);
    row["state"] = reply.status == 200 ? "done" : reply.status >= 500 ? "failed" : "refused";
    row["result"] = told;
    // After an insert that failed, nothing was done.
    if (!is_noted) {
        static_cast<void>(journal_.insert(now, row));
    } else if (kept) {
        kept->row = row;
        auto const replaced = journal_.replace(*kept);
        if (!replaced.has_value()) {
            reply.data["not_kept"] = "The log could not keep this result, and shows the action as "
                                     "asked for: " +
                                     replaced.problem().message();
        }
    }
    // An action on all is told entry by entry.
    if (!target.empty()) tell(row, target, told);
    return reply;
}

console_reply console_server::act_for(console_question const& question) {
    auto const& path = question.path;
    auto const& fields = question.fields;
    auto const limit = options_.store_limit * 5;
    std::string const front = path.empty() ? "" : path.front();
    std::string const last = path.empty() ? "" : path.back();
    auto const named = front == "entries" ? operator_action_from(last) : std::nullopt;
    if (named && path.size() == 3) {
        return take_kept(question, last, path[1], [&](console_json&, note_function note) {
            return act(*named, path[1], fields, *engine_, limit, note);
        });
    }
    if (named && path.size() == 2) {
        return take_kept(question, last, {}, [&](console_json& row, note_function note) {
            return bulk_.ask(*named, fields, row, note);
        });
    }
    if (front == "actions" && path.size() == 3 && last == "stop") {
        return take_kept(question, last, path[1], [&](console_json& row, note_function note) {
            if (auto const problem = check_fields(fields, {}); !problem.empty())
                return problem_reply(400, problem.message() + ". See console#actions-on-all");
            return bulk_.stop(path[1], row["name"].get<std::string>(), note);
        });
    }
    if (front == "calls" && path.size() == 2 && (last == "pause" || last == "resume")) {
        auto const target = field(fields, "scope") + " " + field(fields, "name");
        return take_kept(question, last, target, [&](console_json&, note_function note) {
            return change_pause(last == "pause", fields, *engine_, limit, note);
        });
    }
    if (front == "sweep" && path.size() == 1) {
        return take_kept(question, "sweep", "marks", [&](console_json&, note_function note) {
            return sweep(fields, *engine_, options_.store_limit, note);
        });
    }
    return problem_reply(404, "settle: there is no such action. There are POST entries/ID/recover, "
                              "cancel, reverse and resolve, with '/' in an id as %2F, "
                              "entries/recover, cancel, reverse and resolve, actions/ID/stop, "
                              "calls/pause, calls/resume and sweep. See console#actions");
}

} // namespace detail

console::console(std::unique_ptr<detail::served_engine> engine, console_options options)
    : server_(std::make_unique<detail::console_server>(std::move(engine), std::move(options))) {}

console::~console() {
    // A forked child does not have the threads, and joining them would take for ever.
    if (!made_in_.is_here()) static_cast<void>(server_.release());
}

std::uint16_t console::port() const noexcept { return server_->port(); }
std::string console::url() const { return server_->url(); }

SETTLE_END
