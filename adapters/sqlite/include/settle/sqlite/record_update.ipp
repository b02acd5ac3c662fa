// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that record_update.hpp declares.
#pragma once

#include <settle/sqlite/record_update.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void expect_changed(std::string_view table, std::int64_t count,
                                    std::size_t wanted) {
    if (count == static_cast<std::int64_t>(wanted)) return;
    std::string text{"settle: a write to the table '"};
    text.append(table).append("' changed " + std::to_string(count) + " rows instead of ");
    text.append(std::to_string(wanted));
    raise(errc::unfit_store,
          text.append("; has a trigger been added to it since this program began? Remove it. "
                      "See sqlite#existing-tables"));
}

SETTLE_FUNCTION void record_updates::write_added() {
    for (auto& one : statements_) {
        std::span<change const> rest{one.added};
        while (rest.size() >= least_together) {
            auto const next = rest.first(std::min(rest.size(), most_together));
            write_many(one, next);
            rest = rest.subspan(next.size());
        }
        for (auto const& alone : rest) write_one(one, alone);
        one.added.clear();
    }
}

SETTLE_FUNCTION void record_updates::write_one(statements const& with, change const& one) const {
    run row{with.one};
    for (std::size_t at = 0; at < of_->members().size(); ++at) {
        if ((with.fields >> at & 1U) == 0) continue;
        void* const record = const_cast<void*>(one.record);
        bind_member(row, *of_->members()[at].access, of_->record->member(record, at));
    }
    expect_changed(of_->name, bind_key(row, one.key).change(), 1);
}

SETTLE_FUNCTION void record_updates::write_many(statements& with,
                                                std::span<change const> all) const {
    if (!with.many) {
        with.many = {*on_, sql_.update_many(with.fields, most_together), "change records"};
    }
    changes wave{*of_->record, all};
    auto const shown = rows_->show_changes(wave);
    run rows{with.many};
    for (std::size_t at = 0; at < most_together; ++at) {
        bind_key(rows, all[std::min(at, all.size() - 1)].key);
    }
    expect_changed(of_->name, rows.change(), all.size());
}

SETTLE_FUNCTION record_updates::statements& record_updates::statements_of(std::uint64_t fields) {
    for (auto& known : statements_) {
        if (known.fields == fields) return known;
    }
    statements_.push_back({fields, {*on_, sql_.update(fields), "change a record"}, {}, {}});
    return statements_.back();
}

} // namespace sqlite::detail
SETTLE_END
