// SPDX-License-Identifier: BSL-1.0
// A database of one kind as an any_store: compiled for each kind, in the file that opens it.
#pragma once

#include "any_store.hpp"

#include <utility>

namespace samples {

/// Shape:   Session - of a database's records
template <typename Session, typename Collection>
class held_collection : public any_collection<Collection> {
    using base = any_collection<Collection>;

public:
    explicit held_collection(Session& session) : session_(&session) {}

    settle::result<std::optional<typename base::record>>
    read(typename base::key const& of) override {
        return session_->template read<Collection>(of);
    }
    settle::result<void> create(typename base::record const& made) override {
        return session_->template create<Collection>(made);
    }
    void create_all(std::span<typename base::record const> wave,
                    std::span<settle::result<void>> answers) override {
        if constexpr (requires { session_->template create_all<Collection>(wave, answers); }) {
            session_->template create_all<Collection>(wave, answers);
        } else {
            for (std::size_t at = 0; at < wave.size(); ++at) answers[at] = create(wave[at]);
        }
    }
    settle::result<std::vector<typename base::record>>
    scan(std::optional<typename base::key> const& after, std::size_t limit) override {
        return session_->template scan<Collection>(after, limit);
    }

private:
    Session* session_;
};

/// Shape:   Session - of a database's log
template <typename Session>
class held_log final : public any_log {
public:
    explicit held_log(Session session) : session_(std::move(session)) {}

    Session& session() { return session_; }

    std::string const& name() override { return session_.name(); }
    void write(std::span<settle::entry_write const> writes, std::span<settle::write_result> results,
               settle::write_context const& at) override {
        session_.write(writes, results, at);
    }
    void look_up(std::span<settle::read_request const> requests,
                 settle::found_function found) override {
        session_.look_up(requests, found);
    }
    settle::result<std::optional<settle::entry>> read(settle::transaction_id const& id) override {
        return session_.read(id);
    }
    settle::result<std::vector<settle::entry>> list(settle::entry_filter const& filter,
                                                    settle::transaction_id const& after,
                                                    std::size_t limit) override {
        return session_.list(filter, after, limit);
    }
    settle::result<settle::purged> purge(settle::timestamp before, std::size_t limit,
                                         std::int64_t passed) override {
        return session_.purge(before, limit, passed);
    }
    settle::result<std::chrono::milliseconds>
    keep_horizon(std::chrono::milliseconds least) override {
        return session_.keep_horizon(least);
    }
    settle::result<settle::log_home> home() override {
        if constexpr (requires { session_.home(); }) return session_.home();
        else return settle::log_home{};
    }
    settle::result<void> take_home([[maybe_unused]] settle::log_home const& seen,
                                   [[maybe_unused]] bool renames) override {
        if constexpr (requires { session_.take_home(seen, renames); })
            return session_.take_home(seen, renames);
        else return {};
    }

private:
    Session session_;
};

/// Shape:   Session - of a database's records; Log - of its log
template <typename Session, typename Log>
class held_records final : public any_records {
public:
    held_records(Session session, Log& log) : session_(std::move(session)), log_(&log) {}

    Session& session() { return session_; }

    void execute(std::span<settle::part_request const> requests,
                 std::span<settle::part_result> results) override {
        session_.execute(requests, results);
    }
    settle::result<std::vector<settle::mark_locator>>
    marks(std::optional<settle::mark_locator> const& after, std::size_t limit) override {
        return session_.marks(after, limit);
    }
    settle::result<settle::answer> resolve(settle::mark_locator const& at,
                                           bool confirmed) override {
        return session_.resolve(at, confirmed);
    }
    [[nodiscard]] bool can_settle_in_one_phase() const override {
        if constexpr (requires { session_.can_settle_in_one_phase(); }) {
            return session_.can_settle_in_one_phase();
        } else {
            return requires { Session::settles_in_one_phase; };
        }
    }
    void one_phase([[maybe_unused]] std::span<settle::one_phase_request> requests,
                   [[maybe_unused]] settle::write_context const& at,
                   [[maybe_unused]] settle::one_phase_decider& decider) override {
        if constexpr (requires { Session::settles_in_one_phase; }) {
            session_.one_phase(requests, *log_, at, decider);
        }
    }

private:
    Session session_;
    Log* log_;
};

/// Shape:   Store - an any_store; Database - has the store's collections
template <typename Store, typename Database>
class held_store;
template <typename... Collections, typename Database>
class held_store<any_store<Collections...>, Database> final : public any_store<Collections...> {
    using base = any_store<Collections...>;
    using log = decltype(std::declval<Database&>().bind_log());
    using records = decltype(std::declval<Database&>().template bind<Collections...>(""));

public:
    /// Shape:   given - of the database's constructor
    template <typename... Given>
    explicit held_store(Given const&... given) : database_(given...) {}

    [[nodiscard]] std::size_t recovery_window() const override {
        if constexpr (requires { records::recovery_wave_size; }) return records::recovery_wave_size;
        else return 0;
    }

private:
    any_log& open_log() override { return log_.emplace(database_.bind_log()); }
    any_records& open_records(std::string const& log_name) override {
        auto& opened =
            records_.emplace(database_.template bind<Collections...>(log_name), log_->session());
        tables_.emplace(opened.session());
        return opened;
    }
    typename base::collections opened_collections() override {
        return {static_cast<held_collection<records, Collections>&>(*tables_)...};
    }

    struct tables : held_collection<records, Collections>... {
        explicit tables(records& session) : held_collection<records, Collections>(session)... {}
    };

    Database database_;
    std::optional<held_log<log>> log_;
    std::optional<held_records<records, log>> records_;
    std::optional<tables> tables_;
};

} // namespace samples
