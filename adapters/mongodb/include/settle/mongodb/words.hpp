// SPDX-License-Identifier: BSL-1.0
// What settle notes about a database itself, and the collections and indexes that it needs there.
#pragma once

#include <settle/mongodb/client.hpp>
#include <settle/mongodb/layout.hpp>
#include <settle/mongodb/mark_codec.hpp>
#include <settle/store/entry_facts.hpp>

#include <random>

SETTLE_BEGIN
namespace mongodb::detail {

inline constexpr char const* words_collection = "settle_words";
inline constexpr char const* schema_version = "1";

/// The word that is kept under a name: the one that is there, or the one that is proposed.
/// Errors:  throws settle::failure
[[nodiscard]] inline std::string settle_word(link& with, char const* name,
                                             std::string const& proposed) {
    // Two who come first at once may both try to insert it; one of them then finds it.
    for (int attempt = 0;; ++attempt) {
        document command;
        document query;
        document update;
        document word;
        document majority;
        command.text("findAndModify", words_collection);
        command.object("query", query.text("_id", name));
        update.object("$setOnInsert", word.text("value", proposed));
        command.object("update", update).boolean("upsert", true).boolean("new", true);
        majority.text("w", "majority").boolean("j", true);
        command.object("writeConcern", majority);
        reply told;
        try {
            with.command(command, "note whose database this is", told);
        } catch (command_failure const& met) {
            auto const there = std::error_code{duplicate_key, mongodb_category()};
            if (met.problem().code == there && attempt < 3) continue;
            throw failure(met.problem());
        }
        // A primary that goes may take back what the others have not got.
        if (told.find("writeConcernError")) {
            if (attempt < 3) continue;
            raise(errc::store_unreachable,
                  "settle: MongoDB could not tell a majority whose database this is. Try again "
                  "when it has a primary. README#mongodb-errors");
        }
        auto const found = told.find("value");
        auto const value = found ? found->find("value") : std::nullopt;
        if (value && value->text()) return std::string{*value->text()};
        raise(errc::damaged, std::string{"settle: the word '"} + name + "' in " +
                                 words_collection + " is damaged. README#damaged");
    }
}

inline void check_version(link& with) {
    auto const found = settle_word(with, "schema", schema_version);
    if (found == schema_version) return;
    raise(errc::other_version, "settle: this database's own collections are of version " + found +
                                   ", and this program knows version " + schema_version +
                                   ". Use the settle that made them. README#schema-version");
}

/// A name that no other log has.
[[nodiscard]] inline std::string fresh_log_name() {
    std::random_device chance;
    std::uint64_t const number = std::uint64_t{chance()} << 32U | chance();
    return "mongodb-" + settle::detail::hex_of(number);
}

/// Makes a collection that is not there: a native transaction could meet another's making of it.
inline void make_collection(link& with, std::string_view name) {
    document command;
    command.text("create", name);
    reply told;
    try {
        with.command(command, "make a collection", told);
    } catch (command_failure const& met) {
        auto const there = std::error_code{namespace_exists, mongodb_category()};
        if (met.problem().code != there) throw failure(met.problem());
    }
}

/// Refuses a collection in which an update of settle's could be refused, or meet another record.
inline void check_collection(link& with, std::string_view name) {
    document command;
    document filter;
    command.integer("listCollections", 1);
    command.object("filter", filter.text("name", name));
    reply told;
    with.command(command, "look at a collection", told);
    auto const refuse = [&](std::string_view what) {
        std::string text{"settle: the collection '"};
        text.append(name).append("' cannot be used: ").append(what).append(". README#mongodb");
        raise(errc::unfit_store, std::move(text));
    };
    auto const cursor = told.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    bool found = false;
    if (batch) {
        batch->for_each([&](value_view const& one) {
            found = true;
            auto const type = one.find("type");
            if (!type || type->text() != "collection") refuse("it is a view or a time series");
            auto const options = one.find("options");
            if (!options) return true;
            if (options->find("capped")) refuse("it is capped. Use one that is not");
            if (options->find("collation")) {
                refuse("its collation takes different keys for one. Use one without a collation");
            }
            auto const action = options->find("validationAction");
            auto const level = options->find("validationLevel");
            bool const warns = (action && action->text() == "warn") ||
                               (level && level->text() == "off");
            if (options->find("validator") && !warns) {
                refuse("its validator could refuse the update that ends a transaction. Set its "
                       "validationAction to 'warn'");
            }
            return true;
        });
    }
    if (!found) refuse("it is not there");
}

/// Refuses a unique index over a member: an update that ends a transaction could meet it.
/// Shape:   is_member(field) - whether the field is a member of the records, and not their key
template <typename IsMember>
void check_indexes(link& with, std::string_view name, IsMember&& is_member) {
    document command;
    command.text("listIndexes", name);
    reply told;
    with.command(command, "look at indexes", told);
    auto const cursor = told.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    if (!batch) return;
    batch->for_each([&](value_view const& one) {
        auto const unique = one.find("unique");
        auto const key = one.find("key");
        if (!unique || !unique->boolean().value_or(false) || !key) return true;
        key->for_each([&](value_view const& field) {
            // An index may also look into a member.
            if (!is_member(field.name().substr(0, field.name().find('.')))) return true;
            std::string text{"settle: the collection '"};
            text.append(name).append("' cannot be used: its unique index over '");
            text.append(field.name()).append("' could refuse the update that ends a transaction. "
                                             "Drop it. README#mongodb");
            raise(errc::unfit_store, std::move(text));
        });
        return true;
    });
}

/// The collection of the log and its indexes, by their names.
inline void make_log(link& with, entry_layout const& layout) {
    make_collection(with, layout.names.transactions);
    document keys;
    document open;
    document only_open;
    if (layout.is_tutorial()) {
        keys.integer(layout.names.state, 1).integer("_id", 1);
        open.object("key", keys).text("name", "settle_state");
    } else {
        keys.integer("open", 1).integer("_id", 1);
        open.object("key", keys).text("name", "settle_open");
        open.object("partialFilterExpression", only_open.boolean("open", true));
    }
    document keys_created;
    document created;
    created.object("key", keys_created.integer("created", 1)).text("name", "settle_created");
    document all;
    all.object_at(0, open).object_at(1, created);
    document command;
    command.text("createIndexes", layout.names.transactions).array("indexes", all);
    reply told;
    with.command(command, "make the indexes of the log", told);
}

} // namespace mongodb::detail
SETTLE_END
