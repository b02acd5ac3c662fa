// SPDX-License-Identifier: BSL-1.0
// Why the drive of a job ended early.
#pragma once

#include <settle/version.hpp>

#include <cstdint>

SETTLE_BEGIN

/// Why a drive ended before the coordinator's own end.
enum class interruption : std::uint8_t {
    none,
    answered,  ///< the transaction is decided, and the engine's finisher goes on
    stopped,   ///< the deadline passed, or a stop was requested
    elsewhere, ///< another owner works on the entry, and the caller does not wait
    mismatch,  ///< another transaction uses the id
    redefined, ///< another definition made the entry, which is unfinished
    described, ///< the entry is unfinished, and only its type knows its records
    unfit,     ///< the log cannot hold the entry
    failed     ///< by an error that trying again does not remove; job::problem has it
};

SETTLE_END
