// SPDX-License-Identifier: Apache-2.0
// Inside the generator. Kernel text and C text are written at the same time from the same choices: the kernel as a person would write it (nested expressions,
// precedence, implicit conversions), the C as a sequence of temporaries, one per operation, so that C's own open ends (order of evaluation, contraction,
// shifts, saturation) never come into play. gcc derives the types of the temporaries; where the generator knows a type, gcc is asked to agree.
#ifndef HDST_TESTS_DIFFERENTIAL_GEN_H
#define HDST_TESTS_DIFFERENTIAL_GEN_H

#include "base/buffer.h"
#include "generate.h"

typedef struct gen_record gen_record;

typedef struct gen_field {
    const char *hk, *c;             // its name in either language
    diff_kind kind;
    uint64_t count, count2;         // 0: one; both: rows of arrays
    const gen_record *record;       // a nested record, or (with count) an array of them
    int leaf;                       // number of its (first) leaf in the outermost record
} gen_field;

struct gen_record {
    const char *hk, *c;             // the name of the type in either language
    gen_field field[5];
    int field_count, leaves;
    uint64_t numbers;               // elements of all leaves
    int pack;                       // of a schema: fields are aligned to at most so many bytes; 0: as in C
};

typedef struct gen_symbol {         // what may be read: a variable, a parameter
    const char *hk, *c;
    diff_kind kind;                 // of a scalar, or of an array's elements
    uint64_t count;                 // array: its elements; 0: no array
    const gen_record *record;       // a record, or the rows of a table
    int table;                      // parameter number of a broadcast table; -1: none
    bool writable;
    uint64_t below;                 // a loop variable that stays below this; 0: unknown
    const char *below_rows;         // a loop variable that counts the rows of this table
    bool sets_row;                  // may be set, but only below
} gen_symbol;

typedef struct gen_value {
    const char *hk, *c;             // c is a temporary, a literal or a path: safe to repeat
    int level;                      // C precedence of the kernel text, higher binds tighter
    diff_kind kind;
    const char *x, *y;              // factors, when it is a product of floating numbers
} gen_value;

typedef struct gen_helper {
    const char *hk, *c;
    diff_kind result, param[3];
    int param_count;
    uint64_t array;                 // elements of one more parameter, an array of float; 0: none
} gen_helper;

typedef struct gen {
    hdst__arena *arena;
    uint64_t random;
    diff_program *program;
    diff_options options;
    hdst__buffer hk, c, yaml;
    int indent;
    bool schema;                    // records are declared in YAML, some of them packed
    diff_reals reals;               // of data
    bool wide_row;                  // the fields of a record that is made are long arrays
    int indices;                    // around the one that is made
    int expressions;                // of the program so far, see gen_is_long
    gen_symbol symbol[64];
    int symbol_count;
    gen_helper helper[3];
    int helper_count;
    const gen_record *row[DIFF_PARAMS];     // by parameter; NULL for scalars
    diff_kind scalar[DIFF_PARAMS];
    const gen_record *in, *out;
    int names;
    uint64_t name_random;           // dice of names
    const char **used;              // names, of whatever
    size_t used_count, used_capacity;
    const char *four;               // the program's parameter
    const char *left, *right;       // the parameters that are records
    const char *record_names[32];   // of records
    int record_count;
    bool floating;                  // this program is mostly about float and double
    bool faults;                    // the place that is being written may fail
    int loops, switches;            // how deep
    gen_symbol counter;             // of the loop whose condition is made
    bool counts_down, breaks;       // breaks: behind some turns, whatever the condition says
    diff_kind wanted;               // of bounded integers, see gen_bounded_of; K_BOOL: any
    const char *continue_label;     // of a do-while; NULL: plain continue
    diff_kind result;               // of a helper
    bool in_helper;
    bool no_params;                 // a helper, or a stage before the last: only its record
    enum { RETURN_VALUE, RETURN_NOTHING, RETURN_RECORD, RETURN_KEEP, RETURN_EMITS } returns;
    const char *emit_to;            // C text of what takes an emitted record
    uint64_t units, length;         // of a theme: rows of its sums, elements of the record's array
    int array;                      // of a theme: number of the record's field
    bool no_index;                  // behind a flat_map: record_index() is for another test
} gen;

enum { GEN_CONSTANTS = 2 };       // the first symbols: a const array, an enum value

enum {
    LEVEL_TERNARY = 1,
    LEVEL_LOGOR,
    LEVEL_LOGAND,
    LEVEL_OR,
    LEVEL_XOR,
    LEVEL_AND,
    LEVEL_EQUAL,
    LEVEL_LESS,
    LEVEL_SHIFT,
    LEVEL_ADD,
    LEVEL_MUL,
    LEVEL_UNARY,
    LEVEL_LEAF
};

// --- gen_text.c: choices, names, text ---
uint64_t gen_next(gen *g);
bool gen_chance(gen *g, int percent);
int gen_below(gen *g, int n);
const char *gen_print(gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *gen_name(gen *g, const char *prefix);   // of the C translation
void gen_hk(gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));     // a line
void gen_c(gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *gen_c_type(diff_kind kind);
const char *gen_suffix(diff_kind kind);             // "i32"
bool gen_is_float(diff_kind kind);
bool gen_is_signed(diff_kind kind);
diff_kind gen_promote(diff_kind kind);
diff_kind gen_common(diff_kind a, diff_kind b);
diff_kind gen_kind(gen *g);

// --- gen_names.c: of the kernel ---
const char *gen_user_name(gen *g, const char *plain);
const char *gen_inner_name(gen *g, const char *plain, const char *const *others, int count);

// --- gen_expr.c ---
gen_value gen_expr(gen *g, int depth);
gen_value gen_integer(gen *g, int depth);
gen_value gen_condition(gen *g, int depth);
gen_value gen_mix(gen *g);                                          // a few products of data added up: where one rounding more or less shows
const char *gen_converted(gen *g, gen_value v, diff_kind kind);     // C text of v as `kind`
const char *gen_argument(gen_value v);                              // kernel text of v where a comma or `=` stands beside it
typedef struct gen_maker {          // of the branches of a conditional expression
    gen_value (*make)(gen *g, int depth, uint64_t limit);
    int depth;
    uint64_t limit;
} gen_maker;

gen_value gen_product(gen *g, gen_value a, gen_value b);
gen_value gen_inside(gen *g, const gen_symbol *s);                  // a scalar in it
gen_value gen_ternary(gen *g, int depth /* of its condition */, const gen_maker *maker);
gen_value gen_comparison(gen *g, int depth);
gen_value gen_logic(gen *g, int depth);
gen_value gen_literal(gen *g);                                      // of an integer
bool gen_wild_integer(gen *g, gen_value *v);                        // no constant; false when there is none
gen_value gen_cast(gen *g, gen_value v, diff_kind kind);
const char *gen_wrapped(gen *g, gen_value v, int level);            // kernel text of v as an operand that must bind at least as tightly as `level`
const char *gen_typed(gen *g, diff_kind kind, const char *text);    // a temporary of C text; gcc must find that it has this type
const char *gen_temporary(gen *g, diff_kind kind, const char *text);

// --- gen_bound.c ---
bool gen_is_long(const gen *g);                                     // the program: what else is written is as short as can be
gen_value gen_bounded(gen *g, int depth, uint64_t limit);           // an integer from 0 below limit, whatever the data; its outermost operator is any
gen_value gen_bounded_of(gen *g, diff_kind kind, int depth, uint64_t limit);   // the same; its numbers are of one kind, so that few conversions stand in it
// An index below `limit` (elements), or below the rows of table `table` when that is not -1. Gives kernel text; *c is a checked C temporary.
const char *gen_index(gen *g, int depth, uint64_t limit, const char *table, const char *c_rows, const char **c);
bool gen_place(gen *g, bool writable, gen_value *place);            // a scalar inside some symbol; false when there is none

gen_value gen_over_array(gen *g);                                   // dot or sum; a leaf when no array is in sight

// --- gen_record.c ---
const gen_record *gen_new_record(gen *g, const char *name, bool nested);
const char *gen_leaf_list(gen *g, const gen_record *r);      // initializers of diff_leaf
void gen_paths_of(gen *g, const gen_record *r, const char **paths);     // kernel text of the first element of each leaf
// Kind and number of elements of each leaf, of DIFF_LEAVES at most. Returns how many leaves.
int gen_leaves_of(const gen_record *r, diff_kind *kinds, uint64_t *counts);
// Kernel text of a list in braces for a record, and the assignments of its C twin at `path`.
const char *gen_braces(gen *g, const gen_record *r, const char *path);
const char *gen_numbers(gen *g, const gen_record *r, const char *path);

// A record of these fields, numbers and arrays of them; five at most.
typedef struct gen_wish {
    diff_kind kind;
    uint64_t count, count2;             // as in gen_field
} gen_wish;
const gen_record *gen_wished_record(gen *g, const char *name, const gen_wish *wish, int count);

// --- gen_accum.c ---
typedef struct gen_cell {               // a number in an accumulator
    int param, leaf;
    diff_kind kind;
    const char *hk, *row, *element;     // row, element (its number among those of the leaf): C text
} gen_cell;
void gen_accumulate_value(gen *g, gen_cell cell, gen_value v);      // by the law of the cell's leaf
const char *gen_pattern(gen *g, const char *c, diff_kind kind);     // C text of a value as the pattern that accumulate() takes
void gen_accumulate(gen *g);
bool gen_accumulate_row(gen *g);        // false: there is no row to add to
bool gen_accumulate_elements(gen *g);   // false: there is no array in one

// --- gen_loop.c ---
void gen_loop(gen *g, int depth);
int gen_broadcast_table(gen *g);        // -1: none
void gen_for_rows(gen *g, int depth, int table);

// --- gen_theme.c ---
const gen_record *gen_theme_input(gen *g);
void gen_theme_params(gen *g);          // sets some, from number 1 on
void gen_theme_body(gen *g);

// --- gen_stmt.c ---
void gen_block(gen *g, int statements, int depth);
void gen_declare(gen *g, gen_symbol s);
bool gen_declare_row(gen *g);           // a variable with the number of a row of a broadcast; false: there is none
void gen_open(gen *g, const char *hk, const char *c);
void gen_close(gen *g);
void gen_return(gen *g);
void gen_emit(gen *g);
void gen_variable(gen *g);
int gen_scope(gen *g);
void gen_leave(gen *g, int scope);

#endif
