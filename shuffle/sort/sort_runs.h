// SPDX-License-Identifier: Apache-2.0
// Sorted runs in a temporary file, read back as one sorted sequence. (Tree of losers: Knuth, The Art of Computer Programming 3, 5.4.1.)
#ifndef HDST_SHUFFLE_SORT_SORT_RUNS_H
#define HDST_SHUFFLE_SORT_SORT_RUNS_H

#include "shuffle/sort/sort_key.h"
#include "engine/memory/spill.h"

typedef struct hdst__sort_run_place {   // in records of the file
    uint64_t first, count;
} hdst__sort_run_place;

typedef struct hdst__run_head {     // of a run that is being merged
    uint64_t next;                  // its record that comes next
    uint64_t prefix;                // of that one's key
    uint64_t loaded, count;         // records that the buffer holds: the first one, how many
    char *buffer;
} hdst__run_head;

typedef struct hdst__sort_runs {
    hdst__runtime *runtime;         // whose cancel is looked at while runs are merged
    const hdst__allocator *allocator;
    const hdst__sort_field *fields;
    size_t field_count;
    uint64_t size;                  // of a record
    hdst__spill file;
    hdst__sort_run_place *run;      // in input order: of equal records the earlier run's comes first
    size_t count, capacity;
    uint64_t records;
    uint64_t spilled;               // bytes, over all passes

    // Merging
    hdst__run_head *head;           // one per merged run
    uint32_t *loser;                // [0]: the winner
    size_t first, merged;           // which runs
    uint64_t each;                  // records of a head's buffer
    char *buffers;
    uint64_t position;              // of the next record in the result
    uint64_t *mark;                 // positions of the heads at every `mark_step` records, so that reading can go back
    uint64_t marks, mark_step;
} hdst__sort_runs;

void hdst__sort_runs_init(hdst__sort_runs *runs, hdst__runtime *runtime, const hdst__sort_field *fields, size_t field_count, uint64_t size);
void hdst__sort_runs_release(hdst__sort_runs *runs);
// Begins a run; the records that hdst__spill_add adds to `file` are its, in order, `records` of them.
hdst_status hdst__sort_runs_add(hdst__sort_runs *runs, uint64_t records, hdst_error *error);
// Bytes that hdst__sort_runs_end needs.
uint64_t hdst__sort_runs_least(const hdst__sort_runs *runs);
// No more runs come. With buffers of `bytes` altogether; more runs than have room for a buffer are merged to fewer first, in another file.
hdst_status hdst__sort_runs_end(hdst__sort_runs *runs, uint64_t bytes, hdst_error *error);
// Records first ... first + count - 1 of the result, in any order of calls; one after the other is quick.
hdst_status hdst__sort_runs_read(hdst__sort_runs *runs, uint64_t first, uint64_t count, char *rows, hdst_error *error);

#endif
