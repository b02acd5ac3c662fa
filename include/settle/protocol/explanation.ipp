// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that explanation.hpp declares.
#pragma once

#include <settle/protocol/explanation.hpp>
#include <settle/protocol/mark.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// As describe_text, but also escapes control characters, which could end the line or control a
/// terminal.
SETTLE_FUNCTION void put_text(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string quoted;
    describe_text(quoted, text);
    for (char const c : quoted) {
        auto const code = static_cast<unsigned char>(c);
        if (code >= 0x20U && code != 0x7fU) out += c;
        else out.append("\\x").append({digits[code >> 4U], digits[code & 15U]});
    }
}

SETTLE_FUNCTION void put_time(std::string& out, std::int64_t count, std::intmax_t numerator,
                              std::intmax_t denominator) {
    using namespace std::chrono;
    constexpr auto first = sys_days{year{0} / January / 1};
    constexpr auto limit = sys_days{year{10000} / January / 1};
    constexpr wide day_seconds = 86400;
    wide const scaled = wide{count} * numerator; // seconds times the denominator
    bool const is_shown = scaled >= wide{seconds{first.time_since_epoch()}.count()} * denominator &&
                          scaled < wide{seconds{limit.time_since_epoch()}.count()} * denominator;
    if (!is_shown) {
        out += std::to_string(count);
        return;
    }
    wide const day_length = day_seconds * denominator;
    wide const number =
        scaled >= 0 ? scaled / day_length : -((day_length - 1 - scaled) / day_length);
    year_month_day const date{sys_days{days{static_cast<int>(number)}}};
    auto const put_part = [&](std::int64_t part, std::size_t width, char const* before) {
        auto const digits = std::to_string(part);
        out.append(before).append(width - std::min(width, digits.size()), '0').append(digits);
    };
    put_part(int{date.year()}, 4, "");
    put_part(unsigned{date.month()}, 2, "-");
    put_part(unsigned{date.day()}, 2, "-");
    if (numerator < day_seconds * denominator) {
        wide const rest = (scaled - number * day_length) * 1000 / denominator;
        hh_mm_ss const time{milliseconds{static_cast<std::int64_t>(rest)}};
        put_part(time.hours().count(), 2, "T");
        put_part(time.minutes().count(), 2, ":");
        put_part(time.seconds().count(), 2, ":");
        if (time.subseconds().count() != 0) put_part(time.subseconds().count(), 3, ".");
        out += 'Z';
    }
}

SETTLE_FUNCTION std::string locator_of(part_name const& where) {
    if (where.participant.empty()) return {};
    std::string text = "participant '" + std::string{where.participant} + "'";
    if (where.line) text += ", line " + std::to_string(*where.line + 1);
    return text + ": ";
}

/// A computed value: empty, a text or a number. A condition is 1 or 0.
struct computed_value {
    enum class kind : std::uint8_t { empty, number, text };

    kind is = kind::empty;
    std::int64_t number = 0;
    std::string_view text{};

    friend auto operator<=>(computed_value const&, computed_value const&) = default;
};

SETTLE_FUNCTION computed_value number_value(std::int64_t number) {
    return {computed_value::kind::number, number, {}};
}

SETTLE_FUNCTION computed_value read_value(value_access const& access, void const* value) {
    if (access.has_value != nullptr && !access.has_value(value)) return {};
    if (access.text != nullptr) return {computed_value::kind::text, 0, access.text(value)};
    return number_value(access.integer(value));
}

SETTLE_FUNCTION void put_value(std::string& out, value_access const* access,
                               computed_value const& value) {
    if (value.is == computed_value::kind::empty) {
        put(out, "empty");
    } else if (value.is == computed_value::kind::text) {
        constexpr std::size_t longest_shown = 64;
        if (value.text.size() <= longest_shown) put_text(out, value.text);
        else out += "a text of " + std::to_string(value.text.size()) + " bytes";
    } else if (access != nullptr && access->style == value_style::boolean) {
        put(out, value.number != 0 ? "true" : "false");
    } else if (access != nullptr && access->style == value_style::time) {
        put_time(out, value.number, access->numerator, access->denominator);
    } else {
        out += std::to_string(value.number);
    }
}

SETTLE_FUNCTION computed_value compute(operation_kind operation, computed_value const& left,
                                       computed_value const& right, bool& overflow) {
    using enum operation_kind;
    switch (operation) {
    case add: return number_value(checked<add>(left.number, right.number, overflow));
    case subtract: return number_value(checked<subtract>(left.number, right.number, overflow));
    case multiply: return number_value(checked<multiply>(left.number, right.number, overflow));
    case negate: return number_value(checked<subtract>(0, left.number, overflow));
    case equal: return number_value(left == right ? 1 : 0);
    case unequal: return number_value(left == right ? 0 : 1);
    case less: return number_value(left < right ? 1 : 0);
    case less_equal: return number_value(left <= right ? 1 : 0);
    case greater: return number_value(left > right ? 1 : 0);
    case greater_equal: return number_value(left >= right ? 1 : 0);
    case both: return number_value(left.number != 0 && right.number != 0 ? 1 : 0);
    case either: return number_value(left.number != 0 || right.number != 0 ? 1 : 0);
    case negation: return number_value(left.number == 0 ? 1 : 0);
    }
    return {};
}

/// Finds the first expression that causes a refusal.
class cause_finder {
public:
    cause_finder(reason why, void const* parameters) : why_(why), parameters_(parameters) {}

    /// Looks at the items up to the next participant.
    void look_at(definition_item const* items, void const* line) {
        for (; items->kind != item_kind::end && items->kind != item_kind::participant; ++items) {
            if (items->begins) begins_.push_back(text_.size());
            switch (items->kind) {
            case item_kind::text: text_ += items->text; break;
            case item_kind::type: break;
            case item_kind::none: put_constant("none", {}); break;
            case item_kind::number: put_number(*items); break;
            case item_kind::quoted: put_quoted(*items); break;
            case item_kind::path: put_path(*items, items->of_line ? line : parameters_); break;
            case item_kind::unary:
            case item_kind::binary: put_result(*items); break;
            case item_kind::key:
            case item_kind::limit:
            case item_kind::condition:
            case item_kind::amount: judge(*items); break;
            default: forget(); break;
            }
        }
    }
    [[nodiscard]] std::string const& cause() const { return cause_; }

private:
    void put_constant(std::string_view text, computed_value const& value) {
        text_ += text;
        values_.push_back(value);
    }
    void put_number(definition_item const& item) {
        auto const value = number_value(item.number);
        put_value(text_, item.access, value);
        values_.push_back(value);
    }
    void put_quoted(definition_item const& item) {
        computed_value const value{computed_value::kind::text, 0, item.text};
        put_value(text_, nullptr, value);
        values_.push_back(value);
    }
    /// Adds `amount = -5` to the list, unless it is there; a secret value is shown as `***`.
    void put_path(definition_item const& item, void const* root) {
        text_ += item.text;
        computed_value value;
        if (item.access != nullptr) value = read_value(*item.access, item.follow(root));
        values_.push_back(value);
        std::string named = text_.substr(text_.find('.', begins_.back()) + 1) + " = ";
        if (item.is_secret) named += "***";
        else put_value(named, item.access, value);
        if (std::find(named_.begin(), named_.end(), named) == named_.end())
            named_.push_back(std::move(named));
    }
    void put_result(definition_item const& item) {
        put_operation(text_, begins_, item, true);
        bool const two = item.kind == item_kind::binary;
        // An expression with a field has no value here, and is not judged.
        if (values_.size() < (two ? 2U : 1U)) return;
        auto const right = values_.back();
        if (two) values_.pop_back();
        values_.back() = compute(item.operation, values_.back(), right, overflow_);
    }

    /// Looks at the expression that ends here.
    void judge(definition_item const& item) {
        auto const value = values_.empty() ? computed_value{} : values_.back();
        std::string const text = text_.substr(begins_.empty() ? 0 : begins_.back());
        if (std::exchange(overflow_, false)) {
            if (why_ == reason::overflow) note("the value of " + text + " exceeds 64 bits");
        } else if (item.kind == item_kind::key) {
            bool const ranged = item.least != item.most;
            bool const fits = !ranged || (value.number >= item.least && value.number <= item.most);
            if (!fits && why_ == reason::overflow)
                note("the key " + text + " exceeds the range of its type");
        } else if (why_ == reason::guard_failed && value.number <= 0) {
            if (item.kind == item_kind::condition && value.number == 0)
                note("the condition " + text + " does not hold");
            if (item.kind == item_kind::amount && value.number < 0)
                note("the amount " + text + " is negative");
        }
        forget();
    }
    void note(std::string cause) {
        if (!cause_.empty()) return;
        cause_ = std::move(cause);
        std::string_view separator = ": ";
        for (std::string const& named : named_) {
            put(cause_, {std::exchange(separator, ", "), named});
        }
    }
    void forget() {
        text_.clear();
        begins_.clear();
        values_.clear();
        named_.clear();
        overflow_ = false;
    }

    reason why_;
    void const* parameters_;
    std::string cause_{};
    // Of the expression under way:
    std::string text_{};
    std::vector<std::size_t> begins_{};
    std::vector<computed_value> values_{};
    std::vector<std::string> named_{};
    bool overflow_ = false;
};

SETTLE_FUNCTION std::string explain_refusal(definition_item const* items, void const* parameters,
                                            refusal const& refused) {
    auto const& where = refused.where;
    cause_finder finder{refused.why, parameters};
    if (where.participant.empty()) {
        finder.look_at(items, nullptr);
        return finder.cause();
    }
    while (items->kind != item_kind::end &&
           (items->kind != item_kind::participant || items->text != where.participant)) {
        ++items;
    }
    std::string text = locator_of(where);
    bool const overflow = refused.why == reason::overflow;
    if (items->kind == item_kind::end || !items->is_record) {
        return text + (overflow ? "a computation on its parameters exceeds 64 bits"
                                : "a condition on its parameters does not hold");
    }
    void const* line = nullptr;
    if (items->line != nullptr) line = items->line(parameters, where.line.value_or(0));
    finder.look_at(items + 1, line);
    if (finder.cause().empty() && overflow) {
        return text + "the sum of its effects on one field exceeds 64 bits";
    }
    return text + finder.cause();
}

SETTLE_FUNCTION std::string explain_reversal(refusal const& refused) {
    return locator_of(refused.where) + (refused.why == reason::overflow
                                            ? "the gain of the transaction exceeds 64 bits"
                                            : "the entry has no readable image of the record");
}

} // namespace detail
SETTLE_END
