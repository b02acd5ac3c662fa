// SPDX-License-Identifier: BSL-1.0
// What the executor of waves asks of a database: attempts of a wave, each in one native
// transaction. The executor (adapter/wave_executor.hpp) decides which attempts are made.
#pragma once

#include <settle/adapter/group.hpp>
#include <settle/adapter/native_wave.hpp>
#include <settle/base/function_view.hpp>

#include <memory>
#include <string>
#include <unordered_map>

SETTLE_BEGIN
namespace detail {

/// How an attempt of a wave ended. Only the first two may have an effect.
enum class attempt_end : std::uint8_t {
    committed,
    unknown,   ///< it took effect at most once, perhaps later
    must_read, ///< no conditional update has the effect of the wave
    unmatched, ///< a conditional update did not match its record
    id_exists, ///< a row exists that the wave inserts
    held,      ///< another native transaction holds a record or an entry
    refused,   ///< a record or its table refuses the change of a request
    unfit,     ///< one request is the cause, and no record is: a part of the wave may succeed
    failed     ///< for a cause that concerns the whole wave
};

struct attempt_result {
    attempt_end end = attempt_end::committed;
    error problem{};
    bool partly = false; ///< an unmatched attempt: updates of other records may have an effect

    [[nodiscard]] commit_result to_commit_result() const {
        auto const status = end == attempt_end::committed ? commit_status::committed
                            : end == attempt_end::unknown ? commit_status::unknown
                                                          : commit_status::undone;
        return {status, problem};
    }
    /// Whether one request made the attempt fail, so that the others may succeed without it.
    [[nodiscard]] bool is_of_one() const noexcept {
        return end == attempt_end::held || end == attempt_end::refused || end == attempt_end::unfit;
    }
    [[nodiscard]] bool must_be_read() const noexcept {
        return end == attempt_end::must_read || end == attempt_end::unmatched;
    }
};

/// How an attempt is to be made.
struct attempt_plan {
    std::size_t count = 1;    ///< the number of requests, or of calls that share the attempt
    bool first = true;        ///< no earlier attempt has failed at one of the requests
    bool names = false;       ///< the attempt finds out which part of its only request fails
    bool conditional = false; ///< records are changed under conditions, and not read
    int looks = 0;            ///< the number of looks for ids that exist
};

/// After so many looks, or repetitions, a row that exists refuses the request that inserts it.
inline constexpr int most_looks = 3;

/// One call of one_phase(), a member of a group of calls.
struct one_phase_call : group_member<attempt_result> {
    std::span<one_phase_request* const> requests;
    write_context const& context;
    one_phase_decider& decider;

    one_phase_call(std::span<one_phase_request* const> all, write_context const& call_context,
                   one_phase_decider& decides)
        : requests(all), context(call_context), decider(decides) {}
};

/// The records and entries of one attempt. The requests are announced, fetched together, executed
/// in the order of their announcements, and written together.
/// Errors:  every call may throw settle::failure, which undoes the attempt
class wave_attempt {
public:
    virtual void expect(part_request const& request) = 0;
    /// Announces the change of an entry.
    virtual void expect_change(one_phase_request const&) {}
    virtual void fetch() = 0;
    [[nodiscard]] virtual part_result execute(part_request const& request) = 0;
    /// Pulls the mark of an applied part of a one-phase transaction.
    virtual void end_one_phase(part_request const& request, bool confirmed) = 0;
    /// Changes an entry, and sets the result of its write.
    virtual void change(one_phase_request& request, write_context const& context) = 0;
    /// Inserts entries. False if one of the ids exists; a database may learn that later, too.
    [[nodiscard]] virtual bool insert(std::span<one_phase_request* const> requests,
                                      write_context const& context) = 0;
    virtual void write() = 0;
    /// Whether an attempt without reading cannot go on.
    [[nodiscard]] virtual bool must_read() const { return false; }

protected:
    ~wave_attempt() = default;
};

/// An attempt whose statements were sent to the server.
class sent_attempt {
public:
    sent_attempt() = default;
    sent_attempt(sent_attempt const&) = delete;
    sent_attempt& operator=(sent_attempt const&) = delete;
    virtual ~sent_attempt() = default;
    /// Waits for its end.
    [[nodiscard]] virtual attempt_result finish() = 0;
};

/// The log's answers to inserts whose ids exist.
using existing_ids = std::unordered_map<std::string, log_answer>;

class wave_port {
public:
    using action = function_view<attempt_end(wave_attempt&)>;

    /// Makes an attempt in one native transaction.
    /// Shape:   function(attempt) - gives `committed` to commit, and anything else to undo; may be
    ///          called again from the start after conflicts
    [[nodiscard]] virtual attempt_result perform(attempt_plan const& plan, action function) = 0;

    /// Begins a conditional attempt; null if that is not possible now. The caller does not wait.
    [[nodiscard]] virtual std::unique_ptr<sent_attempt> send(action) { return nullptr; }

    /// Whether conditional updates may have the effect of a wave.
    [[nodiscard]] virtual bool may_be_conditional(std::span<part_request const>) const {
        return false;
    }
    /// The same for one-phase transactions of some calls.
    [[nodiscard]] virtual bool may_be_conditional(std::span<one_phase_call* const>) const {
        return false;
    }

    /// Looks for entries with the ids of inserts.
    /// Shape:   looks - the number of this look: the first may miss an entry of another program
    [[nodiscard]] virtual result<existing_ids>
    look_for(std::vector<transaction_id const*> const& ids, int looks) = 0;

    // After an attempt that was `refused`. A database that answers for unusable records inside of
    // its attempts needs none of these.

    /// True if a part that is to be ended surely has no mark at its unusable record: then there is
    /// nothing to end.
    [[nodiscard]] virtual bool has_no_mark(part_request const&) { return false; }
    /// Sets the results of the parts whose records refused the attempt before.
    virtual void name_unusable(one_phase_request&, error const&) {}
    /// Inserts or changes an entry alone, and sets the result of its write.
    virtual void write_entry(one_phase_request&, write_context const&) {}

protected:
    ~wave_port() = default;
};

} // namespace detail
SETTLE_END
