// SPDX-License-Identifier: Apache-2.0
// Random records through whole pipelines of the public interface, on the interpreter and in one of the forms of an
// OpenCL CPU device: what a sort, distinct, a reduction by key and files make of records, and of what a random map
// gives, NaNs of all payloads among them. The answers are found another way, here: by insertion, by looking at all
// pairs, by exact sums.
//
// HDST_DIFF_PIPELINES: how many (6 unless given); HDST_DIFF_SEED: the first seed (1).
#include "harness.h"

#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 50, RECORDS = 700, KEYS = 3 };

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

typedef struct records {            // C structs
    const diff_leaf *leaves;
    int leaf_count;
    size_t size;
    char *rows;
    uint64_t count;
} records;

typedef struct trial {
    hdst__arena *arena;
    const diff_program *program;
    const diff_exports *exports;
    const diff_data *data;
    records in, out;                // what the map takes and what it must give
    hdst_context *context;
    hdst_module *module;
    const char *wrong;
} trial;

static const size_t sizes[K_COUNT] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

static uint64_t number(const records *r, uint64_t row, int leaf, size_t element)
{
    uint64_t bits = 0;
    memcpy(&bits, r->rows + row * r->size + diff_leaf_at(&r->leaves[leaf], element), sizes[r->leaves[leaf].kind]);
    return bits;
}

static uint64_t extended(diff_kind kind, uint64_t bits)     // a signed integer's sign
{
    const unsigned shift = 64 - 8 * (unsigned)sizes[kind];
    return kind >= K_I8 && kind <= K_I64 ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits;
}

// Whether record i of a is record k of b; if not, which leaf and element differ first.
static bool same_but(const records *a, uint64_t i, const records *b, uint64_t k, int *leaf, size_t *element)
{
    for (*leaf = 0; *leaf < a->leaf_count; ++*leaf)
        for (*element = 0; *element < a->leaves[*leaf].count; ++*element)
            if (number(a, i, *leaf, *element) != number(b, k, *leaf, *element)) return false;
    return true;
}

static bool same(const records *a, uint64_t i, const records *b, uint64_t k)
{
    int leaf;
    size_t element;
    return same_but(a, i, b, k, &leaf, &element);
}

static const char *first_difference(trial *t, const records *want, const records *found)
{
    if (want->count != found->count) return hdst__arena_printf(t->arena, "%" PRIu64 " records, not %" PRIu64, want->count, found->count);
    int leaf;
    size_t element;
    for (uint64_t i = 0; i < want->count; i++)
        if (!same_but(want, i, found, i, &leaf, &element))
            return hdst__arena_printf(t->arena, "record %" PRIu64 " is another: number %d, element %zu, is %" PRIx64 ", not %" PRIx64, i, leaf, element,
                                      number(found, i, leaf, element), number(want, i, leaf, element));
    return NULL;
}

// --- Sorting, by the words of docs/datasets.md ---

// Whether x comes before y, ascending: numbers by value, floats by the total order of IEEE 754.
static bool before(diff_kind kind, uint64_t x, uint64_t y)
{
    if (kind == K_F32 || kind == K_F64) {
        const uint64_t sign = kind == K_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        if ((x ^ y) & sign) return (x & sign) != 0;
        return x & sign ? x > y : x < y;
    }
    return kind >= K_I8 && kind <= K_I64 ? (int64_t)extended(kind, x) < (int64_t)extended(kind, y) : x < y;
}

typedef struct sort_keys {
    int leaf[KEYS], count;
    bool down[KEYS];
} sort_keys;

static bool row_before(const records *r, const sort_keys *keys, uint64_t a, uint64_t b)
{
    for (int k = 0; k < keys->count; k++) {
        const diff_kind kind = r->leaves[keys->leaf[k]].kind;
        const uint64_t x = number(r, a, keys->leaf[k], 0), y = number(r, b, keys->leaf[k], 0);
        if (before(kind, x, y) || before(kind, y, x)) return keys->down[k] ? before(kind, y, x) : before(kind, x, y);
    }
    return false;
}

static records sorted(hdst__arena *arena, const records *r, const sort_keys *keys)      // insertion keeps equal ones in their order
{
    uint64_t *order = HDST__NEW_ARRAY(arena, uint64_t, r->count + 1);
    for (uint64_t i = 0; i < r->count; i++) {
        uint64_t at = i;
        for (; at && row_before(r, keys, i, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    records result = *r;
    result.rows = hdst__arena_alloc(arena, r->size * r->count + 1);
    for (uint64_t i = 0; i < r->count; i++) memcpy(result.rows + i * r->size, r->rows + order[i] * r->size, r->size);
    return result;
}

// --- Pipelines ---

static hdst_dataset *source_of(trial *t)
{
    return hdst_read(hdst_source_from_memory(t->context, t->in.rows, t->in.count, t->in.size), t->module,
                     t->program->in_name);
}

static hdst_dataset *mapped(trial *t)
{
    hdst_map_spec *spec = hdst_map_spec_create(t->module, t->program->f);
    for (int i = 1; i < t->program->param_count; i++) {
        const diff_param *p = &t->program->params[i];
        hdst_value *value = hdst_value_create(t->module, t->program->row_name[i], p->rows);
        hdst_value_set(value, t->data->tables[i], p->rows);
        hdst_bind_value(spec, p->name, value);
    }
    return hdst_map(source_of(t), spec);
}

static records collect(trial *t, hdst_dataset *d, const records *like)
{
    hdst_error error;
    void *rows;
    records r = *like;
    r.count = 0;
    if (hdst_collect(d, &rows, &r.count, &error) != HDST_OK) {
        t->wrong = hdst__arena_printf(t->arena, "%s %s", error.message, error.cause);
        return r;
    }
    r.rows = hdst__arena_alloc(t->arena, r.size * r.count + 1);
    if (r.count) memcpy(r.rows, rows, r.size * r.count);
    hdst_rows_destroy(t->context, rows);
    return r;
}

static void expect(trial *t, const records *want, hdst_dataset *d)
{
    const records found = collect(t, d, want);
    if (!t->wrong) t->wrong = first_difference(t, want, &found);
}

static void try_sort(trial *t, uint64_t dice, hdst_dataset *d, const records *r, const char *const *paths)
{
    sort_keys keys = {.count = 1 + (int)(dice % KEYS)};
    const char *text = "";
    for (int k = 0; k < keys.count; k++) {
        dice = dice / 7 + 1;
        keys.leaf[k] = (int)(dice % (uint64_t)r->leaf_count);
        keys.down[k] = dice / 5 % 2;
        text = hdst__arena_printf(t->arena, "%s%s%s%s", text, k ? ", " : "", paths[keys.leaf[k]], keys.down[k] ? " desc" : "");
    }
    const records want = sorted(t->arena, r, &keys);
    expect(t, &want, hdst_sort(d, text));
    if (t->wrong) t->wrong = hdst__arena_printf(t->arena, "sorted by %s: %s", text, t->wrong);
}

static void try_distinct(trial *t, hdst_dataset *d, const records *r)
{
    records want = *r;
    want.rows = hdst__arena_alloc(t->arena, r->size * r->count + 1);
    want.count = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        bool known = false;
        for (uint64_t k = 0; k < want.count && !known; k++) known = same(&want, k, r, i);
        if (!known) memcpy(want.rows + want.count++ * r->size, r->rows + i * r->size, r->size);
    }
    const records found = collect(t, hdst_distinct(d), r);
    if (t->wrong) return;
    if (found.count != want.count) t->wrong = hdst__arena_printf(t->arena, "%" PRIu64 " records differ, not %" PRIu64, want.count, found.count);
    for (uint64_t i = 0; i < found.count && !t->wrong; i++) {
        uint64_t k = 0;
        while (k < want.count && !same(&want, k, &found, i)) k++;
        if (k == want.count) t->wrong = hdst__arena_printf(t->arena, "distinct record %" PRIu64 " is none of them, or there twice", i);
        else memcpy(want.rows + k * want.size, want.rows + --want.count * want.size, want.size);
    }
}

// Sums of one leaf and numbers of records by another: what the key's records are is a matter of its bits.
static void try_keys(trial *t, hdst_dataset *d, const records *r, int key, int value)
{
    const diff_kind kinds[3] = {r->leaves[key].kind, r->leaves[value].kind, K_U32};
    diff_leaf leaves[3];
    records row = {.leaves = leaves, .leaf_count = 3};
    size_t align = 1;
    for (int l = 0; l < 3; l++) {
        const size_t size = sizes[kinds[l]];
        row.size = (row.size + size - 1) / size * size;
        leaves[l] = (diff_leaf){kinds[l], row.size, 1, 0, {{0, 0}}};
        row.size += size;
        align = size > align ? size : align;
    }
    row.size = (row.size + align - 1) / align * align;
    const records found = collect(t, hdst_reduce_by_key(hdst_map_function(d, t->module, "diff_pair_"), t->module, "diff_total_"), &row);
    uint64_t *numbers = HDST__NEW_ARRAY(t->arena, uint64_t, r->count + 1), seen = 0;
    for (uint64_t i = 0; i < found.count && !t->wrong; i++) {
        uint64_t count = 0;
        for (uint64_t k = 0; k < i; k++)
            if (number(&found, k, 0, 0) == number(&found, i, 0, 0)) t->wrong = "a key comes twice";
        for (uint64_t k = 0; k < r->count; k++)
            if (number(r, k, key, 0) == number(&found, i, 0, 0)) numbers[count++] = extended(kinds[1], number(r, k, value, 0));
        seen += count;
        const uint64_t sum = extended(kinds[1], diff_sum(kinds[1], numbers, count)), other = extended(kinds[1], number(&found, i, 1, 0));
        if (sum != other || count != number(&found, i, 2, 0) || !count)
            t->wrong = hdst__arena_printf(
                t->arena, "key %" PRIx64 ": sum %" PRIx64 " of %" PRIu64 ", not %" PRIx64 " of %" PRIu64,
                number(&found, i, 0, 0), sum, count, other, number(&found, i, 2, 0));
    }
    if (!t->wrong && seen != r->count) t->wrong = hdst__arena_printf(t->arena, "%" PRIu64 " records have a key, not %" PRIu64, r->count, seen);
}

static void try_file(trial *t, hdst_dataset *d, const records *r, const char *record, const char *ending)
{
    char path[64];
    hdst_error error;
    records want = *r;
    snprintf(path, sizeof path, "/tmp/hdst-diff-%d%s", (int)getpid(), ending);
    if (hdst_save(d, path, &error) != HDST_OK) {
        t->wrong = hdst__arena_printf(t->arena, "%s: %s %s", ending, error.message, error.cause);
        return;
    }
    if (!strcmp(ending, ".csv")) {                          // text has one NaN
        want.rows = hdst__arena_alloc(t->arena, r->size * r->count + 1);
        memcpy(want.rows, r->rows, r->size * r->count);
        for (uint64_t i = 0; i < r->count; i++) diff_give(want.rows + i * r->size, r->leaves, r->leaf_count);
    }
    expect(t, &want, hdst_read(!strcmp(ending, ".raw") ? hdst_source_open_raw(t->context, path) : hdst_source_open(t->context, path), t->module, record));
    if (t->wrong) t->wrong = hdst__arena_printf(t->arena, "%s: %s", ending, t->wrong);
    unlink(path);
}

static int value_leaf(const records *r, uint64_t dice)       // of numbers that can be summed; -1: none
{
    for (int l = 0; l < r->leaf_count; l++) {
        const int at = (int)((dice + (uint64_t)l) % (uint64_t)r->leaf_count);
        if (r->leaves[at].kind != K_BOOL) return at;
    }
    return -1;
}

static const char *type_of(diff_kind kind)
{
    static const char *const names[K_COUNT] = {"bool",     "int8_t",   "int16_t",  "int32_t", "int64_t", "uint8_t",
                                               "uint16_t", "uint32_t", "uint64_t", "float",   "double"};
    return names[kind];
}

// The program with a map in front of the reduction by key.
static const char *text_with_keys(const trial *t, int key, int value)
{
    const diff_program *p = t->program;
    if (value < 0) return p->hk;
    const char *k = type_of(t->out.leaves[key].kind), *v = type_of(t->out.leaves[value].kind);
    return hdst__arena_printf(t->arena, "%smap diff_pair_(%s r) -> (key %s k, %s v, uint32_t n) { return (r.%s, r.%s, 1); }\n"
                              "struct diff_sums_ { %s v; uint32_t n; };\n"
                              "reduce diff_total_(diff_sums_ a, diff_sums_ b) { return (diff_sums_){ .v = a.v + b.v, .n = a.n + b.n }; }\n",
                              p->hk, p->out_name, k, v, p->out_path[key], p->out_path[value], v);
}

static const char *run_on(trial *t, const char *form)
{
    static const char *const endings[] = {".raw", ".npy", ".csv"};
    const bool gpu = !strcmp(form, "gpu-form");
    const uint64_t dice = t->program->seed * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    const int key = (int)(dice / 3 % (uint64_t)t->out.leaf_count), value = value_leaf(&t->out, dice / 11);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = gpu ? "cpu" : form;
    t->context = hdst_context_create(&options);
    if (t->context->engine) t->context->engine->options.gpu_form_on_cpu = gpu;
    t->module = hdst_module_parse(t->context, "program.hk", text_with_keys(t, key, value), NULL);
    t->wrong = NULL;
    hdst_dataset *given = hdst_cache(mapped(t));
    expect(t, &t->out, given);
    if (!t->wrong) try_sort(t, dice, given, &t->out, t->program->out_path);
    if (!t->wrong) try_sort(t, dice / 2, source_of(t), &t->in, t->program->in_path);
    if (!t->wrong) try_distinct(t, given, &t->out);
    if (!t->wrong && dice % 2) try_distinct(t, source_of(t), &t->in);
    if (!t->wrong && value >= 0) try_keys(t, given, &t->out, key, value);
    if (!t->wrong) try_file(t, given, &t->out, t->program->out_name, endings[dice % 3]);
    if (!t->wrong) try_file(t, source_of(t), &t->in, t->program->in_name, endings[dice / 5 % 3]);
    hdst_context_destroy(t->context);
    return t->wrong;
}

static bool run_program(const diff_library *library, const diff_program *program, const char *form)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_watch(program->seed);
    const diff_exports *exports = diff_library_find(library, program);
    const diff_data data = diff_make_data(&arena, program, exports, RECORDS, true);
    const char *wrong = NULL, *where = "interp";
    if (data.count) {
        for (uint64_t i = 1; i < data.count; i++)           // so that some are equal
            if (i % 5 == 0) memcpy((char *)data.records + i * exports->in_size, (char *)data.records + i / 2 * exports->in_size, exports->in_size);
        const diff_result expected = diff_reference(&arena, program, exports, &data);
        trial t = {.arena = &arena, .program = program, .exports = exports, .data = &data,
                   .in = {exports->in, exports->in_leaves, exports->in_size, data.records, data.count},
                   .out = {exports->out, exports->out_leaves, exports->out_size, expected.output, expected.outputs}};
        wrong = run_on(&t, where);
        if (!wrong && form) wrong = run_on(&t, where = form);
    }
    if (wrong) fprintf(stderr, "--- seed %" PRIu64 " (%s): %s\n%s", program->seed, where, wrong, program->hk);
    hdst__arena_destroy(&arena);
    return !wrong;
}

static bool have_cpu(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    hdst_context *context = hdst_context_create(&options);
    hdst_device_info info;
    const bool have = hdst_device_chosen(context, &info, NULL) == HDST_OK;
    hdst_context_destroy(context);
    return have;
}

static int run_batch(uint64_t first, int count, bool cpu)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_program *programs[BATCH];
    for (int i = 0; i < count; i++)
        programs[i] = diff_generate(&arena, first + (uint64_t)i,
                                    &(diff_options){.only_map = true, .no_faults = true, .statements = 4});
    diff_library library = {0};
    cr_assert(diff_library_open(&library, programs, count));
    int different = 0;
    for (int i = 0; i < count; i++) different += !run_program(&library, programs[i], !cpu ? NULL : i % 2 ? "gpu-form" : "cpu");
    diff_library_close(&library);
    hdst__arena_destroy(&arena);
    return different;
}

Test(differential, pipelines_give_what_the_records_give)
{
    const uint64_t count = setting("HDST_DIFF_PIPELINES", 6), first = setting("HDST_DIFF_SEED", 1);
    const bool cpu = have_cpu();
    int different = 0;
    for (uint64_t done = 0; done < count; done += BATCH) different += run_batch(first + done, count - done < BATCH ? (int)(count - done) : BATCH, cpu);
    fprintf(stderr, "%" PRIu64 " pipelines from seed %" PRIu64 "%s\n", count, first, cpu ? "" : " (no OpenCL CPU device: on the interpreter alone)");
    cr_expect_eq(different, 0, "%d of %" PRIu64 " pipelines differ", different, count);
}
