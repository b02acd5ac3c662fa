// SPDX-License-Identifier: BSL-1.0
// Part requests and entry writes that a test makes by hand, for tests of a store or a log alone.
//
//   settle::testing::part_wave wave{settle::step::apply};
//   wave.add<settle::forward<bank::transfer_type>>("t", {"A", "B", 100}, 5);
//   wave.send(session);
//   CHECK(wave.answers(0) == "applied, applied");
//
//   settle::testing::entry_wave entries{settle::step::insert};
//   entries.add_insert<settle::forward<bank::transfer_type>>("t", {"A", "B", 100},
//                                                            settle::state::pending, 5);
//   entries.send(log, now, "worker 1");
//   CHECK(entries.reply(0) == settle::log_answer::taken);
#pragma once

#include <settle/store/record.hpp>
#include <settle/store/seam.hpp>

#include <deque>

SETTLE_BEGIN
namespace testing {

/// A transaction of a test. Its requests and writes point at it, so it stays at its address.
struct test_transaction {
    transaction_id id;
    transaction_descriptor const* type;
    std::shared_ptr<void const> parameters;
    std::int64_t row = 0; ///< as the log gave it

    template <typename Direction>
    [[nodiscard]] static test_transaction of(transaction_id id,
                                             typename Direction::parameters arguments) {
        using parameters = typename Direction::parameters;
        return {std::move(id), &descriptor_of<Direction>,
                std::make_shared<parameters const>(std::move(arguments))};
    }

    /// Appends a request for each part.
    void request_parts(std::vector<part_request>& to, step action, epoch number,
                       epoch committed = 0) const {
        type->for_each_part(
            parameters.get(), [&](part_descriptor const& one, std::size_t line, std::size_t) {
                part_number const part{one.participant, static_cast<std::uint32_t>(line)};
                to.push_back({&one, type, parameters.get(), &id, part, action, number, committed});
            });
    }

    /// The insert of its entry.
    /// Shape:   why - of an entry that is inserted as `canceled`
    [[nodiscard]] entry_write insert(state inserted, epoch first, timestamp created = {},
                                     reason why = reason::none) const {
        transition transition;
        transition.to = inserted;
        transition.to_epoch = first;
        transition.why = why;
        transition.takes_owner = true;
        return write(step::insert, true, transition, created);
    }
    /// A change of its entry by compare-and-set.
    [[nodiscard]] entry_write change(step action, transition const& requested) const {
        return write(action, false, requested, {});
    }
    [[nodiscard]] read_request look_up() { return {&id, type, parameters.get(), &row}; }

private:
    [[nodiscard]] entry_write write(step action, bool inserts, transition const& requested,
                                    timestamp created) const {
        entry_write write{};
        write.id = &id;
        write.type = type;
        write.parameters = parameters.get();
        write.action = action;
        write.inserts = inserts;
        write.change = requested;
        write.created = created;
        write.failed_part = entry_write::no_part;
        write.row = row;
        return write;
    }
};

// The changes of an entry in the protocol.

[[nodiscard]] inline transition claim_of(standing const& current) {
    auto change =
        transition_to(current, current.state == state::initial ? state::pending : current.state);
    ++change.to_epoch;
    ++change.attempts;
    change.takes_owner = true;
    return change;
}
[[nodiscard]] inline transition keep_of(standing const& current) {
    auto change = transition_to(current, current.state);
    ++change.to_revision;
    ++change.stages_kept;
    return change;
}
[[nodiscard]] inline transition commit_of(standing const& current) {
    auto change = transition_to(current, state::applied);
    change.committed = current.epoch_number;
    return change;
}
[[nodiscard]] inline transition close_of(standing const& current) {
    return transition_to(current, current.state == state::applied ? state::done : state::canceled);
}
/// Shape:   takes_owner - by a worker that does not own the entry
[[nodiscard]] inline transition cancel_of(standing const& current, reason why, bool takes_owner) {
    auto change = transition_to(current, current.state == state::initial ? state::canceled
                                                                         : state::canceling);
    if (takes_owner) ++change.to_epoch;
    change.why = why;
    change.takes_owner = takes_owner;
    return change;
}
/// The requests of one call of execute(), and their results.
class part_wave {
public:
    explicit part_wave(step action) : action_(action) {}
    part_wave(part_wave const&) = delete;
    part_wave& operator=(part_wave const&) = delete;

    /// Requests every part of a transaction.
    template <typename Direction>
    void add(transaction_id id, typename Direction::parameters parameters, epoch number,
             epoch committed = 0) {
        transactions_.push_back(
            test_transaction::of<Direction>(std::move(id), std::move(parameters)));
        transactions_.back().request_parts(requests_, action_, number, committed);
    }

    [[nodiscard]] step action() const { return action_; }
    [[nodiscard]] std::size_t size() const { return transactions_.size(); }
    [[nodiscard]] test_transaction const& transaction(std::size_t index) const {
        return transactions_[index];
    }
    /// May be changed: a test may leave parts out, or change the epoch of a request.
    [[nodiscard]] std::vector<part_request>& requests() { return requests_; }
    [[nodiscard]] std::vector<part_result> const& results() const { return results_; }

    template <typename Session>
    void send(Session& session) {
        results_.assign(requests_.size(), part_result{});
        session.execute(std::span<part_request const>{requests_}, std::span{results_});
    }
    /// Sends the requests to another session, for a comparison.
    template <typename Session>
    [[nodiscard]] std::vector<part_result> results_of(Session& session) const {
        std::vector<part_result> other(requests_.size());
        session.execute(std::span<part_request const>{requests_}, std::span{other});
        return other;
    }

    /// The answers to the parts of one transaction, as text.
    [[nodiscard]] std::string answers(std::size_t transaction) const {
        return answers(transaction, results_);
    }
    /// Shape:   results - of another session
    [[nodiscard]] std::string answers(std::size_t transaction,
                                      std::vector<part_result> const& results) const {
        std::string out;
        for (std::size_t index = 0; index < requests_.size(); ++index) {
            if (requests_[index].id != &transactions_[transaction].id) continue;
            if (!out.empty()) out += ", ";
            out += name_of(results[index].what);
        }
        return out;
    }
    /// The images of one transaction's parts, as its entry would store them.
    [[nodiscard]] std::vector<image> images(std::size_t transaction) const {
        return images(transaction, results_);
    }
    [[nodiscard]] std::vector<image> images(std::size_t transaction,
                                            std::vector<part_result> const& results) const {
        std::vector<image> images;
        for (std::size_t index = 0; index < requests_.size(); ++index) {
            auto const& one = requests_[index];
            if (one.id != &transactions_[transaction].id || !results[index].kept) continue;
            images.push_back(one.descriptor->make_image(one.part, results[index].kept.get()));
        }
        return images;
    }

private:
    step action_;
    std::deque<test_transaction> transactions_;
    std::vector<part_request> requests_;
    std::vector<part_result> results_;
};

/// The writes of one call of write(), and their results.
class entry_wave {
public:
    explicit entry_wave(step action) : action_(action) {}
    entry_wave(entry_wave const&) = delete;
    entry_wave& operator=(entry_wave const&) = delete;

    template <typename Direction>
    entry_write& add_insert(transaction_id id, typename Direction::parameters parameters,
                            state inserted, epoch first, timestamp created = {},
                            reason why = reason::none) {
        return add(test_transaction::of<Direction>(std::move(id), std::move(parameters)),
                   [&](auto const& transaction) {
                       return transaction.insert(inserted, first, created, why);
                   });
    }
    template <typename Direction>
    entry_write& add_change(transaction_id id, typename Direction::parameters parameters,
                            transition const& requested) {
        return add(test_transaction::of<Direction>(std::move(id), std::move(parameters)),
                   [&](auto const& transaction) { return transaction.change(action_, requested); });
    }

    [[nodiscard]] std::size_t size() const { return writes_.size(); }
    /// May be changed: a test may give a write the row of another entry, or send it twice.
    [[nodiscard]] std::vector<entry_write>& writes() { return writes_; }
    [[nodiscard]] std::vector<write_result> const& results() const { return results_; }
    [[nodiscard]] log_answer reply(std::size_t index) const { return results_[index].reply; }

    template <typename Log>
    void send(Log& log, timestamp now, std::string const& owner) {
        results_.assign(writes_.size(), write_result{});
        for (std::size_t at = 0; at < writes_.size(); ++at) results_[at].row = writes_[at].row;
        log.write(std::span<entry_write const>{writes_}, std::span{results_},
                  write_context{now, owner});
    }

private:
    template <typename Make>
    entry_write& add(test_transaction transaction, Make&& make) {
        transactions_.push_back(std::move(transaction));
        writes_.push_back(make(transactions_.back()));
        return writes_.back();
    }

    step action_;
    std::deque<test_transaction> transactions_;
    std::vector<entry_write> writes_;
    std::vector<write_result> results_;
};

/// Writes one entry.
/// Shape:   made - of the transaction, by insert() or change(); its row is updated
template <typename Log>
write_result write_one(Log& log, test_transaction& transaction, entry_write const& write,
                       timestamp now, std::string const& owner) {
    write_result result;
    result.row = write.row;
    log.write(std::span{&write, 1}, std::span{&result, 1}, write_context{now, owner});
    transaction.row = result.row;
    return result;
}

/// Marks in the order of their transactions and parts.
[[nodiscard]] inline std::vector<mark_locator> sorted(std::vector<mark_locator> locators) {
    std::sort(locators.begin(), locators.end(), [](auto const& left, auto const& right) {
        return std::tie(left.id, left.part, left.collection, left.key) <
               std::tie(right.id, right.part, right.collection, right.key);
    });
    return locators;
}

/// Marks as text, a line for each.
[[nodiscard]] inline std::string text_of(std::vector<mark_locator> const& locators) {
    std::string out;
    for (mark_locator const& locator : locators) {
        out += locator.id + ' ' + std::to_string(locator.part.participant) + '.' +
               std::to_string(locator.part.line) + " of " + locator.collection + ' ' +
               std::visit([](auto const& key) { return encode_json(key); }, locator.key) +
               " under " + std::to_string(locator.epoch_number) + '\n';
    }
    return out;
}

} // namespace testing
SETTLE_END
