// SPDX-License-Identifier: BSL-1.0
// Databases of the shared servers, for the suites that every store passes.
#pragma once

#include "shared_servers.hpp"

#include <settle/mongodb.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace settle_test {

/// A database that stays open until the process ends: the driver takes half a second to close one.
inline settle::mongodb::database& opened(std::string const& address) {
    static auto& all = *new std::vector<std::unique_ptr<settle::mongodb::database>>;
    return *all.emplace_back(std::make_unique<settle::mongodb::database>(address));
}

template <fresh_database::address_of& Address>
struct mongodb_fixture {
    using database = settle::mongodb::database;
    database& database_here() {
        if (here_ == nullptr) here_ = &opened(own_.address());
        return *here_;
    }
    database& second_database() {
        if (second_ == nullptr) second_ = &opened(second_own_.emplace(Address).address());
        return *second_;
    }
    database& reopened() { return *(here_ = &opened(own_.address())); }

private:
    fresh_database own_{Address};
    std::optional<fresh_database> second_own_;
    database* here_ = nullptr;
    database* second_ = nullptr;
};

using standalone_fixture = mongodb_fixture<standalone_address>;

} // namespace settle_test
