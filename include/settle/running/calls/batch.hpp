// SPDX-License-Identifier: BSL-1.0
// Runs a range of transactions, a window at a time.
#pragma once

#include <settle/running/calls/windows.hpp>
#include <settle/running/construction/assembly.hpp>

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

/// True if the parameters are refused before anything is written.
template <typename Direction>
[[nodiscard]] bool has_fault(typename Direction::parameters const& parameters) {
    return has_bad_text(parameters) || Direction::check(parameters).why != reason::none;
}

/// The refusal of such parameters.
template <typename Direction>
[[gnu::cold, gnu::noinline]] outcome
refused_before_write(transaction_id const& id, typename Direction::parameters const& parameters) {
    if (auto const texts = check_texts(parameters); !texts.has_value()) {
        return refuse(id, texts.problem());
    }
    return refuse_parameters<Direction>(id, parameters, Direction::check(parameters));
}

[[nodiscard]] inline error batch_stopped(batch_report const& report) {
    std::string text = "settle: a deadline or a stop request ended the batch after its first " +
                       std::to_string(report.taken) + " elements; ";
    if (report.not_taken) text += std::to_string(*report.not_taken) + " were not taken";
    else text += "the rest was not taken";
    return {make_error_code(errc::stopped),
            text + ". Run the rest in another call. See running#many-at-a-time"};
}

/// Runs the transactions of a range. The window bounds the memory, not the range.
/// Shape:   Direction - of all elements; Ended - called with the number and the outcome of each
///          element as it settles
template <typename Assembly, typename Direction, typename Ended>
class batch {
public:
    batch(Assembly& assembly, call_options const& call, std::size_t room, Ended& ended)
        : assembly_(assembly), call_(call), room_(room), window_(assembly, call, room),
          ended_(ended) {}

    template <typename Range>
    batch_report run(Range&& range) {
        batch_report report;
        try {
            take_all(range, report);
        } catch (...) {
            if (driving_) throw;
            // The exception concerns later elements; transactions under way settle first.
            store_exception(std::current_exception());
        }
        drain();
        if (thrown_) std::rethrow_exception(thrown_);
        return report;
    }

    /// The report of a range if the call may not begin.
    template <typename Range>
    static batch_report took_nothing(Range& range, error why) {
        batch_report report;
        count_rest(range, report);
        report.problem = std::move(why);
        return report;
    }

private:
    template <typename Range>
    void take_all(Range& range, batch_report& report) {
        constexpr bool read_once = !std::ranges::forward_range<Range>;
        auto position = std::ranges::begin(range);
        auto const last = std::ranges::end(range);
        while (position != last) {
            take(*position, report.taken++);
            while (window_.full()) round();
            // Advancing an input range may consume an element, so ends() is called first.
            if (read_once && ends()) return report_stop(range, report);
            ++position;
            if (!read_once && ends() && position != last) return report_stop(range, report);
        }
        report.not_taken = 0;
    }

    template <typename Range>
    static void count_rest([[maybe_unused]] Range& range, batch_report& report) {
        if constexpr (std::ranges::sized_range<Range>) {
            report.not_taken = static_cast<std::size_t>(std::ranges::size(range)) - report.taken;
        }
    }

    template <typename Range>
    void report_stop(Range& range, batch_report& report) const {
        count_rest(range, report);
        if (report.not_taken == std::size_t{0}) return;
        report.problem = unreachable_.empty() ? batch_stopped(report) : unreachable_;
    }

    /// True if the batch takes no more elements.
    [[nodiscard]] bool ends() const {
        bool const out_of_time = call_.stop.stop_requested() || window_.late();
        return thrown_ || window_.thrown() || out_of_time || !unreachable_.empty();
    }

    template <typename Element>
    void take(Element&& element, std::size_t number) {
        using kind = batch_element<std::remove_cvref_t<Element>>;
        if constexpr (kind::has_id) {
            transaction_id id{std::get<0>(element)};
            if (!fault_of_id(id).empty()) return deliver(number, refuse(id, check_id(id)));
            auto const long_id = assembly_.template fault_of<Direction>(id);
            if (!long_id.empty()) return deliver(number, refuse(id, long_id));
            start(std::move(id), std::get<1>(std::forward<Element>(element)), number, false);
        } else {
            start(fresh_id(assembly_.environment()), std::forward<Element>(element), number, true);
        }
    }

    template <typename Parameters>
    void start(transaction_id&& id, Parameters&& parameters, std::size_t number, bool new_id) {
        if (has_fault<Direction>(parameters)) {
            return deliver(number, refused_before_write<Direction>(id, parameters));
        }
        assembly_.expect_entry(id);
        assembly_.template expect_records<Direction>(parameters);
        // The range may have been slow to give the element.
        window_.look_at_clock();
        if (room_ == 1) return run_alone(std::move(id), parameters, number, new_id);
        window_.add(std::move(id), std::forward<Parameters>(parameters), number, new_id);
    }

    /// A window of one transaction has no order to keep, so its element stays in place.
    void run_alone(transaction_id&& id, typename Direction::parameters const& parameters,
                   std::size_t number, bool new_id) {
        driving_ = true;
        window_.run_alone(std::move(id), parameters, number, new_id,
                          [&](std::size_t over, outcome&& concluded, interruption cut) {
                              end(over, std::move(concluded), cut);
                          });
        driving_ = false;
    }

    void end(std::size_t number, outcome&& concluded, interruption cut) {
        note_unreachable(concluded, cut);
        deliver(number, std::move(concluded));
    }

    /// Notes that a store or a service was unreachable for options::patience.
    void note_unreachable(outcome const& concluded, interruption cut) {
        if (cut != interruption::stopped || !unreachable_.empty()) return;
        std::error_code const code = concluded.problem.code;
        bool const is_of_store = code == condition::retryable || code == condition::unknown;
        if (is_of_store && code != errc::stopped && !ends()) unreachable_ = concluded.problem;
    }

    void round() {
        driving_ = true;
        bool const is_first = !std::exchange(looked_, true);
        window_.round(true, is_first,
                      [&](std::size_t number, outcome&& concluded, interruption cut) {
                          end(number, std::move(concluded), cut);
                      });
        driving_ = false;
    }

    void drain() {
        while (!window_.empty()) round();
    }

    /// Reports an outcome. run() rethrows the first exception when each element taken has one.
    void deliver(std::size_t number, outcome&& concluded) {
        store_exception(window_.thrown());
        try {
            ended_(number, std::move(concluded));
        } catch (...) {
            store_exception(std::current_exception());
        }
    }

    void store_exception(std::exception_ptr const& thrown) {
        if (!thrown_) thrown_ = thrown;
    }

    Assembly& assembly_;
    call_options const& call_;
    std::size_t room_;
    window_of<Assembly, Direction> window_;
    Ended& ended_;
    std::exception_ptr thrown_; ///< the first, of the range, the observer or `ended`
    error unreachable_;         ///< of a store or a service, for options::patience
    bool driving_ = false;      ///< a round is under way: an exception ends the worker
    bool looked_ = false;       ///< whether the range's first entry was looked for
};

/// Shape:   run - called with the function that stores each outcome at its number
template <typename Range, typename Run>
batch_outcomes in_order(Range& range, Run&& run) {
    batch_outcomes outcomes;
    if constexpr (std::ranges::sized_range<Range>) {
        outcomes.reserve(static_cast<std::size_t>(std::ranges::size(range)));
    }
    outcomes.report = run([&](std::size_t number, outcome&& one) {
        if (outcomes.size() <= number) outcomes.resize(number + 1);
        outcomes[number] = std::move(one);
    });
    return outcomes;
}

} // namespace detail
SETTLE_END
