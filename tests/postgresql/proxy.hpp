// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one PostgreSQL server.
#pragma once

#include "sql_proxy.hpp"
#include "wire.hpp"

namespace settle_test {

/// For sql_proxy.hpp. A request is everything that a client sends up to a Sync.
struct postgresql_wire {
    static constexpr bool hangs_up = false;

    class requests : request_reader {
    public:
        using request_reader::request_reader;
        template <typename Link>
        std::optional<std::string> next(Link&, std::mutex&, std::string& sql) {
            return request_reader::next(sql);
        }
        [[nodiscard]] bool has_reply() const { return !is_terminate(); }
    };
    class replies : reply_reader {
    public:
        using reply_reader::answers_request;
        using reply_reader::reply_reader;
        template <typename Link>
        std::optional<std::string> next(Link&, std::mutex&) {
            auto bytes = reply_reader::next();
            is_notice_ = bytes && bytes->front() == 'A';
            return bytes;
        }
        [[nodiscard]] bool is_notice() const { return is_notice_; }

    private:
        bool is_notice_ = false;
    };
};

class proxy : public sql_proxy<postgresql_wire> {
public:
    /// The options of an address through the proxy, which must read the messages.
    static constexpr char const* options = "sslmode=disable&gssencmode=disable";
    using sql_proxy::sql_proxy;
};

} // namespace settle_test
