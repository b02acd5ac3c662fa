// SPDX-License-Identifier: BSL-1.0
// A receiver of the grade `barrier` for tests: a row for each key. Its rows outlive the engines.
#pragma once

#include <settle/settle.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace service_test {

using settle::call_operation;
using settle::service_answer;
using settle::service_call;

class receiver {
public:
    struct row {
        enum class status { applied, confirmed, compensated, refused };
        status now = status::applied;
        std::string request; ///< of the apply
        std::string result;
    };

    std::map<std::string, row> rows{}; ///< by key
    std::vector<std::string> calls{};  ///< "apply flight", in the order of the calls
    std::vector<std::size_t> sends{};  ///< the number of calls of each send()
    /// The result of a first apply, or a refusal.
    std::function<service_answer(service_call const&)> decide = [](service_call const&) {
        return service_answer::ok("{}");
    };
    /// Called before each call; an answer replaces the call.
    std::function<std::optional<service_answer>(service_call const&)> before =
        [](service_call const&) { return std::nullopt; };
    /// Called after each call; true if its answer is lost.
    std::function<bool(service_call const&)> loses = [](service_call const&) { return false; };

    void send(std::span<service_call const> service_calls, std::span<service_answer> answers) {
        sends.push_back(service_calls.size());
        for (std::size_t index = 0; index < service_calls.size(); ++index) {
            auto const& call = service_calls[index];
            calls.push_back(std::string{name_of(call.operation)} + " " +
                            std::string{call.participant});
            auto const instead = before(call);
            auto made = instead ? *instead : answer(call);
            answers[index] = loses(call) ? service_answer{} : std::move(made);
        }
    }

    /// All calls as one text.
    [[nodiscard]] std::string called() const {
        std::string all;
        for (auto const& one : calls) all += (all.empty() ? "" : ", ") + one;
        return all;
    }

private:
    service_answer answer(service_call const& call) {
        using enum row::status;
        std::string const key{call.key};
        auto const kept_row = rows.find(key);
        if (call.operation == call_operation::query) return decide(call);
        if (call.operation == call_operation::apply) {
            if (kept_row != rows.end()) {
                bool const stands =
                    kept_row->second.now == applied || kept_row->second.now == confirmed;
                return stands ? service_answer::ok(kept_row->second.result)
                              : service_answer::refused(kept_row->second.result);
            }
            auto decided = decide(call);
            if (decided.status != settle::call_status::ok &&
                decided.status != settle::call_status::refused) {
                return decided;
            }
            bool const taken = decided.status == settle::call_status::ok;
            rows[key] = {taken ? applied : refused, std::string{call.request}, decided.text};
            return decided;
        }
        if (call.operation == call_operation::confirm) {
            if (kept_row == rows.end()) rows[key] = {confirmed, std::string{call.request}, {}};
            else kept_row->second.now = confirmed;
            return service_answer::ok();
        }
        // An empty compensation is noted: a later apply is refused.
        if (kept_row == rows.end()) rows[key] = {compensated, {}, "compensated before"};
        else if (kept_row->second.now == applied) kept_row->second.now = compensated;
        return service_answer::ok();
    }
};

} // namespace service_test
