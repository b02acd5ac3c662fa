// SPDX-License-Identifier: BSL-1.0
// The files that the applications read, how often they read them, and the files that they never
// overwrite.
#include <contains.hpp>
#include <program.hpp>

#include <nlohmann/json.hpp>

#include <sys/stat.h>

namespace files_test {

namespace {

using testing::contains;
using testing::ended;
using testing::scratch_folder;
using arguments = std::vector<std::string>;

std::string const header = "id,source,destination,amount\n";
std::string const orders = header + "o1,ann,bob,1\no2,bob,ann,2\n";
std::string const invoices = "InvoiceNo,StockCode,Quantity,UnitPrice,CustomerID\n"
                             "1,x,1,1,7\n2,y,1,1,8\n1,z,1,1,7\n";

/// Runs a line of bash in the folder, where `transfer` and `payment` stand for the programs.
ended shell(scratch_folder const& folder, std::string const& line) {
    std::string const programs = SETTLE_BIN_DIR;
    auto const start = "cd '" + folder.at("") + "'; PATH=" + programs + ":$PATH; " + line;
    return testing::program{folder, {"/bin/bash", "-c", start}}.wait();
}

} // namespace

TEST_CASE("files: a database file that cannot be looked at is told with the reason") {
    scratch_folder const folder{"files-paths"};
    REQUIRE(
        shell(folder, "ln -s nowhere.db dangling.db; ln -s loop.db loop.db; touch plain").code ==
        0);
    std::string const long_name(300, 'x');
    for (auto const& [path, reason] : std::vector<std::pair<std::string, std::string>>{
             {"dangling.db", "is a link to a file that is not there"},
             {"loop.db", "Too many levels of symbolic links"},
             {"plain/x.db", "Not a directory"},
             {long_name, "File name too long"},
             {"missing.db", "there is no such database; 'open' makes one"}}) {
        auto const refused = shell(folder, "transfer --store sqlite:" + path + " check");
        CHECK(refused.code == 3);
        CHECK_MESSAGE(contains(refused.err, reason), refused.err);
    }
}

TEST_CASE("files: a report never overwrites the database or an input file") {
    scratch_folder const folder{"files-report"};
    folder.write("f.csv", orders);
    REQUIRE(shell(folder, "transfer open f.csv --balance 10; cp bank.db other.db").code == 0);
    std::filesystem::create_symlink("bank.db", folder.at("link.db"));
    std::filesystem::create_symlink("f.csv", folder.at("link.csv"));
    std::filesystem::create_hard_link(folder.at("bank.db"), folder.at("hard.db"));
    std::filesystem::create_hard_link(folder.at("f.csv"), folder.at("hard.csv"));
    std::filesystem::create_directory(folder.at("folder"));
    std::filesystem::create_symlink("nowhere.db-wal", folder.at("link-wal"));
    // SQLite's side files, recognized by their first bytes, without their database.
    folder.write("live.db-wal", "\x37\x7F\x06\x82 and more");
    folder.write("new-wal", "\x37\x7F\x06\x83 and more");
    folder.write("big-wal", "\x37\x7F\x06\x82");
    folder.write("old-journal", "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7");
    struct refusal {
        std::string line;
        std::string sentence;
    };
    std::vector<refusal> const all{
        {"run f.csv --report bank.db", "replace the database"},
        {"run f.csv --report ./folder/../bank.db", "replace the database"},
        {"run f.csv --report bank.db-wal", "replace the database"},
        {"run f.csv --report bank.db-shm", "replace the database"},
        {"run f.csv --report bank.db-journal", "replace the database"},
        {"run f.csv --report link.db", "replace the database"},
        {"run f.csv --report hard.db", "replace the database"},
        {"--store sqlite:link.db run f.csv --report bank.db-wal", "replace the database"},
        {"--store sqlite:link.db run f.csv --report link.db-wal", "replace the database"},
        {"run f.csv --report other.db", "replace a database"},
        {"run f.csv --report live.db-wal", "replace a file of a database"},
        {"run f.csv --report new-wal", "replace a file of a database"},
        {"run f.csv --report big-wal", "replace a file of a database"},
        {"run f.csv --report old-journal", "replace a file of a database"},
        {"run f.csv --report other.db-wal", "replace a file of a database"},
        {"run f.csv --report other.db-shm", "replace a file of a database"},
        {"run f.csv --report other.db-journal", "replace a file of a database"},
        {"run f.csv --report f.csv", "replace the file that 'run' reads"},
        {"run f.csv --report link.csv", "replace the file that 'run' reads"},
        {"run f.csv --report hard.csv", "replace the file that 'run' reads"},
        {"run link.csv --report f.csv", "replace the file that 'run' reads"},
        {"run - --report f.csv < f.csv", "replace the file that 'run' reads"},
        {"--store memory: open hard.csv --balance 1 run /dev/null --report f.csv",
         "replace the file that 'open' reads"},
        {"--store mongodb://127.0.0.1:1/bank run f.csv --report f.csv",
         "replace the file that 'run' reads"},
        {"--store sqlite:nowhere.db open f.csv --balance 1 run f.csv --report nowhere.db",
         "replace the database"},
        {"--store sqlite:nowhere.db open f.csv --balance 1 run f.csv --report link-wal",
         "replace the database"},
        {"run f.csv --report folder", "folder: cannot be written: Is a directory"},
        {"--store sqlite:nowhere.db open f.csv --balance 1 run f.csv --report none/r.json",
         "none/r.json: cannot be written: No such file or directory"},
        {"run bank.db", "'run' is to read bank.db, which is the database itself"},
        {"open hard.db --balance 1", "'open' is to read hard.db, which is the database itself"},
    };
    auto const before = testing::read_file(folder.at("bank.db"));
    for (auto const& each : all) {
        auto const how = shell(folder, "timeout 60 transfer " + each.line);
        INFO(each.line << '\n' << how.out << how.err);
        CHECK(how.code == 1);
        CHECK(contains(how.err, each.sentence));
        CHECK(how.out.empty());
        CHECK(testing::read_file(folder.at("bank.db")) == before);
        CHECK(testing::read_file(folder.at("f.csv")) == orders);
        CHECK_FALSE(std::filesystem::exists(folder.at("nowhere.db")));
    }
    // A database of two names is refused by itself.
    auto const good =
        shell(folder, "rm hard.db; transfer run f.csv --report r.json && transfer check");
    CHECK_MESSAGE(good.code == 0, good.err);
    CHECK(nlohmann::json::parse(testing::read_file(folder.at("r.json")))["done"] == 2);
    // An earlier report is overwritten.
    CHECK(shell(folder, "transfer run f.csv --report r.json").code == 0);
}

TEST_CASE("files: a report on an open descriptor follows earlier output and precedes later") {
    scratch_folder const folder{"files-stdout"};
    folder.write("f.csv", orders);
    REQUIRE(shell(folder, "transfer open f.csv --balance 10").code == 0);
    for (std::string const name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/7"}) {
        auto const how = shell(folder, "transfer run f.csv --report " + name +
                                           " check > both.txt 7>&1; code=$?; cat both.txt; "
                                           "exit $code");
        INFO(name << '\n' << how.out << how.err);
        CHECK(how.code == 0);
        auto const begin = how.out.find("\n{\n");
        auto const end = how.out.find("\n}\n");
        auto const follows = how.out.find("ok  money ");
        REQUIRE(begin < end);
        REQUIRE(end < follows);
        REQUIRE(follows != std::string::npos);
        CHECK(how.out.starts_with("2 payment orders\n"));
        CHECK(nlohmann::json::parse(how.out.substr(begin, end + 3 - begin))["done"] == 2);
    }
    auto const closed = shell(folder, "transfer run f.csv --report /dev/fd/9 9>&-");
    CHECK(closed.code == 1);
    CHECK(closed.out.empty());
    CHECK(contains(closed.err, "/dev/fd/9: cannot be written: "));
}

TEST_CASE("files: every command reads its input once, from a pipe, a FIFO or a substitution") {
    scratch_folder const folder{"files-pipes"};
    folder.write("f.csv", orders);
    folder.write("i.csv", invoices);
    REQUIRE(::mkfifo(folder.at("fifo").c_str(), 0600) == 0);
    for (std::string const program : {"transfer", "payment"}) {
        bool const shop = program == "payment";
        std::string const file = shop ? "i.csv" : "f.csv";
        std::string const opening = shop ? " --balance 10 --stock 5" : " --balance 10";
        arguments const lines{
            "open <(cat " + file + ")" + opening + " && P run <(cat " + file + ")",
            "open - " + opening + " < " + file + " && cat " + file + " | P run -",
            "open -- - " + opening + " < " + file + " && P run /dev/stdin < " + file,
            "--store memory: open - " + opening + " run - check < " + file + " && P open " + file +
                opening + " run " + file,
        };
        for (auto line : lines) {
            line = "P() { " + program + " \"$@\"; }; rm -f *.db*; P " + line + " && P check";
            auto const how = shell(folder, line);
            INFO(line << '\n' << how.out << how.err);
            CHECK(how.code == 0);
            CHECK(contains(how.out, "  done       2\n"));
            CHECK(contains(how.out, shop ? "orders     2 opened\n" : "accounts   2 opened\n"));
        }
        auto const write = "(timeout 60 sh -c 'cat " + file + " > fifo') & timeout 60 ";
        auto const fifo =
            shell(folder, "rm -f *.db*; " + write + program + " open fifo" + opening + " && { " +
                              write + program + " run fifo; } && " + program + " check");
        CHECK_MESSAGE(fifo.code == 0, fifo.out << fifo.err);
        auto const twice = shell(folder, "cat " + file + " | " + program +
                                             " --store memory: open -" + opening + " run -");
        CHECK(twice.code == 1);
        CHECK(contains(twice.err, "'open' and 'run' are to read -, which can be read once only; "));
        auto const closed = shell(folder, program + " run - <&-");
        CHECK(closed.code != 0);
    }
    auto const empty = shell(folder, "transfer --store memory: run - < /dev/null");
    CHECK(empty.code == 1);
    CHECK(contains(empty.err, "standard input: the file is empty"));
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
