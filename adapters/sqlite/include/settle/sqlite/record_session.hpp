// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: what an engine hands its waves to.
#pragma once

#include <settle/sqlite/file.hpp>
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
    void start(std::span<job<Direction>> wave) {
        std::size_t due = 0;
        for_each_operation<holds, Step>(wave, [&](auto const&) { ++due; });
        if (due == 0) return;
        std::lock_guard const guard{file_->with().mutex()};
        auto ended = attempt<Step>(wave, false);
        // One record alone stood in the way: the second try keeps the others.
        if (ended.fate == detail::fate::undone &&
            detail::is_of_one_record(ended.problem.code)) {
            ended = attempt<Step>(wave, true);
        }
        std::size_t at = 0;
        for_each_operation<holds, Step>(wave, [&](auto const& one) {
            if (ended.fate == detail::fate::committed) deliver(one, held_->kept[at++]);
            else one.failed(answer_of(ended.fate), ended.problem);
        });
    }

    template <step Step, typename Direction>
    void finish(std::span<job<Direction>>) {}

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

    /// Marks in the order of their transactions and parts, beginning behind one of them.
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
    /// What an operation met, kept until the commit.
    struct kept_answer {
        answer what = answer::none;
        std::shared_ptr<void const> exclusive{};
        error problem{};
    };

    template <typename C>
    static detail::record_table<C> make_table(detail::file& file) {
        auto need = detail::need_of<C>();
        detail::settle_table(file.with(), need);
        return {file.with().on(), std::move(need)};
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

    /// Shape:   apart - whether each operation is undone alone when it fails
    template <step Step, typename Direction>
    detail::ending attempt(std::span<job<Direction>> wave, bool apart) {
        held_->kept.clear();
        try {
            detail::transaction work{file_->with()};
            for_each_operation<holds, Step>(wave, [&](auto const& one) {
                if (apart) meet_apart<Step>(work, one);
                else meet(one);
            });
            return work.commit();
        } catch (failure const& problem) {
            return {detail::fate::undone, problem.problem()};
        }
    }

    template <typename Operation>
    void meet(Operation const& one) {
        auto const result = table_of<typename Operation::collection>().meet(one);
        held_->kept.push_back({result.what, result.exclusive, {}});
    }

    /// A record that cannot be used cancels what has not begun with it; what has begun must wait
    /// for its repair.
    template <step Step, typename Operation>
    void meet_apart(detail::transaction& work, Operation const& one) {
        try {
            work.in_part([&] { meet(one); });
        } catch (failure const& problem) {
            // Anything else concerns the whole file.
            if (!detail::is_of_one_record(problem.problem().code)) throw;
            constexpr answer said =
                Step == step::apply ? answer::record_unusable : answer::unavailable;
            held_->kept.push_back({said, nullptr, problem.problem()});
        }
    }

    template <typename Operation>
    static void deliver(Operation const& one, kept_answer const& said) {
        if (!said.problem.empty()) return one.failed(said.what, said.problem);
        using record = typename Operation::record;
        met<record> result;
        result.what = said.what;
        result.exclusive = std::static_pointer_cast<exclusive_effect<record> const>(said.exclusive);
        one.answered(result);
    }

    static answer answer_of(detail::fate fate) {
        return fate == detail::fate::unknown ? answer::unknown : answer::unavailable;
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
        std::vector<kept_answer> kept{}; ///< of one wave; a member for the sake of its room
    };

    detail::file* file_;
    std::unique_ptr<statements, detail::alone_deleter<statements>> held_;
};

} // namespace sqlite
SETTLE_END
