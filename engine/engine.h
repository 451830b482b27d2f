// SPDX-License-Identifier: Apache-2.0
// The engine as the public door (hdst/) sees it: devices, cached datasets, stages that run. Knows nothing of graphs, modules or files.
//
// Threads: one engine may be used from several threads; stages run one at a time per engine (a mutex inside). Objects of one stage are not shared.
#ifndef HDST_ENGINE_ENGINE_H
#define HDST_ENGINE_ENGINE_H

#include "engine/memory/spill.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/cancel.h"
#include "base/error_object.h"
#include "base/log.h"
#include "codegen/ir/ir.h"
#include "codegen/opencl/kernel.h"
#include "record/layout.h"
#include "accum/reduce.h"

typedef struct hdst__engine hdst__engine;
typedef struct hdst__dataset_cache hdst__dataset_cache;
typedef struct hdst__stage hdst__stage;
typedef struct hdst__value_rows hdst__value_rows;

// Whether slices try other shapes of a GPU kernel, see launch_shape.h.
typedef enum hdst__tuning_mode {
    HDST__TUNING_AUTO,              // what needs no compiler at once; what does once the kernel has run for a while
    HDST__TUNING_OFF,               // the rules' shapes; files are neither read nor written
    HDST__TUNING_FULL,              // everything at once
} hdst__tuning_mode;

// The highest level at which reductions combine (engine/stage/reduction_levels.h). Results are the same, to the bit.
typedef enum hdst__hpr {
    HDST__HPR_AUTO,                 // of the options only: as HDST_HPR says (none, block, device, node, cluster), else all
    HDST__HPR_NONE, HDST__HPR_BLOCK, HDST__HPR_DEVICE, HDST__HPR_NODE, HDST__HPR_CLUSTER,
} hdst__hpr;

typedef struct hdst__engine_options {
    const hdst__allocator *allocator;
    const hdst__log *log;
    const hdst__cancel *cancel;     // whether the call in progress is to end (HDST_E_CANCELLED); NULL: never. Must outlive the engine
    const char *device;             // "all" (default), "cpu", "gpu", "interp", "INDEX" or "INDEX,INDEX"
    uint64_t memory;                // budget of host memory, bytes; 0: 3/4 of what the machine (or the cgroup) has
    uint64_t device_memory;         // budget per device, bytes; 0: 3/4 of what the device reports
    const char *cache_dir;          // kernel cache; NULL: HDST_CACHE_DIR, XDG_CACHE_HOME/hdst, HOME/.cache/hdst; none usable: memory only, with one warning
    bool skip_failed;               // records that fail a check are left out and counted, instead of ending the run
    bool fast_sums;                 // kernels may add floats plainly (hdst__kernel_options)
    hdst__tuning_mode tuning;       // AUTO: as HDST_TUNING says (auto, off, full)
    hdst__hpr hpr;
    bool portable_kernels;          // print kernels without compiler built-ins (Oclgrind)
    bool gpu_form_on_cpu;           // tests: print the GPU form on a CPU device
    bool foreign_nans;              // tests: kernels' operations give NaNs that no processor makes
    bool part_always;               // tests: compact tables are made by way of pairs, whatever their size
    uint64_t spare_cells;           // tests: of compact tables (accum/accumulators.h); 0: as many as may be needed
    uint64_t local_bytes;           // tests: of local memory, less than the device has; 0: what it has
} hdst__engine_options;

typedef enum hdst__device_class { HDST__DEVICE_INTERP, HDST__DEVICE_CPU, HDST__DEVICE_GPU } hdst__device_class;

typedef struct hdst__device_info {
    uint32_t index;                 // stable within a machine: platforms in the loader's order, devices in the platform's order; the interpreter comes last
    hdst__device_class class_;
    char name[128], platform[128], driver[64], cl_version[64];
    uint32_t compute_units, max_group;
    uint64_t memory_bytes, max_alloc_bytes, local_bytes;
    bool has_double, has_int64_atomics, correctly_rounded;
    bool usable;
    char why_not[128];              // when not usable
} hdst__device_info;

// Opens nothing yet. NULL only when out of memory.
hdst__engine *hdst__engine_create(const hdst__engine_options *options);
void hdst__engine_destroy(hdst__engine *engine);
// To be called before anything else is asked of it: in a process that was forked from the one with its drivers all that needs its device gives HDST_E_DEVICE from then on.
void hdst__engine_look_for_fork(hdst__engine *engine);
// Whether its device was given up (give_up.h): then all memory stays, the engine's too, and so must what it was created with.
bool hdst__engine_given_up(const hdst__engine *engine);
// hdst__spill_unmap of what a device may have read where it lies: it stays where the device was given up.
void hdst__engine_unmap(const hdst__engine *engine, const hdst__spill *file, const void *data);

// All devices of all platforms and the interpreter. Opens the OpenCL loader (dlopen) at first use; without one only the interpreter is listed and
// *loader_note says what is missing (else NULL). The array belongs to the engine.
hdst_status hdst__engine_devices(hdst__engine *engine, const hdst__device_info **devices, size_t *count, const char **loader_note, hdst_error *error);
// The device that the options ask for: resolves "all" to the fastest (logged at INFO when several were there), falls back to the interpreter when there is no
// OpenCL at all (logged at WARN). "cpu"/"gpu"/INDEX that is not there: HDST_E_DEVICE with what there is as the hint.
hdst_status hdst__engine_device(hdst__engine *engine, const hdst__device_info **device, hdst_error *error);
// Whether there is that device, and it was not given up: the error that a stage would end with.
hdst_status hdst__engine_has_device(hdst__engine *engine, hdst_error *error);

// Where a stage's records come from: fills records [first, first + count) of the input at record `to_first` of a storage. Called from one thread at a time, in any order.
typedef struct hdst__reader {
    hdst_status (*fill)(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error);
    void *user;
    uint64_t records;
    const hdst__record *record;     // must outlive caches and stages made with it
    hdst__layout layout;            // of the segments
    uint64_t block;                 // AoSoA
    bool held;                      // they are computed or cached: with more memory more of them are there. For errors
} hdst__reader;

// A dataset that stays: read at its first run into segments that remain in memory (and, on a GPU, in device memory) until destroyed.
// Over budget it is streamed again in every run instead, with a warning and a line in explain.
hdst__dataset_cache *hdst__dataset_cache_create(hdst__engine *engine, const hdst__reader *reader);   // NULL: out of memory
// Reads the dataset on the host: from the segments once they are all there and the host can reach them, else as the cache itself reads it.
hdst__reader hdst__dataset_cache_reader(hdst__dataset_cache *cache);
void hdst__dataset_cache_destroy(hdst__dataset_cache *cache);

// Where records go that a stage gives, in place of its output: slice by slice, in the order of the input, from memory that is the stage's and is used again when `take` returns.
// Both are called with the engine's mutex held.
typedef struct hdst__sink {
    hdst_status (*start)(void *user, hdst_error *error);    // of a run, and again where it begins anew: what came before does not count
    hdst_status (*take)(void *user, const void *records, uint64_t count, uint64_t expected, hdst_error *error);     // expected: of the whole run, as far as one can tell
    void *user;
} hdst__sink;

typedef enum hdst__stage_kind {
    HDST__STAGE_MAP,                // a fused chain: accumulators and/or output records
    HDST__STAGE_FOLD,               // an associative reduce without accumulators: one output record (fixed 64-ary tree)
    HDST__STAGE_FOLD_ORDERED,       // neither associative nor recognised: in input order, in the interpreter
} hdst__stage_kind;

// What a C function is called with that is the code of a map: records `first` ... of the input, as C structs, and room for as many of the output.
typedef struct hdst__slice {
    uint64_t first, count;
    const void *records;
    void *output;
    const void *const *values;      // rows of the broadcast parameters, in their order
    const uint64_t *value_rows;
    size_t value_count;
} hdst__slice;

// false fails the run, with `message` (512 bytes) filled. Called from several threads at once, on different records.
typedef bool (*hdst__slice_function)(const hdst__slice *slice, char *message, void *user);

// The code of a map that the program gives for devices of a class, in place of the function's body: OpenCL C (see hdst__kernel_separate) or, not on GPUs, a C function.
typedef struct hdst__separate {
    const char *text, *name;        // OpenCL C, its __kernel; NULL: none
    uint32_t local_size;            // work-items of a group; 0: HDST__SEPARATE_GROUP
    hdst__slice_function call;      // NULL: none
    void *user;
} hdst__separate;

typedef struct hdst__stage_spec {
    hdst__stage_kind kind;
    const ir_func *func;            // scalar passes done; must outlive the stage
    hdst__reader reader;
    hdst__dataset_cache *cache;     // NULL: streamed through the ring
    const void *identity;           // folds: one record as C struct, or NULL: then an empty input is an error
    bool built_in;                  // `func` is an operator's own: no message asks the user to change it
    const hdst__separate *separate; // NULL, or by device class; then `func` is one map's signature, or the map itself when it has a body, and the reader's layout is AoS
    bool only_declared;             // with `separate`: the map has no body
    bool takes_rows;                // the caller asks for the rows of accumulators (hdst__stage_finished) before it looks at the table
    bool keep_rows;                 // with takes_rows: they are wanted on the device, however few
    bool keep_output;               // records that a map gives stay on the device, for another stage, where its memory has room
    bool may_spill;                 // records that a map gives go through a temporary file where the host has no room for them
    const hdst__sink *sink;         // of a map that gives records: they go there; NULL: they are the output. Must outlive the stage
    uint64_t enough;                // not 0: the run may end once a map gave so many records, if it has no accumulators; it gives at least those, if there are so many
} hdst__stage_spec;

typedef struct hdst__stage_values { // read when a run starts; copied to the device if changed since the last run
    const void *const *broadcast;   // by param index: rows as C structs
    const uint64_t *rows;           // by param index: rows of broadcasts and accums
    const uint64_t *version;        // by param index: a number that changes when the value does
    hdst__value_rows *const *resident;  // by param index: rows that are on the device, in place of `broadcast`'s; NULL there, or here: none
    const bool *in_place;           // by param index, the same in all runs: the rows of `broadcast` stay until the run ends, so a device that shares the host's memory reads them
                                    // where they lie; NULL: none
} hdst__stage_values;

typedef struct hdst__level {        // one per level: "block", "device", "node"
    const char *name;
    uint64_t in, out;               // cells (or records) entering and leaving
} hdst__level;

typedef struct hdst__device_use {
    char name[128];
    uint64_t slices, records;
    double busy_seconds;
} hdst__device_use;

typedef struct hdst__run_stats {    // of the last run
    uint64_t records;
    uint64_t skipped;               // of them: records that failed and took no part
    uint32_t fast_sums;             // leaves of accumulators that were summed plainly, not exactly
    double total_seconds, read_seconds, compile_seconds, run_seconds;
    uint64_t bytes_to_device, bytes_from_device;    // crossing into another memory; a zero-copy device has nothing to move
    hdst__device_use device[1];     // more when several devices share a run
    uint32_t device_count;
    hdst__level level[3];
    uint32_t level_count;
} hdst__run_stats;

// All records of a reader as C structs in host memory, which counts towards the budget.
typedef struct hdst__rows {
    void *records;
    uint64_t count, bytes;
    hdst__spill file;           // where the budget has no room for them: a temporary file that is read like memory
    bool mapped;
} hdst__rows;

// The same piece by piece, in order, through a few megabytes: `take` gets each once and may stop it with an error.
typedef hdst_status (*hdst__take_rows)(void *user, const void *records, uint64_t count, hdst_error *error);
hdst_status hdst__engine_stream(hdst__engine *engine, const hdst__reader *reader, hdst__take_rows take, void *user, hdst__run_stats *stats, hdst_error *error);
hdst_status hdst__engine_read(hdst__engine *engine, const hdst__reader *reader, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error);
// The same, through a temporary file where the budget has no room; `writable`: what is changed there stays in memory, and does not count.
hdst_status hdst__engine_read_all(hdst__engine *engine, const hdst__reader *reader, bool writable, hdst__rows *rows, hdst__run_stats *stats, hdst_error *error);
void hdst__engine_free_rows(hdst__engine *engine, hdst__rows *rows);    // safe on zeroed ones, and twice

// Rows of a value in the device's memory: what a run computed there and another one reads, without a way through the host. One thread at a time per object.
hdst__value_rows *hdst__value_rows_create(hdst__engine *engine);    // empty; NULL: out of memory
void hdst__value_rows_destroy(hdst__value_rows *rows);              // NULL is fine. No run may be using it.
// Copies all records of `from` (a stage's `resident`, since its last run), within the device. *taken is false, and the rows are as they were, where the records do not lie
// on a device as C structs, or (with a warning) the device has no room for them. An error while copying leaves undefined rows and *taken true.
hdst_status hdst__value_rows_take(hdst__value_rows *rows, const hdst__dataset_cache *from, bool *taken, hdst_error *error);
// A copy on the host, made when it is asked for; it belongs to `rows` and is valid until they change.
hdst_status hdst__value_rows_read(hdst__value_rows *rows, const void **host, hdst_error *error);

typedef struct hdst__stage_output { // owned by the stage, valid until its next run
    const int64_t *table;           // the node's table: all accumulators (accum/accumulators.h); NULL where the device made rows of them
    hdst__front front;              // where tables->front: the parts of the table
    const hdst__tables *tables;
    const void *records;            // C structs, in input order, only the kept ones
    uint64_t record_count;
    hdst__dataset_cache *resident;  // not NULL: the records stayed on the device, where a stage reads them as a cached dataset; then `records` is NULL and
    hdst__reader reader;            // this one copies them to the host
} hdst__stage_output;

// Cheap: compiling waits for the first run (or for hdst__stage_prepare). NULL: out of memory.
hdst__stage *hdst__stage_create(hdst__engine *engine, const hdst__stage_spec *spec);
void hdst__stage_forget(hdst__stage *stage);        // gives the records of the last run back; rows of accumulators stay
void hdst__stage_forget_plan(hdst__stage *stage);   // gives back what it works with, which the next run makes again; the records stay
void hdst__stage_destroy(hdst__stage *stage);
// Another input of the same record, layout and block, of any number of records: nothing is compiled again.
hdst_status hdst__stage_set_input(hdst__stage *stage, const hdst__reader *reader, hdst__dataset_cache *cache, hdst_error *error);
// From the next run on the records that a map gives stay on the device, as with spec.keep_output. Nothing is compiled again.
void hdst__stage_keep_output(hdst__stage *stage);
void hdst__stage_end_early(hdst__stage *stage, uint64_t enough);      // spec.enough from the next run on
// Rows of accumulator number `accum` of the tables that the last run made on the device, as a dataset; NULL: the table is on the host. It belongs to the stage and is valid
// until its next run. Its reader copies to the host; so does hdst__stage_read_finished, to memory for all rows, as a part of the run: the statistics count it.
hdst__dataset_cache *hdst__stage_finished(const hdst__stage *stage, size_t accum);
hdst_status hdst__stage_read_finished(hdst__stage *stage, size_t accum, void *rows, hdst_error *error);
void hdst__stage_keep_rows(hdst__stage *stage);     // spec.keep_rows from the next run on
const hdst__reader *hdst__dataset_cache_own_reader(const hdst__dataset_cache *cache);      // of such a dataset
// Compiles for the chosen device with these row counts; hdst__stage_run does it when needed.
hdst_status hdst__stage_prepare(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error);
hdst_status hdst__stage_run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error);
// After a fold's run that ended with HDST_E_RECORD: the records that it could not combine, as C structs one after another: what came of those so far, and the next. The stage's.
const void *hdst__stage_failed_pair(const hdst__stage *stage);
// What counts towards the engine's budget: for all objects above it. It ends with the engine.
const hdst__allocator *hdst__engine_allocator(const hdst__engine *engine);
// How often the budget refused memory so far; and of an error for memory after that, why, and which budget would do.
uint64_t hdst__engine_refusals(const hdst__engine *engine);
void hdst__engine_explain_memory(hdst__engine *engine, uint64_t refusals, hdst_error *error);
const hdst__run_stats *hdst__stage_stats(const hdst__stage *stage);
// Device, form, layout, tables and tiers with the reasons, slices, memory: a text for people. Appended to `out`.
hdst_status hdst__stage_explain(hdst__stage *stage, const hdst__stage_values *values, hdst__buffer *out, hdst_error *error);

#endif
