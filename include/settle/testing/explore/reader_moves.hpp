// SPDX-License-Identifier: BSL-1.0
// The moves of readers: looks at records, and questions to the log. A reader begins with its first
// look, and answers with its last move: each earlier begin, and each later answer, allows more.
#pragma once

#include <settle/testing/explore/part_moves.hpp>

SETTLE_BEGIN
namespace testing {

template <typename Protocol, typename Records>
class reader_moves : protected part_moves<Protocol, Records> {
    using base = part_moves<Protocol, Records>;

public:
    using typename base::world_type;
    using reads = std::vector<std::unique_ptr<model_read<Records>>>;

protected:
    using base::all_;
    using base::within_;
    using typename base::rules;
    using typename base::transactions;

    reader_moves(transactions const& all, reads const& all_reads, bounds const& within,
                 Records const& first)
        : base(all, within), reads_(all_reads) {
        if (within.compares_readers) note_answers(first);
    }

    template <typename Function>
    void move_readers(world_type const& now, Function& function) const {
        for (std::size_t i = 0; i < now.readers.size(); ++i) {
            using enum reader_state;
            if (now.readers[i].now != waiting && now.readers[i].now != reading) continue;
            bool const is_held = now.readers[i].hold == hold_state::held;
            auto const move = [&](move_kind kind, auto&& change) {
                world_type next = now;
                std::string const words = change(next);
                function(std::move(next), kind,
                         [&] { return "r" + std::to_string(i) + ": " + words; });
            };
            // The protocol ends without its readers, but not without the end of a hold.
            move(is_held ? move_kind::protocol : move_kind::outside, [&](world_type& next) {
                if (reads_[i]->reads == read_of::held_log) return read_under_hold(next, i);
                if (reads_[i]->reads == read_of::three_looks) return read_in_three_looks(next, i);
                return now.readers[i].known.next() == read_step::ask ? ask(next, i) : look(next, i);
            });
            if (!is_held) continue;
            move(move_kind::outside, [&](world_type& next) {
                next.readers[i].hold = hold_state::lost;
                return std::string{"loses its hold"};
            });
        }
    }

    /// True if a move changes entries that a reader keeps as they are.
    [[nodiscard]] static bool breaks_hold(world_type const& now, world_type const& next) {
        bool const is_landing = next.late != now.late;
        if (is_landing && !rules::holds_stop_late_writes) return false;
        if (std::none_of(now.readers.begin(), now.readers.end(),
                         [](auto const& reader) { return reader.hold == hold_state::held; })) {
            return false;
        }
        return !std::equal(now.entries.begin(), now.entries.end(), next.entries.begin(),
                           [](auto const& before, auto const& after) {
                               return before.present == after.present && before.now == after.now;
                           });
    }

    /// Adds to each reader what its records are now.
    void note_truths(world_type& now) const {
        bool const may_stop = now.store_crashes < within_.store_crashes;
        for (std::size_t i = 0; i < now.readers.size(); ++i) {
            auto& reader = now.readers[i];
            if (reader.now != reader_state::reading) continue;
            if (!within_.compares_readers) reader.note(reads_[i]->truth(now.data));
            if (reader.looks == 0) continue;
            reader.versions =
                reads_[i]->distance(reader.seen, now.data, within_.versions_of_marks, may_stop);
        }
    }

private:
    std::string look(world_type& next, std::size_t i) const {
        auto& reader = next.readers[i];
        auto const& read = *reads_[i];
        if (reader.now == reader_state::waiting) begin(next, i);
        std::size_t number = count(reader.seen);
        do read.look(next.data, reader.seen, number++);
        while (number < read.size() && rules::readers_look_at_all);
        if (number < read.size()) return "looks at a record";
        read.give(reader.seen, reader.known);
        std::string words = "looks";
        if (read.reads == read_of::near_store && rules::looks_have_entries) {
            while (reader.known.next() == read_step::ask) words += ", " + question(next, i);
        }
        return words + end(next, i);
    }
    std::string read_under_hold(world_type& next, std::size_t i) const {
        auto& reader = next.readers[i];
        auto const& read = *reads_[i];
        if (reader.now == reader_state::waiting) begin(next, i);
        std::size_t const number = count(reader.seen);
        // A hold that begins earlier stops more of the others.
        bool const begins =
            reader.hold == hold_state::none && (rules::readers_hold_first || number > 0);
        if (begins) reader.hold = hold_state::held;
        read.look(next.data, reader.seen, number);
        std::string words = begins ? "holds the log, looks at a record" : "looks at a record";
        if (number + 1 < read.size()) return words;
        if (reader.hold == hold_state::lost && rules::readers_check_holds) {
            reader.end(reader_state::ended);
            return words + ", has lost its hold, and gives no answer";
        }
        read.give(reader.seen, reader.known);
        while (reader.known.next() == read_step::ask) words += ", " + question(next, i);
        return words + end(next, i);
    }
    /// The last record is in the log's store.
    std::string read_in_three_looks(world_type& next, std::size_t i) const {
        auto& reader = next.readers[i];
        auto const& read = *reads_[i];
        if (reader.now == reader_state::waiting) {
            begin(next, i);
            reader.crashes = next.store_crashes;
        }
        std::size_t const far = read.size() - 1;
        std::size_t const looks = reader.looks;
        bool const asks = reader.known.next() == read_step::ask;
        bool const is_last = looks == (rules::readers_look_far_again ? 2 * far : far) + 1;
        // Without a rule, the questions follow this look, or the last one.
        if (asks && (rules::readers_keep_entries || is_last)) {
            std::string words = "asks";
            while (reader.known.next() == read_step::ask) words += ", " + question(next, i);
            return words + (is_last ? end(next, i) : "");
        }
        ++reader.looks;
        std::string words;
        if (looks <= far) {
            std::size_t const number = rules::readers_look_far_first ? looks
                                       : looks == 0                  ? far
                                                                     : looks - 1;
            read.look(next.data, reader.seen, number);
            words = number == far ? "looks at the near record" : "looks at a record";
            if (looks < far) return words;
            read.give(reader.seen, reader.known);
            bool const at_once = rules::readers_look_near_at_once && rules::readers_keep_entries;
            while (at_once && reader.known.next() == read_step::ask) {
                words += ", " + question(next, i);
            }
        } else {
            words = "looks again";
            std::size_t const number = looks - far - 1;
            bool const is_comparable = is_one_session<rules>(reader.crashes, next.store_crashes);
            if (!is_comparable ||
                !read.is_unchanged(reader.seen, next.data, number, within_.versions_of_marks)) {
                reader.end(reader_state::ended);
                return words + ", finds a change, and gives no answer";
            }
        }
        bool const ends = reader.looks == (rules::readers_look_far_again ? 2 * far : far) + 1;
        return words + (ends ? end(next, i) : "");
    }
    std::string ask(world_type& next, std::size_t i) const {
        auto const words = question(next, i);
        return words + end(next, i);
    }

    void begin(world_type& next, std::size_t i) const {
        auto& reader = next.readers[i];
        reader.now = reader_state::reading;
        reader.known = bracket{reads_[i]->reads != read_of::far_store};
        if (within_.compares_readers) {
            for (auto const& other : next.readers) {
                reader.least = static_cast<std::uint8_t>(reader.least | other.answered.value_or(0));
            }
        } else reader.note(reads_[i]->truth(next.data));
        for (std::size_t t = 0; t < all_.size(); ++t) {
            auto const& entry = next.entries[t];
            using enum state;
            bool const ended = entry.now.state == done || entry.now.state == canceled;
            if (!entry.present || !ended) {
                reader.unended = static_cast<std::uint8_t>(reader.unended | 1U << t);
            }
        }
    }

    static std::size_t count(Records const& seen) {
        std::size_t count = 0;
        seen.for_each_cell([&](auto const&) { ++count; });
        return count;
    }

    /// Asks the log about the next open mark.
    std::string question(world_type& next, std::size_t i) const {
        auto& known = next.readers[i].known;
        auto const& id = known.open()[known.count_answered()].id;
        std::string words = "asks for " + id;
        for (std::size_t t = 0; t < all_.size(); ++t) {
            if (all_[t]->id() != id) continue;
            auto const& entry = next.entries[t];
            if (entry.present) words.append(": ").append(name_of(entry.now.state));
            known.template answered<rules>(entry.present ? std::optional{entry.now} : std::nullopt);
            break;
        }
        return words;
    }

    /// Answers, if this was the last step.
    std::string end(world_type& next, std::size_t i) const {
        auto& reader = next.readers[i];
        if (reader.known.next() == read_step::look) reader.seen = {};
        if (reader.known.next() != read_step::end) return {};
        bool const has_limit =
            reads_[i]->reads != read_of::held_log && reads_[i]->reads != read_of::three_looks;
        if (has_limit && !may_answer<rules>(reader.is_over)) {
            reader.end(reader_state::ended);
            return ", and gives no answer";
        }
        auto const& read = *reads_[i];
        auto const answer = read.answer(reader.seen, reader.known);
        std::string words = ", and answers " + read.text(reader.seen, reader.known);
        if (within_.compares_readers) {
            auto const has = fitting(next, i, answer);
            reader.end(has ? reader_state::ended : reader_state::wrong);
            reader.answered = has;
        } else {
            bool const is_right =
                std::binary_search(reader.truths.begin(), reader.truths.end(), answer);
            reader.end(is_right ? reader_state::ended : reader_state::wrong);
        }
        return words;
    }

    /// Notes what each set of transactions makes of the records of each reader.
    void note_answers(Records const& first) {
        for (auto const& read : reads_) {
            auto& answers = answers_.emplace_back();
            for (std::size_t set = 0; set < std::size_t{1} << all_.size(); ++set) {
                Records data = first;
                for (std::size_t t = 0; t < all_.size(); ++t) {
                    if ((set >> t & 1U) != 0) all_[t]->commit(data);
                }
                auto const answer = read->truth(data);
                if (std::find(answers.begin(), answers.end(), answer) != answers.end()) {
                    throw std::invalid_argument(
                        "settle: a search compares readers, and two sets of its transactions give "
                        "a reader the same records. Give each transaction another amount");
                }
                answers.push_back(answer);
            }
        }
    }
    /// The transactions in an answer, a bit for each; nothing if no transactions give it, or if it
    /// is in no order with the answers of other readers.
    [[nodiscard]] std::optional<std::uint8_t> fitting(world_type const& now, std::size_t i,
                                                      fingerprint const& answer) const {
        auto const found = std::find(answers_[i].begin(), answers_[i].end(), answer);
        if (found == answers_[i].end()) return std::nullopt;
        auto const has = static_cast<std::uint8_t>(found - answers_[i].begin());
        auto const has_all = [](unsigned more, unsigned less) { return (more & less) == less; };
        if (!has_all(has, now.readers[i].least)) return std::nullopt;
        for (auto const& other : now.readers) {
            if (!other.answered) continue;
            if (!has_all(has, *other.answered) && !has_all(*other.answered, has)) {
                return std::nullopt;
            }
        }
        return has;
    }

    reads const& reads_;
    std::vector<std::vector<fingerprint>> answers_{}; ///< of each reader, by set of transactions
};

} // namespace testing
SETTLE_END
