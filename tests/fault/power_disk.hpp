// SPDX-License-Identifier: BSL-1.0
// A disk in memory that tracks the synced part of each file, loses the rest at a power loss, and
// fails at a chosen call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace power {

/// The action that a call requests of the disk, or of the memory that connections share.
enum class act : std::uint8_t { open, remove, look, read, write, truncate, sync, lock, share };

enum class trouble : std::uint8_t {
    none,
    power_loss,   ///< at any call but lock and share; from then on every call fails
    io_error,     ///< at any call: it has no effect
    short_write,  ///< half of a write arrives
    failing_sync, ///< the unsynced writes are never tried again, as on Linux
    full          ///< half of a write arrives, and a file cannot grow
};

[[nodiscard]] constexpr std::string_view name_of(trouble kind) {
    constexpr std::string_view names[]{"none",        "power loss",   "I/O error",
                                       "short write", "failing sync", "disk full"};
    return names[static_cast<std::size_t>(kind)];
}

[[nodiscard]] constexpr bool strikes_at(trouble kind, act what) {
    switch (kind) {
    case trouble::none: return false;
    case trouble::power_loss: return what != act::lock && what != act::share;
    case trouble::io_error: return true;
    case trouble::short_write:
    case trouble::full: return what == act::write;
    case trouble::failing_sync: return what == act::sync;
    }
    return false;
}

/// Shape:   at - which of the calls that the trouble can strike, from 1
struct plan {
    trouble kind = trouble::none;
    std::size_t at = 0;
    bool lasting = false;       ///< strikes every later call as well
    std::size_t dark_after = 0; ///< so many calls later, the power is lost; 0: it is not
};

/// The unsynced writes that a loss of power destroys.
enum class loss : std::uint8_t { all, nothing, some };

/// Shape:   a value: a copy is another disk with the same content
class disk {
public:
    using file = std::size_t;
    static constexpr std::size_t sector = 512;

    // -----------------------------------------------------------------------------------------
    // faults

    void arm(plan const& next) {
        plan_ = next;
        struck_ = 0;
    }
    /// How many calls the plan's trouble could have struck so far.
    [[nodiscard]] std::size_t calls() const { return struck_; }
    [[nodiscard]] bool dark() const { return dark_; }
    /// A disk that reports success for every sync, and syncs nothing.
    void lie() { lies_ = true; }

    /// The fault of this call.
    trouble fault_of(act what) {
        if (dark_) return trouble::io_error;
        bool const counts = plan_.dark_after > 0 && struck_ >= plan_.at;
        if (counts && strikes_at(trouble::power_loss, what) && --plan_.dark_after == 0) {
            dark_ = true;
            return trouble::power_loss;
        }
        if (!strikes_at(plan_.kind, what)) return trouble::none;
        ++struck_;
        bool const now = struck_ == plan_.at || (plan_.lasting && struck_ > plan_.at);
        if (!now) return trouble::none;
        if (plan_.kind == trouble::power_loss) dark_ = true;
        return plan_.kind;
    }

    /// The power is back: every file holds its synced content, and the part of the rest that the
    /// loss left.
    void restart(loss kind, std::uint64_t seed) {
        std::mt19937_64 chance{seed};
        for (node& one : nodes_) one.lose(kind, chance);
        for (auto const& [name, what] : renamed_) {
            if (survives(kind, chance)) set_name(synced_names_, name, what);
        }
        renamed_.clear();
        names_ = synced_names_;
        plan_ = {};
        dark_ = false;
    }

    // ------------------------------------------------------------------------------------- files

    [[nodiscard]] std::optional<file> find(std::string const& name) const {
        auto const found = names_.find(name);
        if (found == names_.end()) return std::nullopt;
        return found->second;
    }
    /// Shape:   syncs_folder - whether its first sync also syncs its folder, as SQLite's own VFS
    /// does
    file create(std::string const& name, bool syncs_folder) {
        nodes_.emplace_back().syncs_folder = syncs_folder;
        file const made = nodes_.size() - 1;
        rename(name, made);
        return made;
    }
    /// A file without a name.
    file create() {
        nodes_.emplace_back();
        return nodes_.size() - 1;
    }
    void remove(std::string const& name, bool synced) {
        rename(name, std::nullopt);
        if (synced) sync_folder();
    }

    [[nodiscard]] std::string const& content(file which) const { return nodes_[which].now; }
    void write(file which, std::size_t offset, std::string_view bytes) {
        nodes_[which].change({offset, std::string{bytes}, false});
    }
    void truncate(file which, std::size_t size) { nodes_[which].change({size, {}, true}); }
    void sync(file which) {
        if (lies_) return;
        node& synced = nodes_[which];
        synced.settle();
        if (synced.syncs_folder) sync_folder();
        synced.syncs_folder = false;
    }
    /// Unsynced writes may reach the disk or not; no later sync tries them again.
    void fail_sync(file which) {
        node& failed = nodes_[which];
        for (edit& written : failed.pending) written.given_up = !written.synced;
        ++failed.failed_syncs;
    }
    /// How many syncs of a file have failed. Each program that has the file open learns of it once.
    [[nodiscard]] std::size_t failed_syncs(file which) const { return nodes_[which].failed_syncs; }

private:
    struct edit {
        std::size_t offset = 0;
        std::string bytes;
        bool truncates = false;
        bool synced = false;
        bool given_up = false;
    };

    static bool survives(loss kind, std::mt19937_64& chance) {
        return kind == loss::nothing || (kind == loss::some && chance() % 2 == 0);
    }

    struct node {
        std::string durable;
        std::string now;
        std::vector<edit> pending;
        std::size_t failed_syncs = 0;
        bool syncs_folder = false;

        void change(edit edit) {
            apply(now, edit, 0, edit.bytes.size());
            pending.push_back(std::move(edit));
        }
        static void apply(std::string& content, edit const& edit, std::size_t from,
                          std::size_t to) {
            if (edit.truncates) {
                content.resize(edit.offset);
            } else if (from < to) {
                if (content.size() < edit.offset + to) content.resize(edit.offset + to);
                content.replace(edit.offset + from, to - from, edit.bytes, from, to - from);
            }
        }
        void settle() {
            for (auto& written : pending) written.synced = written.synced || !written.given_up;
            // Up to the first that may be lost, nothing is open any more.
            auto const open = std::find_if(pending.begin(), pending.end(),
                                           [](auto const& written) { return !written.synced; });
            for (auto written = pending.begin(); written != open; ++written) {
                apply(durable, *written, 0, written->bytes.size());
            }
            pending.erase(pending.begin(), open);
        }
        void lose(loss kind, std::mt19937_64& chance) {
            for (auto const& written : pending) {
                bool const torn = kind == loss::some && !written.synced && chance() % 3 == 0;
                if (torn && !written.truncates) tear(written, chance);
                else if (written.synced || survives(kind, chance)) {
                    apply(durable, written, 0, written.bytes.size());
                }
            }
            pending.clear();
            now = durable;
        }
        /// Some of the sectors of a write, in any order.
        void tear(edit const& edit, std::mt19937_64& chance) {
            std::size_t const end = edit.bytes.size();
            for (std::size_t from = 0; from < end;) {
                std::size_t const to = std::min(end, from + sector - (edit.offset + from) % sector);
                if (chance() % 2 == 0) apply(durable, edit, from, to);
                from = to;
            }
        }
    };

    using names = std::map<std::string, file>;

    static void set_name(names& where, std::string const& name, std::optional<file> what) {
        if (what) where[name] = *what;
        else where.erase(name);
    }
    void rename(std::string const& name, std::optional<file> what) {
        set_name(names_, name, what);
        renamed_.emplace_back(name, what);
    }
    void sync_folder() {
        if (lies_) return;
        synced_names_ = names_;
        renamed_.clear();
    }

    std::vector<node> nodes_;
    names names_;
    names synced_names_;
    std::vector<std::pair<std::string, std::optional<file>>> renamed_;
    plan plan_;
    std::size_t struck_ = 0;
    bool dark_ = false;
    bool lies_ = false;
};

} // namespace power
