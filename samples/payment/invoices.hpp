// SPDX-License-Identifier: BSL-1.0
// Reads payments and refunds from a table whose lines are the lines of invoices.
#pragma once

#include "payment.hpp"

#include <shared/csv.hpp>
#include <shared/report.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shop {

/// Returns the file's invoices in its order. A number that begins with `C` is a refund, whose
/// quantities are negative. A bad line refuses its invoice, a line without a number its neighbours,
/// and an invoice whose lines are not together is refused: its lines may be there twice.
/// Shape:   columns InvoiceNo, StockCode, Quantity, UnitPrice, CustomerID (others are ignored)
/// Memory:  the file's lines
/// Errors:  samples::input_error when the file as a whole cannot be used
class invoice_reader {
public:
    using piece =
        std::variant<samples::refusal, samples::request<payment>, samples::request<refund>>;

    explicit invoice_reader(std::filesystem::path const& path);

    /// False at the end of the file.
    bool next(piece& piece);

private:
    enum column : std::size_t { number, stock_code, quantity, price, customer };

    struct invoice {
        std::string number;
        std::uint64_t line = 0;
        std::string customer{};
        std::int64_t amount = 0;
        std::vector<order_line> lines{};
        std::optional<samples::refusal> refused{};
    };

    void take_row();
    void add_goods(invoice& growing) const;
    void refuse(invoice& growing, std::string reason, std::string_view sentence) const;

    samples::csv_file file_;
    std::vector<invoice> invoices_;
    std::unordered_map<std::string, std::size_t> indexes_; // in invoices_
    std::vector<samples::refusal> loose_;                  // lines that belong to no invoice
    std::string doubt_; // about the invoice of the next good line; a sentence
    std::size_t next_ = 0;
};

} // namespace shop
