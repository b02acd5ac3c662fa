// SPDX-License-Identifier: BSL-1.0
// The compiled part of settle::http.
#ifndef SETTLE_COMPILED
#define SETTLE_COMPILED
#endif

#include <settle/http.ipp>
#include <settle/http/answer.ipp>
#include <settle/http/destination.ipp>
#include <settle/http/digest.ipp>
#include <settle/http/session.ipp>
#include <settle/http/transfer.ipp>
#include <settle/http/wire.ipp>
