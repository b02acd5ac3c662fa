// SPDX-License-Identifier: BSL-1.0
// The files that the applications read, and the files that they never overwrite.
#include <contains.hpp>
#include <program.hpp>
#include <sql.hpp>

#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace files_test {

namespace {

using testing::contains;
using testing::ended;
using testing::scratch_folder;

std::string const header = "id,source,destination,amount\n";
std::string const orders = header + "o1,ann,bob,1\no2,bob,ann,2\n";

/// Runs a line of bash in the folder, where `transfer` and `payment` stand for the programs.
ended shell(scratch_folder const& folder, std::string const& line) {
    std::string const programs = SETTLE_BIN_DIR;
    auto const start = "cd '" + folder.at("") + "'; PATH=" + programs + ":$PATH; " + line;
    return testing::program{folder, {"/bin/bash", "-c", start}}.wait();
}

} // namespace

TEST_CASE("files: a database file that cannot be used is told with the reason") {
    scratch_folder const folder{"files-paths"};
    REQUIRE(shell(folder, "ln -s loop.db loop.db; touch plain").code == 0);
    std::string const long_name(300, 'x');
    for (auto const& [path, reason] : std::vector<std::pair<std::string, std::string>>{
             {"loop.db", "Too many levels of symbolic links"},
             {"plain/x.db", "plain"},
             {long_name, "File name too long"},
             {"missing.db", "there is no such database; 'open' makes one"}}) {
        auto const refused = shell(folder, "transfer --store sqlite:" + path + " check");
        CHECK(refused.code == 3);
        CHECK_MESSAGE(contains(refused.err, reason), refused.err);
    }
    testing::ask(folder.at("other.db"), "CREATE TABLE zoo(lion)");
    folder.write("f.csv", orders);
    auto const slip = shell(folder, "transfer --store sqlite:other.db open f.csv --balance 10");
    CHECK(slip.code == 3);
    CHECK_MESSAGE(contains(slip.err, "belongs to another application: it has a table 'zoo'"),
                  slip.err);
}

TEST_CASE("files: a report never overwrites the database or an input file") {
    scratch_folder const folder{"files-report"};
    folder.write("f.csv", orders);
    REQUIRE(shell(folder, "transfer open f.csv --balance 10; ln -s f.csv link.csv; "
                          "ln -s bank.db link.db; mkdir folder")
                .code == 0);
    auto const before = testing::read_file(folder.at("bank.db"));
    struct refused_line {
        std::string line, sentence;
    };
    for (auto const& refused : std::vector<refused_line>{
             {"run f.csv --report bank.db", "would replace bank.db"},
             {"run f.csv --report ./folder/../bank.db", "would replace bank.db"},
             {"run f.csv --report bank.db-wal", "would replace bank.db-wal"},
             {"run f.csv --report link.db", "would replace bank.db"},
             {"run f.csv --report f.csv", "would replace f.csv"},
             {"run link.csv --report f.csv", "would replace link.csv"},
             {"open f.csv --balance 1 run /dev/null --report f.csv", "would replace f.csv"},
             {"run f.csv --report folder", "folder: the report cannot be written there"},
             {"--store sqlite:nowhere.db open f.csv --balance 1 run f.csv --report none/r.json",
              "none/r.json: the report cannot be written there"}}) {
        auto const how = shell(folder, "transfer " + refused.line);
        INFO(refused.line << '\n' << how.out << how.err);
        CHECK(how.code == 1);
        CHECK(contains(how.err, refused.sentence));
        CHECK(how.out.empty());
        CHECK(testing::read_file(folder.at("bank.db")) == before);
        CHECK(testing::read_file(folder.at("f.csv")) == orders);
        CHECK_FALSE(std::filesystem::exists(folder.at("nowhere.db")));
    }
    // An earlier report is overwritten, and an input may be a pipe.
    auto const good = shell(folder, "echo long > r.json; cat f.csv | transfer run /dev/stdin "
                                    "--report r.json check");
    CHECK_MESSAGE(good.code == 0, good.err);
    CHECK(nlohmann::json::parse(testing::read_file(folder.at("r.json")))["done"] == 2);
}

TEST_CASE("files: one signal ends the wait for a pipe, and the run is reported") {
    scratch_folder const folder{"files-signal"};
    folder.write("f.csv", orders);
    REQUIRE(shell(folder, "transfer --store sqlite:x.db open f.csv --balance 10").code == 0);
    auto const fifo = folder.at("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    int const writer = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::write(writer, orders.data(), orders.size()) == static_cast<ssize_t>(orders.size()));
    testing::program run{folder,
                         {std::string{SETTLE_BIN_DIR} + "/transfer", "--store",
                          "sqlite:" + folder.at("x.db"), "run", fifo}};
    // The program reads all of it, and waits for more.
    for (int unread = 1; unread > 0 && !run.has_ended();) {
        REQUIRE(::ioctl(writer, FIONREAD, &unread) == 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    run.signal(SIGTERM);
    auto const stopped = run.wait();
    ::close(writer);
    CHECK_MESSAGE(stopped.code == 3, stopped.out << stopped.err);
    CHECK(contains(stopped.out, "payment orders, stopped before the end\n"));
}

TEST_CASE("files: one signal ends the wait for a reader of the output") {
    scratch_folder const folder{"files-reader"};
    std::string many = header;
    for (int i = 0; i < 200; ++i) many += "many-orders-" + std::to_string(i) + ",ann,bob,1\n";
    folder.write("f.csv", many);
    REQUIRE(
        shell(folder, "transfer --store sqlite:x.db open f.csv --balance 1000 run f.csv").code ==
        0);
    auto const fifo = folder.at("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    int const reader = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    int const capacity = ::fcntl(reader, F_SETPIPE_SZ, 4096);
    testing::program list{folder,
                          {"/bin/bash", "-c",
                           "exec '" + std::string{SETTLE_BIN_DIR} + "/transfer' --store 'sqlite:" +
                               folder.at("x.db") + "' list >'" + fifo + "'"}};
    for (int unread = 0; unread < capacity && !list.has_ended();) {
        REQUIRE(::ioctl(reader, FIONREAD, &unread) == 0);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    REQUIRE_FALSE(list.has_ended());
    list.signal(SIGTERM);
    auto const stopped = list.wait();
    ::close(reader);
    CHECK_MESSAGE(stopped.code == 3, stopped.err);
    CHECK_MESSAGE(contains(stopped.err, "Interrupted system call"), stopped.err);
}

TEST_CASE("files: commands without a server load no client; MongoDB's works without /dev/shm") {
    scratch_folder const folder{"files-shm"};
    folder.write("f.csv", orders);
    for (std::string const program : {"transfer", "payment"}) {
        auto const linked = shell(folder, "ldd $(command -v " + program + ")");
        CHECK(contains(linked.out, "libsqlite3"));
        CHECK_FALSE(contains(linked.out, "mongoc"));
        CHECK_FALSE(contains(linked.out, "libpq"));
    }
    std::string const full = "unshare -rm sh -c 'mount -t tmpfs -o size=4k none /dev/shm && "
                             "head -c 9999 /dev/zero > /dev/shm/x; ";
    if (shell(folder, "unshare -rm mount -t tmpfs none /dev/shm").code != 0) {
        MESSAGE("SKIPPED in part: this user may not mount anything");
        return;
    }
    auto const how = shell(folder, full + "transfer --version && transfer --help && transfer open "
                                          "f.csv --balance 10 run f.csv check'");
    CHECK_MESSAGE(how.code == 0, how.out << how.err);
    CHECK(contains(how.out, "  done       2\n"));
    // With a server's address the client is loaded, and works without that memory.
    auto const server = shell(folder, full + "transfer --store mongodb://127.0.0.1:1/bank"
                                             "?serverSelectionTimeoutMS=100 check'");
    CHECK_MESSAGE(server.code == 3, server.out << server.err);
    for (std::string const name : {"mongodb", "postgresql"}) {
        auto const alone = shell(folder, "cp $(command -v transfer) . && ./transfer --store " +
                                             name + "://127.0.0.1:1/bank check");
        CHECK(alone.code == 3);
        CHECK(contains(alone.err, "transfer-" + name +
                                      ": there is no such program; 'samples/run.sh transfer "
                                      "--store " +
                                      name + "://…' builds it"));
    }
}

} // namespace files_test
