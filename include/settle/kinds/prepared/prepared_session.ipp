// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that prepared_session.hpp declares.
#pragma once

#include <settle/kinds/prepared/prepared_session.hpp>

SETTLE_BEGIN
namespace detail {

/// One part at one step.
class prepared_step {
public:
    prepared_step(preparing_port& port, std::string const& log, part_request const& request)
        : port_(port), request_(request), part_{log, *request.id, request.part} {}

    part_result execute(std::size_t most) {
        switch (request_.action) {
        case step::apply: return apply(most);
        case step::confirm: return confirm();
        case step::compensate: return compensate();
        default: return ended(port_.roll_back(named(request_.epoch_number)));
        }
    }

private:
    [[nodiscard]] prepared_name named(epoch under) const { return {part_, under}; }

    part_result apply(std::size_t most) {
        auto const name = named(request_.epoch_number);
        if (name.text().size() > most) return unfit(most);
        if (auto const cleared = clear(); cleared.what != answer::none) return cleared;
        auto prepared = port_.prepare(name, request_);
        part_result answered;
        answered.what = answer_of(prepared.what);
        answered.problem = std::move(prepared.problem);
        if (prepared.what == prepare_answer::refused) {
            answered.problem = refusal(answered.problem.text);
        }
        return answered;
    }

    /// Rolls back the names of earlier claims.
    /// Returns: `none` if the part may be prepared
    part_result clear() {
        part_result earlier;
        auto const rolled_back = for_each_name([&](epoch under) {
            switch (before_prepare(under, request_.epoch_number)) {
            case found_name::rolled_back: return port_.roll_back(named(under));
            case found_name::fences: earlier.what = answer::fenced; [[fallthrough]];
            default: return end_result{end_answer::ended};
            }
        });
        // Nothing is prepared under this epoch yet, so the part may be sent again.
        if (!rolled_back.empty()) earlier.fail(answer::unavailable, rolled_back);
        return earlier;
    }

    part_result confirm() {
        auto const committed = port_.commit(named(request_.committed));
        if (committed.what != end_answer::absent) return ended(committed);
        auto const receipt = port_.receipt_of(part_);
        part_result answered;
        if (!receipt.has_value()) answered.fail(answer::unavailable, receipt.problem());
        else if (absent_is_committed(receipt.value(), request_.committed))
            answered.what = answer::applied;
        else answered.fail(answer::unavailable, lost());
        return answered;
    }

    /// Rolls back the names of the part, and denies later prepares. A prepare may land between the
    /// two, and holds the row of the receipt: then the names are listed again.
    part_result compensate() {
        constexpr int tries = 3;
        end_result denied;
        for (int attempt = 0; attempt < tries; ++attempt) {
            bool later = false;
            auto const problem = for_each_name([&](epoch under) {
                if (cancel_rolls_back(under, request_.epoch_number))
                    return port_.roll_back(named(under));
                later = true;
                return end_result{end_answer::ended};
            });
            part_result answered;
            answered.what = answer::applied;
            if (!problem.empty()) answered.fail(answer::unavailable, problem);
            if (!problem.empty() || later) return answered;
            denied = port_.deny(named(request_.epoch_number));
            if (denied.what == end_answer::ended) return answered;
        }
        return ended(denied);
    }

    /// Calls `function(epoch)` for every prepared name of the part.
    /// Returns: the first problem of the listing, or of an end that was not acknowledged
    template <typename Function>
    error for_each_name(Function&& function) {
        constexpr std::size_t page = 64;
        auto const prefix = part_.text();
        for (std::string after;;) {
            auto const names = port_.in_doubt(prefix, after, page);
            if (!names.has_value()) return names.problem();
            for (in_doubt_name const& doubtful : names.value()) {
                after = doubtful.name;
                auto const name = read_prepared_name(doubtful.name);
                // The prefix also begins the names of ids that continue this id.
                if (!name || name->of != part_) continue;
                auto const end = function(name->epoch_number);
                if (end.what != end_answer::ended && end.what != end_answer::absent) {
                    return end.problem;
                }
            }
            if (names.value().size() < page) return {};
        }
    }

    [[nodiscard]] static part_result ended(end_result const& end) {
        part_result answered;
        switch (end.what) {
        case end_answer::ended: answered.what = answer::applied; break;
        case end_answer::absent: answered.what = answer::nothing; break;
        case end_answer::unavailable: answered.fail(answer::unavailable, end.problem); break;
        default: answered.fail(answer::unknown, end.problem);
        }
        return answered;
    }

    [[nodiscard]] part_result unfit(std::size_t most) const {
        part_result answered;
        answered.fail(answer::record_unusable,
                      {make_error_code(errc::bad_text),
                       "settle: the name '" + named(request_.epoch_number).text() +
                           "' is longer than the " + std::to_string(most) +
                           " bytes that the database of '" +
                           std::string{request_.descriptor->name} +
                           "' takes. Use a shorter id. See prepared#names"});
        return answered;
    }

    [[nodiscard]] error lost() const {
        return {make_error_code(errc::prepared_lost),
                "settle: '" + *request_.id + "' is committed, and its part '" +
                    std::string{prepared_functions_of(request_).participant} + "' in '" +
                    std::string{request_.descriptor->name} +
                    "' has neither the prepared transaction '" + named(request_.committed).text() +
                    "' nor a receipt: a person has rolled it back. "
                    "See prepared#rolled-back-by-hand"};
    }

    [[nodiscard]] error refusal(std::string_view why) const {
        std::string text = "settle: the work of '";
        text.append(prepared_functions_of(request_).participant).append("' in '");
        text.append(request_.descriptor->name).append("' was refused");
        if (!why.empty()) text.append(": ").append(why);
        return {make_error_code(errc::work_refused), text.append(". See errors#errors")};
    }

    preparing_port& port_;
    part_request const& request_;
    prepared_part part_;
};

SETTLE_FUNCTION void execute_prepared(preparing_port& port, std::string const& log,
                                      std::size_t most, std::span<part_request const> requests,
                                      std::span<part_result> results) {
    for (std::size_t at = 0; at < requests.size(); ++at) {
        results[at] = prepared_step{port, log, requests[at]}.execute(most);
    }
}

SETTLE_FUNCTION result<std::vector<mark_locator>>
prepared_marks(preparing_port& port, std::string const& log, std::string_view target,
               std::optional<mark_locator> const& after, std::size_t limit) {
    auto const name = after ? std::get<std::string>(after->key) : std::string{};
    auto const names = port.in_doubt(prepared_prefix(log), name, limit);
    if (!names.has_value()) return names.problem();
    std::vector<mark_locator> marks;
    for (in_doubt_name const& doubtful : names.value()) {
        mark_locator locator;
        locator.collection = target;
        locator.key = doubtful.name;
        if (auto const read = read_prepared_name(doubtful.name)) {
            locator.id = read->of.id;
            locator.part = read->of.part;
            locator.epoch_number = read->epoch_number;
        } else {
            locator.fault = {make_error_code(errc::damaged),
                             "settle: the prepared transaction '" + doubtful.name +
                                 "' was not made by settle, although its name begins like settle's "
                                 "names. Commit it or roll it back by hand. See prepared#names"};
        }
        marks.push_back(std::move(locator));
    }
    return marks;
}

SETTLE_FUNCTION result<answer> resolve_prepared(preparing_port& port, std::string const& log,
                                                mark_locator const& locator, bool confirmed) {
    prepared_name const name{{log, locator.id, locator.part}, locator.epoch_number};
    auto const end = confirmed ? port.commit(name) : port.roll_back(name);
    if (end.what == end_answer::ended) return answer::applied;
    if (end.what == end_answer::absent) return answer::nothing;
    return end.problem;
}

SETTLE_FUNCTION std::size_t longest_prepared_id(std::string const& log, std::size_t most) {
    prepared_part const part{log, {}, {~std::uint32_t{0}, ~std::uint32_t{0}}};
    std::size_t const taken = prepared_name{part, epoch_limit - 1}.text().size();
    return most > taken ? most - taken : 0;
}

} // namespace detail
SETTLE_END
