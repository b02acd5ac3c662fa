// SPDX-License-Identifier: BSL-1.0
// The layout of MongoDB's tutorial "Perform Two Phase Commits", and what programs change in it.
#pragma once

#include <settle/mongodb/log/entry_layout.hpp>
#include <settle/mongodb/records/layout.hpp>

#include <array>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace mongodb {

/// The letter case of the state names that a program stores.
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
    spelling states = spelling::lower;
    std::string applied = "applied";   ///< or `committed`, as in older texts
    std::string canceled = "canceled"; ///< or `cancelled`
    id_kind ids = id_kind::any;
    std::string key = "_id"; ///< the field that identifies a record, such as `name`
};

namespace detail {

/// A member of a type's parameters.
struct parameter {
    std::string name;
    bool optional; ///< a missing field means no value
    bool text;     ///< may be the id of a record, in any stored form
};

/// The entries of such a program. Only an id, a state and the parameters that are not optional are
/// required.
class tutorial_entries final : public entry_layout {
public:
    /// Shape:   type - whose parameters are fields of the entry itself and whose entries need not
    ///          name it. Other types' parameters are in a nested document
    /// Errors:  throws errc::unfit_store if two values share a field, or if entries of this layout
    ///          could not be read again
    tutorial_entries(tutorial_layout names, std::string type, std::uint64_t definition,
                     std::vector<parameter> members);

    [[nodiscard]] tutorial_layout const& names() const noexcept { return names_; }

    using entry_layout::name_of;
    [[nodiscard]] bool is_parameter(std::string_view field) const override;
    void append_id(document& to, std::string_view name, transaction_id const& id) const override;
    void append_forms(document& to, transaction_id const& id, std::size_t& count) const override;
    [[nodiscard]] bool finds(value_view const& stored) const override;
    [[nodiscard]] document readable_ids() const override;
    [[nodiscard]] document locator_of(link& client, transaction_id const& id) const override;
    void append_after(document& query, value_view const& after) const override;
    [[nodiscard]] std::string name_of(state value) const override;
    /// Reads the name of a state in any program's spelling.
    [[nodiscard]] bool read_state(std::string_view text, state& into) const override;
    /// An initial entry with an owner counts as pending.
    void append_states(document& query, std::initializer_list<state> states) const override;
    void append_unfinished(document& query) const override;
    /// Programs write dates, counts of milliseconds, or no times. Where an entry has no creation
    /// time, its ObjectId holds the time.
    void append_other_times(std::vector<document>& any, entry_filter const& filter) const override;
    void append_parameters(document& to, entry_write const& write) const override;
    void read_type(document_reader& reader, entry& into) const override;
    [[nodiscard]] std::string description() const override;

private:
    void check() const;
    /// The field of a parameter.
    [[nodiscard]] std::string_view field_of(std::string_view member) const {
        return field_among(names_.fields, member);
    }
    [[nodiscard]] bool has_parameters(document_reader const& reader) const;
    void read_fields(document_reader& reader, entry& into) const;
    /// Matches initial entries without an owner. An initial entry with an owner belongs to that
    /// application, and no other worker runs it until it has stood still.
    [[nodiscard]] document without_owner() const;

    tutorial_layout names_;
    std::string type_;
    std::uint64_t definition_;
    std::vector<parameter> members_; ///< of that type's parameters
};

[[noreturn]] void refuse_layout(std::string const& because);

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/tutorial/layout.ipp>
#endif
