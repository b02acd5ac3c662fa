// SPDX-License-Identifier: BSL-1.0
// A collection without its C++ types: a table of its members, and functions on the record and the
// marks of one key. The compiler makes the table for each collection; the code of an adapter that
// reads and writes records is compiled once.
#pragma once

#include <settle/store/native_value.hpp>
#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace detail {

/// Functions on the value of a member, one set for each type of a member.
/// Shape:   pointers - at the value; a function that the kind does not need is null
struct member_access {
    field_kind kind; ///< text for a struct or a list, which a row holds as its JSON
    bool optional;
    bool nested;     ///< a struct or a list
    bool (*is_null)(void const*);
    void (*set_null)(void*);
    std::int64_t (*integer)(void const*);
    bool (*set_integer)(void*, std::int64_t); ///< false if the number is no value of the type
    std::string_view (*text)(void const*);
    void (*set_text)(void*, std::string_view);
    value_codec const* json;
};

template <typename T>
struct member_functions {
    using plain = typename field_traits<T>::plain_type;
    static constexpr bool optional = field_traits<T>::optional;
    static constexpr bool nested = NestedType<T>;
    static constexpr field_kind kind = nested ? field_kind::text : field_traits<T>::kind;

    static plain const& in(void const* value) {
        if constexpr (optional) return **static_cast<T const*>(value);
        else return *static_cast<T const*>(value);
    }
    static plain& of(void* value) {
        if constexpr (optional) return static_cast<T*>(value)->emplace();
        else return *static_cast<T*>(value);
    }
    static bool is_null(void const* value) { return !static_cast<T const*>(value)->has_value(); }
    static void set_null(void* value) { static_cast<T*>(value)->reset(); }
    static std::int64_t integer(void const* value) { return to_integer(in(value)); }
    static bool set_integer(void* value, std::int64_t to) { return from_integer(to, of(value)); }
    static std::string_view text(void const* value) { return in(value); }
    static void set_text(void* value, std::string_view to) { of(value) = to; }

    static consteval member_access make() {
        member_access made{kind,    optional, nested,  nullptr, nullptr,
                           nullptr, nullptr,  nullptr, nullptr, &codec_of<T>};
        if constexpr (optional) {
            made.is_null = &is_null;
            made.set_null = &set_null;
        }
        if constexpr (nested) {
        } else if constexpr (kind == field_kind::text) {
            made.text = &text;
            made.set_text = &set_text;
        } else {
            made.integer = &integer;
            made.set_integer = &set_integer;
        }
        return made;
    }
};
template <typename T>
inline constexpr member_access access_to = member_functions<T>::make();

/// One member of a record.
struct member_descriptor {
    static constexpr std::size_t no_integer = ~std::size_t{0};

    std::string_view name{};
    member_access const* access = nullptr;
    std::size_t integer = no_integer; ///< its position among the members that can be added to
    std::int64_t least = 0;           ///< the range of an integer member
    std::int64_t most = 0;
};

/// An exclusive effect of a mark; see exclusive_effect.
struct exclusive_view {
    void const* undone = nullptr;    ///< a record
    void const* confirmed = nullptr; ///< a record
    std::uint64_t undo_fields = 0;
    std::uint64_t confirm_fields = 0;
    bool created = false;
    bool erases = false;
    std::string_view image{};
};

/// A mark in a slot.
/// Shape:   valid until the slot changes
struct mark_view {
    transaction_id const* id = nullptr;
    part_number part{};
    epoch epoch_number = 0;
    std::span<std::int64_t const> confirm{}; ///< a number for each integer member
    std::span<std::int64_t const> undo{};
    bool is_exclusive = false;
    exclusive_view exclusive{};

    /// The least that the mark can still add to an integer member; high() is the most.
    [[nodiscard]] std::int64_t low(std::size_t position) const {
        return std::min({std::int64_t{0}, confirm[position], undo[position]});
    }
    [[nodiscard]] std::int64_t high(std::size_t position) const {
        return std::max({std::int64_t{0}, confirm[position], undo[position]});
    }
};

/// An exclusive effect that a codec fills.
struct exclusive_draft {
    std::shared_ptr<void> effect{};
    void* undone = nullptr;    ///< a record
    void* confirmed = nullptr; ///< a record
    std::uint64_t* undo_fields = nullptr;
    std::uint64_t* confirm_fields = nullptr;
    bool* created = nullptr;
    bool* erases = nullptr;
    std::string* image = nullptr;
};

/// A mark that is to go into a slot.
struct mark_data {
    transaction_id id{};
    part_number part{};
    epoch epoch_number = 0;
    std::vector<std::int64_t> confirm{}; ///< a number for each integer member
    std::vector<std::int64_t> undo{};
    std::shared_ptr<void> exclusive{};   ///< of an exclusive_draft
};

/// The changes that the record rule made in a slot.
struct record_changes {
    answer what = answer::nothing;
    mark_change on_mark = mark_change::none;
    record_change on_record = record_change::none;
    std::uint64_t fields = 0;
    std::shared_ptr<void const> exclusive{};

    [[nodiscard]] part_result result() && { return {what, std::move(exclusive), {}}; }
};

/// A conditional_change. Its mark has no exclusive effect.
/// Shape:   numbers - one for each integer member
struct conditional_view {
    std::span<std::int64_t const> least;
    std::span<std::int64_t const> most;
    std::span<std::int64_t const> added;
    mark_view own;
};
using conditional_function = function_view<void(conditional_view const&)>;

/// A record type without its C++ type.
/// Shape:   slot - a record_slot of the type; record - such a record
struct record_descriptor {
    std::span<member_descriptor const> members;
    std::size_t integers; ///< how many members can be added to

    /// The number of a member; nothing if the record has no such member.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view named) const {
        for (std::size_t at = 0; at < members.size(); ++at) {
            if (members[at].name == named) return at;
        }
        return std::nullopt;
    }

    void* (*make_slot)();
    void (*destroy_slot)(void* slot);
    void (*clear_slot)(void* slot);
    void* (*record_in)(void* slot); ///< null if the slot has no record
    void* (*emplace_record)(void* slot);
    void* (*member)(void* record, std::size_t index);
    std::optional<mark_view> (*find_mark)(void* slot, transaction_id const& id, part_number part);
    void (*insert_mark)(void* slot, mark_data&& added);
    void (*erase_mark)(void* slot, transaction_id const& id, part_number part);
    void (*raise_mark)(void* slot, transaction_id const& id, part_number part, epoch to);
    void (*for_each_mark)(void* slot, function_view<void(mark_view const&)> function);
    std::size_t (*count_marks)(void* slot);
    bool (*any_exclusive)(void* slot);
    /// The least and the most that all marks together can still add to an integer member.
    void (*reach)(void* slot, std::size_t position, wide& low, wide& high);
    /// Shape:   record - both records of the effect become copies of it, unless it is null
    exclusive_draft (*draft_exclusive)(void const* record);
    record_changes (*execute)(part_request const&, void* slot, native_image_function);
    record_changes (*end_one_phase)(part_request const&, void* slot, bool confirmed);
    /// Confirms or undoes a mark that is there, and pulls it.
    record_changes (*resolve)(void* slot, transaction_id const& id, part_number part,
                              bool confirmed);
    /// Calls a function with the conditional update of a request, if the request has one.
    void (*conditional)(part_request const&, conditional_function);
};

struct collection_descriptor {
    void const* target; ///< as in part_descriptor
    std::string_view name;
    std::size_t key; ///< the member that is the key
    bool text_key;
    record_descriptor const* record;

    [[nodiscard]] std::span<member_descriptor const> members() const noexcept {
        return record->members;
    }
    /// The key that a record holds.
    [[nodiscard]] part_key key_of(void const* of) const {
        void const* const value = record->member(const_cast<void*>(of), key);
        member_access const& access = *members()[key].access;
        if (text_key) return access.text(value);
        return access.integer(value);
    }
};

template <Described Record>
struct slot_functions {
    using record = Record;
    using slot = record_slot<record>;
    using effect = exclusive_effect<record>;

    static slot& at(void* given) { return *static_cast<slot*>(given); }

    static void* make_slot() { return new slot; }
    static void destroy_slot(void* given) { delete &at(given); }
    static void clear_slot(void* given) { at(given) = slot{}; }
    static void* record_in(void* given) {
        auto& found = at(given).record;
        return found ? &*found : nullptr;
    }
    static void* emplace_record(void* given) { return &at(given).record.emplace(); }
    static void* member_of(void* given, std::size_t index) {
        return members_of<record>::template pointers<void*>(*static_cast<record*>(given))[index];
    }
    static mark_view view_of(mark<record> const& one) {
        mark_view made{&one.id, one.part, one.epoch_number, one.confirm_delta, one.undo_delta};
        if (one.is_exclusive()) {
            effect const& held = *one.exclusive;
            made.is_exclusive = true;
            made.exclusive = {&held.undone,        &held.confirmed, held.undo_fields,
                              held.confirm_fields, held.created,    held.erases, held.image};
        }
        return made;
    }
    static std::optional<mark_view> find_mark(void* given, transaction_id const& id,
                                              part_number part) {
        auto const* const found = at(given).marks.find(id, part);
        if (found == nullptr) return std::nullopt;
        return view_of(*found);
    }
    static void insert_mark(void* given, mark_data&& added) {
        mark<record> made;
        made.id = std::move(added.id);
        made.part = added.part;
        made.epoch_number = added.epoch_number;
        fill(made, std::move(added));
        at(given).marks.insert(std::move(made));
    }
    /// Sets the effect of a mark.
    static void fill(mark<record>& made, mark_data&& from) {
        if constexpr (integer_count<record> > 0) {
            std::copy(from.confirm.begin(), from.confirm.end(), made.confirm_delta.begin());
            std::copy(from.undo.begin(), from.undo.end(), made.undo_delta.begin());
        }
        made.exclusive = std::static_pointer_cast<effect>(std::move(from.exclusive));
    }
    static void erase_mark(void* given, transaction_id const& id, part_number part) {
        auto& marks = at(given).marks;
        marks.erase(marks.find(id, part));
    }
    static void raise_mark(void* given, transaction_id const& id, part_number part, epoch to) {
        at(given).marks.find(id, part)->epoch_number = to;
    }
    static void for_each_mark(void* given, function_view<void(mark_view const&)> function) {
        for (auto const& one : at(given).marks) function(view_of(one));
    }
    static std::size_t count_marks(void* given) { return at(given).marks.size(); }
    static bool any_exclusive(void* given) { return at(given).marks.any_exclusive(); }
    static void reach(void* given, std::size_t position, wide& low, wide& high) {
        low = at(given).marks.low(position);
        high = at(given).marks.high(position);
    }
    static exclusive_draft draft_exclusive(void const* given) {
        auto made = std::make_shared<effect>();
        if (given != nullptr) made->undone = made->confirmed = *static_cast<record const*>(given);
        effect& in = *made;
        return {std::move(made), &in.undone,  &in.confirmed, &in.undo_fields, &in.confirm_fields,
                &in.created,     &in.erases, &in.image};
    }
    static record_changes changes_of(record_answer<record>&& given) {
        return {given.what, given.on_mark, given.on_record, given.fields,
                std::move(given.exclusive)};
    }
    static record_changes execute(part_request const& request, void* given,
                                  native_image_function native_image) {
        return changes_of(settle::execute(request, at(given), native_image));
    }
    static record_changes end_one_phase(part_request const& request, void* given, bool confirmed) {
        return changes_of(settle::end_one_phase(request, at(given), confirmed));
    }
    static record_changes resolve(void* given, transaction_id const& id, part_number part,
                                  bool confirmed) {
        return changes_of(detail::resolve(at(given), at(given).marks.find(id, part), confirmed));
    }

    static void conditional(part_request const& request, conditional_function function) {
        auto const found = conditional_of<record>(request);
        if (found) function({found->least, found->most, found->added, view_of(found->own)});
    }

    static constexpr auto members = table_of_members<record, member_descriptor>([](auto m) {
        using found = decltype(m);
        using type = typename found::type;
        member_descriptor made{m.name, &access_to<type>};
        if constexpr (IntegerField<type>) {
            made.integer = integer_position<record, found::index>;
            made.least = std::int64_t{std::numeric_limits<type>::min()};
            made.most = std::int64_t{std::numeric_limits<type>::max()};
        }
        return made;
    });
};

template <Described Record>
inline constexpr record_descriptor descriptor_of_record{
    {slot_functions<Record>::members.data(), member_count<Record>},
    integer_count<Record>,
    &slot_functions<Record>::make_slot,
    &slot_functions<Record>::destroy_slot,
    &slot_functions<Record>::clear_slot,
    &slot_functions<Record>::record_in,
    &slot_functions<Record>::emplace_record,
    &slot_functions<Record>::member_of,
    &slot_functions<Record>::find_mark,
    &slot_functions<Record>::insert_mark,
    &slot_functions<Record>::erase_mark,
    &slot_functions<Record>::raise_mark,
    &slot_functions<Record>::for_each_mark,
    &slot_functions<Record>::count_marks,
    &slot_functions<Record>::any_exclusive,
    &slot_functions<Record>::reach,
    &slot_functions<Record>::draft_exclusive,
    &slot_functions<Record>::execute,
    &slot_functions<Record>::end_one_phase,
    &slot_functions<Record>::resolve,
    &slot_functions<Record>::conditional};

template <typename Collection>
inline constexpr collection_descriptor descriptor_of_collection{
    &target_tag<Collection>,
    Collection::name,
    member_index<typename Collection::record_type, Collection::key_member>,
    std::is_same_v<typename Collection::key_type, std::string>,
    &descriptor_of_record<typename Collection::record_type>};

/// The record and the marks of one key.
class any_slot {
public:
    explicit any_slot(record_descriptor const& of) : of_(&of), slot_(of.make_slot()) {}
    any_slot(any_slot&& other) noexcept
        : of_(other.of_), slot_(std::exchange(other.slot_, nullptr)) {}
    any_slot& operator=(any_slot&& other) noexcept {
        std::swap(of_, other.of_);
        std::swap(slot_, other.slot_);
        return *this;
    }
    any_slot(any_slot const&) = delete;
    any_slot& operator=(any_slot const&) = delete;
    ~any_slot() {
        if (slot_ != nullptr) of_->destroy_slot(slot_);
    }

    [[nodiscard]] record_descriptor const& of() const noexcept { return *of_; }
    void clear() { of_->clear_slot(slot_); }

    /// The record; null if there is none.
    [[nodiscard]] void* record() const { return of_->record_in(slot_); }
    [[nodiscard]] bool has_record() const { return record() != nullptr; }
    /// A fresh record.
    void* emplace() { return of_->emplace_record(slot_); }

    [[nodiscard]] std::optional<mark_view> find(transaction_id const& id, part_number part) const {
        return of_->find_mark(slot_, id, part);
    }
    [[nodiscard]] bool has_mark(transaction_id const& id, part_number part) const {
        return find(id, part).has_value();
    }
    void insert(mark_data&& added) { of_->insert_mark(slot_, std::move(added)); }
    void erase(transaction_id const& id, part_number part) { of_->erase_mark(slot_, id, part); }
    /// Sets the epoch of a mark that is there.
    void raise(transaction_id const& id, part_number part, epoch to) {
        of_->raise_mark(slot_, id, part, to);
    }
    void for_each_mark(function_view<void(mark_view const&)> function) const {
        of_->for_each_mark(slot_, function);
    }
    [[nodiscard]] std::size_t count_marks() const { return of_->count_marks(slot_); }
    [[nodiscard]] bool any_exclusive() const { return of_->any_exclusive(slot_); }
    void reach(std::size_t position, wide& low, wide& high) const {
        of_->reach(slot_, position, low, high);
    }

    record_changes execute(part_request const& request, native_image_function native_image) {
        return of_->execute(request, slot_, native_image);
    }
    record_changes end_one_phase(part_request const& request, bool confirmed) {
        return of_->end_one_phase(request, slot_, confirmed);
    }
    record_changes resolve(transaction_id const& id, part_number part, bool confirmed) {
        return of_->resolve(slot_, id, part, confirmed);
    }

private:
    record_descriptor const* of_;
    void* slot_;
};

/// The key as an owned value.
[[nodiscard]] inline key_value owned(part_key const& key) {
    if (auto const* const text = std::get_if<std::string_view>(&key)) return std::string{*text};
    return std::get<std::int64_t>(key);
}
[[nodiscard]] inline part_key view_of(key_value const& key) {
    if (auto const* const text = std::get_if<std::string>(&key)) return std::string_view{*text};
    return std::get<std::int64_t>(key);
}
[[nodiscard]] inline std::uint64_t hash_of(part_key const& key) {
    return std::visit(
        []<typename Key>(Key const& found) { return hash_mix(0, std::hash<Key>{}(found)); }, key);
}

/// Appends the name of the next member to a JSON object that is begun with its first member.
void begin_member(std::string& out, std::string_view name);

/// Makes a JSON object of some members of a record; an empty text if there is none.
/// Shape:   out - empty; fields - a bit for each member
void append_fields(std::string& out, record_descriptor const& of, void const* record,
                   std::uint64_t fields);

/// The whole record as JSON.
[[nodiscard]] inline std::string encode_record(record_descriptor const& of, void const* record) {
    std::string out;
    append_fields(out, of, record, ~std::uint64_t{0});
    return out;
}

/// The name of a member whose range a delta would leave; empty if every sum fits.
/// Shape:   deltas - one for each integer member
[[nodiscard]] std::string_view member_out_of_range(record_descriptor const& of, void* record,
                                                   std::span<std::int64_t const> deltas);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/collection.ipp>
#endif
