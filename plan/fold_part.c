// SPDX-License-Identifier: Apache-2.0
// Folds whose records are a part of a whole. The tree is the whole's: runs of 64 begin at multiples of 64 of its numbers. The stage folds the runs that are
// whole in the part, on whatever devices; the records in front of the first one and behind the last one stay as they are, and levels above the first, which
// are few, are folded here as far as they go.
#include "plan/stage_node.h"

#include "codegen/interp/fold_range.h"
#include "codegen/ir/fold_tree.h"
#include "engine/memory/host_rows.h"

#include <inttypes.h>
#include <string.h>

// A fold's node has no other struct of its own.
static hdst__stage_node *own_of(const hdst__node *node) { return node->own; }

// Records in front of the first run.
static uint64_t head_of(const hdst__fold_part *part)
{
    const uint64_t head = (HDST__FOLD_RECORDS - part->first % HDST__FOLD_RECORDS) % HDST__FOLD_RECORDS;
    return head < part->whole.records ? head : part->whole.records;
}

void hdst__fold_part_keep(hdst__node *node, uint64_t first)
{
    hdst__fold_part *part = &own_of(node)->part;
    part->wanted = part->changed = true;
    part->first = first;
}

void hdst__fold_part_release(hdst__node *node)
{
    hdst__fold_part *part = &own_of(node)->part;
    hdst__free(HDST__ALLOCATOR(node->dataset), part->range.rows);
    hdst__free(HDST__ALLOCATOR(node->dataset), part->record);
    hdst__text_heap_drop(part->texts);
    part->texts = NULL;
    part->range = (hdst__record_range){0};
    part->record = NULL;
}

// A part that begins elsewhere may read its input in another layout than the stage was made for.
void hdst__fold_part_begin(hdst__node *node)
{
    hdst__stage_node *own = node->own;
    if (own->part.changed) hdst__stage_call_end(&own->call);
    own->part.changed = false;
    hdst__fold_part_release(node);
}

// --- Input ---

static hdst_status fill_behind_head(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                    hdst_error *error)
{
    const hdst__fold_part *part = user;
    return part->whole.fill(part->whole.user, head_of(part) + first, count, storage, buffers, to_first, error);
}

// What a device has of the input begins with no run then, so that it is read as from elsewhere.
void hdst__fold_part_input(hdst__stage_node *own, hdst__stage_spec *spec)
{
    hdst__fold_part *part = &own->part;
    if (part->changed) return;
    if (part->whole.fill != spec->reader.fill || part->whole.user != spec->reader.user) hdst__stage_call_end(&own->call);     // its records are its own here
    part->whole = spec->reader;
    const uint64_t head = head_of(part);
    spec->first_level = true;
    spec->before = part->first + head;
    if (own->call.stage) hdst__stage_fold_first_level(own->call.stage, spec->before);
    if (!head) return;
    spec->cache = NULL;
    spec->reader.fill = fill_behind_head;
    spec->reader.user = part;
    spec->reader.records -= head;
    spec->reader.rows = NULL;
}

// --- What the run came to ---

typedef struct stretch {
    const hdst__reader *whole;
    uint64_t first;
} stretch;

static hdst_status fill_stretch(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                hdst_error *error)
{
    const stretch *s = user;
    return s->whole->fill(s->whole->user, s->first + first, count, storage, buffers, to_first, error);
}

// What records refer to goes where it lasts as they do. Where they are the function's, only texts that it looks at in another case need that.
static hdst_status keep_texts(const hdst__node *node, void *records, uint64_t count, hdst_error *error)
{
    hdst__text_writer writer = {own_of(node)->part.texts, NULL, NULL};
    return writer.heap ? hdst__text_keep_rows(&writer, node->dataset->record, records, count, error) : HDST_OK;
}

static hdst_status settle_texts(const hdst__node *node, void *records, uint64_t count, hdst_error *error)
{
    hdst__text_writer writer = {own_of(node)->part.texts, NULL, NULL};
    return writer.heap ? hdst__text_settle_rows(&writer, node->dataset->record, records, count, error) : HDST_OK;
}

static hdst_status begin_texts(const hdst__node *node, hdst_error *error)
{
    hdst__fold_part *part = &own_of(node)->part;
    if (!node->dataset->record->has_text) return HDST_OK;
    part->texts = hdst__text_heap_create(hdst__engine_runtime(node->dataset->object.context->engine), HDST__OWNER_ACCUMULATORS);
    return part->texts ? HDST_OK : hdst__error_memory(error, "unfinished records of a reduce");
}

// A few records as they are.
static hdst_status read_records(const hdst__node *node, uint64_t first, uint64_t count, char *to, hdst_error *error)
{
    const hdst__fold_part *part = &own_of(node)->part;
    hdst__runtime *runtime = hdst__engine_runtime(node->dataset->object.context->engine);
    stretch of = {&part->whole, first};
    hdst__run_stats ignored = {0};
    hdst__rows rows = {0};
    if (!count) return HDST_OK;
    hdst__reader reader = part->whole;
    reader.fill = fill_stretch;
    reader.user = &of;
    reader.records = count;
    reader.rows = NULL;
    hdst_status status = hdst__rows_read(runtime, &reader, &rows, &ignored, error);
    if (status == HDST_OK) memcpy(to, rows.records, count * reader.record->size);
    if (status == HDST_OK) status = keep_texts(node, to, count, error);
    hdst__rows_free(runtime, &rows);
    return status;
}

static hdst_status gather(hdst__node *node, const hdst__stage_output *output, const hdst__folder *folder, hdst_error *error)
{
    hdst__fold_part *part = &own_of(node)->part;
    const uint64_t size = node->dataset->record->size, records = part->whole.records, head = head_of(part), runs = (records - head) / HDST__FOLD_RECORDS,
                   tail = (records - head) % HDST__FOLD_RECORDS;
    part->range = (hdst__record_range){part->first, records, head + runs + tail, hdst__alloc_zero(folder->allocator, (head + runs + tail) * size)};
    if (!part->range.rows) return hdst__error_memory(error, "unfinished records of a reduce");
    hdst_status status = begin_texts(node, error);
    if (status == HDST_OK) status = read_records(node, 0, head, part->range.rows, error);
    if (status == HDST_OK && runs) {
        memcpy(part->range.rows + head * size, output->records, runs * size);
        status = keep_texts(node, part->range.rows + head * size, runs, error);
    }
    if (status == HDST_OK) status = read_records(node, records - tail, tail, part->range.rows + (head + runs) * size, error);
    if (status == HDST_OK) status = hdst__fold_range_complete(folder, &part->range, head, runs, error);
    if (status == HDST_OK) status = settle_texts(node, part->range.rows, part->range.row_count, error);
    if (status != HDST_OK) return status;
    return hdst__clear_padding(folder->allocator, node->dataset->record, part->range.rows, part->range.row_count) ? HDST_OK
        : hdst__error_memory(error, "unfinished records of a reduce");
}

// The records of a part at the beginning are a whole as well; others have none.
static hdst_status finish(hdst__node *node, hdst__stage_output *output, const hdst__folder *folder, hdst_error *error)
{
    hdst__stage_node *own = node->own;
    hdst__fold_part *part = &own->part;
    output->records = NULL;
    output->record_count = 0;
    if (part->first || (!part->range.count && !own->identity)) return HDST_OK;
    part->record = hdst__alloc_zero(folder->allocator, node->dataset->record->size);
    if (!part->record) return hdst__error_memory(error, "the record of a reduce");
    hdst_status status = HDST_OK;
    if (part->range.count) status = hdst__fold_range_finish(folder, &part->range, part->record, error);
    else memcpy(part->record, own->identity, node->dataset->record->size);
    if (status == HDST_OK) status = settle_texts(node, part->record, 1, error);
    output->texts = part->texts;
    output->records = part->record;
    output->record_count = 1;
    return status;
}

hdst_status hdst__fold_part_take(hdst__node *node, hdst__stage_output *output, hdst_error *error)
{
    const hdst__stage_node *own = node->own;
    const hdst__folder folder = {own->call.func, HDST__ALLOCATOR(node->dataset), &node->dataset->object.context->cancel};
    if (own->part.first + own->part.whole.records < own->part.first)
        return hdst__error_set(error, HDST_E_USAGE, "a part of %" PRIu64 " records cannot begin at record %" PRIu64, own->part.whole.records, own->part.first);
    const hdst_status status = gather(node, output, &folder, error);
    return status == HDST_OK ? finish(node, output, &folder, error) : status;
}
