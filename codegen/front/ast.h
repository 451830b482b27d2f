// SPDX-License-Identifier: Apache-2.0
// The syntax tree of the kernel language, made by parse.c, typed by check_*.c, read by lower.c. Everything lives in the module's arena.
//
// The checker leaves a tree in which nothing is implicit: every conversion is an AST_CONVERT node, every name is resolved to its declaration,
// constants of `const`, `enum` and `param` are folded to AST_NUMBER, and `type` is set in every expression. In particular
// - operands of arithmetic and comparisons have one promoted type (I32, U32, I64, U64, F32, F64), comparisons give bool; conditions and operands of
//   `&&`, `||`, `!` are bool; the count of a shift is U32 and its result has the type of its left side;
// - both values of `?:` have one type, which may be a record; arguments have the types of the parameters, `return` that of the result;
// - `x op= v`: v has the type in which op is done: x is converted to it, the result back to the type of x. For a shift, v is U32 and op is done in the
//   promoted type of x. `x++` is `x += 1`. When x is part of an accum (`accumulates`), v has the type of the cell and `-=` adds -v;
// - acc_min(cell, v): args[0] is a path into an accum, args[1] has the type of the cell. len(a) of an array is an AST_NUMBER,
//   of a table a call with an AST_NAME;
// - an operator over bare numbers (`reduce add(double a, double b)`, `map f(float x) -> float`) has parameters and result of scalar type;
// - const arrays are AST_NAMEs whose decl has value: an AST_COMPOUND of numbers, possibly nested, short ones are filled with zero.
#ifndef HDST_CODEGEN_FRONT_AST_H
#define HDST_CODEGEN_FRONT_AST_H

#include "base/diag.h"
#include "record/type.h"

typedef struct ast_expr ast_expr;
typedef struct ast_stmt ast_stmt;
typedef struct ast_decl ast_decl;
typedef struct ast_function ast_function;

// A type as written: `float x[H][D]` is the name float with two dimensions. The checker resolves it.
typedef struct ast_type_name {
    const char *name;
    hdst__span span;
    ast_expr **dims;
    size_t dim_count, dim_capacity;     // a NULL dim is `[]`
    bool after_struct;          // written `struct name`
} ast_type_name;

typedef enum ast_op {
    // unary
    AST_NEG, AST_PLUS, AST_NOT, AST_BITNOT,
    // binary, arithmetic
    AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_REM, AST_SHL, AST_SHR, AST_AND, AST_OR, AST_XOR,
    // binary, bool out
    AST_LT, AST_LE, AST_GT, AST_GE, AST_EQ, AST_NE, AST_LOGAND, AST_LOGOR,
} ast_op;

typedef enum ast_expr_kind {
    AST_NUMBER,         // number (bits of the value in `type`)
    AST_STRING,         // text literal: name, length (checked; operators on text come later)
    AST_NAME,           // decl after the checker
    AST_UNARY,          // op, left
    AST_BINARY,         // op, left, right
    AST_TERNARY,        // left ? right : third
    AST_CONVERT,        // (type)left, written or implied
    AST_MEMBER,         // left.name; field after the checker
    AST_INDEX,          // left[right], or left[right:third], a slice of a text; left is an array, an accum or broadcast table, a lookup, a text.
                        // right is an integer of a promoted kind
                        // (I32, U32, I64, U64): a negative one is out of range
    AST_CALL,           // name(args); callee or builtin after the checker
    AST_COMPOUND,       // (record){ inits } or an array initializer { ... }: args[i] goes to inits[i]
    AST_TUPLE,          // (a, b): the keyed output record, args in field order
} ast_expr_kind;

typedef struct ast_init {
    const char *field;          // .field = value; NULL when positional
    const hdst__field *target;  // after the checker, for records; arrays use position
    uint64_t index;             // its position in the list
    hdst__span span;
} ast_init;

struct ast_expr {
    ast_expr_kind kind;
    ast_op op;
    hdst__span span;
    const hdst__type *type;     // set by the checker
    bool implied;               // AST_CONVERT put in by the checker
    union {
        uint64_t bits;          // AST_NUMBER: integers sign- or zero-extended to 64 bits, float and double as their IEEE bits
    } number;
    const char *name;           // AST_NAME, AST_MEMBER, AST_CALL, AST_STRING
    size_t length;              // AST_STRING
    ast_decl *decl;             // AST_NAME
    const hdst__field *field;   // AST_MEMBER
    ast_function *callee;       // AST_CALL of a user's function
    bool is_given;              // AST_CALL: a value of the output as it stands, without anything around it (set by the checker)
    int builtin;                // AST_CALL of a built-in: an entry of codegen/front/builtins.h; -1 otherwise
    ast_expr *left, *right, *third;
    ast_expr **args;            // AST_CALL, AST_COMPOUND, AST_TUPLE
    ast_init *inits;            // AST_COMPOUND
    size_t arg_count, arg_capacity;
    size_t init_capacity;
    hdst__span op_span;         // AST_BINARY: the operator
    hdst__span name_span;       // AST_MEMBER: the field's name
    ast_type_name *written;     // AST_CONVERT and AST_COMPOUND: the type as written
    uint32_t height;            // of the tree below, bounded by the parser so that recursion over it is safe
};

typedef enum ast_stmt_kind {
    AST_BLOCK,          // body; a scope of its own unless `declares`
    AST_DECLARE,        // decl, value (NULL: zero)
    AST_ASSIGN,         // target = value, or target op= value when `compound`
    AST_IF,             // cond, then, otherwise
    AST_WHILE,          // cond, then; value: the most turns that it takes (uint64_t), NULL: unknown
    AST_DO,             // then, cond
    AST_FOR,            // init, cond, step, then; any of the first three may be NULL
    AST_FOR_IN,         // for (T decl : value) then: over a stream or tokens(...)
    AST_SWITCH,         // cond; cases in body
    AST_CASE,           // value (NULL: default); marks a place in the switch body
    AST_BREAK, AST_CONTINUE,
    AST_RETURN,         // value or NULL
    AST_EXPR,           // a call that stands alone: emit(...), acc_min(...), a helper without result
} ast_stmt_kind;

struct ast_stmt {
    ast_stmt_kind kind;
    hdst__span span;
    ast_decl *decl;
    ast_expr *target, *value, *cond;
    bool compound;              // AST_ASSIGN: `op` applies. `x++` is `x += 1`.
    ast_op op;
    hdst__span op_span;         // AST_ASSIGN: the operator
    bool declares;              // AST_BLOCK made of `int x, y;`: the declarations belong to the scope around
    bool accumulates;           // set by the checker: the target is (a part of) an accum parameter
    ast_stmt *init, *step, *then, *otherwise;
    ast_stmt **body;            // AST_BLOCK, AST_SWITCH
    size_t body_count, body_capacity;
};

typedef enum ast_decl_kind { AST_LOCAL, AST_PARAM, AST_CONST, AST_GLOBAL_PARAM, AST_ENUM_VALUE, AST_FUNCTION } ast_decl_kind;

typedef enum ast_qualifier {
    AST_PLAIN,          // the record of an operator, or a value of a helper
    AST_BROADCAST, AST_LOOKUP, AST_ACCUM, AST_KEY, AST_STREAM, AST_OPTIONAL,
} ast_qualifier;

struct ast_decl {
    ast_decl_kind kind;
    const char *name;
    hdst__span span;
    const hdst__type *type;     // of an accum/broadcast/lookup table: the type of one row
    ast_qualifier qualifier;    // AST_PARAM
    bool is_table;              // declared with []: broadcast center c[], accum total t[], lookup v t[K]
    const hdst__type *key;      // AST_LOOKUP that is read by key; NULL: its rows go by number
    const hdst__record *keyed;  // then: {K key; V value}, what its table has
    bool has_stretches;         // AST_LOOKUP, `lookup V t[K][]`: t[k] is all rows with the key k, which lie one behind another
    bool is_const;              // AST_LOCAL: `const`; AST_PARAM: arrays are read-only
    bool assigned;              // AST_LOCAL, AST_PARAM: written after its declaration (set by the checker)
    uint64_t bits;              // AST_CONST, AST_GLOBAL_PARAM, AST_ENUM_VALUE: the value, as in AST_NUMBER
    ast_expr *value;            // AST_CONST: its initializer as written (const arrays keep it: AST_COMPOUND of numbers)
    ast_function *function;     // AST_FUNCTION
    uint32_t index;             // AST_PARAM: its place in the parameter list
    ast_decl *previous;         // AST_ENUM_VALUE: the one before in its enum
    ast_type_name *written;     // the type as written; NULL for enum values
    ast_type_name *written_key; // AST_LOOKUP: K of `lookup V t[K]`, or NULL
    uint8_t resolving;          // used by the checker: 0 untouched, 1 in progress, 2 done
    bool used;                  // AST_LOCAL: read somewhere
};

// `struct name { ... };`, or the output list of an operator: `-> (key uint32_t dst, double v)`
typedef struct ast_struct {
    const char *name;
    hdst__span span;
    ast_decl **fields;          // qualifier AST_KEY on key fields of an output list
    size_t field_count, field_capacity;
    hdst__record *record;       // set by the checker
    uint8_t resolving;
} ast_struct;

typedef enum ast_function_kind { AST_HELPER, AST_MAP, AST_FILTER, AST_FLAT_MAP, AST_REDUCE, AST_GROUP, AST_JOIN } ast_function_kind;

// How freely a reduce may be regrouped (docs/kernel-language.md, "Reduces"). Field-wise ones are exact on every device in any order.
typedef enum ast_reduce_class { AST_ORDERED, AST_ASSOCIATIVE, AST_ASSOCIATIVE_COMMUTATIVE, AST_FIELD_WISE } ast_reduce_class;

struct ast_function {
    ast_function_kind kind;
    const char *name;
    hdst__span span;
    ast_decl **params;
    size_t param_count, param_capacity;
    const hdst__type *result;       // `-> T`, or the helper's return type; HDST__VOID type when there is none
    bool result_is_tuple;           // `-> (key uint32_t dst, double v)`: an unnamed record made for it
    ast_type_name *written_result;  // as written, or NULL
    ast_struct *tuple;              // the output list, or NULL
    bool associative, commutative;  // reduce: as declared
    ast_expr *identity;             // reduce: `identity { ... }`, an AST_COMPOUND for records, a value for scalars; NULL: none given
    ast_stmt *body;                 // AST_BLOCK; NULL: a map that is only declared, whose code the program gives apart
    // Set by the checker:
    ast_reduce_class reduce_class;
    bool emits;                     // gives any number of records, by emit(...): a flat_map, or a group whose body has one
    bool of_hdst;                   // of codegen/math/
    ast_decl *pair;                 // join: the record that it runs over, both of its own and which of them there are (codegen/front/check_join.c);
                                    // group of two streams: a record of either, with its key
    const char *class_reason;       // why not a faster class, for `hdst kernel check`; NULL when field-wise
    const char *unsupported;        // NULL, or what of it hdst cannot run yet ("flat_map", "lookup parameters"), with the place below
    hdst__span unsupported_span;
    uint64_t buffer_bytes;          // of the largest array that a text(b, n) of its output is built in; 0: there is none
    uint8_t reached;                // used by the checker's search for recursion
    uint64_t inlined_size;          // expressions, with those of its helpers
};

typedef struct ast_module {
    hdst__diags *diags;             // with its arena
    hdst__record **records;         // `struct`s of the file, imported schema records, tuples
    size_t record_count, record_capacity;
    ast_function **functions;
    size_t function_count, function_capacity;
    ast_decl **globals;             // params, consts, enum values
    size_t global_count, global_capacity;
} ast_module;

#endif
