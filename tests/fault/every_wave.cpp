// SPDX-License-Identifier: BSL-1.0
// The executor of waves over a port whose attempts fail in each way. Each answer agrees with what
// took effect, and a request succeeds if nothing stands against it. Each rule of the executor,
// switched off, ends wrong.
#include <settle/adapter/wave_executor.hpp>
#include <settle/adapter/wave_executor.ipp>
#include <settle/testing/every_run.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>

namespace every_wave_test {
namespace {

using namespace settle::detail;
using settle::answer;
using settle::error;
using settle::log_answer;
using settle::one_phase_request;
using settle::part_request;
using settle::part_result;
using settle::state;
using settle::step;
using settle::write_context;
using settle::testing::every_run;
using settle::testing::run_bounds;
using settle::testing::run_choices;

error problem(char const* text) { return {make_error_code(settle::errc::store_unreachable), text}; }

[[nodiscard]] std::size_t number_of(part_request const& request) {
    return request.part.participant;
}

/// A store of one record for each request, and a log.
class failing_port final : public wave_port {
public:
    failing_port(run_choices& choices, std::size_t count, bool in_one_phase)
        : choices_(&choices), effects_(count, 0), in_one_phase_(in_one_phase) {
        conditional_ = choices.turn(2) == 1;
        auto const stands_against = choices.mishap(1 + 2 * count);
        if (stands_against > count) refused_ = stands_against - count - 1;
        else if (stands_against > 0) held_ = stands_against - 1;
    }

    [[nodiscard]] attempt_result perform(attempt_plan const& plan, action function) override {
        attempt made{*this, plan.conditional};
        return end_of(made, function, plan.conditional ? fault_of_unread() : fault_of_read());
    }
    [[nodiscard]] std::unique_ptr<sent_attempt> send(action function) override {
        class sent final : public sent_attempt {
        public:
            sent(failing_port& port, action made_by) : port_(&port), made_(port, true) {
                wanted_ = made_by(made_);
            }
            [[nodiscard]] attempt_result finish() override {
                auto const again = [this](wave_attempt&) { return wanted_; };
                return port_->end_of(made_, again, port_->fault_of_unread());
            }

        private:
            failing_port* port_;
            attempt made_;
            attempt_end wanted_{};
        };
        return std::make_unique<sent>(*this, function);
    }
    [[nodiscard]] bool may_be_conditional(std::span<part_request const>) const override {
        return conditional_;
    }
    [[nodiscard]] bool may_be_conditional(std::span<one_phase_call* const>) const override {
        return conditional_;
    }
    [[nodiscard]] settle::result<existing_ids>
    look_for(std::vector<settle::transaction_id const*> const& ids, int) override {
        existing_ids existing_ids;
        for (auto const* const id : ids) {
            if (entries.contains(*id)) existing_ids.emplace(*id, log_answer::ended);
        }
        insert_next_of_others();
        return existing_ids;
    }
    void name_unusable(one_phase_request& request, error const& why) override {
        request.results.front().fail(answer::record_unusable, why);
    }
    void write_entry(one_phase_request& request, write_context const&) override {
        auto const entry = entries.find(*request.id);
        bool const fits = request.inserts
                              ? entry == entries.end()
                              : entry != entries.end() && entry->second == state::initial;
        if (fits) entries[*request.id] = request.write.change.to;
        request.result.reply = fits ? log_answer::taken : log_answer::conflict;
    }

    /// Lets effects land whose attempts ended unknown.
    void land_late() {
        for (auto const number : late_) effects_[number] = 1;
    }
    [[nodiscard]] bool has_effect(std::size_t number) const { return effects_[number] != 0; }
    [[nodiscard]] bool is_refused(std::size_t number) const { return refused_ == number; }
    [[nodiscard]] bool is_held(std::size_t number) const { return held_ == number; }
    /// Whether an attempt failed for a cause that concerns all its requests.
    [[nodiscard]] bool has_failed() const { return has_failed_; }

    /// Another program inserts these ids: the first at once, and one more after each look.
    void insert_for_others(std::vector<std::string> ids) {
        ids_of_others_ = std::move(ids);
        insert_next_of_others();
    }

    std::map<std::string, state> entries;
    std::set<std::string> inserted_by_others;

private:
    void insert_next_of_others() {
        if (ids_of_others_.empty()) return;
        auto const id = ids_of_others_.front();
        ids_of_others_.erase(ids_of_others_.begin());
        if (entries.emplace(id, state::done).second) inserted_by_others.insert(id);
    }

    enum class fault { none, failed, unknown, unknown_and_late, unmatched, must_read, partly };

    [[nodiscard]] fault fault_of_read() { return static_cast<fault>(choices_->mishap(4)); }
    /// In one phase an attempt is one native transaction, so it never has its effect in part.
    [[nodiscard]] fault fault_of_unread() {
        return static_cast<fault>(choices_->mishap(in_one_phase_ ? 6 : 7));
    }

    class attempt final : public wave_attempt {
    public:
        attempt(failing_port& port, bool conditional) : port_(&port), conditional_(conditional) {}

        void expect(part_request const& request) override {
            announced.push_back(number_of(request));
        }
        void fetch() override {}
        [[nodiscard]] part_result execute(part_request const& request) override {
            applied.insert(number_of(request));
            return {answer::applied, nullptr, {}};
        }
        void end_one_phase(part_request const& request, bool confirmed) override {
            if (confirmed) return;
            applied.erase(number_of(request));
            must_read_ = must_read_ || conditional_;
        }
        void change(one_phase_request& request, write_context const&) override {
            bool const fits = port_->entries.at(*request.id) == state::initial;
            request.result.reply = fits ? log_answer::taken : log_answer::conflict;
            if (fits) entries[*request.id] = request.write.change.to;
        }
        [[nodiscard]] bool insert(std::span<one_phase_request* const> requests,
                                  write_context const&) override {
            bool are_new = true;
            for (auto const* const request : requests) {
                bool const exists = port_->entries.contains(*request->id);
                auto const to = request->write.change.to;
                are_new = are_new && !exists && entries.emplace(*request->id, to).second;
            }
            return are_new;
        }
        void write() override {}
        [[nodiscard]] bool must_read() const override { return must_read_; }

        std::vector<std::size_t> announced;
        std::set<std::size_t> applied;
        std::map<std::string, state> entries;

    private:
        failing_port* port_;
        bool conditional_;
        bool must_read_ = false;
    };

    void commit(attempt const& current) {
        for (auto const number : current.applied) effects_[number] = 1;
        for (auto const& [id, to] : current.entries) entries[id] = to;
    }
    [[nodiscard]] bool meets(attempt const& current, std::optional<std::size_t> number) const {
        return number && std::ranges::find(current.announced, *number) != current.announced.end();
    }
    [[nodiscard]] attempt_result end_of(attempt& current, action function, fault fails) {
        if (++attempts_ > most_attempts) throw std::logic_error("settle: attempts without end");
        has_failed_ = has_failed_ || (fails != fault::none && fails < fault::unmatched) ||
                      fails == fault::partly;
        if (fails == fault::failed) return {attempt_end::failed, problem("failed")};
        auto const wanted = function(current);
        if (wanted != attempt_end::committed) return {wanted};
        if (fails == fault::must_read) return {attempt_end::must_read};
        if (fails == fault::unmatched) return {attempt_end::unmatched};
        if (fails == fault::partly) {
            for (auto const number : current.applied) {
                if (held_ != number && refused_ != number) effects_[number] = 1;
            }
            return {attempt_end::unmatched, {}, true};
        }
        if (meets(current, held_)) return {attempt_end::held, problem("held")};
        if (meets(current, refused_)) return {attempt_end::refused, problem("refused")};
        if (fails == fault::unknown_and_late) {
            late_.insert(current.applied.begin(), current.applied.end());
        } else {
            commit(current);
        }
        if (fails == fault::none) return {};
        return {attempt_end::unknown, problem("unknown")};
    }

    static constexpr int most_attempts = 100;

    run_choices* choices_;
    std::vector<int> effects_;
    bool in_one_phase_;
    std::set<std::size_t> late_;
    std::vector<std::string> ids_of_others_;
    bool conditional_ = false;
    bool has_failed_ = false;
    std::optional<std::size_t> held_{};
    std::optional<std::size_t> refused_{};
    int attempts_ = 0;
};

/// Executes three applies. Returns what is wrong, or an empty text.
template <typename Rules>
std::string execute_wave(run_choices& choices) {
    std::vector<std::string> const ids{"a", "b", "c"};
    failing_port port{choices, ids.size(), false};
    std::vector<part_request> requests;
    for (std::size_t number = 0; number < ids.size(); ++number) {
        requests.push_back({nullptr, nullptr, nullptr, &ids[number],
                            settle::part_number{static_cast<std::uint32_t>(number)}, step::apply,
                            1});
    }
    std::vector<part_result> results(ids.size());
    basic_wave_executor<Rules> executor{{}};
    if (choices.turn(2) == 1) {
        executor.expect_others();
        executor.start(port, requests, results);
        executor.finish(results);
    } else {
        executor.execute(port, requests, results);
    }
    port.land_late();
    for (std::size_t number = 0; number < ids.size(); ++number) {
        auto const what = results[number].what;
        choices.note([&] { return ids[number] + ": answer " + std::to_string(int(what)); });
        bool const has_effect = port.has_effect(number);
        bool const agrees = what == answer::applied           ? has_effect
                            : what == answer::unavailable     ? !has_effect
                            : what == answer::record_unusable ? port.is_refused(number)
                                                              : what == answer::unknown;
        if (!agrees) return "the answer to '" + ids[number] + "' is wrong";
        if (port.has_failed() || port.is_held(number)) continue;
        auto const right = port.is_refused(number) ? answer::record_unusable : answer::applied;
        if (what != right) return "nothing stands against '" + ids[number] + "'";
    }
    return {};
}

/// Decides `done` for an applied part, and `canceled` for an unusable record.
class simple_decider final : public settle::one_phase_decider {
public:
    bool decide(one_phase_request& request) override {
        auto const what = request.results.front().what;
        if (request.left_out) shown_left_out.insert(request.index);
        request.write.id = request.id;
        request.write.inserts = request.inserts;
        request.write.change.to = what == answer::applied ? state::done : state::canceled;
        return !request.left_out && (what == answer::applied || what == answer::record_unusable);
    }
    [[nodiscard]] std::shared_ptr<one_phase_decider> copy() const override { return nullptr; }

    std::set<std::size_t> shown_left_out;
};

/// Settles requests in one phase: two of them have one id, and one changes its entry. Returns what
/// is wrong, or an empty text.
template <typename Rules>
std::string settle_wave(run_choices& choices) {
    std::vector<std::string> const ids{"a", "b", "changed", "a", "c", "d"};
    failing_port port{choices, ids.size(), true};
    port.entries["changed"] = state::initial;
    auto const other = choices.mishap(4); // what another program does
    if (other == 1) port.insert_for_others({"b"});
    if (other == 2) port.entries["changed"] = state::canceled;
    if (other == 3) port.insert_for_others({"d", "c", "b", "a"});
    std::vector<part_request> parts;
    std::vector<part_result> results(ids.size());
    for (std::size_t number = 0; number < ids.size(); ++number) {
        parts.push_back({nullptr, nullptr, nullptr, &ids[number],
                         settle::part_number{static_cast<std::uint32_t>(number)}, step::one_phase,
                         1});
    }
    std::vector<one_phase_request> requests;
    for (std::size_t number = 0; number < ids.size(); ++number) {
        requests.push_back({number,
                            &ids[number],
                            nullptr,
                            nullptr,
                            ids[number] != "changed",
                            {&parts[number], 1},
                            {&results[number], 1}});
    }
    std::string const owner{"owner"};
    write_context const context{{}, owner};
    simple_decider decider;
    basic_wave_executor<Rules> executor{{}};
    executor.one_phase(port, requests, context, decider);
    port.land_late();
    for (auto const& request : requests) {
        auto const number = request.index;
        auto const reply = request.result.reply;
        auto const to = request.write.change.to;
        choices.note([&] { return ids[number] + ": reply " + std::to_string(int(reply)); });
        bool const is_done = reply == log_answer::taken && to == state::done;
        bool const agrees = reply == log_answer::unknown || port.has_effect(number) == is_done;
        if (!agrees) return "the reply to '" + ids[number] + "' is wrong";
        if (request.left_out && results[number].what != answer::none) {
            return "'" + ids[number] + "' was left out, and has an answer";
        }
        if (request.left_out && !decider.shown_left_out.contains(number)) {
            return "the decider has not seen that '" + ids[number] + "' was left out";
        }
        if (port.has_failed() || port.is_held(number) || number == 3) continue;
        bool const exists = port.inserted_by_others.contains(ids[number]) ||
                            (other == 2 && ids[number] == "changed");
        bool const refused = port.is_refused(number) && !exists;
        bool const right = exists    ? reply == log_answer::ended || reply == log_answer::conflict
                           : refused ? reply == log_answer::taken && to == state::canceled
                                     : is_done;
        if (!right) return "nothing stands against '" + ids[number] + "'";
    }
    return {};
}

/// Every rule, to be switched off while the program runs.
struct switched {
    static inline bool reads_after_miss = true;
    static inline bool partly_stays = true;
    static inline bool unknown_stays = true;
    static inline bool answers_need_commit = true;
    static inline bool halves = true;
    static inline bool looks_for_ids = true;
    static inline bool counts_vain_looks = true;
    static inline bool first_of_id = true;
    static inline bool shows_left_out = true;
    static inline bool forgets_answers = true;
    static inline bool one_phase_compares = true;
    static inline bool refused_cancels = true;
};

constexpr run_bounds two_mishaps{.mishaps = 2};

TEST_SUITE("waves") {
    TEST_CASE("waves: whichever attempt fails, each answer agrees with the effect") {
        auto const executed = every_run(run_bounds{.mishaps = 4}, execute_wave<wave_rules>);
        CHECK_MESSAGE(executed, executed);
        auto const settled = every_run(run_bounds{.mishaps = 4}, settle_wave<wave_rules>);
        CHECK_MESSAGE(settled, settled);
        CHECK(executed.runs > 5'000);
        CHECK(settled.runs > 5'000);
    }

    TEST_CASE("waves: without any rule of the executor a run ends wrong") {
        struct named_rule {
            char const* name;
            bool* rule;
        };
        for (auto const& switched_off :
             {named_rule{"reads_after_miss", &switched::reads_after_miss},
              {"partly_stays", &switched::partly_stays},
              {"unknown_stays", &switched::unknown_stays},
              {"answers_need_commit", &switched::answers_need_commit},
              {"halves", &switched::halves},
              {"looks_for_ids", &switched::looks_for_ids},
              {"counts_vain_looks", &switched::counts_vain_looks},
              {"first_of_id", &switched::first_of_id},
              {"shows_left_out", &switched::shows_left_out},
              {"forgets_answers", &switched::forgets_answers},
              {"one_phase_compares", &switched::one_phase_compares},
              {"refused_cancels", &switched::refused_cancels}}) {
            INFO(std::string{switched_off.name});
            *switched_off.rule = false;
            auto const executed = every_run(two_mishaps, execute_wave<switched>);
            auto const settled = every_run(two_mishaps, settle_wave<switched>);
            *switched_off.rule = true;
            CHECK_FALSE((executed.right && settled.right));
        }
    }
}

} // namespace
} // namespace every_wave_test
