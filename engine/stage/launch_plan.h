// SPDX-License-Identifier: Apache-2.0
// What a stage needs to run on a device with given row counts: compiled code, precision classes and scales, memory for tables and broadcasts, slots.
#ifndef HDST_ENGINE_STAGE_LAUNCH_PLAN_H
#define HDST_ENGINE_STAGE_LAUNCH_PLAN_H

#include "codegen/interp/interp.h"
#include "codegen/opencl/kernel.h"
#include "engine/device/separate.h"
#include "engine/stage/executor.h"
#include "engine/stage/stage_values.h"
#include "accum/addends.h"
#include "base/costs_cpu.h"

typedef struct hdst__launch_plan {
    hdst__arena arena;              // of all below that is not released by its own function
    hdst__arena pieces;             // of piece and last, once the input was moved
    hdst__device *device;
    const ir_func *func;
    hdst__reader reader;
    hdst__reader whole;             // the input of which `reader` has a part, from record `base` on, or all
    uint64_t base;
    uint64_t *rows;                 // by param
    const hdst__tables *tables;     // NULL: no accumulators
    const hdst__kernel *kernel;     // NULL on the interpreter
    hdst__code code;
    hdst__program *program;
    const ir_param *output_param;   // NULL: no output records
    bool checks;                    // the code writes an error word
    ir_output_way way;           // of output records
    uint64_t room;                  // output records of a slice
    bool keep_output, in_place;     // output goes to a store; kernels write each record at its own place there, or in a window
    bool in_window;                 // output goes to the host, where kernels write it themselves
    bool passes_on;                 // output goes to a consumer, from the slots
    bool shares;                    // several workers share the input: their tables are merged, their output is assembled on the host
    bool shares_in_place;           //     where each record has its place from the start
    bool counts_output;             // as in the request
    hdst__team *team;               // in such a run
    uint32_t worker;                //     the number of this plan's
    uint64_t limit;                 // of hdst__stage_spec; 0: all records
    uint64_t emitted;               // by the sample

    hdst__addends *addends;         // by scale: what the sample saw
    hdst__precision_class *precision;
    int32_t *scale;
    hdst__rows_seen *rows_seen;     // by the sample
    uint64_t sampled;               // records
    uint64_t adds, flush;           // additions of a record to a cell that could overflow, at most; records after which a strip must flush
    bool *too_often;                // by scale: so many additions that fixed point would have to be flushed too often
    bool adds_directly;                 // work-items have no tables of their own: each addition goes to that of the device
    bool wants_rows;                // its kernels may write rows of the result (launch_fixed_point.h)
    uint32_t fixed_point_bits;          // launch_fixed_point.h; 0: the device table has superaccumulators
    bool may_take_tuples;                  // by way of tuples, if the kernel can
    hdst__memory *overflow;           // its overflow cells, or NULL
    hdst__memory *text_constants;   // of a kernel that has texts apart: the function's and those of values (launch_texts.h); NULL: none yet
    char *text_host;                //     and on the host
    uint32_t product_groups;        // work-groups that add up products of a launch (hdst__kernel.products_name)
    hdst__memory *factors;          // what records leave for them
    hdst__memory *partitions, *tuples;    // of a kernel that goes by way of tuples
    uint64_t overflow_state;        // of the last run, as it came back with its last slice
    uint64_t overflow_cells, overflow_head[2];
    bool overflow_is_empty;         // but for its state: whoever made rows of the cells emptied them
    bool overflow_is_clean, overflow_is_full;     // full: some did not get one in the last run
    bool table_stays;               // in this run: neither the table nor overflow cells come to the host by themselves
    bool words_come_back;           // the table is in fixed point and comes to the host, and so do overflow cells that the last run used: these, or NULL
    int64_t *used_overflow;
    struct hdst__plan_tuning *tuning;   // NULL: the shape is not subject to measuring
    uint32_t items;                 // work-items of a launch
    const char *items_why;

    uint64_t piece_records;         // of a piece, where a part of the cached input stays; 0: chosen
    const hdst__storage *piece, *last;
    uint64_t slice_least, slice_most;
    hdst__power power, noted;       // as policies keep it; as it was measured and kept last (launch_power.h)
    double outputs_per_record;      // as far as was seen
    hdst__record_parts parts;       // of what a record's parts give
    uint64_t too_many_record, too_many;     // of the last run: a record that gave more than one may, and how many
    hdst__executor *executor;
    hdst__slot_sizes slot;
    hdst__memory *table, *strips, *scales, *error_word;
    hdst__memory *results, sub_buffer[2]; // NULL, or what holds table and error word, which then are these parts of it
    bool sought_power;              // what earlier runs measured was looked for
    hdst__memory **finished;        // by accumulator: where the device makes rows of them in this run; NULL: the table goes to the host. The stage's
    hdst__memory **broadcast;       // by param
    bool *apart;                    // by param: records of the input that were on the device at first: memory for a copy is taken when one is needed
    hdst__memory **wrapped;         // by param: the host's own rows, during a run; NULL: they are copied to `broadcast`
    hdst__memory **bound;           // by param: what this run reads: `broadcast`, or a value's rows on the device
    const void **host;              // by param: the rows of this run on the host, for a C function
    uint64_t *version;              // by param: of what the device has
    bool written, proven;           // broadcasts were written once; a run went well
    bool error_is_clean, table_is_clean;    // as a run needs them at its start
    uint64_t device_words, private_words;
    uint64_t first_level_words;           // before device_words in the table (launch_first_level.h)
    uint64_t page[HDST__CPU_DIRTY_PAGES];    // of its cells: those that are not zero
    bool rounds_batches;            // as in the request
    bool batch;                     // this run is one (launch_first_level.h)
    size_t page_count;              // more than HDST__CPU_DIRTY_PAGES: too many to tell, or not known
    const hdst__combining *combining;   // as asked for
    uint64_t combined[3];           // of the last run: records that were made, those that a GPU's table left, its rows
    double compile_seconds;
} hdst__launch_plan;

typedef struct hdst__launch_plan_request {
    hdst__device *device;
    const ir_func *func;
    const hdst__reader *reader;
    const hdst__reader *whole;      // NULL: the same
    uint64_t base;
    uint64_t most_records;          // of a segment of a cached dataset; 0: streamed
    uint64_t piece_records;         // as in the plan
    const hdst__stage_values *values;   // NULL for folds
    bool fold;
    const hdst__separate *separate; // OpenCL C of the program's own, or NULL
    struct hdst__callback *callback;    // a C function of the program's own, or NULL
    bool keep_output, passes_on;    // goes to a store; goes to a consumer
    uint64_t limit;                 // of hdst__stage_spec
    bool makes_rows;                // the device makes rows of accumulators, so their table may be in fixed point
    bool writes_rows;               // kernels may write rows as soon as they are complete: the stage takes no words
    bool rounds_batches;            // a run of few records may leave values in place of words: the stage takes rows, and nothing else of the table
    bool merges_words;              // who asks takes a table in fixed point with its overflow cells
    bool shares, shares_in_place;   // as in the plan
    const hdst__combining *combining;   // NULL, or how kernels may make records fewer
    bool counts_output;             // no kernel writes at once what it has room for at most (hdst__kernel.at_most)
    const hdst__launch_plan *agrees_with;   // NULL, or another worker's: what its sample saw is taken over, so that all choose the same scales
} hdst__launch_plan_request;

hdst_status hdst__launch_plan_create(const hdst__launch_plan_request *request, hdst__launch_plan **plan, hdst_error *error);
void hdst__launch_plan_destroy(hdst__launch_plan *plan);          // NULL is fine
// Rows that the plan was made for are those of `values` still.
bool hdst__launch_plan_fits(const hdst__launch_plan *plan, const hdst__stage_values *values);

// Another input of the same record, layout and block. Pieces, slices and memory follow it; nothing is compiled.
hdst_status hdst__launch_plan_move(hdst__launch_plan *plan, const hdst__reader *reader, uint64_t most_records, hdst_error *error);

// One run over the plan's input: writes what changed, clears the table, executes. `ring` may be prepared here. The failing record's word, if any, is
// in *failure.
// `table` takes the device's table; NULL where there is none, or where it is on the host already.
hdst_status hdst__launch_plan_run(hdst__launch_plan *plan, const hdst__stage_values *values, hdst__dataset_cache *cache, hdst__ring *ring, hdst__output *output,
                                  int64_t *table, hdst__run_stats *stats, uint64_t *failure, hdst_error *error);

typedef struct hdst__covered {
    uint64_t records;               // of the user's input that one of a plan stands for: 1, but for a fold's higher levels
    uint64_t before;                // of the user's input in front of the plan's
} hdst__covered;
// The error of the record and check in `word`: runs the record again in the interpreter to learn the values. `pair`: NULL, or of a
// fold takes the two records that it could not combine.
hdst_status hdst__launch_plan_record_error(const hdst__launch_plan *plan, const hdst__stage_values *values, uint64_t word, hdst__covered covered,
                                           void *pair, hdst_error *error);

// For the plan's other files.
// launch_kernel.c: the kernel that is asked for, with the shape that rules give; of the plan's function in another shape. NULL when it cannot be had.
const hdst__kernel *hdst__plan_kernel(hdst__launch_plan *plan, const hdst__launch_plan_request *request, hdst__diags *diags);
const hdst__kernel *hdst__plan_kernel_of_shape(hdst__launch_plan *plan, const hdst__gpu_shape *shape);
bool hdst__plan_wraps_output(const hdst__launch_plan *plan);
hdst_status hdst__launch_plan_slots(hdst__launch_plan *plan, hdst_error *error);       // memory for slices, as the plan's kernels need it now
uint32_t hdst__plan_slices_in_flight(const hdst__launch_plan *plan);     // at most

// launch_sample.c: runs a few records through the interpreter; fills addends, sampled, power.kernel. What cannot be read is left to the run to report.
void hdst__launch_plan_sample(hdst__launch_plan *plan, const hdst__stage_values *values);

#endif
