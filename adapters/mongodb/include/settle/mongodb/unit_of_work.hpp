// SPDX-License-Identifier: BSL-1.0
// The unit of work of one collection: it reads, changes and writes the records of a wave.
#pragma once

#include <settle/mongodb/bare_mark.hpp>
#include <settle/mongodb/collections.hpp>
#include <settle/mongodb/native.hpp>
#include <settle/mongodb/record_state.hpp>
#include <settle/store/hash_index.hpp>

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

/// Shape:   a unit of work lives as long as one attempt
template <typename Collection>
class unit_of_work {
    using codec = record_codec<Collection>;

public:
    using record_type = typename Collection::record_type;
    using slot_type = record_slot<record_type>;
    using state_type = record_state<Collection>;
    static constexpr bool has_text_key = state_type::has_text_key;
    using stored_key = typename state_type::stored_key;
    using key_view = std::conditional_t<has_text_key, std::string_view, std::int64_t>;

    /// Shape:   read_bare - reads the bare marks of the tutorial's programs; null elsewhere
    explicit unit_of_work(record_layout layout = {}, reading when = reading::always,
                          bare_reader<record_type> read_bare = nullptr)
        : codec_(std::move(layout)), reads_(when), read_bare_(read_bare) {}

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& request) {
        auto const count = records_.size();
        auto const number = find_index(key_of(request));
        expected_.push_back(number);
        if (!applies(request.action)) records_[number].ends = true;
        if (reads_ == reading::always) return;
        // A second request needs the record as the first one leaves it, so it must be read.
        if (number == count) records_[number].conditional = conditional_of(request);
        else records_[number].conditional.reset();
    }
    void expect(stored_key const& key) { expected_.push_back(find_index(key)); }

    /// Whether an announced request needs its record read.
    [[nodiscard]] bool has_to_read() const {
        return std::any_of(records_.begin(), records_.end(),
                           [](state_type const& at) { return !at.conditional; });
    }

    /// Reads the records of the announced requests.
    /// Shape:   options - of the find
    /// Errors:  throws command_failure
    void fetch(link& with, document options = {}) {
        document keys;
        std::size_t count = 0;
        for (state_type const& at : records_) {
            if (!at.conditional) append_key_forms(keys, codec_.layout(), at.key, count);
        }
        if (count == 0) return;
        document among;
        among.array("$in", keys);
        auto const filter = only(codec_.layout().key, among);
        with.find(Collection::name, filter, std::move(options), "read records",
                  [&](document found) { put(std::move(found)); });
        look_for_erased(with);
    }

    /// Takes the document of an announced record.
    void put(document found) {
        auto* const at = state_of(found);
        if (at == nullptr) return;
        auto problem = codec_.decode(found, at->slot, at->bare);
        if (at->found) problem = "two documents have this key";
        if (!problem.empty()) at->fault = at->damaged(problem);
        at->found.emplace(std::move(found));
    }

    /// Executes the next announced request on its record.
    /// Errors:  throws errc::damaged when the record cannot be used
    [[nodiscard]] record_answer<record_type> execute(part_request const& request) {
        state_type& at = records_[expected_[executed_++]];
        if (auto const unruled = execute_unruled(at, request)) return *unruled;
        auto result = settle::execute(request, at.slot, whole_document{codec_, at});
        note(result, at, *request.id, request.part);
        if (result.on_record == record_change::created) {
            at.image = settle::detail::record_part(request).native_image(request);
        }
        return result;
    }

    /// Checks the next announced request against its record, which is not to be written.
    /// Returns: the error that would stop the request
    [[nodiscard]] error look(part_request const& request) {
        state_type const& at = records_[expected_[executed_]];
        try {
            static_cast<void>(execute(request));
        } catch (failure const& caught) {
            return caught.problem();
        }
        return at.fault;
    }

    /// Ends an applied part at once, in one phase.
    void end_one_phase(part_request const& request, bool confirmed) {
        state_type& at = records_[find_index(key_of(request))];
        if (at.conditional) {
            // The cause is known only after all records have been read.
            mistaken_ = mistaken_ || !confirmed;
            return;
        }
        at.held = at.held || confirmed;
        note(settle::end_one_phase(request, at.slot, confirmed), at, *request.id, request.part);
    }

    /// Ends one mark if it still has this epoch.
    [[nodiscard]] answer resolve(mark_locator const& where, bool confirmed) {
        state_type& at = records_.front();
        if (!at.fault.empty()) throw failure(at.fault);
        auto* const found = at.slot.marks.find(where.id, where.part);
        if (found == nullptr || found->epoch_number != where.epoch_number) return answer::nothing;
        auto const result = settle::detail::resolve(at.slot, found, confirmed);
        note(result, at, where.id, where.part);
        return result.what;
    }

    /// Raises the mark, also a bare one, of the next announced request to the request's epoch.
    /// Errors:  throws errc::damaged when the record cannot be used
    [[nodiscard]] answer raise_mark(part_request const& request) {
        state_type& at = records_[expected_[executed_++]];
        if (!at.fault.empty()) throw failure(at.fault);
        bare_marks{at, read_bare_}.adopt(request);
        auto* const found = at.slot.marks.find(*request.id, request.part);
        if (found == nullptr) return answer::nothing;
        epoch const under = request.epoch_number;
        if (found->epoch_number > under) return answer::fenced;
        at.rewritten = at.rewritten || found->epoch_number < under;
        found->epoch_number = under;
        return answer::applied;
    }

    /// Pulls a bare mark of the only announced record.
    /// Shape:   stands - as in bare_marks
    [[nodiscard]] answer pull_bare(part_request const& request, bool stands) {
        return bare_marks{records_.front(), read_bare_}.pull(request, stands);
    }

    /// Writes the changed records.
    /// Errors:  throws command_failure in a native transaction. A refusal of one record becomes
    ///          that record's fault
    /// Returns: whether every change took effect; `ended` gets the result of the whole
    [[nodiscard]] bool write(link& with, writing how, commit_result& ended) {
        if (mistaken_) return false;
        bool const separately = how == writing::separately;
        bool const alone = how == writing::together || separately;
        std::vector<bulk> bulks;
        auto const all = [&]() -> bulk& {
            if (bulks.empty() || separately) bulks.emplace_back(with, Collection::name);
            return bulks.back();
        };
        std::vector<state_type*> writes;
        std::int64_t updates = 0;
        std::int64_t inserts = 0;
        std::int64_t removes = 0;
        auto const update = [&](state_type& at, document const& filter, document const& change) {
            all().update(filter, change);
            writes.push_back(&at);
            ++updates;
        };
        for (state_type& at : records_) {
            bool const stays = at.found && at.slot.record;
            if (at.conditional) {
                update(at, at.conditional->filter, at.conditional->change);
            } else if (stays && at.is_changed()) {
                update(at, at.filter(codec_.layout(), alone), at.change(codec_.layout()));
            } else if (stays && alone && at.held) {
                // A native transaction reads a snapshot: only two writes conflict.
                document const here = at.filter(codec_.layout(), alone);
                document held;
                update(at, here, only("$set", held.integer(held_field, 1)));
                update(at, here, only("$unset", held));
            }
        }
        for (state_type& at : records_) {
            if (at.found || !at.slot.record) continue;
            all().insert(codec_.encode(at.slot, at.image));
            writes.push_back(&at);
            ++inserts;
        }
        for (state_type& at : records_) {
            if (!at.found || at.slot.record || !at.fault.empty()) continue;
            all().remove(at.filter(codec_.layout(), alone));
            writes.push_back(&at);
            ++removes;
        }
        auto const result = send(bulks, writes, separately);
        for (auto const& one : result.refused) {
            // Another worker created this record meanwhile; the next attempt finds it.
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

    /// Writes conditional updates alone, outside of a native transaction.
    /// Returns: whether every change took effect; `ended` gets the result of the whole
    [[nodiscard]] bool write_unread(link& with, commit_result& ended) {
        if (records_.empty()) return true;
        brief_updates all{with, Collection::name};
        for (state_type const& at : records_)
            all.update(at.conditional->filter, at.conditional->change);
        auto const result = all.execute("change records");
        ended = ending_of(result);
        if (is_slow_change(ended.problem)) {
            ended.problem.text = text_of_slow_change(names_of_first());
        }
        return result.refused.empty() &&
               result.matched == static_cast<std::int64_t>(records_.size());
    }

    /// Copies the faults of records that an earlier attempt found.
    void learn(unit_of_work const& earlier) {
        known_faults_ = earlier.known_faults_;
        for (state_type const& at : earlier.records_) {
            if (!at.fault.empty() && !knows(at.key)) known_faults_.emplace_back(at.key, at.fault);
        }
    }
    /// How many records have a fault.
    [[nodiscard]] std::size_t faults() const {
        auto const is_new = [&](state_type const& at) {
            return !at.fault.empty() && !knows(at.key);
        };
        return known_faults_.size() + static_cast<std::size_t>(std::count_if(
                                          records_.begin(), records_.end(), is_new));
    }

    [[nodiscard]] bool empty() const noexcept { return records_.empty(); }

    /// The only announced record, if it exists.
    /// Errors:  throws errc::damaged
    [[nodiscard]] std::optional<record_type> only_record() const {
        state_type const& at = records_.front();
        if (!at.fault.empty()) throw failure(at.fault);
        return at.slot.record;
    }
    /// Errors:  throws errc::damaged
    [[nodiscard]] record_type record_of(document const& from) const {
        state_type at;
        auto const problem = codec_.decode(from, at.slot, at.bare);
        if (problem.empty()) return *std::move(at.slot.record);
        if (auto const id = from.find(codec_.layout().key)) {
            typename Collection::key_type key{};
            if (read_key(codec_.layout(), *id, key).empty()) at.key = stored_key(key);
        }
        throw failure(at.damaged(problem));
    }

private:
    /// Makes the JSON of a whole document.
    struct whole_document {
        codec const& with;
        state_type const& at;

        std::string operator()() const {
            return at.found ? with.image_of(*at.found, *at.slot.record)
                            : encode_json(*at.slot.record);
        }
    };

    /// Looks for erased records. A record to finish may be gone because an earlier worker erased
    /// it. But where the server erases old documents, it may have erased the mark, too.
    void look_for_erased(link& with) {
        std::optional<std::string> index;
        for (state_type& at : records_) {
            if (!at.ends || at.found || at.conditional) continue;
            if (!index) index = index_that_erases(with, Collection::name);
            if (index->empty()) return;
            at.fault = {make_error_code(errc::unfit_store),
                        "settle: " + at.name() + " is gone, and perhaps a mark with it: the " +
                            *index + ". Drop that index, and put the record back. "
                                     "See mongodb#collections"};
        }
    }

    [[nodiscard]] bool knows(stored_key const& key) const {
        return std::any_of(known_faults_.begin(), known_faults_.end(),
                           [&](auto const& one) { return one.first == key; });
    }

    std::size_t find_index(key_view key) {
        auto const hash = settle::hash_mix(0, std::hash<key_view>{}(key));
        auto const* const found = index_.find(
            hash, [&](std::size_t number) { return key_view{records_[number].key} == key; });
        if (found != nullptr) return *found;
        index_.insert(hash, records_.size());
        state_type& made = records_.emplace_back();
        made.key = stored_key{key};
        for (auto const& [of, fault] : known_faults_) {
            if (of == made.key) made.fault = fault;
        }
        return records_.size() - 1;
    }

    state_type* state_of(document const& found) {
        auto const id = found.find(codec_.layout().key);
        typename Collection::key_type key{};
        if (!id) return nullptr;
        if (read_key(codec_.layout(), *id, key).empty())
            return &records_[find_index(key_view(key))];
        // The server treats a decimal or a large double as the same key; settle does not.
        if constexpr (!has_text_key) {
            std::int64_t number = 0;
            auto const decimal = id->decimal();
            if (decimal && read_decimal_text(*decimal, 0, number)) {
                return &records_[find_index(number)];
            }
            if (auto const large = id->whole_double()) return &records_[find_index(*large)];
        }
        return nullptr;
    }

    [[nodiscard]] std::string names_of_first() const {
        constexpr std::size_t most_named = 3;
        std::string names;
        for (std::size_t at = 0; at < std::min(most_named, records_.size()); ++at) {
            names.append(at == 0 ? "" : ", ").append(records_[at].name());
        }
        if (records_.size() > most_named) names += " or others";
        return names;
    }

    /// Sends the writes of `writes`.
    static bulk_result send(std::vector<bulk>& bulks, std::vector<state_type*> const& writes,
                               bool separately) {
        bulk_result result;
        for (std::size_t number = 0; bulk& one : bulks) {
            if (!result.problem.empty()) break;
            result.add(one.execute("change records"), number);
            if (separately && is_conflict(result.problem)) {
                result.problem = held_by_another(writes[number]->name());
            }
            number += one.size();
        }
        return result;
    }

    [[nodiscard]] bool is_taken(error const& problem, state_type const& at) const {
        return !at.found && is_of_taken_key(problem, codec_.layout().key);
    }

    void note(record_answer<record_type> const& result, state_type& at, transaction_id const& id,
              part_number part) {
        at.changed |= result.fields;
        if (result.on_mark == mark_change::raised) at.rewritten = true;
        if (result.on_mark == mark_change::none || result.on_mark == mark_change::raised) return;
        mark_locator const where{{}, {}, id, part, 0};
        if (result.on_mark == mark_change::added) {
            at.added.push_back(where);
            return;
        }
        // A mark that was added and pulled in this unit of work was never in the document.
        auto const came = std::find(at.added.begin(), at.added.end(), where);
        if (came != at.added.end()) at.added.erase(came);
        else at.pulled.push_back(where);
    }

    /// Answers where the record rule has no say: unread, unusable and bare-marked records.
    std::optional<record_answer<record_type>> execute_unruled(state_type& at,
                                                              part_request const& request) {
        if (at.conditional) {
            record_answer<record_type> supposed;
            supposed.what = answer::applied;
            return supposed;
        }
        if (!at.fault.empty()) {
            // Where the part never left a mark, there is nothing to undo.
            if (undoes(request.action) && at.found &&
                !codec_.may_hold_mark(*at.found, *request.id, request.part)) {
                return record_answer<record_type>{};
            }
            throw failure(at.fault);
        }
        if (at.bare.empty()) return std::nullopt;
        bare_marks{at, read_bare_}.adopt(request);
        // The effects of other transactions' bare marks are unknown, so a new effect is busy.
        // Adopting a mark takes no effect, so other marks do not matter.
        bool const adopts = at.slot.marks.find(*request.id, request.part) != nullptr;
        if (!at.bare.empty() && applies(request.action) && !adopts) {
            return settle::detail::refused<record_type>(answer::busy);
        }
        return std::nullopt;
    }

    static key_view key_of(part_request const& request) {
        return std::get<key_view>(request.key());
    }

    [[nodiscard]] std::optional<conditional_update>
    conditional_of([[maybe_unused]] part_request const& request) const {
        if constexpr (is_told_by_kinds<Collection>()) {
            if (!codec_.layout().is_own()) return std::nullopt;
            auto const wanted = settle::conditional_of<record_type>(request);
            if (!wanted) return std::nullopt;
            document filter;
            key_view const key = key_of(request);
            if constexpr (has_text_key) filter.text("_id", key);
            else filter.object("_id", integer_key(key));
            auto made = update_of<Collection>(std::move(filter), *wanted, request.action);
            // The server takes an empty change for a whole document.
            if (made.change.empty()) return std::nullopt;
            return made;
        } else {
            return std::nullopt;
        }
    }

    codec codec_;
    reading reads_;
    bare_reader<record_type> read_bare_;
    bool mistaken_ = false; ///< a conditional update did not match its record
    std::vector<state_type> records_;
    std::vector<std::size_t> expected_; ///< indices of the announced requests' records
    std::size_t executed_ = 0;          ///< how many requests were executed
    settle::detail::hash_index index_;
    std::vector<std::pair<stored_key, error>> known_faults_;
};

} // namespace mongodb::detail
SETTLE_END
