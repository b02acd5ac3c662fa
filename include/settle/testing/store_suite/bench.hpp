// SPDX-License-Identifier: BSL-1.0
// Compares a store with the record rule: both get the same waves and must give equal answers.
#pragma once

#include <settle/testing/store_suite/random_pool.hpp>
#include <settle/testing/store_suite/reference_store.hpp>
#include <settle/testing/store_suite/types.hpp>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

template <typename Database>
class bench {
public:
    using session_type =
        decltype(std::declval<Database&>().template bind<ledgers_type, cards_type, shelves_type>(
            std::string{}));

    explicit bench(Database& database)
        : session_(database.template bind<ledgers_type, cards_type, shelves_type>(
              database.bind_log().name())) {}

    template <typename C>
    void create(C const&, typename C::record_type const& record) {
        REQUIRE(session_.template create<C>(record).has_value());
        reference_.template create<C>(record);
    }

    template <typename C>
    [[nodiscard]] auto read(C const&, typename C::key_type const& key) {
        return session_.template read<C>(key).value();
    }

    /// Sends a wave to the store and to the reference store, and compares all results.
    void send(part_wave& wave) {
        wave.send(session_);
        auto const expected = wave.results_of(reference_);
        for (std::size_t index = 0; index < expected.size(); ++index) {
            part_request const& request = wave.requests()[index];
            INFO("request ", index, ", transaction ", *request.id, ", step ",
                 std::string{name_of(request.action)});
            CHECK(std::string{name_of(wave.results()[index].what)} ==
                  std::string{name_of(expected[index].what)});
            check_image(request, wave.results()[index], expected[index]);
        }
    }

    /// Compares all records and marks with the reference store.
    void check() {
        check_records<ledgers_type>();
        check_records<cards_type>();
        check_records<shelves_type>();
        CHECK(text_of(sorted(marks())) == text_of(sorted(reference_.marks())));
    }

    /// Resolves a mark in the store and in the reference store, and compares the answers.
    answer resolve(mark_locator const& locator, bool confirmed) {
        answer const resolved = session_.resolve(locator, confirmed).value();
        CHECK(resolved == reference_.resolve(locator, confirmed));
        return resolved;
    }

    // One transaction at one step; each call returns the answers of its parts as text.

    template <auto const& Type>
    std::string apply(transaction_id id, typename forward<Type>::parameters parameters,
                      epoch number) {
        return send_one<Type>(step::apply, std::move(id), std::move(parameters), number);
    }
    /// Shape:   committed - the entry's committed epoch
    template <auto const& Type>
    std::string confirm(transaction_id id, typename forward<Type>::parameters parameters,
                        epoch committed) {
        return send_one<Type>(step::confirm, std::move(id), std::move(parameters), committed + 100,
                              committed);
    }
    template <auto const& Type>
    std::string compensate(transaction_id id, typename forward<Type>::parameters parameters,
                           epoch latest = 1000) {
        return send_one<Type>(step::compensate, std::move(id), std::move(parameters), latest);
    }
    template <auto const& Type>
    std::string back_off(transaction_id id, typename forward<Type>::parameters parameters,
                         epoch number) {
        return send_one<Type>(step::back_off, std::move(id), std::move(parameters), number);
    }

    template <auto const& Type>
    std::string send_one(step action, transaction_id id,
                         typename forward<Type>::parameters parameters, epoch number,
                         epoch committed = 0) {
        part_wave alone{action};
        alone.add<forward<Type>>(std::move(id), std::move(parameters), number, committed);
        send(alone);
        check();
        images_ = alone.images(0);
        return alone.answers(0);
    }

    /// The images of the last transaction sent.
    [[nodiscard]] std::vector<image> const& images() const { return images_; }

    [[nodiscard]] std::vector<mark_locator> marks() {
        return session_.marks(std::nullopt, 100000).value();
    }
    /// The epochs of all marks, in order, as text.
    [[nodiscard]] std::string epochs() {
        std::vector<epoch> epochs;
        for (auto const& one : marks()) epochs.push_back(one.epoch_number);
        std::sort(epochs.begin(), epochs.end());
        std::string out;
        for (epoch const number : epochs) out += (out.empty() ? "" : " ") + std::to_string(number);
        return out;
    }
    [[nodiscard]] session_type& session() { return session_; }

private:
    template <typename C>
    void check_records() {
        auto const found = session_.template scan<C>(std::nullopt, 100000).value();
        auto const expected = reference_.template records<C>();
        CHECK(encode_json(found) == encode_json(expected));
    }

    /// Old images are in the store's own format, so the decoded members are compared.
    static void check_image(part_request const& request, part_result const& actual,
                            part_result const& expected) {
        REQUIRE((actual.kept != nullptr) == (expected.kept != nullptr));
        if (!actual.kept) return;
        auto const image_of = [&](part_result const& result) {
            return request.descriptor->make_image(request.part, result.kept.get());
        };
        image const theirs = image_of(actual);
        image const ours = image_of(expected);
        CHECK(theirs.participant == ours.participant);
        CHECK(theirs.line == ours.line);
        CHECK(theirs.after == ours.after);
        auto const check_members = [&]<typename C>(std::type_identity<C>) {
            using record = typename C::record_type;
            if (!is_part_of<C>(request)) return;
            CHECK(members<record>(theirs.before) == members<record>(ours.before));
        };
        check_members(std::type_identity<ledgers_type>{});
        check_members(std::type_identity<cards_type>{});
        check_members(std::type_identity<shelves_type>{});
    }

    template <typename Record>
    static std::string members(std::string const& native) {
        if (native.empty()) return {};
        return encode_json(decode_json<Record>(native, json_form::row).value());
    }

    session_type session_;
    reference_store<ledgers_type, cards_type, shelves_type> reference_;
    std::vector<image> images_;
};

} // namespace testing
SETTLE_END
#endif
