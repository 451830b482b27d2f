// SPDX-License-Identifier: Apache-2.0
// What is known of the values of a function's variables at a place: intervals, lengths of tables, conditions that were met. For the pass that drops checks.
//
// Two kinds of questions. *Always*: does it hold whatever path was taken? Then an index needs no clamp, for expressions may be moved out of their branches.
// *Here*: does it hold on the way that leads here, through enclosing conditions and earlier checks? That is enough for a check, which stays in its place.
#ifndef HDST_CODEGEN_PASS_VALUE_RANGES_H
#define HDST_CODEGEN_PASS_VALUE_RANGES_H

#include "codegen/pass/interval.h"

typedef struct hdst__fact {         // a op b, of integers or (EQ, NE) bools, held when it was noted
    ir_op op;                       // IR_LT, IR_LE, IR_EQ, IR_NE
    const ir_expr *a, *b;
    uint64_t time;
} hdst__fact;

typedef struct hdst__known {        // of a variable
    const ir_stmt *loop;            // the loop around this place that counts it
    size_t loops;                   // that count it, anywhere
    const ir_expr *only;            // what it is set to, when that is at one place only
    bool is_set;
    hdst__range always, here;
    const ir_expr *same;            // what it was set to last, or NULL
    uint64_t same_time, written;    // a fact or `same` is of no use any more when one of its variables was written later
} hdst__known;

enum { HDST__FACTS = 256 };

typedef struct hdst__prover {
    ir_func *func;
    hdst__known *vars;
    hdst__fact facts[HDST__FACTS];  // a stack; when it is full nothing more is noted
    size_t fact_count, hidden;      // facts below `hidden` are about other values
    uint64_t time;
    bool always;                    // the kind of question
    bool earlier;                   // it is about a value that was set some time ago
    unsigned depth, effort;
} hdst__prover;

void hdst__prover_init(hdst__prover *p, ir_func *func);                         // works out what always holds
hdst__range hdst__prover_range(hdst__prover *p, const ir_expr *e);              // of an integer
bool hdst__prover_holds(hdst__prover *p, const ir_expr *condition, bool always);
// from here on, until it is taken back (fact_count) or a variable is written
void hdst__prover_note(hdst__prover *p, const ir_expr *condition, bool outcome);
void hdst__prover_set(hdst__prover *p, uint32_t var, const ir_expr *value);     // value NULL: an element of an array
void hdst__prover_forget(hdst__prover *p, const ir_block *block);               // a loop: what the block writes may have been written before
bool hdst__prover_is_current(hdst__prover *p, const ir_expr *e, uint64_t since);    // nothing that it reads was written later

#endif
