// SPDX-License-Identifier: Apache-2.0
// Row form: which float sums a run of few records may have rounded as they leave the registers of its one block (accum/first_level.h). A leaf all of whose
// elements one sum over the rows of a block makes (row_sums.c), and nothing else adds to, needs no words then: none to clear, to add up and to round again.
//
// Before: accum g {f32 w[3000], f32 b}, sum 0 makes w[0] to w[2999], and the body adds to b
// After:  w is batch sum 1; b stays in words
#include "accum/first_level.h"
#include "codegen/pass/row_sums.h"

typedef struct adders {
    const hdst__row_sum *sum;
    bool found;
} adders;

static bool adds_to(ir_stmt *s, void *user)
{
    adders *a = user;
    const bool adds = s->kind == IR_ACCUM || s->kind == IR_ACCUM_WORDS || s->kind == IR_ACCUM_BLOCK || s->kind == IR_ACCUM_SUPERACCUMULATOR;
    a->found |= adds && s->param == a->sum->param && s->leaf == a->sum->leaf;
    return !a->found;
}

static bool is_alone(const ir_func *func, const hdst__row_sums *sums, size_t which)
{
    const hdst__row_sum *sum = &sums->sum[which];
    for (size_t i = 0; i < sums->count; i++)
        if (i != which && sums->sum[i].param == sum->param && sums->sum[i].leaf == sum->leaf) return false;
    adders a = {.sum = sum};
    hdst__ir_visit_stmts((ir_block *)&func->body, adds_to, &a);
    return !a.found;
}

void hdst__pass_batch_sums(const ir_func *func, hdst__tables *tables, const hdst__row_sums *sums)
{
    if (!tables->first_level) return;
    for (size_t i = 0; i < sums->count && i < HDST__BATCH_SUMS; i++) {
        const hdst__row_sum *sum = &sums->sum[i];
        hdst__cell *cell = (hdst__cell *)&hdst__tables_accum(tables, sum->param)->cell[sum->leaf];     // of this kernel's own tables
        const bool all = sum->first == 0 && sum->units * sum->elements == cell->elements;
        if (all && is_alone(func, sums, i)) cell->batch_sum = (uint32_t)i + 1;
    }
}
