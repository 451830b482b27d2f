// SPDX-License-Identifier: Apache-2.0
// The form for GPUs: one lane per record with a grid-stride loop; broadcasts and interleaved tables in local memory where they fit.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/print_accum_pair.h"
#include "codegen/opencl/print_accum_run.h"
#include "codegen/opencl/print_args.h"
#include "codegen/opencl/print_cell.h"
#include "codegen/opencl/print_combine_gpu.h"
#include "codegen/opencl/print_cooperative.h"
#include "codegen/opencl/print_finish.h"
#include "codegen/opencl/print_group_keys.h"
#include "codegen/opencl/print_flat_loop.h"
#include "codegen/opencl/print_input.h"
#include "codegen/opencl/print_output.h"
#include "codegen/opencl/print_owned_sums.h"
#include "codegen/opencl/print_products.h"
#include "codegen/opencl/print_stmt.h"
#include "codegen/opencl/print_text_copies.h"
#include "codegen/opencl/print_tables.h"
#include "codegen/opencl/print_tiles.h"
#include "codegen/opencl/print_search_pieces.h"
#include "codegen/opencl/print_token_pieces.h"
#include "codegen/opencl/print_tuples.h"
#include "codegen/opencl/print_vectors.h"
#include "codegen/opencl/print_words.h"
#include "codegen/opencl/private_memory.h"
#include "codegen/pass/gpu_form.h"
#include "accum/fixed_point.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/opencl/kernel_pieces.h"
#include "base/costs_gpu.h"

#include <inttypes.h>

// --- What the form does its own way ---

static const char *read_of_lane(hdst__printer *p, const ir_expr *e)
{
    const char *vector = hdst__vector_text(p, e);
    return vector || e->op != IR_FIELD ? vector : hdst__word_text(p, e);
}

static void begin_record(hdst__printer *p)
{
    hdst__print_words(p);
    hdst__flat_begin_record(p);
}

static void end_record(hdst__printer *p)
{
    hdst__print_cooperative_keep(p);
    hdst__print_owned_keep(p);
    hdst__flat_end_record(p);
}

static bool carries(const hdst__printer *p, uint32_t var)
{
    return hdst__cooperative_carries(p, var) || hdst__owned_carries(p, var) || hdst__flat_carries(p, var);
}

static const hdst__form gpu_form = {
    .read = read_of_lane,
    .run = {[IR_ACCUM] = hdst__print_accum_run, [IR_STORE] = hdst__print_vector_stores},
    .begin_record = begin_record, .end_record = end_record,
    .begin_loop = hdst__begin_gpu_loop, .end_loop = hdst__end_gpu_loop,
    .carries = carries, .home = hdst__cooperative_home, .twofold = hdst__cooperative_twofold,
    .plain = hdst__cooperative_plain,
};

// --- What goes to local memory ---

static const ir_tables *form_of(const hdst__printer *p) { return p->func->tables; }

static uint64_t copy_bytes(const hdst__printer *p) { return hdst__place_copy_bytes(p->func, p->tables, p->options->rows); }

// One buffer of local memory for all: broadcasts, then tables. A table has a row more than asked, as one without rows still takes what failed records add.
static bool add_local_arg(hdst__printer *p, uint32_t group)
{
    uint64_t *per_row = HDST__NEW_ARRAY(p->arena, uint64_t, p->func->param_count), constant = 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!hdst__broadcast_is_local(&p->func->params[i])) continue;
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
        if (!hdst__broadcast_is_local(&p->func->params[i])) continue;
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

static void print_own_scope(hdst__printer *p)
{
    hdst__print_file_scope(p);
    hdst__print_run_ends(p);
    hdst__print_owned_places(p);
}

static void print_setup(hdst__printer *p)
{
    if (p->output.way == IR_OUTPUT_COUNTED)
        hdst__write_line(&p->out, "__local uint sums[LANES];\n%sif (places[0] > room) return;", hdst__token_pieces_memory(p));
    hdst__write(&p->out, "%s", hdst__search_pieces_memory(p, p->output.way == IR_OUTPUT_COUNTED));
    hdst__print_flat_memory(p);
    hdst__print_cooperative_memory(p);
    hdst__print_owned_memory(p);
    hdst__print_tile_memory(p);
    hdst__print_key_memory(p);
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    hdst__print_table_bases(p);
    hdst__print_lane_sums(p);
    hdst__print_pair_starts(p);
    hdst__print_owned_starts(p);
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
    const uint32_t adds = p->func->tables->lane_adds ? p->func->tables->lane_adds : HDST__FLUSH_ADDS >> HDST__LANE_BITS;
    hdst__write_line(&p->out, "// The tables are added to the device's before a word could overflow.");
    const char *records = p->func->shape->span ? "" : " / (SPAN / LANES)";     // of a lane
    hdst__write_line(&p->out, "ulong rounds = max(min(flush / SPAN, flush / %d%s), 1UL);", (HDST__FLUSH_ADDS - 1) / adds + 1, records);
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

// A lane's place: those of the lanes before it follow from what each emits.
static const char *place_text(hdst__printer *p, const char *count_record)
{
    if (p->output.way == IR_OUTPUT_DENSE) return "";
    return hdst__arena_printf(p->arena, "ulong place = 0;\nif (i < count) {\n%s}\nplace = places[1 + base / LANES] + before_lane(sums, lane, (uint)place);\n",
                              count_record);
}

static const char *pieces_text(hdst__printer *p, const ir_func *single, const char *count_record)
{
    const hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    hdst__printer_use(p, single);
    hdst__print_function(p);
    const char *record = hdst__writer_text(&p->out);
    p->out = outer;
    return hdst__token_pieces_records(p, count_record, record);
}

// Whole spans go through the form for several records; the last one of a slice, and the records of a lane of which
// one failed, one by one: which it was is told there.
static const char *records_text(hdst__printer *p, const ir_func *single, const ir_func *spans, const char *count_record)
{
    if (p->flat) return hdst__print_section(p, hdst__print_flat_records);
    if (p->func->token_pieces) return pieces_text(p, single, count_record);
    const char *place = place_text(p, count_record);
    const hdst__writer outer = p->out;
    const bool near = hdst__lanes_take_neighbours(spans);
    p->out = (hdst__writer){.arena = p->arena};
    if (p->tiles) {
        hdst__write_line(&p->out, "const ulong i = base + lane;\nconst LOOKED_AT bool active = lane < SPAN && i < count;");
        print_record(p, spans, "{");
    } else if (spans->lane_records <= 1) {
        hdst__write_line(&p->out, "%sconst ulong i = base + lane;\n%s", hdst__search_pieces_tile(p), place);
        print_record(p, spans, "if (i < count) {");
    } else {
        hdst__write_line(&p->out, "bool whole = count - base >= SPAN;");
        hdst__write_line(&p->out, "if (whole) {");
        print_record(p, spans, near ? "    const ulong i = base + lane * (SPAN / LANES);" : "    const ulong i = base + lane;");
        hdst__write_line(&p->out, "}");
        hdst__write_line(&p->out, "if (!whole) {");
        hdst__write_line(&p->out, "    const ulong end = min(count, base + SPAN);");
        p->out.indent++;
        p->plain_loops = true;
        if (near) hdst__write_line(&p->out, "const ulong own = base + lane * (SPAN / LANES), own_end = min(end, own + SPAN / LANES);");
        print_record(p, single, near ? "for (ulong i = own; i < own_end; i++) {" : "for (ulong i = base + lane; i < end; i += LANES) {");
        p->plain_loops = false;
        hdst__write_line(&p->out, "}");
        p->out.indent--;
    }
    hdst__write_line(&p->out, "}");
    hdst__print_cooperative_loops(p);
    hdst__print_owned_sums(p);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// --- Output of which the data says how much ---

static void print_count_setup(hdst__printer *p)
{
    hdst__print_flat_memory(p);
    if (p->func->token_pieces) hdst__write(&p->out, "__local uint sums[LANES];\n%s", hdst__token_pieces_memory(p));
    hdst__write(&p->out, "%s", hdst__search_pieces_memory(p, false));
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

// What a work-group comes to, however its lanes share that.
static const char *counts_text(hdst__printer *p, const char *count_record)
{
    if (p->flat) return print_count(p, p->flat->count_head, hdst__print_flat_counts);
    if (p->func->token_pieces) return hdst__token_pieces_count(p, count_record);
    return hdst__arena_printf(p->arena, "%sconst ulong i = base + lane;\nif (i < count) {\n%s}\n", hdst__search_pieces_tile(p), count_record);
}

static const char *emit_scope(const hdst__printer *p)
{
    const char *all = hdst__pieces_text(p->arena, &hdst__kernel_pieces, "emit_gpu.cl");
    const char *own = p->flat ? hdst__pieces_text(p->arena, &hdst__kernel_pieces, "flat_gpu.cl") : hdst__token_pieces_scope(p);
    return hdst__arena_printf(p->arena, "%s%s%s", all, own, hdst__search_pieces_scope(p));
}

static void print_own_record(hdst__printer *p)
{
    p->own_record = true;
    hdst__print_function(p);
    p->own_record = false;
}

static void print_product_setup(hdst__printer *p)
{
    hdst__print_product_memory(p);
    hdst__print_factor_memory(p);
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    hdst__print_product_bases(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static hdst__gpu_limits limits_of(const hdst__kernel_options *options)
{
    const hdst__place_limits place = {.local_bytes = options->facts.local_bytes, .rows = options->rows, .fixed_point_bits = options->fixed_point_bits,
        .product = {options->facts.has_double, options->facts.local_bytes / 4 * 3}, .may_take_tuples = options->may_take_tuples,
        .fast_sums = options->fast_sums, .no_blocks = options->no_blocks};
    return (hdst__gpu_limits){.place = place, .asked = options->shape, .most_group = options->facts.max_group,
        .no_unroll_hints = options->facts.portable, .searches = !options->combining};
}

enum { OWN_FILLINGS = 20 };

const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *scalar, const hdst__kernel_options *options, hdst__diags *diags)
{
    const hdst__gpu_limits limits = limits_of(options);
    ir_func *func = hdst__ir_copy_func(arena, scalar);
    hdst__gpu_forms forms;
    const char *wrong = hdst__passes_gpu(func, hdst__ir_accum_tables(arena, func, options->classes), &limits, &forms);
    if (wrong) {
        hdst__diag_error(diags, (hdst__span){0, 0, 0}, NULL, "internal error: form for GPUs of '%s': %s", func->name, wrong);
        return NULL;
    }
    ir_func *single = forms.single, *spans = forms.spans, *count = forms.count;
    const ir_shape shape = *func->shape;
    hdst__printer *p = hdst__printer_create(arena, func, options, forms.tables, &gpu_form);
    hdst__text_copies_begin(p, scalar);
    p->vectors = hdst__vectors_create(arena);
    if (forms.loops) p->cooperative = hdst__cooperative_create(arena, forms.loops);
    if (forms.owned) p->owned = hdst__owned_sums_create(p, forms.owned);
    p->flat = forms.flat;
    if (shape.span) p->tiles = hdst__tiles_create(arena, single);
    const uint64_t bytes = hdst__private_bytes(p, spans);
    if (!hdst__private_fits(p, func, bytes, HDST__GPU_PRIVATE_BYTES, diags)) return NULL;
    hdst__plan_words(p);
    hdst__kernel_add_common_args(p);
    const bool local = add_local_arg(p, shape.group);
    hdst__printer_use(p, single);       // its constants, for the file's scope
    const char *count_record = print_count(p, count, hdst__print_function);
    const bool merges = hdst__placed_anywhere(func, IR_PLACE_GROUP), products = hdst__has_products(p);
    const char *setup = hdst__print_section(p, print_setup), *file_scope = hdst__print_section(p, print_own_scope);
    const char *records = records_text(p, single, spans, count_record);
    hdst__filling fillings[OWN_FILLINGS + HDST__FINISH_FILLINGS + HDST__TUPLE_FILLINGS] = {
        {"TITLE", func->name},
        {"GROUP_SIZE", hdst__arena_printf(arena, "%" PRIu32, shape.group)},
        {"SPAN_SIZE", hdst__arena_printf(arena, "%" PRIu32, shape.span ? shape.span : shape.group * shape.records)},
        {"FILE_SCOPE", file_scope},
        {"SETUP", setup},
        {"CHUNK_LOOP", hdst__print_section(p, print_chunk)},
        {"EMIT_SCOPE", count || func->search ? emit_scope(p) : ""},
        {"COUNT_SETUP", print_count(p, count, print_count_setup)},
        {"COUNT_RECORD", count ? counts_text(p, count_record) : ""},
        {"PIECE_LENGTH", hdst__token_pieces_length(p)},
        {"COMBINE_RECORD", hdst__combines_on_gpu(p) ? print_count(p, single, print_own_record) : ""},
        {"RECORDS", records},
        {"FLUSH", hdst__print_section(p, hdst__print_group_flush)},
        {"STRETCHES", products ? hdst__product_stretches_text(p) : ""},
        {"ITEMS", products ? hdst__arena_printf(arena, "%" PRIu32, hdst__product_items(p)) : ""},
        {"PRODUCT_SETUP", products ? hdst__print_section(p, print_product_setup) : ""},
        {"STRETCH_SETUP", products ? hdst__print_section(p, hdst__print_stretch_bases) : ""},
        {"PRODUCTS", products ? hdst__print_section(p, hdst__print_products) : ""},
        {"MERGE_SETUP", merges ? hdst__print_section(p, hdst__print_merge_bases) : ""},
        {"MERGE", merges ? hdst__print_section(p, hdst__print_merge) : ""},
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = func, .local_size = shape.group, .shape = shape, .private_bytes = bytes, .merges = merges,
        .group_tables = func->tables->shared, .overflow_cell_words = func->tables->overflow_words,
        .tables_in_local = hdst__placed_anywhere(func, IR_PLACE_LOCAL)};
    kernel->why = hdst__arena_printf(arena, "form: %" PRIu32 " record%s per lane%s, %" PRIu32 " copies of tables\n%s%s%s%s", shape.records,
        shape.records > 1 ? "s" : "", local ? "" : ", no local memory", func->tables->copies, hdst__tiles_why(p), hdst__emit_why(p),
        p->flat ? hdst__flat_why(p) : func->search ? hdst__search_pieces_why(p) : hdst__token_pieces_why(p), hdst__tables_why(p));
    if (products) {
        kernel->product_items = hdst__product_items(p);
        kernel->factor_bytes = hdst__cooperative_bytes(p);
        kernel->why = hdst__arena_printf(arena, "%s%s", kernel->why, hdst__products_why(p));
    }
    if (func->tables->has_tuples) kernel->why = hdst__arena_printf(arena, "%s%s\n", kernel->why, hdst__tuples_why(p));
    const size_t finish = p->tables->accum_count ? HDST__FINISH_FILLINGS : 0, tuples = func->tables->has_tuples ? HDST__TUPLE_FILLINGS : 0;
    if (finish) hdst__finish_texts(p, kernel, fillings + OWN_FILLINGS);
    if (tuples) hdst__tuples_texts(p, single, spans, shape.records, setup, fillings + OWN_FILLINGS + finish);
    hdst__kernel_finish(p, kernel, "kernel_gpu.cl", fillings, OWN_FILLINGS + finish + tuples);
    return kernel;
}
