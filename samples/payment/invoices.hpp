// SPDX-License-Identifier: BSL-1.0
// Reads payments and refunds from a table whose lines are the lines of invoices.
#pragma once

#include "payment.hpp"

#include <shared/csv.hpp>
#include <shared/money.hpp>
#include <shared/piece.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace shop {

/// Gives the file's invoices one by one; the lines of one invoice stand together. A number that
/// begins with `C` is a refund, whose quantities are negative. One bad line refuses its invoice.
/// Shape:   columns InvoiceNo, StockCode, Quantity, UnitPrice, CustomerID (others are left alone)
/// Memory:  one invoice
/// Errors:  samples::input_error when the file as a whole cannot be used
class invoice_reader {
public:
    using piece = std::variant<samples::refusal, samples::request<payment>,
                               samples::request<refund>>;

    explicit invoice_reader(std::filesystem::path path)
        : file_(std::move(path)), invoice_(file_.column("InvoiceNo")),
          stock_code_(file_.column("StockCode")), quantity_(file_.column("Quantity")),
          price_(file_.column("UnitPrice")), customer_(file_.column("CustomerID")) {}

    /// False at the end of the file.
    bool next(piece& given) {
        while (ready_.empty()) {
            if (ended_) return false;
            if (file_.next(row_)) {
                take_row();
            } else {
                finish(adrift_);
                let_go();
                ended_ = true;
            }
        }
        given = std::move(ready_.front());
        ready_.pop_front();
        return true;
    }

    double share() const { return file_.share(); }

private:
    /// An invoice whose lines are still coming.
    struct growing {
        std::string number;
        std::uint64_t line = 0;
        std::string customer;
        std::int64_t amount = 0;
        std::vector<order_line> lines;
        std::optional<samples::refusal> refused;
    };

    void take_row() {
        bool const named = invoice_ < row_.fields.size() && !row_.fields[invoice_].empty();
        if (!named) {
            // Nobody can say whose line this is, so its neighbours are in doubt as well.
            auto sentence = row_ ? std::string{"the line names no invoice"} : row_.problem;
            ready_.push_back(
                samples::refusal{row_.line, "unreadable line", std::move(sentence)});
            adrift_ = true;
            return;
        }
        auto const& number = row_.fields[invoice_];
        if (!row_ && !(now_ && now_->number == number)) {
            // The lines that follow tell whether this one begins an invoice or stands alone.
            if (stray_ && stray_->number == number) return;
            let_go();
            stray_.emplace(begin(number));
            refuse(*stray_, "unreadable line", row_.problem);
            return;
        }
        if (!now_ || now_->number != number) start(number);
        else if (std::exchange(adrift_, false)) doubt(*now_);
        if (now_->refused) return;
        if (!row_) refuse(*now_, "unreadable line", row_.problem);
        else add_line(*now_);
    }

    growing begin(std::string const& number) const { return {number, row_.line, {}, 0, {}, {}}; }

    void start(std::string const& number) {
        finish(adrift_);
        if (stray_ && stray_->number == number) now_ = std::exchange(stray_, std::nullopt);
        else now_ = begin(number);
        let_go();
        if (std::exchange(adrift_, false)) doubt(*now_);
    }

    void add_line(growing& invoice) const {
        auto const& fields = row_.fields;
        auto const& customer = fields[customer_];
        if (customer.empty()) return refuse(invoice, "no customer", "the line names no customer");
        if (invoice.lines.empty()) invoice.customer = customer;
        if (customer != invoice.customer) {
            return refuse(invoice, "two customers",
                          fmt::format("the line names customer {}, an earlier one {}", customer,
                                      invoice.customer));
        }
        if (fields[stock_code_].empty()) {
            return refuse(invoice, "no stock code", "the line names no stock code");
        }
        try {
            add_goods(invoice, fields[quantity_], fields[price_]);
        } catch (samples::input_error const& error) {
            refuse(invoice, "unusable number", error.what());
        }
    }

    void add_goods(growing& invoice, std::string const& quantity_text,
                   std::string const& price_text) const {
        bool const back = is_refund(invoice);
        auto const written = samples::parse_whole("quantity", quantity_text);
        auto const quantity = samples::multiply(written, back ? -1 : 1);
        if (quantity <= 0) {
            auto const reason = written == 0 ? "quantity of 0"
                                : back       ? "positive quantity in a refund"
                                             : "negative quantity";
            return refuse(invoice, reason,
                          fmt::format("the quantity {} is none for {}", written,
                                      back ? "a refund" : "an order"));
        }
        auto const price = samples::parse_money("price", price_text);
        if (price <= 0) {
            return refuse(invoice, price == 0 ? "price of 0" : "negative price",
                          fmt::format("the price {} is not above zero", price_text));
        }
        invoice.amount = samples::add(invoice.amount, samples::multiply(price, quantity));
        invoice.lines.push_back({row_.fields[stock_code_], quantity, price});
    }

    static bool is_refund(growing const& invoice) { return invoice.number.starts_with('C'); }

    void refuse(growing& invoice, std::string_view reason, std::string_view sentence) const {
        invoice.refused = samples::refusal{row_.line, std::string{reason},
                                           fmt::format("invoice {}: {}", invoice.number, sentence)};
        invoice.lines.clear();
    }

    void doubt(growing& invoice) const {
        if (invoice.refused) return;
        refuse(invoice, "unreadable line",
               "the unreadable line before this one may belong to it");
    }

    /// The invoice at hand has all its lines.
    void finish(bool in_doubt) {
        if (!now_) return;
        if (in_doubt && !now_->refused) {
            now_->refused = samples::refusal{
                now_->line, "unreadable line",
                fmt::format("invoice {}: the unreadable line behind it may belong to it",
                            now_->number)};
        }
        auto invoice = std::move(*now_);
        now_.reset();
        if (invoice.refused) {
            ready_.push_back(std::move(*invoice.refused));
        } else if (is_refund(invoice)) {
            ready_.push_back(samples::request<refund>{
                invoice.line, invoice.number,
                {invoice.number, invoice.customer, invoice.amount, std::move(invoice.lines)}});
        } else {
            ready_.push_back(samples::request<payment>{
                invoice.line, invoice.number,
                {invoice.number, invoice.customer, invoice.amount, std::move(invoice.lines)}});
        }
    }

    /// A damaged line that belonged to no invoice beside it is an invoice of its own, refused.
    void let_go() {
        if (stray_) ready_.push_back(std::move(*stray_->refused));
        stray_.reset();
    }

    samples::csv_file file_;
    std::size_t invoice_;
    std::size_t stock_code_;
    std::size_t quantity_;
    std::size_t price_;
    std::size_t customer_;
    samples::csv_row row_;
    std::optional<growing> now_;
    std::optional<growing> stray_;
    std::deque<piece> ready_;
    bool adrift_ = false; // a line that belongs to nobody came since the last good one
    bool ended_ = false;
};

} // namespace shop
