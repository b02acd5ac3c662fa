// SPDX-License-Identifier: BSL-1.0
// Marks as they are read back from a store: any bytes give a clear error or a mark that can end.
#include "fuzz.hpp"

#include <mark_columns.hpp>

#include <settle/protocol/record_rule.hpp>
#include <settle/testing/store_suite/types.hpp>

namespace {

/// Input: the record's JSON, then the columns effect, confirm, undo and image, a line for each.
template <typename Record>
void read_mark(fuzz::lines from) {
    settle::record_slot<Record> slot;
    auto record = settle::decode_json<Record>(from.next(), settle::json_form::row);
    if (record.has_value()) slot.record = std::move(record).value();
    settle::detail::mark_columns mark_columns;
    mark_columns.effect = from.next();
    mark_columns.confirm = from.next();
    mark_columns.undo = from.next();
    mark_columns.image = from.next();
    settle::mark<Record> read;
    read.id = "t";
    read.epoch_number = 1;
    auto const problem = settle_test::decode_mark<Record>(mark_columns, slot.record, read);
    if (!problem.empty()) {
        fuzz::verify(!problem.text.empty(), "an error has a sentence");
        return;
    }
    auto const columns = settle_test::encode_mark(read);
    settle::mark<Record> again;
    again.id = read.id;
    again.epoch_number = read.epoch_number;
    auto const second = settle_test::decode_mark<Record>(columns, slot.record, again);
    fuzz::verify(second.empty() && again == read, "a mark that is read is written as it was");
    slot.marks.insert(settle::mark<Record>{read});
    auto undone = slot;
    settle::undo(undone, "t", {});
    settle::finish(slot, "t", {}, 1);
    fuzz::verify(undone.marks.empty() && slot.marks.empty(), "a mark that is read can end");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    read_mark<settle::testing::ledger>({data, size});
    read_mark<settle::testing::card>({data, size});
    return 0;
}
