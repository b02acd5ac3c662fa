// SPDX-License-Identifier: BSL-1.0
// The part of PostgreSQL's wire protocol that a proxy needs: the end of a round trip, and its SQL.
// Source: PostgreSQL 15, chapter 55
#pragma once

#include "sockets.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace settle_test {

inline std::uint32_t length_at(std::string_view bytes, std::size_t index) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        length = length << 8U | static_cast<unsigned char>(bytes[index + i]);
    }
    return length;
}

/// Appends a message: a letter, its length and its contents; false at the end of the stream.
inline bool receive_message(int socket, std::string& to, bool with_letter = true) {
    constexpr std::uint32_t most = 64U << 20U;
    auto const head = to.size() + (with_letter ? 1 : 0);
    if (!receive_all(socket, to, with_letter ? 5 : 4)) return false;
    auto const length = length_at(to, head);
    return length >= 4 && length < most && receive_all(socket, to, length - 4);
}

/// Reads a client's stream, a round trip at a time.
class request_reader {
public:
    explicit request_reader(int socket) : socket_{socket} {}

    /// Shape:   sql - receives the texts of the statements that it executes, also of the prepared
    ///          statements
    std::optional<std::string> next(std::string& sql) {
        std::string bytes;
        sql.clear();
        if (!started_) {
            started_ = true;
            if (!receive_message(socket_, bytes, false)) return std::nullopt;
            return bytes;
        }
        for (;;) {
            auto const from = bytes.size();
            if (!receive_message(socket_, bytes)) return std::nullopt;
            char const letter = bytes[from];
            add_sql(std::string_view{bytes}.substr(from), sql);
            terminates_ = letter == 'X';
            // Sync, a simple query, a password, the end.
            if (std::string_view{"SQpX"}.find(letter) != std::string_view::npos) return bytes;
        }
    }
    /// Whether the last request gets no reply.
    [[nodiscard]] bool is_terminate() const { return terminates_; }

private:
    void add_sql(std::string_view message, std::string& sql) {
        // Parse: name, text. Bind: portal, name. A simple query: text.
        auto const first = text_at(message, 5);
        auto const second = text_at(message, 5 + first.size() + 1);
        std::string text;
        if (message[0] == 'P') {
            texts_[std::string{first}] = second;
            // A statement with a name is executed by a later Bind.
            if (first.empty()) text = second;
        } else if (message[0] == 'B' && !second.empty()) text = texts_[std::string{second}];
        else if (message[0] == 'Q') text = first;
        if (!text.empty()) sql.append(text).append(";");
    }
    static std::string_view text_at(std::string_view message, std::size_t index) {
        if (index >= message.size()) return {};
        return message.substr(index, message.substr(index).find('\0'));
    }

    int socket_;
    bool started_ = false;
    bool terminates_ = false;
    std::map<std::string, std::string> texts_; ///< of prepared statements, by name
};

/// Reads a server's stream, the answer to a round trip at a time.
class reply_reader {
public:
    explicit reply_reader(int socket) : socket_{socket} {}

    std::optional<std::string> next() {
        std::string bytes;
        answers_ = false;
        for (;;) {
            auto const from = bytes.size();
            if (!receive_message(socket_, bytes)) {
                // The last message of a server that closes the connection.
                if (bytes.empty()) return std::nullopt;
                return bytes;
            }
            char const letter = bytes[from];
            // Ready for a query, or for a password.
            answers_ =
                letter == 'Z' || (letter == 'R' && wants_password(length_at(bytes, from + 5)));
            if (answers_) return bytes;
            // An unsolicited notification.
            if (letter == 'A' && from == 0) return bytes;
        }
    }
    [[nodiscard]] bool answers_request() const { return answers_; }

private:
    static bool wants_password(std::uint32_t kind) { return kind != 0 && kind != 12; }

    int socket_;
    bool answers_ = false;
};

} // namespace settle_test
