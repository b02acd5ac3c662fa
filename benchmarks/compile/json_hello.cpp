// SPDX-License-Identifier: BSL-1.0
// Compiled as the measure of compile times: nlohmann/json parses a text, fills a struct through its
// macro, and writes the struct.
#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>
#include <string>

struct account {
    std::string id;
    std::int64_t balance;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(account, id, balance)

int main() {
    auto const parsed = nlohmann::json::parse(R"({"id": "anna", "balance": 10000})");
    auto held = parsed.get<account>();
    held.balance += 1;
    std::cout << nlohmann::json(held).dump() << '\n';
}
