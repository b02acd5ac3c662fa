// SPDX-License-Identifier: BSL-1.0
// The log of one database: an engine inserts, changes and lists entries through it.
#pragma once

#include <settle/sqlite/entry_reader.hpp>
#include <settle/sqlite/entry_table.hpp>
#include <settle/sqlite/file.hpp>

SETTLE_BEGIN
namespace sqlite {

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many entries
class log_session {
public:
    /// Shape:   the caller is alone with the file
    /// Errors:  throws settle::failure
    log_session(detail::file& file, std::string name)
        : file_(&file), name_(std::move(name)), held_(new statements{file}, {&file}) {}

    /// The name that the log got when this file first held one.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    void insert(std::span<job> wave, write_context const& at) {
        write<step::insert>(wave, [&](auto jobs) { held_->entries.insert(jobs, at); });
    }

    template <step Step>
    void change(std::span<job> wave, write_context const& at) {
        write<Step>(wave, [&](auto jobs) { held_->entries.template change<Step>(jobs, at); });
    }

    /// Erases at most `limit` finished entries that have not moved since a time, in the order of
    /// their insertion.
    /// Shape:   passed - the number of the entry behind which it goes on
    /// Cost:    a whole purge looks at every entry once, beside those who write; a step looks at
    ///          10,000 at most
    result<purged> purge(timestamp before, std::size_t limit,
                         std::int64_t passed = purged::nothing) {
        purged gone;
        gone.passed = passed;
        if (limit == 0) return gone;
        auto const old = file_->reading([&] {
            return held_->reader.find_old(before, limit, gone.passed, gone.more);
        });
        if (!old.has_value()) return old.problem();
        if (old.value().empty()) return gone;
        auto const erased = file_->writing([&] {
            return held_->entries.erase_old(old.value(), before);
        });
        if (!erased.has_value()) return erased.problem();
        gone.erased = erased.value();
        return gone;
    }

    /// The table of entries, for callers inside a native transaction of this file.
    [[nodiscard]] detail::entry_table& entries() { return held_->entries; }

    /// Cost:    one native transaction that reads, and a look into the index for each
    template <typename Found>
    void look_up(std::span<job> wave, Found&& found) {
        auto const jobs = settle::detail::jobs_of(wave, step::read);
        if (jobs.size() == 1) return found(*jobs.front(), read(jobs.front()->id), false);
        if (jobs.empty()) return;
        // A result is returned only if the files are still the right files after the read.
        auto read = file_->reading([&] {
            std::vector<result<std::optional<entry>>> all;
            all.reserve(jobs.size());
            held_->reader.from_one_state([&] {
                for (auto const* const one : jobs) all.push_back(read_within(one->id));
            });
            return all;
        });
        for (std::size_t at = 0; at < jobs.size(); ++at) {
            if (read.has_value()) found(*jobs[at], std::move(read.value()[at]), false);
            else found(*jobs[at], read.problem(), false);
        }
    }

    result<std::optional<entry>> read(transaction_id const& id) {
        return file_->reading([&] { return held_->reader.read(id); });
    }

    /// Entries in the order of their ids, beginning behind one of them.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        return file_->reading([&] { return held_->reader.list(filter, after, limit); });
    }

private:
    /// For callers that are inside reading() already.
    result<std::optional<entry>> read_within(transaction_id const& id) const {
        try {
            return held_->reader.read(id);
        } catch (failure const& problem) {
            return problem.problem();
        }
    }

    template <step Step, typename Function>
    void write(std::span<job> wave, Function&& function) {
        auto const jobs = settle::detail::jobs_of(wave, Step);
        if (jobs.empty()) return;
        auto const all = std::span<job* const>{jobs};
        auto const ended = file_->perform([&](detail::transaction&) { function(all); });
        // The answers of the entry table hold now.
        if (ended.status != detail::commit_status::committed) settle::detail::say(all, ended);
    }

    struct statements {
        explicit statements(detail::file& file)
            : entries(file.with()), reader(file.reader()) {}

        detail::entry_table entries;
        detail::entry_reader reader;
    };

    detail::file* file_;
    std::string name_;
    std::unique_ptr<statements, detail::alone_deleter<statements>> held_;
};

} // namespace sqlite
SETTLE_END
