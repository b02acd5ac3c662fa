// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: what an engine hands its waves to.
#pragma once

#include <settle/sqlite/log_session.hpp>
#include <settle/sqlite/record_table.hpp>

#include <tuple>

SETTLE_BEGIN
namespace sqlite {

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many operations
template <typename... Collections>
class record_session {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    /// Shape:   the caller is alone with the file
    /// Errors:  throws settle::failure when a table does not fit its collection
    explicit record_session(detail::file& file)
        : file_(&file), held_(new statements{file}, {&file}) {}

    /// Answers every due part of this session's collections once the transaction is committed:
    /// `unavailable` when it took no effect, `record_unusable` when it never will, `unknown` when
    /// its commit failed half-way.
    template <step Step, typename Direction>
    void start(std::span<job> wave) {
        settle::detail::answer_in_native<holds, Step, Direction>(wave, [&](auto& kept) {
            return in_native([&](detail::transaction& native, bool apart) {
                kept.clear();
                if (!apart) {
                    for_each_operation<holds, Step, Direction>(
                        wave, [&](auto const& one) { expect(one); });
                    fetch();
                }
                for_each_operation<holds, Step, Direction>(wave, [&](auto const& one) {
                    kept.push_back(apart ? meet_apart<Step>(native, one) : meet(one));
                });
            });
        });
    }

    template <step Step, typename Direction>
    void finish(std::span<job>) {}

    /// Settles transactions at once, each as `judge(job)` has it, in the order of the wave: every
    /// part and the entry in one native transaction.
    /// Shape:   log - of the same database
    template <typename Direction, typename Judge>
    void at_once(std::span<job> wave, log_session& log, occasion const& at, Judge&& judge) {
        auto const jobs = settle::detail::jobs_of(wave, step::at_once);
        std::vector<job*> later;
        auto const ended = in_native([&](detail::transaction& native, bool apart) {
            later.clear();
            if (!apart) {
                for (auto* const work : jobs) expect_parts<Direction>(*work);
                fetch();
            }
            for (auto* const work : jobs) {
                settling<Judge> one{*work, log.entries(), at, judge};
                if (apart) settle_apart<Direction>(native, one);
                else settle_one<Direction>(one, jobs.size() == 1 ? nullptr : &later);
            }
            insert_new(later, log.entries(), at);
        });
        if (ended.fate != detail::fate::committed) settle::detail::say(jobs, ended);
    }
    static constexpr bool settles_at_once = true;

    /// Marks stand with their records, so those of what stood still may be all over a large table:
    /// the more are taken over at a time, the fewer times each page of it is written.
    static constexpr std::size_t recovery_wave_size = 16'000;

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        return file_->reading([&] { return reader_of<C>().read(key); });
    }

    /// Errors:  errc::record_exists when a record or a mark has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        auto const made = file_->writing([&] { return table_of<C>().create(record); });
        if (!made.has_value()) return made.problem();
        if (made.value()) return {};
        return {errc::record_exists, "settle: a record with this key is in '" +
                                         std::string{C::name} + "' already. README#errors"};
    }

    /// Records in the order of their keys, beginning behind one of them.
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        return file_->reading([&] { return reader_of<C>().scan(after, limit); });
    }

    /// Marks in the order of their records, beginning behind one of them.
    result<std::vector<mark_place>> marks(std::optional<mark_place> const& after,
                                          std::size_t limit) {
        return file_->reading([&] { return detail::read_marks(held_->marks, after, limit); });
    }

    /// Ends a mark that still has the epoch of its place.
    result<answer> resolve(mark_place const& place, bool confirmed) {
        return file_->writing([&] {
            answer said = answer::nothing;
            ((place.collection == Collections::name
                  ? void(said = table_of<Collections>().resolve(place, confirmed))
                  : void()),
             ...);
            return said;
        });
    }

private:
    using kept_answer = settle::detail::kept_answer;

    template <typename C>
    static detail::record_table<C> make_table(detail::file& file) {
        auto need = detail::need_of<C>();
        detail::settle_table(file.with(), need);
        return {file.with(), std::move(need)};
    }

    static std::string marks_sql() {
        std::string names;
        ((names += (names.empty() ? "'" : ", '") + std::string{Collections::name} + "'"), ...);
        return detail::marks_sql(names);
    }

    template <typename C>
    detail::record_table<C>& table_of() {
        return std::get<detail::record_table<C>>(held_->tables);
    }
    template <typename C>
    detail::record_reader<C>& reader_of() {
        return std::get<detail::record_reader<C>>(held_->readers);
    }

    /// Does the work of a wave in a native transaction. When one record alone stands in the way, it
    /// is done again with each operation apart, so that the others stay.
    /// Shape:   function(native, apart)
    template <typename Function>
    detail::ending in_native(Function&& function) {
        for (bool apart = false;; apart = true) {
            auto ended = file_->perform([&](detail::transaction& native) {
                begin(file_->unchanged_for(this->held_.get()));
                function(native, apart);
                write_back();
            });
            bool const again = !apart && ended.fate == detail::fate::undone &&
                               detail::is_of_one_record(ended.problem.code);
            if (!again) return ended;
        }
    }

    template <typename Operation>
    void expect(Operation const& one) {
        table_of<typename Operation::collection>().expect(one);
    }
    template <typename Direction>
    void expect_parts(job& work) {
        for_each_part<holds, step::at_once, Direction>(
            work, [](std::size_t) { return true; }, [&](auto const& one) { expect(one); });
    }
    void fetch() { (table_of<Collections>().fetch(), ...); }

    void begin(bool unchanged) { (table_of<Collections>().begin(unchanged), ...); }
    void write_back() { (table_of<Collections>().write_back(), ...); }

    template <typename Operation>
    kept_answer meet(Operation const& one) {
        return kept_answer::of(table_of<typename Operation::collection>().meet(one));
    }

    template <step Step, typename Operation>
    kept_answer meet_apart(detail::transaction& native, Operation const& one) {
        kept_answer kept;
        auto const problem = apart(native, [&] {
            expect(one);
            fetch();
            kept = meet(one);
            table_of<typename Operation::collection>().write_back();
        });
        return problem.empty() ? kept : kept_answer::of_unusable(Step, problem);
    }

    /// Does something that is undone alone when one record stands in its way; what that was.
    template <typename Function>
    error apart(detail::transaction& native, Function&& function) {
        try {
            native.in_part(function);
            return {};
        } catch (failure const& problem) {
            // Anything else concerns the whole file.
            if (!detail::is_of_one_record(problem.problem().code)) throw;
            begin(false);
            return problem.problem();
        }
    }

    /// One transaction that settles at once, and the part at which that stands.
    template <typename Judge>
    struct settling {
        job& work;
        detail::entry_table& entries;
        occasion const& at;
        Judge& judge;
        std::size_t part = 0;
        bool apart = false; ///< its parts are not expected yet

        void write_entry() {
            job* const alone = &work;
            std::span<job* const> const jobs{&alone, 1};
            if (work.coordinator.inserts()) entries.insert(jobs, at);
            else entries.change<step::at_once>(jobs, at);
        }
    };

    /// Shape:   later - takes it when its entry is to be inserted with the others of the wave, as
    ///          if the id were new
    template <typename Direction, typename Judge>
    void settle_one(settling<Judge>& one, std::vector<job*>* later) {
        auto& work = one.work;
        auto const table = [&](auto const& operation) -> auto& {
            return table_of<typename std::remove_cvref_t<decltype(operation)>::collection>();
        };
        settle::detail::settle_in_native<holds, Direction>(
            work, one.judge, [&](std::size_t part) { one.part = part; },
            [&](auto const& operation) {
                if (one.apart) {
                    table(operation).expect(operation);
                    table(operation).fetch();
                }
                operation.answered(table(operation).meet(operation));
            },
            [&] {
                if (later != nullptr && work.coordinator.inserts()) later->push_back(&work);
                else one.write_entry();
            },
            [&](auto const& operation, bool done) {
                table(operation).end_at_once(operation, done);
                // Alone, it is known which record stands in the way.
                if (later == nullptr) table(operation).write_back();
            });
    }

    /// Errors:  throws when an id is there already: then each goes apart, by its entry's answer
    static void insert_new(std::span<job* const> jobs, detail::entry_table& entries,
                           occasion const& at) {
        if (jobs.empty()) return;
        entries.insert(jobs, at);
        for (auto* const work : jobs) {
            if (work->said == log_answer::taken) continue;
            throw failure({{SQLITE_CONSTRAINT_UNIQUE, sqlite_category()}, "an id is there"});
        }
    }

    /// A record that cannot be used cancels the transaction that names it, and no other.
    template <typename Direction, typename Judge>
    void settle_apart(detail::transaction& native, settling<Judge>& one) {
        auto const problem = apart(native, [&] {
            one.apart = true;
            settle_one<Direction>(one, nullptr);
        });
        if (problem.empty()) return;
        one.work.problem = problem;
        one.work.coordinator.answered(one.part, answer::record_unusable);
        static_cast<void>(one.judge(one.work)); // A part that cannot be used always cancels.
        one.write_entry();
    }

    struct statements {
        explicit statements(detail::file& file)
            : tables(make_table<Collections>(file)...),
              readers(detail::record_reader<Collections>{file.reader(),
                                                         detail::need_of<Collections>()}...),
              marks(file.reader(), marks_sql(), "read marks") {}

        std::tuple<detail::record_table<Collections>...> tables;
        std::tuple<detail::record_reader<Collections>...> readers;
        detail::statement marks;
    };

    detail::file* file_;
    std::unique_ptr<statements, detail::alone_deleter<statements>> held_;
};

} // namespace sqlite
SETTLE_END
