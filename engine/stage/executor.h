// SPDX-License-Identifier: Apache-2.0
// One scan over an input: the calling thread fills segments and submits slices, as a scheduling policy (partition/) has them; what a device has finished
// comes back as events.
#ifndef HDST_ENGINE_STAGE_EXECUTOR_H
#define HDST_ENGINE_STAGE_EXECUTOR_H

#include "accum/overflow_table.h"
#include "engine/memory/dataset_cache.h"
#include "engine/memory/output.h"
#include "engine/memory/segment.h"
#include "engine/stage/assembly.h"
#include "engine/stage/device_rows.h"
#include "engine/stage/combined_tables.h"
#include "engine/stage/record_parts.h"
#include "engine/stage/shape_search.h"
#include "engine/stage/team.h"
#include "partition/policy.h"
#include "partition/power_estimate.h"

#include "engine/common/run_stats.h"
#include "base/costs_host.h"

#include <pthread.h>

typedef struct hdst__executor hdst__executor;

typedef struct hdst__slot {             // a slice in flight
    hdst__executor *executor;
    hdst__ticket ticket;
    bool done;                          // guarded by the executor's mutex; set by the device's thread
    hdst__segment *segment;
    uint64_t skip, count;               // records before it in the segment, records
    hdst__memory *output, *places;      // kept from slice to slice; NULL when the stage has none
    bool is_enlarged;                   // `output` is a larger one, for the output of one record
    bool is_part;                       // `segment` has parts of one record:
    uint64_t whole;                     //     which that is, of the whole input
    uint64_t *readback;                 // of `places`: what the host asks for
    uint64_t error_word;                // of the device after this slice
    const uint64_t *error_at;           // it, or what came back with the table
    bool combines;                      // its records go to the pass's rows as they are made: `places` say how many have no place there, how many were made
    uint32_t turn;                      //     in so many turns, as it has room for some of those at once
    hdst__program *program;
    uint32_t try;                       // with a pass's tuning: its shape
    hdst__memory wrapped;               // with a pass that wraps: its place there
    char *place;                        // NULL, or where in the output the device copies its records to: nobody need copy them then
    hdst__chunk *chunk;                 // where its output goes when several workers make it; NULL: to the pass's output
} hdst__slot;

struct hdst__executor {
    hdst__device *device;
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    hdst__slot slot[HDST__HOST_SLICES_IN_FLIGHT];       // a queue: a device finishes slices in the order of submission
    uint32_t slots, oldest, in_flight;  // of them: there are so many
    uint64_t readback_words;
    hdst__memory *landing;              // NULL, or where output that is the device's alone comes to the host, piece by piece
};

typedef struct hdst__pass {
    const hdst__reader *reader;
    hdst__dataset_cache *cache;         // prepared and resident, as a whole or in part, or NULL: streamed
    hdst__ring *ring;
    const hdst__storage *piece, *last;  // of the ring's segments: a full one, and the last one of a stream
    hdst__program *program;
    hdst__tuning *tuning;               // NULL, or slices try shapes, each of which has a program in `tries`
    hdst__program *const *tries;
    hdst__launch launch;                // what all slices share
    uint64_t slice_least, slice_most;   // records, multiples of 64
    double slice_seconds;               // that a slice is to take
    uint64_t slice_records;             // that somebody asked for, in place of what is chosen; 0: nobody did
    hdst__output *output;               // NULL: none
    uint64_t row_bytes;                 // of a record as kernels write it
    struct hdst__built_texts *built;    // not NULL: what they write has texts to be taken apart, and this is how
    uint64_t group;                     // records for each output record: 1, or HDST__FOLD_RECORDS
    ir_output_way way;
    uint64_t runs_at;                   // not 0: COUNTED at most: the place in what is read back from which on two words of each strip say what it wrote
    uint64_t room;                      // output records of a slot
    bool in_place;                      // DENSE: kernels write straight into the output's store, or its window
    struct hdst__window *window;        // not NULL: kernels write the output on the host; `room` has no meaning then
    uint64_t bound;                     // COUNTED: output records of one record at most
    hdst__combined_tables *combined;    // NULL, or where kernels make records fewer
    hdst__device_rows *rows;          // the same of a GPU
    bool checks;                        // the kernel has an error word
    void *table;                        // NULL, or where the device's table goes after the last slice
    uint64_t table_bytes;
    hdst__memory *results;              // NULL, or the memory in which launch.table and launch.error lie one behind the other, and which has them on
                                        // the host too
    uint64_t *overflow_state;           // NULL, or where the state of launch.overflow goes after the last slice
    bool has_overflow_state;            // out: it went there
    uint64_t clear_words;               // of the table, cleared for the next run once it is read; 0: none
    bool table_is_unused;               // and has nothing to be cleared, as kernels write the rows
    bool is_clear;                      // out: that was done
    uint64_t limit;                     // not 0: output records after which the rest of the input need not be looked at
    bool streams;                       // segments are filled while slices run
    hdst__power *power;                 // the policy keeps it
    hdst__power_estimate *measured;     // NULL, or what its slices cost
    const hdst__record_parts *parts;    // not NULL: what a record gives is what parts of it give (record_parts.h)
    uint64_t record_room;               // COUNTED: output records of one record at most
    uint64_t too_many_record, too_many; // out: one that gave more, and how many
    double *outputs_per_record;         // COUNTED: measured here
    uint64_t outputs, came;             // COUNTED: records that there was room for, or that came out, so far; those that did
    uint64_t counted;                   //     and of how many input records
    hdst__run_stats *stats;
    uint64_t base;                      // of the whole input: the reader's first record, where a worker has a part of its own
    hdst__team *team;                   // NULL: this worker is alone
    uint32_t worker;                    // its number in the schedule
    uint32_t number;                    // in the team: 0 gives away what all have made. With a part of its own a worker is number 0 of its own schedule
    bool wraps;                         // kernels write each record into the chunk of its share, which is memory of the host's
    bool reads_at_end;                  // nobody knows which slice is its last: the table is read once all have ended
    const hdst__policy *policy;         // the team's, or set here, as is the schedule
    hdst__schedule *schedule;
    double last_end;                    // when the last slice ended; 0: it was waited for, or there was none
    hdst__chunk *chunk;                 // of the share in progress
    uint64_t at;                        //     and where that begins
    uint64_t failure;                   // out: UINT64_MAX, or the error word of the failing record with the smallest index
    uint64_t broken_at;                 // the first record that an error kept from being looked at, or from being given on; UINT64_MAX: none was
} hdst__pass;

typedef struct hdst__slot_sizes {
    uint64_t output_bytes;
    uint64_t place_words, readback_words;   // of PLACES (codegen/opencl/kernel.h): all, and those at the start that the host reads
    uint32_t slots;                     // slices in flight at most
    const hdst__storage *piece;         // through one of which, at least, the input streams: slots but for the first leave it room
    bool counts_on_host;                // a C function writes PLACES
    bool in_window;                     // all slots' outputs lie one behind another: they have one PLACES
    bool stays;                         // outputs go on within the device: the host has no part in them
    bool lands;                         // outputs are the device's alone: what the host takes of them lands in a piece of its memory
} hdst__slot_sizes;

enum { HDST__TOO_MANY = 0xffff };       // in place of a check in the error word: the record emits more than fits

// Memory for the output of slices.
hdst_status hdst__executor_create(hdst__device *device, const hdst__slot_sizes *sizes, hdst__executor **executor, hdst_error *error);
void hdst__executor_destroy(hdst__executor *executor);      // NULL is fine

// Submits the copy of the overflow table's state, if that is wanted; it is there once what was submitted then has ended.
static inline hdst_status hdst__pass_read_overflow_state(hdst__device *device, hdst__pass *pass, hdst_error *error)
{
    if (!pass->overflow_state) return HDST_OK;
    pass->has_overflow_state = true;
    return device->ops->read(device, pass->launch.overflow, HDST__OVERFLOW_STATE * sizeof(uint64_t), pass->overflow_state, sizeof(uint64_t), false, error);
}

// Runs all slices that the schedule gives this worker. When it returns nothing is in flight. HDST_OK also when a record failed: then `failure` says which.
hdst_status hdst__execute(hdst__executor *executor, hdst__pass *pass, hdst_error *error);

// An error met what begins at that record of the whole input.
static inline void hdst__pass_note_broken(hdst__pass *pass, uint64_t at)
{
    if (at < pass->broken_at) pass->broken_at = at;
}

// executor_start.c: records [skip, skip + count) of the slot's segment begin. `alone`: nobody is told when they end; settling the slot's ticket waits.
hdst_status hdst__executor_start(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, uint64_t skip, uint64_t count, bool alone, hdst_error *error);
hdst_status hdst__slot_unwrap(hdst__executor *executor, hdst__slot *slot, hdst_error *error);     // with a pass that wraps: the place is the host's again

static inline bool hdst__slot_overflows(const hdst__slot *slot, const hdst__pass *pass)
{
    return pass->way == IR_OUTPUT_COUNTED && !pass->window && slot->readback[0] > pass->room;
}

// Whether a record of these, or one before them, has failed: then their output is worth nothing.
static inline bool hdst__slot_has_failed(const hdst__pass *pass, const hdst__slot *slot, uint64_t first, uint64_t count)
{
    return pass->failure != UINT64_MAX && pass->failure >> 16 < pass->base + slot->segment->first + first + count;
}

// Whether a slice that does not fit is cut until nothing of it is a record whose output needs memory of its own.
static inline bool hdst__slot_divides(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass)
{
    if (!pass->parts || slot->is_part || !executor->device->unified) return false;
    return slot->count > 1 || hdst__record_parts_bytes(pass->parts, slot->segment, slot->skip) >= 2 * HDST__HOST_RECORD_PART_BYTES;
}

// executor_cut.c: a slice that has ended and whose output did not fit runs again in pieces, alone, in its slot.
hdst_status hdst__executor_cut(hdst__executor *executor, hdst__pass *pass, hdst__slot *slot, hdst_error *error);
// Output records that one record may give, where a slot has room for `room`: the same on devices that have as much memory.
uint64_t hdst__record_room(const hdst__device *device, uint64_t row_bytes, uint64_t room);

// executor_output.c: what came out of a slice that has ended goes on.
// Of a slice that is about to start: where its records will be on the host, if a device that has its own memory may copy right to there; NULL: it may not.
char *hdst__slot_place(const hdst__executor *executor, const hdst__slot *slot, const hdst__pass *pass);
hdst_status hdst__executor_take_output(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error);
// Of a slice that gave more than there is room for: as much of it as there is room for.
hdst_status hdst__executor_take_room(hdst__executor *executor, const hdst__slot *slot, hdst__pass *pass, hdst_error *error);
// Once all slices have ended: what kernels have kept in tables goes on, too.
hdst_status hdst__executor_give_combined(hdst__executor *executor, hdst__pass *pass, hdst_error *error);
// Whether the consumer may make fewer of a slice's records on the device, before they cross the link.
bool hdst__slot_combines(const hdst__slot *slot, const hdst__pass *pass);
hdst_status hdst__executor_combine(const hdst__slot *slot, const hdst__pass *pass, hdst_error *error);      // of such a one, behind its launch
// Of a slice of which each record, or each group of them, gives one: how many come out.
static inline uint64_t hdst__slot_dense_records(const hdst__slot *slot, const hdst__pass *pass) { return (slot->count + pass->group - 1) / pass->group; }

// For executor_shares.c: waits for the slice that was submitted first; submits those records of a segment that belong to the share; whether no more is
// to be submitted.
hdst_status hdst__executor_finish_oldest(hdst__executor *executor, hdst__pass *pass, bool keep_output, hdst_error *error);
hdst_status hdst__executor_submit(hdst__executor *executor, hdst__pass *pass, hdst__segment *segment, const hdst__share *share, hdst_error *error);
bool hdst__pass_stops(const hdst__executor *executor, const hdst__pass *pass);
void hdst__pass_note_failure(hdst__pass *pass, uint64_t word);      // an error word; UINT64_MAX: no record failed

// slice_limits.c: records of all of the input, or what is taken for that where nobody knows; of the next slice, with so many records at hand; output records
// of the slices that have ended (where each record has its place, of those that have begun).
uint64_t hdst__pass_records(const hdst__pass *pass);
hdst__slice_limits hdst__pass_slice_limits(const hdst__pass *pass, uint64_t left);
uint64_t hdst__pass_output(const hdst__pass *pass);

#endif
