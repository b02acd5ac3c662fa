// SPDX-License-Identifier: BSL-1.0
// Descriptors: the facts of a transaction type and of its parts that the seam needs. The compiler
// makes a descriptor for each direction and for each participant. All other code of drivers, stores
// and logs reads parameters through descriptors, and is compiled once.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/function_view.hpp>
#include <settle/definition/codec.hpp>
#include <settle/protocol/direction.hpp>
#include <settle/protocol/entry.hpp>

#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <variant>

SETTLE_BEGIN

/// A key of any collection.
using key_value = std::variant<std::int64_t, std::string>;
/// A key as a view: its text is in the parameters.
using part_key = std::variant<std::int64_t, std::string_view>;

/// A kind of participant. A store executes some kinds. The name is for messages.
/// Shape:   one object for each kind; its address identifies the kind
struct part_kind {
    std::string_view name;
    /// True if two parts with one target and key share one object, such as a record, so that a
    /// batch keeps the order of their transactions. Otherwise the parts need no key.
    bool shared = true;
};

/// A record of a collection. The functions of its parts are record_functions (store/record.hpp).
inline constexpr part_kind record_kind{"record"};

/// How often and how soon a part of a later stage is sent again. 0: the engine's option.
struct retry_limits {
    std::uint32_t attempts = 0; ///< then the transaction is canceled, unless its pivot was called
    std::chrono::milliseconds first_pause{0};
    std::chrono::milliseconds longest_pause{0};
};

/// One participant of a transaction type, as a store sees it.
/// Shape:   `parameters` points at the parameters of the direction
struct part_descriptor {
    part_kind const* kind;
    void const* functions; ///< of its kind
    void const* target;    ///< an address that is unique to the collection or service
    std::string_view name; ///< of the collection or service
    std::uint32_t participant;
    stage_number stage;         ///< parts of one stage are applied together
    std::uint64_t undone_after; ///< see undo_place
    part_key (*key)(void const* parameters, std::size_t line);
    /// The image that the entry stores of an applied part, from part_result::kept; or null.
    image (*make_image)(part_number part, void const* kept);
    /// The result that the entry stores of an applied part, from part_result::kept; or null. A kind
    /// has at most one of make_image and make_result.
    kept_result (*make_result)(part_number part, void const* kept);
    retry_limits retries;
    bool is_pivot; ///< cannot be undone; the only part of the last stage
    bool confirms; ///< has work after the commit
};

/// A direction of a transaction type, as drivers and logs see it.
/// Shape:   `parameters` points at a Direction::parameters
struct transaction_descriptor {
    std::string const& (*name)();
    std::uint64_t (*definition)();
    void (*append_json)(std::string& out, void const* parameters, secrets shown);
    part_name (*name_part)(void const* parameters, std::size_t part);
    /// How many parts a participant has.
    std::size_t (*lines)(void const* parameters, std::size_t participant);
    /// Copies the value into `size` bytes of storage with the strictest alignment.
    void (*copy)(void* slot, void const* parameters);
    void (*destroy)(void* parameters);
    /// Constructs parameters without content in such storage.
    void (*construct)(void* slot);
    detail::value_codec const* codec; ///< of the parameters
    refusal (*check)(void const* parameters);
    /// The clause for a refusal by check().
    std::string (*explain)(void const* parameters, refusal const& refused);
    std::size_t size;
    std::span<part_descriptor const> participants; ///< in the order of the definition
    stage_plan stages;
    bool described; ///< false if the direction has no definition, so that no part is known

    [[nodiscard]] std::string json(void const* parameters) const {
        std::string out;
        append_json(out, parameters, secrets::written);
        return out;
    }
    /// True if append_json writes the same text for both values.
    [[nodiscard]] bool same(void const* left, void const* right) const {
        return codec == nullptr || codec->same(left, right);
    }
    /// Stored parameters as append_json writes them; empty when they cannot be read.
    [[nodiscard]] std::optional<std::string> normal_json(std::string const& stored) const;
    [[nodiscard]] std::size_t count_parts(void const* parameters) const;
    /// Calls `function(part_descriptor const&, line, number of the part)` for every part.
    template <typename Function>
    void for_each_part(void const* parameters, Function&& function) const {
        std::size_t number = 0;
        for (part_descriptor const& one : participants) {
            std::size_t const count = lines(parameters, one.participant);
            for (std::size_t line = 0; line < count; ++line) function(one, line, number++);
        }
    }
};

/// Parameters whose type their descriptor knows.
class held_parameters {
public:
    /// Shape:   construct - makes the parameters in the storage that it gets
    held_parameters(transaction_descriptor const& type,
                    detail::function_view<void(void*)> construct);
    explicit held_parameters(transaction_descriptor const& type);
    /// Parameters of a caller, which outlive the object.
    explicit held_parameters(void const* of_caller) noexcept
        : type_(nullptr), value_(const_cast<void*>(of_caller)) {}
    held_parameters(held_parameters&& other) noexcept
        : type_(other.type_), value_(std::exchange(other.value_, nullptr)) {}
    held_parameters& operator=(held_parameters&& other) noexcept {
        std::swap(type_, other.type_);
        std::swap(value_, other.value_);
        return *this;
    }
    ~held_parameters();

    [[nodiscard]] void* get() const noexcept { return value_; }

private:
    transaction_descriptor const* type_; ///< null if a caller owns the value
    void* value_;
};

/// The direction of an entry without a definition, inserted by a cancel or a sweep.
struct undescribed {
    using parameters = nothing;
    static std::string const& name() {
        static std::string const empty;
        return empty;
    }
    static std::uint64_t definition() { return 0; }
};

/// The functions of a participant, as its kind has them. A kind specialises this for its targets.
/// Shape:   kind - a part_kind; make_image, make_result - as in part_descriptor;
///          functions<Direction, Index> - the functions that the kind's stores call
template <typename Target>
struct kind_of_target;

namespace detail {

template <typename Direction>
struct descriptor_functions {
    using parameters = typename Direction::parameters;
    static constexpr bool described = !std::is_same_v<Direction, undescribed>;
    static_assert(alignof(parameters) <= alignof(std::max_align_t),
                  "settle: parameters with a larger alignment than any scalar's are not supported. "
                  "See definition#parameters");

    static parameters const& of(void const* value) {
        return *static_cast<parameters const*>(value);
    }
    static constexpr value_codec const* codec() {
        if constexpr (described) return &codec_of<parameters>;
        else return nullptr;
    }
    static void append_json([[maybe_unused]] std::string& out,
                            [[maybe_unused]] void const* parameters,
                            [[maybe_unused]] secrets shown) {
        if constexpr (described) {
            // The images of a reversal are native text, in which nothing can be hidden.
            if (shown == secrets::written) settle::append_json(out, of(parameters));
            else settle::append_json(out, Direction::user(of(parameters)), shown);
        }
    }
    static part_name name_part([[maybe_unused]] void const* parameters,
                               [[maybe_unused]] std::size_t part) {
        if constexpr (described) return Direction::name_part(Direction::user(of(parameters)), part);
        else return {};
    }
    static std::size_t lines([[maybe_unused]] void const* parameters,
                             [[maybe_unused]] std::size_t participant) {
        std::size_t count = 0;
        if constexpr (described) {
            Direction::for_each_participant([&](auto index) {
                if (index == participant)
                    count = Direction::template lines<index>(Direction::user(of(parameters)));
            });
        }
        return count;
    }
    static void copy(void* slot, void const* value) { ::new (slot) parameters(of(value)); }
    static void destroy(void* value) { static_cast<parameters*>(value)->~parameters(); }
    static void construct(void* slot) { ::new (slot) parameters{}; }
    static refusal check([[maybe_unused]] void const* value) {
        if constexpr (described) return Direction::check(of(value));
        else return {};
    }
    static std::string explain([[maybe_unused]] void const* value,
                               [[maybe_unused]] refusal const& refused) {
        if constexpr (described) return Direction::explain(of(value), refused);
        else return {};
    }
};

/// An address that is unique to a collection or a service.
template <typename Target>
inline constexpr char target_tag = 0;

template <typename Direction, std::size_t Index>
[[nodiscard]] part_key key_of_part(void const* value, std::size_t line) {
    auto const& parameters = *static_cast<typename Direction::parameters const*>(value);
    return Direction::template key<Index>(Direction::user(parameters), line);
}

template <typename Participant>
[[nodiscard]] consteval retry_limits retries_of() {
    if constexpr (requires { Participant::attempts; }) {
        return {Participant::attempts, Participant::first_pause, Participant::longest_pause};
    } else {
        return {};
    }
}
template <typename Participant>
[[nodiscard]] consteval bool is_pivot() {
    if constexpr (requires { Participant::is_pivot; }) return Participant::is_pivot;
    else return false;
}

/// True if the participant has work after the commit. A participant type without a member
/// `confirms` always has.
template <typename Participant>
[[nodiscard]] consteval bool has_confirm() {
    if constexpr (requires { Participant::confirms; }) return Participant::confirms;
    else return true;
}

/// The compensations before the participant's own; a direction that does not say has none.
template <typename Direction, std::size_t Index>
[[nodiscard]] consteval std::uint64_t undone_after() {
    if constexpr (requires { Direction::undone_after(); }) return Direction::undone_after()[Index];
    else return 0;
}

static_assert(last_stage < std::numeric_limits<stage_number>::max());

template <typename Direction, std::size_t Index>
[[nodiscard]] consteval part_descriptor describe_part() {
    using participant = typename Direction::template participant<Index>;
    using target = typename participant::target_type;
    using kind = kind_of_target<target>;
    return {&kind::kind,
            &kind::template functions<Direction, Index>,
            &target_tag<target>,
            target::name,
            static_cast<std::uint32_t>(Index),
            static_cast<stage_number>(participant::stage),
            undone_after<Direction, Index>(),
            &key_of_part<Direction, Index>,
            kind::make_image,
            kind::make_result,
            retries_of<participant>(),
            is_pivot<participant>(),
            has_confirm<participant>()};
}

template <typename Direction>
struct described_parts {
    static constexpr auto all = []<std::size_t... Index>(std::index_sequence<Index...>) {
        return std::array<part_descriptor, sizeof...(Index)>{describe_part<Direction, Index>()...};
    }(std::make_index_sequence<Direction::participant_count>{});
};
template <>
struct described_parts<undescribed> {
    static constexpr std::array<part_descriptor, 0> all{};
};

template <typename Direction>
[[nodiscard]] constexpr stage_plan plan_stages() {
    stage_number first = std::numeric_limits<stage_number>::max();
    stage_number last = 0;
    stage_plan plan;
    plan.confirms = described_parts<Direction>::all.empty();
    for (part_descriptor const& part : described_parts<Direction>::all) {
        first = std::min(first, part.stage);
        last = std::max(last, part.stage);
        plan.has_pivot = plan.has_pivot || part.is_pivot;
        plan.confirms = plan.confirms || part.confirms;
    }
    plan.count = static_cast<stage_number>(last + 1);
    if constexpr (requires { Direction::undone_by_stage(); }) {
        plan.undone_by_stage = last != 0 && Direction::undone_by_stage();
    }
    plan.keeps_at_insert = first != 0 && last > (plan.has_pivot ? 1 : 0);
    return plan;
}

} // namespace detail

template <typename Direction>
inline constexpr transaction_descriptor descriptor_of{
    &Direction::name,
    &Direction::definition,
    &detail::descriptor_functions<Direction>::append_json,
    &detail::descriptor_functions<Direction>::name_part,
    &detail::descriptor_functions<Direction>::lines,
    &detail::descriptor_functions<Direction>::copy,
    &detail::descriptor_functions<Direction>::destroy,
    &detail::descriptor_functions<Direction>::construct,
    detail::descriptor_functions<Direction>::codec(),
    &detail::descriptor_functions<Direction>::check,
    &detail::descriptor_functions<Direction>::explain,
    sizeof(typename Direction::parameters),
    detail::described_parts<Direction>::all,
    detail::plan_stages<Direction>(),
    detail::descriptor_functions<Direction>::described};

/// The descriptor of an entry without a definition.
[[nodiscard]] transaction_descriptor const& undescribed_descriptor();

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/store/descriptor.ipp>
#endif
