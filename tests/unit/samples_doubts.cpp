// SPDX-License-Identifier: BSL-1.0
// The samples' list of parts in doubt: what holds each part back, and the next step.
#include <shared/doubts.hpp>

#include <contains.hpp>

#include <settle/protocol/fresh.hpp>
#include <settle/running/construction/owner.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

using settle::state;
using testing::contains;

/// A part prepared under an epoch, two days and an hour ago.
settle::doubtful_part doubtful(settle::epoch number) {
    auto const now =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return {"settle/log/1.0/T1/" + std::to_string(number),
            now - std::chrono::hours{49},
            "T1",
            {1, 0},
            number};
}

/// The same, with an entry that this process owns.
settle::doubtful_part waiting(state in, settle::epoch prepared, settle::epoch committed = 0) {
    auto part = doubtful(prepared);
    auto& entry = part.waits_for.emplace();
    entry.id = "T1";
    entry.type = "outgoing";
    entry.state = in;
    entry.epoch_number = 7;
    entry.committed = committed;
    entry.attempts = 1;
    entry.owner = settle::this_process();
    entry.modified = part.prepared;
    return part;
}

std::string text_of(settle::doubtful_part const& part) {
    return samples::doubts_text({part}, "books");
}

} // namespace

TEST_CASE("doubts: each state of the entry has its sentence and its next step") {
    for (auto const& late : {doubtful(7), waiting(state::canceled, 7), waiting(state::done, 6, 7),
                             waiting(state::applied, 6, 7)}) {
        CHECK(contains(text_of(late), "\n  next step    'books recover' rolls it back\n"));
    }
    CHECK(contains(text_of(waiting(state::pending, 7)),
                   "\n  held by      the transaction is not decided; its owner, "));
    for (auto const& ending : {waiting(state::pending, 6), waiting(state::canceling, 7)}) {
        CHECK(contains(text_of(ending), "\n  held by      the roll back is due; its owner, "));
    }
    CHECK(contains(text_of(waiting(state::applied, 7, 7)), "the commit is due; its owner, "));
    CHECK(contains(text_of(waiting(state::pending, 7)), "'books recover --older-than 1m'"));
    CHECK(contains(text_of(waiting(state::initial, 7)), "'books work' runs it"));

    auto damaged = waiting(state::pending, 7);
    damaged.waits_for->fault = "the state is 99";
    CHECK(contains(text_of(damaged), "the state is 99"));
    CHECK(contains(text_of(damaged), "'books show T1'"));
}

TEST_CASE("doubts: the oldest is first, and no name forges a line") {
    auto newer = doubtful(8);
    newer.name = "settle/log/x\ny";
    newer.id.clear();
    newer.prepared += std::chrono::hours{24};
    auto const text = samples::doubts_text({newer, waiting(state::pending, 7)}, "books");
    CHECK(text.starts_with("settle/log/1.0/T1/7\n  prepared     2 d 1 h "));
    CHECK(contains(text,
                   "\n  transaction  'T1', outgoing, pending, 1 further attempt, last moved 2 d "));
    CHECK(contains(text, "\nsettle/log/x\\ny\n  prepared     1 d 1 h "));
    CHECK(contains(text, "only a person ends it"));
    CHECK(text.ends_with("\n2 in doubt; a part in doubt holds its locks\n"));
    CHECK(samples::doubts_text({}, "books") == "0 in doubt\n");
}

TEST_CASE("doubts: a call without an entry has its marks and its next step") {
    settle::system_environment const environment;
    auto const now = environment.now();
    auto const older = settle::fresh_birth(environment, now - std::chrono::hours{49});
    auto const newer = settle::fresh_birth(environment, now);
    std::vector<settle::mark_locator> const marks{
        {"accounts", std::int64_t{7}, "new", {0, 0}, newer},
        {"accounts", "anna", "old\nT9", {0, 0}, older},
        {"limits", "bert", "old\nT9", {1, 0}, older}};
    auto const text = samples::early_marks_text(marks, "books");
    CHECK(text.starts_with("old\\nT9\n  began        2 d 1 h ago, at "));
    CHECK(contains(text, "  mark         accounts/anna\n  mark         limits/bert\n"));
    CHECK(contains(text, "'books recover'"));
    CHECK(contains(text, "\nnew\n"));
    CHECK(contains(text, "  mark         accounts/7\n"));
    CHECK(text.ends_with("2 begun without an entry; their marks may make others wait\n"));
    CHECK(samples::early_marks_text({}, "books") == "0 begun without an entry\n");
}
