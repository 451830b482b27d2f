// SPDX-License-Identifier: Apache-2.0
// The plain way: a stable merge sort of row numbers, on the host. The reference for the others.
#include "shuffle/sort/sort_host.h"
#include "base/costs_host.h"

#include <string.h>

typedef struct order {
    const hdst__sort_field *fields;
    size_t count;
    const char *rows;
    uint64_t size;
    const hdst__cancel *cancel;
} order;

static bool is_less(const order *o, const hdst__sort_entry *a, const hdst__sort_entry *b)
{
    if (a->key != b->key) return a->key < b->key;
    return hdst__sort_compare(o->fields, o->count, o->rows + a->index * o->size, o->rows + b->index * o->size) < 0;
}

static void insert_all(const order *o, hdst__sort_entry *e, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const hdst__sort_entry moved = e[i];
        uint64_t at = i;
        for (; at > 0 && is_less(o, &moved, &e[at - 1]); at--) e[at] = e[at - 1];
        e[at] = moved;
    }
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// false: cancelled.
static bool merge_two(const order *o, const hdst__sort_entry *a, uint64_t na, const hdst__sort_entry *b, uint64_t nb, hdst__sort_entry *to)
{
    while (na && nb) {
        if (hdst__cancel_asked(o->cancel)) return false;
        for (uint64_t steps = least(least(na, nb), HDST__HOST_CANCEL_RECORDS); steps > 0; steps--) {      // no side can run out in them
            const bool second = is_less(o, b, a);       // equal ones: the first stays first
            *to++ = second ? *b : *a;
            a += !second, na -= !second;
            b += second, nb -= second;
        }
    }
    memcpy(to, a, na * sizeof *a);
    memcpy(to + na, b, nb * sizeof *b);
    return true;
}

// The entries in runs of HDST__HOST_INSERTION_RECORDS. false: cancelled.
static bool make_short_runs(const order *o, hdst__sort_entry *entries, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += HDST__HOST_INSERTION_RECORDS) {
        const uint64_t n = least(count - i, HDST__HOST_INSERTION_RECORDS);
        if (i % HDST__HOST_CANCEL_RECORDS == 0 && hdst__cancel_asked(o->cancel)) return false;
        for (uint64_t k = i; k < i + n; k++) entries[k] = (hdst__sort_entry){hdst__sort_prefix(o->fields, o->count, o->rows + k * o->size), k};
        insert_all(o, entries + i, n);
    }
    return true;
}

hdst__sort_entry *hdst__sort_entries(const hdst__sort_field *fields, size_t field_count, const char *rows, uint64_t size, uint64_t count,
                                     hdst__sort_entry *entries, hdst__sort_entry *scratch, const hdst__cancel *cancel)
{
    const order o = {fields, field_count, rows, size, cancel};
    if (!make_short_runs(&o, entries, count)) return NULL;
    for (uint64_t run = HDST__HOST_INSERTION_RECORDS; run < count; run *= 2) {
        for (uint64_t i = 0; i < count; i += 2 * run) {
            const uint64_t left = count - i, na = left < run ? left : run, nb = left - na < run ? left - na : run;
            if (!merge_two(&o, entries + i, na, entries + i + na, nb, scratch + i)) return NULL;
        }
        hdst__sort_entry *swap = entries;
        entries = scratch;
        scratch = swap;
    }
    return entries;
}
