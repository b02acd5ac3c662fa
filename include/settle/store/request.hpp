// SPDX-License-Identifier: BSL-1.0
// The types that drivers, stores and logs exchange: part requests, entry writes, and their answers.
#pragma once

#include <settle/base/error.hpp>
#include <settle/protocol/entry_rule.hpp>
#include <settle/store/descriptor.hpp>

#include <memory>
#include <span>
#include <vector>

SETTLE_BEGIN

struct wait_limits; // kinds/services/service.hpp

/// One part at one step, handed to a store.
/// Shape:   id, parameters, results, limits - outlive the call
struct part_request {
    part_descriptor const* descriptor;
    transaction_descriptor const* type;
    void const* parameters; ///< of the type
    transaction_id const* id;
    part_number part;
    step action; ///< apply, confirm, compensate, back_off or one_phase
    /// The epoch of the action. apply, one_phase: the new mark gets this epoch. confirm: the epoch
    /// of this worker's claim. compensate: marks up to this epoch are undone. back_off: marks of
    /// exactly this epoch are undone.
    epoch epoch_number;
    epoch committed = 0; ///< confirm: marks of exactly this epoch are confirmed
    /// The results in the entry, or null if its type has a single stage.
    std::vector<kept_result> const* results = nullptr;
    /// The creation plus the lifetime: a receiver refuses a first apply after this time.
    timestamp last_moment = timestamp::max();
    /// False if certainly no earlier try of this part is under way. Only a store of calls asks.
    bool may_be_under_way = true;
    /// confirm: the store need not wait for the disk, since a call of its force() follows.
    bool may_be_lost = false;
    /// How long the caller of the engine waits, or null. Only a store of calls looks at it.
    wait_limits const* limits = nullptr;
    // Only a store of calls looks at the trace context of the entry, and the tries of its stage.
    std::string_view traceparent{};
    std::uint32_t call_tries = 0;

    [[nodiscard]] part_key key() const { return descriptor->key(parameters, part.line); }
};

/// A store's answer to a part request.
struct part_result {
    answer what = answer::none;
    /// Data of an applied part for the entry, or null: for a record, its exclusive effect. See
    /// part_descriptor::make_image and make_result.
    std::shared_ptr<void const> kept{};
    error problem{};                  ///< why the part was not applied or ended
    std::uint32_t retry_after_ms = 0; ///< the pause that the store asks for before the next try
    bool for_person = false;          ///< only a person can change the answer
    bool not_sent = false;            ///< for a reason of this process; no try of the part
    epoch marked = 0; ///< of answer::other_call: the epoch of the mark that is there

    void fail(answer reply, error const& why) {
        what = reply;
        kept.reset();
        problem = why;
    }
};

namespace detail {

/// A copy that needs no other environment: a view of one copies what it sees.
template <typename Environment>
[[nodiscard]] Environment own_copy_of(Environment const& environment) {
    if constexpr (requires { environment.own_copy(); }) return environment.own_copy();
    else return environment;
}

} // namespace detail

/// The clock of an environment, which outlives the view.
struct clock_view {
    struct operations {
        timestamp (*now)(void const* environment);
        /// Copies the environment, for a test that performs a call later.
        std::shared_ptr<void const> (*copy)(void const* environment);
    };

    void const* of = nullptr;
    operations const* with = nullptr;

    template <typename Environment>
    [[nodiscard]] static clock_view on(Environment const& environment) noexcept {
        static constexpr operations table{
            [](void const* value) { return static_cast<Environment const*>(value)->now(); },
            [](void const* value) -> std::shared_ptr<void const> {
                return std::make_shared<Environment>(
                    detail::own_copy_of(*static_cast<Environment const*>(value)));
            }};
        return {&environment, &table};
    }
};

/// Values that a log writes into every entry of a call.
struct write_context {
    timestamp now;
    std::string const& owner;
    clock_view clock{}; ///< the engine's clock, for a log that looks at it inside a native write

    [[nodiscard]] timestamp time() const { return clock.with ? clock.with->now(clock.of) : now; }
};

/// One insert or compare-and-set of an entry, handed to a log.
/// Shape:   id, parameters, images, results, texts - outlive the call
struct entry_write {
    static constexpr std::size_t no_part = ~std::size_t{0};

    transaction_id const* id;
    transaction_descriptor const* type;
    void const* parameters; ///< of the type
    step action;            ///< insert, claim, keep, commit, close, cancel, pause, one_phase,
                            ///< decide or refuse; the same for all writes of one call
    bool inserts;           ///< the write inserts the entry; otherwise it changes the entry
    /// The compare-and-set. An insert uses `to`, `to_epoch`, `committed`, `why` and `stages_kept`
    /// alone; see also replaces_bar().
    transition change;
    timestamp created;
    std::size_t failed_part; ///< the part that `change.why` names, or no_part
    /// The images that the entry keeps from now on; null if this write stores none.
    std::vector<image> const* images;
    std::int64_t row; ///< as the log's last answer for this transaction gave it, or 0
    /// All results that the entry has from now on; null if this write stores none. Only a keep, a
    /// commit, and a cancel by which a person closes a pivot store results.
    std::vector<kept_result> const* results = nullptr;
    std::string_view why_text{}; ///< of `change.why`, bounded and UTF-8; empty if there is none
    /// Of a pause after calls that failed; 0 in any other write.
    std::uint32_t call_tries = 0;
    timestamp next_try{};           ///< the end of that pause
    std::string_view traceparent{}; ///< of an insert; empty if there is none
    /// An insert that keeps a stage or decides takes no effect after this time.
    timestamp last_moment = timestamp::max();

    /// True if the insert replaces an entry that has the state `from` and the epoch `from_epoch`: a
    /// bar. If the id has no entry, the log inserts one or answers `conflict`.
    [[nodiscard]] bool replaces_bar() const noexcept {
        return inserts && change.from == state::barred;
    }

    /// True if an insert takes no effect after its last moment. A log of a server has the server
    /// compare its clock: this process may stand still before its message is sent.
    [[nodiscard]] bool expires() const noexcept {
        bool const is_bound = has_last_moment(change) || change.to == state::done;
        return inserts && is_bound && last_moment != timestamp::max();
    }
    /// True if an insert must take no effect. The log calls this inside its native write, so that
    /// no purge can come between.
    [[nodiscard]] bool is_late(write_context const& context) const {
        return inserts && has_last_moment(change) && context.time() > last_moment;
    }
    /// The part that failed, as the entry names it.
    [[nodiscard]] part_name failed() const {
        if (change.why == reason::none || failed_part == no_part) return {};
        return type->name_part(parameters, failed_part);
    }
};

/// A log's answer to an entry write.
struct write_result {
    log_answer reply = log_answer::unknown;
    error problem{};      ///< why the write took no effect, or may have taken none
    std::int64_t row = 0; ///< the log's own number of the entry, for its next write; or 0
};

/// A read of one entry, handed to a log.
struct read_request {
    transaction_id const* id;
    transaction_descriptor const* type; ///< or null: nothing is compared
    void const* parameters;             ///< of the type
    std::int64_t* row;                  ///< as entry_write::row; the log may change it
    /// An insert of this id follows, and will find an entry that this read misses.
    bool inserts_next = false;
};

/// One transaction that a store settles in one native transaction.
struct one_phase_request {
    std::size_t index; ///< the driver's number of the transaction, in the order of the window
    transaction_id const* id;
    transaction_descriptor const* type;
    void const* parameters;
    bool inserts;                        ///< its entry is new; otherwise its entry is there
    std::span<part_request const> parts; ///< of the transaction in this store
    std::span<part_result> results;      ///< the store sets them before the decision
    /// Set by the store: its entry exists, so no part is executed and the decision has no effect.
    bool left_out = false;
    entry_write write{};   ///< set by the decision
    write_result result{}; ///< set by the store and the log
};

/// Decides, inside the native transaction, from the results of all parts of a request.
class one_phase_decider {
public:
    one_phase_decider() = default;
    one_phase_decider(one_phase_decider const&) = delete;
    one_phase_decider& operator=(one_phase_decider const&) = delete;
    virtual ~one_phase_decider() = default;

    /// Returns: true if the entry must be written as in `request.write`; false if the
    ///          native transaction must change nothing for this request
    virtual bool decide(one_phase_request& request) = 0;
    /// A decider over copies of the transactions, for a test that performs a call later. It owns
    /// everything that it uses.
    [[nodiscard]] virtual std::shared_ptr<one_phase_decider> copy() const = 0;
};

SETTLE_END
