// SPDX-License-Identifier: BSL-1.0
// A transfer in a database file of its own.
#include "bank.hpp"

#include <settle/sqlite.hpp>
#include <settle/testing/requests.hpp>

#include <filesystem>

bool bank::settles_in_file() {
    auto const file = std::filesystem::current_path() / "consumer.db";
    for (auto const* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    settle::sqlite::database sqlite{file.string()};
    return settles(sqlite);
}
