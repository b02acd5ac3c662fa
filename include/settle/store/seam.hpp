// SPDX-License-Identifier: BSL-1.0
// The seam: what a store and a log promise to the engine. The author of an adapter reads this file
// first; the store suite (settle/testing/store_suite.hpp) checks every sentence of it. The shortest
// example is tests/conformance/map_store.hpp: records in a std::map behind a mutex, and a log in a
// file.
//
// A database is an object that outlives its engines. It hosts records, a log, or both:
//
//   database.bind<Collections...>(log_name)   A session of a store, for some collections.
//       A store belongs to one log: the first name that it is bound with stays in it, and a bind
//       with another name throws settle::failure with errc::other_log.
//   database.bind_log()                       A session of a log.
//   database.is_same(other)                   Optional: both objects are of one place, so that each
//       can be used for the other. An engine binds such collections with the log's object.
//   database.shares_clients(other)            Optional: one native transaction can hold records of
//       both, and the log of either.
//
// Several threads may call one session at the same time, unless the documentation of the database
// forbids it. No session knows a transaction type: each request points at descriptors
// (store/descriptor.hpp), and a log keeps parameters as the JSON that the descriptor writes. The
// members that are called optional below are found in the session's type (session_capabilities).
//
// A store executes the parts of one or several kinds (part_kind): records, or another kind with a
// key, a stage and answers. The rules below for records, collections and marks hold for stores of
// records; a store of another kind lists no mark.
//
// A session of a store (StoreSession):
//   holds<Target>::value          Whether the session executes parts of this collection or service.
//   execute(requests, results)    Executes part requests (store/request.hpp) and sets the result of
//       each. All requests of a call have the same action, and the session holds each target.
//       Requests of one transaction are adjacent. Each takes effect at most once, alone or together
//       with others, but never in part. For a part of a record, the store finds the collection with
//       is_part_of<C>(request) and the key with key_of<C>(request), calls settle::execute() on the
//       key's record_slot, stores what changed in it (also a mark without a record), and answers
//       with result_of(); see store/record.hpp. Every answer but `unknown` is certain: a part
//       answered `applied` is durable, and a part answered `unavailable` took no effect and never
//       will. A part answered `unknown` took effect at most once, possibly later. Where a record
//       cannot be used, the answer is result_of_unusable(). The process stops if a request has no
//       answer. A session may repeat requests by itself; a part that the first attempt confirmed or
//       undid then answers `nothing`.
//   read<C>(key), create<C>(record), scan<C>(after, limit)
//       Access to records outside of transactions. `create` fails with errc::record_exists for a
//       key that has a record or a mark (record_exists_in()). `scan` gives records after a key, or
//       from the first; integers are ordered by value, texts by their bytes.
//   create_all<C>(records, results)   Optional: create() for each record, in one call.
//   look(request)                 Optional: a store_look (store/look.hpp): one atomic read of
//       records and all their marks, which no newer look or change contradicts. With
//       `with_entries`, which is true only if one native transaction can hold the records and the
//       engine's log, the look may be at the log, too. Other reads may follow it, so a store that
//       cannot do that gives the records and the marks. Versions spare readers of several stores a
//       hold. A store that reads each record by itself says so in `is_of_one_moment`. A store
//       without `ends` takes keys alone, and a read of a whole collection is then refused.
//       look(request, log) is called instead where the session has it, with the session of the
//       engine's log: of the same database if the request has `with_entries`. With a `hold`, which
//       the engine's session of the log of this same database has given, the look waits for nothing
//       that waits for the end of the hold. A store that can read as of an earlier moment calls
//       `at_moment` and then reads its rows as of a moment before that call; meanwhile it keeps
//       nothing for itself that another look needs, and writers go on. A store that waits for the
//       answer of a server may call `while_asked` before: other servers are then asked, too.
//   marks(after, limit)           At most `limit` marks of the session's records, after a mark that
//       may no longer exist, or from the first. The store chooses the order, but it depends only on
//       the collection, key, transaction id and part of a mark. So pages of any size list each mark
//       once. A mark that cannot be read is listed with its fault.
//   resolve(locator, confirmed)   Confirms or undoes the mark with exactly the locator's epoch;
//       resolve_mark() decides. The answer is `applied`, or `nothing` if there is no such mark. An
//       error means that the mark may remain; the caller may repeat the call.
//
// Optional members of a session of a store:
//   one_phase(requests, log, context, decider)   Needs `static constexpr bool settles_in_one_phase
//       = true`. Settles each request in a native transaction that holds its entry and its parts
//       in this database: all parts of a transaction in one phase, or the parts that a commit
//       joins. `log` is the engine's session of the log of this same database, or of one that
//       shares its clients. Inside the native
//       transaction the store executes the parts, sets the results and calls
//       decider.decide(request). If decide() returns true, the store writes request.write with
//       `log`; if it returns false, the store changes nothing for this request, and its result is
//       `held_back`. end_one_phase() then ends each applied part: it confirms the part if the entry
//       becomes `done` or `applied`, and undoes it otherwise. A request whose entry exists is
//       `left_out`: its parts are not executed. Every part of any other request has an answer: the
//       process stops if a transaction would be done with a part that was not applied. If the
//       native transaction is repeated, the requests are executed and decided again, in their
//       order.
//   join(other)                   From now on the session also executes the parts of another
//       session's collections, in the same native transactions. Reads, creations, marks and
//       resolve() stay with the other session. Returns false, and changes nothing, if it cannot.
//       Both are of one object, or of objects that share clients, and settle in one phase. Called
//       by an engine that is built, before all other calls.
//   capabilities()                A session_capabilities, where the server or the database that the
//       session is bound to decides: settles_in_one_phase, recovery_wave_size, and keeps_at_insert
//       of a log may say less than the session's type.
//   start(requests, results), finish(results), abandon(results), expect_others()
//       For a store that can work while other stores do. expect_others() is called once, if the
//       engine has other stores. Then start() begins a wave, and finish() waits until its results
//       are set. Requests and results stay where they are until then. abandon() waits for the end
//       of a wave whose results are no longer needed.
//   finish_by(results, until, over)   As finish(), but waits no longer than until a moment of the
//       steady clock. If it returns false, the wave goes on without the caller: over() is called by
//       any thread once the results are set, after which the wave uses nothing of the session.
//       Requests and results stay until then.
//   force(since)                  For a store that need not wait for the disk when it confirms a
//       part whose request says may_be_lost: a crash may lose such a confirm after its answer,
//       together with all later writes of the store. force() makes durable what the session has
//       answered since a moment of detail::next_session_moment(). It writes something, since a
//       native transaction that changes nothing waits for no disk, and waits until that is durable.
//       Returns false unless this was in a session with the server that began before the moment:
//       after a crash, a later write says nothing of the earlier ones. The answers of a store
//       without this member are durable.
//   begin(requests, results), start(started)   For a store whose parts take as long as others like.
//       begin() takes the parts of one transaction, and gives their detail::parts_under_way;
//       start() starts what they have begun. Answers come from any thread, through
//       started_parts::signal.
//   expect<C>(key)                A request will name this record soon (fetches_ahead = true).
//   longest_id()                  The longest id, in bytes, that the session can use.
//   forget(before, limit)         Erases at most `limit` receipts that were written before a time,
//       and returns their number. No unfinished entry was created before that time.
//   time()                        The time by the clock that dates these receipts.
//   wave_size, recovery_wave_size How many transactions the session prefers in one call, and how
//       many entries to take over. Without them: 1000, and wave_size.
//       A session of a log may have them, too.
//   largest_window                The largest window that an engine uses by default: 1 if a part
//       holds locks until its transaction is decided.
//
// A session of a log (LogSession):
//   name()                        The log's name: unique, without a '/', and the same for all of
//       its life. It is part of the keys of calls.
//   write(writes, results, context)   Inserts entries, or changes each by compare-and-set on state,
//       epoch and revision. The entry gets the fields of write.change: `to`, `to_epoch`,
//       `committed`, `attempts`, `to_revision`, `stages_kept`; and context.now as `modified`. An
//       insert also stores the id, write.created, write.traceparent, context.owner, and
//       write.type's name, definition and json(). A change stores context.owner if
//       change.takes_owner is set. If change.why is
//       not `none`, the entry gets it as `why`, write.failed() as its participant and line, and
//       write.why_text. A pause writes `call_tries`, `next_try` and `modified` alone.
//       They count as 0 once the entry has another state or further kept stages. All other fields
//       stay. A read gives at most 500 bytes of
//       that text, and no stored value of it makes an entry unreadable. adapter/entry_fields.hpp
//       lists the fields for each action. All writes of a call have the same action. Each takes
//       effect alone or together with others, but never in part, and has an answer of its own.
//       results[i].row is writes[i].row at first. A new entry has revision 0 and no results, and
//       the kept stages that the insert gives: none, unless the session has keeps_at_insert. An
//       insert for which write.expires() is true takes no effect after write.last_moment, however
//       long this process stands still before its message leaves, and is answered `unavailable`:
//       no purge may come between the look at a clock and the write. A log of this process looks
//       at write.is_late(context) in its native write; a server looks at its own clock, or ends a
//       native transaction that stands still after the engine's clock was looked at. A keep
//       leaves the epoch and the owner, and may change `pending` to `deciding`; it raises the
//       revision and the number of kept stages, which no other write changes. A write with lists of
//       images and results replaces the lists of the entry; any other write leaves them. If
//       write.replaces_bar(), an insert replaces the entry that is there, if that has the state and
//       the epoch that write.change expects, in the same native write. A purge treats a bar as a
//       finished entry, and no insert is answered `ended` for it. Answers:
//         taken        the write is durable
//         conflict     the entry is there already (insert), or not in the state, epoch and revision
//                      that the change expects
//         ended        instead of `conflict` to an insert, only if the entry that is there is
//                      final: then later transactions of the window that share a record or the id
//                      may go on
//         unavailable  no effect; the same write may be sent again
//         unfit        no effect, now or later: the log cannot hold the entry, or, at a keep or a
//                      commit, the images or results would make the entry too large
//         blocked      no effect: a record or the entry is damaged, so that no worker can end the
//                      transaction before a person repairs it; the entry stays as it is
//         unknown      the write took effect at most once, possibly later
//   look_up(requests, found)      Calls found(index, result<std::optional<entry>>, same) for every
//       request: its entry as it was at some moment of this call. An entry that was inserted a
//       moment ago may be missing if the request says inserts_next. `same` is true if the log has
//       compared type, definition and parameters with the request's; the entry then lacks its
//       parameters. A request without a type is not compared. found() makes no call to the log.
//   read(id), list(filter, after, limit)   One entry, or nothing if there is none; at most `limit`
//       entries that match the filter, in the order of the bytes of their ids, after an id. An
//       empty id lists from the first. An entry that cannot be read is listed with its fault, and
//       read() returns errc::damaged for it.
//   purge(before, limit, passed)  Erases at most `limit` finished entries whose creation and last
//       change both precede `before`, and returns how far it has passed the log. The next call goes
//       on there, so that a purge looks at no entry twice.
//   metadata(name), replace_metadata(name, seen, text)   Short texts that belong to the log and
//       to no entry: the longest horizon of its engines, which calls a person has paused, and
//       the actions that persons took. A name has at most 64 bytes.
//       metadata() reads a text, or nothing if there is none. replace_metadata() stores a text
//       durably if the stored text is still `seen`; else it changes nothing. The caller reads again
//       to learn which of both happened.
//   list_metadata(range, limit), erase_metadata(range)   The last `limit` texts of a range of
//       names, the last name first; erases the texts of a range. Names are compared by their bytes.
//   home(), take_home(seen, renames)   Optional: where the log is, and where it was when the log
//       last kept that. home() gives the kept and the present home as texts for a person, and
//       whether both are one place; a log without a kept home is at home. An election, a restart or
//       a new name of its file is no other place, and a copy is. take_home() keeps seen.present
//       durably, if the log still keeps seen.kept; else it changes nothing. With `renames` the log
//       gets a new name in the same write, and so does the log that the records of this database
//       belong to, if that was this log. Sessions that were bound before have the old name. Each
//       engine calls home() when it is built, before it binds a store.
//   hold_entries()                Optional: a result<std::unique_ptr<log_hold>>. Until its end, no
//       write of an entry takes effect, by any program. The call does not make writers wait for
//       long: it fails with a retryable error if others do not let it begin soon, and a hold that
//       its program does not end for a second or so ends by itself where that is possible. Its
//       look_up() is of a moment of the hold, also after its end.
//   expect(id)                    Optional: an insert of this id comes soon (fetches_ahead = true).
//   keeps_at_insert = true        Optional: an insert may keep a stage, which saves the engine a
//       write. write.expires() is true of it, too.
#pragma once

#include <settle/store/log_hold.hpp>
#include <settle/store/parts_under_way.hpp>
#include <settle/store/session_moment.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <limits>

SETTLE_BEGIN

/// A mark as a sweeper sees it.
struct mark_locator {
    std::string collection;
    key_value key;
    transaction_id id;
    part_number part;
    epoch epoch_number = 0;
    error fault{}; ///< why the mark cannot be used; its id, key or part may then be empty

    friend bool operator==(mark_locator const&, mark_locator const&) = default;
};

/// The filter of a listing.
struct entry_filter {
    std::optional<settle::state> state{}; ///< one state only
    bool unfinished = false;              ///< neither initial nor final
    /// Last modified at this time or earlier. (`before` of a purge excludes the time itself.)
    std::optional<timestamp> before{};
    /// With `before`: also entries that were created or modified later than this time, which a
    /// wrong clock has written.
    std::optional<timestamp> ahead_of{};

    /// True if no entry can match.
    [[nodiscard]] bool is_impossible() const noexcept {
        return unfinished && state && (is_final(*state) || *state == settle::state::initial);
    }
};

/// The result of one step of a purge.
struct purged {
    static constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

    std::uint64_t erased = 0;
    bool more = false;             ///< more entries may be old enough
    std::int64_t passed = nothing; ///< the position in the log at which the next step goes on
};

/// A range of names of metadata.
struct metadata_range {
    std::string from{}; ///< the first name
    std::string to{};   ///< the name behind the last
};

struct metadata_text {
    std::string name{};
    std::string text{};

    friend bool operator==(metadata_text const&, metadata_text const&) = default;
};

/// Where a log is.
struct log_home {
    std::string kept{};    ///< where it was; empty if the log does not keep it yet
    std::string present{}; ///< where it is now; empty if the store cannot tell
    bool is_same = true;   ///< false if the log is a copy, or was moved
};

/// A session of a store. See the head of this file.
template <typename Session>
concept StoreSession =
    requires(Session& session, std::span<part_request const> requests,
             std::span<part_result> results, std::optional<mark_locator> const& after,
             mark_locator const& locator) {
        session.execute(requests, results);
        { session.marks(after, std::size_t{}) } -> std::same_as<result<std::vector<mark_locator>>>;
        { session.resolve(locator, true) } -> std::same_as<result<answer>>;
    };

/// A session of a store that holds a collection.
template <typename Session, typename Collection>
concept StoreSessionOf =
    StoreSession<Session> && Session::template holds<Collection>::value &&
    requires(Session& session, typename Collection::key_type const& key,
             typename Collection::record_type const& record,
             std::optional<typename Collection::key_type> const& after) {
        {
            session.template read<Collection>(key)
        } -> std::same_as<result<std::optional<typename Collection::record_type>>>;
        { session.template create<Collection>(record) } -> std::same_as<result<void>>;
        {
            session.template scan<Collection>(after, std::size_t{})
        } -> std::same_as<result<std::vector<typename Collection::record_type>>>;
    };

/// A database that holds records of these collections.
template <typename Database, typename... Collections>
concept Store =
    requires(Database& database, std::string const& log_name) {
        { database.template bind<Collections...>(log_name) } -> StoreSession;
    } &&
    (StoreSessionOf<decltype(std::declval<Database&>().template bind<Collections...>(
                        std::declval<std::string const&>())),
                    Collections> &&
     ...);

/// A session of a log. See the head of this file.
template <typename Session>
concept LogSession =
    requires(Session& session, std::span<entry_write const> writes, std::span<write_result> results,
             write_context const& context, std::span<read_request const> requests,
             found_function found, transaction_id const& id, entry_filter const& filter,
             timestamp before, std::string_view text, metadata_range const& names) {
        { session.name() } -> std::convertible_to<std::string const&>;
        session.write(writes, results, context);
        session.look_up(requests, found);
        { session.read(id) } -> std::same_as<result<std::optional<entry>>>;
        { session.list(filter, id, std::size_t{}) } -> std::same_as<result<std::vector<entry>>>;
        { session.purge(before, std::size_t{}, purged::nothing) } -> std::same_as<result<purged>>;
        { session.metadata(text) } -> std::same_as<result<std::optional<std::string>>>;
        {
            session.replace_metadata(text, std::optional<std::string>{}, std::string{})
        } -> std::same_as<result<void>>;
        {
            session.list_metadata(names, std::size_t{})
        } -> std::same_as<result<std::vector<metadata_text>>>;
        { session.erase_metadata(names) } -> std::same_as<result<void>>;
    };

/// A database that hosts a log.
template <typename Database>
concept Log = requires(Database& database) {
    { database.bind_log() } -> LogSession;
};

namespace detail {

/// Called once by any thread when a wave is over that was left to itself.
using wave_end = std::function<void()>;

/// What a session can do beyond what every session must, with the defaults of the others.
struct session_capabilities {
    bool settles_in_one_phase = false;
    bool marks_keep_births = true; ///< false where a mark of another program has no epoch
    bool limits_ids = false;       ///< it has longest_id()
    bool forgets = false;          ///< it keeps receipts, which a purge erases
    bool compares_clocks = false;  ///< it has time(), the clock that dates its receipts
    bool keeps_home = false;
    bool keeps_at_insert = false;
    bool confirms_lazily = false; ///< it has force()
    bool fetches_ahead = false;
    bool answers_later = false;   ///< it has begin(), which makes calls while the engine goes on
    bool overlaps_others = false; ///< its waves can be under way while other stores have theirs
    bool waves_go_on = false;     ///< it has finish_by(), after which a wave is left to itself
    /// It is a plain container of this process, and may be called with the types of the
    /// transactions: a store has execute_typed(wave) too, and a log has hold() and write_one().
    bool is_container = false;
    std::size_t wave_size = 1000;
    std::size_t recovery_wave_size = 1000;
    std::size_t largest_window = std::numeric_limits<std::size_t>::max();
};

template <typename Session>
constexpr session_capabilities capabilities_of() {
    session_capabilities own;
    if constexpr (requires { Session::settles_in_one_phase; })
        own.settles_in_one_phase = Session::settles_in_one_phase;
    if constexpr (requires { Session::keeps_at_insert; })
        own.keeps_at_insert = Session::keeps_at_insert;
    if constexpr (requires { Session::fetches_ahead; }) own.fetches_ahead = Session::fetches_ahead;
    if constexpr (requires { Session::is_container; }) own.is_container = Session::is_container;
    if constexpr (requires { Session::wave_size; }) own.wave_size = Session::wave_size;
    own.recovery_wave_size = own.wave_size;
    if constexpr (requires { Session::recovery_wave_size; })
        own.recovery_wave_size = Session::recovery_wave_size;
    if constexpr (requires { Session::largest_window; })
        own.largest_window = Session::largest_window;
    own.limits_ids = requires(Session const& session) { session.longest_id(); };
    own.compares_clocks = requires(Session& session) { session.time(); };
    own.forgets = requires(Session& session, timestamp before, std::size_t limit) {
        { session.forget(before, limit) } -> std::same_as<result<std::uint64_t>>;
    };
    own.keeps_home = requires(Session& session, log_home const& seen) {
        { session.home() } -> std::same_as<result<log_home>>;
        { session.take_home(seen, true) } -> std::same_as<result<void>>;
    };
    own.answers_later = requires(Session& session, std::span<part_request const> requests,
                                 std::span<part_result> results, started_parts& started) {
        session.begin(requests, results);
        session.start(started);
    };
    own.confirms_lazily = requires(Session& session, session_moment since) {
        { session.force(since) } -> std::same_as<bool>;
    };
    own.overlaps_others = requires(Session& session, std::span<part_request const> requests,
                                   std::span<part_result> results) {
        session.expect_others();
        session.start(requests, results);
        session.finish(results);
        session.abandon(results);
    };
    own.waves_go_on = requires(Session& session, std::span<part_result> results,
                               std::chrono::steady_clock::time_point until, wave_end const& over) {
        { session.finish_by(results, until, over) } -> std::same_as<bool>;
    };
    return own;
}

template <typename Session>
inline constexpr session_capabilities capabilities = capabilities_of<Session>();

/// What a session can do on the server that it is bound to.
template <typename Session>
[[nodiscard]] session_capabilities capabilities_here(Session const& session) {
    if constexpr (requires { session.capabilities(); }) return session.capabilities();
    else return capabilities<Session>;
}

} // namespace detail
SETTLE_END
