// SPDX-License-Identifier: BSL-1.0
// A payment that is spread over many accounts, as one native transaction by hand.
#pragma once

#include "../spread.hpp"
#include "one_phase.hpp"

namespace baseline {

class spread_by_hand {
public:
    explicit spread_by_hand(connection const& connection)
        : commits_(connection), debit_(connection, debit_sql), credit_(connection, credit_sql),
          insert_(connection,
                  "INSERT INTO log(id, type, state, epoch, committed, attempts, reason, owner, "
                  "created, modified, parameters) VALUES(?1, 1, 3, ?2, 0, 0, 0, 1, ?2, ?2, ?3)") {}

    void run_batch(std::span<std::pair<std::string, bench::spread> const> batch) {
        auto const time = now();
        commits_.in_one([&] {
            for (auto const& one : batch) write(one, time);
        });
    }

private:
    void write(std::pair<std::string, bench::spread> const& one, std::int64_t time) {
        auto const& [id, given] = one;
        bool whole = debit_.changes_one(given.total, given.payer);
        for (auto const& share : given.shares) {
            whole = credit_.changes_one(share.amount, share.account) && whole;
        }
        if (!whole) throw std::runtime_error("by hand: an account is missing, or has too little");
        write_json(given);
        insert_.changes_one(id, time, json_);
    }

    void write_json(bench::spread const& spread) {
        json_.assign(R"({"payer":")").append(spread.payer).append(R"(","total":)");
        append_number(json_, spread.total);
        json_ += R"(,"shares":[)";
        for (auto const& share : spread.shares) {
            if (json_.back() == '}') json_ += ',';
            json_.append(R"({"account":")").append(share.account).append(R"(","amount":)");
            append_number(json_, share.amount);
            json_ += '}';
        }
        json_ += "]}";
    }

    commits commits_;
    statement debit_;
    statement credit_;
    statement insert_;
    std::string json_;
};

} // namespace baseline
