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
    /// A document holds a record and its marks, and no entries. A linearizable read finds one.
    result<store_look> look(look_request const& request) override {
        try {
            auto client = server_->connect();
            store_look seen;
            seen.is_of_one_moment = request.records.size() == 1;
            for (auto const& record : request.records) {
                auto const codec =
                    std::find_if(codecs_.begin(), codecs_.end(), [&](record_codec const& each) {
                        return each.of().target == record.target;
                    });
                record_table table{*codec};
                table.expect(record.key);
                table.fetch(client, server_->deciding_read());
                seen.slots.push_back(table.take_only_slot(client).take());
            }
            return seen;
        } catch (failure const& caught) {
            return caught.problem();
        }
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
            for (auto* const one : sent) *one = created.problem;
            for (auto const& one : created.refused) {
                bool const taken = is_of_taken_key(one.problem, layout_.key);
                *sent[one.index] = taken ? record_exists_in(codec.collection()) : one.problem;
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
