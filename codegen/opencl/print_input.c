// SPDX-License-Identifier: Apache-2.0
// Reading inputs and broadcasts, writing outputs. Each leaf that is read gets one macro, LEAF(record, element), that hides the layout; so the printed body is
// the same for all layouts. Pointers to the slice's first record are made once, at the start of the kernel.
#include "codegen/opencl/kernel_form.h"

#include <inttypes.h>
#include <string.h>

bool hdst__leaf_is_used(const ir_param *param, size_t leaf)
{
    return !param->leaf_used || param->leaf_used[leaf];
}

const char *hdst__leaf_name(hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return p->leaf_name[param][leaf];
}

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
static void define_macro(hdst__printer *p, const char *name, const char *index, const char *space, const hdst__leaf *leaf, bool aligned, const char *address)
{
    const char *type = hdst__scalar_cl_name(leaf->kind);
    if (aligned) {
        hdst__write_line(&p->out, "#define %s(%s, e) (*(%s const %s *)(%s))", name, index, space, type, address);
        return;
    }
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
    static const char *const unsigneds[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const char *shift = leaf->offset ? hdst__arena_printf(p->arena, " >> %" PRIu64, 8 * leaf->offset) : "";
    hdst__write_line(&p->out, "#define %sPart(i) as_%s((%s)(*(__global const %s *)(%sAt + (i) * %" PRIu64 ")%s))", p->leaf_name[param][l],
                     hdst__scalar_cl_name(leaf->kind), unsigneds[hdst__scalar_size(leaf->kind)], unsigneds[record->size], p->param_name[param], record->size, shift);
}

void hdst__print_inputs(hdst__printer *p)
{
    const hdst__storage *input = p->options->input;
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_INPUT || i < p->first_read_input) continue;
        for (size_t l = 0; l < param->record->leaf_count; l++) {
            if (!hdst__leaf_is_used(param, l) || param->record->leaves[l].kind == HDST__TEXT) continue;
            const bool aligned = input->layout != HDST__AOS || hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
            define_macro(p, p->leaf_name[i][l], "i", "__global", &param->record->leaves[l], aligned, input_address(p, i, l));
            if (p->has_part[i] && p->has_part[i][l]) define_part_of_word(p, i, l);
        }
    }
}

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
            if (hdst__leaf_is_used(param, l) && param->record->leaves[l].kind != HDST__TEXT)
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
            if (!hdst__leaf_is_used(param, l) || leaf->kind == HDST__TEXT) continue;
            const bool aligned = hdst__leaf_is_aligned(param->record, leaf);
            const bool local = p->local_broadcast[i];
            const char *address = hdst__arena_printf(p->arena, "%sAt + (ulong)(row) * %" PRIu64 " + %" PRIu64 "%s", p->param_name[i], param->record->size,
                                                     leaf->offset, hdst__element_offset(p->arena, leaf));
            define_macro(p, p->leaf_name[i][l], "row", local ? "__local" : "__global", leaf, aligned, address);
        }
    }
}

// --- Outputs ---

// Its place in the output: that of the input record, or the next one. What is stored whether or not it comes out must not meet the records of the next strip.
static const char *output_place(hdst__printer *p, const ir_stmt *stmt)
{
    if (p->func->emits) return hdst__emit_is_guarded(p) ? "OWN(place)" : "place";
    return p->in_records ? "r" : hdst__record_text(p, stmt->record);
}

// Where the block's output begins: vector loops count from there, so that the compiler sees that addresses of several fields do not wrap.
void hdst__print_block_output(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count && !p->func->emits; i++)
        if (p->func->params[i].kind == IR_OUTPUT)
            hdst__write_line(&p->out, "__global uchar *const %sBlockAt = %sAt + i * %" PRIu64 ";", p->param_name[i], p->param_name[i], p->func->params[i].record->size);
}

void hdst__print_store(hdst__printer *p, const ir_stmt *stmt)
{
    const ir_param *param = &p->func->params[stmt->param];
    const hdst__leaf *leaf = &param->record->leaves[stmt->leaf];
    const char *type = hdst__scalar_cl_name(leaf->kind), *value = hdst__expr_text(p, stmt->value, HDST__WHOLE);
    const char *macro = p->leaf_name[stmt->param][stmt->leaf], *element = hdst__index_text(p, stmt->index, HDST__WHOLE);
    const char *start = p->in_records && !p->func->emits ? "BlockAt" : "At";
    if (p->first_read_input) {      // a fold: the next running value
        hdst__write_line(&p->out, "%sOf[%s] = %s;", macro, element, value);
    } else if (hdst__leaf_is_aligned(param->record, leaf)) {
        hdst__write_line(&p->out, "%s(%s%s, %s, %s) = %s;", macro, p->param_name[stmt->param], start, output_place(p, stmt), element, value);
    } else {
        hdst__write_line(&p->out, "write_%s(%s(%s%s, %s, %s), %s);", type, macro, p->param_name[stmt->param], start, output_place(p, stmt), element, value);
    }
}

enum { MOST_PARTS = 4, MOST_STORES = MOST_PARTS * HDST__LANE_RECORDS };

// Numbers of 32 or of 64 bits that fill the C struct, which is as large as a vector: it lies in device memory, aligned as such. Else 0.
static uint64_t vector_part_bytes(const hdst__record *record)
{
    const uint64_t bytes = record->size / (record->elements ? record->elements : 1);
    if ((record->size != 8 && record->size != 16) || record->elements < 2 || (bytes != 4 && bytes != 8)) return 0;
    for (size_t l = 0; l < record->leaf_count; l++)
        if (record->leaves[l].kind == HDST__TEXT || record->leaves[l].kind == HDST__BOOL || hdst__scalar_size(record->leaves[l].kind) != bytes) return 0;
    return bytes;
}

static uint64_t part_of(const ir_param *param, const ir_stmt *stmt, uint64_t bytes)
{
    return hdst__leaf_offset(&param->record->leaves[stmt->leaf], stmt->index ? stmt->index->bits : 0) / bytes;
}

// The stores of one record among those that stand together, by their place in the struct. False: some of it comes from elsewhere.
static bool parts_of_record(const ir_param *param, ir_stmt *const *stmts, size_t count, uint32_t record, uint64_t bytes, const ir_stmt **part)
{
    size_t found = 0;
    for (size_t n = 0; n < count; n++) {
        if (stmts[n]->record != record) continue;
        if (stmts[n]->index && stmts[n]->index->op != IR_CONST) return false;
        part[part_of(param, stmts[n], bytes)] = stmts[n];
        found++;
    }
    for (uint64_t k = 0; k < param->record->elements; k++)
        if (!part[k]) return false;
    return found == param->record->elements;
}

static void print_vector_store(hdst__printer *p, const ir_param *param, const ir_stmt *const *part, uint64_t bytes)
{
    const char *type = bytes == 4 ? "uint" : "ulong", *values = "";
    for (uint64_t k = 0; k < param->record->elements; k++)
        values = hdst__arena_printf(p->arena, "%s%sas_%s(%s)", values, k ? ", " : "", type, hdst__expr_text(p, part[k]->value, HDST__WHOLE));
    hdst__write_line(&p->out, "*(__global %s%" PRIu64 " *)(%sAt + (%s) * %" PRIu64 ") = (%s%" PRIu64 ")(%s);", type, param->record->elements, p->param_name[part[0]->param],
                     output_place(p, part[0]), param->record->size, type, param->record->elements, values);
}

// GPU form: a record that fills a vector is stored at once. Returns how many statements that took; 0: these are no such stores.
size_t hdst__print_vector_stores(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_param *param = &p->func->params[stmts[0]->param];
    const uint64_t bytes = vector_part_bytes(param->record);
    size_t n = 0;
    if (!p->gpu || p->first_read_input || !bytes) return 0;
    while (n < count && n < MOST_STORES && stmts[n]->kind == IR_STORE && !stmts[n]->cond && stmts[n]->param == stmts[0]->param) n++;
    const ir_stmt *part[HDST__LANE_RECORDS][MOST_PARTS] = {{0}};
    const uint32_t records = p->func->lane_records > 1 ? p->func->lane_records : 1;
    if (n != records * param->record->elements) return 0;
    for (uint32_t r = 0; r < records; r++)
        if (!parts_of_record(param, stmts, n, r, bytes, part[r])) return 0;
    for (uint32_t r = 0; r < records; r++) print_vector_store(p, param, part[r], bytes);
    return n;
}

enum { MOST_RECORDS = 1 << 16 };        // of a block, and more

// Records of a block are numbered by an int, which vector loops want; their bytes may be more than it holds.
static const char *output_record(const hdst__printer *p, const ir_param *param)
{
    return !p->gpu && param->record->size > INT32_MAX / MOST_RECORDS ? "(ulong)(i)" : "(i)";
}

void hdst__print_output_macros(hdst__printer *p)
{
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_OUTPUT) continue;
        const char *record = output_record(p, param);
        for (size_t l = 0; l < param->record->leaf_count; l++) {
            const hdst__leaf *leaf = &param->record->leaves[l];
            const char *address = hdst__arena_printf(p->arena, "(at) + %s * %" PRIu64 " + %" PRIu64 "%s", record, param->record->size, leaf->offset, hdst__element_offset(p->arena, leaf));
            if (hdst__leaf_is_aligned(param->record, leaf))
                hdst__write_line(&p->out, "#define %s(at, i, e) (*(__global %s *)(%s))", p->leaf_name[i][l], hdst__scalar_cl_name(leaf->kind), address);
            else
                hdst__write_line(&p->out, "#define %s(at, i, e) (%s)", p->leaf_name[i][l], address);
        }
    }
}

// --- Values that lie side by side over the block ---

hdst__block_operand hdst__block_operand_of(hdst__printer *p, const ir_expr *e)
{
    if (e->op == IR_VAR) return (hdst__block_operand){p->array_name[e->var], false};
    if (e->op == IR_ELEM) return (hdst__block_operand){p->func->vars[e->var].per_record ? hdst__arena_printf(p->arena, "%s[%s]", p->var_name[e->var], hdst__index_text(p, e->a, HDST__WHOLE)) : NULL, false};
    if (e->op != IR_FIELD || (e->a && e->a->op != IR_CONST)) return (hdst__block_operand){0};
    const hdst__record *record = p->func->params[e->param].record;
    const hdst__leaf *leaf = &record->leaves[e->leaf];
    const char *name = p->leaf_name[e->param][e->leaf], *element = hdst__index_text(p, e->a, HDST__WHOLE);
    if (p->unpacked[e->param] && p->unpacked[e->param][e->leaf]) return (hdst__block_operand){hdst__arena_printf(p->arena, "%sOf[%s]", name, element), false};
    switch (p->options->input->layout) {
    case HDST__SOA: case HDST__AOP: return (hdst__block_operand){hdst__leaf_is_aligned(record, leaf) ? hdst__arena_printf(p->arena, "&%s(i, %s)", name, element) : NULL, true};
    case HDST__AOSOA: {
        const uint64_t step = p->options->input->leaf[e->leaf].element_stride / hdst__scalar_size(leaf->kind);
        return (hdst__block_operand){hdst__arena_printf(p->arena, "%sIn + %" PRIu64, name, (e->a ? e->a->bits : 0) * step), true};
    }
    default: return (hdst__block_operand){0};
    }
}
