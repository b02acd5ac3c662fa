// SPDX-License-Identifier: BSL-1.0
// A reader of decided transactions in a search: which records it reads, and its state.
#pragma once

#include <settle/protocol/read_rule.hpp>
#include <settle/testing/explore/model.hpp>
#include <settle/testing/show_record.hpp>

SETTLE_BEGIN
namespace testing {

/// Where the records of a read are, and how it finds a moment.
enum class read_of : std::uint8_t { far_store, near_store, held_log, three_looks };

/// The records of a read.
/// Shape:   seen - the records of a look, in the order of the read, and no others
template <typename Records>
class model_read {
public:
    explicit model_read(read_of given) : reads(given) {}
    model_read(model_read const&) = delete;
    model_read& operator=(model_read const&) = delete;
    virtual ~model_read() = default;

    read_of const reads;

    [[nodiscard]] virtual std::size_t size() const = 0;
    /// Adds the record with this number to a look, before those with greater numbers.
    virtual void look(Records const& data, Records& seen, std::size_t number) const = 0;
    /// As is_unchanged() of the read rule.
    /// Shape:   of_marks - a version differs after each change of the marks, too
    [[nodiscard]] virtual bool is_unchanged(Records const& seen, Records const& data,
                                            std::size_t number, bool of_marks) const = 0;
    /// How far the version of each record but the last is from that of a look.
    /// Shape:   is_exact - the store may stop and count back; else 1 is any number of changes
    [[nodiscard]] virtual fingerprint distance(Records const& seen, Records const& data,
                                               bool of_marks, bool is_exact) const = 0;
    /// Gives a look to the read rule.
    virtual void give(Records const& seen, bracket& to) const = 0;
    /// The records as the decided transactions alone make them.
    [[nodiscard]] virtual fingerprint truth(Records const& data) const = 0;
    /// The records of a look, as the reader answers.
    [[nodiscard]] virtual fingerprint answer(Records const& seen, bracket const& known) const = 0;
    [[nodiscard]] virtual std::string text(Records const& seen, bracket const& known) const = 0;
};

/// Shape:   slots - the indexes of the records in their table
template <typename Rules, typename Collection, typename Records>
class typed_read final : public model_read<Records> {
    using table = model_table<Collection>;
    using record = typename Collection::record_type;

public:
    typed_read(read_of given, std::vector<std::size_t> slots)
        : model_read<Records>(given), slots_(std::move(slots)) {}

    [[nodiscard]] std::size_t size() const override { return slots_.size(); }
    void look(Records const& data, Records& seen, std::size_t number) const override {
        auto& to = std::get<table>(seen.tables).cells;
        auto const place = std::min(number, to.size());
        to.push_back(cells(data)[slots_[number]]);
        std::rotate(to.begin() + place, to.end() - 1, to.end());
    }
    [[nodiscard]] bool is_unchanged(Records const& seen, Records const& data, std::size_t number,
                                    bool of_marks) const override {
        auto const& before = cells(seen)[number]->slot;
        auto const& after = cells(data)[slots_[number]]->slot;
        bool const differs = Rules::readers_compare_versions
                                 ? moved(seen, data, number, of_marks) != 0
                                 : !equal_members(before.record, after.record);
        auto const version = [](auto const& slot, std::uint64_t number_of) {
            return slot.record ? std::optional{number_of} : std::nullopt;
        };
        return settle::is_unchanged<Rules>(before, version(before, 0), after,
                                           version(after, differs ? 1 : 0));
    }
    [[nodiscard]] fingerprint distance(Records const& seen, Records const& data, bool of_marks,
                                       bool is_exact) const override {
        fingerprint print;
        std::size_t const count = std::min(cells(seen).size(), slots_.size() - 1);
        for (std::size_t number = 0; number < count; ++number) {
            int const changes = moved(seen, data, number, of_marks);
            print.add(static_cast<std::uint64_t>(is_exact ? changes : std::min(changes, 1)));
        }
        return print;
    }
    void give(Records const& seen, bracket& to) const override {
        std::vector<record_slot<record>> slots;
        for (auto const& cell : cells(seen)) slots.push_back(cell->slot);
        to.looked<Rules>(slots);
    }
    [[nodiscard]] fingerprint truth(Records const& data) const override {
        fingerprint print;
        for (auto const slot : slots_) print.add_record(cells(data)[slot]->truth);
        return print;
    }
    [[nodiscard]] fingerprint answer(Records const& seen, bracket const& known) const override {
        fingerprint print;
        for (auto const& cell : cells(seen)) print.add_record(settled(cell->slot, known));
        return print;
    }
    [[nodiscard]] std::string text(Records const& seen, bracket const& known) const override {
        std::string text;
        for (auto const& cell : cells(seen)) text += show_record(settled(cell->slot, known));
        return text;
    }

private:
    static auto const& cells(Records const& of) { return std::get<table>(of.tables).cells; }
    [[nodiscard]] int moved(Records const& seen, Records const& data, std::size_t number,
                            bool of_marks) const {
        auto const& before = *cells(seen)[number];
        auto const& after = *cells(data)[slots_[number]];
        int const changes =
            of_marks ? after.of_marks - before.of_marks : after.version - before.version;
        return static_cast<std::int8_t>(changes);
    }
    static std::optional<record> settled(record_slot<record> copy, bracket const& known) {
        known.settle(copy);
        return copy.record;
    }

    std::vector<std::size_t> slots_;
};

enum class reader_state : std::uint8_t { waiting, reading, ended, wrong };

/// Whether a reader keeps the entries as they are.
enum class hold_state : std::uint8_t { none, held, lost };

/// One reader of a search, with its state.
template <typename Records>
struct model_reader {
    reader_state now = reader_state::waiting;
    hold_state hold = hold_state::none;
    bool is_over = false;     ///< its limit has passed
    std::uint8_t looks = 0;   ///< of three_looks, so far
    std::uint8_t crashes = 0; ///< of the store of the other records, before its first look
    std::uint8_t unended = 0; ///< a bit for each transaction that was not final at its call
    Records seen{};           ///< the records of its look, in the order of the read
    bracket known{};
    std::uint8_t least = 0; ///< a bit for each transaction in an answer before its call
    std::optional<std::uint8_t> answered{}; ///< a bit for each transaction in its answer
    std::vector<fingerprint> truths{};      ///< all that the records were since its call, in order
    fingerprint versions{};                 ///< how far they are from those of its look

    /// Adds what the decided transactions now make of its records.
    void note(fingerprint const& truth) {
        auto const place = std::lower_bound(truths.begin(), truths.end(), truth);
        if (place == truths.end() || *place != truth) truths.insert(place, truth);
    }
    void end(reader_state state) {
        *this = {};
        now = state;
    }

    [[nodiscard]] fingerprint print() const {
        fingerprint print;
        print.add(static_cast<std::uint64_t>(now) | (is_over ? 1U : 0U) << 8U |
                  static_cast<std::uint64_t>(hold) << 9U | std::uint64_t{unended} << 16U |
                  static_cast<std::uint64_t>(known.next()) << 24U |
                  std::uint64_t{known.count_answered()} << 32U | std::uint64_t{looks} << 40U |
                  std::uint64_t{crashes} << 48U);
        if (answered || least != 0) {
            print.add(least | std::uint64_t{answered.value_or(0)} << 8U |
                      (answered ? 1U : 0U) << 16U | std::uint64_t{1} << 63U);
        }
        if (now != reader_state::reading) return print;
        if (looks != 0) print.add(versions);
        seen.for_each_cell([&](auto const& cell) {
            print.add_record(cell.slot.record);
            for (auto const& mark : cell.slot.marks) print.add_mark(mark);
            print.add(cell.slot.marks.size());
        });
        for (auto const& truth : truths) print.add(truth);
        known.visit([&](seen_mark const& mark) {
            print.add_text(mark.id);
            print.add(mark.epoch_number);
        });
        return print;
    }
};

} // namespace testing
SETTLE_END
