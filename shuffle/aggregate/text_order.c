// SPDX-License-Identifier: Apache-2.0
// Records by the hashes of their texts (shuffle/aggregate/text_order.h). Only numbers are moved until the order is known: to buckets by the upper bits of the
// hash, in each bucket by the next bits, and what those leave by comparing. A task has a stretch of the records, then one of the buckets.
#include "shuffle/aggregate/text_order.h"

#include "accum/representation.h"
#include "record/scalar_convert.h"

#include <string.h>

enum {
    TASK_RECORDS = 1 << 12,             // about 40 us
    BUCKET_BITS = 11, BUCKET_RECORDS = 64,      // buckets, at most; records of one, at least, if there are not more
    PLACE_BITS = 12,                    // of the hash that are looked at in a bucket, at most
    FEW = 16,                           // numbers that are put in order by inserting them
    AHEAD = 16,                         // records that are fetched before it is their turn
    HASH_BITS = 32,
};

typedef struct sorting {
    hdst__text_order *order;
    uint32_t bits;                      // logarithm of the buckets
    uint32_t *at;                       // by task and bucket: how many, then where the next one goes
    uint64_t *begin;                    // of each bucket, and the end
} sorting;

static uint64_t part(uint64_t all, uint64_t i, uint64_t parts) { return all / parts * i + (i < all % parts ? i : all % parts); }

static char *record_of(const hdst__text_order *order, uint64_t number) { return order->records + (uint32_t)number * order->layout->record->size; }

static hdst__text_span text_of(const hdst__text_order *order, uint64_t number)
{
    hdst__text_span span;
    memcpy(&span, record_of(order, number) + order->layout->record->leaves[order->layout->key->leaf].offset, sizeof span);
    return span;
}

// --- Taking ---

typedef struct taking {
    hdst__text_order *order;
    const char *from;
    uint64_t count;
    uint32_t tasks;
    atomic_bool refers;
} taking;

static void take_part(void *user, uint64_t i)
{
    taking *t = user;
    hdst__text_order *o = t->order;
    const uint64_t from = part(t->count, i, t->tasks), end = part(t->count, i + 1, t->tasks), size = o->layout->record->size;
    bool refers = false;
    memcpy(o->records + (o->count + from) * size, t->from + from * size, (end - from) * size);
    for (uint64_t at = o->count + from; at < o->count + end; at++) {
        const hdst__text_span span = text_of(o, at);
        refers |= !hdst__text_is_inline(&span);
        o->place[at] = hdst__key_mix64(hdst__text_span_hash(&span)) >> HASH_BITS << HASH_BITS | at;       // as hdst__key_texts_hash
    }
    if (refers) atomic_store(&t->refers, true);
}

static uint32_t tasks_for(const hdst__text_order *order, uint64_t count)
{
    const uint64_t wanted = count / TASK_RECORDS + 1, most = hdst__thread_pool_size(order->threads);
    return (uint32_t)(wanted < most ? wanted : most);
}

bool hdst__text_order_take(hdst__text_order *order, const void *records, uint64_t count)
{
    taking t = {.order = order, .from = records, .count = count, .tasks = tasks_for(order, count)};
    if (count) hdst__thread_pool_run(order->threads, t.tasks, take_part, &t);
    order->count += count;
    return atomic_load(&t.refers);
}

// --- To buckets ---

static void count_part(void *user, uint64_t i)
{
    const sorting *s = user;
    const hdst__text_order *o = s->order;
    uint32_t *const count = s->at + (i << s->bits);
    for (uint64_t at = part(o->count, i, o->tasks), end = part(o->count, i + 1, o->tasks); at < end; at++) count[o->place[at] >> (2 * HASH_BITS - s->bits)]++;
}

static void find_begins(const sorting *s)
{
    const uint64_t buckets = UINT64_C(1) << s->bits;
    uint32_t all = 0;
    for (uint64_t b = 0; b < buckets; b++) {
        s->begin[b] = all;
        for (uint64_t i = 0; i < s->order->tasks; i++) {
            uint32_t *const at = &s->at[(i << s->bits) + b], count = *at;
            *at = all;
            all += count;
        }
    }
    s->begin[buckets] = all;
}

static void deal_part(void *user, uint64_t i)
{
    const sorting *s = user;
    const hdst__text_order *o = s->order;
    uint32_t *const to = s->at + (i << s->bits);
    for (uint64_t at = part(o->count, i, o->tasks), end = part(o->count, i + 1, o->tasks); at < end; at++)
        o->spare[to[o->place[at] >> (2 * HASH_BITS - s->bits)]++] = o->place[at];
}

// --- In a bucket ---

static bool comes_before(const hdst__text_order *order, uint64_t a, uint64_t b)
{
    if (a >> HASH_BITS != b >> HASH_BITS) return a < b;
    const hdst__text_span x = text_of(order, a), y = text_of(order, b);
    const int which = hdst__text_compare(&x, &y);
    return which < 0 || (which == 0 && a < b);
}

static void insert_all(const hdst__text_order *order, uint64_t *place, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t number = place[i];
        uint64_t at = i;
        for (; at > 0 && comes_before(order, number, place[at - 1]); at--) place[at] = place[at - 1];
        place[at] = number;
    }
}

// Of keys made to share their hashes there may be many.
static void merge_all(const hdst__text_order *order, uint64_t *place, uint64_t count, uint64_t *spare)
{
    const uint64_t half = count / 2;
    if (count <= FEW) {
        insert_all(order, place, count);
        return;
    }
    merge_all(order, place, half, spare);
    merge_all(order, place + half, count - half, spare);
    memcpy(spare, place, half * sizeof *spare);
    for (uint64_t a = 0, b = half, to = 0; a < half; to++) place[to] = b < count && comes_before(order, place[b], spare[a]) ? place[b++] : spare[a++];
}

// Numbers at `from`, which are no longer needed there, to `to` in order.
static void sort_bucket(const sorting *s, uint64_t *from, uint64_t count, uint64_t *to)
{
    uint32_t begin[(1 << PLACE_BITS) + 1], bits = 0;
    while (bits < PLACE_BITS && UINT64_C(2) << bits <= count) bits++;
    const uint32_t shift = 2 * HASH_BITS - s->bits - bits, mask = (UINT32_C(1) << bits) - 1;
    memset(begin, 0, ((UINT64_C(1) << bits) + 1) * sizeof *begin);
    for (uint64_t i = 0; i < count; i++) begin[(from[i] >> shift & mask) + 1]++;
    for (uint32_t p = 0; p < mask; p++) begin[p + 1] += begin[p];
    for (uint64_t i = 0; i < count; i++) to[begin[from[i] >> shift & mask]++] = from[i];
    for (uint32_t p = 0; p <= mask; p++) {
        const uint32_t first = p ? begin[p - 1] : 0;            // each begin has become an end
        merge_all(s->order, to + first, begin[p] - first, from);
    }
}

// --- Those with one key ---

static bool same_key(const hdst__text_order *order, uint64_t a, uint64_t b)
{
    if (a >> HASH_BITS != b >> HASH_BITS) return false;
    const hdst__text_span x = text_of(order, a), y = text_of(order, b);
    return hdst__text_equal(&x, &y);
}

// An integer, as 64 bits.
static uint64_t value_at(const char *at, const hdst__value_column *column)
{
    uint64_t bits = 0;
    memcpy(&bits, at, column->bytes);           // little-endian hosts
    return hdst__scalar_convert(column->cell.kind, HDST__U64, bits);
}

static void add_record(const hdst__text_order *order, uint64_t to, uint64_t from)
{
    const hdst__aggregation_layout *layout = order->layout;
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        const uint64_t offset = hdst__leaf_offset(&layout->record->leaves[column->leaf], column->element);
        int64_t word = 0;
        hdst__cell_accumulate(&column->cell, &word, value_at(record_of(order, to) + offset, column));
        hdst__cell_accumulate(&column->cell, &word, value_at(record_of(order, from) + offset, column));
        const uint64_t bits = hdst__cell_read(&column->cell, &word);
        memcpy(record_of(order, to) + offset, &bits, column->bytes);
    }
}

static uint64_t combine(const hdst__text_order *order, uint64_t *place, uint64_t count)
{
    uint64_t keys = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (keys && same_key(order, place[keys - 1], place[i])) add_record(order, place[keys - 1], place[i]);
        else place[keys++] = place[i];
    }
    return keys;
}

static void sort_part(void *user, uint64_t i)
{
    const sorting *s = user;
    hdst__text_order *o = s->order;
    const uint64_t buckets = UINT64_C(1) << s->bits, first = part(buckets, i, o->tasks), end = part(buckets, i + 1, o->tasks);
    uint64_t *const to = o->place + s->begin[first], keys = 0;
    for (uint64_t b = first; b < end && !hdst__cancel_asked(o->cancel); b++) {
        uint64_t *const at = o->place + s->begin[b], count = s->begin[b + 1] - s->begin[b];
        sort_bucket(s, o->spare + s->begin[b], count, at);
        const uint64_t kept = combine(o, at, count);
        if (to + keys < at) memmove(to + keys, at, kept * sizeof *at);
        keys += kept;
    }
    o->area[2 * i] = s->begin[first];
    o->area[2 * i + 1] = keys;
}

// --- All ---

static void sort_all(sorting *s)
{
    hdst__text_order *o = s->order;
    hdst__thread_pool_run(o->threads, o->tasks, count_part, s);
    find_begins(s);
    hdst__thread_pool_run(o->threads, o->tasks, deal_part, s);
    hdst__thread_pool_run(o->threads, o->tasks, sort_part, s);
    o->keys = 0;
    for (uint32_t i = 0; i < o->tasks; i++) o->keys += o->area[2 * i + 1];
}

hdst_status hdst__text_order_sort(hdst__text_order *order, hdst_error *error)
{
    sorting s = {.order = order};
    order->tasks = tasks_for(order, order->count);
    while (s.bits < BUCKET_BITS && (uint64_t)BUCKET_RECORDS << s.bits < order->count) s.bits++;
    s.bits = s.bits ? s.bits : 1;               // shifts by all bits of a number are none
    const uint64_t buckets = UINT64_C(1) << s.bits;
    s.at = hdst__alloc_zero(order->allocator, (uint64_t)order->tasks * buckets * sizeof *s.at);
    s.begin = hdst__alloc(order->allocator, (buckets + 1) * sizeof *s.begin);
    order->area = hdst__alloc(order->allocator, 2 * (uint64_t)order->tasks * sizeof *order->area);
    const bool made = s.at && s.begin && order->area;
    if (made) sort_all(&s);
    hdst__free(order->allocator, s.at);
    hdst__free(order->allocator, s.begin);
    return made ? hdst__cancel_check(order->cancel, 0, 0, error) : hdst__error_memory(error, "a reduce by key");
}

// --- Writing ---

typedef struct writing {
    const hdst__text_order *order;
    char *to;
    bool has_padding;
} writing;

static void write_leaves(const hdst__record *record, const char *from, char *to)
{
    memset(to, 0, record->size);
    for (uint32_t l = 0; l < record->leaf_count; l++)
        for (uint64_t e = 0; e < record->leaves[l].elements; e++) {
            const uint64_t offset = hdst__leaf_offset(&record->leaves[l], e);
            memcpy(to + offset, from + offset, hdst__scalar_size(record->leaves[l].kind));
        }
}

static void write_part(void *user, uint64_t i)
{
    const writing *w = user;
    const hdst__text_order *o = w->order;
    const hdst__record *record = o->layout->record;
    const uint64_t *place = o->place + o->area[2 * i], count = o->area[2 * i + 1], *const end = place + count;
    char *to = w->to;
    for (uint64_t before = 0; before < i; before++) to += o->area[2 * before + 1] * record->size;
    for (; place < end; place++, to += record->size) {
        if (end - place > AHEAD) __builtin_prefetch(record_of(o, place[AHEAD]));
        if (w->has_padding) write_leaves(record, record_of(o, *place), to);
        else memcpy(to, record_of(o, *place), record->size);
    }
}

void hdst__text_order_write(const hdst__text_order *order, char *to)
{
    writing w = {.order = order, .to = to};
    const hdst__record *record = order->layout->record;
    uint64_t bytes = 0;
    for (uint32_t l = 0; l < record->leaf_count; l++) bytes += record->leaves[l].elements * hdst__scalar_size(record->leaves[l].kind);
    w.has_padding = bytes < record->size;
    hdst__thread_pool_run(order->threads, order->tasks, write_part, &w);
}

void hdst__text_order_free(hdst__text_order *order)
{
    hdst__free(order->allocator, order->area);
    order->area = NULL;
}
