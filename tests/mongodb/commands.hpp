// SPDX-License-Identifier: BSL-1.0
// Sends commands to a MongoDB server as a person at a shell would, without the adapter under test.
#pragma once

#include <mongoc/mongoc.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace settle_test {

/// An owned BSON document. (The type's alignment keeps it out of std::unique_ptr.)
class document {
public:
    document() : native_{bson_new()} {}
    explicit document(std::string const& json) {
        bson_error_t error;
        native_ = bson_new_from_json(reinterpret_cast<std::uint8_t const*>(json.data()),
                                     static_cast<ssize_t>(json.size()), &error);
        if (!native_) throw std::invalid_argument{"'" + json + "': " + error.message};
    }
    document(document const& other) : native_{bson_copy(other.native_)} {}
    document& operator=(document other) {
        std::swap(native_, other.native_);
        return *this;
    }
    ~document() { bson_destroy(native_); }

    [[nodiscard]] bson_t* get() const { return native_; }

private:
    bson_t* native_;
};

/// The reply of a server, or the error of the command.
class reply {
public:
    bool ok = false;
    std::uint32_t domain = 0; ///< libmongoc's, 0 when the command succeeded
    std::uint32_t code = 0;
    std::string error;

    [[nodiscard]] bson_t* document() const { return document_.get(); }
    /// The answer as relaxed extended JSON.
    [[nodiscard]] std::string json() const {
        std::unique_ptr<char, void (*)(void*)> const text{
            bson_as_relaxed_extended_json(document(), nullptr), bson_free};
        return text ? text.get() : "";
    }

    // A path is spelled with dots: "cursor.firstBatch.0._id".
    [[nodiscard]] std::optional<std::int64_t> number(std::string const& path) const {
        bson_iter_t found;
        if (!find(path, found) || !BSON_ITER_HOLDS_NUMBER(&found)) return {};
        return bson_iter_as_int64(&found);
    }
    [[nodiscard]] std::string text(std::string const& path) const {
        bson_iter_t found;
        if (!find(path, found) || !BSON_ITER_HOLDS_UTF8(&found)) return "";
        return bson_iter_utf8(&found, nullptr);
    }
    /// False also where there is no such field.
    [[nodiscard]] bool truth(std::string const& path) const {
        bson_iter_t found;
        return find(path, found) && bson_iter_as_bool(&found);
    }
    /// The 24 digits of an ObjectId, empty if the value is of another type.
    [[nodiscard]] std::string object_id(std::string const& path) const {
        bson_iter_t position;
        if (!find(path, position) || !BSON_ITER_HOLDS_OID(&position)) return "";
        char digits[25];
        bson_oid_to_string(bson_iter_oid(&position), digits);
        return digits;
    }

private:
    bool find(std::string const& path, bson_iter_t& position) const {
        bson_iter_t begin;
        return bson_iter_init(&begin, document()) &&
               bson_iter_find_descendant(&begin, path.c_str(), &position);
    }

    settle_test::document document_;
};

/// One client of libmongoc, for one thread. The address may name a database after the last slash.
class connection {
public:
    explicit connection(std::string const& address) {
        mongoc_init();
        bson_error_t error;
        std::unique_ptr<mongoc_uri_t, void (*)(mongoc_uri_t*)> const uri{
            mongoc_uri_new_with_error(address.c_str(), &error), mongoc_uri_destroy};
        if (!uri) throw std::invalid_argument{"'" + address + "': " + error.message};
        client_.reset(mongoc_client_new_from_uri(uri.get()));
        mongoc_client_set_error_api(client_.get(), MONGOC_ERROR_API_VERSION_2);
        char const* const named = mongoc_uri_get_database(uri.get());
        database_ = named ? named : "admin";
    }

    [[nodiscard]] mongoc_client_t* native() const { return client_.get(); }
    [[nodiscard]] std::string const& database() const { return database_; }

    /// Runs a command that is written as JSON, in the address's database. A failed write is an
    /// error here too, though the server calls such a command a success.
    reply run(std::string const& json) { return run(database_, json); }
    reply run(std::string const& database, std::string const& json) {
        reply answer;
        bson_error_t error{};
        document const command{json};
        bson_t native;
        answer.ok = mongoc_client_command_with_opts(client_.get(), database.c_str(), command.get(),
                                                    nullptr, nullptr, &native, &error);
        bson_concat(answer.document(), &native);
        bson_destroy(&native);
        answer.domain = answer.ok ? 0 : error.domain;
        answer.code = answer.ok ? 0 : error.code;
        answer.error = answer.ok ? "" : error.message;
        for (std::string const at : {"writeErrors.0.", "writeConcernError."}) {
            auto const code = answer.number(at + "code");
            if (!answer.ok || !code) continue;
            answer.ok = false;
            answer.domain = MONGOC_ERROR_SERVER;
            answer.code = static_cast<std::uint32_t>(*code);
            answer.error = answer.text(at + "errmsg");
        }
        return answer;
    }

private:
    std::unique_ptr<mongoc_client_t, void (*)(mongoc_client_t*)> client_{nullptr,
                                                                         mongoc_client_destroy};
    std::string database_;
};

/// Runs one command over a new connection.
inline reply run_command(std::string const& address, std::string const& json) {
    return connection{address}.run(json);
}

} // namespace settle_test
