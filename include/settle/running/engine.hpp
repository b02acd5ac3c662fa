// SPDX-License-Identifier: BSL-1.0
// The engine: runs, recovers, cancels and reverses transactions of the types it was built with.
#pragma once

// First, so that the message about an ignored outcome names few headers.
#include <settle/running/calls/outcome.hpp>

#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/access.hpp>
#include <settle/running/calls/batch.hpp>
#include <settle/running/calls/engine_calls.hpp>
#include <settle/running/calls/forecast.hpp>
#include <settle/running/calls/wrong_calls.hpp>
#include <settle/running/construction/refused_engine.hpp>
#include <settle/store/record.hpp>

SETTLE_BEGIN

template <typename Engine>
class runner; // running/runner/runner.hpp
template <typename Rules>
class basic_operation; // running/calls/operation.hpp
namespace detail {
struct sharing_access; // running/calls/sharing.hpp
}

/// Runs transactions against one log and the stores that hold their collections.
/// Shape:   Arguments - a database that holds log and records, or settle::log_in(database);
///          settle::bind(collection, database) for each collection that lives elsewhere;
///          settle::type<…> for each type; optionally settle::options and settle::observed_by(…)
/// Errors:  the constructor throws settle::failure when a store is unsuitable or unreachable, an
///          option is invalid, or the log is a copy or was moved
/// Cost:    nothing is looked up by name after construction. Threads may share an engine if they
///          may share its databases (memory::database and sqlite::database allow it)
/// Example: samples/transfer
template <typename... Arguments>
class engine : public engine_access<Arguments...>, detail::wrong_calls<engine<Arguments...>> {
    using wrong_calls = detail::wrong_calls<engine>;
    using access = engine_access<Arguments...>;

public:
    using access::at, access::create, access::create_all, access::read;
    using wrong_calls::at, wrong_calls::create, wrong_calls::create_all, wrong_calls::read;
    using wrong_calls::cancel, wrong_calls::recover, wrong_calls::run, wrong_calls::run_all;
    using wrong_calls::submit;

    template <typename... Given>
    explicit engine(Given&&... arguments) : access(std::forward<Given>(arguments)...) {}

    engine(engine const&) = delete; // settle: an engine is not copied. Return a std::unique_ptr.
    engine& operator=(engine const&) = delete;

    // ------------------------------------------------------------------------------------- running

    /// Runs one transaction to its end under an id that the library makes.
    /// Errors:  see settle::verdict; `refused` when the parameters break one of their guards
    /// Cost:    five calls to the log and the stores without contention or failures; one call where
    ///          the store can run one phase
    template <typename Parameters>
    outcome run(Parameters const& parameters, call_options const& call = {}) {
        return start_fresh<direction_of<Parameters>>(parameters, goal::run, call);
    }
    template <auto const& Type>
    outcome run(typename forward<Type>::parameters const& parameters,
                call_options const& call = {}) {
        return start_fresh<forward<Type>>(parameters, goal::run, call);
    }

    /// Runs one transaction under the caller's id. A second call with the same id and the same
    /// parameters gives the same outcome and has no further effect.
    /// Shape:   id - UTF-8, 1 to 200 bytes, not ending in `/reverse` or `/reverse/n`
    template <typename Parameters>
    outcome run(transaction_id id, Parameters const& parameters, call_options const& call = {}) {
        return start_under<direction_of<Parameters>>(std::move(id), parameters, goal::run, call);
    }
    template <auto const& Type>
    outcome run(transaction_id id, typename forward<Type>::parameters const& parameters,
                call_options const& call = {}) {
        return start_under<forward<Type>>(std::move(id), parameters, goal::run, call);
    }

    /// Runs a range of transactions, many at a time. Work on one record keeps the range's order.
    /// Shape:   range - any range, also an input range, of parameters of one type or of pairs of an
    ///          id and parameters; the outcomes come in the range's order
    /// Errors:  as in run, for each element. Every element taken has an outcome. After a stop
    ///          request or the deadline no element is taken; the report counts the rest. An
    ///          exception of the range is rethrown after the transactions under way have settled
    /// Cost:    each store gets one wave a phase for a whole window. A window starts when it is
    ///          full or the range ends, so a slow range needs a small window
    template <std::ranges::range Range>
    batch_outcomes run_all(Range&& range, batch_options const& options = {}) {
        return detail::in_order(range,
                                [&](auto&& ended) { return run_all(range, ended, options); });
    }
    /// As above; also calls `ended(number, outcome)` as each transaction settles, so that the
    /// window alone bounds the memory.
    /// Errors:  an exception of `ended` is rethrown after every transaction under way has settled
    ///          and was reported; no further element is taken
    template <std::ranges::range Range, typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, outcome>
    batch_report run_all(Range&& range, Ended&& ended, batch_options const& options = {}) {
        using element = detail::batch_element<std::ranges::range_value_t<Range>>;
        return run_range<direction_of<typename element::parameters>>(range, ended, options);
    }
    template <auto const& Type, typename Range>
    batch_outcomes run_all(Range&& range, batch_options const& options = {}) {
        return detail::in_order(range,
                                [&](auto&& ended) { return run_all<Type>(range, ended, options); });
    }
    template <auto const& Type, typename Range, typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, outcome>
    batch_report run_all(Range&& range, Ended&& ended, batch_options const& options = {}) {
        return run_range<forward<Type>>(range, ended, options);
    }

    /// Makes a transaction that its owner drives step by step, and sends nothing yet; include
    /// settle/running/calls/operation.hpp.
    /// Shape:   parameters - copied
    template <typename Parameters>
    auto begin(transaction_id id, Parameters const& parameters, call_options const& call = {}) {
        return operation_of<direction_of<Parameters>>(std::move(id), parameters, call);
    }
    template <typename Parameters>
    auto begin(Parameters const& parameters, call_options const& call = {}) {
        return operation_of<direction_of<Parameters>>(std::nullopt, parameters, call);
    }
    template <auto const& Type>
    auto begin(transaction_id id, typename forward<Type>::parameters const& parameters,
               call_options const& call = {}) {
        return operation_of<forward<Type>>(std::move(id), parameters, call);
    }
    template <auto const& Type>
    auto begin(typename forward<Type>::parameters const& parameters,
               call_options const& call = {}) {
        return operation_of<forward<Type>>(std::nullopt, parameters, call);
    }

    /// Puts a transaction into the log; any worker can run it later.
    /// Errors:  `undecided` with an empty problem means that the log has it; `refused` as in run
    template <typename Parameters>
    outcome submit(Parameters const& parameters, call_options const& call = {}) {
        return start_fresh<direction_of<Parameters>>(parameters, goal::submit, call);
    }
    template <typename Parameters>
    outcome submit(transaction_id id, Parameters const& parameters, call_options const& call = {}) {
        return start_under<direction_of<Parameters>>(std::move(id), parameters, goal::submit, call);
    }
    template <auto const& Type>
    outcome submit(typename forward<Type>::parameters const& parameters,
                   call_options const& call = {}) {
        return start_fresh<forward<Type>>(parameters, goal::submit, call);
    }
    template <auto const& Type>
    outcome submit(transaction_id id, typename forward<Type>::parameters const& parameters,
                   call_options const& call = {}) {
        return start_under<forward<Type>>(std::move(id), parameters, goal::submit, call);
    }

    /// Claims and runs submitted transactions in the order of their ids. Any worker may do so.
    recovery_report work(work_options const& call_options = {}) {
        std::size_t const room =
            call_options.window == 0 ? assembly_type::wave : call_options.window;
        return calls().work(known(), call_options, room);
    }

    /// Claims entries that stood still too long and brings each to its end. The report names each
    /// entry that cannot be handled; the call goes on with the others.
    recovery_report recover(recover_options const& call_options = {}) {
        std::size_t const room =
            call_options.window == 0 ? assembly_.recovery_wave() : call_options.window;
        return calls().recover(known(), call_options, room);
    }

    /// Cancels a transaction that is not committed yet, whichever worker runs it.
    /// Errors:  `done` when it is too late; `refused` with errc::too_late when the transaction is
    ///          `deciding`; `refused` when the log has no such entry, unless
    ///          cancel_options::even_if_unknown is set
    outcome cancel(transaction_id const& id, cancel_options const& options = {}) {
        return calls().cancel(known(), id, options);
    }

    /// Claims an unfinished entry now, whatever its owner and its age, and brings it to its end.
    /// Errors:  as in run; `refused` when the log has no such entry
    outcome retry(transaction_id const& id, call_options const& call = {}) {
        return calls().retry(known(), id, call);
    }

    /// Closes a call whose service never answers. The entry keeps the reason, and the transaction
    /// is brought to its end without the call. If the transaction is `applied` or `canceling`, a
    /// person has confirmed or compensated the call by other means. If it is `deciding`, a person
    /// knows from the service whether its pivot was applied, and sets resolve_options::pivot; the
    /// transaction then commits or cancels. The library cannot test that outcome. A copy of the
    /// call that is still under way may take effect after `was_not_applied`: have the service
    /// refuse the key of the call first.
    /// Shape:   why - UTF-8, 1 to 1,000 bytes, for the reader of the entry; resolve_options::line
    ///          names the line of a range, counted from 0
    /// Errors:  `refused` when the state of the entry allows no such closing, when the entry has no
    ///          such call, and when a worker changed the entry at the same time. `undecided` when
    ///          the log could not be reached, or its answer was lost: the call can be repeated, and
    ///          gives the outcome if the entry has ended with a call closed for the same reason
    outcome resolve(transaction_id const& id, std::string_view participant, std::string_view why,
                    resolve_options const& options = {}) {
        return calls().resolve(known(), id, participant, why, options);
    }

    /// Pauses the calls of a service, of all transactions of a type, or of one transaction, for all
    /// workers, until resume_calls(). A transaction goes on up to its first paused call; a call
    /// that is not made counts as no try. Engines that run notice it within 1 s. Shape:   name - of
    /// the service or type, or the id; why - UTF-8, 1 to 1,000 bytes, for the
    ///          reader of an outcome
    /// Returns: false if the pause is there already
    /// Errors:  errc::bad_option for a name of no service or type with calls, and for too many
    ///          pauses; errc::bad_text
    result<bool> pause_calls(pause_scope scope, std::string_view name, std::string_view why,
                             call_options const& call = {}) {
        return calls().pause_calls(known(), scope, name, why, call);
    }
    /// Returns: false if there is no such pause
    result<bool> resume_calls(pause_scope scope, std::string_view name,
                              call_options const& call = {}) {
        return calls().resume_calls(scope, name, call);
    }
    /// The pauses in the log, the oldest first.
    result<std::vector<call_pause>> paused_calls(call_options const& call = {}) {
        return calls().paused_calls(call);
    }

    /// Undoes a transaction that is done by a new transaction, `<id>/reverse`; gives its outcome.
    /// Errors:  `refused` when the original is not done, was done too long ago, is a reversal, or
    ///          has a participant that is no record
    outcome reverse(transaction_id const& id, call_options const& call = {}) {
        return calls().reverse(known(), id, call);
    }

    /// What an action would do with an entry as find(), page() or list() has read it, by the rules
    /// that the action itself follows. An action that is not allowed changes no outcome: cancel()
    /// of a committed or canceling entry at most brings it to the same end. An earlier reversal is
    /// not looked for. The entry may move before the action, so only the action's outcome is
    /// certain.
    /// Cost:    reads nothing
    [[nodiscard]] action_forecast forecast(operator_action action, entry const& stored) const {
        return detail::forecast_of(action, stored, known(), assembly_.limits(),
                                   assembly_.environment().now());
    }

    /// True if recover() would claim an entry now. An entry that it leaves has moved too recently,
    /// or waits for the next try of a call, or its calls are paused.
    /// Cost:    reads the pauses of calls, at most once a second
    [[nodiscard]] bool is_due(entry const& stored, recover_options const& options = {}) {
        return calls().is_due(known(), stored, options.older_than);
    }

    /// Looks at all marks of the bound stores and undoes the stray marks.
    sweep_report sweep(std::stop_token const& stop = {}) { return calls().sweep(stop); }

    /// Erases entries that were finished long ago, a step at a time, while other calls go on.
    /// Nothing else in the library erases an entry.
    /// Errors:  errc::too_young when `older_than` is not beyond the longest options::horizon() of
    ///          all engines that have used the log
    /// Cost:    reads no entry twice; each log documents how many it reads
    purge_report purge(purge_options const& options = {}) { return calls().purge(options); }

    // ------------------------------------------------------------------------------------- reading

    /// Entries as a lazy range in the order of their ids; include settle/running/calls/listing.hpp.
    /// Errors:  the range throws settle::failure when the log cannot be read
    entry_listing<engine> list(entry_filter const& filter = {},
                               std::size_t limit = ~std::size_t{0}) {
        return entry_listing<engine>{*this, filter, limit};
    }
    entry_listing<engine> list(settle::state present, time_limit older_than,
                               std::size_t limit = ~std::size_t{0}) {
        auto filter = still_for(older_than);
        filter.state = present;
        return list(filter, limit);
    }

    /// A filter for entries that stood still for `older_than`. It also finds an entry whose time is
    /// more than options::clocks in the future, since a wrong clock wrote that time.
    [[nodiscard]] entry_filter still_for(time_limit older_than) const {
        timestamp const now = assembly_.environment().now();
        entry_filter filter;
        filter.before = detail::earlier(now, older_than);
        filter.ahead_of = detail::later(now, assembly_.limits().clocks);
        return filter;
    }

    /// The records of a collection as a lazy range in the order of their keys; include
    /// settle/running/calls/listing.hpp.
    template <typename Record, fixed_string Name, auto Key>
    record_listing<engine, collection<Record, Name, Key>>
    scan(collection<Record, Name, Key> const&) {
        return record_listing<engine, collection<Record, Name, Key>>{*this};
    }

private:
    template <typename Engine>
    friend class runner;
    friend struct detail::sharing_access;

    using assembly_type = typename access::assembly_type;
    using types = typename assembly_type::types;
    static constexpr bool is_container = assembly_type::is_container;
    /// Every direction of the engine's types, compiled for the calls that ask for it.
    static constexpr detail::known_directions known() { return detail::directions_of<types>; }

    template <typename Parameters>
    using direction_of = typename detail::direction_search<Parameters, types>::type;

    // Behind the seam, only the descriptor of the direction knows its type.

    template <typename Direction>
    outcome start_fresh(typename Direction::parameters const& parameters, goal purpose,
                        call_options const& call) {
        if constexpr (is_container) {
            return start<Direction>(fresh_id(assembly_.environment()), parameters, purpose, call,
                                    true);
        } else {
            return calls().run(descriptor_of<Direction>, &parameters, purpose, call);
        }
    }

    template <typename Direction>
    outcome start_under(transaction_id&& id, typename Direction::parameters const& parameters,
                        goal purpose, call_options const& call) {
        if constexpr (is_container) {
            if (!fault_of_id(id).empty()) return detail::refuse(id, check_id(id));
            return start<Direction>(std::move(id), parameters, purpose, call, false);
        } else {
            return calls().run(std::move(id), descriptor_of<Direction>, &parameters, purpose, call);
        }
    }

    template <typename Direction>
    auto operation_of(std::optional<transaction_id>&& id,
                      typename Direction::parameters const& parameters, call_options const& call) {
        using parameters_type = typename Direction::parameters;
        auto const put = [&](void* slot) { ::new (slot) parameters_type(parameters); };
        transaction_descriptor const& direction = descriptor_of<Direction>;
        return basic_operation<typename assembly_type::order_rules>{assembly_.seam(),
                                                                    gate_,
                                                                    std::move(id),
                                                                    direction,
                                                                    held_parameters{direction, put},
                                                                    call};
    }

    /// Runs a transaction in containers, which are called by their types.
    template <typename Direction>
    outcome start(transaction_id&& id, typename Direction::parameters const& parameters,
                  goal purpose, call_options const& call, bool new_id) {
        if (detail::has_fault<Direction>(parameters)) {
            return detail::refused_before_write(id, descriptor_of<Direction>, &parameters);
        }
        assembly_.template expect_records<Direction>(parameters);
        if (!gate_.is_open(call)) [[unlikely]]
            return gate_.refusal(id);
        if (detail::is_wrong_traceparent(call.traceparent)) [[unlikely]]
            return detail::refuse(id, detail::wrong_traceparent(call.traceparent));
        assembly_.expect_entry(id);
        return assembly_.make_worker().run_new(
            std::move(id), detail::new_request_of<Direction>(parameters), purpose, call,
            assembly_type::driver_type::template calls_of<Direction>(), new_id);
    }

    template <typename Direction, typename Range, typename Ended>
    batch_report run_range(Range& range, Ended& ended, batch_options const& options) {
        using element =
            typename detail::batch_element<std::ranges::range_value_t<Range>>::parameters;
        constexpr bool fits = std::is_convertible_v<element, typename Direction::parameters>;
        static_assert(fits, "settle: the range's elements are no parameters of the named type, and "
                            "no pairs of an id and parameters. See running#many-at-a-time");
        batch_report report;
        if constexpr (fits) {
            if (!gate_.is_open(options)) {
                detail::count_rest(range, report);
                report.problem = gate_.why();
                return report;
            }
            if (detail::is_wrong_traceparent(options.traceparent)) {
                detail::count_rest(range, report);
                report.problem = detail::wrong_traceparent(options.traceparent);
                return report;
            }
            call_options const call{options.deadline, options.stop, options.traceparent};
            std::size_t const room = options.window == 0 ? assembly_type::wave : options.window;
            if constexpr (is_container) {
                using window = detail::container_window<assembly_type, Direction>;
                detail::batch<window, Ended> batch{assembly_, call, room, ended};
                report = detail::run_range<Direction>(batch, range);
            } else {
                detail::function_view<void(std::size_t, outcome&&)> const deliver{ended};
                detail::seam_batch<typename assembly_type::order_rules> batch{assembly_.seam(),
                                                                              call, room, deliver};
                report = detail::run_range<Direction>(batch, range);
            }
        }
        return report;
    }

    using access::assembly_;
    using access::calls;
    using access::gate_;
};

template <typename... Given>
engine(Given&&...) -> engine<std::remove_cvref_t<Given>...>;

SETTLE_END
