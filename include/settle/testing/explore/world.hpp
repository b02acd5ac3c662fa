// SPDX-License-Identifier: BSL-1.0
// One state of a search: records, entries, workers, and writes with an unknown outcome.
#pragma once

#include <settle/testing/explore/reader.hpp>

#include <vector>

SETTLE_BEGIN
namespace testing {

enum class role : std::uint8_t { idle, caller, recoverer, canceler, sweeper };

/// One worker of a search, with its state.
/// Shape:   Coordinator - a coordinator
template <typename Coordinator>
struct model_worker {
    role what = role::idle;
    std::uint8_t name = 0; ///< shown in traces only; equal workers are interchangeable
    std::uint8_t transaction = 0;
    std::uint8_t part = 0;     ///< the part of the sweeper's mark
    bool found_stray = false;  ///< the sweeper has found the mark stray
    bool lists = false;        ///< the sweeper has read the entry, and lists the names now
    bool old = false;          ///< its call is older than `lifetime` allows
    bool is_cut = false;       ///< the session of its confirms is lost
    std::uint8_t begun = 0;    ///< a bit for each prepared part whose request is half executed
    std::uint8_t burned = 0;   ///< a bit for each call whose apply was answered before its undo
    std::uint8_t refused = 0;  ///< a bit for each refused call whose key is not closed yet
    call_results results = 0;  ///< the results of calls that the worker has received or read
    std::uint8_t resolved = 0; ///< a bit for each call that a person closed, as last read
    epoch marked = 0;          ///< the epoch of the sweeper's mark
    Coordinator coordinator{};

    [[nodiscard]] fingerprint print() const {
        fingerprint fingerprint;
        fingerprint.add(static_cast<std::uint64_t>(what));
        if (what == role::idle) return fingerprint;
        fingerprint.add(std::uint64_t{transaction} | std::uint64_t{part} << 8U |
                        (found_stray ? 1U : 0U) << 16U | (old ? 1U : 0U) << 17U |
                        std::uint64_t{burned} << 18U | std::uint64_t{refused} << 26U |
                        std::uint64_t{begun} << 34U | (lists ? std::uint64_t{1} : 0U) << 42U |
                        (is_cut ? std::uint64_t{1} : 0U) << 43U);
        fingerprint.add(marked);
        fingerprint.add(coordinator.hash());
        if (results != 0 || resolved != 0) {
            fingerprint.add(results | std::uint64_t{resolved} << 16U | std::uint64_t{1} << 63U);
        }
        return fingerprint;
    }

    void rest() {
        std::uint8_t const kept = name;
        *this = {};
        name = kept;
    }
};

/// One request to a record, a receiver, a resource or the log. In world::unanswered: a request
/// whose outcome is unknown to its worker, and which may still take effect.
struct sent_operation {
    std::uint8_t transaction = 0;
    std::uint8_t part = 0;
    bool old = false;
    step action = step::end;
    state inserts = state::initial;
    epoch under = 0;
    epoch committed = 0;
    epoch replaced = 0;        ///< the bar that an insert replaces
    bool begins = false;       ///< the first half of a request for a prepared part; never late
    bool burns = false;        ///< an apply whose answer only shows that its call can be undone
    bool closes = false;       ///< closes the key of a refused call
    bool lazy = false;         ///< a confirm that its store may lose
    call_results results = 0;  ///< parameters of a call, or results to keep
    std::uint8_t resolved = 0; ///< the calls that a person closed, to keep
    std::uint32_t joined = 0;  ///< a bit for each part that a commit executes
    transition change{};

    [[nodiscard]] fingerprint print() const {
        fingerprint fingerprint;
        fingerprint.add(
            std::uint64_t{transaction} | std::uint64_t{part} << 8U | (old ? 1U : 0U) << 16U |
            (burns ? 1U : 0U) << 17U | (closes ? 1U : 0U) << 18U | (lazy ? 1U : 0U) << 19U |
            static_cast<std::uint64_t>(action) << 24U | static_cast<std::uint64_t>(inserts) << 32U |
            static_cast<std::uint64_t>(change.from) << 40U |
            static_cast<std::uint64_t>(change.to) << 48U);
        fingerprint.add(under);
        fingerprint.add(committed);
        fingerprint.add(replaced);
        fingerprint.add(change.from_epoch);
        fingerprint.add(change.to_epoch);
        fingerprint.add(change.committed);
        fingerprint.add(std::uint64_t{change.attempts} | std::uint64_t{joined} << 32U);
        if (results != 0 || change.to_revision != 0 || change.stages_kept != 0) {
            fingerprint.add(std::uint64_t{change.from_revision} | std::uint64_t{results} << 16U |
                            std::uint64_t{change.to_revision} << 32U |
                            std::uint64_t{change.stages_kept} << 48U |
                            std::uint64_t{resolved} << 56U | std::uint64_t{1} << 63U);
        }
        return fingerprint;
    }
};

template <typename Coordinator, typename Records>
struct world {
    Records data;
    few<model_entry, 4> entries;
    few<model_worker<Coordinator>, 3> workers;
    few<sent_operation, 3> unanswered;
    few<prepared_row, most_prepared> prepared;
    few<receiver_row, most_calls> rows;
    std::vector<Records> unforced; ///< the records before each write that may be lost
    few<model_reader<Records>, 2> readers;
    std::uint8_t late = 0;          ///< late writes so far
    std::uint8_t again = 0;         ///< repeated calls so far
    std::uint8_t store_crashes = 0; ///< so far

    [[nodiscard]] fingerprint print() const {
        fingerprint fingerprint;
        data.for_each_cell([&](auto const& cell) { fingerprint.add(cell.print); });
        for (auto const& entry : entries) entry.add_to(fingerprint);
        for (auto const& worker : workers) fingerprint.add(worker.print());
        for (auto const& operation : unanswered) fingerprint.add(operation.print());
        for (auto const& row : prepared) row.add_to(fingerprint);
        for (auto const& row : rows) {
            fingerprint.add(row.packed());
            if (row.stray.operation) fingerprint.add(row.stray.packed());
        }
        for (auto const& earlier : unforced) {
            earlier.for_each_cell([&](auto const& cell) { fingerprint.add(cell.print); });
        }
        for (auto const& reader : readers) fingerprint.add(reader.print());
        fingerprint.add(late | std::uint64_t{again} << 8U | std::uint64_t{store_crashes} << 16U |
                        std::uint64_t{unforced.size()} << 24U);
        return fingerprint;
    }

    /// Calls `function(epoch&)` for every epoch of a transaction outside of the records.
    template <typename Function>
    void visit_epochs(std::size_t transaction, Function&& function) {
        auto& entry = entries[transaction];
        function(entry.now.epoch_number);
        function(entry.now.committed);
        function(entry.first_epoch);
        for (auto& worker : workers) {
            if (worker.what == role::idle || worker.transaction != transaction) continue;
            function(worker.marked);
            worker.coordinator.visit_epochs(function);
        }
        for (auto& row : prepared) {
            if (row.transaction != transaction) continue;
            for (epoch& name : row.names) function(name);
            if (row.receipt) function(*row.receipt);
        }
        for (auto& one : rows) {
            if (one.transaction == transaction) function(one.under);
        }
        for (auto& call : unanswered) {
            if (call.transaction != transaction) continue;
            function(call.under);
            function(call.committed);
            function(call.replaced);
            function(call.change.from_epoch);
            function(call.change.to_epoch);
            function(call.change.committed);
        }
    }

    /// Calls `function(epoch)` for the epoch of each mark of a transaction.
    template <typename Function>
    void visit_marks(transaction_id const& id, Function&& function) const {
        auto const visit = [&](auto const& cell) {
            for (auto const& one : cell.slot.marks) {
                if (one.id == id) function(one.epoch_number);
            }
        };
        data.for_each_cell(visit);
        for (auto const& earlier : unforced) earlier.for_each_cell(visit);
        for (auto const& reader : readers) {
            reader.seen.for_each_cell(visit);
            reader.known.visit([&](seen_mark const& mark) {
                if (mark.id == id) function(mark.epoch_number);
            });
        }
    }

    /// Renames epochs, so that states which differ in absolute numbers alone become equal. Renaming
    /// keeps the order, adjacent numbers (a claim adds 1), and the gaps between epochs of separate
    /// inserts, which claims never bridge.
    void rename_epochs(std::size_t transaction, transaction_id const& id) {
        std::array<epoch, 24> seen{};
        std::size_t count = 0;
        auto const note = [&](epoch epoch) {
            if (epoch == 0 ||
                std::find(seen.begin(), seen.begin() + count, epoch) != seen.begin() + count) {
                return;
            }
            seen.at(count++) = epoch;
        };
        visit_epochs(transaction, note);
        visit_marks(id, note);
        std::sort(seen.begin(), seen.begin() + count);
        std::array<epoch, 24> renamed{};
        bool same = true;
        for (std::size_t i = 0; i < count; ++i) {
            bool const is_first_birth = is_birth(seen[i]) && (i == 0 || !is_birth(seen[i - 1]));
            epoch const apart = i == 0 ? 1 : seen[i] - seen[i - 1];
            epoch const gap = is_birth(seen[i]) ? births_per_second : epochs_per_millisecond;
            renamed[i] = is_first_birth ? least_birth
                                        : (i == 0 ? 0 : renamed[i - 1]) +
                                              (apart < gap / 2 ? std::min<epoch>(apart, 2) : gap);
            same = same && renamed[i] == seen[i];
        }
        if (same) return;
        auto const rename = [&](epoch& epoch) {
            if (epoch == 0) return;
            auto const at = std::lower_bound(seen.begin(), seen.begin() + count, epoch);
            epoch = renamed[static_cast<std::size_t>(at - seen.begin())];
        };
        visit_epochs(transaction, rename);
        rename_marks(data, id, rename);
        for (auto& earlier : unforced) rename_marks(earlier, id, rename);
        for (auto& reader : readers) {
            rename_marks(reader.seen, id, rename);
            reader.known.visit([&](seen_mark& mark) {
                if (mark.id == id) rename(mark.epoch_number);
            });
        }
    }

    /// Makes states equal that differ in the order of workers or operations, or in attempts beyond
    /// `most`.
    void canonize(std::uint32_t most) {
        auto const cap = [&](std::uint32_t& attempts) { attempts = std::min(attempts, most); };
        for (auto& one : workers) one.coordinator.visit_attempts(cap);
        for (auto& one : entries) cap(one.now.attempts);
        for (auto& one : unanswered) cap(one.change.attempts);
        sort(unanswered);
        sort(workers);
    }

private:
    template <typename Items>
    static void sort(Items& items) {
        // Insertion sort: few items, and each fingerprint is computed once.
        std::array<fingerprint, 4> prints{};
        for (std::size_t i = 0; i < items.size(); ++i) prints.at(i) = items[i].print();
        for (std::size_t i = 1; i < items.size(); ++i) {
            for (std::size_t j = i; j > 0 && prints[j] < prints[j - 1]; --j) {
                std::swap(prints[j], prints[j - 1]);
                std::swap(items[j], items[j - 1]);
            }
        }
    }

    template <typename Rename>
    static void rename_marks(Records& records, transaction_id const& id, Rename const& rename) {
        records.for_each_table([&](auto& table) {
            for (std::size_t i = 0; i < table.cells.size(); ++i) {
                auto const& marks = table.cells[i]->slot.marks;
                if (std::none_of(marks.begin(), marks.end(),
                                 [&](auto const& mark) { return mark.id == id; })) {
                    continue;
                }
                table.change(i, [&](auto& cell) {
                    cell.slot.marks.visit_epochs_of(id, rename);
                    return true;
                });
            }
        });
    }
};

} // namespace testing
SETTLE_END
