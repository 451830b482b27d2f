// SPDX-License-Identifier: Apache-2.0
// Which key each row of a partition has (shuffle/group/group_table.h).
#include "shuffle/group/group_table.h"

#include "base/costs_host.h"
#include "engine/engine.h"
#include "shuffle/group/group_key.h"
#include "shuffle/group/group_numbers.h"

#include <string.h>

enum { BLOCK = 512 };               // rows whose numbers are computed together

typedef struct filling {
    hdst__group_table *t;
    const hdst__group *g;
    const char *rows;
    uint64_t count;
    unsigned down;                  // a number's place is what is above these bits
    unsigned number_bits;
    bool tells;                     // keys of one number are one key
    int64_t probes;                 // that are left
} filling;

// --- Memory ---

static uint64_t places(const hdst__group_table *t) { return UINT64_C(1) << t->bits; }

// Keys take half of the places at most, but where each number has a place of its own.
static uint64_t most_keys(const filling *f) { return f->down ? places(f->t) / 2 : places(f->t); }

static bool carve(filling *f, void *memory)
{
    hdst__group_table *t = f->t;
    const uint64_t slots = places(t) + HDST__GROUP_TABLE_END, keys = most_keys(f);
    t->slot = memory;
    t->next = t->slot + slots;
    t->order = t->next + keys;
    t->row = (uint32_t *)(t->order + keys);
    memset(t->slot, 0, slots * sizeof *t->slot);
    return true;
}

static uint64_t bytes_of(const filling *f)
{
    return (places(f->t) + HDST__GROUP_TABLE_END + 2 * most_keys(f)) * sizeof(uint64_t) + most_keys(f) * sizeof(uint32_t);
}

static bool start(filling *f, uint32_t bits)
{
    hdst__group_table *t = f->t;
    const hdst__allocator *allocator = hdst__engine_owned(f->g->engine, HDST__OWNER_SORTS);
    t->bits = bits < f->number_bits ? bits : f->number_bits;
    f->down = f->number_bits - t->bits;
    t->keys = 0;
    if (t->capacity < bytes_of(f)) {
        hdst__free(allocator, t->memory);
        t->memory = hdst__alloc(allocator, bytes_of(f));
        t->capacity = t->memory ? bytes_of(f) : 0;
    }
    return t->memory && carve(f, t->memory);
}

static bool take_of(const filling *f)
{
    hdst__group_table *t = f->t;
    const hdst__allocator *allocator = hdst__engine_owned(f->g->engine, HDST__OWNER_SORTS);
    if (t->of_capacity >= f->count) return true;
    hdst__free(allocator, t->of);
    t->of = hdst__alloc(allocator, f->count * sizeof *t->of);
    t->of_capacity = t->of ? f->count : 0;
    return t->of;
}

// --- Keys ---

static bool put(filling *f, uint64_t slot)
{
    hdst__group_table *t = f->t;
    uint64_t at = slot >> 32 >> f->down;
    for (const uint64_t end = places(t) + HDST__GROUP_TABLE_END; at < end; at++, f->probes--)
        if (!t->slot[at]) break;
    if (at == places(t) + HDST__GROUP_TABLE_END || f->probes < 0) return false;
    t->slot[at] = slot;
    return true;
}

// Four times the places, or twice, as long as there are more rows than these.
static bool grow(filling *f)
{
    hdst__group_table *t = f->t;
    const hdst__allocator *allocator = hdst__engine_owned(f->g->engine, HDST__OWNER_SORTS);
    const hdst__group_table old = *t;
    const uint32_t more = places(t) * 4 <= f->count ? 2 : 1;
    if (!f->down || places(t) << more > f->count) return false;
    t->memory = NULL;
    t->capacity = 0;
    bool done = start(f, old.bits + more);
    if (done) {
        t->keys = old.keys;
        memcpy(t->next, old.next, old.keys * sizeof *t->next);
        memcpy(t->row, old.row, old.keys * sizeof *t->row);
        for (uint64_t i = 0; i < places(&old) + HDST__GROUP_TABLE_END && done; i++) done = !old.slot[i] || put(f, old.slot[i]);
    }
    hdst__free(allocator, old.memory);
    return done;
}

static bool add_key(filling *f, uint32_t number, uint64_t row)
{
    hdst__group_table *t = f->t;
    if (t->keys == most_keys(f) && !grow(f)) return false;
    t->row[t->keys] = (uint32_t)row;
    t->next[t->keys] = 0;
    return put(f, (uint64_t)number << 32 | ++t->keys);
}

static inline bool is_key(const filling *f, uint64_t slot, uint32_t number, uint64_t row)
{
    const uint64_t size = f->g->record->size;
    if (slot >> 32 != number) return false;
    return f->tells || hdst__group_same_key(f->g, f->rows + f->t->row[(uint32_t)slot - 1] * size, f->rows + row * size);
}

// Rows from `first` on, until one has a new key: returns how many.
static uint64_t find_keys(filling *f, const uint32_t *number, uint64_t first, uint64_t count)
{
    const hdst__group_table t = *f->t;
    const uint64_t end = places(&t) + HDST__GROUP_TABLE_END;
    uint32_t *restrict of = t.of + first;
    uint64_t *restrict next = t.next;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = number[i] >> f->down, slot;
        while ((slot = t.slot[at]) && !is_key(f, slot, number[i], first + i))
            if (f->probes--, ++at == end) return i;
        if (!slot) return i;
        of[i] = (uint32_t)slot - 1;
        next[of[i]]++;
    }
    return count;
}

static bool take_block(filling *f, const uint32_t *number, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count && f->probes >= 0; i++) {
        i += find_keys(f, number + i, first + i, count - i);
        if (i == count) break;
        if (!add_key(f, number[i], first + i)) return false;
        f->t->of[first + i] = f->t->keys - 1;
        f->t->next[f->t->keys - 1] = 1;
    }
    return f->probes >= 0;
}

// --- Their order ---

// A hash, and where it is the same the keys.
static bool comes_before(const filling *f, uint64_t a, uint64_t b)
{
    const uint64_t size = f->g->record->size;
    if (a >> 32 != b >> 32 || f->tells) return a >> 32 < b >> 32;
    return hdst__key_fields_compare(&f->g->key, f->rows + f->t->row[(uint32_t)a - 1] * size, f->rows + f->t->row[(uint32_t)b - 1] * size) < 0;
}

// Slots are in order but for those that went further for want of a free place: moving these back takes no more steps than putting them there.
static void order_keys(filling *f)
{
    hdst__group_table *t = f->t;
    uint32_t n = 0;
    for (uint64_t at = 0; n < t->keys; at++) {
        const uint64_t slot = t->slot[at];
        if (!slot) continue;
        uint32_t to = n++;
        for (; to && comes_before(f, slot, t->order[to - 1]); to--) t->order[to] = t->order[to - 1];
        t->order[to] = slot;
    }
}

bool hdst__group_table_fill(hdst__group_table *t, const hdst__group *g, const char *rows, uint64_t count, uint64_t base, unsigned bits)
{
    uint32_t number[BLOCK], first_bits = 1;
    filling f = {t, g, rows, count, 0, bits, g->dense || g->key.bytes <= 4, (int64_t)count * HDST__HOST_GROUP_TABLE_PROBES};
    while (UINT64_C(1) << first_bits < HDST__HOST_GROUP_TABLE_SLOTS && UINT64_C(1) << first_bits < count) first_bits++;
    if (first_bits < t->usual && UINT64_C(1) << t->usual <= count) first_bits = t->usual;
    if (t->vain && t->vain--) return false;         // those before were not worth it
    if (!take_of(&f) || !start(&f, first_bits)) return false;
    t->vain = HDST__HOST_GROUP_TABLE_VAIN;
    for (uint64_t i = 0; i < count; i += BLOCK) {
        const uint64_t n = count - i < BLOCK ? count - i : BLOCK;
        if (i % HDST__HOST_CANCEL_RECORDS == 0 && hdst__cancel_asked(hdst__engine_cancel(g->engine))) return false;
        hdst__group_numbers_of(g, rows + i * g->record->size, n, base, number);
        if (!take_block(&f, number, i, n)) return false;
    }
    t->usual = t->bits;
    t->vain = 0;
    order_keys(&f);
    return true;
}

void hdst__group_table_free(hdst__group_table *t, const hdst__group *g)
{
    const hdst__allocator *allocator = hdst__engine_owned(g->engine, HDST__OWNER_SORTS);
    hdst__free(allocator, t->memory);
    hdst__free(allocator, t->of);
    *t = (hdst__group_table){0};
}
