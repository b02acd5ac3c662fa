// SPDX-License-Identifier: BSL-1.0
// Transactions for callers that do not wait.
#pragma once

#include <settle/running/runner/runner.hpp>
