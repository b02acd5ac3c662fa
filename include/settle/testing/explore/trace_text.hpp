// SPDX-License-Identifier: BSL-1.0
// The text of the requests and answers in the trace of a run.
#pragma once

#include <settle/testing/explore/world.hpp>

SETTLE_BEGIN
namespace testing {

[[nodiscard]] constexpr bool asks_parts(step current) {
    return current == step::apply || current == step::confirm || current == step::compensate ||
           current == step::back_off;
}

[[nodiscard]] inline std::string words_of(log_answer answer) {
    if (answer == log_answer::held_back) return ": a part is busy";
    if (answer == log_answer::unavailable) return ": refused, it is too old";
    return answer == log_answer::taken ? ": ok" : ": refused, it has changed";
}

[[nodiscard]] inline std::string words_of(call_answer const& answer) {
    std::string out{name_of(answer.what)};
    if (answer.result != 0) out += ", result " + std::to_string(answer.result);
    return out;
}

/// The results of a transaction's calls, with the names of the calls.
template <typename Records>
[[nodiscard]] std::string words_of(call_results results,
                                   model_transaction<Records> const& transaction) {
    std::string out;
    for (std::size_t i = 0; i < transaction.calls.size(); ++i) {
        if (result_of(results, i) == 0) continue;
        out += (out.empty() ? " with " : ", ") + transaction.calls[i].name + " " +
               std::to_string(result_of(results, i));
    }
    return out;
}

template <typename Records>
[[nodiscard]] std::string words_of(sent_operation const& sent,
                                   model_transaction<Records> const& transaction) {
    std::string out = std::string{name_of(sent.action)} + " " + transaction.id();
    if (!asks_parts(sent.action)) {
        bool const inserts = sent.action == step::insert || sent.action == step::one_phase;
        out += " e" + std::to_string(inserts ? sent.under : sent.change.to_epoch);
        return sent.action == step::keep ? out + words_of(sent.results, transaction) : out;
    }
    if (sent.closes) out = "close the key of " + transaction.id();
    part_name const where = transaction.name_part(sent.part);
    out.append(" ").append(where.participant);
    if (transaction.call_of(sent.part) != nullptr) return out + words_of(sent.results, transaction);
    if (sent.begins) return out + ": rolls back the names found";
    if (where.line) out += " line " + std::to_string(*where.line + 1);
    return out + " under e" + std::to_string(sent.under);
}

/// The prepared names and receipts, as text for a trace.
template <typename Records>
[[nodiscard]] std::string text_of(few<prepared_row, most_prepared> const& rows,
                                  model_transaction<Records> const& few) {
    std::string out;
    for (std::size_t i = 0; i < few.prepared.size(); ++i) {
        prepared_row const& row = rows[few.first_prepared + i];
        out += "      database of " + few.id() + " " + few.prepared[i].name + ":";
        for (epoch const one : row.names) out += " prepared e" + std::to_string(one);
        if (row.receipt) out += " receipt e" + std::to_string(*row.receipt);
        out += " commits " + std::to_string(row.commits) + '\n';
    }
    return out;
}

/// The rows of the receivers, as text for a trace.
template <typename Rows, typename Records>
[[nodiscard]] std::string text_of(Rows const& rows, model_transaction<Records> const& transaction) {
    std::string out;
    for (std::size_t i = 0; i < transaction.calls.size(); ++i) {
        receiver_row const& row = rows[transaction.first_row + i];
        if (!row.now && row.effects == 0) continue;
        out += "      receiver of " + transaction.id() + " " + transaction.calls[i].name + ": " +
               std::string{row.now ? name_of(*row.now) : "no row"};
        if (row.effects != 0) {
            if (row.effects != 1) out += ", " + std::to_string(row.effects) + " effects";
            out += words_of(row.parameters, transaction) + ", result " + std::to_string(row.result);
        }
        out += '\n';
    }
    return out;
}

} // namespace testing
SETTLE_END
