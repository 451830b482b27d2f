// SPDX-License-Identifier: Apache-2.0
// Blocks of 64 records, each with what the records in front of it come to (plan/scan_blocks.h). What blocks come to by themselves are the records of a level
// above, a 64th as many, and so on, up to one block. From there down, each level is scanned from what the level above says of the records in front of its
// blocks. So which records meet in which order is fixed by their numbers, and all of it runs on any device; the level of the records themselves is scanned by
// whoever reads the blocks.
#include "plan/scan_blocks.h"

#include "base/costs_host.h"
#include "codegen/lower/lower.h"
#include "codegen/lower/operator_scan_function.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEVELS = 11, PIECE_BYTES = 64 << 10 };           // 64^11 > 2^64 records

typedef struct scan_node scan_node;

typedef struct level {
    const scan_node *own;
    uint64_t rows;
    const char *total;              // of the levels above the first: the rows
    const char *before;             // by block: what is in front of the next one; NULL: there is one block, or nobody knows yet
    hdst__stage_call sum, scan;     // to what its blocks come to; of the levels above the first: scanned
} level;

struct scan_node {
    hdst__row_source source;
    const hdst__record *block, *totals;
    level level[LEVELS];
    uint32_t levels;
    uint64_t rows_offset, before_offset, begins_offset;     // in a total, and in a block
};

// --- Making ---

ir_func *hdst__scan_reduce(hdst__arena *arena, const hdst_map_spec *spec, hdst_error *error)
{
    ir_func *func = hdst__lower_reduce(arena, spec->module->tree, spec->function);
    if (func) return func;
    if (hdst__diags_to_error(&spec->module->diags, HDST_E_KERNEL, error) == HDST_OK)
        hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' cannot be run yet", spec->function->name);
    return NULL;
}

static hdst_status make_call(hdst__arena *arena, const hdst_dataset *dataset, hdst__stage_call *call, ir_func *func, hdst_error *error)
{
    call->func = hdst__plan_name_params(arena, dataset, func);
    hdst__stage_call_bind(arena, call, 0);
    for (size_t i = 0; i < func->param_count; i++) call->params[i] = hdst__plan_param_of(func, &func->params[i], dataset);
    return hdst__plan_passes(func, error);
}

static hdst_status refuse_to_skip(const hdst_dataset *dataset, const ir_func *reduce, const hdst_map_spec *spec, hdst_error *error)
{
    const hdst_context *context = dataset->object.context;
    if (!hdst__engine_settings(context->engine)->skip_failed || context->unchecked || !reduce->check_count) return HDST_OK;
    hdst__error_set(error, HDST_E_UNSUPPORTED, "'%s' may fail, and a scan cannot leave records out: those behind need them", spec->function->name);
    hdst__error_hint(error, "test in the function what may fail, or let failing records end the run");
    return HDST_E_UNSUPPORTED;
}

hdst_status hdst__scan_blocks_build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    const hdst__scan_own *by = node->dataset->own;
    scan_node *own = node->own = HDST__NEW(arena, scan_node);
    hdst__row_source_make(arena, node, &by->within, &own->source);
    const ir_func *reduce = hdst__scan_reduce(arena, by->spec, error);
    if (!reduce) return error->code;
    own->block = hdst__scan_block_record(arena, reduce->params[0].record);
    own->totals = hdst__scan_total_record(arena, reduce->params[0].record);
    if (!own->block || !own->totals)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "records of '%s' are too large for hdst_scan_function", own->source.record->name);
    own->begins_offset = own->totals->fields[1].offset;
    own->before_offset = own->block->fields[3].offset;
    own->rows_offset = own->block->fields[4].offset;
    hdst_status status = refuse_to_skip(node->dataset, reduce, by->spec, error);
    hdst__stage_call sum = {0}, scan = {0};
    if (status == HDST_OK) status = make_call(arena, node->dataset, &sum, hdst__operator_scan_total(arena, reduce, own->block, own->totals), error);
    if (status == HDST_OK) status = make_call(arena, node->dataset, &scan, hdst__operator_scan(arena, reduce, own->block, false), error);
    for (uint32_t i = 0; i < LEVELS; i++) own->level[i] = (level){.own = own, .sum = sum, .scan = scan};      // each has a stage of its own
    return status;
}

// --- Blocks ---

typedef struct block_head {
    uint32_t count, has;
    uint64_t begins;
} block_head;

static void begin_block(const level *l, uint64_t number, uint64_t count, char *to)
{
    const scan_node *own = l->own;
    const uint64_t size = own->source.record->size;
    const block_head head = {.count = (uint32_t)count, .has = number && l->before};
    memset(to, 0, own->block->size);
    memcpy(to, &head, sizeof head);
    if (head.has) memcpy(to + own->before_offset, l->before + (number - 1) * size, size);
}

static void mark(char *to, uint64_t row)
{
    uint64_t begins;
    memcpy(&begins, to + offsetof(block_head, begins), sizeof begins);
    begins |= UINT64_C(1) << row;
    memcpy(to + offsetof(block_head, begins), &begins, sizeof begins);
}

// `rows`: those of the block; `is_first`: nothing is in front of them, else one more is there.
static void fill_block(const level *l, uint64_t number, const char *rows, uint64_t count, bool is_first, char *to)
{
    const hdst__row_source *source = &l->own->source;
    const uint64_t size = source->record->size;
    begin_block(l, number, count, to);
    memcpy(to + l->own->rows_offset, rows, count * size);
    if (!source->key.count) return;
    for (uint64_t i = 0; i < count; i++)
        if ((i || !is_first) && hdst__row_source_differs(source, rows + i * size - size, rows + i * size)) mark(to, i);
}

// The least of the records themselves: in pieces, with the one in front.
static hdst_status fill_first(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                              hdst_error *error)
{
    const level *l = user;
    const scan_node *own = l->own;
    const uint64_t size = own->source.record->size, most = PIECE_BYTES / (HDST__SCAN_RECORDS * size) + 1;
    const hdst__allocator *allocator = hdst__row_source_allocator(&own->source);
    (void)storage;                      // AoS: the reader says so
    char *rows = count ? hdst__alloc(allocator, (most * HDST__SCAN_RECORDS + 1) * size) : NULL;
    hdst_status status = rows || !count ? HDST_OK : hdst__error_memory(error, "records to scan");
    for (uint64_t at = first, piece; at < first + count && status == HDST_OK; at += piece) {
        piece = first + count - at < most ? first + count - at : most;
        const uint64_t begin = at * HDST__SCAN_RECORDS, left = l->rows - begin, before = begin > 0, wanted = piece * HDST__SCAN_RECORDS;
        const uint64_t there = left < wanted ? left : wanted;
        status = hdst__row_source_read(&own->source, begin - before, there + before, rows + (1 - before) * size, error);
        for (uint64_t b = 0; b < piece && status == HDST_OK; b++) {
            const uint64_t skip = b * HDST__SCAN_RECORDS, own_rows = there - skip < HDST__SCAN_RECORDS ? there - skip : HDST__SCAN_RECORDS;
            fill_block(l, at + b, rows + (1 + skip) * size, own_rows, begin + skip == 0, (char *)buffers[0] + (to_first + at + b - first) * own->block->size);
        }
    }
    hdst__free(allocator, rows);
    return status;
}

// Of a level above: totals of the one below.
static hdst_status fill_above(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                              hdst_error *error)
{
    const level *l = user;
    const scan_node *own = l->own;
    const uint64_t size = own->source.record->size;
    (void)storage, (void)error;
    for (uint64_t b = first; b < first + count; b++) {
        char *to = (char *)buffers[0] + (to_first + b - first) * own->block->size;
        const uint64_t begin = b * HDST__SCAN_RECORDS, left = l->rows - begin, rows = left < HDST__SCAN_RECORDS ? left : HDST__SCAN_RECORDS;
        begin_block(l, b, rows, to);
        for (uint64_t i = 0; i < rows; i++) {
            const char *total = l->total + (begin + i) * own->totals->size;
            uint32_t begins;
            memcpy(&begins, total + own->begins_offset, sizeof begins);
            memcpy(to + own->rows_offset + i * size, total, size);
            if (begins) mark(to, i);
        }
    }
    return HDST_OK;
}

static uint64_t blocks_of(const level *l) { return l->rows / HDST__SCAN_RECORDS + (l->rows % HDST__SCAN_RECORDS > 0); }

static hdst__reader blocks_reader(const level *l)
{
    const scan_node *own = l->own;
    hdst__reader reader = hdst__row_source_reader(&own->source, own->block, blocks_of(l));
    if (l != own->level) reader.concurrent = true, reader.on_device = false, reader.held = false;
    reader.fill = l == own->level ? fill_first : fill_above;
    reader.user = (void *)(uintptr_t)l;
    return reader;
}

// --- Levels ---

static void say_records(const level *l, uint64_t block, hdst_error *error)
{
    uint64_t each = HDST__SCAN_RECORDS;
    const level *first = l->own->level;
    for (const level *at = l; at > first; at--) each *= HDST__SCAN_RECORDS;
    char *at = strstr(error->message, " in record ");
    const uint64_t begin = block * each, end = first->rows - begin < each ? first->rows : begin + each;
    if (!at) return;
    snprintf(at, sizeof error->message - (size_t)(at - error->message), " in one of the records %" PRIu64 " to %" PRIu64 " of a scan", begin, end - 1);
    error->record = begin;
}

void hdst__scan_blocks_name_failed(const hdst__node *node, hdst_error *error)
{
    const scan_node *own = node->own;
    if (error->code == HDST_E_RECORD && error->record < blocks_of(own->level)) say_records(own->level, error->record, error);
}

static hdst_status run_stage(hdst__node *node, const level *l, hdst__stage_call *call, hdst__stage_output *output, hdst__run_stats *stats, hdst_error *error)
{
    const hdst__reader reader = blocks_reader(l);
    const hdst__stage_spec spec = {.kind = HDST__STAGE_MAP, .func = call->func, .reader = reader, .may_spill = true};
    hdst_status status = HDST_OK;
    if (call->stage) status = hdst__stage_set_input(call->stage, &reader, NULL, error);
    else call->stage = hdst__stage_create(node->dataset->object.context->engine, &spec);
    if (!call->stage) return hdst__error_memory(error, "a stage");
    if (status == HDST_OK) status = hdst__stage_call_values(call, error);
    if (status != HDST_OK) return status;
    status = hdst__stage_run(call->stage, call->values, output, error);
    hdst__plan_add_stats(stats, hdst__stage_stats(call->stage));
    // There are up to three stages for each level: what one of them works with it gives back for the next, then.
    if (hdst__plan_memory_is_short(node->dataset->object.context, HDST__HOST_SHORT_SHARE)) hdst__stage_forget_plan(call->stage);
    if (error && status == HDST_E_RECORD) say_records(l, error->record, error);
    return status;
}

// The level above: what the blocks of this one come to.
static hdst_status sum_level(hdst__node *node, uint32_t number, hdst__run_stats *stats, hdst_error *error)
{
    scan_node *own = node->own;
    level *l = &own->level[number], *above = l + 1;
    hdst__stage_output output = {0};
    const hdst_status status = run_stage(node, l, &l->sum, &output, stats, error);
    above->total = output.records;
    above->rows = output.record_count;
    above->before = NULL;
    return status;
}

static hdst_status scan_level(hdst__node *node, uint32_t number, hdst__run_stats *stats, hdst_error *error)
{
    scan_node *own = node->own;
    level *l = &own->level[number];
    hdst__stage_output output = {0};
    hdst_status status = run_stage(node, l, &l->scan, &output, stats, error);
    if (status != HDST_OK) return status;
    l[-1].before = output.records;
    hdst__stage_forget(l[-1].sum.stage);        // what it gave
    if (number + 1 < own->levels) hdst__stage_forget(l[1].scan.stage);
    if (number > 1 || !output.texts) return HDST_OK;
    return hdst__text_heap_holds(node->texts, output.texts) ? HDST_OK : hdst__error_memory(error, "texts");
}

static hdst_status run_levels(hdst__node *node, hdst__run_stats *stats, hdst_error *error)
{
    scan_node *own = node->own;
    hdst_status status = HDST_OK;
    own->level[0].rows = hdst__row_source_count(&own->source);
    own->level[0].before = NULL;
    for (own->levels = 1; own->level[own->levels - 1].rows > HDST__SCAN_RECORDS && status == HDST_OK; own->levels++)
        status = sum_level(node, own->levels - 1, stats, error);
    for (uint32_t i = own->levels - 1; i > 0 && status == HDST_OK; i--) status = scan_level(node, i, stats, error);
    return status;
}

// Those of the input, and of what is in front of blocks.
static hdst_status begin_texts(hdst__node *node, hdst_error *error)
{
    hdst__node_drop_texts(node);
    if (!node->dataset->record->has_text) return HDST_OK;
    node->texts = hdst__text_heap_create(hdst__engine_runtime(node->dataset->object.context->engine), HDST__OWNER_OUTPUT);
    return node->texts && hdst__text_heap_holds(node->texts, node->inputs[0]->texts) ? HDST_OK : hdst__error_memory(error, "texts");
}

hdst_status hdst__scan_blocks_run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    const scan_node *own = node->own;
    node->ran = false;
    hdst_status status = begin_texts(node, error);
    if (status == HDST_OK) status = run_levels(node, &plan->stats, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->reader = blocks_reader(own->level);
    return HDST_OK;
}

// --- The rest ---

void hdst__scan_blocks_describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const hdst__scan_own *own = dataset->own;
    hdst__buffer_puts(out, " in blocks of 64 with what is in front of them");
    hdst__named_keys_describe_within(&own->within, dataset->record, out);
}

hdst_status hdst__scan_blocks_explain(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const scan_node *own = node->own;
    const hdst__scan_own *by = node->dataset->own;
    hdst__buffer_printf(out, "scan %s: what blocks of 64 records come to is scanned in front, level by level; then the records themselves, from there\n",
                        by->spec->function->name);
    if (!node->ran) return HDST_OK;
    hdst__buffer_printf(out, "  last run: %" PRIu64 " records, %" PRIu32 " level%s\n", own->level[0].rows, own->levels, own->levels == 1 ? "" : "s");
    return HDST_OK;
}

void hdst__scan_blocks_drop(hdst__node *node)
{
    scan_node *own = node->own;
    for (uint32_t i = 0; i < LEVELS; i++) {
        if (own->level[i].sum.stage) hdst__stage_forget(own->level[i].sum.stage);
        if (own->level[i].scan.stage) hdst__stage_forget(own->level[i].scan.stage);
    }
}

void hdst__scan_blocks_release(hdst__node *node)
{
    scan_node *own = node->own;
    for (uint32_t i = 0; own && i < LEVELS; i++) {
        hdst__stage_call_end(&own->level[i].sum);
        hdst__stage_call_end(&own->level[i].scan);
    }
}
