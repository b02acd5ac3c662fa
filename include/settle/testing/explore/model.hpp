// SPDX-License-Identifier: BSL-1.0
// The records, entries and transactions of a search. A state is copied for every step; copies share
// their cells until a change.
#pragma once

#include <settle/definition/codec.hpp>
#include <settle/protocol/coordinator.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/protocol/entry_rule.hpp>
#include <settle/protocol/record_rule.hpp>
#include <settle/protocol/reversal.hpp>
#include <settle/running/construction/argument_lists.hpp>
#include <settle/testing/explore/few.hpp>
#include <settle/testing/explore/fingerprint.hpp>
#include <settle/testing/explore/receiver.hpp>
#include <settle/testing/explore/resource.hpp>

#include <memory>
#include <tuple>

SETTLE_BEGIN
namespace testing {

/// One record: as stored (`slot`), and as the committed transactions alone make it (`truth`).
template <Described Record>
struct model_cell {
    record_slot<Record> slot;
    std::optional<Record> truth;
    std::uint8_t version = 0;  ///< differs after each change of the value
    std::uint8_t of_marks = 0; ///< differs after each change of the value or the marks
    fingerprint print{};

    void note_print() {
        print = {};
        print.add_record(slot.record);
        print.add_record(truth);
        for (auto const& one : slot.marks) print.add_mark(one);
        print.add(slot.marks.size());
    }
};

/// One collection: a cell for each key of the search, in the order of the clauses.
template <typename Collection>
struct model_table {
    using record = typename Collection::record_type;
    using cell = model_cell<record>;
    few<std::shared_ptr<cell const>, 6> cells;

    /// Calls `function(cell&)` on a copy, and keeps the copy when it returns true.
    template <typename Function>
    void change(std::size_t index, Function&& function) {
        auto changed = std::make_shared<cell>(*cells[index]);
        if (!function(*changed)) return;
        changed->note_print();
        cells[index] = std::move(changed);
    }
};

/// All collections of a search.
template <typename... Collections>
struct model_records {
    std::tuple<model_table<Collections>...> tables;

    template <typename Function>
    void for_each_table(Function&& function) {
        std::apply([&](auto&... table) { (function(table), ...); }, tables);
    }
    template <typename Function>
    void for_each_cell(Function&& function) const {
        std::apply(
            [&](auto const&... table) {
                (std::for_each(table.cells.begin(), table.cells.end(),
                               [&](auto const& cell) { function(*cell); }),
                 ...);
            },
            tables);
    }

    /// The records and marks as text for a trace.
    [[nodiscard]] std::string text() const {
        std::string out;
        for_each_cell([&](auto const& cell) {
            out += "      ";
            if (cell.slot.record) append_json(out, *cell.slot.record);
            else out += "(none)";
            for (auto const& mark : cell.slot.marks) {
                out += " mark{" + mark.id + ", " + std::to_string(mark.part.participant) + "." +
                       std::to_string(mark.part.line) + ", e" + std::to_string(mark.epoch_number) +
                       "}";
            }
            out += '\n';
        });
        return out;
    }
};

/// The violation of the protocol at an entry.
enum class breach : std::uint8_t { none, changed, taken, outcome };

[[nodiscard]] constexpr std::string_view words_of(breach value) {
    constexpr std::string_view words[]{
        "", "changed to a state that may not follow",
        "was taken over or canceled by another worker without a new epoch",
        "has another final state than a caller got"};
    return words[static_cast<std::size_t>(value)];
}

/// An entry's protocol state, with the facts that a search tracks besides.
struct model_entry {
    bool present = false;
    bool old = false;         ///< the entry is older than `lifetime` allows
    bool closed = false;      ///< no call of the id begins any more; all begun are too old
    bool passing = false;     ///< some clocks have passed that moment, and not all
    std::uint8_t commits = 0; ///< the number of commits, also before a purge
    std::uint8_t purges = 0;  ///< the number of purges of the id
    std::uint8_t earlier = 0; ///< the number of commits before the last purge
    breach broken = breach::none;
    epoch first_epoch = 0;          ///< the first insert's epoch, if all inserts share it
    call_results results = 0;       ///< the results that were kept
    std::uint8_t resolved = 0;      ///< a bit for each call that a person closed
    std::uint8_t ever_resolved = 0; ///< the same, of all writes
    standing now{};

    void add_to(fingerprint& print) const {
        print.add((present ? 1U : 0U) | (old ? 2U : 0U) | (closed ? 4U : 0U) |
                  (passing ? std::uint64_t{1} << 63U : 0U) | std::uint64_t{earlier} << 61U |
                  static_cast<std::uint64_t>(broken) << 3U | std::uint64_t{commits} << 8U |
                  std::uint64_t{purges} << 16U | static_cast<std::uint64_t>(now.state) << 24U |
                  std::uint64_t{now.attempts} << 32U);
        print.add(now.epoch_number);
        print.add(now.committed);
        print.add(first_epoch);
        if (now.revision == 0 && now.stages_kept == 0) return;
        print.add(std::uint64_t{now.revision} | std::uint64_t{now.stages_kept} << 32U |
                  std::uint64_t{results} << 40U | std::uint64_t{1} << 63U);
        if (ever_resolved != 0) print.add(resolved | std::uint64_t{ever_resolved} << 8U);
    }

    template <typename Rules>
    log_answer insert(state inserted, epoch first, bool is_old, epoch replaced = 0) {
        if (present && !may_replace<Rules>(now, replaced)) return log_answer::conflict;
        present = true;
        old = is_old;
        now = {inserted, first, 0, 0};
        return log_answer::taken;
    }
    /// True if there is no entry but a bar.
    [[nodiscard]] bool is_barred() const { return present && now.state == state::barred; }

    /// Shape:   action - the step that sends the change; confirms - a part has work after the
    /// commit
    template <typename Rules>
    log_answer change(transition const& write, step action, bool confirms) {
        if (!present || !may_change<Rules>(now, write, action)) return log_answer::conflict;
        bool const takes = write.takes_owner && !is_final(write.to);
        if (!may_follow(now.state, write.to, confirms)) broken = breach::changed;
        else if (takes && write.to_epoch <= now.epoch_number) broken = breach::taken;
        change_entry(now, write);
        return log_answer::taken;
    }

    /// Checks a final state that a caller gets.
    void check_outcome(state ended) {
        // After a purge and a new insert, the first outcome no longer applies.
        if (present && purges != 0) return;
        bool const known = present && !is_barred();
        bool const committed = known ? now.state == state::done : commits != 0;
        bool const over = !known || is_final(now.state);
        if (!over || committed != (ended == state::done)) broken = breach::outcome;
    }

    void purge() {
        bool const is_bar = is_barred();
        present = false;
        old = false;
        // No transaction ends with a bar.
        if (is_bar) {
            now = {};
            return;
        }
        ++purges;
        earlier = commits;
        results = 0;
        resolved = ever_resolved = 0;
        now = {};
    }
};

/// One transaction of a search, with fixed parameters.
template <typename Records>
class model_transaction {
public:
    model_transaction() = default;
    model_transaction(model_transaction const&) = delete;
    model_transaction& operator=(model_transaction const&) = delete;
    virtual ~model_transaction() = default;

    [[nodiscard]] virtual transaction_id const& id() const = 0;
    [[nodiscard]] virtual std::size_t records() const = 0;
    [[nodiscard]] virtual part_name name_record(std::size_t part) const = 0;
    /// Executes the part of one record at one step, under an epoch and with a committed epoch.
    virtual answer execute(Records& data, step current, std::size_t part, epoch under,
                           epoch committed) const = 0;
    /// Applies this transaction to the truth of its records.
    virtual void commit(Records& data) const = 0;
    /// Gives the record of a part back as its store had it earlier.
    virtual void give_back(Records& data, Records const& earlier, std::size_t part) const = 0;
    /// The epoch of the mark of a record's part, or 0 when there is none.
    [[nodiscard]] virtual epoch mark_epoch(Records const& data, std::size_t part) const = 0;
    /// The transaction that undoes this one, with an id.
    /// Errors:  throws std::invalid_argument unless all effects of the type are sums
    [[nodiscard]] virtual std::unique_ptr<model_transaction> reversed(transaction_id id) const = 0;

    /// The index of the transaction that this transaction reverses.
    std::optional<std::size_t> undoes{};
    /// The index of the earlier try to reverse it.
    std::optional<std::size_t> follows{};

    /// The parts that follow the records, and the index of the first row of each kind in the world.
    std::vector<prepared_model> prepared{};
    std::vector<call_model> calls{};
    std::size_t first_prepared = 0;
    std::size_t first_row = 0;

    [[nodiscard]] std::size_t first_call() const { return records() + prepared.size(); }
    [[nodiscard]] std::size_t parts() const { return first_call() + calls.size(); }
    [[nodiscard]] prepared_model const* prepared_of(std::size_t part) const {
        return part < records() || part >= first_call() ? nullptr : &prepared[part - records()];
    }
    [[nodiscard]] call_model const* call_of(std::size_t part) const {
        return part < first_call() ? nullptr : &calls[part - first_call()];
    }
    [[nodiscard]] std::size_t prepared_row_of(std::size_t part) const {
        return first_prepared + part - records();
    }
    [[nodiscard]] std::size_t row_of(std::size_t part) const {
        return first_row + part - first_call();
    }
    [[nodiscard]] stage_number stage_of(std::size_t part) const {
        return part < first_call() ? stage_number{0} : calls[part - first_call()].stage;
    }
    [[nodiscard]] stage_plan stages() const {
        stage_plan plan;
        plan.confirms = first_call() != 0;
        for (call_model const& call : calls) {
            plan.count = std::max(plan.count, static_cast<stage_number>(call.stage + 1));
            plan.has_pivot = plan.has_pivot || call.moments == call_moments::pivot;
            plan.confirms = plan.confirms || confirms(call);
            plan.undone_by_stage = plan.undone_by_stage || call.in_order;
        }
        plan.keeps_at_insert = first_call() == 0 && plan.count > (plan.has_pivot ? 2 : 1);
        return plan;
    }
    [[nodiscard]] undo_place undo_place_of(std::size_t part) const {
        std::uint64_t const users =
            part < first_call() ? 0 : users_of(part - first_call()) << first_call();
        return {static_cast<std::uint32_t>(part), stage_of(part), users};
    }
    /// A bit for each call that is compensated before a call, since it used its result.
    [[nodiscard]] std::uint64_t users_of(std::size_t call) const {
        std::uint64_t users = 0;
        for (std::size_t user = 0; user < calls.size(); ++user) {
            call_model const& by = calls[user];
            if (by.stage <= calls[call].stage || (by.uses >> call & 1U) == 0) continue;
            if (by.moments == call_moments::query) users |= users_of(user);
            if (by.moments == call_moments::undoable) users |= std::uint64_t{1} << user;
        }
        return users;
    }
    [[nodiscard]] part_name name_part(std::size_t part) const {
        if (part < records()) return name_record(part);
        if (part < first_call()) return {prepared[part - records()].name, std::nullopt};
        return {calls[part - first_call()].name, std::nullopt};
    }
    /// The results of the calls in stages before this one.
    [[nodiscard]] call_results results_before(stage_number stage, call_results results) const {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls[i].stage >= stage) results = with_result(results, i, 0);
        }
        return results;
    }
};

/// Shape:   slots - the index of each part's record in its table
template <typename Rules, typename Direction, typename Records>
class typed_transaction final : public model_transaction<Records> {
public:
    using parameters_type = typename Direction::parameters;

    typed_transaction(transaction_id id, parameters_type parameters, std::vector<std::size_t> slots)
        : id_(std::move(id)), parameters_(std::move(parameters)), slots_(std::move(slots)) {}

    [[nodiscard]] transaction_id const& id() const override { return id_; }
    [[nodiscard]] std::size_t records() const override { return slots_.size(); }
    [[nodiscard]] part_name name_record(std::size_t part) const override {
        part_name name;
        with_part(part, [&](auto where) {
            name = Direction::template name_of_line<where.participant>(where.line);
        });
        return name;
    }

    answer execute(Records& data, step current, std::size_t part, epoch under,
                   epoch committed) const override {
        answer answer = answer::nothing;
        with_part(part, [&](auto where) {
            using slot_type = decltype(where);
            auto& table = std::get<typename slot_type::table>(data.tables);
            // Without a mark there is nothing to undo or finish, so no copy is made.
            if (!applies(current) &&
                table.cells[slots_[part]]->slot.marks.find(id_, marked_number(where)) == nullptr) {
                return;
            }
            table.change(slots_[part], [&](auto& cell) {
                auto const seen =
                    execute_in_cell<slot_type>(cell.slot, current, where, under, committed);
                answer = seen.what;
                if (seen.on_mark == mark_change::none) return false;
                auto const& before = *table.cells[slots_[part]];
                if (!equal_members(before.slot.record, cell.slot.record)) ++cell.version;
                ++cell.of_marks;
                return true;
            });
        });
        return answer;
    }

    void commit(Records& data) const override {
        for (std::size_t part = 0; part < slots_.size(); ++part) {
            with_part(part, [&](auto where) {
                using slot_type = decltype(where);
                std::get<typename slot_type::table>(data.tables)
                    .change(slots_[part], [&](auto& cell) {
                        commit_part<slot_type>(cell.truth, where);
                        return true;
                    });
            });
        }
    }

    void give_back(Records& data, Records const& earlier, std::size_t part) const override {
        with_part(part, [&](auto where) {
            using table = typename decltype(where)::table;
            std::size_t const index = slots_[part];
            std::get<table>(data.tables).change(index, [&](auto& cell) {
                auto const truth = cell.truth;
                cell = *std::get<table>(earlier.tables).cells[index];
                cell.truth = truth;
                return true;
            });
        });
    }

    [[nodiscard]] epoch mark_epoch(Records const& data, std::size_t part) const override {
        epoch epoch = 0;
        with_part(part, [&](auto where) {
            auto const& table = std::get<typename decltype(where)::table>(data.tables);
            auto const* const one =
                table.cells[slots_[part]]->slot.marks.find(id_, marked_number(where));
            if (one != nullptr) epoch = one->epoch_number;
        });
        return epoch;
    }

    [[nodiscard]] std::unique_ptr<model_transaction<Records>>
    reversed(transaction_id id) const override {
        if constexpr (!Direction::is_reverse &&
                      settle::detail::is_reversible<typename Direction::type>) {
            if (only_sums()) {
                using back = typename settle::detail::opposite<Direction>::type;
                return std::make_unique<typed_transaction<Rules, back, Records>>(
                    std::move(id), typename back::parameters{parameters_, {}}, slots_);
            }
        }
        throw std::invalid_argument("settle: a search reverses types whose effects are all sums");
    }

private:
    /// One part: the participant as a type, and the line.
    template <std::size_t Participant>
    struct part_slot {
        static constexpr std::size_t participant = Participant;
        using collection = typename Direction::template target_of<Participant>;
        using table = model_table<collection>;
        using record = typename collection::record_type;
        std::size_t line;
    };

    template <typename Part>
    static part_number number(Part where) {
        return {static_cast<std::uint32_t>(Part::participant),
                static_cast<std::uint32_t>(where.line)};
    }
    template <typename Part>
    static part_number marked_number(Part where) {
        return settle::detail::number_of<Rules>(number(where));
    }

    /// Shape:   part - a number that counts the record parts only
    template <typename Function>
    void with_part(std::size_t part, Function&& function) const {
        std::size_t first = 0;
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            if constexpr (RecordParticipant<typename Direction::template participant<position>>) {
                std::size_t const lines =
                    Direction::template lines<position>(Direction::user(parameters_));
                if (part >= first && part < first + lines)
                    function(part_slot<position>{part - first});
                first += lines;
            }
        });
    }

    template <typename Part>
    auto intent(Part where) const {
        return Direction::template intent<Part::participant>(parameters_, where.line);
    }

    /// A default record with this part's key.
    template <typename Part>
    typename Part::record keyed(Part where) const {
        typename Part::record record{};
        bool overflow = false;
        store_value(
            record.*Part::collection::key_member,
            Direction::template key<Part::participant>(Direction::user(parameters_), where.line),
            overflow);
        return record;
    }

    template <typename Part>
    record_answer<typename Part::record> execute_in_cell(record_slot<typename Part::record>& slot,
                                                         step current, Part where, epoch under,
                                                         epoch committed) const {
        part_number const part = number(where);
        switch (current) {
        case step::apply:
            return settle::apply<Rules>(slot, id_, part, under, keyed(where), intent(where),
                                        [] { return std::string{}; });
        case step::one_phase: return execute_one_phase(slot, where, under);
        case step::confirm: return finish<Rules>(slot, id_, part, committed);
        case step::compensate: return undo<Rules>(slot, id_, part, under);
        default: return undo_exactly<Rules>(slot, id_, part, under);
        }
    }

    template <typename Part>
    record_answer<typename Part::record> execute_one_phase(record_slot<typename Part::record>& slot,
                                                           Part where, epoch under) const {
        return settle::apply_one_phase<Rules>(slot, id_, number(where), under, keyed(where),
                                              intent(where), [] { return std::string{}; });
    }

    template <typename Part>
    void commit_part(std::optional<typename Part::record>& truth, Part where) const {
        auto const effects = intent(where);
        using intent_type = std::remove_const_t<decltype(effects)>;
        using record = typename Part::record;
        if (intent_type::creates) truth = keyed(where);
        if (!truth) return;
        bool overflow = false;
        if constexpr (intent_type::commutes) {
            integers<record> apply{};
            integers<record> confirm{};
            effects.deltas(apply, confirm, overflow);
            settle::detail::add_to(*truth, apply);
            settle::detail::add_to(*truth, confirm);
        } else {
            effects.apply_to(*truth, overflow);
            effects.confirm_to(*truth, overflow);
        }
        if (intent_type::erases) truth.reset();
    }

    static constexpr bool only_sums() {
        bool sums = true;
        Direction::for_each_participant([&](auto index) {
            using intent_type = decltype(Direction::template intent<decltype(index)::value>(
                std::declval<parameters_type const&>(), 0));
            sums = sums && intent_type::commutes;
        });
        return sums;
    }

    transaction_id id_;
    parameters_type parameters_;
    std::vector<std::size_t> slots_;
};

} // namespace testing
SETTLE_END
