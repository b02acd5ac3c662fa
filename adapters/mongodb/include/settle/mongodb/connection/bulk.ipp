// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bulk.hpp declares.
#pragma once

#include <settle/mongodb/connection/bulk.hpp>
#include <settle/store/caller_wait.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION void bulk_result::add(bulk_result&& next, std::size_t begin) {
    untouched = next.untouched && matched + inserted + removed == 0 && refused.empty();
    matched += next.matched;
    inserted += next.inserted;
    removed += next.removed;
    for (auto& one : next.refused) {
        refused.push_back({begin + one.index, std::move(one.problem)});
    }
    problem = std::move(next.problem);
    transient = next.transient;
}

SETTLE_FUNCTION bulk_result::refusal refusal_of(value_view const& element, std::size_t begin,
                                                std::string_view phase) {
    auto const number = [&](char const* name) {
        auto const found = element.find(name);
        return found ? found->integer().value_or(0) : 0;
    };
    auto const text = element.find("errmsg");
    bson_error_t problem{};
    bson_set_error(&problem, MONGOC_ERROR_SERVER, static_cast<std::uint32_t>(number("code")), "%s",
                   std::string{text ? text->text().value_or("") : ""}.c_str());
    return {begin + static_cast<std::size_t>(number("index")), describe(problem, phase)};
}

SETTLE_FUNCTION void brief_updates::update(document const& filter, document const& change) {
    document one;
    one.object("q", filter).object("u", change);
    updates_.object_at(size_++, one);
}

SETTLE_FUNCTION std::int64_t brief_updates::longest_wait() {
    using std::chrono::milliseconds;
    auto const* const caller = settle::detail::caller_wait::limits();
    if (caller == nullptr || !caller->deadline) return longest_ms;
    auto const left = std::max(*caller->deadline - std::chrono::steady_clock::now(),
                               std::chrono::steady_clock::duration::zero());
    if (left > milliseconds{longest_ms}) return longest_ms;
    // The answer comes before this process waits no longer.
    auto const rest = std::chrono::ceil<milliseconds>(left) + settle::detail::store_wait::grace;
    return std::min<std::int64_t>(longest_ms, rest.count());
}

SETTLE_FUNCTION bulk_result brief_updates::execute(std::string_view phase) {
    bulk_result result;
    document command;
    command.text("update", name_).array("updates", updates_).boolean("ordered", false);
    command.integer("maxTimeMS", longest_wait());
    reply received;
    try {
        with_->write_command(command, phase, received);
    } catch (command_failure const& caught) {
        result.problem = caught.problem();
    }
    // A write concern timeout alone is no failure of the command. A command that fails after
    // some of its updates reports both.
    if (received.find("writeConcernError") && !received.find("errmsg")) {
        result.problem.code = {code_of_lost, mongodb_category()};
    }
    if (auto const matched = received.find("n")) result.matched = matched->integer().value_or(0);
    if (auto const refused = received.find("writeErrors")) {
        refused->for_each([&](value_view const& each) {
            auto& added = result.refused.emplace_back(refusal_of(each, 0, phase));
            if (added.problem.code != condition::permanent) result.problem = added.problem;
            return true;
        });
    }
    result.untouched =
        result.problem.code != condition::unknown && result.refused.empty() && result.matched == 0;
    return result;
}

SETTLE_FUNCTION bulk::bulk(link& client, std::string_view name)
    : with_(&client), in_(client.in_transaction()) {
    // In a native transaction the first refusal aborts everything anyway.
    options_.boolean("ordered", in_);
    client.append_session(options_);
    to_ = client.collection(name);
}

SETTLE_FUNCTION void bulk::insert(document const& encoded) {
    // The driver would check the size only when it sends, and refuse the other writes as well.
    if (encoded.size() > largest_document) {
        throw command_failure({{object_too_large, mongodb_category()},
                               "settle: a document takes " + std::to_string(encoded.size()) +
                                   " bytes, and MongoDB keeps one of " +
                                   std::to_string(largest_document) +
                                   " at most. Give it less. See mongodb#errors"},
                              false);
    }
    document options;
    // An image restores field names of other programs unchanged.
    options.boolean("validate", false);
    added(kind::insert, encoded.size(), [&](mongoc_bulk_operation_t* to, bson_error_t* problem) {
        return mongoc_bulk_operation_insert_with_opts(to, encoded.native(), options.native(),
                                                      problem);
    });
}

SETTLE_FUNCTION void bulk::update(document const& filter, document const& change) {
    if (change.empty()) throw std::logic_error("settle: this update would empty its document");
    auto const bytes = filter.size() + change.size();
    added(kind::update, bytes, [&](mongoc_bulk_operation_t* to, bson_error_t* problem) {
        return mongoc_bulk_operation_update_one_with_opts(to, filter.native(), change.native(),
                                                          nullptr, problem);
    });
}

SETTLE_FUNCTION void bulk::remove(document const& filter) {
    added(kind::remove, filter.size(), [&](mongoc_bulk_operation_t* to, bson_error_t* problem) {
        return mongoc_bulk_operation_remove_one_with_opts(to, filter.native(), nullptr, problem);
    });
}

SETTLE_FUNCTION bulk_result bulk::execute(std::string_view phase) {
    bulk_result result;
    for (run& one : runs_) {
        if (!execute(one, phase, result)) break;
    }
    return result;
}

SETTLE_FUNCTION bool bulk::execute(run& current_run, std::string_view phase, bulk_result& result) {
    // The call takes the writes along: they need its client to their end.
    auto const own = std::make_shared<driver_answer>();
    std::shared_ptr<mongoc_bulk_operation_t> const writes{std::move(current_run.held)};
    try {
        with_->ask(phase, [own, writes](lent_client&) {
            own->is_good = mongoc_bulk_operation_execute(writes.get(), own->received.fresh(),
                                                         &own->problem) != 0;
        });
    } catch (command_failure const& left) {
        result.problem = left.problem();
        result.untouched = false;
        return false;
    }
    reply const& received = own->received;
    auto const count = [&](char const* name) {
        auto const found = received.find(name);
        return found ? found->integer().value_or(0) : 0;
    };
    result.matched += count("nMatched");
    result.inserted += count("nInserted");
    result.removed += count("nRemoved");
    if (own->is_good) return true;
    result.transient = received.transient();
    std::size_t const before = result.refused.size();
    error of_all;
    if (auto const refused = received.find("writeErrors")) {
        refused->for_each([&](value_view const& each) {
            auto& added = result.refused.emplace_back(refusal_of(each, current_run.begin, phase));
            if (added.problem.code != condition::permanent) of_all = added.problem;
            return true;
        });
    }
    auto const concern = received.find("writeConcernErrors");
    bool lasting = true;
    if (concern) concern->for_each([&](value_view const&) { return lasting = false; });
    bool const only_refused = result.refused.size() > before && lasting;
    // The first refusal has aborted the native transaction.
    if (only_refused && in_) result.problem = result.refused.front().problem;
    else if (only_refused && of_all.empty() && !current_run.may_be_split()) return true;
    else result.problem = of_all.empty() ? describe(own->problem, phase) : std::move(of_all);
    // A write that only one server has is an unknown outcome.
    if (!lasting) result.problem.code = {code_of_lost, mongodb_category()};
    result.untouched = result.problem.code != condition::unknown && result.refused.empty() &&
                       result.matched + result.inserted + result.removed == 0;
    return false;
}

} // namespace mongodb::detail

SETTLE_END
