// SPDX-License-Identifier: BSL-1.0
// The compiled part of the core: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/adapter/any_database.ipp>
#include <settle/adapter/any_slot.ipp>
#include <settle/adapter/collection.ipp>
#include <settle/adapter/image_codec.ipp>
#include <settle/adapter/mark_columns.ipp>
#include <settle/adapter/mark_effect.ipp>
#include <settle/adapter/ownership.ipp>
#include <settle/adapter/receiver_table.ipp>
#include <settle/adapter/retry_pauses.ipp>
#include <settle/adapter/row_values.ipp>
#include <settle/adapter/sql/table_column.ipp>
#include <settle/adapter/sql/table_values.ipp>
#include <settle/adapter/sql_connection.ipp>
#include <settle/adapter/sql_values.ipp>
#include <settle/adapter/table_rules.ipp>
#include <settle/adapter/wave_executor.ipp>
#include <settle/base/environment.ipp>
#include <settle/base/error.ipp>
#include <settle/base/json_cursor.ipp>
#include <settle/base/json_reader.ipp>
#include <settle/base/json_writer.ipp>
#include <settle/base/native_value.ipp>
#include <settle/base/process.ipp>
#include <settle/base/trace_context.ipp>
#include <settle/base/utf8.ipp>
#include <settle/definition/canonical.ipp>
#include <settle/definition/codec.ipp>
#include <settle/definition/definition_items.ipp>
#include <settle/kinds/prepared/prepared_session.ipp>
#include <settle/kinds/prepared/preparing_resource.ipp>
#include <settle/kinds/services/call_under_way.ipp>
#include <settle/kinds/services/service_part.ipp>
#include <settle/kinds/services/service_session.ipp>
#include <settle/metrics/figures.ipp>
#include <settle/metrics/thread.ipp>
#include <settle/model.ipp>
#include <settle/model/text.ipp>
#include <settle/picture.ipp>
#include <settle/protocol/explanation.ipp>
#include <settle/protocol/reversal.ipp>
#include <settle/receiver.ipp>
#include <settle/running/calls/batch.ipp>
#include <settle/running/calls/committed_read.ipp>
#include <settle/running/calls/conclusion.ipp>
#include <settle/running/calls/creation.ipp>
#include <settle/running/calls/directions.ipp>
#include <settle/running/calls/doubts.ipp>
#include <settle/running/calls/engine_calls.ipp>
#include <settle/running/calls/finisher.ipp>
#include <settle/running/calls/forecast.ipp>
#include <settle/running/calls/ids.ipp>
#include <settle/running/calls/marks.ipp>
#include <settle/running/calls/new_job.ipp>
#include <settle/running/calls/operation.ipp>
#include <settle/running/calls/outcome.ipp>
#include <settle/running/calls/patience.ipp>
#include <settle/running/calls/recovery.ipp>
#include <settle/running/calls/refusals.ipp>
#include <settle/running/calls/shared_windows.ipp>
#include <settle/running/calls/sharing.ipp>
#include <settle/running/calls/statistics.ipp>
#include <settle/running/calls/windows.ipp>
#include <settle/running/calls/worker.ipp>
#include <settle/running/construction/home.ipp>
#include <settle/running/construction/horizon.ipp>
#include <settle/running/construction/owner.ipp>
#include <settle/running/driving/call_pauses.ipp>
#include <settle/running/driving/deadlines.ipp>
#include <settle/running/driving/execution_state.ipp>
#include <settle/running/driving/failing_parts.ipp>
#include <settle/running/driving/one_phase.ipp>
#include <settle/running/driving/ports.ipp>
#include <settle/running/driving/retries.ipp>
#include <settle/running/driving/seam_calls.ipp>
#include <settle/running/driving/seam_driver.ipp>
#include <settle/running/driving/seam_waves.ipp>
#include <settle/running/driving/store_waves.ipp>
#include <settle/running/runner/operations.ipp>
#include <settle/store/descriptor.ipp>
#include <settle/store/parts_under_way.ipp>
#include <settle/store/record_descriptor.ipp>

SETTLE_BEGIN
template class detail::basic_wave_executor<detail::wave_rules>;
template class detail::seam_driver<detail::order_rules>;
template class detail::seam_jobs<detail::order_rules>;
template class detail::shared_windows<detail::order_rules>;
template class detail::finisher<detail::order_rules>;
template class detail::engine_calls<detail::order_rules>;
template class basic_operation<detail::order_rules>;
template class detail::batch<detail::seam_jobs<detail::order_rules>,
                             detail::function_view<void(std::size_t, outcome&&)> const>;
template void detail::seam_batch<detail::order_rules>::take<detail::given_parameters const&>(
    transaction_id&&, bool, detail::given_parameters const&, std::size_t);
template class detail::operations<detail::order_rules>;
template struct detail::seam_context<detail::order_rules>;
template class detail::worker<detail::seam_context<detail::order_rules>>;
SETTLE_END
