// SPDX-License-Identifier: BSL-1.0
// Values about the tables of settle, by their names.
#pragma once

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/native.hpp>
#include <settle/adapter/sql/parameter_type.hpp>
#include <settle/store/seam.hpp>

#include <optional>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// Errors:  all functions throw settle::failure
template <typename Sql>
class metadata_table {
    using pool = typename Sql::pool;
    using connection = typename Sql::connection;
    using dialect = typename Sql::dialect;

public:
    /// Shape:   table - as SQL takes it
    metadata_table(pool& from, std::string table) : pool_(&from), table_(std::move(table)) {}
    explicit metadata_table(pool& from)
        : metadata_table(from, dialect::table_name(from, "settle_meta")) {}

    /// A stored value, if there is one.
    [[nodiscard]] std::optional<std::string> known(std::string_view name) const {
        auto const& look =
            pool_->prepare("SELECT value FROM " + table_ + " WHERE name = $1",
                           parameter_types{text_value}, "read the table of metadata");
        auto session = pool_->take();
        auto const number = session->send(look, name);
        session->sync();
        auto const& value = session->result(number);
        if (value.empty()) return std::nullopt;
        return std::string{value.text(0, 0)};
    }
    /// A value that is written once.
    /// Shape:   value - the initial value
    [[nodiscard]] std::string get_or_init(std::string_view name, std::string_view value) const {
        return repeat_while_held<Sql::is_held>([&] {
            if (auto stored = known(name)) return *std::move(stored);
            parameter_types const types{text_value, text_value};
            auto const& write = pool_->prepare(
                dialect::insert_absent(table_, "name, value", "$1, $2", types, "", "name", "$1"),
                types, phase);
            {
                // Its connection may be the only one.
                typename Sql::native_transaction native{*pool_};
                auto const ended = insert_absent<Sql>(
                    native, [&](connection& to) { to.send(write, name, value); });
                if (ended.status != commit_status::committed) throw failure(ended.problem);
            }
            return known(name).value_or(std::string{});
        });
    }
    /// Replaces a value if it is still `old_value`.
    void replace(std::string_view name, std::string_view old_value,
                 std::string_view new_value) const {
        parameter_types const types{text_value, text_value, text_value};
        auto const& write = pool_->prepare(
            dialect::update(table_, "m", {{"value", "$3"}}, types, "m.name = $1 AND m.value = $2"),
            types, phase);
        perform([&](connection& to) { to.send(write, name, old_value, new_value); });
    }

    /// The last values of a range of names, the last name first.
    [[nodiscard]] std::vector<metadata_text> list(metadata_range const& names,
                                                  std::size_t limit) const {
        auto const& look = pool_->prepare("SELECT name, value FROM " + table_ +
                                              " WHERE name >= $1 AND name < $2 "
                                              "ORDER BY name DESC LIMIT $3",
                                          parameter_types{text_value, text_value, integer_value},
                                          "read the table of metadata");
        auto session = pool_->take();
        auto const number =
            session->send(look, names.from, names.to, static_cast<std::int64_t>(limit));
        session->sync();
        std::vector<metadata_text> listed;
        for_each_row(session->result(number), [&](typename Sql::row const& row) {
            listed.push_back({std::string{row.text(0)}, std::string{row.text(1)}});
        });
        return listed;
    }
    void erase(metadata_range const& names) const {
        auto const& gone =
            pool_->prepare("DELETE FROM " + table_ + " WHERE name >= $1 AND name < $2",
                           parameter_types{text_value, text_value}, phase);
        perform([&](connection& to) { to.send(gone, names.from, names.to); });
    }

    /// Keeps the present home of the log if the database still keeps `seen.kept`, and renames the
    /// log and the log that the records belong to.
    /// Shape:   new_name - may be the old name
    void move_home(log_home const& seen, std::string_view old_name,
                   std::string_view new_name) const {
        if (seen.kept.empty()) {
            static_cast<void>(get_or_init(home_metadata, seen.present));
            return;
        }
        if (new_name == old_name) return replace(home_metadata, seen.kept, seen.present);
        parameter_types const types(3, text_value);
        auto const& lock =
            pool_->prepare("SELECT value FROM " + table_ + " WHERE name = $1 FOR UPDATE",
                           parameter_types{text_value}, phase);
        auto const write = [&](char const* condition) -> auto const& {
            return pool_->prepare("UPDATE " + table_ + " SET value = $3 WHERE " + condition +
                                      " AND value = $2",
                                  types, phase);
        };
        auto const& keep = write("name = $1");
        auto const& rename = write("name IN ('log', $1)");
        perform([&](connection& to) {
            auto const number = to.send(lock, home_metadata);
            to.sync();
            auto const& kept = to.result(number);
            // After another program's answer, nothing is changed.
            if (kept.empty() || kept.text(0, 0) != seen.kept) return;
            to.send(keep, home_metadata, seen.kept, seen.present);
            to.send(rename, owner_metadata, old_name, new_name);
        });
    }

private:
    template <typename Action>
    void perform(Action&& action) const {
        typename Sql::native_transaction native{*pool_};
        native.perform_or_throw(action, Sql::longest_repetition);
    }

    static constexpr auto phase = "write the table of metadata";

    pool* pool_;
    std::string table_;
};

} // namespace detail::sql
SETTLE_END
