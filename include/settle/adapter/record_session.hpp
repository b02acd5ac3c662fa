// SPDX-License-Identifier: BSL-1.0
// The typed half of a store's session: an engine calls it with the types of its collections, and it
// calls an untyped store, which is compiled once.
#pragma once

#include <settle/adapter/collection.hpp>
#include <settle/store/look.hpp>

#include <array>
#include <memory>

SETTLE_BEGIN
namespace detail {

/// The records of a session's collections; a number identifies each collection. An adapter derives
/// from this class.
class record_store {
public:
    /// Gives the record to fill.
    using made_record = function_view<void*()>;
    using record_at = function_view<void const*(std::size_t)>;

    record_store() = default;
    record_store(record_store const&) = delete;
    record_store& operator=(record_store const&) = delete;
    virtual ~record_store() = default;

    virtual void execute(std::span<part_request const> requests,
                         std::span<part_result> results) = 0;
    /// Shape:   made - called if there is a record
    virtual result<void> read(std::size_t number, part_key const& key, made_record record) = 0;
    /// See the seam.
    virtual result<store_look> look(look_request const& request) = 0;
    /// Shape:   after - null for the first records; made - called for each record
    virtual result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                              made_record record) = 0;
    /// Shape:   at(index) - gives the record of each answer
    virtual void create_all(std::size_t number, record_at position,
                            std::span<result<void>> answers) = 0;
    virtual result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                                    std::size_t limit) = 0;
    virtual result<answer> resolve(mark_locator const& where, bool confirmed) = 0;
};

/// A store that settles transactions in one phase, and whose waves in two phases can be under way
/// while other stores have theirs.
/// Shape:   Log - of the same database
template <typename Log>
class one_phase_store : public record_store {
public:
    /// Begins a wave, if other stores were announced; otherwise executes it.
    virtual void start(std::span<part_request const> requests, std::span<part_result> results) = 0;
    virtual void finish(std::span<part_result> results) = 0;
    /// As finish_by() of the seam.
    [[nodiscard]] virtual bool finish_by(std::span<part_result> results,
                                         std::chrono::steady_clock::time_point, wave_end const&) {
        finish(results);
        return true;
    }
    virtual void abandon(std::span<part_result> results) noexcept = 0;
    virtual void expect_others() = 0;

    /// What the store can do; the type of its session may say more.
    [[nodiscard]] virtual session_capabilities capabilities() const {
        session_capabilities own;
        own.settles_in_one_phase = true;
        own.overlaps_others = true;
        own.waves_go_on = true;
        return own;
    }

    /// As force() of the seam. Called only if the capabilities have it.
    [[nodiscard]] virtual bool force(session_moment) { return false; }

    /// From now on also executes the parts of another store's collections.
    /// Shape:   other - of the same database object, or of one that shares its clients; made by the
    ///          same adapter, and in use by nobody
    /// Returns: false if one native transaction cannot hold the records of both
    [[nodiscard]] virtual bool join(one_phase_store&) { return false; }

    /// A look that may be at the log, too.
    /// Shape:   log - of the same database, if the request asks for entries
    virtual result<store_look> look_with(look_request const& request, Log&) {
        return this->look(request);
    }

    /// Settles transactions, each as the decider says, in the order of the wave: every part and the
    /// entry in one native transaction, which threads share.
    virtual void one_phase(std::span<one_phase_request> requests, Log& log,
                           write_context const& context, one_phase_decider& decider) = 0;
};

/// Shape:   Store - derives from record_store
template <typename Store, typename... Collections>
class typed_session {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    /// Each result holds once the native transaction is committed: `unavailable` when it took no
    /// effect, `record_unusable` when it never will, `unknown` when its commit failed half-way.
    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        store_->execute(requests, results);
    }

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        std::optional<typename C::record_type> record;
        auto const ended =
            store_->read(number_of<C>, key_of_value(key), [&] { return &record.emplace(); });
        if (!ended.has_value()) return ended.problem();
        return record;
    }

    result<store_look> look(look_request const& request) { return store_->look(request); }

    /// Errors:  errc::record_exists when a record or a mark has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        result<void> answer;
        create_all<C>({&record, 1}, {&answer, 1});
        return answer;
    }

    /// Creates each record in one call, with an answer for each.
    /// Shape:   wave - records that pass check_texts(); only create() checks them itself
    template <typename C>
    void create_all(std::span<typename C::record_type const> wave,
                    std::span<result<void>> answers) {
        store_->create_all(number_of<C>, [&](std::size_t index) { return &wave[index]; }, answers);
    }

    /// Lists records in the order of their keys, after a key.
    template <typename C>
    result<std::vector<typename C::record_type>>
    scan(std::optional<typename C::key_type> const& after, std::size_t limit) {
        std::vector<typename C::record_type> records;
        auto const last_key = after ? key_of_value(*after) : part_key{};
        auto const ended = store_->scan(number_of<C>, after ? &last_key : nullptr, limit,
                                        [&] { return &records.emplace_back(); });
        if (!ended.has_value()) return ended.problem();
        return records;
    }

    /// Lists marks in the order of their records, after a mark.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) {
        return store_->marks(after, limit);
    }

    /// Ends a mark if it still has the locator's epoch.
    result<answer> resolve(mark_locator const& where, bool confirmed) {
        return store_->resolve(where, confirmed);
    }

    /// As one_phase_store::join.
    template <typename... Others>
    [[nodiscard]] bool join(typed_session<Store, Others...> const& other)
        requires requires(Store& store) { store.join(store); }
    {
        return store_->join(*other.store_);
    }

protected:
    explicit typed_session(std::shared_ptr<Store> store) : store_(std::move(store)) {}

    [[nodiscard]] Store& store() const noexcept { return *store_; }

    static constexpr std::array<collection_descriptor const*, sizeof...(Collections)> bound{
        &descriptor_of_collection<Collections>...};

private:
    template <typename, typename...>
    friend class typed_session;

    template <typename C>
    static constexpr std::size_t number_of = [] {
        std::size_t number = 0;
        std::size_t found = 0;
        ((std::is_same_v<C, Collections> ? void(found = number) : void(), ++number), ...);
        return found;
    }();

    std::shared_ptr<Store> store_;
};

/// Shape:   Store - derives from one_phase_store
template <typename Store, typename... Collections>
class overlapping_session : public typed_session<Store, Collections...> {
    using base = typed_session<Store, Collections...>;

public:
    /// Begins a wave: at its server, or on another thread. If neither is possible, or no other
    /// stores were announced, the call executes the wave before it returns.
    void start(std::span<part_request const> requests, std::span<part_result> results) {
        base::store().start(requests, results);
    }
    void finish(std::span<part_result> results) { base::store().finish(results); }
    /// As finish_by() of the seam.
    [[nodiscard]] bool finish_by(std::span<part_result> results,
                                 std::chrono::steady_clock::time_point until,
                                 wave_end const& over) {
        return base::store().finish_by(results, until, over);
    }
    void abandon(std::span<part_result> results) noexcept { base::store().abandon(results); }
    /// Announces other stores: from now on waves overlap theirs.
    void expect_others() { base::store().expect_others(); }

protected:
    using base::base;
};

/// Shape:   Session - a session of a one_phase_store
template <typename Session, typename Log>
class one_phase_session : public Session {
public:
    using Session::look;
    /// As one_phase_store::look_with.
    result<store_look> look(look_request const& request, Log& log) {
        return Session::store().look_with(request, log);
    }
    /// As one_phase_store::one_phase.
    void one_phase(std::span<one_phase_request> requests, Log& log, write_context const& context,
                   one_phase_decider& decider) {
        Session::store().one_phase(requests, log, context, decider);
    }
    [[nodiscard]] bool force(session_moment since) { return Session::store().force(since); }
    static constexpr bool settles_in_one_phase = true;
    [[nodiscard]] session_capabilities capabilities() const {
        return Session::store().capabilities();
    }

protected:
    using Session::Session;
};

} // namespace detail
SETTLE_END
