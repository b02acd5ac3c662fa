// SPDX-License-Identifier: BSL-1.0
// The receiver rule: every sequence of calls, faults, purges and passing time for one key, against
// the properties that a sender relies on.
#include <settle/base/saturating.hpp>
#include <settle/protocol/receiver_rule.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace receiver_test {

using settle::call_operation;
using settle::call_status;
using settle::receiver_status;
using settle::timestamp;
using std::chrono::milliseconds;

constexpr timestamp last_moment{milliseconds{100}};
constexpr milliseconds clocks{10}; ///< the clocks' difference

/// One event at a receiver. The work of a call accepts, refuses or fails.
enum class event : int {
    apply,
    apply_on_slow_clock, ///< a process whose clock is behind by the clocks' difference
    apply_refusing,
    apply_failing,
    confirm,
    confirm_failing,
    compensate,
    compensate_failing,
    close,
    purge,
    last_moment_passes,
    difference_passes, ///< the last moment and the clocks' difference
    count
};

char const* name_of(event event) {
    constexpr char const* names[]{"apply",
                                  "apply on a slow clock",
                                  "refusing apply",
                                  "failing apply",
                                  "confirm",
                                  "failing confirm",
                                  "compensate",
                                  "failing compensate",
                                  "close",
                                  "purge",
                                  "last moment passes",
                                  "difference passes"};
    return names[static_cast<int>(event)];
}

bool is_apply(event event) { return event <= event::apply_failing; }
bool is_confirm(event event) { return event == event::confirm || event == event::confirm_failing; }
bool is_compensate(event event) {
    return event == event::compensate || event == event::compensate_failing;
}

struct reply {
    call_status status = call_status::unknown;
    std::string text;
    friend bool operator==(reply const&, reply const&) = default;
};

/// The work that took effect.
struct effects {
    int applies = 0;
    int confirms = 0;
    int compensations = 0;
    friend bool operator==(effects const&, effects const&) = default;
};

/// A receiver of one key, whose native transactions always commit.
class receiver {
public:
    explicit receiver(bool has_apply) : has_apply_(has_apply) {}

    [[nodiscard]] effects const& done() const { return done_; }
    [[nodiscard]] bool has_row() const { return row_.has_value(); }
    [[nodiscard]] bool is_past() const { return now_ > last_moment; }

    reply take(call_operation operation, call_status work, timestamp now) {
        auto const decided =
            settle::decide(row_ ? &*row_ : nullptr, {operation, has_apply_, last_moment}, now);
        if (decided.step != settle::receiver_step::work) {
            if (decided.step == settle::receiver_step::note) {
                row_ = {decided.status, has_apply_, last_moment};
                text_ = decided.text;
            }
            if (!decided.text.empty()) return {decided.reply, std::string{decided.text}};
            return {decided.reply, operation == call_operation::apply ? text_ : ""};
        }
        auto const after = settle::status_after(operation, work);
        if (!after) return {call_status::unavailable, ""};
        if (!row_) row_ = {*after, has_apply_, last_moment};
        row_->status = *after;
        ++works_;
        if (operation == call_operation::apply) text_ = "answer " + std::to_string(works_);
        if (work == call_status::ok) count(operation);
        return {work, operation == call_operation::apply ? text_ : ""};
    }

    /// The status of the key.
    receiver_status close() {
        if (settle::decide_close(row_ ? &*row_ : nullptr) == settle::receiver_step::note) {
            row_ = {receiver_status::closed, has_apply_, last_moment};
        }
        return row_->status;
    }

    void purge() {
        if (!row_) return;
        auto const end = settle::end_of(*row_);
        if (end && *end < settle::detail::earlier(now_, clocks)) row_.reset();
    }

    void wait_until(timestamp then) { now_ = std::max(now_, then); }
    [[nodiscard]] timestamp now() const { return now_; }

private:
    void count(call_operation operation) {
        if (operation == call_operation::apply) ++done_.applies;
        if (operation == call_operation::confirm) ++done_.confirms;
        if (operation == call_operation::compensate) ++done_.compensations;
    }

    bool has_apply_;
    timestamp now_{};
    std::optional<settle::receiver_standing> row_;
    std::string text_;
    int works_ = 0;
    effects done_;
};

/// The answers that a sender remembers, and the properties that later answers and effects keep.
class sender {
public:
    explicit sender(bool has_apply) : has_apply_(has_apply), at_(has_apply) {}

    [[nodiscard]] bool has_apply() const { return has_apply_; }

    /// The property that an event breaks, or an empty text.
    std::string broken_by(event event) {
        effects const before = at_.done();
        std::string wrong;
        if (is_apply(event)) wrong = apply(event);
        else if (is_confirm(event)) wrong = confirm(event);
        else if (is_compensate(event)) wrong = compensate(event);
        else if (event == event::close) wrong = close();
        else wrong = pass(event);
        if (!wrong.empty()) return wrong;
        return check_effects(before);
    }

private:
    static call_status work_of(event event) {
        if (event == event::apply_refusing) return call_status::refused;
        bool const fails = event == event::apply_failing || event == event::confirm_failing ||
                           event == event::compensate_failing;
        return fails ? call_status::unavailable : call_status::ok;
    }

    std::string apply(event event) {
        bool const first = !touched_;
        touched_ = true;
        auto const behind = event == event::apply_on_slow_clock ? clocks : milliseconds{0};
        auto const now = settle::detail::earlier(at_.now(), behind);
        int const before = at_.done().applies;
        auto const got = at_.take(call_operation::apply, work_of(event), now);
        bool const took_effect = at_.done().applies > before;
        if (took_effect && now > last_moment) return "a first apply after the last moment";
        if (first && now <= last_moment && got.status != work_of(event)) {
            return "a first apply in time has the answer of its work";
        }
        switch (got.status) {
        case call_status::ok:
            if (refused_) return "ok after a refusal";
            if (ended_) return "ok after a compensation or a closing";
            if (at_.done().applies == 0) return "ok without an effect";
            if (accepted_ && *accepted_ != got.text) return "two results of one apply";
            accepted_ = got.text;
            return "";
        case call_status::refused:
            if (got.text.empty()) return "a refusal without a reason";
            // After a purge the last moment refuses instead of the row. Only a finished transaction
            // has a row to purge, so this refusal changes nothing.
            if (purged_) return "";
            if (accepted_ && !undone()) return "a refusal after ok";
            if (at_.done().applies > 0 && !undone()) return "a refusal of what took effect";
            if (refused_ && *refused_ != got.text) return "two reasons of one refusal";
            refused_ = got.text;
            return "";
        case call_status::unavailable:
            if (took_effect) return "unavailable with an effect";
            return "";
        default: return "an unknown answer";
        }
    }

    std::string confirm(event event) {
        touched_ = true;
        bool const stood = at_.done().applies > 0 && !undone();
        int const before = at_.done().confirms;
        auto const got = at_.take(call_operation::confirm, work_of(event), at_.now());
        bool const took_effect = at_.done().confirms > before;
        if (got.status == call_status::refused) return "a confirm was refused";
        if (took_effect && got.status != call_status::ok) return "a confirm hides its effect";
        if (took_effect && has_apply_ && !stood) return "a confirm of nothing took effect";
        bool const due = stood || (!has_apply_ && !ended_);
        if (due && event == event::confirm && got.status != call_status::ok) {
            return "a confirm that is due was not ok";
        }
        if (due && got.status == call_status::ok && at_.done().confirms != 1) {
            return "a confirm that was ok took no effect";
        }
        confirmed_ = confirmed_ || got.status == call_status::ok;
        return "";
    }

    std::string compensate(event event) {
        touched_ = true;
        int const before = at_.done().compensations;
        auto const got = at_.take(call_operation::compensate, work_of(event), at_.now());
        bool const took_effect = at_.done().compensations > before;
        if (got.status == call_status::refused) return "a compensation was refused";
        if (took_effect && got.status != call_status::ok) return "a compensation hides its effect";
        // A transaction either confirms or compensates.
        if (confirmed_) return "";
        if (event == event::compensate && got.status != call_status::ok) {
            return "a compensation that does its work was not ok";
        }
        if (got.status != call_status::ok) return "";
        if (at_.done().applies != at_.done().compensations) return "ok, and the effect stands";
        ended_ = true;
        return "";
    }

    std::string close() {
        touched_ = true;
        bool const stood = at_.done().applies > 0 && !undone();
        auto const status = at_.close();
        bool const applied =
            status == receiver_status::applied || status == receiver_status::confirmed;
        if (stood && !applied && !purged_) return "closed, and the effect stands";
        if (has_apply_ && applied && !stood) return "applied, and no effect stands";
        if (!applied) ended_ = true;
        return "";
    }

    std::string pass(event event) {
        bool const had_row = at_.has_row();
        if (event == event::purge) at_.purge();
        if (event == event::last_moment_passes) at_.wait_until(last_moment + milliseconds{1});
        if (event == event::difference_passes)
            at_.wait_until(last_moment + clocks + milliseconds{1});
        if (at_.has_row() == had_row) return "";
        purged_ = true;
        if (!at_.is_past()) return "a purge before the last moment";
        bool const stands = at_.done().applies > at_.done().compensations;
        if (stands && at_.done().confirms == 0) return "a purge of an effect without an end";
        if (!has_apply_ && at_.done().confirms > 0) return "a purge of a confirm without an apply";
        return "";
    }

    [[nodiscard]] bool undone() const { return at_.done().compensations > 0; }

    [[nodiscard]] std::string check_effects(effects const& before) const {
        auto const& now = at_.done();
        if (now.applies > 1) return "an apply took effect twice";
        if (now.confirms > 1) return "a confirm took effect twice";
        if (now.compensations > now.applies) return "a compensation of nothing took effect";
        if (now.compensations > 0 && now.confirms > 0 && has_apply_) {
            return "a confirm and a compensation took effect";
        }
        bool const added = now.applies > before.applies;
        if (added && ended_) return "an apply took effect after a compensation or a closing";
        if (added && refused_) return "an apply took effect after its refusal";
        return "";
    }

    bool has_apply_;
    receiver at_;
    bool touched_ = false; ///< an apply, a confirm, a compensate or a close has arrived
    bool ended_ = false;   ///< a compensation or a closing was acknowledged
    bool confirmed_ = false;
    bool purged_ = false;
    std::optional<std::string> accepted_;
    std::optional<std::string> refused_;
};

std::string story_of(std::span<event const> all) {
    std::string text;
    for (event const one : all) text.append(text.empty() ? "" : ", ").append(name_of(one));
    return text;
}

/// Tries every continuation of a story; returns the number of stories.
std::size_t search(sender const& from, std::vector<event>& story, std::size_t longest) {
    if (story.size() == longest) return 1;
    std::size_t tried = 1;
    for (int i = 0; i < static_cast<int>(event::count); ++i) {
        auto const next_event = static_cast<event>(i);
        if (is_apply(next_event) && !from.has_apply()) continue;
        sender next = from;
        story.push_back(next_event);
        std::string const wrong = next.broken_by(next_event);
        CHECK_MESSAGE(wrong.empty(), wrong << ": " << story_of(story));
        if (wrong.empty()) tried += search(next, story, longest);
        story.pop_back();
    }
    return tried;
}

TEST_CASE("receiver rule: every story of five events keeps the properties, with an apply") {
    std::vector<event> story;
    CHECK(search(sender{true}, story, 5) == 1 + 12 + 144 + 1728 + 20736 + 248832);
}

TEST_CASE("receiver rule: every story of five events keeps the properties, without an apply") {
    std::vector<event> story;
    CHECK(search(sender{false}, story, 5) == 1 + 8 + 64 + 512 + 4096 + 32768);
}

TEST_CASE("receiver rule: a row ends at its last moment, or has no end") {
    using settle::end_of;
    using enum receiver_status;
    for (auto const status : {compensated, refused, closed, confirmed}) {
        CHECK(end_of({status, true, last_moment}) == last_moment);
    }
    CHECK(end_of({applied, true, last_moment}) == std::nullopt);
    CHECK(end_of({applied, false, last_moment}) == std::nullopt);
    CHECK(end_of({confirmed, false, last_moment}) == std::nullopt);
    CHECK(end_of({closed, false, last_moment}) == last_moment);
}

TEST_CASE("receiver rule: the last moment itself is in time") {
    receiver in_time{true};
    CHECK(in_time.take(call_operation::apply, call_status::ok, last_moment).status ==
          call_status::ok);
    receiver late{true};
    auto const now = last_moment + milliseconds{1};
    auto const refused = late.take(call_operation::apply, call_status::ok, now);
    CHECK(refused.status == call_status::refused);
    CHECK(refused.text.find("last moment") != std::string::npos);
    // The refusal is kept, even on a clock that is behind.
    CHECK(late.take(call_operation::apply, call_status::ok, timestamp{}) == refused);
}

TEST_CASE("receiver rule: a confirm ends after the purge of its row and a late apply") {
    using settle::decide;
    settle::receiver_standing const row{receiver_status::refused, true, last_moment};
    settle::receiver_request const confirm{call_operation::confirm, true, last_moment};
    CHECK(decide(&row, confirm, last_moment + milliseconds{1}).reply == call_status::ok);
    // Before the last moment no row is purged, so the confirm contradicts the refusal.
    CHECK(decide(&row, confirm, last_moment).reply == call_status::unavailable);
}

TEST_CASE("receiver rule: a confirm without a row ends only after its last moment") {
    using settle::decide;
    settle::receiver_request const confirm{call_operation::confirm, true, last_moment};
    for (auto const now : {timestamp{}, last_moment}) {
        auto const lost = decide(nullptr, confirm, now);
        CHECK(lost.step == settle::receiver_step::answer);
        CHECK(lost.reply == call_status::unavailable);
        CHECK(lost.text.starts_with("settle: repair by hand: "));
    }
    auto const purged = decide(nullptr, confirm, last_moment + milliseconds{1});
    CHECK(purged == settle::receiver_decision{});
    settle::receiver_request const alone{call_operation::confirm, false, last_moment};
    CHECK(decide(nullptr, alone, timestamp{}).step == settle::receiver_step::work);
}

TEST_CASE("receiver rule: a query works in every state and changes no row") {
    settle::receiver_request const query{call_operation::query, true, last_moment};
    using enum receiver_status;
    for (auto const status : {applied, confirmed, compensated, refused, closed}) {
        for (auto const now : {last_moment, last_moment + milliseconds{1}}) {
            settle::receiver_standing const row{status, true, last_moment};
            CHECK(settle::decide(&row, query, now).step == settle::receiver_step::work);
            CHECK(settle::decide(nullptr, query, now).step == settle::receiver_step::work);
        }
    }
    for (auto const worked : {call_status::ok, call_status::refused, call_status::unavailable}) {
        CHECK_FALSE(settle::status_after(call_operation::query, worked));
    }
}

} // namespace receiver_test
