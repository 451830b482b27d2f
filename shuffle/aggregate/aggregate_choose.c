// SPDX-License-Identifier: Apache-2.0
// What the first records say about a reduction by key: how many keys there may be, how float sums are held.
#include "shuffle/aggregate/aggregate_choose.h"

#include "shuffle/aggregate/aggregate_input.h"
#include "shuffle/aggregate/aggregate_memory.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "base/costs_cpu.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void look_at_addends(hdst__aggregation_layout *layout, const hdst__key_batch *batch, hdst__addends *addends)
{
    for (uint64_t c = 0; c < layout->value_count; c++) {
        const hdst__value_column *column = &layout->value[c];
        if (!column->cell.digits || addends[column->number].count >= HDST__HOST_KEY_ADDENDS) continue;
        for (uint32_t i = 0; i < batch->count; i++) hdst__addends_add(&addends[column->number], column->cell.kind, hdst__key_batch_bits(batch, column, c, i));
    }
}

static void choose_classes(hdst__aggregation *run, const hdst__addends *addends)
{
    for (uint64_t c = 0; c < run->layout->value_count; c++) {
        hdst__value_column *column = &run->layout->value[c];
        if (!column->cell.digits) continue;
        const hdst__addends *seen = &addends[column->number];
        column->s = hdst__addends_scale(seen, column->cell.kind, HDST__FIXED_BITS);
        column->cell.precision = hdst__addends_precision(seen, column->cell.kind, column->s, HDST__FIXED_BITS);
        run->choice.class_count[column->cell.precision]++;
    }
    hdst__aggregation_layout_choose(run->layout);
}

static uint32_t bits_for(double rows)
{
    uint32_t bits = 0;
    while (bits < 40 && (double)(UINT64_C(1) << bits) < rows) bits++;
    return bits;
}

// Partitions of which each has memory for a chunk and a line of either kind.
static uint32_t most_partition_bits(const hdst__aggregation *run)
{
    const uint64_t fit = hdst__aggregate_share(run) / HDST__HOST_PARTITION_SHARE / HDST__HOST_PARTITION_LEAST_BYTES;
    uint32_t bits = 0;
    while (bits < HDST__HOST_PARTITION_BITS && UINT64_C(2) << bits <= fit) bits++;
    return bits;
}

// Of a partition's table at first: its keys keep it half full.
static void choose_partition_table(hdst__aggregation *run, double keys)
{
    hdst__aggregate_choice *c = &run->choice;
    const uint32_t forced = hdst__engine_limits(run->engine)->by_key_table_bits;
    const double row_bytes = 8.0 * run->layout->row_words, most_bytes = (double)hdst__aggregate_share(run) / HDST__HOST_PARTITION_SHARE;
    uint32_t bits = bits_for(2.2 * keys / (double)(UINT64_C(1) << c->partition_bits));
    while (bits > HDST__HOST_TABLE_LEAST_BITS && (double)(UINT64_C(1) << bits) * row_bytes > most_bytes) bits--;
    c->table_bits = forced ? forced : bits < HDST__HOST_TABLE_LEAST_BITS ? HDST__HOST_TABLE_LEAST_BITS : bits;
}

void hdst__aggregate_expect_keys(hdst__aggregation *run, uint64_t keys)
{
    if ((double)keys > run->choice.distinct) choose_partition_table(run, (double)keys);
}

bool hdst__aggregate_rows_like(const hdst__aggregation *run, hdst__combined_like *like)
{
    const hdst__aggregation_layout *layout = run->layout;
    const double row_bytes = 8.0 * layout->row_words;
    if (!run->choice.blocks || run->choice.distinct > HDST__CPU_COMBINED_ROWS_BYTES / row_bytes / 2) return false;
    *like = (hdst__combined_like){.look_after = layout->look_after, .full = layout->full};
    like->bits = bits_for(HDST__CPU_COMBINED_ROWS_TIMES * run->choice.distinct);
    if (like->bits < HDST__HOST_TABLE_LEAST_BITS) like->bits = HDST__HOST_TABLE_LEAST_BITS;
    while ((double)(UINT64_C(1) << like->bits) * row_bytes > HDST__CPU_COMBINED_ROWS_BYTES) like->bits--;
    for (uint64_t i = 0; i < layout->value_count; i++) {
        if (layout->value[i].words != 1) return false;
        like->scale[i] = layout->value[i].s;
    }
    return true;
}

static void choose_tables(hdst__aggregation *run, double seen)
{
    hdst__aggregate_choice *c = &run->choice;
    const double row_bytes = 8.0 * run->layout->row_words, records = (double)run->records;
    const uint32_t forced = hdst__engine_limits(run->engine)->by_key_table_bits;
    const uint64_t share = hdst__aggregate_share(run) / HDST__HOST_BLOCK_TABLE_SHARE;
    const uint32_t most_partitions = most_partition_bits(run);
    const double table_bytes = (double)(share < HDST__HOST_BLOCK_TABLE_BYTES ? share : HDST__HOST_BLOCK_TABLE_BYTES);
    c->block_bits = bits_for(table_bytes / row_bytes);
    if (table_bytes < HDST__HOST_BLOCK_TABLE_BYTES && c->block_bits) c->block_bits--;        // which is rounded up
    if (c->block_bits < HDST__HOST_TABLE_LEAST_BITS) c->block_bits = HDST__HOST_TABLE_LEAST_BITS;
    if (forced) c->block_bits = forced;
    const double room = (double)(UINT64_C(1) << c->block_bits) / 2;
    const bool wide = c->class_count[HDST__CLASS_SUPERACCUMULATOR] > 0, few = c->distinct <= room * 0.9, often = c->sampled >= 4 * seen;
    const bool none = hdst__engine_settings(run->engine)->hpr == HDST__HPR_NONE, asked = run->aggregate->container != HDST__CONTAINER_AUTO;
    c->sorted = run->aggregate->container == HDST__CONTAINER_SORTED;
    c->blocks = !none && (asked ? run->aggregate->container == HDST__CONTAINER_TABLE : !wide && (few || often || run->layout->texts));
    const uint32_t needed = bits_for(c->sorted ? records * run->layout->raw_bytes / HDST__HOST_SORTED_PARTITION_BYTES
                                               : 2 * c->distinct * row_bytes / HDST__HOST_BLOCK_TABLE_BYTES);
    const uint32_t least = records > HDST__HOST_KEY_MANY_RECORDS ? HDST__HOST_KEY_MANY_PARTITION_BITS
                         : records > HDST__HOST_KEY_SOME_RECORDS ? HDST__HOST_KEY_SOME_PARTITION_BITS
                                                                 : 0;
    c->partition_bits = needed < least ? least : needed;
    if (c->partition_bits > most_partitions) c->partition_bits = most_partitions;
    if (hdst__engine_limits(run->engine)->by_key_partition_bits) c->partition_bits = hdst__engine_limits(run->engine)->by_key_partition_bits;
    choose_partition_table(run, c->distinct);
    const char *why = c->sorted ? "sorted runs, as was asked for"
        : asked && c->blocks ? "a hash table for each thread, as was asked for, and radix partitions"
        : asked ? "radix partitions, as was asked for"
        : none ? "radix partitions, as no level combines (hpr none)"
        : wide ? "radix partitions, as no two words hold most addends"
        : run->layout->texts && !few && !often ? "a hash table for each thread, as long as it finds keys again, and radix partitions"
        : few ? "a hash table for each thread, as all keys fit one in its cache"
        : c->blocks ? "a hash table for each thread, as some keys come often, and radix partitions, as there are many"
        : "radix partitions, as there are more keys than a thread's table holds";
    snprintf(c->why, sizeof c->why, "%s; %u partition%s, %u-word rows", why, 1u << c->partition_bits, c->partition_bits ? "s" : "",
             (unsigned)run->layout->row_words);
}

// Partitions whose rows stay in the cache. There is no table for threads: the device's tables do that where rows are few.
static void choose_rows(hdst__aggregation *run)
{
    const hdst__aggregation_layout *layout = run->layout;
    hdst__aggregate_choice *c = &run->choice;
    const uint32_t row_bits = 32 - layout->row_shift, forced = hdst__engine_limits(run->engine)->by_key_partition_bits;
    const uint32_t needed = bits_for((double)layout->row_count * 8 * (layout->cell_words ? layout->cell_words : 1) / HDST__HOST_DIRECT_PARTITION_BYTES);
    const uint32_t wanted = forced                              ? forced
                            : needed < HDST__HOST_DIRECT_PARTITION_BITS     ? HDST__HOST_DIRECT_PARTITION_BITS
                            : needed > most_partition_bits(run) ? most_partition_bits(run)
                                                                : needed;
    c->partition_bits = wanted < row_bits ? wanted : row_bits;
    c->table_bits = row_bits - c->partition_bits + 1;        // of what combines tuples that pile up: rows have places of their own
    c->distinct = c->rows = (double)layout->row_count;
    snprintf(c->why, sizeof c->why, "partitions by number of row, each in a thread's cache, as all rows together are larger than it; %u partitions, "
        "%u word%s a row",
             1u << c->partition_bits, (unsigned)layout->cell_words, layout->cell_words == 1 ? "" : "s");
}

bool hdst__aggregate_takes_rows(uint64_t row_count) { return row_count && row_count <= UINT64_C(1) << 32; }

// Elements of a row; those that are no float sums, of which a stage has fewer words, count less where a function in front must write them first.
static double count_elements(const hdst__record *rows, const hdst__accumulate_op *laws, bool from_function)
{
    double count = 0;
    for (uint32_t i = 0; i < rows->leaf_count; i++) {
        const bool float_sum = laws[i] == HDST__SUM && hdst__kind_is_float(rows->leaves[i].kind);
        count += (double)rows->leaves[i].elements / (from_function && !float_sum ? HDST__HOST_DIRECT_FUNCTION_TIMES : 1);
    }
    return count;
}

bool hdst__aggregate_suits_rows(hdst__engine *engine, const hdst__record *rows, const hdst__accumulate_op *laws, uint64_t row_count, bool from_function)
{
    const hdst__device_info *device;
    hdst_error ignored;
    const uint64_t forced = hdst__engine_limits(engine)->by_key_least_cells;
    const double cells = (double)row_count * count_elements(rows, laws, from_function && !forced);
    if (!hdst__aggregate_takes_rows(row_count) || hdst__engine_settings(engine)->gpu_form_on_cpu) return false;
    if (cells < (double)(forced ? forced : HDST__HOST_DIRECT_LEAST_CELLS)) return false;
    return forced || (hdst__engine_device(engine, &device, &ignored) == HDST_OK && device->class_ == HDST__DEVICE_CPU);
}

typedef struct sample {
    hdst__key_batch batch;
    void **copy;
    uint64_t *map;
    uint32_t map_bits;
    hdst__addends *addends;
} sample;

static void look_at_stretch(hdst__aggregation *run, sample *s, const hdst__aggregate_stretch *stretch)
{
    const hdst__aggregation_layout *layout = run->layout;
    for (uint64_t done = 0; done < stretch->count; done += s->batch.count) {
        const uint64_t left = stretch->count - done;
        hdst__key_batch_open(&s->batch, layout, stretch->storage, stretch->buffers, stretch->at + done, left < layout->batch ? (uint32_t)left : layout->batch);
        for (uint32_t i = 0; i < s->batch.count; i++) {
            const uint32_t bit = s->batch.hash[i] >> (32 - s->map_bits);
            s->map[bit / 64] |= UINT64_C(1) << bit % 64;
        }
        look_at_addends(run->layout, &s->batch, s->addends);
    }
}

// Up to a record of the sample. How many keys there were.
static hdst_status look_until(hdst__aggregation *run, sample *s, uint64_t end, double *seen, hdst_error *error)
{
    hdst_status status = HDST_OK;
    while (run->next_record < end && status == HDST_OK) {
        hdst__aggregate_stretch stretch;
        status = hdst__aggregate_next(run, end - run->next_record, s->copy, &stretch, error);
        if (status == HDST_OK) status = hdst__aggregate_read_stretch(run, s->copy, &stretch, error);
        if (status == HDST_OK) look_at_stretch(run, s, &stretch);
    }
    *seen = hdst__distinct_keys_counted(s->map, s->map_bits);
    return status;
}

static hdst_status look(hdst__aggregation *run, sample *s, hdst_error *error)
{
    const uint64_t wanted = run->choice.sampled;
    double half = 0, seen = 0;
    hdst_status status = look_until(run, s, wanted / 2, &half, error);
    if (status == HDST_OK) status = look_until(run, s, wanted, &seen, error);
    run->next_record = 0;
    if (status != HDST_OK) return status;
    run->choice.distinct = hdst__distinct_keys_expected(seen, (double)wanted, (double)run->records);
    run->choice.rows = hdst__distinct_keys_going_on(half, seen, (double)wanted, (double)run->records);
    choose_classes(run, s->addends);
    if (run->layout->rows) choose_rows(run);
    else choose_tables(run, seen);
    return HDST_OK;
}

uint64_t hdst__aggregate_sample(const hdst__aggregation *run)
{
    const uint64_t fit = HDST__HOST_KEY_SAMPLE_BYTES / run->layout->record->size;
    return fit < HDST__HOST_KEY_SAMPLE_LEAST ? HDST__HOST_KEY_SAMPLE_LEAST : fit < HDST__HOST_KEY_SAMPLE_RECORDS ? fit : HDST__HOST_KEY_SAMPLE_RECORDS;
}

hdst_status hdst__aggregate_choose(hdst__aggregation *run, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(run->engine, HDST__OWNER_BY_KEY);
    const hdst__record *record = run->layout->record;
    const uint64_t most = hdst__aggregate_sample(run);
    sample s = {.map_bits = run->room / HDST__HOST_KEY_MAP_SHARE < (1 << HDST__HOST_KEY_MAP_BITS) / 8 ? HDST__HOST_KEY_MAP_FEW_BITS : HDST__HOST_KEY_MAP_BITS,
                .addends = HDST__NEW_ARRAY(run->arena, hdst__addends, record->leaf_count)};
    run->choice.sampled = run->end < most ? run->end : most;
    for (uint32_t i = 0; i < record->leaf_count; i++) hdst__addends_init(&s.addends[i]);
    s.map = hdst__alloc_zero(allocator, (UINT64_C(1) << s.map_bits) / 8);
    hdst_status status = HDST_E_MEMORY;
    const bool made = s.map && hdst__key_batch_create(&s.batch, allocator, run->layout);
    if (hdst__aggregate_make_copy(run, &s.copy) && made) status = look(run, &s, error);
    else hdst__error_memory(error, "a reduce by key");
    hdst__free(allocator, s.map);
    hdst__aggregate_free_copy(run, s.copy);
    hdst__key_batch_destroy(&s.batch, allocator);
    return status;
}
