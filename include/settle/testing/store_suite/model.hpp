// SPDX-License-Identifier: BSL-1.0
// The reference store: the record rule over maps.
#pragma once

#include <settle/testing/store_suite/types.hpp>

#include <map>

SETTLE_BEGIN
namespace testing {

/// Records and marks in maps; each operation is a call of the record rule.
template <typename... Collections>
class record_model {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    template <step Step, typename Direction>
    void perform(std::span<job> wave) {
        for_each_operation<holds, Direction>(wave, kind_of<Step>(), [&](auto const& one) {
            using collection = typename std::remove_cvref_t<decltype(one)>::collection;
            using key_type = typename collection::key_type;
            auto& slots_here = slots_of<collection>();
            auto& slot = slots_here[key_type(one.key())];
            one.answered(one.execute(slot, [&] { return encode_json(*slot.record); }));
            if (!slot.record && slot.marks.empty()) slots_here.erase(key_type(one.key()));
        });
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
        std::vector<typename C::record_type> found;
        for (auto const& [key, slot] : std::get<slots<C>>(slots_).content) {
            if (slot.record) found.push_back(*slot.record);
        }
        return found;
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
    void resolve_in(mark_locator const& locator, bool confirmed, answer& resolved) {
        auto const* const key = std::get_if<typename C::key_type>(&locator.key);
        if (locator.collection != C::name || key == nullptr) return;
        auto const found = slots_of<C>().find(*key);
        if (found == slots_of<C>().end()) return;
        auto& slot = found->second;
        auto const* const one = slot.marks.find(locator.id, locator.part);
        if (one == nullptr || one->epoch_number != locator.epoch_number) return;
        resolved = (confirmed ? finish(slot, locator.id, locator.part, locator.epoch_number)
                          : undo(slot, locator.id, locator.part))
                   .what;
        if (!slot.record && slot.marks.empty()) slots_of<C>().erase(found);
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
