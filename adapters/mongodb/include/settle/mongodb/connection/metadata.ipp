// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that metadata.hpp declares.
#pragma once

#include <settle/mongodb/connection/metadata.hpp>

#include <settle/adapter/ownership.hpp>

#include <optional>
#include <string>
#include <system_error>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION void refuse_damaged_metadata(std::string_view name) {
    raise(errc::damaged, "settle: the value '" + std::string{name} + "' in " + metadata_collection +
                             " is damaged. See errors#damaged");
}

SETTLE_FUNCTION std::optional<std::string> known_metadata(link& client, std::string_view name) {
    document query;
    std::optional<std::string> known;
    client.find(metadata_collection, query.text("_id", name), {},
                "read the metadata of this database", [&](document const& stored) {
                    auto const value = stored.find("value");
                    if (!value || !value->text()) refuse_damaged_metadata(name);
                    known = *value->text();
                });
    return known;
}

SETTLE_FUNCTION void replace_metadata(link& client, std::string_view name,
                                      std::string const& old_value, std::string const& new_value) {
    document query;
    document value;
    document field;
    field.object("q", query.text("_id", name).text("value", old_value));
    field.object("u", only("$set", value.text("value", new_value)));
    document command;
    command.text("update", metadata_collection).array("updates", document{}.object_at(0, field));
    reply received;
    client.write_command(command, "write the metadata of this database", received);
}

SETTLE_FUNCTION std::string get_or_init_metadata(link& client, std::string_view name,
                                                 std::string const& proposed) {
    // Reading alone needs no right to write.
    if (auto found = known_metadata(client, name)) return *std::move(found);
    // Two programs may try to insert at once; the loser finds the other's value.
    for (int attempt = 0;; ++attempt) {
        document command;
        document query;
        document update;
        document value;
        document majority;
        command.text("findAndModify", metadata_collection);
        command.object("query", query.text("_id", name));
        update.object("$setOnInsert", value.text("value", proposed));
        command.object("update", update).boolean("upsert", true).boolean("new", true);
        majority.text("w", "majority").boolean("j", true);
        command.object("writeConcern", majority);
        reply received;
        try {
            client.command(command, "write the metadata of this database", received);
        } catch (command_failure const& caught) {
            auto const there = std::error_code{duplicate_key, mongodb_category()};
            if (caught.problem().code == there && attempt < 3) continue;
            throw failure(caught.problem());
        }
        // Without a majority, an election may roll back the value.
        if (received.find("writeConcernError")) {
            if (attempt < 3) continue;
            raise(errc::store_unreachable,
                  "settle: no majority has acknowledged the metadata of this database. Try again "
                  "when it has a primary. See mongodb#errors");
        }
        auto const written = received.find("value");
        auto const stored = written ? written->find("value") : std::nullopt;
        if (stored && stored->text()) return std::string{*stored->text()};
        refuse_damaged_metadata(name);
    }
}

SETTLE_FUNCTION void check_version(link& client) {
    auto const version = get_or_init_metadata(client, "schema", schema_version);
    if (version == schema_version) return;
    raise(errc::other_version, "settle: this database's own collections are of version " + version +
                                   ", and this program knows version " + schema_version +
                                   ". Use the settle that made them. See mongodb#schema-version");
}

SETTLE_FUNCTION stored_log get_or_init_log(link& client) {
    document query;
    stored_log stored;
    client.find(metadata_collection, query.text("_id", "log"), {},
                "read the metadata of this database", [&](document const& found_document) {
                    auto const read = [&](char const* member, std::string& into) {
                        auto const value = found_document.find(member);
                        if (value && value->text()) into = *value->text();
                    };
                    read("value", stored.name);
                    read("home", stored.home);
                    read("was", stored.was);
                    if (stored.name.empty()) refuse_damaged_metadata("log");
                });
    if (stored.name.empty()) {
        stored.name =
            get_or_init_metadata(client, "log", settle::detail::fresh_log_name(log_name_prefix));
    }
    return stored;
}

/// Empty if the user may not ask for it.
[[nodiscard]] SETTLE_FUNCTION std::string home_of(link& client) {
    document command;
    document filter;
    command.integer("listCollections", 1);
    command.object("filter", filter.text("name", metadata_collection));
    reply received;
    try {
        client.command(command, "look where the log is", received);
    } catch (command_failure const& caught) {
        if (caught.problem().code != condition::permanent) throw;
        return {};
    }
    std::string identity;
    auto const cursor = received.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    if (batch) {
        batch->for_each([&](value_view const& element) {
            auto const info = element.find("info");
            auto const uuid = info ? info->find("uuid") : std::nullopt;
            if (!uuid || uuid->type() != BSON_TYPE_BINARY) return true;
            auto const& bytes = uuid->native()->value.v_binary;
            for (std::uint32_t index = 0; index < bytes.data_len; ++index) {
                constexpr std::string_view digits = "0123456789abcdef";
                identity += digits[bytes.data[index] >> 4U];
                identity += digits[bytes.data[index] & 15U];
            }
            return false;
        });
    }
    if (identity.empty()) return {};
    return "uuid=" + identity + " name=" + client.database();
}

SETTLE_FUNCTION result<log_home> look_home(server& database_server, stored_log const& log) {
    try {
        auto client = database_server.connect();
        log_home seen{log.home, home_of(client)};
        if (seen.kept.empty() || seen.present.empty()) return seen;
        seen.is_same = settle::detail::share_parts(seen.kept, seen.present, {"uuid"});
        return seen;
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<void> take_home(server& database_server, log_home const& seen,
                                       stored_log const& log, bool renames) {
    auto const name = renames ? settle::detail::fresh_log_name(log_name_prefix) : log.name;
    document query;
    document value;
    document field;
    query.text("_id", "log").text("value", log.name);
    if (seen.kept.empty()) query.object("home", document{}.boolean("$exists", false));
    else query.text("home", seen.kept);
    value.text("value", name).text("home", seen.present);
    if (renames) value.text("was", log.name);
    field.object("q", query).object("u", only("$set", value));
    document command;
    command.text("update", metadata_collection).array("updates", document{}.object_at(0, field));
    try {
        auto client = database_server.connect();
        reply received;
        client.write_command(command, "write the metadata of this database", received);
        if (renames) static_cast<void>(owner_of_records(client, get_or_init_log(client)));
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION std::optional<std::string> owner_of_records(link& client, stored_log const& log) {
    using settle::detail::owner_metadata;
    auto owner = known_metadata(client, owner_metadata);
    if (!owner || log.was.empty()) return owner;
    if (*owner != log.was && !owner->starts_with(log.was + '/')) return owner;
    auto renamed = log.name + owner->substr(log.was.size());
    replace_metadata(client, owner_metadata, *owner, renamed);
    return renamed;
}

SETTLE_FUNCTION result<std::optional<std::string>> read_metadata(server& database_server,
                                                                 std::string_view name) {
    try {
        auto client = database_server.connect();
        return known_metadata(client, name);
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<void> replace_metadata(server& database_server, std::string_view name,
                                              std::optional<std::string> const& seen,
                                              std::string const& text) {
    try {
        auto client = database_server.connect();
        if (seen) replace_metadata(client, name, *seen, text);
        else static_cast<void>(get_or_init_metadata(client, name, text));
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

[[nodiscard]] inline document among(metadata_range const& names) {
    document bounds;
    return only("_id", bounds.text("$gte", names.from).text("$lt", names.to));
}

SETTLE_FUNCTION result<std::vector<metadata_text>>
list_metadata(server& database_server, metadata_range const& names, std::size_t limit) {
    std::vector<metadata_text> listed;
    // A limit of 0 is none.
    if (limit == 0) return listed;
    try {
        auto client = database_server.connect();
        document options;
        document sort;
        options.object("sort", sort.integer("_id", -1));
        options.integer("limit", static_cast<std::int64_t>(limit));
        client.find(metadata_collection, among(names), std::move(options),
                    "read the metadata of this database", [&](document const& stored) {
                        auto const name = stored.find("_id");
                        auto const value = stored.find("value");
                        if (!value || !value->text()) refuse_damaged_metadata(*name->text());
                        listed.push_back({std::string{*name->text()}, std::string{*value->text()}});
                    });
    } catch (failure const& caught) {
        return caught.problem();
    }
    return listed;
}

SETTLE_FUNCTION result<void> erase_metadata(server& database_server, metadata_range const& names) {
    document removal;
    removal.object("q", among(names)).integer("limit", 0);
    document command;
    command.text("delete", metadata_collection);
    command.array("deletes", document{}.object_at(0, removal));
    try {
        auto client = database_server.connect();
        reply received;
        client.write_command(command, "write the metadata of this database", received);
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

} // namespace mongodb::detail

SETTLE_END
