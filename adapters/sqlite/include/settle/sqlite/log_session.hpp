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
    /// Errors:  throws settle::failure
    log_session(detail::file& file, std::string name)
        : file_(&file), name_(std::move(name)), entries_(file.with().on()),
          reader_(file.reader()) {}

    /// The name that the log got when this file first held one.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    template <typename Direction>
    void insert(std::span<job<Direction>> wave, occasion const& at) {
        write<step::insert>(wave, [&](auto& work) { return entries_.insert(work, at); });
    }

    template <step Step, typename Direction>
    void change(std::span<job<Direction>> wave, occasion const& at) {
        write<Step>(wave, [&](auto& work) { return entries_.change(work, at); });
    }

    result<std::optional<entry>> read(transaction_id const& id) {
        return file_->reading([&] { return reader_.read(id); });
    }

    /// Entries in the order of their ids, beginning behind one of them.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        return file_->reading([&] { return reader_.list(filter, after, limit); });
    }

private:
    template <step Step, typename Direction, typename Function>
    void write(std::span<job<Direction>> wave, Function&& function) {
        std::lock_guard const guard{file_->with().mutex()};
        said_.clear();
        auto const ended = attempt<Step>(wave, function);
        if (ended.fate == detail::fate::committed) entries_.committed();
        else entries_.rolled_back();
        std::size_t at = 0;
        for (auto& work : wave) {
            if (work.coordinator.next() != Step) continue;
            if (ended.fate == detail::fate::committed) {
                work.said = said_[at++];
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
                if (work.coordinator.next() == Step) said_.push_back(function(work));
            }
            return native.commit();
        } catch (failure const& problem) {
            return {detail::fate::undone, problem.problem()};
        }
    }

    detail::file* file_;
    std::string name_;
    detail::entry_table entries_;
    detail::entry_reader reader_;
    std::vector<log_answer> said_; ///< guarded by the writer's mutex; kept for its room
};

} // namespace sqlite
SETTLE_END
