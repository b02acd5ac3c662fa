// SPDX-License-Identifier: BSL-1.0
// Executes the waves of a session, lists marks, reads and creates records.
#pragma once

#include <settle/adapter/executed_store.hpp>
#include <settle/mongodb/records/mark_listing.hpp>
#include <settle/mongodb/records/record_store.hpp>
#include <settle/mongodb/records/unit_port.hpp>

SETTLE_BEGIN
namespace mongodb::detail {

class record_waves final : public settle::detail::executed_store<record_store> {
public:
    record_waves(server& server, record_layout const& layout,
                 std::span<collection_descriptor const* const> bound)
        : executed_store(limits), server_(&server), layout_(layout) {
        for (auto const* const collection : bound)
            codecs_.emplace_back(*collection, server.database(), layout);
        own_ = codecs_.size();
    }

    /// A single server has no native transactions.
    [[nodiscard]] settle::detail::session_capabilities capabilities() const override {
        auto own = executed_store::capabilities();
        own.settles_in_one_phase = server_->has_transactions();
        own.marks_keep_births = layout_.bare_marks == nullptr;
        return own;
    }
    /// A collection of another layout stays apart.
    [[nodiscard]] bool join(settle::detail::one_phase_store<log_session>& other) override {
        auto const& joined = static_cast<record_waves&>(other);
        if (!layout_.is_own() || !joined.layout_.is_own()) return false;
        codecs_.insert(codecs_.end(), joined.own_codecs().begin(), joined.own_codecs().end());
        return true;
    }
    void one_phase(std::span<one_phase_request> requests, log_session& log,
                   write_context const& context, one_phase_decider& decider) override {
        unit_port port{*server_, layout_, codecs_, &log};
        executor_.one_phase(port, requests, context, decider);
    }

    result<void> read(std::size_t number, part_key const& key, made_record make_record) override {
        try {
            auto client = server_->connect();
            record_table table{codecs_[number]};
            table.expect(key);
            table.fetch(client);
            table.copy_only_record(client, make_record);
            return {};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    result<store_look> look(look_request const& request) override { return look(request, nullptr); }
    result<store_look> look_with(look_request const& request, log_session& log) override {
        return look(request, request.with_entries ? &log : nullptr);
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record make_record) override {
        if (limit == 0) return {};
        record_codec const& codec = codecs_[number];
        try {
            auto client = server_->connect();
            bool empty = true;
            document filter;
            if (after != nullptr) {
                auto const locator = locator_of(client, codec, *after);
                append_after_key(filter, codec, *locator.find(layout_.key), "$gt");
            }
            client.find(codec.collection(), filter, page_of(layout_.key, limit), "read records",
                        [&](document const& document) {
                            codec.read(document, make_record());
                            empty = false;
                        });
            if (!empty || after != nullptr) return {};
            auto absent = absence_of(client, codec.collection());
            return absent.empty() ? result<void>{} : result<void>{std::move(absent)};
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    /// Creates records in one command. A record that is too large to send gets its own error: the
    /// others are created.
    void create_all(std::size_t number, record_at record_of,
                    std::span<result<void>> answers) override {
        record_codec const& codec = codecs_[number];
        try {
            auto client = server_->connect();
            bulk writes{client, codec.collection()};
            std::vector<result<void>*> sent;
            for (std::size_t index = 0; index < answers.size(); ++index) {
                try {
                    writes.insert(codec.encode(record_of(index), {}));
                    sent.push_back(&answers[index]);
                } catch (failure const& caught) {
                    answers[index] = caught.problem();
                }
            }
            auto const created = writes.execute("create records");
            for (auto* const answer : sent) *answer = created.problem;
            for (auto const& refusal : created.refused) {
                bool const taken = is_of_taken_key(refusal.problem, layout_.key);
                *sent[refusal.index] =
                    taken ? record_exists_in(codec.collection()) : refusal.problem;
            }
        } catch (failure const& caught) {
            for (auto& one : answers) one = caught.problem();
        }
    }

    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        std::vector<mark_locator> locators;
        bool reached = !after;
        try {
            auto client = server_->connect();
            for (record_codec const& codec : own_codecs()) {
                bool const begins_here = !reached && after->collection == codec.collection();
                if (reached || begins_here) {
                    mark_listing{codec}.append(client, locators, begins_here ? &*after : nullptr,
                                               limit);
                }
                reached = reached || begins_here;
            }
        } catch (failure const& caught) {
            return caught.problem();
        }
        return locators;
    }
    result<answer> resolve(mark_locator const& where, bool confirmed) override {
        bool const text = std::holds_alternative<std::string>(where.key);
        for (record_codec const& codec : own_codecs()) {
            auto const& descriptor = codec.of();
            if (where.collection != descriptor.name || text != descriptor.text_key) continue;
            auto const end = [&](record_table& table) { return table.end_mark(where, confirmed); };
            return at_record(descriptor.target, settle::detail::view_of(where.key), end);
        }
        return answer::nothing;
    }

    result<answer>
    at_record(void const* target, part_key const& key,
              settle::detail::function_view<answer(record_table&)> function) override {
        answer reply = answer::nothing;
        auto const change = [&](unit_of_work& unit, link& client) {
            auto& table = unit.of(target);
            table.expect(key);
            unit.fetch(client);
            reply = function(table);
        };
        auto const ended = port_.in_unit(change, for_long);
        if (ended.status != commit_status::committed) return ended.problem;
        return reply;
    }

    commit_result in_unit(action function) override {
        return port_.in_unit(function, effort_for(1, true));
    }

private:
    [[nodiscard]] static error lost_moment() {
        return {make_error_code(errc::no_committed_read),
                "settle: MongoDB ended a native transaction before it gave the records. Call the "
                "read again. See committed_reads#limit"};
    }
    /// A document holds a record and its marks, and a linearizable read finds one. Only a native
    /// transaction reads several documents, and entries, as of one moment.
    /// Shape:   log - null if the look has no entries
    result<store_look> look(look_request const& request, log_session* log) {
        try {
            store_look seen;
            auto const asked =
                request.records.size() + request.ids.size() + request.collections.size();
            bool const is_single = asked == 1 && request.collections.empty();
            bool const is_at_once = is_single && request.at_moment == nullptr;
            if (is_at_once || !server_->has_transactions()) {
                auto client = server_->connect();
                look_at(client, request, server_->deciding_read(), seen);
                seen.is_of_one_moment = is_single;
                return seen;
            }
            bool has_called = false;
            read_at_one_moment(*server_, [&](link& client) {
                seen = {};
                if (request.at_moment != nullptr) {
                    if (std::exchange(has_called, true)) throw failure(lost_moment());
                    // The first read takes the snapshot.
                    client.find(codecs_.front().collection(), {}, page_of(layout_.key, 1),
                                "read records", [](document const&) {});
                    (*request.at_moment)();
                }
                look_at(client, request, {}, seen);
                if (log == nullptr) return;
                seen.has_entries = true;
                std::vector<transaction_id> ids{request.ids.begin(), request.ids.end()};
                for (auto const& slot : seen.slots) {
                    for (auto const& mark : slot.marks) ids.push_back(mark.id);
                }
                log->search().stand_within(client, ids, seen);
            });
            return seen;
        } catch (failure const& caught) {
            return caught.problem();
        }
    }
    void look_at(link& client, look_request const& request, document const& options,
                 store_look& seen) const {
        auto const& records = request.records;
        for (std::size_t first = 0, next = 0; first < records.size(); first = next) {
            record_table table{codec_of(records[first].target)};
            within_database const within{client, table.database()};
            for (; next < records.size() && records[next].target == records[first].target; ++next) {
                table.expect(records[next].key);
            }
            table.fetch(client, document{options.native()});
            for (auto const& record : records.subspan(first, next - first)) {
                seen.slots.push_back(any_slot{table.slot_of(client, record.key)}.take());
            }
        }
        for (auto const* const target : request.collections) {
            record_table table{codec_of(target)};
            within_database const within{client, table.database()};
            table.fetch_all(client, document{options.native()});
            table.append_slots(client, seen.slots);
            seen.ends.push_back(seen.slots.size());
        }
    }
    [[nodiscard]] record_codec const& codec_of(void const* target) const {
        return *std::find_if(codecs_.begin(), codecs_.end(),
                             [&](record_codec const& each) { return each.of().target == target; });
    }
    [[nodiscard]] settle::detail::wave_port& port() noexcept override { return port_; }
    /// Of the session's own collections, without those that have joined.
    [[nodiscard]] std::span<record_codec const> own_codecs() const {
        return std::span{codecs_}.first(own_);
    }

    /// Enough leaders that a few threads do not wait for each other, and few enough that many
    /// threads share a native transaction of limited size.
    static constexpr settle::detail::wave_limits limits{.most_shared = 1};

    server* server_;
    record_layout layout_;
    std::vector<record_codec> codecs_;                    ///< of the collections
    std::size_t own_ = 0;                                 ///< how many are the session's own
    unit_port port_{*server_, layout_, codecs_, nullptr}; ///< for two phases
};

} // namespace mongodb::detail
SETTLE_END
