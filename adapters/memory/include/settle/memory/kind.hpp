// SPDX-License-Identifier: BSL-1.0
// A database in the memory of the process as an any_database: records without their C++ types in
// ordered maps behind a mutex, and the log of memory::database.
#pragma once

#include <settle/adapter/any_slot.hpp>
#include <settle/adapter/held_database.hpp>
#include <settle/adapter/ownership.hpp>
#include <settle/memory.hpp>

#include <array>
#include <map>
#include <mutex>

SETTLE_BEGIN
namespace memory {
namespace detail {

using settle::detail::any_slot;
using settle::detail::collection_descriptor;

struct described_table {
    collection_descriptor const* collection;
    std::map<key_value, any_slot> slots{};

    /// The slot of a key, which erase_if_empty() must follow.
    auto slot_of(part_key const& key) {
        return slots.try_emplace(settle::detail::owned(key), *collection->record).first;
    }
    void erase_if_empty(std::map<key_value, any_slot>::iterator slot) {
        if (!slot->second.has_record() && slot->second.count_marks() == 0) slots.erase(slot);
    }
};

/// Shape:   the mutex and the tables outlive the store
class described_store final : public settle::detail::erased_store {
public:
    described_store(std::mutex& mutex, std::vector<described_table*> tables)
        : mutex_(&mutex), tables_(std::move(tables)) {}

    /// The sessions of one engine are one store, but no native transaction holds its log as well.
    [[nodiscard]] settle::detail::session_capabilities capabilities() const override { return {}; }
    void one_phase(std::span<one_phase_request>, settle::detail::any_log_session&,
                   write_context const&, one_phase_decider&) override {}

    void execute(std::span<part_request const> requests, std::span<part_result> results) override {
        std::lock_guard const guard{*mutex_};
        for (std::size_t index = 0; index < requests.size(); ++index) {
            auto const& request = requests[index];
            for (described_table* const table : tables_) {
                if (table->collection->target != request.descriptor->target) continue;
                auto const slot = table->slot_of(request.key());
                auto const native_image = [&] {
                    return settle::detail::encode_record(*table->collection->record,
                                                         slot->second.record());
                };
                results[index] = slot->second.execute(request, native_image).result();
                table->erase_if_empty(slot);
            }
        }
    }
    void start(std::span<part_request const> requests, std::span<part_result> results) override {
        execute(requests, results);
    }
    void finish(std::span<part_result>) override {}
    void abandon(std::span<part_result>) noexcept override {}
    void expect_others() override {}

    result<void> read(std::size_t number, part_key const& key, made_record make_record) override {
        std::lock_guard const guard{*mutex_};
        auto const& table = *tables_[number];
        auto const slot = table.slots.find(settle::detail::owned(key));
        if (slot != table.slots.end()) copy(table, slot->second, make_record);
        return {};
    }
    result<store_look> look(look_request const& request) override {
        std::lock_guard const guard{*mutex_};
        store_look seen;
        for (auto const& record : request.records) {
            auto& into = seen.slots.emplace_back();
            for (described_table const* const table : tables_) {
                if (table->collection->target != record.target) continue;
                auto const slot = table->slots.find(settle::detail::owned(record.key));
                if (slot != table->slots.end())
                    into = settle::detail::any_slot{slot->second}.take();
            }
        }
        for (auto const* const target : request.collections) {
            for (described_table const* const table : tables_) {
                if (table->collection->target != target) continue;
                for (auto const& each : table->slots) {
                    seen.slots.push_back(settle::detail::any_slot{each.second}.take());
                }
            }
            seen.ends.push_back(seen.slots.size());
        }
        return seen;
    }
    result<void> scan(std::size_t number, part_key const* after, std::size_t limit,
                      made_record make_record) override {
        std::lock_guard const guard{*mutex_};
        auto const& table = *tables_[number];
        auto slot = after != nullptr ? table.slots.upper_bound(settle::detail::owned(*after))
                                     : table.slots.begin();
        for (; slot != table.slots.end() && limit > 0; ++slot) {
            if (copy(table, slot->second, make_record)) --limit;
        }
        return {};
    }
    void create_all(std::size_t number, record_at record,
                    std::span<result<void>> answers) override {
        std::lock_guard const guard{*mutex_};
        auto& table = *tables_[number];
        for (std::size_t index = 0; index < answers.size(); ++index) {
            void const* const created = record(index);
            auto const slot = table.slot_of(table.collection->key_of(created));
            answers[index] = {};
            if (slot->second.has_record() || slot->second.count_marks() > 0) {
                answers[index] = record_exists_in(table.collection->name);
            } else {
                copy_members(*table.collection->record, slot->second.emplace(), created);
            }
        }
    }

    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) override {
        std::lock_guard const guard{*mutex_};
        std::vector<mark_locator> listed;
        bool is_passed = !after; // the collection of `after`
        auto const order = [](mark_locator const& locator) {
            return std::tie(locator.key, locator.id, locator.part);
        };
        for (described_table const* const table : tables_) {
            bool const begins = !is_passed && after->collection == table->collection->name;
            for (auto const& entry : table->slots) {
                entry.second.for_each_mark([&](settle::detail::mark_view const& mark) {
                    mark_locator locator{std::string{table->collection->name}, entry.first,
                                         *mark.id, mark.part, mark.epoch_number};
                    bool const follows = is_passed || (begins && order(*after) < order(locator));
                    if (follows && listed.size() < limit) listed.push_back(std::move(locator));
                });
            }
            is_passed = is_passed || begins;
        }
        return listed;
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) override {
        std::lock_guard const guard{*mutex_};
        for (described_table* const table : tables_) {
            if (table->collection->name != locator.collection) continue;
            auto const slot = table->slots.find(locator.key);
            if (slot == table->slots.end()) continue;
            auto const mark = slot->second.find(locator.id, locator.part);
            if (!mark || mark->epoch_number != locator.epoch_number) continue;
            auto const ended = slot->second.resolve(locator.id, locator.part, confirmed);
            table->erase_if_empty(slot);
            return ended.what;
        }
        return answer::nothing;
    }

private:
    static void copy_members(settle::detail::record_descriptor const& record, void* to,
                             void const* from) {
        record.copy_fields(to, from, ~std::uint64_t{0});
    }
    static bool copy(described_table const& table, any_slot const& from, made_record make_record) {
        if (from.has_record()) {
            copy_members(*table.collection->record, make_record(), from.record());
        }
        return from.has_record();
    }

    std::mutex* mutex_;
    std::vector<described_table*> tables_;
};

class described_database final : public settle::detail::erased_database {
public:
    std::shared_ptr<settle::detail::log_port> bind_log() override {
        using session = memory::log_session<std::mutex>;
        return std::make_shared<settle::detail::port_of_log<session>>(log_.bind_log());
    }
    std::shared_ptr<settle::detail::erased_store>
    bind(std::string const& log_name,
         std::span<collection_descriptor const* const> bound) override {
        std::lock_guard const guard{mutex_};
        std::vector<described_table*> tables;
        for (auto const* const collection : bound) {
            auto& table =
                tables_.try_emplace(std::string{collection->name}, described_table{collection})
                    .first->second;
            if (table.collection->record != collection->record) {
                throw failure({make_error_code(errc::unfit_store),
                               "settle: the collection '" + std::string{collection->name} +
                                   "' holds records of another type. See definition#records"});
            }
            tables.push_back(&table);
        }
        if (belongs_to_.empty()) belongs_to_ = log_name;
        if (belongs_to_ != log_name) settle::detail::refuse_other_log(belongs_to_);
        return std::make_shared<described_store>(mutex_, std::move(tables));
    }

private:
    memory::database log_;
    std::mutex mutex_;
    std::string belongs_to_;
    std::map<std::string, described_table> tables_;
};

} // namespace detail

/// The address `memory:`. What the database holds ends with it.
[[nodiscard]] inline database_kind kind() {
    static constexpr std::array<std::string_view, 1> schemes{"memory"};
    return {schemes, "memory:", [](std::string const&) {
                return std::unique_ptr<settle::detail::erased_database>{
                    std::make_unique<detail::described_database>()};
            }};
}

} // namespace memory
SETTLE_END
