// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that service_session.hpp declares.
#pragma once

#include <settle/kinds/services/service_session.hpp>
#include <settle/protocol/call_rule.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// At most 380 bytes of a text that comes from outside, in one line of UTF-8.
[[nodiscard]] inline std::string in_one_line(std::string_view text) {
    constexpr std::size_t most = 380;
    std::string line{text.substr(0, most)};
    // A NUL would end the text.
    for (char& each : line) {
        if (static_cast<unsigned char>(each) < ' ') each = ' ';
    }
    line.resize(utf8_prefix(line));
    return line.size() < text.size() ? line + "..." : line;
}

/// The calls of one wave.
class call_wave {
public:
    call_wave(std::string const& log, std::span<part_request const> requests,
              std::span<part_result> results, send_function send)
        : log_(log), requests_(requests), results_(results), send_(send) {}

    void execute() {
        if (requests_.empty()) return;
        std::fill(results_.begin(), results_.end(), part_result{});
        switch (requests_.front().action) {
        case step::apply: return apply();
        case step::confirm: return confirm();
        case step::compensate: return compensate();
        // No worker backs off after a call, so only parts that make no call have this action.
        default:
            for (part_result& one : results_) one.what = answer::applied;
        }
    }

private:
    struct prepared {
        std::size_t part;
        std::string key;
        std::string request;
    };

    void apply() {
        calls_.reserve(requests_.size());
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (functions(part).applies) prepare(part, call_operation::apply);
            else results_[part].what = answer::applied;
        }
        send(call_operation::apply);
        for (std::size_t at = 0; at < calls_.size(); ++at)
            take_apply(calls_[at].part, answers_[at]);
        close_refused();
    }

    void confirm() {
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (functions(part).confirms) prepare(part, call_operation::confirm);
            else results_[part].what = answer::applied;
        }
        send(call_operation::confirm);
        take_ends(call_operation::confirm);
    }

    void compensate() {
        apply_before_undo();
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (results_[part].what != answer::none) continue;
            if (functions(part).compensates) prepare(part, call_operation::compensate);
            else results_[part].what = answer::applied;
        }
        send(call_operation::compensate);
        take_ends(call_operation::compensate);
    }

    /// A part without a kept result is applied again until its answer is known. A part that is
    /// refused for good needs no compensation.
    void apply_before_undo() {
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            call_functions const& part_functions = functions(part);
            bool const is_answered = !kept_result_of(requests_[part], requests_[part].part).empty();
            bool const applies = part_functions.compensates &&
                                 applies_before_undo(part_functions.grade, is_answered);
            if (applies) prepare(part, call_operation::apply);
        }
        send(call_operation::apply);
        for (std::size_t index = 0; index < calls_.size(); ++index) {
            std::size_t const part = calls_[index].part;
            if (answers_[index].status == call_status::refused)
                results_[part].what = answer::applied;
            else if (answers_[index].status == call_status::ok) note_result(part, answers_[index]);
            else take_end(part, call_operation::apply, answers_[index]);
        }
        clear();
    }

    /// The entry has no place for this result. A result that cannot be read counts as unknown.
    void note_result(std::size_t part, service_answer const& reply) {
        auto* const read_result = functions(part).read_result;
        std::string kept;
        if (read_result == nullptr || !read_result(reply.text, kept).empty()) return;
        results_before_undo_.resize(requests_.size());
        results_before_undo_[part] = std::move(kept);
    }

    /// The result of a part's apply as JSON; empty if it is not known.
    [[nodiscard]] std::string_view known_result_of(std::size_t part) const {
        auto const kept = kept_result_of(requests_[part], requests_[part].part);
        if (!kept.empty() || results_before_undo_.empty()) return kept;
        return results_before_undo_[part];
    }

    /// A call that cannot be closed may have been applied.
    void close_refused() {
        clear();
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            call_functions const& part_functions = functions(part);
            bool const is_pivot = part_functions.has_effect && !part_functions.compensates;
            bool const is_refused = results_[part].what == answer::refused;
            if (is_pivot && is_refused && closes_after_refusal(part_functions.grade))
                prepare(part, call_operation::apply);
        }
        send(call_operation::compensate);
        for (std::size_t index = 0; index < calls_.size(); ++index) {
            if (answers_[index].status == call_status::ok) continue;
            part_result& result = results_[calls_[index].part];
            result.fail(answer::unknown, result.problem);
            result.problem.code = make_error_code(errc::call_unknown);
        }
    }

    /// Adds the call of a part. A part without a request gets its result instead.
    /// Shape:   operation - the operation whose request is sent
    void prepare(std::size_t part, call_operation operation) {
        part_request const& request = requests_[part];
        auto request_made = functions(part).make_request(request, operation);
        if (!request_made.problem.empty()) {
            results_[part].fail(answer::unavailable, request_made.problem);
        } else if (request_made.overflow) {
            // Only the arguments of an apply can have sums of results. If a compensation repeats
            // such a request, the apply was never sent.
            results_[part].what =
                request.action == step::apply ? answer::overflow : answer::applied;
        } else {
            calls_.push_back({part, call_key(log_, request), std::move(request_made.json)});
        }
    }

    void send(call_operation operation) {
        answers_.assign(calls_.size(), {});
        if (calls_.empty()) return;
        std::vector<service_call> calls;
        calls.reserve(calls_.size());
        for (prepared const& prepared_call : calls_) {
            part_request const& request = requests_[prepared_call.part];
            call_functions const& part_functions = functions(prepared_call.part);
            bool const ends = operation != call_operation::apply;
            calls.push_back(
                {request.descriptor->name, operation_of(part_functions, operation),
                 prepared_call.key, *request.id, part_functions.participant,
                 part_functions.is_range ? std::optional{request.part.line} : std::nullopt,
                 request.epoch_number, request.last_moment, prepared_call.request,
                 ends ? known_result_of(prepared_call.part) : std::string_view{},
                 part_functions.applies, request.may_be_under_way,
                 part_functions.read_result != nullptr});
        }
        try {
            auto const* const limits = requests_.front().limits;
            send_(calls, answers_, limits == nullptr ? wait_limits{} : *limits);
        } catch (std::exception const& thrown) {
            note_thrown(thrown.what());
        } catch (...) {
            note_thrown("an exception");
        }
    }

    /// Answers that the client set before it threw keep their status.
    void note_thrown(std::string_view why) {
        for (service_answer& one : answers_) {
            if (one.status == call_status::unknown && one.text.empty()) one.text = why;
        }
    }

    void take_apply(std::size_t part, service_answer const& reply) {
        part_result& result = results_[part];
        auto* const read_result = functions(part).read_result;
        switch (reply.status) {
        case call_status::ok:
            result.what = answer::applied;
            if (read_result != nullptr) keep(part, reply);
            break;
        case call_status::refused:
            result.fail(answer::refused, problem(part, call_operation::apply, errc::call_refused,
                                                 "refused", reply.text));
            break;
        default: take_end(part, call_operation::apply, reply);
        }
    }

    /// The call took effect, so a result that cannot be read is no failure of it.
    void keep(std::size_t part, service_answer const& reply) {
        part_result& result = results_[part];
        std::string kept;
        auto const fault = functions(part).read_result(reply.text, kept);
        if (fault.empty()) {
            result.kept = std::make_shared<std::string const>(std::move(kept));
        } else {
            result.fail(answer::unknown, problem(part, call_operation::apply, errc::call_unknown,
                                                 "gave a result of another form to", fault.text));
        }
    }

    void take_ends(call_operation operation) {
        for (std::size_t at = 0; at < calls_.size(); ++at) {
            take_end(calls_[at].part, operation, answers_[at]);
        }
    }

    /// An end is repeated until it is `ok`: it cannot be refused.
    void take_end(std::size_t part, call_operation operation, service_answer const& reply) {
        part_result& result = results_[part];
        switch (reply.status) {
        case call_status::ok: result.what = answer::applied; break;
        case call_status::refused:
            result.fail(answer::unavailable, problem(part, operation, errc::call_unavailable,
                                                     "must not refuse", reply.text));
            break;
        case call_status::unavailable:
            result.fail(answer::unavailable,
                        problem(part, operation, errc::call_unavailable,
                                reply.not_sent ? "was not asked for" : "is not available for",
                                reply.text));
            break;
        default:
            result.fail(answer::unknown, problem(part, operation, errc::call_unknown,
                                                 "gave no answer to", reply.text));
        }
        result.for_person = reply.for_person && reply.status != call_status::ok;
        result.not_sent = reply.not_sent && reply.status == call_status::unavailable;
        if (!reply.retry_after || reply.status == call_status::ok) return;
        // At most a day: the caller's own limits end a longer wait before.
        constexpr std::int64_t day = 86'400'000;
        result.retry_after_ms = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(reply.retry_after->count(), 0, day));
    }

    /// The apply of a part without effect is a query.
    [[nodiscard]] static call_operation operation_of(call_functions const& part_functions,
                                                     call_operation moment) {
        bool const asks = moment == call_operation::apply && !part_functions.has_effect;
        return asks ? call_operation::query : moment;
    }

    [[nodiscard]] error problem(std::size_t part, call_operation operation, errc code,
                                std::string_view what, std::string_view why) const {
        std::string text = "settle: the service '";
        text.append(requests_[part].descriptor->name).append("' ").append(what).append(" the ");
        call_functions const& part_functions = functions(part);
        text.append(name_of(operation_of(part_functions, operation)))
            .append(" of '")
            .append(part_functions.participant);
        text.append(why.empty() ? "'" : "': ").append(in_one_line(why));
        return {make_error_code(code), text.append(". See errors#errors")};
    }

    [[nodiscard]] call_functions const& functions(std::size_t part) const {
        return call_part(requests_[part]);
    }

    void clear() {
        calls_.clear();
        answers_.clear();
    }

    std::string const& log_;
    std::span<part_request const> requests_;
    std::span<part_result> results_;
    send_function send_;
    std::vector<prepared> calls_;
    std::vector<service_answer> answers_; ///< of calls_
    /// By part: the results of applies that were repeated before their compensation. May be empty.
    std::vector<std::string> results_before_undo_;
};

SETTLE_FUNCTION void execute_calls(std::string const& log, std::span<part_request const> requests,
                                   std::span<part_result> results, send_function send) {
    call_wave{log, requests, results, send}.execute();
}

} // namespace detail

SETTLE_FUNCTION std::string call_key(std::string_view log, part_request const& request) {
    call_functions const& part_functions = detail::call_part(request);
    auto const name =
        name_of_call(*request.id, part_functions.participant,
                     part_functions.is_range ? std::optional{request.part.line} : std::nullopt);
    std::string key;
    constexpr std::size_t line_and_slashes = 16;
    key.reserve(log.size() + name.transaction.size() + name.participant.size() + line_and_slashes);
    key.append(log).append("/").append(name.transaction).append("/").append(name.participant);
    if (name.line) key.append("/").append(std::to_string(*name.line));
    return key;
}

SETTLE_END
