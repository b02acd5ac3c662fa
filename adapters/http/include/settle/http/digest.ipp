// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that digest.hpp declares.
#pragma once

#include <settle/http/digest.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

SETTLE_BEGIN
namespace http::detail {

inline constexpr std::array<std::uint32_t, 64> sha256_constants{
    0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U,
    0xab1c5ed5U, 0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU,
    0x9bdc06a7U, 0xc19bf174U, 0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU,
    0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU, 0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U,
    0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U, 0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU,
    0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U, 0xa2bfe8a1U, 0xa81a664bU,
    0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U, 0x19a4c116U,
    0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
    0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U,
    0xc67178f2U};

using sha256_state = std::array<std::uint32_t, 8>;

/// Takes one block of 64 bytes into the state.
SETTLE_FUNCTION void take_block(sha256_state& state, std::string_view block) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t at = 0; at < 64; ++at) {
        words[at / 4] = words[at / 4] << 8U | static_cast<unsigned char>(block[at]);
    }
    for (std::size_t index = 16; index < 64; ++index) {
        auto const before = words[index - 15];
        auto const last = words[index - 2];
        auto const low = std::rotr(before, 7) ^ std::rotr(before, 18) ^ before >> 3U;
        auto const high = std::rotr(last, 17) ^ std::rotr(last, 19) ^ last >> 10U;
        words[index] = words[index - 16] + low + words[index - 7] + high;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t position = 0; position < 64; ++position) {
        auto const high = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        auto const first =
            h + high + ((e & f) ^ (~e & g)) + sha256_constants[position] + words[position];
        auto const low = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        auto const second = low + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    sha256_state const added{a, b, c, d, e, f, g, h};
    for (std::size_t at = 0; at < state.size(); ++at) state[at] += added[at];
}

SETTLE_FUNCTION std::string digest_of(std::string_view text) {
    sha256_state state{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                       0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
    // A 1 bit, zeros, and the number of bits in the last eight bytes of a block.
    std::string padded{text};
    padded += static_cast<char>(0x80);
    while (padded.size() % 64 != 56) padded += '\0';
    for (unsigned shift = 64; shift != 0;) {
        shift -= 8;
        padded += static_cast<char>(std::uint64_t{text.size()} * 8 >> shift & 0xFFU);
    }
    for (std::size_t at = 0; at < padded.size(); at += 64) {
        take_block(state, std::string_view{padded}.substr(at, 64));
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string digest;
    for (std::size_t word = 0; word < 4; ++word) {
        for (unsigned shift = 32; shift != 0;) {
            shift -= 4;
            digest += digits[state[word] >> shift & 15U];
        }
    }
    return digest;
}

} // namespace http::detail
SETTLE_END
