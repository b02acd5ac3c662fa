// SPDX-License-Identifier: BSL-1.0
// The records of one collection that a wave meets: read in one go, changed here, written in one go.
#pragma once

#include <settle/mongodb/bare_mark.hpp>
#include <settle/mongodb/conditional_update.hpp>
#include <settle/mongodb/native.hpp>
#include <settle/store/hash_index.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// When a record is read.
enum class reading : std::uint8_t {
    always,
    if_needed ///< not where its change can be written without: whether it could be, shows then
};

/// A field that comes and goes with a write that leaves a record as it is.
inline constexpr std::string_view held_field = "settle_held";

/// Shape:   a desk lives as long as one attempt
template <typename Collection>
class desk {
    using codec = record_codec<Collection>;

public:
    using record_type = typename Collection::record_type;
    using slot_type = record_slot<record_type>;
    static constexpr bool has_text_key = std::is_same_v<typename Collection::key_type, std::string>;
    using stored_key = std::conditional_t<has_text_key, std::string, std::int64_t>;
    using key_view = std::conditional_t<has_text_key, std::string_view, std::int64_t>;

    /// A record as it stands on the desk.
    struct place {
        stored_key key{};
        slot_type slot{};
        std::optional<document> found{};  ///< as it was read
        std::optional<conditional_update> conditional{}; ///< what is written instead of reading it
        error fault{};                    ///< why it cannot be used
        std::uint64_t changed = 0;        ///< members that are to be written
        std::vector<mark_place> added{};  ///< marks that are new
        std::vector<mark_place> pulled{}; ///< marks that are gone
        bool rewritten = false;           ///< a mark has changed where it is
        bool held = false;                ///< what was only looked at must stay as it is
        std::string image{};              ///< of which it was made again
        std::vector<std::string> bare{};  ///< marks of other programs that no operation has met
        bool bare_met = false;            ///< one of them has become a mark of settle's
    };

    explicit desk(record_layout layout = {}, reading when = reading::always)
        : codec_(std::move(layout)), reads_(when) {}

    /// Tells of an operation that is to meet its record, in the order in which they will.
    template <typename Operation>
    void expect(Operation const& one) {
        auto const known = places_.size();
        auto const number = find_place(one.key());
        expected_.push_back(number);
        if (reads_ == reading::always) return;
        // What two operations meet, the second meets as the first has left it.
        if (number == known) places_[number].conditional = conditional_of(one);
        else places_[number].conditional.reset();
    }
    void expect(stored_key const& key) { expected_.push_back(find_place(key)); }

    /// Whether one of those that are expected cannot be changed without reading it.
    [[nodiscard]] bool has_to_read() const {
        return std::any_of(places_.begin(), places_.end(),
                           [](place const& at) { return !at.conditional; });
    }

    /// Reads the records that are expected.
    /// Shape:   options - of the find
    /// Errors:  throws command_failure
    void fetch(link& with, document options = {}) {
        document keys;
        std::size_t count = 0;
        for (place const& at : places_) {
            if (!at.conditional) append_key(keys, std::to_string(count++), at.key);
        }
        if (count == 0) return;
        document among;
        among.array("$in", keys);
        auto const filter = only(codec_.layout().key, among);
        with.find(Collection::name, filter, std::move(options), "read records",
                  [&](document found) { put(std::move(found)); });
    }

    /// Puts the document of an expected record on the desk.
    void put(document found) {
        auto* const at = place_of(found);
        if (at == nullptr) return;
        auto problem = codec_.decode(found, at->slot, at->bare);
        if (at->found) problem = "two documents have this key";
        if (!problem.empty()) at->fault = damaged(*at, problem);
        at->found.emplace(std::move(found));
    }

    /// Lets the operation that is expected next meet its record.
    /// Errors:  throws errc::damaged when the record cannot be used
    template <typename Operation>
    [[nodiscard]] met<record_type> meet(Operation const& one) {
        place& at = places_[expected_[met_++]];
        auto const known = meet_unruled(at, one.at(), one.id(), one.part(),
                                        [&] { return bare_mark_of<record_type>(one); });
        if (known) return *known;
        auto result = one.meet(at.slot, whole_document{codec_, at});
        note(result, at, one.id(), one.part());
        if constexpr (Operation::applies) {
            if (result.on_record == record_change::created) at.image = one.intent().native_image();
        }
        return result;
    }

    /// Ends an operation that was met here, at once.
    void end_at_once(key_view key, part_end<Collection> const& one, bool confirmed) {
        place& at = places_[find_place(key)];
        if (at.conditional) {
            // Who stopped it is known only when all have been looked at.
            mistaken_ = mistaken_ || !confirmed;
            return;
        }
        at.held = at.held || confirmed;
        note(one.end_at_once(at.slot, confirmed), at, one.id(), one.part());
    }

    /// Ends one mark, when it still has this epoch.
    [[nodiscard]] answer resolve(mark_place const& where, bool confirmed) {
        place& at = places_.front();
        if (!at.fault.empty()) throw failure(at.fault);
        auto* const found = at.slot.marks.find(where.id, where.part);
        if (found == nullptr || found->epoch_number != where.epoch_number) return answer::nothing;
        auto const result = settle::detail::resolve(at.slot, found, confirmed);
        note(result, at, where.id, where.part);
        return result.what;
    }

    /// Raises the mark of the operation that is expected next, a bare one included.
    /// Errors:  throws errc::damaged when the record cannot be used
    template <typename Operation>
    [[nodiscard]] answer raise_mark(Operation const& one, epoch under) {
        place& at = places_[expected_[met_++]];
        if (!at.fault.empty()) throw failure(at.fault);
        if (!at.bare.empty()) {
            meet_bare(at, one.id(), one.part(), [&] { return bare_mark_of<record_type>(one); });
        }
        auto* const found = at.slot.marks.find(one.id(), one.part());
        if (found == nullptr) return answer::nothing;
        if (found->epoch_number > under) return answer::fenced;
        at.rewritten = at.rewritten || found->epoch_number < under;
        found->epoch_number = under;
        return answer::applied;
    }

    /// Undoes a bare mark.
    /// Shape:   deltas - what that adds to each member
    [[nodiscard]] answer undo_bare(transaction_id const& id, integers<record_type> const& deltas) {
        place& at = places_.front();
        if (!at.fault.empty()) throw failure(at.fault);
        auto const own = std::find(at.bare.begin(), at.bare.end(), id);
        if (own == at.bare.end()) return answer::nothing;
        at.bare.erase(own);
        undo(at, deltas);
        return answer::applied;
    }

    /// Writes what operations have changed.
    /// Shape:   alone - nothing can come between the reading and the writing; otherwise a record
    ///          changes only if it still stands as it was read
    /// Errors:  throws command_failure in a native transaction; a refusal of one record says which
    ///          it was in `refused()`
    /// Returns: whether every change took effect, or what became of the whole
    [[nodiscard]] bool write(link& with, bool alone, ending& ended) {
        if (mistaken_) return false;
        bulk all{with, Collection::name};
        std::vector<place*> writes;
        std::int64_t updates = 0;
        std::int64_t inserts = 0;
        std::int64_t removes = 0;
        auto const update = [&](place& at, document const& filter, document const& change) {
            all.update(filter, change);
            writes.push_back(&at);
            ++updates;
        };
        for (place& at : places_) {
            bool const stays = at.found && at.slot.record;
            if (at.conditional) {
                update(at, at.conditional->filter, at.conditional->change);
            } else if (stays && is_changed(at)) {
                update(at, filter_of(at, alone), change_of(at));
            } else if (stays && alone && at.held) {
                // Native transactions see a snapshot, and meet only where both of them write.
                document const here = filter_of(at, alone);
                document held;
                update(at, here, only("$set", held.integer(held_field, 1)));
                update(at, here, only("$unset", held));
            }
        }
        for (place& at : places_) {
            if (at.found || !at.slot.record) continue;
            all.insert(codec_.encode(at.slot, at.image));
            writes.push_back(&at);
            ++inserts;
        }
        for (place& at : places_) {
            if (!at.found || at.slot.record || !at.fault.empty()) continue;
            all.remove(filter_of(at, alone));
            writes.push_back(&at);
            ++removes;
        }
        auto const result = all.execute("change records");
        for (auto const& one : result.refused) {
            // A record of this key came in between; whoever looks again finds it.
            if (is_taken(one.problem, *writes[one.index])) continue;
            if (writes[one.index]->conditional) mistaken_ = true;
            else writes[one.index]->fault = one.problem;
        }
        ended = ending_of(result);
        if (mistaken_) return false;
        if (alone && !result.refused.empty()) {
            auto const& first = result.refused.front();
            throw command_failure(first.problem, writes[first.index]->fault.empty());
        }
        if (alone && !result.problem.empty()) {
            throw command_failure(result.problem, result.transient);
        }
        return result.matched == updates && result.inserted == inserts && result.removed == removes;
    }

    /// Takes over what an earlier attempt learned of records that cannot be used.
    void learn(desk const& earlier) {
        known_faults_ = earlier.known_faults_;
        for (place const& at : earlier.places_) {
            if (!at.fault.empty() && !knows(at.key)) known_faults_.emplace_back(at.key, at.fault);
        }
    }
    /// How many records are known to be unusable.
    [[nodiscard]] std::size_t faults() const {
        auto const is_new = [&](place const& at) {
            return !at.fault.empty() && !knows(at.key);
        };
        return known_faults_.size() + static_cast<std::size_t>(std::count_if(
                                          places_.begin(), places_.end(), is_new));
    }

    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

    /// The record that was expected alone, if it is there.
    /// Errors:  throws errc::damaged
    [[nodiscard]] std::optional<record_type> only_record() const {
        place const& at = places_.front();
        if (!at.fault.empty()) throw failure(at.fault);
        return at.slot.record;
    }
    /// Errors:  throws errc::damaged
    [[nodiscard]] record_type record_of(document const& from) const {
        place at;
        auto const problem = codec_.decode(from, at.slot, at.bare);
        if (problem.empty()) return *std::move(at.slot.record);
        if (auto const id = from.find(codec_.layout().key)) {
            typename Collection::key_type key{};
            if (read_field(*id, key).empty()) at.key = stored_key(key);
        }
        throw failure(damaged(at, problem));
    }

private:
    /// Gives a whole document as JSON. It has a name so that it is one for all operations.
    struct whole_document {
        codec const& with;
        place const& at;

        std::string operator()() const {
            return at.found ? with.image_of(*at.found, *at.slot.record)
                            : encode_json(*at.slot.record);
        }
    };

    [[nodiscard]] bool knows(stored_key const& key) const {
        return std::any_of(known_faults_.begin(), known_faults_.end(),
                           [&](auto const& one) { return one.first == key; });
    }

    static void append_key(document& to, std::string_view name, stored_key const& key) {
        if constexpr (std::is_same_v<stored_key, std::string>) to.text(name, key);
        else to.integer(name, key);
    }

    std::size_t find_place(key_view key) {
        auto const hash = settle::hash_mix(0, std::hash<key_view>{}(key));
        auto const* const known = index_.find(
            hash, [&](std::size_t number) { return key_view{places_[number].key} == key; });
        if (known != nullptr) return *known;
        index_.insert(hash, places_.size());
        place& made = places_.emplace_back();
        made.key = stored_key{key};
        for (auto const& [of, fault] : known_faults_) {
            if (of == made.key) made.fault = fault;
        }
        return places_.size() - 1;
    }

    place* place_of(document const& found) {
        auto const id = found.find(codec_.layout().key);
        typename Collection::key_type key{};
        if (!id) return nullptr;
        if (read_field(*id, key).empty()) return &places_[find_place(key_view(key))];
        // To the server, a decimal or a large double is the same key; to settle it is none.
        if constexpr (!has_text_key) {
            std::int64_t number = 0;
            auto const decimal = id->decimal();
            if (decimal && read_decimal_text(*decimal, 0, number)) {
                return &places_[find_place(number)];
            }
            if (auto const large = id->whole_double()) return &places_[find_place(*large)];
        }
        return nullptr;
    }

    static error damaged(place const& at, std::string const& problem) {
        std::string shown;
        if constexpr (std::is_same_v<stored_key, std::string>) shown = at.key;
        else shown = std::to_string(at.key);
        return {make_error_code(errc::damaged),
                "settle: the record '" + shown + "' of '" + std::string{Collection::name} +
                    "' cannot be used: " + problem + ". Repair the document. README#damaged"};
    }

    [[nodiscard]] bool is_taken(error const& problem, place const& at) const {
        return !at.found && is_of_taken_key(problem, codec_.layout().key);
    }

    void note(met<record_type> const& result, place& at, transaction_id const& id,
              part_number part) {
        at.changed |= result.fields;
        if (result.on_mark == mark_change::raised) at.rewritten = true;
        if (result.on_mark == mark_change::none || result.on_mark == mark_change::raised) return;
        mark_place const where{{}, {}, id, part, 0};
        if (result.on_mark == mark_change::added) {
            at.added.push_back(where);
            return;
        }
        // What came and went on the desk was never in the document.
        auto const came = std::find(at.added.begin(), at.added.end(), where);
        if (came != at.added.end()) at.added.erase(came);
        else at.pulled.push_back(where);
    }

    /// How an operation of whatever type fills in a bare mark of its own.
    using bare_maker = settle::detail::function_view<mark<record_type>()>;

    /// Answers what is not for the record rule to say.
    std::optional<met<record_type>> meet_unruled(place& at, step what, transaction_id const& id,
                                                 part_number part, bare_maker make_bare) {
        if (at.conditional) {
            met<record_type> supposed;
            supposed.what = answer::applied;
            return supposed;
        }
        if (!at.fault.empty()) {
            // Where it never left a mark there is nothing to undo.
            if (undoes(what) && at.found && !codec_.may_hold_mark(*at.found, id, part)) {
                return met<record_type>{};
            }
            throw failure(at.fault);
        }
        if (at.bare.empty()) return std::nullopt;
        bool const others = meet_bare(at, id, part, make_bare);
        // Who adopts a mark takes no effect, and so has nothing to reckon with.
        bool const adopts = at.slot.marks.find(id, part) != nullptr;
        if (others && applies(what) && !adopts) {
            return settle::detail::refused<record_type>(answer::busy);
        }
        return std::nullopt;
    }

    /// Gives a bare mark of the operation's transaction what settle's marks carry. True when there
    /// are others, of which nobody knows what they did: a new effect has to reckon with them.
    bool meet_bare(place& at, transaction_id const& id, part_number part, bare_maker make_bare) {
        auto const own = std::find(at.bare.begin(), at.bare.end(), id);
        if (own != at.bare.end()) {
            auto found = make_bare();
            at.bare.erase(own);
            at.bare_met = true;
            if (at.slot.marks.find(id, part) == nullptr) {
                at.slot.marks.insert(std::move(found));
            } else {
                // A late write of the other program has taken effect a second time.
                undo(at, found.undo_delta);
            }
        }
        return !at.bare.empty();
    }

    /// Takes back what a bare mark did, which is gone already.
    void undo(place& at, integers<record_type> const& deltas) {
        auto const member = member_out_of_range(*at.slot.record, deltas);
        if (!member.empty()) {
            throw failure(damaged(at, "it would take '" + std::string{member} + "' out of its "
                                      "range to undo a mark of another program"));
        }
        at.changed |= settle::detail::add_to(*at.slot.record, deltas);
        at.rewritten = true;
    }

    static bool is_changed(place const& at) {
        return at.changed != 0 || at.rewritten || !at.added.empty() || !at.pulled.empty();
    }

    [[nodiscard]] document filter_of(place const& at, bool alone) const {
        document filter;
        append_key(filter, codec_.layout().key, at.key);
        // A field of the layout's may be an array in another document, which the key matches, too.
        if (auto const id = at.found->find("_id"); id && codec_.layout().key != "_id") {
            filter.copy("_id", *id);
        }
        if (alone) return filter;
        // Everything that the rule has looked at must be as it was.
        auto const expect_same = [&](std::string_view name) {
            document same;
            auto const value = at.found->find(name);
            if (value) same.copy("$eq", *value);
            else same.boolean("$exists", false);
            filter.object(name, same);
        };
        for_each_member<record_type>([&](auto m) {
            if (m.index != codec::key_index) expect_same(m.name);
        });
        expect_same(marks_field);
        return filter;
    }

    static document change_of(place const& at) {
        document set;
        for_each_member<record_type>([&](auto m) {
            if ((at.changed >> m.index & 1U) == 0 || m.index == codec::key_index) return;
            constexpr auto member = decltype(m)::pointer;
            append_member<member>(set, m.name, (*at.slot.record).*member);
        });
        document change;
        bool const moved = !at.added.empty() || !at.pulled.empty();
        auto const marks_there = at.found->find(marks_field);
        bool const no_array = marks_there && marks_there->is_null();
        // To push, or to pull one, is worth the server's while where others stay.
        bool const none_stays = at.slot.marks.size() + at.bare.size() == at.added.size();
        bool const several = !at.pulled.empty() && at.added.size() + at.pulled.size() > 1;
        if (at.rewritten || no_array || at.bare_met || (moved && (none_stays || several))) {
            set.array(marks_field, codec::marks_of(at.slot, bare_marks_of(*at.found, at.bare)));
        } else if (!at.added.empty()) {
            document marks;
            std::size_t number = 0;
            for (mark_place const& one : at.added) {
                marks.object_at(number++, encode_mark(*at.slot.marks.find(one.id, one.part)));
            }
            document each;
            each.array("$each", marks);
            change.object("$push", only(marks_field, each));
        } else if (!at.pulled.empty()) {
            mark_place const& one = at.pulled.front();
            change.object("$pull", only(marks_field, mark_key(one.id, one.part)));
        }
        if (!set.empty()) change.object("$set", set);
        return change;
    }

    template <typename Operation>
    [[nodiscard]] std::optional<conditional_update> conditional_of(Operation const& one) const {
        if constexpr (is_told_by_kinds<Collection>()) {
            auto const wanted = one.conditional();
            if (!wanted || !codec_.layout().is_own()) return std::nullopt;
            document filter;
            if constexpr (has_text_key) append_key(filter, "_id", stored_key(one.key()));
            else filter.object("_id", integer_key(one.key()));
            auto made = update_of<Collection>(std::move(filter), *wanted, one.at());
            // One that adds nothing is read: the server takes an empty change for a whole document.
            if (made.change.empty()) return std::nullopt;
            return made;
        } else {
            return std::nullopt;
        }
    }

    codec codec_;
    reading reads_;
    bool mistaken_ = false; ///< something that was not read is not as it was taken to be
    std::vector<place> places_;
    std::vector<std::size_t> expected_; ///< places of the operations, in their order
    std::size_t met_ = 0;               ///< how many of them have met their record
    settle::detail::hash_index index_;
    std::vector<std::pair<stored_key, error>> known_faults_;
};

} // namespace mongodb::detail
SETTLE_END
