// SPDX-License-Identifier: BSL-1.0
// A database that prepares, in a simulation: each worker has its own access with its own faults.
#pragma once

#include <settle/running/construction/prepared_binding.hpp>
#include <settle/testing/simulate/worker_access.hpp>

SETTLE_BEGIN
namespace testing {

/// A resource in memory, as a simulation takes it.
/// Shape:   prepare_later(name, work) - runs the work now; returns a function that prepares it
///          later; note_time(now) - sets the clock of the database, before each call
template <typename Resource>
concept SimulatedResource =
    PreparingResource<Resource> &&
    requires(Resource& resource, prepared_name const& name,
             work_function<typename Resource::connection> work, timestamp now) {
        { resource.prepare_later(name, work) } -> std::convertible_to<std::function<void()>>;
        resource.note_time(now);
    };

namespace detail {

/// A resource whose calls fail as a plan says: each takes no effect, or loses its answer, or takes
/// effect later, or ends its worker.
template <SimulatedResource Resource>
class faulty_resource {
public:
    using connection = typename Resource::connection;
    static constexpr std::size_t most_name = Resource::most_name;

    explicit faulty_resource(Resource& inner) : inner_(&inner) {}

    [[nodiscard]] fault_source& source() { return source_; }

    void bind(std::string const& log) { inner_->bind(log); }
    prepare_result prepare(prepared_name const& name, work_function<connection> work) {
        return change<prepare_result>(
            "prepare", [&] { return inner_->prepare(name, work); },
            [&] { return inner_->prepare_later(name, work); });
    }
    end_result commit(prepared_name const& name) {
        return end("commit", [inner = inner_, name] { return inner->commit(name); });
    }
    end_result roll_back(prepared_name const& name) {
        return end("roll back", [inner = inner_, name] { return inner->roll_back(name); });
    }
    end_result deny(prepared_name const& name) {
        return end("deny", [inner = inner_, name] { return inner->deny(name); });
    }
    result<std::vector<in_doubt_name>> in_doubt(std::string_view prefix, std::string_view after,
                                                std::size_t limit) {
        return read("list", [&] { return inner_->in_doubt(prefix, after, limit); });
    }
    result<std::optional<epoch>> receipt_of(prepared_part const& part) {
        return read("read", [&] { return inner_->receipt_of(part); });
    }
    result<std::uint64_t> forget(std::string_view prefix, timestamp before, std::size_t limit) {
        return read("purge", [&] { return inner_->forget(prefix, before, limit); });
    }

private:
    /// Shape:   later() - returns a function that performs the call
    template <typename Result, typename Perform, typename Later>
    Result change(std::string_view what, Perform const& perform, Later const& later) {
        using answers = decltype(Result::what);
        auto const kind = source_.next_fault(what, false, 1).kind;
        if (kind == fault_kind::none) return perform();
        if (kind == fault_kind::unavailable) return {answers::unavailable, lost(kind)};
        if (kind == fault_kind::late) source_.keep(later());
        else if (!takes_no_effect(kind)) std::ignore = perform();
        if (kind == fault_kind::crash_after) throw crash{};
        return {answers::unknown, lost(kind)};
    }
    template <typename Perform>
    end_result end(std::string_view what, Perform const& perform) {
        return change<end_result>(what, perform, [&] { return perform; });
    }
    template <typename Perform>
    std::invoke_result_t<Perform const&> read(std::string_view what, Perform const& perform) {
        auto const kind = source_.next_fault(what, false, 1).kind;
        if (kind == fault_kind::none) return perform();
        if (kind == fault_kind::crash_after) throw crash{};
        return lost(kind);
    }

    Resource* inner_;
    fault_source source_;
};

/// The work stays shared, and the resource gets the worker's faults.
template <typename Target, typename Resource, typename Function, typename Shared>
struct own_argument<client_binding<Target, prepared_work<Target, Resource, Function>>, Shared> {
    using given_type = client_binding<Target, prepared_work<Target, Resource, Function>>;

    own_argument(given_type& database, Shared& shared, std::size_t worker)
        : fragile(database.database.resource()), work(&database.database.work()) {
        Resource& resource = database.database.resource();
        std::size_t const number = shared.number_of(&resource);
        fault_source& source = fragile.source();
        source.plan([&shared, &source, &resource, worker, number](call const& current) {
            fault const drawn = shared.answer(worker, number, source, current);
            resource.note_time(simulated_time(shared.now()));
            return drawn;
        });
    }
    own_argument(own_argument const&) = delete;
    own_argument& operator=(own_argument const&) = delete;

    [[nodiscard]] auto get() { return settle::bind(Target{}, fragile, *work); }

    faulty_resource<Resource> fragile;
    std::remove_reference_t<Function>* work;
};

} // namespace detail
} // namespace testing
SETTLE_END
