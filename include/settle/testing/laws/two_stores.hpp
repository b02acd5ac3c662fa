// SPDX-License-Identifier: BSL-1.0
// Compares two stores under one transaction type: equal answers, records and marks.
#pragma once

#include <settle/running/construction/argument_lists.hpp>
#include <settle/testing/laws.hpp>
#include <settle/testing/store_suite/random_pool.hpp>

SETTLE_BEGIN
namespace testing {
namespace laws {

template <auto const& Type, typename List>
struct pair_of_stores;

/// Sends the same waves to two stores and reports the first difference.
template <auto const& Type, typename... Collections>
struct pair_of_stores<Type, settle::detail::type_list<Collections...>> {
    using direction = forward<Type>;

    template <typename Database>
    static auto bind(Database& database) {
        return database.template bind<Collections...>(database.bind_log().name());
    }

    template <typename First, typename Second>
    class comparison {
    public:
        comparison(First& first, Second& second, law_report& report)
            : first_(bind(first)), second_(bind(second)), report_(report) {}

        template <typename Collection>
        void create(typename Collection::record_type const& record) {
            bool const first = first_.template create<Collection>(record).has_value();
            bool const second = second_.template create<Collection>(record).has_value();
            require_same(first == second, "a record is created", encode_json(record), "");
        }

        void send(part_wave& wave) {
            wave.send(first_);
            auto const other = wave.results_of(second_);
            for (std::size_t i = 0; i < wave.size(); ++i) {
                auto const& sent = wave.transaction(i);
                auto const first = wave.answers(i);
                auto const second = wave.answers(i, other);
                require_same(first == second, name_of(wave.action()),
                             first + ", by " + sent.id + ' ' +
                                 sent.type->json(sent.parameters.get()),
                             second);
                report_.applied += first.find("applied") != std::string::npos ? 1U : 0U;
                auto const first_images = text_of_images(wave.images(i));
                auto const second_images = text_of_images(wave.images(i, other));
                require_same(first_images == second_images, "images", first_images, second_images);
            }
        }

        void compare() {
            (compare_records<Collections>(), ...);
            auto const first = text_of(sorted(first_.marks(std::nullopt, 100000).value()));
            auto const second = text_of(sorted(second_.marks(std::nullopt, 100000).value()));
            require_same(first == second, "marks", first, second);
        }

    private:
        template <typename C>
        void compare_records() {
            auto const first = encode_json(first_.template scan<C>(std::nullopt, 100000).value());
            auto const second = encode_json(second_.template scan<C>(std::nullopt, 100000).value());
            require_same(first == second, C::name, first, second);
        }

        /// Only the images after the apply: each store has its own format for the images before it.
        static std::string text_of_images(std::vector<image> const& images) {
            std::string out;
            for (image const& one : images) out += one.after + '\n';
            return out;
        }

        void require_same(bool same, std::string_view subject, std::string const& first,
                          std::string const& second) {
            if (same || !report_) return;
            report_.text.append("settle: a law is broken: two stores agree\n  ");
            report_.text.append(subject).append("\n  first:  ").append(first);
            report_.text.append("\n  second: ").append(second).append("\n");
        }

        decltype(bind(std::declval<First&>())) first_;
        decltype(bind(std::declval<Second&>())) second_;
        law_report& report_;
    };
};

} // namespace laws

/// Sends random waves of one type to two databases: parts are applied, confirmed and undone under
/// epochs that rise, stay or fall. Most records exist, and many guards hold.
/// Shape:   first, second - empty databases
/// Errors:  the report is false and holds the difference, the wave and the seed
template <auto const& Type, typename First, typename Second>
[[nodiscard]] law_report check_same(First& first, Second& second, std::uint64_t seed = 1,
                                    std::uint64_t waves = 200) {
    using direction = forward<Type>;
    using list = typename settle::detail::append_targets<settle::detail::type_list<>,
                                                         std::remove_cvref_t<decltype(Type)>>::type;
    law_report report;
    value_source source{seed};
    learn_from_type(source, Type);
    typename laws::pair_of_stores<Type, list>::template comparison<First, Second> stores{
        first, second, report};
    auto const populate = [&](typename direction::parameters const& parameters) {
        direction::for_each_participant([&](auto index) {
            using collection = typename direction::template target_of<index>;
            for (std::size_t line = 0; line < direction::template lines<index>(parameters);
                 ++line) {
                auto record = source.draw<typename collection::record_type>();
                laws::fit_to_guards<Type, index>(source, record, parameters, line);
                bool overflow = false;
                store_value(record.*collection::key_member,
                            direction::template key<index>(parameters, line), overflow);
                if (!overflow && !source.one_in(4)) stores.template create<collection>(record);
            }
        });
    };
    auto const make_parameters = [&] {
        typename direction::parameters values{};
        source.begin_case();
        laws::fill_parameters<Type>(source, values, 9);
        populate(values);
        return values;
    };
    std::mt19937_64 order{seed};
    for (std::uint64_t wave = 0; wave < waves && report;) {
        // Twenty waves share a pool, so that a wave finds records and marks of earlier waves.
        random_pool<direction> pool{"p" + std::to_string(wave) + "-", 6, make_parameters};
        for (std::uint64_t const end = wave + 20; wave < end && report; ++wave) {
            ++report.cases;
            pool.send_wave(stores, order);
            stores.compare();
        }
    }
    if (!report) {
        report.text += "  in the wave " + std::to_string(report.cases) + " of the type '" +
                       direction::name() + "', with the seed " + std::to_string(seed) + '\n';
    }
    return report;
}

} // namespace testing
SETTLE_END
