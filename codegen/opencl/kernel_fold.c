// SPDX-License-Identifier: Apache-2.0
// A reduce that is declared associative: each work-item folds a run of records in their order. The function's first input
// is the running value, which lives in private arrays, one per leaf; the second is read from memory; what it stores is
// the next running value.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_vectors.h"
#include "codegen/opencl/private_memory.h"

#include "codegen/ir/accum_tables.h"
#include "codegen/pass/gpu_form.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

// --- What the form does its own way ---

static const char *read_of_fold(hdst__printer *p, const ir_expr *e)
{
    const char *vector = p->vectors ? hdst__vector_text(p, e) : NULL;
    if (vector || e->op != IR_FIELD || e->param >= p->first_read_input) return vector;
    return hdst__arena_printf(p->arena, "%sOf[%s]", hdst__leaf_name(p, e->param, e->leaf), hdst__index_text(p, e->a, HDST__WHOLE));
}

static const hdst__form cpu_form = {.read = read_of_fold};
static const hdst__form gpu_form = {.read = read_of_fold, .begin_loop = hdst__begin_gpu_loop, .end_loop = hdst__end_gpu_loop};

// --- Sections ---

static uint32_t output_of(const ir_func *func)
{
    uint32_t i = 0;
    while (i + 1 < func->param_count && func->params[i].kind != IR_OUTPUT) i++;
    return i;
}

static const hdst__leaf *leaf_of(const hdst__printer *p, size_t l)
{
    return &p->func->params[0].record->leaves[l];
}

// for (e ...) `statement`, with names of the leaf put in: running value, next value, record from memory, output.
static void print_each(hdst__printer *p, size_t l, const char *statement)
{
    hdst__write_line(&p->out, "for (ulong e = 0; e < %" PRIu64 "; e++) %s;", leaf_of(p, l)->elements, statement);
}

static void print_fold_setup(hdst__printer *p)
{
    const uint32_t output = output_of(p->func);
    hdst__print_input_bases(p);
    for (size_t l = 0; l < p->func->params[0].record->leaf_count; l++)
        hdst__write_line(&p->out, "%s %sOf[%" PRIu64 "], %sOf[%" PRIu64 "];", hdst__cl_name(leaf_of(p, l)->kind), p->leaf_name[0][l], leaf_of(p, l)->elements,
                         p->leaf_name[output][l], leaf_of(p, l)->elements);
}

static void print_fold_load(hdst__printer *p)
{
    const size_t read = p->func->params[1].record->leaf_count;      // what only the running value has begins at 0 (hdst__passes_skip_fold)
    for (size_t l = 0; l < p->func->params[0].record->leaf_count; l++)
        print_each(p, l, l < read ? hdst__arena_printf(p->arena, "%sOf[e] = %s(i, e)", p->leaf_name[0][l], p->leaf_name[1][l])
                                  : hdst__arena_printf(p->arena, "%sOf[e] = 0", p->leaf_name[0][l]));
}

static void print_fold_body(hdst__printer *p)
{
    hdst__print_function(p);
    for (size_t l = 0; l < p->func->params[0].record->leaf_count; l++)
        print_each(p, l, hdst__arena_printf(p->arena, "%sOf[e] = %sOf[e]", p->leaf_name[0][l], p->leaf_name[output_of(p->func)][l]));
}

static const char *store_text(hdst__printer *p, size_t l, const char *to, const char *from)
{
    const hdst__leaf *leaf = leaf_of(p, l);
    if (leaf->kind == HDST__TEXT && p->text_copies) return hdst__arena_printf(p->arena, "write_text_apart(%s, %s, " HDST__TEXT_COPY ")", to, from);
    const bool aligned = hdst__leaf_is_aligned(p->func->params[output_of(p->func)].record, leaf) && leaf->kind != HDST__TEXT;
    return aligned ? hdst__arena_printf(p->arena, "%s = %s", to, from) : hdst__arena_printf(p->arena, "write_%s(%s, %s)", hdst__cl_name(leaf->kind), to, from);
}

static void print_fold_store(hdst__printer *p)
{
    const uint32_t output = output_of(p->func);
    for (size_t l = 0; l < p->func->params[0].record->leaf_count; l++) {
        const char *to = hdst__arena_printf(p->arena, "%s(%sAt, n, e)", p->leaf_name[output][l], p->param_name[output]),
                   *from = hdst__arena_printf(p->arena, "%sOf[e]", p->leaf_name[0][l]);
        if (p->func->makes && hdst__kind_is_float(leaf_of(p, l)->kind)) from = hdst__canonical_text(p->arena, leaf_of(p, l)->kind, from);
        print_each(p, l, store_text(p, l, to, from));
    }
}

static uint64_t fold_private_bytes(hdst__printer *p, const ir_func *func)
{
    return hdst__private_bytes(p, func) + 2 * func->params[0].record->size;
}

const hdst__kernel *hdst__kernel_make_fold(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    ir_func *all = hdst__ir_copy_func(arena, func);     // every leaf travels: a run of one record is that record
    all->params[0].leaf_used = all->params[1].leaf_used = NULL;
    const bool gpu = options->facts.target == HDST__TARGET_GPU;
    hdst__printer *p = hdst__printer_create(arena, all, options, hdst__ir_accum_tables(arena, all, NULL), gpu ? &gpu_form : &cpu_form);
    hdst__text_copies_begin(p, all);
    if (gpu) p->vectors = hdst__vectors_create(arena);
    if (gpu && !options->facts.portable) hdst__pass_unroll_hints(all, options->shape.unroll);
    p->first_read_input = 1;
    const uint64_t bytes = fold_private_bytes(p, all);
    if (!hdst__private_fits(p, all, bytes, p->gpu ? HDST__GPU_PRIVATE_BYTES : HDST__CPU_PRIVATE_BYTES, diags)) return NULL;
    hdst__kernel_add_common_args(p);
    hdst__printer_use(p, all);
    hdst__filling fillings[] = {
        {"TITLE", func->name},
        {"RUN", hdst__arena_printf(arena, "%d", HDST__FOLD_RECORDS)},
        {"BODY", hdst__print_section(p, print_fold_body)},
        {"FILE_SCOPE", hdst__print_section(p, hdst__print_file_scope)},
        {"SETUP", hdst__print_section(p, print_fold_setup)},
        {"LOAD", hdst__print_section(p, print_fold_load)},
        {"STORE", hdst__print_section(p, print_fold_store)},
    };
    for (size_t l = 0; l < all->params[0].record->leaf_count; l++) p->uses_double |= leaf_of(p, l)->kind == HDST__F64;
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){
        .func = all, .local_size = p->gpu ? HDST__GPU_FOLD_GROUP : 1, .private_bytes = bytes, .why = "form: a fold of 64 records in order per work-item\n"};
    hdst__kernel_finish(p, kernel, "kernel_fold.cl", fillings, sizeof fillings / sizeof *fillings);
    return kernel;
}
