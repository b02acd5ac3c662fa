// SPDX-License-Identifier: BSL-1.0
// The records of one collection in memory, with their marks.
#pragma once

#include <settle/memory/id_index.hpp>
#include <settle/store/look.hpp>
#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

SETTLE_BEGIN
namespace memory {

struct table_base {
    table_base() = default;
    table_base(table_base const&) = delete;
    table_base& operator=(table_base const&) = delete;
    virtual ~table_base() = default;
    virtual answer resolve(mark_locator const& locator, bool confirmed) = 0;
};

template <typename Collection>
class table final : public table_base {
public:
    using record_type = typename Collection::record_type;
    using key_type = typename Collection::key_type;
    static constexpr bool is_text = std::is_same_v<key_type, std::string>;
    using stored_key = std::conditional_t<is_text, std::string, std::int64_t>;
    using lookup_type = std::conditional_t<is_text, std::string_view, std::int64_t>;
    using hash_type = std::conditional_t<is_text, text_hash, std::hash<std::int64_t>>;
    using map_type =
        std::unordered_map<stored_key, record_slot<record_type>, hash_type, std::equal_to<>>;

    /// Executes an operation that knows its types.
    template <typename Operation>
    [[gnu::always_inline]] void execute(Operation const& operation) {
        operation.answered(execute_at(operation.number(), operation.key(), [&](auto& slot) {
            return operation.execute(slot, whole_record{slot});
        }));
    }
    [[nodiscard]] part_result execute_request(part_request const& request) {
        auto const key = std::get<lookup_type>(request.key());
        return result_of(execute_at(request.part.participant, key, [&](auto& slot) {
            return settle::execute(request, slot, whole_record{slot});
        }));
    }

    /// Prefetches the record of a key. It computes the bucket as libstdc++ does; with another
    /// library the prefetch has no use and does no harm.
    template <typename Key>
    [[gnu::always_inline]] void expect(Key const& key) const {
        if (slots_.empty()) return;
        auto const bucket = hash_type{}(key) % slots_.bucket_count();
        auto const first = slots_.begin(bucket);
        if (first != slots_.end(bucket)) __builtin_prefetch(&*first);
    }

    [[nodiscard]] std::optional<record_type> read(key_type const& key) const {
        auto const found = slots_.find(stored_key(key));
        return found == slots_.end() ? std::nullopt : found->second.record;
    }

    [[nodiscard]] record_slot<settle::detail::any_record> look(part_key const& key) const {
        auto const* const seen = slot(stored_key(std::get<lookup_type>(key)));
        if (seen == nullptr) return {};
        return without_type(*seen);
    }
    void look_at_all(std::vector<record_slot<settle::detail::any_record>>& into) const {
        for (auto const& each : slots_) into.push_back(without_type(each.second));
    }

    [[nodiscard]] bool create(record_type const& record) {
        auto const [at, fresh] = slots_.try_emplace(stored_key(record.*Collection::key_member));
        if (fresh) in_order_ = false;
        auto& slot = at->second;
        if (slot.record || !slot.marks.empty()) return false;
        slot.record = record;
        return true;
    }

    /// Records in the order of their keys, after a key.
    [[nodiscard]] std::vector<record_type> scan(std::optional<key_type> const& after,
                                                std::size_t limit) {
        std::vector<record_type> records;
        auto position = after ? first_after(stored_key(*after)) : ordered().begin();
        for (; position != by_key_.end() && records.size() < limit; ++position) {
            if ((*position)->second.record) records.push_back(*(*position)->second.record);
        }
        return records;
    }

    /// Reserves memory for additional records.
    void reserve(std::size_t room) {
        slots_.reserve(slots_.size() + room);
        by_key_.reserve(slots_.size() + room);
    }

    /// Appends marks up to `limit`, in the order of key, transaction and part.
    /// Shape:   after - null, or a mark of this collection: only later marks are appended
    void append_marks(std::vector<mark_locator>& out, mark_locator const* after,
                      std::size_t limit) {
        auto position = ordered().begin();
        if (after != nullptr) {
            auto const* const key = std::get_if<stored_key>(&after->key);
            if (key == nullptr) return;
            position = std::lower_bound(by_key_.begin(), by_key_.end(), *key, before);
        }
        for (; position != by_key_.end() && out.size() < limit; ++position) {
            auto const& [key, slot] = **position;
            bool const same = after != nullptr && std::get<stored_key>(after->key) == key;
            for (auto const& mark : slot.marks) {
                if (same && std::tie(mark.id, mark.part) <= std::tie(after->id, after->part)) {
                    continue;
                }
                if (out.size() == limit) return;
                out.push_back({std::string{Collection::name}, key_value{key}, mark.id, mark.part,
                               mark.epoch_number});
            }
        }
    }

    answer resolve(mark_locator const& locator, bool confirmed) override {
        auto const* const key = std::get_if<stored_key>(&locator.key);
        if (key == nullptr) return answer::nothing;
        auto const place = slots_.find(*key);
        if (place == slots_.end()) return answer::nothing;
        auto& slot = place->second;
        auto* const mark = slot.marks.find(locator.id, locator.part);
        if (mark == nullptr || mark->epoch_number != locator.epoch_number) return answer::nothing;
        auto const result = detail::resolve(slot, mark, confirmed);
        if (is_empty(slot)) drop(place->first, false);
        return result.what;
    }

    /// The slot itself, for tests that check marks.
    [[nodiscard]] record_slot<record_type> const* slot(stored_key const& key) const {
        auto const found = slots_.find(key);
        return found == slots_.end() ? nullptr : &found->second;
    }

private:
    /// Encodes a whole record as JSON. The type has a name, so that all operations share it.
    struct whole_record {
        record_slot<record_type> const& slot;
        std::string operator()() const { return encode_json(*slot.record); }
    };

    using slot_type = typename map_type::value_type;
    using kept = slot_type const*;

    /// Executes a part on its record. A slot without a record and marks is erased afterwards.
    /// Shape:   part - a number that is the same for this part in every transaction
    template <typename Key, typename Execute>
    [[gnu::always_inline]] record_answer<record_type> execute_at(std::size_t part, Key const& key,
                                                                 Execute&& execute) {
        auto* const existing = find(part, key);
        bool const in_order = in_order_;
        auto& slot = existing == nullptr ? add(key) : existing->second;
        auto result = execute(slot);
        // A slot that was added and erased leaves the order unchanged.
        if (is_empty(slot)) drop(key, existing == nullptr && in_order);
        return result;
    }

    /// The slot of a key. A part uses the same record at every step, so the slot that it used last
    /// is tried first.
    template <typename Key>
    [[gnu::always_inline]] slot_type* find(std::size_t part, Key const& key) {
        slot_type*& last = last_used_[part % last_used_.size()];
        if (last != nullptr && is_same(last->first, key)) return last;
        auto const found = slots_.find(key);
        return found == slots_.end() ? nullptr : last = &*found;
    }

    template <typename Key>
    [[gnu::always_inline]] static bool is_same(stored_key const& stored, Key const& key) {
        if constexpr (is_text) return settle::detail::same_text(stored, key);
        else return stored == key;
    }

    static bool before(kept slot, stored_key const& key) { return slot->first < key; }

    /// All slots in the order of their keys. Reading page after page sorts once, unless records
    /// were added or erased in between.
    std::vector<kept>& ordered() {
        if (in_order_) return by_key_;
        by_key_.clear();
        for (auto const& one : slots_) by_key_.push_back(&one);
        std::sort(by_key_.begin(), by_key_.end(),
                  [](kept left, kept right) { return left->first < right->first; });
        in_order_ = true;
        return by_key_;
    }

    auto first_after(stored_key const& key) {
        ordered();
        auto const at = std::lower_bound(by_key_.begin(), by_key_.end(), key, before);
        return at != by_key_.end() && (*at)->first == key ? at + 1 : at;
    }

    [[nodiscard]] static bool is_empty(record_slot<record_type> const& slot) {
        return !slot.record && slot.marks.empty();
    }

    [[gnu::noinline]] record_slot<record_type>& add(lookup_type key) {
        in_order_ = false;
        return slots_.try_emplace(stored_key(key)).first->second;
    }
    [[gnu::noinline]] void drop(lookup_type key, bool in_order) {
        auto const position = slots_.find(key);
        std::replace(last_used_.begin(), last_used_.end(), &*position,
                     static_cast<slot_type*>(nullptr));
        slots_.erase(position);
        in_order_ = in_order;
    }

    map_type slots_;
    std::array<slot_type*, 32> last_used_{}; ///< by part, of any transaction
    std::vector<kept> by_key_;
    bool in_order_ = true; ///< `by_key_` has every slot, in order
};

} // namespace memory
SETTLE_END
