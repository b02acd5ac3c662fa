// SPDX-License-Identifier: BSL-1.0
// A file system for SQLite on a power::disk. It is the default of this process while it lives, so
// the adapter runs on it unchanged.
#pragma once

#include "power_disk.hpp"

#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace power {

/// Shape:   one object at a time, in a process of one thread
class vfs {
public:
    explicit vfs(disk& disk) : disk_(&disk), real_(sqlite3_vfs_find(nullptr)) {
        self_ = *real_;
        self_.iVersion = 2;
        self_.szOsFile = sizeof(handle);
        self_.mxPathname = 512;
        self_.zName = "settle-power";
        self_.pNext = nullptr;
        self_.pAppData = this;
        self_.xOpen = open;
        self_.xDelete = remove;
        self_.xAccess = access;
        self_.xFullPathname = full_name;
        self_.xSleep = [](sqlite3_vfs*, int microseconds) { return microseconds; };
        sqlite3_vfs_register(&self_, 1);
    }
    vfs(vfs const&) = delete;
    vfs& operator=(vfs const&) = delete;
    ~vfs() {
        sqlite3_vfs_unregister(&self_);
        sqlite3_vfs_register(real_, 1);
    }

    [[nodiscard]] std::size_t open_files() const { return handles_.size(); }

private:
    struct handle {
        sqlite3_file base;
        vfs* of;
        disk::file file;
        int lock;
        unsigned shared; ///< locks of the shared memory, a bit each
        unsigned exclusive;
        bool maps;
        std::size_t failures; ///< failed syncs of the file that its program knows of
    };

    static vfs& of(sqlite3_vfs* self) { return *static_cast<vfs*>(self->pAppData); }
    static handle& in(sqlite3_file* file) { return *reinterpret_cast<handle*>(file); }
    trouble fault_of(act what) { return disk_->fault_of(what); }

    // --------------------------------------------------------------------------------------- names

    static int open(sqlite3_vfs* self, char const* name, sqlite3_file* file, int flags, int* out) {
        vfs& vfs = of(self);
        file->pMethods = nullptr;
        disk& disk = *vfs.disk_;
        trouble const fault = vfs.fault_of(act::open);
        if (fault == trouble::io_error) return SQLITE_CANTOPEN;
        std::optional<disk::file> disk_file;
        if (name != nullptr) disk_file = disk.find(name);
        if (!disk_file) {
            if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
            constexpr int journals =
                SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
            disk_file =
                name == nullptr ? disk.create() : disk.create(name, (flags & journals) != 0);
        }
        if (fault == trouble::power_loss) return SQLITE_CANTOPEN;
        auto* const made = new (file)
            handle{{methods()}, &vfs, *disk_file, 0, 0, 0, false, disk.failed_syncs(*disk_file)};
        vfs.handles_.push_back(made);
        if (out != nullptr) *out = flags;
        return SQLITE_OK;
    }
    static int remove(sqlite3_vfs* self, char const* name, int synced) {
        vfs& vfs = of(self);
        trouble const fault = vfs.fault_of(act::remove);
        if (fault == trouble::io_error) return SQLITE_IOERR_DELETE;
        if (!vfs.disk_->find(name)) return SQLITE_IOERR_DELETE_NOENT;
        vfs.disk_->remove(name, synced != 0 && fault == trouble::none);
        return fault == trouble::none ? SQLITE_OK : SQLITE_IOERR_DELETE;
    }
    static int access(sqlite3_vfs* self, char const* name, int flags, int* out) {
        vfs& vfs = of(self);
        if (vfs.fault_of(act::look) != trouble::none) return SQLITE_IOERR_ACCESS;
        auto const disk_file = vfs.disk_->find(name);
        // SQLite treats an empty journal as absent.
        bool const there =
            disk_file && (flags != SQLITE_ACCESS_EXISTS || !vfs.disk_->content(*disk_file).empty());
        *out = there ? 1 : 0;
        return SQLITE_OK;
    }
    static int full_name(sqlite3_vfs*, char const* name, int room, char* out) {
        sqlite3_snprintf(room, out, "%s", name);
        return SQLITE_OK;
    }

    // --------------------------------------------------------------------------------------- bytes

    static int close(sqlite3_file* file) {
        handle& handle = in(file);
        vfs& vfs = *handle.of;
        unmap(file, 0);
        std::erase(vfs.handles_, &handle);
        return SQLITE_OK;
    }
    static int read(sqlite3_file* file, void* into, int count, sqlite3_int64 offset) {
        handle const& handle = in(file);
        if (handle.of->fault_of(act::read) != trouble::none) return SQLITE_IOERR_READ;
        auto const& content = handle.of->disk_->content(handle.file);
        auto const size = static_cast<std::size_t>(count);
        auto const from = std::min(static_cast<std::size_t>(offset), content.size());
        std::size_t const there = std::min(size, content.size() - from);
        std::memcpy(into, content.data() + from, there);
        if (there == size) return SQLITE_OK;
        std::memset(static_cast<char*>(into) + there, 0, size - there);
        return SQLITE_IOERR_SHORT_READ;
    }
    static int write(sqlite3_file* file, void const* from, int count, sqlite3_int64 offset) {
        handle const& handle = in(file);
        disk& disk = *handle.of->disk_;
        trouble const fault = handle.of->fault_of(act::write);
        if (fault == trouble::io_error) return SQLITE_IOERR_WRITE;
        std::string_view bytes{static_cast<char const*>(from), static_cast<std::size_t>(count)};
        if (fault == trouble::short_write || fault == trouble::full) {
            bytes = bytes.substr(0, bytes.size() / 2);
        }
        disk.write(handle.file, static_cast<std::size_t>(offset), bytes);
        if (fault == trouble::none) return SQLITE_OK;
        return fault == trouble::full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
        handle const& handle = in(file);
        trouble const fault = handle.of->fault_of(act::truncate);
        if (fault == trouble::io_error) return SQLITE_IOERR_TRUNCATE;
        handle.of->disk_->truncate(handle.file, static_cast<std::size_t>(size));
        return fault == trouble::none ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
    }
    static int sync(sqlite3_file* file, int) {
        handle& handle = in(file);
        disk& disk = *handle.of->disk_;
        auto const fault = handle.of->fault_of(act::sync);
        if (fault == trouble::failing_sync) disk.fail_sync(handle.file);
        auto const known = std::exchange(handle.failures, disk.failed_syncs(handle.file));
        if (fault != trouble::none) return SQLITE_IOERR_FSYNC;
        disk.sync(handle.file);
        return known == handle.failures ? SQLITE_OK : SQLITE_IOERR_FSYNC;
    }
    static int size(sqlite3_file* file, sqlite3_int64* out) {
        handle const& handle = in(file);
        if (handle.of->fault_of(act::look) != trouble::none) return SQLITE_IOERR_FSTAT;
        *out = static_cast<sqlite3_int64>(handle.of->disk_->content(handle.file).size());
        return SQLITE_OK;
    }

    // --------------------------------------------------------------------------------------- locks

    template <typename Test>
    bool any_other(handle const& mine, Test test) const {
        return std::any_of(handles_.begin(), handles_.end(), [&](handle const* other) {
            return other != &mine && other->file == mine.file && test(*other);
        });
    }
    static int lock(sqlite3_file* file, int level) {
        handle& file_handle = in(file);
        if (file_handle.of->fault_of(act::lock) != trouble::none) return SQLITE_IOERR_LOCK;
        if (file_handle.lock >= level) return SQLITE_OK;
        auto const other_has = [&](int least) {
            return file_handle.of->any_other(file_handle,
                                             [&](handle const& h) { return h.lock >= least; });
        };
        bool const reads = level == SQLITE_LOCK_SHARED;
        if (other_has(reads ? SQLITE_LOCK_PENDING : SQLITE_LOCK_RESERVED)) return SQLITE_BUSY;
        if (level == SQLITE_LOCK_EXCLUSIVE && other_has(SQLITE_LOCK_SHARED)) {
            file_handle.lock = SQLITE_LOCK_PENDING;
            return SQLITE_BUSY;
        }
        file_handle.lock = level;
        return SQLITE_OK;
    }
    static int unlock(sqlite3_file* file, int level) {
        in(file).lock = std::min(in(file).lock, level);
        return SQLITE_OK;
    }
    static int is_reserved(sqlite3_file* file, int* out) {
        handle const& one = in(file);
        auto const reserves = [](handle const& h) { return h.lock >= SQLITE_LOCK_RESERVED; };
        *out = reserves(one) || one.of->any_other(one, reserves) ? 1 : 0;
        return SQLITE_OK;
    }

    // ------------------------------------------------------------------------------- shared memory

    using regions = std::vector<std::unique_ptr<char[]>>;

    static int map(sqlite3_file* file, int number, int size, int extend, void volatile** out) {
        handle& handle = in(file);
        *out = nullptr;
        if (handle.of->fault_of(act::share) != trouble::none) return SQLITE_IOERR_SHMMAP;
        handle.maps = true;
        regions& shared_memory = handle.of->shared_[handle.file];
        auto const index = static_cast<std::size_t>(number);
        if (index >= shared_memory.size() && extend == 0) return SQLITE_OK;
        while (shared_memory.size() <= index) {
            shared_memory.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
        }
        *out = shared_memory[index].get();
        return SQLITE_OK;
    }
    static int lock_shared(sqlite3_file* file, int first, int count, int flags) {
        handle& file_handle = in(file);
        unsigned const mask = ((1U << static_cast<unsigned>(count)) - 1U)
                              << static_cast<unsigned>(first);
        if ((flags & SQLITE_SHM_UNLOCK) != 0) {
            file_handle.shared &= ~mask;
            file_handle.exclusive &= ~mask;
            return SQLITE_OK;
        }
        if (file_handle.of->fault_of(act::share) != trouble::none) return SQLITE_IOERR_SHMLOCK;
        bool const alone = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
        bool const busy = file_handle.of->any_other(file_handle, [&](handle const& h) {
            return ((h.exclusive | (alone ? h.shared : 0U)) & mask) != 0;
        });
        if (busy) return SQLITE_BUSY;
        (alone ? file_handle.exclusive : file_handle.shared) |= mask;
        return SQLITE_OK;
    }
    static int unmap(sqlite3_file* file, int) {
        handle& file_handle = in(file);
        file_handle.maps = false;
        file_handle.shared = file_handle.exclusive = 0;
        // The first connection that maps it starts with no content, as in the system's own file
        // system.
        if (!file_handle.of->any_other(file_handle, [](handle const& h) { return h.maps; })) {
            file_handle.of->shared_.erase(file_handle.file);
        }
        return SQLITE_OK;
    }

    static sqlite3_io_methods const* methods() {
        static sqlite3_io_methods const io_methods{
            2,
            close,
            read,
            write,
            truncate,
            sync,
            size,
            lock,
            unlock,
            is_reserved,
            [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
            [](sqlite3_file*) { return static_cast<int>(disk::sector); },
            [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; },
            map,
            lock_shared,
            [](sqlite3_file*) {},
            unmap,
            nullptr,
            nullptr};
        return &io_methods;
    }

    disk* disk_;
    sqlite3_vfs* real_;
    sqlite3_vfs self_{};
    std::vector<handle*> handles_;
    std::map<disk::file, regions> shared_;
};

} // namespace power
