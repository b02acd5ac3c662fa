// SPDX-License-Identifier: BSL-1.0
// What a console shows, as JSON: the overview, a page of entries, one entry.
#pragma once

#include "request.hpp"

#include <settle/console/served_engine.hpp>
#include <settle/metrics/thread.hpp>

#include <nlohmann/json.hpp>

#include <deque>

SETTLE_BEGIN
namespace detail {

/// Its members keep their order.
using console_json = nlohmann::ordered_json;

struct console_reply {
    unsigned status = 200;
    console_json data{};
};

[[nodiscard]] console_reply problem_reply(unsigned status, std::string const& sentence);

/// The error of a log or a store: 503, or 500 if an entry is damaged.
[[nodiscard]] console_reply problem_reply(error const& problem);

/// JSON in which each character beyond ASCII is escaped: a terminal obeys some of them.
[[nodiscard]] std::string json_text(console_json const& data);

/// The same for people: a line for each member, and a table for a list. Characters that a terminal
/// obeys are escaped.
[[nodiscard]] std::string plain_text(console_json const& data);

/// A time as `2026-11-26T12:10:00Z`.
[[nodiscard]] std::string utc(timestamp when);

/// The figures of a settle::metrics.
struct console_figures {
    [[nodiscard]] static figures const& of(metrics const& observer) { return *observer.figures_; }
};

/// The store of a part, as an index into the engine's stores.
[[nodiscard]] std::size_t store_of(engine_ports const& ports, part_descriptor const& part);

/// Answers that read the log and the stores. Not for several threads at once.
class console_views {
public:
    /// Shape:   engine, figures, waiting - outlive the object; figures - of an observer, may be
    ///          null; waiting - has what a metrics_thread has found; limit - of the time that an
    ///          answer takes
    console_views(served_engine& engine, std::chrono::milliseconds limit, metrics const* figures,
                  metrics const& waiting)
        : engine_(engine), limit_(limit), figures_(figures), waiting_(waiting),
          pictures_(engine.pictures()) {
        if (figures_ != nullptr) counted_ = figures_->totals();
    }

    [[nodiscard]] console_json overview(console_role role);
    [[nodiscard]] console_reply list(console_fields const& fields);
    [[nodiscard]] console_reply show(transaction_id const& id, console_role role);

    /// A record and the marks on it.
    [[nodiscard]] console_reply record(std::string const& collection, std::string const& key);
    /// Adds what has ended since the last call to the present minute; gives the time until the
    /// next call.
    std::chrono::milliseconds count_ended();

private:
    /// Transactions that have ended within a minute.
    struct ended_minute {
        timestamp begin{};
        std::int64_t done = 0;
        std::int64_t canceled = 0;
    };
    /// A count of the unfinished entries that goes on with the next overview.
    struct pass {
        unfinished_count count{};
        std::uint64_t looked_at = 0;
        std::uint64_t stuck = 0;
        std::vector<entry> oldest{}; ///< of the stuck entries
        timestamp ended{};
        bool is_complete = false;
    };

    /// The limits of the calls of one answer.
    [[nodiscard]] call_options call() const { return {limit_, {}}; }
    [[nodiscard]] std::int64_t age_in_seconds(timestamp when) const;
    [[nodiscard]] console_json summary_of(entry const& stored) const;
    [[nodiscard]] error go_on_counting();
    [[nodiscard]] console_json transactions();
    void note_stuck(entry const& stored);
    [[nodiscard]] console_json unfinished();
    [[nodiscard]] console_json marks_without_entry() const;
    [[nodiscard]] console_json stuck(std::vector<call_pause> const& pauses);
    /// How the log and each store have answered.
    struct asked_stores {
        console_json rows = console_json::array();
        console_json in_doubt = console_json::array();
        console_json parts_in_doubt = console_json::array(); ///< the oldest
        error log{};                                         ///< why the log gave no answer
    };
    /// Asks each under its own limit, so that one that hangs hides no other.
    [[nodiscard]] asked_stores ask_stores();
    [[nodiscard]] std::string why_unfinished(entry const& stored,
                                             std::vector<call_pause> const& pauses);
    void add_parts(entry const& stored, console_json& shown);
    /// The marks of a transaction in the stores of its parts.
    /// Shape:   problem - a sentence on each store whose marks are not all known
    [[nodiscard]] std::vector<mark_locator>
    marks_of(transaction_id const& id, transaction_descriptor const& type, std::string& problem);
    /// Adds what the entry keeps of a part.
    void add_kept(transaction_descriptor const& type, entry const& stored, part_number part,
                  console_json& row) const;

    served_engine& engine_;
    std::chrono::milliseconds limit_;
    metrics const* figures_;
    metrics const& waiting_;
    transaction_totals counted_{}; ///< of the figures, by the last call of count_ended()
    std::deque<ended_minute> minutes_{};
    std::vector<named_picture> pictures_;
    pass current_{};
    pass last_{}; ///< the last one that is complete
    /// Why each store gave no answer when it was asked last; empty if it gave one.
    std::vector<error> silent_{std::vector<error>(engine_.ports().stores.size())};
};

} // namespace detail
SETTLE_END
