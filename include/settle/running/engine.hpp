// SPDX-License-Identifier: BSL-1.0
// The engine: runs, recovers, cancels and reverses transactions of the types it was built with.
#pragma once

// First, so that the message about an ignored outcome names few headers.
#include <settle/running/calls/outcome.hpp>

#include <settle/running/calls/access.hpp>
#include <settle/running/calls/batch.hpp>
#include <settle/running/calls/closing.hpp>
#include <settle/running/calls/purge.hpp>
#include <settle/running/calls/sweeper.hpp>
#include <settle/running/calls/take_over.hpp>
#include <settle/running/calls/wrong_calls.hpp>
#include <settle/running/construction/owner.hpp>
#include <settle/running/construction/refused_engine.hpp>
#include <settle/store/record.hpp>

SETTLE_BEGIN

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
        return begin_fresh<direction_of<Parameters>>(parameters, goal::run, call);
    }
    template <auto const& Type>
    outcome run(typename forward<Type>::parameters const& parameters,
                call_options const& call = {}) {
        return begin_fresh<forward<Type>>(parameters, goal::run, call);
    }

    /// Runs one transaction under the caller's id. A second call with the same id and the same
    /// parameters gives the same outcome and has no further effect.
    /// Shape:   id - UTF-8, 1 to 200 bytes, not ending in `/reverse` or `/reverse/n`
    template <typename Parameters>
    outcome run(transaction_id id, Parameters const& parameters, call_options const& call = {}) {
        return begin<direction_of<Parameters>>(std::move(id), parameters, goal::run, call);
    }
    template <auto const& Type>
    outcome run(transaction_id id, typename forward<Type>::parameters const& parameters,
                call_options const& call = {}) {
        return begin<forward<Type>>(std::move(id), parameters, goal::run, call);
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
    batch_outcomes run_all(Range&& range, batch_options const& given = {}) {
        return detail::in_order(range, [&](auto&& ended) { return run_all(range, ended, given); });
    }
    /// As above; also calls `ended(number, outcome)` as each transaction settles, so that the
    /// window alone bounds the memory.
    /// Errors:  an exception of `ended` is rethrown after every transaction under way has settled
    ///          and was reported; no further element is taken
    template <std::ranges::range Range, typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, outcome>
    batch_report run_all(Range&& range, Ended&& ended, batch_options const& given = {}) {
        using element = detail::batch_element<std::ranges::range_value_t<Range>>;
        return run_range<direction_of<typename element::parameters>>(range, ended, given);
    }
    template <auto const& Type, typename Range>
    batch_outcomes run_all(Range&& range, batch_options const& given = {}) {
        return detail::in_order(range,
                                [&](auto&& ended) { return run_all<Type>(range, ended, given); });
    }
    template <auto const& Type, typename Range, typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, outcome>
    batch_report run_all(Range&& range, Ended&& ended, batch_options const& given = {}) {
        return run_range<forward<Type>>(range, ended, given);
    }

    /// Puts a transaction into the log; any worker can run it later.
    /// Errors:  `undecided` with an empty problem means that the log has it; `refused` as in run
    template <typename Parameters>
    outcome submit(Parameters const& parameters, call_options const& call = {}) {
        return begin_fresh<direction_of<Parameters>>(parameters, goal::submit, call);
    }
    template <typename Parameters>
    outcome submit(transaction_id id, Parameters const& parameters, call_options const& call = {}) {
        return begin<direction_of<Parameters>>(std::move(id), parameters, goal::submit, call);
    }
    template <auto const& Type>
    outcome submit(typename forward<Type>::parameters const& parameters,
                   call_options const& call = {}) {
        return begin_fresh<forward<Type>>(parameters, goal::submit, call);
    }
    template <auto const& Type>
    outcome submit(transaction_id id, typename forward<Type>::parameters const& parameters,
                   call_options const& call = {}) {
        return begin<forward<Type>>(std::move(id), parameters, goal::submit, call);
    }

    /// Claims and runs submitted transactions in the order of their ids. Any worker may do so.
    recovery_report work(work_options const& call_options = {}) {
        if (!gate_.is_open(call_options)) return gate_.template report<recovery_report>();
        entry_filter filter;
        filter.state = state::initial;
        std::size_t const room =
            call_options.window == 0 ? assembly_type::wave : call_options.window;
        return detail::take_over{assembly_, call_options.stop, room}.all(
            filter, call_options.limit, [](entry const&) { return true; });
    }

    /// Claims entries that stood still too long and brings each to its end. The report names each
    /// entry that cannot be handled; the call goes on with the others.
    recovery_report recover(recover_options const& call_options = {}) {
        if (!gate_.is_open(call_options)) return gate_.template report<recovery_report>();
        entry_filter filter;
        filter.unfinished = true;
        timestamp const now = assembly_.environment().now();
        std::size_t const room =
            call_options.window == 0 ? assembly_.recovery_wave() : call_options.window;
        auto report = detail::take_over{assembly_, call_options.stop, room}.all(
            filter, call_options.limit, [&](entry const& one) {
                auto const still = detail::still_for(one, now, assembly_.limits().clocks);
                return still >= call_options.older_than || is_gone(one.owner);
            });
        detail::forget_ended(assembly_.stuck(), assembly_.log());
        return report;
    }

    /// Cancels a transaction that is not committed yet, whichever worker runs it.
    /// Errors:  `done` when it is too late; `refused` with errc::too_late when the transaction is
    ///          `deciding`; `refused` when the log has no such entry, unless
    ///          cancel_options::even_if_unknown is set
    outcome cancel(transaction_id const& id, cancel_options const& given = {}) {
        if (!gate_.is_open(given)) return gate_.refusal(id);
        call_options const limits{given.deadline, given.stop};
        auto patience = assembly_.patience_of(limits);
        auto const looked_up = patience([&] { return assembly_.log().read(id); });
        if (!looked_up.has_value()) return detail::unreadable(id, looked_up.problem());
        call_options const call = patience.rest();
        // A final entry holds its outcome, so no definition is needed.
        if (looked_up.value() && is_final(looked_up.value()->state))
            return ended_before(*looked_up.value());
        if (looked_up.value() && looked_up.value()->state == state::deciding)
            return detail::refuse(id, detail::pivot_decides(*looked_up.value()));
        if (looked_up.value()) return cancel_entry(*looked_up.value(), call);
        if (!given.even_if_unknown) return detail::unknown_id(id);
        if (!fault_of_id(id).empty()) return detail::refuse(id, check_id(id));
        auto inserted = assembly_.make_worker().cancel_unknown(id, call);
        // Another caller inserted the entry after the read above; its own type compensates it.
        auto concluded =
            inserted.seen ? cancel_entry(*inserted.seen, call) : std::move(inserted.concluded);
        if (inserted.thrown) std::rethrow_exception(inserted.thrown);
        return concluded;
    }

    /// Claims an unfinished entry now, whatever its owner and its age, and brings it to its end.
    /// Errors:  as in run; `refused` when the log has no such entry
    outcome retry(transaction_id const& id, call_options const& call = {}) {
        return with_unfinished(
            id, call,
            [&]<typename Direction>(entry const& stored, auto const& parameters,
                                    call_options const& rest) {
                return take_over<Direction>(stored, parameters, rest, false);
            },
            [&](entry const& found) { return ended_before(found); });
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
                    resolve_options const& given = {}) {
        call_options const call{given.deadline, given.stop};
        return with_unfinished(
            id, call,
            [&]<typename Direction>(entry const& stored, auto const& parameters,
                                    call_options const& rest) {
                auto patience = assembly_.patience_of(rest);
                auto const closed =
                    detail::close_part<Direction>(assembly_, patience, stored, parameters,
                                                  part_name{participant, given.line}, why, given);
                if (!closed.is_certain) return detail::unreadable(id, closed.problem);
                return closed.problem.empty() ? retry(id, patience.rest())
                                              : detail::refuse(id, closed.problem);
            },
            [&](entry const& found) {
                if (detail::was_closed(found, why)) return ended_before(found);
                return detail::refuse(id, detail::check_closing(found, why, given));
            });
    }

    /// Undoes a transaction that is done by a new transaction, `<id>/reverse`; gives its outcome.
    /// Errors:  `refused` when the original is not done, was done too long ago, is a reversal, or
    ///          has a participant that is no record
    outcome reverse(transaction_id const& id, call_options const& call = {}) {
        if (!gate_.is_open(call)) return gate_.refusal(id);
        auto const begun = assembly_.environment().elapsed();
        auto const looked_up = assembly_.read_entry(id, call);
        if (!looked_up.has_value()) return detail::unreadable(id, looked_up.problem());
        if (!looked_up.value()) return detail::unknown_id(id);
        entry const& original = *looked_up.value();
        std::string why =
            detail::why_not_reversible(original, assembly_.environment().now(), assembly_.limits());
        if (!why.empty()) {
            return detail::refuse(id, {make_error_code(errc::not_reversible), std::move(why)});
        }
        return detail::with_entry<types>(
            original, [&]<typename Direction>(std::type_identity<Direction>,
                                              typename Direction::parameters const& parameters) {
                return reverse_done<Direction>(original, parameters, call, begun);
            });
    }

    /// Looks at all marks of the bound stores and undoes the stray marks.
    sweep_report sweep(std::stop_token const& stop = {}) {
        if (!gate_.is_open(call_options{{}, stop})) return gate_.template report<sweep_report>();
        return detail::sweeper<assembly_type>{assembly_, stop}.sweep();
    }

    /// Erases entries that were finished long ago, a step at a time, while other calls go on.
    /// Nothing else in the library erases an entry.
    /// Errors:  errc::too_young when `older_than` is not beyond the longest options::horizon() of
    ///          all engines that have used the log
    /// Cost:    reads no entry twice; each log documents how many it reads
    purge_report purge(purge_options const& given = {}) {
        if (!gate_.is_open(given)) return gate_.template report<purge_report>();
        call_options const call{std::nullopt, given.stop};
        auto patience = assembly_.patience_of(call);
        auto const horizon =
            patience([&] { return assembly_.log().keep_horizon(assembly_.limits().horizon()); });
        if (!horizon.has_value()) return {0, horizon.problem()};
        if (given.older_than <= horizon.value()) {
            return {0, detail::too_young(given.older_than, horizon.value())};
        }
        timestamp const now = assembly_.environment().now();
        auto const before = detail::earlier(now, given.older_than);
        auto report = detail::purge_log(assembly_.log(), patience, before, given);
        if (report.problem.empty() && report.erased < given.limit) {
            report.problem = detail::purge_stores(assembly_.log(), patience, assembly_.sessions(),
                                                  now, before, given, assembly_.limits().clocks);
        }
        return report;
    }

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
    using assembly_type = typename access::assembly_type;
    using types = typename assembly_type::types;
    using driver_type = typename assembly_type::driver_type;
    using typed_calls = typename driver_type::typed_calls;

    template <typename Parameters>
    using direction_of = typename detail::direction_search<Parameters, types>::type;

    // ----------------------------------------------------------------------------- steps of a call

    template <typename Direction>
    outcome begin_fresh(typename Direction::parameters const& parameters, goal purpose,
                        call_options const& call) {
        if (detail::has_fault<Direction>(parameters)) {
            return detail::refused_before_write<Direction>(fresh_id(assembly_.environment()),
                                                           parameters);
        }
        assembly_.template expect_records<Direction>(parameters);
        return run_new(fresh_id(assembly_.environment()),
                       detail::new_request_of<Direction>(parameters), purpose, call,
                       driver_type::template calls_of<Direction>(), true);
    }

    template <typename Direction>
    outcome begin(transaction_id&& id, typename Direction::parameters const& parameters,
                  goal purpose, call_options const& call) {
        if (!fault_of_id(id).empty()) return detail::refuse(id, check_id(id));
        auto const long_id = assembly_.template fault_of<Direction>(id);
        if (!long_id.empty()) return detail::refuse(id, long_id);
        return start<Direction>(std::move(id), parameters, purpose, call);
    }

    template <typename Direction>
    outcome start(transaction_id&& id, typename Direction::parameters const& parameters,
                  goal purpose, call_options const& call) {
        if (detail::has_fault<Direction>(parameters)) {
            return detail::refused_before_write<Direction>(id, parameters);
        }
        assembly_.template expect_records<Direction>(parameters);
        return run_new(std::move(id), detail::new_request_of<Direction>(parameters), purpose, call,
                       driver_type::template calls_of<Direction>(), false);
    }

    outcome run_new(transaction_id&& id, detail::new_request const& request, goal purpose,
                    call_options const& call, typed_calls const& typed, bool new_id) {
        if (!gate_.is_open(call)) [[unlikely]]
            return gate_.refusal(id);
        assembly_.expect_entry(id);
        return assembly_.make_worker().run_new(std::move(id), request, purpose, call, typed,
                                               new_id);
    }

    template <typename Direction>
    outcome take_over(entry const& stored, typename Direction::parameters const& parameters,
                      call_options const& call, bool cancels) {
        return assembly_.make_worker().take_over(
            stored, detail::new_request_of<Direction>(parameters), call,
            driver_type::template calls_of<Direction>(), cancels);
    }

    template <typename Direction, typename Range, typename Ended>
    batch_report run_range(Range& range, Ended& ended, batch_options const& given) {
        using batch = detail::batch<assembly_type, Direction, Ended>;
        using element =
            typename detail::batch_element<std::ranges::range_value_t<Range>>::parameters;
        constexpr bool fits = std::is_convertible_v<element, typename Direction::parameters>;
        static_assert(fits, "settle: the range's elements are no parameters of the named type, and "
                            "no pairs of an id and parameters. See running#many-at-a-time");
        if constexpr (fits) {
            if (!gate_.is_open(given)) return batch::took_nothing(range, gate_.why());
            call_options const call{given.deadline, given.stop};
            std::size_t const room = given.window == 0 ? assembly_type::wave : given.window;
            return batch{assembly_, call, room, ended}.run(range);
        } else {
            return {};
        }
    }

    outcome cancel_entry(entry const& stored, call_options const& call) {
        return detail::with_entry<types>(
            stored, [&]<typename Direction>(std::type_identity<Direction>,
                                            typename Direction::parameters const& parameters) {
                return take_over<Direction>(stored, parameters, call, true);
            });
    }

    /// Calls `function.operator()<Direction>(entry, parameters, rest)` for an unfinished entry, and
    /// `ended(entry)` for a final entry.
    /// Shape:   rest - the limits of the call after the read of the entry
    template <typename Function, typename Ended>
    outcome with_unfinished(transaction_id const& id, call_options const& call, Function&& function,
                            Ended&& ended) {
        if (!gate_.is_open(call)) return gate_.refusal(id);
        auto patience = assembly_.patience_of(call);
        auto const looked_up = patience([&] { return assembly_.log().read(id); });
        if (!looked_up.has_value()) return detail::unreadable(id, looked_up.problem());
        if (!looked_up.value()) return detail::unknown_id(id);
        entry const& stored = *looked_up.value();
        if (is_final(stored.state)) return ended(stored);
        return detail::with_entry<types>(
            stored, [&]<typename Direction>(std::type_identity<Direction>,
                                            typename Direction::parameters const& given) {
                return function.template operator()<Direction>(stored, given, patience.rest());
            });
    }

    /// Answers a call for a final entry: no driver is needed, but the observer gets its event.
    outcome ended_before(entry const& stored) {
        assembly_.stuck().remove(stored.id);
        auto& observer = assembly_.observer();
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(observer)>, no_observer>) {
            detail::report_final<types>(observer, stored);
        }
        return detail::outcome_of(stored, detail::descriptor_for<types>(stored));
    }

    // ----------------------------------------------------------------------------------- reversing

    /// Shape:   begun - when the call began
    template <typename Direction>
    outcome reverse_done(entry const& original, typename Direction::parameters const& parameters,
                         call_options call, std::chrono::nanoseconds begun) {
        if constexpr (Direction::is_reverse) {
            // reverse() refuses ids of reversals before it looks for a direction.
            static_cast<void>(parameters);
            static_cast<void>(call);
            static_cast<void>(begun);
            return detail::unknown_id(original.id);
        } else if constexpr (!detail::is_reversible<typename Direction::type>) {
            static_cast<void>(parameters);
            static_cast<void>(call);
            static_cast<void>(begun);
            return detail::refuse(original.id, detail::no_reversal(original));
        } else {
            using back = typename detail::opposite<Direction>::type;
            typename back::parameters const reversed{parameters, original.images};
            auto const deadline = call.deadline;
            for (std::uint32_t attempt = 1;; ++attempt) {
                transaction_id id = reversal_id(original.id, attempt);
                // Each canceled attempt is a read of the log.
                if (deadline) {
                    using std::chrono::milliseconds;
                    auto const gone = assembly_.environment().elapsed() - begun;
                    call.deadline = *deadline - std::chrono::duration_cast<milliseconds>(gone);
                }
                if (!gate_.is_open(call)) return gate_.refusal(id);
                auto patience = assembly_.patience_of(call);
                auto const earlier = patience([&] { return assembly_.log().read(id); });
                if (!earlier.has_value()) return detail::unreadable(id, earlier.problem());
                if (earlier.value() && earlier.value()->state == state::canceled) continue;
                return start<back>(std::move(id), reversed, goal::run, patience.rest());
            }
        }
    }

    using access::assembly_;
    using access::gate_;
};

template <typename... Given>
engine(Given&&...) -> engine<std::remove_cvref_t<Given>...>;

SETTLE_END
