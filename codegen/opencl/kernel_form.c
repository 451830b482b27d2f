// SPDX-License-Identifier: Apache-2.0
// What the forms of kernels share: file scope, the frame and the kernels' names, what is said of it to people.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_group_keys.h"
#include "codegen/opencl/print_combine_gpu.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_cooperative.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_tuples.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/pass/accumulator_placement.h"

#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

// --- File scope ---

static void print_constants(hdst__printer *p)
{
    for (size_t i = 0; i < p->constant_count; i++) {
        const ir_var *var = p->constants[i].var;
        hdst__write(&p->out, "__constant %s %s[%" PRIu64 "] = {", hdst__cl_name(var->kind), p->constants[i].name, var->elements);
        for (uint64_t e = 0; e < var->elements; e++)
            hdst__write(&p->out, "%s%s", e % 16 ? ", " : e ? ",\n    " : "\n    ", hdst__constant_text(p->arena, var->kind, var->init[e]));
        hdst__write_line(&p->out, "\n};");
    }
}

void hdst__print_file_scope(hdst__printer *p)
{
    print_constants(p);
    hdst__print_inputs(p);
    hdst__print_broadcasts(p);
    hdst__print_output_macros(p);
}

// --- Finishing ---

static void write_frame(hdst__writer *text, const char *file, const hdst__filling *fillings, size_t count)
{
    hdst__frame_write(text, &hdst__kernel_pieces, file, fillings, count);
}

enum { MOST_MORE = 2048 };      // bytes that names take beyond their macros: more of them, and the text grows

// Of about so many bytes.
static const char *whole_text(hdst__printer *p, const hdst__kernel *kernel, size_t bytes, const char *frame, const hdst__filling *fillings, size_t count)
{
    hdst__writer text = {.arena = p->arena};
    hdst__writer_reserve(&text, bytes);
    write_frame(&text, frame, fillings, count);
    if (hdst__emit_frame(p)) write_frame(&text, hdst__emit_frame(p), fillings, count);
    if (hdst__combines_on_gpu(p)) write_frame(&text, p->func->token_pieces ? "combined_pieces_gpu.cl" : "combined_gpu.cl", fillings, count);
    if (hdst__combines_on_gpu(p)) write_frame(&text, "gather_gpu.cl", fillings, count);
    if (kernel->product_items) write_frame(&text, "products_gpu.cl", fillings, count);
    if (kernel->merges) write_frame(&text, "merge_gpu.cl", fillings, count);
    hdst__tuples_write(p, &text, fillings, count);
    if (kernel->finish_arg_count && !hdst__tables_write_rows(p->tables)) write_frame(&text, "finish_gpu.cl", fillings, count);
    if (kernel->overflow_cell_words) write_frame(&text, "finish_overflow.cl", fillings, count);
    return hdst__writer_text(&text);
}

// Drivers name files after kernels, and file systems take 255 bytes: PoCL ends the process when they refuse. Functions
// that were fused have the names of all.
enum { MOST_OF_NAME = 64 };

static const char *kernel_name(hdst__printer *p, const char *text)
{
    hdst__hash hash = HDST__HASH_INIT;
    hdst__hash_add_text(&hash, text);
    const char *function = hdst__arena_printf(p->arena, "%.*s", MOST_OF_NAME, p->func->name);
    return hdst__arena_printf(p->arena, "%s%08" PRIx32, hdst__name_spell(p->arena, function), (uint32_t)hash.low);
}

static void name_kernels(hdst__printer *p, hdst__kernel *kernel)
{
    hdst__kernel_name_counts(p, kernel);
    if (kernel->finish_arg_count && !hdst__tables_write_rows(p->tables)) kernel->finish_name = hdst__arena_printf(p->arena, "%s_finish", kernel->name);
    if (kernel->overflow_cell_words) kernel->overflow_name = hdst__arena_printf(p->arena, "%s_overflow", kernel->name);
    if (kernel->product_items) kernel->products_name = hdst__arena_printf(p->arena, "%s_products", kernel->name);
    if (kernel->merges) kernel->merge_name = hdst__arena_printf(p->arena, "%s_merge", kernel->name);
    hdst__tuples_finish(p, kernel);
}

enum { OTHER_NAMES = 9 };

// KERNEL, and KERNEL_count and the like in frames.
static const char *with_names(hdst__printer *p, const hdst__kernel *kernel, const char *text)
{
    const char *names[HDST__TUPLE_KERNELS + OTHER_NAMES] = {kernel->name, kernel->finish_name, kernel->overflow_name, kernel->merge_name,
        kernel->count_name, kernel->scan_name, kernel->combine_name, kernel->gather_name, kernel->products_name};
    memcpy(names + OTHER_NAMES, kernel->tuple_kernel_name, sizeof kernel->tuple_kernel_name);
    hdst__filling fillings[HDST__TUPLE_KERNELS + OTHER_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i]) fillings[count++] = (hdst__filling){hdst__arena_printf(p->arena, "KERNEL%s", names[i] + strlen(kernel->name)), names[i]};
    hdst__writer source = {.arena = p->arena};
    hdst__writer_reserve(&source, strlen(text) + MOST_MORE);
    hdst__text_fill(&source, text, fillings, count);
    return hdst__writer_text(&source);
}

void hdst__kernel_finish(hdst__printer *p, hdst__kernel *kernel, const char *frame, hdst__filling *fillings, size_t count)
{
    hdst__filling *all = HDST__NEW_ARRAY(p->arena, hdst__filling, count + 3);
    memcpy(all, fillings, count * sizeof *fillings);
    all[count] = (hdst__filling){"DIALECT", ""};
    all[count + 1] = (hdst__filling){"PRELUDE", ""};
    all[count + 2] = (hdst__filling){"ARGS", hdst__writer_text(&p->arg_text)};
    const char *own = whole_text(p, kernel, 0, frame, all, count + 3);
    const hdst__prelude prelude = hdst__prelude_of(p, own);
    all[count].text = prelude.dialect;
    all[count + 1].text = prelude.functions;
    const char *text = whole_text(p, kernel, strlen(own) + strlen(prelude.dialect) + strlen(prelude.functions) + MOST_MORE, frame, all, count + 3);
    kernel->name = kernel_name(p, text);
    name_kernels(p, kernel);
    kernel->source = with_names(p, kernel, text);
    kernel->build_options = p->options->facts.correctly_rounded ? "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2 -w";
    kernel->args = p->args;
    kernel->arg_count = p->arg_count;
    hdst__text_copies_end(p, kernel);
    kernel->tables = p->tables;
    kernel->fast_sums = hdst__tables_fast_sums(p->tables);
}

// --- Why ---

static const char *group_why(const hdst__printer *p)
{
    const uint32_t shared = p->func->tables->shared;
    if (!shared) return "a table in device memory for each work-group: too large for local memory";
    const ir_func *loops = hdst__cooperative_func(p);
    const char *when = loops && hdst__place_leaves_sums(loops) ? "; a sum goes there when a work-group has gone through its records" : "";
    return hdst__arena_printf(p->arena, "%" PRIu32 " table%s in device memory for all work-groups: too large for local memory%s", shared,
                              shared > 1 ? "s" : "", when);
}

static const char *place_why(const hdst__printer *p, const ir_placement *placement)
{
    const ir_place place = placement->place;
    switch (place) {
    case IR_PLACE_REGISTERS: return "in registers: one row";
    case IR_PLACE_RUN:
        if (placement->writes_rows)
            return "a key's records one behind the other, added up and rounded before they reach its row; "
                   "it is known where they begin, so no key is looked at";
        if (placement->starts)
            return "a key's records one behind the other, added up before they reach its row; "
                   "it is known where they begin, so no key is looked at";
        return "a key's records one behind the other, added up before they reach its row";
    case IR_PLACE_STRIP:
        if (placement->narrow) return "a table per strip, in words of 32 bits";
        if (!p->func->tables->first_level) return "a table per strip";
        return "a table per strip; the device's has a strip's words too, its cells take what does not fit";
    case IR_PLACE_LOCAL: return "interleaved tables in local memory";
    case IR_PLACE_GROUP: return p->func->tables->apart ? "a table in device memory for each stretch of records: too large for local memory" : group_why(p);
    case IR_PLACE_FIXED_POINT:
        if (placement->runs) return "a key's records one behind the other, added up before they reach its row's words in device memory";
        return "straight to words in device memory: too large for local memory";
    case IR_PLACE_GLOBAL: case IR_PLACES: break;
    }
    return p->options->no_blocks ? "straight to the device table: blocks have none" : "straight to the device table: too large for local memory";
}

static const char *leaf_why(const hdst__cell *cell, const ir_leaf_placement *leaf)
{
    if ((leaf->levels[0] || leaf->levels[1]) && !cell->fast) return "exact sum, block by block in levels of floats";
    if (cell->fast) return "fast sum, rounded at each addition";
    if (leaf->way == IR_WAY_LEVELS) return "exact sum, in levels of floats in a lane's registers, then two words";
    if (leaf->way == IR_WAY_PAIR) return "exact sum, in two levels of doubles in a lane's registers, then two words";
    if (leaf->way == IR_WAY_OWNED) return "exact sum, in two levels of doubles of the one work-item that adds to it, then two words";
    switch (cell->precision) {
    case HDST__CLASS_ONE_WORD: return "exact sum, one word";
    case HDST__CLASS_TWO_WORDS: return "exact sum, two words";
    case HDST__CLASS_SUPERACCUMULATOR: return "exact sum, superaccumulators: the addends seen do not fit fixed point";
    case HDST__CLASS_PLAIN: break;
    }
    return "one word";
}

const char *hdst__tables_why(hdst__printer *p)
{
    hdst__writer why = {.arena = p->arena};
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const ir_param *param = &p->func->params[plan->accum->param];
        hdst__write_line(&why, "accum %s: %s", param->name, place_why(p, param->placement));
        for (size_t l = 0; l < param->record->leaf_count; l++)
            hdst__write_line(&why, "    %s: %s%s", param->record->leaves[l].path, leaf_why(&plan->accum->cell[l], &param->placement->leaf[l]),
                             hdst__meets_by_halves(p, plan, (uint32_t)l) ? ", a work-group's meet in local memory first" : "");
    }
    if (p->options->fast_sums && p->tables->scale_count && hdst__tables_fast_sums(p->tables) == 0)
        hdst__write_line(&why, "fast sums were asked for, but this form has exact ones only");
    return hdst__writer_text(&why);
}

static hdst__span place_of(const ir_func *func)
{
    return func->body.count ? func->body.items[0]->span : (hdst__span){0, 0, 0};
}

bool hdst__device_can(const hdst__printer *p, hdst__diags *diags)
{
    const hdst__target_facts *facts = &p->options->facts;
    const char *lacks = NULL;
    if (p->uses_double && !facts->has_double) lacks = "double";
    if (!facts->has_int64_atomics && (p->tables->accum_count || p->has_checks)) lacks = "64-bit atomics";
    if (!facts->has_double && !facts->correctly_rounded && p->rounds) lacks = "float division and square roots that are rounded correctly";
    if (!lacks) return true;
    hdst__diag_error(diags, place_of(p->func), "choose another device, or the interpreter (--device interp)", "'%s' needs %s, which this device does not have",
                     p->func->name, lacks);
    return false;
}
