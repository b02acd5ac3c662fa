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
    explicit findings(trial& trial) : of_(trial) { std::ignore = trial.look(); }

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
    static std::string shown(service_answer const& answer) {
        return std::string{name_of(answer.status)} + " '" + answer.text + "'";
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

inline std::string accepts(trial& trial) {
    findings found{trial};
    found.answer(trial.apply(trial.key()), call_status::ok).changed({1});
    return found.answer(trial.apply(trial.key()), call_status::ok).changed({1}).text();
}
inline std::string refuses(trial& trial) {
    if (trial.of().refused.empty()) return {};
    findings found{trial};
    return found.answer(trial.apply_refused(trial.key()), call_status::refused).changed({0}).text();
}
inline std::string undoes(trial& trial) {
    auto const key = trial.key();
    findings found{trial};
    found.answer(trial.apply(key), call_status::ok).changed({1});
    return found.answer(trial.compensate(key), call_status::ok).changed({-1}).text();
}
inline std::string confirms(trial& trial) {
    if (!trial.of().confirms) return {};
    auto const key = trial.key();
    findings found{trial};
    found.answer(trial.apply(key), call_status::ok).changed({1});
    return found.answer(trial.confirm(key), call_status::ok).changed({0, 1}).text();
}

/// The suite tries confirms of parts without an apply.
inline bool tries_alone(trial const& trial) {
    return trial.of().confirms && trial.of().confirms_alone;
}

inline std::string confirms_alone(trial& trial) {
    if (!tries_alone(trial)) return {};
    auto const key = trial.key();
    findings found{trial};
    auto const answer = trial.send(trial.confirm_alone(key));
    return found.answer(answer, call_status::ok).changed({0, 1}).text();
}
inline std::string asks(trial& trial) {
    if (trial.of().query.empty()) return {};
    auto const key = trial.key();
    findings findings{trial};
    findings.answer(trial.query(key), call_status::ok).changed({0});
    findings.answer(trial.query(key), call_status::ok).changed({0});
    // The receiver must not take the query for an apply of the key.
    return findings.answer(trial.apply(key), call_status::ok).changed({1}).text();
}

inline constexpr std::array basic_cases{receiver_case{"an apply", accepts},
                                        receiver_case{"an apply that is refused", refuses},
                                        receiver_case{"a compensate", undoes},
                                        receiver_case{"a confirm", confirms},
                                        receiver_case{"a confirm without an apply", confirms_alone},
                                        receiver_case{"a query", asks}};

// -------------------------------------------------------------------------------------------------
// remembers_keys

inline std::string repeats_apply(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    auto const first = trial.apply(key);
    findings.changed({1});
    auto const repeated = trial.apply(key);
    return findings.changed({0}).same(first, repeated).text();
}
inline std::string repeats_compensate(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply(key);
    auto const first = trial.compensate(key);
    findings.changed({0});
    auto const repeated = trial.compensate(key);
    return findings.changed({0}).same(first, repeated).text();
}
inline std::string repeats_confirm(trial& trial) {
    if (!trial.of().confirms) return {};
    auto const key = trial.key();
    findings findings{trial};
    auto const ticket = trial.apply(key);
    auto const first = trial.confirm(key);
    findings.changed({1, 1});
    auto const repeated = trial.confirm(key);
    findings.changed({0}).same(first, repeated);
    auto const late = trial.apply(key);
    return findings.changed({0}).same(ticket, late).text();
}
inline std::string copies_of_apply(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::vector<service_call> const copies(8, trial.call(call_operation::apply, key));
    auto const answers = trial.send_all(copies);
    auto const last = trial.apply(key);
    findings.answer(last, call_status::ok).changed({1});
    for (auto const& one : answers) {
        if (one.status == call_status::ok) findings.same(one, last);
        findings.holds(one.status != call_status::refused,
                       "a copy of an accepted apply is refused");
    }
    return findings.text();
}
/// Sends copies of the end of an applied part at the same time, and then once more.
inline std::string copies_of_end(trial& trial, call_operation end, change_of const& expected) {
    auto const key = trial.key();
    findings findings{trial};
    findings.answer(trial.apply(key), call_status::ok).changed({1});
    auto const ending = trial.call(end, key);
    std::ignore = trial.send_all(std::vector<service_call>(8, ending));
    return findings.answer(trial.send(ending), call_status::ok).changed(expected).text();
}
inline std::string copies_of_compensate(trial& trial) {
    return copies_of_end(trial, call_operation::compensate, {-1});
}
inline std::string copies_of_confirm(trial& trial) {
    if (!trial.of().confirms) return {};
    return copies_of_end(trial, call_operation::confirm, {0, 1});
}
inline std::string remembers_over_restart(trial& trial) {
    if (!trial.of().restart) return {};
    auto const applied = trial.key();
    auto const undone = trial.key();
    findings findings{trial};
    auto const first = trial.apply(applied);
    std::ignore = trial.apply(undone);
    std::ignore = trial.compensate(undone);
    findings.changed({1});
    trial.of().restart();
    auto const repeated = trial.apply(applied);
    findings.changed({0}).same(first, repeated);
    return findings.answer(trial.compensate(undone), call_status::ok).changed({0}).text();
}
inline std::string remembers_confirm(trial& trial) {
    if (!trial.of().confirms || !trial.of().restart) return {};
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply(key);
    auto const first = trial.confirm(key);
    findings.changed({1, 1});
    trial.of().restart();
    auto const repeated = trial.confirm(key);
    return findings.changed({0}).same(first, repeated).text();
}

inline std::string repeats_confirm_alone(trial& trial) {
    if (!tries_alone(trial)) return {};
    auto const key = trial.key();
    findings findings{trial};
    auto const first = trial.send(trial.confirm_alone(key));
    findings.changed({0, 1});
    auto const repeated = trial.send(trial.confirm_alone(key));
    return findings.changed({0}).same(first, repeated).text();
}
inline std::string copies_of_confirm_alone(trial& trial) {
    if (!tries_alone(trial)) return {};
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.send_all(std::vector<service_call>(8, trial.confirm_alone(key)));
    auto const last = trial.send(trial.confirm_alone(key));
    return findings.answer(last, call_status::ok).changed({0, 1}).text();
}
inline std::string remembers_confirm_alone(trial& trial) {
    if (!tries_alone(trial) || !trial.of().restart) return {};
    auto const key = trial.key();
    findings findings{trial};
    auto const first = trial.send(trial.confirm_alone(key));
    findings.changed({0, 1});
    trial.of().restart();
    auto const repeated = trial.send(trial.confirm_alone(key));
    return findings.changed({0}).same(first, repeated).text();
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

inline std::string empty_compensate(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    findings.answer(trial.compensate(key), call_status::ok).changed({0});
    findings.answer(trial.apply(key), call_status::refused).changed({0});
    return findings.answer(trial.compensate(key), call_status::ok).changed({0}).text();
}
inline std::string late_apply(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply(key);
    std::ignore = trial.compensate(key);
    findings.changed({0});
    std::ignore = trial.apply(key);
    return findings.changed({0}).text();
}
inline std::string swapped(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::array const calls{
        trial.call(call_operation::compensate, key), trial.call(call_operation::apply, key),
        trial.call(call_operation::apply, key), trial.call(call_operation::compensate, key)};
    std::ignore = trial.send_all(calls);
    findings.answer(trial.compensate(key), call_status::ok).changed({0});
    std::ignore = trial.apply(key);
    return findings.changed({0}).text();
}
inline std::string compensate_of_refusal(trial& trial) {
    if (trial.of().refused.empty()) return {};
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply_refused(key);
    findings.answer(trial.compensate(key), call_status::ok).changed({0});
    return findings.answer(trial.apply(key), call_status::refused).changed({0}).text();
}
inline std::string last_moment(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    auto late = trial.call(call_operation::apply, key);
    late.last_moment = trial.of().now() - std::chrono::hours{1};
    auto const refused = trial.send(late);
    findings.answer(refused, call_status::refused).changed({0});
    auto const repeated = trial.apply(key);
    return findings.changed({0}).same(refused, repeated).text();
}
inline std::string repeat_after_last_moment(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    auto const first = trial.apply(key);
    auto late = trial.call(call_operation::apply, key);
    late.last_moment = trial.of().now() - std::chrono::hours{1};
    findings.changed({1});
    auto const repeated = trial.send(late);
    return findings.changed({0}).same(first, repeated).text();
}
inline std::string notes_over_restart(trial& trial) {
    if (!trial.of().restart) return {};
    auto const key = trial.key();
    findings findings{trial};
    findings.answer(trial.compensate(key), call_status::ok);
    trial.of().restart();
    return findings.answer(trial.apply(key), call_status::refused).changed({0}).text();
}

inline std::string late_confirm_alone(trial& trial) {
    if (!tries_alone(trial)) return {};
    auto const key = trial.key();
    findings findings{trial};
    // Only a commit sends it, so it must take effect at any time.
    auto late = trial.confirm_alone(key);
    late.last_moment = trial.of().now() - std::chrono::hours{1};
    return findings.answer(trial.send(late), call_status::ok).changed({0, 1}).text();
}
inline std::string confirm_of_purged(trial& trial) {
    if (!trial.of().confirms) return {};
    findings findings{trial};
    auto const key = trial.key();
    auto late = trial.call(call_operation::confirm, key);
    late.last_moment = trial.of().now() - std::chrono::hours{1};
    return findings.answer(trial.send(late), call_status::ok).changed({0}).text();
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

inline std::string has_refusal(trial& trial) {
    return trial.of().refused.empty() ? "the description has no request that is refused" : "";
}
inline std::string repeats_refusal(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    auto const first = trial.apply_refused(key);
    auto const repeated = trial.apply_refused(key);
    return findings.changed({0}).same(first, repeated).text();
}
inline std::string keeps_refusal(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply_refused(key);
    // The receiver must not look at the request again, which it would accept now.
    return findings.answer(trial.apply(key), call_status::refused).changed({0}).text();
}
inline std::string keeps_refusal_over_restart(trial& trial) {
    if (!trial.of().restart) return {};
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply_refused(key);
    trial.of().restart();
    return findings.answer(trial.apply(key), call_status::refused).changed({0}).text();
}

inline constexpr std::array refusal_cases{
    receiver_case{"a refused request", has_refusal},
    receiver_case{"a repeated refusal", repeats_refusal},
    receiver_case{"a refused key whose request would be accepted now", keeps_refusal},
    receiver_case{"a refused key after a restart", keeps_refusal_over_restart}};

// -------------------------------------------------------------------------------------------------
// closes_keys

inline std::string has_close(trial& trial) {
    return trial.of().close ? "" : "the description has no function that closes a key";
}
inline std::string closes(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    findings.holds(trial.of().close(key), "a key without an apply counts as applied").changed({0});
    findings.answer(trial.apply(key), call_status::refused).changed({0});
    return findings.holds(trial.of().close(key), "a closed key counts as applied").text();
}
inline std::string tells_apply(trial& trial) {
    auto const key = trial.key();
    findings findings{trial};
    std::ignore = trial.apply(key);
    findings.changed({1});
    findings.holds(!trial.of().close(key), "a key is closed, and its apply took effect");
    return findings.answer(trial.apply(key), call_status::ok).text();
}
inline std::string closes_over_restart(trial& trial) {
    if (!trial.of().restart) return {};
    auto const key = trial.key();
    findings findings{trial};
    findings.holds(trial.of().close(key), "a key without an apply counts as applied");
    trial.of().restart();
    return findings.answer(trial.apply(key), call_status::refused).changed({0}).text();
}

inline constexpr std::array closing_cases{
    receiver_case{"a way to close a key", has_close},
    receiver_case{"an apply after the closing of its key", closes},
    receiver_case{"the closing of an applied key", tells_apply},
    receiver_case{"an apply after a closing and a restart", closes_over_restart}};

} // namespace receivers
} // namespace testing
SETTLE_END
