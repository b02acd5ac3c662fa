// SPDX-License-Identifier: BSL-1.0
// Reads payments and refunds from a table whose lines are the lines of invoices.
#pragma once

#include "payment.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/piece.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace shop {

/// Returns the file's invoices in the order of their first lines. A number that begins with `C` is
/// a refund, whose quantities are negative. A bad line refuses its invoice. The whole file is read
/// first, so an invoice has all its lines, at any position. If the lines of an invoice are
/// scattered, the file has no order to keep, and the invoices have the order of their numbers.
/// Shape:   columns InvoiceNo, StockCode, Quantity, UnitPrice, CustomerID (others are ignored)
/// Memory:  the file's lines
/// Errors:  samples::input_error when the file as a whole cannot be used
class invoice_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<payment>,
                               samples::request<refund>, samples::remark>;

    explicit invoice_reader(std::filesystem::path path);

    /// False at the end of the file.
    bool next(piece& given);

    double share() const {
        return ready_.empty() ? 0.0
                              : static_cast<double>(given_) / static_cast<double>(ready_.size());
    }

private:
    enum column : std::size_t { number, stock_code, quantity, price, customer };

    /// An invoice that may get more lines.
    struct growing {
        std::string number;
        std::uint64_t line = 0;
        std::string customer{};
        std::int64_t amount = 0;
        std::vector<order_line> lines{};
        std::vector<std::uint64_t> at{};   // line numbers of its lines in the file
        std::vector<std::size_t> groups{}; // indexes of the first lines of adjacent groups
        std::optional<samples::refusal> refused{};
    };

    std::string const& value(column which) const { return file_.value(row_, which); }

    void gather();
    void take_row();
    bool names_nothing() const;
    bool is_total() const;
    void pass_over(std::uint64_t line);
    void adrift(std::uint64_t line, std::string sentence);
    growing& invoice_of(std::string const& named);
    void join(growing& invoice);
    void add_line(growing& invoice) const;
    void add_goods(growing& invoice) const;
    void refuse(growing& invoice, std::string_view reason, std::string_view sentence) const;
    static void doubt(growing& invoice, std::uint64_t line, std::uint64_t unreadable);
    void doubt_all();
    void refuse_repeated(bool scattered);
    void remark_on_equal_lines();
    void remark_on_groups();
    void finish();
    static piece piece_of(growing&& invoice);

    samples::csv_file file_;
    samples::csv_row row_;
    std::vector<growing> invoices_;
    std::unordered_map<std::string, std::size_t> indexes_; // indexes in invoices_
    std::optional<std::size_t> last_;                      // the invoice of the last good line
    std::vector<std::uint64_t> sums_;     // lines of sums, unless an invoice follows
    std::optional<std::uint64_t> adrift_; // an unreadable line after that invoice
    std::optional<std::uint64_t> first_adrift_;
    std::vector<piece> ready_;
    std::size_t given_ = 0;
    bool gathered_ = false;
};

} // namespace shop
