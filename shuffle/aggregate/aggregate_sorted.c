// SPDX-License-Identifier: Apache-2.0
// Sorted runs in place of a hash table: the raw records of a partition, and rows of its keys, are sorted by (hash, key), stably, and reduced run by run. So many at a time as fit
// a core's cache; the rows of two pieces are merged, then those of four, and so on, so a key with most of the records takes no more memory than others, and no keys take
// more than n log n steps. Only where somebody asks for it, or where keys crowd in a table: of 5M tuples (u32, f32) with 1k, 1M, 5M keys one takes 22, 38, 38 ns of a core, in partitions with tables 7, 17, 25 ns.
#include "shuffle/aggregate/aggregate_run.h"

#include <string.h>

enum { PIECE_BYTES = 4 << 20, PIECE_SHARE = 8, DIGIT = 8, RUNS = 48, LEAST_ROWS = 16 };

typedef struct row_list {
    uint64_t *rows, count, room;        // in rows
} row_list;

typedef struct hdst__aggregate_sorter {
    char *raw, *batch;                  // records of a piece; some raw ones in order
    uint64_t room, count, most;         // bytes there; records; at most
    uint64_t bytes, key_at;             // of a record
    bool has_rows;                      // they are rows, not raw records
    bool ordered;                       // `order` is
    uint64_t *order, *scratch;          // hash << 32 | place in the piece
    row_list run[RUNS], piece, merged;  // run[i]: rows of 2^i pieces, or none; of the piece
} sorter;

static bool no_memory(hdst__aggregate_worker *worker)
{
    hdst__error_memory(&worker->error, "sorted runs of a reduce by key");
    return false;
}

static void free_buffers(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    void *const memory[] = {s->raw, s->batch, s->order, s->scratch};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) hdst__free(&worker->allocator, memory[i]);
}

void hdst__aggregate_free_sorter(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    if (!s) return;
    free_buffers(worker);
    hdst__free(&worker->allocator, s->piece.rows);
    hdst__free(&worker->allocator, s->merged.rows);
    for (uint32_t i = 0; i < RUNS; i++) hdst__free(&worker->allocator, s->run[i].rows);
    hdst__free(&worker->allocator, s);
    worker->sorter = NULL;
}

static bool take_buffers(hdst__aggregate_worker *worker, uint64_t least)
{
    const hdst__allocator *allocator = &worker->allocator;
    const hdst__aggregation_layout *layout = worker->run->layout;
    sorter *s = worker->sorter;
    const uint64_t most = s->room / least;
    s->raw = hdst__alloc(allocator, s->room);
    s->batch = hdst__alloc(allocator, (uint64_t)layout->batch * layout->raw_bytes);
    s->order = hdst__alloc(allocator, most * sizeof *s->order);
    s->scratch = hdst__alloc(allocator, most * sizeof *s->scratch);
    if (s->raw && s->batch && s->order && s->scratch) return true;
    free_buffers(worker);
    s->raw = s->batch = NULL;
    s->order = s->scratch = NULL;
    return false;
}

// The records of a piece, and what puts them in order, take no more than half of what is left: rows need the other half.
static bool make_sorter(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const uint32_t forced = worker->run->engine->by_key_table_bits;
    sorter *s = worker->sorter = hdst__alloc_zero(&worker->allocator, sizeof *s);
    if (!s) return no_memory(worker);
    const uint64_t row_bytes = (uint64_t)layout->row_words * 8, least = row_bytes < layout->raw_bytes ? row_bytes : layout->raw_bytes, least_room = LEAST_ROWS * row_bytes;
    const uint64_t share = hdst__aggregate_share(worker->run) / PIECE_SHARE, fit = hdst__budget_left(&worker->memory) / 2 / (least + 2 * sizeof *s->order) * least, wanted = share < fit ? share : fit;
    s->room = forced ? layout->raw_bytes << forced : wanted < PIECE_BYTES ? wanted : PIECE_BYTES;
    if (s->room < least_room) s->room = least_room;
    return take_buffers(worker, least) || no_memory(worker);
}

// --- The order of a piece ---

// By one digit of the hash, from bit `shift` of the entries on.
static void by_digit(const uint64_t *from, uint64_t *to, uint64_t count, uint32_t shift)
{
    uint64_t place[1 << DIGIT] = {0}, sum = 0;
    for (uint64_t i = 0; i < count; i++) place[from[i] >> shift & ((1 << DIGIT) - 1)]++;
    for (uint32_t d = 0; d < 1 << DIGIT; d++) {
        const uint64_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (uint64_t i = 0; i < count; i++) to[place[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
}

static const uint64_t *key_at(const hdst__aggregate_worker *worker, uint64_t entry)
{
    const sorter *s = worker->sorter;
    return (const uint64_t *)(const void *)(s->raw + (uint32_t)entry * s->bytes + s->key_at);
}

// Entries of equal hashes by their keys: merges runs of 1, 2, 4 ... of them, in place of `entry`.
static void order_by_keys(const hdst__aggregate_worker *worker, uint64_t *entry, uint64_t *scratch, uint64_t count)
{
    const uint32_t words = worker->run->layout->key_words;
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * run) {
            const uint64_t middle = first + run < count ? first + run : count, end = first + 2 * run < count ? first + 2 * run : count;
            uint64_t a = first, b = middle;
            for (uint64_t to = first; to < end; to++)
                scratch[to] = a < middle && (b == end || hdst__key_compare(key_at(worker, entry[a]), key_at(worker, entry[b]), words) <= 0) ? entry[a++] : entry[b++];
        }
        memcpy(entry, scratch, count * sizeof *entry);
    }
}

// Nearly always the records of one hash have one key.
static void order_equal_hashes(const hdst__aggregate_worker *worker, uint64_t *entry, uint64_t *scratch, uint64_t count)
{
    const uint32_t words = worker->run->layout->key_words;
    for (uint64_t first = 0, end; first < count; first = end) {
        bool same = true;
        for (end = first + 1; end < count && entry[end] >> 32 == entry[first] >> 32; end++)
            same = same && hdst__key_compare(key_at(worker, entry[first]), key_at(worker, entry[end]), words) == 0;
        if (!same) order_by_keys(worker, entry + first, scratch + first, end - first);
    }
}

static void sort_piece(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    const uint32_t end = 64 - worker->run->choice.partition_bits;
    for (uint64_t i = 0; i < s->count; i++) {
        uint32_t hash;                  // of a row: the lower half of its tag, on little-endian hosts
        memcpy(&hash, s->raw + i * s->bytes, sizeof hash);
        s->order[i] = (uint64_t)hash << 32 | i;
    }
    for (uint32_t shift = 32; shift < end; shift += DIGIT) {
        by_digit(s->order, s->scratch, s->count, shift);
        uint64_t *swap = s->order;
        s->order = s->scratch;
        s->scratch = swap;
    }
    if (worker->run->layout->key_words) order_equal_hashes(worker, s->order, s->scratch, s->count);
    s->ordered = true;
}

static bool same_keys(const hdst__aggregate_worker *worker, uint64_t i, uint64_t j)        // places in the order
{
    const uint64_t *order = worker->sorter->order;
    return order[i] >> 32 == order[j] >> 32 && hdst__key_compare(key_at(worker, order[i]), key_at(worker, order[j]), worker->run->layout->key_words) == 0;
}

static uint64_t keys_in_piece(const hdst__aggregate_worker *worker)
{
    uint64_t keys = 1;
    for (uint64_t i = 1; i < worker->sorter->count; i++) keys += !same_keys(worker, i - 1, i);
    return keys;
}

// --- Runs to rows ---

static void free_list(hdst__aggregate_worker *worker, row_list *list)
{
    hdst__free(&worker->allocator, list->rows);
    *list = (row_list){0};
}

static bool take_list(hdst__aggregate_worker *worker, row_list *list, uint64_t room)
{
    list->rows = hdst__alloc(&worker->allocator, room * worker->run->layout->row_words * sizeof *list->rows);
    list->room = list->rows ? room : 0;
    return list->rows != NULL;
}

// With some to spare; where there is no memory for that, just as much, and lists that hold nothing give theirs back.
static bool make_room(hdst__aggregate_worker *worker, row_list *list, uint64_t rows)
{
    sorter *s = worker->sorter;
    if (rows <= list->room) return true;
    free_list(worker, list);                                    // lists are filled from their beginnings
    if (take_list(worker, list, rows + rows / 2)) return true;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count == 0) free_list(worker, &s->run[i]);
    if (list != &s->merged) free_list(worker, &s->merged);
    return take_list(worker, list, rows) || no_memory(worker);
}

static void combine(const hdst__aggregation_layout *layout, uint64_t *row, const uint64_t *from, uint64_t step)
{
    uint64_t *cell = row + 1 + layout->key_words;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        for (uint32_t w = column->word; w < column->word + column->words; w++) cell[w] = hdst__words_combined(column->cell.op, cell[w], from[w * step]);
    }
}

// The batch's records, which are in order, to the rows that end with `row` (NULL: there is none yet). Returns the last one.
static uint64_t *add_batch(const hdst__aggregate_worker *worker, row_list *list, uint64_t *row)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    const hdst__key_batch *batch = &worker->batch;
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint64_t tag = HDST__KEY_USED | batch->hash[i], *key = batch->key + (size_t)i * layout->key_words;
        if (!row || row[0] != tag || hdst__key_compare(row + 1, key, layout->key_words)) {
            row = list->rows + list->count++ * layout->row_words;
            memset(row, 0, layout->row_words * sizeof *row);
            row[0] = tag;
            memcpy(row + 1, key, layout->key_words * sizeof *row);
        }
        combine(layout, row, batch->word + i, layout->batch);
    }
    return row;
}

static bool reduce_rows(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    sorter *s = worker->sorter;
    uint64_t *row = NULL;
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t *from = (const uint64_t *)(const void *)(s->raw + (uint32_t)s->order[i] * s->bytes);
        const bool same = row && hdst__key_compare(row, from, 1 + layout->key_words) == 0;
        if (!same) row = memcpy(s->piece.rows + s->piece.count++ * layout->row_words, from, s->bytes);
        else combine(layout, row, from + 1 + layout->key_words, 1);
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__aggregate_move_full(worker, row)) return false;
    }
    return true;
}

static bool reduce_raw(hdst__aggregate_worker *worker)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    sorter *s = worker->sorter;
    uint64_t *row = NULL;
    for (uint64_t first = 0; first < s->count; first += worker->batch.count) {
        const uint64_t left = s->count - first;
        const uint32_t count = left < layout->batch ? (uint32_t)left : layout->batch;
        for (uint32_t i = 0; i < count; i++)
            memcpy(s->batch + (uint64_t)i * layout->raw_bytes, s->raw + (uint32_t)s->order[first + i] * (uint64_t)layout->raw_bytes, layout->raw_bytes);
        hdst__key_batch_open_raw(&worker->batch, layout, s->batch, count);
        hdst__key_batch_words(&worker->batch, layout, false);
        row = add_batch(worker, &s->piece, row);
        if (worker->batch.misfits && !hdst__aggregate_add_misfits(worker)) return false;
        // Other rows of the batch had no more additions than it has records.
        if (layout->fixed && hdst__row_is_full(layout, row) && !hdst__aggregate_move_full(worker, row)) return false;
    }
    return true;
}

// --- Pieces to a partition ---

static int compare_rows(const hdst__aggregation_layout *layout, const uint64_t *a, const uint64_t *b)
{
    return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : hdst__key_compare(a + 1, b + 1, layout->key_words);
}

// The rows of the piece and of one run, which comes before it, to the piece.
static bool merge_run(hdst__aggregate_worker *worker, row_list *run)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    sorter *s = worker->sorter;
    const uint64_t words = layout->row_words, *a = run->rows, *b = s->piece.rows, *a_end = a + run->count * words, *b_end = b + s->piece.count * words;
    s->merged.count = 0;
    if (!make_room(worker, &s->merged, run->count + s->piece.count)) return false;
    while (a < a_end || b < b_end) {
        const int order = a == a_end ? 1 : b == b_end ? -1 : compare_rows(layout, a, b);
        uint64_t *to = s->merged.rows + s->merged.count++ * words;
        memcpy(to, order <= 0 ? a : b, words * sizeof *to);
        if (order == 0) combine(layout, to, b + 1 + layout->key_words, 1);
        if (order == 0 && layout->fixed && hdst__row_is_full(layout, to) && !hdst__aggregate_move_full(worker, to)) return false;
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
static bool keep_piece(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    uint32_t i = 0;
    for (; i < RUNS - 1 && s->run[i].count; i++)
        if (!merge_run(worker, &s->run[i])) return false;
    const row_list swap = s->run[i];
    s->run[i] = s->piece;
    s->piece = swap;
    return true;
}

// Most keys come once in it; where there is no room for that they are counted.
static bool room_for_piece(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    if (make_room(worker, &s->piece, s->count)) return true;
    worker->error = (hdst_error)HDST_ERROR_INIT;
    return make_room(worker, &s->piece, keys_in_piece(worker));
}

static bool end_piece(hdst__aggregate_worker *worker)
{
    sorter *s = worker->sorter;
    if (s->count == 0) return true;
    sort_piece(worker);
    s->piece.count = 0;
    if (!room_for_piece(worker)) return false;
    if (!(s->has_rows ? reduce_rows(worker) : reduce_raw(worker))) return false;
    s->count = 0;
    s->ordered = false;
    return keep_piece(worker);
}

// Records of one kind make a piece.
static bool open_piece(hdst__aggregate_worker *worker, bool rows)
{
    const hdst__aggregation_layout *layout = worker->run->layout;
    if (!worker->sorter && !make_sorter(worker)) return false;
    sorter *s = worker->sorter;
    if (s->has_rows != rows && !end_piece(worker)) return false;
    s->has_rows = rows;
    s->bytes = rows ? (uint64_t)layout->row_words * 8 : layout->raw_bytes;
    s->key_at = rows ? 8 : layout->raw_key_at;
    s->most = s->room / s->bytes;
    return true;
}

static bool add_records(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk, bool rows)
{
    if (!open_piece(worker, rows)) return false;
    sorter *s = worker->sorter;
    const uint64_t bytes = s->bytes, count = chunk->bytes / bytes;
    for (uint64_t done = 0; done < count;) {
        const uint64_t left = count - done, room = s->most - s->count, now = left < room ? left : room;
        memcpy(s->raw + s->count * bytes, chunk->data + done * bytes, now * bytes);
        s->count += now;
        done += now;
        if (s->count == s->most && !end_piece(worker)) return false;
    }
    return true;
}

bool hdst__aggregate_sorted_add(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk) { return add_records(worker, chunk, false); }
bool hdst__aggregate_sorted_add_rows(hdst__aggregate_worker *worker, const hdst__partition_chunk *chunk) { return add_records(worker, chunk, true); }

bool hdst__aggregate_sorted_add_table(hdst__aggregate_worker *worker)
{
    const hdst__key_table *table = &worker->table;
    if (!open_piece(worker, true) || !end_piece(worker)) return false;
    sorter *s = worker->sorter;
    if (!make_room(worker, &s->piece, table->count)) return false;
    hdst__key_table_sorted(table, s->piece.rows);
    s->piece.count = table->count;
    return keep_piece(worker);
}

bool hdst__aggregate_sorted_end(hdst__aggregate_worker *worker, const uint64_t **rows, uint64_t *count)
{
    static const uint64_t none;
    sorter *s = worker->sorter;
    *rows = &none;
    *count = 0;
    if (!s) return true;
    if (!end_piece(worker)) return false;
    s->piece.count = 0;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count && !merge_run(worker, &s->run[i])) return false;
    if (s->piece.count) *rows = s->piece.rows;
    *count = s->piece.count;
    return true;
}

const uint64_t *hdst__aggregate_sorted_middle(const hdst__aggregate_worker *worker)
{
    const sorter *s = worker->sorter;
    const row_list *most = NULL;
    if (!s) return NULL;
    for (uint32_t i = 0; i < RUNS; i++)
        if (s->run[i].count > (most ? most->count : 1)) most = &s->run[i];
    if (most && (!s->ordered || most->count >= s->count)) return most->rows + most->count / 2 * worker->run->layout->row_words + 1;
    for (uint64_t i = s->ordered ? s->count / 2 : s->count; i < s->count; i++)
        if (!same_keys(worker, 0, i)) return key_at(worker, s->order[i]);
    return most ? most->rows + most->count / 2 * worker->run->layout->row_words + 1 : NULL;
}
