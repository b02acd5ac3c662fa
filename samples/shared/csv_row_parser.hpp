// SPDX-License-Identifier: BSL-1.0
// Splits the lines of a table into fields with libcsv.
#pragma once

#include <csv.h>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// libcsv in strict mode, fed one physical line at a time. The options keep fields unchanged: by
/// default libcsv trims spaces.
class csv_row_parser {
public:
    enum class state { row_complete, row_goes_on, malformed };

    csv_row_parser() { restart(); }
    ~csv_row_parser() { csv_free(&parser_); }
    csv_row_parser(csv_row_parser const&) = delete;
    csv_row_parser& operator=(csv_row_parser const&) = delete;

    /// Sets the delimiter from the next row on.
    void part_at(char delimiter) {
        delimiter_ = delimiter;
        restart();
    }

    [[nodiscard]] char delimiter() const { return delimiter_; }

    /// Discards the lines fed so far, to start a row again.
    void restart() {
        if (started_) csv_free(&parser_);
        if (csv_init(&parser_, CSV_STRICT) != 0) throw std::bad_alloc();
        csv_set_space_func(&parser_, [](unsigned char) { return 0; });
        csv_set_delim(&parser_, static_cast<unsigned char>(delimiter_));
        started_ = true;
        fields_ = nullptr;
    }

    /// Takes a line, which ends with a newline, and adds the fields that end in it.
    state feed(std::string_view line, std::vector<std::string>& fields) {
        fields_ = &fields;
        rows_ = 0;
        fields_after_row_ = false;
        auto const taken = csv_parse(&parser_, line.data(), line.size(), on_field, on_row, this);
        if (taken != line.size()) {
            if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
            return state::malformed;
        }
        // libcsv also ends a row at a lone carriage return; a line with two rows is malformed.
        if (fields_after_row_ || rows_ > 1) return state::malformed;
        return rows_ == 1 ? state::row_complete : state::row_goes_on;
    }

private:
    static void on_field(void* text, std::size_t size, void* self) noexcept {
        auto& parser = *static_cast<csv_row_parser*>(self);
        if (parser.rows_ > 0) parser.fields_after_row_ = true;
        else parser.fields_->emplace_back(static_cast<char const*>(text), size);
    }

    static void on_row(int, void* self) noexcept { ++static_cast<csv_row_parser*>(self)->rows_; }

    csv_parser parser_{};
    bool started_ = false;
    char delimiter_ = ',';
    std::vector<std::string>* fields_ = nullptr;
    std::size_t rows_ = 0;
    bool fields_after_row_ = false;
};

} // namespace samples
