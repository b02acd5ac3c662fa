// SPDX-License-Identifier: BSL-1.0
// The records of one collection in memory, with their marks.
#pragma once

#include <settle/store/wave.hpp>

#include <functional>
#include <unordered_map>

SETTLE_BEGIN
namespace memory {

/// Finds a text key by a view, without making a string of it.
struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

struct table_base {
    table_base() = default;
    table_base(table_base const&) = delete;
    table_base& operator=(table_base const&) = delete;
    virtual ~table_base() = default;
    virtual void append_marks(std::vector<mark_place>& out) const = 0;
    virtual answer resolve(mark_place const& place, bool confirmed) = 0;
};

template <typename Collection>
class table final : public table_base {
public:
    using record_type = typename Collection::record_type;
    using key_type = typename Collection::key_type;
    using lookup_type = computed_t<key_type>;
    static constexpr bool is_text = std::is_same_v<key_type, std::string>;
    using stored_key = std::conditional_t<is_text, std::string, std::int64_t>;
    using hash_type = std::conditional_t<is_text, text_hash, std::hash<std::int64_t>>;
    using map_type =
        std::unordered_map<stored_key, record_slot<record_type>, hash_type, std::equal_to<>>;

    /// Lets one operation meet its record. A slot that is left without record and marks goes.
    template <typename Operation>
    void meet(Operation const& one) {
        auto const key = one.key();
        auto const image = [&]() -> std::string {
            auto const at = slots_.find(key);
            return encode_json(*at->second.record);
        };
        auto const found = slots_.find(key);
        if (found == slots_.end()) {
            // Only a creation makes a slot; everything else meets nothing.
            record_slot<record_type> fresh;
            auto const result = one.meet(fresh, image);
            if (fresh.record) slots_.emplace(stored_key{key}, std::move(fresh));
            one.answered(result);
            return;
        }
        auto const result = one.meet(found->second, image);
        if (!found->second.record && found->second.marks.empty()) slots_.erase(found);
        one.answered(result);
    }

    [[nodiscard]] std::optional<record_type> read(key_type const& key) const {
        auto const found = slots_.find(stored_key(key));
        return found == slots_.end() ? std::nullopt : found->second.record;
    }

    [[nodiscard]] bool create(record_type const& record) {
        auto& slot = slots_[stored_key(record.*Collection::key_member)];
        if (slot.record || !slot.marks.empty()) return false;
        slot.record = record;
        return true;
    }

    /// Records in the order of their keys, beginning behind one of them.
    [[nodiscard]] std::vector<record_type> scan(std::optional<key_type> const& after,
                                                std::size_t limit) const {
        std::vector<stored_key> keys;
        for (auto const& [key, slot] : slots_) {
            if (slot.record && (!after || stored_key(*after) < key)) keys.push_back(key);
        }
        std::sort(keys.begin(), keys.end());
        if (keys.size() > limit) keys.resize(limit);
        std::vector<record_type> records;
        for (auto const& key : keys) records.push_back(*slots_.find(key)->second.record);
        return records;
    }

    void reserve(std::size_t room) { slots_.reserve(room); }

    void append_marks(std::vector<mark_place>& out) const override {
        for (auto const& [key, slot] : slots_) {
            for (auto const& one : slot.marks) {
                out.push_back({std::string{Collection::name}, key_value{key}, one.id, one.part,
                               one.epoch_number});
            }
        }
    }

    answer resolve(mark_place const& place, bool confirmed) override {
        auto const* const key = std::get_if<stored_key>(&place.key);
        if (key == nullptr) return answer::nothing;
        auto const found = slots_.find(*key);
        if (found == slots_.end()) return answer::nothing;
        auto& slot = found->second;
        auto* const one = slot.marks.find(place.id, place.part);
        if (one == nullptr || one->epoch_number != place.epoch_number) return answer::nothing;
        auto const result = detail::resolve(slot, one, confirmed);
        if (!slot.record && slot.marks.empty()) slots_.erase(found);
        return result.what;
    }

    /// The slot itself, for tests that look at marks.
    [[nodiscard]] record_slot<record_type> const* slot(stored_key const& key) const {
        auto const found = slots_.find(key);
        return found == slots_.end() ? nullptr : &found->second;
    }

private:
    map_type slots_;
};

} // namespace memory
SETTLE_END
