// SPDX-License-Identifier: BSL-1.0
// A bad network before a genuine server: every message of a transaction is lost, cut or late, in
// each of a transaction's steps. What the caller is told is what the log says, and sums are exact.
#include "bank.hpp"
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

/// What is run, and where.
struct situation {
    char const* name;
    fresh_database::address_of* server;
    settle::phases how;
    std::int64_t amount; ///< more than there is: canceled
    bool beside = false; ///< another transfer goes in the same waves, and nothing goes unread
};

constexpr std::int64_t enough = 30;
constexpr std::int64_t too_much = 300;
constexpr std::int64_t small = 7;
constexpr situation standalone{"standalone", &standalone_address, settle::two_phases, enough};
constexpr situation standalone_canceled{"standalone, canceled", &standalone_address,
                                      settle::two_phases, too_much};
constexpr situation member{"member of a set", &replica_set_address, settle::two_phases, enough};
constexpr situation member_canceled{"member of a set, canceled", &replica_set_address,
                                  settle::two_phases, too_much};
constexpr situation one_phase{"one phase", &replica_set_address, settle::phases::one, enough};
constexpr situation one_phase_canceled{"one phase, canceled", &replica_set_address,
                                     settle::phases::one, too_much};
constexpr situation together{"two in a wave", &replica_set_address, settle::two_phases, enough,
                           true};
constexpr situation together_canceled{"two in a wave, one canceled", &replica_set_address,
                                    settle::two_phases, too_much, true};
constexpr situation one_phase_together{"one phase, two in a wave", &replica_set_address,
                                     settle::phases::one, enough, true};

/// What befalls one message, and when it comes after all.
struct mishap {
    std::string command;
    int nth = 1;
    fault what{};
    bool after_recovery = false; ///< a late one comes when everything has been settled already
    int times = 1;               ///< more than one: until the caller gives up

    [[nodiscard]] bool is_late() const { return what == fault::hold_request; }
};

/// The short limits are for messages that something befalls. Before that, a busy machine may
/// take longer.
template <typename Make>
auto patiently(Make make) {
    for (int tries = 50;; --tries) {
        try {
            return make();
        } catch (settle::failure const&) {
            if (tries == 0) throw;
        }
    }
}

/// A caller behind the bad network, and another one who reaches the server directly.
class scene {
public:
    explicit scene(situation const& of)
        : of_(of), own_(*of.server), between_(own_.port()), straight_(own_.address()),
          astray_(patiently([&] {
              return settle::mongodb::database{
                  between_.address(own_.name(), "socketTimeoutMS=1000&connectTimeoutMS=1000")};
          })),
          others_(bank_on(straight_, of.how)) {}

    /// The commands of one undisturbed transaction, and how many there are of each.
    std::map<std::string, int> commands() {
        open_accounts("usual");
        between_.reset_counts();
        auto const told = run("usual");
        CHECK_MESSAGE(told.done() == (of_.amount == enough), told);
        auto all = between_.all_requests();
        std::erase_if(all, [](auto const& one) { return is_greeting(one.first); });
        return all;
    }

    void suffer(mishap const& one, std::string const& id) {
        INFO(of_.name << ": message '" << one.command << "' " << one.nth << ", fault "
                      << static_cast<int>(one.what) << (one.after_recovery ? ", very late" : ""));
        open_accounts(id);
        between_.reset_counts();
        between_.add({.command = one.command, .nth = one.nth, .times = one.times,
                      .what = one.what});
        auto const told = run(id);
        INFO(told.text());
        between_.clear_rules();
        CHECK(between_.requests(one.command) >= one.nth);
        // One fault keeps nobody from reaching the end.
        if (one.times == 1) CHECK(told.done() == (of_.amount == enough));
        if (one.times == 1) CHECK(told.verdict != settle::verdict::undecided);
        if (one.is_late() && !one.after_recovery) land(one);
        settle_all(others_);
        check(told);
        if (!one.is_late() || !one.after_recovery) return;
        // The records then stand again as the late message expects them to: only its epoch says
        // that its time is over.
        if (told.done()) {
            CHECK(others_.run(id + "-back", transfer{id + "/B", id + "/A", of_.amount}).done());
        }
        land(one);
        settle_all(others_);
        check_told(others_, told);
        check_balances(id, 0);
    }

private:
    /// With a caller that has no memory, so that every one sends the same messages.
    void open_accounts(std::string const& id) {
        caller_.reset(new engine(patiently([&] { return bank_on(astray_, of_.how); })));
        others_.create(ledgers, {id + "/A", opening, 0, ""}).value();
        others_.create(ledgers, {id + "/B", opening, 0, ""}).value();
        if (of_.beside) others_.create(ledgers, {id + "/C", opening, 0, ""}).value();
    }
    settle::outcome run(std::string const& id) {
        transfer const wanted{id + "/A", id + "/B", of_.amount};
        if (!of_.beside) return caller_->run(id, wanted);
        transfer const beside{id + "/C", id + "/B", small};
        return caller_->run_all(std::vector{std::pair{id, wanted}, std::pair{id + "+", beside}})
            .front();
    }
    /// The late message reaches the server, whatever that makes of it.
    void land(mishap const& one) {
        between_.release();
        CHECK(between_.wait_for_replies(one.command, between_.requests(one.command)));
    }
    void check(settle::outcome const& told) {
        check_told(others_, told);
        check_balances(told.id, moved_by(told.id, of_.amount));
    }
    std::int64_t moved_by(std::string const& id, std::int64_t amount) {
        auto const found = others_.find(id).value();
        return found && found->state == settle::state::done ? amount : 0;
    }
    void check_balances(std::string const& id, std::int64_t moved) {
        std::int64_t const beside = of_.beside ? moved_by(id + "+", small) : 0;
        CHECK(balance(others_, id + "/A") == opening - moved);
        CHECK(balance(others_, id + "/B") == opening + moved + beside);
        if (of_.beside) CHECK(balance(others_, id + "/C") == opening - beside);
        CHECK(others_.marks().value() == 0);
    }

    using engine = decltype(bank_on(std::declval<settle::mongodb::database&>()));

    situation of_;
    fresh_database own_;
    proxy between_;
    settle::mongodb::database straight_;
    settle::mongodb::database astray_;
    engine others_;
    std::unique_ptr<engine> caller_;
};

/// Every message of a transaction meets every one of these. A late one comes when all is over.
/// Shape:   thorough - it also comes before the recovery, and some callers never get an answer.
///          The waits are long and the work is little, so several callers suffer side by side
void every_message(situation const& of, std::vector<fault> const& faults, bool thorough) {
    constexpr std::size_t side_by_side = 32;
    std::vector<mishap> all;
    for (auto const& [command, count] : scene{of}.commands()) {
        // The driver ends a native transaction with it when settle does not need one any more.
        if (command == "abortTransaction") continue;
        for (int nth = 1; nth <= count; ++nth) {
            for (fault const what : faults) {
                all.push_back({command, nth, what, true});
                if (thorough && all.back().is_late()) all.push_back({command, nth, what, false});
            }
            if (!thorough || nth != 1) continue;
            all.push_back({command, nth, fault::drop_reply, false, 10'000});
        }
    }
    // Alone and in one phase: the accounts, the entry, the commit.
    CHECK(all.size() >= 3 * faults.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < side_by_side; ++i) {
        callers.emplace_back([&] {
            try {
                scene here{of};
                for (std::size_t at = next++; at < all.size(); at = next++) {
                    here.suffer(all[at], "t" + std::to_string(at));
                }
            } catch (std::exception const& problem) {
                FAIL_CHECK(std::string{problem.what()});
            }
        });
    }
}

std::vector<fault> const lost_or_late{fault::drop_reply, fault::hold_request};
std::vector<fault> const every_fault{fault::drop_request, fault::drop_reply, fault::cut_reply,
                                     fault::hold_reply, fault::hold_request};

} // namespace

TEST_CASE("a transfer whose messages are lost or late, on a single server") {
    every_message(standalone, lost_or_late, false);
}
TEST_CASE("a transfer in one phase whose messages are lost or late") {
    every_message(one_phase, lost_or_late, false);
}
TEST_CASE("two transfers in a wave whose messages are lost or late") {
    every_message(together, lost_or_late, false);
}

TEST_CASE("long: every message of a transfer meets every fault of a network") {
    for (situation const& one : {standalone, member, one_phase, together, one_phase_together}) {
        every_message(one, every_fault, true);
    }
}
TEST_CASE("long: every message of a transfer that is canceled meets every fault of a network") {
    for (situation const& one :
         {standalone_canceled, member_canceled, one_phase_canceled, together_canceled}) {
        every_message(one, every_fault, true);
    }
}

} // namespace settle_test
