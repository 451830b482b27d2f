// SPDX-License-Identifier: Apache-2.0
// All rows of each key as functions look them up, `lookup V t[K][]` (codegen/lower/rows_of_key.c): the records of an arranged dataset, or what they have
// beside the key, and where those of each key begin. They stay with the dataset, so all that look up in it share them. The context's lock is held.
#ifndef HDST_PLAN_KEY_STRETCHES_H
#define HDST_PLAN_KEY_STRETCHES_H

#include "plan/bound_lookup.h"
#include "plan/plan.h"

typedef struct hdst__key_stretches {
    struct hdst__key_stretches *next;       // others of the dataset, whose rows have other fields
    hdst__bytes_move *moves;                // from a record to a row
    size_t move_count;
    uint64_t row_size;
    char *rows;
    uint64_t *starts;                       // of each key up to the largest, then the number of rows
    uint64_t count, keys;
    hdst__text_heap *texts;                 // what texts of the rows refer to; NULL: nothing
} hdst__key_stretches;

typedef struct hdst__stretches_wanted {
    const hdst__bound_lookup *lookup;
    const hdst__bytes_move *moves;
    size_t move_count;
    const hdst__record *row;
} hdst__stretches_wanted;

// Those of a filled dataset that `list` begins with, or made of what `reader` reads, and put there. HDST_E_RECORD: a key is negative. *made: they were not
// there.
hdst_status hdst__key_stretches_find(hdst__key_stretches **list, hdst__engine *engine, const hdst__stretches_wanted *wanted, const hdst__reader *reader,
                                     hdst__key_stretches **found, bool *made, hdst__run_stats *stats, hdst_error *error);
void hdst__key_stretches_end(hdst__key_stretches **list, hdst__engine *engine);         // all of them

#endif
