// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::sqlite: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/sqlite.ipp>
#include <settle/sqlite/connection/connection.ipp>
#include <settle/sqlite/connection/error.ipp>
#include <settle/sqlite/connection/file.ipp>
#include <settle/sqlite/connection/file_access.ipp>
#include <settle/sqlite/connection/file_home.ipp>
#include <settle/sqlite/connection/file_status.ipp>
#include <settle/sqlite/connection/file_watch.ipp>
#include <settle/sqlite/connection/group_commit.ipp>
#include <settle/sqlite/connection/open_files.ipp>
#include <settle/sqlite/connection/row.ipp>
#include <settle/sqlite/connection/schema.ipp>
#include <settle/sqlite/connection/wave_rows.ipp>
#include <settle/sqlite/connection/writer.ipp>
#include <settle/sqlite/kind.ipp>
#include <settle/sqlite/log/entry_reader.ipp>
#include <settle/sqlite/log/entry_table.ipp>
#include <settle/sqlite/log/entry_wave.ipp>
#include <settle/sqlite/log/log_session.ipp>
#include <settle/sqlite/receiver/receiver.ipp>
#include <settle/sqlite/receiver/receiver_schema.ipp>
#include <settle/sqlite/records/record_session.ipp>
#include <settle/sqlite/records/record_sql.ipp>
#include <settle/sqlite/records/table_check.ipp>
