// SPDX-License-Identifier: Apache-2.0
// hash(x) in kernels: against the published numbers of SplitMix64, against words put together here from C structs,
// equal bits of all back ends, what it refuses.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

// --- SplitMix64 again, as a generator: the hash of words is its first number from the state (hash so far ^ word) ---

static uint64_t splitmix(uint64_t state)
{
    uint64_t z = state + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

typedef struct words { uint64_t hash, low; bool waits; } words;

static void take_wide(words *w, uint64_t bits)
{
    if (w->waits) w->hash = splitmix(w->hash ^ w->low);
    w->waits = false;
    w->hash = splitmix(w->hash ^ bits);
}

static void take(words *w, uint32_t bits)
{
    if (w->waits) {
        w->waits = false;
        take_wide(w, (uint64_t)bits << 32 | w->low);
    } else {
        w->waits = true;
        w->low = bits;
    }
}

static uint64_t taken(words *w)
{
    if (w->waits) w->hash = splitmix(w->hash ^ w->low);
    return w->hash;
}

static uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// --- Records of all kinds ---

typedef struct mark { int16_t at; double weight; uint8_t flags; } mark;
typedef struct item {
    uint64_t id; int8_t small; float x[3]; double y; mark marks[5]; int64_t far[2]; bool yes; uint16_t last; float grid[3][2]; int32_t i;
} item;
typedef struct hashes {
    uint64_t whole, mark, x, id, small, first, y, yes, grid, far, local, same;
} hashes;

static const char kernel[] =
    "struct mark { int16_t at; double weight; uint8_t flags; };\n"
    "struct item { uint64_t id; int8_t small; float x[3]; double y; mark marks[5]; int64_t far[2]; bool yes; "
    "uint16_t last; float grid[3][2]; int32_t i; };\n"
    "struct hashes { uint64_t whole, mark, x, id, small, first, y, yes, grid, far, local, same; };\n"
    "map mixed(item p) -> hashes\n"
    "{\n"
    "    item copy = p;\n"
    "    copy.x[1] = 0;\n"
    "    return (hashes){ hash(p), hash(p.marks[p.i & 3]), hash(p.x), hash(p.id), hash(p.small), hash(p.x[0]), "
    "hash(p.y), hash(p.yes), hash(p.grid), hash(p.far),\n"
    "                     hash(copy), p.i > 0 ? hash(p.id) : hash(p.marks[4].at + 1) };\n"
    "}\n";

static uint64_t hash_of_item(const item *p)
{
    words w = {0};
    take_wide(&w, p->id);
    take(&w, (uint8_t)p->small);
    for (int i = 0; i < 3; i++) take(&w, float_bits(p->x[i]));
    take_wide(&w, double_bits(p->y));
    for (int i = 0; i < 5; i++) take(&w, (uint16_t)p->marks[i].at);
    for (int i = 0; i < 5; i++) take_wide(&w, double_bits(p->marks[i].weight));
    for (int i = 0; i < 5; i++) take(&w, p->marks[i].flags);
    for (int i = 0; i < 2; i++) take_wide(&w, (uint64_t)p->far[i]);
    take(&w, p->yes);
    take(&w, p->last);
    for (int i = 0; i < 6; i++) take(&w, float_bits(p->grid[i / 2][i % 2]));
    take(&w, (uint32_t)p->i);
    return taken(&w);
}

static hashes expected(const item *p)
{
    hashes h = {.whole = hash_of_item(p), .id = splitmix(p->id), .small = splitmix((uint8_t)p->small), .first = splitmix(float_bits(p->x[0])),
                .y = splitmix(double_bits(p->y)), .yes = splitmix(p->yes)};
    words one = {0}, x = {0}, grid = {0}, far = {0};
    take(&one, (uint16_t)p->marks[p->i & 3].at);
    take_wide(&one, double_bits(p->marks[p->i & 3].weight));
    take(&one, p->marks[p->i & 3].flags);
    for (int i = 0; i < 3; i++) take(&x, float_bits(p->x[i]));
    for (int i = 0; i < 6; i++) take(&grid, float_bits(p->grid[i / 2][i % 2]));
    for (int i = 0; i < 2; i++) take_wide(&far, (uint64_t)p->far[i]);
    h.mark = taken(&one), h.x = taken(&x), h.grid = taken(&grid), h.far = taken(&far);
    item copy = *p;
    copy.x[1] = 0;
    h.local = hash_of_item(&copy);
    h.same = p->i > 0 ? splitmix(p->id) : splitmix((uint32_t)(p->marks[4].at + 1));
    return h;
}

enum { N = 3000 };

static item items[N];

static float any_float(uint64_t bits)
{
    static const float odd[] = {0, -0.0f, INFINITY, -INFINITY, 0x1p-149f, NAN};
    return bits % 7 < 6 ? odd[bits % 7] : (float)(int32_t)(bits >> 20);
}

static void make_items(void)
{
    memset(items, 0, sizeof items);
    uint64_t state = 1;
    for (size_t r = 1; r < N; r++) {        // the first one is all zeroes
        item *p = &items[r];
#define NEXT (state = splitmix(state))
        p->id = NEXT, p->small = (int8_t)NEXT, p->y = (double)any_float(NEXT) / 3, p->yes = NEXT & 1, p->last = (uint16_t)NEXT, p->i = (int32_t)NEXT;
        for (int i = 0; i < 3; i++) p->x[i] = any_float(NEXT);
        for (int i = 0; i < 6; i++) p->grid[i / 2][i % 2] = any_float(NEXT);
        for (int i = 0; i < 2; i++) p->far[i] = (int64_t)NEXT;
        for (int i = 0; i < 5; i++) p->marks[i] = (mark){(int16_t)NEXT, (double)any_float(NEXT), (uint8_t)NEXT};
        if (isnan(p->y)) p->y = NAN;        // a kernel knows one NaN
    }
}

static void check_on(const char *form, hdst_layout layout)
{
    make_items();
    hdst_context *context = context_in_form(form);
    hdst_module *module = module_of(context, kernel);
    hdst_source *source = hdst_source_from_memory(context, items, N, sizeof *items);
    void *rows = NULL;
    uint64_t count = 0;
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *read = hdst_with_layout(hdst_read(source, module, "item"), layout);
    cr_assert_eq(hdst_collect(hdst_map_function(read, module, "mixed"), &rows, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(count, N);
    const hashes *got = rows;
    for (size_t i = 0; i < N; i++) {
        const hashes right = expected(&items[i]);
        for (size_t f = 0; f < sizeof right / 8; f++)
            cr_assert_eq(((const uint64_t *)&got[i])[f], ((const uint64_t *)&right)[f], "%s: record %zu, hash %zu", form, i, f);
    }
    hdst_rows_destroy(context, rows);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(hash, in_the_interpreter) { check_on("interp", HDST_AOS); }

Test(hash, on_a_cpu)
{
    if (!have_cpu()) return;
    check_on("cpu", HDST_AOS);
    check_on("cpu", HDST_SOA);
}

Test(hash, in_the_form_for_gpus)
{
    if (have_cpu()) check_on("gpu-form", HDST_SOA);
}

// --- Published numbers ---

// The first number of SplitMix64 with the seeds 0 and 1234567, as published with the reference implementation's ports.
Test(hash, of_one_number_is_the_first_number_of_splitmix64)
{
    static const uint64_t seeds[2] = {0, 1234567};
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "map h(uint64_t x) -> uint64_t { return hash(x); }");
    hdst_source *source = hdst_source_from_memory(context, seeds, 2, sizeof *seeds);
    void *rows = NULL;
    uint64_t count = 0;
    hdst_error error = HDST_ERROR_INIT;
    hdst_dataset *read = hdst_read(source, module, "uint64_t");
    cr_assert_eq(hdst_collect(hdst_map_function(read, module, "h"), &rows, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(((uint64_t *)rows)[0], UINT64_C(0xe220a8397b1dcdaf));
    cr_assert_eq(((uint64_t *)rows)[1], UINT64_C(6457827717110365317));
    hdst_rows_destroy(context, rows);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

// --- What it refuses, and that it gives way ---

static void check_text(const char *text, const char *in_diagnostics)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = hdst_module_parse(context, "test.hk", text, NULL);
    const char *said = hdst_module_diagnostics(module);
    if (*in_diagnostics) cr_assert(strstr(said, in_diagnostics), "%s\n%s", text, said);
    else cr_assert_str_eq(said, "");
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

Test(hash, mistakes_get_a_message)
{
    check_text("map h(float x) -> uint64_t { return hash(); }", "hash takes 1 argument, not 0");
    check_text("map h(float x) -> uint64_t { return hash(x, 1); }", "hash takes 1 argument, not 2");
    check_text("map h(float x, broadcast float t[]) -> uint64_t { return hash(t); }", "'t' is a table");
    check_text("map h(float x, accum uint64_t n) { n += hash(n); }", "accum");
}

Test(hash, gives_way_to_a_function_of_the_user)
{
    check_text("uint32_t hash(uint32_t a, uint32_t b) { return a ^ b; } map h(uint32_t x) -> uint32_t { return hash(x, 1); }", "");
}
