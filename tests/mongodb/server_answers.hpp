// SPDX-License-Identifier: BSL-1.0
// The replies of a server whose role changes, that is shut down or runs out of time, and the
// replies of other versions: in place of the requested action, and after it.
#pragma once

#include "message_faults.hpp"

#include <string_view>

namespace settle_test {

/// Errors that leave the outcome of the action open.
/// Source:  src/mongo/base/error_codes.yml of MongoDB 6.0; the last is of no version
inline constexpr int unsure_codes[]{50, 91, 189, 262, 10107, 11600, 13435, 999'999};
/// Errors that exclude an effect.
inline constexpr int undone_codes[]{112, 251};
/// Codes of a writeConcernError: the write took effect, and may be rolled back.
inline constexpr int concern_codes[]{64, 91};

inline constexpr std::string_view transient = "TransientTransactionError";

inline std::string failed(int code, std::string_view label = "") {
    std::string text = R"({"ok": 0, "errmsg": "as the test wants it", "code": )";
    text += std::to_string(code);
    if (!label.empty()) text.append(R"(, "errorLabels": [")").append(label).append("\"]");
    return text + "}";
}
inline std::string statement_failed(int code) {
    return R"({"ok": 1, "n": 0, "nModified": 0, "writeErrors": [{"index": 0, "errmsg":
               "as the test wants it", "code": )" +
           std::to_string(code) + "}]}";
}
inline std::string not_lasting(int code) {
    return R"({"writeConcernError": {"errmsg": "as the test wants it", "code": )" +
           std::to_string(code) + "}}";
}

/// Every error that a message is answered with.
/// Shape:   in_transaction - whether the message is part of a native transaction
inline std::vector<message_fault> every_answer(bool in_transaction, std::string const& command,
                                               int nth) {
    std::vector<message_fault> faults;
    auto const say = [&](fault how, std::string answer) {
        faults.push_back(
            {{.command = command, .nth = nth, .what = how, .answer = std::move(answer)}});
    };
    bool const commits = command == "commitTransaction";
    bool const writes = command == "insert" || command == "update" || command == "delete";
    for (int const code : unsure_codes) {
        say(fault::refuse, failed(code));
        say(fault::replace_reply, failed(code));
        if (writes) say(fault::refuse, statement_failed(code));
        if (writes) say(fault::replace_reply, statement_failed(code));
        if (commits) say(fault::replace_reply, failed(code, "UnknownTransactionCommitResult"));
        else if (in_transaction) say(fault::refuse, failed(code, transient));
        else say(fault::replace_reply, failed(code, "RetryableWriteError"));
    }
    for (int const code : undone_codes) {
        say(fault::refuse, failed(code));
        if (in_transaction) say(fault::refuse, failed(code, transient));
    }
    for (int const code : concern_codes) {
        if (commits || (writes && !in_transaction)) say(fault::add_to_reply, not_lasting(code));
    }
    // Before codes there were texts alone.
    say(fault::refuse, R"({"ok": 0, "errmsg": "not master"})");
    return faults;
}

} // namespace settle_test
