// SPDX-License-Identifier: BSL-1.0
// The log of one database: what an engine inserts, changes and lists entries through.
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

    template <typename Direction>
    void insert(std::span<job<Direction>> wave, occasion const& at) {
        write<step::insert>(wave, [&](auto& work) { return held_->entries.insert(work, at); });
    }

    template <step Step, typename Direction>
    void change(std::span<job<Direction>> wave, occasion const& at) {
        write<Step>(wave, [&](auto& work) { return held_->entries.change(work, at); });
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
    template <step Step, typename Direction, typename Function>
    void write(std::span<job<Direction>> wave, Function&& function) {
        std::lock_guard const guard{file_->with().mutex()};
        held_->said.clear();
        auto const ended = attempt<Step>(wave, function);
        if (ended.fate == detail::fate::committed) held_->entries.committed();
        else held_->entries.rolled_back();
        std::size_t at = 0;
        for (auto& work : wave) {
            if (work.coordinator.next() != Step) continue;
            if (ended.fate == detail::fate::committed) {
                work.said = held_->said[at++];
            } else {
                work.said = ended.fate == detail::fate::unknown ? log_answer::unknown
                                                                : log_answer::unavailable;
                work.problem = ended.problem;
            }
        }
    }

    template <step Step, typename Direction, typename Function>
    detail::ending attempt(std::span<job<Direction>> wave, Function& function) {
        try {
            detail::transaction native{file_->with()};
            for (auto& work : wave) {
                if (work.coordinator.next() == Step) held_->said.push_back(function(work));
            }
            return native.commit();
        } catch (failure const& problem) {
            return {detail::fate::undone, problem.problem()};
        }
    }

    struct statements {
        explicit statements(detail::file& file)
            : entries(file.with().on()), reader(file.reader()) {}

        detail::entry_table entries;
        detail::entry_reader reader;
        std::vector<log_answer> said{}; ///< of one wave; a member for the sake of its room
    };

    detail::file* file_;
    std::string name_;
    std::unique_ptr<statements, detail::alone_deleter<statements>> held_;
};

} // namespace sqlite
SETTLE_END
