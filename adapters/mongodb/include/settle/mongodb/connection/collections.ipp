// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that collections.hpp declares.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/mongodb/connection/collections.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

inline constexpr char const* created_index = "settle_created";

/// The kind of value that settle writes into a field, as an index sees it.
enum class content : std::uint8_t {
    none,   ///< the field belongs to another program, or never changes
    plain,  ///< one value
    nested, ///< a document, or a value of any kind
    list    ///< an array
};

SETTLE_FUNCTION bool has_collection(link& client, std::string_view name) {
    document command;
    document filter;
    command.integer("listCollections", 1).boolean("nameOnly", true);
    command.object("filter", filter.text("name", name));
    reply received;
    client.command(command, "look for a collection", received);
    auto const cursor = received.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    bool found = false;
    if (batch) batch->for_each([&](value_view const&) { return !(found = true); });
    return found;
}

/// Creates a missing collection first: two native transactions that create it would conflict.
SETTLE_FUNCTION void make_collection(link& client, std::string_view name) {
    if (has_collection(client, name)) return;
    document command;
    command.text("create", name);
    reply received;
    try {
        client.write_command(command, "make a collection", received);
    } catch (command_failure const& caught) {
        auto const there = std::error_code{namespace_exists, mongodb_category()};
        if (caught.problem().code != there) throw failure(caught.problem());
    }
}

SETTLE_FUNCTION void refuse_collection(std::string_view name, std::string_view because) {
    std::string text{"settle: the collection '"};
    text.append(name).append("' cannot be used: ").append(because);
    while (text.ends_with('.')) text.pop_back();
    raise(errc::unfit_store, std::move(text.append(". See mongodb#collections")));
}

SETTLE_FUNCTION error absence_of(link& client, std::string_view name) {
    if (has_collection(client, name)) return {};
    return {make_error_code(errc::unfit_store), "settle: the collection '" + std::string{name} +
                                                    "' is gone: it was renamed or dropped. Put it "
                                                    "back. See mongodb#collections"};
}

/// Refuses a collection that could refuse an update of settle, or apply it to another record.
SETTLE_FUNCTION void check_collection(link& client, std::string_view name) {
    document command;
    document filter;
    command.integer("listCollections", 1);
    command.object("filter", filter.text("name", name));
    reply received;
    client.command(command, "look at a collection", received);
    auto const refuse = [&](std::string_view what) { refuse_collection(name, what); };
    auto const cursor = received.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    bool exists = false;
    if (batch) {
        batch->for_each([&](value_view const& element) {
            exists = true;
            auto const type = element.find("type");
            if (!type || type->text() != "collection") refuse("it is a view or a time series");
            auto const options = element.find("options");
            if (!options) return true;
            if (options->find("capped")) refuse("it is capped. Use one that is not");
            if (options->find("expireAfterSeconds")) {
                refuse("the server erases its documents by their age. Use one without "
                       "expireAfterSeconds");
            }
            if (options->find("collation")) {
                refuse(
                    "its collation compares different keys as equal. Use one without a collation");
            }
            auto const action = options->find("validationAction");
            auto const level = options->find("validationLevel");
            bool const warns =
                (action && action->text() == "warn") || (level && level->text() == "off");
            if (options->find("validator") && !warns) {
                refuse("its validator could refuse the update that ends a transaction. Set its "
                       "validationAction to 'warn'");
            }
            return true;
        });
    }
    if (!exists) refuse("it is not there");
}

/// Calls `function(index)` with the document of each index.
template <typename Function>
void for_each_index(link& client, std::string_view name, Function&& function) {
    document command;
    command.text("listIndexes", name);
    reply received;
    client.command(command, "look at indexes", received);
    auto const cursor = received.find("cursor");
    auto const batch = cursor ? cursor->find("firstBatch") : std::nullopt;
    if (!batch) return;
    batch->for_each([&](value_view const& value) {
        function(value);
        return true;
    });
}

[[nodiscard]] SETTLE_FUNCTION bool is_unique(value_view const& index) {
    auto const unique = index.find("unique");
    return unique && unique->boolean().value_or(false);
}

/// Calls `function(field)` with the name of each field in a filter.
template <typename Function>
void for_each_filtered(value_view const& filter, Function&& function) {
    filter.for_each([&](value_view const& element) {
        // `$and` and similar operators hold filters.
        bool const holds = filter.type() == BSON_TYPE_ARRAY || element.name().starts_with('$');
        if (holds) for_each_filtered(element, function);
        else function(element.name());
        return true;
    });
}

/// Describes, for an error, a compound index over several arrays, of which the server accepts only
/// one in a document; empty for any other index.
/// Shape:   content_of - as in refusing_index
template <typename ContentOf>
[[nodiscard]] std::string index_over_arrays(value_view const& index, ContentOf&& content_of) {
    std::string_view first;
    std::string description;
    auto const fields = index.find("key");
    if (!fields) return description;
    fields->for_each([&](value_view const& element) {
        auto const field = element.name().substr(0, element.name().find('.'));
        if (content_of(field) != content::list || field == first) return true;
        if (first.empty()) {
            first = field;
            return true;
        }
        description.append("compound index over the arrays '").append(first);
        description.append("' and '").append(field).append("'");
        return false;
    });
    return description;
}

/// Describes, for an error, how the server could refuse a write of settle because of an index;
/// empty if it could not.
/// Shape:   content_of(field) - what settle writes into a field of the document
template <typename ContentOf>
[[nodiscard]] std::string refusing_index(value_view const& index, ContentOf&& content_of) {
    std::string description;
    bool const unique = is_unique(index);
    std::string_view kind = unique ? "unique" : "";
    auto const look = [&](std::string_view field, std::string_view how) {
        // An index may also cover a nested field.
        auto const what = content_of(field.substr(0, field.find('.')));
        // A hashed index accepts any single value, but no array.
        bool const fits = what == content::none || (kind == "hashed" && what == content::plain);
        if (!fits && description.empty()) {
            description = std::string{kind}.append(how).append(" over '").append(field).append("'");
        }
    };
    auto const look_at_all = [&](char const* name) {
        auto const fields = index.find(name);
        if (!fields) return;
        fields->for_each([&](value_view const& field) {
            auto const special = field.text();
            if (special && !unique) kind = *special;
            if (unique || special || name != std::string_view{"key"}) look(field.name(), " index");
            return true;
        });
    };
    look_at_all("key");
    // A text index covers its weighted fields and the field that names their language.
    look_at_all("weights");
    auto const language = index.find("language_override");
    if (language && language->text()) look(*language->text(), " index");
    auto const filter = index.find("partialFilterExpression");
    if (filter && !kind.empty()) {
        for_each_filtered(*filter,
                          [&](std::string_view field) { look(field, " index with a filter"); });
    }
    return description.empty() ? index_over_arrays(index, content_of) : description;
}

/// The description, for an error, of an index by which the server erases old documents; empty for
/// any other index.
SETTLE_FUNCTION std::string index_that_erases(value_view const& index) {
    if (!index.find("expireAfterSeconds")) return {};
    auto const called = index.find("name");
    return "index '" + std::string{called ? called->text().value_or("") : ""} +
           "' lets the server erase old documents";
}

SETTLE_FUNCTION std::string index_that_erases(link& client, std::string_view name) {
    std::string description;
    for_each_index(client, name, [&](value_view const& value) {
        if (description.empty()) description = index_that_erases(value);
    });
    return description;
}

/// Refuses an index that could refuse an update that ends a transaction, or erase a record with its
/// marks.
/// Shape:   content_of(field) - what settle writes into a field of the records
SETTLE_FUNCTION void
check_indexes(link& client, std::string_view name,
              settle::detail::function_view<content(std::string_view)> content_of) {
    for_each_index(client, name, [&](value_view const& element) {
        if (auto const erases = index_that_erases(element); !erases.empty()) {
            refuse_collection(name, "its " + erases +
                                        ", and with a record the marks of unfinished "
                                        "transactions. Drop it");
        }
        auto const refusing = refusing_index(element, content_of);
        if (refusing.empty()) return;
        refuse_collection(name, "its " + refusing +
                                    " could refuse the update that ends a "
                                    "transaction. Drop it");
    });
}

/// Whether this index ensures that no two documents have the same value in a field.
[[nodiscard]] SETTLE_FUNCTION bool keeps_apart(value_view const& index, std::string_view field) {
    auto const key = index.find("key");
    if (!is_unique(index) || !key || index.find("partialFilterExpression")) return false;
    std::size_t fields = 0;
    bool named = false;
    key->for_each([&](value_view const& element) {
        ++fields;
        named = element.name() == field;
        return true;
    });
    return fields == 1 && named;
}

/// Creates a unique index over a key that is not _id: nothing else prevents two records of one key.
SETTLE_FUNCTION void make_key_index(link& client, std::string_view name, std::string const& key) {
    bool there = false;
    for_each_index(client, name,
                   [&](value_view const& value) { there = there || keeps_apart(value, key); });
    if (there) return;
    document command;
    document keys;
    document index;
    document exists;
    index.object("key", keys.integer(key, 1)).text("name", "settle_key").boolean("unique", true);
    // Documents of other programs may lack the field.
    index.object("partialFilterExpression", only(key, exists.boolean("$exists", true)));
    command.text("createIndexes", name).array("indexes", document{}.object_at(0, index));
    reply received;
    try {
        client.write_command(command, "make the index of the keys", received);
    } catch (command_failure const& caught) {
        refuse_collection(name, "it has no unique index over '" + key +
                                    "', so two records could "
                                    "have one key, and none could be made: " +
                                    caught.problem().text);
    }
}

/// What settle writes into a field of an entry.
[[nodiscard]] SETTLE_FUNCTION content content_of_entry(entry_layout const& layout,
                                                       std::string_view field) {
    bool const is_nested = field == "parameters" || field == "images" || field == "results";
    if (is_nested || layout.is_parameter(field)) {
        return content::nested;
    }
    auto const& all_fields = settle::detail::all_entry_fields;
    bool const ours =
        std::any_of(all_fields.begin(), all_fields.end(),
                    [&](entry_field entry_field) { return layout.name_of(entry_field) == field; });
    return ours || field == "$**" ? content::plain : content::none;
}

/// Refuses a log collection whose entries the server could erase or refuse.
SETTLE_FUNCTION void check_log(link& client, entry_layout const& layout) {
    auto const& name = layout.collection;
    check_collection(client, name);
    for_each_index(client, name, [&](value_view const& element) {
        // Entries without the field count as equal there.
        bool const unique = is_unique(element);
        auto reason_of_index = refusing_index(element, [&](std::string_view field) {
            return unique ? content::nested : content_of_entry(layout, field);
        });
        if (!reason_of_index.empty()) reason_of_index += " could refuse an entry. Drop it";
        if (auto const erases = index_that_erases(element); !erases.empty()) {
            reason_of_index = erases + ". Drop it, and call purge";
        }
        if (!reason_of_index.empty()) refuse_collection(name, "its " + reason_of_index);
    });
}

[[nodiscard]] SETTLE_FUNCTION char const* unfinished_index_of(entry_layout const& layout) noexcept {
    return layout.is_own ? "settle_open" : "settle_state";
}

[[nodiscard]] SETTLE_FUNCTION bool has_log_indexes(link& client, entry_layout const& layout) {
    int present = 0;
    for_each_index(client, layout.collection, [&](value_view const& element) {
        auto const name = element.find("name");
        if (!name) return;
        if (name->text() == unfinished_index_of(layout) || name->text() == created_index) ++present;
    });
    return present == 2;
}

SETTLE_FUNCTION void make_log(link& client, entry_layout const& layout) {
    make_collection(client, layout.collection);
    check_log(client, layout);
    if (has_log_indexes(client, layout)) return;
    document keys;
    document open;
    document only_open;
    keys.integer(layout.is_own ? "open" : layout.state_field, 1).integer("_id", 1);
    open.object("key", keys).text("name", unfinished_index_of(layout));
    if (layout.is_own) open.object("partialFilterExpression", only_open.boolean("open", true));
    document keys_created;
    document created;
    created.object("key", keys_created.integer("created", 1)).text("name", created_index);
    document indexes;
    indexes.object_at(0, open).object_at(1, created);
    document command;
    command.text("createIndexes", layout.collection).array("indexes", indexes);
    reply received;
    client.write_command(command, "make the indexes of the log", received);
}

/// Refuses a record type with a member whose field name is taken.
SETTLE_FUNCTION void check_members(collection_descriptor const& descriptor,
                                   record_layout const& layout) {
    std::set<std::string_view> fields;
    for (std::size_t index = 0; index < descriptor.members().size(); ++index) {
        if (index == descriptor.key) continue;
        std::string_view const member = descriptor.members()[index].name;
        std::string_view const name = layout.field_of(member);
        bool const taken = name == layout.key || name == "_id" || name == marks_field ||
                           name.starts_with("settle_") || !fields.insert(name).second;
        if (!taken) continue;
        refuse_collection(descriptor.name,
                          "its records have a member '" + std::string{member} +
                              "', and its documents another field of that name. Give "
                              "the member another name");
    }
}

SETTLE_FUNCTION void prepare_records(link& client, collection_descriptor const& descriptor,
                                     record_layout const& layout) {
    if (descriptor.name.starts_with("settle_")) {
        refuse_collection(descriptor.name,
                          "names that begin with 'settle_' are settle's own. Give it "
                          "another");
    }
    check_members(descriptor, layout);
    make_collection(client, descriptor.name);
    check_collection(client, descriptor.name);
    check_indexes(client, descriptor.name, [&](std::string_view field) {
        if (field == marks_field) return content::list;
        // A text index over all fields covers the marks, too.
        auto kind = field == "$**" ? content::nested : content::none;
        for (std::size_t index = 0; index < descriptor.members().size(); ++index) {
            auto const& member = descriptor.members()[index];
            if (index == descriptor.key || field != layout.field_of(member.name)) continue;
            auto const* const nested = member.access->nested;
            if (nested == nullptr) kind = content::plain;
            else kind = nested->element != nullptr ? content::list : content::nested;
        }
        return kind;
    });
    if (layout.key != "_id") make_key_index(client, descriptor.name, layout.key);
}

} // namespace mongodb::detail

SETTLE_END
