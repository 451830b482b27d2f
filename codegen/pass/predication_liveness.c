// SPDX-License-Identifier: Apache-2.0
// Whose old value must survive where a mask says no. Most variables of a loop's body are temporaries: what a record that left computes in them is never looked
// at, and leaving the select out saves an operation and a link in the chain of dependences (a Mandelbrot loop takes 0.8 of the time).
#include "codegen/pass/block_form.h"

#include <stdlib.h>

typedef enum first_use { FIRST_NONE, FIRST_SET, FIRST_READ } first_use;

static bool reads(const ir_expr *e, uint32_t var) { return e && hdst__ir_expr_reads(e, var) > 0; }

static first_use first_in_block(const ir_block *block, uint32_t var);

// Branches: it counts as set where both set it.
static first_use first_in_if(const ir_stmt *s, uint32_t var)
{
    const first_use yes = first_in_block(&s->then, var), no = first_in_block(&s->otherwise, var);
    if (reads(s->cond, var) || yes == FIRST_READ || no == FIRST_READ) return FIRST_READ;
    return yes == FIRST_SET && no == FIRST_SET ? FIRST_SET : FIRST_NONE;
}

// A loop's head runs at least once, its body perhaps never.
static first_use first_in_loop(const ir_stmt *s, uint32_t var)
{
    const first_use head = first_in_block(&s->head, var);
    if (head != FIRST_NONE) return head;
    if (reads(s->cond, var) || reads(s->lo, var) || reads(s->hi, var)) return FIRST_READ;
    const first_use body = first_in_block(&s->body, var);
    if (body == FIRST_READ || (body == FIRST_NONE && first_in_block(&s->after, var) == FIRST_READ)) return FIRST_READ;
    return FIRST_NONE;
}

static first_use first_in_stmt(const ir_stmt *s, uint32_t var)
{
    if (s->kind == IR_IF) return first_in_if(s, var);
    if (s->kind == IR_FOR || s->kind == IR_LOOP) return first_in_loop(s, var);
    if (hdst__ir_stmt_reads(s, var)) return FIRST_READ;
    return s->kind == IR_SET && s->var == var ? FIRST_SET : FIRST_NONE;
}

static first_use first_in_block(const ir_block *block, uint32_t var)
{
    for (size_t i = 0; i < block->count; i++) {
        const first_use use = first_in_stmt(block->items[i], var);
        if (use != FIRST_NONE) return use;
    }
    return FIRST_NONE;
}

static bool note_read(ir_expr **slot, void *user)
{
    hdst__mask_region *region = user;
    if ((*slot)->op == IR_VAR || (*slot)->op == IR_ELEM) HDST__PUSH(region->arena, region->read, region->reads, region->capacity, (*slot)->var);
    return true;
}

static int compare_vars(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

hdst__mask_region *hdst__mask_region_enter(ir_func *func, const hdst__mask_region *outer, const ir_block *around,
    size_t at, const ir_block *inside, bool in_loop)
{
    hdst__mask_region *region = HDST__NEW(func->arena, hdst__mask_region);
    *region = (hdst__mask_region){.arena = func->arena, .outer = outer, .around = around, .at = at,
        .inside = inside, .in_loop = in_loop, .var_count = func->var_count};
    hdst__ir_visit_exprs((ir_block *)inside, note_read, region);
    if (region->reads) qsort(region->read, region->reads, sizeof *region->read, compare_vars);
    return region;
}

static size_t first_not_below(const hdst__mask_region *region, uint64_t var)
{
    size_t low = 0, high = region->reads;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (region->read[middle] < var) low = middle + 1;
        else high = middle;
    }
    return low;
}

static size_t reads_in(const hdst__mask_region *region, uint32_t var) { return first_not_below(region, (uint64_t)var + 1) - first_not_below(region, var); }

// Set right in front of the region by all who come to it.
static bool is_set_in_front(const hdst__mask_region *region, uint32_t var)
{
    for (size_t i = region->at; i-- > 0;) {
        const ir_stmt *s = region->around->items[i];
        if (s->kind == IR_SET && s->var == var) return true;
    }
    return false;
}

static bool region_keeps(const hdst__mask_region *region, uint32_t var, size_t all_reads)
{
    if (reads_in(region, var) < all_reads) return true;
    return region->in_loop && first_in_block(region->inside, var) == FIRST_READ && !is_set_in_front(region, var);
}

bool hdst__mask_keeps(const hdst__mask_region *innermost, uint32_t var, size_t all_reads)
{
    for (const hdst__mask_region *region = innermost; region; region = region->outer)
        if (var < region->var_count && region_keeps(region, var, all_reads)) return true;
    return false;
}
