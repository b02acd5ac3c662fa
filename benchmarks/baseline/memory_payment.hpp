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

[[nodiscard]] inline std::string order_as_json(shop::order const& order, std::string_view status) {
    std::string out;
    out.reserve(96);
    out += R"({"invoice":")";
    out += order.invoice;
    out += R"(","customer":")";
    out += order.customer;
    out += R"(","amount":)";
    out += std::to_string(order.amount);
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

    void open_order(shop::order const& order) { orders_[order.invoice].record = order; }
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
    bool run(std::string const& id, shop::payment const& payment) {
        if (payment.amount <= 0) return false;
        for (auto const& line : payment.lines) {
            if (line.quantity < 0) return false;
        }
        now_ = baseline::now();
        expect(id, payment);
        payment_entry* const entry = insert(id, payment);
        if (entry == nullptr) return false;
        reason const refusal = apply(*entry);
        if (refusal != reason::none) return give_up(*entry, refusal);
        if (!change(*entry, state::pending, state::applied)) return false;
        entry->committed = entry->epoch;
        finish(*entry, entry->committed);
        return change(*entry, state::applied, state::done);
    }

private:
    static constexpr std::int64_t lifetime = std::int64_t{7} * 24 * 3600 * 1000;

    static void open(table<account>& in, std::string const& id, std::int64_t balance) {
        account& opened = in[id];
        opened = account{id, balance};
        opened.marks.reserve(room_for_marks);
    }

    void expect([[maybe_unused]] std::string const& id,
                [[maybe_unused]] shop::payment const& payment) const {
        if constexpr (Fetches == fetch::ahead) {
            entries_.expect(id);
            expect_in(orders_, payment.invoice);
            expect_in(customers_, payment.customer);
            for (auto const& line : payment.lines) expect_in(items_, line.stock_code);
        }
    }

    payment_entry* insert(std::string const& id, shop::payment const& payment) {
        payment_entry* const entry = entries_.add(id);
        if (entry == nullptr) return nullptr;
        entry->parameters = payment;
        entry->epoch = epochs_.fresh(now_);
        entry->owner = &owner_;
        entry->created = now_;
        entry->modified = now_;
        return entry;
    }

    bool change(payment_entry& entry, state from, state to) const {
        return compare_and_set(entry, from, entry.epoch, to, now_);
    }

    reason apply(payment_entry& entry) {
        if (now_ - entry.created > lifetime) return reason::expired;
        auto const& payment = entry.parameters;
        reason refusal = apply_to_order(entry);
        if (refusal == reason::none) {
            refusal = apply_to(customers_, payment.customer, entry, 1, -payment.amount, 0,
                               payment.amount);
        }
        std::uint32_t part = 2;
        for (auto const& line : payment.lines) {
            if (refusal != reason::none) return refusal;
            refusal =
                apply_to(items_, line.stock_code, entry, part++, -line.quantity, 0, line.quantity);
        }
        if (refusal != reason::none) return refusal;
        return apply_to(tills_, "shop", entry, part, 0, payment.amount, 0);
    }

    reason apply_to_order(payment_entry& entry) {
        auto const at = orders_.find(entry.parameters.invoice);
        if (at == orders_.end()) return reason::record_missing;
        auto& [record, mark] = at->second;
        if (mark) {
            if (mark->id != entry.id || mark->epoch > entry.epoch) return reason::busy;
            mark->epoch = entry.epoch;
        } else {
            if (record.status != "unpaid" || record.customer != entry.parameters.customer ||
                record.amount != entry.parameters.amount) {
                return reason::guard_failed;
            }
            mark = order_mark{entry.id, entry.epoch, order_as_json(record, record.status)};
        }
        entry.before = mark->before;
        entry.after = order_as_json(record, "paid");
        return reason::none;
    }

    static reason apply_to(table<account>& in, std::string_view key, payment_entry const& entry,
                           std::uint32_t part, std::int64_t now, std::int64_t confirm,
                           std::int64_t undo) {
        auto const at = in.find(key);
        if (at == in.end()) return reason::record_missing;
        return apply_mark(at->second, entry.id, part, entry.epoch, now, confirm, undo);
    }

    void finish(payment_entry const& entry, std::uint64_t committed) {
        if (auto const at = orders_.find(entry.parameters.invoice); at != orders_.end()) {
            auto& [record, mark] = at->second;
            if (mark && mark->id == entry.id && (committed == 0 || mark->epoch <= committed)) {
                if (mark->epoch == committed) record.status = "paid";
                mark.reset();
            }
        }
        finish_in(customers_, entry.parameters.customer, entry, 1, committed);
        std::uint32_t part = 2;
        for (auto const& line : entry.parameters.lines) {
            finish_in(items_, line.stock_code, entry, part++, committed);
        }
        finish_in(tills_, "shop", entry, part, committed);
    }

    static void finish_in(table<account>& in, std::string_view key, payment_entry const& entry,
                          std::uint32_t part, std::uint64_t committed) {
        auto const at = in.find(key);
        if (at != in.end()) finish_mark(at->second, entry.id, part, committed);
    }

    bool give_up(payment_entry& entry, reason why) {
        if (!change(entry, state::pending, state::canceling)) return false;
        entry.why = why;
        finish(entry, 0);
        change(entry, state::canceling, state::canceled);
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
