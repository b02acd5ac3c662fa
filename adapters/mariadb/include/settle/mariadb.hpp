// SPDX-License-Identifier: BSL-1.0
// MariaDB, as a database whose native transactions are prepared: the umbrella header.
#pragma once

#include <settle/mariadb/prepared/resource.hpp>
