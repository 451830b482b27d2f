// SPDX-License-Identifier: Apache-2.0
// GPU form: kernels for an accumulator to which additions go by way of (key, value) tuples (templates/partition_*.cl;
// tuple_placement.c says when). What is added becomes a row and values, which are put in order of radix partitions of
// the table; a partition's table has room in local memory.
#include "codegen/opencl/print_tuples.h"
#include "codegen/opencl/print_accum.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_constant.h"
#include "codegen/opencl/print_expr.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/pass/accumulator_placement.h"
#include "base/costs_gpu.h"

#include <inttypes.h>
#include <string.h>

static const ir_tuples *tuples_of(const hdst__printer *p) { return &p->func->tables->tuples; }

static bool has_tuples(const hdst__printer *p) { return p->func->tables && p->func->tables->has_tuples; }

static const ir_leaf_placement *leaf_of(const hdst__printer *p, uint32_t leaf) { return &hdst__placement(p, &p->plan[0])->leaf[leaf]; }

// --- The body's additions ---

static const char *const component = "xyzw";

static void print_values(hdst__printer *p, const ir_stmt *s, const char *at)
{
    const uint32_t word = leaf_of(p, s->leaf)->value;
    const hdst__cell *cell = &p->plan[0].accum->cell[s->leaf];
    if (cell->op != HDST__WORD_ADD) {
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], hdst__cell_word_text(p, cell, s->value));
    } else if (cell->digits && hdst__sums_floats(p, s->param, s->leaf)) {
        hdst__write_line(&p->out, "%s.%c = as_uint(%s);", at, component[1 + word], hdst__addend_text(p, s->param, s->leaf, s->value));
    } else if (cell->digits || hdst__scalar_size(hdst__tuple_addend(s)->kind) > 4) {
        const char *bits = hdst__arena_printf(p->arena, cell->digits ? "as_ulong(%s)" : "(ulong)(%s)", hdst__expr_text(p, s->value, HDST__WHOLE));
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], bits);
        hdst__write_line(&p->out, "%s.%c = (uint)(%s >> 32);", at, component[2 + word], bits);
    } else {
        hdst__write_line(&p->out, "%s.%c = (uint)(%s);", at, component[1 + word], hdst__expr_text(p, hdst__tuple_addend(s), HDST__WHOLE));
    }
}

// IR_ACCUM in the kernels here, in place of an addition: a partition's counter, a tuple, nothing.
static size_t print_counted(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_stmt *s = stmts[0];
    const char *row = hdst__index_text(p, s->index, HDST__WHOLE);
    (void)count;
    if (s->leaf == 0) hdst__write_line(&p->out, "atomic_inc((volatile __local uint *)(rows_of + PARTITION_HIGH((uint)(%s))));", row);
    return 1;
}

static size_t print_tuple(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    const ir_stmt *s = stmts[0];
    const char *row = hdst__index_text(p, s->index, HDST__WHOLE), *at = hdst__arena_printf(p->arena, "tuple_of[at + %" PRIu32 "]", s->record);
    (void)count;
    if (s->leaf == 0) hdst__write_line(&p->out, "%s.x = (uint)(%s);", at, row);
    if (leaf_of(p, s->leaf)->values) print_values(p, s, at);
    return 1;
}

static size_t print_nothing(hdst__printer *p, ir_stmt *const *stmts, size_t count)
{
    (void)count;
    (void)hdst__index_text(p, stmts[0]->index, HDST__WHOLE);       // what it needs of the device is asked for
    return 1;
}

// --- Sections ---

static void print_body(hdst__printer *p, const ir_func *func, const char *head, hdst__print_run addition)
{
    const hdst__form *outer = p->form;
    hdst__form form = *outer;
    form.run[IR_ACCUM] = addition;
    p->form = &form;
    hdst__print_function_in(p, func, head);
    p->form = outer;
}

// A lane of which a record failed goes through its records one by one: which it was is told there.
static const char *count_text(hdst__printer *p, const ir_func *single, const ir_func *spans)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    const bool many = spans->lane_records > 1;
    if (many && p->has_checks) hdst__write_line(&p->out, "bool whole = true;");
    print_body(p, spans, "{\n    const ulong i = base + lane;", print_counted);
    if (many && p->has_checks) {
        p->plain_loops = true;
        print_body(p, single, "if (!whole) for (ulong i = base + lane; i < base + SPAN; i += LANES) {", print_nothing);
        p->plain_loops = false;
    }
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

static const char *tuples_text(hdst__printer *p, const ir_func *spans, uint32_t records)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    if (spans->lane_records > 1 && p->has_checks) hdst__write_line(&p->out, "bool whole;");
    hdst__write_line(&p->out, "for (uint r = 0; r < TILE_ROWS; r++) tuple_of[r].x = NOBODY;");
    hdst__write_line(&p->out, "#pragma unroll");
    const char *head = hdst__arena_printf(p->arena, "for (uint at = 0; at < TILE_ROWS; at += %" PRIu32 ") {", records);
    print_body(p, spans, hdst__arena_printf(p->arena, "%s\n    const ulong i = tile + at * LANES + lane;", head), print_tuple);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

static void print_macros(hdst__printer *p)
{
    const ir_tuples *t = tuples_of(p);
    hdst__write_line(&p->out, "#define TILE_ROWS %" PRIu32, t->tile_rows);
    hdst__write_line(&p->out, "#define KEY_BITS %" PRIu32, t->key_bits);
    hdst__write_line(&p->out, "#define LOW_BITS %" PRIu32, t->low_bits);
    hdst__write_line(&p->out, "#define PARTITIONS_HIGH %" PRIu32, t->partitions_high);
    hdst__write_line(&p->out, "#define PARTITIONS_LOW %" PRIu32, 1u << t->low_bits);
    hdst__write_line(&p->out, "#define SLOTS %" PRIu32, t->sums);
    hdst__write_line(&p->out, "#define LEAST_HEAVY (%d * TILE)", HDST__GPU_HEAVY_TILES);
    hdst__write_line(&p->out, "typedef %s tuple_t;", t->values <= 1 ? "uint2" : "uint4");
}

static void print_add_float(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const uint32_t word = leaf_of(p, l)->value;
    const hdst__cell *cell = &plan->accum->cell[l];
    const bool floats = hdst__sums_floats(p, plan->accum->param, l), is_float = cell->kind == HDST__F32;
    const char *scale = hdst__scale_name(p, plan->accum->param, l), *type = floats ? "float" : "double";
    const char *place = hdst__arena_printf(p->arena, "(ulong)(%sTotal - device_table) + (ulong)tuple.x * %" PRIu64 " + %" PRIu64, plan->name,
        plan->accum->device_row_words, cell->device_first);
    const char *limit = hdst__arena_printf(p->arena, "0x1p%" PRIu32 "%s", p->options->fixed_point_bits, floats ? "f" : "");
    if (!is_float) p->uses_double = true;
    if (floats) hdst__write_line(&p->out, "const float addend = as_float(tuple.%c);", component[1 + word]);
    else hdst__write_line(&p->out, "const double addend = as_double((ulong)tuple.%c << 32 | tuple.%c);", component[2 + word], component[1 + word]);
    hdst__write_line(&p->out, "bool fits;");
    hdst__write_line(&p->out, "long word = likely_below_%s(addend, %sUp, %s%s, %s, &fits);", type, scale, scale, floats ? "Least" : "Down", limit);
    if (!floats) hdst__write_line(&p->out, "if (!fits) exception_word_double(overflow, %s, addend);", place);
    else hdst__write_line(&p->out, "if (!fits) word = exception_word_float%s(overflow, %s, addend, %sUp, %sDown, %s);", is_float ? "" : "_as_double",
        place, scale, scale, limit);
}

static void print_add_integer(hdst__printer *p, uint32_t l)
{
    const uint32_t word = leaf_of(p, l)->value;
    const ir_stmt *s = hdst__tuple_addition(p->func, l);
    const hdst__kind kind = hdst__tuple_addend(s)->kind;
    const char *value;
    if (s->value->op == IR_CONST) value = hdst__constant_text(p->arena, s->value->kind, s->value->bits);
    else if (hdst__scalar_size(kind) > 4)
        value = hdst__arena_printf(p->arena, "((ulong)tuple.%c << 32 | tuple.%c)", component[2 + word], component[1 + word]);
    else value = hdst__arena_printf(p->arena, "%stuple.%c", hdst__kind_is_signed(kind) ? "(int)" : "", component[1 + word]);
    hdst__write_line(&p->out, "const long word = (long)%s;", value);
}

static const char *const op_name[] = {"add", "max", "or", "xor"};

static void print_add(hdst__printer *p)
{
    const hdst__accum_plan *plan = &p->plan[0];
    for (uint32_t l = 0; l < plan->accum->leaf_count; l++) {
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        const hdst__cell *cell = &plan->accum->cell[l];
        if (cell->digits) print_add_float(p, plan, l);
        else if (cell->op == HDST__WORD_ADD) print_add_integer(p, l);
        const char *sum = hdst__arena_printf(p->arena, "table + %" PRIu32 " * KEYS + key", leaf_of(p, l)->sum);
        const char value = component[1 + leaf_of(p, l)->value];
        if (cell->op == HDST__WORD_ADD) hdst__write_line(&p->out, "partition_add(%s, word);", sum);
        else hdst__write_line(&p->out, "atomic_%s((volatile __local uint *)(%s), tuple.%c);", op_name[cell->op], sum, value);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

// A leaf's word, `word`, out of the table in local memory; *to is where it goes.
static void print_table_word(hdst__printer *p, const hdst__accum_plan *plan, uint32_t l)
{
    const uint32_t sum = leaf_of(p, l)->sum;
    const hdst__cell *cell = &plan->accum->cell[l];
    const char *word = hdst__arena_printf(p->arena, "table[%" PRIu32 " * KEYS + key]", sum);
    if (cell->op == HDST__WORD_ADD) word = hdst__arena_printf(p->arena, "(long)((ulong)table[%" PRIu32 " * KEYS + key] << 32 | %s)", sum + 1, word);
    hdst__write_line(&p->out, "const long word = %s;", word);
    hdst__write_line(&p->out, "__global long *to = %sTotal + row * %" PRIu64 " + %" PRIu64 ";", plan->name, plan->accum->device_row_words,
        cell->device_first);
}

// `shared`: the partition has heavy hitters, and several work-groups add to its words.
static void print_write(hdst__printer *p, bool shared)
{
    static const char *const combined[] = {"*to + word", "max(*to, word)", "*to | word", "*to ^ word"};
    const hdst__accum_plan *plan = &p->plan[0];
    for (uint32_t l = 0; l < plan->accum->leaf_count; l++) {
        const hdst__word_op op = plan->accum->cell[l].op;
        hdst__write_line(&p->out, "{");
        p->out.indent++;
        print_table_word(p, plan, l);
        if (shared) hdst__write_line(&p->out, "device_%s(to, word);", op_name[op]);
        else if (p->options->slices_anywhere) hdst__write_line(&p->out, "*to = %s;", combined[op]);
        else hdst__write_line(&p->out, "*to = first ? %s : word;       // the table's first words, if nothing came before", combined[op]);
        p->out.indent--;
        hdst__write_line(&p->out, "}");
    }
}

static void print_write_one(hdst__printer *p) { print_write(p, false); }
static void print_write_shared(hdst__printer *p) { print_write(p, true); }

void hdst__tuples_texts(hdst__printer *p, const ir_func *single, const ir_func *spans, uint32_t records, const char *setup,
    hdst__filling fillings[HDST__TUPLE_FILLINGS])
{
    const hdst__filling all[HDST__TUPLE_FILLINGS] = {
        {"PARTITION_MACROS", hdst__print_section(p, print_macros)},
        {"PARTITION_SETUP", setup},
        {"PARTITION_COUNT", count_text(p, single, spans)},
        {"PARTITION_TUPLES", tuples_text(p, spans, records)},
        {"PARTITION_ROWS", hdst__arena_printf(p->arena, "%sStored", p->plan[0].name)},
        {"PARTITION_ADD", hdst__print_section(p, print_add)},
        {"PARTITION_WRITE", hdst__print_section(p, print_write_one)},
        {"PARTITION_WRITE_HEAVY", hdst__print_section(p, print_write_shared)},
        {"PARTITION_TOTAL_SETUP", hdst__print_section(p, hdst__print_table_bases)},
    };
    memcpy(fillings, all, sizeof all);
}

static const char *const kernels_high[] = {"count_high", "sum_high", "scan_high", "chunks", "place_high"};
static const char *const kernels_low[] = {"count_low", "sum_low", "scan_low", "place_low"};
static const char *const kernels_end[] = {"total", "heavy"};

static void add_names(hdst__printer *p, hdst__kernel *kernel, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) kernel->tuple_kernel_name[kernel->tuple_kernel_count++] = hdst__arena_printf(p->arena, "%s_%s", kernel->name, names[i]);
}

void hdst__tuples_finish(hdst__printer *p, hdst__kernel *kernel)
{
    if (!has_tuples(p)) return;
    const ir_tuples *t = tuples_of(p);
    add_names(p, kernel, kernels_high, sizeof kernels_high / sizeof *kernels_high);
    if (t->low_bits) add_names(p, kernel, kernels_low, sizeof kernels_low / sizeof *kernels_low);
    add_names(p, kernel, kernels_end, sizeof kernels_end / sizeof *kernels_end);
    kernel->tuple_tile = t->tile_rows * kernel->local_size;
    kernel->tuple_bytes = hdst__tuple_bytes(t) * (t->low_bits ? 2 : 1);
    kernel->partitions_high = t->partitions_high;
    kernel->partitions_low = 1u << t->low_bits;
}

void hdst__tuples_write(const hdst__printer *p, hdst__writer *out, const hdst__filling *fillings, size_t count)
{
    if (!has_tuples(p)) return;
    hdst__write(out, "\n%s", hdst__pieces_text(p->arena, &hdst__base_pieces, "group_sums.cl"));
    hdst__frame_write(out, &hdst__kernel_pieces, "partition_gpu.cl", fillings, count);
    if (tuples_of(p)->low_bits) hdst__frame_write(out, &hdst__kernel_pieces, "partition_low.cl", fillings, count);
    hdst__frame_write(out, &hdst__kernel_pieces, "partition_total.cl", fillings, count);
}

const char *hdst__tuples_why(const hdst__printer *p)
{
    const ir_tuples *t = tuples_of(p);
    const char *then = t->low_bits ? hdst__arena_printf(p->arena, ", then of %u of each,", 1u << t->low_bits) : "";
    return hdst__arena_printf(p->arena, "tuples are put in order of %" PRIu32 " radix partitions%s of %u rows, each of which has a table in local memory",
        t->partitions_high, then, 1u << t->key_bits);
}
