// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that service_session.hpp declares.
#pragma once

#include <settle/kinds/services/service_session.hpp>
#include <settle/protocol/call_rule.hpp>

#include <algorithm>
#include <utility>

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

/// The calls of one wave. After `while (next())` sends them each time, every result is set.
class call_wave {
public:
    /// Shape:   the requests have one action
    call_wave(std::string const& log, std::span<part_request const> requests,
              std::span<part_result> results)
        : log_(log), requests_(requests), results_(results) {
        std::fill(results_.begin(), results_.end(), part_result{});
    }

    /// Takes the answers of the last calls, if there were some, and prepares the next calls.
    /// Returns: false if there are none
    [[nodiscard]] bool next() {
        while (then_ != nullptr) {
            auto const taken = std::exchange(then_, nullptr);
            (this->*taken)();
            answers_.assign(calls_.size(), {});
            if (!calls_.empty()) return true;
        }
        return false;
    }
    /// The calls to make now.
    /// Shape:   valid until the next change of this object
    [[nodiscard]] std::vector<service_call> calls() const {
        std::vector<service_call> due_calls;
        due_calls.reserve(calls_.size());
        for (prepared const& prepared_call : calls_) due_calls.push_back(call_of(prepared_call));
        return due_calls;
    }
    /// Their answers.
    [[nodiscard]] std::span<service_answer> answers() { return answers_; }
    /// The requests and the results of the same parts have moved.
    void move_to(std::span<part_request const> requests, std::span<part_result> results) {
        requests_ = requests;
        results_ = results;
    }

private:
    struct prepared {
        std::size_t part;
        std::string key;
        std::string request;
    };

    void begin() {
        if (requests_.empty()) return;
        switch (requests_.front().action) {
        case step::apply: return apply();
        case step::confirm: return confirm();
        case step::compensate: return apply_before_undo();
        // No worker backs off after a call, so only parts that make no call have this action.
        default:
            for (part_result& one : results_) one.what = answer::applied;
        }
    }

    void apply() {
        calls_.reserve(requests_.size());
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (functions(part).applies) prepare(part, call_operation::apply);
            else results_[part].what = answer::applied;
        }
        send(call_operation::apply, &call_wave::take_applies);
    }
    void take_applies() {
        for (std::size_t at = 0; at < calls_.size(); ++at)
            take_apply(calls_[at].part, answers_[at]);
        close_refused();
    }

    void confirm() {
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (functions(part).confirms) prepare(part, call_operation::confirm);
            else results_[part].what = answer::applied;
        }
        send(call_operation::confirm, &call_wave::take_ends);
    }

    void compensate() {
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            if (results_[part].what != answer::none) continue;
            if (functions(part).compensates) prepare(part, call_operation::compensate);
            else results_[part].what = answer::applied;
        }
        send(call_operation::compensate, &call_wave::take_ends);
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
        send(call_operation::apply, &call_wave::take_applies_before_undo);
    }
    void take_applies_before_undo() {
        for (std::size_t index = 0; index < calls_.size(); ++index) {
            std::size_t const part = calls_[index].part;
            if (answers_[index].status == call_status::refused)
                results_[part].what = answer::applied;
            else if (answers_[index].status == call_status::ok) note_result(part, answers_[index]);
            else take_end(part, call_operation::apply, answers_[index]);
        }
        calls_.clear();
        compensate();
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
        calls_.clear();
        for (std::size_t part = 0; part < requests_.size(); ++part) {
            call_functions const& part_functions = functions(part);
            bool const is_pivot = part_functions.has_effect && !part_functions.compensates;
            bool const is_refused = results_[part].what == answer::refused;
            if (is_pivot && is_refused && closes_after_refusal(part_functions.grade))
                prepare(part, call_operation::apply);
        }
        send(call_operation::compensate, &call_wave::take_closes);
    }
    void take_closes() {
        for (std::size_t index = 0; index < calls_.size(); ++index) {
            if (answers_[index].status == call_status::ok) continue;
            part_result& result = results_[calls_[index].part];
            result.fail(answer::unknown, result.problem);
            result.problem.code = make_error_code(errc::call_unknown);
        }
        calls_.clear();
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

    /// Shape:   then - takes the answers
    void send(call_operation operation, void (call_wave::*then)()) {
        operation_ = operation;
        then_ = then;
    }
    [[nodiscard]] service_call call_of(prepared const& prepared_call) const {
        part_request const& request = requests_[prepared_call.part];
        call_functions const& part_functions = functions(prepared_call.part);
        bool const ends = operation_ != call_operation::apply;
        return {request.descriptor->name,
                operation_of(part_functions, operation_),
                prepared_call.key,
                *request.id,
                part_functions.participant,
                part_functions.is_range ? std::optional{request.part.line} : std::nullopt,
                request.epoch_number,
                request.last_moment,
                prepared_call.request,
                ends ? known_result_of(prepared_call.part) : std::string_view{},
                part_functions.applies,
                request.may_be_under_way,
                part_functions.read_result != nullptr,
                request.traceparent,
                request.call_tries};
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

    void take_ends() {
        for (std::size_t at = 0; at < calls_.size(); ++at) {
            take_end(calls_[at].part, operation_, answers_[at]);
        }
        calls_.clear();
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
        std::chrono::milliseconds const longest = settle::detail::longest_call_pause;
        result.retry_after_ms = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(reply.retry_after->count(), 0, longest.count()));
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

    std::string const& log_;
    std::span<part_request const> requests_;
    std::span<part_result> results_;
    call_operation operation_{};
    void (call_wave::*then_)() = &call_wave::begin; ///< the next thing to do, or null
    std::vector<prepared> calls_;
    std::vector<service_answer> answers_; ///< of calls_
    /// By part: the results of applies that were repeated before their compensation. May be empty.
    std::vector<std::string> results_before_undo_;
};

/// Answers that the client set before it threw keep their status.
inline void note_thrown(std::span<service_answer> answers, std::string_view why) {
    for (service_answer& one : answers) {
        if (one.status == call_status::unknown && one.text.empty()) one.text = why;
    }
}

SETTLE_FUNCTION void execute_calls(std::string const& log, std::span<part_request const> requests,
                                   std::span<part_result> results, send_function send) {
    call_wave wave{log, requests, results};
    while (wave.next()) {
        auto const* const limits = requests.front().limits;
        auto const calls = wave.calls();
        try {
            send(calls, wave.answers(), limits == nullptr ? wait_limits{} : *limits);
        } catch (std::exception const& thrown) {
            note_thrown(wave.answers(), thrown.what());
        } catch (...) {
            note_thrown(wave.answers(), "an exception");
        }
    }
}

/// The calls of one job.
class calls_of_job final : public parts_under_way {
public:
    calls_of_job(std::string const& log, std::span<part_request const> requests,
                 std::span<part_result> results, call_counter count)
        : wave_(log, requests, results), count_(std::move(count)) {}
    ~calls_of_job() override {
        for (auto const& call : calls_) call->give_up("the end of the engine's call");
    }

    [[nodiscard]] bool is_answered() const noexcept override {
        return std::all_of(calls_.begin(), calls_.end(),
                           [](auto const& call) { return call->is_answered(); });
    }
    bool go_on(std::span<part_request const> requests, std::span<part_result> results,
               started_parts& started) override {
        for (std::size_t index = 0; index < calls_.size(); ++index) {
            wave_.answers()[index] = calls_[index]->take_answer();
            count_(calls_[index]->call(), wave_.answers()[index]);
        }
        calls_.clear();
        wave_.move_to(requests, results);
        if (!wave_.next()) return false;
        for (service_call const& call : wave_.calls()) {
            calls_.push_back(std::make_shared<call_under_way>(call, started.signal));
            started.calls.push_back(calls_.back());
        }
        return true;
    }
    void give_up(std::string_view limit) override {
        for (auto const& call : calls_) call->give_up(limit);
    }

private:
    call_wave wave_;
    call_counter count_;
    std::vector<std::shared_ptr<call_under_way>> calls_;
};

SETTLE_FUNCTION std::unique_ptr<parts_under_way> begin_calls(std::string const& log,
                                                             std::span<part_request const> requests,
                                                             std::span<part_result> results,
                                                             call_counter count) {
    return std::make_unique<calls_of_job>(log, requests, results, std::move(count));
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
