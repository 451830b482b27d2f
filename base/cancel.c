// SPDX-License-Identifier: Apache-2.0
// Ends the call that is in progress, from another thread or a signal handler (base/cancel.h).
#include "base/cancel.h"

#include <inttypes.h>

void hdst__cancel_begin(hdst__cancel *cancel)
{
    const uint64_t last = atomic_load(&cancel->word);
    atomic_store(&cancel->word, (last / HDST__CANCEL_NEXT + 1) * HDST__CANCEL_NEXT | HDST__CANCEL_IN_PROGRESS);
}

void hdst__cancel_end(hdst__cancel *cancel)
{
    atomic_store(&cancel->word, atomic_load(&cancel->word) / HDST__CANCEL_NEXT * HDST__CANCEL_NEXT);
}

void hdst__cancel_ask(hdst__cancel *cancel)
{
    hdst__cancel_ask_call(cancel, hdst__cancel_call(cancel));
}

uint64_t hdst__cancel_call(const hdst__cancel *cancel) { return atomic_load(&((hdst__cancel *)cancel)->word) / HDST__CANCEL_NEXT; }

void hdst__cancel_ask_call(hdst__cancel *cancel, uint64_t call)
{
    uint64_t word = atomic_load(&cancel->word);
    while (word & HDST__CANCEL_IN_PROGRESS && word / HDST__CANCEL_NEXT == call &&
           !atomic_compare_exchange_weak(&cancel->word, &word, word | HDST__CANCEL_ASKED)) {}
}

hdst_status hdst__cancel_error(uint64_t done, uint64_t all, hdst_error *error)
{
    if (all == 0) return hdst__error_set(error, HDST_E_CANCELLED, "cancelled");
    return hdst__error_set(error, HDST_E_CANCELLED, "cancelled after %" PRIu64 " of %" PRIu64 " records", done, all);
}

hdst_status hdst__cancel_check(const hdst__cancel *cancel, uint64_t done, uint64_t all, hdst_error *error)
{
    return hdst__cancel_asked(cancel) ? hdst__cancel_error(done, all, error) : HDST_OK;
}
