// SPDX-License-Identifier: BSL-1.0
// All headers that a user of settle needs besides the header of a store.
#pragma once

#include <settle/definition/transaction.hpp>
#include <settle/running/call_result.hpp>
#include <settle/running/copied_log.hpp>
#include <settle/running/engine.hpp>
#include <settle/running/listing.hpp>
#include <settle/running/open_engine.hpp>
#include <settle/running/recovery.hpp>
#include <settle/version.hpp>
