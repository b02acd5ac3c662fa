// SPDX-License-Identifier: BSL-1.0
// Reads payment orders as transfers between two banks.
#pragma once

#include "books.hpp"

#include <shared/report.hpp>
#include <transfer/orders.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace books {

/// True for a payer of the first bank: its accounts have the numbers 1 to 2499.
inline bool is_at_first_bank(std::string_view payer) {
    constexpr std::size_t digits = 4;
    return payer.size() < digits || (payer.size() == digits && payer < "2500");
}

/// Returns the orders of a file. The payee's account is always at the other bank, so one number can
/// be the name of two accounts.
/// Shape:   columns as for bank::order_reader
/// Errors:  samples::input_error when the file as a whole cannot be used
class order_reader {
public:
    using piece =
        std::variant<samples::refusal, samples::request<outgoing>, samples::request<incoming>>;

    static constexpr std::size_t longest_account = 100; ///< bytes, in the ledger

    explicit order_reader(std::filesystem::path const& path) : orders_(path) {}

    /// False at the end of the file.
    bool next(piece& next_piece) {
        bank::order_reader::piece order;
        if (!orders_.next(order)) return false;
        next_piece = std::visit([](auto& each) { return piece_of(std::move(each)); }, order);
        return true;
    }

private:
    static piece piece_of(samples::refusal no) { return no; }
    static piece piece_of(samples::request<bank::transfer> order) {
        auto& [source, destination, amount] = order.parameters;
        for (auto const* const id : {&source, &destination}) {
            if (id->size() <= longest_account) continue;
            return samples::refusal{order.line, "account too long",
                                    fmt::format("order '{}': the account '{}' has more than {} "
                                                "bytes",
                                                order.id, *id, longest_account)};
        }
        if (is_at_first_bank(source)) {
            return samples::request<outgoing>{
                order.line,
                order.id,
                {order.id, std::move(source), std::move(destination), amount}};
        }
        return samples::request<incoming>{
            order.line, order.id, {order.id, std::move(source), std::move(destination), amount}};
    }

    bank::order_reader orders_;
};

} // namespace books
