// SPDX-License-Identifier: BSL-1.0
// Creates the records of a wave in one command.
#pragma once

#include <settle/mongodb/bulk.hpp>
#include <settle/mongodb/record_codec.hpp>

#include <span>
#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

/// A record that is too large to send gets its own error: the others are created.
template <typename C>
void create_records(server& to, record_layout const& layout,
                    std::span<typename C::record_type const> wave,
                    std::span<result<void>> answers) {
    try {
        auto with = to.connect();
        bulk all{with, C::name};
        std::vector<result<void>*> sent;
        for (std::size_t at = 0; at < wave.size(); ++at) {
            try {
                all.insert(record_codec<C>{layout}.encode({wave[at], {}}));
                sent.push_back(&answers[at]);
            } catch (failure const& caught) {
                answers[at] = caught.problem();
            }
        }
        auto const made = all.execute("create records");
        for (auto* const one : sent) *one = made.problem;
        for (auto const& one : made.refused) {
            bool const taken = is_of_taken_key(one.problem, layout.key);
            *sent[one.index] = taken ? record_exists_in(C::name) : one.problem;
        }
    } catch (failure const& caught) {
        for (auto& one : answers) one = caught.problem();
    }
}

} // namespace mongodb::detail
SETTLE_END
