// SPDX-License-Identifier: BSL-1.0
// The log of a database with the tutorial's leftovers. Before it changes the state of a leftover
// entry, it checks the records of that entry: if a record does not fit the type, the entry stays as
// it is.
#pragma once

#include <settle/mongodb/unit_of_work.hpp>
#include <settle/mongodb/log_session.hpp>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   Type - the type of the other programs' transactions
/// Cost:    as a log_session, and a read of the records of each leftover at its first claim
template <auto const& Type>
class tutorial_log : public log_session {
    using direction = forward<Type>;

public:
    tutorial_log(detail::server& with, detail::record_layout records, log_session log)
        : log_session(std::move(log)), with_(&with), records_(std::move(records)) {}

    /// As log_session. The first claim or cancel of a leftover entry is `unavailable` with
    /// errc::damaged if one of its marks could not be ended.
    template <step Step>
    void change(std::span<job> wave, write_context const& at) {
        without_unfit<Step>(wave, [&] { log_session::change<Step>(wave, at); });
    }

    /// Calls a function with a wave, without the jobs whose leftovers cannot be taken over.
    template <step Step, typename Function>
    void without_unfit(std::span<job> wave, Function&& function) {
        std::vector<job*> unfit;
        if constexpr (Step == step::claim || Step == step::cancel || Step == step::one_phase) {
            unfit = look_at_leftovers(leftovers_of<Step>(wave));
        }
        for (job* const work : unfit) work->resting = true;
        function();
        for (job* const work : unfit) work->resting = false;
    }

private:
    template <step Step>
    [[nodiscard]] static std::vector<job*> leftovers_of(std::span<job> wave) {
        std::vector<job*> found;
        for (job& work : wave) {
            bool const known = work.direction == &erased_direction_of<direction>;
            if (!known || !work.takes(Step) || work.coordinator.inserts()) continue;
            auto const wanted = work.coordinator.change();
            // An initial entry has no marks to end when it is canceled.
            bool const unbegun = Step == step::cancel && wanted.from == state::initial;
            if (wanted.from_epoch == 0 && !unbegun) found.push_back(&work);
        }
        return found;
    }

    /// Answers the jobs that cannot be taken over, and returns them.
    std::vector<job*> look_at_leftovers(std::vector<job*> const& leftovers) {
        std::vector<job*> unfit;
        if (leftovers.empty()) return unfit;
        for (job* const work : leftovers) work->problem = {};
        try {
            auto with = with_->connect();
            direction::for_each_participant(
                [&](auto index) { look_at_part<index>(with, leftovers); });
        } catch (failure const& caught) {
            for (job* const work : leftovers) work->problem = caught.problem();
        }
        for (job* const work : leftovers) {
            if (work->problem.empty()) continue;
            work->reply = settle::detail::answer_of_undone(work->problem);
            unfit.push_back(work);
        }
        return unfit;
    }

    template <std::size_t Index>
    void look_at_part(detail::link& with, std::vector<job*> const& leftovers) {
        detail::unit_of_work<typename direction::template collection_of<Index>> here{records_};
        auto const each = [&](auto&& function) {
            for (job* const work : leftovers) {
                auto const& user = work->template parameters_of<direction>();
                bool const committed = work->coordinator.state() == state::applied;
                ending_step const how{committed ? step::confirm : step::compensate};
                for (std::size_t line = 0; line < direction::template lines<Index>(user); ++line) {
                    function(*work, operation<ending_step, direction, Index>{*work, how, 0, line});
                }
            }
        };
        each([&](job&, auto const& one) { here.expect(one); });
        here.fetch(with);
        each([&](job& work, auto const& one) {
            auto problem = here.look(one);
            if (work.problem.empty()) work.problem = std::move(problem);
        });
    }

    detail::server* with_;
    detail::record_layout records_;
};

} // namespace mongodb
SETTLE_END
