// SPDX-License-Identifier: BSL-1.0
// Copies of calls to a store or a log, which a faulty database sends later.
#pragma once

#include <settle/store/seam.hpp>

#include <deque>
#include <map>
#include <memory>
#include <vector>

SETTLE_BEGIN
namespace testing::detail {

/// A copy of an engine's clock, for writes that are sent later: the engine may have ended.
class kept_clock {
public:
    explicit kept_clock(clock_view const& clock)
        : owned_(clock.with ? clock.with->copy(clock.of) : nullptr),
          view_{owned_.get(), clock.with} {}

    [[nodiscard]] clock_view const& view() const { return view_; }

private:
    std::shared_ptr<void const> owned_;
    clock_view view_;
};

/// Copies of transactions, for requests and writes that are sent later.
class kept_transactions {
public:
    kept_transactions() = default;
    kept_transactions(kept_transactions const&) = delete;
    kept_transactions& operator=(kept_transactions const&) = delete;
    ~kept_transactions() {
        for (auto& [id, one] : all_) one.type->destroy(one.parameters.get());
    }

    /// Points a request or a write at the copy of its transaction.
    template <typename Request>
    void keep(Request& request) {
        auto [at, fresh] = all_.try_emplace(request.id);
        transaction& copy = at->second;
        if (fresh) {
            copy.id = *request.id;
            copy.type = request.type;
            copy.parameters = std::make_unique<std::max_align_t[]>(
                request.type->size / sizeof(std::max_align_t) + 1);
            request.type->copy(copy.parameters.get(), request.parameters);
        }
        request.id = &copy.id;
        request.parameters = copy.parameters.get();
    }

private:
    struct transaction {
        transaction_id id{};
        transaction_descriptor const* type = nullptr;
        std::unique_ptr<std::max_align_t[]> parameters{};
    };
    std::map<transaction_id const*, transaction> all_; ///< by the id that was copied
};

/// Requests of a store that are sent later; their results are dropped.
struct kept_parts {
    explicit kept_parts(std::vector<part_request>&& part_requests)
        : requests(std::move(part_requests)) {
        for (part_request& request : requests) {
            transactions.keep(request);
            request.limits = nullptr;
            if (request.results != nullptr)
                request.results = &stage_results.emplace_back(*request.results);
        }
    }
    template <typename Session>
    void send(Session&& session) {
        std::vector<part_result> results(requests.size());
        session.execute(std::span<part_request const>{requests}, std::span{results});
    }

    kept_transactions transactions;
    std::deque<std::vector<kept_result>> stage_results;
    std::vector<part_request> requests;
};

/// Writes of a log that are sent later.
struct kept_writes {
    kept_writes(std::vector<entry_write>&& entry_writes, write_context const& context)
        : writes(std::move(entry_writes)), now(context.now), owner(context.owner),
          clock(context.clock) {
        for (entry_write& write : writes) {
            transactions.keep(write);
            if (write.images != nullptr) write.images = &images.emplace_back(*write.images);
            if (write.results != nullptr)
                write.results = &stage_results.emplace_back(*write.results);
            if (!write.why_text.empty()) write.why_text = texts.emplace_back(write.why_text);
        }
    }
    template <typename Log>
    void send(Log&& log) {
        std::vector<write_result> results(writes.size());
        for (std::size_t at = 0; at < writes.size(); ++at) results[at].row = writes[at].row;
        log.write(std::span<entry_write const>{writes}, std::span{results},
                  write_context{now, owner, clock.view()});
    }

    kept_transactions transactions;
    std::deque<std::vector<image>> images;
    std::deque<std::vector<kept_result>> stage_results;
    std::deque<std::string> texts;
    std::vector<entry_write> writes;
    timestamp now;
    std::string owner;
    kept_clock clock;
};

/// Transactions of one phase that are sent later.
struct kept_one_phase {
    kept_one_phase(std::span<one_phase_request const> one_phase_requests,
                   write_context const& context, one_phase_decider const& decides)
        : requests(one_phase_requests.begin(), one_phase_requests.end()), now(context.now),
          owner(context.owner), clock(context.clock), decider(decides.copy()) {
        for (one_phase_request& request : requests) {
            transactions.keep(request);
            auto& own = parts.emplace_back(request.parts.begin(), request.parts.end());
            for (part_request& part : own) transactions.keep(part);
            request.parts = own;
            request.results = results.emplace_back(own.size());
        }
    }
    template <typename Records, typename Log>
    void send(Records&& records, Log&& log) {
        records.one_phase(std::span{requests}, log, write_context{now, owner, clock.view()},
                          *decider);
    }

    kept_transactions transactions;
    std::vector<one_phase_request> requests;
    std::deque<std::vector<part_request>> parts;
    std::deque<std::vector<part_result>> results;
    timestamp now;
    std::string owner;
    kept_clock clock;
    std::shared_ptr<one_phase_decider> decider;
};

} // namespace testing::detail
SETTLE_END
