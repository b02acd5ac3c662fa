// SPDX-License-Identifier: BSL-1.0
// The compiled part of the core: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/adapter/collection.ipp>
#include <settle/adapter/image_codec.ipp>
#include <settle/adapter/mark_columns.ipp>
#include <settle/adapter/mark_effect.ipp>
#include <settle/adapter/ownership.ipp>
#include <settle/adapter/receiver_table.ipp>
#include <settle/adapter/retry_pauses.ipp>
#include <settle/adapter/row_values.ipp>
#include <settle/adapter/sql/table_values.ipp>
#include <settle/adapter/sql_connection.ipp>
#include <settle/adapter/sql_values.ipp>
#include <settle/adapter/table_rules.ipp>
#include <settle/adapter/wave_executor.ipp>
#include <settle/definition/canonical.ipp>
#include <settle/receiver.ipp>
#include <settle/running/one_phase.ipp>
#include <settle/running/seam_calls.ipp>
#include <settle/running/seam_driver.hpp>
#include <settle/store/codec.ipp>
#include <settle/store/environment.ipp>
#include <settle/store/error.ipp>
#include <settle/store/json_cursor.ipp>
#include <settle/store/json_reader.ipp>
#include <settle/store/json_writer.ipp>
#include <settle/store/native_value.ipp>
#include <settle/store/owner.ipp>
#include <settle/store/prepared_session.ipp>
#include <settle/store/preparing_resource.ipp>
#include <settle/store/process.ipp>
#include <settle/store/service_part.ipp>
#include <settle/store/service_session.ipp>
#include <settle/store/utf8.ipp>

SETTLE_BEGIN
template class detail::basic_wave_executor<detail::wave_rules>;
template class driver<detail::seam_calls, detail::any_environment<detail::order_rules>,
                      detail::any_observer>;
SETTLE_END
