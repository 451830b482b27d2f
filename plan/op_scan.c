// SPDX-License-Identifier: Apache-2.0
// Prefix sums: records whose fields hold the sum of themselves and of all records before, or of those before that belong to the same run of equal keys. A first
// pass over the records finds the sums of blocks, from which those in front of each block follow; records are then summed from there as they are read, in any
// order. Sums of floats are superaccumulators throughout, so each prefix is exact and rounded once.
#include "accum/superaccumulator.h"
#include "base/costs_host.h"
#include "plan/plan.h"
#include "record/field_path.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_FIELDS = 64, BLOCK = 8192, PIECE_BYTES = 64 << 10, MOST_WORDS = HDST__F64_DIGITS + 1 };

typedef struct field_list {
    hdst__field_place place[MOST_FIELDS];
    size_t count;
} field_list;

typedef struct scan_own {
    field_list sums, keys;
    bool exclusive;
} scan_own;

// Sums so far, and the keys of the last record: words of each summed field, one after another, then a word for each key.
typedef struct scan_node {
    const hdst__storage *storage;   // C structs
    uint32_t words[MOST_FIELDS];    // of each sum
    uint64_t state_words;           // of all
    uint64_t blocks;
    int64_t *states;                // by block: where it begins; while blocks are summed: what they come to
    uint64_t *first_keys;           // by block
    bool *breaks;                   // by block: whether a run ends within it
    _Atomic uint64_t failed;        // the first block that could not be read
} scan_node;

// --- Fields ---

static bool has_field(const field_list *fields, const hdst__field_place *place)
{
    for (size_t i = 0; i < fields->count; i++)
        if (fields->place[i].leaf == place->leaf && fields->place[i].element == place->element) return true;
    return false;
}

static hdst_status add_field(field_list *fields, const hdst__record *record, const hdst__field_place *place, const char *what, hdst_error *error)
{
    const hdst__leaf *leaf = &record->leaves[place->leaf];
    if (place->elements != 1) return hdst__error_set(error, HDST_E_USAGE, "field '%s' is an array: hdst_scan %s single numbers", leaf->path, what);
    if (leaf->kind == HDST__TEXT) return hdst__error_set(error, HDST_E_UNSUPPORTED, "field '%s' is a text: hdst_scan %s numbers", leaf->path, what);
    if (has_field(fields, place)) return hdst__error_set(error, HDST_E_USAGE, "field '%s' is named twice", leaf->path);
    if (fields->count == MOST_FIELDS) return hdst__error_set(error, HDST_E_UNSUPPORTED, "hdst_scan %s more than %d fields", what, (int)MOST_FIELDS);
    fields->place[fields->count++] = *place;
    return HDST_OK;
}

static hdst_status read_fields(field_list *fields, const hdst__record *record, const char *text, const char *what, hdst_error *error)
{
    for (const char *at = text;; at++) {
        const char *end = at + strcspn(at, ","), *last = end;
        hdst__field_place place;
        while (at < end && *at == ' ') at++;
        while (last > at && last[-1] == ' ') last--;
        hdst_status status = hdst__field_find_part(record, at, (size_t)(last - at), &place, error);
        if (status == HDST_OK) status = add_field(fields, record, &place, what, error);
        if (status != HDST_OK || !*end) return status;
        at = end;
    }
}

// --- Sums ---

static hdst__kind kind_of(const hdst__node *node, const hdst__field_place *place) { return node->dataset->record->leaves[place->leaf].kind; }

static char *place_in(const hdst__node *node, const hdst__field_place *place, char *row)
{
    return row + hdst__leaf_offset(&node->dataset->record->leaves[place->leaf], place->element);
}

// Of an integer its value, from a signed one with its sign; of a float its bits.
static uint64_t load(hdst__kind kind, const char *from)
{
    uint64_t bits = 0;
    const uint32_t size = hdst__scalar_size(kind);
    memcpy(&bits, from, size);
    const bool is_signed = kind == HDST__I8 || kind == HDST__I16 || kind == HDST__I32;
    return is_signed ? (uint64_t)((int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size)) : bits;
}

static void add(int64_t *words, hdst__kind kind, uint64_t bits)
{
    if (hdst__kind_is_float(kind)) hdst__superaccumulator_add(words, kind, bits);
    else words[0] = (int64_t)((uint64_t)words[0] + bits);
}

static uint64_t value_of(const int64_t *words, hdst__kind kind)
{
    return hdst__kind_is_float(kind) ? hdst__superaccumulator_round(words, kind) : (uint64_t)words[0];
}

static void merge(const hdst__node *node, int64_t *to, const int64_t *from)
{
    const scan_own *by = node->dataset->own;
    const scan_node *own = node->own;
    for (size_t i = 0; i < by->sums.count; to += own->words[i], from += own->words[i], i++) {
        const hdst__kind kind = kind_of(node, &by->sums.place[i]);
        if (hdst__kind_is_float(kind)) hdst__superaccumulator_merge(to, from, kind);
        else add(to, kind, (uint64_t)from[0]);
    }
}

// --- Records ---

static int64_t *keys_of(const hdst__node *node, int64_t *state)
{
    return state + ((const scan_node *)node->own)->state_words - ((const scan_own *)node->dataset->own)->keys.count;
}

// A record of another key than the one before begins a run: whether it does.
static bool take_keys(const hdst__node *node, int64_t *state, char *row)
{
    const scan_own *by = node->dataset->own;
    int64_t *keys = keys_of(node, state);
    bool differs = false;
    for (size_t i = 0; i < by->keys.count; i++) {
        const int64_t key = (int64_t)load(kind_of(node, &by->keys.place[i]), place_in(node, &by->keys.place[i], row));
        differs |= key != keys[i];
        keys[i] = key;
    }
    if (differs) memset(state, 0, (size_t)(keys - state) * sizeof *state);
    return differs;
}

// write: the record's fields become sums.
static void take_record(const hdst__node *node, int64_t *state, char *row, bool write)
{
    const scan_own *by = node->dataset->own;
    const scan_node *own = node->own;
    for (size_t i = 0; i < by->sums.count; state += own->words[i], i++) {
        const hdst__kind kind = kind_of(node, &by->sums.place[i]);
        char *at = place_in(node, &by->sums.place[i], row);
        const uint64_t addend = load(kind, at), before = write && by->exclusive ? value_of(state, kind) : 0;
        add(state, kind, addend);
        const uint64_t value = !write ? addend : by->exclusive ? before : value_of(state, kind);
        memcpy(at, &value, hdst__scalar_size(kind));
    }
}

static hdst_status read_rows(const hdst__node *node, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const hdst__reader *from = &node->inputs[0]->reader;
    void *buffers[] = {rows};
    return from->fill(from->user, first, count, ((const scan_node *)node->own)->storage, buffers, 0, error);
}

// --- Blocks ---

static hdst_status sum_block(hdst__node *node, uint64_t block, hdst_error *error)
{
    scan_node *own = node->own;
    const hdst_dataset *dataset = node->dataset;
    const uint64_t first = block * BLOCK, left = node->inputs[0]->reader.records - first, count = left < BLOCK ? left : BLOCK, size = dataset->record->size;
    int64_t *state = own->states + block * own->state_words;
    char *rows = hdst__alloc(hdst__owned_by(dataset->object.context, HDST__OWNER_READERS), count * size);
    if (!rows) return hdst__error_memory(error, "records to sum");
    hdst_status status = hdst__cancel_check(&dataset->object.context->cancel, first, node->inputs[0]->reader.records, error);
    if (status == HDST_OK) status = read_rows(node, first, count, rows, error);
    memset(state, 0, own->state_words * sizeof *state);
    own->breaks[block] = false;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        const bool begins = take_keys(node, state, rows + i * size);
        const size_t keys = ((const scan_own *)dataset->own)->keys.count;
        if (i == 0 && keys) memcpy(own->first_keys + block * keys, keys_of(node, state), keys * sizeof *own->first_keys);
        own->breaks[block] |= begins && i > 0;
        take_record(node, state, rows + i * size, false);
    }
    hdst__free(hdst__owned_by(dataset->object.context, HDST__OWNER_READERS), rows);
    return status;
}

static void work(void *user, uint64_t block)
{
    hdst__node *node = user;
    scan_node *own = node->own;
    if (sum_block(node, block, NULL) == HDST_OK) return;
    uint64_t before = atomic_load(&own->failed);
    while (block < before && !atomic_compare_exchange_weak(&own->failed, &before, block)) {}
}

// From what blocks come to: what there is in front of each. The first block has nothing in front, and zeroes as the keys before.
static void put_together(hdst__node *node)
{
    scan_node *own = node->own;
    const size_t keys = ((const scan_own *)node->dataset->own)->keys.count;
    int64_t front[MOST_FIELDS * MOST_WORDS + MOST_FIELDS] = {0}, here[MOST_FIELDS * MOST_WORDS + MOST_FIELDS];
    const size_t bytes = own->state_words * sizeof *front;
    for (uint64_t block = 0; block < own->blocks; block++) {
        int64_t *state = own->states + block * own->state_words;
        memcpy(here, state, bytes);
        memcpy(state, front, bytes);
        const bool same_run = !own->breaks[block] && !memcmp(keys_of(node, front), own->first_keys + block * keys, keys * sizeof *front);
        if (same_run) merge(node, front, here);
        else memcpy(front, here, bytes);
    }
}

static hdst_status take_memory(hdst__node *node, hdst_error *error)
{
    scan_node *own = node->own;
    const size_t keys = ((const scan_own *)node->dataset->own)->keys.count;
    const hdst__allocator *allocator = hdst__owned_by(node->dataset->object.context, HDST__OWNER_ACCUMULATORS);
    own->states = hdst__alloc(allocator, own->blocks * own->state_words * sizeof *own->states + 1);
    own->first_keys = hdst__alloc_zero(allocator, own->blocks * keys * sizeof *own->first_keys + 1);
    own->breaks = hdst__alloc_zero(allocator, own->blocks + 1);
    return own->states && own->first_keys && own->breaks ? HDST_OK : hdst__error_memory(error, "sums of blocks of records");
}

static void release(hdst__node *node)
{
    scan_node *own = node->own;
    const hdst__allocator *allocator = hdst__owned_by(node->dataset->object.context, HDST__OWNER_ACCUMULATORS);
    hdst__free(allocator, own->states);
    hdst__free(allocator, own->first_keys);
    hdst__free(allocator, own->breaks);
    own->states = NULL;
    own->first_keys = NULL;
    own->breaks = NULL;
}

// --- Reading ---

// A piece of one block, from where its sums so far are known.
static hdst_status fill_piece(const hdst__node *node, int64_t *state, char *rows, uint64_t first, uint64_t count, uint64_t wanted,
                              const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const scan_node *own = node->own;
    const uint64_t size = node->dataset->record->size, skip = wanted > first ? wanted - first : 0;
    hdst_status status = read_rows(node, first, count, rows, error);
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        take_keys(node, state, rows + i * size);
        take_record(node, state, rows + i * size, i >= skip);
    }
    if (status == HDST_OK && count > skip) hdst__storage_copy(storage, buffers, to_first, own->storage, (const void *[]){rows}, skip, count - skip);
    return status;
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__node *node = user;
    const scan_node *own = node->own;
    const hdst__allocator *allocator = hdst__owned_by(node->dataset->object.context, HDST__OWNER_READERS);
    const uint64_t size = node->dataset->record->size, piece = PIECE_BYTES / size ? PIECE_BYTES / size : 1, end = first + count, bytes = own->state_words * 8;
    if (!count) return HDST_OK;
    char *rows = hdst__alloc(allocator, bytes + piece * size);
    hdst_status status = rows ? HDST_OK : hdst__error_memory(error, "records to sum");
    int64_t *state = (int64_t *)(void *)rows;
    if (rows) memcpy(state, own->states + first / BLOCK * own->state_words, bytes);
    for (uint64_t at = first / BLOCK * BLOCK; at < end && status == HDST_OK;) {
        const uint64_t left = end - at, part = left < piece ? left : piece, from = at > first ? at : first;
        status = fill_piece(node, state, rows + bytes, at, part, first, storage, buffers, to_first + (from - first), error);
        at += part;
    }
    hdst__free(allocator, rows);
    return status;
}

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    const scan_own *own = dataset->own;
    hdst__buffer_puts(out, " with sums so far of ");
    for (size_t i = 0; i < own->sums.count; i++) hdst__buffer_printf(out, "%s%s", i ? ", " : "", dataset->record->leaves[own->sums.place[i].leaf].path);
    for (size_t i = 0; i < own->keys.count; i++)
        hdst__buffer_printf(out, "%s%s", i ? ", " : " within ", dataset->record->leaves[own->keys.place[i].leaf].path);
}

static hdst_status build(hdst__arena *arena, hdst__node *node, hdst_error *error)
{
    (void)error;
    const scan_own *by = node->dataset->own;
    scan_node *own = HDST__NEW(arena, scan_node);
    node->own = own;
    own->storage = hdst__storage_make(arena, node->dataset->record, HDST__AOS, 0, (uint64_t)1 << 20);   // the rule of the addresses alone is wanted
    for (size_t i = 0; i < by->sums.count; i++) {
        const hdst__kind kind = kind_of(node, &by->sums.place[i]);
        own->words[i] = hdst__kind_is_float(kind) ? hdst__superaccumulator_digits(kind) + 1 : 1;
        own->state_words += own->words[i];
    }
    own->state_words += by->keys.count;
    return HDST_OK;
}

static hdst_status sum_blocks(hdst__node *node, hdst_error *error)
{
    scan_node *own = node->own;
    const hdst__reader *from = &node->inputs[0]->reader;
    own->failed = UINT64_MAX;
    if (from->concurrent && !from->on_device) hdst__thread_pool_run(hdst__engine_threads(node->dataset->object.context->engine), own->blocks, work, node);
    else for (uint64_t i = 0; i < own->blocks && own->failed == UINT64_MAX; i++) work(node, i);
    // Memory that several threads had none for may be there for one.
    hdst_status status = HDST_OK;
    for (uint64_t i = own->failed; i < own->blocks && status == HDST_OK; i++) status = sum_block(node, i, error);
    return status;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan;
    scan_node *own = node->own;
    const hdst__reader *from = &node->inputs[0]->reader;
    release(node);
    node->ran = false;
    own->blocks = from->records / BLOCK + (from->records % BLOCK > 0);
    hdst_status status = take_memory(node, error);
    if (status == HDST_OK) status = sum_blocks(node, error);
    if (status != HDST_OK) return status;
    put_together(node);
    node->ran = true;
    node->reader = (hdst__reader){.fill = fill, .user = node, .records = from->records, .record = node->dataset->record, .layout = HDST__AOS,
                                  .held = from->held, .concurrent = from->concurrent, .on_device = from->on_device};
    return HDST_OK;
}

const hdst__operator hdst__op_scan = {
    .name = "hdst_scan", .gives = HDST__GIVES_EACH, .own_bytes = sizeof(scan_own), .describe = describe, .build = build, .run = run,
    .known = hdst__node_has_run, .release = release,
};

// --- The dataset ---

static hdst_status check_fields(const hdst__record *record, const scan_own *own, hdst_error *error)
{
    for (size_t i = 0; i < own->sums.count; i++) {
        const hdst__field_place *place = &own->sums.place[i];
        const char *path = record->leaves[place->leaf].path;
        if (record->leaves[place->leaf].kind == HDST__BOOL) return hdst__error_set(error, HDST_E_USAGE, "field '%s' is a bool, which has no sum", path);
        if (has_field(&own->keys, place)) return hdst__error_set(error, HDST_E_USAGE, "field '%s' is both summed and what runs go by", path);
    }
    return HDST_OK;
}

static hdst_status fill_scan(hdst_dataset *dataset, const char *fields, const hdst_scan_options *given, hdst_error *error)
{
    scan_own *own = dataset->own;
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    hdst_status status = hdst__dataset_has_records(dataset, "hdst_scan", error);
    if (status == HDST_OK && given)
        status = hdst__read_options("hdst_scan_options", "HDST_SCAN_OPTIONS_INIT", &options, sizeof options, sizeof options, given, given->size, error);
    if (status == HDST_OK) status = read_fields(&own->sums, dataset->record, fields ? fields : "", "sums", error);
    if (status == HDST_OK && options.within) status = read_fields(&own->keys, dataset->record, options.within, "goes by", error);
    if (status == HDST_OK) status = check_fields(dataset->record, own, error);
    own->exclusive = options.exclusive;
    hdst__dataset_as_structs(dataset);
    return status;
}

hdst_dataset *hdst_scan(hdst_dataset *from, const char *fields, const hdst_scan_options *options)
{
    HDST__NEEDS(hdst_dataset, from, "dataset");
    hdst__lock(from->object.context);
    hdst_dataset *dataset = hdst__dataset_new(from->object.context, &hdst__op_scan, from);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_scan(dataset, fields, options, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(from->object.context);
    return dataset;
}
