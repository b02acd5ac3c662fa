// SPDX-License-Identifier: BSL-1.0
// Transfers between two banks: the whole definition. The first bank keeps its accounts as records,
// the second has a ledger of its own tables, whose database prepares the postings.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace books {

/// The record of an account at the first bank. Money is an integer of hundredths.
struct account {
    std::string id;
    std::int64_t balance;
    std::int64_t opened_with; // never changes; `check` compares the sums
};

/// The request to the ledger of the second bank.
struct posting {
    std::string order_id;
    std::string account;
    std::int64_t debit;
    std::int64_t credit;
};

/// The parameters of a transfer from the first bank to the second.
struct outgoing {
    std::string order_id;
    std::string payer;
    std::string payee;
    std::int64_t amount;
};

/// The parameters of a transfer from the second bank to the first.
struct incoming {
    std::string order_id;
    std::string payer;
    std::string payee;
    std::int64_t amount;
};

using settle::call;
using settle::field;
using settle::lit;
using settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::prepared<posting, "ledger"> ledger;

/// The record gives the amount back if the ledger refuses the credit.
inline constexpr auto outgoing_type = settle::transaction<outgoing, "outgoing">(
    settle::participant<"payer">(accounts, param<&outgoing::payer>)
        .require(field<&account::balance> >= param<&outgoing::amount>)
        .apply(field<&account::balance> -= param<&outgoing::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(call(
        param<&outgoing::order_id>, param<&outgoing::payee>, lit<0>, param<&outgoing::amount>)));

/// The record gets the amount only when the debit of the ledger is certain.
inline constexpr auto incoming_type = settle::transaction<incoming, "incoming">(
    settle::participant<"payer">(ledger).apply(call(
        param<&incoming::order_id>, param<&incoming::payer>, param<&incoming::amount>, lit<0>)),
    settle::participant<"payee">(accounts, param<&incoming::payee>)
        .confirm(field<&account::balance> += param<&incoming::amount>));

} // namespace books
