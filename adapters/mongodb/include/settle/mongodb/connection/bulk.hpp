// SPDX-License-Identifier: BSL-1.0
// Writes to one collection that are sent together, and their results.
#pragma once

#include <settle/mongodb/connection/client.hpp>

#include <vector>

SETTLE_BEGIN
namespace mongodb::detail {

/// The largest document that a server stores, in bytes.
inline constexpr std::uint32_t largest_document = 16U << 20U;
/// The largest filter and change of one update, together. The driver sends a little more, with
/// names that take less than 100 bytes.
inline constexpr std::uint32_t largest_update = largest_document + (16U << 10U) - 100;

/// The result of one bulk.
struct bulk_result {
    struct refusal {
        std::size_t index; ///< of the write, in the order in which they were added
        error problem;
    };
    std::int64_t matched = 0;
    std::int64_t inserted = 0;
    std::int64_t removed = 0;
    std::vector<refusal> refused; ///< refused single writes; the others took effect
    error problem;                ///< of the bulk as a whole
    bool untouched = false;       ///< with a problem: no write took effect, and none will
    bool transient = false;

    /// Adds the result of a later bulk.
    /// Shape:   begin - the number of writes sent before it
    void add(bulk_result&& next, std::size_t begin);
};

/// Shape:   element - an element of an answer's `writeErrors`
[[nodiscard]] bulk_result::refusal refusal_of(value_view const& element, std::size_t begin,
                                              std::string_view phase);

/// Updates of single documents in one command, outside of a native transaction. The server
/// waits while a native transaction holds a document; maxTimeMS bounds that wait.
class brief_updates {
public:
    brief_updates(link& link, std::string_view name) : with_(&link), name_(name) {}

    void update(document const& filter, document const& change);

    [[nodiscard]] bulk_result execute(std::string_view phase);

private:
    static constexpr std::int64_t longest_ms = 2'000;
    /// The server's wait in milliseconds: it ends with the caller's deadline, and then the answer
    /// names what is held.
    [[nodiscard]] static std::int64_t longest_wait();

    link* with_;
    std::string_view name_;
    document updates_;
    std::size_t size_ = 0;
};

/// Writes to one collection, sent together. No write stops the others.
///
/// Consecutive writes of one kind are one bulk of the driver, so one command: in a mixed bulk, the
/// driver replaces a lost answer with another command's refusals.
class bulk {
public:
    bulk(link& client, std::string_view name);

    /// Errors:  throws settle::failure when the document is too large, or the library refuses it
    void insert(document const& encoded);
    void update(document const& filter, document const& change);
    void remove(document const& filter);

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Sends the writes, once. Writes after a problem are not sent.
    [[nodiscard]] bulk_result execute(std::string_view phase);

private:
    enum class kind : std::uint8_t { insert, update, remove };
    /// Writes of one kind.
    struct run {
        kind what{};
        std::size_t begin = 0; ///< how many writes precede this run
        std::size_t size = 0;
        std::size_t bytes = 0;
        std::shared_ptr<mongoc_bulk_operation_t> held{};

        /// Whether the driver may send several messages: a server takes 100,000 writes, and 48 MB.
        [[nodiscard]] bool may_be_split() const noexcept {
            return size >= 50'000 || bytes + 100 * size >= 24'000'000;
        }
    };

    template <typename Add>
    void added(kind what, std::size_t bytes, Add&& add) {
        if (runs_.empty() || runs_.back().what != what) {
            auto& added = runs_.emplace_back();
            added.what = what;
            added.begin = size_;
            added.held.reset(
                mongoc_collection_create_bulk_operation_with_opts(to_.get(), options_.native()),
                &mongoc_bulk_operation_destroy);
        }
        run& current = runs_.back();
        bson_error_t problem{};
        if (!add(current.held.get(), &problem)) {
            throw command_failure(describe(problem, "take a document"), false);
        }
        ++size_;
        ++current.size;
        current.bytes += bytes;
    }

    /// False when the bulk as a whole has a problem.
    bool execute(run& current_run, std::string_view phase, bulk_result& result);

    link* with_;
    bool in_;
    document options_;
    collection_handle to_;
    std::vector<run> runs_;
    std::size_t size_ = 0;
};

} // namespace mongodb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/bulk.ipp>
#endif
