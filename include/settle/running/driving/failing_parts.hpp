// SPDX-License-Identifier: BSL-1.0
// The parts of a job whose last try has failed, with their tries. While the job confirms or
// compensates, each is sent again after a pause of its own, so a service that asks for ten minutes
// holds back no other part.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/store/descriptor.hpp>
#include <settle/store/request.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// True if the step confirms or compensates parts.
[[nodiscard]] constexpr bool ends_parts(step taken) noexcept {
    return taken == step::confirm || taken == step::compensate;
}

class failing_parts {
public:
    /// When the first and the last of the parts are sent again, on the clock of elapsed().
    struct ends {
        std::chrono::nanoseconds first;
        std::chrono::nanoseconds last;
    };

    [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
    void clear() noexcept {
        parts_.clear();
        begins_anew_ = false;
    }
    /// No try was made of the parts that are noted from now on.
    void begin_anew() noexcept { begins_anew_ = true; }
    /// Notes the answer to a part.
    /// Shape:   is_call - its tries count; tries - of the calls, by earlier workers
    void note(std::size_t number, part_result const& result, bool is_call, std::uint32_t tries);
    /// A person has paused the call of a part, which has failed.
    void note_paused(std::size_t number);
    /// The failed tries of a part.
    /// Shape:   tries - of the calls, by earlier workers
    [[nodiscard]] std::uint32_t tries_of(std::size_t number, std::uint32_t tries) const;
    /// True if the last try of a part was made, and as many have failed.
    [[nodiscard]] bool has_failed(std::size_t number, std::uint32_t tries) const;
    /// The most failed tries of a call.
    [[nodiscard]] std::uint32_t tries() const noexcept;
    /// The error of a part that is not sent now; null if it is sent.
    [[nodiscard]] error const* withholds(std::size_t number) const;
    /// Withholds the parts that have just failed. Those with the same pauses share their next wave.
    [[nodiscard]] ends withhold(transaction_descriptor const& type, void const* parameters,
                                options const& limits, std::chrono::nanoseconds now,
                                std::uint64_t random);
    /// Sends each part again whose pause is over.
    void wake(std::chrono::nanoseconds now);

private:
    struct part {
        std::size_t number;
        std::uint32_t tries;              ///< that have failed in a row
        std::uint32_t pauses = 0;         ///< after tries, and after calls that were not sent
        std::chrono::nanoseconds asked{}; ///< the pause that the store asks for
        std::chrono::nanoseconds until{}; ///< it is withheld until then
        error problem{};
        bool was_sent = false;  ///< at its last try
        bool is_paused = false; ///< by a person
        bool has_end = false;
        bool is_withheld = false;
    };
    /// The place of a part, or for it.
    template <typename Parts>
    [[nodiscard]] static auto lower_bound(Parts& parts, std::size_t number);
    /// The part, or null.
    template <typename Parts>
    [[nodiscard]] static auto find(Parts& parts, std::size_t number);

    std::vector<part> parts_; ///< in the order of their numbers
    bool begins_anew_ = false;
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/failing_parts.ipp>
#endif
