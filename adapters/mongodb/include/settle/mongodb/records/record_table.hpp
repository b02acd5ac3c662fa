// SPDX-License-Identifier: BSL-1.0
// The records of one collection that a wave meets: reads, changes and writes them.
#pragma once

#include <settle/adapter/unit_of_work.hpp>
#include <settle/mongodb/connection/collections.hpp>
#include <settle/mongodb/connection/native.hpp>
#include <settle/mongodb/records/record_state.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

/// When a record is read.
enum class reading : std::uint8_t {
    always,
    if_needed ///< skip a record whose change a conditional update can write unread
};

/// How changed records are written.
enum class writing : std::uint8_t {
    together,   ///< all in few commands; nothing can change a record after its read
    separately, ///< as `together`, one command each, so that an error names the held record
    as_read     ///< each record only if it is unchanged since its read
};

/// A field that is set and unset to write a record without changing it.
inline constexpr std::string_view held_field = "settle_held";

/// Shape:   a table lives as long as one attempt, and the codec longer
class record_table : public settle::detail::records_of<record_table, record_state> {
    using base = settle::detail::records_of<record_table, record_state>;
    friend base;

public:
    explicit record_table(record_codec const& codec, reading when = reading::always)
        : base(codec.of()), codec_(&codec), reads_(when) {}

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& request) {
        auto const count = records_.size();
        auto const number = announce(request.key());
        record_state& state = with_known_fault(number);
        if (!applies(request.action)) state.ends = true;
        if (reads_ == reading::always) return;
        // A second request needs the record as the first one leaves it, so it must be read.
        if (number == count) state.conditional = conditional_of(*codec_, request);
        else state.conditional.reset();
    }
    void expect(part_key const& key) { static_cast<void>(with_known_fault(announce(key))); }

    /// Whether an announced request needs its record read.
    [[nodiscard]] bool has_to_read() const {
        return std::any_of(records_.begin(), records_.end(),
                           [](record_state const& state) { return !state.conditional; });
    }

    /// Reads the records of the announced requests.
    /// Shape:   options - of the find
    /// Errors:  throws command_failure
    void fetch(link& client, document options = {}) {
        document keys;
        std::size_t count = 0;
        for (record_state const& at : records_) {
            if (at.conditional) continue;
            append_key_forms(keys, codec_->layout(), settle::detail::view_of(at.key), count);
        }
        if (count == 0) return;
        document among;
        among.array("$in", keys);
        auto const filter = only(codec_->layout().key, among);
        client.find(of().name, filter, std::move(options), "read records",
                    [&](document document) { put(std::move(document)); });
        look_for_erased(client);
    }

    /// Reads all records of the collection.
    /// Errors:  throws command_failure, and errc::damaged for a key that cannot be read
    void fetch_all(link& client, document options) {
        client.find(of().name, {}, std::move(options), "read records", [&](document stored) {
            auto const key = codec_->key_in(stored);
            if (!key) codec_->read(stored, any_slot{*of().record}.emplace());
            else expect(settle::detail::view_of(*key));
            put(std::move(stored));
        });
    }

    /// Takes the document of an announced record.
    void put(document stored) {
        auto* const state = state_in(stored);
        if (state == nullptr) return;
        auto problem = codec_->decode(stored, state->slot.emplace(), state->slot, state->bare);
        if (state->stored) problem = "two documents have this key";
        if (!problem.empty()) state->fault = damaged_record(of(), state->key, problem);
        state->stored.emplace(std::move(stored));
    }

    /// Ends an applied part at once, in one phase.
    void end_one_phase(part_request const& request, bool confirmed) {
        record_state& state = state_of(request.key());
        if (state.conditional) {
            // The cause is known only after all records have been read.
            mistaken_ = mistaken_ || !confirmed;
            return;
        }
        state.must_stay = state.must_stay || confirmed;
        base::end_one_phase(request, confirmed);
    }

    /// Executes the next announced request, whose record is not to be written.
    /// Returns: the error that would stop the request
    [[nodiscard]] error look(part_request const& request) {
        try {
            static_cast<void>(execute(request));
        } catch (failure const& caught) {
            return caught.problem();
        }
        return state_of(request.key()).fault;
    }

    /// The record that was announced next.
    /// Errors:  throws errc::damaged when the record cannot be used
    [[nodiscard]] record_state& next_usable() {
        record_state& state = next();
        check(state);
        return state;
    }

    /// Writes the changed records.
    /// Errors:  throws command_failure in a native transaction. Where one record is refused, or
    ///          cannot be sent, this becomes that record's fault
    /// Returns: whether every change took effect; `ended` gets the result of the whole
    [[nodiscard]] bool write(link& client, writing how, commit_result& ended) {
        if (mistaken_) return false;
        bool const alone = how != writing::as_read;
        writes attempt_writes{client, *this, how == writing::separately};
        std::int64_t updates = 0;
        std::int64_t inserts = 0;
        std::int64_t removes = 0;
        error unfit;
        // The driver would refuse the other writes, too, and not name the record.
        auto const fits = [&](record_state& state, std::size_t bytes, std::size_t most) {
            if (bytes <= most) return true;
            unfit = state.fault = too_large(state, bytes);
            return false;
        };
        auto const update = [&](record_state& state, document const& filter,
                                document const& change) {
            if (!fits(state, filter.size() + change.size(), largest_update)) return;
            attempt_writes.next(state).update(filter, change);
            ++updates;
        };
        for (record_state& state : records_) {
            bool const stays = state.stored && state.slot.has_record();
            if (state.conditional) {
                update(state, state.conditional->filter, state.conditional->change);
            } else if (stays && state.is_changed()) {
                update(state, state.filter(*codec_, alone), state.change(*codec_));
            } else if (stays && alone && state.must_stay) {
                // A native transaction reads a snapshot: only two writes conflict.
                document const filter = state.filter(*codec_, alone);
                document held;
                update(state, filter, only("$set", held.integer(held_field, 1)));
                update(state, filter, only("$unset", held));
            }
        }
        for (record_state& state : records_) {
            if (state.stored || !state.slot.has_record()) continue;
            try {
                auto const encoded =
                    codec_->encode(state.slot.record(), codec_->marks_of(state.slot), state.image);
                if (!fits(state, encoded.size(), largest_document)) continue;
                attempt_writes.next(state).insert(encoded);
                ++inserts;
            } catch (failure const& caught) {
                unfit = state.fault = caught.problem();
            }
        }
        for (record_state& state : records_) {
            if (!state.stored || state.slot.has_record() || !state.fault.empty()) continue;
            attempt_writes.next(state).remove(state.filter(*codec_, alone));
            ++removes;
        }
        if (!unfit.empty()) {
            // Nothing was sent. The next attempt knows the fault.
            if (alone) throw command_failure(unfit, false);
            return false;
        }
        auto const result = attempt_writes.send();
        note_refused(attempt_writes, result);
        ended = commit_result_of(result);
        if (mistaken_) return false;
        if (alone && !result.refused.empty()) {
            auto const& first = result.refused.front();
            throw command_failure(first.problem,
                                  attempt_writes.records[first.index]->fault.empty());
        }
        if (alone && !result.problem.empty())
            throw command_failure(result.problem, result.transient);
        return result.matched == updates && result.inserted == inserts && result.removed == removes;
    }

    /// Writes conditional updates alone, outside of a native transaction.
    /// Returns: whether every change took effect; `ended` gets the result of the whole
    [[nodiscard]] bool write_unread(link& client, commit_result& ended) {
        if (records_.empty()) return true;
        brief_updates updates_sent{client, of().name};
        for (record_state const& at : records_) {
            updates_sent.update(at.conditional->filter, at.conditional->change);
        }
        auto const result = updates_sent.execute("change records");
        ended = commit_result_of(result);
        if (is_slow_change(ended.problem))
            ended.problem.text = text_of_slow_change(names_of_first());
        return result.refused.empty() &&
               result.matched == static_cast<std::int64_t>(records_.size());
    }

    /// Copies the faults of records that an earlier attempt found.
    void learn(record_table const& earlier) {
        known_faults_ = earlier.known_faults_;
        for (record_state const& at : earlier.records_) {
            if (is_new_fault(at)) known_faults_.emplace_back(at.key, at.fault);
        }
    }
    /// How many records have a fault.
    [[nodiscard]] std::size_t faults() const {
        return known_faults_.size() +
               static_cast<std::size_t>(
                   std::count_if(records_.begin(), records_.end(),
                                 [&](record_state const& state) { return is_new_fault(state); }));
    }

    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }
    [[nodiscard]] std::string const& database() const noexcept { return codec_->database(); }

    /// Copies the only announced record, if it exists.
    /// Errors:  throws errc::damaged, and errc::unfit_store if the collection is gone
    void copy_only_record(link& client, settle::detail::function_view<void*()> made) {
        record_state const& state = records_.front();
        check(state);
        if (state.stored) codec_->read(*state.stored, made());
        else if (auto const& absent = absence(client); !absent.empty()) throw failure(absent);
    }

    /// An announced record with all its marks.
    /// Errors:  as copy_only_record(), and errc::unfit_store where marks may be of programs that
    ///          write no epochs: nothing tells whether such a mark was committed
    [[nodiscard]] any_slot const& slot_of(link& client, part_key const& key) {
        return slot_of(client, base::state_of(key));
    }
    /// Appends all records that were read, each with all its marks.
    /// Errors:  as slot_of()
    void append_slots(link& client, std::vector<record_slot<settle::detail::any_record>>& slots) {
        for (record_state const& state : records_) {
            slots.push_back(any_slot{slot_of(client, state)}.take());
        }
        if (records_.empty() && !absence(client).empty()) throw failure(absence(client));
    }

    /// Why a record is missing, if its collection is gone; otherwise empty. It is asked once.
    [[nodiscard]] error const& absence(link& link) {
        if (!absence_) absence_ = absence_of(link, of().name);
        return *absence_;
    }

private:
    [[nodiscard]] any_slot const& slot_of(link& client, record_state const& state) {
        check(state);
        if (codec_->layout().bare_marks != nullptr || !state.bare.empty()) {
            raise(errc::unfit_store, "settle: other programs leave marks without epochs in the "
                                     "collection '" +
                                         std::string{of().name} +
                                         "', so no committed read is possible. Use read(). See "
                                         "committed_reads#stores");
        }
        if (!state.stored && !absence(client).empty()) throw failure(absence(client));
        return state.slot;
    }

    /// The writes of one attempt, in the order in which they are sent.
    struct writes {
        link& client;
        record_table& table;
        bool separately;
        std::vector<bulk> bulks{};
        std::vector<record_state*> records{};

        bulk& next(record_state& state) {
            if (bulks.empty() || separately) bulks.emplace_back(client, table.of().name);
            records.push_back(&state);
            return bulks.back();
        }

        bulk_result send() {
            bulk_result result;
            for (std::size_t number = 0; bulk & current : bulks) {
                if (!result.problem.empty()) break;
                result.add(current.execute("change records"), number);
                if (separately && is_conflict(result.problem)) {
                    result.problem =
                        held_by_another(name_of_record(table.of(), records[number]->key));
                }
                number += current.size();
            }
            return result;
        }
    };

    void note_refused(writes const& attempt_writes, bulk_result const& result) {
        for (auto const& refusal : result.refused) {
            record_state& state = *attempt_writes.records[refusal.index];
            // Another worker created this record meanwhile; the next attempt finds it.
            if (is_taken(refusal.problem, state)) continue;
            if (state.conditional) mistaken_ = true;
            else state.fault = refusal.problem;
        }
    }

    /// Answers without the record rule: for unread, unusable and bare-marked records.
    [[nodiscard]] std::optional<part_result> answer_unruled(record_state& state,
                                                            part_request const& request) {
        if (state.conditional) return part_result{answer::applied, nullptr, {}};
        if (!state.fault.empty()) {
            // Where the part never left a mark, there is nothing to undo.
            if (undoes(request.action) && state.stored &&
                !codec_->may_hold_mark(*state.stored, *request.id, request.part)) {
                return part_result{answer::nothing, nullptr, {}};
            }
            throw failure(state.fault);
        }
        if (state.bare.empty()) return std::nullopt;
        codec_->layout().bare_marks->adopt(state, of(), request);
        // The effects of other transactions' bare marks are unknown, so a new effect is busy.
        // Adopting a mark takes no effect, so other marks do not matter.
        bool const adopts = state.slot.has_mark(*request.id, request.part);
        if (state.bare.empty() || !applies(request.action) || adopts) return std::nullopt;
        return part_result{answer::busy, nullptr, {}};
    }
    /// The whole document as JSON.
    [[nodiscard]] std::string image_of(record_state const& state) const {
        return state.stored ? codec_->image_of(*state.stored, state.slot.record())
                            : settle::detail::encode_record(*of().record, state.slot.record());
    }
    static void note_record(record_changes const& changes, record_state& state,
                            std::string_view image) {
        state.changed |= changes.fields;
        if (changes.on_record == record_change::created) state.image = image;
    }
    static void note_mark(mark_change change, record_state& state, transaction_id const& id,
                          part_number part) {
        state.note_mark(change, id, part);
    }
    static void check(record_state const& state) {
        if (!state.fault.empty()) throw failure(state.fault);
    }

    /// Looks for erased records. A record to finish may be gone because an earlier worker erased
    /// it. But where the server erases old documents, it may have erased the mark, too.
    void look_for_erased(link& client) {
        std::optional<std::string> index;
        for (record_state& state : records_) {
            if (!state.ends || state.stored || state.conditional) continue;
            state.fault = absence(client);
            if (!state.fault.empty()) continue;
            if (!index) index = index_that_erases(client, of().name);
            if (index->empty()) return;
            state.fault = {
                make_error_code(errc::unfit_store),
                "settle: " + name_of_record(of(), state.key) +
                    " is gone, and perhaps a mark with it: the " + *index +
                    ". Drop that index, and put the record back. See mongodb#collections"};
        }
    }

    [[nodiscard]] bool has_known_fault(key_value const& key) const {
        return std::any_of(known_faults_.begin(), known_faults_.end(),
                           [&](auto const& known_fault) { return known_fault.first == key; });
    }
    [[nodiscard]] bool is_new_fault(record_state const& state) const {
        return !state.fault.empty() && !has_known_fault(state.key);
    }

    [[nodiscard]] record_state& with_known_fault(std::size_t number) {
        record_state& state = records_[number];
        for (auto const& [key, fault] : known_faults_) {
            if (key == state.key) state.fault = fault;
        }
        return state;
    }
    [[nodiscard]] record_state* state_in(document const& stored) {
        if (auto const key = codec_->key_in(stored)) {
            return &records_[find_index(settle::detail::view_of(*key))];
        }
        // The server treats a decimal or a large double as the same key; settle does not.
        auto const id = stored.find(codec_->layout().key);
        if (!id || of().text_key) return nullptr;
        std::int64_t number = 0;
        auto const decimal = id->decimal();
        if (decimal && read_decimal_text(*decimal, 0, number)) return &records_[find_index(number)];
        if (auto const large = id->whole_double()) return &records_[find_index(*large)];
        return nullptr;
    }

    [[nodiscard]] error too_large(record_state const& state, std::size_t bytes) const {
        return {{object_too_large, mongodb_category()},
                "settle: to change " + name_of_record(of(), state.key) + " takes " +
                    std::to_string(bytes) + " bytes, and MongoDB takes " +
                    std::to_string(largest_document) +
                    " at most in one document or update. Give it less. See mongodb#errors"};
    }

    [[nodiscard]] std::string names_of_first() const {
        constexpr std::size_t most_named = 3;
        std::string names;
        for (std::size_t at = 0; at < std::min(most_named, records_.size()); ++at) {
            names.append(at == 0 ? "" : ", ").append(name_of_record(of(), records_[at].key));
        }
        if (records_.size() > most_named) names += " or others";
        return names;
    }

    [[nodiscard]] bool is_taken(error const& problem, record_state const& state) const {
        return !state.stored && is_of_taken_key(problem, codec_->layout().key);
    }

    record_codec const* codec_;
    reading reads_;
    bool mistaken_ = false;          ///< the conditional updates cannot be used: read the records
    std::optional<error> absence_{}; ///< see absence()
    std::vector<std::pair<key_value, error>> known_faults_{};
};

} // namespace mongodb::detail
SETTLE_END
