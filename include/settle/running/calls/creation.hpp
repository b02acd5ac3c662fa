// SPDX-License-Identifier: BSL-1.0
// Creates a range of records outside of any transaction, a wave at a time.
#pragma once

#include <settle/base/function_view.hpp>
#include <settle/base/ranges.hpp>
#include <settle/definition/codec.hpp>
#include <settle/running/calls/patience.hpp>

#include <exception>
#include <iterator>
#include <vector>

SETTLE_BEGIN

/// A record of a range that could not be created, and why.
struct uncreated_record {
    std::size_t number; ///< in the range
    error problem;
};

/// The report of create_all.
struct create_report {
    std::uint64_t created = 0;
    std::uint64_t existing = 0;            ///< records whose key was taken
    std::vector<uncreated_record> refused; ///< records not created for another reason
    /// Why some records have no answer of the store, or why the range was not read to its end.
    error problem;
};

namespace detail {

/// Takes the answer for each record of a range.
using created_function = function_view<void(std::size_t number, result<void>&& answer)>;

/// The records that a call has taken and the store has not answered yet.
class pending_records {
public:
    pending_records() = default;
    pending_records(pending_records const&) = delete;
    pending_records& operator=(pending_records const&) = delete;

    [[nodiscard]] virtual std::size_t size() const = 0;
    /// Asks the store to create each record.
    virtual void create(std::span<result<void>> answers) = 0;
    virtual void move(std::size_t from, std::size_t to) = 0;
    virtual void shrink(std::size_t size) = 0;
    /// True if the store holds exactly this record.
    [[nodiscard]] virtual bool is_there(std::size_t index, patience& patience) = 0;

protected:
    ~pending_records() = default;
};

template <typename Session, typename Collection>
class pending_records_of final : public pending_records {
public:
    using record_type = typename Collection::record_type;

    explicit pending_records_of(Session& session) : session_(session) {}

    void push_back(record_type const& record) { records_.push_back(record); }
    [[nodiscard]] std::size_t size() const override { return records_.size(); }
    void create(std::span<result<void>> answers) override {
        if constexpr (requires { session_.template create_all<Collection>(records_, answers); }) {
            session_.template create_all<Collection>(records_, answers);
        } else {
            for (std::size_t index = 0; index < records_.size(); ++index) {
                answers[index] = session_.template create<Collection>(records_[index]);
            }
        }
    }
    void move(std::size_t from, std::size_t to) override {
        records_[to] = std::move(records_[from]);
    }
    void shrink(std::size_t size) override {
        records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(size), records_.end());
    }
    [[nodiscard]] bool is_there(std::size_t index, patience& patience) override {
        auto const& record = records_[index];
        auto const existing = patience(
            [&] { return session_.template read<Collection>(record.*Collection::key_member); });
        return existing.has_value() && existing.value() &&
               codec_of<record_type>.same(&*existing.value(), &record);
    }

private:
    Session& session_;
    std::vector<record_type> records_;
};

/// One wave (batch_options::window) and the refused records bound the memory. An unreachable store
/// is retried for options::patience, or until the call's deadline.
class creation {
public:
    /// Shape:   wave_size - that the store prefers
    creation(pending_records& records, environment_view const& environment, options const& limits,
             batch_options const& call_options, std::size_t wave_size, created_function ended);

    /// Takes a record, by a call of `put`, unless its texts are refused.
    void take(std::size_t number, result<void> const& texts, function_view<void()> put);
    /// True if the call takes no more records. After a deadline or a stop, the report says so.
    [[nodiscard]] bool ends();
    /// Handles the current exception, of the range or of this object.
    void note_exception();
    /// Sends the rest; rethrows the first exception.
    [[nodiscard]] create_report finish();

private:
    [[nodiscard]] bool is_late(std::optional<std::chrono::nanoseconds> const& deadline) const;
    void send();
    bool keep_unanswered(std::vector<result<void>>& answers, bool unsure, bool over);
    [[nodiscard]] bool is_there(std::size_t index);
    void pause(std::uint32_t tries, std::chrono::nanoseconds until);
    void deliver(std::size_t number, result<void>&& answer);

    pending_records& records_;
    environment_view environment_;
    options const& limits_;
    batch_options const& options_;
    created_function ended_;
    std::size_t room_;
    std::optional<std::chrono::nanoseconds> deadline_{};
    std::vector<std::size_t> numbers_{}; ///< of records_
    create_report report_{};
    std::exception_ptr thrown_{}; ///< the first, of `ended` or the range
    bool sending_ = false;        ///< a wave is under way: an exception of the store ends the call
};

/// Shape:   work - takes the records, which `records` holds then
template <typename Records, typename Range>
create_report create_range(creation& work, Records& records, Range& range) {
    try {
        std::size_t number = 0;
        constexpr bool read_once = !std::ranges::forward_range<Range>;
        auto position = std::ranges::begin(range);
        auto const last = std::ranges::end(range);
        while (position != last) {
            typename Records::record_type const& record = *position;
            work.take(number++, check_texts(record), [&] { records.push_back(record); });
            // Advancing an input range may consume a record, so ends() is called first.
            if (read_once && work.ends()) break;
            ++position;
            if (!read_once && position != last && work.ends()) break;
        }
    } catch (...) {
        work.note_exception();
    }
    return work.finish();
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/creation.ipp>
#endif
