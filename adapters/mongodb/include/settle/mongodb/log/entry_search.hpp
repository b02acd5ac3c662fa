// SPDX-License-Identifier: BSL-1.0
// Finds the entries of many ids at a time, with an answer that no newer primary contradicts.
#pragma once

#include <settle/mongodb/connection/native.hpp>
#include <settle/mongodb/log/entry_layout.hpp>
#include <settle/store/look.hpp>

#include <algorithm>
#include <numeric>
#include <span>

SETTLE_BEGIN
namespace mongodb::detail {

using found_entry = result<std::optional<entry>>;

/// A deposed primary that does not know of its replacement still answers, and the state of a
/// majority may be older than an acknowledged write. But an entry that a majority has as final
/// stays: no election rolls it back, and only a purge beyond the horizon changes it. So a final
/// entry is reported as found. Any other entry is read again, linearizably: a majority then
/// confirms, after the read, that the answering primary still is the primary. The server waits for
/// that confirmation once for each find. Each entry was read from the primary within this call,
/// which is enough because ids are independent.
class entry_search {
public:
    entry_search(server& server, entry_layout const& layout)
        : server_(&server), entries_(&layout) {}

    /// Shape:   take - as a log's look_up() calls it
    /// Cost:    a find for a thousand requests; for unfinished or missing entries, another find,
    ///          which waits for a majority
    void look_up(std::span<read_request const> requests, found_function take) {
        constexpr std::size_t most = 1000;
        for (std::size_t first = 0; first < requests.size(); first += most) {
            std::vector<sought> ids;
            for (auto const& request :
                 requests.subspan(first).first(std::min(most, requests.size() - first))) {
                // An insert that follows finds an entry that this read missed.
                ids.push_back({request.id, !request.inserts_next});
            }
            auto entries = find(ids);
            for (std::size_t at = 0; at < ids.size(); ++at) {
                take(first + at, std::move(entries[at]), false);
            }
        }
    }

    [[nodiscard]] found_entry read(transaction_id const& id) {
        sought const one{&id, true};
        return std::move(find({&one, 1}).front());
    }

    /// Lists the entries after the id `after`, in the order of their ids. The page shows a damaged
    /// entry with its fault and without parameters, so no worker claims it. Entries with unreadable
    /// ids come last.
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) {
        std::vector<entry> entries;
        if (filter.is_impossible() || limit == 0) return entries;
        try {
            auto client = server_->connect();
            auto const read = [&](document const& query, std::size_t most) {
                client.find(entries_->collection, query, page_of("_id", most), "read entries",
                            [&](document const& stored) {
                                entry& here = entries.emplace_back();
                                here.fault = entries_->decode(stored, here);
                                if (!here.fault.empty()) here.parameters.clear();
                            });
            };
            read(entries_->query_of(filter, after.empty() ? document{}
                                                          : entries_->locator_of(client, after)),
                 limit);
            // A short page is the last, and stays the last.
            if (entries.size() + 1 < limit) {
                read(entries_->query_of_unreadable(filter), limit - entries.size() - 1);
            }
        } catch (failure const& caught) {
            return caught.problem();
        }
        return entries;
    }

    /// Adds entries to a look, inside its native transaction.
    /// Errors:  throws command_failure, and errc::damaged
    void stand_within(link& client, std::span<transaction_id const> ids, store_look& into) const {
        if (ids.empty()) return;
        within_database const within{client, server_->database()};
        std::vector<sought> wanted;
        for (auto const& id : ids) wanted.push_back({&id, true});
        client.find(entries_->collection, filter_of(wanted), {}, "read entries",
                    [&](document const& stored) {
                        auto const read = decoded(stored);
                        if (!read.has_value()) throw failure(read.problem());
                        auto const& marked = *read.value();
                        into.entries.insert_or_assign(marked.id, standing_of(marked));
                    });
    }

private:
    /// An id to look for.
    struct sought {
        transaction_id const* id;
        bool surely; ///< a missing entry is reported only when that is certain
    };

    /// Returns: an answer for each id, in order
    [[nodiscard]] std::vector<found_entry> find(std::span<sought const> ids) {
        auto entries = find_by(ids, {});
        document sure = server_->deciding_read();
        if (sure.empty()) return entries;
        std::vector<sought> unsure;
        std::vector<std::size_t> indexes;
        for (std::size_t index = 0; index < ids.size(); ++index) {
            if (is_certain(entries[index], ids[index])) continue;
            unsure.push_back(ids[index]);
            indexes.push_back(index);
        }
        if (unsure.empty()) return entries;
        auto again = find_by(unsure, std::move(sure));
        for (std::size_t at = 0; at < indexes.size(); ++at) {
            entries[indexes[at]] = std::move(again[at]);
        }
        return entries;
    }

    static bool is_certain(found_entry const& looked_up, sought const& id) {
        // Another find at once would not reach an unreachable server either. A damaged document
        // may have been repaired since.
        if (!looked_up.has_value()) return looked_up.problem().code != errc::damaged;
        if (!looked_up.value()) return !id.surely;
        return is_final(looked_up.value()->state);
    }

    /// Shape:   sure - the options of a linearizable find; empty for any other
    [[nodiscard]] std::vector<found_entry> find_by(std::span<sought const> ids, document sure) {
        std::vector<found_entry> entries(ids.size(), found_entry{std::optional<entry>{}});
        auto const id_at = [&](std::size_t index) -> std::string_view { return *ids[index].id; };
        std::vector<std::size_t> by_id(ids.size());
        std::iota(by_id.begin(), by_id.end(), std::size_t{0});
        std::sort(by_id.begin(), by_id.end(),
                  [&](std::size_t left, std::size_t right) { return id_at(left) < id_at(right); });
        auto const note = [&](document const& stored) {
            auto const id = stored.find("_id")->id().value_or(std::string{});
            auto const before = [&](std::size_t left, std::string_view right) {
                return id_at(left) < right;
            };
            // An id may occur twice.
            auto at = std::lower_bound(by_id.begin(), by_id.end(), std::string_view{id}, before);
            for (; at != by_id.end() && id_at(*at) == id; ++at) entries[*at] = decoded(stored);
        };
        try {
            find_surely(*server_, entries_->collection, filter_of(ids), std::move(sure), {},
                        "read entries", note);
        } catch (failure const& caught) {
            std::fill(entries.begin(), entries.end(), found_entry{caught.problem()});
        }
        return entries;
    }

    /// The server has a faster plan for a single id.
    [[nodiscard]] document filter_of(std::span<sought const> wanted) const {
        if (wanted.size() == 1) return entries_->filter_of(*wanted.front().id);
        document ids;
        std::size_t count = 0;
        for (auto const& one : wanted) entries_->append_forms(ids, *one.id, count);
        document any;
        return only("_id", any.array("$in", ids));
    }

    [[nodiscard]] found_entry decoded(document const& from) const {
        std::optional<entry> decoded_entry;
        std::string const problem = entries_->decode(from, decoded_entry.emplace());
        if (problem.empty()) return decoded_entry;
        bool const ours = entries_->is_own;
        return {errc::damaged,
                "settle: the entry '" + decoded_entry->id + "' is damaged: " + problem +
                    ". Repair its document in " + entries_->collection +
                    (ours ? ". See errors#damaged" : ". See mongodb#coming-from-the-tutorial")};
    }

    server* server_;
    entry_layout const* entries_;
};

} // namespace mongodb::detail
SETTLE_END
