// SPDX-License-Identifier: BSL-1.0
// The calls of a driver to a log and stores that are plain containers of this process. An apply
// knows its step and its transaction type at compile time, so that it costs no more than a loop
// that is written by hand: a call through the seam would take three to five times as long. The
// header of such a store includes this file; every other store gets part requests (seam_calls.hpp).
#pragma once

#include <settle/running/calls/container_window.hpp>
#include <settle/running/driving/driver.hpp>
#include <settle/store/record.hpp>

#include <tuple>

SETTLE_BEGIN
namespace detail {

/// The kind of a wave that applies parts in two phases.
struct applying_step {
    static constexpr bool applies = true;
    [[nodiscard]] static constexpr step at() noexcept { return step::apply; }
};
/// The kind of a wave that ends parts: a variable, so that all such steps are compiled once.
struct ending_step {
    static constexpr bool applies = false;
    [[nodiscard]] constexpr step at() const noexcept { return action; }

    step action;
};

/// Ends a part in a record of one collection: the same code for all transaction types.
template <typename Collection>
class part_end {
public:
    using record = typename Collection::record_type;

    [[gnu::always_inline]] part_end(job const& work, step current, part_number part)
        : work_(work), part_(part), at_(current) {}

    [[SETTLE_INLINED]] record_answer<record> execute(record_slot<record>& slot) const {
        auto const& c = work_.coordinator;
        if (at_ != step::confirm) return undo(slot);
        return settle::finish(slot, work_.id, part_, c.committed());
    }

private:
    /// Kept out of line: most parts are finished, not undone.
    [[gnu::noinline]] record_answer<record> undo(record_slot<record>& slot) const {
        auto const& c = work_.coordinator;
        if (at_ == step::compensate) return settle::undo(slot, work_.id, part_, c.latest());
        return undo_exactly(slot, work_.id, part_, c.undone_epoch());
    }

    job const& work_;
    part_number part_;
    step at_;
};

/// One operation of a wave: one part of one transaction at one step.
/// Shape:   Kind - `applying_step` or `ending_step`
template <typename Kind, typename Direction, std::size_t Index>
class operation {
public:
    static constexpr bool applies = Kind::applies;
    using collection = typename Direction::template target_of<Index>;
    using record = typename collection::record_type;

    [[gnu::always_inline]] operation(job& work, Kind how, std::size_t flat, std::size_t line_number)
        : work_(work), flat_(flat), line_(line_number), kind_(how) {}

    /// The part's number among all parts of the transaction.
    [[nodiscard, gnu::always_inline]] std::size_t number() const { return flat_; }
    [[nodiscard, gnu::always_inline]] auto key() const {
        return Direction::template key<Index>(Direction::user(parameters()), line_);
    }

    /// Applies the record rule to the record of the operation. The rule is compiled into
    /// the caller.
    /// Shape:   native_image - gives the whole record as the store keeps it, as JSON
    [[gnu::always_inline]] record_answer<record> execute(record_slot<record>& slot,
                                                         native_image_function native_image) const {
        if constexpr (applies) {
            record created{};
            auto const intended = Direction::template intent<Index>(parameters(), line_);
            if constexpr (std::remove_const_t<decltype(intended)>::creates) {
                bool overflow = false;
                store_value(created.*collection::key_member, key(), overflow);
                if (overflow) return refused<record>(answer::overflow);
            }
            return apply_inlined(slot, work_.id, part(), work_.coordinator.epoch_number(), created,
                                 intended, native_image);
        } else {
            return part_end<collection>{work_, kind_.at(), part()}.execute(slot);
        }
    }

    /// Gives the answer to the coordinator, and the image to the job for a later commit.
    [[gnu::always_inline]] void answered(record_answer<record> const& result) const {
        work_.coordinator.answered(flat_, result.what, result.marked);
        if constexpr (applies) {
            if (result.exclusive) work_.keep(image_of(part(), *result.exclusive));
        }
    }

private:
    [[nodiscard, gnu::always_inline]] part_number part() const {
        return {static_cast<std::uint32_t>(Index), static_cast<std::uint32_t>(line_)};
    }
    [[nodiscard, gnu::always_inline]] auto const& parameters() const {
        return work_.template parameters_of<Direction>();
    }

    job& work_;
    std::size_t flat_;
    std::size_t line_;
    [[no_unique_address]] Kind kind_;
};

/// The parts of all jobs that take a step.
/// Shape:   Kind - `applying_step` or `ending_step`
template <typename Direction, typename Kind>
class typed_wave {
public:
    typed_wave(std::span<job> jobs, Kind how) : jobs_(jobs), how_(how) {}

    /// Calls `function(operation)` for every due part whose collection passes `Holds<collection>`,
    /// in the order of the jobs and of the definition.
    template <template <typename> typename Holds, typename Function>
    [[gnu::always_inline]] void for_each(Function&& function) const {
        for (job& work : jobs_) {
            if (work.takes(how_.at())) for_each_part<Holds>(work, function);
        }
    }

private:
    template <template <typename> typename Holds, typename Function>
    void for_each_part(job& work, Function& function) const {
        std::size_t flat = 0;
        auto const& user = Direction::user(work.parameters_of<Direction>());
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            std::size_t const lines = Direction::template lines<position>(user);
            if constexpr (Holds<typename Direction::template target_of<position>>::value) {
                for (std::size_t line_number = 0; line_number < lines; ++line_number) {
                    if (!work.coordinator.due(flat + line_number)) continue;
                    function(operation<Kind, Direction, position>{work, how_, flat + line_number,
                                                                  line_number});
                }
            }
            flat += lines;
        });
    }

    std::span<job> jobs_;
    Kind how_;
};

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
    static constexpr bool confirms_lazily() noexcept { return false; }
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

    [[gnu::always_inline]] void execute(step action, std::span<job> jobs, typed const& calls) {
        if (calls.execute != nullptr) calls.execute(sessions_, action, jobs);
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
