// SPDX-License-Identifier: BSL-1.0
// Payments of orders in memory, by the protocol of settle, written by hand for this one type.
//
// One payment at a time changes an order, and its mark holds the previous order. Balances and
// stocks are sums: several payments change them at the same time, as in baseline/memory.hpp.
#pragma once

#include "memory.hpp"

#include <payment/payment.hpp>

#include <optional>

namespace baseline::memory {

struct payment_entry {
    std::string id;
    state now = state::pending;
    reason why = reason::none;
    std::uint32_t attempts = 0;
    std::uint64_t epoch = 0;
    std::uint64_t committed = 0;
    std::string const* owner = nullptr;
    std::int64_t created = 0;
    std::int64_t modified = 0;
    shop::payment parameters{};
    std::string before{}; ///< the order as JSON
    std::string after{};
};

struct order_mark {
    std::string id;
    std::uint64_t epoch;
    std::string before;
};

struct order_slot {
    shop::order record;
    std::optional<order_mark> mark{};
};

[[nodiscard]] inline std::string order_as_json(shop::order const& one, std::string_view status) {
    std::string out;
    out.reserve(96);
    out += R"({"invoice":")";
    out += one.invoice;
    out += R"(","customer":")";
    out += one.customer;
    out += R"(","amount":)";
    out += std::to_string(one.amount);
    out += R"(,"status":")";
    out += status;
    out += "\"}";
    return out;
}

template <fetch Fetches = fetch::as_used>
class memory_shop {
    using account = memory_account<std::string>;
    template <typename Value>
    using table =
        std::unordered_map<std::string, Value, settle::memory::text_hash, std::equal_to<>>;

public:
    explicit memory_shop(std::size_t room) : entries_(room) { orders_.reserve(room); }

    void open_order(shop::order const& one) { orders_[one.invoice].record = one; }
    void open_customer(std::string const& id, std::int64_t balance) {
        open(customers_, id, balance);
    }
    void open_item(std::string const& id, std::int64_t count) { open(items_, id, count); }
    void open_till(std::string const& id) { open(tills_, id, 0); }

    [[nodiscard]] std::int64_t takings() const { return tills_.find("shop")->second.balance; }
    [[nodiscard]] std::int64_t in_stock(std::string const& id) const {
        return items_.find(id)->second.balance;
    }
    [[nodiscard]] std::int64_t balance(std::string const& customer) const {
        return customers_.find(customer)->second.balance;
    }
    [[nodiscard]] bool is_done(std::string const& id) const {
        payment_entry const* const found = entries_.find(id);
        return found != nullptr && found->now == state::done;
    }
    /// True if a record of a sum has a mark.
    [[nodiscard]] bool has_marks() const {
        return any_mark(customers_) || any_mark(items_) || any_mark(tills_);
    }
    [[nodiscard]] bool is_paid(std::string const& invoice) const {
        auto const& found = orders_.find(invoice)->second;
        return found.record.status == "paid" && !found.mark;
    }

    /// False when the payment was canceled.
    bool run(std::string const& id, shop::payment const& given) {
        if (given.amount <= 0) return false;
        for (auto const& line : given.lines) {
            if (line.quantity < 0) return false;
        }
        now_ = baseline::now();
        expect(id, given);
        payment_entry* const made = insert(id, given);
        if (made == nullptr) return false;
        reason const refusal = apply(*made);
        if (refusal != reason::none) return give_up(*made, refusal);
        if (!change(*made, state::pending, state::applied)) return false;
        made->committed = made->epoch;
        finish(*made, made->committed);
        return change(*made, state::applied, state::done);
    }

private:
    static constexpr std::int64_t lifetime = std::int64_t{7} * 24 * 3600 * 1000;

    static void open(table<account>& in, std::string const& id, std::int64_t balance) {
        account& opened = in[id];
        opened = account{id, balance};
        opened.marks.reserve(room_for_marks);
    }

    void expect([[maybe_unused]] std::string const& id,
                [[maybe_unused]] shop::payment const& given) const {
        if constexpr (Fetches == fetch::ahead) {
            entries_.expect(id);
            expect_in(orders_, given.invoice);
            expect_in(customers_, given.customer);
            for (auto const& line : given.lines) expect_in(items_, line.stock_code);
        }
    }

    payment_entry* insert(std::string const& id, shop::payment const& given) {
        payment_entry* const made = entries_.add(id);
        if (made == nullptr) return nullptr;
        made->parameters = given;
        made->epoch = epochs_.fresh(now_);
        made->owner = &owner_;
        made->created = now_;
        made->modified = now_;
        return made;
    }

    bool change(payment_entry& one, state from, state to) const {
        return compare_and_set(one, from, one.epoch, to, now_);
    }

    reason apply(payment_entry& one) {
        if (now_ - one.created > lifetime) return reason::expired;
        auto const& given = one.parameters;
        reason refusal = apply_to_order(one);
        if (refusal == reason::none) {
            refusal = apply_to(customers_, given.customer, one, 1, -given.amount, 0, given.amount);
        }
        std::uint32_t part = 2;
        for (auto const& line : given.lines) {
            if (refusal != reason::none) return refusal;
            refusal =
                apply_to(items_, line.stock_code, one, part++, -line.quantity, 0, line.quantity);
        }
        if (refusal != reason::none) return refusal;
        return apply_to(tills_, "shop", one, part, 0, given.amount, 0);
    }

    reason apply_to_order(payment_entry& one) {
        auto const at = orders_.find(one.parameters.invoice);
        if (at == orders_.end()) return reason::record_missing;
        auto& [record, mark] = at->second;
        if (mark) {
            if (mark->id != one.id || mark->epoch > one.epoch) return reason::busy;
            mark->epoch = one.epoch;
        } else {
            if (record.status != "unpaid" || record.customer != one.parameters.customer ||
                record.amount != one.parameters.amount) {
                return reason::guard_failed;
            }
            mark = order_mark{one.id, one.epoch, order_as_json(record, record.status)};
        }
        one.before = mark->before;
        one.after = order_as_json(record, "paid");
        return reason::none;
    }

    static reason apply_to(table<account>& in, std::string_view key, payment_entry const& one,
                           std::uint32_t part, std::int64_t now, std::int64_t confirm,
                           std::int64_t undo) {
        auto const at = in.find(key);
        if (at == in.end()) return reason::record_missing;
        return apply_mark(at->second, one.id, part, one.epoch, now, confirm, undo);
    }

    void finish(payment_entry const& one, std::uint64_t committed) {
        if (auto const at = orders_.find(one.parameters.invoice); at != orders_.end()) {
            auto& [record, mark] = at->second;
            if (mark && mark->id == one.id && (committed == 0 || mark->epoch <= committed)) {
                if (mark->epoch == committed) record.status = "paid";
                mark.reset();
            }
        }
        finish_in(customers_, one.parameters.customer, one, 1, committed);
        std::uint32_t part = 2;
        for (auto const& line : one.parameters.lines) {
            finish_in(items_, line.stock_code, one, part++, committed);
        }
        finish_in(tills_, "shop", one, part, committed);
    }

    static void finish_in(table<account>& in, std::string_view key, payment_entry const& one,
                          std::uint32_t part, std::uint64_t committed) {
        auto const at = in.find(key);
        if (at != in.end()) finish_mark(at->second, one.id, part, committed);
    }

    bool give_up(payment_entry& one, reason why) {
        if (!change(one, state::pending, state::canceling)) return false;
        one.why = why;
        finish(one, 0);
        change(one, state::canceling, state::canceled);
        return false;
    }

    table<order_slot> orders_;
    table<account> customers_;
    table<account> items_;
    table<account> tills_;
    entries_in_an_array<payment_entry> entries_;
    epochs epochs_;
    std::string const owner_ = "by hand";
    std::int64_t now_ = 0;
};

} // namespace baseline::memory
