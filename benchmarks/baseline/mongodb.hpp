// SPDX-License-Identifier: BSL-1.0
// libmongoc used by hand: clients of a pool, and commands written into their buffers.
#pragma once

#include "../workload.hpp"
#include "clock.hpp"

#include <mongoc/mongoc.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace baseline::mongodb {

[[noreturn]] inline void refuse(std::string_view action, bson_error_t const& problem) {
    throw std::runtime_error("by hand: " + std::string{action} + ": " + problem.message);
}

/// Another native transaction changes the same document: this one can be repeated.
struct conflict {};

[[nodiscard]] inline bool is_transient(bson_t const* reply) {
    return mongoc_error_has_label(reply, "TransientTransactionError");
}

/// Members of a document that is being written.
class members {
public:
    explicit members(bson_t* into) noexcept : into_(into) {}

    [[nodiscard]] bson_t* native() const noexcept { return into_; }
    members const& text(std::string_view name, std::string_view value) const {
        bson_append_utf8(into_, name.data(), length(name), value.data(), length(value));
        return *this;
    }
    members const& integer(std::string_view name, std::int64_t value) const {
        bson_append_int64(into_, name.data(), length(name), value);
        return *this;
    }
    members const& date(std::string_view name, std::int64_t milliseconds) const {
        bson_append_date_time(into_, name.data(), length(name), milliseconds);
        return *this;
    }
    members const& boolean(std::string_view name, bool value) const {
        bson_append_bool(into_, name.data(), length(name), value);
        return *this;
    }
    template <typename Write>
    members const& object(std::string_view name, Write const& write) const {
        bson_t inside;
        bson_append_document_begin(into_, name.data(), length(name), &inside);
        write(members{&inside});
        bson_append_document_end(into_, &inside);
        return *this;
    }
    members const& no_elements(std::string_view name) const {
        bson_t inside;
        bson_append_array_begin(into_, name.data(), length(name), &inside);
        bson_append_array_end(into_, &inside);
        return *this;
    }

private:
    static int length(std::string_view text) noexcept { return static_cast<int>(text.size()); }
    bson_t* into_;
};

/// A document that owns its memory.
class document {
public:
    document() { bson_init(&held_); }
    document(document const&) = delete;
    document& operator=(document const&) = delete;
    ~document() { bson_destroy(&held_); }

    [[nodiscard]] bson_t* native() noexcept { return &held_; }
    [[nodiscard]] members fill() noexcept { return members{&held_}; }
    /// Storage for a function that initializes the document.
    [[nodiscard]] bson_t* fresh() {
        bson_destroy(&held_);
        return &held_;
    }

private:
    bson_t held_{};
};

struct session_destroyer {
    void operator()(mongoc_client_session_t* held) const noexcept {
        mongoc_client_session_destroy(held);
    }
};
using session = std::unique_ptr<mongoc_client_session_t, session_destroyer>;

/// Clients of one address.
class pool {
public:
    /// Shape:   address - with the write concern, and the setting of retryWrites
    explicit pool(std::string const& address) : uri_(mongoc_uri_new(address.c_str())) {
        if (uri_) held_.reset(mongoc_client_pool_new(uri_.get()));
        if (!held_) throw std::runtime_error("by hand: this address is none: " + address);
        mongoc_client_pool_set_error_api(held_.get(), MONGOC_ERROR_API_VERSION_2);
    }

    [[nodiscard]] mongoc_client_pool_t* native() const noexcept { return held_.get(); }

private:
    struct uri_destroyer {
        void operator()(mongoc_uri_t* held) const noexcept { mongoc_uri_destroy(held); }
    };
    struct destroyer {
        void operator()(mongoc_client_pool_t* held) const noexcept {
            mongoc_client_pool_destroy(held);
        }
    };
    std::unique_ptr<mongoc_uri_t, uri_destroyer> uri_;
    std::unique_ptr<mongoc_client_pool_t, destroyer> held_;
};

/// One client of a pool, for the life of its thread, and the database that it uses.
class connection {
public:
    connection(pool const& from, std::string database)
        : from_(from), database_(std::move(database)),
          client_(mongoc_client_pool_pop(from.native())) {}
    connection(connection const&) = delete;
    connection& operator=(connection const&) = delete;
    ~connection() { mongoc_client_pool_push(from_.native(), client_); }

    [[nodiscard]] mongoc_client_t* native() const noexcept { return client_; }
    [[nodiscard]] char const* database() const noexcept { return database_.c_str(); }

    [[nodiscard]] session begin_session() const {
        std::unique_ptr<mongoc_session_opt_t, void (*)(mongoc_session_opt_t*)> const options{
            mongoc_session_opts_new(), &mongoc_session_opts_destroy};
        mongoc_session_opts_set_causal_consistency(options.get(), false);
        bson_error_t problem{};
        session made{mongoc_client_start_session(native(), options.get(), &problem)};
        if (!made) refuse("a session", problem);
        return made;
    }

private:
    pool const& from_;
    std::string database_;
    mongoc_client_t* client_;
};

/// Runs a function in a native transaction, and repeats both after a conflict.
template <typename Function>
void in_native_transaction(session const& inside, Function const& function) {
    for (;;) {
        bson_error_t problem{};
        if (!mongoc_client_session_start_transaction(inside.get(), nullptr, &problem)) {
            refuse("a native transaction", problem);
        }
        try {
            function();
            document reply;
            if (mongoc_client_session_commit_transaction(inside.get(), reply.fresh(), &problem)) {
                return;
            }
            if (!is_transient(reply.native())) refuse("a commit", problem);
        } catch (conflict const&) {
            mongoc_client_session_abort_transaction(inside.get(), nullptr);
        }
    }
}

/// One write command of any number of statements, sent once.
class write {
public:
    /// Shape:   verb - "insert", "update"; items - "documents", "updates"
    write(connection const& connection, char const* verb, char const* collection, char const* items,
          bool ordered = false)
        : on_(connection) {
        bson_append_utf8(command_.native(), verb, -1, collection, -1);
        bson_append_bool(command_.native(), "ordered", -1, ordered);
        bson_append_array_begin(command_.native(), items, -1, &items_);
    }

    /// Shape:   fill(members) - writes the document
    template <typename Fill>
    write& insert(Fill const& fill) {
        in_item(fill);
        return *this;
    }
    /// Shape:   filter(members), change(members) - write the filter and the change
    template <typename Filter, typename Change>
    write& update(Filter const& filter, Change const& change, bool many = false) {
        in_item([&](members const& item) {
            item.object("q", filter).object("u", change);
            if (many) item.boolean("multi", true);
        });
        return *this;
    }

    /// Errors:  throws unless it matches the expected number of documents; throws conflict if
    ///          another native transaction changes one of them
    void expect(std::size_t expected, session const& inside = nullptr) {
        bson_append_array_end(command_.native(), &items_);
        document options;
        bson_error_t problem{};
        if (inside && !mongoc_client_session_append(inside.get(), options.native(), &problem)) {
            refuse("a session", problem);
        }
        document reply;
        if (!mongoc_client_write_command_with_opts(on_.native(), on_.database(), command_.native(),
                                                   options.native(), reply.fresh(), &problem)) {
            if (is_transient(reply.native())) throw conflict{};
            refuse("a write", problem);
        }
        bson_iter_t iterator;
        bool const good = !bson_has_field(reply.native(), "writeErrors") &&
                          bson_iter_init_find(&iterator, reply.native(), "n") &&
                          static_cast<std::size_t>(bson_iter_as_int64(&iterator)) == expected;
        if (!good) throw std::runtime_error("by hand: a write matched a wrong number of documents");
    }

private:
    template <typename Fill>
    void in_item(Fill const& fill) {
        char const* key = nullptr;
        char room[16];
        std::size_t const length = bson_uint32_to_string(count_++, &key, room, sizeof room);
        members{&items_}.object({key, length}, fill);
    }

    connection const& on_;
    document command_;
    bson_t items_{};
    std::uint32_t count_ = 0;
};

[[nodiscard]] inline write insert_into(connection const& connection, char const* collection) {
    return {connection, "insert", collection, "documents"};
}
[[nodiscard]] inline write update_in(connection const& connection, char const* collection) {
    return {connection, "update", collection, "updates"};
}

} // namespace baseline::mongodb
