// SPDX-License-Identifier: Apache-2.0
// The intermediate representation: what a stage computes for one record, typed, structured, with nothing implicit.
//
// Statements are structured (if, loops, break); expressions are trees without side effects that are defined for every operand: a shift count is masked,
// a division is guarded, an index was checked or clamped before. What can fail is an IR_CHECK statement in front. So passes may move, widen and
// if-convert expressions freely, and a check that failed leaves a harmless value behind.
//
// Records are gone: a local of record type is one variable per leaf; record parameters are read leaf by leaf through IR_FIELD.
//
// An index (row or element) is of any integer kind and, where it is used, below its limit. Where that could not be proven, an IR_CHECK stands in front and the
// index is clamped: select(index < limit, index, 0). So every table must have storage for at least one row, even one of zero rows: a record that failed may
// read it, or add to it. What a failed record did is thrown away with all that was not yet published.
//
// A variable holds nothing until it is set; the lowering sets each where it is declared. Passes may read one that was never set where the value does
// not matter.
// The reference interpreter and the OpenCL printers only read this; passes (pass_*.c) rewrite it; ir_verify.c checks it after each.
#ifndef HDST_CODEGEN_IR_IR_H
#define HDST_CODEGEN_IR_IR_H

#include "accum/accumulate_op.h"
#include "base/diag.h"
#include "codegen/ir/placement.h"
#include "record/type.h"

typedef struct ir_expr ir_expr;
typedef struct ir_stmt ir_stmt;
typedef struct ir_func ir_func;
typedef struct ir_sum_loop ir_sum_loop;         // sum_loop.h

enum { IR_NO_VAR = UINT32_MAX };    // no variable of the function

typedef struct ir_var {
    const char *name;           // the user's where there is one; unique in the function
    hdst__kind kind;            // a scalar kind
    uint64_t elements;          // 0: a scalar; else a local array of so many
    bool varying;               // set by the pass that marks: differs from record to record
    bool per_record;            // set by the block form: lives across record loops, one value per record of the block
    bool in_rows;               // of an array that is per_record: a record's elements lie side by side, not those of one number
    bool in_tile;               // GPU form, of an array: loops with a tile fill it, in local memory
    const uint64_t *init;       // const arrays: the elements' bits; NULL otherwise
} ir_var;

typedef enum ir_op {
    IR_CONST,       // bits
    IR_VAR,         // var: a scalar variable
    IR_ELEM,        // var[a]: an element of a local array; a is in range
    IR_FIELD,       // leaf `leaf` of input `param`, element a (NULL: 0); a is in range
    IR_BROADCAST,   // leaf `leaf` of row a (NULL: row 0) of broadcast `param`, element b (NULL: 0); in range
    IR_LENGTH,      // rows of table `param` (broadcast or accum), u64, uniform
    IR_RECORD_INDEX,// u64
    // One operand, same type out
    IR_NEG, IR_BITNOT, IR_NOT /* bool */, IR_ABS, IR_SQRT,
    IR_CANONICAL,   // a float; of a NaN the quiet, positive one without payload. pass_canonical_nans puts it where bits leave the function
    IR_ISNAN,       // bool out
    IR_CTZ,         // u32, u64: zero bits below the lowest one; of 0 the width
    // Two operands of one type, same type out. Integers wrap.
    IR_ADD, IR_SUB, IR_MUL,
    IR_DIV, IR_REM, // integers: b != 0 was checked, b == 0 gives 0, MIN / -1 wraps to MIN, MIN % -1 is 0. IR_REM is not for floats.
    IR_AND, IR_OR, IR_XOR,      // integers and bool
    IR_SHL, IR_SHR, // count b (u32) is masked to the width; IR_SHR of a signed type keeps the sign
    IR_MIN, IR_MAX, // floats: NaN if either is NaN, -0 < +0
    // Two operands of one type, bool out
    IR_LT, IR_LE, IR_GT, IR_GE, IR_EQ, IR_NE,
    IR_FMA,         // a * b + c, one rounding
    IR_SELECT,      // a (bool) ? b : c; both are evaluated
    IR_CONVERT,     // a to `kind`: C's rules; float to integer saturates, NaN gives 0; to bool is != 0
    IR_BITCAST,     // a's bits as `kind`, of the same size. Of a NaN as an integer: the quiet, positive one's; with `bits` IR_ANY_NAN any bits will do
    // Texts (text_value.h). Indices are u32.
    IR_TEXT_LENGTH, // bytes of a, u32
    IR_TEXT_BYTE,   // u8: byte b of a; 0 behind its end
    IR_TEXT_WORD,   // u64: eight bytes of a from b on, the first one lowest; zero behind its end
    IR_TEXT_BITS,   // u64: which of the 64 bytes of a from b on lie in the ranges c (u64, hdst__text_bits); none of those behind its end
    IR_TEXT_SLICE,  // text: bytes b to c - 1 of a, as far as there are such
    // text: a, whose tokens a loop takes: those of bytes in the ranges b (u64, a constant), as `bits` says (ir_token_bytes). Where func->token_pieces is
    // set, the part of a with the tokens that begin in a lane's piece of it; else a
    IR_TEXT_TOKENS,
    IR_TEXT_VIEW,   // text: a with letters looked at as `bits` says, a hdst__text_view
    IR_GROUP_VALUE, // GPU form: what the work-group has for the lane, `bits` says what (ir_group_value)
    // Put in by pass_block_accumulation (block form); see accum/tables.h for what the words mean. The cell is
    // leaf `leaf` of accum `param`, a's kind is the cell's.
    IR_FIXED,       // a (float kinds) in fixed point at the cell's scale: i64, word `bits` (0 or 1); 0 when a does not fit.
    IR_FITS,        // bool: a is finite and the cell's words in fixed point lose nothing of it
    IR_KEY_MIN, IR_KEY_MAX,     // u64: hdst__key_encode(kind of a, HDST__MIN or HDST__MAX, a)
} ir_op;

enum { IR_ANY_NAN = 1 };
enum ir_token_bytes { IR_TOKENS_LOWER = 1 /* letters as small ones */, IR_TOKENS_BETWEEN = 2 /* of other bytes than those */ };

// Where a lane's piece of a text begins (u32); where the text of its record has what it is looked through for, -1: nowhere (i64).
enum ir_group_value { IR_PIECE_FROM, IR_FOUND_AT };

struct ir_expr {
    ir_op op;
    hdst__kind kind;            // of the result: a scalar
    bool varying;               // set by the pass that marks
    uint32_t param, leaf;
    uint32_t record;            // IR_FIELD, IR_RECORD_INDEX: which of the lane's records (GPU form; else 0)
    uint32_t var;               // index into ir_func.vars
    // IR_CONST: as AST_NUMBER (integers extended to 64 bits, floats as IEEE bits, bool 0 or 1); of a text the address of a hdst__text_value, or 0
    uint64_t bits;
    ir_expr *a, *b, *c;
    hdst__span span;
};

typedef enum ir_stmt_kind {
    IR_SET,         // var = value
    IR_SET_ELEM,    // var[index] = value
    IR_IF,          // cond, then, otherwise
    IR_FOR,         // counted: for (var = lo; var < hi; var += step) body. var (an integer) is not written in the body; lo, hi do not
                    // change in it; step is a constant >= 1;
                    // the last increment never wraps into range (hi <= maximum of the kind - step + 1, or step == 1)
    // general: repeat { head; if (!cond) stop; body; step }; cond NULL: no such test. `continue` in body goes
    // to step; break is allowed everywhere. hi (u64): it takes so many turns at most, by what is known before it; NULL: unknown
    IR_LOOP,
    IR_BREAK, IR_CONTINUE,
    IR_RETURN,      // of the function. Gone after the pass that structures exits.
    IR_ACCUM,       // (scalar form) cell (leaf `leaf`, element `index2`) of row `index` (NULL: 0) of accum `param` takes value; `acc` says how
    IR_STORE,       // output leaf `leaf`, element `index` (NULL: 0) = value, with a cond only where that holds; where the function emits: of the record that
                    // comes out next
    IR_EMIT,        // if cond (NULL: always), what was stored since the last one is an output record; all leaves were stored. In a function without an output,
                    // before fusing, the input record goes on: a filter. `check` (of kind IR_CHECK_EMIT): its place, for messages. In
                    // a function that counts, `value` (u64): so many records at most; NULL: one
    IR_PREFETCH,    // row `index` of broadcast `param`, which is in range, is going to be read soon; means nothing
    IR_CHECK,       // if !cond, the record fails with `check` (index into ir_func.checks); execution goes on. For the message only (the interpreter looks at
                    // them, printers do not): `index` and its limit `index2`, both u64, of index checks (of IR_CHECK_NUMBER and IR_CHECK_LOOKUP_TEXT
                    // `index` is a text); NULL in block form
    // Block form only (CPU devices). Every statement that reads a varying value is inside an IR_RECORDS, which do not nest; what stands outside is uniform and
    // runs once per block. Variables are: uniform (plain locals of the block's code), varying (locals of one record loop's body, set before they are read
    // there), or per_record (arrays over the block). There is no IR_ACCUM left.
    IR_RECORDS,     // for each record r of the block: body. `vectorize` asks for SIMD (then body has no control flow); `scalar_why` says why not
    // only in IR_RECORDS (and, from pass_predication to pass_block_form, where one will be): uniform `var` op=
    // value over the block's records, `acc` says how: HDST__SUM of i64, HDST__MAX of u64, HDST__OR and
    // HDST__XOR of u64 or bool. The variable is read only after the record loop.
    IR_REDUCE,
    IR_ACCUM_WORDS, // word `word` of the strip table's cell (param, leaf) at row `index`, element `index2` (NULL: 0) takes value (i64 or u64) with the cell's
                    // word operation. Inside a record loop (never a vectorised one): a scatter; statements on one row stand together, by rising place in the
                    // row, and share an equal `index`. Outside: value is the block's total.
    // outside of record loops: the cell takes value of every record of the block, by `sum_loop` once there are such
    // (sum_loop.h); of variables only per_record ones; index2 is the same for all, the row is 0
    IR_ACCUM_BLOCK,
    IR_ACCUM_SUPERACCUMULATOR,  // the exact slow path: value (of the cell's kind) goes straight to the device table's cell
} ir_stmt_kind;

typedef struct ir_block {
    ir_stmt **items;
    size_t count, capacity;
} ir_block;

// GPU form, of an IR_FOR: the work-group makes the loop for all its records together, before any of them goes on (codegen/pass/row_tiles.c). A lane has so
// many records and turns of the loop at once in registers. `across` lanes side by side have turns of the same records; 0: lanes of dot and sum (HDST__LANES).
typedef struct ir_tile {
    uint32_t records, units, across;
} ir_tile;

// GPU form, of the outer IR_FOR of a nest of the work-group's loops, where these are a kernel of their own (codegen/pass/product_tiles.c): sums of
// products of a factor, which the inner loop counts, and an element, which the outer one counts; of elements alone where there is no inner loop. A lane has
// so many factors by elements of them in registers; `across` lanes side by side have elements of the same factors. `steps` records at a time are in local
// memory.
typedef struct ir_product {
    uint32_t factors, elements, across, steps;
    bool beside;                // small: one work-group makes it, and all others of the kind
} ir_product;

struct ir_stmt {
    ir_stmt_kind kind;
    hdst__span span;
    uint32_t var, param, leaf, check;
    uint32_t record;                // which of the lane's records (GPU form; else 0)
    uint32_t word;                  // IR_ACCUM_WORDS
    uint32_t sum_loop;              // IR_ACCUM_BLOCK: index into ir_func.sum_loops
    hdst__accumulate_op acc;
    ir_expr *value, *cond, *index, *index2;
    ir_expr *lo, *hi;               // IR_FOR; hi: IR_LOOP
    uint64_t step;                  // IR_FOR
    const ir_tile *tile;            // IR_FOR, GPU form; NULL: each record makes its own
    const ir_product *product;      // IR_FOR, GPU form; NULL: it is none
    ir_block body, then, otherwise; // IR_LOOP uses body; IR_IF then and otherwise
    ir_block head, after;           // IR_LOOP: head before cond, after = the step
    uint32_t unroll_hint;           // IR_FOR, GPU form: turns that the driver's compiler is asked to unroll; 0: it is not
    uint32_t unroll;                // IR_FOR: its body holds so many iterations, jammed (for people; the code is explicit). 0 or 1: no
    bool vectorize;                 // IR_RECORDS; IR_FOR in row form
    uint32_t lanes, interleave;     // with vectorize: turns of a vector, vectors side by side; 0: not chosen yet
    bool masked;                    // IR_FOR with vectorize: the last turns are a vector too, of which some lanes are off
    const char *scalar_why;         // IR_RECORDS without vectorize (IR_FOR in row form, where it is meant): the reason, for people
    uint32_t place;                 // a pass's own: which statement of the function this is, in the order of a walk
    ir_home home;                   // IR_ACCUM of a work-group's loop
    uint32_t home_register;         // IR_HOME_REGISTER: the first
    uint32_t joint;                 // IR_ACCUM, GPU form: those with one number follow one another and share a test (joint_additions.c); 0: by itself.
                                    // IR_ACCUM_BLOCK: those with one number share a factor (shared_factors.c). IR_RECORDS: it makes the factors of the
                                    // family whose first group has the number, which is added while it runs for the next block (software_pipelining.c)
};

// What may go wrong at one place. The message is made when it happens, by running the record again in the interpreter, which knows the values (IR_CHECK's index
// and limit).
typedef enum ir_check_kind { IR_CHECK_INDEX, IR_CHECK_TABLE_INDEX, IR_CHECK_DIVISION,
    IR_CHECK_EMIT /* too many records */, IR_CHECK_KEY /* of a dense result */, IR_CHECK_UNSIGNED_KEY,
    IR_CHECK_LENGTH /* of a text that is built in an array: `index` is its length, `index2` the array's */,
    IR_CHECK_NUMBER /* a text that is to be one: `index` is the text, `index2` what is wrong with it (codegen/math/parse.hk) */,
    IR_CHECK_LOOKUP /* of a key that a table has not: `index` and `index2` are its first two numbers, or zero */,
    IR_CHECK_LOOKUP_TEXT /* the same: `index` is the text */, IR_CHECK_KINDS } ir_check_kind;

typedef struct ir_check {
    ir_check_kind kind;
    hdst__span span;
    const char *what;           // the array's or table's name
    const hdst__diags *diags;   // for the position of span: a fused stage may have functions of several modules
    const hdst__type *key;      // IR_CHECK_LOOKUP: what the numbers are; NULL: one without a sign
} ir_check;

typedef enum ir_param_kind { IR_INPUT, IR_BROADCAST_TABLE, IR_ACCUM_TABLE, IR_OUTPUT } ir_param_kind;

typedef struct ir_param {
    ir_param_kind kind;
    const char *name;
    const hdst__record *record;     // the row
    bool is_table;                  // declared with []; else one row
    bool is_lookup;                 // IR_BROADCAST_TABLE: large, a record reads few rows; it is read where it lies
    bool is_hashed;                 // with is_lookup: the slots of a frozen hash table, so which row is read is as good as random
    uint32_t arranged;              // IR_INPUT: records come in the order of this leaf, counted from 1; 0: in any. Advice: no result depends on it
    uint32_t starts;                // IR_INPUT that is arranged: the parameter that says where each key's records begin (pass/arranged_rows.h); 0: none
    bool numbers_keys;              // IR_BROADCAST_TABLE: for each record the number that its key has among the input's, which come in order
    uint32_t rows_from;             // IR_ACCUM_TABLE, block form: the same, if the input's keys are its rows, and no record's is looked at; 0: each is
    bool *leaf_used;                // IR_INPUT, IR_BROADCAST_TABLE: leaves that the body reads (set by the pass that drops unread fields); NULL: all
    hdst__accumulate_op *leaf_op;           // IR_ACCUM_TABLE: how each leaf accumulates. Leaves never accumulated are HDST__SUM.
    bool *leaf_from_float;          // IR_ACCUM_TABLE: every addend of this double leaf is a converted float (fits one word easily)
    // IR_ACCUM_TABLE, in GPU forms IR_BROADCAST_TABLE: where its words are (placement.h), shared by the forms
    // of a function; NULL: not placed
    ir_placement *placement;
    const char *bind;               // the name under which a value is bound: the parameter's, or "function.parameter" in a fused stage when ambiguous
    // IR_OUTPUT of a function that builds texts in arrays of its own (text(b, n)): the record that comes out. `record` is then what the function writes: the
    // same leaves, and behind them for each text, in their order, a length (u32) and the bytes. 0: the text is the leaf's; n + 1: it is the first n of the
    // bytes. (engine/stage/built_texts.h takes them apart.) NULL: `record` is what comes out.
    const hdst__record *given;
} ir_param;

// Row form (CPU devices, wide records) is scalar form with marks: an IR_FOR with `vectorize` has turns that do not
// need one another (but for sums of integers, and for bools that are or-ed); what is added in it to float sums is
// IR_ACCUM_WORDS, with IR_ACCUM_SUPERACCUMULATOR after it for what does not fit. IR_ACCUM stands elsewhere.
enum { HDST__LANES = 16 };      // partial sums of dot and sum (lower_lanes.c): part of their meaning, whatever the device

// Where output records go (codegen/opencl/kernel_args.h says what kernels are given for it).
typedef enum ir_output_way {
    IR_OUTPUT_DENSE,                // one of each record, at the record's place in the slice; also when there is none
    IR_OUTPUT_BOUNDED,              // CPU: a strip writes its records one after another, from {its first record} * bound on. Of a function without emits: some
                                    // leave the output again, others move up
    IR_OUTPUT_COUNTED,              // without a gap, in input order: they are counted first
    IR_OUTPUT_WAYS
} ir_output_way;

typedef struct ir_output {
    ir_output_way way;
    uint64_t bound;                 // BOUNDED: of one input record, at most
    bool at_most;                   // COUNTED, CPU: what is counted is the most that may come out. Behind what does each strip has a gap
    bool most_of_numbers;           // then: a loop over numbers says how many
    uint64_t spare;                 // COUNTED, CPU: records behind the output's room for each strip, of which nobody reads anything
} ir_output;

// A call that asks whether a text has another one in it: find(), starts_with(), ends_with(), ==. By variables: of the texts, and of what it came to, a place
// (below 0: it has not) or a bool.
typedef struct ir_search {
    uint32_t text, what, result;
    bool is_place;
} ir_search;

struct ir_func {
    hdst__arena *arena;
    const char *name;
    ir_param *params;               // inputs first (one; two for a reduce), then broadcasts, accums, the output last
    size_t param_count, param_capacity;
    ir_var *vars;
    size_t var_count, var_capacity;
    struct hdst__var_names *var_names;  // of ir_build.c: which names are taken; NULL: to be made anew
    ir_check *checks;
    size_t check_count, check_capacity;
    ir_block body;
    // a function of the user's gives the output, so its NaNs are one (docs/kernel-language.md): else records go through as they came
    bool makes;
    bool emits_few;                 // with emits: hardly any input record gives one, so counting them first would be a run in vain
    ir_search *searches;            // of a function as it was lowered; passes know nothing of them
    size_t search_count, search_capacity;
    bool emits;                     // has IR_EMIT: how many output records there are depends on the data. Else each input record gives one
    bool counts;                    // only counts what it would emit: nothing is stored, accumulated or checked (pass_count)
    // GPU form: a lane takes the tokens of a piece of a text, not of a whole one (codegen/pass/token_pieces.c)
    bool token_pieces;
    // GPU form: NULL, or what looks through a piece of a text (codegen/pass/search_pieces.c), which leaves in `search_result`, a variable, where it has found
    // something; and whose pieces these are
    ir_func *search;
    const ir_expr *search_text;
    uint32_t search_result;
    bool placed;                    // only what comes out is stored (pass_emit_counts_place)
    uint32_t block;                 // block form: records of a block; 0 in scalar form
    ir_sum_loop *sum_loops;         // block form: by which IR_ACCUM_BLOCKs add; none before the pass that makes them
    uint32_t sum_loop_count;
    bool apart;                     // block form: the values of neighbouring records do not lie side by side in memory (AoS)
    bool rows;                      // row form: scalar form in which IR_FORs over elements are marked (vectorize) and may hold IR_ACCUM_WORDS
    ir_shape *shape;                // GPU form: how it is cut, shared by the forms of a function; else NULL
    ir_output *output;              // how records get to the output, shared by the forms of a function; NULL: dense
    ir_tables *tables;              // what the placements have in common, shared by the forms of a function; NULL: not placed
    bool together;                  // GPU form: the body is made by the work-group, loop by loop, when its lanes have ended their records (cooperative_loops.c)
    uint32_t lane_records;          // GPU form: records that a lane takes at once (thread_coarsening.c); 0 in other forms
    const char *form_why;           // why this form was chosen, for `hdst kernel show`
    const hdst__diags *diags;       // for the positions of spans
    void (*after_pass)(const ir_func *func, const char *pass, void *user);      // told after each pass, before the verifier; NULL: nobody
    void *after_pass_user;
};

// --- Building (ir_build.c). All allocate from func->arena. ---
uint32_t hdst__ir_add_var(ir_func *func, const char *name, hdst__kind kind, uint64_t elements);     // makes the name unique
uint32_t hdst__ir_add_param(ir_func *func, ir_param param);
uint32_t hdst__ir_add_check(ir_func *func, ir_check check);
ir_expr *hdst__ir_const(ir_func *func, hdst__kind kind, uint64_t bits);
ir_expr *hdst__ir_var(ir_func *func, uint32_t var);
ir_expr *hdst__ir_unary(ir_func *func, ir_op op, hdst__kind kind, ir_expr *a);
ir_expr *hdst__ir_binary(ir_func *func, ir_op op, hdst__kind kind, ir_expr *a, ir_expr *b);
ir_expr *hdst__ir_select(ir_func *func, ir_expr *cond, ir_expr *yes, ir_expr *no);
ir_expr *hdst__ir_convert(ir_func *func, hdst__kind kind, ir_expr *a);      // a itself when the kind is the same
ir_expr *hdst__ir_copy(ir_func *func, const ir_expr *expr);                 // deep
ir_stmt *hdst__ir_stmt(ir_func *func, ir_stmt_kind kind, hdst__span span);
ir_stmt *hdst__ir_set(ir_func *func, uint32_t var, ir_expr *value);
ir_stmt *hdst__ir_if(ir_func *func, ir_expr *cond);
ir_stmt *hdst__ir_for(ir_func *func, uint32_t var, ir_expr *lo, ir_expr *hi, uint64_t step);
void hdst__ir_push(ir_func *func, ir_block *block, ir_stmt *stmt);
hdst__kind hdst__kind_over_block(hdst__kind kind);          // of a scalar's array over the block, as printed (block_liveness.c)
ir_block hdst__ir_copy_block(ir_func *func, const ir_block *block);         // deep
ir_func *hdst__ir_copy_func(hdst__arena *arena, const ir_func *func);       // deep; so that one checked program serves several targets

// --- Walking (ir_walk.c). The visitor may replace what it is given; return false to stop. ---
typedef bool (*ir_expr_visitor)(ir_expr **expr, void *user);                // children before parents
bool hdst__ir_visit_expr(ir_expr **expr, ir_expr_visitor visit, void *user);
bool hdst__ir_visit_exprs(ir_block *block, ir_expr_visitor visit, void *user);      // every expression of every statement, nested ones too
typedef bool (*ir_stmt_visitor)(ir_stmt *stmt, void *user);                 // parents before children
bool hdst__ir_visit_stmts(ir_block *block, ir_stmt_visitor visit, void *user);
bool hdst__ir_visit_own_exprs(ir_stmt *stmt, ir_expr_visitor visit, void *user);    // of this statement, not of nested ones
enum { HDST__IR_NESTED = 3 };
int hdst__ir_nested(ir_stmt *stmt, ir_block *nested[HDST__IR_NESTED]);      // its blocks, in order of execution; how many
bool hdst__ir_expr_equal(const ir_expr *a, const ir_expr *b);               // structurally
bool hdst__ir_works_on_texts(const ir_func *func);                          // some expression is a text
bool hdst__lanes_take_neighbours(const ir_func *func);                      // GPU form: ir_tables.neighbours
bool hdst__ir_is_const(const ir_expr *expr, uint64_t bits);
size_t hdst__ir_expr_size(const ir_expr *expr);                             // nodes
size_t hdst__ir_expr_reads(const ir_expr *expr, uint32_t var);              // how often a variable (or an element of it) is read
size_t hdst__ir_block_reads(const ir_block *block, uint32_t var);           // nested statements included
size_t hdst__ir_block_writes(const ir_block *block, uint32_t var);
size_t hdst__ir_stmt_reads(const ir_stmt *stmt, uint32_t var);
size_t hdst__ir_stmt_writes(const ir_stmt *stmt, uint32_t var);
void hdst__ir_tally(const ir_block *block, size_t *mentions, bool take_off);   // adds (takes off) how often each variable is read or written
bool hdst__ir_writes(const ir_stmt *stmt, uint32_t var);                    // this statement itself
const ir_expr *hdst__ir_only_value(const ir_func *func, uint32_t var);      // that a variable is ever set to; NULL: there are several, or it is no IR_SET
bool hdst__ir_block_exits(const ir_block *block);                           // a break or continue of the loop around it
bool hdst__ir_loop_exits(const ir_stmt *loop);
bool hdst__ir_loop_varies(const ir_stmt *loop);                             // (marked) records take different numbers of turns, or leave apart

// --- Variables in place (ir_substitute.c) ---
void hdst__ir_substitute(ir_func *func, ir_block *block, uint32_t var, const ir_expr *value);      // every read of a scalar variable
void hdst__ir_substitute_expr(ir_func *func, ir_expr **expr, uint32_t var, const ir_expr *value);
void hdst__ir_rename(ir_func *func, ir_block *block, const uint32_t *number);     // variable v becomes number[v], where it is read and where it is written
void hdst__ir_drop_unused_vars(ir_func *func);              // those that no statement names; renumbers the others

// What statements do first with a scalar variable (first_access.c): nothing that counts, perhaps setting it on some
// ways; set it on every way; perhaps read what it was before.
typedef enum ir_meeting { IR_MEETS_NOT, IR_SETS, IR_MAY_READ } ir_meeting;
ir_meeting hdst__ir_first_meeting(const ir_block *block, uint32_t var);
// of every variable, in one walk: by variable, an ir_meeting
const uint8_t *hdst__ir_first_meetings(hdst__arena *arena, const ir_block *block, size_t var_count);
// What a block does with every variable, as flags (zero at first: never named). IR_SET_FIRST: the first statement of
// the block that names it sets it, and does not read it.
enum { IR_READ_FIRST = 1, IR_SET_FIRST = 2, IR_WRITTEN = 4 };
void hdst__ir_accesses(const ir_block *block, uint8_t *access);

// Whether a statement, or one nested in it, emits; stores output.
bool hdst__ir_emits(const ir_stmt *stmt);
bool hdst__ir_stores(const ir_stmt *stmt);
// Whether some text of an output may be looked at in another case than its bytes have.
bool hdst__ir_gives_views(const ir_func *func);
// The most IR_EMIT that one record meets, whether their conditions hold or not; UINT64_MAX: it depends on the data.
uint64_t hdst__ir_emit_bound(const ir_func *func);
uint64_t hdst__ir_emit_bound_of_turn(const ir_stmt *loop);      // the same of a turn of an IR_LOOP
ir_output hdst__ir_output(const ir_func *func);        // also of a function that says nothing of it
// The statements of the body from the first that stores output to the last that emits: what makes the output records one after another. False: none emits.
bool hdst__ir_emit_range(const ir_func *func, size_t *first, size_t *end);

const char *hdst__ir_op_name(ir_op op);                 // "add", "select" ...
const char *hdst__ir_stmt_name(ir_stmt_kind kind);
bool hdst__broadcast_is_local(const ir_param *param);   // GPU form: its rows were copied into local memory
const char *hdst__ir_place_name(ir_place place);        // "registers", "local" ...
const char *hdst__ir_way_name(ir_way way);              // "word", "joint" ...

// --- ir_verify.c: NULL when the function is well formed, else what is wrong, in the arena. Types of operands, indices of params, leaves, vars, checks;
// breaks inside loops; block-form statements only in block form; per_record variables only inside IR_RECORDS ...
const char *hdst__ir_verify(const ir_func *func);

// --- ir_dump.c: a readable text of the function, as `hdst kernel show --ir` prints it.
void hdst__ir_dump(const ir_func *func, hdst__buffer *out);

#endif
