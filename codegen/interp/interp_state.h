// SPDX-License-Identifier: Apache-2.0
// What the interpreter's files share. A block of up to `width` records (lanes) goes through the tree of statements together;
// lanes that take no part in a statement are masked.
//
// Values are arrays of 64-bit patterns, one per lane (codegen/ir/eval.h). A value that is the same in all lanes is stored once
// (`uniform`), so that uniform loops and constants cost one operation, not one per lane. Masks are arrays of 0 or ~0.
#ifndef HDST_CODEGEN_INTERP_INTERP_STATE_H
#define HDST_CODEGEN_INTERP_INTERP_STATE_H

#include "codegen/interp/interp.h"
#include "codegen/ir/text_value.h"

typedef struct lanes {          // the value of an expression; v belongs to a variable, a slab or the expression itself
    const uint64_t *v;
    bool uniform;               // only v[0] counts
} lanes;

typedef struct interp_var {
    uint64_t *v;                // scalar: one per lane. Array: element e of lane l at e * width + l. Const array: the elements.
    uint64_t elements;          // 0: a scalar
    bool uniform;
    bool constant;              // a const array: elements only, the same for all lanes
} interp_var;

typedef struct interp_mask {
    uint64_t *bits;
    size_t active;              // lanes set
} interp_mask;

typedef struct interp_loop {    // what `continue` must know of the loop around it
    uint64_t *continued;        // lanes that go on with the next round; only with `has_continued`
    bool has_continued;
} interp_loop;

typedef struct interp_given {   // in the order in which statements gave them; put in the order of the lanes at the block's end
    uint64_t record_bytes;      // 0: the function does not emit, or nobody wants the records
    char *next;                 // by lane: the record that is stored into
    char *records;
    uint32_t *lane;             // of each
    size_t count, capacity;
    uint64_t *of_lane;          // by lane: how many in all
    bool out_of_memory;
} interp_given;

// Texts that expressions made (codegen/ir/text_value.h): what variables still hold is moved on when there are many.
typedef struct interp_texts {
    struct interp_text_piece *pieces;   // the one in use first
    size_t made;                        // since they were moved
    bool out_of_memory;
} interp_texts;

typedef struct interp_state {
    hdst__interp_run *run;
    const ir_func *func;
    interp_var *vars;
    size_t width;               // lanes that fit; at most INTERP_LANES
    size_t n;                   // lanes of the current block
    uint64_t block;             // first record of the block, counted in the slice
    uint64_t *registers;        // all variables and slabs, one allocation
    uint64_t *slabs;            // a stack of arrays of `width` patterns
    size_t top;                 // slabs in use
    interp_loop *loop;          // the innermost one
    uint64_t *returned;         // mask of lanes that left the function
    bool has_returned;
    int64_t **accum_table;      // by param: row 0 of its device accumulators
    const hdst__accum **accum;  // by param
    bool in_records;            // block form: inside a record loop
    bool cancelled;             // nothing that follows counts
    uint64_t turns;             // of loops
    const char *wrong;          // a broken rule, of the block form or (strict) of indices
    const interp_mask *mask;    // of the statement that is carried out
    interp_texts texts;
    interp_given given;         // output records of the block, where the function emits
    int64_t *private_words;     // block form: privatised accumulators in fixed point, added to the device accumulators after each block
} interp_state;

enum { INTERP_LANES = 256, INTERP_STMT_SLABS = 6 };

static inline uint64_t *hdst__interp_slab(interp_state *s, size_t at)
{
    return s->slabs + at * s->width;
}

// --- interp_expr.c ---

// Slabs that an expression needs above the stack's top.
size_t hdst__interp_expr_slabs(const ir_expr *e);
// Evaluates the expression in all lanes; the result may lie in slab `at` or above it, never below.
lanes hdst__interp_eval(interp_state *s, const ir_expr *e, size_t at);
// The same with one pattern per lane, for callers that loop over lanes.
const uint64_t *hdst__interp_eval_lanes(interp_state *s, const ir_expr *e, size_t at);

// --- interp_memory.c: reads and writes of records, tables and accumulators. Indices are clamped: what is out of range was reported by a check, and the lane
// goes on.

// With run->strict: reports in s->wrong an active lane whose index is neither below the limit nor 0.
void hdst__interp_guard(interp_state *s, lanes index, uint64_t limit, const char *what);
lanes hdst__interp_field(interp_state *s, const ir_expr *e, size_t at);
lanes hdst__interp_broadcast(interp_state *s, const ir_expr *e, size_t at);
lanes hdst__interp_element(interp_state *s, const ir_expr *e, size_t at);
lanes hdst__interp_record_index(interp_state *s, size_t at);
const uint64_t *hdst__interp_length(interp_state *s, uint32_t param, uint64_t *one);
void hdst__interp_set_element(interp_state *s, const ir_stmt *stmt, const interp_mask *mask);
void hdst__interp_accumulate(interp_state *s, const ir_stmt *stmt, const interp_mask *mask);
void hdst__interp_store(interp_state *s, const ir_stmt *stmt, const interp_mask *mask);

// --- interp_emit.c: the output of functions that emit ---

bool hdst__interp_given_open(interp_state *s);          // false: out of memory; close it all the same
void hdst__interp_given_close(interp_state *s);
void hdst__interp_emit(interp_state *s, const ir_stmt *stmt, const interp_mask *mask);
void hdst__interp_give_block(interp_state *s);          // the block's records, in the order of its lanes, to the run's output

// --- interp_text.c ---

lanes hdst__interp_text(interp_state *s, const ir_expr *e, size_t at);      // operations on texts
uint64_t hdst__interp_text_new(interp_state *s, hdst__text_value text);     // its pattern; that of the empty text when memory is out, which is noted
uint64_t hdst__interp_text_load(interp_state *s, const char *span);         // from memory
void hdst__interp_text_save(char *span, uint64_t pattern);
void hdst__interp_texts_move(interp_state *s);          // between statements: forgets what no variable holds, if that pays
void hdst__interp_texts_close(interp_state *s);

// --- interp_stmt.c ---

// Slabs that a block of statements needs; SIZE_MAX when it holds something that the interpreter does not read (block form where there should be none).
size_t hdst__interp_block_slabs(const ir_func *func, const ir_block *block);
void hdst__interp_exec(interp_state *s, const ir_block *block, interp_mask *mask);

// --- interp_trace.c: only with run->trace ---

void hdst__interp_trace_before(interp_state *s, const ir_stmt *stmt);
void hdst__interp_trace_after(interp_state *s, const ir_stmt *stmt);
void hdst__interp_trace_turn(interp_state *s, const ir_stmt *stmt, uint64_t turn);

// --- interp_block.c: what only the block form has ---

lanes hdst__interp_block_expr(interp_state *s, const ir_expr *e, size_t at);
void hdst__interp_block_stmt(interp_state *s, const ir_stmt *stmt, interp_mask *mask);
void hdst__interp_flush_strip(interp_state *s);

// --- interp.c: one function made ready to run, for those who run it more than once (folds) ---

hdst_status hdst__interp_open(interp_state *s, hdst__interp_run *run, hdst_error *error);
void hdst__interp_block(interp_state *s, uint64_t first, size_t n);     // records first .. first + n - 1 of the slice, n <= width
void hdst__interp_close(interp_state *s);

#endif
