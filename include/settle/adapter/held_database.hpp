// SPDX-License-Identifier: BSL-1.0
// A database of a known type as an any_database. An adapter includes it, and a program that opens
// one with options of its own.
#pragma once

#include <settle/adapter/any_database.hpp>

#include <utility>

SETTLE_BEGIN
namespace detail {

/// Shape:   Log - the log session of the same database
template <typename Log>
class held_store final : public erased_store {
public:
    explicit held_store(std::shared_ptr<one_phase_store<Log>> store) : store_(std::move(store)) {}

    [[nodiscard]] session_capabilities capabilities() const override {
        return store_->capabilities();
    }
    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        store_->execute(requests, results);
    }
    result<void> read(std::size_t number, part_key const& key, made_record make_record) override {
        return store_->read(number, key, make_record);
    }
    result<store_look> look(look_request const& request) override { return store_->look(request); }
    result<store_look> look_with(look_request const& request, any_log_session& log) override {
        if (!request.with_entries) return store_->look(request);
        return store_->look_with(request, static_cast<port_of_log<Log>&>(log.log()).session());
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record make_record) override {
        return store_->scan(number, after, limit, make_record);
    }
    void create_all(std::size_t number, record_at record,
                    std::span<result<void>> answers) override {
        store_->create_all(number, record, answers);
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        return store_->marks(after, limit);
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) override {
        return store_->resolve(locator, confirmed);
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        store_->start(requests, results);
    }
    void finish(std::span<part_result> results) override { store_->finish(results); }
    [[nodiscard]] bool finish_by(std::span<part_result> results,
                                 std::chrono::steady_clock::time_point until,
                                 wave_end const& over) override {
        return store_->finish_by(results, until, over);
    }
    void abandon(std::span<part_result> results) noexcept override { store_->abandon(results); }
    void expect_others() override {
        auto const own = store_->capabilities();
        if (own.overlaps_others || own.waves_go_on) store_->expect_others();
    }
    [[nodiscard]] bool force(session_moment since) override { return store_->force(since); }
    [[nodiscard]] bool join(erased_store& other) override {
        return store_->join(*static_cast<held_store&>(other).store_);
    }
    void one_phase(std::span<one_phase_request> requests, any_log_session& log,
                   write_context const& context, one_phase_decider& decider) override {
        store_->one_phase(requests, static_cast<port_of_log<Log>&>(log.log()).session(), context,
                          decider);
    }

private:
    std::shared_ptr<one_phase_store<Log>> store_;
};

/// Shape:   Database - has bind_described()
template <typename Database>
class held_database final : public erased_database {
    using log_session = decltype(std::declval<Database&>().bind_log());

public:
    template <typename... Arguments>
    explicit held_database(Arguments const&... arguments) : database_(arguments...) {}

    std::shared_ptr<log_port> bind_log() override {
        return std::make_shared<port_of_log<log_session>>(database_.bind_log());
    }
    std::shared_ptr<erased_store>
    bind(std::string const& log_name,
         std::span<collection_descriptor const* const> bound) override {
        return std::make_shared<held_store<log_session>>(database_.bind_described(log_name, bound));
    }

private:
    Database database_;
};

} // namespace detail

/// Opens a database of a known type as an any_database.
/// Shape:   arguments - of the database's constructor
/// Errors:  as that constructor
template <typename Database, typename... Arguments>
[[nodiscard]] any_database open_any(Arguments const&... arguments) {
    return any_database{std::make_unique<detail::held_database<Database>>(arguments...)};
}

SETTLE_END
