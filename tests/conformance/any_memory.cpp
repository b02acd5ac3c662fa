// SPDX-License-Identifier: BSL-1.0
// The databases of the store suite over any_database: those in memory.
#include <served_suite.hpp>

#include <settle/memory/kind.hpp>

namespace {

/// The memory of a database ends with it, so it is not opened again.
class memory_databases final : public settle_test::suite_databases {
public:
    settle::any_database& here() override { return here_; }
    settle::any_database& second() override { return second_; }
    settle::any_database& reopened() override { return here_; }

private:
    settle::any_database here_{"memory:", {settle::memory::kind()}};
    settle::any_database second_{"memory:", {settle::memory::kind()}};
};

} // namespace

std::unique_ptr<settle_test::suite_databases> settle_test::make_suite_databases() {
    return std::make_unique<memory_databases>();
}
