// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mongodb: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/mongodb/connection/address.ipp>
#include <settle/mongodb/connection/bson.ipp>
#include <settle/mongodb/connection/bulk.ipp>
#include <settle/mongodb/connection/client.ipp>
#include <settle/mongodb/connection/collections.ipp>
#include <settle/mongodb/connection/driver_threads.ipp>
#include <settle/mongodb/connection/error.ipp>
#include <settle/mongodb/connection/metadata.ipp>
#include <settle/mongodb/connection/native.ipp>
#include <settle/mongodb/connection/set_names.ipp>
#include <settle/mongodb/connection/sure_read.ipp>
#include <settle/mongodb/kind.ipp>
#include <settle/mongodb/log/entry_layout.ipp>
#include <settle/mongodb/log/log_identity.ipp>
#include <settle/mongodb/receiver/receiver.ipp>
#include <settle/mongodb/records/field_codec.ipp>
#include <settle/mongodb/records/layout.ipp>
#include <settle/mongodb/records/record_session.ipp>
