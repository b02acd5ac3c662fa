// SPDX-License-Identifier: BSL-1.0
// The records of one collection that a native transaction meets: locked and read, decided by the
// record rule, and written back.
#pragma once

#include <settle/adapter/unit_of_work.hpp>
#include <settle/postgresql/mark_table.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::record_changes;
using settle::detail::record_descriptor;

/// A record as it stands inside a native transaction.
struct record_state {
    record_state(record_descriptor const& of, part_key const& of_record)
        : key(settle::detail::owned(of_record)), held_slot(of.make_slot()), slot(*held_slot) {}

    key_value key;
    std::unique_ptr<any_slot> held_slot;
    any_slot& slot;
    bool announced = false;    ///< its row is read
    bool existed = false;      ///< it had a row
    bool knows_marks = false;  ///< all marks are in the slot
    bool created = false;      ///< since it was read, or since it was erased
    bool erased = false;       ///< its row is to be erased
    std::uint64_t changed = 0; ///< members to be written
    std::string others{};      ///< the columns that are no members, as a JSON object
    std::string image{};       ///< from which it was created; empty: from its members
    error fault{};             ///< why the record or its marks cannot be used

    [[nodiscard]] part_key view() const { return settle::detail::view_of(key); }
};

/// Used by one thread, in one native transaction.
class record_table : public settle::detail::records_of<record_table, record_state> {
    using base = settle::detail::records_of<record_table, record_state>;
    friend base;

public:
    record_table(bound_table const& table, mark_table const& marks)
        : base(table.of()), table_(&table), marks_(&marks) {}

    [[nodiscard]] std::string_view name() const noexcept { return of().name; }

    /// Announces a request. Requests are executed in the order of their announcements.
    void expect(part_request const& one) {
        bool const applying = applies(one.action);
        with_others_ = with_others_ || (applying && may_need_image(one));
        expect(one.key(), applying, *one.id, one.part);
    }
    /// Shape:   key, id - stay until send_marks(); applying - otherwise the request ends its part
    void expect(part_key const& key, bool applying, transaction_id const& id, part_number part) {
        std::size_t const number = announce(key);
        record_state& at = records_[number];
        if (!std::exchange(at.announced, true)) unread_.push_back(number);
        // To end a part, its own mark is enough, however many others there are.
        if (!applying) own_marks_.push_back({number, &id, part});
        else if (!std::exchange(at.knows_marks, true)) all_marks_.push_back(number);
    }

    /// Queues the statement that locks and reads the records, and then the statements that read
    /// their marks: each sees every mark that was committed before the lock was granted.
    void send_locks(connection& on);
    void send_marks(connection& on);
    /// Reads the results of both.
    void receive(connection const& on);

    /// Queues the writes of all changes.
    void send_changes(connection& on);

private:
    struct place {
        std::size_t index; ///< of the record
        transaction_id const* id;
        part_number part;
    };

    /// An exclusive effect needs the image of the whole row.
    [[nodiscard]] bool may_need_image(part_request const& one) const {
        if (!table_->has_others()) return false;
        bool commutes = false;
        of().record->conditional(one, [&](auto const&) { commutes = true; });
        return !commutes;
    }

    std::optional<part_result> answer_unruled(record_state const& at, part_request const& one) {
        if (at.fault.empty()) return std::nullopt;
        // Without a mark there is nothing to end.
        bool const ends = applies(one.action) || at.slot.has_mark(*one.id, one.part);
        if (!ends) return part_result{answer::nothing, nullptr, {}};
        return result_of_unusable(one.action, at.fault);
    }
    static void check(record_state const& at) {
        if (!at.fault.empty()) throw failure(at.fault);
    }
    std::optional<part_result> refusal_of(record_state& at, part_request const& one,
                                          record_changes const& changes) const;
    [[nodiscard]] std::string image_of(record_state& at) const {
        return table_->image_of(at.slot.record(), at.others);
    }
    void note_record(record_changes const& changes, record_state& at, std::string_view image);
    void note_mark(mark_change change, record_state const& at, transaction_id const& id,
                   part_number part) {
        auto const number = static_cast<std::size_t>(&at - records_.data());
        switch (change) {
        case mark_change::none: return;
        case mark_change::added: return added_.push_back({number, &id, part});
        case mark_change::raised: return raised_.push_back({number, &id, part});
        case mark_change::pulled: return pulled_.push_back({number, &id, part});
        }
    }
    void receive_marks(rows const& found, std::vector<std::size_t> const& sent);
    void send_mark_changes(connection& on) const;

    static constexpr std::size_t none = ~std::size_t{0};

    bound_table const* table_;
    mark_table const* marks_;
    bool with_others_ = false;
    std::vector<std::size_t> unread_{};    ///< records that are yet to be read
    std::vector<std::size_t> all_marks_{}; ///< records whose marks are yet to be read
    std::vector<place> own_marks_{};       ///< parts whose own marks are yet to be read
    std::vector<std::size_t> sent_own_{};  ///< the records of those
    std::size_t rows_ = none;              ///< the results under way
    std::size_t all_ = none;
    std::size_t own_ = none;
    std::vector<place> added_{}; ///< marks that are yet to be written
    std::vector<place> raised_{};
    std::vector<place> pulled_{};
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/record_table.ipp>
#endif
