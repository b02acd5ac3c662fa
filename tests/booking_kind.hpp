// SPDX-License-Identifier: BSL-1.0
// A kind of participant for tests: a booking at an office. It has a key, a stage and a result, and
// no record.
#pragma once

#include <settle/settle.hpp>

#include <functional>
#include <map>
#include <string>

namespace booking_test {

/// The target of bookings.
template <settle::fixed_string Name>
struct office {
    static constexpr std::string_view name = Name.view();
};

inline constexpr settle::part_kind booking_kind{"booking"};

/// Shape:   Stage - at least 1
template <settle::fixed_string Name, typename Office, std::uint32_t Stage, typename Key>
struct booking {
    using target_type = Office;
    using source_type = settle::single;
    using key_expression = Key;
    using expressions = boost::hana::tuple<>;
    static constexpr std::string_view name = Name.view();
    static constexpr bool is_range = false;
    static constexpr std::uint32_t stage = Stage;

    Key key;

    static consteval bool review() {
        static_assert(Stage > 0, "settle: a booking has a stage from 1: records are applied first");
        return Stage > 0;
    }
    void describe(std::string&) const {}
    /// An office refuses an empty key.
    template <typename Parameters>
    [[nodiscard]] settle::reason premises(Parameters const& parameters,
                                          settle::nothing const*) const {
        bool overflow = false;
        settle::scope<settle::nothing, Parameters, settle::nothing> const at{nullptr, &parameters,
                                                                             nullptr, &overflow};
        return evaluate(key, at).empty() ? settle::reason::guard_failed : settle::reason::none;
    }
};

template <settle::fixed_string Name, std::uint32_t Stage, settle::fixed_string OfficeName,
          typename Key>
constexpr auto books(office<OfficeName> const&, Key const& key) {
    return booking<Name, office<OfficeName>, Stage, Key>{key};
}

/// A receiver of the grade `barrier`: it keeps a row for each call's key. Its rows outlive the
/// engines.
class booking_office {
public:
    struct row {
        enum class status { applied, confirmed, closed };
        status now = status::applied;
        std::string booked; ///< the key of the participant
        std::string result;
        std::size_t earlier = 0; ///< the number of results that the first call carried
        int calls = 0;           ///< applies
    };

    std::map<std::string, row> rows; ///< by the transaction's id and the participant
    /// Called before each request; an answer other than `none` replaces the office's answer.
    std::function<settle::answer(settle::part_request const&)> before =
        [](settle::part_request const&) { return settle::answer::none; };
    /// Called after each request has taken effect; true if the answer is lost.
    std::function<bool(settle::part_request const&)> loses = [](settle::part_request const&) {
        return false;
    };

    template <typename... Targets>
    class session {
    public:
        explicit session(booking_office& office) : of_(office) {}

        template <typename Target>
        struct holds : std::bool_constant<(std::is_same_v<Target, Targets> || ...)> {};

        void execute(std::span<settle::part_request const> requests,
                     std::span<settle::part_result> results) {
            for (std::size_t at = 0; at < requests.size(); ++at) {
                results[at] = of_.answer(requests[at]);
            }
        }
        settle::result<std::vector<settle::mark_locator>>
        marks(std::optional<settle::mark_locator> const&, std::size_t) {
            return std::vector<settle::mark_locator>{};
        }
        settle::result<settle::answer> resolve(settle::mark_locator const&, bool) {
            return settle::answer::nothing;
        }

    private:
        booking_office& of_;
    };

    template <typename... Targets>
    session<Targets...> bind(std::string const&) {
        return session<Targets...>{*this};
    }

    [[nodiscard]] row const& row_of(std::string const& id, std::uint32_t participant) const {
        return rows.at(id + "/" + std::to_string(participant));
    }

private:
    settle::part_result answer(settle::part_request const& request) {
        if (auto const given = before(request); given != settle::answer::none) {
            settle::part_result refused{};
            refused.what = given;
            return refused;
        }
        auto made = execute(request);
        if (!loses(request)) return made;
        settle::part_result lost{};
        lost.what = settle::answer::unknown;
        return lost;
    }

    settle::part_result execute(settle::part_request const& request) {
        using enum row::status;
        auto const key = *request.id + "/" + std::to_string(request.part.participant);
        settle::part_result result{};
        if (request.action == settle::step::apply) {
            auto const [at, fresh] = rows.try_emplace(key);
            row& booking = at->second;
            ++booking.calls;
            if (fresh) {
                booking.booked = std::get<std::string_view>(request.key());
                booking.result = "{\"seat\":\"" + std::string{request.descriptor->name} + " " +
                                 booking.booked + "\"}";
                booking.earlier = request.results->size();
            }
            result.what =
                booking.now == closed ? settle::answer::guard_failed : settle::answer::applied;
            result.kept = std::make_shared<std::string const>(booking.result);
        } else if (request.action == settle::step::confirm) {
            auto const at = rows.find(key);
            bool const stands = at != rows.end() && at->second.now != closed;
            if (stands) at->second.now = confirmed;
            result.what = stands ? settle::answer::applied : settle::answer::nothing;
        } else {
            // A closed key refuses a later apply.
            rows[key].now = closed;
            result.what = settle::answer::applied;
        }
        return result;
    }
};

static_assert(settle::StoreSession<booking_office::session<office<"seats">>>);

} // namespace booking_test

template <settle::fixed_string Name>
struct settle::kind_of_target<booking_test::office<Name>> {
    static constexpr part_kind const& kind = booking_test::booking_kind;
    static constexpr std::nullptr_t make_image = nullptr;
    static constexpr auto make_result = [](part_number part, void const* kept) {
        return kept_result{part.participant, part.line, *static_cast<std::string const*>(kept)};
    };
    /// An office needs nothing of a participant's type but its key.
    template <typename Direction, std::size_t Index>
    static constexpr char functions = 0;
};
