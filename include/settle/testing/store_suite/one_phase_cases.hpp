// SPDX-License-Identifier: BSL-1.0
// The store suite: native transactions that hold entries and all their parts.
#pragma once

#include <settle/testing/store_suite/bench.hpp>
#include <settle/testing/store_suite/entries.hpp>

#include <set>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// The requests of one call of one_phase(). It decides as the protocol does: a transaction is done
/// if all its parts were applied, held back if a part is busy, and else canceled.
class one_phase_wave : public one_phase_decider {
public:
    /// Of every entry that is canceled.
    static constexpr std::string_view reason_text = "\xC3\xA4 sentence";

    /// Shape:   found - the state and epoch of an entry that is `initial`; none for a new entry
    template <typename Direction>
    void add(transaction_id id, typename Direction::parameters parameters, epoch number,
             std::optional<standing> const& standing = {}) {
        auto& transaction = transactions_.emplace_back(
            test_transaction::of<Direction>(std::move(id), std::move(parameters)));
        auto& parts = parts_.emplace_back();
        transaction.request_parts(parts, step::one_phase,
                                  standing ? standing->epoch_number + 1 : number);
        auto& results = results_.emplace_back(parts.size());
        requests_.push_back({requests_.size(), &transaction.id, transaction.type,
                             transaction.parameters.get(), !standing,
                             std::span<part_request const>{parts}, std::span{results}});
        standings_.push_back(standing.value_or(new_at(number)));
        images_.emplace_back();
    }
    /// A commit with the first part alone: the other parts are elsewhere.
    /// Shape:   pending - the entry, as the worker knows it
    template <typename Direction>
    void join(transaction_id id, typename Direction::parameters parameters,
              standing const& pending) {
        add<Direction>(std::move(id), std::move(parameters), 0, pending);
        one_phase_request& request = requests_.back();
        for (part_request& part : parts_.back()) part.epoch_number = pending.epoch_number;
        request.parts = request.parts.first(1);
        request.results = request.results.first(1);
        joined_.insert(request.index);
    }
    /// A late entry, with the first part alone.
    template <typename Direction>
    void decide(transaction_id id, typename Direction::parameters parameters, epoch birth) {
        add<Direction>(std::move(id), std::move(parameters), birth);
        one_phase_request& request = requests_.back();
        request.parts = request.parts.first(1);
        request.results = request.results.first(1);
    }
    /// The transaction is never to be written.
    void decline(std::size_t index) { declined_.insert(index); }

    template <typename Session, typename Log>
    void send(Session& session, Log& log, timestamp now = at_millisecond(1)) {
        std::string const owner = "me";
        session.one_phase(std::span{requests_}, log, write_context{now, owner}, *this);
    }

    [[nodiscard]] log_answer reply(std::size_t index) const {
        return requests_[index].result.reply;
    }
    [[nodiscard]] std::string answers(std::size_t index) const {
        std::string out;
        for (part_result const& one : requests_[index].results) {
            if (!out.empty()) out += ", ";
            out += name_of(one.what);
        }
        return out;
    }
    /// The indexes of the requests that were decided, in the order of the decisions.
    [[nodiscard]] std::vector<std::size_t> const& decided() const { return decided_; }
    /// True if the store called decide() before all parts had their results.
    [[nodiscard]] bool decided_early() const { return decided_early_; }

    bool decide(one_phase_request& request) override {
        std::size_t const index = request.index;
        decided_.push_back(index);
        standing const& current = standings_[index];
        auto& images = images_[index];
        images.clear();
        if (joined_.count(index) != 0) return decide_to_join(request, current, images);
        bool busy = declined_.count(index) != 0;
        reason why = reason::none;
        std::size_t failed = entry_write::no_part;
        for (std::size_t part = 0; part < request.parts.size(); ++part) {
            part_result const& result = request.results[part];
            auto const& [descriptor, number] =
                std::tie(*request.parts[part].descriptor, request.parts[part].part);
            // A request whose entry exists may be decided without its parts.
            decided_early_ = decided_early_ || (result.what == answer::none && part != 0 &&
                                                request.results[0].what != answer::none);
            busy = busy || result.what == answer::busy || result.what == answer::none;
            if (result.kept) images.push_back(descriptor.make_image(number, result.kept.get()));
            if (why != reason::none || reason_of(result.what) == reason::none) continue;
            why = reason_of(result.what);
            failed = part;
        }
        if (busy && why == reason::none) return false;
        bool const is_late = request.inserts && is_birth(current.epoch_number);
        state const to = why != reason::none ? state::canceled
                         : is_late           ? state::applied
                                             : state::done;
        test_transaction const& transaction = transactions_[index];
        transition changed = claim_of(current);
        changed.to = to;
        changed.why = why;
        request.write = request.inserts
                            ? transaction.insert(to, current.epoch_number, at_millisecond(0), why)
                            : transaction.change(step::one_phase, changed);
        request.write.action = is_late ? step::decide : step::one_phase;
        if (to == state::applied) request.write.change.committed = current.epoch_number;
        request.write.failed_part = failed;
        if (why != reason::none) request.write.why_text = reason_text;
        if (to != state::canceled && !images.empty()) request.write.images = &images;
        return true;
    }
    /// Returns: null. A faulty database would dereference it, so the suite sends no wave late.
    [[nodiscard]] std::shared_ptr<one_phase_decider> copy() const override { return {}; }

private:
    bool decide_to_join(one_phase_request& request, standing const& current,
                        std::vector<image>& images) {
        part_result const& result = request.results.front();
        part_request const& part = request.parts.front();
        if (result.what != answer::applied) return false;
        if (result.kept) {
            images.push_back(part.descriptor->make_image(part.part, result.kept.get()));
        }
        request.write = transactions_[request.index].change(step::commit, commit_of(current));
        if (!images.empty()) request.write.images = &images;
        return true;
    }

    static standing new_at(epoch number) {
        standing made;
        made.epoch_number = number;
        return made;
    }

    std::deque<test_transaction> transactions_;
    std::deque<std::vector<part_request>> parts_;
    std::deque<std::vector<part_result>> results_;
    std::deque<std::vector<image>> images_;
    std::vector<one_phase_request> requests_;
    std::vector<standing> standings_; ///< of each entry; the epoch of the insert, if it is new
    std::set<std::size_t> declined_;
    std::set<std::size_t> joined_;
    std::vector<std::size_t> decided_;
    bool decided_early_ = false;
};

/// Calls `function(on, log)` if the fixture's store settles in one phase.
template <typename Fixture, typename Function>
void if_one_phase(Function&& function) {
    Fixture fixture;
    auto& database = fixture.database_here();
    bench<typename Fixture::database> bench{database};
    using session = std::remove_cvref_t<decltype(bench.session())>;
    if constexpr (settle::detail::capabilities<session>.settles_in_one_phase) {
        if (!settle::detail::capabilities_here(bench.session()).settles_in_one_phase) return;
        auto log = database.bind_log();
        function(bench, log);
    }
}

TEST_CASE_TEMPLATE_DEFINE("one phase: entries and parts are written together or not at all",
                          Fixture, suite_one_phase) {
    if_one_phase<Fixture>([](auto& bench, auto& log) {
        auto& session = bench.session();
        bench.create(ledgers, {"A", 100, 0, "old"});
        bench.create(ledgers, {"B", 0, 0, "old"});
        bench.create(ledgers, {"C", 0, 0, "old"});
        card card;
        card.id = "c";
        card.open = true;
        bench.create(cards, card);
        REQUIRE(bench.template apply<adjust_type>("other", {"C", 1, 0, 0, 0, no_least, no_most},
                                                  5) == "applied");
        auto submitted = new_move(log, "submitted");
        REQUIRE(submitted.insert(state::initial, 20, 0, "submitter") == log_answer::taken);

        one_phase_wave wave;
        wave.add<forward<move_type>>("done", {"A", "B", 60}, 10);
        wave.add<forward<move_type>>("poor", {"A", "B", 60}, 11);
        wave.add<forward<relabel_type>>("busy", {"C", "new"}, 12);
        wave.add<forward<move_type>>("submitted", {"A", "C", 40}, 0, submitted.view());
        wave.add<forward<withdraw_type>>("erase", {"c", true}, 13);
        wave.add<forward<order_type>>("declined", {"B", 1, {}}, 14);
        wave.decline(5);
        wave.send(session, log);
        CHECK_FALSE(wave.decided_early());
        CHECK(wave.reply(0) == log_answer::taken);
        CHECK(wave.answers(0) == "applied, applied");
        CHECK(wave.reply(1) == log_answer::taken);
        CHECK(wave.answers(1) == "guard failed, applied");
        CHECK(wave.reply(2) == log_answer::held_back);
        CHECK(wave.answers(2) == "busy");
        CHECK(wave.reply(3) == log_answer::taken);
        CHECK(wave.reply(4) == log_answer::taken);
        CHECK(wave.reply(5) == log_answer::held_back);

        auto const shown = [&](transaction_id const& id) {
            auto const stored = log.read(id).value();
            return stored ? std::string{name_of(stored->state)} + ' ' +
                                std::to_string(stored->epoch_number)
                          : std::string{"none"};
        };
        CHECK(shown("done") == "done 10");
        CHECK(shown("poor") == "canceled 11");
        CHECK(shown("busy") == "none");
        CHECK(shown("submitted") == "done 21");
        CHECK(shown("erase") == "done 13");
        CHECK(shown("declined") == "none");
        entry const poor = log.read("poor").value().value();
        CHECK(poor.why == reason::guard_failed);
        CHECK(poor.why_text == one_phase_wave::reason_text);
        CHECK(poor.participant == "source");
        CHECK(poor.owner == "me");
        CHECK(poor.modified == at_millisecond(1));
        entry const erased = log.read("erase").value().value();
        CHECK(erased.committed == 0);
        REQUIRE(erased.images.size() == 1);
        CHECK(erased.images[0].after.empty());
        CHECK(log.read("submitted").value()->owner == "me");
        CHECK(log.read("submitted").value()->attempts == 1);

        // A part that was applied is confirmed or undone, and leaves no mark.
        CHECK(session.template read<ledgers_type>("A").value()->balance == 0);
        CHECK(session.template read<ledgers_type>("B").value()->balance == 60);
        CHECK(session.template read<ledgers_type>("C").value()->balance == 41);
        CHECK(session.template read<ledgers_type>("C").value()->label == "old");
        CHECK_FALSE(session.template read<cards_type>("c").value().has_value());
        CHECK(bench.marks().size() == 1);
    });
}

TEST_CASE_TEMPLATE_DEFINE("one phase: a commit joins the parts in the log's own store", Fixture,
                          suite_joined_commit) {
    if_one_phase<Fixture>([](auto& bench, auto& log) {
        auto& session = bench.session();
        bench.create(ledgers, {"A", 100, 0, "old"});
        bench.create(ledgers, {"B", 0, 0, "old"});
        bench.create(ledgers, {"C", 0, 0, "old"});
        REQUIRE(bench.template apply<adjust_type>("other", {"C", 1, 0, 0, 0, no_least, no_most},
                                                  5) == "applied");
        auto const done = pending_move(log, "done", 10, 0, "me");
        auto const poor = pending_move(log, "poor", 11, 0, "me");
        auto moved = pending_move(log, "moved", 12, 0, "me");
        standing const before = moved.view();
        REQUIRE(moved.claim(1, "another") == log_answer::taken);
        suite_entry label{log, test_transaction::of<forward<relabel_type>>("label", {"A", "new"})};
        REQUIRE(label.insert(state::pending, 14, 0, "me") == log_answer::taken);
        suite_entry busy{log, test_transaction::of<forward<relabel_type>>("busy", {"C", "new"})};
        REQUIRE(busy.insert(state::pending, 15, 0, "me") == log_answer::taken);

        one_phase_wave wave;
        wave.join<forward<move_type>>("done", {"A", "B", 60}, done.view());
        wave.join<forward<move_type>>("poor", {"A", "B", 60}, poor.view());
        wave.join<forward<move_type>>("moved", {"A", "B", 1}, before);
        wave.join<forward<relabel_type>>("label", {"A", "new"}, label.view());
        wave.join<forward<relabel_type>>("busy", {"C", "new"}, busy.view());
        wave.send(session, log);
        CHECK(wave.reply(0) == log_answer::taken);
        CHECK(wave.reply(1) == log_answer::held_back);
        CHECK(wave.answers(1) == "guard failed");
        CHECK(wave.reply(2) == log_answer::conflict);
        CHECK(wave.reply(3) == log_answer::taken);
        CHECK(wave.reply(4) == log_answer::held_back);
        CHECK(wave.answers(4) == "busy");

        entry const stored = log.read("done").value().value();
        CHECK(stored.state == state::applied);
        CHECK(stored.committed == 10);
        CHECK(stored.epoch_number == 10);
        CHECK(log.read("poor").value()->state == state::pending);
        CHECK(log.read("poor").value()->epoch_number == 11);
        CHECK(log.read("moved").value()->epoch_number == 13);
        CHECK(log.read("label").value()->images.size() == 1);
        CHECK(log.read("busy").value()->state == state::pending);
        CHECK(session.template read<ledgers_type>("A").value()->balance == 40);
        CHECK(session.template read<ledgers_type>("A").value()->label == "new");
        CHECK(session.template read<ledgers_type>("B").value()->balance == 0);
        CHECK(session.template read<ledgers_type>("C").value()->label == "old");
        CHECK(bench.marks().size() == 1);
    });
}

TEST_CASE_TEMPLATE_DEFINE("one phase: an existing entry does not prevent other requests", Fixture,
                          suite_one_phase_again) {
    if_one_phase<Fixture>([](auto& bench, auto& log) {
        bench.create(ledgers, {"A", 100, 0, ""});
        bench.create(ledgers, {"B", 0, 0, ""});
        auto const pending = pending_move(log, "pending", 5, 0, "other");
        auto over = pending_move(log, "over", 5, 0, "other");
        REQUIRE(over.commit(1, "other") == log_answer::taken);
        REQUIRE(over.close(2, "other") == log_answer::taken);
        auto moved = new_move(log, "moved");
        REQUIRE(moved.insert(state::initial, 20, 0, "submitter") == log_answer::taken);
        standing const initial = moved.view();
        REQUIRE(moved.claim(1, "other") == log_answer::taken);

        move const move{"A", "B", 1};
        std::vector<char const*> const ids{"first", "pending", "second", "over",
                                           "moved", "first",   "third"};
        one_phase_wave wave;
        for (std::size_t index = 0; index < ids.size(); ++index) {
            std::optional<standing> found;
            if (index == 4) found = initial;
            wave.add<forward<move_type>>(ids[index], move, 10 + index, found);
        }
        wave.send(bench.session(), log);
        for (std::size_t const position : {std::size_t{0}, std::size_t{2}, std::size_t{6}}) {
            INFO("transaction ", std::string{ids[position]});
            CHECK(wave.reply(position) == log_answer::taken);
            CHECK(wave.answers(position) == "applied, applied");
            CHECK(log.read(ids[position]).value()->state == state::done);
            CHECK(log.read(ids[position]).value()->epoch_number == 10 + position);
        }
        CHECK(wave.reply(1) == log_answer::conflict);
        CHECK((wave.reply(3) == log_answer::ended || wave.reply(3) == log_answer::conflict));
        CHECK(wave.reply(4) == log_answer::conflict);
        bool const is_twin = wave.reply(5) == log_answer::ended ||
                             wave.reply(5) == log_answer::conflict ||
                             wave.reply(5) == log_answer::held_back;
        CHECK(is_twin);
        CHECK(log.read("pending").value()->epoch_number == 5);
        CHECK(log.read("moved").value()->state == state::pending);
        CHECK(bench.session().template read<ledgers_type>("A").value()->balance == 97);
        CHECK(bench.session().template read<ledgers_type>("B").value()->balance == 3);
        CHECK(bench.marks().empty());

        // However often the native transaction was repeated, the last decisions keep the order.
        std::vector<std::size_t> last;
        for (std::size_t number = 0; number < ids.size(); ++number) {
            auto const& decisions = wave.decided();
            auto const latest = std::find(decisions.rbegin(), decisions.rend(), number);
            REQUIRE(latest != decisions.rend());
            if (wave.reply(number) == log_answer::taken) {
                last.push_back(static_cast<std::size_t>(decisions.rend() - latest));
            }
        }
        CHECK(std::is_sorted(last.begin(), last.end()));
    });
}

TEST_CASE_TEMPLATE_DEFINE("one phase: what is bound with one database is one store", Fixture,
                          suite_one_store) {
    Fixture fixture;
    auto& database = fixture.database_here();
    std::string steps;
    engine engine{log_in(database), bind(ledgers, database), bind(shelves, database),
                  type<order_type>, observed_by([&steps](event const& event) {
                      steps.append(name_of(event.taken)).append(", ");
                  })};
    engine.create(ledgers, {"A", 100, 0, ""}).value();
    engine.create(shelves, {1, 10}).value();
    CHECK(engine.run(order{"A", 30, {{1, 4}, {1, 2}}}).done());
    auto const session = database.template bind<ledgers_type>(database.bind_log().name());
    bool const settles = settle::detail::capabilities_here(session).settles_in_one_phase;
    CHECK((steps == "one phase, end, ") == settles);
    CHECK(engine.run(order{"A", 30, {{1, 5}}}).participant == "stock");
    CHECK(engine.at(ledgers, "A").balance == 70);
    CHECK(engine.at(shelves, 1).amount == 4);
    CHECK(engine.marks().value() == 0);
}

} // namespace testing
SETTLE_END
#endif
