// SPDX-License-Identifier: Apache-2.0
// GPU form: the kernel that turns a device table into rows of C structs, so that they need not cross to the host as
// superaccumulators (accum/reduce.c does the same there, and says what each kind of cell holds).
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_tables.h"
#include "accum/minmax_keys.h"
#include "accum/accum_pieces.h"
#include "codegen/opencl/kernel_pieces.h"

#include <inttypes.h>

static bool is_key(const hdst__cell *cell) { return cell->acc == HDST__MIN || cell->acc == HDST__MAX; }

typedef struct float_shape {
    uint32_t fraction_bits, exponent_mask;
    const char *sign, *infinity, *quiet_nan;
} float_shape;

static float_shape shape_of(hdst__kind kind)
{
    if (kind == HDST__F32) return (float_shape){23, 0xff, "0x80000000UL", "0x7f800000UL", "0x7fc00000UL"};
    return (float_shape){52, 0x7ff, "0x8000000000000000UL", "0x7ff0000000000000UL", "0x7ff8000000000000UL"};
}

static const char *round_text(hdst__printer *p, const hdst__cell *cell, const char *word)
{
    const float_shape s = shape_of(cell->kind);
    return hdst__arena_printf(p->arena, "wide_round(%s, %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %s, %s)", word, cell->digits, s.fraction_bits,
        s.exponent_mask, s.sign, s.infinity);
}

// The scale of a leaf's words. Its limits keep what a word holds away from denormals, so the conversion below rounds
// once; the power of two is exact, or overflows as it should.
static const char *scale_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const char *type = hdst__sum_type(p, plan->accum->param, leaf);
    return hdst__arena_printf(p->arena, "%s_scale(scales[%" PRId32 "])", type, plan->accum->cell[leaf].scale);
}

static const char *fixed_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const bool is_float = plan->accum->cell[leaf].kind == HDST__F32;
    const char *type = is_float ? "float" : "double";
    if (!is_float) p->uses_double = true;
    return hdst__arena_printf(p->arena, "%s((%s)*word * %s_power(-%s))", is_float ? "as_uint" : "as_ulong", type, type, scale_text(p, plan, leaf));
}

// The value's bits from the cell's first word, `word`.
static const char *bits_text(hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    if (cell->digits) return plan->accum->compact ? fixed_text(p, plan, leaf) : round_text(p, cell, "word");
    if (is_key(cell) && hdst__kind_is_float(cell->kind)) {
        const float_shape s = shape_of(cell->kind);
        const char *turned = cell->acc == HDST__MIN ? "true" : "false";
        return hdst__arena_printf(p->arena, "value_of_key((ulong)*word, %s, %s, %s, %s)", turned, s.sign, s.infinity, s.quiet_nan);
    }
    if (is_key(cell)) {         // counted from what key 0 stands for
        const uint64_t none = hdst__key_decode(cell->kind, cell->acc, 0);
        return hdst__arena_printf(p->arena, "0x%" PRIx64 "UL %c (ulong)*word", none, cell->acc == HDST__MAX ? '+' : '-');
    }
    if (cell->kind == HDST__BOOL) return cell->acc == HDST__AND ? "~(ulong)*word & 1" : "*word != 0";
    return cell->acc == HDST__AND ? "~(ulong)*word" : "(ulong)*word";
}

static void print_put(hdst__printer *p, const hdst__record *record, const hdst__leaf *leaf, const char *at, const char *bits)
{
    static const char *const type[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const uint64_t size = hdst__scalar_size(leaf->kind);
    if (hdst__leaf_is_aligned(record, leaf)) hdst__write_line(&p->out, "*(__global %s *)(%s) = (%s)(%s);", type[size], at, type[size], bits);
    else hdst__write_line(&p->out, "put_bytes(%s, %s, %" PRIu64 ");", at, bits, size);
}

static void print_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const hdst__record *record = p->func->params[plan->accum->param].record;
    const hdst__cell *cell = &plan->accum->cell[l];
    const char *rows = plan->accum->is_table ? hdst__arena_printf(p->arena, "%sRows * ", plan->name) : "";
    hdst__write_line(&p->out, "for (ulong n = get_global_id(0); n < %s%" PRIu64 "; n += get_global_size(0)) {", rows, cell->elements);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong row = n / %" PRIu64 ", e = n %% %" PRIu64 ";", cell->elements, cell->elements);
    hdst__write_line(&p->out, "__global const long *word = %sTotal + row * %" PRIu64 " + e * %" PRIu32 " + %" PRIu64 ";", plan->name,
        plan->accum->device_row_words, cell->device_words, cell->device_first);
    const char *at = hdst__arena_printf(p->arena, "%sOut + row * %" PRIu64 " + %" PRIu64 "%s", plan->name, record->size, record->leaves[l].offset,
                                        hdst__element_offset(p->arena, &record->leaves[l]));
    print_put(p, record, &record->leaves[l], at, bits_text(p, plan, l));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_finish(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        for (uint32_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++) print_leaf(p, plan, l);
    }
}

// The word at `place` of the device table goes to the overflow cell `cell`, if it is of this leaf, and the sum to its row.
static void print_spare_leaf(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const hdst__record *record = p->func->params[plan->accum->param].record;
    const hdst__cell *cell = &plan->accum->cell[l];
    const char *kind = cell->kind == HDST__F32 ? "FLOAT" : "DOUBLE";
    if (!cell->digits) return;
    if (kind[0] == 'D') p->uses_double = true;
    hdst__write_line(&p->out, "if (row < %sRows && at_word >= %" PRIu64 " && at_word < %" PRIu64 ") {", plan->name, cell->device_first,
        cell->device_first + cell->elements);
    p->out.indent++;
    hdst__write_line(&p->out, "const ulong e = at_word - %" PRIu64 ";", cell->device_first);
    hdst__write_line(&p->out, "wide_add_fixed(cell, %s_LAST, %s_LOWEST, device_table[place], %s);", kind, kind, scale_text(p, plan, l));
    const char *at = hdst__arena_printf(p->arena, "%sOut + row * %" PRIu64 " + %" PRIu64 "%s", plan->name, record->size, record->leaves[l].offset,
                                        hdst__element_offset(p->arena, &record->leaves[l]));
    print_put(p, record, &record->leaves[l], at, round_text(p, cell, "cell"));
    p->out.indent--;
    hdst__write_line(&p->out, "}");
}

static void print_spare(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        if (!plan->accum->compact) continue;
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        hdst__write_line(&p->out, "const ulong words = (ulong)(%sTotal - device_table);", plan->name);
        hdst__write_line(&p->out, "const ulong row = place < words ? ULONG_MAX : (place - words) / %" PRIu64 ";", plan->accum->device_row_words);
        hdst__write_line(&p->out, "const ulong at_word = (place - words) %% %" PRIu64 ";", plan->accum->device_row_words);
        for (uint32_t l = 0; l < p->func->params[plan->accum->param].record->leaf_count; l++) print_spare_leaf(p, plan, l);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static const char *parts_text(hdst__printer *p)
{
    uint32_t digits = 0;
    bool keys = false, bytes = false;
    for (size_t a = 0; a < p->tables->accum_count; a++)
        for (uint32_t l = 0; l < p->func->params[p->plan[a].accum->param].record->leaf_count; l++) {
            const hdst__cell *cell = &p->plan[a].accum->cell[l];
            if (cell->digits > digits) digits = cell->digits;
            const hdst__record *record = p->func->params[p->plan[a].accum->param].record;
            bytes |= !hdst__leaf_is_aligned(record, &record->leaves[l]);
            keys |= is_key(cell) && hdst__kind_is_float(cell->kind);
        }
    const hdst__pieces *accum = &hdst__accum_pieces;
    const char *round = "", *of_key = "", *put = "";
    if (digits) round = hdst__arena_printf(p->arena, "\n#define WIDE_LIMBS %" PRIu32 "\n%s", digits + 3, hdst__pieces_text(p->arena, accum, "rounding.cl"));
    if (keys) of_key = hdst__arena_printf(p->arena, "\n%s", hdst__pieces_text(p->arena, accum, "minmax_values.cl"));
    if (bytes) put = hdst__arena_printf(p->arena, "\n%s", hdst__pieces_text(p->arena, &hdst__base_pieces, "put_bytes.cl"));
    return hdst__arena_printf(p->arena, "%s%s%s", round, of_key, put);
}

// The arguments of this kernel are its own.
static void add_args(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->tables->accum[a].is_table) hdst__kernel_add_arg(p, HDST__ARG_ROWS, p->tables->accum[a].param, "ulong %sRows", p->plan[a].name);
    hdst__kernel_add_arg(p, HDST__ARG_DEVICE_TABLE, 0, "__global const long *device_table");
    if (p->func->tables->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_SCALES, 0, "__global const int *scales");
    if (p->func->tables->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_SPARES, 0, "__global long *spares");
    for (size_t a = 0; a < p->tables->accum_count; a++) hdst__kernel_add_arg(p, HDST__ARG_FINISHED, (uint32_t)a, "__global uchar *%sOut", p->plan[a].name);
}

void hdst__finish_texts(hdst__printer *p, hdst__kernel *kernel, hdst__filling fillings[HDST__FINISH_FILLINGS])
{
    const hdst__printer outer = *p;
    p->args = NULL;
    p->arg_count = p->arg_capacity = 0;
    p->arg_text = (hdst__writer){.arena = p->arena};
    add_args(p);
    kernel->finish_args = p->args;
    kernel->finish_arg_count = p->arg_count;
    fillings[0] = (hdst__filling){"FINISH_ARGS", hdst__writer_text(&p->arg_text)};
    fillings[1] = (hdst__filling){"FINISH_SETUP", hdst__print_section(p, hdst__print_finish_bases)};
    fillings[2] = (hdst__filling){"FINISH_PARTS", parts_text(p)};
    fillings[3] = (hdst__filling){"FINISH", hdst__print_section(p, print_finish)};
    fillings[4] = (hdst__filling){"SPARE", hdst__print_section(p, print_spare)};
    p->args = outer.args;
    p->arg_count = outer.arg_count;
    p->arg_capacity = outer.arg_capacity;
    p->arg_text = outer.arg_text;
}
