// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that open_files.hpp declares.
#pragma once

#include <settle/sqlite/connection/open_files.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void open_file::check(std::string const& path) {
    auto const found = look_at(path.c_str());
    if (!found) return;
    for (node* at = first().load(std::memory_order_acquire); at != nullptr; at = at->next) {
        bool const open = at->usage.load(std::memory_order_acquire) == usage::open;
        if (!open || at->made_in.is_here()) continue;
        if (at->identity != found.identity) continue;
        raise(errc::forked,
              "settle: '" + path +
                  "' was open when this process was forked, and SQLite's "
                  "locks do not pass fork(). Close the database before fork(). See running#fork");
    }
}

SETTLE_FUNCTION open_file::open_file(std::string const& path) {
    auto const found = look_at(path.c_str());
    if (!found) return;
    node_ = free_node();
    node_->identity = found.identity;
    node_->made_in = {};
    node_->usage.store(usage::open, std::memory_order_release);
}

SETTLE_FUNCTION open_file::~open_file() {
    // A file that the parent had open stays open in its child.
    if (node_ == nullptr || !node_->made_in.is_here()) return;
    node_->usage.store(usage::free, std::memory_order_release);
}

SETTLE_FUNCTION open_file::node* open_file::free_node() {
    for (node* at = first().load(std::memory_order_acquire); at != nullptr; at = at->next) {
        usage expected = usage::free;
        if (at->usage.compare_exchange_strong(expected, usage::reserved)) return at;
    }
    auto* const made = new node;
    made->next = first().load(std::memory_order_relaxed);
    while (!first().compare_exchange_weak(made->next, made, std::memory_order_release)) {
    }
    return made;
}

} // namespace sqlite::detail
SETTLE_END
