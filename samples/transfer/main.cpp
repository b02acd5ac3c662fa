// SPDX-License-Identifier: BSL-1.0
// The program with stores memory: and sqlite:.
#include "bank_program.hpp"

int main(int argc, char** argv) { return bank::main_of(samples::file_store, argc, argv); }
