// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/sqlite/log_session.hpp>
#include <settle/sqlite/record_table.hpp>
#include <settle/store/settle_request.hpp>

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
        : file_(&file), held_(new unit_of_work{file}, {&file}) {}

    /// Answers every due part of this session's collections once the transaction is committed:
    /// `unavailable` when it took no effect, `record_unusable` when it never will, `unknown` when
    /// its commit failed half-way.
    template <typename Direction, typename Kind>
    void start(std::span<job> wave, Kind how) {
        answer_all(settle::detail::operations_of<unit_of_work, holds, Direction>(wave, how));
    }

    template <typename Direction, typename Kind>
    void finish(std::span<job>, Kind) {}

    /// Settles transactions at once, each as `decide(job)` has it, in the order of the wave: every
    /// part and the entry in one native transaction, which threads share.
    /// Shape:   log - of the same database
    template <typename Direction, typename Judge>
    void one_phase(std::span<job> wave, log_session& log, write_context const& at, Judge&& decide) {
        auto const jobs = settle::detail::jobs_of(wave, step::one_phase);
        auto const parts = settle::detail::parts_of<unit_of_work, holds, Direction>(jobs);
        settle_together({{}, jobs, parts, at, decide}, log.entries());
    }
    static constexpr bool settles_in_one_phase = true;

    /// Marks stand with their records, so those of what stood still may be all over a large table:
    /// the more are taken over at a time, the fewer times each page of it is written.
    static constexpr std::size_t recovery_wave_size = 16'000;

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        return file_->reading([&] { return held_->template reader_of<C>().read(key); });
    }

    /// Errors:  errc::record_exists when a record or a mark has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        auto const made =
            file_->writing([&] { return held_->template table_of<C>().create(record); });
        if (!made.has_value()) return made.problem();
        if (made.value()) return {};
        return record_exists_in(C::name);
    }

    /// As create for each, in one native transaction.
    template <typename C>
    void create_all(std::span<typename C::record_type const> wave,
                    std::span<result<void>> answers) {
        auto const ended = file_->perform([&](detail::transaction& here) {
            static_cast<void>(file_->unchanged_for(nullptr));
            auto& table = held_->template table_of<C>();
            for (std::size_t at = 0; at < wave.size(); ++at) {
                answers[at] = {};
                try {
                    bool made = false;
                    here.in_part([&] { made = table.create(wave[at]); });
                    if (!made) answers[at] = record_exists_in(C::name);
                } catch (failure const& caught) {
                    // An error of one record does not affect the others.
                    if (!here.is_open() || caught.problem().code != condition::permanent) throw;
                    answers[at] = caught.problem();
                }
            }
        });
        if (ended.status == detail::commit_status::committed) return;
        for (auto& one : answers) one = ended.problem;
    }

    /// Records in the order of their keys, beginning behind one of them.
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        return file_->reading([&] { return held_->template reader_of<C>().scan(after, limit); });
    }

    /// Marks in the order of their records, beginning behind one of them; first those that are
    /// damaged so that they have no place in it.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                          std::size_t limit) {
        return file_->reading([&] { return held_->marks().read(after, limit); });
    }

    /// Ends a mark if it still has the epoch of its place.
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        return file_->writing([&] {
            answer reply = answer::nothing;
            ((locator.collection == Collections::name
                  ? void(reply =
                             held_->template table_of<Collections>().resolve(locator, confirmed))
                  : void()),
             ...);
            return reply;
        });
    }

private:
    using kept_answer = settle::detail::kept_answer;

    /// The tables of all collections, and the statements that read them.
    class unit_of_work {
    public:
        explicit unit_of_work(detail::file& file)
            : tables_(make_table<Collections>(file)...),
              readers_(detail::record_reader<Collections>{file.reader(),
                                                          detail::need_of<Collections>()}...),
              marks_(file.reader(), names()) {}

        template <typename C>
        detail::record_table<C>& table_of() {
            return std::get<detail::record_table<C>>(tables_);
        }
        template <typename C>
        detail::record_reader<C>& reader_of() {
            return std::get<detail::record_reader<C>>(readers_);
        }
        [[nodiscard]] detail::mark_reader const& marks() const noexcept { return marks_; }

        void begin(bool unchanged) { (table_of<Collections>().begin(unchanged), ...); }
        void fetch() { (table_of<Collections>().fetch(), ...); }
        void write_back() { (table_of<Collections>().write_back(), ...); }

        template <typename Operation>
        void expect(Operation const& one) {
            table_of<typename Operation::collection>().expect(one.key(), Operation::applies,
                                                              one.id(), one.part());
        }
        template <typename Operation>
        record_answer<typename Operation::record> execute(Operation const& one) {
            auto& table = table_of<typename Operation::collection>();
            if constexpr (Operation::applies) return table.execute(one);
            else return table.execute(one.end());
        }
        template <typename Operation>
        void end_one_phase(Operation const& one, bool confirmed) {
            table_of<typename Operation::collection>().end_one_phase(one.key(), one.end(),
                                                                   confirmed);
        }
        template <typename Operation>
        [[nodiscard]] bool has_mark_of(Operation const& one) {
            return table_of<typename Operation::collection>().has_mark_of(one.key(), one.end());
        }

    private:
        template <typename C>
        static detail::record_table<C> make_table(detail::file& file) {
            auto need = detail::need_of<C>();
            detail::settle_table(file.with(), need);
            return {file.with(), std::move(need)};
        }
        /// The collections as an SQL list.
        static std::string names() {
            std::string all;
            ((all += (all.empty() ? "'" : ", '") + std::string{Collections::name} + "'"), ...);
            return all;
        }

        std::tuple<detail::record_table<Collections>...> tables_;
        std::tuple<detail::record_reader<Collections>...> readers_;
        detail::mark_reader marks_;
    };
    using operation = settle::detail::erased_operation<unit_of_work>;

    /// How the work of a wave is attempted.
    struct attempt {
        bool looks_for_ids = false; ///< an insert has shown that an id exists
        bool apart = false;         ///< each operation by itself
        /// Operations that would abort the whole native transaction, as a trigger can, and why.
        std::vector<std::pair<operation const*, error>> aborts_transaction{};
    };

    /// Does the work of a wave in a native transaction. When one record alone stands in the way, it
    /// is done again with each operation apart, so that the others stay; and once more without each
    /// that has ended it for all.
    /// Shape:   function(native, attempt)
    using action = settle::detail::function_view<void(detail::transaction&, attempt&)>;
    detail::commit_result in_native(action function) {
        for (attempt how;;) {
            auto const count = how.aborts_transaction.size();
            bool const looked_for_ids = how.looks_for_ids;
            auto ended = file_->perform([&](detail::transaction& native) {
                held_->begin(file_->unchanged_for(held_.get()));
                function(native, how);
                held_->write_back();
            });
            bool const again = ended.status == detail::commit_status::undone &&
                               detail::is_of_one_record(ended.problem.code) &&
                               (!how.apart || how.aborts_transaction.size() > count);
            if (!again) return ended;
            // If only ids are in the way, the other jobs stay together.
            how.apart = how.apart || how.looks_for_ids == looked_for_ids;
        }
    }

    void answer_all(std::vector<operation> const& all) {
        if (all.empty()) return;
        std::vector<kept_answer> kept;
        auto const ended = in_native([&](detail::transaction& native, attempt& how) {
            kept.clear();
            if (!how.apart) {
                for (auto const& one : all) one.expect(*held_);
                held_->fetch();
            }
            for (auto const& one : all) {
                kept.push_back(how.apart ? meet_apart(native, how, one) : one.execute(*held_));
            }
        });
        settle::detail::deliver_all(all, kept, ended);
    }

    kept_answer meet_apart(detail::transaction& native, attempt& how, operation const& one) {
        kept_answer kept;
        operation const* under_way = &one;
        auto const problem = apart(native, how, {&one, 1}, under_way, [&] {
            one.expect(*held_);
            held_->fetch();
            kept = one.execute(*held_);
            held_->write_back();
        });
        if (problem.empty()) return kept;
        // Without a mark there is nothing to undo.
        if (undoes(one.at()) && !one.has_mark(*held_)) return {answer::nothing, nullptr, {}};
        return kept_answer::of_unusable(one.at(), problem);
    }

    /// Does something that is undone alone when one record stands in its way; what that was.
    /// Shape:   parts - whose work it is; under_way - the one of them whose record that is
    error apart(detail::transaction& native, attempt& how, std::span<operation const> parts,
                operation const*& under_way, settle::detail::function_view<void()> function) {
        for (auto const& known : how.aborts_transaction) {
            auto const is_this = [&](operation const& part) { return &part == known.first; };
            if (std::none_of(parts.begin(), parts.end(), is_this)) continue;
            under_way = known.first;
            return known.second;
        }
        try {
            native.in_part(function);
            return {};
        } catch (failure const& problem) {
            // Any other error concerns the whole file.
            if (!detail::is_of_one_record(problem.problem().code)) throw;
            held_->begin(false);
            if (native.is_open()) return problem.problem();
            // The work of the others was rolled back with it, and is repeated.
            if (under_way != nullptr)
                how.aborts_transaction.emplace_back(under_way, problem.problem());
            throw;
        }
    }

    using request = settle::detail::settle_request<unit_of_work>;
    using groups = settle::detail::groups<request>;
    using group = typename groups::group;

    void settle_together(request&& mine, detail::entry_table& entries) {
        groups_->perform(mine, [&](group& all) {
            auto const ended = settle_group(all, entries);
            bool const is_for_all = all.members().size() == 1 || is_same_for_each(ended);
            if (is_for_all) all.end_all(ended);
        });
        // What others were in the way of is done alone.
        if (!mine.end) {
            group alone{mine};
            mine.end = settle_group(alone, entries);
        }
        if (mine.end->status != detail::commit_status::committed)
            settle::detail::say(mine.jobs, *mine.end);
    }

    /// Performs the requests of a group in one native transaction.
    detail::commit_result settle_group(group& all, detail::entry_table& entries) {
        return in_native([&](detail::transaction& native, attempt& how) {
            if (how.apart) {
                for (auto const* const one : all.members()) {
                    settle_each_apart(native, how, *one, entries);
                }
                return;
            }
            auto const look = [&](job const& work) { return entries.refusal_of(work); };
            settle::detail::insert_refusal const refusal{look};
            std::size_t done = 0;
            do {
                auto const come = all.members().subspan(done);
                done += come.size();
                auto fresh = settle::detail::settle_side_by_side<unit_of_work>(
                    *held_, come, [&] { held_->fetch(); },
                    [&](operation const& part) { return part.execute(*held_); },
                    [&](job& work, write_context const& at) { write_entry(entries, work, at); },
                    how.looks_for_ids ? &refusal : nullptr);
                insert_new(entries, fresh, come.back()->at, how);
                // A caller that arrives meanwhile need not wait for the next commit.
            } while (all.join() > 0);
        });
    }

    static void write_entry(detail::entry_table& entries, job& work, write_context const& at) {
        job* const alone = &work;
        std::span<job* const> const jobs{&alone, 1};
        if (work.coordinator.inserts()) entries.insert(jobs, at);
        else entries.template change<step::one_phase>(jobs, at);
    }

    /// Errors:  throws when an id is there already: then each is looked for
    static void insert_new(detail::entry_table& entries, std::span<job*> jobs,
                           write_context const& at, attempt& how) {
        auto const before = [](job const* left, job const* right) {
            return std::less<>{}(left->direction, right->direction);
        };
        if (!std::is_sorted(jobs.begin(), jobs.end(), before)) {
            std::stable_sort(jobs.begin(), jobs.end(), before);
        }
        for (auto begin = jobs.begin(); begin != jobs.end();) {
            auto const end = std::upper_bound(begin, jobs.end(), *begin, before);
            entries.insert(std::span<job* const>{begin, end}, at);
            begin = end;
        }
        for (auto* const work : jobs) {
            if (work->reply == log_answer::taken) continue;
            how.looks_for_ids = true;
            throw failure({{SQLITE_CONSTRAINT_UNIQUE, sqlite_category()}, "an id is there"});
        }
    }

    /// An unusable record cancels only the transaction that names it.
    void settle_each_apart(detail::transaction& native, attempt& how, request const& of,
                           detail::entry_table& entries) {
        of.for_each([&](job& work, std::span<operation const> parts) {
            if (work.coordinator.inserts()) {
                auto const refused = entries.refusal_of(work);
                if (refused) return settle::detail::leave_out(work, of.decide, *refused);
            }
            operation const* under_way = nullptr;
            auto const problem = apart(native, how, parts, under_way, [&] {
                settle::detail::settle_in_native(
                    work, parts, of.decide,
                    [&](operation const& part) {
                        under_way = &part;
                        part.expect(*held_);
                        held_->fetch();
                        part.deliver(part.execute(*held_));
                    },
                    [&] { write_entry(entries, work, of.at); },
                    [&](operation const& part, bool done) {
                        under_way = &part;
                        part.end_one_phase(*held_, done);
                        // Alone, the failing record is known.
                        held_->write_back();
                    });
            });
            if (problem.empty()) return;
            if (under_way != nullptr) under_way->failed(answer::record_unusable, problem);
            // A part that cannot be used cancels, unless it is not its transaction's turn.
            work.reply = log_answer::held_back;
            if (of.decide(work)) write_entry(entries, work, of.at);
        });
    }

    /// So that a commit comes.
    static constexpr std::size_t largest_group = 1024;

    detail::file* file_;
    std::unique_ptr<unit_of_work, detail::alone_deleter<unit_of_work>> held_;
    std::unique_ptr<groups> groups_ = std::make_unique<groups>(1, largest_group);
};

} // namespace sqlite
SETTLE_END
