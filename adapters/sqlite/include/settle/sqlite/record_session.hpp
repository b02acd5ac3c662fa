// SPDX-License-Identifier: BSL-1.0
// The records of some collections of one database: an engine hands its waves to it.
#pragma once

#include <settle/sqlite/record_waves.hpp>

#include <tuple>

SETTLE_BEGIN
namespace sqlite {

/// Shape:   the database outlives its sessions
/// Cost:    a wave is one native transaction: one sync of the disk, however many operations
template <typename... Collections>
class record_session {
public:
    template <typename C>
    using holds = std::bool_constant<(std::is_same_v<C, Collections> || ...)>;

    /// Shape:   the caller is alone with the file
    /// Errors:  throws settle::failure when a table does not fit its collection
    explicit record_session(detail::file& file)
        : file_(&file), held_(new detail::held_tables{file, bound()}, {&file}) {}

    /// Each result holds once the native transaction is committed: `unavailable` when it took no
    /// effect, `record_unusable` when it never will, `unknown` when its commit failed half-way.
    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        held_->waves.execute(requests, results);
    }

    /// Settles transactions at once, each as the decider says, in the order of the wave: every part
    /// and the entry in one native transaction, which threads share.
    /// Shape:   log - of the same database
    void one_phase(std::span<one_phase_request> requests, log_session& log,
                   write_context const& at, one_phase_decider& decider) {
        held_->waves.one_phase(requests, log.entries(), at, decider);
    }
    static constexpr bool settles_in_one_phase = true;

    /// Marks stand with their records, so those of what stood still may be all over a large table:
    /// the more are taken over at a time, the fewer times each page of it is written.
    static constexpr std::size_t recovery_wave_size = 16'000;

    template <typename C>
    result<std::optional<typename C::record_type>> read(typename C::key_type const& key) {
        return file_->reading([&] {
            std::optional<typename C::record_type> found;
            held_->readers[index_of<C>].read(key_of<C>(key), [&] { return &found.emplace(); });
            return found;
        });
    }

    /// Errors:  errc::record_exists when a record or a mark has its key
    template <typename C>
    result<void> create(typename C::record_type const& record) {
        if (auto texts = check_texts(record); !texts.has_value()) return texts;
        auto const made =
            file_->writing([&] { return held_->unit.at(index_of<C>).create(&record); });
        if (!made.has_value()) return made.problem();
        if (made.value()) return {};
        return record_exists_in(C::name);
    }

    /// As create for each, in one native transaction.
    template <typename C>
    void create_all(std::span<typename C::record_type const> wave,
                    std::span<result<void>> answers) {
        auto const ended = file_->perform([&](detail::transaction& here) {
            static_cast<void>(file_->unchanged_for(nullptr));
            detail::record_table& table = held_->unit.at(index_of<C>);
            for (std::size_t at = 0; at < wave.size(); ++at) {
                answers[at] = {};
                try {
                    bool made = false;
                    here.in_part([&] { made = table.create(&wave[at]); });
                    if (!made) answers[at] = record_exists_in(C::name);
                } catch (failure const& caught) {
                    // An error of one record does not affect the others.
                    if (!here.is_open() || caught.problem().code != condition::permanent) throw;
                    answers[at] = caught.problem();
                }
            }
        });
        if (ended.status == detail::commit_status::committed) return;
        for (auto& one : answers) one = ended.problem;
    }

    /// Records in the order of their keys, beginning behind one of them.
    template <typename C>
    result<std::vector<typename C::record_type>> scan(
        std::optional<typename C::key_type> const& after, std::size_t limit) {
        return file_->reading([&] {
            std::vector<typename C::record_type> found;
            auto const behind = after ? key_of<C>(*after) : part_key{};
            held_->readers[index_of<C>].scan(after ? &behind : nullptr, limit,
                                             [&] { return &found.emplace_back(); });
            return found;
        });
    }

    /// Marks in the order of their records, beginning behind one of them; first those that are
    /// damaged so that they have no place in it.
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                          std::size_t limit) {
        return file_->reading([&] { return held_->marks.read(after, limit); });
    }

    /// Ends a mark if it still has the epoch of its place.
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        return file_->writing([&] {
            answer reply = answer::nothing;
            std::size_t number = 0;
            for (std::string_view const name : {Collections::name...}) {
                if (locator.collection == name) {
                    reply = held_->unit.at(number).resolve(locator, confirmed);
                }
                ++number;
            }
            return reply;
        });
    }

private:
    static std::vector<detail::bound_collection> bound() {
        return {{&settle::detail::target_tag<Collections>,
                 &settle::detail::descriptor_of_collection<Collections>}...};
    }
    template <typename C>
    static constexpr std::size_t index_of = [] {
        std::size_t number = 0;
        std::size_t found = 0;
        ((std::is_same_v<C, Collections> ? void(found = number) : void(), ++number), ...);
        return found;
    }();

    template <typename C>
    static part_key key_of(typename C::key_type const& key) {
        if constexpr (std::is_same_v<typename C::key_type, std::string>) {
            return std::string_view{key};
        } else {
            return to_integer(key);
        }
    }

    detail::file* file_;
    std::unique_ptr<detail::held_tables, detail::alone_deleter<detail::held_tables>> held_;
};

} // namespace sqlite
SETTLE_END
