// SPDX-License-Identifier: BSL-1.0
// The suite for receivers: its cases. Each returns how the receiver fails it, or an empty text.
#pragma once

#include <settle/testing/receiver_suite/trial.hpp>

#include <array>

SETTLE_BEGIN
namespace testing {
namespace receivers {

struct receiver_case {
    std::string_view name;
    std::string (*run)(trial&);
};

/// The properties of a case: the first that is broken is its failure.
class findings {
public:
    explicit findings(trial& of) : of_(of) { std::ignore = of.look(); }

    findings& answer(service_answer const& got, call_status expected) {
        if (got.status == expected) return *this;
        return say("the answer is " + std::string{name_of(got.status)} + ", and must be " +
                   std::string{name_of(expected)});
    }
    findings& same(service_answer const& first, service_answer const& repeated) {
        if (first.status == repeated.status && first.text == repeated.text) return *this;
        return say("the first answer is " + shown(first) + ", and a repeat gets " +
                   shown(repeated));
    }
    /// Compares the effects since the last look.
    findings& changed(change_of const& expected) {
        auto const got = of_.look();
        if (got.effects != expected.effects) {
            return say("the number of effects changed by " + std::to_string(got.effects) +
                       ", and must change by " + std::to_string(expected.effects));
        }
        if (got.confirms == expected.confirms) return *this;
        return say("the number of confirms changed by " + std::to_string(got.confirms) +
                   ", and must change by " + std::to_string(expected.confirms));
    }
    findings& holds(bool condition, std::string_view otherwise) {
        return condition ? *this : say(std::string{otherwise});
    }
    [[nodiscard]] std::string text() const { return text_; }

private:
    static std::string shown(service_answer const& one) {
        return std::string{name_of(one.status)} + " '" + one.text + "'";
    }
    findings& say(std::string wrong) {
        if (text_.empty()) text_ = std::move(wrong);
        return *this;
    }

    trial& of_;
    std::string text_;
};

// -------------------------------------------------------------------------------------------------
// every receiver

inline std::string accepts(trial& of) {
    findings found{of};
    found.answer(of.apply(of.key()), call_status::ok).changed({1});
    return found.answer(of.apply(of.key()), call_status::ok).changed({1}).text();
}
inline std::string refuses(trial& of) {
    if (of.of().refused.empty()) return {};
    findings found{of};
    return found.answer(of.apply_refused(of.key()), call_status::refused).changed({0}).text();
}
inline std::string undoes(trial& of) {
    auto const key = of.key();
    findings found{of};
    found.answer(of.apply(key), call_status::ok).changed({1});
    return found.answer(of.compensate(key), call_status::ok).changed({-1}).text();
}
inline std::string confirms(trial& of) {
    if (!of.of().confirms) return {};
    auto const key = of.key();
    findings found{of};
    found.answer(of.apply(key), call_status::ok).changed({1});
    return found.answer(of.confirm(key), call_status::ok).changed({0, 1}).text();
}

/// The suite tries confirms of parts without an apply.
inline bool tries_alone(trial const& of) { return of.of().confirms && of.of().confirms_alone; }

inline std::string confirms_alone(trial& of) {
    if (!tries_alone(of)) return {};
    auto const key = of.key();
    findings found{of};
    auto const answer = of.send(of.confirm_alone(key));
    return found.answer(answer, call_status::ok).changed({0, 1}).text();
}
inline std::string asks(trial& of) {
    if (of.of().query.empty()) return {};
    auto const key = of.key();
    findings found{of};
    found.answer(of.query(key), call_status::ok).changed({0});
    found.answer(of.query(key), call_status::ok).changed({0});
    // The receiver must not take the query for an apply of the key.
    return found.answer(of.apply(key), call_status::ok).changed({1}).text();
}

inline constexpr std::array basic_cases{receiver_case{"an apply", accepts},
                                        receiver_case{"an apply that is refused", refuses},
                                        receiver_case{"a compensate", undoes},
                                        receiver_case{"a confirm", confirms},
                                        receiver_case{"a confirm without an apply", confirms_alone},
                                        receiver_case{"a query", asks}};

// -------------------------------------------------------------------------------------------------
// remembers_keys

inline std::string repeats_apply(trial& of) {
    auto const key = of.key();
    findings found{of};
    auto const first = of.apply(key);
    found.changed({1});
    auto const repeated = of.apply(key);
    return found.changed({0}).same(first, repeated).text();
}
inline std::string repeats_compensate(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply(key);
    auto const first = of.compensate(key);
    found.changed({0});
    auto const repeated = of.compensate(key);
    return found.changed({0}).same(first, repeated).text();
}
inline std::string repeats_confirm(trial& of) {
    if (!of.of().confirms) return {};
    auto const key = of.key();
    findings found{of};
    auto const ticket = of.apply(key);
    auto const first = of.confirm(key);
    found.changed({1, 1});
    auto const repeated = of.confirm(key);
    found.changed({0}).same(first, repeated);
    auto const late = of.apply(key);
    return found.changed({0}).same(ticket, late).text();
}
inline std::string copies_of_apply(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::vector<service_call> const copies(8, of.call(call_operation::apply, key));
    auto const answers = of.send_all(copies);
    auto const last = of.apply(key);
    found.answer(last, call_status::ok).changed({1});
    for (auto const& one : answers) {
        if (one.status == call_status::ok) found.same(one, last);
        found.holds(one.status != call_status::refused, "a copy of an accepted apply is refused");
    }
    return found.text();
}
/// Sends copies of the end of an applied part at the same time, and then once more.
inline std::string copies_of_end(trial& of, call_operation end, change_of const& expected) {
    auto const key = of.key();
    findings found{of};
    found.answer(of.apply(key), call_status::ok).changed({1});
    auto const ending = of.call(end, key);
    std::ignore = of.send_all(std::vector<service_call>(8, ending));
    return found.answer(of.send(ending), call_status::ok).changed(expected).text();
}
inline std::string copies_of_compensate(trial& of) {
    return copies_of_end(of, call_operation::compensate, {-1});
}
inline std::string copies_of_confirm(trial& of) {
    if (!of.of().confirms) return {};
    return copies_of_end(of, call_operation::confirm, {0, 1});
}
inline std::string remembers_over_restart(trial& of) {
    if (!of.of().restart) return {};
    auto const applied = of.key();
    auto const undone = of.key();
    findings found{of};
    auto const first = of.apply(applied);
    std::ignore = of.apply(undone);
    std::ignore = of.compensate(undone);
    found.changed({1});
    of.of().restart();
    auto const repeated = of.apply(applied);
    found.changed({0}).same(first, repeated);
    return found.answer(of.compensate(undone), call_status::ok).changed({0}).text();
}
inline std::string remembers_confirm(trial& of) {
    if (!of.of().confirms || !of.of().restart) return {};
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply(key);
    auto const first = of.confirm(key);
    found.changed({1, 1});
    of.of().restart();
    auto const repeated = of.confirm(key);
    return found.changed({0}).same(first, repeated).text();
}

inline std::string repeats_confirm_alone(trial& of) {
    if (!tries_alone(of)) return {};
    auto const key = of.key();
    findings found{of};
    auto const first = of.send(of.confirm_alone(key));
    found.changed({0, 1});
    auto const repeated = of.send(of.confirm_alone(key));
    return found.changed({0}).same(first, repeated).text();
}
inline std::string copies_of_confirm_alone(trial& of) {
    if (!tries_alone(of)) return {};
    auto const key = of.key();
    findings found{of};
    std::ignore = of.send_all(std::vector<service_call>(8, of.confirm_alone(key)));
    auto const last = of.send(of.confirm_alone(key));
    return found.answer(last, call_status::ok).changed({0, 1}).text();
}
inline std::string remembers_confirm_alone(trial& of) {
    if (!tries_alone(of) || !of.of().restart) return {};
    auto const key = of.key();
    findings found{of};
    auto const first = of.send(of.confirm_alone(key));
    found.changed({0, 1});
    of.of().restart();
    auto const repeated = of.send(of.confirm_alone(key));
    return found.changed({0}).same(first, repeated).text();
}

inline constexpr std::array key_cases{
    receiver_case{"a repeated apply", repeats_apply},
    receiver_case{"a repeated compensate", repeats_compensate},
    receiver_case{"a repeated confirm", repeats_confirm},
    receiver_case{"copies of an apply at the same time", copies_of_apply},
    receiver_case{"copies of a compensate at the same time", copies_of_compensate},
    receiver_case{"copies of a confirm at the same time", copies_of_confirm},
    receiver_case{"repeats after a restart", remembers_over_restart},
    receiver_case{"a repeated confirm after a restart", remembers_confirm},
    receiver_case{"a repeated confirm without an apply", repeats_confirm_alone},
    receiver_case{"copies of a confirm without an apply", copies_of_confirm_alone},
    receiver_case{"a confirm without an apply, and a restart", remembers_confirm_alone}};

// -------------------------------------------------------------------------------------------------
// rows for keys

inline std::string empty_compensate(trial& of) {
    auto const key = of.key();
    findings found{of};
    found.answer(of.compensate(key), call_status::ok).changed({0});
    found.answer(of.apply(key), call_status::refused).changed({0});
    return found.answer(of.compensate(key), call_status::ok).changed({0}).text();
}
inline std::string late_apply(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply(key);
    std::ignore = of.compensate(key);
    found.changed({0});
    std::ignore = of.apply(key);
    return found.changed({0}).text();
}
inline std::string swapped(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::array const calls{of.call(call_operation::compensate, key),
                           of.call(call_operation::apply, key), of.call(call_operation::apply, key),
                           of.call(call_operation::compensate, key)};
    std::ignore = of.send_all(calls);
    found.answer(of.compensate(key), call_status::ok).changed({0});
    std::ignore = of.apply(key);
    return found.changed({0}).text();
}
inline std::string compensate_of_refusal(trial& of) {
    if (of.of().refused.empty()) return {};
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply_refused(key);
    found.answer(of.compensate(key), call_status::ok).changed({0});
    return found.answer(of.apply(key), call_status::refused).changed({0}).text();
}
inline std::string last_moment(trial& of) {
    auto const key = of.key();
    findings found{of};
    auto late = of.call(call_operation::apply, key);
    late.last_moment = of.of().now() - std::chrono::hours{1};
    auto const refused = of.send(late);
    found.answer(refused, call_status::refused).changed({0});
    auto const repeated = of.apply(key);
    return found.changed({0}).same(refused, repeated).text();
}
inline std::string repeat_after_last_moment(trial& of) {
    auto const key = of.key();
    findings found{of};
    auto const first = of.apply(key);
    auto late = of.call(call_operation::apply, key);
    late.last_moment = of.of().now() - std::chrono::hours{1};
    found.changed({1});
    auto const repeated = of.send(late);
    return found.changed({0}).same(first, repeated).text();
}
inline std::string notes_over_restart(trial& of) {
    if (!of.of().restart) return {};
    auto const key = of.key();
    findings found{of};
    found.answer(of.compensate(key), call_status::ok);
    of.of().restart();
    return found.answer(of.apply(key), call_status::refused).changed({0}).text();
}

inline std::string late_confirm_alone(trial& of) {
    if (!tries_alone(of)) return {};
    auto const key = of.key();
    findings found{of};
    // Only a commit sends it, so it must take effect at any time.
    auto late = of.confirm_alone(key);
    late.last_moment = of.of().now() - std::chrono::hours{1};
    return found.answer(of.send(late), call_status::ok).changed({0, 1}).text();
}
inline std::string confirm_of_purged(trial& of) {
    if (!of.of().confirms) return {};
    findings found{of};
    auto const key = of.key();
    auto late = of.call(call_operation::confirm, key);
    late.last_moment = of.of().now() - std::chrono::hours{1};
    return found.answer(of.send(late), call_status::ok).changed({0}).text();
}

inline constexpr std::array row_cases{
    receiver_case{"a compensate before its apply", empty_compensate},
    receiver_case{"an apply after its compensate", late_apply},
    receiver_case{"apply and compensate at the same time", swapped},
    receiver_case{"a compensate of a refused apply", compensate_of_refusal},
    receiver_case{"a first apply after its last moment", last_moment},
    receiver_case{"a repeat after the last moment", repeat_after_last_moment},
    receiver_case{"a compensate before its apply, and a restart", notes_over_restart},
    receiver_case{"a confirm without an apply after the last moment", late_confirm_alone},
    receiver_case{"a confirm whose row was purged", confirm_of_purged}};

// -------------------------------------------------------------------------------------------------
// keeps_refusals

inline std::string has_refusal(trial& of) {
    return of.of().refused.empty() ? "the description has no request that is refused" : "";
}
inline std::string repeats_refusal(trial& of) {
    auto const key = of.key();
    findings found{of};
    auto const first = of.apply_refused(key);
    auto const repeated = of.apply_refused(key);
    return found.changed({0}).same(first, repeated).text();
}
inline std::string keeps_refusal(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply_refused(key);
    // The receiver must not look at the request again, which it would accept now.
    return found.answer(of.apply(key), call_status::refused).changed({0}).text();
}
inline std::string keeps_refusal_over_restart(trial& of) {
    if (!of.of().restart) return {};
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply_refused(key);
    of.of().restart();
    return found.answer(of.apply(key), call_status::refused).changed({0}).text();
}

inline constexpr std::array refusal_cases{
    receiver_case{"a refused request", has_refusal},
    receiver_case{"a repeated refusal", repeats_refusal},
    receiver_case{"a refused key whose request would be accepted now", keeps_refusal},
    receiver_case{"a refused key after a restart", keeps_refusal_over_restart}};

// -------------------------------------------------------------------------------------------------
// closes_keys

inline std::string has_close(trial& of) {
    return of.of().close ? "" : "the description has no function that closes a key";
}
inline std::string closes(trial& of) {
    auto const key = of.key();
    findings found{of};
    found.holds(of.of().close(key), "a key without an apply counts as applied").changed({0});
    found.answer(of.apply(key), call_status::refused).changed({0});
    return found.holds(of.of().close(key), "a closed key counts as applied").text();
}
inline std::string tells_apply(trial& of) {
    auto const key = of.key();
    findings found{of};
    std::ignore = of.apply(key);
    found.changed({1});
    found.holds(!of.of().close(key), "a key is closed, and its apply took effect");
    return found.answer(of.apply(key), call_status::ok).text();
}
inline std::string closes_over_restart(trial& of) {
    if (!of.of().restart) return {};
    auto const key = of.key();
    findings found{of};
    found.holds(of.of().close(key), "a key without an apply counts as applied");
    of.of().restart();
    return found.answer(of.apply(key), call_status::refused).changed({0}).text();
}

inline constexpr std::array closing_cases{
    receiver_case{"a way to close a key", has_close},
    receiver_case{"an apply after the closing of its key", closes},
    receiver_case{"the closing of an applied key", tells_apply},
    receiver_case{"an apply after a closing and a restart", closes_over_restart}};

} // namespace receivers
} // namespace testing
SETTLE_END
