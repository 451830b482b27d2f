// SPDX-License-Identifier: Apache-2.0
// A device = one struct of functions and its context. The interpreter (device_interp.c) is the reference: read it first.
//
// Locks: all functions are called with the engine's mutex held, by one thread at a time. `ticket->done` is called without any lock of the engine, from any
// thread (a driver's, or the caller's within `mark`), exactly once for each successful `mark` of a ticket that wants it.
//
// Order: launches run in the order they were submitted. A launch sees every write, fill and hand-over that was submitted before it; a read sees those and every
// launch that was submitted before it. A write does not wait for launches, so that copies overlap them: whoever rewrites memory waits for its users'
// ticket first.
#ifndef HDST_ENGINE_DEVICE_DEVICE_H
#define HDST_ENGINE_DEVICE_DEVICE_H

#include "base/hash.h"
#include "base/meter.h"
#include "base/runtime.h"
#include "codegen/opencl/kernel.h"
#include "engine/device/device_info.h"
#include "engine/common/limits.h"
#include "engine/common/options.h"

#include <stdatomic.h>

typedef struct hdst__device hdst__device;
typedef struct hdst__program hdst__program;

typedef enum hdst__memory_kind {
    HDST__MEMORY_DEVICE,        // only the device touches it, and `write`, `fill`, `read`
    HDST__MEMORY_SHARED,        // host memory at `host` too: the same bytes on a unified device, a pinned mirror elsewhere
} hdst__memory_kind;

typedef struct hdst__memory {
    hdst__memory_kind kind;
    hdst__owner owner;
    uint64_t bytes;
    void *host;                 // shared: page-aligned; on the interpreter always set
    void *allocation;           // what to free
    void *buffer;               // of the back end: memory of the host that is the device's
    void *in_host;              // where its bytes begin in that, or NULL: a read to there copies nothing, and the host may look once it is done
    void *object, *pinned;      // of the back end
    uint64_t held;              // of the back end: bytes of the object, which count; 0: as many as there are
    void *arena;                // of the back end: the object is a part of that, or NULL
    uint64_t arena_at;          //     and starts at this byte of it
    bool mapped;                // of the back end: the host owns it now
} hdst__memory;

// What a driver compiles, or the interpreter reads. All of it outlives the program.
typedef struct hdst__code {
    const hdst__kernel *kernel;     // NULL on the interpreter
    const ir_func *func;            // scalar form
    const hdst__tables *tables;     // NULL: no accumulators
    bool fold;                      // one output record for each HDST__FOLD_RECORDS records
    uint32_t items;                 // work-items (CPU devices: strips)
    uint32_t product_groups;        // work-groups of kernel->products_name and what follows it, if there is one
    struct hdst__callback *callback;    // NULL, or what to call instead of a kernel (never on GPUs)
} hdst__code;

// One slice. Memory that a kernel has no argument for may be NULL.
typedef struct hdst__launch {
    uint64_t first, skip, count;            // place in the whole input, records before it in the segment, records
    const hdst__storage *storage;           // of the segment
    hdst__memory *const *input;             // one per buffer of `storage`
    hdst__memory *const *broadcast;         // by param
    const void *const *values;              // by param: rows of broadcasts in the host's memory, until the run ends
    const uint64_t *rows;                   // by param
    hdst__memory *table, *strips, *factors, *scales, *overflow, *partitions, *tuples, *output, *places, *error;
    hdst__memory *const *finished;          // by accumulator: where `finish_table` puts rows; NULL: it is not asked for
    bool clears;                            //     and leaves the table clear (only where the kernel can: finish_clears)
    uint64_t first_row;                     //     of one that is a table: which of its rows comes first; `rows` says how many are made
    const hdst__memory *texts;              // NULL, or a copy of what the slice's long texts refer to
    uint64_t text_bytes, text_host;         //     its bytes; its address on the host
    const hdst__memory *text_constants;     // NULL, or texts of the function and of values, for a kernel that has them apart
    uint64_t text_constants_host;           //     their address on the host
    const hdst__memory *combined;           // NULL, or tables in which records become fewer (HDST__ARG_COMBINED),
    uint64_t combined_tables, combined_bits;    // so many (of a GPU: the turn of the slice); logarithm of the rows of one at most
    bool gathers;                           // GPU: rows `skip` to `skip` + `count` of the table become records, and nothing else is done
    uint64_t batch;                         // HDST__ARG_BATCH
    uint64_t flush, room;                   // room: records that fit `output`
    bool fits;                              // as is known of this slice: nobody need count first
    bool divides;                           // if it does not fit, a number that says so will do
    uint32_t param_count, accum_count;      // of `broadcast` and `rows`; of `finished`
} hdst__launch;

// An argument of a kernel of the engine's own.
typedef struct hdst__work_arg {
    const hdst__memory *memory;     // NULL: the number, as 64 bits
    uint64_t number;
} hdst__work_arg;

// A place in the stream of commands: `done` is called when all launches and reads submitted before the mark have finished.
typedef struct hdst__ticket {
    bool notify;                // false: `done` is not called, `settle` waits
    void (*done)(void *user);
    void *user;
    _Atomic int code;           // of the back end: how it ended
    void *begun, *launch, *finished;        // of the back end
    uint64_t launches;          // of the back end
    double seconds;             // of the last launch (all its kernels), after `settle`
} hdst__ticket;

typedef struct hdst__device_ops {
    void (*destroy)(hdst__device *device);
    // Reserves the budgets. `what` is for the message when there is not enough. Contents are undefined; shared memory belongs to the host at first.
    hdst_status (*alloc)(hdst__device *device, hdst__memory_kind kind, hdst__owner owner, uint64_t bytes, const char *what, hdst__memory **memory,
                         hdst_error *error);
    void (*release)(hdst__device *device, hdst__memory *memory);            // NULL is fine. No launch may be using it.
    // Shared memory has one owner at a time. to_host waits for the hand-over (not for launches: their ticket must be done).
    hdst_status (*to_host)(hdst__device *device, hdst__memory *memory, hdst_error *error);
    hdst_status (*to_device)(hdst__device *device, hdst__memory *memory, hdst_error *error);
    // The host's bytes must stay until the ticket of a later launch is done, or until the call returns when `wait`.
    hdst_status (*write)(hdst__device *device, hdst__memory *memory, uint64_t offset, const void *bytes, uint64_t count, bool wait, hdst_error *error);
    hdst_status (*read)(hdst__device *device, hdst__memory *memory, uint64_t offset, void *bytes, uint64_t count, bool wait, hdst_error *error);
    // A range of a memory as the output of a launch: `offset` is a multiple of HDST__SUB_BUFFER_BYTES. It ends with unpart,
    // which may follow right behind the launch.
    hdst_status (*sub_buffer)(hdst__device *device, const hdst__memory *of, uint64_t offset, uint64_t bytes, hdst__memory *part, hdst_error *error);
    void (*release_sub_buffer)(hdst__device *device, hdst__memory *part);
    // Memory of the host's, as output or input of launches without a copy on unified devices, elsewhere to be written from at the speed of the link. What is
    // only read ends with release_sub_buffer. Nobody may move it before unwrap, which no launch may be
    // using it for; the bytes are the host's to read then, also after an error. Counts towards no budget: whoever owns the memory has reserved it.
    hdst_status (*wrap)(hdst__device *device, void *host, uint64_t bytes, hdst__memory *memory, hdst_error *error);
    hdst_status (*unwrap)(hdst__device *device, hdst__memory *memory, hdst_error *error);
    // Within the device, in the order of launches.
    hdst_status (*copy)(hdst__device *device, hdst__memory *to, uint64_t to_offset, const hdst__memory *from, uint64_t from_offset, uint64_t count,
                        hdst_error *error);
    // Whole 64-bit words from the start, once launches and reads that were submitted before are done.
    hdst_status (*fill)(hdst__device *device, hdst__memory *memory, uint64_t words, uint64_t pattern, hdst_error *error);
    hdst_status (*load)(hdst__device *device, const hdst__code *code, hdst__program **program, hdst_error *error);
    void (*unload)(hdst__device *device, hdst__program *program);           // NULL is fine
    hdst_status (*launch)(hdst__device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error);
    // Behind the launches: makes C structs of the device's table (only where the kernel has a finish_name). Counts as a part of the launch before it.
    hdst_status (*finish_table)(hdst__device *device, hdst__program *program, const hdst__launch *launch, hdst_error *error);
    // A kernel of the engine's own: `groups` work-groups of `local` work-items. Counts as a launch. Asked of GPUs only; others may have none (NULL).
    hdst_status (*work)(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                        hdst_error *error);
    hdst_status (*mark)(hdst__device *device, hdst__ticket *ticket, hdst_error *error);
    // After `done`, or waiting for the place, unless the device is given up (give_up.h): the error that a command before the mark ended with, its
    // time, and the end of the ticket.
    hdst_status (*settle)(hdst__device *device, hdst__ticket *ticket, hdst_error *error);
    void (*finish)(hdst__device *device);       // waits for all that was submitted; failures are not told
    // Many commands in a row: from now on, or no longer, none is timed, and the driver need not be told to start before a mark, where that is cheaper. Waits
    // as `finish` does. Copies are small then, or within the device. Asked of devices with memory of their own; others may have none (NULL).
    void (*hurry)(hdst__device *device, bool hurries);
    // A run went well and nothing is in flight: what was compiled may be kept on disk. False: not now, say it again after the next run.
    bool (*proven)(hdst__device *device, hdst__program *program);
} hdst__device_ops;

enum { HDST__SUB_BUFFER_BYTES = 512 };        // what devices ask of the start of a part, at most: others have no parts

struct hdst__device {
    const hdst__device_ops *ops;
    hdst__runtime *runtime;     // these belong to the engine
    const hdst__engine_options *options;
    const hdst__limits *limits;
    struct hdst__program_cache *cache;      // NULL: nothing is compiled
    struct hdst__power_table *powers;       // measured, of functions on it; NULL: none yet
    const hdst__device_info *info;
    bool unified;               // shared memory needs no copy
    bool has_sub_buffers;
    hdst__target_facts facts;   // for the compiler
    hdst__budget budget;        // of the device's memory
    hdst__meter held;           // bytes that the driver gave, those too that nobody uses; 0: the same as are used
    const char *function;       // of the stage that runs on it, for the timeline; NULL: none
    struct hdst__line_spans *line_spans;    // engine/memory/line_spans.h; NULL: no lines were found on it yet
    struct hdst__tape *tape;    // that notes what is asked of it (command_tape.h); NULL: none does
};

// What a device is opened with. All of it outlives the device.
typedef struct hdst__device_setup {
    hdst__runtime *runtime;
    const hdst__engine_options *options;
    const hdst__limits *limits;
    const hdst__device_info *info;
    struct hdst__program_cache *cache;      // NULL: it keeps no compiled programs
    void *own;                              // of the back end: what it kept when it found the device
} hdst__device_setup;

// So many work-groups as are wanted, but no more than `each_unit` for each compute unit: more would only wait for those.
static inline uint64_t hdst__device_groups(const hdst__device *device, uint64_t wanted, uint64_t each_unit)
{
    const uint64_t most = device->facts.compute_units * each_unit;
    return wanted < most ? wanted : most;
}

// Waits until all that was submitted to the device so far has ended, and says what of it failed. On the thread that submits.
hdst_status hdst__device_wait(hdst__device *device, hdst_error *error);

// --- For back ends ---

// Host memory for `memory` (page-aligned, padded to whole pages) from the allocator and the host's budget; sets host, allocation, bytes.
hdst_status hdst__device_host_memory(hdst__device *device, hdst__memory *memory, const char *what, hdst_error *error);
void hdst__device_free_host_memory(hdst__device *device, hdst__memory *memory);
uint64_t hdst__page_round(uint64_t bytes);
// On the runtime's timeline, where there is one: a device is a process there, with a track for each of its queues. What their names are; what is done
// there; the memory in use now, of the device and of the host.
enum { HDST__TRACK_IN = 1, HDST__TRACK_COMPUTE, HDST__TRACK_OUT };
uint32_t hdst__device_process(const hdst__device *device);
void hdst__device_name_tracks(const hdst__device *device);
void hdst__device_count_memory(const hdst__device *device);
// Of hdst, the device, its driver, the options and the source.
hdst__hash hdst__device_program_key(const hdst__device *device, const hdst__kernel *kernel);

#endif
