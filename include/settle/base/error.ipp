// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that error.hpp declares.
#pragma once

#include <settle/base/error.hpp>

#include <ostream>

SETTLE_BEGIN

SETTLE_FUNCTION std::error_category const& settle_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "settle"; }
        std::string message(int code) const override {
            switch (static_cast<errc>(code)) {
            case errc::id_in_use: return "the id is in use";
            case errc::bad_parameters: return "the parameters are refused";
            case errc::bad_text: return "the text is refused";
            case errc::unknown_id: return "the id is unknown";
            case errc::unknown_type: return "the transaction type is unknown";
            case errc::other_definition: return "the definitions differ";
            case errc::damaged: return "the stored data is damaged";
            case errc::not_reversible: return "the transaction cannot be reversed";
            case errc::store_unreachable: return "the store cannot be reached";
            case errc::other_log: return "the store belongs to another log";
            case errc::unfit_store: return "the store does not fit the collection";
            case errc::other_version: return "the store was made by another version";
            case errc::stopped: return "the call was stopped";
            case errc::record_exists: return "the record exists";
            case errc::too_young: return "the entries are too young";
            case errc::too_late: return "it is too late to cancel";
            case errc::not_closable: return "the part cannot be closed";
            case errc::forked: return "the object belongs to the parent process";
            case errc::bad_option: return "the option is refused";
            case errc::store_moved: return "the store's files were replaced";
            case errc::record_missing: return "the record is missing";
            case errc::call_refused: return "the service refused the call";
            case errc::call_unavailable: return "the service is not available";
            case errc::call_unknown: return "the service gave no answer";
            case errc::work_refused: return "the work was refused";
            case errc::prepared_lost: return "the prepared transaction is lost";
            case errc::record_unusable: return "the record cannot be used";
            case errc::other_home: return "the log is a copy or was moved";
            case errc::runner_full: return "the runner has too many waiting transactions";
            case errc::call_paused: return "a person has paused the call";
            case errc::no_committed_read: return "no moment of the record could be read";
            }
            return "unknown error";
        }
    };
    static category const instance;
    return instance;
}

SETTLE_FUNCTION std::error_category const& condition_category() noexcept {
    struct category final : std::error_category {
        char const* name() const noexcept override { return "settle condition"; }
        std::string message(int code) const override {
            switch (static_cast<condition>(code)) {
            case condition::retryable: return "may be tried again";
            case condition::conflict: return "conflicts with another transaction";
            case condition::permanent: return "trying again will not help";
            case condition::unknown: return "may have taken effect";
            }
            return "unknown condition";
        }
        bool equivalent(std::error_code const& code, int expected) const noexcept override {
            if (!detail::same_category(code.category(), settle_category())) {
                // The error of an adapter, from another shared object.
                auto const other = code.default_error_condition();
                return detail::same_category(other.category(), *this) && other.value() == expected;
            }
            auto const which = static_cast<errc>(code.value());
            bool const retryable = which == errc::store_unreachable || which == errc::stopped ||
                                   which == errc::runner_full || which == errc::call_unavailable ||
                                   which == errc::call_paused || which == errc::no_committed_read;
            return static_cast<condition>(expected) == (retryable ? condition::retryable
                                                        : which == errc::call_unknown
                                                            ? condition::unknown
                                                            : condition::permanent);
        }
    };
    static category const instance;
    return instance;
}

namespace detail {

SETTLE_FUNCTION std::string native_text(std::string_view text, std::size_t most) {
    std::string line{text};
    if (std::size_t end = most; end < line.size()) {
        // Cuts after a whole character.
        while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
        line.resize(end);
        line += " …";
    }
    for (char& each : line) {
        if (static_cast<unsigned char>(each) < 0x20U) each = ' ';
    }
    while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
    return line;
}

SETTLE_FUNCTION std::string sentence_of(std::string_view server, std::string_view phase,
                                        std::string_view native, std::string_view number,
                                        std::string_view advice, std::string_view page) {
    std::string text{"settle: "};
    text.append(server).append(" could not ").append(phase).append(": ");
    text.append(native_text(native)).append(number).append(". ").append(advice);
    if (advice.ends_with('.')) text += ' ';
    if (advice.find("See ") == advice.npos) text.append("See ").append(page).append("#errors");
    return text;
}

} // namespace detail

SETTLE_FUNCTION std::string error::message() const {
    if (!text.empty()) return text;
    return empty() ? "no error" : code.message();
}

SETTLE_FUNCTION failure::failure(error problem)
    : std::runtime_error(problem.message()), problem_(std::move(problem)) {}

SETTLE_FUNCTION error record_exists_in(std::string_view collection) {
    return {make_error_code(errc::record_exists), "settle: a record with this key is in '" +
                                                      std::string{collection} +
                                                      "' already. See errors#errors"};
}

SETTLE_FUNCTION std::ostream& operator<<(std::ostream& out, error const& problem) {
    return out << problem.message();
}

SETTLE_END
