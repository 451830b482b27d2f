// SPDX-License-Identifier: Apache-2.0
// The table of computing powers.
#include "partition/power_table.h"

#include "base/costs_host.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

typedef struct entry {
    hdst__hash key;
    hdst__power power;
} entry;

struct hdst__power_table {
    const hdst__allocator *allocator;
    pthread_mutex_t mutex;
    entry *entry;                   // as they came: a program has few kernels
    uint32_t count, room;
};

hdst__power_table *hdst__power_table_create(const hdst__allocator *allocator)
{
    hdst__power_table *table = hdst__alloc_zero(allocator, sizeof *table);
    if (!table) return NULL;
    table->allocator = allocator;
    if (pthread_mutex_init(&table->mutex, NULL) == 0) return table;
    hdst__free(allocator, table);
    return NULL;
}

void hdst__power_table_destroy(hdst__power_table *table)
{
    if (!table) return;
    pthread_mutex_destroy(&table->mutex);
    hdst__free(table->allocator, table->entry);
    hdst__free(table->allocator, table);
}

static entry *find(const hdst__power_table *table, const hdst__hash *key)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (!memcmp(&table->entry[i].key, key, sizeof *key)) return &table->entry[i];
    return NULL;
}

bool hdst__power_table_find(hdst__power_table *table, const hdst__hash *key, hdst__power *power)
{
    pthread_mutex_lock(&table->mutex);
    const entry *e = find(table, key);
    if (e) *power = e->power;
    pthread_mutex_unlock(&table->mutex);
    return e != NULL;
}

static entry *add(hdst__power_table *table, const hdst__hash *key)
{
    if (table->count == table->room) {
        const uint32_t room = table->room ? 2 * table->room : 16;
        entry *grown = hdst__realloc(table->allocator, table->entry, room * sizeof *grown);
        if (!grown) return NULL;
        table->entry = grown;
        table->room = room;
    }
    entry *e = &table->entry[table->count++];
    *e = (entry){.key = *key};
    return e;
}

// Four times as many slices stand on firmer ground.
static bool is_news(const hdst__power *old, const hdst__power *now)
{
    return hdst__power_has_drifted(old, now) || now->slices / 4 >= old->slices;
}

bool hdst__power_table_note(hdst__power_table *table, const hdst__hash *key, const hdst__power *power)
{
    if (!hdst__power_can_be(power)) return false;
    pthread_mutex_lock(&table->mutex);
    entry *e = find(table, key);
    const bool news = (!e && (e = add(table, key))) || (e && is_news(&e->power, power));
    if (news) e->power = *power;
    pthread_mutex_unlock(&table->mutex);
    return news;
}

// The fixed part matters as far as it is a part of a slice that is as long as one should be.
bool hdst__power_has_drifted(const hdst__power *old, const hdst__power *now)
{
    const double each = HDST__HOST_DRIFT * (old->copy + old->kernel);
    return fabs(now->kernel - old->kernel) > each || fabs(now->copy - old->copy) > each ||
        fabs(now->fixed - old->fixed) > HDST__HOST_DRIFT * HDST__HOST_SLICE_SECONDS;
}

static bool can_be_seconds(double seconds) { return seconds >= 0 && seconds < HDST__HOST_LONGEST_SECONDS; }

bool hdst__power_can_be(const hdst__power *power)
{
    return can_be_seconds(power->fixed) && can_be_seconds(power->copy) && can_be_seconds(power->kernel) && power->kernel > 0 && power->spread >= 0 &&
        power->spread < HUGE_VAL && power->slices > 0;
}
