// SPDX-License-Identifier: BSL-1.0
// The files that this program has open, so that a forked child knows its parent's files.
//
// SQLite counts a process's locks by file. A child has a copy of that count and none of the locks:
// a connection that it opened to such a file would go without a lock that it believes to hold.
#pragma once

#include <settle/sqlite/error.hpp>
#include <settle/sqlite/file_status.hpp>
#include <settle/store/process.hpp>

#include <atomic>
#include <string>

SETTLE_BEGIN
namespace sqlite::detail {

/// One file in a list that is read in a forked child as well. So it is not behind a mutex, which
/// another thread of the parent may have held, and its nodes stay.
class open_file {
public:
    /// Errors:  throws settle::failure when the file was open before this process was forked
    static void check(std::string const& path) {
        auto const found = look_at(path.c_str());
        if (!found) return;
        for (node* at = first().load(std::memory_order_acquire); at != nullptr; at = at->next) {
            bool const open = at->stage.load(std::memory_order_acquire) == stage::open;
            if (!open || at->made_in.is_here()) continue;
            if (at->identity != found.identity) continue;
            raise(errc::forked,
                  "settle: '" + path + "' was open when this process was forked, and SQLite's "
                  "locks do not pass fork(). Close the database before fork(). See running#fork");
        }
    }

    /// Shape:   path - of a file that is open from now on
    explicit open_file(std::string const& path) {
        auto const found = look_at(path.c_str());
        if (!found) return;
        node_ = free_node();
        node_->identity = found.identity;
        node_->made_in = {};
        node_->stage.store(stage::open, std::memory_order_release);
    }
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file() {
        // A file that the parent had open stays open in its child.
        if (node_ == nullptr || !node_->made_in.is_here()) return;
        node_->stage.store(stage::free, std::memory_order_release);
    }

private:
    enum class stage : int { free, written, open };
    struct node {
        std::atomic<open_file::stage> stage{open_file::stage::written};
        file_identity identity{};
        process_stamp made_in{};
        node* next = nullptr;
    };

    static std::atomic<node*>& first() {
        static constinit std::atomic<node*> head{nullptr};
        return head;
    }

    static node* free_node() {
        for (node* at = first().load(std::memory_order_acquire); at != nullptr; at = at->next) {
            stage expected = stage::free;
            if (at->stage.compare_exchange_strong(expected, stage::written)) return at;
        }
        auto* const made = new node;
        made->next = first().load(std::memory_order_relaxed);
        while (!first().compare_exchange_weak(made->next, made, std::memory_order_release)) {}
        return made;
    }

    node* node_ = nullptr;
};

} // namespace sqlite::detail
SETTLE_END
