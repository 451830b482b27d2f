// SPDX-License-Identifier: Apache-2.0
// What functions of a theme are written with: parameters, counted loops, arrays; kernel text and C at the same time, as all of the generator.
#ifndef HDST_TESTS_DIFFERENTIAL_GEN_THEME_H
#define HDST_TESTS_DIFFERENTIAL_GEN_THEME_H

#include "gen.h"

typedef struct theme_loop {
    const char *hk, *c;             // its counter
    int scope;
} theme_loop;

uint64_t theme_one_of(gen *g, const uint64_t *numbers, int count);
// The next parameter: `rows` of a table, 0: no table. All its laws are sums.
diff_param *theme_param(gen *g, bool accum, const char *plain, uint64_t rows, const gen_record *row);
gen_value theme_value(const char *hk, const char *c, diff_kind kind);           // of text that needs no parentheses
theme_loop theme_open(gen *g, uint64_t turns);                  // a counted loop, which ends whatever the data are
theme_loop theme_open_backwards(gen *g, uint64_t turns);
void theme_close(gen *g, theme_loop l);
gen_value theme_declare(gen *g, diff_kind kind, gen_value v);   // a variable
gen_symbol theme_array(gen *g, uint64_t count);                 // a local array of floats, which is yet to be declared a symbol
void theme_set(gen *g, const gen_symbol *array, theme_loop at, gen_value v);

// --- gen_weights.c ---
const gen_record *gen_weights_input(gen *g);
void gen_weights_params(gen *g);
void gen_weights(gen *g);

// --- gen_nest.c ---
const gen_record *gen_nest_input(gen *g);
void gen_nest_params(gen *g);
void gen_nest(gen *g);

#endif
