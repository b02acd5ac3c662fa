// SPDX-License-Identifier: BSL-1.0
// The conformance suite on a store and a log that are written from the seam alone.
#include "map_store.hpp"

#include "fixtures.hpp"

#include <doctest/doctest.h>
#include <settle/testing/store_suite.hpp>

namespace settle_test {
namespace {

/// The beginning of a line with metadata; the last line of a name counts.
constexpr std::string_view metadata_mark = "metadata ";
struct metadata_line {
    BOOST_HANA_DEFINE_STRUCT(metadata_line, (std::string, name),
                             (std::optional<std::string>, text)); // nothing: it was erased
};

std::string line_of(entry const& entry, bool purged = false) {
    return settle::encode_json(entry_line{entry.id,
                                          entry.type,
                                          static_cast<std::int64_t>(entry.definition),
                                          entry.parameters,
                                          entry.state,
                                          static_cast<std::int64_t>(entry.epoch_number),
                                          static_cast<std::int64_t>(entry.committed),
                                          entry.revision,
                                          entry.stages_kept,
                                          entry.owner,
                                          entry.created,
                                          entry.modified,
                                          entry.attempts,
                                          entry.why,
                                          entry.why_text,
                                          entry.participant,
                                          entry.line,
                                          entry.images,
                                          entry.results,
                                          entry.call_tries,
                                          entry.next_try,
                                          entry.traceparent,
                                          purged}) +
           '\n';
}

entry entry_of(entry_line const& line) {
    entry entry;
    std::tie(entry.id, entry.type, entry.parameters, entry.state, entry.revision, entry.stages_kept,
             entry.owner, entry.created, entry.modified, entry.attempts, entry.why, entry.why_text,
             entry.participant, entry.line, entry.images, entry.results) =
        std::tie(line.id, line.type, line.parameters, line.state, line.revision, line.stages_kept,
                 line.owner, line.created, line.modified, line.attempts, line.why, line.why_text,
                 line.participant, line.line, line.images, line.results);
    entry.call_tries = line.call_tries;
    entry.next_try = line.next_try;
    entry.traceparent = line.traceparent;
    entry.definition = static_cast<std::uint64_t>(line.definition);
    entry.epoch_number = static_cast<settle::epoch>(line.epoch_number);
    entry.committed = static_cast<settle::epoch>(line.committed);
    return entry;
}

/// The entry that a write leaves; none if the log has another entry than the write expects.
std::optional<entry> entry_after(settle::entry_write const& write, entry const* existing,
                                 settle::write_context const& context) {
    settle::transition const& to = write.change;
    bool const replaces = existing != nullptr && write.replaces_bar() &&
                          may_replace(standing_of(*existing), to.from_epoch);
    if (replaces) existing = nullptr;
    if (write.inserts != (existing == nullptr)) return std::nullopt;
    entry entry;
    if (existing != nullptr) {
        if (!may_change(standing_of(*existing), to, write.action)) return std::nullopt;
        entry = *existing;
        if (to.to != existing->state || to.stages_kept != existing->stages_kept) {
            entry.call_tries = 0;
            entry.next_try = {};
        }
    } else {
        entry.id = *write.id;
        entry.type = write.type->name();
        entry.definition = write.type->definition();
        if (write.type->described) entry.parameters = write.type->json(write.parameters);
        entry.created = write.created;
        entry.traceparent = write.traceparent;
    }
    change_entry(entry, to);
    entry.modified = context.now;
    if (to.takes_owner) entry.owner = context.owner;
    if (write.images != nullptr) entry.images = *write.images;
    if (write.results != nullptr) entry.results = *write.results;
    if (write.action == settle::step::pause) {
        entry.call_tries = write.call_tries;
        entry.next_try = write.next_try;
    }
    if (to.why != settle::reason::none) {
        auto const failed = write.failed();
        entry.why = to.why;
        entry.why_text = write.why_text;
        entry.participant = failed.participant;
        entry.line = failed.line;
    }
    return entry;
}

} // namespace

map_database::map_database(std::string const& path, map_database* records) {
    if (records != nullptr) {
        belongs_to_ = records->belongs_to_;
        tables_ = records->tables_;
    }
    std::ifstream in{path};
    std::string text;
    std::size_t whole = 0; // the size of the lines before the end of a torn write
    auto const next_line = [&] { return std::getline(in, text) && !in.eof(); };
    if (next_line()) {
        name_ = text;
        whole = text.size() + 1;
    }
    for (; next_line(); whole += text.size() + 1) {
        if (text.starts_with(metadata_mark)) {
            auto const line = settle::decode_json<metadata_line>(text.substr(metadata_mark.size()));
            if (!line.has_value()) break;
            if (line->text) metadata_[line->name] = *line->text;
            else metadata_.erase(line->name);
            continue;
        }
        auto const line = settle::decode_json<entry_line>(text);
        if (!line.has_value()) break;
        if (line->purged) entries_.erase(line->id);
        else entries_[line->id] = entry_of(*line);
    }
    file_ = ::open(path.c_str(), O_CREAT | O_APPEND | O_WRONLY, 0600);
    cut(static_cast<::off_t>(whole));
    if (name_.empty()) {
        name_ = "file-log-" + std::to_string(std::random_device{}());
        append(name_ + '\n');
    }
}

bool map_database::append(std::string const& lines) {
    auto const before = ::lseek(file_, 0, SEEK_END);
    auto const written = ::write(file_, lines.data(), lines.size());
    if (written == static_cast<ssize_t>(lines.size()) && ::fsync(file_) == 0) return true;
    cut(before);
    return false;
}

void map_database::cut(::off_t size) {
    if (::ftruncate(file_, size) != 0) std::abort(); // no line may follow a torn line
}

std::string const& file_log::name() const { return database_->name_; }

void file_log::write(std::span<settle::entry_write const> writes,
                     std::span<settle::write_result> results,
                     settle::write_context const& context) {
    std::lock_guard const guard{database_->mutex_};
    auto entries = database_->entries_;
    std::string lines;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        if (writes[i].is_late(context)) {
            results[i].reply = log_answer::unavailable;
            continue;
        }
        auto const found = entries.find(*writes[i].id);
        auto made =
            entry_after(writes[i], found == entries.end() ? nullptr : &found->second, context);
        results[i].reply = made ? log_answer::taken : log_answer::conflict;
        if (!made) continue;
        lines += line_of(*made);
        entries[made->id] = std::move(*made);
    }
    if (database_->append(lines)) {
        database_->entries_ = std::move(entries);
        return;
    }
    for (auto& result : results) {
        if (result.reply != log_answer::taken) continue;
        result.reply = log_answer::unknown;
        result.problem = {settle::errc::store_unreachable, "settle: the log's file is not written"};
    }
}

void file_log::look_up(std::span<settle::read_request const> requests,
                       settle::found_function function) {
    for (std::size_t at = 0; at < requests.size(); ++at)
        function(at, read(*requests[at].id), false);
}

result<std::optional<entry>> file_log::read(settle::transaction_id const& id) {
    std::lock_guard const guard{database_->mutex_};
    auto const found = database_->entries_.find(id);
    if (found == database_->entries_.end()) return std::optional<entry>{};
    return std::optional{found->second};
}

result<std::vector<entry>> file_log::list(settle::entry_filter const& filter,
                                          settle::transaction_id const& after, std::size_t limit) {
    std::lock_guard const guard{database_->mutex_};
    std::vector<entry> entries;
    auto at = database_->entries_.upper_bound(after);
    for (; at != database_->entries_.end() && entries.size() < limit; ++at) {
        entry const& stored = at->second;
        if (filter.state && stored.state != *filter.state) continue;
        bool const begun = stored.state != settle::state::initial && !is_final(stored.state);
        if (filter.unfinished && !begun) continue;
        bool const old = !filter.before || stored.modified <= *filter.before;
        bool const ahead = filter.before && filter.ahead_of &&
                           std::max(stored.created, stored.modified) > *filter.ahead_of;
        if (old || ahead) entries.push_back(stored);
    }
    return entries;
}

result<settle::purged> file_log::purge(settle::timestamp before, std::size_t limit, std::int64_t) {
    std::lock_guard const guard{database_->mutex_};
    auto entries = database_->entries_;
    settle::purged gone;
    std::string lines;
    for (auto position = entries.begin(); position != entries.end();) {
        entry const& entry = position->second;
        bool const old = is_final(entry.state) && std::max(entry.created, entry.modified) < before;
        gone.more = old && gone.erased == limit;
        if (gone.more) break;
        if (old) lines += line_of(entry, true);
        if (old) ++gone.erased;
        position = old ? entries.erase(position) : std::next(position);
    }
    if (!database_->append(lines)) {
        return settle::error{settle::errc::store_unreachable, "settle: the file is not written"};
    }
    database_->entries_ = std::move(entries);
    return gone;
}

result<std::optional<std::string>> file_log::metadata(std::string_view name) {
    std::lock_guard const guard{database_->mutex_};
    auto const known = database_->metadata_.find(name);
    if (known == database_->metadata_.end()) return std::optional<std::string>{};
    return std::optional{known->second};
}

result<void> file_log::replace_metadata(std::string_view name,
                                        std::optional<std::string> const& seen,
                                        std::string const& text) {
    std::lock_guard const guard{database_->mutex_};
    auto const known = database_->metadata_.find(name);
    bool const is_known = known != database_->metadata_.end();
    if (is_known != seen.has_value() || (is_known && known->second != *seen)) return {};
    metadata_line const line{std::string{name}, text};
    if (!database_->append(std::string{metadata_mark} + settle::encode_json(line) + '\n')) {
        return settle::error{settle::errc::store_unreachable, "settle: the file is not written"};
    }
    database_->metadata_[line.name] = text;
    return {};
}

result<std::vector<settle::metadata_text>>
file_log::list_metadata(settle::metadata_range const& names, std::size_t limit) {
    std::lock_guard const guard{database_->mutex_};
    std::vector<settle::metadata_text> listed;
    auto const first = database_->metadata_.lower_bound(names.from);
    auto next = database_->metadata_.lower_bound(names.to);
    while (next != first && listed.size() < limit) {
        --next;
        listed.push_back({next->first, next->second});
    }
    return listed;
}

result<void> file_log::erase_metadata(settle::metadata_range const& names) {
    std::lock_guard const guard{database_->mutex_};
    auto const first = database_->metadata_.lower_bound(names.from);
    auto const last = database_->metadata_.lower_bound(names.to);
    std::string lines;
    for (auto known = first; known != last; ++known) {
        lines += std::string{metadata_mark} +
                 settle::encode_json(metadata_line{known->first, std::nullopt}) + '\n';
    }
    if (!database_->append(lines)) {
        return settle::error{settle::errc::store_unreachable, "settle: the file is not written"};
    }
    database_->metadata_.erase(first, last);
    return {};
}

struct map_fixture {
    using database = map_database;
    database& database_here() {
        if (!here_) here_.emplace(file_.path());
        return *here_;
    }
    database& second_database() {
        if (!second_) second_.emplace(second_file_.path());
        return *second_;
    }
    /// The records outlive the program no more than a map does.
    database& reopened() { return again_.emplace(file_.path(), &database_here()); }

private:
    scratch_file file_;
    scratch_file second_file_;
    std::optional<map_database> here_;
    std::optional<map_database> second_;
    std::optional<map_database> again_;
};

} // namespace settle_test

using settle_test::map_fixture;
SETTLE_STORE_SUITE(map_fixture);

TEST_CASE("map store: entries before and after a torn write are in the log when it opens again") {
    using namespace settle_test;
    using settle::testing::move;
    auto const engine_on = [](map_database& log) {
        return settle::engine{log, settle::type<settle::testing::move_type>};
    };
    for (std::string const torn : {"{", "{\"id\":\"sec", "{}\n{"}) {
        INFO("torn: ", torn);
        scratch_file const file;
        std::string name;
        {
            map_database log{file.path()};
            name = log.bind_log().name();
            CHECK(engine_on(log).submit("first", move{"A", "B", 1}).problem.empty());
        }
        std::ofstream{file.path(), std::ios::app} << torn;
        {
            map_database log{file.path()};
            CHECK(engine_on(log).submit("second", move{"A", "B", 2}).problem.empty());
        }
        map_database log{file.path()};
        CHECK(log.bind_log().name() == name);
        auto engine = engine_on(log);
        CHECK(engine.find("first").value().has_value());
        CHECK(engine.find("second").value().has_value());
    }
}

TEST_CASE("map store: a log whose name was torn gets a new name and keeps it") {
    using namespace settle_test;
    scratch_file const file;
    std::ofstream{file.path()} << "file-log-";
    map_database first{file.path()};
    std::string const name = first.bind_log().name();
    CHECK(name != "file-log-");
    CHECK(map_database{file.path()}.bind_log().name() == name);
}
