// SPDX-License-Identifier: Apache-2.0
// A callback that does not say beforehand how many records it has: it gives those that it is asked for, or fewer, and tells when it is at its end.
#include "io/source.h"

#include "base/costs_host.h"

#include <string.h>

enum { MOST_IN_VAIN = 1000 };       // calls one after another that give nothing and do not end either

typedef struct uncounted_state {
    hdst__uncounted_callback fill;
    void *user;
    const hdst__cancel *cancel;
    hdst__open_end end;
} uncounted_state;

static hdst_status bind_uncounted(hdst__source *source, const hdst__record *record, hdst_error *error)
{
    if (source->row_bytes && source->row_bytes != record->size)
        return hdst__error_set(error, HDST_E_USAGE, "the callback already gives records of %llu bytes, record '%s' has %llu",
                               (unsigned long long)source->row_bytes, record->name, (unsigned long long)record->size);
    source->row_bytes = record->size;
    return HDST_OK;
}

// --- What callbacks get wrong ---

static hdst_status has_failed(uint64_t first, uint64_t count, char *message, hdst_error *error)
{
    message[HDST__CALLBACK_MESSAGE - 1] = 0;
    hdst__error_set(error, HDST_E_IO, "the source's callback failed at records %llu to %llu", (unsigned long long)first,
                    (unsigned long long)(first + count - 1));
    if (message[0]) hdst__error_cause(error, "%s", message);
    return HDST_E_IO;
}

static hdst_status gives_more(uint64_t first, uint64_t count, uint64_t given, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "the source's callback says that it gave %llu records from %llu on, it was asked for %llu", (unsigned long long)given,
                    (unsigned long long)first, (unsigned long long)count);
    hdst__error_hint(error, "there is room for as many as it is asked for; it is asked for the others later");
    return HDST_E_IO;
}

static hdst_status gives_nothing(uint64_t first, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "the source's callback gave no record %llu, nor did it say that there is none, in %d calls", (unsigned long long)first,
                    MOST_IN_VAIN);
    hdst__error_hint(error, "set *ended where records end; where they come later, wait for them in the callback");
    return HDST_E_IO;
}

static hdst_status has_two_ends(uint64_t end, uint64_t given, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "the source's callback ended before record %llu, and gave record %llu", (unsigned long long)end,
                    (unsigned long long)(given - 1));
    hdst__error_hint(error, "it must give the same records whenever it is asked, and end behind the last of them");
    return HDST_E_IO;
}

static hdst_status never_ends(hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "the source's callback has given %llu records and has not ended", (unsigned long long)HDST__OPEN_RECORDS);
    hdst__error_hint(error, "a source that never ends can be read with hdst_slice behind a map or filter, for its first records");
    return HDST_E_IO;
}

// --- Reading ---

// given: behind the last record that was given, or 0; end: the first one that is not there, or UINT64_MAX.
static hdst_status note(uncounted_state *state, uint64_t given, uint64_t end, hdst_error *error)
{
    uint64_t most = atomic_load(&state->end.given), least = atomic_load(&state->end.records);
    while (given > most && !atomic_compare_exchange_weak(&state->end.given, &most, given)) continue;
    while (end < least && !atomic_compare_exchange_weak(&state->end.records, &least, end)) continue;
    most = atomic_load(&state->end.given);
    least = atomic_load(&state->end.records);
    return most > least ? has_two_ends(least, most, error) : HDST_OK;
}

// One call's worth, or several: a callback need not give all at once. *ended: there are no more than were given.
static hdst_status ask(hdst__source *source, uint64_t first, uint64_t count, char *rows, uint64_t *given, bool *ended, hdst_error *error)
{
    uncounted_state *state = source->state;
    uint32_t in_vain = 0;
    hdst_status status = HDST_OK;
    *ended = false;
    for (*given = 0; *given < count && !*ended && status == HDST_OK;) {
        char message[HDST__CALLBACK_MESSAGE] = "";
        const uint64_t at = first + *given, wanted = count - *given;
        uint64_t more = 0;
        if (!state->fill(at, wanted, rows + *given * source->row_bytes, &more, ended, message, state->user)) return has_failed(at, wanted, message, error);
        if (more > wanted) return gives_more(at, wanted, more, error);
        if (more == 0 && !*ended && ++in_vain == MOST_IN_VAIN) return gives_nothing(at, error);
        if (more) in_vain = 0;
        *given += more;
        status = hdst__cancel_check(state->cancel, at, 0, error);
    }
    return status;
}

// What lies behind the end, as far as that is known, is not asked for.
static hdst_status read_uncounted(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    (void)as;
    uncounted_state *state = source->state;
    const uint64_t there = hdst__open_end_within(&state->end, first, count);
    uint64_t given;
    bool ended;
    memset(rows, 0, count * source->row_bytes);
    if (there == 0) return HDST_OK;
    const hdst_status status = ask(source, first, there, rows, &given, &ended, error);
    if (status != HDST_OK) return status;
    return note(state, given ? first + given : 0, ended ? first + given : UINT64_MAX, error);
}

// For whoever has to know the number beforehand: all that was not given yet is asked for, and thrown away.
static hdst_status count_uncounted(hdst__source *source, hdst_error *error)
{
    uncounted_state *state = source->state;
    const uint64_t fit = HDST__HOST_BOUND_STAGING_BYTES / source->row_bytes, each = fit ? fit : 1;
    char *rows = hdst__alloc(source->allocator, each * source->row_bytes);
    if (!rows) return hdst__error_memory(error, source->name);
    hdst_status status = HDST_OK;
    while (status == HDST_OK && !hdst__open_end_is_found(&state->end)) {
        const uint64_t first = atomic_load(&state->end.given);
        status = first < HDST__OPEN_RECORDS ? read_uncounted(source, NULL, first, each, rows, error) : never_ends(error);
        if (status == HDST_OK) status = hdst__cancel_check(state->cancel, first, 0, error);
    }
    hdst__free(source->allocator, rows);
    if (status == HDST_OK) source->rows = atomic_load(&state->end.records);
    return status;
}

static void close_uncounted(hdst__source *source) { hdst__free(source->allocator, source->state); }

static const hdst__source_format uncounted_format = {.name = "callback", .count = count_uncounted, .read = read_uncounted, .bind = bind_uncounted,
                                                     .close = close_uncounted, .in_process = true};

hdst__source *hdst__source_from_uncounted_callback(const hdst__allocator *allocator, hdst__uncounted_callback fill, void *user, bool concurrent,
                                                   const hdst__cancel *cancel, hdst_error *error)
{
    if (!fill) {
        hdst__error_set(error, HDST_E_USAGE, "a source whose callback is NULL");
        return NULL;
    }
    hdst__source *source = hdst__source_new(allocator, &uncounted_format, "callback", error);
    uncounted_state *state = source ? hdst__alloc(allocator, sizeof *state) : NULL;
    if (!state) {
        if (source) hdst__error_memory(error, "callback");
        hdst__source_close(source);
        return NULL;
    }
    *state = (uncounted_state){fill, user, cancel, {UINT64_MAX, 0}};
    source->state = state;
    source->open_end = &state->end;
    source->concurrent = concurrent;
    return source;
}
