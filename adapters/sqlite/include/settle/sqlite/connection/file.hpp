// SPDX-License-Identifier: BSL-1.0
// One database file as a process uses it: a connection for writing and a connection for reading.
#pragma once

#include <settle/base/saturating.hpp>
#include <settle/sqlite/connection/database_options.hpp>
#include <settle/sqlite/connection/file_access.hpp>
#include <settle/sqlite/connection/group_commit.hpp>
#include <settle/sqlite/connection/open_files.hpp>
#include <settle/sqlite/connection/schema.hpp>
#include <settle/sqlite/records/table_check.hpp>

#include <type_traits>
#include <utility>

SETTLE_BEGIN
namespace sqlite {

namespace detail {

class file {
public:
    /// Checks a file and creates the tables that it lacks.
    using prepare_function = settle::detail::function_view<void(
        writer& writer, std::string const& path, std::chrono::milliseconds patience)>;

    /// Errors:  throws settle::failure with one sentence
    file(std::string const& path, database_options const& options,
         prepare_function prepare = &prepare_file)
        : path_(checked(path, options)), busy_timeout_(options.busy_timeout),
          writer_(connected(path, options)), reader_(open_reader(options, prepare)) {}
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file();

    [[nodiscard]] writer& with() noexcept { return writer_; }
    [[nodiscard]] connection const& reader() const noexcept { return reader_; }
    [[nodiscard]] bool is_same(file const& other) const noexcept {
        return open_.is_same(other.open_);
    }

    /// False in a child that was forked later: the child must not touch the file, and a thread that
    /// the child lacks may hold a mutex.
    [[nodiscard]] bool is_here() const noexcept { return made_in_.is_here(); }

    /// Locks both connections for the caller.
    /// Errors:  throws settle::failure in a forked child
    [[nodiscard]] std::scoped_lock<std::mutex, std::mutex> alone() {
        if (!is_here()) throw failure(settle::detail::made_before_fork("database"));
        return std::scoped_lock{writer_.mutex(), reading_};
    }

    /// Runs a function that reads; its exception becomes the result's error.
    template <typename Function>
    auto reading(Function&& function) -> result<std::invoke_result_t<Function&>> {
        if (!is_here()) return settle::detail::made_before_fork("database");
        // Listings have their own connection, so that they never block a writer.
        std::lock_guard const guard{reading_};
        try {
            writer_.files().check_lately();
            auto found = function();
            writer_.files().check_lately();
            return found;
        } catch (failure const& problem) {
            return problem.problem();
        }
    }

    /// A connection whose statements all read the present state, and which needs no lock of this
    /// object.
    /// Errors:  throws settle::failure
    /// Cost:    opens the file anew
    [[nodiscard]] connection open_snapshot();

    /// Errors:  throws settle::failure when the open files are no longer the files at their paths
    void check() { writer_.files().check(); }

    /// Runs a function in a native transaction, which callers share; see group_commit.
    commit_result perform(settle::detail::function_view<void(transaction&)> function,
                          commit_end ends = commit_end::on_disk);

    /// True if no one else has written to the file since this session's last call, so the records
    /// that the session remembers are unchanged. Called inside a native transaction.
    /// Shape:   session - the session's address; null for a writer that remembers no records: the
    ///          next call of each session then returns false
    [[nodiscard]] bool unchanged_for(void const* session);

    /// As perform(), for a function that returns a value; its exception becomes the result's error.
    /// Every session then forgets the records that it remembers.
    template <typename Function>
    auto writing(Function&& function) -> result<std::invoke_result_t<Function&>> {
        std::optional<std::invoke_result_t<Function&>> value;
        auto ended = perform([&](transaction&) {
            static_cast<void>(unchanged_for(nullptr));
            value = function();
        });
        if (ended.status != commit_status::committed) return std::move(ended.problem);
        return *std::move(value);
    }

private:
    static std::string const& checked(std::string const& path, database_options const& options);

    connection open_reader(database_options const& options, prepare_function prepare);

    /// Keeps a connection from writing a checkpoint over changes of other programs.
    static void leave_as_it_is(connection const& connection) noexcept {
        sqlite3_db_config(connection.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }

    static connection connected(std::string const& path, database_options const& options);

    /// Explains the usual errors of a path.
    static void explain(failure const& problem, std::string const& path);

    struct seen {
        void const* session = nullptr;
        std::int64_t version = 0;
        std::uint64_t undone = 0;
        friend bool operator==(seen const&, seen const&) = default;
    };

    process_stamp made_in_;
    std::string path_;
    std::chrono::milliseconds busy_timeout_;
    writer writer_;
    group_commit commits_{writer_};
    connection reader_;
    open_file open_{path_};
    std::mutex reading_;
    statement version_;
    std::int64_t data_version_ = 0; ///< the last result of that statement
    std::uint64_t read_in_ = 0;     ///< the native transaction of that result
    seen seen_;
};

/// Deletes an object that holds statements. Finalizing a statement uses its connection, which a
/// thread of another session may be using.
template <typename Holder>
struct alone_deleter {
    detail::file* file;
    void operator()(Holder* held) const {
        if (!file->is_here()) return;
        auto const guard = file->alone();
        delete held;
    }
};

} // namespace detail
} // namespace sqlite
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/file.ipp>
#endif
