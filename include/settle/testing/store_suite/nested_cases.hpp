// SPDX-License-Identifier: BSL-1.0
// The store suite: records that contain structs and lists.
#pragma once

#include <settle/testing/store_suite/engine_cases.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

struct stop {
    BOOST_HANA_DEFINE_STRUCT(stop, (std::string, street), (std::int32_t, house),
                             (std::optional<whole_second>, until));
};

struct parcel {
    BOOST_HANA_DEFINE_STRUCT(parcel, (std::string, id), (stop, home), (std::vector<stop>, route),
                             (std::int64_t, weight));
};

inline constexpr collection<parcel, "suite_parcels", &parcel::id> parcels;
using parcels_type = std::remove_const_t<decltype(parcels)>;

struct send {
    BOOST_HANA_DEFINE_STRUCT(send, (parcel, made));
};

inline constexpr auto send_type =
    transaction<send, "suite_send">(participant<"parcel">(parcels, param<&send::made, &parcel::id>)
                                        .apply(create(param<&send::made>))
                                        .compensate(erase));

struct redirect {
    BOOST_HANA_DEFINE_STRUCT(redirect, (std::string, id), (stop, home), (std::vector<stop>, route),
                             (std::int64_t, most));
};

inline constexpr auto redirect_type = transaction<redirect, "suite_redirect">(
    participant<"parcel">(parcels, param<&redirect::id>)
        .require(field<&parcel::weight> <= param<&redirect::most>)
        .apply(field<&parcel::home> = param<&redirect::home>)
        .compensate(inverse)
        .confirm(field<&parcel::route> = param<&redirect::route>));

struct deliver {
    BOOST_HANA_DEFINE_STRUCT(deliver, (std::string, id));
};

inline constexpr auto deliver_type = transaction<deliver, "suite_deliver">(
    participant<"parcel">(parcels, param<&deliver::id>).confirm(erase));

template <typename Database>
auto parcel_engine(Database& database, phases how) {
    return engine{database, type<send_type>, type<redirect_type>, type<deliver_type>, how};
}

TEST_CASE_TEMPLATE_DEFINE("engine: records may contain structs and lists", Fixture, suite_nested) {
    parcel const first{"p", {"Mill Lane", 3, at_second(1000)}, {}, 10};
    parcel const second{"q'\"", {"", -1, std::nullopt}, {{"A", 1, std::nullopt}, {"B", 2, {}}}, 20};
    stop const elsewhere{"\xC5\xBDivna {\"a\":[1]}", 70, std::nullopt};
    std::vector<stop> const route{{"C", 1, at_second(0)}, elsewhere, {"D", 2, std::nullopt}};
    for (phases const how : {phases::one, two_phases}) {
        INFO("one phase: ", how == phases::one);
        Fixture fixture;
        auto const shown = [](auto& of, std::string const& id) {
            return encode_json(of.read(parcels, id).value());
        };
        parcel const moved{"p", elsewhere, route, 10};
        {
            auto engine = parcel_engine(fixture.database_here(), how);
            engine.create(parcels, second).value();
            REQUIRE(engine.run("send", send{first}).done());
            CHECK(shown(engine, "p") == encode_json(std::optional{first}));
            CHECK(shown(engine, second.id) == encode_json(std::optional{second}));

            CHECK(engine.run("heavy", redirect{"p", elsewhere, route, 9}).canceled());
            CHECK(shown(engine, "p") == encode_json(std::optional{first}));
            REQUIRE(engine.run("redirect", redirect{"p", elsewhere, route, 10}).done());
            CHECK(shown(engine, "p") == encode_json(std::optional{moved}));
            REQUIRE(engine.run("deliver", deliver{"p"}).done());
            CHECK(shown(engine, "p") == "null");
        }
        // The first engine has ended: an engine does not outlive its database.
        auto again = parcel_engine(fixture.reopened(), how);
        CHECK(shown(again, second.id) == encode_json(std::optional{second}));
        CHECK(again.reverse("deliver").text() == "deliver/reverse: done");
        CHECK(shown(again, "p") == encode_json(std::optional{moved}));
        CHECK(again.reverse("redirect").text() == "redirect/reverse: done");
        CHECK(shown(again, "p") == encode_json(std::optional{first}));
        // A reversal restores an assigned field only if the field still has the assigned value.
        REQUIRE(again.run("there", redirect{second.id, elsewhere, route, 99}).done());
        REQUIRE(again.run("on", redirect{second.id, elsewhere, {}, 99}).done());
        CHECK(again.reverse("there").why == reason::guard_failed);
        CHECK(again.marks().value() == 0);
    }
}

} // namespace testing
SETTLE_END
#endif
