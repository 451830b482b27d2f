// SPDX-License-Identifier: Apache-2.0
// The form for CPU devices: a work-item takes a strip of records, block by block where its loops over the records of a
// block pay, and what no block took one by one. Thread-safe: nothing is kept.
#ifndef HDST_CODEGEN_PASS_CPU_FORM_H
#define HDST_CODEGEN_PASS_CPU_FORM_H

#include "codegen/pass/accumulator_placement.h"
#include "codegen/pass/row_sums.h"

typedef struct hdst__cpu_limits {       // what the form goes by: the device, and what was asked for
    hdst__place_limits place;
    const hdst__storage *input;         // where its records lie
    bool has_double;                    // the device has
    bool correctly_rounded;             // its own float division is
    bool counts_output;                 // output is counted before it is written, also where the most that may come is known
    bool passes_on;                     // output goes to who takes it in runs: it is moved anyway
    bool combines;                      // records may leave the output again (accum/combining.h, in rows)
    bool no_vectors;                    // records one by one, to measure what blocks of them gain
} hdst__cpu_limits;

typedef struct hdst__cpu_forms {        // of one function; they share placements and the way of their output
    ir_func *block;                     // block form; or row form (block->block is 0), which `single` is too
    ir_func *single;                    // record by record: what no block took
    ir_func *count, *count_block;       // what only counts the output: record by record, by blocks; NULL: there is none
    hdst__row_sums row_sums;            // of row form: what is added up over blocks of records; none: count is 0
    uint32_t strip_step;                // records: strips begin at a multiple of so many
    uint32_t few_step;                  // the same where a slice has fewer than that for each strip
    bool reads_ahead;                   // little is computed for a record, so memory is what counts
    bool reads_apart;                   // much is kept of a record, so a block is read at once, and the next one much later
    bool reads_most;                    // far more is read than comes out: totals, or some of the records
} hdst__cpu_forms;

// `func`: scalar passes done; it gets the way of its output. `tables`: of its accumulators; which sums are fast and
// whether there are first-level accumulators is said in them. NULL, or what the verifier says.
const char *hdst__passes_cpu(ir_func *func, hdst__tables *tables, const hdst__cpu_limits *limits, hdst__cpu_forms *forms);

#endif
