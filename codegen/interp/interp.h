// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: runs IR over a block of records at a time, on the host, without a driver. It is the tests'
// reference, the device for tiny inputs, and makes the message of a failing record.
#ifndef HDST_CODEGEN_INTERP_INTERP_H
#define HDST_CODEGEN_INTERP_INTERP_H

#include "base/cancel.h"
#include "codegen/interp/interp_trace.h"
#include "codegen/ir/ir.h"
#include "record/layout.h"
#include "accum/addends.h"
#include "accum/tables.h"

enum { HDST__CHECK_TEXT = 64 };        // bytes of a text as a message shows it

typedef struct hdst__interp_table {     // bound to a broadcast parameter
    const void *data;                   // rows as C structs
    uint64_t rows;
} hdst__interp_table;

enum { HDST__ROWS_SEEN = 256 };

typedef struct hdst__rows_seen {        // rows of the tables that were added to, the first of them
    uint64_t row[HDST__ROWS_SEEN];
    size_t count;
} hdst__rows_seen;

typedef struct hdst__interp_run {
    const ir_func *func;
    const hdst__allocator *allocator;
    const hdst__cancel *cancel;         // looked at after every turn of a loop and every block: then HDST_E_CANCELLED; NULL: never
    // inputs: one storage per IR_INPUT parameter (two for a reduce)
    const hdst__storage *input[2];
    const void *const *input_buffers[2];
    uint64_t input_skip[2];             // records before the slice in the storage
    uint64_t first;                     // what record_index() is for the slice's first record
    uint64_t count;
    const hdst__interp_table *broadcast;        // by param index; entries of other kinds unused
    const uint64_t *accum_rows;                 // by param index
    const hdst__tables *tables;                 // NULL when there are no accums
    int64_t *device_table;                      // added to; NULL: nothing is kept (sampling addends, finding out why a record failed)
    void *output;                               // records as C structs, or NULL
    uint64_t output_room;                       // of a function that emits: records that fit `output`
    uint32_t *emits_of;                         // of a function that emits: how many records each input record gave; may be NULL
    hdst__addends *addends;                     // NULL, or one per float-sum leaf: sampled while running (scalar form)
    hdst__rows_seen *rows_seen;                 // NULL, or a sample of where additions to first leaves go (scalar form)
    const int32_t *scales;              // block form: one per float-sum leaf; NULL: all 0
    const hdst__trace *trace;           // scalar form and a single record: who watches; or NULL
    // For tests of the compiler: an active lane that reads or writes with an index out of range is HDST_E_INTERNAL. A kernel
    // would be outside its memory there; without `strict` the interpreter takes index 0.
    bool strict;
    // For a look at what a function does, whatever its records are like: once so many turns of loops were made, or so many records emitted, every loop ends
    // with the turn that it is in. What stands behind loops is carried out as ever. 0: any number.
    uint64_t most_turns, most_emitted;
    bool skip_failed;                   // hdst__interpret_fold_ordered: a record that fails takes no part, and the fold goes on
    // Folds: room for the two operands of the first combination that fails, the result so far and the next record, as C
    // structs one after another; or NULL.
    void *failed_pair;
    // Out
    uint64_t skipped;                   // with skip_failed: how many took no part; failed_record is the first of them
    uint64_t failed_record;             // index over the whole input of the first failing record, UINT64_MAX: none
    uint32_t failed_check;
    uint64_t failed_index, failed_limit;        // the values of the check, for the message
    char failed_text[HDST__CHECK_TEXT];         // of IR_CHECK_NUMBER: the text, quoted
    uint64_t emitted;                   // output records in all, also those that did not fit; without IR_EMIT one per input record
    uint32_t full_check;                // when they did not fit: the check of the emit that was the first too many
} hdst__interp_run;

// Runs `func` over the records. HDST_OK also when a record failed (see failed_record): the run then stopped after that
// record's block, and its outputs are invalid. HDST_E_MEMORY, HDST_E_CANCELLED; HDST_E_INTERNAL when `func` breaks the rules of
// its form. Takes scalar form and, for tests of the passes, block form: a record loop runs its records side by side, and what
// stands outside must be uniform. Without `output` nothing is stored, but emitted records are counted.
hdst_status hdst__interpret(hdst__interp_run *run, hdst_error *error);

// Reduces that are not field-wise: `func` has two inputs and an output. They use of `run` input[0], input_buffers[0],
// input_skip[0], count, first, broadcast and allocator; `output` takes the result as C structs. failed_record is the index (from
// `first`) of the right operand of the combination that fails.

// One level of an associative reduce: each run of HDST__FOLD_RECORDS records, in order, becomes one output record.
hdst_status hdst__interpret_fold_level(hdst__interp_run *run, hdst_error *error);
// All levels, until one record is left, which is the output (untouched when count is 0). The tree depends on `count` alone.
hdst_status hdst__interpret_fold(hdst__interp_run *run, hdst_error *error);
// Combines all records into one, from left to right.
hdst_status hdst__interpret_fold_ordered(hdst__interp_run *run, hdst_error *error);

// For people: a text of `length` bytes in quotes, with what cannot be seen as \xHH; of a long one the beginning.
void hdst__quote_text(const char *bytes, uint64_t length, char quoted[HDST__CHECK_TEXT]);
void hdst__interp_text_quote(uint64_t pattern, char quoted[HDST__CHECK_TEXT]);     // of a value, as it is looked at

// Writes the message of check `check` with these values: "index 53 out of range 0..49". hdst__check_to_error adds place and
// record. `of`: run->failed_text, or NULL where the check is about no text.
void hdst__check_to_error(const ir_func *func, uint32_t check, uint64_t index, uint64_t limit, const char *of, uint64_t record, hdst_error *error);

#endif
