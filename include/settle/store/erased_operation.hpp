// SPDX-License-Identifier: BSL-1.0
// Operations without their types. A session hands each to its unit of work through pointers to
// typed functions: so the session's code for a wave is compiled once, and not for each step of each
// transaction type.
#pragma once

#include <settle/store/operation.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// The answer to an operation, kept until its native transaction is committed.
struct kept_answer {
    answer what = answer::none;
    std::shared_ptr<void const> exclusive{}; ///< of the operation's record
    error problem{};                         ///< why the record could not be used

    template <Described Record>
    [[nodiscard, gnu::noinline]] static kept_answer of(record_answer<Record> const& result) {
        return {result.what, result.exclusive, {}};
    }
    /// An unusable record cancels a part that has not begun; a part that has begun must wait for
    /// the record's repair.
    [[nodiscard]] static kept_answer of_unusable(step at, error const& why) {
        return {applies(at) ? answer::record_unusable : answer::unavailable, nullptr, why};
    }
};

/// Shape:   UnitOfWork - has expect(operation), execute(operation), end_one_phase(operation,
/// confirmed) where
///          it settles at once, and has_mark_of(operation) where an adapter asks for it
template <typename UnitOfWork>
class erased_operation {
public:
    template <typename Operation>
    explicit erased_operation(Operation const& one)
        : how_(&functions_of<Operation>), work_(&one.work()), flat_(one.flat_part()),
          part_(one.part()), at_(one.at()) {}

    [[nodiscard]] job& work() const { return *work_; }
    [[nodiscard]] step at() const { return at_; }
    [[nodiscard]] std::size_t flat_part() const { return flat_; }

    void expect(UnitOfWork& at) const { how_->expect(at, *this); }
    [[nodiscard]] kept_answer execute(UnitOfWork& at) const { return how_->execute(at, *this); }
    void end_one_phase(UnitOfWork& at, bool confirmed) const {
        how_->end_one_phase(at, *this, confirmed);
    }
    [[nodiscard]] bool has_mark(UnitOfWork& at) const { return how_->has_mark(at, *this); }

    /// Writes the answer into the coordinator and the entry.
    void deliver(kept_answer const& kept) const {
        if (!kept.problem.empty()) return failed(kept.what, kept.problem);
        work_->coordinator.answered(flat_, kept.what);
        if (kept.exclusive && how_->keep_image != nullptr) {
            how_->keep_image(*this, kept.exclusive.get());
        }
    }
    void failed(answer reply, error const& problem) const {
        work_->answered(flat_, reply, problem);
    }

private:
    struct functions {
        void (*expect)(UnitOfWork&, erased_operation const&);
        kept_answer (*execute)(UnitOfWork&, erased_operation const&);
        void (*end_one_phase)(UnitOfWork&, erased_operation const&, bool);
        bool (*has_mark)(UnitOfWork&, erased_operation const&);
        void (*keep_image)(erased_operation const&, void const*);
    };

    template <typename Operation>
    [[nodiscard]] Operation typed() const {
        if constexpr (Operation::applies) return {*work_, {}, flat_, part_.line};
        else return {*work_, {at_}, flat_, part_.line};
    }

    template <typename Operation>
    [[nodiscard]] static consteval functions make_functions() {
        using record = typename Operation::record;
        functions made{};
        made.expect = &expect_as<Operation>;
        made.execute = &execute_as<Operation>;
        if constexpr (std::is_same_v<typename Operation::kind, applying_step<step::one_phase>>) {
            made.end_one_phase = &end_one_phase_as<Operation>;
        }
        if constexpr (!Operation::applies &&
                      requires(UnitOfWork& unit, Operation const& one) { unit.has_mark_of(one); }) {
            made.has_mark = &has_mark_as<Operation>;
        }
        if constexpr (Operation::applies) {
            made.keep_image = &keep_image_of<record>;
        }
        return made;
    }
    template <typename Operation>
    static void expect_as(UnitOfWork& unit, erased_operation const& one) {
        unit.expect(one.typed<Operation>());
    }
    template <typename Operation>
    static kept_answer execute_as(UnitOfWork& unit, erased_operation const& one) {
        return kept_answer::of(unit.execute(one.typed<Operation>()));
    }
    template <typename Operation>
    static void end_one_phase_as(UnitOfWork& unit, erased_operation const& one, bool confirmed) {
        unit.end_one_phase(one.typed<Operation>(), confirmed);
    }
    template <typename Operation>
    static bool has_mark_as(UnitOfWork& unit, erased_operation const& one) {
        return unit.has_mark_of(one.typed<Operation>());
    }
    template <typename Record>
    static void keep_image_of(erased_operation const& one, void const* effect) {
        keep_image(one.work(), one.part_, *static_cast<exclusive_effect<Record> const*>(effect));
    }
    template <typename Operation>
    static constexpr functions functions_of = make_functions<Operation>();

    functions const* how_;
    job* work_;
    std::size_t flat_;
    part_number part_;
    step at_;
};

/// The operations of a wave in the collections of a session.
template <typename UnitOfWork, template <typename> typename Holds, typename Direction,
          typename Kind>
[[nodiscard]] std::vector<erased_operation<UnitOfWork>> operations_of(std::span<job> wave,
                                                                      Kind how) {
    std::vector<erased_operation<UnitOfWork>> all;
    for_each_operation<Holds, Direction>(
        wave, how, [&](auto const& one) { all.push_back(erased_operation<UnitOfWork>{one}); });
    return all;
}

/// All parts of the one-phase jobs, in the order of the jobs.
template <typename UnitOfWork, template <typename> typename Holds, typename Direction>
[[nodiscard]] std::vector<erased_operation<UnitOfWork>> parts_of(std::span<job* const> jobs) {
    std::vector<erased_operation<UnitOfWork>> all;
    for (auto* const work : jobs) {
        for_each_part<Holds, Direction>(
            *work, applying_step<step::one_phase>{}, [](std::size_t) { return true; },
            [&](auto const& one) { all.push_back(erased_operation<UnitOfWork>{one}); });
    }
    return all;
}

/// Calls `function(job, its parts)` for some of the jobs whose parts these are, in their order.
template <typename UnitOfWork, typename Function>
void for_each_with_parts(std::span<job* const> jobs,
                         std::span<erased_operation<UnitOfWork> const> parts, Function&& function) {
    std::size_t first = 0;
    for (auto* const work : jobs) {
        std::size_t const count = work->coordinator.parts();
        // Those of jobs that are left out come between.
        while (count != 0 && &parts[first].work() != work) ++first;
        function(*work, parts.subspan(first, count));
        first += count;
    }
}

} // namespace detail
SETTLE_END
