// SPDX-License-Identifier: BSL-1.0
// Hand-made waves: jobs at any step under any epoch.
#pragma once

#include <settle/store/operation.hpp>

#include <deque>
#include <random>

SETTLE_BEGIN
namespace testing {

/// A coordinator at a given step, brought there by the protocol's own calls.
template <step Step>
[[nodiscard]] coordinator coordinator_at(std::size_t parts, epoch number, epoch committed = 0) {
    if constexpr (Step == step::back_off) {
        // An additional part answers `busy`, so that the coordinator backs off.
        auto made = coordinator_at<step::apply>(parts + 1, number);
        for (std::size_t part = 0; part < parts; ++part) made.answered(part, answer::applied);
        made.answered(parts, answer::busy);
        made.decide(~std::uint32_t{0});
        return made;
    } else {
        constexpr state found = Step == step::apply     ? state::pending
                                : Step == step::confirm ? state::applied
                                                        : state::canceling;
        auto made = coordinator::take(parts, {found, number - 1, committed, 0});
        made.claimed(log_answer::taken, false);
        return made;
    }
}

[[nodiscard]] inline std::string words(coordinator const& of, std::size_t parts) {
    std::string out;
    for (std::size_t part = 0; part < parts; ++part) {
        if (part != 0) out += ", ";
        out += name_of(of.answer_of(part));
    }
    return out;
}

/// Jobs of one type, with their parameters.
template <typename Direction>
class crowd {
public:
    using parameters = typename Direction::parameters;

    job& add(transaction_id id, parameters given, coordinator at) {
        owned_.push_back(std::move(given));
        jobs_.push_back(make_job<Direction>(std::move(id), owned_.back(), std::move(at)));
        return jobs_.back();
    }
    template <step Step>
    job& add_at(transaction_id id, parameters given, epoch number, epoch committed = 0) {
        std::size_t const parts = Direction::count_parts(Direction::user(given));
        return add(std::move(id), std::move(given),
                   coordinator_at<Step>(parts, number, committed));
    }

    [[nodiscard]] std::vector<job>& jobs() { return jobs_; }
    [[nodiscard]] std::span<job> wave() { return jobs_; }
    [[nodiscard]] std::size_t parts(std::size_t at) const {
        return Direction::count_parts(Direction::user(owned_[at]));
    }

private:
    std::deque<parameters> owned_; // a deque, because jobs point at its elements
    std::vector<job> jobs_;
};

/// Marks in the order of their transactions and parts, because stores list them in other orders.
[[nodiscard]] inline std::vector<mark_locator> sorted(std::vector<mark_locator> given) {
    std::sort(given.begin(), given.end(), [](auto const& left, auto const& right) {
        return std::tie(left.id, left.part, left.collection, left.key) <
               std::tie(right.id, right.part, right.collection, right.key);
    });
    return given;
}

[[nodiscard]] inline std::string words_of(std::vector<mark_locator> const& given) {
    std::string out;
    for (mark_locator const& one : sorted(given)) {
        out += one.id + ' ' + std::to_string(one.part.participant) + '.' +
               std::to_string(one.part.line) + " of " + one.collection + ' ' +
               std::visit([](auto const& key) { return encode_json(key); }, one.key) +
               " under " + std::to_string(one.epoch_number) + '\n';
    }
    return out;
}

/// A pool of transactions of one type; random members take random steps together.
template <typename Direction>
class random_pool {
public:
    using parameters = typename Direction::parameters;

    template <typename Make>
    random_pool(std::string const& prefix, std::size_t size, Make&& make) {
        for (std::size_t i = 0; i < size; ++i) {
            members_.push_back({prefix + std::to_string(i), make(), 0});
        }
    }

    /// Sends one wave: random transactions, one step, epochs that rise, stay or fall.
    template <typename Bench>
    void stir(Bench& on, std::mt19937_64& chance) {
        switch (chance() % 8) {
        case 0: wave<step::compensate>(on, chance); break;
        case 1: wave<step::back_off>(on, chance); break;
        case 2:
        case 3: wave<step::confirm>(on, chance); break;
        default: wave<step::apply>(on, chance); break;
        }
    }

private:
    struct member {
        transaction_id id;
        parameters given;
        epoch highest;
    };

    template <step Step, typename Bench>
    void wave(Bench& on, std::mt19937_64& chance) {
        crowd<Direction> jobs;
        std::size_t const count = 1 + chance() % 6;
        for (std::size_t i = 0; i < count; ++i) {
            member& one = members_[chance() % members_.size()];
            if (Step == step::apply && chance() % 2 == 0) ++one.highest;
            epoch const number =
                std::max<epoch>(1, one.highest - std::min(one.highest, chance() % 3));
            if constexpr (Step == step::confirm) {
                jobs.template add_at<Step>(one.id, one.given, 1000, number);
            } else {
                jobs.template add_at<Step>(one.id, one.given, number);
            }
        }
        on.template send<Step>(jobs);
    }

    std::vector<member> members_;
};

} // namespace testing
SETTLE_END
