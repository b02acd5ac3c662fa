// SPDX-License-Identifier: BSL-1.0
// A window on MongoDB keeps the order of its input on every record, in one phase and in two.
#include "shared_servers.hpp"

#include <settle/mongodb.hpp>
#include <settle/settle.hpp>

#include <doctest/doctest.h>

namespace settle_test {

struct label {
    BOOST_HANA_DEFINE_STRUCT(label, (std::string, id), (std::string, text));
};
inline constexpr settle::collection<label, "labels", &label::id> labels;

struct life {
    BOOST_HANA_DEFINE_STRUCT(life, (std::string, ends), (std::string, begins));
};
/// Erases one record and creates another: each transaction requires the record of its predecessor.
inline constexpr auto life_type = settle::transaction<life, "life">(
    settle::participant<"ends">(labels, settle::param<&life::ends>).confirm(settle::erase),
    settle::participant<"begins">(labels, settle::param<&life::begins>)
        .apply(settle::create(settle::field<&label::text> = settle::param<&life::ends>))
        .compensate(settle::erase));

using lives = std::vector<std::pair<std::string, life>>;

/// Runs a window in which the id "2" is in the log: each transaction needs the record that its
/// predecessor creates, and all are done.
void check_window(lives const& window) {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        fresh_database const own{replica_set_address};
        settle::mongodb::database db{own.address()};
        settle::engine engine{db, settle::type<life_type>, how};
        engine.create(labels, label{window.front().second.ends, ""}).value();
        CHECK(engine.submit("2", life{"b", "c"}).problem.empty());
        for (auto const& one : engine.run_all(window, {1000, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
        }
        CHECK(engine.read(labels, window.back().second.begins).value().has_value());
        CHECK(engine.marks().value() == 0);
    }
}

TEST_CASE("order: a window keeps its order beside a transaction whose id is in the log") {
    check_window({{"1", {"a", "b"}}, {"2", {"b", "c"}}, {"3", {"c", "d"}}, {"4", {"d", "e"}}});
}

TEST_CASE("order: the last of a window waits for a predecessor whose id is in the log") {
    check_window({{"2", {"b", "c"}}, {"3", {"c", "d"}}});
}

} // namespace settle_test
