// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that sharing.hpp declares.
#pragma once

#include <settle/running/calls/sharing.hpp>

SETTLE_BEGIN
namespace detail {

inline constexpr std::string_view caller_prefix = "caller-";

SETTLE_FUNCTION process_shares::process_shares(std::string_view id) : own_(caller_prefix) {
    own_ += id;
}

SETTLE_FUNCTION result<void> process_shares::say(log_port& log, function_view<moment()> now) {
    moment const looked = now();
    constexpr std::size_t most = 10'000;
    auto const listed = log.list_metadata({std::string{caller_prefix}, "caller."}, most);
    if (!listed.has_value()) return listed.problem();
    std::optional<std::string> own;
    std::map<std::string, other> others;
    for (metadata_text const& each : listed.value()) {
        if (each.name == own_) {
            own = each.text;
            continue;
        }
        auto const known = others_.find(each.name);
        bool const is_same = known != others_.end() && known->second.said == each.text;
        others[each.name] = {each.text, is_same ? known->second.since : looked};
    }
    others_ = std::move(others);
    // A word counts once the log shows it: another process may have erased the row meanwhile.
    bool const is_kept = own == std::to_string(times_);
    if (is_kept) said_ = sent_;
    auto written = log.replace_metadata(own_, own, std::to_string(times_ + 1));
    if (!written.has_value()) return written;
    ++times_;
    sent_ = looked;
    if (!is_kept || looked - said_ > holds_for) begun_ = now();
    return forget_ended(log, looked);
}

SETTLE_FUNCTION result<void> process_shares::forget_ended(log_port& log, moment now) {
    for (auto each = others_.begin(); each != others_.end();) {
        if (now - each->second.since < ends_after) {
            ++each;
            continue;
        }
        auto const erased = log.erase_metadata({each->first, each->first + '0'});
        if (!erased.has_value()) return erased;
        each = others_.erase(each);
    }
    return {};
}

SETTLE_FUNCTION std::size_t process_shares::count(moment now) const {
    bool const is_counted = begun_ != moment::max() && now - begun_ >= holds_for && now < until();
    return is_counted ? others_.size() + 1 : 0;
}

} // namespace detail
SETTLE_END
