// SPDX-License-Identifier: Apache-2.0
// From a checked function to a kernel: what both device classes share. The forms are in kernel_cpu.c and kernel_gpu.c.
#include "codegen/opencl/kernel_form.h"
#include "codegen/opencl/prelude.h"
#include "codegen/opencl/kernel_pieces.h"
#include "codegen/pass/accumulator_placement.h"

#include "base/hash.h"

#include <inttypes.h>
#include <string.h>

// --- The printer's names ---

static void name_params(hdst__printer *p)
{
    const ir_func *func = p->func;
    p->param_name = HDST__NEW_ARRAY(p->arena, const char *, func->param_count);
    p->leaf_name = HDST__NEW_ARRAY(p->arena, const char **, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        p->param_name[i] = hdst__name_take(p->names, param->name && param->name[0] ? param->name : param->kind == IR_OUTPUT ? "result" : "value");
        p->leaf_name[i] = HDST__NEW_ARRAY(p->arena, const char *, param->record->leaf_count);
        for (size_t l = 0; l < param->record->leaf_count; l++)
            p->leaf_name[i][l] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s%s", p->param_name[i], param->record->leaves[l].path));
    }
}

// The forms of a function share its constants; functions that were fused may have others of the same name.
static bool is_same_constant(const ir_var *a, const ir_var *b)
{
    return a->kind == b->kind && a->elements == b->elements && !strcmp(a->name, b->name) && (a->init == b->init || !memcmp(a->init, b->init, a->elements * sizeof *a->init));
}

static const char *constant_name(hdst__printer *p, const ir_var *var)
{
    for (size_t i = 0; i < p->constant_count; i++)
        if (is_same_constant(p->constants[i].var, var)) return p->constants[i].name;
    hdst__constant_array constant = {hdst__name_take(p->names, var->name), var};
    HDST__PUSH(p->arena, p->constants, p->constant_count, p->constant_capacity, constant);
    return constant.name;
}

void hdst__printer_use(hdst__printer *p, const ir_func *func)
{
    p->func = func;
    p->in_block = func->block > 0;
    for (size_t v = 0; v < func->var_count; v++)        // constants stay for all forms
        if (func->vars[v].init) constant_name(p, &func->vars[v]);
    p->var_name = HDST__NEW_ARRAY(p->arena, const char *, func->var_count + 1);
    p->array_name = HDST__NEW_ARRAY(p->arena, const char *, func->var_count + 1);
    p->form_names = hdst__names_create(p->arena, p->names);     // another form's variables live in a scope of their own
    for (size_t v = 0; v < func->var_count; v++) {
        const ir_var *var = &func->vars[v];
        if (var->init) p->var_name[v] = constant_name(p, var);
        else p->var_name[v] = hdst__name_take(p->form_names, var->name && var->name[0] ? var->name : "tmp");
        if (var->per_record && !var->elements) p->array_name[v] = hdst__arena_printf(p->arena, "%sOf", p->var_name[v]);
    }
}

static bool find_check(ir_stmt *stmt, void *user)
{
    *(bool *)user |= stmt->kind == IR_CHECK;
    return true;
}

static bool checks_anything(const ir_func *func)       // what the passes could not prove
{
    bool found = false;
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_check, &found);
    return found;
}

hdst__printer *hdst__printer_create(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, const hdst__tables *tables)
{
    hdst__printer *p = HDST__NEW(arena, hdst__printer);
    *p = (hdst__printer){.arena = arena, .func = func, .options = options, .tables = tables, .out = {.arena = arena}, .arg_text = {.arena = arena}};
    p->names = p->form_names = hdst__names_create(arena, NULL);
    p->gpu = options->facts.target == HDST__TARGET_GPU;
    p->has_checks = checks_anything(func);
    p->unpacked = HDST__NEW_ARRAY(arena, bool *, func->param_count);
    p->from_word = HDST__NEW_ARRAY(arena, bool *, func->param_count);
    p->has_part = HDST__NEW_ARRAY(arena, bool *, func->param_count);
    p->local_broadcast = HDST__NEW_ARRAY(arena, bool, func->param_count);
    p->word_count = HDST__NEW_ARRAY(arena, uint32_t, func->param_count);
    p->plan = HDST__NEW_ARRAY(arena, hdst__accum_plan, tables->accum_count + 1);
    name_params(p);
    for (size_t a = 0; a < tables->accum_count; a++) {
        p->plan[a].accum = &tables->accum[a];
        p->plan[a].name = p->param_name[tables->accum[a].param];
    }
    return p;
}

const char *hdst__print_section(hdst__printer *p, void (*print)(hdst__printer *p))
{
    hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    print(p);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

// --- Arguments ---

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

void hdst__kernel_add_input_args(hdst__printer *p, uint32_t i)
{
    const hdst__storage *input = p->options->input;
    const ir_param *param = &p->func->params[i];
    bool *seen = HDST__NEW_ARRAY(p->arena, bool, input->buffers);
    for (uint32_t l = 0; l < param->record->leaf_count; l++) {
        if (!hdst__leaf_is_used(param, l) || param->record->leaves[l].kind == HDST__TEXT) continue;
        const uint32_t buffer = input->leaf[l].buffer;
        if (!seen[buffer]) hdst__kernel_add_arg(p, HDST__ARG_INPUT, buffer, "__global const uchar *restrict %sData%" PRIu32, p->param_name[i], buffer);
        seen[buffer] = true;
        if (input->layout != HDST__SOA && input->layout != HDST__AOP) continue;
        hdst__kernel_add_arg(p, HDST__ARG_INPUT_OFFSET, l, "ulong %sOffset", p->leaf_name[i][l]);
        if (param->record->leaves[l].elements > 1) hdst__kernel_add_arg(p, HDST__ARG_INPUT_STRIDE, l, "ulong %sStep", p->leaf_name[i][l]);
    }
    // A record of which nothing is read still gives the kernel its buffer, so that the layout's base pointers stand. One without fields has none.
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
    if (!p->gpu || hdst__placed_anywhere(p->func, IR_PLACE_GROUP)) hdst__kernel_add_arg(p, HDST__ARG_STRIP_TABLES, 0, "__global long *restrict strip_tables");
    if (p->tables->scale_count) hdst__kernel_add_arg(p, HDST__ARG_SCALES, 0, "__global const int *scales");
    if (form && form->overflow_words) hdst__kernel_add_arg(p, HDST__ARG_SPARES, 0, "__global long *spares");
    if (form && form->has_tuples) hdst__kernel_add_arg(p, HDST__ARG_PARTS, 0, "__global uint *parts");
    if (form && form->has_tuples) hdst__kernel_add_arg(p, HDST__ARG_PAIRS, 0, "__global uint *pairs");
    hdst__kernel_add_arg(p, HDST__ARG_FLUSH, 0, "ulong flush");
}

void hdst__kernel_add_common_args(hdst__printer *p)
{
    hdst__kernel_add_arg(p, HDST__ARG_FIRST, 0, "ulong first");
    hdst__kernel_add_arg(p, HDST__ARG_SKIP, 0, "ulong skip");
    hdst__kernel_add_arg(p, HDST__ARG_COUNT, 0, "ulong count");
    for (uint32_t i = 0; i < p->func->param_count; i++) {
        const ir_param *param = &p->func->params[i];
        if (param->kind == IR_INPUT && i >= p->first_read_input) hdst__kernel_add_input_args(p, i);
        if (param->kind != IR_BROADCAST_TABLE) continue;
        hdst__kernel_add_arg(p, HDST__ARG_BROADCAST, i, "__global const uchar *restrict %s%s", p->param_name[i], p->local_broadcast[i] ? "Data" : "At");
        hdst__kernel_add_arg(p, HDST__ARG_ROWS, i, "ulong %sRows", p->param_name[i]);
    }
    add_table_args(p);
    for (uint32_t i = 0; i < p->func->param_count; i++)
        if (p->func->params[i].kind == IR_OUTPUT) hdst__kernel_add_arg(p, HDST__ARG_OUTPUT, i, "__global uchar *restrict %sAt", p->param_name[i]);
    if (p->way == HDST__OUTPUT_COUNTED) hdst__kernel_add_arg(p, HDST__ARG_ROOM, 0, "ulong room");
    if (p->way != HDST__OUTPUT_DENSE) hdst__kernel_add_arg(p, HDST__ARG_PLACES, 0, "__global ulong *places");
    if (p->has_checks) hdst__kernel_add_arg(p, HDST__ARG_ERROR, 0, "__global ulong *error");
}

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

// --- Private memory ---

static hdst__span place_of(const ir_func *func)
{
    return func->body.count ? func->body.items[0]->span : (hdst__span){0, 0, 0};
}

static uint64_t bytes_of(const ir_func *func, const ir_var *var)
{
    if (var->init) return 0;
    const uint64_t records = var->per_record && func->block ? func->block : 1;
    if (var->elements) return var->elements * records * hdst__scalar_size(var->kind);
    return records * hdst__scalar_size(records > 1 ? hdst__kind_over_block(var->kind) : var->kind);
}

// Levels of sums over a block (accum/levels.cl): their state, which for floats has room for sums in double, and a block of values where the rare way begins.
enum { FLOAT_LEVEL_BYTES = 704, DOUBLE_LEVEL_BYTES = 448, LEVEL_VALUES = 512 * 8 };

typedef struct level_bytes {
    hdst__printer *p;
    uint64_t bytes;
    bool *counted[2];           // by param and leaf, of floats, of doubles
} level_bytes;

static size_t number_of_leaf(const ir_func *func, const ir_stmt *stmt)
{
    size_t n = stmt->leaf;
    for (size_t i = 0; i < stmt->param; i++) n += func->params[i].record->leaf_count;
    return n;
}

// Every element of a leaf that has such sums has a state, of floats and of doubles.
static bool add_level_bytes(ir_stmt *stmt, void *user)
{
    level_bytes *all = user;
    if (stmt->kind != IR_ACCUM_BLOCK) return true;
    const hdst__cell *cell = hdst__find_cell(all->p, stmt->param, stmt->leaf);
    const bool is_double = stmt->value->kind == HDST__F64;
    bool *counted = &all->counted[is_double][number_of_leaf(all->p->func, stmt)];
    if (!*counted) all->bytes += cell->elements * (is_double ? DOUBLE_LEVEL_BYTES : FLOAT_LEVEL_BYTES) + (all->bytes ? 0 : LEVEL_VALUES);
    *counted = true;
    return true;
}

uint64_t hdst__private_bytes(hdst__printer *p, const ir_func *func)
{
    uint64_t bytes = 0;
    size_t leaves = 0;
    for (size_t v = 0; v < func->var_count; v++) bytes += bytes_of(func, &func->vars[v]);
    if (func->block) bytes += hdst__unpack_bytes(p, func->block);
    for (size_t i = 0; i < func->param_count; i++) leaves += func->params[i].record->leaf_count;
    level_bytes levels = {.p = p, .counted = {HDST__NEW_ARRAY(p->arena, bool, leaves + 1), HDST__NEW_ARRAY(p->arena, bool, leaves + 1)}};
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, add_level_bytes, &levels);
    return bytes + levels.bytes;
}

bool hdst__private_fits(hdst__printer *p, const ir_func *func, uint64_t bytes, uint64_t limit, hdst__diags *diags)
{
    if (bytes <= limit) return true;
    const ir_var *largest = NULL;
    for (size_t v = 0; v < func->var_count; v++)
        if (!largest || bytes_of(func, &func->vars[v]) > bytes_of(func, largest)) largest = &func->vars[v];
    const char *name = largest && largest->elements ? largest->name : "its variables";
    hdst__diag_error(diags, place_of(func), hdst__arena_printf(p->arena, "make '%s' smaller, or keep such a table in a broadcast", name),
                     "'%s' needs %" PRIu64 " bytes of private memory per work-item, most of it for '%s'; this device class has %" PRIu64, func->name, bytes,
                     name, limit);
    return false;
}

// --- Finishing ---

static void write_frame(hdst__writer *text, const char *file, const hdst__filling *fillings, size_t count)
{
    hdst__frame_write(text, &hdst__kernel_pieces, file, fillings, count);
}

static const char *whole_text(hdst__printer *p, const hdst__kernel *kernel, const char *frame, const hdst__filling *fillings, size_t count)
{
    hdst__writer text = {.arena = p->arena};
    write_frame(&text, frame, fillings, count);
    if (p->more) write_frame(&text, p->more, fillings, count);
    if (kernel->merges) write_frame(&text, "merge_gpu.cl", fillings, count);
    hdst__parted_write(p, &text, fillings, count);
    if (kernel->finish_arg_count) write_frame(&text, "finish_gpu.cl", fillings, count);
    if (kernel->spare_words) write_frame(&text, "finish_spare.cl", fillings, count);
    return hdst__writer_text(&text);
}

// Drivers name files after kernels, and file systems take 255 bytes: PoCL ends the process when they refuse. Functions that were fused have the names of all.
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
    if (kernel->finish_arg_count) kernel->finish_name = hdst__arena_printf(p->arena, "%s_finish", kernel->name);
    if (kernel->spare_words) kernel->spare_name = hdst__arena_printf(p->arena, "%s_spare", kernel->name);
    if (kernel->merges) kernel->merge_name = hdst__arena_printf(p->arena, "%s_merge", kernel->name);
    hdst__parted_finish(p, kernel);
}

// KERNEL, and KERNEL_count and the like in frames.
static const char *with_names(hdst__printer *p, const hdst__kernel *kernel, const char *text)
{
    const char *names[HDST__PART_KERNELS + 6] = {kernel->name, kernel->finish_name, kernel->spare_name, kernel->merge_name, kernel->count_name, kernel->scan_name};
    memcpy(names + 6, kernel->part_name, sizeof kernel->part_name);
    hdst__filling fillings[HDST__PART_KERNELS + 6];
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i]) fillings[count++] = (hdst__filling){hdst__arena_printf(p->arena, "KERNEL%s", names[i] + strlen(kernel->name)), names[i]};
    hdst__writer source = {.arena = p->arena};
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
    const hdst__prelude prelude = hdst__prelude_of(p, whole_text(p, kernel, frame, all, count + 3));
    all[count].text = prelude.dialect;
    all[count + 1].text = prelude.functions;
    const char *text = whole_text(p, kernel, frame, all, count + 3);
    kernel->name = kernel_name(p, text);
    name_kernels(p, kernel);
    kernel->source = with_names(p, kernel, text);
    kernel->build_options = p->options->facts.correctly_rounded ? "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt" : "-cl-std=CL1.2 -w";
    kernel->args = p->args;
    kernel->arg_count = p->arg_count;
    kernel->tables = p->tables;
    kernel->fast_sums = hdst__tables_fast_sums(p->tables);
}

// --- Why ---

static const char *group_why(const hdst__printer *p)
{
    const uint32_t shared = p->func->tables->shared;
    if (!shared) return "a table in device memory for each work-group: too large for local memory";
    return hdst__arena_printf(p->arena, "%" PRIu32 " table%s in device memory for all work-groups: too large for local memory", shared, shared > 1 ? "s" : "");
}

static const char *place_why(const hdst__printer *p, ir_place place)
{
    switch (place) {
    case IR_PLACE_REGISTERS: return "in registers: one row";
    case IR_PLACE_STRIP: return p->func->tables->first_level ? "a table per strip; the device's has a strip's words too, its cells take what does not fit" : "a table per strip";
    case IR_PLACE_LOCAL: return "interleaved tables in local memory";
    case IR_PLACE_GROUP: return group_why(p);
    case IR_PLACE_FIXED_POINT: return "straight to words in device memory: too large for local memory";
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
    switch (cell->tier) {
    case HDST__TIER_ONE: return "exact sum, one word";
    case HDST__TIER_TWO: return "exact sum, two words";
    case HDST__TIER_WIDE: return "exact sum, wide cells: the addends seen do not fit fixed point";
    case HDST__TIER_PLAIN: break;
    }
    return "one word";
}

const char *hdst__tables_why(hdst__printer *p)
{
    hdst__writer why = {.arena = p->arena};
    for (size_t a = 0; a < p->tables->accum_count; a++) {
        const hdst__accum_plan *plan = &p->plan[a];
        const ir_param *param = &p->func->params[plan->accum->param];
        hdst__write_line(&why, "accum %s: %s", param->name, place_why(p, param->placement->place));
        for (size_t l = 0; l < param->record->leaf_count; l++)
            hdst__write_line(&why, "    %s: %s", param->record->leaves[l].path, leaf_why(&plan->accum->cell[l], &param->placement->leaf[l]));
    }
    if (p->options->fast_sums && p->tables->scale_count && hdst__tables_fast_sums(p->tables) == 0)
        hdst__write_line(&why, "fast sums were asked for, but this form has exact ones only");
    return hdst__writer_text(&why);
}

// --- Entry ---

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

const hdst__kernel *hdst__kernel_make(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    return options->facts.target == HDST__TARGET_GPU ? hdst__kernel_make_gpu(arena, func, options, diags) : hdst__kernel_make_cpu(arena, func, options, diags);
}
