// SPDX-License-Identifier: BSL-1.0
// The unit of work: the records that a wave uses. Each record is read at most once, decided by the
// record rule, and written at most once.
//
// An adapter derives a table from records_of for the records of one collection. The table announces
// records, reads them, and writes the changes; this file decides.
#pragma once

#include <settle/adapter/any_slot.hpp>
#include <settle/base/hash_index.hpp>

SETTLE_BEGIN
namespace detail {

/// The records of one collection.
/// Shape:   State - of a record: `key`, `slot`, and a constructor (record_descriptor, part_key).
///          Table has, for this class to call:
///          answer_unruled(State&, request) - the answer to a request that the record rule does
///                                            not decide; nothing for any other request
///          refusal_of(State&, request, changes) - the answer to a part that was applied in memory,
///                                            where the store cannot hold its effect; optional
///          image_of(State&)                - the whole record as its store keeps it, as JSON
///          note_record(changes, State&, image) - a changed record that is to be written; `image`
///                                            is the image of a record that was created
///          note_mark(change, State&, id, part) - a changed mark that is to be written
///          check(State const&)             - throws if the record cannot be used
template <typename Table, typename State>
class records_of {
public:
    explicit records_of(collection_descriptor const& collection) : of_(&collection) {}

    [[nodiscard]] collection_descriptor const& of() const noexcept { return *of_; }

    /// Executes the request that was announced next.
    /// Errors:  throws settle::failure
    [[nodiscard]] part_result execute(part_request const& request) {
        State& state = next();
        if (auto answer = table().answer_unruled(state, request)) return *std::move(answer);
        auto const image = [&] { return table().image_of(state); };
        auto changes = state.slot.execute(request, image);
        if (auto refused = table().refusal_of(state, request, changes)) {
            state.slot.resolve(*request.id, request.part, false);
            return *std::move(refused);
        }
        note(changes, state, request);
        return std::move(changes).result();
    }

    /// Ends a part of a one-phase transaction, which was applied in this unit of work.
    void end_one_phase(part_request const& request, bool confirmed) {
        State& at = state_of(request.key());
        note(at.slot.end_one_phase(request, confirmed), at, request);
    }

    /// Ends one mark of the record that was announced next, if the mark still has this epoch.
    [[nodiscard]] answer end_mark(mark_locator const& where, bool confirmed) {
        State& state = next();
        table().check(state);
        auto const found = state.slot.find(where.id, where.part);
        if (!found || found->epoch_number != where.epoch_number) return answer::nothing;
        auto const changes = state.slot.resolve(where.id, where.part, confirmed);
        table().note_record(changes, state, {});
        table().note_mark(changes.on_mark, state, where.id, where.part);
        return changes.what;
    }

protected:
    /// Announces a record. Requests are executed in the order of their announcements.
    /// Returns: the record's number
    std::size_t announce(part_key const& key) {
        expected_.push_back(find_index(key));
        return expected_.back();
    }
    static std::optional<part_result> refusal_of(State const&, part_request const&,
                                                 record_changes const&) {
        return std::nullopt;
    }
    [[nodiscard]] State& next() { return records_[expected_[executed_++]]; }

    [[nodiscard]] std::size_t find_index(part_key const& key) {
        auto const hash = hash_of(key);
        auto const* const known = index_.find(
            hash, [&](std::size_t number) { return view_of(records_[number].key) == key; });
        if (known != nullptr) return *known;
        index_.insert(hash, records_.size());
        records_.emplace_back(*of_->record, key);
        return records_.size() - 1;
    }
    [[nodiscard]] State& state_of(part_key const& key) {
        // A one-phase transaction uses each of its few records twice.
        for (std::size_t at = executed_, first = at < 4 ? 0 : at - 4; at-- > first;) {
            State& one = records_[expected_[at]];
            if (view_of(one.key) == key) return one;
        }
        return records_[find_index(key)];
    }

    void forget_announcements() noexcept {
        expected_.clear();
        executed_ = 0;
    }
    void forget_records() noexcept {
        records_.clear();
        index_.clear();
    }

    std::vector<State> records_{};

private:
    [[nodiscard]] Table& table() noexcept { return static_cast<Table&>(*this); }

    void note(record_changes const& changes, State& state, part_request const& request) {
        bool const creates = changes.on_record == record_change::created && applies(request.action);
        // A reversal creates a record again with all its native fields.
        table().note_record(changes, state,
                            creates ? record_part(request).native_image(request)
                                    : std::string_view{});
        // In one phase the mark never leaves the native transaction.
        if (request.action == step::one_phase) return;
        table().note_mark(changes.on_mark, state, *request.id, request.part);
    }

    collection_descriptor const* of_;
    std::vector<std::size_t> expected_{}; ///< numbers of the announced records, in order
    std::size_t executed_ = 0;            ///< the number of executed requests
    hash_index index_{};
};

/// The records that a wave uses, of all collections.
/// Shape:   Table - a records_of, with expect(request)
template <typename Table>
class unit_of_work {
public:
    void add(std::unique_ptr<Table> table) { tables_.push_back(std::move(table)); }
    /// A table, in the order in which they were added.
    [[nodiscard]] Table& at(std::size_t number) const { return *tables_[number]; }
    /// The table of a collection.
    /// Shape:   target - as in part_descriptor
    [[nodiscard]] Table& of(void const* target) const {
        std::size_t at = 0;
        while (tables_[at]->of().target != target) ++at;
        return *tables_[at];
    }
    [[nodiscard]] Table& of(part_request const& request) const {
        return of(request.descriptor->target);
    }
    template <typename Function>
    void for_each(Function&& function) const {
        for (auto const& one : tables_) function(*one);
    }

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& request) { of(request).expect(request); }
    [[nodiscard]] part_result execute(part_request const& request) {
        return of(request).execute(request);
    }
    void end_one_phase(part_request const& request, bool confirmed) {
        of(request).end_one_phase(request, confirmed);
    }

private:
    std::vector<std::unique_ptr<Table>> tables_;
};

} // namespace detail
SETTLE_END
