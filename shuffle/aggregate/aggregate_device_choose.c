// SPDX-License-Identifier: Apache-2.0
// What a sample of the records says about a reduction by key on a GPU: which keys come often, how float sums are held, how many partitions are needed.
#include "shuffle/aggregate/aggregate_device_choose.h"

#include "record/key_hash.h"
#include "shuffle/aggregate/aggregate_device_memory.h"
#include "shuffle/aggregate/distinct_keys.h"
#include "engine/stage/executor.h"
#include "base/clock.h"
#include "base/costs_gpu.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT_BITS = 16,                    // of the table that counts the sample's keys
    MOST_BITS = 2 * HDST__AGGREGATE_FEW_BITS,   // of partitions of two rounds
};

typedef struct counted {
    uint64_t key;                       // mixed
    uint32_t count;
} counted;

typedef struct sample {
    uint32_t *words;                    // of the tuples
    uint64_t count;
    counted *key;                       // by place; a count of 0: nobody's
    uint64_t distinct, singles;
} sample;

static uint64_t mixed_of(const hdst__aggregate_kernel_shape *shape, const uint32_t *tuple)
{
    return shape->mixed_bytes == 4 ? tuple[0] : tuple[0] | (uint64_t)tuple[1] << 32;
}

// --- The sample ---

static hdst_status take_sample(hdst__aggregate_device *d, const hdst__dataset_cache *cache, sample *s, hdst_error *error)
{
    const uint64_t records = cache->reader.records, wanted = records < HDST__GPU_KEY_SAMPLE_RECORDS ? records : HDST__GPU_KEY_SAMPLE_RECORDS,
                   bytes = (uint64_t)d->shape.tuple_words * 4;
    hdst_status status = hdst__aggregate_device_provide(d, HDST__AGGREGATE_OF_SAMPLE, wanted * bytes, error);
    for (uint64_t i = 0; i < cache->count && status == HDST_OK; i++) {
        const hdst__segment *segment = &cache->segment[i];
        const uint64_t end = wanted * (segment->first + segment->count) / records, count = end > s->count ? end - s->count : 0;
        hdst__work_arg args[HDST__AGGREGATE_COLUMNS * 2 + 8] = {{.number = count}, {.number = count ? segment->count / count : 1}, {.number = s->count}};
        if (count == 0) continue;
        size_t n = 3 + hdst__aggregate_device_sources(d, segment, args + 3);
        args[n++].memory = d->memory[HDST__AGGREGATE_OF_SAMPLE];
        status = hdst__aggregate_device_work(d, HDST__AGGREGATE_SAMPLE, args, n, count / HDST__AGGREGATE_LANES + 1, error);
        s->count = end;
    }
    return status == HDST_OK && s->count ? hdst__aggregate_device_read(d, HDST__AGGREGATE_OF_SAMPLE, 0, s->words, s->count * bytes, error) : status;
}

// The table's order is of no consequence, so its places are such that nobody can make keys that crowd there.
static void count_keys(const hdst__aggregate_device *d, sample *s)
{
    const double now = hdst__now();
    uint64_t seed;
    memcpy(&seed, &now, sizeof seed);
    seed = hdst__key_mix64(seed ^ (uintptr_t)s->key);
    for (uint64_t i = 0; i < s->count; i++) {
        const uint64_t key = mixed_of(&d->shape, s->words + i * d->shape.tuple_words);
        uint64_t at = hdst__key_mix64(key ^ seed) >> (64 - COUNT_BITS);
        while (s->key[at].count && s->key[at].key != key) at = (at + 1) & ((1u << COUNT_BITS) - 1);
        s->key[at].key = key;
        s->key[at].count++;
        s->distinct += s->key[at].count == 1;
        s->singles += s->key[at].count == 1 ? 1 : s->key[at].count == 2 ? (uint64_t)-1 : 0;
    }
}

// --- Heavy hitters ---

static uint32_t home_of(uint64_t key, uint32_t seed, uint32_t places) { return (uint32_t)((uint64_t)((uint32_t)key * seed) * (places - 2) >> 32); }

typedef struct homed {
    uint64_t key;
    uint32_t home;
} homed;

static int by_home(const void *a, const void *b)
{
    const homed *x = a, *y = b;
    return x->home != y->home ? (x->home > y->home) - (x->home < y->home) : (x->key > y->key) - (x->key < y->key);
}

static int by_mixed_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_count(const void *a, const void *b)       // most first
{
    const counted *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

// Each key to its home or one of the two places behind; from the first home on that takes as many as can be. Keys that find no place are no heavy hitters.
// Returns how many did.
static uint32_t place_keys(homed *keys, uint32_t count, uint32_t seed, uint32_t places, uint32_t *place)
{
    uint32_t next = 0, placed = 0;
    for (uint32_t i = 0; i < count; i++) keys[i].home = home_of(keys[i].key, seed, places);
    qsort(keys, count, sizeof *keys, by_home);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = next > keys[i].home ? next : keys[i].home;
        place[i] = at <= keys[i].home + 2 ? at : UINT32_MAX;
        if (place[i] == UINT32_MAX) continue;
        next = at + 1;
        placed++;
    }
    return placed;
}

// A key that is never looked for at this place.
static uint64_t filler(uint32_t at, uint32_t seed, uint32_t places)
{
    uint64_t key = 0;
    for (uint32_t home = home_of(key, seed, places); home <= at && at <= home + 2; home = home_of(key, seed, places)) key++;
    return key;
}

static hdst_status write_heavy(hdst__aggregate_device *d, homed *keys, uint32_t count, hdst_error *error)
{
    hdst__aggregate_device_choice *c = &d->choice;
    const hdst__allocator *allocator = hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY);
    uint32_t *place = hdst__alloc(allocator, (count + 1) * sizeof *place), *ranked = hdst__alloc(allocator, (count + 1) * sizeof *ranked);
    uint64_t *table = hdst__alloc(allocator, (c->heavy_places + 1) * sizeof *table), *order = hdst__alloc(allocator, (count + 1) * 2 * sizeof *order);
    hdst_status status = place && ranked && table && order ? HDST_OK : hdst__error_memory(error, "a reduce by key");
    if (status == HDST_OK) {
        c->heavy = 0;
        place_keys(keys, count, c->seed, c->heavy_places, place);
        for (uint32_t i = 0; i < c->heavy_places; i++) table[i] = filler(i, c->seed, c->heavy_places);
        for (uint32_t i = 0; i < count; i++) {
            if (place[i] == UINT32_MAX) continue;
            table[place[i]] = order[2 * c->heavy] = keys[i].key;
            order[2 * c->heavy++ + 1] = place[i];
        }
        qsort(order, c->heavy, 2 * sizeof *order, by_mixed_key);
        for (uint32_t i = 0; i < c->heavy; i++) ranked[i] = (uint32_t)order[2 * i + 1];
        uint32_t *narrow = (uint32_t *)table;           // little-endian hosts; each is written behind where it is read
        for (uint32_t i = 0; i < c->heavy_places && d->shape.mixed_bytes == 4; i++) narrow[i] = (uint32_t)table[i];
        status = hdst__aggregate_device_put(d, HDST__AGGREGATE_HEAVY_KEYS, table, (uint64_t)c->heavy_places * d->shape.mixed_bytes, error);
    }
    if (status == HDST_OK) status = hdst__aggregate_device_put(d, HDST__AGGREGATE_RANKED, ranked, c->heavy * sizeof *ranked, error);
    hdst__free(allocator, place);
    hdst__free(allocator, ranked);
    hdst__free(allocator, table);
    hdst__free(allocator, order);
    return status;
}

static hdst_status choose_heavy(hdst__aggregate_device *d, sample *s, hdst_error *error)
{
    hdst__aggregate_device_choice *c = &d->choice;
    const uint32_t most = d->shape.heavy_slots / 4;
    uint32_t count = 0, best = 0;
    c->few = s->distinct <= most && s->singles * HDST__GPU_RARE_KEY_RECORDS <= s->count;
    for (uint64_t at = 0; at < UINT64_C(1) << COUNT_BITS; at++)
        if (s->key[at].count >= (c->few ? 1 : HDST__GPU_HEAVY_TIMES)) s->key[count++] = s->key[at];
    const uint32_t limit = c->few ? most : most < HDST__GPU_HEAVY_HITTERS ? most : HDST__GPU_HEAVY_HITTERS;
    if (!c->few) qsort(s->key, count, sizeof *s->key, by_count);
    if (count > limit) count = limit;
    c->heavy = 0;
    c->heavy_places = 0;
    if (count == 0) {
        const hdst_status status = hdst__aggregate_device_put(d, HDST__AGGREGATE_RANKED, "", 0, error);
        return status == HDST_OK ? hdst__aggregate_device_put(d, HDST__AGGREGATE_HEAVY_KEYS, "", 0, error) : status;
    }
    homed *keys = hdst__alloc(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), count * sizeof *keys);
    uint32_t *place = hdst__alloc(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), count * sizeof *place);
    hdst_status status = keys && place ? HDST_OK : hdst__error_memory(error, "a reduce by key");
    for (uint32_t i = 0; i < count && status == HDST_OK; i++) keys[i].key = s->key[i].key;
    for (c->heavy_places = HDST__GPU_HEAVY_LEAST_PLACES; c->heavy_places < 4 * count && c->heavy_places * 2 <= d->shape.heavy_slots;) c->heavy_places *= 2;
    for (uint32_t i = 0; i < HDST__GPU_HEAVY_SEEDS && best < count && status == HDST_OK; i++) {
        const uint32_t seed = 0x9e3779b1u * (2 * i + 1), placed = place_keys(keys, count, seed, c->heavy_places, place);
        if (placed <= best) continue;
        best = placed;
        c->seed = seed;
    }
    for (c->copies = 1; c->copies < HDST__GPU_HEAVY_COPIES && c->heavy_places * c->copies * 2 <= d->shape.heavy_slots;) c->copies *= 2;
    if (status == HDST_OK) status = write_heavy(d, keys, count, error);
    hdst__free(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), keys);
    hdst__free(hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY), place);
    return status;
}

// --- Scales ---

static uint64_t value_bits(const hdst__aggregate_kernel_value *at, const uint32_t *tuple, bool wide)
{
    return wide ? tuple[at->payload] | (uint64_t)tuple[at->payload + 1] << 32 : tuple[at->payload];
}

static bool fits(const hdst__value_column *column, uint64_t bits, uint32_t addend_bits)
{
    return hdst__fixed_fits(column->cell.kind, column->cell.precision == HDST__CLASS_TWO_WORDS ? 2 : 1, column->s, addend_bits, bits);
}

static void choose_scales(hdst__aggregate_device *d, const sample *s, uint64_t records)
{
    const uint64_t looked = s->count < HDST__GPU_KEY_ADDENDS ? s->count : HDST__GPU_KEY_ADDENDS, step = looked ? s->count / looked : 1;
    uint64_t exceptions = 0;
    d->choice.bits = hdst__fixed_point_bits(records);
    for (uint64_t v = 0; v < d->layout->value_count; v++) {
        hdst__value_column *column = &d->layout->value[v];
        const hdst__aggregate_kernel_value *at = &d->shape.value[v];
        hdst__addends addends;
        if (!column->cell.digits) continue;
        hdst__addends_init(&addends);
        for (uint64_t i = 0; i < looked; i++)
            hdst__addends_add(&addends, column->cell.kind, value_bits(at, s->words + i * step * d->shape.tuple_words, column->bytes > 4));
        column->s = hdst__addends_scale(&addends, column->cell.kind, (int32_t)d->choice.bits);
        column->cell.precision = hdst__addends_precision(&addends, column->cell.kind, column->s, (int32_t)d->choice.bits);
        for (uint64_t i = 0; i < looked; i++)
            exceptions += !fits(column, value_bits(at, s->words + i * step * d->shape.tuple_words, column->bytes > 4), d->choice.bits);
    }
    d->choice.exceptions = looked ? (double)exceptions / (double)looked : 0;
    const double wanted = d->choice.exceptions * (double)records * HDST__GPU_KEY_OVERFLOW_MARGIN + HDST__GPU_KEY_OVERFLOW_CELLS;
    for (d->choice.overflow_cells = HDST__GPU_KEY_OVERFLOW_CELLS / 2; (double)d->choice.overflow_cells < 2 * wanted
         && d->layout->fixed;) d->choice.overflow_cells *= 2;
    if (hdst__engine_settings(d->engine)->overflow_cells) d->choice.overflow_cells = hdst__engine_settings(d->engine)->overflow_cells;
}

// --- Partitions ---

static uint32_t bits_for(double count)
{
    uint32_t bits = 0;
    while (bits < 40 && (double)(UINT64_C(1) << bits) < count) bits++;
    return bits;
}

// Tables that are emptier are quicker, unless tuples are put in order once more for it, or partitions become so short that clearing and reading tables counts.
static uint32_t bits_wanted(const hdst__aggregate_device *d)
{
    const hdst__aggregate_device_choice *c = &d->choice;
    const uint32_t most = bits_for(c->distinct / (HDST__GPU_KEY_TABLE_MOST_LOAD * c->spread));
    const uint32_t quick = bits_for(c->distinct / (HDST__GPU_KEY_TABLE_LOAD * c->spread));
    const bool another_round = most <= d->shape.most_bits && quick > d->shape.most_bits;
    return another_round || quick > MOST_BITS || c->records >> quick < HDST__GPU_KEY_TUPLES_PER_ROW * (uint64_t)c->slots ? most : quick;
}

// In as few rounds as can be; in two each has about half.
static void split_bits(hdst__aggregate_device *d, uint32_t bits)
{
    hdst__aggregate_device_choice *c = &d->choice;
    c->high_bits = bits <= d->shape.most_bits ? bits : (bits + 1) / 2 < d->shape.most_bits ? (bits + 1) / 2 : d->shape.most_bits;
    c->low_bits = bits - c->high_bits;
}

void hdst__aggregate_device_choose_partitions(hdst__aggregate_device *d)
{
    hdst__aggregate_device_choice *c = &d->choice;
    const uint32_t table_bits = hdst__engine_limits(d->engine)->by_key_table_bits;
    c->slots = table_bits && 1u << table_bits < d->shape.slots ? 1u << table_bits : d->shape.slots;
    c->spread = c->slots - c->slots / 16;
    const uint32_t some = HDST__GPU_KEY_SOME_PARTITION_BITS, least = c->few ? some : c->records > HDST__GPU_KEY_MANY_RECORDS ? HDST__GPU_KEY_MANY_PARTITION_BITS
                            : c->records > HDST__GPU_KEY_SOME_RECORDS ? some : 1;
    const uint32_t wanted = bits_wanted(d), bits = wanted < least ? least : wanted, forced = hdst__engine_limits(d->engine)->by_key_partition_bits;
    split_bits(d, forced && !c->known ? forced : bits);
}

// The last run counted the keys, of which the first one had an estimate when it decided about rounds. Where two rounds do not give as
// many partitions as would be quicker, those that did stay.
void hdst__aggregate_device_choose_again(hdst__aggregate_device *d)
{
    const hdst__aggregate_device_choice before = d->choice;
    if (!before.counted || before.crowded || hdst__engine_limits(d->engine)->by_key_partition_bits) return;
    hdst__aggregate_device_choose_partitions(d);
    if (d->choice.low_bits > HDST__AGGREGATE_FEW_BITS) d->choice = before;
}

double hdst__aggregate_device_distinct_of(const uint64_t *map, double share)
{
    uint64_t set = 0;
    const double m = (double)(UINT64_C(1) << HDST__GPU_KEY_MAP_BITS);
    for (uint64_t i = 0; i < (UINT64_C(1) << HDST__GPU_KEY_MAP_BITS) / 64; i++) set += (uint64_t)__builtin_popcountll(map[i]);
    return set == UINT64_C(1) << HDST__GPU_KEY_MAP_BITS ? 1e18 : -m * log1p(-(double)set / m) / share;
}

// --- All of it ---

hdst_status hdst__aggregate_device_choose(hdst__aggregate_device *d, const hdst__dataset_cache *cache, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(d->engine, HDST__OWNER_BY_KEY);
    const uint64_t records = cache->reader.records;
    sample s = {.words = hdst__alloc(allocator, (uint64_t)HDST__GPU_KEY_SAMPLE_RECORDS * d->shape.tuple_words * 4),
                .key = hdst__alloc_zero(allocator, sizeof *s.key << COUNT_BITS)};
    hdst_status status = s.words && s.key ? take_sample(d, cache, &s, error) : hdst__error_memory(error, "a reduce by key");
    d->choice = (hdst__aggregate_device_choice){.of = cache, .records = records, .sampled = s.count};
    if (status == HDST_OK) {
        count_keys(d, &s);
        d->choice.distinct = hdst__distinct_keys_expected((double)s.distinct, (double)s.count, (double)records);
        choose_scales(d, &s, records);
        status = choose_heavy(d, &s, error);
        hdst__aggregate_device_choose_partitions(d);
    }
    hdst__free(allocator, s.words);
    hdst__free(allocator, s.key);
    return status;
}
