// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::sqlite: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/sqlite.ipp>
#include <settle/sqlite/connection.ipp>
#include <settle/sqlite/entry_reader.ipp>
#include <settle/sqlite/entry_table.ipp>
#include <settle/sqlite/entry_wave.ipp>
#include <settle/sqlite/error.ipp>
#include <settle/sqlite/file.ipp>
#include <settle/sqlite/file_access.ipp>
#include <settle/sqlite/file_home.ipp>
#include <settle/sqlite/file_status.ipp>
#include <settle/sqlite/file_watch.ipp>
#include <settle/sqlite/group_commit.ipp>
#include <settle/sqlite/log_session.ipp>
#include <settle/sqlite/open_files.ipp>
#include <settle/sqlite/receiver.ipp>
#include <settle/sqlite/receiver_schema.ipp>
#include <settle/sqlite/record_session.ipp>
#include <settle/sqlite/record_sql.ipp>
#include <settle/sqlite/row.ipp>
#include <settle/sqlite/schema.ipp>
#include <settle/sqlite/table_check.ipp>
#include <settle/sqlite/wave_rows.ipp>
#include <settle/sqlite/writer.ipp>
