// SPDX-License-Identifier: Apache-2.0
// One side of a join in order (shuffle/join/join_side.h).
#include "shuffle/join/join_side.h"

#include "base/costs_host.h"

// --- Records behind their hash and the words of their key, which a sort goes by ---

// Of a key of at most 4 bytes the hash says all.
static bool needs_words(const hdst__key_fields *key) { return key->has_text || key->bytes > 4; }

// Numbers between texts, from field `first` on: their part of the key.
static hdst__key_fields numbers_from(const hdst__key_fields *key, size_t first)
{
    size_t count = 0;
    while (first + count < key->count && key->field[first + count].kind != HDST__TEXT) count++;
    return hdst__key_fields_of(key->field + first, count);
}

static uint64_t words_of(const hdst__key_fields *numbers) { return (numbers->bytes + 7) / 8; }

static uint64_t count_words(const hdst__key_fields *key)
{
    uint64_t words = 0;
    for (size_t i = 0; i < key->count;) {
        const hdst__key_fields numbers = numbers_from(key, i);
        words += words_of(&numbers);
        i += numbers.count ? numbers.count : 1;
    }
    return words;
}

static void write_words(const hdst__key_fields *key, const char *row, uint64_t *to)
{
    for (size_t i = 0; i < key->count;) {
        const hdst__key_fields numbers = numbers_from(key, i);
        if (numbers.count) hdst__key_fields_pack(&numbers, row, to);
        to += words_of(&numbers);
        i += numbers.count ? numbers.count : 1;
    }
}

static const hdst__record *make_keyed(hdst__join_side *side, uint64_t words)
{
    hdst__arena *arena = &side->arena;
    hdst__record *keyed = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 3);
    size_t count = 0;
    fields[count++] = (hdst__field){.name = "hash", .type = hdst__type_scalar(HDST__U32)};
    if (words) fields[count++] = (hdst__field){.name = "word", .type = hdst__type_array(arena, hdst__type_scalar(HDST__U64), words)};
    fields[count++] = (hdst__field){.name = "record", .type = hdst__type_record(arena, side->record)};
    *keyed = (hdst__record){.name = "record behind its key", .fields = fields, .field_count = count};
    return hdst__record_finish(arena, keyed, &side->why_not) ? keyed : NULL;
}

// The place of a text of the key among the leaves of the keyed record.
static hdst__sort_key text_key(const hdst__join_side *side, uint64_t offset, uint32_t leaves_before)
{
    for (uint32_t l = 0; l < side->record->leaf_count; l++) {
        const hdst__leaf *leaf = &side->record->leaves[l];
        for (uint64_t e = 0; leaf->kind == HDST__TEXT && e < leaf->elements; e++)
            if (hdst__leaf_offset(leaf, e) == offset) return (hdst__sort_key){.leaf = leaves_before + l, .element = e};
    }
    return (hdst__sort_key){0};         // fields of a key lie in the record
}

static void list_keys(hdst__join_side *side, uint64_t words)
{
    const hdst__key_fields *key = &side->key;
    uint64_t word = 0;
    side->keys = HDST__NEW_ARRAY(&side->arena, hdst__sort_key, 1 + words + key->count);
    side->keys[side->key_count++] = (hdst__sort_key){.leaf = 0};
    for (size_t i = 0; i < key->count && needs_words(key);) {
        const hdst__key_fields numbers = numbers_from(key, i);
        for (uint64_t w = 0; w < words_of(&numbers); w++) side->keys[side->key_count++] = (hdst__sort_key){.leaf = 1, .element = word++};
        if (!numbers.count) side->keys[side->key_count++] = text_key(side, key->field[i].offset, 1 + (words > 0));
        i += numbers.count ? numbers.count : 1;
    }
}

hdst_status hdst__join_side_init(hdst__join_side *side, hdst__engine *engine, const hdst__record *record, const hdst__key_field *key, size_t key_count,
                                 hdst_error *error)
{
    jmp_buf out_of_memory;
    *side = (hdst__join_side){.engine = engine, .record = record, .key = hdst__key_fields_of(key, key_count)};
    hdst__arena_init(&side->arena, hdst__engine_owned(engine, HDST__OWNER_SORTS), &out_of_memory);
    hdst__group_init(&side->group, engine, record, key, key_count);
    side->group.without_runs = true;         // they are found as both sides are walked through
    if (setjmp(out_of_memory)) return hdst__error_memory(error, "a join");
    const uint64_t words = needs_words(&side->key) ? count_words(&side->key) : 0;
    side->keyed = make_keyed(side, words);
    if (side->keyed) list_keys(side, words);
    side->arena.out_of_memory = NULL;
    return HDST_OK;
}

void hdst__join_side_forget(hdst__join_side *side)
{
    if (!side->engine) return;
    hdst__group_release(&side->group);
    hdst__rows_free(hdst__engine_runtime(side->engine), &side->read);
    if (side->sort) hdst__sort_forget(side->sort);
    side->rows = NULL;
    side->count = 0;
}

void hdst__join_side_release(hdst__join_side *side)
{
    if (!side->engine) return;
    hdst__join_side_forget(side);
    hdst__sort_destroy(side->sort);
    hdst__arena_destroy(&side->arena);
    *side = (hdst__join_side){0};
}

// --- Through a sort ---

static void add_keys(const hdst__join_side *side, const char *from, uint64_t count, char *to)
{
    const uint64_t size = side->record->size, step = side->keyed->size, at = side->keyed->fields[side->keyed->field_count - 1].offset;
    for (uint64_t i = 0; i < count; i++, from += size, to += step) {
        const uint32_t hash = hdst__key_fields_hash(&side->key, from);
        memset(to, 0, step);                // padding is nobody's secret when it goes to a file
        memcpy(to, &hash, sizeof hash);
        if (side->keyed->field_count == 3) write_words(&side->key, from, (uint64_t *)(to + side->keyed->fields[1].offset));
        memcpy(to + at, from, size);
    }
}

// Only ever asked for C structs: its reader says so.
static hdst_status fill_keyed(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                              hdst_error *error)
{
    const hdst__join_side *side = user;
    const uint64_t most = side->piece->capacity < count ? side->piece->capacity : count;
    const hdst__allocator *allocator = hdst__engine_owned(side->engine, HDST__OWNER_SORTS);
    char *rows = hdst__alloc(allocator, most * side->record->size + 1), *to = (char *)buffers[0] + to_first * storage->record->size;
    void *to_rows[] = {rows};
    hdst_status status = rows ? HDST_OK : hdst__error_memory(error, "records of a join");
    for (uint64_t done = 0, part; done < count && status == HDST_OK; done += part) {
        part = count - done < most ? count - done : most;
        status = hdst__cancel_check(hdst__engine_cancel(side->engine), first + done, side->input->records, error);
        if (status == HDST_OK) status = side->input->fill(side->input->user, first + done, part, side->piece, to_rows, 0, error);
        if (status == HDST_OK) add_keys(side, rows, part, to + done * storage->record->size);
    }
    hdst__free(allocator, rows);
    return status;
}

static hdst_status sort_input(hdst__join_side *side, const hdst__reader *input, hdst_error *error)
{
    const hdst__reader keyed = {.fill = fill_keyed, .user = side, .records = input->records, .record = side->keyed, .layout = HDST__AOS,
                                .concurrent = input->concurrent, .on_device = input->on_device};
    const uint64_t share = hdst__budget_left(hdst__engine_memory(side->engine)) / HDST__HOST_JOIN_PIECE_SHARE,
        fit = (share < HDST__HOST_JOIN_PIECE_BYTES ? share : HDST__HOST_JOIN_PIECE_BYTES) / side->record->size + 1;
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, hdst__engine_owned(side->engine, HDST__OWNER_SORTS), &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "a join");
    } else {
        side->input = input;
        side->piece = hdst__storage_make(&arena, side->record, HDST__AOS, 0, fit);
        status = side->piece ? hdst__sort_run(side->sort, &keyed, NULL, NULL, false, error) : hdst__error_memory(error, "a join");
    }
    hdst__arena_destroy(&arena);
    side->input = NULL;
    side->piece = NULL;
    return status;
}

static hdst_status order_by_sort(hdst__join_side *side, const hdst__reader *input, hdst__run_stats *stats, hdst_error *error)
{
    if (!side->keyed)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "records of '%s' behind their key, for a sort: %s", side->record->name, side->why_not);
    if (!side->sort) side->sort = hdst__sort_create(side->engine, side->keyed, side->keys, side->key_count);
    if (!side->sort) return hdst__error_memory(error, "a sort");
    hdst_status status = sort_input(side, input, error);
    if (status != HDST_OK) return status;
    const hdst__reader sorted = hdst__sort_reader(side->sort);
    side->count = sorted.records;
    side->rows = hdst__sort_rows(side->sort);
    side->step = side->keyed->size;
    side->at = side->keyed->fields[side->keyed->field_count - 1].offset;
    side->way = "sorted";
    if (side->rows || !side->count) return HDST_OK;
    status = hdst__rows_read_all(hdst__engine_runtime(side->engine), &sorted, false, &side->read, stats, error);
    side->rows = side->read.records;
    if (side->read.mapped) side->way = "sorted, in a temporary file";
    hdst__sort_forget(side->sort);
    return status;
}

// --- In memory ---

static hdst_status order_in_memory(hdst__join_side *side, const hdst__reader *input, hdst_error *error)
{
    bool more;
    const hdst_status status = hdst__group_next(&side->group, input, &more, error);
    if (status != HDST_OK) return status;
    side->rows = side->group.rows;
    side->count = side->group.row_count;
    side->step = side->record->size;
    side->at = 0;
    side->way = "in memory";
    return HDST_OK;
}

hdst_status hdst__join_side_order(hdst__join_side *side, const hdst__reader *input, hdst__run_stats *stats, hdst_error *error)
{
    hdst__join_side_forget(side);
    side->way = NULL;
    const bool fits = hdst__group_start(&side->group, input, NULL) == HDST_OK && side->group.whole;
    const hdst_status status = fits ? order_in_memory(side, input, error) : order_by_sort(side, input, stats, error);
    if (status != HDST_OK) hdst__join_side_forget(side);
    return status;
}
