// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that open_files.hpp declares.
#pragma once

#include <settle/sqlite/connection/open_files.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void open_file::check(std::string const& path) {
    auto const status = look_at(path.c_str());
    if (!status) return;
    for (node* node = first().load(std::memory_order_acquire); node != nullptr; node = node->next) {
        bool const open = node->usage.load(std::memory_order_acquire) == usage::open;
        if (!open || node->made_in.is_here()) continue;
        if (node->identity != status.identity) continue;
        raise(errc::forked,
              "settle: '" + path +
                  "' was open when this process was forked, and SQLite's "
                  "locks do not pass fork(). Close the database before fork(). See running#fork");
    }
}

SETTLE_FUNCTION open_file::open_file(std::string const& path) {
    auto const status = look_at(path.c_str());
    if (!status) return;
    node_ = free_node();
    node_->identity = status.identity;
    node_->made_in = {};
    node_->usage.store(usage::open, std::memory_order_release);
}

SETTLE_FUNCTION open_file::~open_file() {
    // A file that the parent had open stays open in its child.
    if (node_ == nullptr || !node_->made_in.is_here()) return;
    node_->usage.store(usage::free, std::memory_order_release);
}

SETTLE_FUNCTION bool open_file::is_same(open_file const& other) const noexcept {
    return node_ != nullptr && other.node_ != nullptr && node_->identity == other.node_->identity;
}

SETTLE_FUNCTION open_file::node* open_file::free_node() {
    for (node* at = first().load(std::memory_order_acquire); at != nullptr; at = at->next) {
        usage expected = usage::free;
        if (at->usage.compare_exchange_strong(expected, usage::reserved)) return at;
    }
    auto* const added = new node;
    added->next = first().load(std::memory_order_relaxed);
    while (!first().compare_exchange_weak(added->next, added, std::memory_order_release)) {
    }
    return added;
}

} // namespace sqlite::detail
SETTLE_END
