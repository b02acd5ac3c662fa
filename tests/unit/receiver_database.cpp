// SPDX-License-Identifier: BSL-1.0
// A receiver on a user's own database, which undoes work and fails in ways of its own.
#include "engine_types.hpp"

#include <receiver_calls.hpp>

#include <settle/receiver.hpp>

#include <map>
#include <stdexcept>

namespace receiver_database_test {

using namespace airline;
using settle::call_status;
using settle::receiver_row;
using settle::service_answer;
using settle::detail::commit_result;
using settle::detail::commit_status;
using rows_by_key = std::map<std::string, receiver_row, std::less<>>;

/// The rows and the bookings are in memory. A session is the number of bookings.
class database {
public:
    using session = int;

    class transaction {
    public:
        explicit transaction(database& database) : of_(database) {}

        void expect(std::span<service_call const>) {}
        std::optional<receiver_row> find(std::string_view key) {
            auto const found = of_.rows.find(key);
            return found == of_.rows.end() ? std::nullopt : std::optional{found->second};
        }
        void store(receiver_row const& row) {
            if (row.key == of_.throws_at) {
                of_.throws_at.clear();
                throw std::runtime_error{"the driver lost its connection"};
            }
            if (row.key == of_.fails_at) {
                throw settle::failure{{settle::make_error_code(settle::errc::bad_option), "no"}};
            }
            of_.rows[row.key] = row;
        }
        template <typename Work>
        bool attempt(Work&& work) {
            int const before = of_.bookings;
            bool const kept = work(of_.bookings) && !std::exchange(of_.undoes_work, false);
            if (!kept) of_.bookings = before;
            return kept;
        }

    private:
        database& of_;
    };

    static constexpr std::size_t largest_wave = 8;

    rows_by_key rows{};
    int bookings = 0;
    std::string throws_at{}; ///< the key whose next row makes the driver throw
    std::string fails_at{};  ///< the key whose row is never stored
    bool undoes_work = false;
    commit_result end{}; ///< of each commit

    template <typename Function>
    commit_result perform(Function&& function) {
        auto const rows_before = rows;
        int const bookings_before = bookings;
        auto const undo = [&] {
            rows = rows_before;
            bookings = bookings_before;
        };
        try {
            transaction native{*this};
            function(native);
        } catch (settle::failure const& problem) {
            undo();
            return {commit_status::undone, problem.problem()};
        } catch (...) {
            undo();
            throw;
        }
        return end;
    }
    settle::result<std::size_t> erase(timestamp, std::size_t) { return std::size_t{0}; }
    settle::result<std::vector<receiver_row>> list(settle::receiver_filter const&, std::string_view,
                                                   std::size_t) {
        return std::vector<receiver_row>{};
    }
    settle::result<std::optional<receiver_row>> find(std::string_view key) {
        return transaction{*this}.find(key);
    }
};

struct books {
    service_answer apply(int& bookings, service_call const&) {
        ++bookings;
        return service_answer::ok("{}");
    }
    service_answer compensate(int& bookings, service_call const&) {
        --bookings;
        return service_answer::ok();
    }
};

TEST_CASE("receiver database: an exception that undoes a wave takes its answers back") {
    database db;
    settle::receiver takes{db};
    std::vector const calls{apply_call("a"), apply_call("b")};
    std::vector<service_answer> answers(2);
    for (std::string const key : {"a", "b"}) {
        db.throws_at = key;
        CHECK_THROWS_AS(takes.take_all(calls, answers, books{}), std::runtime_error);
        for (auto const& one : answers) CHECK(one == service_answer{});
        CHECK(db.bookings == 0);
    }
    takes.take_all(calls, answers, books{});
    for (auto const& one : answers) CHECK(one == service_answer::ok("{}"));
    CHECK(db.bookings == 2);
}

TEST_CASE("receiver database: an exception after an error takes later answers back") {
    database db;
    settle::receiver takes{db};
    std::vector const calls{apply_call("a"), apply_call("b"), apply_call("c")};
    std::vector<service_answer> answers(3);
    // The error of `c` undoes the wave. Then each call has a native transaction of its own.
    db.fails_at = "c";
    int applies = 0;
    struct handler {
        int& applies;
        std::string& throws_at;
        service_answer apply(int& bookings, service_call const&) {
            ++bookings;
            if (++applies == 4) throws_at = "a";
            return service_answer::ok();
        }
    };
    CHECK_THROWS_AS(takes.take_all(calls, answers, handler{applies, db.throws_at}),
                    std::runtime_error);
    CHECK(db.bookings == 0);
    for (auto const& one : answers) CHECK(one == service_answer{});
}

TEST_CASE("receiver database: work that the database undoes is not applied") {
    database db;
    settle::receiver takes{db};
    db.undoes_work = true;
    auto const answer = takes.take(apply_call("a"), books{});
    CHECK(answer.status == call_status::unavailable);
    CHECK(answer.text.find("the database has undone the work") != std::string::npos);
    CHECK(db.rows.empty());
    CHECK(takes.take(apply_call("a"), books{}) == service_answer::ok("{}"));
    CHECK(db.bookings == 1);
}

TEST_CASE("receiver database: a close whose commit may have succeeded has an unknown end") {
    database db;
    settle::receiver takes{db};
    for (auto const code : {settle::errc::store_moved, settle::errc::store_unreachable}) {
        db.end = {commit_status::unknown, {settle::make_error_code(code), "the disk is full"}};
        auto const closed = takes.close("a");
        REQUIRE_FALSE(closed.has_value());
        CHECK(closed.problem().code == settle::condition::unknown);
        CHECK(closed.problem().message().find("the disk is full") != std::string::npos);
    }
    db.end = {commit_status::undone,
              {settle::make_error_code(settle::errc::store_moved), "the disk is full"}};
    CHECK(takes.close("b").problem().code == settle::errc::store_moved);
    db.end = {};
    CHECK(takes.close("c").has_value());
}

// --------------------------------------------------------------------- as the service of an engine

struct trip {
    std::string flight;
};
SETTLE_STRUCT(trip, flight);

inline constexpr settle::service<trip, settle::nothing, "airline", settle::barrier> flights;
inline constexpr auto trip_type =
    settle::transaction<trip, "trip">(settle::participant<"flight">(flights)
                                          .apply(settle::call(settle::param<&trip::flight>))
                                          .compensate(settle::call()));

TEST_CASE("receiver database: an engine does not take the answers of an undone wave") {
    database db;
    settle::receiver takes{db};
    settle::memory::database log;
    struct client {
        decltype(takes)& to;
        void send(std::span<service_call const> calls, std::span<service_answer> answers) {
            to.take_all(calls, answers, books{});
        }
    } in_process{takes};
    settle::engine engine{log, settle::bind(flights, in_process), settle::type<trip_type>};
    db.throws_at = log.name() + "/t1/flight";
    auto const ended = engine.run("t1", trip{"LH1"});
    REQUIRE_MESSAGE(ended.done(), ended.text());
    CHECK(db.throws_at.empty());
    CHECK(db.bookings == 1);
    CHECK(db.rows.size() == 1);
}

} // namespace receiver_database_test
