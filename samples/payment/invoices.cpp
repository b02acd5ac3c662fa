// SPDX-License-Identifier: BSL-1.0
// Gathers the lines of each invoice, and refuses invoices that may be incomplete.
#include "invoices.hpp"

#include <shared/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace shop {

namespace {

std::vector<samples::table_layout> layouts() {
    return {{{"InvoiceNo", "Invoice"},
             {"StockCode"},
             {"Quantity"},
             {"UnitPrice", "Price"},
             {"CustomerID", "Customer"}}};
}

bool is_refund(std::string_view number) { return number.starts_with('C'); }

auto key_of(order_line const& line) { return std::tie(line.stock_code, line.quantity, line.price); }

/// Removes the first run: digits of any length as a number, with its size, or text up to digits.
std::tuple<std::size_t, std::string_view> take_run(std::string_view& number) {
    constexpr std::string_view digits = "0123456789";
    bool const text = digits.find(number.front()) == std::string_view::npos;
    auto const end = std::min(
        text ? number.find_first_of(digits) : number.find_first_not_of(digits), number.size());
    auto run = number.substr(0, end);
    number.remove_prefix(end);
    if (text) return {std::string_view::npos, run};
    run.remove_prefix(std::min(run.find_first_not_of('0'), run.size()));
    return {run.size(), run};
}

/// Natural order of invoice numbers: runs of digits by value, other text as text. A refund sorts as
/// if its number had no C.
bool comes_before(std::string_view one, std::string_view other) {
    for (auto* number : {&one, &other}) {
        if (is_refund(*number) && number->size() > 1) number->remove_prefix(1);
    }
    while (!one.empty() && !other.empty()) {
        auto const left = take_run(one);
        auto const right = take_run(other);
        if (left != right) return left < right;
    }
    return one.empty() && !other.empty();
}

/// The indexes of the lines; equal lines are neighbours, in input order.
std::vector<std::size_t> sorted(std::vector<order_line> const& lines) {
    std::vector<std::size_t> order(lines.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return std::tuple{key_of(lines[one]), one} < std::tuple{key_of(lines[other]), other};
    });
    return order;
}

/// For an order whose lines are all repeated, equally often or by a multiple: the first repeating
/// line, and the line that it repeats. Nothing for another order.
std::optional<std::pair<std::size_t, std::size_t>>
repetition(std::vector<order_line> const& lines) {
    std::optional<std::pair<std::size_t, std::size_t>> first;
    auto const order = sorted(lines);
    std::size_t times = 0;
    for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
        while (to < order.size() && key_of(lines[order[to]]) == key_of(lines[order[from]])) ++to;
        times = std::gcd(times, to - from);
        if (times == 1) return std::nullopt;
        if (!first || order[from + 1] < first->first) first = {order[from + 1], order[from]};
    }
    return first;
}

/// The line number of a piece, for sorting.
template <typename Piece>
std::uint64_t line_of(Piece const& piece) {
    return std::visit([](auto const& each) { return each.line; }, piece);
}

} // namespace

invoice_reader::invoice_reader(std::filesystem::path path) : file_(std::move(path), layouts()) {}

bool invoice_reader::next(piece& given) {
    if (!std::exchange(gathered_, true)) gather();
    if (given_ == ready_.size()) return false;
    given = std::move(ready_[given_++]);
    return true;
}

void invoice_reader::gather() {
    while (file_.next(row_)) take_row();
    finish();
}

void invoice_reader::take_row() {
    if (!row_.note.empty()) {
        ready_.emplace_back(samples::remark{row_.line, row_.note});
        return;
    }
    if (row_ && names_nothing()) {
        // After the last invoice this is a line of sums; before an invoice it is damaged.
        sums_.push_back(row_.line);
        return;
    }
    if (row_ && is_total()) return pass_over(row_.line);
    for (auto const line : std::exchange(sums_, {})) adrift(line, "the line names no invoice");
    if (!file_.knows(row_, number) || samples::is_blank(value(number))) {
        adrift(row_.line, row_ ? std::string{"the line names no invoice"} : row_.problem);
        return;
    }
    auto& invoice = invoice_of(value(number));
    if (row_) join(invoice);
    if (invoice.refused) return;
    if (!row_) refuse(invoice, "unreadable line", row_.problem);
    else add_line(invoice);
}

bool invoice_reader::names_nothing() const {
    bool const goods =
        !samples::is_placeholder(value(quantity)) && !samples::is_placeholder(value(price));
    return !goods && samples::is_blank(value(number)) && samples::is_blank(value(stock_code)) &&
           samples::is_blank(value(customer));
}

/// A line of sums has labels in place of its number, its goods or its customer.
bool invoice_reader::is_total() const {
    bool labelled = false;
    for (auto const which : {number, stock_code, customer}) {
        bool const label = samples::is_total_word(value(which));
        if (!label && !samples::is_placeholder(value(which))) return false;
        labelled = labelled || label;
    }
    return labelled;
}

void invoice_reader::pass_over(std::uint64_t line) {
    constexpr auto sentence = "the line is passed over as a line of sums: it names no invoice";
    ready_.emplace_back(samples::remark{line, sentence});
}

/// The line's invoice is unknown, so the neighbouring invoices may be incomplete.
void invoice_reader::adrift(std::uint64_t line, std::string sentence) {
    ready_.emplace_back(samples::refusal{line, "unreadable line", std::move(sentence)});
    adrift_ = line;
    if (!first_adrift_) first_adrift_ = line;
    if (last_) doubt(invoices_[*last_], invoices_[*last_].line, line);
}

invoice_reader::growing& invoice_reader::invoice_of(std::string const& named) {
    auto const [found, fresh] = indexes_.emplace(named, invoices_.size());
    if (fresh) invoices_.push_back({named, row_.line});
    return invoices_[found->second];
}

/// Records a good line of an invoice, and whether it continues a group of adjacent lines.
void invoice_reader::join(growing& invoice) {
    auto const which = static_cast<std::size_t>(&invoice - invoices_.data());
    if (auto const line = std::exchange(adrift_, std::nullopt)) doubt(invoice, row_.line, *line);
    if (last_ != which) invoice.groups.push_back(invoice.at.size());
    last_ = which;
    invoice.at.push_back(row_.line);
}

void invoice_reader::add_line(growing& invoice) const {
    auto const& named = value(customer);
    if (samples::is_blank(named)) {
        return refuse(invoice, "no customer", "the line names no customer");
    }
    if (invoice.lines.empty()) invoice.customer = named;
    if (named != invoice.customer) {
        return refuse(invoice, "two customers",
                      fmt::format("the line names customer '{}', an earlier one '{}'", named,
                                  invoice.customer));
    }
    if (samples::is_blank(value(stock_code))) {
        return refuse(invoice, "no stock code", "the line names no stock code");
    }
    try {
        add_goods(invoice);
    } catch (samples::input_error const& error) {
        refuse(invoice, "unusable number", error.what());
    }
}

void invoice_reader::add_goods(growing& invoice) const {
    bool const back = is_refund(invoice.number);
    auto const written = samples::parse_whole("quantity", value(quantity));
    auto const count = samples::multiply(written, back ? -1 : 1);
    if (count <= 0) {
        auto const reason = written == 0 ? "quantity of 0"
                            : back       ? "positive quantity in a refund"
                                         : "negative quantity";
        return refuse(invoice, reason,
                      fmt::format("the quantity {} is not valid for {}", written,
                                  back ? "a refund" : "an order"));
    }
    auto const cost = samples::parse_money("price", value(price));
    if (cost <= 0) {
        return refuse(invoice, cost == 0 ? "price of 0" : "negative price",
                      fmt::format("the price {} is not above zero", value(price)));
    }
    invoice.amount = samples::add(invoice.amount, samples::multiply(cost, count));
    invoice.lines.push_back({value(stock_code), count, cost});
}

void invoice_reader::refuse(growing& invoice, std::string_view reason,
                            std::string_view sentence) const {
    invoice.refused = samples::refusal{row_.line, std::string{reason},
                                       fmt::format("invoice '{}': {}", invoice.number, sentence)};
    invoice.lines.clear();
}

void invoice_reader::doubt(growing& invoice, std::uint64_t line, std::uint64_t unreadable) {
    if (invoice.refused) return;
    invoice.refused = samples::refusal{line, "unreadable line",
                                       fmt::format("invoice '{}': the unreadable line {} may "
                                                   "belong to it",
                                                   invoice.number, unreadable)};
}

/// In an unordered file, an unreadable line may belong to any invoice.
void invoice_reader::doubt_all() {
    if (!first_adrift_) return;
    for (auto& invoice : invoices_) doubt(invoice, invoice.line, *first_adrift_);
}

/// Refuses invoices whose lines are all repeated: the file may have been written twice and sorted,
/// or the order may be for twice as much.
void invoice_reader::refuse_repeated(bool scattered) {
    std::vector<std::pair<growing*, std::pair<std::size_t, std::size_t>>> found;
    bool others = false;
    for (auto& invoice : invoices_) {
        if (invoice.refused) continue;
        if (auto const pair = repetition(invoice.lines)) found.emplace_back(&invoice, *pair);
        else others = true;
    }
    // In an ordered file an invoice may repeat its lines, but not every invoice does.
    if (!scattered && (others || found.size() < 2)) return;
    for (auto const& [invoice, lines] : found) {
        auto const [again, before] = lines;
        invoice->refused = samples::refusal{
            invoice->at[again], "repeated lines",
            fmt::format("invoice '{}': it has each of its lines more than once, line {} repeats "
                        "line {}; remove one of them, or add their quantities in one line",
                        invoice->number, invoice->at[again], invoice->at[before])};
    }
}

void invoice_reader::remark_on_equal_lines() {
    std::optional<samples::remark> first;
    std::uint64_t more = 0;
    for (auto const& invoice : invoices_) {
        if (invoice.refused) continue;
        auto const order = sorted(invoice.lines);
        for (std::size_t at = 1; at < order.size(); ++at) {
            if (key_of(invoice.lines[order[at - 1]]) != key_of(invoice.lines[order[at]])) continue;
            auto const line = invoice.at[order[at]];
            if (first) ++more;
            if (first && first->line <= line) continue;
            first = samples::remark{
                line, fmt::format("invoice '{}': the line repeats line {}; both count",
                                  invoice.number, invoice.at[order[at - 1]])};
        }
    }
    if (!first) return;
    if (more > 0) {
        first->sentence +=
            fmt::format(", and so do {} more such lines", samples::with_commas(more));
    }
    ready_.emplace_back(std::move(*first));
}

void invoice_reader::remark_on_groups() {
    growing const* first = nullptr;
    std::uint64_t more = 0;
    for (auto const& invoice : invoices_) {
        if (invoice.groups.size() < 2) continue;
        if (first == nullptr) first = &invoice;
        else ++more;
    }
    auto const line = first->at[first->groups[1]];
    auto sentence = fmt::format("invoice '{}' has this line and others from line {} on that are "
                                "scattered",
                                first->number, first->at.front());
    if (more > 0) {
        sentence += fmt::format(", and so have {} more invoices", samples::with_commas(more));
    }
    sentence += ": they are gathered, and the invoices run in the order of their numbers";
    ready_.emplace_back(samples::remark{line, std::move(sentence)});
}

/// Makes the pieces after all lines are read.
void invoice_reader::finish() {
    for (auto const line : sums_) pass_over(line);
    bool const scattered = std::any_of(invoices_.begin(), invoices_.end(),
                                       [](auto const& each) { return each.groups.size() > 1; });
    if (scattered) doubt_all();
    refuse_repeated(scattered);
    if (scattered) {
        remark_on_groups();
        auto const by_number = [](growing const& one, growing const& other) {
            return comes_before(one.number, other.number);
        };
        std::stable_sort(invoices_.begin(), invoices_.end(), by_number);
    }
    remark_on_equal_lines();
    std::size_t const before = ready_.size();
    for (auto& invoice : invoices_) ready_.push_back(piece_of(std::move(invoice)));
    invoices_ = {};
    indexes_ = {};
    auto const by_line = [](piece const& one, piece const& other) {
        return line_of(one) < line_of(other);
    };
    auto const sorted =
        ready_.begin() + static_cast<std::ptrdiff_t>(scattered ? before : ready_.size());
    std::stable_sort(ready_.begin(), sorted, by_line);
}

invoice_reader::piece invoice_reader::piece_of(growing&& invoice) {
    if (invoice.refused) return std::move(*invoice.refused);
    if (is_refund(invoice.number)) {
        return samples::request<refund>{
            invoice.line,
            invoice.number,
            {invoice.number, invoice.customer, invoice.amount, std::move(invoice.lines)}};
    }
    return samples::request<payment>{
        invoice.line,
        invoice.number,
        {invoice.number, invoice.customer, invoice.amount, std::move(invoice.lines)}};
}

} // namespace shop
