// SPDX-License-Identifier: BSL-1.0
// Compares a store with the record rule: both get the same waves and must give equal answers.
#pragma once

#include <settle/testing/store_suite/crowd.hpp>
#include <settle/testing/store_suite/model.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

template <typename Database>
class bench {
public:
    using session_type =
        decltype(std::declval<Database&>()
                     .template bind<ledgers_type, cards_type, shelves_type>(std::string{}));

    explicit bench(Database& database)
        : session_(database.template bind<ledgers_type, cards_type, shelves_type>(
              database.bind_log().name())) {}

    template <typename C>
    void create(C const&, typename C::record_type const& record) {
        REQUIRE(session_.template create<C>(record).has_value());
        model_.template create<C>(record);
    }

    template <typename C>
    [[nodiscard]] auto read(C const&, typename C::key_type const& key) {
        return session_.template read<C>(key).value();
    }

    /// Sends a wave to the store and to the model, and compares all answers.
    template <step Step, typename Direction>
    void send(crowd<Direction>& given) {
        std::vector<job> expected = given.jobs();
        session_.template start<Direction>(given.wave(), kind_of<Step>());
        session_.template finish<Direction>(given.wave(), kind_of<Step>());
        model_.template perform<Step, Direction>(expected);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            auto const& actual = given.jobs()[i];
            INFO("job ", i, ", transaction ", actual.id, ", step ", std::string{name_of(Step)});
            std::size_t const parts = given.parts(i);
            CHECK(words(actual.coordinator, parts) == words(expected[i].coordinator, parts));
            check_images<Direction>(actual, expected[i]);
        }
    }

    /// Compares all records and marks with the model.
    void check() {
        check_records<ledgers_type>();
        check_records<cards_type>();
        check_records<shelves_type>();
        CHECK(words_of(marks()) == words_of(model_.marks()));
    }

    /// Resolves a mark in the store and in the model, and compares the answers.
    answer resolve(mark_locator const& locator, bool confirmed) {
        answer const resolved = session_.resolve(locator, confirmed).value();
        CHECK(resolved == model_.resolve(locator, confirmed));
        return resolved;
    }

    // One transaction at one step; each call returns the answers of its parts as text.

    template <auto const& Type>
    std::string apply(transaction_id id, typename forward<Type>::parameters given, epoch number) {
        return one<step::apply, forward<Type>>(std::move(id), std::move(given), number);
    }
    /// Shape:   committed - the entry's committed epoch
    template <auto const& Type>
    std::string confirm(transaction_id id, typename forward<Type>::parameters given,
                        epoch committed) {
        return one<step::confirm, forward<Type>>(std::move(id), std::move(given), committed + 100,
                                                 committed);
    }
    template <auto const& Type>
    std::string compensate(transaction_id id, typename forward<Type>::parameters given) {
        return one<step::compensate, forward<Type>>(std::move(id), std::move(given), 1000);
    }
    template <auto const& Type>
    std::string back_off(transaction_id id, typename forward<Type>::parameters given,
                         epoch number) {
        return one<step::back_off, forward<Type>>(std::move(id), std::move(given), number);
    }

    template <step Step, typename Direction>
    std::string one(transaction_id id, typename Direction::parameters given, epoch number,
                    epoch committed = 0) {
        crowd<Direction> alone;
        alone.template add_at<Step>(std::move(id), std::move(given), number, committed);
        send<Step>(alone);
        check();
        images_ = std::move(alone.jobs().front().images);
        return words(alone.jobs().front().coordinator, alone.parts(0));
    }

    /// The images from the last call of `one`.
    [[nodiscard]] std::vector<image> const& images() const { return images_; }

    [[nodiscard]] std::vector<mark_locator> marks() {
        return session_.marks(std::nullopt, 100000).value();
    }
    /// The epochs of all marks, in order, as text.
    [[nodiscard]] std::string epochs() {
        std::vector<epoch> found;
        for (auto const& one : marks()) found.push_back(one.epoch_number);
        std::sort(found.begin(), found.end());
        std::string out;
        for (epoch const number : found) out += (out.empty() ? "" : " ") + std::to_string(number);
        return out;
    }
    [[nodiscard]] session_type& session() { return session_; }

private:
    template <typename C>
    void check_records() {
        auto const found = session_.template scan<C>(std::nullopt, 100000).value();
        auto const expected = model_.template records<C>();
        CHECK(encode_json(found) == encode_json(expected));
    }

    /// Old images are in the store's own format, so the decoded members are compared.
    template <typename Direction>
    static void check_images(job const& actual, job const& expected) {
        REQUIRE(actual.images.size() == expected.images.size());
        for (std::size_t i = 0; i < actual.images.size(); ++i) {
            image const& ours = expected.images[i];
            image const& theirs = actual.images[i];
            CHECK(theirs.participant == ours.participant);
            CHECK(theirs.line == ours.line);
            CHECK(theirs.after == ours.after);
            Direction::for_each_participant([&](auto index) {
                using record =
                    typename Direction::template collection_of<decltype(index)::value>::record_type;
                if (decltype(index)::value != ours.participant) return;
                CHECK(members<record>(theirs.before) == members<record>(ours.before));
            });
        }
    }

    template <typename Record>
    static std::string members(std::string const& native) {
        if (native.empty()) return {};
        return encode_json(decode_json<Record>(native, json_form::row).value());
    }

    session_type session_;
    record_model<ledgers_type, cards_type, shelves_type> model_;
    std::vector<image> images_;
};

} // namespace testing
SETTLE_END
#endif
