// SPDX-License-Identifier: BSL-1.0
// A transfer behind a proxy, each of whose messages meets some mishap. What the caller is told is
// then what the log says, sums are exact, and no mark is left.
#pragma once

#include "bank.hpp"
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace settle_test {

/// What is run, and where.
struct circumstances {
    std::string name;
    fresh_database::address_of* server;
    settle::phases how;
    std::int64_t amount; ///< more than there is: canceled
    bool beside = false; ///< another transfer goes in the same waves, and nothing goes unread
};

inline constexpr std::int64_t enough = 30;
inline constexpr std::int64_t too_much = 300;
inline constexpr std::int64_t small = 7;
inline circumstances const standalone{
    "standalone", &standalone_address, settle::two_phases, enough};
inline circumstances const standalone_canceled{
    "standalone, canceled", &standalone_address, settle::two_phases, too_much};
inline circumstances const member{
    "member of a set", &replica_set_address, settle::two_phases, enough};
inline circumstances const member_canceled{
    "member of a set, canceled", &replica_set_address, settle::two_phases, too_much};
inline circumstances const one_phase{
    "one phase", &replica_set_address, settle::phases::one, enough};
inline circumstances const one_phase_canceled{
    "one phase, canceled", &replica_set_address, settle::phases::one, too_much};
inline circumstances const together{
    "two in a wave", &replica_set_address, settle::two_phases, enough, true};
inline circumstances const together_canceled{
    "two in a wave, one canceled", &replica_set_address, settle::two_phases, too_much, true};
inline circumstances const one_phase_together{
    "one phase, two in a wave", &replica_set_address, settle::phases::one, enough, true};

/// What befalls one message, and when it comes after all.
struct mishap {
    rule on{};
    bool after_recovery = false; ///< a late one comes when everything has been settled already

    [[nodiscard]] bool is_late() const { return on.what == fault::hold_request; }
    /// Whether the caller meets it until it gives up.
    [[nodiscard]] bool lasts() const { return on.times > 1; }
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

/// A server that says that it is no primary is looked at anew by the driver when it has news,
/// or this often.
inline std::string const looks_often = "heartbeatFrequencyMS=500";

/// A caller behind the bad network, and another one who reaches the server directly.
class scene {
public:
    explicit scene(circumstances const& of)
        : of_(of), own_(*of.server), between_(own_.port()), straight_(own_.address()),
          astray_(patiently([&] {
              return settle::mongodb::database{
                  between_.address(own_.name(), "socketTimeoutMS=1000&connectTimeoutMS=1000&" +
                                                    looks_often)};
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
        INFO(of_.name << ": message '" << one.on.command << "' " << one.on.nth << ", fault "
                      << static_cast<int>(one.on.what) << " " << one.on.answer
                      << (one.after_recovery ? ", very late" : ""));
        open_accounts(id);
        between_.reset_counts();
        between_.add(one.on);
        auto const told = run(id);
        INFO(told.text());
        between_.clear_rules();
        CHECK(between_.requests(one.on.command) >= one.on.nth);
        // One fault keeps nobody from reaching the end.
        if (!one.lasts()) CHECK(told.done() == (of_.amount == enough));
        if (!one.lasts()) CHECK(told.verdict != settle::verdict::undecided);
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
        CHECK(between_.wait_for_replies(one.on.command, between_.requests(one.on.command)));
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

    circumstances of_;
    fresh_database own_;
    proxy between_;
    settle::mongodb::database straight_;
    settle::mongodb::database astray_;
    engine others_;
    std::unique_ptr<engine> caller_;
};

/// What is to befall a message: of a command, the nth of its kind.
using mishaps_of = std::vector<mishap>(std::string const& command, int nth);

/// Every message of a transaction meets what `make` has for it. The waits are long and the work is
/// little, so many callers suffer side by side.
inline void every_message(circumstances const& of, std::function<mishaps_of> const& make) {
    constexpr std::size_t side_by_side = 48;
    std::vector<mishap> all;
    std::size_t messages = 0;
    for (auto const& [command, count] : scene{of}.commands()) {
        // The driver ends a native transaction with it when settle does not need one any more.
        if (command == "abortTransaction") continue;
        for (int nth = 1; nth <= count; ++nth, ++messages) {
            for (mishap& one : make(command, nth)) all.push_back(std::move(one));
        }
    }
    // Alone and in one phase: the accounts, the entry, the commit.
    CHECK(messages >= 3);
    CHECK(all.size() >= messages);
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

} // namespace settle_test
