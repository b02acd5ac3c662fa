// SPDX-License-Identifier: BSL-1.0
// An engine without its type, as a console calls it.
#pragma once

#include <settle/metrics.hpp>
#include <settle/picture.hpp>
#include <settle/settle.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// The picture of one type of an engine.
struct named_picture {
    std::string type;
    std::string mermaid;
};

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
    virtual result<std::vector<doubt_count>> count_in_doubt(call_options const& call) = 0;
    virtual result<std::vector<call_pause>> paused_calls(call_options const& call) = 0;

    virtual result<bool> pause_calls(pause_scope scope, std::string_view name, std::string_view why,
                                     call_options const& call) = 0;
    virtual result<bool> resume_calls(pause_scope scope, std::string_view name,
                                      call_options const& call) = 0;

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
    result<std::vector<doubt_count>> count_in_doubt(call_options const& call) override {
        return engine_.count_in_doubt(call);
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

    engine<Arguments...>& engine_;
    access& access_;
};

} // namespace detail
SETTLE_END
