// SPDX-License-Identifier: BSL-1.0
// A collection without its C++ types: a table of its members, and functions on the record and the
// marks of one key. The compiler makes the table for each collection; the code of an adapter that
// reads and writes records is compiled once.
#pragma once

#include <settle/base/native_value.hpp>
#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace detail {

/// Functions on the value of a member, one set for each type of a member.
/// Shape:   pointers - at the value; a function that the kind does not need is null
struct member_access {
    field_kind kind; ///< text for a struct or a list, which a row holds as its JSON
    bool optional;
    bool nested; ///< a struct or a list
    bool (*is_null)(void const*);
    void (*set_null)(void*);
    std::int64_t (*integer)(void const*);
    bool (*set_integer)(void*, std::int64_t); ///< false if the number is no value of the type
    std::string_view (*text)(void const*);
    void (*set_text)(void*, std::string_view);
    value_codec const* json;
    std::intmax_t unit_num = 1; ///< a unit of a time has unit_num / unit_den seconds
    std::intmax_t unit_den = 1;
    bool list = false; ///< a list
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
        made.list = is_list<plain>;
        if constexpr (optional) {
            made.is_null = &is_null;
            made.set_null = &set_null;
        }
        if constexpr (kind == field_kind::time) {
            using period = typename time_parts<plain>::duration::period;
            made.unit_num = period::num;
            made.unit_den = period::den;
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
    std::size_t integer = no_integer; ///< its position among the integer members
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

/// A mark to insert into a slot.
struct mark_data {
    transaction_id id{};
    part_number part{};
    epoch epoch_number = 0;
    std::vector<std::int64_t> confirm{}; ///< a number for each integer member
    std::vector<std::int64_t> undo{};
    std::shared_ptr<void> exclusive{}; ///< of an exclusive_draft
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

class any_slot;

/// A record type without its C++ type.
struct record_descriptor {
    std::span<member_descriptor const> members;
    std::size_t integers; ///< the number of integer members

    std::unique_ptr<any_slot> (*make_slot)();
    void* (*member)(void* record, std::size_t index);
    /// Shape:   record - both records of the effect become copies of it, unless it is null
    exclusive_draft (*draft_exclusive)(void const* record);
    /// Calls a function with the conditional update of a request, if the request has one.
    void (*conditional)(part_request const&, conditional_function);

    /// The number of a member; empty if the record has no such member.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view named) const {
        for (std::size_t at = 0; at < members.size(); ++at) {
            if (members[at].name == named) return at;
        }
        return std::nullopt;
    }
};

/// The record and the marks of one key.
class any_slot {
public:
    any_slot() = default;
    any_slot(any_slot const&) = delete;
    any_slot& operator=(any_slot const&) = delete;
    virtual ~any_slot() = default;

    [[nodiscard]] virtual record_descriptor const& of() const noexcept = 0;

    /// The record; null if there is none.
    [[nodiscard]] virtual void* record() = 0;
    [[nodiscard]] bool has_record() { return record() != nullptr; }
    /// Makes a new record, and returns it.
    virtual void* emplace() = 0;

    [[nodiscard]] virtual std::optional<mark_view> find(transaction_id const& id,
                                                        part_number part) const = 0;
    [[nodiscard]] bool has_mark(transaction_id const& id, part_number part) const {
        return find(id, part).has_value();
    }
    virtual void insert(mark_data&& added) = 0;
    virtual void erase(transaction_id const& id, part_number part) = 0;
    /// Sets the epoch of a mark that is there.
    virtual void raise(transaction_id const& id, part_number part, epoch to) = 0;
    virtual void for_each_mark(function_view<void(mark_view const&)> function) const = 0;
    [[nodiscard]] virtual std::size_t count_marks() const = 0;
    [[nodiscard]] virtual bool any_exclusive() const = 0;
    /// The least and the most that all marks together can still add to an integer member.
    virtual void reach(std::size_t position, wide& low, wide& high) const = 0;

    virtual record_changes execute(part_request const& request,
                                   native_image_function native_image) = 0;
    virtual record_changes end_one_phase(part_request const& request, bool confirmed) = 0;
    /// Confirms or undoes a mark that is there, and pulls it.
    virtual record_changes resolve(transaction_id const& id, part_number part, bool confirmed) = 0;
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
struct record_type_functions {
    using effect = exclusive_effect<Record>;

    static void* member(void* given, std::size_t index) {
        return members_of<Record>::template pointers<void*>(*static_cast<Record*>(given))[index];
    }
    static exclusive_draft draft_exclusive(void const* given) {
        auto made = std::make_shared<effect>();
        if (given != nullptr) made->undone = made->confirmed = *static_cast<Record const*>(given);
        effect& in = *made;
        return {std::move(made),    &in.undone,  &in.confirmed, &in.undo_fields,
                &in.confirm_fields, &in.created, &in.erases,    &in.image};
    }
    static void conditional(part_request const& request, conditional_function function) {
        auto const found = conditional_of<Record>(request);
        if (found) function({found->least, found->most, found->added, view_of(found->own)});
    }
    static mark_view view_of(mark<Record> const& one) {
        mark_view made{&one.id, one.part, one.epoch_number, one.confirm_delta, one.undo_delta};
        if (one.is_exclusive()) {
            effect const& held = *one.exclusive;
            made.is_exclusive = true;
            made.exclusive = {&held.undone, &held.confirmed, held.undo_fields, held.confirm_fields,
                              held.created, held.erases,     held.image};
        }
        return made;
    }
    /// Sets the effect of a mark.
    static void fill(mark<Record>& made, mark_data&& from) {
        if constexpr (integer_count<Record> > 0) {
            std::copy(from.confirm.begin(), from.confirm.end(), made.confirm_delta.begin());
            std::copy(from.undo.begin(), from.undo.end(), made.undo_delta.begin());
        }
        made.exclusive = std::static_pointer_cast<effect>(std::move(from.exclusive));
    }
    static std::unique_ptr<any_slot> make_slot();

    static constexpr auto members = table_of_members<Record, member_descriptor>([](auto m) {
        using found = decltype(m);
        using type = typename found::type;
        member_descriptor made{m.name, &access_to<type>};
        if constexpr (IntegerField<type>) {
            made.integer = integer_position<Record, found::index>;
            made.least = std::int64_t{std::numeric_limits<type>::min()};
            made.most = std::int64_t{std::numeric_limits<type>::max()};
        }
        return made;
    });
};

template <Described Record>
inline constexpr record_descriptor descriptor_of_record{
    {record_type_functions<Record>::members.data(), member_count<Record>},
    integer_count<Record>,
    &record_type_functions<Record>::make_slot,
    &record_type_functions<Record>::member,
    &record_type_functions<Record>::draft_exclusive,
    &record_type_functions<Record>::conditional};

template <Described Record>
class typed_slot final : public any_slot {
    using functions = record_type_functions<Record>;

public:
    [[nodiscard]] record_descriptor const& of() const noexcept override {
        return descriptor_of_record<Record>;
    }
    [[nodiscard]] void* record() override { return slot_.record ? &*slot_.record : nullptr; }
    void* emplace() override { return &slot_.record.emplace(); }

    [[nodiscard]] std::optional<mark_view> find(transaction_id const& id,
                                                part_number part) const override {
        auto const* const found = slot_.marks.find(id, part);
        if (found == nullptr) return std::nullopt;
        return functions::view_of(*found);
    }
    void insert(mark_data&& added) override {
        mark<Record> made;
        made.id = std::move(added.id);
        made.part = added.part;
        made.epoch_number = added.epoch_number;
        functions::fill(made, std::move(added));
        slot_.marks.insert(std::move(made));
    }
    void erase(transaction_id const& id, part_number part) override {
        slot_.marks.erase(slot_.marks.find(id, part));
    }
    void raise(transaction_id const& id, part_number part, epoch to) override {
        slot_.marks.find(id, part)->epoch_number = to;
    }
    void for_each_mark(function_view<void(mark_view const&)> function) const override {
        for (auto const& one : slot_.marks) function(functions::view_of(one));
    }
    [[nodiscard]] std::size_t count_marks() const override { return slot_.marks.size(); }
    [[nodiscard]] bool any_exclusive() const override { return slot_.marks.any_exclusive(); }
    void reach(std::size_t position, wide& low, wide& high) const override {
        low = slot_.marks.low(position);
        high = slot_.marks.high(position);
    }

    record_changes execute(part_request const& request,
                           native_image_function native_image) override {
        return changes_of(settle::execute(request, slot_, native_image));
    }
    record_changes end_one_phase(part_request const& request, bool confirmed) override {
        return changes_of(settle::end_one_phase(request, slot_, confirmed));
    }
    record_changes resolve(transaction_id const& id, part_number part, bool confirmed) override {
        return changes_of(detail::resolve(slot_, slot_.marks.find(id, part), confirmed));
    }

private:
    static record_changes changes_of(record_answer<Record>&& given) {
        return {given.what, given.on_mark, given.on_record, given.fields,
                std::move(given.exclusive)};
    }

    record_slot<Record> slot_{};
};

template <Described Record>
std::unique_ptr<any_slot> record_type_functions<Record>::make_slot() {
    return std::make_unique<typed_slot<Record>>();
}

template <typename Collection>
inline constexpr collection_descriptor descriptor_of_collection{
    &target_tag<Collection>, Collection::name,
    member_index<typename Collection::record_type, Collection::key_member>,
    std::is_same_v<typename Collection::key_type, std::string>,
    &descriptor_of_record<typename Collection::record_type>};

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
