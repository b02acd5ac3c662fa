// SPDX-License-Identifier: BSL-1.0
// Runs a range of transactions, a window at a time.
#pragma once

#include <settle/base/ranges.hpp>
#include <settle/running/calls/windows.hpp>

#include <exception>
#include <iterator>
#include <tuple>

SETTLE_BEGIN
namespace detail {

/// An element of a batch's range: parameters, alone or after their id.
template <typename Element>
struct batch_element {
    using parameters = Element;
    static constexpr bool has_id = false;
};
/// An id and parameters: a std::pair, a std::tuple, or an element of a zipped range.
template <typename Element>
    requires(std::tuple_size<Element>::value == 2 &&
             std::is_convertible_v<std::tuple_element_t<0, Element>, transaction_id>)
struct batch_element<Element> {
    using parameters = std::remove_cvref_t<std::tuple_element_t<1, Element>>;
    static constexpr bool has_id = true;
};

/// Runs the transactions of a range. The window bounds the memory, not the range.
/// Shape:   Window - container_window or seam_jobs; Ended - called with the number and the outcome
///          of each element as it settles
template <typename Window, typename Ended>
class batch {
public:
    /// Shape:   context - what the window is made of
    template <typename Context>
    batch(Context&& context, call_options const& call, std::size_t room, Ended& ended)
        : call_(call), room_(room), window_(std::forward<Context>(context), call, room),
          ended_(ended) {}

    /// Starts an element with its id, or with an empty id for one that the library makes, once the
    /// window has room.
    /// Shape:   Given - Window::parameters_type const&, or a value that converts to it
    template <typename Given>
    void take(transaction_id&& id, bool has_id, Given&& parameters, std::size_t number);

    /// True if the batch takes no more elements.
    [[nodiscard]] bool ends() const;
    /// Completes the report of a batch that ends before its range.
    void report_stop(batch_report& report) const;
    /// Handles the current exception, of the range or of this batch.
    void note_exception();
    /// Brings the transactions under way to their ends; rethrows the first exception.
    void finish();

private:
    void run_alone(transaction_id&& id, typename Window::parameters_type const& parameters,
                   std::size_t number, bool new_id);
    void end(std::size_t number, outcome&& concluded, interruption cut);
    void note_unreachable(outcome const& concluded, interruption cut);
    void round();
    void deliver(std::size_t number, outcome&& concluded);
    void store_exception(std::exception_ptr const& thrown);

    call_options const& call_;
    std::size_t room_;
    Window window_;
    Ended& ended_;
    std::exception_ptr thrown_{}; ///< the first, of the range, the observer or `ended`
    error unreachable_{};         ///< of a store or a service, for options::patience
    bool driving_ = false;        ///< a round is under way: an exception ends the worker
    bool looked_ = false;         ///< whether the range's first entry was looked for
};

/// The batch of an engine behind the seam.
template <typename Rules>
using seam_batch = batch<seam_jobs<Rules>, function_view<void(std::size_t, outcome&&)> const>;

#ifdef SETTLE_COMPILED
extern template class batch<seam_jobs<order_rules>,
                            function_view<void(std::size_t, outcome&&)> const>;
extern template void seam_batch<order_rules>::take<given_parameters const&>(transaction_id&&, bool,
                                                                            given_parameters const&,
                                                                            std::size_t);
#endif

template <typename Range>
void count_rest([[maybe_unused]] Range& range, batch_report& report) {
    if constexpr (std::ranges::sized_range<Range>) {
        report.not_taken = static_cast<std::size_t>(std::ranges::size(range)) - report.taken;
    }
}

template <typename Direction, typename Rules, typename Parameters>
void start_element(seam_batch<Rules>& into, transaction_id&& id, bool has_id,
                   Parameters&& parameters, std::size_t number) {
    with_given<Direction>(
        std::forward<Parameters>(parameters),
        [&](given_parameters const& values) { into.take(std::move(id), has_id, values, number); });
}
/// A container takes the parameters with their type.
template <typename Direction, typename Window, typename Ended, typename Parameters>
void start_element(batch<Window, Ended>& into, transaction_id&& id, bool has_id,
                   Parameters&& parameters, std::size_t number) {
    into.take(std::move(id), has_id, std::forward<Parameters>(parameters), number);
}

template <typename Direction, typename Batch, typename Element>
void take_element(Batch& into, Element&& element, std::size_t number) {
    if constexpr (batch_element<std::remove_cvref_t<Element>>::has_id) {
        transaction_id id{std::get<0>(element)};
        start_element<Direction>(into, std::move(id), true,
                                 std::get<1>(std::forward<Element>(element)), number);
    } else {
        start_element<Direction>(into, transaction_id{}, false, std::forward<Element>(element),
                                 number);
    }
}

/// Shape:   Direction - of all elements
template <typename Direction, typename Batch, typename Range>
void take_range(Batch& into, Range& range, batch_report& report) {
    constexpr bool read_once = !std::ranges::forward_range<Range>;
    auto position = std::ranges::begin(range);
    auto const last = std::ranges::end(range);
    auto const stop = [&] {
        count_rest(range, report);
        into.report_stop(report);
    };
    while (position != last) {
        take_element<Direction>(into, *position, report.taken++);
        // Advancing an input range may consume an element, so ends() is called first.
        if (read_once && into.ends()) return stop();
        ++position;
        if (!read_once && into.ends() && position != last) return stop();
    }
    report.not_taken = 0;
}

template <typename Direction, typename Batch, typename Range>
batch_report run_range(Batch&& into, Range& range) {
    batch_report report;
    try {
        take_range<Direction>(into, range, report);
    } catch (...) {
        into.note_exception();
    }
    into.finish();
    return report;
}

/// Shape:   run - called with the function that stores each outcome at its number
template <typename Range, typename Run>
batch_outcomes in_order(Range& range, Run&& run) {
    batch_outcomes outcomes;
    if constexpr (std::ranges::sized_range<Range>) {
        outcomes.reserve(static_cast<std::size_t>(std::ranges::size(range)));
    }
    outcomes.report = run([&](std::size_t number, outcome&& outcome) {
        if (outcomes.size() <= number) outcomes.resize(number + 1);
        outcomes[number] = std::move(outcome);
    });
    return outcomes;
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/batch.ipp>
#endif
