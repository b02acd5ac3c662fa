// SPDX-License-Identifier: BSL-1.0
#include "mongodb_bank.hpp"

#include <mongodb/servers.hpp>

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace bench {

namespace {

using baseline::mongodb::members;

/// A running set, with clients that do and do not retry. Only one set runs at a time, since two
/// would compete for the machine.
struct running_set {
    explicit running_set(std::size_t members) : servers(members) {}
    settle_test::replica_set servers;
    std::unique_ptr<baseline::mongodb::pool> clients[2];
};

std::unique_ptr<running_set>& running() {
    static std::unique_ptr<running_set> set;
    return set;
}

bool can_be_had() {
    static bool const is_installed = [] {
        std::string reason;
        if (!settle_test::find_mongod(reason).empty()) return true;
        fmt::print(stderr, "the MongoDB cases are left out: {}\n", reason);
        return false;
    }();
    return is_installed;
}

[[nodiscard]] auto collection_of(baseline::mongodb::connection const& by, char const* name) {
    return std::unique_ptr<mongoc_collection_t, void (*)(mongoc_collection_t*)>{
        mongoc_client_get_collection(by.native(), by.database(), name), &mongoc_collection_destroy};
}

} // namespace

mongodb_set const* mongodb_set::of(std::size_t members) {
    static mongodb_set const only;
    if (!can_be_had()) return nullptr;
    if (!running() || running()->servers.size() != members) {
        running().reset();
        mongoc_init();
        running() = std::make_unique<running_set>(members);
    }
    return &only;
}

std::string mongodb_set::address(std::string const& database) const {
    return running()->servers.address(database);
}

baseline::mongodb::pool const& mongodb_set::clients(bool retries) const {
    auto& pool = running()->clients[retries ? 1 : 0];
    if (!pool) {
        pool = std::make_unique<baseline::mongodb::pool>(
            address("admin") +
            "&w=majority&journal=true&retryWrites=" + (retries ? "true" : "false"));
    }
    return *pool;
}

mongodb_bank::mongodb_bank(mongodb_set const& set, workload const& work, char const* log,
                           char const* collection)
    : on_(set), work_(work), log_(log), accounts_(collection) {
    static int count = 0;
    name_ = "round_" + std::to_string(++count);
    auto const by = by_hand();
    auto opening = baseline::mongodb::insert_into(by, accounts_);
    for (auto const& id : work_.ids) {
        opening.insert([&](members const& members) {
            members.text("_id", id).integer("balance", work_.opening);
            members.no_elements("pendingTransactions");
        });
    }
    opening.expect(work_.ids.size());
    if (log_ != nullptr) create_log();
}

mongodb_bank::~mongodb_bank() {
    // A set that is gone takes its databases with it.
    try {
        auto const by = by_hand();
        baseline::mongodb::document command;
        command.fill().integer("dropDatabase", 1);
        mongoc_client_command_simple(by.native(), by.database(), command.native(), nullptr, nullptr,
                                     nullptr);
    } catch (std::exception const& problem) {
        fmt::print(stderr, "a database is left behind: {}\n", problem.what());
    }
}

void mongodb_bank::create_log() const {
    auto const by = by_hand();
    baseline::mongodb::document create;
    create.fill().text("create", log_);
    bson_error_t problem{};
    if (!mongoc_client_write_command_with_opts(by.native(), by.database(), create.native(), nullptr,
                                               nullptr, &problem)) {
        baseline::mongodb::refuse("the log's collection", problem);
    }
}

void mongodb_bank::check(std::vector<std::int64_t> const& expected) const {
    check_accounts(expected);
    if (log_ == nullptr) return;
    auto const by = by_hand();
    baseline::mongodb::document done;
    done.fill().text("state", "done");
    bson_error_t problem{};
    auto const found = mongoc_collection_count_documents(
        collection_of(by, log_).get(), done.native(), nullptr, nullptr, nullptr, &problem);
    if (found != static_cast<std::int64_t>(work_.requests.size())) {
        throw wrong_result(name_ + " has transactions that are not done");
    }
}

void mongodb_bank::check_accounts(std::vector<std::int64_t> const& expected) const {
    auto const by = by_hand();
    baseline::mongodb::document filter;
    baseline::mongodb::document options;
    options.fill().object("sort", [](members const& sort) { sort.integer("_id", 1); });
    auto const read_from = collection_of(by, accounts_);
    std::unique_ptr<mongoc_cursor_t, void (*)(mongoc_cursor_t*)> const cursor{
        mongoc_collection_find_with_opts(read_from.get(), filter.native(), options.native(),
                                         nullptr),
        &mongoc_cursor_destroy};
    std::vector<std::int64_t> balances;
    bson_t const* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) {
        bson_iter_t iterator;
        bson_iter_t mark;
        if (bson_iter_init_find(&iterator, document, "balance"))
            balances.push_back(bson_iter_as_int64(&iterator));
        if (bson_iter_init_find(&iterator, document, "pendingTransactions") &&
            bson_iter_recurse(&iterator, &mark) && bson_iter_next(&mark)) {
            throw wrong_result(name_ + " has marks left");
        }
    }
    bson_error_t problem{};
    if (mongoc_cursor_error(cursor.get(), &problem)) throw wrong_result(problem.message);
    if (balances != expected) throw wrong_result(name_ + " holds wrong balances");
}

} // namespace bench
