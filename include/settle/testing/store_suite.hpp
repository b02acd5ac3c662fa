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
#include <settle/testing/store_suite/log_call_cases.hpp>
#include <settle/testing/store_suite/log_cases.hpp>
#include <settle/testing/store_suite/members.hpp>
#include <settle/testing/store_suite/model_cases.hpp>
#include <settle/testing/store_suite/nested_cases.hpp>
#include <settle/testing/store_suite/one_phase_cases.hpp>
#include <settle/testing/store_suite/patience_cases.hpp>
#include <settle/testing/store_suite/session_cases.hpp>
#include <settle/testing/store_suite/stage_cases.hpp>
#include <settle/testing/store_suite/time_cases.hpp>

/// Instantiates every case for one fixture.
#define SETTLE_STORE_SUITE(Fixture)                                                                \
    static_assert(settle::testing::has_members<typename Fixture::database>);                       \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_holds, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_expect, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_create_wave, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_overlap, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_threads, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_one_mark, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_no_record, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_lower_bound, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_upper_bound, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_many_marks, Fixture);                         \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_bound_in_wave, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_exact_guard, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_overflow, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_range, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_assignment, Fixture);                         \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_assignment_guards, Fixture);                  \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_exclusive_sums, Fixture);                     \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_exclusive_and_commuting, Fixture);            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_two_parts, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_create, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_erase, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_replace, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_random, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_wave, Fixture);                               \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_due, Fixture);                                \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_mixed_wave, Fixture);                         \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_fields, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_key_taken, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_scan, Fixture);                               \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_marks, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_resolve, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_one_log, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_reopened, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_insert, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_insert_states, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_commit, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_claim, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_claim_initial, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_cancel, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_conflict, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_log_wave, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_log_changes, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_keep, Fixture);                               \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_attempts, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_deciding, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_commit_and_close, Fixture);                   \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_keep_at_insert, Fixture);                     \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_kept_results, Fixture);                       \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_old_revision, Fixture);                       \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_keep_wave, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_results_reopened, Fixture);                   \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_ended, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_row, Fixture);                                \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_look_up, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_unfit, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_one_phase, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_one_phase_again, Fixture);                    \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_listing, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_outcomes, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_batch, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_work, Fixture);                               \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_reverse, Fixture);                            \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_long_listings, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_create_all, Fixture);                         \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_create_all_ends, Fixture);                    \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_passed_limits, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_moved, Fixture);                              \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_copied, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_copied_in_steps, Fixture);                    \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_copied_without_type, Fixture);                \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_observed_ends, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_observer_throws, Fixture);                    \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_batch_throws, Fixture);                       \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_reentrant, Fixture);                          \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_nested, Fixture);                             \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_listing_ahead, Fixture);                      \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_purge_wrong_dates, Fixture);                  \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_clock_ahead, Fixture);                        \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_any_date, Fixture);                           \
    TEST_CASE_TEMPLATE_INVOKE(settle::testing::suite_patience, Fixture)
