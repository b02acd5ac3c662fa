// SPDX-License-Identifier: BSL-1.0
// The conformance suite for stores and logs.
//
// A test program includes doctest before this header and instantiates the suite at namespace scope
// for its fixture. Without doctest this header declares no case:
//
//   #include <doctest/doctest.h>
//   #include <settle/testing/store_suite.hpp>
//
//   struct my_fixture {                       // constructed for every case
//       using database = my::database;
//       database& database_here();            // empty; the same object at every call
//       database& second_database();          // empty, separate, and its log has another name
//       database& reopened();                 // the contents of database_here(), opened again
//       static constexpr bool one_thread = true;   // only if no session serves several threads
//       static constexpr auto part = settle::testing::suite_part::engines;   // only for a part
//   };
//   SETTLE_STORE_SUITE(my_fixture);
//
// The suite checks what settle/store/seam.hpp promises. A database that lacks a member is refused
// by the compiler, with the name of the member.
#pragma once

#include <settle/testing/store_suite/access_cases.hpp>
#include <settle/testing/store_suite/callback_cases.hpp>
#include <settle/testing/store_suite/commuting_cases.hpp>
#include <settle/testing/store_suite/creation_cases.hpp>
#include <settle/testing/store_suite/engine_cases.hpp>
#include <settle/testing/store_suite/exclusive_cases.hpp>
#include <settle/testing/store_suite/home_cases.hpp>
#include <settle/testing/store_suite/late_entry_cases.hpp>
#include <settle/testing/store_suite/log_call_cases.hpp>
#include <settle/testing/store_suite/log_cases.hpp>
#include <settle/testing/store_suite/members.hpp>
#include <settle/testing/store_suite/model_cases.hpp>
#include <settle/testing/store_suite/nested_cases.hpp>
#include <settle/testing/store_suite/one_phase_cases.hpp>
#include <settle/testing/store_suite/part.hpp>
#include <settle/testing/store_suite/patience_cases.hpp>
#include <settle/testing/store_suite/session_cases.hpp>
#include <settle/testing/store_suite/stage_cases.hpp>
#include <settle/testing/store_suite/time_cases.hpp>

/// Instantiates the cases of one fixture.
#define SETTLE_STORE_SUITE(Fixture)                                                                \
    namespace settle_suite = settle::testing;                                                      \
    static_assert(settle_suite::has_members<typename Fixture::database>);                          \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_holds, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_expect, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_create_wave, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_overlap, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_threads, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_one_mark, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_no_record, settle_suite::in_sessions<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_lower_bound, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_upper_bound, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_many_marks, settle_suite::in_sessions<Fixture>);  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_bound_in_wave,                                    \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_exact_guard, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_overflow, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_range, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_assignment, settle_suite::in_sessions<Fixture>);  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_assignment_guards,                                \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_exclusive_sums,                                   \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_exclusive_and_commuting,                          \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_two_parts, settle_suite::in_sessions<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_create, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_erase, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_replace, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_random, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_wave, settle_suite::in_sessions<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_due, settle_suite::in_sessions<Fixture>);         \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_mixed_wave, settle_suite::in_sessions<Fixture>);  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_fields, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_key_taken, settle_suite::in_sessions<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_scan, settle_suite::in_sessions<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_marks, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_resolve, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_one_log, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_reopened, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_insert, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_traceparent, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_insert_states,                                    \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_commit, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_claim, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_claim_initial,                                    \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_cancel, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_conflict, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_log_wave, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_log_changes, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_keep, settle_suite::in_sessions<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_pause, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_attempts, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_deciding, settle_suite::in_sessions<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_commit_and_close,                                 \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_keep_at_insert,                                   \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_kept_results,                                     \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_old_revision,                                     \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_keep_wave, settle_suite::in_sessions<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_results_reopened,                                 \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_ended, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_row, settle_suite::in_sessions<Fixture>);         \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_look_up, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_unfit, settle_suite::in_sessions<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_one_phase, settle_suite::in_sessions<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_joined_commit,                                    \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_one_phase_again,                                  \
                             settle_suite::in_sessions<Fixture>);                                  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_one_store, settle_suite::in_engines<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_births, settle_suite::in_sessions<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_late_entry, settle_suite::in_sessions<Fixture>);  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_last_moment, settle_suite::in_sessions<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_bars, settle_suite::in_sessions<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_listing, settle_suite::in_sessions<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_outcomes, settle_suite::in_engines<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_batch, settle_suite::in_engines<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_work, settle_suite::in_engines<Fixture>);         \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_reverse, settle_suite::in_engines<Fixture>);      \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_long_listings,                                    \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_create_all, settle_suite::in_engines<Fixture>);   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_create_all_ends,                                  \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_passed_limits,                                    \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_moved, settle_suite::in_engines<Fixture>);        \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_copied, settle_suite::in_engines<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_copied_in_steps,                                  \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_copied_without_type,                              \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_observed_ends,                                    \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_observer_throws,                                  \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_batch_throws, settle_suite::in_engines<Fixture>); \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_reentrant, settle_suite::in_engines<Fixture>);    \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_nested, settle_suite::in_engines<Fixture>);       \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_listing_ahead,                                    \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_purge_wrong_dates,                                \
                             settle_suite::in_engines<Fixture>);                                   \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_clock_ahead, settle_suite::in_engines<Fixture>);  \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_any_date, settle_suite::in_engines<Fixture>);     \
    TEST_CASE_TEMPLATE_APPLY(settle_suite::suite_patience, settle_suite::in_engines<Fixture>)
