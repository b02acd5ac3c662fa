// SPDX-License-Identifier: BSL-1.0
// The functions of a handler take the session of its database.
// expect: settle: the handler's 'compensate' must take (session&, settle::service_call const&)
#include <settle/sqlite/receiver/receiver.hpp>

namespace bank {

using session = settle::sqlite::receiver_session;

struct handler {
    settle::service_answer apply(session&, settle::service_call const&) const {
        return settle::service_answer::ok();
    }
#ifdef FIXED
    settle::service_answer compensate(session&, settle::service_call const&) const {
#else
    settle::service_answer compensate(sqlite3*, settle::service_call const&) const {
#endif
        return settle::service_answer::ok();
}
}; // namespace bank

inline settle::service_answer take(settle::receiver<settle::sqlite::receiver_database>& receiver,
                                   settle::service_call const& call) {
    return receiver.take(call, handler{});
}

} // namespace bank
