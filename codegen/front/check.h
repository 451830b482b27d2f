// SPDX-License-Identifier: Apache-2.0
// The checker: resolves names, types expressions, makes every conversion explicit, folds constants, enforces the rules of
// operators, accumulators and reduces. It works on the files that module.c has parsed. What is wrong gets the poison type, about
// which no further error is reported.
//
// check_decl.c      types as written, records, params, constants, enum values
// check_const.c     values of constant expressions
// check_expr.c      expressions; check_convert.c: conversions; check_call.c: calls; check_compound.c: lists in braces
// check_stmt.c      statements
// check_accum.c     uses of accumulators, and one law for each of their leaves
// check_function.c  signatures, missing returns; check_calls.c: recursion
// check_math.c      functions that are written in the kernel language (codegen/math/)
// check_emit.c      what a flat_map or group emits; texts that are built in arrays
// check_text.c      comparisons and tokens of texts
// check_join.c      what functions over two datasets run over
// check_lookup.c    lookup tables, has()
// check_reduce.c    how freely a reduce may be regrouped
#ifndef HDST_CODEGEN_FRONT_CHECK_H
#define HDST_CODEGEN_FRONT_CHECK_H

#include "codegen/front/front.h"
#include "base/name_map.h"
#include "codegen/front/parse.h"

typedef struct check_law {          // how a leaf of an accumulator is accumulated, by its first use
    const char *law;                // "+=", "acc_min" ...
    hdst__span span;
} check_law;

// What a name may mean at file level.
typedef struct hdst__names {
    hdst__name_map globals, functions, structs, records;
} hdst__names;

typedef struct hdst__checker {
    hdst__diags *diags;
    hdst__arena *arena;
    ast_module *module;             // its records, functions, globals are those of all files
    const hdst__front_options *options;
    ast_struct **structs;           // of all files
    size_t struct_count, struct_capacity;
    hdst__name_map globals, functions, structs_by_name, records;
    hdst__names other;              // of the mathematics; while that is checked (in_math), the user's
    bool in_math;
    bool *math_read;                // by file of codegen/math/
    ast_function **math_called;     // its functions that are called, in the order of the first calls
    size_t math_called_count, math_called_capacity;
    unsigned depth;                 // of declarations that are resolved because others need them
    const char **schema_params;     // names in `params:` of imported schemas, for a hint
    size_t schema_param_count, schema_param_capacity;
    // Of the function being checked
    ast_function *function;         // NULL at file level
    ast_decl **scope;               // locals and parameters in sight, innermost last
    size_t scope_count, scope_capacity, block_start;
    unsigned loops, switches;       // around the statement
    hdst__span record_return, bare_return;      // of a group: its last `return r;`, and its last `return;`; no place: none
    hdst__name_map laws;            // check_law, by "accumulator.path.of.leaf"
} hdst__checker;

// --- Poison ---
extern const hdst__type hdst__check_poison;
bool hdst__check_is_poison(const hdst__type *type);
ast_expr *hdst__check_poisoned(ast_expr *expr);         // gives it the poison type

// --- Reports ---
const char *hdst__check_type_name(hdst__checker *c, const hdst__type *type);        // "point" rather than "struct point"
const char *hdst__check_near(hdst__checker *c, const char *name, const char *const *names, size_t count);   // "did you mean 'x'?" or NULL
// The same hint, else the names that exist: "its fields are x, y".
const char *hdst__check_near_or_all(hdst__checker *c, const char *what, const char *name, const char *const *names, size_t count);
// Marks the function as not available yet because of `what`, a construct that parses and checks. The first reason stays.
void hdst__check_unsupported(hdst__checker *c, hdst__span span, const char *what);

// --- check_decl.c ---
enum {
    HDST__DEPENDENCE_LIMIT = 100,   // of declarations on later declarations on later declarations ...
    HDST__FIELD_LIMIT = 10000,      // of a record
    HDST__LOCAL_LIMIT = 1000,       // of a function
    HDST__NEAR_NAMES = 1000,        // looked at for "did you mean"
};
const hdst__type *hdst__check_type(hdst__checker *c, const ast_type_name *written);             // with its dimensions; poison after an error
const hdst__type *hdst__check_base_type(hdst__checker *c, const ast_type_name *written);        // without
const hdst__record *hdst__check_struct(hdst__checker *c, ast_struct *record);                   // NULL after an error
bool hdst__check_global(hdst__checker *c, ast_decl *decl);      // type and value of a const, enum value or param; false after an error
void hdst__check_params(hdst__checker *c);                      // enum values and params first: schemas need params

// --- check_const.c ---
// The value of a typed constant expression. Returns false, with an error unless `quiet`, when the expression is not constant
// (or divides by zero).
bool hdst__check_constant(hdst__checker *c, const ast_expr *expr, uint64_t *bits, bool quiet);
// Types the expression, which must be a constant integer of at least `least` and at most `most`; false after an error.
bool hdst__check_constant_size(hdst__checker *c, ast_expr *expr, const char *what, uint64_t least, uint64_t most, uint64_t *value);
ast_expr *hdst__check_number(hdst__checker *c, hdst__span span, hdst__kind kind, uint64_t bits);

// --- check_convert.c ---
hdst__kind hdst__check_promote(hdst__kind kind);
hdst__kind hdst__check_common(hdst__kind a, hdst__kind b);      // C's usual arithmetic conversions
bool hdst__check_is_arithmetic(const hdst__type *type);         // a scalar other than text
ast_expr *hdst__check_to_kind(hdst__checker *c, ast_expr *expr, hdst__kind kind);       // expr is arithmetic; folds numbers
// Converts a value to the type of its target; `what` names the target in messages: "argument 2 of 'f'", "the result" ...
ast_expr *hdst__check_to_type(hdst__checker *c, ast_expr *expr, const hdst__type *type, const char *what);
ast_expr *hdst__check_condition(hdst__checker *c, ast_expr *expr, const char *what);    // types it and makes it bool

// --- check_expr.c, check_call.c, check_compound.c ---
ast_expr *hdst__check_expr(hdst__checker *c, ast_expr *expr);       // returns what stands in its place; type is set
ast_expr *hdst__check_value(hdst__checker *c, ast_expr *expr);      // and it is a value: no table, no accum, not void
void hdst__check_binary_types(hdst__checker *c, ast_op op, hdst__span span, ast_expr **left, ast_expr **right, const hdst__type **result);
ast_expr *hdst__check_path_step(hdst__checker *c, ast_expr *e);     // .field or [index] of a left side that is typed already
ast_expr *hdst__check_call(hdst__checker *c, ast_expr *call);
void hdst__check_arguments(hdst__checker *c, ast_expr *call);       // types each
bool hdst__check_argument_count(hdst__checker *c, ast_expr *call, size_t least, size_t most);
bool hdst__check_is_builtin(const char *name);
ast_expr *hdst__check_initializer(hdst__checker *c, ast_expr *expr, const hdst__type *type, const char *what);      // an expression or { ... } for this type
ast_expr *hdst__check_list(hdst__checker *c, ast_expr *list, const hdst__type *type, const char *what);              // { ... } for this type
ast_expr *hdst__check_tuple(hdst__checker *c, ast_expr *tuple, const hdst__type *type);     // (a, b) for an output list
ast_decl *hdst__check_find(hdst__checker *c, const char *name);     // a local, parameter or global; NULL
// The parameter or variable that a path like t[i].x[j] begins with; NULL when it begins with something else.
ast_decl *hdst__check_root(const ast_expr *expr);

// --- check_emit.c ---
ast_expr *hdst__check_emit(hdst__checker *c, ast_expr *call);
void hdst__check_emits(hdst__checker *c, const ast_function *f);       // once its body is checked: a group emits, or it returns a record

enum { HDST__BUILT_LIMIT = 4096 };      // bytes of an array that a text is built in: each record that comes out takes as many until it is taken
void hdst__check_mark_given(hdst__checker *c, ast_expr *e);         // before it is typed: an expression that a function gives
ast_expr *hdst__check_built_text(hdst__checker *c, ast_expr *call); // text(b, n)

// --- check_math.c ---
ast_function *hdst__check_find_math(hdst__checker *c, const char *name);        // a function of codegen/math/, with its signature checked; NULL: none
ast_function *hdst__check_math_of(hdst__checker *c, const char *name, hdst__kind kind);     // that of a built-in for float or double
void hdst__check_math_functions(hdst__checker *c);      // the bodies of all that were found, after the user's

// --- check_join.c ---
void hdst__check_pair(hdst__checker *c, ast_function *f);           // makes f->pair, if it has one; NULL with an error where the two are too large
void hdst__check_has_partner(hdst__checker *c, ast_expr *call, const ast_decl *side);       // has(o) of an optional side becomes a field of that

// --- check_lookup.c ---
void hdst__check_lookup_key(hdst__checker *c, ast_decl *table);     // the type of the key of a lookup parameter; NULL: its rows go by number
ast_expr *hdst__check_lookup_row(hdst__checker *c, ast_expr *e, const ast_decl *table);     // t[k]
bool hdst__check_has_call(hdst__checker *c, ast_expr *call);        // has(o), has(t, k); false: it is not called so

// --- check_text.c ---
ast_expr *hdst__check_call_math(hdst__checker *c, hdst__span span, const char *name, ast_expr *const *args, size_t count);     // of codegen/math/
ast_expr *hdst__check_text_hash(hdst__checker *c, ast_expr *call);          // hash(t)
ast_expr *hdst__check_text_comparison(hdst__checker *c, ast_expr *e);       // of two texts
bool hdst__check_is_tokens(const hdst__checker *c, const ast_expr *e);      // a call of tokens(...)
bool hdst__check_later_call(hdst__checker *c, ast_expr *call);      // tokens that are no loop's, which hdst does not carry yet; false: no call of these
bool hdst__check_later_name(hdst__checker *c, ast_expr *name);      // WORD, SPACE
bool hdst__check_token_loop(hdst__checker *c, ast_stmt *s);

// --- check_stmt.c ---
void hdst__check_body(hdst__checker *c, ast_function *f);

// --- check_accum.c ---
// Types a path into an accumulator (t[best].x[i]); returns the type of the cell, poison after an error.
ast_expr *hdst__check_accum_path(hdst__checker *c, ast_expr *path);
void hdst__check_accum_law(hdst__checker *c, const ast_expr *path, const char *law, hdst__span span);

// --- check_function.c, check_calls.c, check_reduce.c ---
void hdst__check_signature(hdst__checker *c, ast_function *f);
void hdst__check_function(hdst__checker *c, ast_function *f);
void hdst__check_recursion(hdst__checker *c);                       // also passes `unsupported` from helpers to their callers
void hdst__check_reduce_class(hdst__checker *c, ast_function *f);
// Calls visit for every expression below, parents first.
typedef void (*hdst__expr_visitor)(ast_expr *expr, void *user);
void hdst__check_visit(ast_stmt *stmt, hdst__expr_visitor visit, void *user);

#endif
