// SPDX-License-Identifier: Apache-2.0
// Windows: each record with its neighbours in the order of the dataset, as one record that has an array of them. They are put together where they are read,
// slice by slice with the neighbours on both sides, so nothing is kept, and functions behind them fuse.
#include "plan/row_source.h"

#include "plan/kernel_module.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_BYTES = 64 << 10 };

typedef struct window_own {
    uint64_t before, after;
    hdst__named_keys within;
} window_own;

typedef struct window_node {
    hdst__row_source source;
    uint64_t before, after;
} window_node;

// --- Reading ---

// Rows from number `first` of the input on.
typedef struct piece {
    const window_node *own;
    char *rows;
    bool *begins;                   // by row: a run begins there
    uint64_t first, count;
} piece;

static hdst_status read_piece(piece *p, hdst_error *error)
{
    const hdst__row_source *source = &p->own->source;
    const uint64_t size = source->record->size;
    const hdst_status status = hdst__row_source_read(source, p->first, p->count, p->rows, error);
    for (uint64_t i = 1; i < p->count && status == HDST_OK; i++)
        p->begins[i] = hdst__row_source_differs(source, p->rows + (i - 1) * size, p->rows + i * size);
    return status;
}

// The record's neighbours: as many as there are on either side, and belong to its run.
static void put_window(const piece *p, uint64_t number, const hdst__record *record, char *to)
{
    const window_node *own = p->own;
    const uint64_t size = own->source.record->size, at = number - p->first;
    uint64_t first = at, end = at + 1;
    while (first > 0 && at - first < own->before && !p->begins[first]) first--;
    while (end < p->count && end - at <= own->after && !p->begins[end]) end++;
    const uint32_t count = (uint32_t)(end - first), place = (uint32_t)(at - first);
    memset(to, 0, record->size);
    memcpy(to + record->fields[0].offset, &count, sizeof count);
    memcpy(to + record->fields[1].offset, &place, sizeof place);
    memcpy(to + record->fields[2].offset, p->rows + first * size, count * size);
}

static hdst_status fill_piece(piece *p, uint64_t begin, uint64_t count, const hdst__record *record, char *to, hdst_error *error)
{
    const uint64_t all = hdst__row_source_count(&p->own->source), left = all - begin - count;
    p->first = begin < p->own->before ? 0 : begin - p->own->before;
    p->count = begin - p->first + count + (left < p->own->after ? left : p->own->after);
    const hdst_status status = read_piece(p, error);
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) put_window(p, begin + i, record, to + i * record->size);
    return status;
}

// AoS: the reader says so. A piece has at least as many records as there are neighbours, so that not many are read twice.
static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const window_node *own = user;
    const hdst__record *record = storage->record;
    const hdst__allocator *allocator = hdst__row_source_allocator(&own->source);
    const uint64_t size = own->source.record->size, beside = own->before + own->after, fit = PIECE_BYTES / size, wide = fit > beside ? fit : beside;
    const uint64_t most = wide == 0 ? 1 : wide < count ? wide : count;
    if (!count) return HDST_OK;
    char *memory = hdst__alloc(allocator, (most + beside) * (size + 1));
    if (!memory) return hdst__error_memory(error, "records of windows");
    piece p = {.own = own, .rows = memory, .begins = (bool *)(memory + (most + beside) * size)};
    memset(p.begins, 0, most + beside);
    hdst_status status = HDST_OK;
    for (uint64_t at = 0, part; at < count && status == HDST_OK; at += part) {
        part = count - at < most ? count - at : most;
        status = fill_piece(&p, first + at, part, record, (char *)buffers[0] + (to_first + at) * record->size, error);
    }
    hdst__free(allocator, memory);
    return status;
}

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const window_own *own = dataset->own;
    hdst__buffer_printf(out, " with %" PRIu64 " before and %" PRIu64 " behind each", own->before, own->after);
    hdst__named_keys_describe_within(&own->within, dataset->parent->record, out);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const window_own *by = node->dataset->own;
    window_node *own = node->own = HDST__NEW(arena, window_node);
    hdst__row_source_make(arena, node, &by->within, &own->source);
    own->before = by->before;
    own->after = by->after;
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan, (void)error;
    window_node *own = node->own;
    node->reader = hdst__row_source_reader(&own->source, node->dataset->record, hdst__row_source_count(&own->source));
    node->reader.fill = fill;
    node->reader.user = own;
    node->ran = true;
    return HDST_OK;
}

static void end(hdst_dataset *dataset) { hdst__free(HDST__ALLOCATOR(dataset), ((const window_own *)dataset->own)->within.place); }

const hdst__operator hdst__op_window = {
    .name = "hdst_window", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(window_own), .describe = describe, .build = build, .run = run,
    .known = hdst__node_has_run, .end = end,
};

// --- The dataset ---

static bool is_count(const hdst__field *field) { return field->type->kind == HDST__U32; }

static bool is_rows(const hdst__field *field, const hdst__record *has)
{
    if (field->type->kind != HDST__ARRAY) return false;
    const hdst__type *row = field->type->element;
    return row->kind == HDST__RECORD ? hdst__same_records(row->record, has) : has->is_scalar && has->leaves[0].kind == row->kind;
}

static hdst_status misfit(const hdst__record *record, const hdst__record *has, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "record '%s' is no window of '%s'", record->name, has->name);
    hdst__error_hint(error, "struct %s { uint32_t count; uint32_t at; %s row[N]; }, with N = before + 1 + behind", record->name, has->name);
    return HDST_E_USAGE;
}

static hdst_status check_record(const hdst__record *record, const hdst__record *has, const window_own *own, hdst_error *error)
{
    uint64_t wanted;
    if (record->field_count != 3 || !is_count(&record->fields[0]) || !is_count(&record->fields[1]) || !is_rows(&record->fields[2], has))
        return misfit(record, has, error);
    const bool fits = !__builtin_add_overflow(own->before, own->after, &wanted) && !__builtin_add_overflow(wanted, 1, &wanted);
    if (fits && record->fields[2].type->count == wanted) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "'%s.%s' has %" PRIu64 " records, a window of %" PRIu64 " before and %" PRIu64 " behind one is not as long",
                    record->name, record->fields[2].name, record->fields[2].type->count, own->before, own->after);
    hdst__error_hint(error, "its length is before + 1 + behind");
    return HDST_E_USAGE;
}

static hdst_status fill_window(hdst_dataset *dataset, hdst_module *module, const char *record, const char *within, hdst_error *error)
{
    window_own *own = dataset->own;
    hdst_status status = hdst__dataset_has_records(dataset, "hdst_window", error);
    if (status == HDST_OK && within)
        status = hdst__named_keys_read(&own->within, HDST__ALLOCATOR(dataset), "hdst_window", dataset->record, within, error);
    if (status != HDST_OK) return status;
    const hdst__record *window = hdst__module_find_record(module, record, error);
    if (!window) return error->code;
    status = check_record(window, dataset->record, own, error);
    dataset->record = window;
    dataset->module = module;
    hdst__object_retain(&module->object);
    hdst__dataset_as_structs(dataset);
    return status;
}

hdst_dataset *hdst_window(hdst_dataset *from, hdst_module *module, const char *record, uint64_t before, uint64_t behind, const char *within)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst_error error = HDST_ERROR_INIT;
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_window, from);
    hdst_status status = hdst__check_object(from->object.context, __func__, "module", module, &error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "record", record, &error);
    if (status == HDST_OK && dataset->object.context && !dataset->object.error) {
        *(window_own *)dataset->own = (window_own){.before = before, .after = behind};
        status = fill_window(dataset, module, record, within, &error);
    }
    if (status != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
