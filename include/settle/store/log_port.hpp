// SPDX-License-Identifier: BSL-1.0
// A session of a log without its type.
#pragma once

#include <settle/store/seam.hpp>

#include <memory>
#include <utility>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] inline error cannot_hold() {
    return {make_error_code(errc::unfit_store),
            "settle: the database of the log cannot keep decisions waiting, so it gives no moment "
            "of records in several databases. Keep the log in another database. See "
            "committed_reads#stores"};
}

/// The calls of a log session (store/seam.hpp).
class log_port {
public:
    log_port() = default;
    log_port(log_port const&) = delete;
    log_port& operator=(log_port const&) = delete;
    virtual ~log_port() = default;

    [[nodiscard]] virtual session_capabilities capabilities() const = 0;
    [[nodiscard]] virtual std::string const& name() const = 0;
    virtual void write(std::span<entry_write const> writes, std::span<write_result> results,
                       write_context const& context) = 0;
    virtual void look_up(std::span<read_request const> requests, found_function found) = 0;
    virtual result<std::optional<entry>> read(transaction_id const& id) = 0;
    virtual result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                            std::size_t limit) = 0;
    virtual result<purged> purge(timestamp before, std::size_t limit, std::int64_t passed) = 0;
    virtual result<std::optional<std::string>> metadata(std::string_view name) = 0;
    virtual result<void> replace_metadata(std::string_view name,
                                          std::optional<std::string> const& seen,
                                          std::string const& text) = 0;
    virtual result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                             std::size_t limit) = 0;
    virtual result<void> erase_metadata(metadata_range const& names) = 0;
    /// Errors:  errc::unfit_store if the log cannot keep its entries as they are
    virtual result<std::unique_ptr<log_hold>> hold_entries() = 0;
    /// A log that keeps no home is at home.
    virtual result<log_home> home() = 0;
    virtual result<void> take_home(log_home const& seen, bool renames) = 0;
};

/// Shape:   Session - of a log, or a reference to one
template <typename Session>
class port_of_log final : public log_port {
    static constexpr bool keeps_home =
        detail::capabilities<std::remove_reference_t<Session>>.keeps_home;

public:
    explicit port_of_log(Session session) : session_(std::forward<Session>(session)) {}

    [[nodiscard]] auto& session() noexcept { return session_; }

    [[nodiscard]] session_capabilities capabilities() const override {
        return capabilities_here(session_);
    }
    [[nodiscard]] std::string const& name() const override { return session_.name(); }
    void write(std::span<entry_write const> writes, std::span<write_result> results,
               write_context const& context) override {
        session_.write(writes, results, context);
    }
    void look_up(std::span<read_request const> requests, found_function found) override {
        session_.look_up(requests, found);
    }
    result<std::optional<entry>> read(transaction_id const& id) override {
        return session_.read(id);
    }
    result<std::vector<entry>> list(entry_filter const& filter, transaction_id const& after,
                                    std::size_t limit) override {
        constexpr bool lists = requires { session_.list(filter, after, limit); };
        static_assert(lists, "settle: the log cannot list its entries, which recovery and the "
                             "console need. Give its session list(). See settle/store/seam.hpp");
        if constexpr (lists) return session_.list(filter, after, limit);
        else return std::vector<entry>{};
    }
    result<purged> purge(timestamp before, std::size_t limit, std::int64_t passed) override {
        return session_.purge(before, limit, passed);
    }
    result<std::optional<std::string>> metadata(std::string_view name) override {
        return session_.metadata(name);
    }
    result<void> replace_metadata(std::string_view name, std::optional<std::string> const& seen,
                                  std::string const& text) override {
        return session_.replace_metadata(name, seen, text);
    }
    result<std::vector<metadata_text>> list_metadata(metadata_range const& names,
                                                     std::size_t limit) override {
        return session_.list_metadata(names, limit);
    }
    result<void> erase_metadata(metadata_range const& names) override {
        return session_.erase_metadata(names);
    }
    result<std::unique_ptr<log_hold>> hold_entries() override {
        if constexpr (requires { session_.hold_entries(); }) return session_.hold_entries();
        else return cannot_hold();
    }
    result<log_home> home() override {
        if constexpr (keeps_home) return session_.home();
        else return log_home{};
    }
    result<void> take_home([[maybe_unused]] log_home const& seen,
                           [[maybe_unused]] bool renames) override {
        if constexpr (keeps_home) return session_.take_home(seen, renames);
        else return {};
    }

private:
    Session session_;
};

} // namespace detail
SETTLE_END
