// SPDX-License-Identifier: BSL-1.0
// The layouts of entries and records in documents: settle's own layout, and the layout of
// MongoDB's tutorial "Perform Two Phase Commits".
#pragma once

#include <settle/mongodb/bson.hpp>
#include <settle/protocol/state.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace mongodb {

/// The letter case of a program's state words.
enum class spelling : std::uint8_t { lower, upper, capitalised };

/// The kind of a program's transaction ids.
enum class id_kind : std::uint8_t {
    any, ///< any kind is found; new ids are texts
    text,
    number,
    object_id
};

/// The documents of a program that follows the tutorial. The members name the program's deviations;
/// settle reads every spelling.
/// Source:  mongodb#coming-from-the-tutorial
struct tutorial_layout {
    std::string transactions = "transactions"; ///< the collection of the entries
    /// Parameters whose field name differs from the struct's member: {{"amount", "value"}}.
    std::vector<std::pair<std::string, std::string>> fields{};
    /// The same for the members of records.
    std::vector<std::pair<std::string, std::string>> record_fields{};
    std::string state = "state";
    std::string modified = "lastModified";
    std::string application = "application";
    spelling words = spelling::lower;
    std::string applied = "applied";   ///< or `committed`, as in older texts
    std::string canceled = "canceled"; ///< or `cancelled`
    id_kind ids = id_kind::any;
    std::string key = "_id"; ///< the field that identifies a record, such as `name`
};

namespace detail {

/// The field name of a member, from the list of differing names.
[[nodiscard]] inline std::string_view
field_among(std::vector<std::pair<std::string, std::string>> const& fields,
            std::string_view member) {
    for (auto const& [of, field] : fields) {
        if (of == member) return field;
    }
    return member;
}

/// A member of a type's parameters.
struct parameter {
    std::string name;
    bool optional; ///< a missing field means no value
    bool text;     ///< may be the id of a record, in any stored form
};

/// The documents of entries.
struct entry_layout {
    tutorial_layout names = own_names();
    /// The type whose parameters stand beside the other fields and whose entries need not name it.
    /// Other types' parameters stand in a document of their own.
    std::string type{};
    std::uint64_t definition = 0;
    std::vector<parameter> members{}; ///< of that type's parameters

    [[nodiscard]] bool is_tutorial() const noexcept { return !type.empty(); }

    [[nodiscard]] std::string_view field_of(std::string_view member) const {
        return field_among(names.fields, member);
    }

    /// In the form that this layout writes.
    void append_id(document& to, std::string_view name, transaction_id const& id) const {
        if (names.ids == id_kind::number && is_number(id)) to.integer(name, std::stoll(id));
        else if (names.ids == id_kind::object_id && is_object_id(id)) to.object_id(name, id);
        else to.text(name, id);
    }
    /// Adds every stored form of an id to an array that has `count` elements.
    void append_forms(document& to, transaction_id const& id, std::size_t& count) const {
        if (names.ids == id_kind::any) append_all_forms(to, id, count);
        else append_id(to, std::to_string(count++), id);
    }
    static void append_all_forms(document& to, transaction_id const& id, std::size_t& count) {
        auto const next = [&] { return std::to_string(count++); };
        to.text(next(), id);
        if (is_number(id)) to.integer(next(), std::stoll(id));
        if (is_object_id(id)) to.object_id(next(), id);
    }
    /// Whether append_forms covers a stored id.
    [[nodiscard]] bool finds(value_view const& stored) const {
        auto const id = stored.id();
        if (!id) return false;
        if (names.ids == id_kind::any) return !stored.integer() || is_number(*id);
        document same;
        append_id(same, "_id", *id);
        auto const looked_for = same.find("_id");
        return looked_for->type() == stored.type() ||
               (looked_for->integer() && looked_for->integer() == stored.integer());
    }
    /// A condition for ids of the accepted kinds.
    [[nodiscard]] document readable_ids() const {
        document kinds;
        kinds.text("0", "string");
        if (is_tutorial()) {
            kinds.text("1", "int").text("2", "long").text("3", "double").text("4", "objectId");
        }
        document made;
        made.array("$type", kinds);
        return made;
    }

    /// In the spelling that this layout writes.
    [[nodiscard]] std::string word_of(state value) const {
        std::string word{settle::name_of(value)};
        if (value == state::applied) word = names.applied;
        if (value == state::canceled) word = names.canceled;
        return spelled(std::move(word), names.words);
    }

    /// In any program's spelling.
    [[nodiscard]] static bool read_state(std::string_view word, state& into) {
        for (auto const& [name, value] : all_words) {
            for (auto const how : all_spellings) {
                if (spelled(std::string{name}, how) != word) continue;
                into = value;
                return true;
            }
        }
        return false;
    }

    /// Adds every spelling of a state to an array that has `count` elements.
    static void append_words(document& to, state wanted, std::size_t& count) {
        for (auto const& [name, value] : all_words) {
            if (value != wanted) continue;
            for (auto const how : all_spellings) {
                to.text(std::to_string(count++), spelled(std::string{name}, how));
            }
        }
    }

private:
    static tutorial_layout own_names() {
        tutorial_layout own;
        own.transactions = "settle_entries";
        own.modified = "modified";
        own.application = "owner";
        own.ids = id_kind::text;
        return own;
    }

    static constexpr std::array<spelling, 3> all_spellings{spelling::lower, spelling::upper,
                                                           spelling::capitalised};
    static constexpr std::array<std::pair<std::string_view, state>, 9> all_words{
        {{"initial", state::initial},
         {"pending", state::pending},
         {"applied", state::applied},
         {"committed", state::applied},
         {"done", state::done},
         {"canceling", state::canceling},
         {"cancelling", state::canceling},
         {"canceled", state::canceled},
         {"cancelled", state::canceled}}};

    static std::string spelled(std::string word, spelling how) {
        for (std::size_t at = 0; at < word.size(); ++at) {
            bool const upper = how == spelling::upper || (how == spelling::capitalised && at == 0);
            if (upper) word[at] = to_upper(word[at]);
        }
        return word;
    }
    static char to_upper(char letter) noexcept {
        return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    /// Whether a text is the canonical form of a number, so that no two texts become one number.
    static bool is_number(std::string_view id) noexcept {
        if (id == "0") return true;
        if (id.starts_with('-')) id.remove_prefix(1);
        return !id.empty() && id.size() <= 18 && id.front() != '0' &&
               id.find_first_not_of("0123456789") == std::string_view::npos;
    }
    static bool is_object_id(std::string_view id) noexcept {
        return id.size() == 24 &&
               id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    }
};

/// The documents of records.
struct record_layout {
    std::string key = "_id";
    bool bare_marks = false; ///< ids alone in pendingTransactions are bare marks
    bool any_keys = false;   ///< a text key may be stored as a number or an ObjectId
    std::vector<std::pair<std::string, std::string>> fields{}; ///< as in tutorial_layout

    [[nodiscard]] std::string_view field_of(std::string_view member) const {
        return fields.empty() ? member : field_among(fields, member);
    }
    /// Whether the layout is settle's own.
    [[nodiscard]] bool is_own() const { return key == "_id" && !bare_marks && !any_keys; }
};

/// Restricts a query to the values behind a value in the order of a field. Values of one kind keep
/// their order; texts follow numbers and precede ObjectIds.
/// Shape:   how - `$gt`, or `$gte` to include the value
inline void append_behind(document& query, std::string const& field, value_view const& after,
                          char const* how = "$gt") {
    document all;
    std::size_t count = 0;
    all.object_at(count++, only(field, document{}.copy(how, after)));
    bool const is_id = after.type() == BSON_TYPE_OID;
    bool const is_text = after.type() == BSON_TYPE_UTF8;
    for (auto const* const later : {"string", "objectId"}) {
        bool const texts = std::string_view{later} == "string";
        if (is_id || (texts && is_text)) continue;
        all.object_at(count++, only(field, document{}.text("$type", later)));
    }
    document either;
    either.array("$or", all);
    document both;
    query.array("$and", both.object_at(0, either));
}

} // namespace detail
} // namespace mongodb
SETTLE_END
