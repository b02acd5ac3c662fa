// SPDX-License-Identifier: BSL-1.0
// The metadata of a log: its name, its home, and texts that belong to no entry.
#pragma once

#include <settle/mongodb/log/log_identity.hpp>

SETTLE_BEGIN
namespace mongodb {

/// The base of a log's session.
/// Shape:   the database outlives its sessions; threads may share a session
class named_log {
public:
    named_log(detail::server& server, detail::stored_log stored, detail::entry_layout const& layout)
        : server_(&server), name_(detail::log_name(stored.name, layout)),
          stored_(std::move(stored)) {}

    /// The name that the log got when this database first held a log.
    [[nodiscard]] std::string const& name() const noexcept { return name_; }

    /// A text that belongs to no entry. The database keeps it for all its logs.
    result<std::optional<std::string>> metadata(std::string_view name) {
        return detail::read_metadata(*server_, name);
    }
    /// Stores it if the stored text is still `seen`.
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text) {
        return detail::replace_metadata(*server_, name, seen, text);
    }
    /// The last texts of a range of names, the last name first.
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit) {
        return detail::list_metadata(*server_, names, limit);
    }
    result<void> erase_metadata(metadata_range const& names) {
        return detail::erase_metadata(*server_, names);
    }

    /// Where the database is, and where it was when this session was made: the identity of its
    /// collection of metadata. Elections and new members do not change it, and a copy has another.
    /// Cost:    one call of the server
    result<log_home> home() { return detail::look_home(*server_, stored_); }
    /// Keeps the present home, and renames the log.
    result<void> take_home(log_home const& seen, bool renames) {
        return detail::take_home(*server_, seen, stored_, renames);
    }

private:
    detail::server* server_;
    std::string name_;
    detail::stored_log stored_;
};

} // namespace mongodb
SETTLE_END
