// SPDX-License-Identifier: BSL-1.0
// Programs of two builds share one SQLite file. Their definitions of one name differ. Each settles
// its own entries, leaves the other's alone, and reports them.
#include "fixtures.hpp"

#include <contains.hpp>

#include <settle/settle.hpp>

#include <sys/socket.h>
#include <sys/wait.h>

#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <random>
#include <sstream>
#include <tuple>

namespace two_builds {

struct account {
    std::string id;
    std::int64_t balance = 0;
};

struct transfer {
    std::string source, destination;
    std::int64_t amount = 0;
};

} // namespace two_builds
BOOST_HANA_ADAPT_STRUCT(two_builds::account, id, balance);
BOOST_HANA_ADAPT_STRUCT(two_builds::transfer, source, destination, amount);

namespace two_builds {
namespace {

using settle::field;
using settle::param;
using settle_test::scratch_file;
using testing::contains;

constexpr settle::collection<account, "accounts", &account::id> accounts;

constexpr auto older = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

/// Has one more parameter, and the participants in the opposite order. Run on an entry of the older
/// definition, every part would change another record.
constexpr auto newer =
    settle::transaction<transfer, "transfer">(
        settle::participant<"destination">(accounts, param<&transfer::destination>)
            .confirm(field<&account::balance> += param<&transfer::amount>),
        settle::participant<"source">(accounts, param<&transfer::source>)
            .require(field<&account::balance> >= param<&transfer::amount>)
            .apply(field<&account::balance> -= param<&transfer::amount>)
            .compensate(settle::inverse))
        .require(param<&transfer::source> != param<&transfer::destination>);

constexpr std::int64_t opening = 1000;
transfer const left_behind{"A", "B", 7};

/// The answer of a program to one request, in one line.
template <typename Engine>
std::string answer(Engine& engine, std::istringstream request) {
    std::string what;
    std::string id;
    request >> what >> id;
    std::ostringstream out;
    if (what == "open") {
        for (char const* name : {"A", "B", "C"}) {
            engine.create(accounts, account{name, opening}).value();
        }
    } else if (what == "show") {
        auto const found = engine.find(id).value();
        out << name_of(found->state) << ' ' << found->epoch_number << ' ' << found->owner;
    } else if (what == "run") {
        out << engine.run(id, left_behind);
    } else if (what == "cancel") {
        out << engine.cancel(id);
    } else if (what == "recover") {
        auto const report = engine.recover();
        out << "done " << report.done << ", skipped " << report.skipped.size();
        for (auto const& one : report.skipped) {
            bool const other = one.problem.code == settle::errc::other_definition;
            out << ", " << one.id << (other ? " of another definition: " : ": ") << one.problem;
        }
    } else if (what == "sweep") {
        auto const report = engine.sweep();
        out << "undone " << report.undone << " of " << report.looked_at;
    } else if (what == "use") {
        std::mt19937_64 chance{std::hash<std::string>{}(id)};
        std::size_t over = 0;
        constexpr char const* ring[]{"A", "B", "C", "A"};
        for (int i = 0; i < 30; ++i) {
            auto const from = chance() % 3;
            auto const outcome = engine.run(
                id + "-" + std::to_string(i),
                transfer{ring[from], ring[from + 1], static_cast<std::int64_t>(chance() % 400)});
            if (outcome.done() || outcome.canceled()) ++over;
        }
        out << over << " of 30";
    }
    return out.str();
}

/// A program of one build: a process that answers requests until its input ends.
class program {
public:
    template <typename Serve>
    explicit program(Serve const& serve) {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        pid_ = ::fork();
        REQUIRE(pid_ >= 0);
        bool const parent = pid_ != 0;
        ::close(ends[parent ? 1 : 0]);
        end_ = ends[parent ? 0 : 1];
        if (parent) return;
        int code = 0;
        try {
            serve(*this);
        } catch (std::exception const& problem) {
            send(problem.what());
            code = 2;
        }
        ::_exit(code);
    }
    program(program const&) = delete;
    program& operator=(program const&) = delete;
    ~program() {
        if (pid_ > 0) end();
    }

    void send(std::string const& line) const {
        std::string const text = line + '\n';
        // A dead process answers nothing; the next check reports that.
        static_cast<void>(::send(end_, text.data(), text.size(), MSG_NOSIGNAL));
    }
    /// Empty also if the other process has ended.
    [[nodiscard]] std::string receive() const {
        std::string line;
        for (char byte = 0; ::read(end_, &byte, 1) == 1 && byte != '\n';) line += byte;
        return line;
    }
    [[nodiscard]] std::string ask(std::string const& line) const {
        send(line);
        return receive();
    }

    /// The status with which it ended.
    int end() {
        // Later programs hold this end of the pipe open as well, so a line announces the end.
        send("");
        ::close(end_);
        int status = -1;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

private:
    ::pid_t pid_ = -1;
    int end_ = -1;
};

template <auto const& Type>
auto server(std::string const& path) {
    return [path](program& self) {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<Type>};
        for (std::string line; !(line = self.receive()).empty();) {
            self.send(answer(engine, std::istringstream{line}));
        }
    };
}

/// A program that is killed when it has applied its parts.
template <auto const& Type>
void leave(std::string const& path, std::string const& id) {
    program dying{[&](program&) {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<Type>, settle::observed_by([](auto const& seen) {
                                  if (seen.taken == settle::step::apply) ::raise(SIGKILL);
                              }),
                              settle::two_phases};
        std::ignore = engine.run(id, left_behind);
    }};
    int const status = dying.end();
    REQUIRE(WIFSIGNALED(status));
}

/// After both programs have ended: every entry is final, and the records agree with the done
/// entries.
void check_end(std::string const& path) {
    settle::sqlite::database db{path};
    settle::engine engine{db, settle::type<older>};
    CHECK(engine.marks().value() == 0);
    std::map<std::string, std::int64_t> expected{{"A", opening}, {"B", opening}, {"C", opening}};
    std::size_t seen = 0;
    for (settle::entry const& entry : engine.list()) {
        INFO("entry ", entry.id);
        ++seen;
        CHECK(settle::is_final(entry.state));
        bool const of_older = entry.id.starts_with("old");
        CHECK(entry.definition == (of_older ? settle::forward<older>::definition()
                                            : settle::forward<newer>::definition()));
        if (entry.state != settle::state::done) continue;
        auto const given = settle::decode_json<transfer>(entry.parameters).value();
        expected[given.source] -= given.amount;
        expected[given.destination] += given.amount;
    }
    CHECK(seen == 2 + 4 * 30);
    for (account const& one : engine.scan(accounts)) {
        INFO(one.id);
        CHECK(one.balance == expected[one.id]);
    }
}

} // namespace

TEST_CASE("two builds: each settles its own entries in a shared file and reports the others") {
    scratch_file const file;
    std::string const& path = file.path();
    program old_one{server<older>(path)};
    REQUIRE(old_one.ask("open") == "");
    leave<newer>(path, "new-left");
    program new_one{server<newer>(path)};
    std::string const before = old_one.ask("show new-left");
    CHECK(contains(before, "pending "));

    // Whatever the older program tries, the newer program's entry and marks stay unchanged.
    std::string const reply = old_one.ask("recover");
    CHECK(contains(reply, "done 0, skipped 1, new-left of another definition: settle: "));
    CHECK(contains(reply, "Keep the old definition in an engine until its entries are settled."));
    CHECK(contains(old_one.ask("run new-left"),
                   "new-left: refused: settle: the entry 'new-left' of "
                   "type 'transfer' was made by another definition."));
    CHECK(contains(old_one.ask("cancel new-left"), "new-left: refused: settle: the entry"));
    CHECK(old_one.ask("sweep") == "undone 0 of 2");
    CHECK(old_one.ask("show new-left") == before);

    // Both at work at once, on the same accounts, while that entry is open.
    auto const both_use = [&](std::string const& round) {
        old_one.send("use old-" + round);
        new_one.send("use new-" + round);
        CHECK(old_one.receive() == "30 of 30");
        CHECK(new_one.receive() == "30 of 30");
    };
    both_use("first");
    CHECK(old_one.ask("show new-left") == before);

    // In the opposite direction; and each program ends its own entries.
    leave<older>(path, "old-left");
    std::string const left = new_one.ask("show old-left");
    std::string const answered = new_one.ask("recover");
    CHECK(contains(answered, "done 1, skipped 1, old-left of another definition: settle: "));
    CHECK(contains(old_one.ask("show new-left"), "done "));
    CHECK(new_one.ask("show old-left") == left);
    both_use("second");
    CHECK(old_one.ask("recover") == "done 1, skipped 0");
    CHECK(contains(new_one.ask("show old-left"), "done "));
    CHECK(new_one.ask("recover") == "done 0, skipped 0");
    // Every program reports the outcome of a final entry.
    CHECK(old_one.ask("cancel new-left") == "new-left: done");

    CHECK(old_one.end() == 0);
    CHECK(new_one.end() == 0);
    check_end(path);
}

} // namespace two_builds
