// SPDX-License-Identifier: BSL-1.0
// A bad network between a client and one MariaDB server, without TLS and compression.
// Source: mariadb.com/kb/en/clientserver-protocol
#pragma once

#include "sockets.hpp"
#include "sql_proxy.hpp"

#include <optional>

namespace settle_test {

/// For sql_proxy.hpp.
struct mariadb_wire {
    /// MariaDB's client counts its limits in whole seconds.
    static constexpr bool hangs_up = true;
    static constexpr std::size_t size_of_header = 4;
    static constexpr char const* prepare_mark = "PREPARE: ";

    static std::uint32_t number_at(std::string_view bytes, std::size_t from, std::size_t size) {
        std::uint32_t number = 0;
        for (std::size_t index = 0; index < size && from + index < bytes.size(); ++index) {
            number |= std::uint32_t{static_cast<unsigned char>(bytes[from + index])} << 8U * index;
        }
        return number;
    }
    /// Appends a packet, with its header; false at the end of the stream.
    static bool receive_packet(int socket, std::string& to) {
        auto const head = to.size();
        return receive_all(socket, to, size_of_header) &&
               receive_all(socket, to, number_at(to, head, 3));
    }

    class requests {
    public:
        explicit requests(int socket) : socket_{socket} {}

        template <typename Link>
        std::optional<std::string> next(Link& link, std::mutex& mutex, std::string& sql) {
            std::string bytes;
            sql.clear();
            if (!receive_packet(socket_, bytes) || bytes.size() == size_of_header) {
                return std::nullopt;
            }
            // A packet of the handshake has a number.
            auto const command = bytes[3] == 0 ? static_cast<unsigned char>(bytes[4]) : no_command;
            has_reply_ = command != no_command && command != quit && command != close &&
                         command != long_data;
            if (command == query) sql = bytes.substr(5);
            if (command == prepare) sql = prepare_mark + bytes.substr(5);
            if (command == execute) {
                std::lock_guard const lock{mutex};
                sql = link.prepared[number_at(bytes, 5, 4)];
            }
            return bytes;
        }
        [[nodiscard]] bool has_reply() const { return has_reply_; }

    private:
        static constexpr unsigned char quit = 0x01;
        static constexpr unsigned char query = 0x03;
        static constexpr unsigned char prepare = 0x16;
        static constexpr unsigned char execute = 0x17;
        static constexpr unsigned char long_data = 0x18;
        static constexpr unsigned char close = 0x19;
        static constexpr unsigned char no_command = 0xff;

        int socket_;
        bool has_reply_ = false;
    };

    class replies {
    public:
        explicit replies(int socket) : socket_{socket} {}

        template <typename Link>
        std::optional<std::string> next(Link& link, std::mutex& mutex) {
            std::string bytes;
            if (!receive_packet(socket_, bytes)) return std::nullopt;
            std::string sql;
            {
                std::lock_guard const lock{mutex};
                answers_ = !link.waiting.empty();
                if (answers_) sql = link.waiting.begin()->second.text;
            }
            if (!answers_) return bytes;
            if (sql.starts_with(prepare_mark) && bytes[4] == 0) {
                std::lock_guard const lock{mutex};
                link.prepared[number_at(bytes, 5, 4)] =
                    sql.substr(std::string_view{prepare_mark}.size());
                auto const columns = number_at(bytes, 9, 2);
                auto const parameters = number_at(bytes, 11, 2);
                for (auto const count : {parameters, columns}) {
                    if (count != 0 && !receive_until_end(bytes)) return std::nullopt;
                }
                return bytes;
            }
            std::size_t from = 0;
            while (receive_result(bytes, from)) {
                if (!has_more_) return bytes;
                from = bytes.size();
                if (!receive_packet(socket_, bytes)) break;
            }
            return std::nullopt;
        }
        [[nodiscard]] bool answers_request() const { return answers_; }
        [[nodiscard]] static bool is_notice() { return false; }

    private:
        /// Receives what follows the first packet of a result.
        bool receive_result(std::string& bytes, std::size_t from) {
            auto const kind = static_cast<unsigned char>(bytes[from + size_of_header]);
            has_more_ = false;
            if (kind == 0xff) return true;
            if (kind != 0) {
                // The end of the columns, and the end of the rows.
                if (!receive_until_end(bytes)) return false;
                return has_failed_ || receive_until_end(bytes);
            }
            auto next = from + size_of_header + 1;
            for (int number = 0; number < 2; ++number) {
                auto const first = static_cast<unsigned char>(bytes[next]);
                next += first < 0xfb ? 1 : first == 0xfc ? 3 : first == 0xfd ? 4 : 9;
            }
            has_more_ = (number_at(bytes, next, 2) & more_results) != 0;
            return true;
        }
        bool receive_until_end(std::string& bytes) {
            for (;;) {
                auto const from = bytes.size();
                if (!receive_packet(socket_, bytes)) return false;
                auto const kind = static_cast<unsigned char>(bytes[from + size_of_header]);
                has_failed_ = kind == 0xff;
                bool const is_end = kind == 0xfe && bytes.size() - from < size_of_header + 9;
                if (is_end) has_more_ = (number_at(bytes, from + 7, 2) & more_results) != 0;
                if (has_failed_) has_more_ = false;
                if (is_end || has_failed_) return true;
            }
        }

        static constexpr unsigned more_results = 8;

        int socket_;
        bool answers_ = false;
        bool has_more_ = false;
        bool has_failed_ = false;
    };
};

using mariadb_proxy = sql_proxy<mariadb_wire>;

} // namespace settle_test
