// SPDX-License-Identifier: BSL-1.0
// Parts that are calls of services: how a part request becomes the request of a call, and how the
// result of a call becomes the result in the entry.
#pragma once

#include <settle/kinds/call_arguments.hpp>
#include <settle/kinds/services/service.hpp>
#include <settle/store/request.hpp>

SETTLE_BEGIN

/// A call of a service. The functions of its parts are call_functions.
inline constexpr part_kind service_kind{"service", false};

/// The request of a call, or why there is none.
struct made_request {
    std::string json{};
    bool overflow = false; ///< an argument left 64 bits
    error problem{};       ///< a kept result that an argument uses cannot be read
};

/// The functions of a call's part.
struct call_functions {
    std::string_view participant;
    bool is_range;
    receiver_grade grade; ///< of the receiver, at least
    // The moments at which the participant makes a call.
    bool applies;
    bool compensates;
    bool confirms;
    bool has_effect; ///< the apply is no query
    made_request (*make_request)(part_request const&, call_operation);
    /// Reads a result in any form that the type accepts, and writes it as the entry keeps it; null
    /// if the service gives none.
    error (*read_result)(std::string_view text, std::string& kept);
};

namespace detail {

[[nodiscard]] inline call_functions const& call_part(part_request const& request) {
    return *static_cast<call_functions const*>(request.descriptor->functions);
}

/// The kept result of a part as JSON; empty if there is none.
[[nodiscard]] std::string_view kept_result_of(part_request const& request, part_number part);

/// Reads the kept result of a participant that is no range.
/// Shape:   value - of the codec's type
[[nodiscard]] error read_kept(part_request const& request, std::uint32_t participant,
                              value_codec const& codec, void* value);

/// Reads the result in an answer, as a program in any language writes it.
/// Shape:   value - of the codec's type
[[nodiscard]] error read_answer(value_codec const& codec, std::string_view text, void* value);

/// The scope of a call's arguments.
template <typename Direction, std::size_t Index>
class call_scope {
public:
    call_scope(part_request const& request, made_request& request_of_call)
        : parameters(&Direction::user(
              *static_cast<typename Direction::parameters const*>(request.parameters))),
          line(Direction::template element<Index>(*parameters, request.part.line)),
          overflow(&request_of_call.overflow), request_(request), made_(request_of_call) {}

    typename Direction::user_parameters const* parameters;
    typename Direction::template element_of<Index> const* line;
    bool* overflow;

    /// The result of a participant; an empty one if it cannot be read.
    template <fixed_string Participant>
    [[nodiscard]] auto const& result() const {
        constexpr std::size_t index = position(Participant.view());
        using result_type =
            typename Direction::template participant<index>::service_type::result_type;
        auto const read = std::make_shared<result_type>();
        auto problem = read_kept(request_, static_cast<std::uint32_t>(index), codec_of<result_type>,
                                 read.get());
        if (!problem.empty()) made_.problem = std::move(problem);
        // Arguments are views into the result's texts, so the scope keeps the result.
        read_.push_back(read);
        return *read;
    }

private:
    static constexpr std::size_t position(std::string_view name) {
        std::size_t count = 0;
        Direction::for_each_participant([&](auto index) {
            if (Direction::template participant<index>::name == name) count = index;
        });
        return count;
    }

    part_request const& request_;
    made_request& made_;
    mutable std::vector<std::shared_ptr<void const>> read_;
};

/// The functions of one participant whose target is a service.
template <typename Direction, std::size_t Index>
struct call_part_functions {
    using participant = typename Direction::template participant<Index>;
    using service = typename participant::service_type;
    using request_type = typename service::request_type;

    static made_request make_request(part_request const& request, call_operation operation) {
        made_request request_of_call;
        call_scope<Direction, Index> const scope{request, request_of_call};
        participant const& described = Direction::template description<Index>();
        request_type value{};
        switch (operation) {
        case call_operation::apply:
        case call_operation::query:
            if constexpr (participant::applies)
                fill_request(value, described.apply_arguments(), scope);
            break;
        case call_operation::compensate:
            if constexpr (participant::compensates) {
                fill_request(value, described.compensate_arguments(), scope);
            }
            break;
        case call_operation::confirm:
            if constexpr (participant::confirms)
                fill_request(value, described.confirm_arguments(), scope);
            break;
        }
        if (!request_of_call.overflow && request_of_call.problem.empty())
            request_of_call.json = encode_json(value);
        return request_of_call;
    }

    static error read_result([[maybe_unused]] std::string_view text,
                             [[maybe_unused]] std::string& kept) {
        if constexpr (service::gives_result) {
            typename service::result_type value{};
            auto problem = read_answer(codec_of<typename service::result_type>, text, &value);
            if (!problem.empty()) return problem;
            kept = encode_json(value);
        }
        return {};
    }
};

} // namespace detail

template <typename Request, typename Result, fixed_string Name, receiver_grade Grade>
struct kind_of_target<service<Request, Result, Name, Grade>> {
    static constexpr part_kind const& kind = service_kind;
    static constexpr std::nullptr_t make_image = nullptr;
    static constexpr auto make_result = [](part_number part, void const* kept) {
        return kept_result{part.participant, part.line, *static_cast<std::string const*>(kept)};
    };
    template <typename Direction, std::size_t Index,
              typename Participant = typename Direction::template participant<Index>>
    static constexpr call_functions functions{
        Participant::name,
        Participant::is_range,
        Grade,
        Participant::applies,
        Participant::compensates,
        Participant::confirms,
        Participant::has_effect,
        &detail::call_part_functions<Direction, Index>::make_request,
        Participant::gives_result ? &detail::call_part_functions<Direction, Index>::read_result
                                  : nullptr};
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/kinds/services/service_part.ipp>
#endif
