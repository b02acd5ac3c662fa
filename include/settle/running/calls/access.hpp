// SPDX-License-Identifier: BSL-1.0
// The engine's access to entries and records outside of transactions.
#pragma once

#include <settle/running/calls/committed_read.hpp>
#include <settle/running/calls/creation.hpp>
#include <settle/running/calls/doubts.hpp>
#include <settle/running/calls/engine_calls.hpp>
#include <settle/running/construction/refused_engine.hpp>

#include <array>

SETTLE_BEGIN
namespace detail {

template <typename... Arguments>
class served_engine_of; // of settle::console

} // namespace detail

/// The base of an engine: its log and its stores.
/// Shape:   Arguments - of the engine
template <typename... Arguments>
class engine_access {
public:
    engine_access(engine_access const&) = delete;
    engine_access& operator=(engine_access const&) = delete;

    // Each call tries again while a log or a store cannot be reached: until its deadline or a stop
    // request, or else for options::patience.

    /// The entry of an id, if the log has it.
    result<std::optional<entry>> find(transaction_id const& id, call_options const& call = {}) {
        return calls().find(id, call);
    }

    /// One page of entries whose ids follow `after`, in the order of the ids.
    result<std::vector<entry>> page(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit, call_options const& call = {}) {
        return calls().page(filter, after, limit, call);
    }

    /// Entries that are unfinished although they were created longer ago than
    /// options::stuck_after, or that a wrong clock has dated in the future, or that this engine has
    /// seen stuck: see event::stuck.
    /// Cost:    linear in the unfinished entries
    result<std::vector<entry>> stuck(call_options const& call = {}) {
        return calls().stuck(limits().stuck_after, assembly_.stuck().ids(), call);
    }
    result<std::vector<entry>> stuck(time_limit older_than, call_options const& call = {}) {
        return calls().stuck(older_than, {}, call);
    }

    /// The figures of this engine since its construction.
    /// Cost:    no call to the log or to a store
    [[nodiscard]] settle::statistics statistics() const { return assembly_.figures(); }

    /// The number of marks in the bound stores. The names in doubt of a database count once for
    /// each prepared target that is bound to it.
    result<std::uint64_t> marks(call_options const& call = {}) { return calls().marks(call); }
    /// The marks of calls that have no entry, and began longer ago than `older_than`. Such a call
    /// is under way, or a sweep will undo its marks. settle::time_of_mark() gives the time of the
    /// call. Cost:    a read of every mark, and of the entry of each mark that is old enough
    result<std::vector<mark_locator>>
    marks_without_entry(time_limit older_than = std::chrono::milliseconds{0},
                        call_options const& call = {}) {
        return calls().marks_without_entry(older_than, call);
    }

    /// The parts of this log that the database of a prepared target holds in doubt, also parts of
    /// other targets there, each with the entry that it waits for, in the order of their names.
    /// Cost:    a read of the log for each part
    template <typename Request, fixed_string Name>
    result<std::vector<doubtful_part>> in_doubt(prepared<Request, Name> const&,
                                                call_options const& call = {}) {
        if (!gate_.is_open(call)) return gate_.why();
        auto patience = assembly_.patience_of(call);
        auto& session = assembly_.template session_of<prepared<Request, Name>>();
        return detail::parts_in_doubt(
            [&](std::string const& after, std::size_t limit) {
                return session.in_doubt(after, limit);
            },
            [&](transaction_id const& id) { return assembly_.log().read(id); }, patience);
    }

    /// The number and the oldest of these parts, for each prepared target of this engine.
    result<std::vector<doubt_count>> count_in_doubt(call_options const& call = {}) {
        if (!gate_.is_open(call)) return gate_.why();
        return assembly_.count_in_doubt(call);
    }

    /// A record as it is now, including the `apply` effects of pending transactions.
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read(collection<Record, Name, Key> const&,
                                       value_of<Key> const& key, call_options const& call = {}) {
        using collection_type = collection<Record, Name, Key>;
        if (!gate_.is_open(call)) return gate_.why();
        auto& session = assembly_.template session_of<collection_type>();
        return assembly_.patience_of(call)(
            [&] { return session.template read<collection_type>(key); });
    }

    /// A record exactly as the decided transactions stood at one moment of this call: with the
    /// effects of each transaction that was done before the call, and without those of each that is
    /// canceled. Two calls see moments in their order.
    /// Errors:  errc::no_committed_read if no such moment was had until the deadline, or for
    ///          options::patience; errc::stopped
    /// Cost:    one read in the log's own database; else one, or with marks of pending transactions
    ///          two to four. Decisions wait for a reader only after four looks gave no moment
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read_committed(collection<Record, Name, Key> const&,
                                                 value_of<Key> const& key,
                                                 call_options const& call = {}) {
        using collection_type = collection<Record, Name, Key>;
        if (!gate_.is_open(call)) return gate_.why();
        check_looks<collection_type>();
        looked_record const looked{&detail::target_tag<collection_type>, detail::key_of_value(key)};
        auto const bound = assembly_.template binding_of<collection_type>();
        auto const seen = read_decided({&bound, 1}, {&looked, 1}, {}, call);
        if (!seen.has_value()) return seen.problem();
        return record_of<Record>(seen.value().slots.front());
    }

    /// Records of one or several collections, all exactly as the decided transactions stood at one
    /// and the same moment of this call. Together with the transactions, such reads are strictly
    /// serializable. Creations outside of transactions have moments of their own.
    /// Shape:   asked - keys_of(collection, {...}): optional records, in the order of its keys; or
    ///          all_of(collection): the records that exist, in the order of their keys
    /// Errors:  as read_committed(); errc::unfit_store if the records are in several databases, and
    ///          the log's database cannot keep decisions waiting
    /// Cost:    in one database as read_committed(), whatever the number of keys; otherwise two or
    ///          three calls of each, and decisions of all transactions may have to wait until each
    ///          has fixed the moment of its rows. All records of a collection are one read
    template <typename... Asked>
    result<std::tuple<typename Asked::answer_type...>> read_together(call_options const& call,
                                                                     Asked const&... asked) {
        if (!gate_.is_open(call)) return gate_.why();
        (check_looks<typename Asked::collection_type>(), ...);
        std::vector<looked_record> looked;
        std::vector<void const*> collections;
        auto const add = [&]<typename Some>(Some const& some) {
            auto const* const target = &detail::target_tag<typename Some::collection_type>;
            if constexpr (requires { some.keys; }) {
                for (auto const& key : some.keys) {
                    looked.push_back({target, detail::key_of_value(key)});
                }
            } else {
                collections.push_back(target);
            }
        };
        (add(asked), ...);
        std::array<detail::target_binding, sizeof...(Asked)> const bound{
            assembly_.template binding_of<typename Asked::collection_type>()...};
        auto const seen = read_decided(bound, looked, collections, call);
        if (!seen.has_value()) return seen.problem();
        auto const& slots = seen.value().slots;
        auto next = slots.begin();
        auto next_end = seen.value().ends.begin();
        auto first = next + static_cast<std::ptrdiff_t>(looked.size());
        auto const take = [&]<typename Some>(Some const& some) {
            using collection = typename Some::collection_type;
            using record = typename collection::record_type;
            typename Some::answer_type records;
            if constexpr (requires { some.keys; }) {
                for (std::size_t i = 0; i < some.keys.size(); ++i) {
                    records.push_back(record_of<record>(*next++));
                }
            } else {
                for (auto const end = slots.begin() + static_cast<std::ptrdiff_t>(*next_end++);
                     first != end; ++first) {
                    if (auto decided = record_of<record>(*first))
                        records.push_back(*std::move(decided));
                }
                std::sort(records.begin(), records.end(),
                          [](record const& left, record const& right) {
                              return left.*collection::key_member < right.*collection::key_member;
                          });
            }
            return records;
        };
        // Braces evaluate in order.
        return std::tuple<typename Asked::answer_type...>{take(asked)...};
    }
    template <typename... Asked>
        requires requires { (std::declval<typename Asked::answer_type>(), ...); }
    auto read_together(Asked const&... asked) {
        return read_together(call_options{}, asked...);
    }

    /// All records of a collection, in the order of their keys, as read_together() gives them.
    /// Errors:  as read_together()
    /// Cost:    as read_committed(), for all rows of the collection
    template <typename Record, fixed_string Name, auto Key>
    result<std::vector<Record>> scan_committed(collection<Record, Name, Key> const& target,
                                               call_options const& call = {}) {
        auto seen = read_together(call, all_of(target));
        if (!seen.has_value()) return seen.problem();
        return std::get<0>(std::move(seen.value()));
    }

    /// As read(), for a record that must exist.
    /// Errors:  throws settle::failure: errc::record_missing when no record has this key
    template <typename Record, fixed_string Name, auto Key>
    [[nodiscard]] Record at(collection<Record, Name, Key> const& target, value_of<Key> const& key,
                            call_options const& call = {}) {
        auto found = read(target, key, call).value();
        if (!found) throw failure(detail::record_missing(Name.view(), encode_json(key)));
        return *std::move(found);
    }

    /// Creates a record outside of any transaction.
    /// Errors:  errc::record_exists when a record has this key; condition::unknown when the answer
    ///          was lost: read the record
    template <typename Record, fixed_string Name, auto Key>
    result<void> create(collection<Record, Name, Key> const&, Record const& record,
                        call_options const& call = {}) {
        using collection_type = collection<Record, Name, Key>;
        if (!gate_.is_open(call)) return gate_.why();
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        auto& session = assembly_.template session_of<collection_type>();
        return assembly_.patience_of(call).if_without_effect(
            [&] { return session.template create<collection_type>(record); });
    }

    /// Creates a range of records outside of any transaction, one commit for each wave.
    /// Shape:   ended(number, result<void>) - called for each record with the answer of create()
    /// Errors:  each record has its own answer. The call retries an unreachable store until the
    ///          deadline, or for options::patience. An exception of the range or of `ended` is
    ///          rethrown after each record that was taken has its answer
    template <typename Record, fixed_string Name, auto Key, std::ranges::input_range Range,
              typename Ended>
        requires std::is_invocable_v<Ended&, std::size_t, result<void>>
    create_report create_all(collection<Record, Name, Key> const&, Range&& range, Ended&& ended,
                             batch_options const& call_options = {}) {
        if (!gate_.is_open(call_options)) return gate_.template report<create_report>();
        using collection_type = collection<Record, Name, Key>;
        auto& session = assembly_.template session_of<collection_type>();
        using session_type = std::remove_cvref_t<decltype(session)>;
        detail::pending_records_of<session_type, collection_type> records{session};
        detail::creation work{
            records,      detail::environment_view{assembly_.environment()}, assembly_.limits(),
            call_options, detail::capabilities<session_type>.wave_size,      ended};
        return detail::create_range(work, records, range);
    }
    template <typename Record, fixed_string Name, auto Key, std::ranges::input_range Range>
    create_report create_all(collection<Record, Name, Key> const& where, Range&& range,
                             batch_options const& options = {}) {
        return create_all(where, range, [](std::size_t, auto const&) {}, options);
    }

    /// One page of records whose keys follow `after`, in the order of the keys.
    template <typename Collection>
    result<std::vector<typename Collection::record_type>>
    scan_page(std::optional<typename Collection::key_type> const& after, std::size_t limit,
              call_options const& call = {}) {
        if (!gate_.is_open(call)) return gate_.why();
        auto& session = assembly_.template session_of<Collection>();
        return assembly_.patience_of(call)(
            [&] { return session.template scan<Collection>(after, limit); });
    }

    [[nodiscard]] options const& limits() const { return assembly_.limits(); }
    /// The name of this process as the owner of entries.
    [[nodiscard]] std::string const& owner() const { return assembly_.owner(); }

protected:
    friend class detail::served_engine_of<Arguments...>;
    using assembly_type = detail::assembly<Arguments...>;

    template <typename... Given>
    explicit engine_access(Given&&... arguments)
        : assembly_(detail::assembled<assembly_type>(std::forward<Given>(arguments)...)) {}
    ~engine_access() = default;

    [[nodiscard]] auto calls() {
        return detail::engine_calls<typename assembly_type::order_rules>{assembly_.seam(), gate_};
    }

    template <typename Collection>
    void check_looks() {
        using session = std::remove_cvref_t<decltype(assembly_.template session_of<Collection>())>;
        static_assert(
            requires(session& from, look_request const& request) { from.look(request); },
            "settle: the store of this collection gives no record with its marks in one "
            "look, which read_committed needs. See committed_reads#stores");
    }
    [[nodiscard]] auto read_decided(std::span<detail::target_binding const> targets,
                                    std::span<looked_record const> records,
                                    std::span<void const* const> collections,
                                    call_options const& call) {
        detail::environment_view const environment{assembly_.environment()};
        return detail::read_decided({assembly_.seam().ports, targets, assembly_.beside_log(),
                                     records, collections, environment, limits(), call});
    }
    template <typename Record>
    [[nodiscard]] static std::optional<Record>
    record_of(record_slot<detail::any_record> const& slot) {
        if (!slot.record) return std::nullopt;
        return *static_cast<Record const*>(slot.record->get());
    }

    assembly_type assembly_;
    detail::gate gate_;
};

SETTLE_END
