// SPDX-License-Identifier: BSL-1.0
// The files that this program has open, so that a forked child knows its parent's files.
//
// SQLite counts a process's locks by file. A forked child has a copy of that count and none of the
// locks: its connection to such a file would count a lock that it does not hold.
#pragma once

#include <settle/base/process.hpp>
#include <settle/sqlite/connection/error.hpp>
#include <settle/sqlite/connection/file_status.hpp>

#include <atomic>
#include <string>

SETTLE_BEGIN
namespace sqlite::detail {

/// A file in a list that a forked child reads, too. The list has no mutex, which another thread of
/// the parent may have held, and its nodes are never freed.
class open_file {
public:
    /// Errors:  throws settle::failure when the file was open before this process was forked
    static void check(std::string const& path);

    /// Shape:   path - of a file that the caller has just opened
    explicit open_file(std::string const& path);
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file();

    [[nodiscard]] bool is_same(open_file const& other) const noexcept;

private:
    enum class usage : int { free, reserved, open };
    struct node {
        std::atomic<open_file::usage> usage{open_file::usage::reserved};
        file_identity identity{};
        process_stamp made_in{};
        node* next = nullptr;
    };

    static std::atomic<node*>& first() {
        static constinit std::atomic<node*> head{nullptr};
        return head;
    }

    static node* free_node();

    node* node_ = nullptr;
};

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/open_files.ipp>
#endif
