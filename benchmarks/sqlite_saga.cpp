// SPDX-License-Identifier: BSL-1.0
// Trips of three calls of services in the same process, with the log in SQLite: two calls that can
// be undone, and a pivot.
#include "saga_rounds.hpp"

#include <array>
#include <fstream>

namespace bench {

namespace {

/// The functions of the services, for settle.
class bound_services {
public:
    explicit bound_services(travel_services& all) : all_(&all) {}

    template <typename Request>
    auto operator()(Request const& request, settle::service_call const&) {
        return settle::reply{all_->answer(request)};
    }

private:
    travel_services* all_;
};

auto make_agency(settle::sqlite::database& db, bound_services& services) {
    return settle::engine{db, settle::type<trip_type>, settle::bind(airline, services),
                          settle::bind(hotel, services), settle::bind(bank, services)};
}

/// The number of commits in the write-ahead log of an open file without a checkpoint: a frame of
/// the log that ends a commit has the size of the database in its header.
std::size_t commits_in(std::string const& path) {
    constexpr std::streamoff head = 32;
    constexpr std::streamoff frame = 24 + 4096;
    std::ifstream file{path + "-wal", std::ios::binary};
    std::size_t commits = 0;
    std::array<char, 8> start{};
    for (std::streamoff at = head; file.seekg(at) && file.read(start.data(), start.size());
         at += frame) {
        if (std::any_of(start.begin() + 4, start.end(), [](char c) { return c != 0; })) ++commits;
    }
    return commits;
}

/// The durable writes of one trip.
double writes_of_settle(std::string const& path, trips const& work) {
    erase_file(path);
    travel_services counted;
    bound_services services{counted};
    settle::sqlite::database db{path};
    auto engine = make_agency(db, services);
    // The first trip writes the names of the type and of the owner.
    expect_done(engine.run("first", work.requests.front().second));
    counted = {};
    auto const before = commits_in(path);
    run_each(engine, work.requests);
    check_services(counted, work);
    return static_cast<double>(commits_in(path) - before) /
           static_cast<double>(work.requests.size());
}

double writes_by_hand(std::string const& path, trips const& work) {
    erase_file(path);
    travel_services counted;
    baseline::connection const connection{path};
    connection.execute(baseline::saga_log_sql(baseline::log_layout::by_id).c_str());
    baseline::local_calls calls{counted};
    baseline::saga by_hand{connection, calls};
    auto const before = commits_in(path);
    for (auto const& one : work.requests) by_hand.run(one);
    check_services(counted, work);
    return static_cast<double>(commits_in(path) - before) /
           static_cast<double>(work.requests.size());
}

void compare(context& context, std::string const& name, std::size_t count, std::size_t window,
             double budget) {
    saga_case const compared{context.file("saga.db"), make_trips(count),
                             [window](saga_case const& test_case) {
                                 erase_file(test_case.path);
                                 travel_services counted;
                                 bound_services services{counted};
                                 settle::sqlite::database db{test_case.path};
                                 auto engine = make_agency(db, services);
                                 double const seconds = run_trips(engine, test_case.work, window);
                                 check_services(counted, test_case.work);
                                 return seconds;
                             },
                             [window](saga_case const& test_case, baseline::log_layout layout) {
                                 travel_services counted;
                                 baseline::local_calls calls{counted};
                                 double const seconds = run_trips_by_hand(
                                     test_case.path, test_case.work, window, layout, calls);
                                 check_services(counted, test_case.work);
                                 return seconds;
                             }};
    compared.compare(context, name, budget);
}

add_case const one_at_a_time{55, "SQLite, saga of three calls, one at a time",
                             [](context& context, std::string const& name) {
                                 compare(context, name, context.size(1'000, 300), 1, 1.15);
                             }};

add_case const in_batches{56, "SQLite, saga of three calls, 64 at a time",
                          [](context& context, std::string const& name) {
                              compare(context, name, context.size(20'000, 4'000), 64, 1.00);
                          }};

add_case const durable_writes{59, "SQLite, commits of one saga of three calls",
                              [](context& context, std::string const& name) {
                                  trips const work = make_trips(20);
                                  std::string const path = context.file("saga_writes.db");
                                  row counted{};
                                  counted.name = name;
                                  counted.settle = writes_of_settle(path, work);
                                  counted.baseline = writes_by_hand(path, work);
                                  counted.ratio = counted.settle / counted.baseline;
                                  counted.budget = 1.0;
                                  counted.against = "by hand";
                                  context.add(counted);
                                  erase_file(path);
                              }};

} // namespace

} // namespace bench
