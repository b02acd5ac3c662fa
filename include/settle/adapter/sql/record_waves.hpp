// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session in native transactions, lists marks, reads and creates records:
// for the databases of tables that a server holds. An adapter names its parts in a struct:
//
//   pool, connection, statement,         its transport
//   parameters, rows, row,
//   native_transaction
//   array, column_values                 the values of a column in a wave, as one parameter
//   dialect                              its SQL; see adapter/sql/dialect.hpp
//   column                               a column of a table; derives from sql::table_column
//   bound_table, mark_table, entry_table its statements, which a connection queues; they derive
//                                        from those of adapter/sql/, or are them
//   log_session                          as in adapter/sql/log_session.hpp
//   longest_repetition                   how long a native transaction is repeated after conflicts
//   page                                 the page of its documentation, for sentences
//   leaders                              the number of groups of callers that work at a time
//   is_held(code)                        another native transaction holds a row
//   is_of_one_record(code)               a record or its table refuses a change
//   is_of_one_table(code)                a table has changed, or takes no change of this user
//   is_overtaken(code)                   a row exists that a statement inserts
//   is_of_count(code)                    a statement changed another number of rows than was meant
#pragma once

#include <settle/adapter/executed_store.hpp>
#include <settle/adapter/sent_write.hpp>
#include <settle/adapter/sql/held_log.hpp>
#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/adapter/sql/table_port.hpp>

#include <unordered_map>

SETTLE_BEGIN
namespace detail::sql {

template <typename Sql>
class record_waves final : public executed_store<one_phase_store<typename Sql::log_session>> {
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using native_transaction = typename Sql::native_transaction;
    using bound_table = typename Sql::bound_table;
    using row = typename Sql::row;
    using log_session = typename Sql::log_session;
    using made_record = typename detail::record_store::made_record;
    using record_at = typename detail::record_store::record_at;
    using locked_records = record_table<Sql>;

public:
    /// Errors:  throws settle::failure when a table does not fit its collection
    record_waves(pool& connections, std::span<collection_descriptor const* const> bound)
        : executed_store<one_phase_store<log_session>>({.leaders = Sql::leaders}),
          pool_(&connections),
          entries_(&connections.prepare(
              Sql::dialect::look_up("e.state, e.epoch, coalesce(e.committed, 0), w.n", {text_array},
                                    Sql::dialect::table_name(connections, "settle_entry"), "e",
                                    "e.id = w.c0"),
              parameter_types{text_array}, "read entries")),
          marks_(connections) {
        for (auto const* const one : bound) {
            tables_.push_back(std::make_shared<bound_table>(connections, *one));
            bound_.push_back(one);
            by_number_.push_back(tables_.back().get());
        }
        sort_tables();
    }

    [[nodiscard]] session_capabilities capabilities() const override {
        auto own = executed_store<one_phase_store<log_session>>::capabilities();
        own.confirms_lazily = !Sql::dialect::without_disk.empty();
        return own;
    }
    [[nodiscard]] bool force([[maybe_unused]] session_moment since) override {
        if constexpr (!Sql::dialect::without_disk.empty()) {
            try {
                auto session = pool_->take();
                // A crash of the server ends all of its sessions. So none came after the moment.
                if (session->made_at() >= since) return false;
                session->begin();
                session->send_sql(std::string{Sql::dialect::with_disk}, "keep its commits");
                session->commit();
                return true;
            } catch (failure const&) {
                // The parts are confirmed again, and a failure that lasts shows there.
            }
        }
        return false;
    }
    [[nodiscard]] bool join(one_phase_store<log_session>& other) override {
        auto const& joined = static_cast<record_waves&>(other).tables_;
        tables_.insert(tables_.end(), joined.begin(), joined.end());
        sort_tables();
        return true;
    }
    void one_phase(std::span<one_phase_request> requests, log_session& log,
                   write_context const& context, one_phase_decider& decider) override {
        table_port<Sql> port{*pool_, tables_, marks_, &log};
        this->executor_.one_phase(port, requests, context, decider);
    }

    result<void> read(std::size_t number, part_key const& key, made_record record) override {
        return reading(number, record, [&](connection& session, bound_table const& from) {
            return from.send_read(session, key);
        });
    }
    result<store_look> look(look_request const& request) override {
        try {
            auto const* const at_moment = request.at_moment;
            if (request.hold != nullptr) {
                if (at_moment != nullptr) (*at_moment)();
                return look_in(static_cast<held_log<Sql>&>(*request.hold).session(), request,
                               false);
            }
            auto session = pool_->take();
            auto const statements =
                request.records.size() + request.ids.size() + request.collections.size();
            bool const has_others = at_moment != nullptr || request.while_asked != nullptr;
            bool const in_snapshot = statements > 1 || has_others;
            if (in_snapshot) Sql::dialect::begin_snapshot(*session);
            if (has_others) session.free_place();
            if (at_moment != nullptr) {
                // The first read of a table takes the snapshot.
                auto no_id = Sql::array::texts();
                no_id.add(std::string_view{});
                session->send(*entries_, no_id);
                session->sync();
                (*at_moment)();
            }
            return look_in(*session, request, in_snapshot);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record record) override {
        return reading(number, record, [&](connection& session, bound_table const& from) {
            return from.send_scan(session, after, limit);
        });
    }
    void create_all(std::size_t number, record_at position,
                    std::span<result<void>> answers) override {
        bound_table const& table = *by_number_[number];
        std::vector<std::size_t> indexes;
        for (std::size_t one = 0; one < answers.size(); ++one) {
            answers[one] = table.check(position(one));
            if (answers[one].has_value()) indexes.push_back(one);
        }
        in_halves(std::span{indexes}, [&](std::span<std::size_t> some) {
            std::vector<void const*> records;
            for (auto const index : some) records.push_back(position(index));
            std::size_t sent = 0;
            native_transaction native{*pool_};
            auto const ended = insert_absent<Sql>(
                native, [&](connection& session) { sent = table.send_create(session, records); });
            auto const end = table_port<Sql>::result_of(ended);
            bool const splits = end.is_of_one() || end.end == attempt_end::id_exists;
            if (splits && some.size() > 1) return false;
            std::unordered_map<std::string, bool> created;
            if (ended.status == commit_status::committed) {
                for_each_row(native.result(sent),
                             [&](row const& read_row) { created.emplace(read_row.text(0), true); });
            }
            for (auto const index : some) {
                if (ended.status != commit_status::committed) answers[index] = ended.problem;
                // Of two records with one key, the first was created.
                else if (created.erase(std::string{
                             mark_key{table.of().key_of(position(index))}.text()}) == 0) {
                    answers[index] = record_exists_in(table.of().name);
                }
            }
            return true;
        });
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        try {
            return marks_.read(*pool_, bound_, after, limit);
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        bool const text = std::holds_alternative<std::string>(where.key);
        for (auto const* const collection : bound_) {
            if (where.collection != collection->name || text != collection->text_key) continue;
            answer reply = answer::nothing;
            native_transaction native{*pool_};
            auto ended = native.perform(
                [&](connection& session) {
                    unit_of_work<locked_records> unit{tables_, marks_};
                    auto& table = unit.of(collection->target);
                    table.expect(view_of(where.key), false, where.id, where.part);
                    unit.send_reads(session);
                    session.sync();
                    unit.receive(session);
                    reply = table.end_mark(where, confirmed);
                    unit.send_changes(session);
                },
                Sql::longest_repetition);
            table_port<Sql>::explain(ended.problem);
            if (ended.status != commit_status::committed) return ended.problem;
            return reply;
        }
        return answer::nothing;
    }

private:
    [[nodiscard]] wave_port& port() noexcept override { return port_; }

    /// All programs lock the tables in this order.
    void sort_tables() {
        std::sort(tables_.begin(), tables_.end(), [](auto const& left, auto const& right) {
            return left->of().name < right->of().name;
        });
    }
    /// Also of a collection that has joined.
    [[nodiscard]] bound_table const& table_of(void const* target) const {
        return **std::find_if(tables_.begin(), tables_.end(),
                              [&](auto const& table) { return table->of().target == target; });
    }
    /// One statement looks at so many records, to fit into a message.
    static constexpr std::size_t most_keys = 200;

    /// What one statement looks at.
    struct records_of_table {
        bound_table const* table;
        std::vector<part_key> keys{};
        std::vector<std::size_t> indexes{}; ///< of the records of the request
        std::size_t number = 0;             ///< of the statement
    };
    [[nodiscard]] std::vector<records_of_table> send_looks(connection& session,
                                                           look_request const& request) const {
        std::vector<records_of_table> sent;
        for (std::size_t i = 0; i < request.records.size(); ++i) {
            auto const& table = table_of(request.records[i].target);
            auto same = std::find_if(sent.begin(), sent.end(), [&](auto const& some) {
                return some.table == &table && some.keys.size() < most_keys;
            });
            if (same == sent.end()) same = sent.insert(same, records_of_table{&table});
            same->keys.push_back(request.records[i].key);
            same->indexes.push_back(i);
        }
        for (auto& some : sent) {
            some.number = some.table->send_look(session, some.keys, request.with_entries);
        }
        return sent;
    }
    void read_looks(connection& session, look_request const& request,
                    std::vector<records_of_table> const& sent, store_look& seen) const {
        std::vector<any_slot> slots;
        for (auto const& record : request.records) {
            slots.emplace_back(*table_of(record.target).of().record);
        }
        seen.versions.resize(slots.size());
        // A mark is read with its record.
        for (bool const of_records : {true, false}) {
            for (records_of_table const& some : sent) {
                for_each_row(session.result(some.number), [&](row const& read_row) {
                    if ((read_row.kind(0) == value_kind::null) != of_records) return;
                    auto const number = read_row.integer(some.table->look_key());
                    std::size_t const index = some.indexes[static_cast<std::size_t>(number) - 1];
                    if (read_row.kind(look_version) == value_kind::integer) {
                        seen.versions[index] =
                            static_cast<std::uint64_t>(read_row.integer(look_version));
                    }
                    read_look(some.table->of(), read_row, slots[index], seen,
                              [&](row const& from, void* record) {
                                  some.table->read(from, record, look_members);
                              });
                });
            }
        }
        for (any_slot& slot : slots) seen.slots.push_back(std::move(slot).take());
    }
    /// Shape:   in_snapshot - a native transaction with a snapshot is open, which ends here
    [[nodiscard]] store_look look_in(connection& session, look_request const& request,
                                     bool in_snapshot) const {
        auto const sent = send_looks(session, request);
        std::vector<std::size_t> sent_for_all;
        for (auto const* const target : request.collections) {
            sent_for_all.push_back(
                table_of(target).send_look_at_all(session, request.with_entries));
        }
        std::vector<std::size_t> sent_ids;
        for (std::size_t i = 0; i < request.ids.size(); i += most_keys) {
            auto ids = Sql::array::texts();
            auto const some = request.ids.subspan(i, std::min(most_keys, request.ids.size() - i));
            for (auto const& id : some) ids.add(std::string_view{id});
            sent_ids.push_back(session.send(*entries_, ids));
        }
        if (in_snapshot) {
            session.start_commit();
            if (request.while_asked != nullptr) (*request.while_asked)();
            session.finish_commit();
        } else session.sync();
        store_look seen;
        seen.has_entries = request.with_entries;
        if constexpr (requires { session.made_at(); }) seen.session = session.made_at();
        for (std::size_t i = 0; i < sent_ids.size(); ++i) {
            for_each_row(session.result(sent_ids[i]), [&](row const& read_row) {
                auto const number = static_cast<std::size_t>(read_row.integer(3));
                read_standing(read_row, request.ids[i * most_keys + number - 1], 0, seen);
            });
        }
        read_looks(session, request, sent, seen);
        for (std::size_t i = 0; i < sent_for_all.size(); ++i) {
            bound_table const& table = table_of(request.collections[i]);
            collection_look collected{table.of()};
            auto const rows = [&](bool of_records, auto&& function) {
                for_each_row(session.result(sent_for_all[i]), [&](row const& read_row) {
                    bool const is_record = read_row.kind(look_exists) == value_kind::integer;
                    if (is_record == of_records) function(read_row);
                });
            };
            rows(true, [&](row const& from) {
                collected.add_record([&](void* record) { table.read(from, record, look_members); });
            });
            rows(false, [&](row const& from) {
                collected.add_mark(
                    from, key_of_text(table.of(), std::string{from.text(table.look_key())}), seen);
            });
            std::move(collected).end(seen);
        }
        return seen;
    }

    /// Reads records of a collection.
    /// Shape:   send(connection, table) - queues the read
    template <typename Send>
    result<void> reading(std::size_t number, made_record record, Send&& send) {
        try {
            bound_table const& table = *by_number_[number];
            auto lease = pool_->take();
            auto const found = send(*lease, table);
            lease->sync();
            for_each_row(lease->result(found),
                         [&](row const& read_row) { table.read(read_row, record()); });
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    pool* pool_;
    std::vector<collection_descriptor const*> bound_;
    std::vector<std::shared_ptr<bound_table>> tables_; ///< in the order of the names
    std::vector<bound_table const*> by_number_;        ///< in the order of the session
    typename Sql::statement const* entries_;
    typename Sql::mark_table marks_;
    table_port<Sql> port_{*pool_, tables_, marks_, nullptr}; ///< for two phases
};

} // namespace detail::sql
SETTLE_END
