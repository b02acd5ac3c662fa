// SPDX-License-Identifier: BSL-1.0
// The driver's calls to a log and stores that are plain containers of this process. The calls are
// instantiated with the types of the transactions: a call of a container is so short that a call
// through a pointer would be noticeable.
#pragma once

#include <settle/running/driving/typed_wave.hpp>

#include <tuple>

SETTLE_BEGIN
namespace detail {

/// Shape:   Log, Sessions - of containers: a log has hold() and write_one(), and each store has
///          execute_typed(typed_wave)
template <typename Log, typename Sessions>
class container_calls {
public:
    container_calls(Log& log, Sessions& sessions) : log_(log), sessions_(sessions) {}

    /// The log's calls take no time, so that the clock need not be read after them.
    static constexpr bool takes_no_time = true;
    static constexpr bool one_phase = false;
    /// A container holds records alone, and records are of the first stage.
    static constexpr bool several_stages = false;
    static constexpr bool one_at_a_time = capabilities<Log>.wave_size == 1;

    /// The calls that are compiled for each direction.
    struct typed {
        void (*execute)(Sessions&, step, std::span<job>) = nullptr;
    };
    template <typename Direction>
    static constexpr typed const& of() noexcept {
        return typed_of<Direction>;
    }

    template <step Step>
    [[gnu::always_inline]] void write(std::span<job> jobs, write_context const& context) {
        auto const guard = log_.hold();
        for (job& work : jobs) {
            if (work.takes(Step))
                work.reply = log_.write_one(write_of<Step>(work), work.row, context);
        }
    }

    /// Calls `found(job, result<std::optional<entry>>, same)` for each job that reads.
    template <typename Found>
    void look_up(std::span<job> jobs, Found&& found) {
        for (job& work : jobs) {
            if (!work.takes(step::read)) continue;
            read_request const request{&work.id, work.type, work.parameters, &work.row};
            log_.look_up({&request, 1}, [&](std::size_t, auto&& stored, bool same) {
                found(work, std::move(stored), same);
            });
        }
    }

    [[gnu::always_inline]] void execute(step action, std::span<job> jobs, typed const& given) {
        if (given.execute != nullptr) given.execute(sessions_, action, jobs);
    }

private:
    template <typename Direction, typename Kind>
    [[gnu::always_inline]] static void execute_as(Sessions& sessions, std::span<job> jobs,
                                                  Kind how) {
        std::apply(
            [&](auto&... session) {
                (session.execute_typed(typed_wave<Direction, Kind>{jobs, how}), ...);
            },
            sessions);
    }
    template <typename Direction>
    static consteval typed make_typed() {
        typed typed_half;
        if constexpr (!std::is_same_v<Direction, undescribed>) {
            typed_half.execute = [](Sessions& sessions, step action, std::span<job> jobs) {
                if (action == step::apply) execute_as<Direction>(sessions, jobs, applying_step{});
                else execute_as<Direction>(sessions, jobs, ending_step{action});
            };
        }
        return typed_half;
    }
    template <typename Direction>
    static constexpr typed typed_of = make_typed<Direction>();

    Log& log_;
    Sessions& sessions_;
};

} // namespace detail
SETTLE_END
