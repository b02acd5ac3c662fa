// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that log_session.hpp declares.
#pragma once

#include <settle/sqlite/log/log_session.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/sqlite/connection/file.hpp>
#include <settle/sqlite/connection/file_home.hpp>
#include <settle/sqlite/connection/schema.hpp>
#include <settle/sqlite/log/entry_reader.hpp>
#include <settle/sqlite/log/entry_table.hpp>

SETTLE_BEGIN
namespace sqlite {

/// The statements of a log on both connections of its file.
struct detail::log_statements {
    explicit log_statements(file& file) : entries(file.with()), reader(file.reader()) {}

    entry_table entries;
    entry_reader reader;

    [[nodiscard]] static result<std::optional<entry>> read_one(entry_reader const& reader,
                                                               transaction_id const& id) {
        try {
            return reader.read(id);
        } catch (failure const& problem) {
            return problem.problem();
        }
    }
};

SETTLE_FUNCTION log_session::log_session(detail::file& file, std::string name)
    : file_(&file), name_(std::move(name)) {
    using detail::log_statements;
    held_ = {new log_statements{file}, detail::alone_deleter<log_statements>{&file}};
}

SETTLE_FUNCTION detail::entry_table& log_session::entries() { return held_->entries; }

SETTLE_FUNCTION result<std::optional<entry>> log_session::read(transaction_id const& id) {
    return file_->reading([&] { return held_->reader.read(id); });
}

SETTLE_FUNCTION result<std::vector<entry>>
log_session::list(entry_filter const& filter, transaction_id const& after, std::size_t limit) {
    return file_->reading([&] { return held_->reader.list(filter, after, limit); });
}

SETTLE_FUNCTION void log_session::write(std::span<entry_write const> writes,
                                        std::span<write_result> results,
                                        write_context const& context) {
    if (writes.empty()) return;
    auto sent = settle::detail::sent_writes(writes, results);
    auto const change = [&](detail::transaction&) {
        if (writes.front().inserts) held_->entries.insert(sent, context);
        else held_->entries.change(sent, context);
    };
    bool const lost = may_be_lost(writes.front().action);
    auto const ended =
        file_->perform(change, lost ? detail::commit_end::in_memory : detail::commit_end::on_disk);
    // The answers of the entry table hold now.
    if (ended.status == detail::commit_status::committed) return;
    for (write_result& one : results) settle::detail::set_result(one, ended);
}

SETTLE_FUNCTION result<purged> log_session::purge(timestamp before, std::size_t limit,
                                                  std::int64_t passed) {
    purged gone;
    gone.passed = passed;
    if (limit == 0) return gone;
    auto const old = file_->reading(
        [&] { return held_->reader.find_old(before, limit, gone.passed, gone.more); });
    if (!old.has_value()) return old.problem();
    if (old.value().empty()) return gone;
    auto const erased =
        file_->writing([&] { return held_->entries.erase_old(old.value(), before); });
    if (!erased.has_value()) return erased.problem();
    gone.erased = erased.value();
    return gone;
}

SETTLE_FUNCTION result<std::optional<std::string>> log_session::metadata(std::string_view name) {
    return file_->reading([&] { return detail::known_metadata(file_->reader(), name); });
}

SETTLE_FUNCTION result<void> log_session::replace_metadata(std::string_view name,
                                                           std::optional<std::string> const& seen,
                                                           std::string const& text) {
    try {
        auto const guard = file_->alone();
        auto& writer = file_->with();
        if (seen) detail::replace_metadata(writer, name, *seen, text);
        else static_cast<void>(detail::get_or_init_metadata(writer, name, text));
        file_->check();
        return {};
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<std::vector<metadata_text>>
log_session::list_metadata(metadata_range const& names, std::size_t limit) {
    return file_->reading([&] { return detail::list_metadata(file_->reader(), names, limit); });
}

SETTLE_FUNCTION result<void> log_session::erase_metadata(metadata_range const& names) {
    try {
        auto const guard = file_->alone();
        detail::erase_metadata(file_->with(), names);
        file_->check();
        return {};
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION result<log_home> log_session::home() {
    auto const name = settle::detail::home_metadata;
    return file_->reading([&] {
        log_home seen;
        seen.kept = detail::known_metadata(file_->reader(), name).value_or(std::string{});
        seen.present = detail::home_of(file_->reader());
        seen.is_same = seen.kept.empty() || seen.present.empty() ||
                       detail::is_same_file(seen.kept, seen.present);
        return seen;
    });
}

SETTLE_FUNCTION result<void> log_session::take_home(log_home const& seen, bool renames) {
    try {
        auto const guard = file_->alone();
        std::string const name = settle::detail::fresh_log_name(detail::log_name_prefix);
        detail::replace_home(file_->with(), seen, name_, renames ? name : name_);
        file_->check();
        return {};
    } catch (failure const& problem) {
        return problem.problem();
    }
}

SETTLE_FUNCTION void log_session::look_up(std::span<read_request const> requests,
                                          found_function on_found) {
    if (requests.size() == 1) return on_found(0, read(*requests.front().id), false);
    if (requests.empty()) return;
    // A result is returned only if the files are still the right files after the read.
    auto read = file_->reading([&] {
        std::vector<result<std::optional<entry>>> results;
        results.reserve(requests.size());
        file_->reader().from_one_state([&] {
            for (auto const& one : requests)
                results.push_back(held_->read_one(held_->reader, *one.id));
        });
        return results;
    });
    for (std::size_t at = 0; at < requests.size(); ++at) {
        if (read.has_value()) on_found(at, std::move(read.value()[at]), false);
        else on_found(at, read.problem(), false);
    }
}

namespace detail {

class entry_hold final : public log_hold {
public:
    explicit entry_hold(file& file)
        : guard_(file.with().mutex()), native_(std::in_place, file.with()),
          snapshot_(file.open_snapshot()), reader_(snapshot_) {}

    result<void> look_up(std::span<read_request const> requests, found_function found) override {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            found(i, log_statements::read_one(reader_, *requests[i].id), false);
        }
        return {};
    }
    result<void> end() override {
        static_cast<void>(native_->commit());
        native_.reset();
        guard_.unlock();
        return {};
    }

private:
    std::unique_lock<std::mutex> guard_;
    std::optional<transaction> native_; ///< it changes nothing, so nothing ends it
    connection snapshot_;
    entry_reader reader_;
};

} // namespace detail

SETTLE_FUNCTION result<std::unique_ptr<log_hold>> log_session::hold_entries() {
    if (!file_->is_here()) return settle::detail::made_before_fork("database");
    try {
        return std::unique_ptr<log_hold>{std::make_unique<detail::entry_hold>(*file_)};
    } catch (failure const& problem) {
        return problem.problem();
    }
}

} // namespace sqlite
SETTLE_END
