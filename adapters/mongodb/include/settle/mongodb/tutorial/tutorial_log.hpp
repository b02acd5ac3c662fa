// SPDX-License-Identifier: BSL-1.0
// The log of a database with the tutorial's leftovers. Before it changes the state of a leftover
// entry, it checks the records of that entry: if a record does not fit the type, the entry stays as
// it is.
#pragma once

#include <settle/mongodb/log/log_session.hpp>
#include <settle/mongodb/tutorial/bare_effect.hpp>

#include <set>

SETTLE_BEGIN
namespace mongodb {

/// Shape:   Type - the type of the other programs' transactions
/// Cost:    as a log_session, and a read of the records of each leftover at its first claim
template <auto const& Type>
class tutorial_log : public log_session {
    using direction = forward<Type>;
    static constexpr transaction_descriptor const& type = descriptor_of<direction>;

public:
    tutorial_log(detail::server& server, detail::record_layout records, log_session log)
        : log_session(std::move(log)), with_(&server), records_(std::move(records)) {}

    /// As log_session. The first claim or cancel of a leftover entry is `blocked` with
    /// errc::damaged if one of its marks could not be ended.
    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) {
        std::vector<leftover> leftovers;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            auto const& write_of_entry = writes[i];
            bool const takes_over =
                write_of_entry.action == step::claim || write_of_entry.action == step::cancel;
            if (!takes_over || write_of_entry.type != &type ||
                write_of_entry.change.from_epoch != 0)
                continue;
            // An initial entry has no marks to end when it is canceled.
            if (write_of_entry.action == step::cancel &&
                write_of_entry.change.from == state::initial)
                continue;
            leftovers.push_back({write_of_entry.id, write_of_entry.parameters,
                                 write_of_entry.change.from == state::applied, &results[i]});
        }
        auto const unfit = answer_unfit(std::move(leftovers));
        if (unfit.empty()) return log_session::write(writes, results, context);
        std::vector<entry_write> others;
        std::vector<write_result*> answered;
        for (std::size_t i = 0; i < writes.size(); ++i) {
            if (unfit.contains(&results[i])) continue;
            others.push_back(writes[i]);
            answered.push_back(&results[i]);
        }
        std::vector<write_result> made(others.size());
        log_session::write(others, made, context);
        for (std::size_t i = 0; i < made.size(); ++i) *answered[i] = std::move(made[i]);
    }

    /// Answers one-phase requests whose leftovers cannot be taken over, as write() does, and
    /// returns the others.
    [[nodiscard]] std::vector<one_phase_request*>
    without_unfit(std::span<one_phase_request> requests) {
        std::vector<leftover> leftovers;
        for (one_phase_request& request : requests) {
            if (request.type != &type || request.inserts || request.parts.empty()) continue;
            // The entry's own epoch is lower by 1.
            bool const has_epoch = request.parts.front().epoch_number > 1;
            if (!has_epoch)
                leftovers.push_back({request.id, request.parameters, false, &request.result});
        }
        auto const unfit = answer_unfit(std::move(leftovers));
        std::vector<one_phase_request*> others;
        for (one_phase_request& one : requests) {
            if (!unfit.contains(&one.result)) others.push_back(&one);
        }
        return others;
    }

private:
    /// An entry without an epoch that is to be taken over.
    struct leftover {
        transaction_id const* id;
        void const* parameters;
        bool committed;
        write_result* result;
        error problem{}; ///< why a mark could not be ended
    };

    /// Answers the leftovers that cannot be taken over, and returns their results.
    [[nodiscard]] std::set<write_result const*> answer_unfit(std::vector<leftover> leftovers) {
        std::set<write_result const*> unfit;
        if (leftovers.empty()) return unfit;
        try {
            auto with = with_->connect();
            direction::for_each_participant(
                [&](auto index) { look_at_part<index>(with, leftovers); });
        } catch (failure const& caught) {
            for (leftover& one : leftovers) one.problem = caught.problem();
        }
        for (leftover const& left : leftovers) {
            if (left.problem.empty()) continue;
            settle::detail::set_result(*left.result, {detail::commit_status::undone, left.problem});
            unfit.insert(left.result);
        }
        return unfit;
    }

    template <std::size_t Index>
    void look_at_part(detail::link& client, std::vector<leftover>& leftovers) const {
        using collection = typename direction::template target_of<Index>;
        detail::record_codec const codec{settle::detail::descriptor_of_collection<collection>,
                                         client.database(), records_};
        detail::record_table table{codec};
        part_descriptor const& part = type.participants[Index];
        auto const each = [&](auto&& function) {
            for (leftover& left : leftovers) {
                step const end = left.committed ? step::confirm : step::compensate;
                std::size_t const lines = type.lines(left.parameters, Index);
                for (std::size_t line = 0; line < lines; ++line) {
                    function(left, detail::leftover_request(part, type, left.parameters, *left.id,
                                                            line, end));
                }
            }
        };
        each([&](leftover&, part_request const& request) { table.expect(request); });
        table.fetch(client);
        each([&](leftover& checked, part_request const& request) {
            auto problem = table.look(request);
            if (checked.problem.empty()) checked.problem = std::move(problem);
        });
    }

    detail::server* with_;
    detail::record_layout records_;
};

} // namespace mongodb
SETTLE_END
