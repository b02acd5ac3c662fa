// SPDX-License-Identifier: BSL-1.0
// The reference store: the record rule over maps.
#pragma once

#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

#include <map>
#include <tuple>

SETTLE_BEGIN
namespace testing {

/// Records and marks in maps; each request is a call of the record rule.
template <typename... Collections>
class reference_store {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        for (std::size_t at = 0; at < requests.size(); ++at) {
            (execute_in<Collections>(requests[at], results[at]), ...);
        }
    }

    template <typename C>
    void create(typename C::record_type const& record) {
        slots_of<C>()[record.*C::key_member].record = record;
    }

    answer resolve(mark_locator const& locator, bool confirmed) {
        answer resolved = answer::nothing;
        (resolve_in<Collections>(locator, confirmed, resolved), ...);
        return resolved;
    }

    template <typename C>
    [[nodiscard]] std::vector<typename C::record_type> records() const {
        std::vector<typename C::record_type> records;
        for (auto const& [key, slot] : std::get<slots<C>>(slots_).content) {
            if (slot.record) records.push_back(*slot.record);
        }
        return records;
    }

    [[nodiscard]] std::vector<mark_locator> marks() const {
        std::vector<mark_locator> found;
        (append_marks<Collections>(found), ...);
        return found;
    }

private:
    template <typename C>
    struct slots {
        std::map<typename C::key_type, record_slot<typename C::record_type>> content;
    };

    template <typename C>
    auto& slots_of() {
        return std::get<slots<C>>(slots_).content;
    }

    template <typename C>
    void execute_in(part_request const& request, part_result& answered) {
        if (!is_part_of<C>(request)) return;
        auto& content = slots_of<C>();
        auto const position = content.try_emplace(key_of<C>(request)).first;
        auto& slot = position->second;
        answered =
            result_of(settle::execute(request, slot, [&] { return encode_json(*slot.record); }));
        if (!slot.record && slot.marks.empty()) content.erase(position);
    }

    template <typename C>
    void resolve_in(mark_locator const& locator, bool confirmed, answer& resolved) {
        auto const* const key = std::get_if<typename C::key_type>(&locator.key);
        if (locator.collection != C::name || key == nullptr) return;
        auto const position = slots_of<C>().find(*key);
        if (position == slots_of<C>().end()) return;
        auto& slot = position->second;
        resolved = resolve_mark(slot, locator.id, locator.part, locator.epoch_number, confirmed);
        if (!slot.record && slot.marks.empty()) slots_of<C>().erase(position);
    }

    template <typename C>
    void append_marks(std::vector<mark_locator>& out) const {
        for (auto const& [key, slot] : std::get<slots<C>>(slots_).content) {
            for (auto const& one : slot.marks) {
                out.push_back(
                    {std::string{C::name}, key_value{key}, one.id, one.part, one.epoch_number});
            }
        }
    }

    std::tuple<slots<Collections>...> slots_;
};

} // namespace testing
SETTLE_END
