// SPDX-License-Identifier: BSL-1.0
// Gives each worker its own access to a database, with the worker's faults and the shared witness.
#pragma once

#include <settle/running/binding.hpp>
#include <settle/testing/faults.hpp>
#include <settle/testing/simulate/witness.hpp>

SETTLE_BEGIN
namespace testing::detail {

/// One worker's access to a database: injects the worker's faults; the witness sees the calls that
/// reach the database.
/// Shape:   Shared - has the witness, seen(), and the plan, answer(worker, database, source, call)
template <typename Database, typename Shared>
class doorway {
public:
    doorway(Database& database, Shared& shared, std::size_t worker)
        : seen_(database, shared.seen()), fragile_(seen_) {
        std::size_t const number = shared.number_of(&database);
        fault_source& source = fragile_.source();
        source.plan([&shared, &source, worker, number](call const& current) {
            return shared.answer(worker, number, source, current);
        });
    }
    doorway(doorway const&) = delete;
    doorway& operator=(doorway const&) = delete;

    [[nodiscard]] faulty<witnessed<Database>>& open() { return fragile_; }

private:
    witnessed<Database> seen_;
    faulty<witnessed<Database>> fragile_;
};

/// A worker's copy of an engine argument: databases behind a `doorway`, other arguments unchanged.
template <typename Argument, typename Shared>
struct own_argument {
    own_argument(Argument const& given, Shared&, std::size_t) : value(given) {}
    [[nodiscard]] Argument const& get() const { return value; }
    Argument value;
};
template <typename Database, typename Shared>
    requires settle::detail::is_database<Database>
struct own_argument<Database, Shared> {
    own_argument(Database& given, Shared& shared, std::size_t worker)
        : way(given, shared, worker) {}
    [[nodiscard]] auto& get() { return way.open(); }
    doorway<Database, Shared> way;
};
template <typename Database, typename Shared>
struct own_argument<log_binding<Database>, Shared> {
    own_argument(log_binding<Database> const& given, Shared& shared, std::size_t worker)
        : way(given.database, shared, worker) {}
    [[nodiscard]] auto get() { return log_in(way.open()); }
    doorway<Database, Shared> way;
};
template <typename Collection, typename Database, typename Shared>
struct own_argument<store_binding<Collection, Database>, Shared> {
    own_argument(store_binding<Collection, Database> const& given, Shared& shared,
                 std::size_t worker)
        : way(given.database, shared, worker) {}
    [[nodiscard]] auto get() {
        return store_binding<Collection, faulty<witnessed<Database>>>{way.open()};
    }
    doorway<Database, Shared> way;
};

/// Every other worker uses two phases, so that both kinds of commit meet.
template <typename Shared>
struct own_argument<phases, Shared> {
    own_argument(phases given, Shared&, std::size_t worker)
        : value(worker % 2 == 0 ? given : two_phases) {}
    [[nodiscard]] phases get() const { return value; }
    phases value;
};

} // namespace testing::detail
SETTLE_END
