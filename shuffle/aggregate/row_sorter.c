// SPDX-License-Identifier: Apache-2.0
// Rows by sorting (shuffle/aggregate/row_sorter.h): raw records, and rows, are sorted by (hash, key), stably, and reduced run by run. So many at a time as fit
// a core's cache; the rows of two pieces are merged, then those of four, and so on, so a key with most of the records takes no more memory than others, and no
// keys take more than n log n steps.
#include "shuffle/aggregate/row_sorter.h"

#include "shuffle/sort/radix_sort.h"
#include "base/costs_host.h"

#include <string.h>

enum { RUNS = 48 };                     // of 2^i pieces each

typedef struct row_list {
    uint64_t *rows, count, room;        // in rows
} row_list;

typedef struct hdst__row_sorter {
    const hdst__aggregation_layout *layout;
    const hdst__allocator *allocator;
    hdst__key_batch *words;             // of some records in order
    hdst__overflow_rows *overflow;
    hdst_error *error;
    char *raw, *batch;                  // records of a piece; some raw ones in order
    uint64_t room, count, most;         // bytes there; records; at most
    uint64_t bytes, key_at;             // of a record
    bool has_rows;                      // they are rows, not raw records
    bool ordered;                       // `order` is
    uint64_t *order, *scratch;          // hash << 32 | place in the piece
    row_list run[RUNS], piece, merged;  // run[i]: rows of 2^i pieces, or none; of the piece
} sorter;

static bool no_memory(hdst_error *error)
{
    hdst__error_memory(error, "sorted runs of a reduce by key");
    return false;
}

void hdst__row_sorter_destroy(sorter *s)
{
    if (!s) return;
    void *const memory[] = {s->raw, s->batch, s->order, s->scratch, s->piece.rows, s->merged.rows};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) hdst__free(s->allocator, memory[i]);
    for (uint32_t i = 0; i < RUNS; i++) hdst__free(s->allocator, s->run[i].rows);
    hdst__free(s->allocator, s);
}

static bool take_buffers(sorter *s, uint64_t least)
{
    const uint64_t most = s->room / least;
    s->raw = hdst__alloc(s->allocator, s->room);
    s->batch = hdst__alloc(s->allocator, (uint64_t)s->layout->batch * s->layout->raw_bytes);
    s->order = hdst__alloc(s->allocator, most * sizeof *s->order);
    s->scratch = hdst__alloc(s->allocator, most * sizeof *s->scratch);
    return s->raw && s->batch && s->order && s->scratch;
}

// The records of a piece, and what puts them in order, take no more than half of what is left: rows need the other half.
static uint64_t room_for(const hdst__row_sorter_spec *spec, uint64_t row_bytes, uint64_t least)
{
    const uint64_t share = spec->share / HDST__HOST_SORTED_PIECE_SHARE, least_room = HDST__HOST_SORTED_PIECE_ROWS * row_bytes;
    const uint64_t fit = hdst__budget_left(spec->memory) / 2 / (least + 2 * sizeof(uint64_t)) * least, wanted = share < fit ? share : fit;
    const uint64_t most = HDST__HOST_SORTED_PIECE_BYTES;
    const uint64_t room = spec->forced_bits ? spec->layout->raw_bytes << spec->forced_bits : wanted < most ? wanted : most;
    return room < least_room ? least_room : room;
}

hdst__row_sorter *hdst__row_sorter_create(const hdst__row_sorter_spec *spec)
{
    const hdst__aggregation_layout *layout = spec->layout;
    const uint64_t row_bytes = (uint64_t)layout->row_words * 8, least = row_bytes < layout->raw_bytes ? row_bytes : layout->raw_bytes;
    sorter *s = hdst__alloc_zero(spec->allocator, sizeof *s);
    if (s) {
        *s = (sorter){.layout = layout, .allocator = spec->allocator, .words = spec->batch, .overflow = spec->overflow, .error = spec->error};
        s->room = room_for(spec, row_bytes, least);
    }
    if (s && take_buffers(s, least)) return s;
    hdst__row_sorter_destroy(s);
    no_memory(spec->error);
    return NULL;
}

// --- The order of a piece ---

static const uint64_t *key_at(const sorter *s, uint64_t entry)
{
    return (const uint64_t *)(const void *)(s->raw + (uint32_t)entry * s->bytes + s->key_at);
}

static int compare_entries(const void *sorter_of, uint64_t a, uint64_t b)
{
    const sorter *s = sorter_of;
    return hdst__key_compare(s->layout->texts, key_at(s, a), key_at(s, b), s->layout->key_words);
}

// Entries of equal hashes by their keys, in place of `entry`.
static void order_by_keys(const sorter *s, uint64_t *entry, uint64_t *scratch, uint64_t count)
{
    const uint64_t *sorted = hdst__merge_sort_words(entry, scratch, count, compare_entries, s);
    if (sorted != entry) memcpy(entry, sorted, count * sizeof *entry);
}

// Nearly always the records of one hash have one key.
static void order_equal_hashes(const sorter *s, uint64_t *entry, uint64_t *scratch, uint64_t count)
{
    const uint32_t words = s->layout->key_words;
    for (uint64_t first = 0, end; first < count; first = end) {
        bool same = true;
        for (end = first + 1; end < count && entry[end] >> 32 == entry[first] >> 32; end++)
            same = same && hdst__key_compare(s->layout->texts, key_at(s, entry[first]), key_at(s, entry[end]), words) == 0;
        if (!same) order_by_keys(s, entry + first, scratch + first, end - first);
    }
}

static void sort_piece(sorter *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        uint32_t hash;                  // of a row: the lower half of its tag, on little-endian hosts
        memcpy(&hash, s->raw + i * s->bytes, sizeof hash);
        s->order[i] = (uint64_t)hash << 32 | i;
    }
    uint64_t *sorted = hdst__radix_sort_words(s->order, s->scratch, s->count);
    if (sorted != s->order) {
        s->scratch = s->order;
        s->order = sorted;
    }
    if (s->layout->key_words) order_equal_hashes(s, s->order, s->scratch, s->count);
    s->ordered = true;
}

static bool same_keys(const sorter *s, uint64_t i, uint64_t j)        // places in the order
{
    const uint64_t *order = s->order;
    return order[i] >> 32 == order[j] >> 32 && compare_entries(s, order[i], order[j]) == 0;
}

static uint64_t keys_in_piece(const sorter *s)
{
    uint64_t keys = 1;
    for (uint64_t i = 1; i < s->count; i++) keys += !same_keys(s, i - 1, i);
    return keys;
}

// --- Runs to rows ---

static void free_list(sorter *s, row_list *list)
{
    hdst__free(s->allocator, list->rows);
    *list = (row_list){0};
}

static bool take_list(sorter *s, row_list *list, uint64_t room)
{
    list->rows = hdst__alloc(s->allocator, room * s->layout->row_words * sizeof *list->rows);
    list->room = list->rows ? room : 0;
    return list->rows != NULL;
}

// With some to spare; where there is no memory for that, just as much, and lists that hold nothing give theirs back.
static bool make_room(sorter *s, row_list *list, uint64_t rows)
{
    if (rows <= list->room) return true;
    free_list(s, list);                                    // lists are filled from their beginnings
    if (take_list(s, list, rows + rows / 2)) return true;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count == 0) free_list(s, &s->run[i]);
    if (list != &s->merged) free_list(s, &s->merged);
    return take_list(s, list, rows) || no_memory(s->error);
}

static void combine(const hdst__aggregation_layout *layout, uint64_t *row, const uint64_t *from, uint64_t step)
{
    uint64_t *cell = row + 1 + layout->key_words;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = column->word; w < column->word + column->words; w++) cell[w] = hdst__words_combined(column->cell.op, cell[w], from[w * step]);
    }
}

static int compare_rows(const hdst__aggregation_layout *layout, const uint64_t *a, const uint64_t *b)
{
    return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : hdst__key_compare(layout->texts, a + 1, b + 1, layout->key_words);
}

// The batch's records, which are in order, to the rows that end with `row` (NULL: there is none yet). Returns the last one.
static uint64_t *add_batch(const sorter *s, row_list *list, uint64_t *row)
{
    const hdst__aggregation_layout *layout = s->layout;
    const hdst__key_batch *batch = s->words;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint64_t tag = HDST__KEY_USED | batch->hash[i], *key = batch->key + (size_t)i * layout->key_words;
        if (!row || row[0] != tag || hdst__key_compare(layout->texts, row + 1, key, layout->key_words)) {
            row = list->rows + list->count++ * layout->row_words;
            memset(row, 0, layout->row_words * sizeof *row);
            row[0] = tag;
            memcpy(row + 1, key, layout->key_words * sizeof *row);
        }
        combine(layout, row, batch->word + i, layout->batch);
    }
    return row;
}

static bool reduce_rows(sorter *s)
{
    const hdst__aggregation_layout *layout = s->layout;
    uint64_t *row = NULL;
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t *from = (const uint64_t *)(const void *)(s->raw + (uint32_t)s->order[i] * s->bytes);
        const bool same = row && compare_rows(layout, row, from) == 0;
        if (!same) row = memcpy(s->piece.rows + s->piece.count++ * layout->row_words, from, s->bytes);
        else combine(layout, row, from + 1 + layout->key_words, 1);
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__overflow_rows_move_row(s->overflow, row, s->error)) return false;
    }
    return true;
}

static bool reduce_raw(sorter *s)
{
    const hdst__aggregation_layout *layout = s->layout;
    uint64_t *row = NULL;
    for (uint64_t first = 0; first < s->count; first += s->words->count) {
        const uint64_t left = s->count - first;
        const uint32_t count = left < layout->batch ? (uint32_t)left : layout->batch;
        for (uint32_t i = 0; i < count; i++)
            memcpy(s->batch + (uint64_t)i * layout->raw_bytes, s->raw + (uint32_t)s->order[first + i] * (uint64_t)layout->raw_bytes, layout->raw_bytes);
        hdst__key_batch_open_raw(s->words, layout, s->batch, count);
        hdst__key_batch_words(s->words, layout, false);
        row = add_batch(s, &s->piece, row);
        if (s->words->exceptions && !hdst__overflow_rows_add_exceptions(s->overflow, s->words, s->error)) return false;
        // Other rows of the batch had no more additions than it has records.
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__overflow_rows_move_row(s->overflow, row, s->error)) return false;
    }
    return true;
}

// --- Pieces to a partition ---

// The rows of the piece and of one run, which comes before it, to the piece.
static bool merge_run(sorter *s, row_list *run)
{
    if (!s->piece.count) {          // it may have no memory yet
        const row_list alone = *run;
        *run = s->piece;
        s->piece = alone;
        return true;
    }
    const hdst__aggregation_layout *layout = s->layout;
    const uint64_t words = layout->row_words, *a = run->rows, *b = s->piece.rows, *a_end = a + run->count * words, *b_end = b + s->piece.count * words;
    s->merged.count = 0;
    if (!make_room(s, &s->merged, run->count + s->piece.count)) return false;
    while (a < a_end || b < b_end) {
        const int order = a == a_end ? 1 : b == b_end ? -1 : compare_rows(layout, a, b);
        uint64_t *to = s->merged.rows + s->merged.count++ * words;
        memcpy(to, order <= 0 ? a : b, words * sizeof *to);
        if (order == 0) combine(layout, to, b + 1 + layout->key_words, 1);
        if (order == 0 && layout->fixed && hdst__row_is_full(layout, to) && !hdst__overflow_rows_move_row(s->overflow, to, s->error)) return false;
        if (order <= 0) a += words;
        if (order >= 0) b += words;
    }
    run->count = 0;
    const row_list swap = s->merged;
    s->merged = s->piece;
    s->piece = swap;
    return true;
}

// As a counter counts: a run of as many pieces is merged with what is there, to the next place.
static bool keep_piece(sorter *s)
{
    uint32_t i = 0;
    for (; i < RUNS - 1 && s->run[i].count; i++)
        if (!merge_run(s, &s->run[i])) return false;
    const row_list swap = s->run[i];
    s->run[i] = s->piece;
    s->piece = swap;
    return true;
}

// Most keys come once in it; where there is no room for that they are counted.
static bool room_for_piece(sorter *s)
{
    if (make_room(s, &s->piece, s->count)) return true;
    *s->error = (hdst_error)HDST_ERROR_INIT;
    return make_room(s, &s->piece, keys_in_piece(s));
}

static bool end_piece(sorter *s)
{
    if (s->count == 0) return true;
    sort_piece(s);
    s->piece.count = 0;
    if (!room_for_piece(s)) return false;
    if (!(s->has_rows ? reduce_rows(s) : reduce_raw(s))) return false;
    s->count = 0;
    s->ordered = false;
    return keep_piece(s);
}

// Records of one kind make a piece.
static bool open_piece(sorter *s, bool rows)
{
    const hdst__aggregation_layout *layout = s->layout;
    if (s->has_rows != rows && !end_piece(s)) return false;
    s->has_rows = rows;
    s->bytes = rows ? (uint64_t)layout->row_words * 8 : layout->raw_bytes;
    s->key_at = rows ? 8 : layout->raw_key_at;
    s->most = s->room / s->bytes;
    return true;
}

static bool add_records(sorter *s, const hdst__partition_chunk *chunk, bool rows)
{
    if (!open_piece(s, rows)) return false;
    const uint64_t bytes = s->bytes, count = chunk->bytes / bytes;
    for (uint64_t done = 0; done < count;) {
        const uint64_t left = count - done, room = s->most - s->count, now = left < room ? left : room;
        memcpy(s->raw + s->count * bytes, chunk->data + done * bytes, now * bytes);
        s->count += now;
        done += now;
        if (s->count == s->most && !end_piece(s)) return false;
    }
    return true;
}

bool hdst__row_sorter_add_raw(sorter *s, const hdst__partition_chunk *chunk) { return add_records(s, chunk, false); }
bool hdst__row_sorter_add_rows(sorter *s, const hdst__partition_chunk *chunk) { return add_records(s, chunk, true); }

bool hdst__row_sorter_add_table(sorter *s, const hdst__key_table *table)
{
    if (!open_piece(s, true) || !end_piece(s)) return false;
    if (!make_room(s, &s->piece, table->count)) return false;
    hdst__key_table_sorted(table, s->piece.rows);
    s->piece.count = table->count;
    return keep_piece(s);
}

bool hdst__row_sorter_end(sorter *s, const uint64_t **rows, uint64_t *count)
{
    if (!end_piece(s)) return false;
    s->piece.count = 0;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count && !merge_run(s, &s->run[i])) return false;
    *rows = s->piece.rows;
    *count = s->piece.count;
    return true;
}

const uint64_t *hdst__row_sorter_middle(const sorter *s)
{
    const row_list *most = NULL;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count > (most ? most->count : 1)) most = &s->run[i];
    if (most && (!s->ordered || most->count >= s->count)) return most->rows + most->count / 2 * s->layout->row_words + 1;
    for (uint64_t i = s->ordered ? s->count / 2 : s->count; i < s->count; i++)
        if (!same_keys(s, 0, i)) return key_at(s, s->order[i]);
    return most ? most->rows + most->count / 2 * s->layout->row_words + 1 : NULL;
}
