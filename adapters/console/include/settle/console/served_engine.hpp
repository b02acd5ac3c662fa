// SPDX-License-Identifier: BSL-1.0
// An engine without its type, as a console calls it.
#pragma once

#include <settle/metrics.hpp>
#include <settle/picture.hpp>
#include <settle/settle.hpp>

#include <charconv>
#include <string>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The picture of one type of an engine.
struct named_picture {
    std::string type;
    std::string mermaid;
};

/// A mark, and what it holds back for its transaction.
struct shown_mark {
    transaction_id id{};
    part_number part{};
    epoch epoch_number = 0;
    bool is_alone = false;      ///< no other transaction may change the record
    std::string adds_if_done{}; ///< JSON: what a confirm adds to each member
    std::string adds_if_undone{};
};

/// A record as JSON, without its secrets, and its marks.
struct shown_record {
    std::optional<std::string> present{};   ///< with what pending transactions have applied
    std::optional<std::string> committed{}; ///< as engine.read_committed() gives it
    error problem{};                        ///< why that could not be read
    std::vector<shown_mark> marks{};
};

/// While it lives, the log and the stores know how long an answer waits for them.
class limited_wait {
public:
    explicit limited_wait(std::chrono::milliseconds limit)
        : limits_{{}, deadline_after(limit)}, told_(limits_) {}

private:
    wait_limits limits_;
    caller_wait told_;
};

/// What the database of a prepared target holds in doubt.
struct shown_doubts {
    std::string store{}; ///< the name of the target
    std::uint64_t count = 0;
    std::vector<doubtful_part> oldest{};
    error problem{};     ///< why the database gave no answer
    error log_problem{}; ///< why `oldest` is not known
    std::chrono::milliseconds took{};
};

/// Counts what a function lists, and reads the entries of the oldest parts.
/// Shape:   in_doubt, read, patience - as of parts_in_doubt()
[[nodiscard]] shown_doubts doubts_of(
    function_view<result<std::vector<in_doubt_name>>(std::string const& after, std::size_t limit)>
        in_doubt,
    function_view<result<std::optional<entry>>(transaction_id const& id)> read, patience& patience);

/// The numbers that are not 0, by the names of their members, as JSON.
template <Described Record>
[[nodiscard]] std::string additions_as_json(std::vector<std::int64_t> const& numbers) {
    std::string text{"{"};
    for_each_integer<Record>([&](auto member, auto position) {
        bool const is_hidden = members_of<Record>::all[member.index].is_secret;
        if (is_hidden || numbers[position] == 0) return;
        if (text.size() > 1) text += ',';
        append_json_text(text, member.name);
        text.append(":").append(std::to_string(numbers[position]));
    });
    return text += '}';
}

/// The calls of an engine that a console makes.
class served_engine {
public:
    served_engine() = default;
    served_engine(served_engine const&) = delete;
    served_engine& operator=(served_engine const&) = delete;
    virtual ~served_engine() = default;

    [[nodiscard]] virtual known_directions known() const = 0;
    [[nodiscard]] virtual std::vector<named_picture> pictures() const = 0;
    /// The figures of the engine's observer, if that is a settle::metrics.
    [[nodiscard]] virtual metrics const* figures() const = 0;
    [[nodiscard]] virtual options const& limits() const = 0;
    [[nodiscard]] virtual timestamp now() const = 0;
    [[nodiscard]] virtual engine_ports ports() = 0;
    [[nodiscard]] virtual statistics counts() const = 0;

    virtual result<std::optional<entry>> find(transaction_id const& id,
                                              call_options const& call) = 0;
    virtual result<std::vector<entry>> page(entry_filter const& filter, transaction_id const& after,
                                            std::size_t limit, call_options const& call) = 0;
    /// A record; nothing if no collection of the engine has the name, its store gives no look, or
    /// the text is no key of it.
    /// Shape:   call - has a deadline
    virtual result<std::optional<shown_record>>
    look(std::string_view collection, std::string_view key, call_options const& call) = 0;
    /// A record or a result of a part that an entry keeps, as JSON of the described members.
    /// Nothing if the text cannot be read so.
    [[nodiscard]] virtual std::optional<std::string>
    without_secrets(transaction_descriptor const& type, std::uint32_t participant,
                    std::string_view kept) const = 0;
    virtual result<std::vector<doubt_count>> count_in_doubt(call_options const& call) = 0;
    virtual result<std::vector<mark_locator>> marks_without_entry(time_limit older_than,
                                                                  call_options const& call) = 0;
    /// Asks the database of each prepared target by itself.
    virtual std::vector<shown_doubts> doubts(call_options const& call) = 0;
    virtual result<std::vector<call_pause>> paused_calls(call_options const& call) = 0;

    virtual result<bool> pause_calls(pause_scope scope, std::string_view name, std::string_view why,
                                     call_options const& call) = 0;
    virtual result<bool> resume_calls(pause_scope scope, std::string_view name,
                                      call_options const& call) = 0;

    [[nodiscard]] virtual action_forecast forecast(operator_action action,
                                                   entry const& stored) const = 0;
    virtual sweep_report sweep(std::stop_token const& stop) = 0;
    virtual outcome retry(transaction_id const& id, call_options const& call) = 0;
    virtual outcome cancel(transaction_id const& id, cancel_options const& options) = 0;
    virtual outcome reverse(transaction_id const& id, call_options const& call) = 0;
    virtual outcome resolve(transaction_id const& id, std::string_view participant,
                            std::string_view why, resolve_options const& options) = 0;
};

/// Shape:   Arguments - of an engine, which outlives the object
template <typename... Arguments>
class served_engine_of final : public served_engine {
    using access = engine_access<Arguments...>;
    using types = typename access::assembly_type::types;
    using collections = typename engine_arguments<Arguments...>::gathered::collections;

public:
    explicit served_engine_of(engine<Arguments...>& of) : engine_(of), access_(of) {}

    [[nodiscard]] known_directions known() const override { return directions_of<types>; }
    [[nodiscard]] std::vector<named_picture> pictures() const override {
        return pictures_of(types{});
    }
    [[nodiscard]] metrics const* figures() const override {
        auto const& observer = access_.assembly_.observer();
        if constexpr (std::is_convertible_v<decltype(&observer), metrics const*>) return &observer;
        else return nullptr;
    }
    [[nodiscard]] options const& limits() const override { return engine_.limits(); }
    [[nodiscard]] timestamp now() const override { return access_.assembly_.environment().now(); }
    [[nodiscard]] engine_ports ports() override { return access_.assembly_.seam().ports; }
    [[nodiscard]] statistics counts() const override { return engine_.statistics(); }

    result<std::optional<entry>> find(transaction_id const& id, call_options const& call) override {
        return engine_.find(id, call);
    }
    result<std::vector<entry>> page(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit, call_options const& call) override {
        return engine_.page(filter, after, limit, call);
    }
    result<std::optional<shown_record>> look(std::string_view collection, std::string_view key,
                                             call_options const& call) override {
        return look_in(collections{}, collection, key, call);
    }
    [[nodiscard]] std::optional<std::string> without_secrets(transaction_descriptor const& type,
                                                             std::uint32_t participant,
                                                             std::string_view kept) const override {
        std::optional<std::string> shown;
        for_each_direction(types{}, [&]<typename Direction>(std::type_identity<Direction>) {
            if (&type != &descriptor_of<Direction>) return;
            Direction::for_each_participant([&](auto index) {
                using target = typename Direction::template target_of<decltype(index)::value>;
                if (index == participant) shown = hidden_of<target>(kept);
            });
        });
        return shown;
    }
    result<std::vector<doubt_count>> count_in_doubt(call_options const& call) override {
        return engine_.count_in_doubt(call);
    }
    result<std::vector<mark_locator>> marks_without_entry(time_limit older_than,
                                                          call_options const& call) override {
        return engine_.marks_without_entry(older_than, call);
    }
    std::vector<shown_doubts> doubts(call_options const& call) override {
        std::vector<shown_doubts> session_doubts;
        auto name = ports().names.begin();
        std::apply(
            [&](auto&... session) { (add_doubts(session, *name++, call, session_doubts), ...); },
            access_.assembly_.sessions());
        return session_doubts;
    }
    result<std::vector<call_pause>> paused_calls(call_options const& call) override {
        return engine_.paused_calls(call);
    }

    result<bool> pause_calls(pause_scope scope, std::string_view name, std::string_view why,
                             call_options const& call) override {
        return engine_.pause_calls(scope, name, why, call);
    }
    result<bool> resume_calls(pause_scope scope, std::string_view name,
                              call_options const& call) override {
        return engine_.resume_calls(scope, name, call);
    }

    [[nodiscard]] action_forecast forecast(operator_action action,
                                           entry const& stored) const override {
        return engine_.forecast(action, stored);
    }
    sweep_report sweep(std::stop_token const& stop) override { return engine_.sweep(stop); }
    outcome retry(transaction_id const& id, call_options const& call) override {
        return engine_.retry(id, call);
    }
    outcome cancel(transaction_id const& id, cancel_options const& options) override {
        return engine_.cancel(id, options);
    }
    outcome reverse(transaction_id const& id, call_options const& call) override {
        return engine_.reverse(id, call);
    }
    outcome resolve(transaction_id const& id, std::string_view participant, std::string_view why,
                    resolve_options const& options) override {
        return engine_.resolve(id, participant, why, options);
    }

private:
    template <auto const&... Types>
    static std::vector<named_picture> pictures_of(type_list<type_tag<Types>...>) {
        return {{forward<Types>::name(), settle::picture(Types).mermaid}...};
    }

    template <typename Session>
    void add_doubts([[maybe_unused]] Session& session, [[maybe_unused]] std::string const& name,
                    [[maybe_unused]] call_options const& call,
                    [[maybe_unused]] std::vector<shown_doubts>& to) {
        if constexpr (requires { session.in_doubt(std::string_view{}, std::size_t{}); }) {
            auto patience = access_.assembly_.patience_of(call);
            to.push_back(doubts_of(
                [&](std::string const& after, std::size_t limit) {
                    return session.in_doubt(after, limit);
                },
                [&](transaction_id const& id) { return access_.assembly_.log().read(id); },
                patience));
            to.back().store = name;
        }
    }

    template <typename Target>
    static std::optional<std::string> hidden_of(std::string_view kept) {
        auto const hide = [&]<typename Value>(std::type_identity<Value>) {
            auto const value = decode_json<Value>(kept, json_form::row);
            return value.has_value() ? std::optional{encode_json(*value, secrets::hidden)}
                                     : std::nullopt;
        };
        if constexpr (requires { typename Target::record_type; }) {
            return hide(std::type_identity<typename Target::record_type>{});
        } else if constexpr (requires { requires Target::gives_result; }) {
            return hide(std::type_identity<typename Target::result_type>{});
        } else {
            return std::nullopt;
        }
    }

    template <typename... Collections>
    result<std::optional<shown_record>> look_in(type_list<Collections...>, std::string_view name,
                                                std::string_view key, call_options const& call) {
        result<std::optional<shown_record>> seen{std::optional<shown_record>{}};
        static_cast<void>(
            ((Collections::name == name && (seen = look_at<Collections>(key, call), true)) || ...));
        return seen;
    }
    template <typename Collection>
    result<std::optional<shown_record>> look_at(std::string_view text, call_options const& call) {
        using record_type = typename Collection::record_type;
        using key_type = typename Collection::key_type;
        auto& session = access_.assembly_.template session_of<Collection>();
        key_type key{};
        if constexpr (std::is_integral_v<key_type>) {
            auto const* const end = text.data() + text.size();
            auto const read = std::from_chars(text.data(), end, key);
            if (read.ec != std::errc{} || read.ptr != end) return std::optional<shown_record>{};
        } else {
            key = key_type{text};
        }
        looked_record const looked{&target_tag<Collection>, key_of_value(key)};
        if constexpr (requires(look_request const& request) { session.look(request); }) {
            shown_record shown;
            limited_wait const within{call.deadline.value()};
            auto const committed = engine_.read_committed(Collection{}, key, call);
            if (!committed.has_value()) shown.problem = committed.problem();
            else if (committed.value()) shown.committed = encode_json(**committed, secrets::hidden);
            auto const present = session.look({{&looked, 1}});
            if (!present.has_value()) return present.problem();
            auto const& slot = present.value().slots.front();
            if (slot.record) {
                shown.present = encode_json(*static_cast<record_type const*>(slot.record->get()),
                                            secrets::hidden);
            }
            for (auto const& mark : slot.marks) {
                shown.marks.push_back({mark.id, mark.part, mark.epoch_number, mark.is_exclusive(),
                                       additions_as_json<record_type>(mark.confirm_delta),
                                       additions_as_json<record_type>(mark.undo_delta)});
            }
            return std::optional{std::move(shown)};
        } else {
            return std::optional<shown_record>{};
        }
    }

    engine<Arguments...>& engine_;
    access& access_;
};

} // namespace detail
SETTLE_END
