// SPDX-License-Identifier: BSL-1.0
// The part of MongoDB's wire protocol that a proxy needs: the end of a message, and its command.
#pragma once

#include <bson/bson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/socket.h>

namespace settle_test {

/// One message with its header, as it is sent.
struct wire_message {
    std::vector<std::uint8_t> bytes;
    std::string command; ///< the requested command, also in the reply to it

    static constexpr std::size_t header_size = 16;

    // Both ends of the wire are little-endian, as are the machines that these tests run on.
    [[nodiscard]] std::int32_t number(std::size_t index) const {
        std::int32_t value = 0;
        if (index + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[index], sizeof value);
        return value;
    }
    [[nodiscard]] std::int32_t id() const { return number(4); }
    [[nodiscard]] std::int32_t answers() const { return number(8); }
    [[nodiscard]] bool wants_reply() const {
        constexpr std::int32_t more_to_come = 2;
        return number(12) != op_msg || (number(header_size) & more_to_come) == 0;
    }

    /// The reply to a request of this number, with one document.
    static wire_message reply_to(std::int32_t request, bson_t const* answer) {
        wire_message message;
        message.bytes.assign(body, 0);
        message.put(8, request);
        message.put(12, op_msg);
        message.append(answer);
        return message;
    }
    /// Whether it has today's format, and not the format of a driver's greeting.
    [[nodiscard]] bool is_message() const { return number(12) == op_msg; }
    /// Adds members to the document of a reply.
    void add(bson_t const* members) {
        bson_t parsed;
        if (number(12) != op_msg ||
            !bson_init_static(&parsed, bytes.data() + body, bytes.size() - body)) {
            throw std::logic_error{"this message is no answer of one document"};
        }
        bson_t* const both = bson_copy(&parsed);
        bson_concat(both, members);
        bytes.resize(body);
        append(both);
        bson_destroy(both);
    }

    /// Replaces each occurrence of a text by another text of the same length.
    void replace(std::string const& from, std::string const& to) {
        auto at = bytes.begin();
        while ((at = std::search(at, bytes.end(), from.begin(), from.end())) != bytes.end()) {
            at = std::copy(to.begin(), to.end(), at);
        }
    }
    /// Changes every 32-bit field of that name; false if there is none.
    bool set_int32(std::string const& name, std::int32_t value) {
        std::vector<std::uint8_t> field{0x10}; // BSON's type of a 32-bit integer
        field.insert(field.end(), name.begin(), name.end());
        field.push_back(0);
        bool changed = false;
        auto const length = static_cast<std::ptrdiff_t>(field.size());
        for (auto position = bytes.begin();; changed = true) {
            position = std::search(position, bytes.end(), field.begin(), field.end());
            if (bytes.end() - position < length + 4) return changed;
            position += length;
            std::memcpy(&*position, &value, sizeof value);
        }
    }

    /// The name of a request's command: the name of its document's first field.
    [[nodiscard]] std::string name_of_command() const {
        auto const position = document();
        // Four bytes of length and the first field's type precede its name.
        if (position == 0 || position + 5 >= bytes.size()) return "";
        auto const begin = bytes.begin() + static_cast<std::ptrdiff_t>(position + 5);
        return {begin, std::find(begin, bytes.end(), std::uint8_t{0})};
    }

private:
    static constexpr std::int32_t op_query = 2004; // libmongoc still greets with it
    static constexpr std::int32_t op_msg = 2013;
    /// Where an answer's document begins: after the header, the flags and the kind of section.
    static constexpr std::size_t body = header_size + 4 + 1;

    void put(std::size_t index, std::int32_t value) {
        std::memcpy(bytes.data() + index, &value, sizeof value);
    }
    void append(bson_t const* added) {
        auto const* const from = bson_get_data(added);
        bytes.insert(bytes.end(), from, from + added->len);
        put(0, static_cast<std::int32_t>(bytes.size()));
    }

    /// The position of the document with the command, 0 if there is none.
    [[nodiscard]] std::size_t document() const {
        if (number(12) == op_query) {
            auto const name = std::size_t{header_size + 4};
            if (name >= bytes.size()) return 0;
            auto const end = std::find(bytes.begin() + static_cast<std::ptrdiff_t>(name),
                                       bytes.end(), std::uint8_t{0});
            return static_cast<std::size_t>(end - bytes.begin()) + 1 + 8;
        }
        if (number(12) != op_msg) return 0;
        for (std::size_t index = header_size + 4; index < bytes.size();) {
            if (bytes[index] == 0) return index + 1;
            auto const length = number(index + 1);
            if (length <= 0) return 0;
            index += 1 + static_cast<std::size_t>(length);
        }
        return 0;
    }
};

inline bool send_all(int socket, std::uint8_t const* bytes, std::size_t count) {
    while (count > 0) {
        auto const sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        count -= static_cast<std::size_t>(sent);
    }
    return true;
}

inline bool receive_all(int socket, std::uint8_t* bytes, std::size_t count) {
    while (count > 0) {
        auto const got = ::recv(socket, bytes, count, 0);
        if (got <= 0) return false;
        bytes += got;
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

/// Reads one whole message; false at the end of the stream, or if this is another protocol.
inline bool receive(int socket, wire_message& message) {
    constexpr std::int32_t most = 64 << 20;
    message.bytes.resize(wire_message::header_size);
    if (!receive_all(socket, message.bytes.data(), message.bytes.size())) return false;
    auto const length = message.number(0);
    if (length < static_cast<std::int32_t>(wire_message::header_size) || length > most) {
        return false;
    }
    message.bytes.resize(static_cast<std::size_t>(length));
    return receive_all(socket, message.bytes.data() + wire_message::header_size,
                       message.bytes.size() - wire_message::header_size);
}

} // namespace settle_test
