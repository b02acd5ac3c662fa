// SPDX-License-Identifier: BSL-1.0
// A record without its C++ type, as the record rule takes it: the rule is compiled once for all
// records of a store that is reached through the seam.
#pragma once

#include <settle/store/record_descriptor.hpp>

#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// A record of any type, or none.
class any_record {
public:
    any_record() = default;
    /// No record of this type.
    explicit any_record(record_descriptor const& descriptor) noexcept : of_(&descriptor) {}
    /// Copies a record.
    any_record(record_descriptor const& descriptor, void const* record)
        : of_(&descriptor), record_(descriptor.copy(record)) {}
    any_record(any_record const& other)
        : of_(other.of_), record_(other.record_ ? of_->copy(other.record_) : nullptr) {}
    any_record(any_record&& other) noexcept
        : of_(other.of_), record_(std::exchange(other.record_, nullptr)) {}
    any_record& operator=(any_record other) noexcept {
        std::swap(of_, other.of_);
        std::swap(record_, other.record_);
        return *this;
    }
    ~any_record() {
        if (record_ != nullptr) of_->destroy(record_);
    }

    [[nodiscard]] record_descriptor const& of() const noexcept { return *of_; }
    /// Null if there is no record.
    [[nodiscard]] void* get() const noexcept { return record_; }
    /// Makes a new record, and returns it.
    void* emplace() {
        any_record record{*of_};
        record.record_ = of_->make();
        *this = std::move(record);
        return record_;
    }
    /// 0 if there is no record.
    [[nodiscard]] std::int64_t integer(std::size_t member) const {
        if (record_ == nullptr) return 0;
        return of_->members[member].access->integer(of_->member(record_, member));
    }

private:
    record_descriptor const* of_ = nullptr;
    void* record_ = nullptr;
};

template <typename Number>
struct number_list<any_record, Number> {
    using type = std::vector<Number>;
};

// What the record rule calls, for a record without its type.

[[nodiscard]] inline std::vector<std::int64_t> zeros_of(any_record const& record) {
    return std::vector<std::int64_t>(record.of().integers);
}
template <typename Function>
void for_each_number(any_record const& record, Function&& function) {
    auto const members = record.of().members;
    for (std::size_t index = 0; index < members.size(); ++index) {
        member_descriptor const& member = members[index];
        if (member.integer == member_descriptor::no_integer) continue;
        function(index, member.integer, record.integer(index), member.least, member.most);
    }
}
inline std::uint64_t add_to(any_record& record, std::vector<std::int64_t> const& delta) {
    std::uint64_t fields = 0;
    auto const& descriptor = record.of();
    for (std::size_t index = 0; index < descriptor.members.size(); ++index) {
        member_descriptor const& member = descriptor.members[index];
        if (member.integer == member_descriptor::no_integer || delta[member.integer] == 0) continue;
        // Escrow has checked at apply that every sum of pending changes fits the member.
        static_cast<void>(member.access->set_integer(
            descriptor.member(record.get(), index), record.integer(index) + delta[member.integer]));
        fields |= std::uint64_t{1} << index;
    }
    return fields;
}
inline void copy_fields(any_record& to, any_record const& from, std::uint64_t fields) {
    to.of().copy_fields(to.get(), from.get(), fields);
}
/// A whole record as JSON.
template <Described Record>
[[nodiscard]] std::string json_of(Record const& record) {
    return encode_json(record);
}
[[nodiscard]] inline std::string json_of(any_record const& record) {
    return encode_record(record.of(), record.get());
}

/// The record itself, for a function that knows its type.
template <Described Record>
[[nodiscard]] void* address_of(Record& record) {
    return &record;
}
template <Described Record>
[[nodiscard]] void const* address_of(Record const& record) {
    return &record;
}
[[nodiscard]] inline void* address_of(any_record const& record) { return record.get(); }

} // namespace detail
SETTLE_END
