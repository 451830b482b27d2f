// SPDX-License-Identifier: Apache-2.0
// One pass on IR as text: what goes in, what must come out, and that it still computes the same bits.
//
//     static const char head[] = "  input p p {f32 x}\n  accum double t {f64 value}\n";
//     pass_case c = {hdst__pass_fold, head};
//     PASS_GIVES(c, "  accum t.value += f64(mul(p.x, 1f))\n", "  accum t.value += f64(p.x)\n");
#ifndef HDST_TESTS_PASS_CASE_H
#define HDST_TESTS_PASS_CASE_H

#include "tests/support/ir_text.h"

typedef struct pass_case {
    void (*run)(ir_func *func);
    const char *head;           // the declarations, as the dump has them
    bool changes_bits;          // fma does
} pass_case;

void pass_set_up(void);         // of a test suite
void pass_tear_down(void);

ir_func *pass_read(const char *head, const char *body);         // read and verified; a text that is none fails the test
const char *pass_body(const ir_func *func);                     // the statements as text
const char *pass_head(const ir_func *func);                     // the declarations as text
ir_func *pass_after(const pass_case *c, const char *before);    // the function after the pass: verified; in scalar form run on random records against `before`
void pass_expect(const pass_case *c, const char *before, const char *after, const char *file, int line);

#define PASS_GIVES(c, before, after) pass_expect(&(c), (before), (after), __FILE__, __LINE__)
#define PASS_LEAVES(c, body) pass_expect(&(c), (body), (body), __FILE__, __LINE__)     // the negative cases: what it must not touch

#endif
