// SPDX-License-Identifier: Apache-2.0
// Random well-typed programs of the kernel language, each with an independent C translation. Used by the interpreter's differential test and by any other
// that wants programs to compare a back end with.
#ifndef HDST_TESTS_DIFFERENTIAL_GENERATE_H
#define HDST_TESTS_DIFFERENTIAL_GENERATE_H

#include "base/arena.h"
#include "runtime.h"

typedef enum diff_shape {
    DIFF_MAP, DIFF_ACCUMULATING_MAP, DIFF_FILTER,
    DIFF_REDUCE /* field by field: an accumulator "result" */,
    DIFF_FLAT_MAP, DIFF_FOLD
} diff_shape;

// What most of the function is about: shapes that the compiler has forms of its own for.
typedef enum diff_theme {
    DIFF_ANYTHING,
    DIFF_LAYER,             // sums of a factor times an array of the record, dots of that with a broadcast's rows
    DIFF_NEAREST,           // such an array is added to a row of a table
    DIFF_BY_KEY,            // a few numbers for each of many rows
    DIFF_TOTALS,            // sums of all records
    DIFF_WEIGHTS,           // shares of each record in all rows, by quotients; products that share these as factors
    DIFF_NEST,              // loops in one another over arrays of the record, of the function and of the sums
    DIFF_THEMES,
    DIFF_IN_TURN = DIFF_WEIGHTS     // those before it come in turn, the others when asked for
} diff_theme;

typedef struct diff_param {             // as in the function's parameter list; 0 is the record
    enum { DIFF_RECORD, DIFF_BROADCAST, DIFF_ACCUM } kind;
    const char *name;
    bool is_table;
    uint64_t rows;                      // to bind; 1 unless a table
    diff_law law[DIFF_LEAVES];          // accumulators, by leaf; L_SUM for one that nothing is added to
    bool accumulated[DIFF_LEAVES];
} diff_param;

typedef struct diff_options {
    bool no_faults;                     // no program that can fail a check
    bool no_double;                     // for devices without double
    bool only_map;                      // one map, without accumulators; its records are declared in the kernel
    int themes;                         // percent of programs that have one
    bool arrays;                        // all have one of those that do not come in turn
    int statements;                     // of the function's outermost block; 0: the default
    bool plain_names;                   // f0, v1 ...: for tests of something else
    const char *const *words;           // more words to name things by; they change the names alone
    size_t word_count;
} diff_options;

typedef struct diff_program {
    uint64_t seed;
    diff_shape shape;
    diff_theme theme;
    uint64_t turn;                      // number of the program among those of its theme
    const char *hk;                     // the kernel
    const char *f, *g, *m;              // its function's name, see `filtered` and `mapped`
    const char *yaml;                   // what it imports as "records.yaml"; NULL: nothing
    const char *c;                      // the translation: external name p<seed>, of type const diff_exports; needs #include "runtime.h" before
    const char *in_name, *out_name;     // records of the function; out_name: maps and flat_maps
    const char *in_path[DIFF_LEAVES], *out_path[DIFF_LEAVES];  // first element of each leaf, as the kernel names it
    diff_param params[DIFF_PARAMS];
    const char *row_name[DIFF_PARAMS];  // the type of a broadcast's or accumulator's rows
    int param_count;
    bool may_fail;
    bool ordered;                       // DIFF_FOLD: in input order; else by the fixed tree
    bool filtered, mapped;              // a filter `g`, a map (or flat_map) `m` of the same record run before `f`, in this order: one fused stage
} diff_program;

// The words of a text, each once.
size_t diff_words_of(hdst__arena *arena, const char *text, const char ***words);

// Everything lives in the arena. The same seed and options give the same program.
diff_program *diff_generate(hdst__arena *arena, uint64_t seed, const diff_options *options);

// Floats of a program's data. One NaN or infinity among them and a sum of all records is no number, whatever else is wrong with it.
typedef enum diff_reals {
    DIFF_ALL_REALS,         // small, of any magnitude; zeros of both signs, denormals, infinities, NaN
    DIFF_FEW_ODD,           // a few of these among multiples of 1/256
    DIFF_FEW_FINITE,        // likewise, no infinities, NaNs or numbers of any magnitude
    DIFF_TAME,              // multiples of 1/256, which exact sums like
} diff_reals;

// Fills records laid out as `leaves` say: with such floats, integers that are small, edges of the kind or any.
void diff_fill(uint64_t seed, diff_reals reals, const diff_leaf *leaves, int leaf_count, size_t size, uint64_t count, void *records);

#endif
