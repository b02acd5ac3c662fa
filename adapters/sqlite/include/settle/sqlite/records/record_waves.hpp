// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions of its file, and reads its records.
#pragma once

#include <settle/adapter/executed_store.hpp>
#include <settle/sqlite/connection/file.hpp>
#include <settle/sqlite/log/entry_table.hpp>
#include <settle/sqlite/records/record_store.hpp>
#include <settle/sqlite/records/record_table.hpp>

#include <utility>

SETTLE_BEGIN
namespace sqlite::detail {

/// The tables of a session's collections.
class unit_of_work : public settle::detail::unit_of_work<record_table> {
public:
    void begin(bool unchanged) {
        for_each([&](record_table& table) { table.begin(unchanged); });
    }
    void fetch() {
        for_each([](record_table& table) { table.fetch(); });
    }
    void write_back() {
        for_each([](record_table& table) { table.write_back(); });
    }
};

/// Shape:   the file outlives this object. Threads may share it for waves in two phases; the port
///          of a one-phase call is in use by one thread at a time.
class file_port final : public settle::detail::wave_port {
public:
    /// Shape:   entries - null for two phases
    file_port(file& database_file, unit_of_work& unit, entry_table* entries,
              commit_end ends = commit_end::on_disk)
        : file_(&database_file), unit_(&unit), entries_(entries), ends_(ends) {}

    [[nodiscard]] settle::detail::attempt_result perform(settle::detail::attempt_plan const& plan,
                                                         action function) override {
        auto wanted = settle::detail::attempt_end::committed;
        if (plan.names) failing_ = nullptr;
        auto const ended = file_->perform(
            [&](transaction&) {
                unit_->begin(file_->unchanged_for(unit_));
                attempt current{*this, plan.names};
                wanted = settle::detail::attempt_end::committed;
                wanted = function(current);
                if (wanted != settle::detail::attempt_end::committed) throw failure({});
            },
            ends_);
        if (wanted != settle::detail::attempt_end::committed) return {wanted};
        return result_of(ended);
    }

    [[nodiscard]] result<settle::detail::existing_ids>
    look_for(std::vector<transaction_id const*> const& ids, int) override {
        return file_->writing([&] {
            settle::detail::existing_ids existing;
            for (auto const* const id : ids) {
                auto const refusal = entries_->refusal_of(*id);
                if (refusal) existing.emplace(*id, *refusal);
            }
            return existing;
        });
    }
    [[nodiscard]] bool has_no_mark(part_request const& request) override {
        bool complete = true;
        auto const ended = file_->perform(
            [&](transaction&) { complete = unit_->of(request).has_mark_of(request); });
        return ended.status == commit_status::committed && !complete;
    }
    void name_unusable(one_phase_request& request, error const& problem) override {
        for (std::size_t number = 0; number < request.parts.size(); ++number) {
            if (&request.parts[number] != failing_) continue;
            request.results[number].fail(answer::record_unusable, problem);
        }
    }
    void write_entry(one_phase_request& request, write_context const& context) override {
        auto const ended = file_->perform([&](transaction&) {
            static_cast<void>(file_->unchanged_for(nullptr));
            write_entry(*entries_, request, context);
        });
        if (ended.status != commit_status::committed) set_result(request.result, ended);
    }

private:
    class attempt final : public settle::detail::wave_attempt {
    public:
        /// Shape:   apart - each part is read and written by itself, so that a failure names it
        attempt(file_port& port, bool apart) : port_(&port), apart_(apart) {}

        void expect(part_request const& part) override {
            if (!apart_) unit().expect(part);
        }
        void fetch() override {
            if (!apart_) unit().fetch();
        }
        [[nodiscard]] part_result execute(part_request const& part) override {
            if (apart_) {
                port_->failing_ = &part;
                unit().expect(part);
                unit().fetch();
            }
            return unit().execute(part);
        }
        void end_one_phase(part_request const& part, bool confirmed) override {
            if (apart_) port_->failing_ = &part;
            unit().end_one_phase(part, confirmed);
            if (apart_) unit().write_back();
        }
        void change(one_phase_request& request, write_context const& context) override {
            write_entry(*port_->entries_, request, context);
        }
        [[nodiscard]] bool insert(std::span<one_phase_request* const> requests,
                                  write_context const& context) override {
            std::vector<sent_write> writes(requests.begin(), requests.end());
            port_->entries_->insert(writes, context);
            return std::all_of(requests.begin(), requests.end(), [](auto const* request) {
                return request->result.reply == log_answer::taken;
            });
        }
        void write() override { unit().write_back(); }

    private:
        [[nodiscard]] unit_of_work& unit() const { return *port_->unit_; }

        file_port* port_;
        bool apart_;
    };

    static void write_entry(entry_table& entries, one_phase_request& request,
                            write_context const& context) {
        sent_write alone{&request};
        if (request.inserts) entries.insert({&alone, 1}, context);
        else entries.change({&alone, 1}, context);
    }

    [[nodiscard]] static settle::detail::attempt_result result_of(commit_result const& ended) {
        using enum settle::detail::attempt_end;
        auto const end = [&] {
            if (ended.status == commit_status::committed) return committed;
            if (ended.status == commit_status::unknown) return unknown;
            return is_of_one_record(ended.problem.code) ? refused : failed;
        }();
        return {end, ended.problem};
    }

    file* file_;
    unit_of_work* unit_;
    entry_table* entries_;
    commit_end ends_;
    part_request const* failing_ = nullptr; ///< of the last attempt that names the failing part
};

/// The records of a session's collections, and the statements that read them.
class held_tables final : public settle::detail::executed_store<record_store> {
public:
    /// The tables come first: the reader needs them in the file.
    /// Errors:  throws settle::failure when a table does not fit its collection
    held_tables(file& file, std::span<collection_descriptor const* const> bound)
        : executed_store(limits), file_(&file), unit_(tables_of(file, bound)),
          marks_(file.reader(), names_of(bound)), port_(file, unit_, nullptr) {
        for (auto const* const one : bound) readers_.emplace_back(*one, file.reader());
    }

    /// The marks of stalled transactions may be spread over the whole table of marks. The more
    /// entries a recovery claims together, the less often it writes each page of that table.
    [[nodiscard]] settle::detail::session_capabilities capabilities() const override {
        auto own = executed_store::capabilities();
        own.overlaps_others = false;
        own.confirms_lazily = true;
        own.recovery_wave_size = 16'000;
        return own;
    }
    /// The session with a file ends with the process.
    [[nodiscard]] bool force(session_moment) override {
        auto const ended = file_->perform([&](transaction&) {
            // A commit without a changed page syncs nothing.
            for (auto const* const sql : {"INSERT INTO settle_meta(name, value) VALUES('sync', '')",
                                          "DELETE FROM settle_meta WHERE name = 'sync'"}) {
                file_->with().on().execute(sql, "sync the file");
            }
        });
        return ended.status == commit_status::committed;
    }
    [[nodiscard]] bool join(settle::detail::one_phase_store<log_session>& other) override {
        auto const guard = file_->alone();
        static_cast<held_tables&>(other).unit_.for_each([&](record_table const& table) {
            unit_.add(std::make_unique<record_table>(table.of(), file_->with()));
            readers_.emplace_back(table.of(), file_->reader());
        });
        return true;
    }
    void one_phase(std::span<one_phase_request> requests, log_session& log,
                   write_context const& context, one_phase_decider& decider) override {
        file_port port{*file_, unit_, &log.entries()};
        executor_.one_phase(port, requests, context, decider);
    }
    result<void> read(std::size_t number, part_key const& key, made_record record) override {
        return reading(number, [&](record_reader const& from) { from.read(key, record); });
    }
    result<store_look> look(look_request const& request) override {
        if (request.at_moment != nullptr) return look_at_snapshot(request);
        return file_->reading([&] {
            store_look seen;
            file_->reader().from_one_state([&] { look_with(readers_, entry_, request, seen); });
            return seen;
        });
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record record) override {
        return reading(number, [&](record_reader const& from) { from.scan(after, limit, record); });
    }
    void create_all(std::size_t number, record_at position,
                    std::span<result<void>> answers) override {
        auto const ended = file_->perform([&](transaction& transaction) {
            static_cast<void>(file_->unchanged_for(nullptr));
            record_table& table = unit_.at(number);
            for (std::size_t index = 0; index < answers.size(); ++index) {
                answers[index] = {};
                try {
                    bool made = false;
                    transaction.in_savepoint([&] { made = table.create(position(index)); });
                    if (!made) answers[index] = record_exists_in(table.of().name);
                } catch (failure const& caught) {
                    // An error of one record does not affect the others.
                    if (!transaction.is_open() || caught.problem().code != condition::permanent)
                        throw;
                    answers[index] = caught.problem();
                }
            }
        });
        if (ended.status == commit_status::committed) return;
        for (auto& one : answers) one = ended.problem;
    }

    /// Lists first the damaged marks that have no position in the order.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        return file_->reading([&] { return marks_.read(after, limit); });
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        return file_->writing([&] {
            answer reply = answer::nothing;
            unit_.for_each([&](record_table& table) {
                if (where.collection == table.of().name) reply = table.resolve(where, confirmed);
            });
            return reply;
        });
    }

private:
    static constexpr std::string_view read_entry =
        "SELECT state, epoch, max(committed, 0) FROM settle_entry WHERE id = ?1";
    static constexpr settle::detail::wave_limits limits{
        .leaders = 1, .largest_group = 1'024, .joins_late = true};

    [[nodiscard]] settle::detail::wave_port& port() noexcept override { return port_; }
    [[nodiscard]] settle::detail::wave_port&
    port_of(std::span<part_request const> requests) noexcept override {
        bool const is_lazy = std::all_of(requests.begin(), requests.end(),
                                         [](auto const& request) { return request.may_be_lost; });
        return is_lazy ? lazy_port_ : port_;
    }

    /// Shape:   the statements read one state of the file
    static void look_with(std::span<record_reader const> readers, statement const& entry,
                          look_request const& request, store_look& seen) {
        seen.has_entries = request.with_entries;
        auto const reader_of = [&](void const* target) -> record_reader const& {
            return *std::find_if(readers.begin(), readers.end(), [&](record_reader const& reader) {
                return reader.of().target == target;
            });
        };
        for (auto const& record : request.records) reader_of(record.target).look(record.key, seen);
        for (auto const* const target : request.collections) reader_of(target).look_at_all(seen);
        for (auto const& id : request.ids) {
            run row{entry};
            if (row.bind(id).next()) settle::detail::read_standing(row, id, 0, seen);
        }
    }
    result<store_look> look_at_snapshot(look_request const& request) {
        try {
            auto const snapshot = file_->open_snapshot();
            (*request.at_moment)();
            std::vector<record_reader> readers;
            readers.reserve(readers_.size());
            for (auto const& reader : readers_) readers.emplace_back(reader.of(), snapshot);
            store_look seen;
            look_with(readers, {snapshot, read_entry, "read entries"}, request, seen);
            return seen;
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<void> reading(std::size_t number,
                         settle::detail::function_view<void(record_reader const&)> function) {
        auto const ended = file_->reading([&] {
            function(readers_[number]);
            return true;
        });
        if (!ended.has_value()) return ended.problem();
        return {};
    }
    static unit_of_work tables_of(file& file, std::span<collection_descriptor const* const> bound) {
        unit_of_work unit;
        for (auto const* const one : bound) {
            settle_table(file.with(), need_of(*one));
            unit.add(std::make_unique<record_table>(*one, file.with()));
        }
        return unit;
    }
    /// The collections as an SQL list.
    static std::string names_of(std::span<collection_descriptor const* const> bound) {
        std::string list;
        for (auto const* const one : bound) {
            list += (list.empty() ? "'" : ", '") + std::string{one->name} + "'";
        }
        return list;
    }

    file* file_;
    unit_of_work unit_;
    std::vector<record_reader> readers_;
    statement entry_{file_->reader(), read_entry, "read entries"};
    mark_reader marks_;
    file_port port_; ///< for two phases
    file_port lazy_port_{*file_, unit_, nullptr, commit_end::in_memory};
};

} // namespace sqlite::detail
SETTLE_END
