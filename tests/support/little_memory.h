// SPDX-License-Identifier: Apache-2.0
// Records, and a module over them, for runs in memory budgets that are too little for all at once.
#ifndef TESTS_SUPPORT_LITTLE_MEMORY_H
#define TESTS_SUPPORT_LITTLE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { KEYS = 701, UNUSED = 280, LENGTH = 160 };        // keys of the records; functions that nobody calls, and letters of one at most

typedef struct item {
    uint32_t key;
    float x, y;
    uint32_t at;
} item;

static const char kernels[] = "struct item { uint32_t key; float x; float y; uint32_t at; };\n"
                              "struct values { uint32_t n; double s; };\n"
                              "map by_key(item i) -> (key uint32_t key, uint32_t n, double s) { return (i.key, 1, (double)i.x); }\n"
                              "reduce add(values a, values b) { return (values){ .n = a.n + b.n, .s = a.s + b.s }; }\n"
                              "filter some(item i) { return i.at % 3u != 1u; }\n"
                              "map totals(item i, accum double s) { s += (double)i.x * (double)i.y; }\n";

static item item_at(uint64_t i) { return (item){(uint32_t)(i * 7919 % KEYS), (float)(i % 1013) / 64, (float)(i * 31 % 509) / 32, (uint32_t)i}; }

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < count; i++) ((item *)records)[i] = item_at(first + i);
    return true;
}

// Functions that nobody calls: the module takes all that small blocks may, so what is made later counts.
static const char *with_unused(char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s", kernels);
    for (int i = 0; i < UNUSED; i++)
        at += (size_t)snprintf(text + at, size - at, "map unused%d(item i, accum double p) { p += ((double)i.x * %d.5 + (double)i.y) * (double)i.at; }\n", i,
                               i);
    return text;
}

#endif
