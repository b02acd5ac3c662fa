// SPDX-License-Identifier: BSL-1.0
// Gathers the lines of each invoice, and refuses invoices that may be incomplete.
#include "invoices.hpp"

#include <shared/money.hpp>

#include <fmt/format.h>

#include <utility>

namespace shop {

namespace {

bool is_refund(std::string_view number) { return number.starts_with('C'); }

} // namespace

invoice_reader::invoice_reader(std::filesystem::path const& path)
    : file_(path, {{"invoiceno", "stockcode", "quantity", "unitprice", "customerid"}}) {
    while (file_.next()) take_row();
}

bool invoice_reader::next(piece& next_piece) {
    auto const position = next_++;
    if (position < loose_.size()) {
        next_piece = std::move(loose_[position]);
        return true;
    }
    if (position - loose_.size() >= invoices_.size()) return false;
    auto& [named, line, payer, amount, lines, refused] = invoices_[position - loose_.size()];
    if (refused) {
        next_piece = std::move(*refused);
    } else if (is_refund(named)) {
        next_piece =
            samples::request<refund>{line, named, {named, payer, amount, std::move(lines)}};
    } else {
        next_piece =
            samples::request<payment>{line, named, {named, payer, amount, std::move(lines)}};
    }
    return true;
}

void invoice_reader::take_row() {
    bool const is_bad = !file_.problem().empty();
    if (is_bad || file_[number].empty()) {
        loose_.push_back({file_.line(), "unreadable line",
                          is_bad ? file_.problem() : "the line names no invoice"});
        // The invoice before the line, and the one after it, may be incomplete.
        doubt_ = fmt::format("the unreadable line {} may belong to it", file_.line());
        if (!invoices_.empty()) refuse(invoices_.back(), "unreadable line", doubt_);
        return;
    }
    auto const [found, is_new] = indexes_.emplace(file_[number], invoices_.size());
    if (is_new) invoices_.push_back({file_[number], file_.line()});
    auto& growing = invoices_[found->second];
    if (!doubt_.empty()) refuse(growing, "unreadable line", std::exchange(doubt_, {}));
    if (found->second + 1 != invoices_.size()) {
        refuse(growing, "scattered lines",
               fmt::format("this line is apart from its other lines, which begin in line {}; put "
                           "them together, each once",
                           growing.line));
    }
    auto const& named = file_[customer];
    if (named.empty()) return refuse(growing, "no customer", "the line names no customer");
    if (growing.customer.empty()) growing.customer = named;
    if (named != growing.customer) {
        return refuse(growing, "two customers",
                      fmt::format("the line names customer '{}', an earlier one '{}'", named,
                                  growing.customer));
    }
    if (file_[stock_code].empty()) {
        return refuse(growing, "no stock code", "the line names no stock code");
    }
    try {
        add_goods(growing);
    } catch (samples::input_error const& error) {
        refuse(growing, "unusable number", error.what());
    }
}

void invoice_reader::add_goods(invoice& growing) const {
    bool const back = is_refund(growing.number);
    auto const written = samples::parse_whole("quantity", file_[quantity]);
    auto const count = samples::multiply(written, back ? -1 : 1);
    if (count <= 0) {
        auto const* const reason = written == 0 ? "quantity of 0"
                                   : back       ? "positive quantity in a refund"
                                                : "negative quantity";
        return refuse(growing, reason,
                      fmt::format("the quantity {} is not valid for {}", written,
                                  back ? "a refund" : "an order"));
    }
    auto const cost = samples::parse_money("price", file_[price]);
    if (cost <= 0) {
        return refuse(growing, cost == 0 ? "price of 0" : "negative price",
                      fmt::format("the price {} is not above zero", file_[price]));
    }
    growing.amount = samples::add(growing.amount, samples::multiply(cost, count));
    growing.lines.push_back({file_[stock_code], count, cost});
}

/// The first refusal of an invoice counts.
void invoice_reader::refuse(invoice& growing, std::string reason, std::string_view sentence) const {
    if (growing.refused) return;
    growing.refused = samples::refusal{file_.line(), std::move(reason),
                                       fmt::format("invoice '{}': {}", growing.number, sentence)};
}

} // namespace shop
