// SPDX-License-Identifier: BSL-1.0
// The receiver of a simulated service, of any grade. With rows it is the shipped receiver.
#pragma once

#include <settle/testing/simulate/dice.hpp>
#include <settle/testing/simulate/schedule.hpp>
#include <settle/testing/simulate/service_memory.hpp>

#include <functional>
#include <unordered_map>

SETTLE_BEGIN
namespace testing {

/// The faults of a service itself. A sound service has none.
struct service_flaws {
    /// The memory that the receiver has, in place of the grade that its service promises.
    std::optional<receiver_grade> grade{};
    /// The number of works per million that are stored without their row.
    std::uint32_t forgets = 0;
    /// Changes an answer after the call took effect.
    std::function<void(service_call const&, service_answer&, dice&)> distorts{};
};

namespace detail {

/// The surroundings of a simulated service.
struct service_world {
    std::function<std::chrono::nanoseconds()> elapsed = [] { return std::chrono::nanoseconds{}; };
    dice* chance = nullptr;
    time_limit clocks{}; ///< the largest difference between clocks
};

/// The answers of a service about one key that reached a worker: its promises.
struct service_promises {
    using time = std::chrono::nanoseconds;
    std::string transaction;
    std::string participant;
    std::optional<std::uint32_t> line;
    std::optional<time> applied{};
    std::optional<time> refused{};
    std::optional<time> confirmed{};
    std::optional<time> compensated{};
};

/// A return to an earlier state.
struct service_restore {
    std::chrono::nanoseconds at;
    std::chrono::nanoseconds back_to;
};

class simulated_receiver {
public:
    using time = std::chrono::nanoseconds;
    using work_function = settle::detail::function_view<service_answer(service_call const&)>;

    service_flaws flaws{};

    simulated_receiver(simulated_receiver const&) = delete;
    simulated_receiver& operator=(simulated_receiver const&) = delete;

    [[nodiscard]] std::string_view name() const { return name_; }

    // For the schedule:

    void enter(service_world world) { world_ = std::move(world); }
    void set_clock(time skew) { skew_ = skew; }
    /// Restarts. The effects after the last answer that reached a worker are lost.
    void restart() { memory_.go_back(answered_); }
    /// Restarts from a backup: the state of an earlier time.
    void restore(time back_to) {
        memory_.go_back(memory_.moments_until(back_to));
        answered_ = std::min(answered_, memory_.moments());
        restores_.push_back({world_.elapsed(), back_to});
    }
    void purge() { std::ignore = rule().purge(); }
    /// An answer has reached a worker.
    void note_answered(service_call const& call, service_answer const& answer) {
        bool const ok = answer.status == call_status::ok;
        if (!ok && answer.status != call_status::refused) return;
        answered_ = memory_.moments();
        if (call.operation == call_operation::query) return;
        auto const [at, fresh] = promises_.try_emplace(std::string{call.key});
        service_promises& promises = at->second;
        if (fresh) {
            promises.transaction = call.transaction;
            promises.participant = call.participant;
            promises.line = call.line;
        }
        time const now = world_.elapsed();
        if (call.operation == call_operation::apply)
            (ok ? promises.applied : promises.refused) = now;
        else if (!ok) return;
        else if (call.operation == call_operation::confirm) promises.confirmed = now;
        else promises.compensated = now;
    }

    // For the audit:

    [[nodiscard]] auto const& pages() const { return memory_.pages(); }
    [[nodiscard]] auto const& promises() const { return promises_; }
    [[nodiscard]] auto const& restores() const { return restores_; }

protected:
    simulated_receiver(std::string_view name, receiver_grade promised)
        : name_(name), promised_(promised) {}
    ~simulated_receiver() = default;

    [[nodiscard]] dice& chance() { return world_.chance == nullptr ? own_ : *world_.chance; }

    service_answer take(service_call const& call, work_function work) {
        memory_.note_time(world_.elapsed());
        std::size_t const before = memory_.moments();
        handler const taker{work};
        receiver_grade const grade = flaws.grade.value_or(promised_);
        bool const has_rows = grade.remembers == receiver_grade::memory::rows;
        auto answer = has_rows ? rule().take(call, taker) : take_without_rows(call, grade, taker);
        if (has_rows && !grade.keeps_refusals && answer.status == call_status::refused) {
            auto const row = memory_.look(call.key).row;
            bool const kept = row && row->standing.status == receiver_status::refused;
            if (kept) memory_.page(call.key).row.reset();
        }
        bool const worked = flaws.forgets != 0 && memory_.moments() != before;
        if (worked && chance().in_a_million(flaws.forgets)) {
            memory_.page(call.key).row.reset();
        }
        if (flaws.distorts) flaws.distorts(call, answer, chance());
        return answer;
    }

private:
    struct clock {
        simulated_receiver const* of;
        [[nodiscard]] timestamp now() const { return of->now(); }
    };
    /// Keeps the books. Only the apply has work of the user's.
    struct handler {
        work_function work;

        service_answer apply(service_memory& memory, service_call const& call) const {
            auto answer = work(call);
            if (answer.status != call_status::ok) return answer;
            service_books& books = books_of(memory, call);
            if (++books.applies == 1) {
                books.request = call.request;
                books.result = answer.text;
            }
            return answer;
        }
        service_answer query(service_memory&, service_call const& call) const { return work(call); }
        service_answer confirm(service_memory& memory, service_call const& call) const {
            service_books& books = books_of(memory, call);
            ++books.confirms;
            if (!call.has_apply) books.request = call.request;
            return service_answer::ok();
        }
        service_answer compensate(service_memory& memory, service_call const& call) const {
            ++books_of(memory, call).undos;
            return service_answer::ok();
        }

    private:
        static service_books& books_of(service_memory& memory, service_call const& call) {
            service_books& books = memory.page(call.key).books;
            books.transaction = call.transaction;
            books.participant = call.participant;
            books.line = call.line;
            return books;
        }
    };

    [[nodiscard]] timestamp now() const { return simulated_time(world_.elapsed() + skew_); }
    [[nodiscard]] settle::receiver<service_memory, clock> rule() {
        receiver_options options;
        options.clocks = world_.clocks;
        return settle::receiver<service_memory, clock>{memory_, options, clock{this}};
    }

    /// A receiver without rows remembers the operations of a key, or nothing.
    service_answer take_without_rows(service_call const& call, receiver_grade grade,
                                     handler const& taker) {
        using enum receiver_status;
        bool const remembers = grade.remembers == receiver_grade::memory::keys;
        service_page const known = memory_.look(call.key);
        std::optional<receiver_status> status;
        if (known.row) status = known.row->standing.status;
        switch (call.operation) {
        case call_operation::apply: break;
        case call_operation::query: return taker.query(memory_, call);
        case call_operation::confirm: {
            if (status == confirmed) return service_answer::ok();
            auto answer = taker.confirm(memory_, call);
            if (remembers) keep(call, confirmed, known.row ? known.row->answer : std::string{});
            return answer;
        }
        case call_operation::compensate: {
            if (known.compensated) return service_answer::ok();
            if (grade.closes_keys && status != applied) {
                if (!status) keep(call, closed, {});
                return service_answer::ok();
            }
            // Nothing that such a receiver applied can be undone: it only closes keys.
            if (grade.closes_keys && !grade.keeps_refusals)
                return service_answer::unavailable("the key was applied");
            auto answer = taker.compensate(memory_, call);
            memory_.page(call.key).compensated = remembers;
            return answer;
        }
        }
        if (status == refused || status == closed)
            return service_answer::refused(known.row->answer);
        if (status) return service_answer::ok(known.row->answer);
        bool const late = remembers && now() > call.last_moment;
        auto answer = late ? service_answer::refused("late") : taker.apply(memory_, call);
        if (answer.status == call_status::ok && remembers) keep(call, applied, answer.text);
        bool const is_refused = answer.status == call_status::refused;
        if (is_refused && grade.keeps_refusals) keep(call, refused, answer.text);
        return answer;
    }
    void keep(service_call const& call, receiver_status status, std::string text) {
        auto row = settle::detail::new_row(call, now());
        row.standing.status = status;
        row.answer = std::move(text);
        memory_.page(call.key).row = std::move(row);
    }

    std::string_view name_;
    receiver_grade promised_;
    service_memory memory_;
    service_world world_;
    time skew_{};
    dice own_{1};
    std::size_t answered_ = 0; ///< the changes before the last answer that reached a worker
    std::unordered_map<std::string, service_promises> promises_; ///< by key
    std::vector<service_restore> restores_;
};

} // namespace detail
} // namespace testing
SETTLE_END
