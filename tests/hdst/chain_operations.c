// SPDX-License-Identifier: Apache-2.0
// Operators that take items and give items, so that any of them may stand behind any other
// (tests/hdst/chain_operations.h).
#include "tests/hdst/chain_operations.h"

#include "tests/hdst/budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// %s: the load, and the loop that makes it.
static const char kernels[] =
    "param uint32_t ROWS;\n"
    "struct item { uint64_t key; uint32_t v; uint32_t at; %s};\n"
    "struct indexed { uint64_t index; uint64_t key; uint32_t v; uint32_t at; %s};\n"
    "struct pair { uint64_t key; uint64_t n; uint64_t s; };\n"
    "struct sums { uint64_t n; uint64_t s; };\n"
    "struct counted { uint64_t key; uint64_t n; };\n"
    "item made(uint64_t key, uint32_t v, uint32_t at) { item r; r.key = key; r.v = v; r.at = at; %sreturn r; }\n"
    "map halved(item i) -> item { return made(i.key, i.v / 2u, i.at ^ 5u); }\n"
    "map few_keys(item i) -> item { return made(i.v %% 100u, i.v, i.at); }\n"
    "map many_keys(item i) -> item { return made((i.at / 2u) * 2654435761u, i.v, i.at); }\n"
    "map one_key(item i) -> item { return made(i.v %% 2u == 1u ? 7u : i.key, i.v, i.at); }\n"
    "map unindexed(indexed i) -> item { return made(i.key, i.v, i.at ^ (uint32_t)i.index); }\n"
    "map looked_up(item i, broadcast uint32_t t[]) -> item { return made(i.key, i.v ^ t[i.at %% len(t)], i.at); }\n"
    "map pairs(item i) -> pair { return (pair){ .key = i.key, .n = i.at, .s = i.v }; }\n"
    "map unpaired(pair p) -> item { return made(p.key, (uint32_t)p.s, (uint32_t)p.n); }\n"
    "map uncounted(counted c) -> item { return made(c.key, (uint32_t)c.n, (uint32_t)c.n); }\n"
    "map few_rows(item i) -> (key uint32_t row, uint64_t n, uint64_t s) { return (i.v %% 1000u, i.at, i.v); }\n"
    "map many_rows(item i) -> (key uint32_t row, uint64_t n, uint64_t s) { return (i.at %% ROWS, i.at, i.v); }\n"
    "map of_row(sums s) -> item { return made(record_index(), (uint32_t)s.s, (uint32_t)s.n); }\n"
    "map part_of_key(item i) -> uint32_t { return (uint32_t)(i.key %% 16u); }\n"
    "map part_of_v(item i) -> uint32_t { return i.v %% 300u; }\n"
    "filter all(item i) { return (i.key | 1u) != 0u; }\n"
    "filter most(item i) { return i.at %% 8u != 3u; }\n"
    "filter some(item i) { return i.v %% 16u == 3u; }\n"
    "filter none(item i) { return i.v > 4294967294u; }\n"
    "flat_map twice(item i) -> item { emit(i); emit(made(i.key, i.v + 1u, i.at)); }\n"
    "flat_map fan(item i) -> item { for (uint32_t k = 0; k < i.v %% 4u; k++) emit(made(i.key + k, i.v, i.at)); }\n"
    "reduce add(sums a, sums b) { return (sums){ .n = a.n + b.n, .s = a.s + b.s }; }\n"
    "associative reduce first(sums a, sums b) { return a; }\n"
    "reduce folded(sums a, sums b) { return (sums){ .n = a.n * 31u + b.n, .s = a.s + b.s }; }\n"
    "reduce of_all(item a, item b) { return made(a.key, a.v * 31u + b.v, a.at + b.at); }\n"
    "group last(key uint64_t key, stream item i) -> item { item r; for (item e : i) r = e; return r; }\n"
    "group told(key uint64_t key, stream item i) -> item { uint32_t n = 0; uint32_t h = 0; for (item e : i) { n++; h = h * 31u + e.v; } "
    "return made(key, h, n); }\n";

char *chain_kernels(unsigned load)
{
    char field[64] = "", loop[96] = "";
    if (load) {
        snprintf(field, sizeof field, "uint64_t load[%u]; ", load);
        snprintf(loop, sizeof loop, "for (uint32_t k = 0; k < %uu; k++) r.load[k] = key + v + k; ", load);
    }
    const size_t size = sizeof kernels + 2 * sizeof field + sizeof loop;
    char *text = malloc(size);
    snprintf(text, size, kernels, field, field, loop);
    return text;
}

static uint64_t load_of(const chain_item *i, unsigned k) { return i->key + i->v + k; }

size_t chain_item_size(unsigned load) { return sizeof(chain_item) + load * sizeof(uint64_t); }

void chain_pack(const chain_item *item, unsigned load, void *record)
{
    memcpy(record, item, sizeof *item);
    for (unsigned k = 0; k < load; k++) memcpy((char *)record + chain_item_size(k), &(uint64_t){load_of(item, k)}, sizeof(uint64_t));
}

bool chain_same(const chain_item *item, unsigned load, const void *record)
{
    uint64_t number;
    bool same = memcmp(record, item, sizeof *item) == 0;
    for (unsigned k = 0; k < load; k++) {
        memcpy(&number, (const char *)record + chain_item_size(k), sizeof number);
        same &= number == load_of(item, k);
    }
    return same;
}

static uint64_t mix(uint64_t z)         // the finaliser of SplitMix64, also what docs/datasets.md orders keys by
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);

uint64_t chain_random(uint64_t *state) { return mix(*state += step); }

// --- Rows, in plain C ---

static chain_rows rows_for(uint64_t count) { return (chain_rows){malloc((count + 1) * sizeof(chain_item)), 0, CHAIN_NO_PARTS}; }

typedef struct ranked { uint64_t first, second, third; chain_item item; } ranked;      // in this order

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->second != y->second) return x->second < y->second ? -1 : 1;
    return x->third < y->third ? -1 : x->third > y->third;
}

typedef void rank_function(const chain_scene *scene, const chain_item *item, uint64_t index, ranked *rank);

static ranked *ranks_of(const chain_scene *scene, const chain_rows *in, rank_function *rank)
{
    ranked *all = malloc((in->count + 1) * sizeof *all);
    for (uint64_t i = 0; i < in->count; i++) {
        all[i].item = in->item[i];
        rank(scene, &in->item[i], i, &all[i]);
    }
    qsort(all, in->count, sizeof *all, compare);
    return all;
}

static chain_rows ordered(const chain_scene *scene, const chain_rows *in, rank_function *rank)
{
    chain_rows out = rows_for(in->count);
    ranked *all = ranks_of(scene, in, rank);
    for (; out.count < in->count; out.count++) out.item[out.count] = all[out.count].item;
    free(all);
    return out;
}

// --- Functions of items ---

static unsigned halved(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = (chain_item){i->key, i->v / 2, i->at ^ 5}, 1; }
static unsigned few_keys(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = (chain_item){i->v % 100, i->v, i->at}, 1; }
static unsigned many_keys(const chain_item *i, uint32_t n, chain_item *out)
{
    return (void)n, *out = (chain_item){(uint32_t)(i->at / 2 * 2654435761u), i->v, i->at}, 1;
}
static unsigned one_key(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = (chain_item){i->v % 2 ? 7 : i->key, i->v, i->at}, 1; }
static unsigned all(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = *i, 1; }
static unsigned most(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = *i, i->at % 8 != 3; }
static unsigned some(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = *i, i->v % 16 == 3; }
static unsigned none(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, *out = *i, i->v > 4294967294u; }
static unsigned twice(const chain_item *i, uint32_t n, chain_item *out) { return (void)n, out[0] = out[1] = *i, out[1].v++, 2; }
static unsigned fan(const chain_item *i, uint32_t n, chain_item *out)
{
    (void)n;
    for (unsigned k = 0; k < i->v % 4; k++) out[k] = (chain_item){i->key + k, i->v, i->at};
    return i->v % 4;
}

static uint32_t value_at(uint32_t row) { return row * 2654435761u >> 8; }
static unsigned looked_up(const chain_item *i, uint32_t n, chain_item *out) { return *out = (chain_item){i->key, i->v ^ value_at(i->at % n), i->at}, 1; }

static chain_rows expect_each(const chain_operation *op, const chain_scene *scene, const chain_rows *in, const chain_rows *other, uint64_t number)
{
    (void)scene, (void)other;
    uint64_t count = 0;
    chain_item out[CHAIN_MOST];
    for (uint64_t i = 0; i < in->count; i++) count += op->each(&in->item[i], (uint32_t)number, out);
    chain_rows rows = rows_for(count);
    for (uint64_t i = 0; i < in->count; i++) {
        const unsigned n = op->each(&in->item[i], (uint32_t)number, out);
        memcpy(rows.item + rows.count, out, n * sizeof *out);
        rows.count += n;
    }
    rows.parts = !op->keeps_parts || !in->parts ? CHAIN_NO_PARTS : op->each == halved || op->each == looked_up ? in->parts : CHAIN_PARTS;
    return rows;
}

#define MAKE(name) static hdst_dataset *name(const chain_operation *op, const chain_scene *scene, hdst_dataset *in, hdst_dataset *other, uint64_t number)
#define EXPECT(name) static chain_rows name(const chain_operation *op, const chain_scene *scene, const chain_rows *in, const chain_rows *other, uint64_t number)
#define UNUSED (void)op, (void)scene, (void)in, (void)other, (void)number

MAKE(make_map) { return UNUSED, hdst_map_function(in, scene->module, op->function); }
MAKE(make_filter) { return UNUSED, hdst_filter_function(in, scene->module, op->function); }
MAKE(make_flat_map) { return UNUSED, hdst_flat_map_function(in, scene->module, op->function); }

static hdst_dataset *with_value(const chain_operation *op, const chain_scene *scene, hdst_dataset *in, uint32_t rows)
{
    hdst_value *t = hdst_value_create(scene->module, "uint32_t", rows);
    uint32_t *numbers = malloc(rows * sizeof *numbers);
    for (uint32_t k = 0; k < rows; k++) numbers[k] = value_at(k);
    hdst_value_set(t, numbers, rows);
    free(numbers);
    hdst_map_spec *spec = hdst_map_spec_create(scene->module, op->function);
    hdst_bind_value(spec, "t", t);
    hdst_dataset *mapped = hdst_map(in, spec);
    hdst_map_spec_destroy(spec);
    hdst_value_destroy(t);
    return mapped;
}

MAKE(make_few_looked_up) { return UNUSED, with_value(op, scene, in, CHAIN_FEW); }
MAKE(make_many_looked_up) { return UNUSED, with_value(op, scene, in, scene->rows); }
EXPECT(expect_few_looked_up) { return UNUSED, expect_each(op, scene, in, other, CHAIN_FEW); }
EXPECT(expect_many_looked_up) { return UNUSED, expect_each(op, scene, in, other, scene->rows); }

MAKE(make_indexed) { return UNUSED, hdst_map_function(hdst_zip_with_index(in, scene->module, "indexed"), scene->module, "unindexed"); }
EXPECT(expect_indexed)
{
    UNUSED;
    chain_rows out = rows_for(in->count);
    for (; out.count < in->count; out.count++) {
        out.item[out.count] = in->item[out.count];
        out.item[out.count].at ^= (uint32_t)out.count;
    }
    return out;
}

// --- Orders ---

static void by_v(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r) { (void)s, r->first = i->v, r->second = at, r->third = 0; }
static void by_v_down_at(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    (void)s, r->first = ~(uint64_t)i->v, r->second = i->at, r->third = at;
}
static void by_key_at_down(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    (void)s, r->first = i->key, r->second = ~(uint64_t)i->at, r->third = at;
}
static void by_v_down(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r) { (void)s, r->first = ~(uint64_t)i->v, r->second = at, r->third = 0; }
static void by_part_of_key(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r) { (void)s, r->first = i->key % 16, r->second = at, r->third = 0; }
static void by_part_of_v(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r) { (void)s, r->first = i->v % 300, r->second = at, r->third = 0; }

static void by_hash(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    (void)s, r->first = mix(i->key) >> 32, r->second = i->key, r->third = at;
}
static void by_part_and_hash(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    by_hash(s, i, at, r);
    r->first |= i->key % 16 << 32;
}

// The hash of all fields, each word of the packed record mixed in; where hashes are equal the words decide, of which the load follows from the first two.
static void by_all(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    (void)at;
    uint64_t h = mix((mix(i->key + step) ^ ((uint64_t)i->at << 32 | i->v)) + step);
    for (unsigned k = 0; k < s->load; k++) h = mix((h ^ load_of(i, k)) + step);
    r->first = h >> 32;
    r->second = i->key;
    r->third = (uint64_t)i->at << 32 | i->v;
}
static void by_part_and_all(const chain_scene *s, const chain_item *i, uint64_t at, ranked *r)
{
    by_all(s, i, at, r);
    r->first |= i->key % 16 << 32;
}

MAKE(make_sort) { return UNUSED, hdst_sort(in, op->function); }
EXPECT(expect_sort) { return UNUSED, ordered(scene, in, !strcmp(op->function, "v") ? by_v : op->function[0] == 'v' ? by_v_down_at : by_key_at_down); }

MAKE(make_partition) { return UNUSED, hdst_partition(in, scene->module, op->function, strstr(op->function, "key") ? 16 : 300); }
EXPECT(expect_partition)
{
    UNUSED;
    const bool of_keys = strstr(op->function, "key");
    chain_rows out = ordered(scene, in, of_keys ? by_part_of_key : by_part_of_v);
    out.parts = of_keys ? CHAIN_PARTS_OF_KEYS : CHAIN_PARTS;
    return out;
}

static chain_rows first_of(chain_rows rows, uint64_t count)
{
    if (rows.count > count) rows.count = count;
    return rows;
}

MAKE(make_top_few) { return UNUSED, hdst_top(in, number % CHAIN_FEW + 1, "v"); }
MAKE(make_top_many) { return UNUSED, hdst_top(in, scene->rows, "v"); }
EXPECT(expect_top_few) { return UNUSED, first_of(ordered(scene, in, by_v_down), number % CHAIN_FEW + 1); }
EXPECT(expect_top_many) { return UNUSED, first_of(ordered(scene, in, by_v_down), scene->rows); }
MAKE(make_max_by) { return UNUSED, hdst_max_by(in, "v"); }
EXPECT(expect_max_by) { return UNUSED, first_of(ordered(scene, in, by_v_down), 1); }

// --- By key ---

// One item for each run of equal keys, or of equal items. Its items come in their order.
typedef chain_item run_function(const ranked *run, uint64_t count);

static chain_rows of_runs(const chain_scene *scene, const chain_rows *in, rank_function *rank, bool all_fields, run_function *function)
{
    ranked *ranks = ranks_of(scene, in, rank);
    chain_rows out = rows_for(in->count);
    for (uint64_t i = 0, n; i < in->count; i += n) {
        for (n = 1; i + n < in->count && ranks[i + n].item.key == ranks[i].item.key && (!all_fields || ranks[i + n].third == ranks[i].third);) n++;
        out.item[out.count++] = function(ranks + i, n);
    }
    free(ranks);
    return out;
}

static chain_rows by_key_of(const chain_scene *scene, const chain_rows *in, run_function *function)
{
    chain_rows out = of_runs(scene, in, in->parts ? by_part_and_hash : by_hash, false, function);
    out.parts = in->parts ? CHAIN_PARTS : CHAIN_NO_PARTS;
    return out;
}

static chain_item last(const ranked *run, uint64_t n) { return run[n - 1].item; }
static chain_item first(const ranked *run, uint64_t n) { return (void)n, run->item; }
static chain_item counted(const ranked *run, uint64_t n) { return (chain_item){run->item.key, (uint32_t)n, (uint32_t)n}; }
static chain_item told(const ranked *run, uint64_t n)
{
    chain_item r = {run->item.key, 0, (uint32_t)n};
    for (uint64_t i = 0; i < n; i++) r.v = r.v * 31 + run[i].item.v;
    return r;
}
static chain_item added(const ranked *run, uint64_t n)
{
    chain_item r = run->item;
    for (uint64_t i = 1; i < n; i++) r.v += run[i].item.v, r.at += run[i].item.at;
    return r;
}
static chain_item folded(const ranked *run, uint64_t n)
{
    chain_item r = run->item;
    for (uint64_t i = 1; i < n; i++) r.v += run[i].item.v, r.at = r.at * 31 + run[i].item.at;
    return r;
}

MAKE(make_group) { return UNUSED, hdst_group_function(in, "key", scene->module, op->function); }
EXPECT(expect_group) { return UNUSED, of_runs(scene, in, by_hash, false, !strcmp(op->function, "last") ? last : told); }

static hdst_dataset *unpaired(const chain_scene *scene, hdst_dataset *reduction) { return hdst_map_function(reduction, scene->module, "unpaired"); }

MAKE(make_by_key)
{
    UNUSED;
    hdst_dataset *reduced = hdst_reduce_by_key(hdst_map_function(in, scene->module, "pairs"), scene->module, op->function);
    const unsigned container = number % 8;
    if (!strcmp(op->function, "add") && container < 3) reduced = hdst_with_container(reduced, (hdst_container)(HDST_CONTAINER_TABLE + container));
    return unpaired(scene, reduced);
}
EXPECT(expect_by_key) { return UNUSED, by_key_of(scene, in, !strcmp(op->function, "add") ? added : !strcmp(op->function, "first") ? first : folded); }

MAKE(make_counted) { return UNUSED, hdst_map_function(hdst_count_by_key(in, scene->module, "counted"), scene->module, "uncounted"); }
EXPECT(expect_counted) { return UNUSED, by_key_of(scene, in, counted); }

MAKE(make_distinct) { return UNUSED, hdst_distinct(in); }
EXPECT(expect_distinct)
{
    UNUSED;
    chain_rows out = of_runs(scene, in, in->parts ? by_part_and_all : by_all, true, first);
    out.parts = in->parts ? CHAIN_PARTS : CHAIN_NO_PARTS;
    return out;
}

static hdst_dataset *dense(const chain_operation *op, const chain_scene *scene, hdst_dataset *in, uint64_t rows)
{
    return hdst_map_function(hdst_reduce_dense(hdst_map_function(in, scene->module, op->function), scene->module, "add", rows), scene->module, "of_row");
}

static chain_rows expect_dense(const chain_rows *in, uint32_t rows, bool by_at)
{
    chain_rows out = rows_for(rows);
    for (; out.count < rows; out.count++) out.item[out.count] = (chain_item){out.count, 0, 0};
    for (uint64_t i = 0; i < in->count; i++) {
        chain_item *row = &out.item[(by_at ? in->item[i].at : in->item[i].v) % rows];
        row->v += in->item[i].v;
        row->at += in->item[i].at;
    }
    return out;
}

MAKE(make_dense_few) { return UNUSED, dense(op, scene, in, CHAIN_FEW); }
MAKE(make_dense_many) { return UNUSED, dense(op, scene, in, scene->rows); }
EXPECT(expect_dense_few) { return UNUSED, expect_dense(in, CHAIN_FEW, false); }
EXPECT(expect_dense_many) { return UNUSED, expect_dense(in, scene->rows, true); }

MAKE(make_reduce) { return UNUSED, hdst_reduce(in, scene->module, op->function); }
EXPECT(expect_reduce)
{
    UNUSED;
    chain_rows out = rows_for(1);
    out.item[out.count++] = in->item[0];
    for (uint64_t i = 1; i < in->count; i++) out.item->v = out.item->v * 31 + in->item[i].v, out.item->at += in->item[i].at;
    return out;
}

// --- Of whole datasets ---

static chain_rows copied(const chain_rows *in, uint64_t from, uint64_t count)
{
    if (from > in->count) from = in->count;
    if (count > in->count - from) count = in->count - from;
    chain_rows out = rows_for(count);
    memcpy(out.item, in->item + from, count * sizeof *out.item);
    out.count = count;
    return out;
}

// From the first sixteenth of the larger dense reduction's rows, or none, on.
static uint64_t slice_from(const chain_scene *scene, uint64_t number) { return number % 3 * (scene->rows / 16); }
static uint64_t slice_count(const chain_scene *scene, uint64_t number) { return (number / 3 % 7 + 1) * (scene->rows / 3 + 1); }

MAKE(make_slice) { return UNUSED, hdst_slice(in, slice_from(scene, number), slice_count(scene, number)); }
EXPECT(expect_slice) { return UNUSED, copied(in, slice_from(scene, number), slice_count(scene, number)); }

MAKE(make_cache) { return UNUSED, hdst_cache(in); }
EXPECT(expect_same) { return UNUSED, copied(in, 0, in->count); }

MAKE(make_layout) { return UNUSED, hdst_with_layout(in, number % 2 ? HDST_SOA : HDST_AOSOA); }
EXPECT(expect_layout)
{
    UNUSED;
    chain_rows out = copied(in, 0, in->count);
    out.parts = in->parts;
    return out;
}

MAKE(make_union) { return UNUSED, hdst_union(in, other); }
EXPECT(expect_union)
{
    UNUSED;
    chain_rows out = rows_for(in->count + other->count);
    memcpy(out.item, in->item, in->count * sizeof *out.item);
    memcpy(out.item + in->count, other->item, other->count * sizeof *out.item);
    out.count = in->count + other->count;
    return out;
}

#define ANY .most_parts = CHAIN_PARTS
#define KEYED .most_parts = CHAIN_PARTS_OF_KEYS
#define OF(kind, of, often) .name = #kind " " #of, .weight = often, .make = make_##kind, .expect = expect_each, .function = #of, .each = of, ANY

enum { TABLES = 4 };

const chain_operation chain_operations[] = {
    {.name = "filter all", .weight = 0, .make = make_filter, .expect = expect_each, .function = "all", .each = all, ANY},     // the first: takes parts away
    {OF(map, halved, 3), .keeps_parts = true},
    {OF(map, few_keys, 2), .keeps_parts = true},
    {OF(map, many_keys, 3), .keeps_parts = true},
    {OF(map, one_key, 2), .keeps_parts = true},
    {OF(filter, most, 3)},
    {OF(filter, some, 1)},
    {.name = "filter none", .weight = 1, .make = make_filter, .expect = expect_each, .function = "none", .each = none, ANY},
    {OF(flat_map, twice, 2)},
    {OF(flat_map, fan, 2)},
    {.name = "map with value", .weight = 1, .make = make_few_looked_up, .expect = expect_few_looked_up, .function = "looked_up",
     .each = looked_up, .keeps_parts = true, ANY, .least = TABLES},
    {.name = "map with large value", .weight = 1, .make = make_many_looked_up, .expect = expect_many_looked_up, .function = "looked_up",
     .each = looked_up, .keeps_parts = true, .least = BUDGET_IN_MEMORY, ANY},
    {.name = "zip with index", .weight = 2, .make = make_indexed, .expect = expect_indexed, .most_parts = CHAIN_NO_PARTS},
    {.name = "sort v", .weight = 4, .make = make_sort, .expect = expect_sort, .function = "v", ANY},
    {.name = "sort v desc, at", .weight = 4, .make = make_sort, .expect = expect_sort, .function = "v desc, at", ANY},
    {.name = "sort key, at desc", .weight = 4, .make = make_sort, .expect = expect_sort, .function = "key, at desc", ANY},
    {.name = "partition by key", .weight = 4, .make = make_partition, .expect = expect_partition, .function = "part_of_key", ANY},
    {.name = "partition by v", .weight = 3, .make = make_partition, .expect = expect_partition, .function = "part_of_v", ANY},
    {.name = "top few", .weight = 2, .make = make_top_few, .expect = expect_top_few, ANY, .least = TABLES},
    {.name = "top many", .weight = 2, .make = make_top_many, .expect = expect_top_many, .least = BUDGET_IN_MEMORY, ANY},
    {.name = "max_by", .weight = 1, .make = make_max_by, .expect = expect_max_by, .filled = true, ANY, .least = TABLES},
    {.name = "group last", .weight = 4, .make = make_group, .expect = expect_group, .function = "last", ANY},
    {.name = "group told", .weight = 4, .make = make_group, .expect = expect_group, .function = "told", ANY},
    {.name = "by key add", .weight = 6, .make = make_by_key, .expect = expect_by_key, .function = "add", KEYED},
    {.name = "by key first", .weight = 3, .make = make_by_key, .expect = expect_by_key, .function = "first", KEYED},
    {.name = "by key folded", .weight = 3, .make = make_by_key, .expect = expect_by_key, .function = "folded", KEYED},
    {.name = "count by key", .weight = 2, .make = make_counted, .expect = expect_counted, KEYED},
    {.name = "distinct", .weight = 5, .make = make_distinct, .expect = expect_distinct, KEYED},
    {.name = "dense few", .weight = 1, .make = make_dense_few, .expect = expect_dense_few, .function = "few_rows",
     .most_parts = CHAIN_NO_PARTS, .least = TABLES},
    {.name = "dense many", .weight = 2, .make = make_dense_many, .expect = expect_dense_many, .function = "many_rows",
     .least = BUDGET_IN_MEMORY, .most_parts = CHAIN_NO_PARTS},
    {.name = "reduce", .weight = 1, .make = make_reduce, .expect = expect_reduce, .function = "of_all", .filled = true, ANY},
    {.name = "slice", .weight = 3, .make = make_slice, .expect = expect_slice, ANY},
    {.name = "cache", .weight = 5, .make = make_cache, .expect = expect_same, ANY},
    {.name = "layout", .weight = 2, .make = make_layout, .expect = expect_layout, .keeps_parts = true, ANY},
    {.name = "union", .weight = 6, .make = make_union, .expect = expect_union, .two = true, ANY},
};
const size_t chain_operation_count = sizeof chain_operations / sizeof *chain_operations;
