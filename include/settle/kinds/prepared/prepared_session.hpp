// SPDX-License-Identifier: BSL-1.0
// A session of a store whose parts a database prepares: it gives the names, and ends the names that
// are in doubt.
#pragma once

#include <settle/kinds/prepared/prepared_part.hpp>
#include <settle/kinds/prepared/preparing_resource.hpp>
#include <settle/store/seam.hpp>

#include <exception>

SETTLE_BEGIN
namespace detail {

/// A resource with the work of one target, without their types.
class preparing_port {
public:
    preparing_port() = default;
    preparing_port(preparing_port const&) = delete;
    preparing_port& operator=(preparing_port const&) = delete;
    virtual ~preparing_port() = default;

    virtual prepare_result prepare(prepared_name const& name, part_request const& request) = 0;
    virtual end_result commit(prepared_name const& name) = 0;
    virtual end_result roll_back(prepared_name const& name) = 0;
    virtual result<std::vector<in_doubt_name>>
    in_doubt(std::string_view prefix, std::string_view after, std::size_t limit) = 0;
    virtual result<std::optional<epoch>> receipt_of(prepared_part const& part) = 0;
    virtual end_result deny(prepared_name const& name) = 0;
};

/// True if a function is the work of a target in a resource.
template <typename Function, typename Target, typename Resource>
inline constexpr bool does_work_of = false;
template <typename Function, typename Request, fixed_string Name, PreparingResource Resource>
inline constexpr bool does_work_of<Function, prepared<Request, Name>, Resource> =
    requires(Function& work, typename Resource::connection& connection, Request const& request) {
        { work(connection, request) } -> std::convertible_to<work_result>;
    };

/// Shape:   Function - the work, which several threads may call at the same time
template <typename Target, typename Resource, typename Function>
class preparing_port_of final : public preparing_port {
public:
    preparing_port_of(Resource& resource, Function& work) : resource_(resource), work_(work) {}

    /// An exception of the work fails it.
    prepare_result prepare(prepared_name const& name, part_request const& request) override {
        typename Target::request_type value{};
        prepared_functions_of(request).fill(request, &value);
        auto const guarded = [&](typename Resource::connection& connection) -> work_result {
            try {
                return work_(connection, std::as_const(value));
            } catch (std::exception const& thrown) {
                return failed(thrown.what());
            } catch (...) {
                return failed("an exception");
            }
        };
        return resource_.prepare(name, guarded);
    }
    end_result commit(prepared_name const& name) override { return resource_.commit(name); }
    end_result roll_back(prepared_name const& name) override { return resource_.roll_back(name); }
    result<std::vector<in_doubt_name>> in_doubt(std::string_view prefix, std::string_view after,
                                                std::size_t limit) override {
        return resource_.in_doubt(prefix, after, limit);
    }
    result<std::optional<epoch>> receipt_of(prepared_part const& part) override {
        return resource_.receipt_of(part);
    }
    end_result deny(prepared_name const& name) override { return resource_.deny(name); }

private:
    static work_result failed(std::string_view thrown) {
        return work_result::failed({make_error_code(errc::store_unreachable),
                                    "settle: the work of '" + std::string{Target::name} +
                                        "' threw: " + std::string{thrown} + ". See errors#errors"});
    }

    Resource& resource_;
    Function& work_;
};

/// Executes part requests one after the other.
/// Shape:   log - the name of the log, which is part of each name; most - the bytes of a name
void execute_prepared(preparing_port& port, std::string const& log, std::size_t most,
                      std::span<part_request const> requests, std::span<part_result> results);

/// The names in doubt of a log as marks.
/// Shape:   target - the name of the target
result<std::vector<mark_locator>> prepared_marks(preparing_port& port, std::string const& log,
                                                 std::string_view target,
                                                 std::optional<mark_locator> const& after,
                                                 std::size_t limit);

/// Commits or rolls back exactly the name of a locator.
result<answer> resolve_prepared(preparing_port& port, std::string const& log,
                                mark_locator const& locator, bool confirmed);

/// The largest number of bytes of an id whose names all fit.
[[nodiscard]] std::size_t longest_prepared_id(std::string const& log, std::size_t most);

} // namespace detail

/// A session of a store, see store/seam.hpp.
/// Shape:   Target - a settle::prepared; Resource - a PreparingResource; Function - the work
template <typename Target, typename Resource, typename Function>
class prepared_session {
public:
    /// Within a window, a part would wait for a row that only the commit of another part frees.
    static constexpr std::size_t largest_window = 1;

    prepared_session(Resource& resource, Function& work, std::string log)
        : port_(std::make_unique<detail::preparing_port_of<Target, Resource, Function>>(resource,
                                                                                        work)),
          resource_(resource), log_(std::move(log)) {}

    template <typename Other>
    struct holds : std::is_same<Other, Target> {};

    void execute(std::span<part_request const> requests, std::span<part_result> results) {
        detail::execute_prepared(*port_, log_, Resource::most_name, requests, results);
    }
    result<std::vector<mark_locator>> marks(std::optional<mark_locator> const& after,
                                            std::size_t limit) {
        return detail::prepared_marks(*port_, log_, Target::name, after, limit);
    }
    result<answer> resolve(mark_locator const& locator, bool confirmed) {
        return detail::resolve_prepared(*port_, log_, locator, confirmed);
    }
    /// The names of the log that are in doubt, after a name.
    result<std::vector<in_doubt_name>> in_doubt(std::string_view after, std::size_t limit) {
        return resource_.in_doubt(prepared_prefix(log_), after, limit);
    }
    [[nodiscard]] std::size_t longest_id() const {
        return detail::longest_prepared_id(log_, Resource::most_name);
    }
    /// The time by the clock of the database.
    result<timestamp> time()
        requires requires(Resource& resource) {
            { resource.time() } -> std::same_as<result<timestamp>>;
        }
    {
        return resource_.time();
    }
    /// Erases receipts of a date before a time, at most `limit`; returns their number.
    result<std::uint64_t> forget(timestamp before, std::size_t limit) {
        return resource_.forget(prepared_prefix(log_), before, limit);
    }

private:
    std::unique_ptr<detail::preparing_port> port_;
    Resource& resource_;
    std::string log_;
};

/// A resource with the work of one target, as an engine holds them.
/// Shape:   Function - a reference, or a type that the engine owns
template <typename Target, typename Resource, typename Function>
class prepared_work {
public:
    template <typename Given>
    prepared_work(Resource& resource, Given&& work)
        : resource_(resource), work_(std::forward<Given>(work)) {}

    /// Errors:  throws settle::failure if the server cannot prepare
    template <typename>
    prepared_session<Target, Resource, std::remove_reference_t<Function>>
    bind(std::string const& log) {
        resource_.bind(log);
        return {resource_, work_, log};
    }

    [[nodiscard]] Resource& resource() { return resource_; }
    [[nodiscard]] std::remove_reference_t<Function>& work() { return work_; }

private:
    Resource& resource_;
    Function work_;
};

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/kinds/prepared/prepared_session.ipp>
#endif
