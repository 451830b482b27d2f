// SPDX-License-Identifier: Apache-2.0
// Measured powers: read from the kernel cache, shown for people and as JSON, removed.
#include "tools/device_powers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct visit {
    hdst__program_cache cache;
    device_powers *powers;          // NULL: they are removed
    uint64_t count;
    bool failed;
} visit;

static bool add(visit *v, const hdst__power_note *note)
{
    device_powers *powers = v->powers;
    hdst__power_note *grown = realloc(powers->note, (powers->count + 1) * sizeof *grown);
    v->failed = !grown;
    if (!grown) return false;
    powers->note = grown;
    powers->note[powers->count++] = *note;
    return true;
}

static bool take(const hdst__cached_file *file, void *user)
{
    visit *v = user;
    hdst__power_note note;
    hdst__hash key;
    if (file->kind != HDST__CACHED_POWER) return true;
    v->count++;
    if (!v->powers) return unlinkat(file->directory, file->name, 0) == 0 || errno == ENOENT;
    if (sscanf(file->name, "%16" SCNx64 "%16" SCNx64, &key.high, &key.low) != 2 || !hdst__power_note_read(&v->cache, &key, &note)) return true;
    return add(v, &note);
}

static bool look_at_all(visit *v)
{
    static const hdst__log silent;
    hdst__program_cache_init(&v->cache, NULL, &silent, NULL);
    const bool good = !v->cache.directory || hdst__program_cache_visit(&v->cache, take, v);
    const int cause = errno;
    hdst__program_cache_destroy(&v->cache);
    errno = cause;
    return good;
}

static int by_name(const void *a, const void *b)
{
    const hdst__power_note *x = a, *y = b;
    const int order = strcmp(x->kernel, y->kernel);
    return order ? order : (x->power.kernel > y->power.kernel) - (x->power.kernel < y->power.kernel);
}

bool device_powers_read(device_powers *powers)
{
    *powers = (device_powers){0};
    visit v = {.powers = powers};
    look_at_all(&v);            // a folder that cannot be read has none
    if (powers->count) qsort(powers->note, powers->count, sizeof *powers->note, by_name);
    if (v.failed) device_powers_free(powers);
    return !v.failed;
}

void device_powers_free(device_powers *powers)
{
    free(powers->note);
    *powers = (device_powers){0};
}

bool device_powers_reset(uint64_t *count)
{
    visit v = {.count = 0};
    const bool good = look_at_all(&v);
    *count = v.count;
    return good;
}

static void print_note(const hdst__power_note *note)
{
    const hdst__power *p = &note->power;
    printf("           measured: %s: %.4g ns a record", note->kernel, p->kernel * 1e9);
    if (p->copy > 0) printf(", %.4g ns to copy it", p->copy * 1e9);
    if (p->fixed > 0) printf(", %.4g us a slice", p->fixed * 1e6);
    printf(" (%" PRIu32 " slices, within %.0f %%)\n", p->slices, p->spread * 100);
}

static void print_json_note(const hdst__power_note *note)
{
    const hdst__power *p = &note->power;
    printf("{\"kernel\": \"");
    for (const char *c = note->kernel; *c; c++) printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    printf("\", \"record_seconds\": %.17g, \"copy_seconds\": %.17g, \"slice_seconds\": %.17g, \"spread\": %.17g, \"slices\": %" PRIu32 "}", p->kernel,
           p->copy, p->fixed, p->spread, p->slices);
}

static void each_of(const device_powers *powers, const hdst__device_info *device, bool json)
{
    char name[33];
    hdst__power_device(device, name);
    bool first = true;
    for (size_t i = 0; i < powers->count; i++) {
        if (strcmp(powers->note[i].device, name) != 0) continue;
        if (json && !first) printf(", ");
        json ? print_json_note(&powers->note[i]) : print_note(&powers->note[i]);
        first = false;
    }
}

void device_powers_print(const device_powers *powers, const hdst__device_info *device) { each_of(powers, device, false); }

void device_powers_print_json(const device_powers *powers, const hdst__device_info *device)
{
    putchar('[');
    each_of(powers, device, true);
    putchar(']');
}
