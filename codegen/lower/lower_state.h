// SPDX-License-Identifier: Apache-2.0
// What the files of the lowering share (typed syntax tree to IR).
//
// lower.c         functions, parameters, results
// lower_place.c   places: where a value of any type lies, leaf by leaf
// lower_expr.c    expressions become trees; what can fail or must not always run becomes statements in front
// lower_stmt.c    statements other than loops; switches; accumulations
// lower_loop.c    loops: which are counted
// lower_lanes.c   dot and sum
// lower_hash.c    hash; rows of tables that are looked up by key
// lower_text.c    texts: bytes, slices, constants; those that the function builds in arrays
// lower_reduce.c  reduces that combine field by field
// lower_group.c   groups: the key, the stream, loops over it
#ifndef HDST_CODEGEN_LOWER_LOWER_STATE_H
#define HDST_CODEGEN_LOWER_LOWER_STATE_H

#include "codegen/front/builtins.h"
#include "codegen/lower/rows_of_key.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/structured_exits.h"

enum {
    HDST__LOWER_LIMIT = 10000,     // statements of a function with its helpers in place
};

// An index on the way to a place: element `index` of an array whose elements have type `element`; the array begins at leaf
// `leaf` of the root.
typedef struct lower_step {
    const struct lower_step *outer;
    ir_expr *index;
    const hdst__type *element;
    uint32_t leaf;
} lower_step;

typedef enum lower_base { PLACE_LOCAL, PLACE_INPUT, PLACE_BROADCAST, PLACE_ACCUM, PLACE_OUTPUT } lower_base;

// Where a value of `type` lies. A local has one variable per leaf, one after another.
typedef struct lower_place {
    lower_base base;
    const hdst__type *type;
    uint32_t first;             // PLACE_LOCAL: the root's first variable; else the parameter
    ir_expr *row;               // of a table; NULL: row 0
    uint32_t leaf;              // first leaf of this place within the root
    const lower_step *steps;    // innermost first
    const char *name;           // for messages of checks
} lower_place;

typedef struct lower_binding {
    const ast_decl *decl;
    lower_place place;
    bool is_table;
} lower_binding;

typedef struct lower_key_rows {     // rows of a table with the same key
    const lower_binding *table;
    hdst__key_rows lie;
    const ast_expr *rows;           // of those that were found in front of a loop: t[k]
} lower_key_rows;

typedef struct lowerer {
    hdst__arena *arena;
    ir_func *func;
    ir_block *block;            // statements go here
    lower_binding *bindings;
    size_t binding_count, binding_capacity;
    const lower_place *result;  // where `return` puts its value; NULL: nowhere
    const ast_stmt *tail;       // the one `return` that ends the body: it puts the value straight into the output
    bool is_filter;
    const ast_stmt *case_end;   // the `break` that ends the case of a switch which is a chain of ifs: there is nothing to leave
    uint32_t group[2];          // of a group: the variables of its first record and of the one behind its last
    uint32_t middle;            // of one with two streams: the variable of the second one's first record
    const ast_decl *right;      // that second one; NULL: there is one
    uint32_t switch_continue;   // in a switch that became a loop: the flag that stands for `continue`; else IR_NO_VAR
    bool has_key_rows;          // it has a table with any number of rows of a key
    lower_key_rows *found;      // in front of the loops around
    size_t found_count, found_capacity;
    size_t statements;          // lowered so far
    const ast_expr *called;     // in a function of codegen/math/: its call; else NULL
} lowerer;

// --- lower.c ---
void hdst__lower_bind(lowerer *l, const ast_decl *decl, lower_place place, bool is_table);
const lower_binding *hdst__lower_find(const lowerer *l, const ast_decl *decl);
lower_place hdst__lower_call(lowerer *l, const ast_expr *call);     // inlines a helper; the place of its result
const hdst__record *hdst__lower_row_record(hdst__arena *arena, const hdst__type *type);     // a bare number as a record of one field
void hdst__lower_emit(lowerer *l, ir_expr *cond, hdst__span span);

// --- lower_place.c ---
uint32_t hdst__lower_leaf_count(const hdst__type *type);
hdst__kind hdst__lower_leaf_kind(const hdst__type *type, uint32_t leaf);
uint64_t hdst__lower_leaf_elements(const hdst__type *type, uint32_t leaf);
lower_place hdst__lower_new_local(lowerer *l, const char *name, const hdst__type *type);
lower_place hdst__lower_field(const lower_place *place, const hdst__field *field);
lower_place hdst__lower_element(lowerer *l, const lower_place *place, ir_expr *index);     // in range already
lower_place hdst__lower_evaluate_indices(lowerer *l, lower_place place);      // the place with its indices in variables, evaluated once, here
ir_expr *hdst__lower_load(lowerer *l, const lower_place *place);                            // of a scalar
ir_expr *hdst__lower_load_leaf(lowerer *l, const lower_place *place, uint32_t leaf, ir_expr *element);     // of any value; element NULL: 0
void hdst__lower_store(lowerer *l, const lower_place *place, ir_expr *value);              // of a scalar
void hdst__lower_copy(lowerer *l, const lower_place *to, const lower_place *from);
void hdst__lower_zero(lowerer *l, const lower_place *place);
// Adds the statement that accumulates `value` into a scalar place of an accumulator.
void hdst__lower_accumulate(lowerer *l, const lower_place *place, hdst__accumulate_op acc, ir_expr *value, hdst__span span);

// --- lower_expr.c ---
ir_expr *hdst__lower_value(lowerer *l, const ast_expr *expr);      // a scalar
lower_place hdst__lower_place(lowerer *l, const ast_expr *expr);   // any type; scalars that are no place get a variable
void hdst__lower_into(lowerer *l, const lower_place *to, const ast_expr *expr);     // `to` is not read by expr
ir_expr *hdst__lower_arithmetic(lowerer *l, ast_op op, hdst__span span, ir_expr *left, ir_expr *right);
ir_expr *hdst__lower_convert(lowerer *l, hdst__kind kind, ir_expr *e);             // folds constants
ir_expr *hdst__lower_simple(lowerer *l, const char *name, ir_expr *e);             // e itself when it is a constant or a variable, else a variable set to it
ir_expr *hdst__lower_bool(lowerer *l, bool value);
void hdst__lower_push(lowerer *l, ir_stmt *stmt);
void hdst__lower_push_check(lowerer *l, ir_check_kind kind, hdst__span span, const char *what, ir_expr *cond, ir_expr *index, ir_expr *limit);

// A check of the index of at (AST_INDEX), and the index clamped into range. It is compared as u64 after sign extension, so negative ones fail.
ir_expr *hdst__lower_checked_index(lowerer *l, ir_check_kind kind, const ast_expr *at, const char *what, ir_expr *limit);

// --- lower_text.c ---
bool hdst__lower_is_of_text(const lowerer *l, const ast_expr *index);       // AST_INDEX: of a text, not of a table of texts
ir_expr *hdst__lower_text_index(lowerer *l, const ast_expr *index);         // t[i], t[a:b]
ir_expr *hdst__lower_text_length(lowerer *l, const ast_expr *text);         // len(t)
ir_expr *hdst__lower_text_constant(lowerer *l, const ast_expr *string);
void hdst__lower_check_number(lowerer *l, const ast_expr *call);             // check_number(t, fault)

// What a function writes whose output has texts of up to `bytes` bytes that it builds itself; NULL: it would be too large.
const hdst__record *hdst__lower_built_record(hdst__arena *arena, const hdst__record *given, uint64_t bytes);
void hdst__lower_built_text(lowerer *l, const lower_place *to, const ast_expr *call);      // text(b, n) into a text of such an output
void hdst__lower_not_built(lowerer *l, const lower_place *to);                            // beside another text there

// --- lower_stmt.c, lower_loop.c ---
void hdst__lower_stmt(lowerer *l, const ast_stmt *stmt);
void hdst__lower_loop(lowerer *l, const ast_stmt *stmt);
void hdst__lower_body(lowerer *l, ir_block *block, const ast_stmt *stmt);          // stmt (NULL: nothing) into another block

// --- lower_lanes.c ---
ir_expr *hdst__lower_over_arrays(lowerer *l, const ast_expr *call);                // dot(a, b), sum(a)

// --- lower_hash.c ---
ir_expr *hdst__lower_hash(lowerer *l, const ast_expr *call);                       // hash(x)
lower_place hdst__lower_lookup_params(lowerer *l, const ast_decl *table);          // adds the two parameters of a table that is read by key
lower_place hdst__lower_lookup_row(lowerer *l, const ast_expr *e, const lower_binding *table);     // t[k]
ir_expr *hdst__lower_has_key(lowerer *l, const ast_expr *call);                    // has(t, k)
ir_expr *hdst__lower_lookup_length(lowerer *l, const lower_binding *table);        // len(t)
lower_place hdst__lower_key_rows_params(lowerer *l, const ast_decl *table);        // adds the two parameters of a table `lookup V t[K][]`
lower_key_rows hdst__lower_key_rows(lowerer *l, const ast_expr *rows);             // t[k] of such a table
lower_place hdst__lower_row_of_key(lowerer *l, const ast_expr *e);                 // t[k][i]
ir_expr *hdst__lower_key_rows_length(lowerer *l, const ast_expr *rows);            // len(t[k])
void hdst__lower_find_key_rows(lowerer *l, const ast_stmt *loop);                  // those that stay the same in the loop, which is lowered next

// --- lower_group.c ---
// The parameters of a group: an input record {first, count}, the stream as a table; the key is read from the first record of
// the run. false: hdst__lower_group (lower.h) says when.
bool hdst__lower_group_params(lowerer *l, const ast_function *function, const hdst__key_leaf *key);
void hdst__lower_for_in(lowerer *l, const ast_stmt *stmt);                         // for (T e : stream), for (T e : t[k])

// --- lower_reduce.c ---
// Turns a lowered reduce of two inputs and an output into an accumulation of one input; NULL when it does not combine leaf by leaf.
ir_func *hdst__lower_field_wise(hdst__arena *arena, const ir_func *reduce);

#endif
