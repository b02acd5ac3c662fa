// SPDX-License-Identifier: BSL-1.0
// The records of one collection in a native transaction: locked and read, decided by the record
// rule, and written back.
#pragma once

#include <settle/adapter/sql/wave_table.hpp>

SETTLE_BEGIN
namespace detail::sql {

/// A record inside a native transaction.
struct record_state {
    record_state(record_descriptor const& descriptor, part_key const& of_record)
        : key(owned(of_record)), slot(descriptor) {}

    key_value key;
    any_slot slot;
    bool announced = false;    ///< its row is read
    bool existed = false;      ///< it had a row
    bool knows_marks = false;  ///< all marks are in the slot
    bool created = false;      ///< since it was read, or since it was erased
    bool erased = false;       ///< its row is to be erased
    bool erases = false;       ///< a part of this wave will erase its row
    std::uint64_t changed = 0; ///< members to be written
    /// The part, if any, whose confirm is tried now, since an index could refuse it later.
    std::pair<transaction_id const*, part_number> tried{};
    std::string others{}; ///< the columns that are no members, as a JSON object
    std::string image{};  ///< from which it was created; empty: from its members
    error fault{};        ///< why the record or its marks cannot be used

    [[nodiscard]] part_key view() const { return view_of(key); }
};

/// Shape:   Sql - the parts of an adapter; see adapter/sql/record_waves.hpp
template <typename Sql>
class record_table : public wave_table<record_table<Sql>, Sql, record_state> {
    using base = wave_table<record_table, Sql, record_state>;
    friend records_of<record_table, record_state>;
    using typename base::array;

public:
    using base::base;
    using base::of;
    using typename base::connection;

    [[nodiscard]] std::string_view name() const noexcept { return of().name; }

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& request) {
        bool const applying = applies(request.action);
        with_others_ = with_others_ || (applying && may_need_image(request));
        expect(request.key(), applying, *request.id, request.part);
    }
    /// Shape:   key, id - stay until send_marks(); applying - otherwise the request ends its part
    void expect(part_key const& key, bool applying, transaction_id const& id, part_number part) {
        std::size_t const number = this->announce(key);
        record_state& state = records_[number];
        if (!std::exchange(state.announced, true)) unread_.push_back(number);
        // To end a part, its own mark is enough, however many others there are.
        if (!applying) own_marks_.push_back({number, &id, part});
        else if (!std::exchange(state.knows_marks, true)) all_marks_.push_back(number);
    }

    /// Queues the statement that locks and reads the records, and then the statements that read
    /// their marks: each sees every mark that was committed before the lock was granted.
    void send_locks(connection& connection);
    void send_marks(connection& connection);
    /// Reads the results of both.
    void receive(connection const& connection);

    /// Queues the writes of all changes.
    void send_changes(connection& connection);

    /// False if a record has no mark of an announced request. Only its marks have been read.
    [[nodiscard]] bool may_have_mark(part_request const& request) {
        record_state const& at = this->state_of(request.key());
        return !at.fault.empty() || at.slot.has_mark(*request.id, request.part);
    }

private:
    using base::marks_;
    using base::records_;
    using base::table_;

    struct record_mark {
        std::size_t index; ///< of the record
        transaction_id const* id;
        part_number part;
    };

    /// An exclusive effect needs the image of the whole row.
    [[nodiscard]] bool may_need_image(part_request const& request) const {
        if (!table_->has_others()) return false;
        bool commutes = false;
        conditional(request, [&](auto const&) { commutes = true; });
        return !commutes;
    }

    std::optional<part_result> answer_unruled(record_state const& state,
                                              part_request const& request) {
        if (state.fault.empty()) return std::nullopt;
        // Without a mark there is nothing to end.
        bool const ends = applies(request.action) || state.slot.has_mark(*request.id, request.part);
        if (!ends) return part_result{answer::nothing, nullptr, {}};
        return result_of_unusable(request.action, state.fault);
    }
    static void check(record_state const& state) {
        if (!state.fault.empty()) throw failure(state.fault);
    }
    std::optional<part_result> refusal_of(record_state& state, part_request const& request,
                                          record_changes const& changes) const;
    /// Why no row of the table can be erased; empty if rows can be.
    [[nodiscard]] error refusal_of_erase() const;
    [[nodiscard]] std::string image_of(record_state& state) const {
        return table_->image_of(state.slot.record(), state.others);
    }
    void note_record(record_changes const& changes, record_state& state, std::string_view image);
    void note_mark(mark_change change, record_state const& state, transaction_id const& id,
                   part_number part) {
        auto const number = static_cast<std::size_t>(&state - records_.data());
        switch (change) {
        case mark_change::none: return;
        case mark_change::added: return added_.push_back({number, &id, part});
        case mark_change::raised: return raised_.push_back({number, &id, part});
        case mark_change::pulled: return pulled_.push_back({number, &id, part});
        }
    }
    void receive_marks(typename Sql::rows const& rows, std::vector<std::size_t> const& sent);
    void send_mark_changes(connection& connection) const;
    /// Queues the write of a confirm, and its undo.
    void try_confirm(connection& connection, record_state& state) const;

    static constexpr std::size_t none = ~std::size_t{0};

    bool with_others_ = false;
    std::vector<std::size_t> unread_{};    ///< records that are yet to be read
    std::vector<std::size_t> all_marks_{}; ///< records whose marks are yet to be read
    std::vector<record_mark> own_marks_{}; ///< parts whose own marks are yet to be read
    std::vector<std::size_t> sent_own_{};  ///< records whose own marks are being read
    std::size_t rows_ = none;              ///< the results under way
    std::size_t all_ = none;
    std::size_t own_ = none;
    std::vector<record_mark> added_{}; ///< marks that are yet to be written
    std::vector<record_mark> raised_{};
    std::vector<record_mark> pulled_{};
};

template <typename Sql>
void record_table<Sql>::send_locks(connection& session) {
    rows_ = none;
    this->sort_by_key(unread_);
    auto keys = table_->keys();
    // A key that the column cannot hold has no row.
    std::erase_if(unread_,
                  [&](auto number) { return !table_->give_key(keys, records_[number].view()); });
    if (!unread_.empty()) rows_ = table_->send_locks(session, keys, with_others_);
}

template <typename Sql>
void record_table<Sql>::send_marks(connection& session) {
    all_ = own_ = none;
    if (!all_marks_.empty()) {
        array keys = array::texts();
        for (auto const number : all_marks_) keys.add(mark_key{records_[number].view()}.text());
        all_ = table_->send_all_marks(session, keys);
    }
    sent_own_.clear();
    array keys = array::texts();
    array ids = array::texts();
    for (auto const& own_mark : own_marks_) {
        if (records_[own_mark.index].knows_marks) continue;
        keys.add(mark_key{records_[own_mark.index].view()}.text());
        ids.add(std::string_view{*own_mark.id});
        sent_own_.push_back(own_mark.index);
    }
    own_marks_.clear();
    if (!sent_own_.empty()) own_ = table_->send_own_marks(session, keys, ids);
}

template <typename Sql>
void record_table<Sql>::receive(connection const& session) {
    if (rows_ != none) {
        auto const number_at = static_cast<int>(of().members().size());
        for_each_row(session.result(rows_), [&](typename Sql::row const& row) {
            auto& record = records_[unread_[static_cast<std::size_t>(row.integer(number_at) - 1)]];
            record.existed = true;
            if (with_others_) record.others = row.text(number_at + 1);
            try {
                table_->read(row, record.slot.emplace());
            } catch (failure const& caught) {
                record.fault = caught.problem();
            }
        });
        unread_.clear();
    }
    if (all_ != none) receive_marks(session.result(all_), all_marks_);
    all_marks_.clear();
    if (own_ != none) receive_marks(session.result(own_), sent_own_);
}

template <typename Sql>
void record_table<Sql>::receive_marks(typename Sql::rows const& rows,
                                      std::vector<std::size_t> const& sent) {
    constexpr int number_at = 8;
    for_each_row(rows, [&](typename Sql::row const& row) {
        auto& record = records_[sent[static_cast<std::size_t>(row.integer(number_at) - 1)]];
        try {
            auto mark = read_mark(of(), row, record.slot);
            // A part may be named twice.
            if (!record.slot.has_mark(mark.id, mark.part)) record.slot.insert(std::move(mark));
        } catch (failure const& caught) {
            if (record.fault.empty()) record.fault = caught.problem();
        }
    });
}

template <typename Sql>
std::optional<part_result> record_table<Sql>::refusal_of(record_state& state,
                                                         part_request const& request,
                                                         record_changes const& changes) const {
    if (changes.on_mark != mark_change::added) return std::nullopt;
    auto const mark = *state.slot.find(*request.id, request.part);
    if (mark.exclusive.erases) {
        if (auto refused = refusal_of_erase(); !refused.empty()) {
            return result_of_unusable(request.action, refused);
        }
        state.erases = true;
    }
    bool const is_tried =
        request.action == step::apply && mark.is_exclusive && !mark.exclusive.erases;
    if (is_tried && (mark.exclusive.confirm_fields & table_->indexed_texts()) != 0) {
        state.tried = {request.id, request.part};
    }
    for (std::size_t member = 0; member < of().members().size(); ++member) {
        if ((table_->limited() >> member & 1U) == 0) continue;
        auto const& described = of().members()[member];
        auto const& column = table_->column(member);
        auto const holds = [&](void const* record) {
            return column.holds(*described.access,
                                of().record->member(const_cast<void*>(record), member));
        };
        bool fits = !state.slot.has_record() || holds(state.slot.record());
        if (mark.is_exclusive) {
            auto const& effect = mark.exclusive;
            bool const confirms = !effect.erases && (effect.confirm_fields >> member & 1U) != 0;
            bool const undoes = !effect.created && (effect.undo_fields >> member & 1U) != 0;
            fits =
                fits && (!confirms || holds(effect.confirmed)) && (!undoes || holds(effect.undone));
        } else if (fits && described.integer != member_descriptor::no_integer) {
            wide low = 0;
            wide high = 0;
            state.slot.reach(described.integer, low, high);
            auto const value =
                described.access->integer(of().record->member(state.slot.record(), member));
            fits = value + low >= column.least && value + high <= column.most;
        }
        if (fits) continue;
        if (described.integer != member_descriptor::no_integer) {
            return part_result{answer::overflow, nullptr, {}};
        }
        return result_of_unusable(request.action, table_->value_out_of(described.name));
    }
    return std::nullopt;
}

template <typename Sql>
error record_table<Sql>::refusal_of_erase() const {
    std::string text{"settle: "};
    if (table_->is_referenced()) {
        text.append("a foreign key to the table '").append(name());
        text.append("' could refuse that its rows are erased. Drop it. See ");
    } else if (!table_->unwritable().empty()) {
        text.append("an erased row of the table '").append(name());
        text.append("' could not be brought back: no program can write its column '");
        text.append(table_->unwritable()).append("'. Drop that column. See ");
    } else {
        return {};
    }
    return {make_error_code(errc::unfit_store), text.append(Sql::page).append("#limits")};
}

template <typename Sql>
void record_table<Sql>::note_record(record_changes const& changes, record_state& state,
                                    std::string_view image) {
    switch (changes.on_record) {
    case record_change::none: break;
    case record_change::fields: state.changed |= changes.fields; break;
    case record_change::created:
        state.created = true;
        state.image = image;
        break;
    case record_change::erased:
        state.erased = state.existed;
        state.created = false;
        state.changed = 0;
        break;
    }
}

template <typename Sql>
void record_table<Sql>::send_changes(connection& session) {
    send_mark_changes(session);
    using change = std::pair<part_key, void const*>;
    std::vector<std::pair<std::uint64_t, std::vector<change>>> updates;
    std::vector<void const*> created;
    auto erased = table_->keys();
    for (auto& record : records_) {
        if (record.erased) static_cast<void>(table_->give_key(erased, record.view()));
        if (record.created) {
            if (record.image.empty()) created.push_back(record.slot.record());
        } else if (record.changed != 0) {
            auto const known =
                std::find_if(updates.begin(), updates.end(),
                             [&](auto const& update) { return update.first == record.changed; });
            auto& of_fields =
                known != updates.end()
                    ? known->second
                    : updates.emplace_back(record.changed, std::vector<change>{}).second;
            of_fields.emplace_back(record.view(), record.slot.record());
        }
    }
    for (auto const& record : records_) {
        // In one phase the row goes now, and in two phases once the transaction has committed.
        std::string_view const others =
            record.others.empty() ? "{}" : std::string_view{record.others};
        if (record.erases) table_->send_check_of_image(session, record.view(), others);
    }
    if (erased.size() > 0) table_->send_erase(session, erased);
    if (!created.empty()) table_->send_new(session, created);
    for (auto const& record : records_) {
        if (record.created && !record.image.empty()) {
            table_->send_restored(session, record.slot.record(), record.image);
        }
    }
    for (auto const& [fields, all] : updates) table_->send_update(session, fields, all);
    for (auto& at : records_) try_confirm(session, at);
}

template <typename Sql>
void record_table<Sql>::try_confirm(connection& session, record_state& state) const {
    auto const [id, part] = std::exchange(state.tried, {});
    if (id == nullptr) return;
    auto const mark = state.slot.find(*id, part);
    if (!mark) return; // another part of the transaction was refused
    constexpr auto phase = "try what a confirm will write";
    std::pair<part_key, void const*> const only[]{{state.view(), mark->exclusive.confirmed}};
    session.send_sql("SAVEPOINT settle_confirm", phase);
    table_->send_update(session, mark->exclusive.confirm_fields, only);
    session.send_sql("ROLLBACK TO SAVEPOINT settle_confirm", phase);
}

template <typename Sql>
void record_table<Sql>::send_mark_changes(connection& session) const {
    if (!pulled_.empty()) {
        mark_arrays<array> marks;
        for (auto const& one : pulled_) marks.add(records_[one.index].view(), *one.id, one.part);
        marks_->send_pulled(session, name(), marks);
    }
    if (!raised_.empty()) {
        mark_arrays<array> marks;
        array epochs = array::integers();
        for (auto const& raised : raised_) {
            auto const& at = records_[raised.index];
            marks.add(at.view(), *raised.id, raised.part);
            epochs.add(
                static_cast<std::int64_t>(at.slot.find(*raised.id, raised.part)->epoch_number));
        }
        marks_->send_raised(session, name(), marks, epochs);
    }
    if (!added_.empty()) {
        added_marks<array> marks;
        for (auto const& one : added_) {
            auto const& at = records_[one.index];
            marks.add(at.view(), *of().record, *at.slot.find(*one.id, one.part));
        }
        static_cast<void>(marks_->send_new(session, name(), marks));
    }
}

} // namespace detail::sql
SETTLE_END
