// SPDX-License-Identifier: BSL-1.0
// Transactions that settle in one phase: their parts and entries in one native transaction, which
// the calls of several threads share.
//
// A unit of work holds the records of a native transaction. It has expect(part_request), which
// announces a request; execute(part_request), in the order of the announcements; and
// end_one_phase(part_request, confirmed), which pulls the mark of an applied part.
#pragma once

#include <settle/adapter/group.hpp>

#include <string_view>
#include <unordered_map>

SETTLE_BEGIN
namespace detail {

/// One call of one_phase(), a member of a group of calls.
struct one_phase_call : group_member {
    std::span<one_phase_request* const> requests;
    write_context const& at;
    one_phase_decider& decider;

    one_phase_call(std::span<one_phase_request* const> all, write_context const& context,
                   one_phase_decider& decides)
        : requests(all), at(context), decider(decides) {}

    /// Gives all requests the result of their native transaction.
    void set_all(commit_result const& ended) const {
        for (auto* const one : requests) set_result(one->result, ended);
    }
};

[[nodiscard]] inline std::vector<one_phase_request*>
pointers_to(std::span<one_phase_request> requests) {
    std::vector<one_phase_request*> all;
    all.reserve(requests.size());
    for (one_phase_request& one : requests) all.push_back(&one);
    return all;
}

/// Settles one request inside a native transaction: executes its parts, decides, writes the entry,
/// and confirms or undoes each applied part by the state of the entry.
/// Shape:   execute(part) - gives its result; write_entry() - writes the entry or schedules its
///          insert, and sets `request.result`; end(part, done) - pulls the mark
template <typename Execute, typename WriteEntry, typename End>
void settle_in_native(one_phase_request& request, one_phase_decider& decider, Execute&& execute,
                      WriteEntry&& write_entry, End&& end) {
    request.left_out = false;
    for (std::size_t at = 0; at < request.parts.size(); ++at) {
        request.results[at] = execute(request.parts[at]);
    }
    bool const writes_entry = decider.decide(request);
    request.result.reply = writes_entry ? log_answer::taken : log_answer::held_back;
    if (writes_entry) write_entry();
    bool const done = writes_entry && request.result.reply == log_answer::taken &&
                      request.write.change.to == state::done;
    for (std::size_t at = 0; at < request.parts.size(); ++at) {
        if (request.results[at].what == answer::applied) end(request.parts[at], done);
    }
}

/// The log's answer to the insert of a request's entry if the entry exists; else empty.
using insert_refusal = function_view<std::optional<log_answer>(one_phase_request const&)>;

/// For requests whose ids are not in the log: only two requests with one id conflict.
[[nodiscard]] inline insert_refusal const& no_id_exists() {
    static auto const none = [](one_phase_request const&) { return std::optional<log_answer>{}; };
    static insert_refusal const made{none};
    return made;
}

/// Leaves a request out of its native transaction, since its entry exists. The decider must see the
/// request all the same: later transactions of its window may depend on it.
inline void leave_out(one_phase_request& request, one_phase_decider& decider, log_answer reply) {
    request.left_out = true;
    static_cast<void>(decider.decide(request));
    request.result.reply = reply;
}

/// The ids of the requests that share a native transaction. They are checked only after an insert
/// has shown that an id exists, in the log or twice among them.
class ids_side_by_side {
public:
    /// Shape:   refusal - null if all ids count as new
    explicit ids_side_by_side(insert_refusal const* refusal) : refusal_(refusal) {}

    /// True if a request is left out, since its entry cannot be inserted. Called for all requests
    /// before the parts of any request are executed.
    [[nodiscard]] bool must_leave_out(one_phase_request& request) {
        if (refusal_ == nullptr || !request.inserts) return false;
        auto const refused = (*refusal_)(request);
        request.result.reply = refused.value_or(log_answer::unknown);
        return refused || first_.try_emplace(*request.id, &request).first->second != &request;
    }

    /// Leaves such a request out, in its turn; false for any other request.
    [[nodiscard]] bool leaves_out(one_phase_request& request, one_phase_decider& decider) const {
        if (refusal_ == nullptr || !request.inserts) return false;
        if (request.result.reply != log_answer::unknown) {
            leave_out(request, decider, request.result.reply);
            return true;
        }
        one_phase_request const& first = *first_.at(*request.id);
        if (&first == &request) return false;
        if (first.result.reply == log_answer::taken) {
            leave_out(request, decider, log_answer::ended);
            return true;
        }
        // The first request with this id was held back, so this request waits, too.
        for (part_result& one : request.results) one = {};
        leave_out(request, decider, log_answer::held_back);
        return true;
    }

private:
    insert_refusal const* refusal_;
    std::unordered_map<std::string_view, one_phase_request const*> first_; ///< of each new id
};

/// Settles the requests of calls inside a native transaction.
/// Shape:   fetch() - reads the records that the unit of work expects; execute(part) - gives its
///          result; change(request, write_context) - changes an existing entry, and sets the
///          result; refusal - null if all ids count as new
/// Returns: the requests whose entries are still to be inserted
template <typename UnitOfWork, typename Fetch, typename Execute, typename Change>
[[nodiscard]] std::vector<one_phase_request*>
settle_side_by_side(UnitOfWork& unit, std::span<one_phase_call* const> calls, Fetch&& fetch,
                    Execute&& execute, Change&& change, insert_refusal const* refusal = nullptr) {
    std::vector<one_phase_request*> fresh;
    ids_side_by_side ids{refusal};
    for (auto const* const call : calls) {
        for (auto* const one : call->requests) {
            // No answer of an earlier attempt, which took no effect, may stand for this one.
            for (part_result& result : one->results) result = {};
            if (ids.must_leave_out(*one)) continue;
            for (part_request const& part : one->parts) unit.expect(part);
        }
    }
    fetch();
    for (auto const* const call : calls) {
        for (auto* const one : call->requests) {
            if (ids.leaves_out(*one, call->decider)) continue;
            settle_in_native(
                *one, call->decider, execute,
                [&] {
                    if (!one->inserts) return change(*one, call->at);
                    fresh.push_back(one);
                },
                [&](part_request const& part, bool done) { unit.end_one_phase(part, done); });
        }
    }
    return fresh;
}

} // namespace detail
SETTLE_END
