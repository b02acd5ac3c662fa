// SPDX-License-Identifier: BSL-1.0
// Makes the shared replica set, which has one member, look like a set with a second member.
#pragma once

#include "commands.hpp"
#include "wire.hpp"

namespace settle_test {

/// For proxy::on_reply: a greeting for settle names another member.
inline void name_another_member(wire_message& message) {
    if (message.command != "isMaster" || !message.is_message()) return;
    message.add(document{R"({"passives": ["127.0.0.1:1"]})"}.get());
}

} // namespace settle_test
