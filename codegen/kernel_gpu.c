// SPDX-License-Identifier: Apache-2.0
// The form for GPUs: one lane per record with a grid-stride loop; broadcasts and interleaved tables in local memory where they fit.
#include "codegen/kernel_parts.h"
#include "codegen/templates.h"

#include <inttypes.h>

enum { PRIVATE_WORDS = 8, MAX_COPIES = 16, LOCAL_ALIGN = 16 };

// --- Slots: 32-bit words of local memory ---

typedef struct small_search {
    uint32_t param, leaf;
    bool all_small;
} small_search;

// 2^23 additions of less than 2^8 fit 32 bits, so a count needs no carry.
static bool find_large(ir_stmt *stmt, void *user)
{
    small_search *seek = user;
    if (stmt->kind == IR_ACCUM && stmt->param == seek->param && stmt->leaf == seek->leaf)
        seek->all_small &= stmt->value->op == IR_CONST && hdst__kind_is_integer(stmt->value->kind) && stmt->value->bits < 256;
    return seek->all_small;
}

uint32_t hdst__slots_per_word(const hdst__printer *p, const hdst__accum_plan *plan, uint32_t leaf)
{
    const hdst__cell *cell = &plan->accum->cell[leaf];
    const bool narrow = hdst__scalar_size(cell->kind) <= 4;
    if (cell->tier != HDST__TIER_PLAIN) return 2;
    if (cell->op == HDST__WORD_MAX) return narrow ? 1 : 0;
    if (cell->op != HDST__WORD_ADD) return narrow ? 1 : 2;
    small_search seek = {plan->accum->param, leaf, true};
    ir_block body = p->func->body;
    hdst__ir_visit_stmts(&body, find_large, &seek);
    return seek.all_small ? 1 : 2;
}

static void plan_slots(hdst__printer *p, hdst__accum_plan *plan)
{
    const size_t leaves = p->func->params[plan->accum->param].record->leaf_count;
    plan->slot = HDST__NEW_ARRAY(p->arena, uint32_t, leaves);
    plan->slots = 0;
    for (uint32_t l = 0; l < leaves; l++) {
        plan->slot[l] = plan->slots;
        plan->slots += (uint32_t)(plan->accum->cell[l].elements * plan->accum->cell[l].strip_words) * hdst__slots_per_word(p, plan, l);
    }
}

// --- What goes to local memory ---

static uint32_t group_of(const hdst__target_facts *facts)
{
    uint32_t group = HDST__GPU_GROUP;
    while (group > 1 && facts->max_group && group > facts->max_group) group /= 2;
    return group;
}

static uint64_t rows_of(const hdst__printer *p, const hdst__accum_plan *plan)
{
    const uint64_t rows = plan->accum->is_table && p->options->rows ? p->options->rows[plan->accum->param] : 1;
    return rows ? rows : 1;
}

// Bytes of one copy of all tables that are in local memory or merge through it.
static uint64_t copy_bytes(const hdst__printer *p)
{
    uint64_t slots = 0;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const uint64_t rows = rows_of(p, &p->plan[a]) + p->plan[a].accum->is_table;     // and one, see add_local_arg
        if (p->plan[a].slots == 0) continue;
        if (rows > UINT32_MAX) return UINT64_MAX;
        slots += rows * p->plan[a].slots;
    }
    return slots * 4;
}

static void drop_tables(hdst__printer *p)
{
    for (size_t a = 0; a < p->tables->accum_count; a++)
        if (p->plan[a].place == HDST__PLACE_LOCAL) {
            p->plan[a].place = HDST__PLACE_DEVICE;
            p->plan[a].slots = 0;
        }
}

static void plan_tables(hdst__printer *p)
{
    const uint64_t most = p->options->facts.local_bytes;
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        p->plan[a].place = hdst__accum_is_private(p->func, p->plan[a].accum, PRIVATE_WORDS) ? HDST__PLACE_PRIVATE : HDST__PLACE_LOCAL;
        plan_slots(p, &p->plan[a]);
    }
    if (copy_bytes(p) > most * 3 / 4) drop_tables(p);
    // Half of local memory is enough for the copies: more of it would leave fewer work-groups on a processor.
    p->copies = MAX_COPIES;
    while (p->copies > 1 && copy_bytes(p) * p->copies > most / 2) p->copies /= 2;
}

static bool all_aligned(const ir_param *param)
{
    bool aligned = param->record->align >= 4 && param->record->size % 4 == 0;
    for (size_t l = 0; l < param->record->leaf_count; l++) aligned &= hdst__leaf_is_aligned(param->record, &param->record->leaves[l]);
    return aligned;
}

static void plan_broadcasts(hdst__printer *p)
{
    const uint64_t tables = copy_bytes(p) * p->copies, most = p->options->facts.local_bytes;
    uint64_t room = tables < most ? (most - tables) / 2 : 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind != IR_BROADCAST_TABLE || !param->is_table || !all_aligned(param) || !p->options->rows || p->options->rows[i] > room) continue;
        const uint64_t bytes = p->options->rows[i] * param->record->size + LOCAL_ALIGN;
        if (bytes > room) continue;
        p->local_broadcast[i] = true;
        room -= bytes;
    }
}

// One buffer of local memory for all: broadcasts, then tables. A table has a row more than asked, as one without rows still takes what failed records add.
static bool add_local_arg(hdst__printer *p)
{
    uint64_t *per_row = HDST__NEW_ARRAY(p->arena, uint64_t, p->func->param_count), constant = 0;
    for (size_t i = 0; i < p->func->param_count; i++) {
        if (!p->local_broadcast[i]) continue;
        per_row[i] = p->func->params[i].record->size;
        constant += LOCAL_ALIGN;
    }
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const uint64_t bytes = (uint64_t)p->plan[a].slots * p->copies * 4;
        if (p->plan[a].accum->is_table) per_row[p->plan[a].accum->param] = bytes;
        constant += bytes;
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
        hdst__write_line(&p->out, "__local uchar *%s_at = (__local uchar *)(local_memory%s);", name, offset);
        hdst__write_line(&p->out, "for (ulong w = lane; w < %s_rows * %" PRIu64 "; w += LANES)", name, size / 4);
        hdst__write_line(&p->out, "    ((__local uint *)%s_at)[w] = ((__global const uint *)%s_data)[w];", name, name);
        offset = hdst__arena_printf(p->arena, "%s + (%s_rows * %" PRIu64 " + 15) / 16", offset, name, size);
    }
    if (copy_bytes(p)) hdst__write_line(&p->out, "__local uint *local_tables = (__local uint *)(local_memory%s);", offset);
}

static void print_setup(hdst__printer *p)
{
    if (p->way == HDST__OUTPUT_COUNTED) hdst__write_line(&p->out, "__local uint sums[LANES];\nif (places[0] > room) return;");
    hdst__print_input_bases(p);
    print_broadcast_copies(p);
    hdst__print_table_bases(p);
    hdst__print_group_reset(p);
    for (size_t i = 0; i < p->arg_count; i++)
        if (p->args[i].kind == HDST__ARG_LOCAL) hdst__write_line(&p->out, "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void print_chunk(hdst__printer *p)
{
    if (p->tables->accum_count == 0) {
        hdst__write_line(&p->out, "for (; base < count; base += get_global_size(0)) {");
        return;
    }
    hdst__write_line(&p->out, "// The tables are added to the device's before a word could overflow.");
    hdst__write_line(&p->out, "ulong rounds = flush / %" PRIu32 ";", group_of(&p->options->facts));
    hdst__write_line(&p->out, "rounds = rounds ? rounds : 1;");
    hdst__write_line(&p->out, "for (; base < count && rounds; base += get_global_size(0), rounds--) {");
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
    if (p->way == HDST__OUTPUT_DENSE) return "";
    return hdst__arena_printf(p->arena, "ulong place = 0;\nif (i < count) {\n%s}\nplace = places[1 + base / LANES] + before_lane(sums, lane, (uint)place);\n",
                              count_record);
}

const hdst__kernel *hdst__kernel_make_gpu(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    hdst__printer *p = hdst__printer_create(arena, func, options, hdst__tables_make(arena, func, options->tiers));
    const uint64_t bytes = hdst__private_bytes(p, func);
    if (!hdst__private_fits(p, func, bytes, HDST__GPU_PRIVATE_LIMIT, diags)) return NULL;
    plan_tables(p);
    plan_broadcasts(p);
    hdst__emit_plan(p);
    hdst__kernel_add_common_args(p);
    const bool local = add_local_arg(p);
    ir_func *single = hdst__ir_copy_func(arena, func), *count;
    if (!hdst__emit_count_form(p, diags, &count)) return NULL;
    if (count) hdst__pass_place(single);
    hdst__printer_use(p, single);
    const char *count_record = print_count(p, count, hdst__print_function);
    hdst__hole holes[] = {
        {"title", func->name},
        {"group", hdst__arena_printf(arena, "%" PRIu32, group_of(&options->facts))},
        {"file_scope", hdst__print_section(p, hdst__print_file_scope)},
        {"setup", hdst__print_section(p, print_setup)},
        {"chunk", hdst__print_section(p, print_chunk)},
        {"emit_scope", count ? hdst__template_text("emit_gpu.cl") : ""},
        {"place", place_text(p, count_record)},
        {"count_setup", print_count(p, count, print_count_setup)},
        {"count_record", count_record},
        {"record", hdst__print_section(p, hdst__print_function)},
        {"flush", hdst__print_section(p, hdst__print_group_flush)},
    };
    if (!hdst__device_can(p, diags)) return NULL;
    hdst__kernel *kernel = HDST__NEW(arena, hdst__kernel);
    *kernel = (hdst__kernel){.func = func, .local_size = group_of(&options->facts), .private_bytes = bytes};
    for (size_t a = 0; a < p->tables->accum_count; a++) kernel->tables_in_local |= p->plan[a].place == HDST__PLACE_LOCAL;
    kernel->why = hdst__arena_printf(arena, "form: one lane per record%s, %" PRIu32 " copies of tables\n%s%s", local ? "" : ", no local memory", p->copies,
                                     hdst__emit_why(p), hdst__tables_why(p));
    hdst__kernel_finish(p, kernel, "kernel_gpu.cl", holes, sizeof holes / sizeof *holes);
    return kernel;
}
