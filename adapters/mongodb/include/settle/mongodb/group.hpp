// SPDX-License-Identifier: BSL-1.0
// Native transactions that threads share: whoever comes while others are under way goes into the
// next one.
//
// A few threads lead at a time, each with its own work and that of everybody who waited when it
// began. Who meets what only single works can meet has all of them done alone.
#pragma once

#include <settle/mongodb/native.hpp>
#include <settle/store/shared_turns.hpp>

#include <span>

SETTLE_BEGIN
namespace mongodb::detail {

/// Shape:   Work - what a caller wants done; it lives on the stack of that call
template <typename Work>
class group {
public:
    /// Has work done, perhaps on another thread and beside the work of others.
    /// Shape:   perform(span of Work*) - does it all in one native transaction, gives its ending
    /// Returns: how that ended, or nothing when it threw
    template <typename Perform>
    [[nodiscard]] std::optional<ending> join(Work& mine, Perform&& perform) {
        member me{&mine};
        if (turns_.leads(me)) lead(me, perform);
        return std::move(me.end);
    }

private:
    /// Enough that a few threads need not wait for each other, and few enough that many share.
    static constexpr std::size_t most_leaders = 4;
    static constexpr std::size_t largest = 1000; ///< works of one native transaction

    struct member {
        Work* work;
        std::optional<ending> end{};
        settle::detail::turn turn{};
    };

    template <typename Perform>
    void lead(member& me, Perform& perform) {
        std::vector<member*> others;
        turns_.join(others, largest);
        std::vector<Work*> all{me.work};
        for (member* one : others) all.push_back(one->work);
        try {
            me.end = perform(std::span<Work* const>{all});
        } catch (...) {
            // Whose it was shows when each goes alone.
            me.end.reset();
        }
        // Nobody is touched after being told.
        for (member* one : others) {
            one->end = me.end;
            one->turn.tell(settle::detail::turn::stage::ended);
        }
        turns_.hand_over();
    }

    settle::detail::shared_turns<member> turns_{most_leaders};
};

} // namespace mongodb::detail
SETTLE_END
