// SPDX-License-Identifier: BSL-1.0
// A store and a log in one MongoDB database, which any number of programs may share.
#pragma once

#include <settle/adapter/ownership.hpp>
#include <settle/mongodb/connection/metadata.hpp>
#include <settle/mongodb/connection/sure_read.hpp>
#include <settle/mongodb/log/log_identity.hpp>
#include <settle/mongodb/records/record_session.hpp>

SETTLE_BEGIN
namespace mongodb {

/// One database of a replica set, or of a single server. Records are ordinary documents: each
/// settle collection is one MongoDB collection. Entries are documents of settle_entries.
/// Shape:   address - `mongodb://host[:port][,…]/database[?options]`, with any option of the driver
///          except retryWrites: settle itself repeats a write with an unknown outcome. Defaults:
///          write concern majority with journal, read concern majority, and 15 s until a missing
///          answer becomes an unknown outcome. A weaker write concern is accepted on a single
///          server, or with options.weak_writes; it implies read concern local
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    clients come from a pool of 100 (maxPoolSize). Threads and engines share them
/// Source:  mongodb#address
class database {
public:
    explicit database(std::string const& address, database_options const& options = {})
        : server_(address, options) {
        detail::while_opening(server_, [&](detail::link& link) {
            server_.look(link);
            detail::check_version(link);
        });
    }
    /// Another database of the same set, through the clients of the first. An engine takes both for
    /// one store: one native transaction holds records of both, and the log of either.
    /// Shape:   beside - may end earlier
    /// Errors:  throws settle::failure with one sentence
    database(database const& beside, std::string const& name) : server_(beside.server_, name) {}
    database(database const&) = delete;
    database& operator=(database const&) = delete;

    /// As the constructor, but returns the error instead of throwing it.
    static result<std::unique_ptr<database>> open(std::string const& address,
                                                  database_options const& options = {}) {
        try {
            return std::make_unique<database>(address, options);
        } catch (failure const& problem) {
            return problem.problem();
        }
    }

    /// Errors:  throws settle::failure when a collection is unfit, or when the database's records
    ///          belong to another log
    template <typename... Collections>
    record_session<Collections...> bind(std::string const& log_name) {
        prepare(log_name, {}, collections<Collections...>);
        return record_session<Collections...>{server_};
    }

    /// As bind(), for any_database.
    std::shared_ptr<detail::record_store>
    bind_described(std::string const& log_name,
                   std::span<detail::collection_descriptor const* const> bound) {
        prepare(log_name, {}, bound);
        return detail::make_record_store(server_, {}, bound);
    }

    /// Errors:  throws settle::failure when the database cannot be read or written
    log_session bind_log() { return bind_log(detail::own_entries()); }

    /// True if one of both objects was made of the other, or both of a third.
    [[nodiscard]] bool shares_clients(database const& other) const noexcept {
        return server_.shares_clients(other.server_);
    }

    /// The current record, also where a deposed primary still answers: a majority confirms the
    /// answer after the read. `engine.read` returns the state of a majority, or with weak writes
    /// the state of one server. A single server returns its own state.
    /// Errors:  also when no majority answers within 15 s
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read_linearizable(collection<Record, Name, Key> const&,
                                                    value_of<Key> const& key) {
        return read_linearizable<collection<Record, Name, Key>>({}, key);
    }
    /// The same for servers without linearizable reads: it increments a field `settle_read`.
    template <typename Record, fixed_string Name, auto Key>
    result<std::optional<Record>> read_by_quorum(collection<Record, Name, Key> const&,
                                                 value_of<Key> const& key) {
        return read_by_quorum<collection<Record, Name, Key>>({}, key);
    }

private:
    template <auto const& Type>
    friend class tutorial_database;

    template <typename C>
    result<std::optional<typename C::record_type>>
    read_linearizable(detail::record_layout const& layout, typename C::key_type const& key) {
        return read<C>(&detail::read_linearizable, layout, key);
    }
    template <typename C>
    result<std::optional<typename C::record_type>>
    read_by_quorum(detail::record_layout const& layout, typename C::key_type const& key) {
        return read<C>(&detail::read_by_quorum, layout, key);
    }
    template <typename C, typename Read>
    result<std::optional<typename C::record_type>>
    read(Read how, detail::record_layout const& layout, typename C::key_type const& key) {
        std::optional<typename C::record_type> record;
        try {
            how(server_, settle::detail::descriptor_of_collection<C>, layout,
                settle::detail::key_of_value(key), [&] { return &record.emplace(); });
            return record;
        } catch (failure const& caught) {
            return caught.problem();
        }
    }

    log_session bind_log(detail::entry_layout const& layout) {
        detail::stored_log stored;
        detail::while_opening(server_, [&](detail::link& client) {
            stored = detail::get_or_init_log(client);
            detail::check_log_of_records(client, stored, layout);
            detail::check_layout_of_log(client, layout);
            detail::make_log(client, layout);
            detail::note_layout_of_log(client, layout);
        });
        return log_session{server_, std::move(stored), layout};
    }

    template <typename... Collections>
    static constexpr std::array<detail::collection_descriptor const*, sizeof...(Collections)>
        collections{&settle::detail::descriptor_of_collection<Collections>...};

    /// Creates or checks the collections, and stores the name of their log.
    void prepare(std::string const& log_name, detail::record_layout const& layout,
                 std::span<detail::collection_descriptor const* const> bound) {
        detail::while_opening(server_, [&](detail::link& client) {
            using settle::detail::owner_metadata;
            settle::detail::give_to_log(
                log_name, [&] { return detail::known_metadata(client, owner_metadata); },
                [&] {
                    for (auto const* const collection : bound) {
                        detail::prepare_records(client, *collection, layout);
                    }
                },
                [&] { return detail::get_or_init_metadata(client, owner_metadata, log_name); },
                [&](std::string const& owner) { detail::refuse_log(owner, log_name); });
        });
    }

    detail::server server_;
};

} // namespace mongodb
SETTLE_END
