// SPDX-License-Identifier: BSL-1.0
// The store suite on servers: it is compiled once, over any_database, and each program of tests
// says which database that is.
#pragma once

#include <settle/adapter/any_database.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>

namespace settle_test {

/// The databases of one case; see settle/testing/store_suite.hpp.
class suite_databases {
public:
    suite_databases() = default;
    suite_databases(suite_databases const&) = delete;
    suite_databases& operator=(suite_databases const&) = delete;
    virtual ~suite_databases() = default;

    virtual settle::any_database& here() = 0;
    virtual settle::any_database& second() = 0;
    virtual settle::any_database& reopened() = 0;
};

/// A program that links the suite defines it.
std::unique_ptr<suite_databases> make_suite_databases();

/// Shape:   Place - a new database of a shared server; KeepsOpen - until the process ends
template <typename Place, settle::database_kind (*Kind)(), bool KeepsOpen = false>
class suite_databases_at final : public suite_databases {
public:
    settle::any_database& here() override {
        if (here_ == nullptr) here_ = &open(own_.address());
        return *here_;
    }
    settle::any_database& second() override {
        if (second_ == nullptr) second_ = &open(second_own_.emplace().address());
        return *second_;
    }
    settle::any_database& reopened() override { return *(here_ = &open(own_.address())); }

private:
    settle::any_database& open(std::string const& address) {
        auto* opened = &opened_;
        if constexpr (KeepsOpen) {
            static auto* const kept = new std::list<settle::any_database>;
            opened = kept;
        }
        return opened->emplace_back(address, std::initializer_list<settle::database_kind>{Kind()});
    }

    Place own_;
    std::optional<Place> second_own_;
    std::list<settle::any_database> opened_;
    settle::any_database* here_ = nullptr;
    settle::any_database* second_ = nullptr;
};

} // namespace settle_test
