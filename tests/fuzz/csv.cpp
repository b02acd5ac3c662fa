// SPDX-License-Identifier: BSL-1.0
// The samples' reader of tables: any file gives rows, or a reason for each bad row.
#include "fuzz.hpp"

#include <shared/csv.hpp>
#include <shared/text.hpp>

#include <settle/base/utf8.hpp>

#include <sys/mman.h>
#include <unistd.h>

namespace {

/// A file that is in memory alone; its name can be opened again.
std::string file_of(std::uint8_t const* data, std::size_t size) {
    static int const file = ::memfd_create("settle-fuzz", 0);
    fuzz::verify(file >= 0 && ::ftruncate(file, 0) == 0, "a file in memory can be made");
    fuzz::verify(::pwrite(file, data, size, 0) == static_cast<::ssize_t>(size), "and written");
    return "/proc/self/fd/" + std::to_string(file);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    try {
        samples::csv_file table{file_of(data, size), {{"id"}, {"a"}}};
        std::uint64_t last = 0;
        while (table.next()) {
            fuzz::verify(table.line() > last, "rows come in the order of their lines");
            last = table.line();
            if (!table.problem().empty()) continue;
            fuzz::verify(settle::is_utf8(table[0]), "a field that is read is UTF-8");
        }
        fuzz::verify(last <= size + 1, "there are no more rows than lines");
    } catch (samples::input_error const& problem) {
        fuzz::verify(*problem.what() != '\0', "an error has a sentence");
    }
    return 0;
}
