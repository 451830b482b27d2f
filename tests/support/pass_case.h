// SPDX-License-Identifier: Apache-2.0
// One pass on IR as text: what goes in, what must come out, and that it still computes the same bits.
//
//     static const char head[] = "  input p p {f32 x}\n  accum double t {f64 value}\n";
//     pass_case c = {hdst__pass_constant_folding, head};
//     PASS_GIVES(c, "  accum t.value += f64(mul(p.x, 1f))\n", "  accum t.value += f64(p.x)\n");
#ifndef HDST_TESTS_PASS_CASE_H
#define HDST_TESTS_PASS_CASE_H

#include "tests/support/ir_text.h"
#include "accum/tables.h"

typedef struct pass_case {
    void (*run)(ir_func *func);
    const char *head;           // the declarations, as the dump has them
    bool changes_bits;          // fma does
    void (*run_tables)(ir_func *func, const hdst__tables *tables);      // instead of `run`: a pass that must know how sums are kept
    hdst__precision_class precision;            // of float sums in these tables, and where it runs; HDST__CLASS_PLAIN: wide
    bool runs_in_block;         // what goes in is block form, and whole: the interpreter can run it
    bool is_half;               // what comes out cannot run yet: it is left to the tests of the next pass
} pass_case;

void pass_set_up(void);         // of a test suite
void pass_tear_down(void);

ir_func *pass_read(const char *head, const char *body);         // read and verified; a text that is none fails the test
const char *pass_body(const ir_func *func);                     // the statements as text
const char *pass_head(const ir_func *func);                     // the declarations as text
// The function after the pass: verified, and run on random records against `before` (block form that goes in only when it says that it is whole).
ir_func *pass_after(const pass_case *c, const char *before);
void pass_expect(const pass_case *c, const char *before, const char *after, const char *file, int line);

#define PASS_GIVES(c, before, after) pass_expect(&(c), (before), (after), __FILE__, __LINE__)
#define PASS_LEAVES(c, body) pass_expect(&(c), (body), (body), __FILE__, __LINE__)     // the negative cases: what it must not touch

#endif
