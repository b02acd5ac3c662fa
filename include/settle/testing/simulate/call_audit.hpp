// SPDX-License-Identifier: BSL-1.0
// Compares the books of simulated services with the transactions of the log.
#pragma once

#include <settle/running/construction/argument_lists.hpp>
#include <settle/testing/simulate/receiver.hpp>
#include <settle/testing/simulate/witness.hpp>

#include <cstdio>
#include <set>
#include <tuple>

SETTLE_BEGIN
namespace testing::detail {

/// The expected books of one part.
struct expected_call {
    transaction_id const& transaction;
    std::string_view participant;
    std::optional<std::uint32_t> line;
    bool done;       ///< or canceled
    bool has_effect; ///< the apply is no query
    bool confirms;
    std::optional<std::string> request{}; ///< of the effect, if it is known
    std::optional<std::string> result{};  ///< in the entry, if it is known
};

/// The books of one service, compared part by part. A difference is named with the promise that
/// the service has broken; without such a promise the library has broken one.
class audited_service {
public:
    audited_service(simulated_receiver const& receiver, witness& seen)
        : of_(receiver), seen_(seen) {
        auto const add = [&](std::string const& key, auto const& from) {
            if (from.transaction.empty()) return;
            keys_[name_of_part(from.transaction, from.participant, from.line)].insert(key);
        };
        for (auto const& [key, page] : receiver.pages()) add(key, page.books);
        for (auto const& [key, promised] : receiver.promises()) add(key, promised);
        for (auto const& [name, keys] : keys_) unseen_.insert(name);
    }

    [[nodiscard]] std::string_view name() const { return of_.name(); }

    /// Shape:   read_result - gives a result the form that it has in an entry
    template <typename ReadResult>
    void compare(expected_call const& expected, ReadResult const& read_result) {
        auto const name = name_of_part(expected.transaction, expected.participant, expected.line);
        unseen_.erase(name);
        auto const place = keys_.find(name);
        std::size_t const count = place == keys_.end() ? 0 : place->second.size();
        if (count > 1) return complain(expected, "has " + std::to_string(count) + " keys of it");
        std::string const key = count == 0 ? std::string{} : *place->second.begin();
        service_books const books = books_of(key);
        if (expected.has_effect && !compare_effects(expected, books, key)) return;
        std::int64_t const confirms = expected.done && expected.confirms ? 1 : 0;
        if (books.confirms != confirms) {
            return complain(expected, "has " + std::to_string(books.confirms) + " confirms of it" +
                                          blame_of_confirm(key, books));
        }
        if (!expected.done) return;
        if (expected.request && books.request != *expected.request) {
            return complain(expected, "was sent " + books.request + ", and the definition gives " +
                                          *expected.request);
        }
        if (!expected.has_effect || !expected.result) return;
        std::string const booked = read_result(books.result);
        if (booked == *expected.result) return;
        complain(expected, "has booked the result " + booked + ", and the entry has " +
                               *expected.result + ": it has answered two results to one key");
    }

    /// The books of transactions that no entry names have no effect.
    void compare_unseen() {
        for (part const& name : unseen_) {
            for (std::string const& key : keys_[name]) {
                service_books const books = books_of(key);
                if (books.effects() == 0 && books.confirms == 0) continue;
                seen_.complain(books.transaction + ": no entry has this transaction, and " +
                               subject() + " has an effect of it");
            }
        }
    }

private:
    using time = std::chrono::nanoseconds;

    /// False if the effects differ.
    bool compare_effects(expected_call const& expected, service_books const& books,
                         std::string const& key) {
        std::int64_t const effects = expected.done ? 1 : 0;
        if (books.effects() == effects) return true;
        complain(expected, "has " + std::to_string(books.effects()) + " effects of it (" +
                               std::to_string(books.applies) + " applies, " +
                               std::to_string(books.undos) + " undone)" +
                               blame_of_effects(key, books, effects));
        return false;
    }

    [[nodiscard]] std::string blame_of_effects(std::string const& key, service_books const& books,
                                               std::int64_t effects) const {
        if (books.applies > 1) return ": it has taken more than one apply of this key";
        if (books.undos > books.applies) return ": it has undone an effect that it did not have";
        service_promises const promises = promises_of(key);
        if (books.effects() < effects) return broken("ok to its apply", promises.applied);
        // A later answer replaces an earlier one: a compensation, or else a refusal.
        return promises.compensated ? broken("ok to its compensate", promises.compensated)
                                    : broken("refused to its apply", promises.refused);
    }
    [[nodiscard]] std::string blame_of_confirm(std::string const& key,
                                               service_books const& books) const {
        if (books.confirms > 1) return ": it has taken more than one confirm of this key";
        return broken("ok to its confirm", promises_of(key).confirmed);
    }
    [[nodiscard]] service_books books_of(std::string const& key) const {
        auto const found = of_.pages().find(key);
        return found == of_.pages().end() ? service_books{} : found->second.books;
    }
    [[nodiscard]] service_promises promises_of(std::string const& key) const {
        auto const found = of_.promises().find(key);
        return found == of_.promises().end() ? service_promises{} : found->second;
    }
    /// The promise of an answer, and the backup that broke it.
    [[nodiscard]] std::string broken(std::string_view answer, std::optional<time> moment) const {
        if (!moment) return ", and it did not answer " + std::string{answer};
        std::string text = ": it answered " + std::string{answer} + " at " + seconds(*moment);
        for (service_restore const& restore : of_.restores()) {
            if (restore.at < *moment || restore.back_to > *moment) continue;
            return text + ", and at " + seconds(restore.at) + " it went back to its backup of " +
                   seconds(restore.back_to);
        }
        return text;
    }
    [[nodiscard]] static std::string seconds(time moment) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3f s", std::chrono::duration<double>{moment}.count());
        return text;
    }

    [[nodiscard]] std::string subject() const {
        return "the service '" + std::string{of_.name()} + "'";
    }
    void complain(expected_call const& expected, std::string const& problem) {
        std::string text = expected.transaction + ": is ";
        text.append(expected.done ? "done" : "canceled").append(", and ").append(subject());
        text.append(" (").append(expected.participant);
        if (expected.line) text.append(" line ").append(std::to_string(*expected.line + 1));
        seen_.complain(text.append(") ").append(problem));
    }

    using part = std::tuple<std::string, std::string, std::optional<std::uint32_t>>;
    static part name_of_part(std::string_view transaction, std::string_view participant,
                             std::optional<std::uint32_t> line) {
        return {std::string{transaction}, std::string{participant}, line};
    }

    simulated_receiver const& of_;
    witness& seen_;
    std::map<part, std::set<std::string>> keys_;
    std::set<part> unseen_;
};

/// The books of every simulated service.
/// Shape:   Types - the types of an engine
template <typename Types>
class call_audit {
public:
    call_audit(std::vector<simulated_receiver*> const& services, witness& seen) {
        for (simulated_receiver const* one : services) services_.emplace_back(*one, seen);
    }

    /// Compares the calls of one transaction.
    /// Shape:   ended - its entry, with type and parameters; kept - true if it has its results
    void compare(entry const& ended, bool done, bool kept) {
        if (services_.empty()) return;
        settle::detail::for_each_direction(
            Types{}, [&]<typename Direction>(std::type_identity<Direction>) {
                if (ended.type != Direction::name()) return;
                auto const given = decode_json<typename Direction::parameters>(ended.parameters);
                if (given.has_value()) compare_parts<Direction>(ended, given.value(), done, kept);
            });
    }
    void end() {
        for (audited_service& one : services_) one.compare_unseen();
    }

private:
    template <typename Direction>
    void compare_parts(entry const& ended, typename Direction::parameters const& parameters,
                       bool done, bool kept) {
        auto const& user = Direction::user(parameters);
        Direction::for_each_participant([&](auto index) {
            constexpr std::size_t position = decltype(index)::value;
            using participant = typename Direction::template participant<position>;
            if constexpr (CallParticipant<participant>) {
                audited_service* const service = find(participant::service_type::name);
                if (service == nullptr) return;
                for (std::size_t line = 0; line < Direction::template lines<position>(user);
                     ++line) {
                    compare_part<Direction, position>(
                        *service, request_of<Direction, position>(ended, parameters, line), done,
                        kept);
                }
            }
        });
    }
    template <typename Direction, std::size_t At>
    static part_request request_of(entry const& ended,
                                   typename Direction::parameters const& parameters,
                                   std::size_t line) {
        return {&settle::detail::described_parts<Direction>::all[At],
                &descriptor_of<Direction>,
                &parameters,
                &ended.id,
                {static_cast<std::uint32_t>(At), static_cast<std::uint32_t>(line)},
                step::apply,
                ended.epoch_number,
                ended.committed,
                &ended.results};
    }
    template <typename Direction, std::size_t At>
    void compare_part(audited_service& service, part_request const& request, bool done, bool kept) {
        using participant = typename Direction::template participant<At>;
        call_functions const& functions = settle::detail::call_part(request);
        expected_call expected{*request.id, participant::name,       {},
                               done,        participant::has_effect, participant::confirms};
        if (participant::is_range) expected.line = request.part.line;
        if (done && kept && (participant::has_effect || participant::confirms)) {
            auto made = functions.make_request(
                request, participant::applies ? call_operation::apply : call_operation::confirm);
            expected.request = std::move(made.json);
            if (participant::gives_result) {
                expected.result = settle::detail::kept_result_of(request, request.part);
            }
        }
        service.compare(expected, [&](std::string const& booked) {
            std::string read;
            if (functions.read_result != nullptr) std::ignore = functions.read_result(booked, read);
            return read;
        });
    }

    [[nodiscard]] audited_service* find(std::string_view name) {
        for (audited_service& one : services_) {
            if (one.name() == name) return &one;
        }
        return nullptr;
    }

    std::vector<audited_service> services_;
};

} // namespace testing::detail
SETTLE_END
