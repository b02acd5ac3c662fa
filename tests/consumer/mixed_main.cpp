// SPDX-License-Identifier: BSL-1.0
// A user's program that uses settle, and a library that uses it too.
#include <settle/base/error.hpp>

#include <iostream>
#include <string>

std::string sentence();

int main() { std::cout << settle::error{{}, sentence()} << '\n'; }
