// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel, in the order of hdst__arg_kind, and their text.
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_batch.h"
#include "codegen/opencl/print_combine.h"
#include "codegen/opencl/print_combine_gpu.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/pass/accumulator_placement.h"

#include <inttypes.h>
#include <string.h>

enum { ARG_LINE = 130 };        // letters of a line of arguments

void hdst__kernel_add_arg(hdst__printer *p, hdst__arg_kind kind, uint32_t index, const char *format, ...)
{
    hdst__arg arg = {.kind = kind, .index = index};
    HDST__PUSH(p->arena, p->args, p->arg_count, p->arg_capacity, arg);
    va_list list;
    va_start(list, format);
    const char *text = hdst__arena_vprintf(p->arena, format, list);
    va_end(list);
    const char *line = strrchr(hdst__writer_text(&p->arg_text), '\n');
    const size_t length = strlen(line ? line : hdst__writer_text(&p->arg_text));
    const char *space = p->arg_count == 1 ? "" : length + strlen(text) > ARG_LINE ? ",\n          " : ", ";
    hdst__write(&p->arg_text, "%s%s", space, text);
}

static void add_input_args(hdst__printer *p, uint32_t i)
{
    const hdst__storage *input = p->options->input;
    const ir_param *param = &p->func->params[i];
    bool *seen = HDST__NEW_ARRAY(p->arena, bool, input->buffers);
    for (uint32_t l = 0; l < param->record->leaf_count; l++) {
        if (!hdst__leaf_is_used(param, l)) continue;
        const uint32_t buffer = input->leaf[l].buffer;
        if (!seen[buffer])
            hdst__kernel_add_arg(p, HDST__ARG_INPUT, buffer, "__global const uchar *restrict %sData%" PRIu32, p->param_name[i], buffer);
        seen[buffer] = true;
        if (input->layout != HDST__SOA && input->layout != HDST__AOP) continue;
        hdst__kernel_add_arg(p, HDST__ARG_INPUT_OFFSET, l, "ulong %sOffset", p->leaf_name[i][l]);
        if (param->record->leaves[l].elements > 1) hdst__kernel_add_arg(p, HDST__ARG_INPUT_STRIDE, l, "ulong %sStep", p->leaf_name[i][l]);
    }
    // A record of which nothing is read still gives the kernel its buffer, so that the layout's base pointers stand. One
    // without fields has none.
    if (input->buffers && !seen[0] && (input->layout == HDST__AOS || input->layout == HDST__AOSOA))
        hdst__kernel_add_arg(p, HDST__ARG_INPUT, 0, "__global const uchar *restrict %sData0", p->param_name[i]);
}

static void add_table_args(hdst__printer *p)
{
    if (p->tables->accum_count == 0) return;
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->tables->accum[a].is_table) hdst__kernel_add_arg(p, HDST__ARG_ROWS, p->tables->accum[a].param, "ulong %sRows", p->plan[a].name);
    hdst__kernel_add_arg(p, HDST__ARG_DEVICE_TABLE, 0, "__global long *device_table");
    const ir_tables *form = p->func->tables;
    if (hdst__has_private_tables(p))
        hdst__kernel_add_arg(p, HDST__ARG_PRIVATE_TABLES, 0, "__global long *restrict private_tables");
    if (form && form->apart) hdst__kernel_add_arg(p, HDST__ARG_FACTORS, 0, "__global uchar *restrict factors");
    if (p->tables->scale_count) hdst__kernel_add_arg(p, HDST__ARG_SCALES, 0, "__global const int *scales");
    if (form && form->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_OVERFLOW, 0, "__global long *overflow");
    if (form && form->has_tuples) hdst__kernel_add_arg(p, HDST__ARG_PARTITIONS, 0, "__global uint *partitions");
    if (form && form->has_tuples) hdst__kernel_add_arg(p, HDST__ARG_TUPLES, 0, "__global uint *tuples");
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->tables->accum[a].writes_rows) hdst__kernel_add_arg(p, HDST__ARG_FINISHED, (uint32_t)a, "__global uchar *%sOut", p->plan[a].name);
    hdst__kernel_add_arg(p, HDST__ARG_FLUSH, 0, "ulong flush");
    if (hdst__takes_batches(p)) hdst__kernel_add_arg(p, HDST__ARG_BATCH, 0, "ulong batch");
}

static void add_text_args(hdst__printer *p)
{
    hdst__kernel_add_arg(p, HDST__ARG_TEXTS, 0, "__global const uchar *texts");
    hdst__kernel_add_arg(p, HDST__ARG_TEXT_BYTES, 0, "ulong text_bytes");
    hdst__kernel_add_arg(p, HDST__ARG_TEXT_HOST, 0, "ulong text_host");
    hdst__kernel_add_arg(p, HDST__ARG_TEXT_CONSTANTS, 0, "__global const uchar *text_constants");
    hdst__kernel_add_arg(p, HDST__ARG_TEXT_CONSTANTS_HOST, 0, "ulong text_constants_host");
}

void hdst__kernel_add_common_args(hdst__printer *p)
{
    hdst__kernel_add_arg(p, HDST__ARG_FIRST, 0, "ulong first");
    hdst__kernel_add_arg(p, HDST__ARG_SKIP, 0, "ulong skip");
    hdst__kernel_add_arg(p, HDST__ARG_COUNT, 0, "ulong count");
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind == IR_INPUT && i >= p->first_read_input) add_input_args(p, i);
        if (param->kind != IR_BROADCAST_TABLE) continue;
        const char *suffix = hdst__broadcast_is_local(&p->func->params[i]) ? "Data" : "At";
        hdst__kernel_add_arg(p, HDST__ARG_BROADCAST, i, "__global const uchar *restrict %s%s", p->param_name[i], suffix);
        hdst__kernel_add_arg(p, HDST__ARG_ROWS, i, "ulong %sRows", p->param_name[i]);
    }
    add_table_args(p);
    for (uint32_t i = 0; i < p->func->param_count; i++)
        if (p->func->params[i].kind == IR_OUTPUT) hdst__kernel_add_arg(p, HDST__ARG_OUTPUT, i, "__global uchar *restrict %sAt", p->param_name[i]);
    if (p->output.way == IR_OUTPUT_COUNTED) hdst__kernel_add_arg(p, HDST__ARG_ROOM, 0, "ulong room");
    if (p->output.way != IR_OUTPUT_DENSE) hdst__kernel_add_arg(p, HDST__ARG_PLACES, 0, "__global ulong *places");
    if (hdst__combines(p) || hdst__combines_on_gpu(p)) {
        hdst__kernel_add_arg(p, HDST__ARG_COMBINED, 0, "__global ulong *combined");
        hdst__kernel_add_arg(p, HDST__ARG_COMBINED_TABLES, 0, "ulong combined_tables");
        hdst__kernel_add_arg(p, HDST__ARG_COMBINED_BITS, 0, "ulong combined_bits");
    }
    if (p->has_checks) hdst__kernel_add_arg(p, HDST__ARG_ERROR, 0, "__global ulong *error");
    if (p->text_copies) add_text_args(p);
}
