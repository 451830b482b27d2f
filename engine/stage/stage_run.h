// SPDX-License-Identifier: Apache-2.0
// Stages, as those who build and run them see them: one fused function, its input and what is bound to it. Compiled at the first run, run as often
// as one likes.
//
// Threads: stages run one at a time per engine (its mutex). Objects of one stage are not shared.
#ifndef HDST_ENGINE_STAGE_STAGE_RUN_H
#define HDST_ENGINE_STAGE_STAGE_RUN_H

#include "accum/partial.h"
#include "accum/reduce.h"
#include "base/buffer.h"
#include "codegen/ir/ir.h"
#include "engine/device/separate.h"
#include "engine/engine.h"
#include "engine/memory/cached_dataset.h"
#include "engine/memory/consumer.h"
#include "engine/memory/text_heap.h"
#include "engine/common/run_stats.h"
#include "engine/stage/stage_values.h"
#include "accum/first_level.h"

typedef struct hdst__stage hdst__stage;

typedef enum hdst__stage_kind {
    HDST__STAGE_MAP,                // a fused chain: accumulators and/or output records
    HDST__STAGE_FOLD,               // an associative reduce without accumulators: one output record (fixed 64-ary tree)
    HDST__STAGE_FOLD_ORDERED,       // neither associative nor recognised: in input order, in the interpreter
} hdst__stage_kind;

typedef struct hdst__stage_spec {
    hdst__stage_kind kind;
    const ir_func *func;            // scalar passes done; must outlive the stage
    hdst__reader reader;
    hdst__dataset_cache *cache;     // NULL: streamed through the ring
    const void *identity;           // folds: one record as C struct, or NULL: then an empty input is an error
    bool first_level;               // a fold of records: it gives what its runs of 64 come to, in order, and goes no further
    uint64_t before;                //     records in front of the input that are not in it: the number of a failing one counts them
    bool built_in;                  // `func` is an operator's own: no message asks the user to change it
    const hdst__separate *separate; // NULL, or by device class; then `func` is one map's signature, or the map itself when it has a body, and the
                                    // reader's layout is AoS
    bool only_declared;             // with `separate`: the map has no body
    bool takes_rows;                // the caller asks for the rows of accumulators (hdst__stage_finished) before it looks at the table
    bool keep_rows;                 // with takes_rows: they are wanted on the device, however few
    bool keep_output;               // records that a map gives stay on the device, for another stage, where its memory has room
    bool keep_whole;                //     and on one, for who reads them all together
    bool may_spill;                 // records that a map gives go through a temporary file where the host has no room for them
    const hdst__consumer *consumer;         // of a map that gives records: they go there; NULL: they are the output. Must outlive the stage
    uint64_t limit;                 // not 0: the run may end once a map gave so many records, if it has no accumulators; it gives at least those, if
                                    // there are so many
} hdst__stage_spec;

typedef struct hdst__stage_output { // owned by the stage, valid until its next run
    const int64_t *table;           // the node's table: all accumulators (accum/tables.h); NULL where the device made rows of them
    hdst__first_level first_level;             // where tables->first_level: the parts of the table
    const hdst__tables *tables;
    const int32_t *scale;           // by scale: of what the table has in fixed point
    const hdst__partial *partial;   // not NULL: the accumulators of several workers, merged; then `table` is NULL
    const void *records;            // C structs, in input order, only the kept ones
    uint64_t record_count;
    hdst__text_heap *texts;         // that the records refer to, if they have texts: who keeps them for longer holds it
    hdst__dataset_cache *resident;  // not NULL: the records stayed on the device, where a stage reads them as a cached dataset; then `records` is NULL and
    hdst__reader reader;            // this one copies them to the host
} hdst__stage_output;

// Cheap: compiling waits for the first run (or for hdst__stage_prepare). NULL: out of memory.
hdst__stage *hdst__stage_create(hdst__engine *engine, const hdst__stage_spec *spec);
void hdst__stage_forget(hdst__stage *stage);        // gives the records of the last run back; rows of accumulators stay
void hdst__stage_forget_plan(hdst__stage *stage);   // gives back what it works with, which the next run makes again; the records stay
bool hdst__stages_forget_plans(hdst__runtime *runtime);             // the same of all stages, while none runs; false: none had anything
void hdst__stage_destroy(hdst__stage *stage);
// Another input of the same record, layout and block, of any number of records: nothing is compiled again.
hdst_status hdst__stage_set_input(hdst__stage *stage, const hdst__reader *reader, hdst__dataset_cache *cache, hdst_error *error);
// From the next run on the records that a map gives stay on the device, as with spec.keep_output. Nothing is compiled again.
void hdst__stage_keep_output(hdst__stage *stage);
void hdst__stage_fold_first_level(hdst__stage *stage, uint64_t before);      // spec.first_level and spec.before from the next run on
void hdst__stage_end_early(hdst__stage *stage, uint64_t limit);      // spec.limit from the next run on
// Rows of accumulator number `accum` of the tables that the last run made on the device, as a dataset; NULL: the table is on the host. It belongs to
// the stage and is valid until its next run. Its reader copies to the host; so does hdst__stage_read_finished, to memory for all rows, as a part of
// the run: the statistics count it.
hdst__dataset_cache *hdst__stage_finished(const hdst__stage *stage, size_t accum);
hdst_status hdst__stage_read_finished(hdst__stage *stage, size_t accum, void *rows, hdst_error *error);
bool hdst__stage_has_finished(const hdst__stage *stage, size_t accum);     // such rows are there, on one device, or (as no dataset) parts of them on several
void hdst__stage_keep_rows(hdst__stage *stage);     // spec.keep_rows from the next run on
void hdst__stage_keep_table(hdst__stage *stage);    // not spec.takes_rows from the next run on: the table comes to the host, whatever its size
// Compiles for the chosen device with these row counts; hdst__stage_run does it when needed.
hdst_status hdst__stage_prepare(hdst__stage *stage, const hdst__stage_values *values, hdst_error *error);
hdst_status hdst__stage_run(hdst__stage *stage, const hdst__stage_values *values, hdst__stage_output *output, hdst_error *error);
// After a fold's run that ended with HDST_E_RECORD: the records that it could not combine, as C structs one after another: what came of those so
// far, and the next. The stage's.
const void *hdst__stage_failed_pair(const hdst__stage *stage);
const hdst__run_stats *hdst__stage_stats(const hdst__stage *stage);
// Device, form, layout, tables and precision classes with the reasons, slices, memory: a text for people. Appended to `out`.
// The second: the devices of the last run alone, one a line, with the shares that they had, or why the first did all of it.
hdst_status hdst__stage_explain(hdst__stage *stage, const hdst__stage_values *values, hdst__buffer *out, hdst_error *error);
void hdst__stage_explain_devices(hdst__stage *stage, hdst__buffer *out);

#endif
