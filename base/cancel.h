// SPDX-License-Identifier: Apache-2.0
// Ends the call that is in progress, from another thread or a signal handler. Code that may take long polls this now and then.
//
// A request concerns the call that is in progress when it comes and no other: one word holds the number of the call
// and both flags, and is only changed whole, so a request that comes too late finds another number and does nothing.
#ifndef HDST_BASE_CANCEL_H
#define HDST_BASE_CANCEL_H

#include "base/error_object.h"

#include <stdatomic.h>

typedef struct hdst__cancel {
    _Atomic uint64_t word;          // zeroed at first
} hdst__cancel;

enum { HDST__CANCEL_IN_PROGRESS = 1, HDST__CANCEL_ASKED = 2, HDST__CANCEL_NEXT = 4 };

// Around a call, one at a time.
void hdst__cancel_begin(hdst__cancel *cancel);
void hdst__cancel_end(hdst__cancel *cancel);
// Async-signal-safe.
void hdst__cancel_ask(hdst__cancel *cancel);
// The call in progress, for who is in it; and the end of that call alone: nothing happens once it is over. The second is async-signal-safe.
uint64_t hdst__cancel_call(const hdst__cancel *cancel);
void hdst__cancel_ask_call(hdst__cancel *cancel, uint64_t call);

// Costs a load. NULL: never.
static inline bool hdst__cancel_asked(const hdst__cancel *cancel)
{
    return cancel && (atomic_load_explicit(&((hdst__cancel *)cancel)->word, memory_order_relaxed) & HDST__CANCEL_ASKED);
}

// HDST_OK, or HDST_E_CANCELLED with "cancelled after 3 of 10 records", where `all` is 0 "cancelled".
hdst_status hdst__cancel_check(const hdst__cancel *cancel, uint64_t done, uint64_t all, hdst_error *error);
hdst_status hdst__cancel_error(uint64_t done, uint64_t all, hdst_error *error);

#endif
