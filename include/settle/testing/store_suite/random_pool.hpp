// SPDX-License-Identifier: BSL-1.0
// Random waves: transactions of one type at any step under any epoch.
#pragma once

#include <settle/testing/requests.hpp>

#include <algorithm>
#include <random>

SETTLE_BEGIN
namespace testing {

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
    void send_wave(Bench& bench, std::mt19937_64& random) {
        switch (random() % 8) {
        case 0: return send(bench, step::compensate, random);
        case 1: return send(bench, step::back_off, random);
        case 2:
        case 3: return send(bench, step::confirm, random);
        default: return send(bench, step::apply, random);
        }
    }

private:
    struct member {
        transaction_id id;
        parameters given;
        epoch highest;
    };

    template <typename Bench>
    void send(Bench& bench, step action, std::mt19937_64& random) {
        part_wave wave{action};
        std::size_t const count = 1 + random() % 6;
        for (std::size_t i = 0; i < count; ++i) {
            member& chosen = members_[random() % members_.size()];
            if (action == step::apply && random() % 2 == 0) ++chosen.highest;
            epoch const number =
                std::max<epoch>(1, chosen.highest - std::min(chosen.highest, random() % 3));
            if (action == step::confirm) wave.add<Direction>(chosen.id, chosen.given, 1000, number);
            else wave.add<Direction>(chosen.id, chosen.given, number);
        }
        bench.send(wave);
    }

    std::vector<member> members_;
};

} // namespace testing
SETTLE_END
