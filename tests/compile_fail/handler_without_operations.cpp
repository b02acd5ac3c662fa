// SPDX-License-Identifier: BSL-1.0
// A handler of a receiver has an apply or a confirm.
// expect: settle: the handler has no 'apply', no 'confirm' and no 'query'.
#include <settle/sqlite/receiver/receiver.hpp>

namespace bank {

using session = settle::sqlite::receiver_session;

struct handler {
#ifdef FIXED
    settle::service_answer apply(session&, settle::service_call const&) const {
#else
    settle::service_answer aply(session&, settle::service_call const&) const {
#endif
        return settle::service_answer::ok();
}
}; // namespace bank

inline settle::service_answer take(settle::receiver<settle::sqlite::receiver_database>& receiver,
                                   settle::service_call const& call) {
    return receiver.take(call, handler{});
}

} // namespace bank
