// SPDX-License-Identifier: Apache-2.0
// Entry points of the interpreter: prepares a function, runs its records block by block, frees what it took.
#include "codegen/interp/interp_state.h"

#include <string.h>

// Registers of a run, in bytes: a function with large local arrays gets fewer lanes, so that they stay below this if possible.
enum { REGISTER_BYTES = 32 << 20 };

static bool find_width(interp_state *s, size_t slabs, uint64_t *patterns)
{
    for (s->width = INTERP_LANES;; s->width /= 2) {
        unsigned __int128 total = 0;
        for (size_t i = 0; i < s->func->var_count; i++)
            if (!s->func->vars[i].init) total += (unsigned __int128)(s->func->vars[i].elements ? s->func->vars[i].elements : 1) * s->width;
        total += (unsigned __int128)slabs * s->width;
        *patterns = (uint64_t)total;
        if (total * sizeof(uint64_t) <= REGISTER_BYTES) return true;
        if (s->width == 1) return total * sizeof(uint64_t) <= SIZE_MAX / 2;
    }
}

static void place_variables(interp_state *s, uint64_t *registers)
{
    for (size_t i = 0; i < s->func->var_count; i++) {
        const ir_var *var = &s->func->vars[i];
        interp_var *v = &s->vars[i];
        v->elements = var->elements;
        v->constant = var->init != NULL;
        v->v = v->constant ? (uint64_t *)var->init : registers;     // constants are never written
        if (!v->constant) registers += (var->elements ? var->elements : 1) * s->width;
    }
    s->slabs = registers;
}

static void place_accums(interp_state *s)
{
    const hdst__tables *tables = s->run->tables;
    for (size_t i = 0; tables && i < tables->accum_count; i++) {
        const uint32_t param = tables->accum[i].param;
        s->accum[param] = &tables->accum[i];
        if (s->run->device_table) s->accum_table[param] = s->run->device_table + hdst__tables_device_first(tables, s->run->accum_rows, i);
    }
}

hdst_status hdst__interp_open(interp_state *s, hdst__interp_run *run, hdst_error *error)
{
    const ir_func *func = run->func;
    *s = (interp_state){.run = run, .func = func};
    const size_t slabs = hdst__interp_block_slabs(func, &func->body);
    if (slabs == SIZE_MAX) return hdst__error_set(error, HDST_E_INTERNAL, "`%s` is in no form that the interpreter reads", func->name);
    uint64_t patterns;
    if (!find_width(s, slabs + 2, &patterns)) return hdst__error_memory(error, "the local arrays of a kernel");
    uint64_t *registers = hdst__alloc(run->allocator, patterns * sizeof *registers);
    s->vars = hdst__alloc_zero(run->allocator, func->var_count * sizeof *s->vars);
    s->accum = hdst__alloc_zero(run->allocator, func->param_count * sizeof *s->accum);
    s->accum_table = hdst__alloc_zero(run->allocator, func->param_count * sizeof *s->accum_table);
    const bool words = (func->block || func->rows) && run->tables;
    s->in_records = func->rows && !func->block;
    if (words) s->private_words = hdst__alloc_zero(run->allocator, hdst__tables_private_words(run->tables, run->accum_rows) * sizeof(int64_t));
    const bool gives = hdst__interp_given_open(s);
    if (!registers || !s->vars || !s->accum || !s->accum_table || !gives || (words && !s->private_words)) {
        hdst__free(run->allocator, registers);
        hdst__interp_close(s);
        return hdst__error_memory(error, "the interpreter's registers");
    }
    s->registers = registers;
    place_variables(s, registers);
    place_accums(s);
    return HDST_OK;
}

void hdst__interp_close(interp_state *s)
{
    hdst__free(s->run->allocator, s->registers);
    hdst__free(s->run->allocator, s->vars);
    hdst__free(s->run->allocator, s->accum);
    hdst__free(s->run->allocator, s->accum_table);
    hdst__free(s->run->allocator, s->private_words);
    hdst__interp_given_close(s);
    hdst__interp_texts_close(s);
}

static void reset_variables(interp_state *s)
{
    for (size_t i = 0; i < s->func->var_count; i++) {
        interp_var *v = &s->vars[i];
        if (v->constant) continue;
        memset(v->v, 0, (v->elements ? v->elements * s->width : 1) * sizeof *v->v);
        v->uniform = v->elements == 0;
    }
}

void hdst__interp_block(interp_state *s, uint64_t first, size_t n)
{
    s->block = first;
    s->n = n;
    s->loop = NULL;
    s->has_returned = false;
    s->returned = hdst__interp_slab(s, 0);
    memset(s->returned, 0, n * sizeof *s->returned);
    interp_mask mask = {hdst__interp_slab(s, 1), n};
    memset(mask.bits, 0xff, n * sizeof *mask.bits);
    s->top = 2;
    reset_variables(s);
    hdst__interp_exec(s, &s->func->body, &mask);
    s->cancelled = s->cancelled || hdst__cancel_asked(s->run->cancel);
    if (s->private_words) hdst__interp_flush_strip(s);
    if (s->func->emits) hdst__interp_give_block(s);
}

hdst_status hdst__interpret(hdst__interp_run *run, hdst_error *error)
{
    interp_state s;
    run->failed_record = UINT64_MAX;
    const hdst_status status = hdst__interp_open(&s, run, error);
    if (status != HDST_OK) return status;
    run->emitted = run->func->emits ? 0 : run->count;
    for (uint64_t first = 0; first < run->count && run->failed_record == UINT64_MAX && !s.given.out_of_memory && !s.texts.out_of_memory && !s.cancelled;
         first += s.width)
        hdst__interp_block(&s, first, run->count - first < s.width ? run->count - first : s.width);
    hdst__interp_close(&s);
    if (s.cancelled) return hdst__cancel_error(0, 0, error);
    if (s.texts.out_of_memory) return hdst__error_memory(error, "the texts of a block");
    if (s.given.out_of_memory) return hdst__error_memory(error, "the records that a block emits");
    return s.wrong ? hdst__error_set(error, HDST_E_INTERNAL, "`%s`: %s", run->func->name, s.wrong) : HDST_OK;
}
