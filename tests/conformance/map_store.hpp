// SPDX-License-Identifier: BSL-1.0
// The shortest store and log that the seam admits: records in maps behind a mutex, and entries in a
// file of JSON lines. The last line of an entry is the entry.
#pragma once

#include <settle/settle.hpp>
#include <settle/store/record.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <random>

namespace settle_test {

using settle::answer, settle::entry, settle::log_answer, settle::mark_locator, settle::result;

/// An entry as a line of the file.
struct entry_line {
    BOOST_HANA_DEFINE_STRUCT(
        entry_line, (std::string, id), (std::string, type), (std::int64_t, definition),
        (std::string, parameters), (settle::state, state), (std::int64_t, epoch_number),
        (std::int64_t, committed), (std::uint32_t, revision), (settle::stage_number, stages_kept),
        (std::string, owner), (settle::timestamp, created), (settle::timestamp, modified),
        (std::uint32_t, attempts), (settle::reason, why), (std::string, why_text),
        (std::string, participant), (std::optional<std::uint32_t>, line),
        (std::vector<settle::image>, images), (std::vector<settle::kept_result>, results),
        (std::uint32_t, call_tries), (settle::timestamp, next_try), (std::string, traceparent),
        (bool, purged));
};

/// Records of one collection, with their marks.
template <typename C>
using map_table = std::map<typename C::key_type, settle::record_slot<typename C::record_type>>;

class map_database;

template <typename... Collections>
class map_records {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    map_records(std::mutex& mutex, map_table<Collections>&... tables)
        : mutex_(&mutex), tables_(&tables...) {}

    void execute(std::span<settle::part_request const> requests,
                 std::span<settle::part_result> results) {
        std::lock_guard const guard{*mutex_};
        for (std::size_t at = 0; at < requests.size(); ++at) {
            (execute_in<Collections>(requests[at], results[at]), ...);
        }
    }

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        std::lock_guard const guard{*mutex_};
        auto const found = table<C>().find(key);
        if (found == table<C>().end()) return std::optional<typename C::record_type>{};
        return found->second.record;
    }
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        std::lock_guard const guard{*mutex_};
        auto& slot = table<C>()[record.*C::key_member];
        if (!is_empty(slot)) return settle::record_exists_in(C::name);
        slot.record = record;
        return {};
    }
    template <typename C>
    result<std::vector<typename C::record_type>>
    scan(std::optional<typename C::key_type> const& after, std::size_t limit) {
        std::lock_guard const guard{*mutex_};
        std::vector<typename C::record_type> records;
        auto at = after ? table<C>().upper_bound(*after) : table<C>().begin();
        for (; at != table<C>().end() && records.size() < limit; ++at) {
            if (at->second.record) records.push_back(*at->second.record);
        }
        return records;
    }

    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) {
        std::lock_guard const guard{*mutex_};
        std::vector<mark_locator> locators;
        bool passed = !after; // the collection of `after`
        (append_marks<Collections>(locators, after, passed, limit), ...);
        return locators;
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        std::lock_guard const guard{*mutex_};
        answer reply = answer::nothing;
        (resolve_in<Collections>(locator, confirmed, reply), ...);
        return reply;
    }

private:
    template <typename C>
    map_table<C>& table() {
        return *std::get<map_table<C>*>(tables_);
    }
    static bool is_empty(auto const& slot) { return !slot.record && slot.marks.empty(); }

    template <typename C>
    void execute_in(settle::part_request const& request, settle::part_result& answered) {
        if (!settle::is_part_of<C>(request)) return;
        auto const row = table<C>().try_emplace(settle::key_of<C>(request)).first;
        auto& slot = row->second;
        auto const native = [&] { return settle::encode_json(*slot.record); };
        answered = settle::result_of(settle::execute(request, slot, native));
        if (is_empty(slot)) table<C>().erase(row);
    }
    template <typename C>
    void append_marks(std::vector<mark_locator>& out, std::optional<mark_locator> const& after,
                      bool& passed, std::size_t limit) {
        bool const resumes_here = !passed && after->collection == C::name;
        for (auto const& [key, slot] : table<C>()) {
            for (auto const& mark : slot.marks) {
                mark_locator const locator{std::string{C::name}, key, mark.id, mark.part,
                                           mark.epoch_number};
                auto const order = [](mark_locator const& position) {
                    return std::tie(position.key, position.id, position.part);
                };
                if (out.size() == limit ||
                    !(passed || (resumes_here && order(*after) < order(locator)))) {
                    continue;
                }
                out.push_back(locator);
            }
        }
        passed = passed || resumes_here;
    }
    template <typename C>
    void resolve_in(mark_locator const& locator, bool confirmed, answer& reply) {
        auto const* const key = std::get_if<typename C::key_type>(&locator.key);
        if (locator.collection != C::name || key == nullptr) return;
        auto const row = table<C>().find(*key);
        if (row == table<C>().end()) return;
        reply = settle::resolve_mark(row->second, locator.id, locator.part, locator.epoch_number,
                                     confirmed);
        if (is_empty(row->second)) table<C>().erase(row);
    }

    std::mutex* mutex_;
    std::tuple<map_table<Collections>*...> tables_;
};

class file_log {
public:
    explicit file_log(map_database& database) : database_(&database) {}

    [[nodiscard]] std::string const& name() const;
    void write(std::span<settle::entry_write const> writes, std::span<settle::write_result> results,
               settle::write_context const& context);
    void look_up(std::span<settle::read_request const> requests, settle::found_function function);
    result<std::optional<entry>> read(settle::transaction_id const& id);
    result<std::vector<entry>> list(settle::entry_filter const& filter,
                                    settle::transaction_id const& after, std::size_t limit);
    result<settle::purged> purge(settle::timestamp before, std::size_t limit, std::int64_t passed);
    result<std::optional<std::string>> metadata(std::string_view name);
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text);
    result<std::vector<settle::metadata_text>> list_metadata(settle::metadata_range const& names,
                                                             std::size_t limit);
    result<void> erase_metadata(settle::metadata_range const& names);

private:
    map_database* database_;
};

class map_database {
public:
    /// Shape:   path - of the file of the log; records - of an earlier database that was closed
    explicit map_database(std::string const& path, map_database* records = nullptr);
    map_database(map_database const&) = delete;
    map_database& operator=(map_database const&) = delete;
    ~map_database() { ::close(file_); }

    template <typename... Collections>
    map_records<Collections...> bind(std::string const& log_name) {
        std::lock_guard const guard{mutex_};
        if (!belongs_to_.empty() && belongs_to_ != log_name) {
            throw settle::failure(
                {settle::errc::other_log,
                 "settle: the store belongs to the log '" + belongs_to_ + "'. Use that log"});
        }
        belongs_to_ = log_name;
        return {mutex_, table<Collections>()...};
    }
    file_log bind_log() { return file_log{*this}; }

private:
    friend class file_log;

    template <typename C>
    map_table<C>& table() {
        auto& kept = tables_[std::string{C::name}];
        if (!kept) kept = std::make_shared<map_table<C>>();
        return *static_cast<map_table<C>*>(kept.get());
    }
    bool append(std::string const& lines);
    void cut(::off_t size);

    std::mutex mutex_;
    std::string belongs_to_;
    std::map<std::string, std::shared_ptr<void>> tables_;
    std::string name_; ///< of the log
    std::map<std::string, std::string, std::less<>> metadata_;
    std::map<settle::transaction_id, entry> entries_;
    int file_;
};

} // namespace settle_test
