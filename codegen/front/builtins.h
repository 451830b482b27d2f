// SPDX-License-Identifier: Apache-2.0
// The built-in functions that the checker knows, one line each: name, arguments, how the result is typed.
// MATH: a helper function of codegen/math/, one for float and one for double; DRAW: one of that very name; PARSE: likewise, with a second argument NAME_or.
// A function of the user may have these names.
#ifndef HDST_CODEGEN_FRONT_BUILTINS_H
#define HDST_CODEGEN_FRONT_BUILTINS_H

// FLOAT, MATH: one floating type (integers convert to double). NUMERIC: one arithmetic type by C's usual conversions.
// The result has that type unless said otherwise.
#define HDST__BUILTIN_MAP(X)                                                                                            \
    X(SQRT, "sqrt", 1, FLOAT)                                                                                           \
    X(FABS, "fabs", 1, FLOAT)                                                                                           \
    X(ABS, "abs", 1, NUMERIC)               /* of an int minimum: wraps to itself */                                    \
    X(MIN, "min", 2, NUMERIC)               /* NaN if either is NaN; min(-0, +0) is -0 */                               \
    X(MAX, "max", 2, NUMERIC)               /* NaN if either is NaN; max(-0, +0) is +0 */                               \
    X(FMA, "fma", 3, FLOAT)                 /* one rounding */                                                          \
    X(ISNAN, "isnan", 1, TO_BOOL)                                                                                       \
    X(ISINF, "isinf", 1, TO_BOOL)                                                                                       \
    X(AS_UINT, "as_uint", 1, BITS_F32_U32)                                                                              \
    X(AS_INT, "as_int", 1, BITS_F32_I32)                                                                                \
    X(AS_FLOAT, "as_float", 1, BITS_32_F32)                                                                             \
    X(AS_ULONG, "as_ulong", 1, BITS_F64_U64)                                                                            \
    X(AS_LONG, "as_long", 1, BITS_F64_I64)                                                                              \
    X(AS_DOUBLE, "as_double", 1, BITS_64_F64)                                                                           \
    X(LOOSE_UINT, "loose_uint", 1, LOOSE_F32_U32)   /* in codegen/math/ alone: of a NaN they may give any bits */       \
    X(LOOSE_INT, "loose_int", 1, LOOSE_F32_I32)                                                                         \
    X(LOOSE_ULONG, "loose_ulong", 1, LOOSE_F64_U64)                                                                     \
    X(LOOSE_LONG, "loose_long", 1, LOOSE_F64_I64)                                                                       \
    X(LEN, "len", 1, LENGTH)                /* rows of a table, elements of an array, bytes of a text: uint64_t */      \
    X(RECORD_INDEX, "record_index", 0, TO_U64)                                                                          \
    X(DOT, "dot", 2, OVER_ARRAYS)           /* 16 lanes, see lower_lanes.c; a function of the user may have its name */  \
    X(SUM, "sum", 1, OVER_ARRAYS)           /* likewise */                                                              \
    X(HASH, "hash", 1, OF_ANY)              /* of a number, record or array: see lower_hash.c; likewise */                \
    X(EXP, "exp", 1, MATH) X(EXP2, "exp2", 1, MATH) X(EXPM1, "expm1", 1, MATH) X(LOG, "log", 1, MATH)                   \
    X(LOG2, "log2", 1, MATH) X(LOG10, "log10", 1, MATH) X(LOG1P, "log1p", 1, MATH) X(POW, "pow", 2, MATH)               \
    X(RSQRT, "rsqrt", 1, MATH) X(CBRT, "cbrt", 1, MATH) X(HYPOT, "hypot", 2, MATH) X(FMOD, "fmod", 2, MATH)             \
    X(SIN, "sin", 1, MATH) X(COS, "cos", 1, MATH) X(TAN, "tan", 1, MATH) X(ASIN, "asin", 1, MATH)                       \
    X(ACOS, "acos", 1, MATH) X(ATAN, "atan", 1, MATH) X(ATAN2, "atan2", 2, MATH) X(SINH, "sinh", 1, MATH)               \
    X(COSH, "cosh", 1, MATH) X(TANH, "tanh", 1, MATH) X(ERF, "erf", 1, MATH) X(ERFC, "erfc", 1, MATH)                   \
    X(FLOOR, "floor", 1, MATH) X(CEIL, "ceil", 1, MATH) X(TRUNC, "trunc", 1, MATH) X(ROUND, "round", 1, MATH)           \
    X(RINT, "rint", 1, MATH) X(COPYSIGN, "copysign", 2, MATH) X(FMIN, "fmin", 2, MATH) X(FMAX, "fmax", 2, MATH)         \
    X(RNG, "rng", 2, DRAW) X(UNIFORM, "uniform", 2, DRAW) X(UNIFORM_FLOAT, "uniform_float", 2, DRAW)                    \
    X(EXPONENTIAL, "exponential", 2, DRAW) X(EXPONENTIAL_FLOAT, "exponential_float", 2, DRAW)                           \
    X(NORMAL, "normal", 2, DRAW) X(NORMAL_FLOAT, "normal_float", 2, DRAW)                                               \
    X(CTZ, "ctz", 1, COUNT_BITS)            /* of 32 or 64 bits, as uint32_t; of 0 their number */                       \
    X(LOWER, "lower", 1, VIEW)              /* of a text: its letters of ASCII in another case */                       \
    X(UPPER, "upper", 1, VIEW)                                                                                          \
    X(TEXT_WORD, "text_word", 2, TEXT_WORD) /* in codegen/math/ alone: eight bytes from a place on, zero behind the end */ \
    X(TEXT_BITS, "text_bits", 3, TEXT_WORD) /* likewise: which of 64 bytes from a place on lie in four ranges (text_value.h) */ \
    X(TEXT_TOKENS, "text_tokens", 3, TEXT_TOKENS) /* likewise: the text, of which a loop takes the tokens (IR_TEXT_TOKENS) */      \
    X(TEXT_BYTE, "text_byte", 2, TEXT_BYTE) /* likewise one */                                                          \
    X(FIND, "find", 2, DRAW) X(STARTS_WITH, "starts_with", 2, DRAW) X(ENDS_WITH, "ends_with", 2, DRAW)                  \
    X(PARSE_INT, "parse_int", 1, PARSE)     /* of a text; a second argument is what a text gives that is no number */    \
    X(PARSE_FLOAT, "parse_float", 1, PARSE) X(PARSE_DOUBLE, "parse_double", 1, PARSE)                                   \
    X(CHECK_NUMBER, "check_number", 2, CHECK) /* in codegen/math/ alone: a statement; unless the second is 0, the record fails */ \
    X(ACC_MIN, "acc_min", 2, ACCUMULATE)                                                                                \
    X(ACC_MAX, "acc_max", 2, ACCUMULATE)                                                                                \
    X(TEXT, "text", 2, BUILD)               /* text(b, n): the first n bytes of an array of bytes, as a text of the output */   \
    X(EMIT, "emit", 1, GIVE)                /* any number of arguments: one more output record of a flat_map or group */

typedef enum hdst__builtin {
#define HDST__BUILTIN_ENUM(id, name, args, typing) HDST__BI_##id,
    HDST__BUILTIN_MAP(HDST__BUILTIN_ENUM)
#undef HDST__BUILTIN_ENUM
    HDST__BI_COUNT,
    HDST__BI_HAS_KEY = HDST__BI_COUNT   // has(t, k) of a table that is read by key: made by check_lookup.c
} hdst__builtin;

#endif
