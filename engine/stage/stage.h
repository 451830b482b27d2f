// SPDX-License-Identifier: Apache-2.0
// The stage object as the engine's files see it.
#ifndef HDST_ENGINE_STAGE_STAGE_H
#define HDST_ENGINE_STAGE_STAGE_H

#include "engine/device/callback.h"
#include "accum/partial.h"
#include "engine/stage/launch_plan.h"
#include "engine/stage/stage_join.h"
#include "engine/stage/stage_mode.h"
#include "engine/stage/stage_run.h"
#include "engine/memory/shared_reader.h"
#include "engine/memory/spill.h"
#include "engine/memory/store.h"
#include "engine/stage/word_addition.h"

typedef struct hdst__scatter hdst__scatter;

// What a stage has on a worker beside the first: its launch plan, the table that comes back, how its run ended.
typedef struct hdst__stage_worker {
    struct hdst__stage *stage;
    const hdst__stage_values *values;   // during a call
    const hdst__launch_plan_request *request;
    struct hdst__device_worker *worker;
    uint32_t number;                    // its, in the engine
    hdst__launch_plan *plan;            // NULL: it takes no part
    int64_t *table;
    hdst__output output;                // of its kind, and empty: records go to chunks
    hdst__run_stats stats;
    uint64_t failure;
    hdst_status status;
    hdst_error error;
    bool started;                       // its thread is at work
    bool lost;                          // its device failed in this run: others did what it had
    const char *left_out;               // why the policy had nothing for it in the last run; NULL: it had
} hdst__stage_worker;

// What a worker has where the output stays on several devices (stage_parts.c).
typedef struct hdst__stage_kept {
    struct hdst__stage *stage;
    hdst__reader reader;                // of its run of the input, where that is not cached
    uint64_t first;                     //     and where it begins
    hdst__store store;                  // of what it makes of that
} hdst__stage_kept;

enum { HDST__FOLD_LEVELS = 11 };        // 64^11 > 2^64 records

struct hdst__stage {
    hdst__engine *engine;
    hdst__runtime *runtime;             // the engine's
    hdst__stage *next, *previous;       // all of the runtime's
    hdst__stage_spec spec;
    hdst__reader reader;                // the cache's, or the spec's
    hdst__device *device;               // NULL before the first run
    hdst__stage_mode mode;
    bool moved;                         // the input is another one than the plan's
    bool shares;                        // several workers run it
    bool passes_by;                     //     but not this run, which is short
    char alone[160];                    // or why not, where there are several
    hdst__stage_join join;              // of a device of another class than the first's
    hdst__shared_reader input;          // of those workers
    hdst__stage_worker *others;         // beside the first
    uint32_t other_count;
    const char *left_out;               // the first; as of the others
    const char *shared_by;              // the policy of the last run on several; NULL: there was none
    double shared_seconds;              // that it expected; 0: it could not tell
    double expected_seconds;            // of kernels of the last run on one device; 0: nobody could tell
    uint32_t spreads;                   // of the cached input, as the plans know it,
    uint64_t cache_number;              //     and which one it is; 0: none
    hdst__partial *merged;              // what all of them have accumulated, once several ran; NULL where the first one's device made rows of it
    hdst__memory *arrived;              //     there: the tables of others (stage_merge.c),
    bool arrives_singly;                //     one at a time
    hdst__word_addition addition;
    hdst__scatter *scatter;             // or where each device makes a part of the rows (stage_scatter.c); NULL: not yet
    char no_scatter[512];               //     and why not; "": there was no need, or they do
    const ir_func *skip_func;           // the function without the records that fail; NULL: none was seen to fail, or they end the run
    uint32_t skip_param;                // its accumulator that counts them
    const ir_func *skip_upper;          // of a fold: for the levels above the first
    bool skips;                         // one that failed was told about
    hdst__arena skip_arena;
    hdst__launch_plan *plan;                   // a fold: of its first level
    hdst__launch_plan *level[HDST__FOLD_LEVELS];       // of a fold's further levels; [0] is unused
    hdst__output output, partial;       // partial: of a fold's levels
    hdst__store store;                  // of records that stay on the device
    bool stores;                        // the last run's did
    bool keeps_parts;                   // they stay on several, as the plans are: in `kept`, one for each worker, of which `joined` consists
    hdst__stage_kept *kept;
    hdst__dataset_cache **kept_cache, joined;
    uint32_t kept_count;
    uint64_t kept_of;                   // records of the input that was cut
    hdst__consumer file_consumer;               // of records that go to a file (stage_spill.c)
    hdst__spill file;
    const void *mapped;                 // the file after a run; NULL: there is nothing
    hdst__store *finished;              // by accumulator: its rows on the device (stage_finish.c)
    hdst__memory **finished_memory;
    size_t finished_count;
    bool finishes;                      // the last run's are there, and the table is not on the host
    bool scatters;                      //     each worker has a part of them (stage_scatter.c)
    int64_t *table;                     // where the plan's comes to the host
    uint64_t table_words;               // of its own memory; 0: it is where the device has it
    hdst__callback callback;            // with spec.separate
    void *pair;                         // of a fold that failed: the two records, as C structs
    hdst__run_stats stats;
};

// stage_attempts.c: one run, in whatever modes it takes. There is a plan (but of HDST__STAGE_FOLD_ORDERED). The engine's mutex is held.
hdst_status hdst__stage_run_in_modes(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error);

// stage_plan.c; the engine's mutex is held.
hdst_status hdst__stage_make_plan(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error);     // unless there is one that fits
void hdst__stage_drop_plans(hdst__stage *stage);
void hdst__stage_drop_levels(hdst__stage *stage);       // those of a fold's higher levels

// stage_share.c, stage_spread.c, stage_team.c; the engine's mutex is held. Whether several workers may run this stage, as its input and mode are now; then
// the plans of those beside the first, made like its own; and a run of all of them.
bool hdst__stage_may_share(hdst__stage *stage, const hdst__stage_values *values);
void hdst__stage_share_input(hdst__stage *stage);      // what its workers read together is what the stage reads now
// How a worker's kernels may make records fewer before anybody takes them; `shares`: it is one of several. NULL: they may not.
const hdst__combining *hdst__stage_combining(const hdst__stage *stage, const hdst__device *device, bool shares);
// Once the first one's plan is there: whether a run that ends early is expected to do so too soon for several; then that one runs it.
bool hdst__stage_ends_soon(hdst__stage *stage);
void hdst__stage_run_alone(hdst__stage *stage, const char *why);       // from the next plan on, for want of memory
hdst_status hdst__stage_spread_cache(hdst__stage *stage, hdst_error *error);       // a cached input, over the workers
bool hdst__stage_reads_all_parts(const hdst__stage *stage);        // every worker that has a part of it has a plan
void hdst__stage_input_of(hdst__stage *stage, uint32_t number, hdst__launch_plan_request *request);     // what that worker reads
hdst_status hdst__stage_move_first(hdst__stage *stage, hdst_error *error);
hdst_status hdst__stage_make_others(hdst__stage *stage, const hdst__launch_plan_request *request, hdst_error *error);
hdst_status hdst__stage_move_others(hdst__stage *stage, hdst_error *error);
void hdst__stage_drop_others(hdst__stage *stage);
// By all of them, or with the first one's plan where one does it; what several have accumulated is in stage->merged.
bool hdst__stage_overflow_is_full(const hdst__stage *stage);        // of some worker: the last run is worth nothing
hdst_status hdst__stage_run_plans(hdst__stage *stage, const hdst__stage_values *values, uint64_t *failure, hdst_error *error);
double hdst__stage_expected_seconds(const hdst__stage *stage);      // explain_run.c: of the next run
void hdst__stage_explain_run(const hdst__stage *stage, hdst__buffer *out);
void hdst__stage_explain_workers(const hdst__stage *stage, hdst__buffer *out);

// stage_parts.c: whether records may stay on several devices; which worker then has which records of the input; they are given back, and all that was made
// for them; where the last run's are, on one device or several; whether those that the stage reads begin anywhere.
bool hdst__stage_may_keep_parts(const hdst__stage *stage);
hdst_status hdst__stage_cut_output(hdst__stage *stage, hdst_error *error);
void hdst__stage_forget_parts(hdst__stage *stage);
void hdst__stage_keep_on_host(hdst__stage *stage, const char *why);    // from the next plan on, for want of room on devices
void hdst__stage_release_parts(hdst__stage *stage);
hdst__dataset_cache *hdst__stage_stored(hdst__stage *stage);
bool hdst__stage_has_odd_parts(const hdst__stage *stage);

// stage_skip.c: from now on the stage skips records with errors, such as `first`.
hdst_status hdst__stage_skip(hdst__stage *stage, const hdst_error *first, hdst_error *error);
void hdst__stage_tell_skipped(hdst__stage *stage, const hdst_error *first);     // as a warning, once
uint64_t hdst__stage_skipped(const hdst__stage *stage);         // records of the last run

// stage_finish.c; the engine's mutex is held.
bool hdst__stage_may_finish(const hdst__stage *stage);     // the device may make rows of accumulators, for any plan
bool hdst__stage_may_write_rows(const hdst__stage *stage); // its kernels may write them as they come (launch_fixed_point.h)
// Before a run: whether the device makes rows of its accumulators, and memory for them.
hdst_status hdst__stage_finish_begin(hdst__stage *stage, hdst_error *error);
void hdst__stage_finish_release(hdst__stage *stage);

// stage_spill.c; the engine's mutex is held.
void hdst__stage_spill_init(hdst__stage *stage);
void hdst__stage_forget_file(hdst__stage *stage);
bool hdst__stage_may_spill(const hdst__stage *stage);          // and does not do so yet
void hdst__stage_spill(hdst__stage *stage, const char *why);       // from the next plan on records go to a file
hdst_status hdst__stage_map_file(hdst__stage *stage, hdst_error *error);   // after a run

// stage_fold.c; the engine's mutex is held.
hdst_status hdst__stage_fold(hdst__stage *stage, hdst_error *error);            // associative: a tree of 64 records to one
hdst_status hdst__stage_fold_ordered(hdst__stage *stage, hdst_error *error);    // in input order, in the interpreter

#endif
