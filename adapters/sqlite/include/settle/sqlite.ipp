// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sqlite.hpp declares.
#pragma once

#include <settle/sqlite.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/sqlite/connection/file.hpp>

SETTLE_BEGIN
namespace sqlite {

SETTLE_FUNCTION database::database(std::string const& path, database_options const& options)
    : file_(std::make_unique<detail::file>(path, options)) {}

SETTLE_FUNCTION database::~database() = default;

SETTLE_FUNCTION result<std::unique_ptr<database>> database::open(std::string const& path,
                                                                 database_options const& options) {
    try {
        return std::make_unique<database>(path, options);
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION std::shared_ptr<detail::record_store>
database::bind_described(std::string const& log_name,
                         std::span<settle::detail::collection_descriptor const* const> bound) {
    return detail::make_record_store(*file_, log_name, bound);
}

SETTLE_FUNCTION bool database::is_same(database const& other) const noexcept {
    return file_->is_same(*other.file_);
}

SETTLE_FUNCTION log_session database::bind_log() {
    auto const guard = file_->alone();
    auto name = detail::get_or_init_metadata(
        file_->with(), "log", settle::detail::fresh_log_name(detail::log_name_prefix));
    file_->check();
    return log_session{*file_, std::move(name)};
}

} // namespace sqlite
SETTLE_END
