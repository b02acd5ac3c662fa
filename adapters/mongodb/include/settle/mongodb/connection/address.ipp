// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that address.hpp declares.
#pragma once

#include <settle/mongodb/connection/address.hpp>

#include <algorithm>
#include <fstream>
#include <limits>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION address::address(std::string const& text, database_options const& options)
    : weak_(options.weak_writes), is_looked_up_(text.starts_with("mongodb+srv:")) {
    begin_driver();
    // A part of a password could be a host or an option for the driver, which its texts name.
    auto const sign = text.rfind('@');
    auto const user = std::min(text.find("://"), text.size() - 1) + 3;
    bool const has_sign = sign != text.npos;
    bool const splits = has_sign && text.find_first_of("/?#@", user) < sign;
    bson_error_t problem{};
    if (!splits) {
        // The refusal of the address covers the driver's warnings about it.
        driver_warnings const held;
        uri_ = {mongoc_uri_new_with_error(text.c_str(), &problem), &mongoc_uri_destroy};
        if (uri_) held.refuse_options();
        if (uri_) held.write();
    }
    if (splits || (has_sign && !uri_)) {
        refuse("it cannot be read. In a name, a password or an option, write '@' as %40, ':' as "
               "%3A, '/' as %2F, '?' as %3F, '#' as %23 and '%' as %25");
    }
    if (!uri_) refuse(std::string{"it cannot be read: "} + problem.message);
    if (auto const* const name = mongoc_uri_get_database(uri_.get())) database_ = name;
    check_database();
    check_files();
    check_reads();
    check_limits();
    check_writes();
    add_limits();
}

SETTLE_FUNCTION address::address(address const& other, std::string const& database)
    : address(other) {
    database_ = database;
    check_database();
}

SETTLE_FUNCTION bool address::names_set() const {
    if (mongoc_uri_get_option_as_bool(uri_.get(), MONGOC_URI_DIRECTCONNECTION, false)) {
        return false;
    }
    auto const* const hosts = mongoc_uri_get_hosts(uri_.get());
    return mongoc_uri_get_replica_set(uri_.get()) != nullptr || is_looked_up_ ||
           (hosts != nullptr && hosts->next != nullptr);
}

SETTLE_FUNCTION void address::driver_warnings::refuse_options() const {
    constexpr std::string_view unknown = "Unsupported URI option ";
    for (std::string_view const text : texts_) {
        if (!text.starts_with(unknown)) continue;
        refuse("the driver does not know its option " + std::string{text.substr(unknown.size())} +
               ". Correct the option's name, or leave it out");
    }
}

SETTLE_FUNCTION void address::driver_warnings::write() const {
    for (auto const& one : texts_) {
        mongoc_log_default_handler(MONGOC_LOG_LEVEL_WARNING, "mongoc", one.c_str(), nullptr);
    }
}

SETTLE_FUNCTION std::vector<std::string>*& address::driver_warnings::kept() {
    thread_local std::vector<std::string>* here = nullptr;
    return here;
}

SETTLE_FUNCTION void address::begin_driver() {
    static bool const begun = [] {
        mongoc_init();
        mongoc_log_set_handler(&write_log, nullptr);
        return true;
    }();
    static_cast<void>(begun);
}

SETTLE_FUNCTION void address::write_log(mongoc_log_level_t level, char const* domain,
                                        char const* text, void*) {
    std::string_view const reply{text};
    bool const usual = reply.starts_with("Error in abortTransaction") ||
                       reply.starts_with("Couldn't send \"endSessions\"") ||
                       reply.starts_with("Failed authentication") ||
                       reply.starts_with("Failed to buffer") ||
                       reply.starts_with("Last server removed from topology");
    if (level > MONGOC_LOG_LEVEL_WARNING) return;
    if (auto* const kept = driver_warnings::kept()) {
        kept->emplace_back(reply);
        return;
    }
    if (level == MONGOC_LOG_LEVEL_WARNING && usual) return;
    mongoc_log_default_handler(level, domain, text, nullptr);
}

SETTLE_FUNCTION void address::refuse(std::string const& why) {
    raise(errc::unfit_store,
          "settle: this MongoDB address is refused: " + why + ". See mongodb#address");
}

SETTLE_FUNCTION void address::check_database() const {
    if (database_.empty()) {
        refuse("it names no database. Write one after the hosts: mongodb://host:27017/bank");
    }
    if (database_ != "admin" && database_ != "local" && database_ != "config") return;
    refuse("the database '" + database_ +
           "' is the server's own, and takes no native "
           "transactions. Name another one");
}

SETTLE_FUNCTION void address::check_files() const {
    for (char const* const name : {"tlsCAFile", "tlsCertificateKeyFile"}) {
        char const* const path = mongoc_uri_get_option_as_utf8(uri_.get(), name, nullptr);
        if (path == nullptr || std::ifstream{path}) continue;
        refuse("its " + std::string{name} + " names the file '" + path +
               "', which cannot be read. Correct the path, or the file's permissions");
    }
    char const* const how = mongoc_uri_get_auth_mechanism(uri_.get());
    bool const by_certificate = how != nullptr && std::string_view{how} == "MONGODB-X509";
    if (by_certificate && mongoc_uri_get_option_as_utf8(
                              uri_.get(), MONGOC_URI_TLSCERTIFICATEKEYFILE, nullptr) == nullptr) {
        // Without the option the driver would try to read a certificate that it does not have.
        refuse("its authMechanism needs a certificate. Name its file in "
               "tlsCertificateKeyFile, with tls=true");
    }
}

SETTLE_FUNCTION void address::check_reads() const {
    auto const* const preference = mongoc_uri_get_read_prefs_t(uri_.get());
    if (mongoc_read_prefs_get_mode(preference) != MONGOC_READ_PRIMARY) {
        refuse("its readPreference is not primary, and other members may return old data. "
               "Leave it out");
    }
}

SETTLE_FUNCTION void address::check_writes() {
    auto const* const given_concern = mongoc_uri_get_write_concern(uri_.get());
    auto const w = mongoc_write_concern_get_w(given_concern);
    constexpr int errors_ignored = -1; // The driver's name for it is gone in 2.x.
    if (w == MONGOC_WRITE_CONCERN_W_UNACKNOWLEDGED || w == errors_ignored) {
        refuse("with w=0 the outcome of every write stays unknown. Leave w out");
    }
    if (mongoc_write_concern_journal_is_set(given_concern) &&
        !mongoc_write_concern_get_journal(given_concern)) {
        other_writes_ = "without its journal a replica set may roll back acknowledged "
                        "writes. Leave journal out, or set "
                        "database_options::weak_writes";
    }
    if (w > 0 || w == MONGOC_WRITE_CONCERN_W_TAG) {
        auto const* const tag = mongoc_write_concern_get_wtag(given_concern);
        other_writes_ =
            "its w=" + (tag != nullptr ? tag : std::to_string(w)) +
            " need not be a majority of the replica set, which may roll back "
            "writes that fewer members have acknowledged. Leave w out, write w=majority, or set "
            "database_options::weak_writes";
    }
    if (!other_writes_.empty()) return;
    auto const concern = std::unique_ptr<mongoc_write_concern_t, concern_destroyer>{
        mongoc_write_concern_copy(given_concern)};
    mongoc_write_concern_set_w(concern.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
    mongoc_write_concern_set_journal(concern.get(), true);
    // A missing majority must become an unknown outcome, not an endless wait.
    if (mongoc_write_concern_get_wtimeout_int64(given_concern) == 0) {
        mongoc_write_concern_set_wtimeout_int64(concern.get(), patience_ms);
    }
    mongoc_uri_set_write_concern(uri_.get(), concern.get());
}

SETTLE_FUNCTION void address::check_limits() const {
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    auto const check = [](char const* name, std::int64_t milliseconds, std::int64_t least) {
        if (milliseconds >= least && milliseconds <= longest) return;
        refuse("its " + std::string{name} + " is " + std::to_string(milliseconds) + ". Give it " +
               std::to_string(least) + " to " + std::to_string(longest) + ", or leave it out");
    };
    for (char const* const name : {MONGOC_URI_SERVERSELECTIONTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS,
                                   MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_MAXPOOLSIZE}) {
        bson_iter_t iterator;
        auto const* const options = mongoc_uri_get_options(uri_.get());
        if (bson_iter_init_find_case(&iterator, options, name)) {
            check(name, bson_iter_as_int64(&iterator), 1);
        }
    }
    auto const* const writes = mongoc_uri_get_write_concern(uri_.get());
    check(MONGOC_URI_WTIMEOUTMS, mongoc_write_concern_get_wtimeout_int64(writes), 0);
}

SETTLE_FUNCTION void address::add_limits() const {
    if (mongoc_uri_has_option(uri_.get(), MONGOC_URI_WAITQUEUETIMEOUTMS)) {
        refuse("its waitQueueTimeoutMS would end calls that only wait for others of this "
               "program. Leave it out, and give maxPoolSize as many as there are threads");
    }
    // The error of a second attempt says nothing about the first, which may still arrive.
    // settle repeats such a write under another epoch. Commits are repeated all the same.
    mongoc_uri_set_option_as_bool(uri_.get(), MONGOC_URI_RETRYWRITES, false);
    // The driver's default would wait for minutes.
    for (char const* const name : {MONGOC_URI_SERVERSELECTIONTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS,
                                   MONGOC_URI_CONNECTTIMEOUTMS}) {
        if (!mongoc_uri_has_option(uri_.get(), name)) {
            mongoc_uri_set_option_as_int32(uri_.get(), name, patience_ms);
        }
    }
    auto const concern =
        std::unique_ptr<mongoc_read_concern_t, read_concern_destroyer>{mongoc_read_concern_new()};
    mongoc_read_concern_set_level(concern.get(), reads().plain);
    mongoc_uri_set_read_concern(uri_.get(), concern.get());
}

} // namespace mongodb::detail

SETTLE_END
