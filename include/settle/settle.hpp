// SPDX-License-Identifier: BSL-1.0
// All headers that a user of settle needs besides the header of a store.
#pragma once

#include <settle/definition/transaction.hpp>
#include <settle/running/calls/call_result.hpp>
#include <settle/running/calls/copied_log.hpp>
#include <settle/running/calls/listing.hpp>
#include <settle/running/calls/recovery.hpp>
#include <settle/running/construction/open_engine.hpp>
#include <settle/running/engine.hpp>
#include <settle/version.hpp>
