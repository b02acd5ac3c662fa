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

SETTLE_FUNCTION std::optional<std::string> known_metadata(link& with, std::string_view name) {
    document query;
    std::optional<std::string> found;
    with.find(metadata_collection, query.text("_id", name), {},
              "read the metadata of this database", [&](document const& one) {
                  auto const value = one.find("value");
                  if (!value || !value->text()) refuse_damaged_metadata(name);
                  found = *value->text();
              });
    return found;
}

SETTLE_FUNCTION void replace_metadata(link& with, std::string_view name,
                                      std::string const& old_value, std::string const& new_value) {
    document query;
    document value;
    document one;
    one.object("q", query.text("_id", name).text("value", old_value));
    one.object("u", only("$set", value.text("value", new_value)));
    document command;
    command.text("update", metadata_collection).array("updates", document{}.object_at(0, one));
    reply received;
    with.write_command(command, "write the metadata of this database", received);
}

SETTLE_FUNCTION std::string get_or_init_metadata(link& with, std::string_view name,
                                                 std::string const& proposed) {
    // Reading alone needs no right to write.
    if (auto found = known_metadata(with, name)) return *std::move(found);
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
            with.command(command, "write the metadata of this database", received);
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
        auto const found = received.find("value");
        auto const stored = found ? found->find("value") : std::nullopt;
        if (stored && stored->text()) return std::string{*stored->text()};
        refuse_damaged_metadata(name);
    }
}

SETTLE_FUNCTION void check_version(link& with) {
    auto const found = get_or_init_metadata(with, "schema", schema_version);
    if (found == schema_version) return;
    raise(errc::other_version, "settle: this database's own collections are of version " + found +
                                   ", and this program knows version " + schema_version +
                                   ". Use the settle that made them. See mongodb#schema-version");
}

SETTLE_FUNCTION stored_log get_or_init_log(link& with) {
    document query;
    stored_log found;
    with.find(metadata_collection, query.text("_id", "log"), {},
              "read the metadata of this database", [&](document const& one) {
                  auto const read = [&](char const* member, std::string& into) {
                      auto const value = one.find(member);
                      if (value && value->text()) into = *value->text();
                  };
                  read("value", found.name);
                  read("home", found.home);
                  read("was", found.was);
                  if (found.name.empty()) refuse_damaged_metadata("log");
              });
    if (found.name.empty()) {
        found.name =
            get_or_init_metadata(with, "log", settle::detail::fresh_log_name(log_name_prefix));
    }
    return found;
}

/// Empty if the user may not ask for it.
[[nodiscard]] SETTLE_FUNCTION std::string home_of(link& with) {
    document command;
    document filter;
    command.integer("listCollections", 1);
    command.object("filter", filter.text("name", metadata_collection));
    reply received;
    try {
        with.command(command, "look where the log is", received);
    } catch (command_failure const& caught) {
        if (caught.problem().code != condition::permanent) throw;
        return {};
    }
    std::string identity;
    auto const cursor = received.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    if (batch) {
        batch->for_each([&](value_view const& one) {
            auto const info = one.find("info");
            auto const uuid = info ? info->find("uuid") : std::nullopt;
            if (!uuid || uuid->type() != BSON_TYPE_BINARY) return true;
            auto const& bytes = uuid->native()->value.v_binary;
            for (std::uint32_t at = 0; at < bytes.data_len; ++at) {
                constexpr std::string_view digits = "0123456789abcdef";
                identity += digits[bytes.data[at] >> 4U];
                identity += digits[bytes.data[at] & 15U];
            }
            return false;
        });
    }
    if (identity.empty()) return {};
    return "uuid=" + identity + " name=" + with.database();
}

SETTLE_FUNCTION result<log_home> look_home(server& of, stored_log const& log) {
    try {
        auto with = of.connect();
        log_home seen{log.home, home_of(with)};
        if (seen.kept.empty() || seen.present.empty()) return seen;
        seen.is_same = settle::detail::share_parts(seen.kept, seen.present, {"uuid"});
        return seen;
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION result<void> take_home(server& of, log_home const& seen, stored_log const& log,
                                       bool renames) {
    auto const name = renames ? settle::detail::fresh_log_name(log_name_prefix) : log.name;
    document query;
    document value;
    document one;
    query.text("_id", "log").text("value", log.name);
    if (seen.kept.empty()) query.object("home", document{}.boolean("$exists", false));
    else query.text("home", seen.kept);
    value.text("value", name).text("home", seen.present);
    if (renames) value.text("was", log.name);
    one.object("q", query).object("u", only("$set", value));
    document command;
    command.text("update", metadata_collection).array("updates", document{}.object_at(0, one));
    try {
        auto with = of.connect();
        reply received;
        with.write_command(command, "write the metadata of this database", received);
        if (renames) static_cast<void>(owner_of_records(with, get_or_init_log(with)));
        return {};
    } catch (failure const& caught) {
        return caught.problem();
    }
}

SETTLE_FUNCTION std::optional<std::string> owner_of_records(link& with, stored_log const& log) {
    using settle::detail::owner_metadata;
    auto owner = known_metadata(with, owner_metadata);
    if (!owner || log.was.empty()) return owner;
    if (*owner != log.was && !owner->starts_with(log.was + '/')) return owner;
    auto renamed = log.name + owner->substr(log.was.size());
    replace_metadata(with, owner_metadata, *owner, renamed);
    return renamed;
}

SETTLE_FUNCTION result<std::chrono::milliseconds> keep_horizon(server& of,
                                                               std::chrono::milliseconds least) {
    auto const name = settle::detail::horizon_metadata;
    try {
        auto with = of.connect();
        return settle::detail::keep_horizon(
            least, [&](auto const& text) { return get_or_init_metadata(with, name, text); },
            [&](auto const& old, auto const& text) { replace_metadata(with, name, old, text); });
    } catch (failure const& caught) {
        return caught.problem();
    }
}

} // namespace mongodb::detail

SETTLE_END
