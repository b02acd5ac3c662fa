// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::mongodb: every function that depends on no type of a user.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/mongodb/address.ipp>
#include <settle/mongodb/bson.ipp>
#include <settle/mongodb/bulk.ipp>
#include <settle/mongodb/client.ipp>
#include <settle/mongodb/collections.ipp>
#include <settle/mongodb/decimal.ipp>
#include <settle/mongodb/entry_codec.ipp>
#include <settle/mongodb/entry_finder.ipp>
#include <settle/mongodb/error.ipp>
#include <settle/mongodb/layout.ipp>
#include <settle/mongodb/layout_check.ipp>
#include <settle/mongodb/log_identity.ipp>
#include <settle/mongodb/metadata.ipp>
#include <settle/mongodb/native.ipp>
#include <settle/mongodb/receiver.ipp>
#include <settle/mongodb/record_session.ipp>
#include <settle/mongodb/set_names.ipp>
#include <settle/mongodb/sole_read.ipp>
#include <settle/mongodb/sure_read.ipp>
