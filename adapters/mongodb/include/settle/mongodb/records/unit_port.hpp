// SPDX-License-Identifier: BSL-1.0
// Makes attempts of waves: in native transactions of a replica set, or else on each record alone.
#pragma once

#include <settle/adapter/wave_port.hpp>
#include <settle/mongodb/log/log_session.hpp>
#include <settle/mongodb/records/unit_of_work.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

using settle::detail::attempt_end;
using settle::detail::attempt_plan;
using settle::detail::attempt_result;
using settle::detail::one_phase_call;

class unit_port final : public settle::detail::wave_port {
public:
    /// Shape:   log - null for two phases
    unit_port(server& database_server, record_layout const& layout,
              std::vector<record_codec> const& codecs, log_session* log)
        : server_(&database_server), layout_(&layout), codecs_(&codecs), log_(log) {}

    [[nodiscard]] attempt_result perform(attempt_plan const& plan, action function) override {
        bool const is_alone = plan.conditional && log_ == nullptr && server_->has_transactions();
        if (is_alone) return change_unread(function);
        bool is_unmatched = false;
        auto const change = [&](unit_of_work& unit, link& client) {
            attempt made{*this, unit, client, false};
            static_cast<void>(function(made));
        };
        auto ended = plan.conditional ? without_reading(change, is_unmatched)
                                      : in_unit(change, effort_for(plan.count, plan.first));
        if (!is_unmatched) return result_of(std::move(ended), plan.looks);
        return {attempt_end::unmatched, {}, !server_->has_transactions()};
    }

    /// A single transaction may change its records one by one. Two transactions of a wave may have
    /// one id, and different epochs.
    [[nodiscard]] bool may_be_conditional(std::span<part_request const> wave) const override {
        auto const& first = wave.front();
        bool const is_kind = first.action == step::apply || first.action == step::confirm;
        return is_kind && first.id == wave.back().id && layout_->is_own();
    }
    [[nodiscard]] bool may_be_conditional(std::span<one_phase_call* const> calls) const override {
        return calls.size() == 1 && calls.front()->requests.size() == 1 && layout_->is_own();
    }

    /// The first look reads the majority's state; the next also finds newer entries.
    [[nodiscard]] result<settle::detail::existing_ids>
    look_for(std::vector<transaction_id const*> const& ids, int looks) override {
        return log_->find_taken(ids, looks > 1);
    }

    /// Reads records, lets a function change them, and writes the changes.
    /// Shape:   function(unit, link) - called again from the start after a conflict or a fault of a
    ///          record; how - the effort after conflicts
    using unit_action = settle::detail::function_view<void(unit_of_work&, link&)>;
    commit_result in_unit(unit_action function, effort how) {
        if (!server_->has_transactions()) return in_unit_apart(function);
        if (!how.names || how.longest.count() > 0) {
            auto ended = in_unit_together(function, how.longest, writing::together);
            if (!how.names || !is_conflict(ended)) return ended;
        }
        return in_unit_together(function, {}, writing::separately);
    }

private:
    class attempt final : public settle::detail::wave_attempt {
    public:
        /// Shape:   unread - no record may be read
        attempt(unit_port& port, unit_of_work& unit, link& client, bool unread)
            : port_(&port), unit_(&unit), link_(&client), unread_(unread) {}

        void expect(part_request const& request) override { unit_->expect(request); }
        void fetch() override { unit_->fetch(*link_); }
        [[nodiscard]] part_result execute(part_request const& request) override {
            return unit_->execute(request, *link_);
        }
        void end_one_phase(part_request const& request, bool confirmed) override {
            unit_->end_one_phase(request, confirmed);
        }
        void change(one_phase_request& request, write_context const& context) override {
            port_->log_->change_within(*link_, request, context);
        }
        [[nodiscard]] bool insert(std::span<one_phase_request* const> requests,
                                  write_context const& context) override {
            port_->log_->insert_within(*link_, requests, context);
            return true;
        }
        /// The port writes the records, since a fault of one changes the next attempt.
        void write() override {}
        [[nodiscard]] bool must_read() const override { return unread_ && unit_->has_to_read(); }

    private:
        unit_port* port_;
        unit_of_work* unit_;
        link* link_;
        bool unread_;
    };

    /// Changes each record alone, if that needs no reading. Otherwise a native transaction must
    /// read: on a new primary the majority's state may be older than an acknowledged write, and
    /// only a commit proves that the state was current.
    attempt_result change_unread(action function) {
        unit_of_work unit{*codecs_, reading::if_needed};
        commit_result ended{};
        try {
            auto client = server_->connect();
            attempt unread_attempt{*this, unit, client, true};
            if (function(unread_attempt) != attempt_end::committed) return {attempt_end::must_read};
            bool const took_effect = unit.write_unread(client, ended);
            // The next attempt reads: a native transaction detects a held record at once.
            if (!took_effect && ended.problem.empty()) return {attempt_end::unmatched, {}, true};
        } catch (failure const& caught) {
            return {attempt_end::unknown, caught.problem()};
        }
        return result_of(std::move(ended), 0);
    }

    /// Makes an attempt that reads only what conditional updates cannot change.
    commit_result without_reading(unit_action function, bool& is_unmatched) {
        std::unique_ptr<unit_of_work> unit;
        if (server_->has_transactions()) {
            auto ended = try_together(function, effort_for(1, true).longest, reading::if_needed,
                                      writing::together, unit, is_unmatched);
            is_unmatched = is_unmatched || has_new_fault(ended, unit.get(), 0);
            return ended;
        }
        auto client = server_->connect();
        bool is_sent = false;
        return try_apart(function, client, reading::if_needed, unit, is_sent, is_unmatched);
    }

    [[nodiscard]] static bool has_new_fault(commit_result const& ended, unit_of_work const* unit,
                                            std::size_t known) {
        return ended.status == commit_status::undone && unit != nullptr &&
               is_of_one_record(ended.problem.code) && unit->faults() > known;
    }

    /// Makes an attempt in a native transaction, again after conflicts.
    /// Shape:   longest - time limit of the repetitions; unit - of an earlier attempt or null,
    ///          becomes the unit of a failed attempt; is_unmatched - becomes true if a conditional
    ///          update did not match
    commit_result try_together(unit_action function, std::chrono::milliseconds longest,
                               reading when, writing how, std::unique_ptr<unit_of_work>& unit,
                               bool& is_unmatched) {
        native_transaction native{*server_};
        return native.perform(
            [&](link& client) {
                auto own = std::make_unique<unit_of_work>(*codecs_, when, unit.get());
                function(*own, client);
                commit_result ignored{};
                try {
                    bool const all = own->write(client, how, ignored);
                    is_unmatched = !all && when == reading::if_needed;
                } catch (...) {
                    unit = std::move(own);
                    throw;
                }
                // The exception aborts the native transaction.
                if (is_unmatched) throw failure({});
            },
            longest);
    }
    commit_result in_unit_together(unit_action function, std::chrono::milliseconds longest,
                                   writing how) {
        std::unique_ptr<unit_of_work> earlier;
        for (bool ignored = false;;) {
            auto const known = earlier ? earlier->faults() : 0;
            auto ended = try_together(function, longest, reading::always, how, earlier, ignored);
            if (!has_new_fault(ended, earlier.get(), known)) return ended;
        }
    }

    /// Changes each record alone, if it is unchanged since its read.
    /// Shape:   unit - of an earlier attempt or null, becomes the unit of this attempt; is_sent -
    ///          whether an earlier attempt may have an effect; is_unmatched - becomes true if a
    ///          record was changed since its read, or did not match
    commit_result try_apart(unit_action function, link& client, reading when,
                            std::unique_ptr<unit_of_work>& unit, bool& is_sent,
                            bool& is_unmatched) {
        commit_result ended{};
        auto own = std::make_unique<unit_of_work>(*codecs_, when, unit.get());
        bool const was_sent = is_sent;
        bool all_matched = false;
        try {
            function(*own, client);
            is_sent = true;
            all_matched = own->write(client, writing::as_read, ended);
        } catch (failure const& caught) {
            return {is_sent ? commit_status::unknown : commit_status::undone, caught.problem()};
        }
        is_unmatched = !all_matched && ended.problem.empty();
        if (was_sent && !ended.problem.empty()) ended.status = commit_status::unknown;
        unit = std::move(own);
        return ended;
    }
    /// A repetition finds its own earlier changes.
    commit_result in_unit_apart(unit_action function) {
        auto client = server_->connect();
        std::unique_ptr<unit_of_work> unit;
        bool is_sent = false;
        for (retry_pauses between;;) {
            bool is_unmatched = false;
            auto ended = try_apart(function, client, reading::always, unit, is_sent, is_unmatched);
            if (!is_unmatched) return ended;
            if (between.next()) continue;
            return {commit_status::unknown,
                    {make_error_code(errc::store_unreachable),
                     "settle: others changed the same records again and again. "
                     "See mongodb#errors"}};
        }
    }

    [[nodiscard]] attempt_result result_of(commit_result ended, int looks) const {
        auto const end = [&] {
            if (ended.status == commit_status::committed) return attempt_end::committed;
            if (ended.status == commit_status::unknown) return attempt_end::unknown;
            if (is_conflict(ended)) return attempt_end::held;
            if (log_ == nullptr) return attempt_end::failed;
            bool const looks_again = looks < settle::detail::most_looks;
            if (looks_again && log_session::is_of_taken_id(ended.problem)) {
                return attempt_end::id_exists;
            }
            bool const is_unfit = ended.problem.code == errc::bad_parameters;
            return is_unfit ? attempt_end::unfit : attempt_end::failed;
        }();
        return {end, std::move(ended.problem)};
    }

    server* server_;
    record_layout const* layout_;
    std::vector<record_codec> const* codecs_;
    log_session* log_;
};

} // namespace mongodb::detail
SETTLE_END
