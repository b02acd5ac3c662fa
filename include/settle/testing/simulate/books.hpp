// SPDX-License-Identifier: BSL-1.0
// The expected records of a simulation, computed from the done entries alone.
#pragma once

#include <settle/protocol/record_rule.hpp>
#include <settle/running/construction/argument_lists.hpp>
#include <settle/testing/simulate/witness.hpp>

#include <map>

SETTLE_BEGIN
namespace testing::detail {

/// Expected records, without marks, epochs and guards: each done transaction takes effect once, in
/// the order of the commits.
template <typename Collections, typename Types>
class books;
template <typename... Collections, typename Types>
class books<settle::detail::type_list<Collections...>, Types> {
public:
    template <typename Collection>
    void open(typename Collection::record_type const& record) {
        shelf<Collection>()[record.*Collection::key_member] = record;
    }

    /// Shape:   done - the entry of a transaction that is done
    void enact(entry const& done, witness& seen) {
        bool exists = false;
        settle::detail::for_each_direction(Types{}, [&]<typename Direction>(
                                                        std::type_identity<Direction>) {
            if (done.type != Direction::name()) return;
            exists = true;
            auto const parameters = decode_json<typename Direction::parameters>(done.parameters);
            if (!parameters.has_value()) {
                seen.complain(done.id + ": " + parameters.problem().message());
            } else if (!enact_parts<Direction>(parameters.value())) {
                seen.complain(done.id + ": is done, though its record was not there");
            }
        });
        if (!exists) seen.complain(done.id + ": is done, and is of no type");
    }

    template <typename Engine>
    void compare(Engine& engine, witness& seen) {
        (compare_one<Collections>(engine, seen), ...);
    }

private:
    template <typename C>
    struct shelf_of {
        std::map<typename C::key_type, typename C::record_type> records;
    };
    template <typename C>
    auto& shelf() {
        return std::get<shelf_of<C>>(shelves_).records;
    }

    template <typename Direction>
    bool enact_parts(typename Direction::parameters const& parameters) {
        bool all_agree = true;
        auto const& user = Direction::user(parameters);
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            using collection = typename Direction::template target_of<position>;
            if constexpr (settle::detail::is_collection<collection>) {
                using key_type = typename collection::key_type;
                for (std::size_t line = 0; line < Direction::template lines<position>(user);
                     ++line) {
                    key_type const key{key_type(Direction::template key<position>(user, line))};
                    auto const intent = Direction::template intent<position>(parameters, line);
                    all_agree = enact_part<collection>(key, intent) && all_agree;
                }
            }
        });
        return all_agree;
    }

    template <typename C, typename Intent>
    bool enact_part(typename C::key_type const& key, Intent const& intent) {
        auto& records = shelf<C>();
        if constexpr (Intent::creates) {
            typename C::record_type made{};
            made.*C::key_member = key;
            if (!records.emplace(key, std::move(made)).second) return false;
        }
        auto const place = records.find(key);
        if (place == records.end()) return false;
        bool overflow = false;
        if constexpr (Intent::commutes) {
            integers<typename C::record_type> apply{};
            integers<typename C::record_type> confirm{};
            intent.deltas(apply, confirm, overflow);
            settle::detail::add_to(place->second, apply);
            settle::detail::add_to(place->second, confirm);
        } else {
            intent.apply_to(place->second, overflow);
            intent.confirm_to(place->second, overflow);
            if constexpr (Intent::erases) records.erase(place);
        }
        return !overflow;
    }

    template <typename C, typename Engine>
    void compare_one(Engine& engine, witness& seen) {
        constexpr std::size_t page = 1'000;
        std::optional<typename C::key_type> after;
        std::size_t count = 0;
        std::string const name{C::name};
        for (bool more = true; more;) {
            auto const page_read = engine.template scan_page<C>(after, page).value();
            for (auto const& record : page_read) {
                ++count;
                after = record.*C::key_member;
                auto const expected = shelf<C>().find(*after);
                if (expected == shelf<C>().end()) {
                    seen.complain(name + ": " + encode_json(record) + " should not be there");
                } else if (!equal_members(expected->second, record)) {
                    seen.complain(name + ": " + encode_json(record) + " should be " +
                                  encode_json(expected->second));
                }
            }
            more = page_read.size() == page;
        }
        if (count != shelf<C>().size()) {
            seen.complain(name + ": " + std::to_string(count) + " records are there, of " +
                          std::to_string(shelf<C>().size()));
        }
    }

    std::tuple<shelf_of<Collections>...> shelves_;
};

} // namespace testing::detail
SETTLE_END
