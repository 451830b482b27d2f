// SPDX-License-Identifier: Apache-2.0
// Reading inputs and broadcasts. Each leaf that is read gets one macro, LEAF(record, element), that hides the layout; so
// the printed body is the same for all layouts. Pointers to the slice's first record are made once, at the start of the
// kernel.
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_unpack.h"

#include <inttypes.h>

// Bytes from element 0 of the leaf to element (e) in the C struct, as text: " + (e) * 4". (e) is of 32 bits mostly, and so is the offset where that is enough.
const char *hdst__element_offset(hdst__arena *arena, const hdst__leaf *leaf)
{
    if (leaf->elements == 1) return "";
    uint64_t inner = 1;
    const char *e = hdst__leaf_offset(leaf, leaf->elements - 1) - leaf->offset > INT32_MAX ? "(ulong)(e)" : "(e)", *text = "";
    if (hdst__leaf_is_dense(leaf)) return hdst__arena_printf(arena, " + %s * %" PRIu64, e, hdst__scalar_size(leaf->kind));
    for (uint32_t d = leaf->dims; d-- > 0;) {
        text = hdst__arena_printf(arena, "%s + %s / %" PRIu64 " %% %" PRIu64 " * %" PRIu64, text, e, inner, leaf->dim[d].count, leaf->dim[d].stride);
        inner *= leaf->dim[d].count;
    }
    return text;
}

// `address` is of bytes. Misaligned leaves go through a function of the prelude.
static void define_macro(hdst__printer *p, const char *name, const char *index, const char *space, const hdst__leaf *leaf, bool aligned, bool is_value,
                         const char *address)
{
    const char *type = hdst__scalar_cl_name(leaf->kind);
    if (aligned && leaf->kind != HDST__TEXT) {
        hdst__write_line(&p->out, "#define %s(%s, e) (*(%s const %s *)(%s))", name, index, space, type, address);
        return;
    }
    if (leaf->kind == HDST__TEXT && p->text_copies)
        hdst__write_line(&p->out, "#define %s(%s, e) read_%stext_apart(%s, %s)", name, index, aligned ? "aligned_" : "", address,
                         is_value ? HDST__TEXT_CONSTANTS : HDST__TEXT_COPY);
    else
        hdst__write_line(&p->out, "#define %s(%s, e) read_%s(%s)", name, index, type, address);
}

// --- Inputs ---

static const char *input_address(hdst__printer *p, uint32_t param, size_t l)
{
    const hdst__storage *input = p->options->input;
    const hdst__leaf *leaf = &input->record->leaves[l];
    const hdst__leaf_address *at = &input->leaf[l];
    const char *name = p->leaf_name[param][l], *data = p->param_name[param];
    const uint64_t size = hdst__scalar_size(leaf->kind);
    const char *step = leaf->elements > 1 ? hdst__arena_printf(p->arena, " + (e) * %sStep", name) : "";
    switch (input->layout) {
    case HDST__AOS:
        return hdst__arena_printf(p->arena, "%sAt + (i) * %" PRIu64 " + %" PRIu64 "%s", data, input->record->size, leaf->offset,
                                  hdst__element_offset(p->arena, leaf));
    case HDST__AOSOA:
        step = leaf->elements > 1 ? hdst__arena_printf(p->arena, " + (e) * %" PRIu64 "UL", at->element_stride) : "";
        return hdst__arena_printf(p->arena, "%sAt + (skip + (i)) / %" PRIu64 " * %" PRIu64 " + (skip + (i)) %% %" PRIu64 " * %" PRIu64 " + %" PRIu64 "%s",
                                  data, input->block, at->block_stride, input->block, size, at->offset, step);
    default:
        return hdst__arena_printf(p->arena, "%sAt%s + (i) * %" PRIu64, name, step, size);
    }
}

static void define_part_of_word(hdst__printer *p, uint32_t param, size_t l)
{
    const hdst__record *record = p->func->params[param].record;
    const hdst__leaf *leaf = &record->leaves[l];
    const char *shift = leaf->offset ? hdst__arena_printf(p->arena, " >> %" PRIu64, 8 * leaf->offset) : "";
    const char *word = hdst__arena_printf(p->arena, "*(__global const %s *)(%sAt + (i) * %" PRIu64 ")", hdst__unsigned_cl_name(record->size),
        p->param_name[param], record->size);
    hdst__write_line(&p->out, "#define %sPart(i) as_%s((%s)(%s%s))", p->leaf_name[param][l], hdst__scalar_cl_name(leaf->kind),
        hdst__unsigned_cl_name(hdst__scalar_size(leaf->kind)), word, shift);
}

void hdst__print_inputs(hdst__printer *p)
{
    const hdst__storage *input = p->options->input;
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_INPUT || i < p->first_read_input) continue;
        for (size_t l = 0; l < param->record->leaf_count; l++) {
            if (!hdst__leaf_is_used(param, l)) continue;
            const bool aligned = input->layout != HDST__AOS || hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
            define_macro(p, p->leaf_name[i][l], "i", "__global", &param->record->leaves[l], aligned, false, input_address(p, i, l));
            if (hdst__has_part(p, i, l)) define_part_of_word(p, i, l);
        }
    }
}

// Read by a work-group's search alone, of a function that counts what another one gives.
static bool is_searched(const ir_func *func, uint32_t param, size_t leaf) { return func->search && hdst__leaf_is_used(&func->search->params[param], leaf); }

void hdst__print_input_bases(hdst__printer *p)
{
    const hdst__storage *input = p->options->input;
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_INPUT || i < p->first_read_input) continue;
        const char *data = p->param_name[i];
        if (input->layout == HDST__AOSOA) hdst__write_line(&p->out, "__global const uchar *%sAt = %sData0;", data, data);
        if (input->layout == HDST__AOS)
            hdst__write_line(&p->out, "__global const uchar *%sAt = %sData0 + skip * %" PRIu64 ";", data, data, param->record->size);
        if (input->layout != HDST__SOA && input->layout != HDST__AOP) continue;
        for (size_t l = 0; l < param->record->leaf_count; l++)
            if (hdst__leaf_is_used(param, l) || is_searched(p->func, i, l))
                hdst__write_line(&p->out, "__global const uchar *%sAt = %sData%u + %sOffset + skip * %" PRIu64 ";", p->leaf_name[i][l], data,
                                 input->leaf[l].buffer, p->leaf_name[i][l], hdst__scalar_size(param->record->leaves[l].kind));
    }
}

// --- Broadcasts ---

void hdst__print_broadcasts(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_BROADCAST_TABLE) continue;
        for (size_t l = 0; l < param->record->leaf_count; l++) {
            const hdst__leaf *leaf = &param->record->leaves[l];
            if (!hdst__leaf_is_used(param, l)) continue;
            const bool aligned = hdst__leaf_is_aligned(param->record, leaf);
            const bool local = hdst__broadcast_is_local(&p->func->params[i]);
            const char *address = hdst__arena_printf(p->arena, "%sAt + (ulong)(row) * %" PRIu64 " + %" PRIu64 "%s", p->param_name[i], param->record->size,
                                                     leaf->offset, hdst__element_offset(p->arena, leaf));
            define_macro(p, p->leaf_name[i][l], "row", local ? "__local" : "__global", leaf, aligned, true, address);
        }
    }
}

