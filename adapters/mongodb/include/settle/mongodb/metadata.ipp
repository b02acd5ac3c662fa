// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that metadata.hpp declares.
#pragma once

#include <settle/mongodb/metadata.hpp>

#include <settle/adapter/ownership.hpp>

#include <optional>
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
