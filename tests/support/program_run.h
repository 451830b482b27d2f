// SPDX-License-Identifier: Apache-2.0
// Runs a function in IR on random records with the interpreter and keeps all that came out, so that two forms of one function can be compared bit by bit.
#ifndef HDST_TESTS_PROGRAM_RUN_H
#define HDST_TESTS_PROGRAM_RUN_H

#include "codegen/front/ast.h"
#include "accum/tables.h"
#include "codegen/ir/ir.h"

typedef struct program_result {
    uint64_t failed_record;
    uint8_t *output;                    // of functions that emit: one record after another
    uint32_t *emits_of;                 // by input record, for functions that emit
    uint64_t emitted;
    int64_t *table;
    uint64_t *cells;                    // of all accumulators: what is read from the table
    uint64_t output_bytes, table_words, cell_count, records;
    const void *input, *broadcast;      // what it ran on: the records, and the rows of the last broadcast, as C structs
} program_result;

// The module of tests/codegen/pass/programs.hk, in the arena of `diags`. A file that is missing or has errors fails the test.
ast_module *program_load(hdst__diags *diags);

enum { PROGRAM_RECORDS = 300 };

// With equal seeds the data is equal. Float sums go straight to superaccumulators, or where `precision class` says.
program_result program_run(hdst__arena *arena, const ir_func *func, unsigned seed);
program_result program_run_precision(hdst__arena *arena, const ir_func *func, unsigned seed, hdst__precision_class precision);
const hdst__tables *program_tables(hdst__arena *arena, const ir_func *func, hdst__precision_class precision);   // all float sums in this precision class
bool program_same(const program_result *a, const program_result *b);

#endif
