// SPDX-License-Identifier: Apache-2.0
// Records of a source.
#include "plan/input_source.h"
#include "plan/plan.h"
#include "engine/memory/host_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct read_own {
    hdst_source *source;            // retained
    hdst__bound_source *bound;      // with its columns matched to the record
    hdst__reader reader;
    bool told;                      // that rows are left out, and why the first is
} read_own;

// --- The node ---

static void line(const hdst__node *node, hdst__buffer *out)
{
    const hdst_dataset *d = node->dataset;
    const hdst__source *source = ((const read_own *)d->own)->source->source;
    hdst__buffer_printf(out, "read %s as %s (%s), ", source->name, d->record->name, hdst__layout_name(d->layout));
    if (source->is_counted) hdst__buffer_printf(out, "%" PRIu64 " records", hdst__bound_source_records(((const read_own *)d->own)->bound));
    else hdst__buffer_puts(out, "records that are not counted yet");
}

// Each run counts them; the first one tells.
static void tell_left_out(read_own *own, hdst__run_stats *stats)
{
    hdst_error first;
    const uint64_t rows = hdst__bound_source_left_out(own->bound, &first);
    if (stats) stats->skipped += rows;
    if (rows && !own->told)
        hdst__log_write(&own->source->object.context->log, HDST__LOG_WARN, "%s:%u:%u: %s; %" PRIu64 " row%s left out", first.file, first.line, first.column,
                        first.message, rows, rows == 1 ? " is" : "s are");
    own->told |= rows > 0;
}

// Rows of a text are counted by the first run that reads them, once. stats: of the run; NULL: somebody else counts what is left out.
static hdst_status count(const hdst__node *node, hdst__run_stats *stats, hdst_error *error)
{
    read_own *own = node->dataset->own;
    hdst_context *context = own->source->object.context;
    hdst_status status = HDST_OK;
    if (hdst__engine_settings(context->engine)->skip_failed) hdst__bound_source_skip_malformed(own->bound);
    if (!hdst__bound_source_leaves_out(own->bound)) status = hdst__input_count(own->source, error);
    else status = hdst__bound_source_count(own->bound, hdst__engine_threads(context->engine), error);
    if (status != HDST_OK) return status;
    tell_left_out(own, stats);
    own->reader.records = hdst__bound_source_records(own->bound);
    own->reader.text_bytes = hdst__bound_source_text_bytes(own->bound);
    return HDST_OK;
}

// Whoever reads it can do without the number of records, and nobody knows it yet.
static bool is_open(const hdst__node *node)
{
    hdst__open_end *end = ((const read_own *)node->dataset->own)->source->source->open_end;
    return end && node->uncounted && !hdst__open_end_is_found(end);
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    const read_own *own = node->dataset->own;
    hdst__source *source = own->source->source;
    const bool open = is_open(node);
    hdst_status status = open ? hdst__source_begin(source, hdst__engine_threads(plan->context->engine), error) : HDST_OK;
    const bool stays_open = open && is_open(node);
    if (status == HDST_OK && !stays_open) status = count(node, &plan->stats, error);
    node->reader = own->reader;
    if (!stays_open) return status;
    node->reader.records = HDST__OPEN_RECORDS;
    node->reader.open_end = source->open_end;
    node->reader.parts_itself = source->parts_itself;
    node->reader.text_bytes = hdst__bound_source_text_bytes(own->bound);
    return status;
}

// Before a run nobody asks a callback for all of its records only to tell how many there are.
static bool known(const hdst__node *node)
{
    const hdst__source *source = ((const read_own *)node->dataset->own)->source->source;
    return !source->open_end || node->uncounted || hdst__open_end_is_found(source->open_end);
}

uint64_t hdst__read_records(const hdst_dataset *dataset)
{
    const read_own *own = dataset->own;
    return own->source && own->bound && own->source->source->is_counted ? hdst__bound_source_records(own->bound) : UINT64_MAX;
}

// --- The node, where others than stages read texts, and keep them: all records are read into memory, with their texts ---

static hdst_status build_rows(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    node->own = HDST__NEW(arena, hdst__rows);
    return HDST_OK;
}

static void drop_rows(hdst__node *node)
{
    hdst__rows_free(hdst__engine_runtime(node->dataset->object.context->engine), node->own);
    node->rows = NULL;
    node->ran = false;
}

static hdst_status run_rows(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    hdst__rows *rows = node->own;
    drop_rows(node);
    hdst_status status = count(node, &plan->stats, error);
    if (status != HDST_OK) return status;
    status = hdst__rows_read_all(hdst__engine_runtime(plan->context->engine), &((const read_own *)node->dataset->own)->reader, false, rows,
                                                   &plan->stats, error);
    if (status != HDST_OK) return status;
    node->ran = true;
    node->rows = rows->records;
    node->row_count = rows->count;
    node->texts = hdst__text_heap_hold(rows->texts);
    node->reader = hdst__node_rows_reader(node, node->dataset->record);
    return HDST_OK;
}

static hdst_status explain_rows(hdst__node *node, hdst__buffer *out, hdst_error *error)
{
    (void)error;
    const hdst__rows *rows = node->own;
    char bytes[24];
    hdst__buffer_printf(out, "read %u: records come to memory with their texts, as they are kept by who reads them", (unsigned)node->number);
    if (rows->texts) hdst__buffer_printf(out, "; %s of texts", hdst__bytes_text(hdst__text_heap_bytes(rows->texts), bytes));
    hdst__buffer_puts(out, "\n");
    return HDST_OK;
}

hdst_status hdst__read_reach(const hdst__node *node, uint64_t wanted, uint64_t *records, hdst_error *error)
{
    *records = node->reader.records;
    if (!node->reader.open_end || wanted == 0) return HDST_OK;
    while (node->op != &hdst__op_read) node = node->inputs[0];
    hdst__source *source = ((const read_own *)node->dataset->own)->source->source;
    hdst_status status = wanted < HDST__OPEN_RECORDS ? hdst__source_look(source, wanted - 1, error) : HDST_OK;
    *records = wanted;
    if (status != HDST_OK || wanted <= atomic_load(&source->open_end->given)) return status;
    status = count(node, NULL, error);
    *records = source->rows;
    return status;
}

bool hdst__node_reads_texts(const hdst__node *node)
{
    return node->op == &hdst__op_read && ((const read_own *)node->dataset->own)->reader.makes_texts;
}

static bool is_range(const hdst__node *node, uint64_t *first)
{
    const hdst__source *source = ((const read_own *)node->dataset->own)->source->source;
    int64_t begin;
    if (!source || !hdst__source_is_range(source, &begin)) return false;
    *first = (uint64_t)begin;
    return true;
}

static void end(hdst_dataset *dataset)
{
    const read_own *own = dataset->own;
    if (own->bound) hdst__source_unbind(own->bound);
    if (own->source) hdst__object_drop(&own->source->object);
}

const hdst__operator hdst__op_read = {
    .name = "hdst_read", .gives = HDST__GIVES_OTHERS, .own_bytes = sizeof(read_own), .line = line, .run = run, .known = known, .end = end,
    .is_range = is_range,
};

const hdst__operator hdst__op_read_rows = {
    .name = "hdst_read, into memory", .gives = HDST__GIVES_OTHERS, .build = build_rows, .line = line, .run = run_rows, .known = hdst__node_has_run,
    .explain = explain_rows, .drop = drop_rows, .release = drop_rows,
};

// --- The dataset ---

hdst_status hdst__input_count(hdst_source *source, hdst_error *error)
{
    const hdst_context *context = source->object.context;
    char before[sizeof source->source->note];
    snprintf(before, sizeof before, "%s", source->source->note);
    source->source->skips_malformed = hdst__engine_settings(context->engine)->skip_failed;
    hdst_status status = hdst__source_count(source->source, hdst__engine_threads(context->engine), error);
    if (status == HDST_OK && strcmp(before, source->source->note)) hdst__log_write(&context->log, HDST__LOG_INFO, "%s", source->source->note);
    return status;
}

static hdst_status fill_read(hdst_dataset *dataset, hdst_source *source, hdst_module *module, const char *record, hdst_error *error)
{
    read_own *own = dataset->own;
    if (hdst__object_status(&source->object, error) != HDST_OK) return error->code;
    if (hdst__check_object(source->object.context, "hdst_read", "module", module, error) != HDST_OK) return error->code;
    if (hdst__check_pointer("hdst_read", "record", record, error) != HDST_OK) return error->code;
    dataset->record = hdst__module_find_record(module, record, error);
    if (!dataset->record) return error->code;
    hdst_status status = hdst__source_bind_uncounted(source->source, dataset->record, &own->bound, error);
    if (status == HDST_OK && hdst__source_knows_rows(source->source)) status = hdst__input_count(source, error);
    if (status != HDST_OK) return status;
    const char *note = hdst__bound_source_note(own->bound);
    if (note) hdst__log_write(&source->object.context->log, HDST__LOG_INFO, "%s", note);
    own->source = source;
    dataset->module = module;
    hdst__object_retain(&source->object);
    hdst__object_retain(&module->object);
    dataset->layout = dataset->record->layout;
    dataset->block = dataset->record->block;
    own->reader = (hdst__reader){hdst__bound_source_fill, own->bound, source->source->rows, dataset->record, dataset->layout, dataset->block, false,
                                hdst__bound_source_concurrent(own->bound), hdst__bound_source_rows(own->bound),
                                .makes_texts = hdst__bound_source_makes_texts(own->bound), .text_bytes = hdst__bound_source_text_bytes(own->bound),
                                .lines = hdst__bound_source_lines(own->bound)};
    return HDST_OK;
}

hdst_dataset *hdst_read(hdst_source *source, hdst_module *module, const char *record)
{
    HDST__NEEDS(hdst_dataset, source, "source");
    hdst_context *context = source->object.context;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, &hdst__op_read, NULL);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_read(dataset, source, module, record, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(context);
    return dataset;
}
