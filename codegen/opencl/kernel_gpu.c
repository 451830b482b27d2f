// SPDX-License-Identifier: Apache-2.0
// The form for GPUs: one lane per record with a grid-stride loop; broadcasts and interleaved tables in local memory where they fit.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_accum_pair.h"
#include "codegen/opencl/print_accum_run.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_cooperative.h"
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_tuples.h"
#include "codegen/opencl/print_vectors.h"
#include "codegen/opencl/print_words.h"
#include "codegen/opencl/private_memory.h"
#include "codegen/pass/accumulator_placement.h"
#include "codegen/pass/row_form.h"
#include "accum/fixed_point.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/pass/passes.h"

#include <inttypes.h>

enum {
    MANY_NODES = 600, MOST_NODES = 200, FEW_NODES = 120, FEW_ADDS = 3,
    WIDE_BYTES = 512, WIDE_GROUP = 128,     // of a record read; its loops keep a lane busy, and more work-groups share a small input
};

// --- What the form does its own way ---

static const char *read_of_lane(hdst__printer *p, const ir_expr *e)
{
    const char *vector = hdst__vector_text(p, e);
    return vector || e->op != IR_FIELD ? vector : hdst__word_text(p, e);
}

static const hdst__form gpu_form = {
    .read = read_of_lane,
    .run = {[IR_ACCUM] = hdst__print_accum_run, [IR_STORE] = hdst__print_vector_stores},
    .begin_record = hdst__print_words, .end_record = hdst__print_cooperative_keep,
    .begin_loop = hdst__begin_gpu_loop, .end_loop = hdst__end_gpu_loop,
    .carries = hdst__cooperative_carries, .home = hdst__cooperative_home,
};

// --- What goes to local memory ---

static const ir_tables *form_of(const hdst__printer *p) { return p->func->tables; }

static uint64_t copy_bytes(const hdst__printer *p) { return hdst__place_copy_bytes(p->func, p->tables, p->options->rows); }

static bool all_aligned(const ir_param *param)
{
    bool aligned = param->record->align >= 4 && param->record->size % 4 == 0;
    for (size_t l = 0; l < param->record->leaf_count; l++) aligned &= hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
    return aligned;
}

// `taken`: by the loops of the work-group.
static void plan_broadcasts(hdst__printer *p, uint64_t taken)
{
    const uint64_t tables = copy_bytes(p) * form_of(p)->copies + taken, most = p->options->facts.local_bytes;
    uint64_t room = tables < most ? (most - tables) / 2 : 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_BROADCAST_TABLE || !param->is_table || !all_aligned(param) || !p->options->rows || p->options->rows[i] > room) continue;
        const uint64_t bytes = p->options->rows[i] * param->record->size + HDST__LOCAL_ALIGN;
        if (bytes > room) continue;
        p->local_broadcast[i] = true;
        room -= bytes;
    }
}

// One buffer of local memory for all: broadcasts, then tables. A table has a row more than asked, as one without rows still takes what failed records add.
static bool add_local_arg(hdst__printer *p, uint32_t group)
{
    uint64_t *per_row = HDST__NEW_ARRAY(p->arena, uint64_t, p->func->param_count), constant = 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!p->local_broadcast[i]) continue;
        per_row[i] = p->func->params[i].record->size;
        constant += HDST__LOCAL_ALIGN;
    }
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const uint64_t bytes = (uint64_t)hdst__placement(p, &p->plan[a])->slots * form_of(p)->copies * 4;
        if (p->plan[a].accum->is_table) per_row[p->plan[a].accum->param] = bytes;
        constant += bytes;
    }
    if (form_of(p)->has_tile) {
        const uint32_t tile = form_of(p)->tile;
        per_row[tile] = (uint64_t)group * form_of(p)->tile_words * sizeof(int64_t);
        constant += per_row[tile] + HDST__LOCAL_ALIGN;
    }
    if (constant == 0) return false;
    hdst__kernel_add_arg(p, HDST__ARG_LOCAL, 0, "__local ulong2 *restrict local_memory");
    p->args[p->arg_count - 1].local_constant = constant;
    p->args[p->arg_count - 1].local_per_row = per_row;
    return true;
}

// --- Text ---

static void print_broadcast_copies(hdst__printer *p)
{
    const char *offset = "";
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!p->local_broadcast[i]) continue;
        const char *name = p->param_name[i];
        const uint64_t size = p->func->params[i].record->size;
        hdst__write_line(&p->out, "__local uchar *%sAt = (__local uchar *)(local_memory%s);", name, offset);
        hdst__write_line(&p->out, "for (ulong w = lane; w < %sRows * %" PRIu64 "; w += LANES)", name, size / 4);
        hdst__write_line(&p->out, "    ((__local uint *)%sAt)[w] = ((__global const uint *)%sData)[w];", name, name);
        offset = hdst__arena_printf(p->arena, "%s + (%sRows * %" PRIu64 " + 15) / 16", offset, name, size);
    }
    if (form_of(p)->has_tile) {
        hdst__write_line(&p->out, "const uint tile_rows = (uint)max(%sRows, 1UL) * %" PRIu32 ";", p->param_name[form_of(p)->tile], form_of(p)->tile_words);
        hdst__write_line(&p->out, "__local long *tile = (__local long *)(local_memory%s);", offset);
        offset = hdst__arena_printf(p->arena, "%s + (tile_rows * LANES + 1) / 2", offset);
    }
    if (copy_bytes(p)) hdst__write_line(&p->out, "__local uint *local_tables = (__local uint *)(local_memory%s);", offset);
}

static void print_setup(hdst__printer *p)
{
    if (p->output.way == HDST__OUTPUT_COUNTED) hdst__write_line(&p->out, "__local uint sums[LANES];\nif (places[0] > room) return;");
    hdst__print_cooperative_memory(p);
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    hdst__print_table_bases(p);
    hdst__print_lane_sums(p);
    hdst__print_pair_starts(p);
    hdst__print_group_reset(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void print_chunk(hdst__printer *p)
{
    if (p->tables->accum_count == 0) {
        hdst__write_line(&p->out, "for (; base < count; base += get_num_groups(0) * SPAN) {");
        return;
    }
    hdst__write_line(&p->out, "// The tables are added to the device's before a word could overflow.");
    hdst__write_line(&p->out, "ulong rounds = max(min(flush / SPAN, flush / %d / (SPAN / LANES)), 1UL);", (HDST__FLUSH_ADDS - 1) / hdst__lane_adds(p) + 1);
    hdst__write_line(&p->out, "for (; base < count && rounds; base += get_num_groups(0) * SPAN, rounds--) {");
}

static void print_record(hdst__printer *p, const ir_func *func, const char *head)
{
    hdst__printer_use(p, func);
    hdst__write_line(&p->out, "%s", head);
    p->out.indent++;
    hdst__print_function(p);
    p->out.indent--;
}

// Whole spans go through the form for several records; the last one of a slice, and the records of a lane of which
// one failed, one by one: which it was is told there.
static const char *records_text(hdst__printer *p, const ir_func *single, const ir_func *spans, const char *place)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    if (spans->lane_records <= 1) {
        hdst__write_line(&p->out, "const ulong i = base + lane;\n%s", place);
        print_record(p, spans, "if (i < count) {");
    } else {
        hdst__write_line(&p->out, "bool whole = count - base >= SPAN;");
        hdst__write_line(&p->out, "if (whole) {");
        print_record(p, spans, "    const ulong i = base + lane;");
        hdst__write_line(&p->out, "}");
        hdst__write_line(&p->out, "if (!whole) {");
        hdst__write_line(&p->out, "    const ulong end = min(count, base + SPAN);");
        p->out.indent++;
        p->plain_loops = true;
        print_record(p, single, "for (ulong i = base + lane; i < end; i += LANES) {");
        p->plain_loops = false;
        hdst__write_line(&p->out, "}");
        p->out.indent--;
    }
    hdst__write_line(&p->out, "}");
    hdst__print_cooperative_loops(p);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// --- Shape ---

typedef struct body_shape {
    size_t nodes, adds;
    bool shares;            // has a uniform loop, whose broadcasts several records may share
    bool varies;            // has a loop that records leave apart
} body_shape;

static bool look(ir_stmt *stmt, void *user)
{
    body_shape *body = user;
    const ir_expr *expr[] = {stmt->value, stmt->cond, stmt->index, stmt->index2};
    for (size_t i = 0; i < sizeof expr / sizeof *expr; i++)
        if (expr[i]) body->nodes += hdst__ir_expr_size(expr[i]);
    if (stmt->kind == IR_ACCUM) {
        body->nodes += 10;
        body->adds++;
    }
    if (stmt->kind == IR_FOR || stmt->kind == IR_LOOP) *(hdst__ir_loop_varies(stmt) ? &body->varies : &body->shares) = true;
    return true;
}

static bool see_element(ir_expr **slot, void *user)
{
    const ir_expr *e = *slot;
    if (e->op == IR_ELEM && e->a->op != IR_CONST && ((const ir_func *)user)->vars[e->var].varying) return false;
    return true;
}

static bool see_set_element(ir_stmt *s, void *user)
{
    return s->kind != IR_SET_ELEM || s->index->op == IR_CONST || !((const ir_func *)user)->vars[s->var].varying;
}

// Of a record's own, and not as single variables, which they are where all indices are constant.
static bool has_arrays(const ir_func *func)
{
    ir_block body = func->body;
    return !hdst__ir_visit_exprs(&body, see_element, (void *)func) || !hdst__ir_visit_stmts(&body, see_set_element, (void *)func);
}

// Several records keep enough loads under way, and share what a uniform loop reads; registers set the limit. Eight
// where records only add to tables and there is little else to do (least squares over 100M records: 1.16, 0.80, 0.68
// ms with 2, 4, 8 of them), four for maps and short loops, two where there is more (a step of logistic regression
// over 210M records: 5.2 and 3.8 ms with 1, 2 of them); one where a body is very long, or long with a loop, or keeps
// arrays, or where records go separate ways.
static uint32_t records_of(const ir_func *func, uint32_t wanted)
{
    body_shape body = {0};
    ir_block block = func->body;
    hdst__ir_visit_stmts(&block, look, &body);
    if (func->emits) return 1;          // its place follows from the lanes before it
    if (wanted) return wanted < HDST__LANE_RECORDS ? wanted : HDST__LANE_RECORDS;
    if (body.varies || has_arrays(func) || body.nodes > MANY_NODES) return 1;
    if (body.nodes > MOST_NODES) return body.shares ? 1 : 2;
    if (body.nodes > FEW_NODES) return body.shares || body.adds > FEW_ADDS ? 2 : 4;
    return body.shares || !body.adds ? 4 : 8;
}

static bool is_wide(const ir_func *func) { return hdst__bytes_read(func) >= WIDE_BYTES; }

static hdst__gpu_shape choose_shape(const ir_func *func, const hdst__kernel_options *options)
{
    hdst__gpu_shape shape = options->shape;
    if (!shape.group) shape.group = is_wide(func) ? WIDE_GROUP : HDST__GPU_GROUP;
    if (!shape.records && is_wide(func)) shape.records = 1;
    while (shape.group > 1 && options->facts.max_group && shape.group > options->facts.max_group) shape.group /= 2;
    shape.records = records_of(func, shape.records);
    return shape;
}

// --- Output of which the data says how much ---

static void print_count_setup(hdst__printer *p)
{
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static const char *print_count(hdst__printer *p, const ir_func *count, void (*print)(hdst__printer *p))
{
    if (!count) return "";
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    hdst__print_count_of(p, count, print);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// A lane's place: those of the lanes before it follow from what each emits.
static const char *place_text(hdst__printer *p, const char *count_record)
{
    if (p->output.way == HDST__OUTPUT_DENSE) return "";
    return hdst__arena_printf(p->arena, "ulong place = 0;\nif (i < count) {\n%s}\nplace = places[1 + base / LANES] + before_lane(sums, lane, (uint)place);\n",
                              count_record);
}

// The body record by record.
static ir_func *single_body(hdst__arena *arena, const ir_func *func)
{
    ir_func *single = hdst__ir_copy_func(arena, func);
    hdst__pass_lane_reductions(single);           // registers, and elements in the order in which they lie
    if (is_wide(func)) hdst__pass_row_unroll_and_jam(single);      // what is read of a wide record is read for several turns of the loop around
    hdst__pass_uniformity(single);
    if (func->emits) hdst__pass_emit_counts_place(single);
    return single;
}

// The body for whole spans, the same when a lane takes one record. NULL, with a diagnostic, on an internal error.
static ir_func *span_body(ir_func *single, uint32_t records, hdst__diags *diags)
{
    ir_func *spans = single->emits ? single : hdst__ir_copy_func(single->arena, single);
    if (!single->emits) hdst__pass_thread_coarsening(spans, records);
    const char *wrong = hdst__ir_verify(spans);
    if (!wrong) return spans;
    hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: records of a lane of '%s': %s", single->name, wrong);
    return NULL;
}

static hdst__place_limits limits_of(const hdst__kernel_options *options, const hdst__gpu_shape *shape)
{
    return (hdst__place_limits){.local_bytes = options->facts.local_bytes, .group = shape->group, .rows = options->rows,
        .fixed_point_bits = options->compact_bits, .may_part = options->may_part, .fast_sums = options->fast_sums,
        .no_blocks = options->no_blocks};
}

enum { OWN_FILLINGS = 13 };

const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *scalar, const hdst__kernel_options *options, hdst__diags *diags)
{
    hdst__gpu_shape shape = choose_shape(scalar, options);
    const hdst__place_limits limits = limits_of(options, &shape);
    ir_func *func = hdst__ir_copy_func(arena, scalar), *count;
    const hdst__tables *tables = hdst__pass_accumulator_placement_gpu(func, hdst__ir_accum_tables(arena, func, options->tiers), &limits);
    ir_func *single = single_body(arena, func), *loops = hdst__pass_accumulator_placement_loops(single, tables, &limits);
    if (loops) shape.records = 1;
    hdst__pass_accumulator_placement_fixed_point(single, loops, (hdst__tables *)tables, &limits, &shape.records);
    hdst__printer *p = hdst__printer_create(arena, func, options, tables, &gpu_form);
    p->vectors = hdst__vectors_create(arena);
    p->lane_sums = hdst__lane_sums_create(arena);
    if (loops) p->cooperative = hdst__cooperative_create(arena, loops);
    ir_func *spans = span_body(single, shape.records, diags);
    if (!spans) return NULL;
    const uint64_t bytes = hdst__private_bytes(p, spans);
    if (!hdst__private_fits(p, func, bytes, HDST__GPU_PRIVATE_LIMIT, diags)) return NULL;
    plan_broadcasts(p, hdst__place_loop_bytes(loops, tables, &limits));
    hdst__plan_words(p);
    hdst__emit_plan(p);
    hdst__kernel_add_common_args(p);
    const bool local = add_local_arg(p, shape.group);
    if (!hdst__emit_count_form(p, p->func, diags, &count)) return NULL;
    hdst__printer_use(p, single);       // its constants, for the file's scope
    const char *count_record = print_count(p, count, hdst__print_function);
    const bool merges = hdst__placed_anywhere(func, IR_PLACE_GROUP);
    const char *setup = hdst__print_section(p, print_setup), *file_scope = hdst__print_section(p, hdst__print_file_scope);
    const char *records = records_text(p, single, spans, place_text(p, count_record));
    hdst__filling fillings[OWN_FILLINGS + HDST__FINISH_FILLINGS + HDST__TUPLE_FILLINGS] = {
        {"TITLE", func->name},
        {"GROUP_SIZE", hdst__arena_printf(arena, "%" PRIu32, shape.group)},
        {"SPAN_SIZE", hdst__arena_printf(arena, "%" PRIu32, shape.group * shape.records)},
        {"FILE_SCOPE", file_scope},
        {"SETUP", setup},
        {"CHUNK_LOOP", hdst__print_section(p, print_chunk)},
        {"EMIT_SCOPE", count ? hdst__pieces_text(arena, &hdst__kernel_pieces, "emit_gpu.cl") : ""},
        {"COUNT_SETUP", print_count(p, count, print_count_setup)},
        {"COUNT_RECORD", count_record},
        {"RECORDS", records},
        {"FLUSH", hdst__print_section(p, hdst__print_group_flush)},
        {"MERGE_SETUP", merges ? hdst__print_section(p, hdst__print_merge_bases) : ""},
        {"MERGE", merges ? hdst__print_section(p, hdst__print_merge) : ""},
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = func, .local_size = shape.group, .shape = shape, .private_bytes = bytes, .merges = merges,
        .group_tables = func->tables->shared, .spare_words = func->tables->overflow_words,
        .tables_in_local = hdst__placed_anywhere(func, IR_PLACE_LOCAL)};
    kernel->why = hdst__arena_printf(arena, "form: %" PRIu32 " record%s per lane%s, %" PRIu32 " copies of tables\n%s%s", shape.records,
        shape.records > 1 ? "s" : "", local ? "" : ", no local memory", func->tables->copies, hdst__emit_why(p), hdst__tables_why(p));
    if (func->tables->has_tuples) kernel->why = hdst__arena_printf(arena, "%s%s\n", kernel->why, hdst__tuples_why(p));
    const size_t finish = p->tables->accum_count ? HDST__FINISH_FILLINGS : 0, tuples = func->tables->has_tuples ? HDST__TUPLE_FILLINGS : 0;
    if (finish) hdst__finish_texts(p, kernel, fillings + OWN_FILLINGS);
    if (tuples) hdst__tuples_texts(p, single, spans, shape.records, setup, fillings + OWN_FILLINGS + finish);
    hdst__kernel_finish(p, kernel, "kernel_gpu.cl", fillings, OWN_FILLINGS + finish + tuples);
    return kernel;
}
