// SPDX-License-Identifier: Apache-2.0
// Tables of a CPU's cores in which records become fewer (engine/stage/combined_tables.h).
#include "engine/stage/combined_tables.h"

#include "base/costs_cpu.h"
#include "base/costs_host.h"
#include "base/huge_pages.h"
#include "engine/device/give_up.h"
#include "engine/memory/consumer.h"

#include <string.h>

// COMBINED_HEAD, and its words (codegen/opencl/templates/combine_tables_cpu.cl).
enum { HEAD_WORDS = 24, HEAD_BITS = 1, HEAD_COUNT = 2, HEAD_FOUND = 4, HEAD_LOOK_AFTER = 6, HEAD_FULL = 7, HEAD_SCALES = 8, HEAD_MOVED = 16 };

static uint64_t table_bytes(const hdst__combined_tables *tables, uint32_t bits) { return tables->kernel->combined_row_bytes << (bits + 1); }

static uint64_t all_bytes(const hdst__combined_tables *tables, uint32_t bits)
{
    return tables->tables * (HEAD_WORDS * sizeof(uint64_t) + table_bytes(tables, bits));
}

// As large as a core's table may be, and all together a share of what the budget has left. 0: there is no room.
static uint32_t choose_bits(const hdst__combined_tables *tables)
{
    const uint64_t left = hdst__budget_left(&tables->device->runtime->memory), share = left / HDST__HOST_BLOCK_TABLE_SHARE,
        most = share < tables->device->info->max_alloc_bytes ? share : tables->device->info->max_alloc_bytes;
    uint32_t bits = HDST__CPU_COMBINE_LEAST_BITS;
    if (all_bytes(tables, bits) > most) return 0;
    if (tables->device->limits->combine_bits) return tables->device->limits->combine_bits;
    while (tables->kernel->combined_row_bytes << (bits + 1) <= HDST__CPU_COMBINE_TABLE_BYTES && all_bytes(tables, bits + 1) <= most) bits++;
    return bits;
}

// Pages that nobody touches are none: tables begin small.
static bool take_memory(hdst__combined_tables *tables)
{
    hdst__device *device = tables->device;
    const uint64_t bytes = all_bytes(tables, tables->bits), page = HDST__HOST_PAGE_BYTES;
    tables->allocation = hdst__alloc_zero(hdst__budget_owned(&device->runtime->memory, HDST__OWNER_BY_KEY), bytes + page);
    if (!tables->allocation) return false;
    tables->at = (char *)tables->allocation + (page - (uintptr_t)tables->allocation % page) % page;
    hdst__ask_for_huge_pages(tables->at, bytes);
    if (device->ops->wrap(device, tables->at, bytes, &tables->memory, NULL) == HDST_OK) return true;
    hdst__free(device->runtime->allocator, tables->allocation);
    tables->allocation = NULL;
    return false;
}

static void set_heads(hdst__combined_tables *tables, const hdst__combined_like *like)
{
    uint64_t *head = (uint64_t *)(void *)tables->at;
    const uint32_t first = like || tables->bits < HDST__CPU_COMBINE_LEAST_BITS ? tables->bits : HDST__CPU_COMBINE_LEAST_BITS;
    for (uint64_t t = 0; t < tables->tables; t++, head += HEAD_WORDS) {
        head[HEAD_BITS] = first;
        if (!like) continue;
        head[HEAD_LOOK_AFTER] = like->look_after;
        head[HEAD_FULL] = (uint64_t)like->full;
        for (uint32_t i = 0; i < HDST__COMBINED_SUMS; i++) head[HEAD_SCALES + i] = (uint64_t)(int64_t)like->scale[i];
    }
}

// Tables of records grow; those of rows are as large as whoever takes them says, once it knows.
static void make(hdst__combined_tables *tables)
{
    hdst__combined_like like;
    const bool in_rows = tables->combining->in_rows;
    if (in_rows && !tables->consumer->rows_like(tables->consumer->user, &like)) return;
    tables->tried = true;
    tables->bits = !in_rows ? choose_bits(tables) : tables->device->limits->combine_bits ? tables->device->limits->combine_bits : like.bits;
    if (in_rows && all_bytes(tables, tables->bits) > hdst__budget_left(&tables->device->runtime->memory) / HDST__HOST_BLOCK_TABLE_SHARE) return;
    if (tables->bits && take_memory(tables)) set_heads(tables, in_rows ? &like : NULL);
}

void hdst__combined_tables_offer(hdst__combined_tables *tables, uint64_t came, hdst__launch *launch)
{
    const uint64_t least = tables->device->limits->combine_least;
    if (!tables->tried && came >= least) make(tables);
    if (!tables->allocation) return;
    launch->combined = &tables->memory;
    launch->combined_tables = tables->tables;
    launch->combined_bits = tables->bits;
}

hdst_status hdst__combined_tables_close(hdst__combined_tables *tables, hdst_error *error)
{
    return tables->device->ops->unwrap(tables->device, &tables->memory, error);
}

uint64_t hdst__combined_tables_most(const hdst__combined_tables *tables)
{
    const uint64_t *heads = (const uint64_t *)(void *)tables->at;
    uint64_t most = 0;
    for (uint64_t t = 0; t < tables->tables; t++)
        if (heads[t * HEAD_WORDS + HEAD_COUNT] > most) most = heads[t * HEAD_WORDS + HEAD_COUNT];
    return most;
}

static char *rows_of(const hdst__combined_tables *tables, uint64_t number)
{
    return tables->at + tables->tables * HEAD_WORDS * sizeof(uint64_t) + number * table_bytes(tables, tables->bits);
}

static hdst_status give_table(const hdst__combined_tables *tables, uint64_t number, hdst__give_records *give, void *user, hdst_error *error)
{
    const uint64_t *heads = (const uint64_t *)(void *)tables->at, row_bytes = tables->kernel->combined_row_bytes, bits = heads[number * HEAD_WORDS + HEAD_BITS];
    const hdst__record *record = tables->combining->record;
    const uint64_t key = record->leaves[tables->combining->key].offset;
    char *const rows = rows_of(tables, number) + (row_bytes << bits);
    uint64_t count = 0;
    for (uint64_t at = 0; at < UINT64_C(1) << bits; at++) {
        const char *row = rows + at * row_bytes;
        uint32_t length;
        memcpy(&length, row + key, sizeof length);
        if (length) memmove(rows + count++ * record->size, row, record->size);
    }
    return count ? give(user, rows, count, error) : HDST_OK;
}

// Those that moved on are in front of the table. A row without a tag is none.
static uint64_t pack_rows(const hdst__combined_tables *tables, uint64_t number, uint64_t row_words)
{
    const uint64_t *head = (const uint64_t *)(const void *)tables->at + number * HEAD_WORDS, step = tables->kernel->combined_row_bytes / sizeof *head;
    const uint64_t places = UINT64_C(1) << head[HEAD_BITS];
    uint64_t *const rows = (uint64_t *)(void *)rows_of(tables, number), count = 0;
    for (uint64_t at = 0; at < 2 * places; at++)
        if ((at < head[HEAD_MOVED] || at >= places) && rows[at * step]) memmove(rows + count++ * row_words, rows + at * step, row_words * sizeof *rows);
    return count;
}

hdst_status hdst__combined_tables_give_rows(hdst__combined_tables *tables, uint64_t *records, hdst_error *error)
{
    const hdst__combining *combining = tables->combining;
    const uint64_t row_words = combining->record->leaf_count + hdst__combined_key_words(combining);
    hdst_status status = HDST_OK;
    *records = 0;
    for (uint64_t t = 0; t < tables->tables && status == HDST_OK; t++) {
        const uint64_t *head = (const uint64_t *)(const void *)tables->at + t * HEAD_WORDS, of = head[HEAD_COUNT] + head[HEAD_FOUND];
        const uint64_t count = pack_rows(tables, t, row_words);
        *records += of;
        status = tables->consumer->rows(tables->consumer->user, (const uint64_t *)(const void *)rows_of(tables, t), count, of, error);
    }
    return status;
}

hdst_status hdst__combined_tables_give(const hdst__combined_tables *tables, hdst__give_records *give, void *user, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t t = 0; t < tables->tables && status == HDST_OK; t++) status = give_table(tables, t, give, user, error);
    return status;
}

void hdst__combined_tables_end(hdst__combined_tables *tables)
{
    if (!tables->allocation) return;
    if (tables->memory.host) tables->device->ops->unwrap(tables->device, &tables->memory, NULL);
    if (hdst__given_up(tables->device)) return;         // a kernel may still write there
    hdst__free(tables->device->runtime->allocator, tables->allocation);
    tables->allocation = NULL;
}
