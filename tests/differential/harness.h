// SPDX-License-Identifier: Apache-2.0
// Runs random programs: the C translation record by record as the reference, any back end beside it, and compares bits.
#ifndef HDST_TESTS_DIFFERENTIAL_HARNESS_H
#define HDST_TESTS_DIFFERENTIAL_HARNESS_H

#include "generate.h"

#include "tests/support/bignum.h"
#include "codegen/ir/ir.h"
#include "accum/tables.h"

typedef struct diff_library {       // C translations of several programs, compiled and loaded
    void *handle;
    char folder[64];
} diff_library;

// Compiles with the C compiler of the build. false: the compiler's words were printed to stderr.
bool diff_library_open(diff_library *library, diff_program *const *programs, int count);
const diff_exports *diff_library_find(const diff_library *library, const diff_program *program);
void diff_library_close(diff_library *library);

typedef struct diff_data {          // what a program runs over; in the arena
    uint64_t count, first;          // records; record_index() of the first
    uint64_t room;                  // for output records
    bool skip;                      // records that fail take no part
    void *records;                  // C structs
    void *tables[DIFF_PARAMS];      // rows of broadcasts, C structs; NULL otherwise
} diff_data;

// `at_zero`: the first record is number 0. Data for which the program ends; count 0 when none was found.
diff_data diff_make_data(hdst__arena *arena, const diff_program *program, const diff_exports *exports, uint64_t count, bool at_zero);

typedef struct diff_addends {       // of a cell that is a sum of floats or doubles
    double floats, doubles;         // sums of the sizes of those that are floats, of the others
    uint64_t count;
} diff_addends;

typedef struct diff_result {        // in the arena
    uint64_t failed_record;         // UINT64_MAX: none; then the rest counts
    uint64_t skipped;
    diff_fault fault;
    uint64_t fault_index, fault_limit;
    void *output;                   // output records, C structs, in order
    uint64_t outputs;               // how many
    uint32_t *gives;                // by input record: how many came of it; NULL: not known
    uint64_t *cells[DIFF_PARAMS];   // by parameter, of accumulators: the value of (row, leaf, element) at diff_cell
    diff_addends *addends[DIFF_PARAMS];     // of the reference alone, likewise
    bool *rounded[DIFF_PARAMS];     // by leaf: sums were rounded at each addition; NULL: all are exact
} diff_result;

// Where the cell of (row, leaf, element) of a parameter is, and how many there are.
static inline uint64_t diff_cells_of_row(const diff_exports *exports, int param, int leaves)
{
    uint64_t count = 0;
    for (int l = 0; l < leaves; l++) count += exports->row[param][l].count;
    return count;
}
static inline uint64_t diff_cell(const diff_exports *exports, int param, uint64_t row, int leaf, uint64_t element)
{
    return row * diff_cells_of_row(exports, param, exports->row_leaves[param]) + diff_cells_of_row(exports, param, leaf) + element;
}
static inline uint64_t diff_cells(const diff_exports *exports, int param, uint64_t rows)
{
    return rows * diff_cells_of_row(exports, param, exports->row_leaves[param]);
}

diff_result diff_reference(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data);
// The exact sum of numbers of a kind, integers extended to 64 bits, as accumulators keep it.
uint64_t diff_sum(diff_kind kind, const uint64_t *numbers, uint64_t count);
// Of an element in C structs, extended to 64 bits as cells are.
uint64_t diff_load(const void *structs, uint64_t size, uint64_t i, const diff_leaf *leaf, uint64_t e);
// NULL when equal, bit for bit but for sums that `found` says are rounded; else what differs first, in the arena.
const char *diff_compare(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data, const diff_result *expected,
                         const diff_result *found);

// From now on a crash names this seed. With HDST_DIFF_HANG=SECONDS a program that takes longer ends the run in the same way.
void diff_watch(uint64_t seed);

// --- The back end under test: text to IR, and the interpreter ---

typedef enum diff_form {
    DIFF_LOWERED,                   // fma placed, exits structured, NaNs made one, nothing else
    DIFF_SCALAR,                    // after all scalar passes
    DIFF_BLOCK,                     // and those of the block form, with precision classes and scales of float sums drawn at random
    DIFF_ROW,                       // those of the row form instead, likewise
    DIFF_BLOCK_OF_ROWS,             // the block form in which whole rows go row by row, as records that lie as C structs get it
    DIFF_SKIP,                      // the block form in which records that fail take no part; for data with `skip`
} diff_form;

typedef struct diff_compiled {
    const ir_func *func;
    const hdst__tables *tables;
    const int32_t *scales;          // from DIFF_BLOCK on
    const char *wrong;              // NULL, or what went wrong, with the compiler's messages; diff_too_large
} diff_compiled;

// Says that a function has more statements than the compiler takes once its helpers are in place, which the compiler
// reports: no program for this test.
extern const char diff_too_large[];

// An hdst__import_reader; user: the program.
bool diff_read_import(const char *name, const char *importing_file, char **text, size_t *length, const hdst__allocator *allocator, void *user);
diff_compiled diff_compile(hdst__arena *arena, const diff_program *program, hdst__diags *diags, diff_form form);
// Also whether the library's record layouts are those of gcc. *wrong is set when it did not run.
diff_result diff_interpret(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data,
                           const diff_compiled *compiled, hdst__layout layout, const char **wrong);

// For reduce.py, which replaces a program's text: no C translation goes with it, so the function as lowered, in the
// interpreter, is what its other forms are compared with. false: the text is no such program.
bool diff_instead(hdst__arena *arena, const diff_program *program, const diff_exports *exports, diff_data *data, diff_result *expected);
// The text of a file, in the arena; ends the run where it cannot be read.
const char *diff_text_of(hdst__arena *arena, const char *path);

#endif
