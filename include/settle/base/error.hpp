// SPDX-License-Identifier: BSL-1.0
// Errors: a code to branch on and a sentence to read; and a result: a value or an error.
#pragma once

#include <settle/version.hpp>

#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

SETTLE_BEGIN

/// The errors of the library itself. Adapters have categories of their own, whose codes compare
/// equal to the conditions below.
enum class errc {
    id_in_use = 1,     ///< the id was used with other parameters or another type
    bad_parameters,    ///< the parameters break a guard of theirs; nothing was written
    bad_text,          ///< a text is not UTF-8, or an id is empty or too long
    unknown_id,        ///< no entry has this id
    unknown_type,      ///< no definition of this engine has the entry's name
    other_definition,  ///< the engine has another definition of this name than the entry
    damaged,           ///< a stored value cannot be read
    not_reversible,    ///< the transaction cannot be reversed; the sentence names the reason
    store_unreachable, ///< the store or the log could not be reached; nothing was written
    other_log,         ///< the store belongs to another log
    unfit_store,       ///< the store cannot hold the collection as it is described
    other_version,     ///< the store's own tables are of another version of the library
    stopped,           ///< the caller's deadline or stop token ended the call
    record_exists,     ///< a record has this key already
    too_young,         ///< an entry is too young to be purged
    too_late,          ///< the transaction can no longer be canceled: its pivot decides
    not_closable,      ///< no person can close this part of the entry
    forked,            ///< the engine or database was made before fork(), and this is the child
    bad_option,        ///< an option has a value that makes no sense
    store_moved,       ///< the store's open files are no longer the files at their paths
    record_missing,    ///< no record has this key
    call_refused,      ///< a service refused a call; the call took no effect
    call_unavailable,  ///< a service could not take a call; the call took no effect
    call_unknown,      ///< a service gave no answer to a call, which may have taken effect
    work_refused,      ///< the work of a prepared part refused; nothing of it remains
    prepared_lost,     ///< a committed part is not prepared and has no receipt
    record_unusable,   ///< an earlier call met a record that its store cannot use or change
    other_home,        ///< the log is a copy, or it was moved
    runner_full,       ///< a runner has as many waiting transactions as its options allow
    call_paused,       ///< a person has paused a call, which is not made
    no_committed_read  ///< no moment of a committed read was had within its limit
};

/// Conditions that errors of all adapters compare with. Each needs another action of the caller.
enum class condition {
    /// It may be tried again with the same id or key. It took no effect, unless the code is
    /// errc::stopped: then the transaction may still end, and a new id would run it twice.
    retryable = 1,
    conflict,  ///< it conflicts with another transaction
    permanent, ///< trying again will not help
    unknown    ///< it may have taken effect
};

[[nodiscard]] std::error_category const& settle_category() noexcept;

[[nodiscard]] std::error_category const& condition_category() noexcept;

namespace detail {

/// True if both are one category. A shared object may have a copy of the library, with copies of
/// its categories, so the names decide where the addresses differ.
[[nodiscard]] inline bool same_category(std::error_category const& left,
                                        std::error_category const& right) noexcept {
    return left == right || std::string_view{left.name()} == right.name();
}

/// The text of a driver or a server on one line, shortened, and without a point at its end.
[[nodiscard]] std::string native_text(std::string_view text, std::size_t most = 300);

/// What a server could not do.
/// Shape:   phase - the action, as the sentence puts it after "could not"; number - of the error,
///          as it follows the text; advice - a sentence, or empty; page - of the documentation
[[nodiscard]] std::string sentence_of(std::string_view server, std::string_view phase,
                                      std::string_view native, std::string_view number,
                                      std::string_view advice, std::string_view page);

} // namespace detail

[[nodiscard]] inline std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), settle_category()};
}
/// Compares also an error of another shared object, which std::error_code takes for another error.
[[nodiscard]] inline bool operator==(std::error_code const& code, errc expected) noexcept {
    return code.value() == static_cast<int>(expected) &&
           detail::same_category(code.category(), settle_category());
}
[[nodiscard]] inline std::error_condition make_error_condition(condition code) noexcept {
    return {static_cast<int>(code), condition_category()};
}

/// An error: a code to branch on, and a sentence that names the next step.
struct error {
    std::error_code code;
    std::string text;

    [[nodiscard]] bool empty() const noexcept { return !code; }
    /// True when there is an error, as of a std::error_code.
    [[nodiscard]] explicit operator bool() const noexcept { return !empty(); }
    [[nodiscard]] std::string message() const;

    friend bool operator==(error const&, error const&) = default;
    friend std::ostream& operator<<(std::ostream& out, error const& problem);
};

/// Thrown by constructors and ranges, which cannot return an error. Visible, so that another shared
/// object can catch it.
class [[gnu::visibility("default")]] failure : public std::runtime_error {
public:
    explicit failure(error problem);
    [[nodiscard]] error const& problem() const noexcept { return problem_; }

private:
    error problem_;
};

/// A value or an error, as std::expected; access to the absent alternative throws.
// Written by hand: a variant or an optional adds some sixty functions for each type.
template <typename T>
class [[nodiscard]] result {
public:
    using value_type = T;
    using error_type = settle::error;

    result(T value) : has_value_(true) { std::construct_at(&value_, std::move(value)); }
    result(settle::error problem) : has_value_(false) {
        std::construct_at(&problem_, std::move(problem));
    }
    result(errc code, std::string text)
        : result(settle::error{make_error_code(code), std::move(text)}) {}

    result(result const& other) : has_value_(other.has_value_) {
        if (has_value_) std::construct_at(&value_, other.value_);
        else std::construct_at(&problem_, other.problem_);
    }
    result(result&& other) noexcept : has_value_(other.has_value_) {
        if (has_value_) std::construct_at(&value_, std::move(other.value_));
        else std::construct_at(&problem_, std::move(other.problem_));
    }
    result& operator=(result other) noexcept {
        std::destroy_at(this);
        return *std::construct_at(this, std::move(other));
    }
    ~result() {
        if (has_value_) std::destroy_at(&value_);
        else std::destroy_at(&problem_);
    }

    [[nodiscard]] bool has_value() const noexcept { return has_value_; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value_; }

    /// Errors: throws settle::failure when there is no value
    [[nodiscard]] T& value() & {
        if (!has_value_) throw failure(problem_);
        return value_;
    }
    [[nodiscard]] T const& value() const& {
        if (!has_value_) throw failure(problem_);
        return value_;
    }
    /// By value, so that `for (auto& one : page().value())` does not walk a destroyed page.
    [[nodiscard]] T value() && { return std::move(value()); }

    /// As value(): unlike std::expected, it throws when there is no value.
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] T const& operator*() const& { return value(); }
    [[nodiscard]] T operator*() && { return std::move(value()); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] T const* operator->() const { return &value(); }

    template <typename U>
    [[nodiscard]] T value_or(U&& otherwise) const& {
        return has_value_ ? value_ : static_cast<T>(std::forward<U>(otherwise));
    }
    template <typename U>
    [[nodiscard]] T value_or(U&& otherwise) && {
        return has_value_ ? std::move(value_) : static_cast<T>(std::forward<U>(otherwise));
    }

    /// Errors: throws std::logic_error when there is a value
    [[nodiscard]] settle::error const& problem() const& {
        if (has_value_) {
            throw std::logic_error("settle: problem() was called on a result that has a value. "
                                   "Look at has_value() first");
        }
        return problem_;
    }
    [[nodiscard]] settle::error problem() && { return std::as_const(*this).problem(); }
    /// The same, by the name that a std::expected has for it.
    [[nodiscard]] settle::error const& error() const& { return problem(); }
    [[nodiscard]] settle::error error() && { return std::as_const(*this).problem(); }

private:
    // NOLINTBEGIN(readability-identifier-naming): they are private through the class.
    union {
        T value_;
        settle::error problem_;
    };
    // NOLINTEND(readability-identifier-naming)
    bool has_value_;
};

/// The error of a create whose key is already taken.
[[nodiscard]] error record_exists_in(std::string_view collection);

template <>
class [[nodiscard]] result<void> {
public:
    using value_type = void;
    using error_type = settle::error;

    result() = default;
    result(settle::error problem) : problem_(std::move(problem)) {}
    result(errc code, std::string text) : problem_{make_error_code(code), std::move(text)} {}

    [[nodiscard]] bool has_value() const noexcept { return problem_.empty(); }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    void value() const {
        if (!has_value()) throw failure(problem_);
    }
    void operator*() const { value(); }
    /// Empty when there is none.
    [[nodiscard]] settle::error const& problem() const& { return problem_; }
    [[nodiscard]] settle::error problem() && { return std::move(problem_); }
    [[nodiscard]] settle::error const& error() const& { return problem_; }
    [[nodiscard]] settle::error error() && { return std::move(problem_); }

private:
    settle::error problem_;
};

SETTLE_END

template <>
struct std::is_error_code_enum<settle::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<settle::condition> : std::true_type {};

#ifndef SETTLE_COMPILED
#include <settle/base/error.ipp>
#endif
