// SPDX-License-Identifier: Apache-2.0
// hdst_sort against qsort with the places of the records as the last key, over random records, keys, sizes and layouts; through runs in temporary files too.
#include "tests/hdst/support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 5003 };

typedef struct row {
    int8_t a; uint8_t b; int16_t c; uint16_t d; int32_t e; uint32_t f; int64_t g; uint64_t h;
    float x; double y; bool t; uint8_t name[5]; int32_t v[3]; uint32_t id;
} row;

static const char kernels[] =
    "struct row { int8_t a; uint8_t b; int16_t c; uint16_t d; int32_t e; uint32_t f; int64_t g; uint64_t h;\n"
    "             float x; double y; bool t; uint8_t name[5]; int32_t v[3]; uint32_t id; };\n"
    "struct number { uint32_t value; };\n"
    "struct wide { int64_t value; };\n"
    "struct tagged { int32_t value; uint32_t id; };\n"
    "filter odd_tag(tagged t) { return (t.id & 1u) != 0u; }\n"
    "struct place { uint64_t index; uint32_t id; };\n"
    "filter some(number n) { return n.value % 16u != 0u; }\n"
    "filter odd(row r) { return (r.id & 1u) != 0u; }\n"
    "map where(row r) -> place { return (place){ .index = record_index(), .id = r.id }; }\n";

static row rows[MOST], expected[MOST];
static const char *const forms[] = {"interp", "cpu", "gpu-form", "kernels"};

#define OK(call)                                                                                    \
    do {                                                                                            \
        hdst_error ok_error = HDST_ERROR_INIT;                                                      \
        hdst_status ok_status = (call);                                                             \
        cr_assert_eq(ok_status, HDST_OK, "%s: %s (%s)", #call, ok_error.message, ok_error.cause);   \
    } while (0)
#define ERR &ok_error

// --- The independent answer ---

// Few different values, the extreme ones among them, so that keys tie often.
static uint64_t some_bits(void)
{
    static const uint64_t special[] = {0, 1, ~0ull, 0x8080808080808080u, 0x7f7f7f7f7f7f7f7fu, 0x8000000000000000u, 0x7fffffffffffffffu, 0xff00ff00ff00ff00u};
    return rand() % 3 ? special[rand() % 8] : (uint64_t)(rand() % 50) * 0x0101010101010101u;
}

static float some_float(void)
{
    static const uint32_t special[] = {0, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u, 1, 0x80000001u};
    uint32_t bits = special[rand() % 8];
    float value = (float)(rand() % 40 - 20) / 4;
    if (rand() % 3 == 0) memcpy(&value, &bits, 4);
    return value;
}

static double some_double(void)
{
    const float value = some_float();
    return isnan(value) ? (signbit(value) ? -NAN : NAN) : (double)value;
}

static void make_rows(uint64_t n)
{
    memset(rows, 0, sizeof rows);
    for (uint64_t i = 0; i < n; i++) {
        row *r = &rows[i];
        r->a = (int8_t)some_bits(), r->b = (uint8_t)some_bits(), r->c = (int16_t)some_bits(), r->d = (uint16_t)some_bits();
        r->e = (int32_t)some_bits(), r->f = (uint32_t)some_bits(), r->g = (int64_t)some_bits(), r->h = some_bits();
        r->x = some_float(), r->y = some_double(), r->t = rand() & 1, r->id = (uint32_t)i;
        for (int k = 0; k < 5; k++) r->name[k] = (uint8_t)(rand() % 3 * 127);
        for (int k = 0; k < 3; k++) r->v[k] = rand() % 3 - 1;
    }
}

static int order(__int128 a, __int128 b) { return a < b ? -1 : a > b; }

// Sign and magnitude: every float by its place in the total order.
static __int128 place_of(double value, uint64_t magnitude) { return signbit(value) ? -(__int128)magnitude - 1 : (__int128)magnitude; }

static int order_floats(float a, float b)
{
    uint32_t p, q;
    memcpy(&p, &a, 4), memcpy(&q, &b, 4);
    return order(place_of(a, p & 0x7fffffffu), place_of(b, q & 0x7fffffffu));
}

static int order_doubles(double a, double b)
{
    uint64_t p, q;
    memcpy(&p, &a, 8), memcpy(&q, &b, 8);
    return order(place_of(a, p & 0x7fffffffffffffffu), place_of(b, q & 0x7fffffffffffffffu));
}

static const char *const fields[] = {"a", "b", "c", "d", "e", "f", "g", "h", "x", "y", "t", "name", "v", "v[1]"};
enum { FIELDS = sizeof fields / sizeof *fields };

static int order_by(size_t field_number, const row *p, const row *q)
{
    switch (field_number) {
    case 0: return order(p->a, q->a);
    case 1: return order(p->b, q->b);
    case 2: return order(p->c, q->c);
    case 3: return order(p->d, q->d);
    case 4: return order(p->e, q->e);
    case 5: return order(p->f, q->f);
    case 6: return order(p->g, q->g);
    case 7: return order(p->h, q->h);
    case 8: return order_floats(p->x, q->x);
    case 9: return order_doubles(p->y, q->y);
    case 10: return order(p->t, q->t);
    case 11: return memcmp(p->name, q->name, 5);
    case 12: return p->v[0] != q->v[0] ? order(p->v[0], q->v[0]) : p->v[1] != q->v[1] ? order(p->v[1], q->v[1]) : order(p->v[2], q->v[2]);
    default: return order(p->v[1], q->v[1]);
    }
}

static size_t key[4], keys;
static bool down[4];

static int compare(const void *a, const void *b)
{
    const row *p = a, *q = b;
    for (size_t i = 0; i < keys; i++) {
        const int by = order_by(key[i], p, q);
        if (by) return down[i] ? -by : by;
    }
    return p->id < q->id ? -1 : p->id > q->id;
}

// Chooses keys, writes them as a text, sorts `expected`.
static const char *choose_keys(uint64_t n)
{
    static char text[200];
    static const char *const directions[] = {"", " asc", " ascending", " desc", " descending "};
    size_t length = 0;
    keys = 1 + (size_t)rand() % 4;
    for (size_t i = 0; i < keys; i++) {
        const int direction = rand() % 5;
        key[i] = (size_t)rand() % FIELDS;
        down[i] = direction > 2;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s%s", i ? ", " : "", fields[key[i]], directions[direction]);
    }
    memcpy(expected, rows, n * sizeof *rows);
    qsort(expected, n, sizeof *expected, compare);
    return text;
}

// --- What hdst gives ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
} job;

// "kernels": in the form of a CPU, whose kernels sort small records too.
static bool open_job(job *j, const char *form)
{
    const bool by_kernels = !strcmp(form, "kernels");
    if (strcmp(form, "interp") && !have_cpu()) return false;
    srand(1);
    j->context = context_in_form(by_kernels ? "cpu" : form);
    if (j->context->engine) {
        j->context->engine->limits.sort_least = 1;                          // devices sort however few
        j->context->engine->limits.sort_by_kernels = by_kernels;
        j->context->engine->limits.sort_sample_bytes = 1000;                // what a stage gives is dealt as it comes, on however many threads
        j->context->engine->limits.sort_dealing_threads = UINT32_MAX;
    }
    j->module = module_of(j->context, kernels);
    return true;
}

static hdst_dataset *read_rows(const job *j, uint64_t n) { return hdst_read(hdst_source_from_memory(j->context, rows, n, sizeof(row)), j->module, "row"); }

static void expect_sorted(const job *j, hdst_dataset *data, uint64_t n, const char *text)
{
    void *out;
    uint64_t count;
    OK(hdst_collect(hdst_sort(data, text), &out, &count, ERR));
    cr_assert_eq(count, n);
    for (uint64_t i = 0; i < n; i++)
        cr_assert_eq(((row *)out)[i].id, expected[i].id, "%llu records by %s: record %llu is number %u, not %u", (unsigned long long)n, text,
                     (unsigned long long)i,
                     ((row *)out)[i].id, expected[i].id);
    for (uint64_t i = 0; i < n; i++) cr_assert(!memcmp(((row *)out)[i].name, expected[i].name, 5) && ((row *)out)[i].h == expected[i].h, "a record was torn");
    hdst_rows_destroy(j->context, out);
}

#define ON_FORMS(j, n) for (size_t form_ = 0; form_ < (n); form_++) if (open_job(&(j), forms[form_]))
#define ON_EACH_FORM(j) ON_FORMS(j, 3)

Test(sort, random_records_by_random_keys)
{
    static const uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 1000, MOST};
    job j;
    ON_EACH_FORM(j) {
        // The same keys for all sizes: kernels are compiled once.
        for (unsigned round = 0; round < (form_ ? 2 : 40); round++) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                make_rows(sizes[s]);
                srand(round);
                expect_sorted(&j, read_rows(&j, sizes[s]), sizes[s], choose_keys(sizes[s]));
            }
        }
        hdst_context_destroy(j.context);
    }
}

Test(sort, every_layout_and_what_stages_give)
{
    job j;
    ON_EACH_FORM(j) {
        make_rows(MOST);
        const char *text = choose_keys(MOST);       // once for all: kernels are compiled for them
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            expect_sorted(&j, hdst_with_layout(read_rows(&j, MOST), (hdst_layout)layout), MOST, text);
            expect_sorted(&j, hdst_cache(hdst_with_layout(read_rows(&j, MOST), (hdst_layout)layout)), MOST, text);
        }
        // What a filter left, and a second sort, whose ties keep the order of the first.
        uint64_t n = 0;
        for (uint64_t i = 0; i < MOST; i++)
            if (expected[i].id & 1) expected[n++] = expected[i];
        expect_sorted(&j, hdst_filter_function(read_rows(&j, MOST), j.module, "odd"), n, text);
        expect_sorted(&j, hdst_sort(hdst_filter_function(read_rows(&j, MOST), j.module, "odd"), "id"), n, text);
        hdst_context_destroy(j.context);
    }
}

Test(sort, stages_read_sorted_records)
{
    typedef struct place { uint64_t index; uint32_t id; } place;
    job j;
    ON_EACH_FORM(j) {
        make_rows(MOST);
        hdst_dataset *sorted = hdst_sort(read_rows(&j, MOST), choose_keys(MOST));
        void *out;
        uint64_t n;
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            OK(hdst_collect(hdst_map_function(hdst_with_layout(sorted, (hdst_layout)layout), j.module, "where"), &out, &n, ERR));
            cr_assert_eq(n, MOST);
            for (uint64_t i = 0; i < n; i++)
                cr_assert(((place *)out)[i].index == i && ((place *)out)[i].id == expected[i].id, "layout %d, record %llu", layout, (unsigned long long)i);
            hdst_rows_destroy(j.context, out);
        }
        hdst_result *r = hdst_result_create(hdst_cache(sorted));
        RUN(r);
        cr_assert_eq(((const row *)hdst_result_rows(r, NULL, &n))[17].id, expected[17].id);
        RUN(r);
        cr_assert_eq(((const row *)hdst_result_rows(r, NULL, &n))[MOST - 1].id, expected[MOST - 1].id);
        cr_assert(strstr(hdst_explain(r, NULL), "sorted by") && strstr(hdst_explain(r, NULL), form_ ? "radix sort" : "sort on the host"), "%s",
                  hdst_explain(r, NULL));
        hdst_result_destroy(r);
        row some[10];
        OK(hdst_take(sorted, 10, some, &n, ERR));
        cr_assert(n == 10 && some[9].id == expected[9].id);
        OK(hdst_count(sorted, &n, ERR));
        cr_assert_eq(n, MOST);
        hdst_context_destroy(j.context);
    }
}

// --- Numbers alone: no other fields move with the key ---

static uint32_t numbers[MOST], in_order[MOST];

static int compare_numbers(const void *a, const void *b) { return order(*(const uint32_t *)a, *(const uint32_t *)b); }

static void expect_numbers(const job *j, const char *text, bool descending)
{
    uint64_t n;
    void *out;
    memcpy(in_order, numbers, sizeof numbers);
    qsort(in_order, MOST, 4, compare_numbers);
    OK(hdst_collect(hdst_sort(hdst_read(hdst_source_from_memory(j->context, numbers, MOST, 4), j->module, "number"), text), &out, &n, ERR));
    for (uint64_t i = 0; i < MOST; i++)
        cr_assert_eq(((uint32_t *)out)[i], in_order[descending ? MOST - 1 - i : i], "%s: record %llu", text ? text : "no name", (unsigned long long)i);
    hdst_rows_destroy(j->context, out);
}

Test(sort, numbers_in_any_order_before)
{
    job j;
    ON_EACH_FORM(j) {
        for (int kind = 0; kind < 5; kind++) {
            for (uint32_t i = 0; i < MOST; i++)
                numbers[i] = kind == 0 ? (uint32_t)rand() * 2654435761u : kind == 1 ? 7 : kind == 2 ? i : kind == 3 ? MOST - i : (uint32_t)(rand() % 3) << 16;
            expect_numbers(&j, kind == 1 ? NULL : "value", false);
            expect_numbers(&j, "value desc", true);
        }
        hdst_context_destroy(j.context);
    }
}

static int compare_wide(const void *a, const void *b) { return order(*(const int64_t *)a, *(const int64_t *)b); }

static void expect_same(const job *j, const void *records, const void *wanted, uint64_t count, uint64_t size, const char *name)
{
    uint64_t n;
    void *out;
    OK(hdst_collect(hdst_sort(hdst_read(hdst_source_from_memory(j->context, records, count, size), j->module, name), "value"), &out, &n, ERR));
    cr_assert(n == count && !memcmp(out, wanted, count * size), "%s", name);
    hdst_rows_destroy(j->context, out);
}

// Tiles that a GPU takes where keys are very many, several of them and a part of one. Few bytes differ: a pass for each is a kernel to compile.
Test(sort, keys_alone_in_large_tiles)
{
    enum { COUNT = 33333 };
    static uint32_t narrow[COUNT], narrow_in_order[COUNT];
    static int64_t wide[COUNT], wide_in_order[COUNT];
    job j;
    if (!open_job(&j, "gpu-form")) return;
    j.context->engine->limits.sort_large_least = 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t some = (uint32_t)rand() * 2654435761u;
        narrow_in_order[i] = narrow[i] = i % 3 ? some & 0xff00ff00u : 5u << 24 | i % 7 << 8;
        wide_in_order[i] = wide[i] = (int64_t)((uint64_t)(some >> 24) << 56);
    }
    qsort(narrow_in_order, COUNT, 4, compare_numbers);
    qsort(wide_in_order, COUNT, 8, compare_wide);
    expect_same(&j, narrow, narrow_in_order, COUNT, 4, "number");
    expect_same(&j, wide, wide_in_order, COUNT, 8, "wide");
    hdst_context_destroy(j.context);
}

// --- Small records: by the host's threads where that pays, else by kernels ---

typedef struct tagged { int32_t value; uint32_t id; } tagged;
static tagged tags[MOST], tags_in_order[MOST];

static int compare_tags(const void *a, const void *b)
{
    const tagged *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static void expect_tags(const job *j, hdst_dataset *data, uint64_t count, const char *form)
{
    uint64_t n;
    hdst_result *r = hdst_result_create(hdst_sort(data, "value"));
    for (int run = 0; run < 2; run++) {
        RUN(r);
        const tagged *sorted = hdst_result_rows(r, NULL, &n);
        cr_assert(n == count && !memcmp(sorted, tags_in_order, count * sizeof *sorted), "%s, run %d", form, run);
    }
    cr_assert_eq(!strcmp(form, "cpu"), strstr(hdst_explain(r, NULL), "by the host's threads") != NULL, "%s: %s", form, hdst_explain(r, NULL));
    hdst_result_destroy(r);
    hdst_dataset *ordered = hdst_sort(data, "value");
    void *out;
    OK(hdst_collect(hdst_sort(hdst_filter_function(ordered, j->module, "odd_tag"), "value desc"), &out, &n, ERR));      // a stage reads what is sorted
    for (uint64_t i = 1; i < n; i++) {
        const tagged *at = (const tagged *)out + i;
        cr_assert(at->id & 1 && (at[-1].value > at->value || (at[-1].value == at->value && at[-1].id < at->id)), "%s: %llu", form, (unsigned long long)i);
    }
    hdst_rows_destroy(j->context, out);
}

Test(sort, small_records)
{
    job j;
    ON_FORMS(j, 4) {
        uint64_t odd = 0;
        for (uint32_t i = 0; i < MOST; i++) tags[i] = (tagged){(int32_t)((uint32_t)rand() % 2000 * 1000003u), i};
        for (uint32_t i = 0; i < MOST; i++)
            if (i & 1) tags_in_order[odd++] = tags[i];
        qsort(tags_in_order, odd, sizeof *tags, compare_tags);
        hdst_dataset *read = hdst_read(hdst_source_from_memory(j.context, tags, MOST, sizeof *tags), j.module, "tagged");
        expect_tags(&j, hdst_filter_function(read, j.module, "odd_tag"), odd, forms[form_]);
        memcpy(tags_in_order, tags, sizeof tags);
        qsort(tags_in_order, MOST, sizeof *tags, compare_tags);
        expect_tags(&j, read, MOST, forms[form_]);
        expect_tags(&j, hdst_cache(read), MOST, forms[form_]);
        hdst_context_destroy(j.context);
    }
}

// Loaded by a sort of buffers too small for all of it, which the host does then.
static void load_in_segments(const job *j, hdst_dataset *cached, uint64_t bytes)
{
    hdst__device *device;
    OK(hdst__engine_open(j->context->engine, &device, ERR));
    hdst__device_info *info = (hdst__device_info *)(uintptr_t)device->info;
    const uint64_t usual = info->max_alloc_bytes;
    hdst_result *r = hdst_result_create(hdst_sort(cached, "value desc"));
    info->max_alloc_bytes = bytes;
    RUN(r);
    info->max_alloc_bytes = usual;
    hdst_result_destroy(r);
}

Test(sort, small_records_in_segments_of_a_cache)
{
    job j;
    for (uint32_t i = 0; i < MOST; i++) tags_in_order[i] = tags[i] = (tagged){(int32_t)(i * 2654435761u % 3000), i};
    qsort(tags_in_order, MOST, sizeof *tags, compare_tags);
    ON_FORMS(j, 4) {
        hdst_dataset *read = hdst_read(hdst_source_from_memory(j.context, tags, MOST, sizeof *tags), j.module, "tagged"), *cached = hdst_cache(read);
        if (strcmp(forms[form_], "interp")) load_in_segments(&j, cached, 12 << 10);
        expect_tags(&j, cached, MOST, forms[form_]);
        hdst_context_destroy(j.context);
    }
}

// What a filter leaves on the device lies in several pieces when it is more than the first one holds.
Test(sort, records_in_several_pieces_of_device_memory)
{
    enum { COUNT = 5500000 };
    uint32_t *many = malloc(COUNT * sizeof *many);
    for (uint32_t i = 0; i < COUNT; i++) many[i] = i * 2654435761u;
    job j;
    if (open_job(&j, "cpu")) {
        hdst_dataset *kept = hdst_cache(hdst_filter_function(hdst_read(hdst_source_from_memory(j.context, many, COUNT, 4), j.module, "number"),
                                                             j.module, "some"));
        uint64_t n, expected_count = 0, sum = 0;
        void *out;
        OK(hdst_count(kept, &n, ERR));
        OK(hdst_collect(hdst_sort(kept, "value desc"), &out, &n, ERR));
        for (uint32_t i = 0; i < COUNT; i++)
            if (many[i] % 16) expected_count++, sum += many[i];
        cr_assert_eq(n, expected_count);
        for (uint64_t i = 0; i < n; i++) {
            sum -= ((uint32_t *)out)[i];
            cr_assert(i == 0 || ((uint32_t *)out)[i - 1] >= ((uint32_t *)out)[i], "record %llu", (unsigned long long)i);
        }
        cr_assert_eq(sum, 0);
        hdst_rows_destroy(j.context, out);
        hdst_context_destroy(j.context);
    }
    free(many);
}

// --- Larger than the memory budget ---

static job job_with_memory(const char *device, uint64_t bytes)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.memory = bytes;
    job j = {.context = hdst_context_create(&options)};
    j.module = module_of(j.context, kernels);
    return j;
}

Test(sort, runs_in_temporary_files)
{
    static const uint64_t budgets[] = {12 << 10, 40 << 10, 200 << 10, 500 << 10};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        job j = job_with_memory("interp", budgets[b]);
        srand((unsigned)b);
        make_rows(MOST);
        hdst_dataset *data = read_rows(&j, MOST);
        for (int round = 0; round < 3; round++) expect_sorted(&j, data, MOST, choose_keys(MOST));
        const hdst__budget *memory = &j.context->engine->runtime.memory;
        cr_assert(memory->peak <= budgets[b]);
        cr_assert_eq(memory->used, 0, "%llu bytes are kept", (unsigned long long)memory->used);
        hdst_context_destroy(j.context);
    }
}

enum { MANY = 400000 };

// Parts of sorted records, not in order, from runs.
static void expect_parts(job *j, const char *form, uint32_t *many)
{
    static const uint32_t first[] = {300000, 10, 199990, 0}, count[] = {100000, 50000, 30, 10};
    hdst_dataset *sorted = hdst_sort(hdst_read(hdst_source_from_memory(j->context, many, MANY, 4), j->module, "number"), "value"), *parts[4];
    for (int p = 0; p < 4; p++) parts[p] = hdst_slice(sorted, first[p], count[p]);
    void *out;
    uint64_t n, at = 0;
    hdst_result *r = hdst_result_create(hdst_union_all(parts, 4));
    RUN(r);
    const char *text = hdst_explain(r, NULL);
    const char *const way = strcmp(form, "interp") ? "radix sort on the device, in runs" : "sort on the host by the first bytes of keys, in runs";
    cr_assert(strstr(text, way), "%s: %s", form, text);
    hdst_result_destroy(r);
    OK(hdst_collect(hdst_union_all(parts, 4), &out, &n, ERR));
    cr_assert_eq(n, 150040);
    qsort(many, MANY, 4, compare_numbers);
    for (int p = 0; p < 4; p++)
        for (uint32_t i = 0; i < count[p]; i++, at++) cr_assert_eq(((uint32_t *)out)[at], many[first[p] + i], "%s: part %d, record %u", form, p, i);
    hdst_rows_destroy(j->context, out);
}

Test(sort, runs_are_read_at_any_place)
{
    static const uint64_t budgets[] = {1 << 20, 3 << 20, 2 << 20};
    uint32_t *many = malloc(MANY * sizeof *many);
    for (int f = 0; f < 3; f++) {
        if (f && !have_cpu()) continue;
        for (uint32_t i = 0; i < MANY; i++) many[i] = i * 2654435761u;
        job j = job_with_memory(f ? "cpu" : "interp", budgets[f]);
        j.context->engine->options.gpu_form_on_cpu = f == 2;
        j.context->engine->limits.sort_least = 1000;
        expect_parts(&j, forms[f], many);
        cr_assert(j.context->engine->runtime.memory.peak <= j.context->engine->runtime.memory.limit);
        hdst_context_destroy(j.context);
    }
    free(many);
}

Test(sort, a_folder_that_is_missing_or_a_full_disk_is_an_io_error)
{
    job j = job_with_memory("interp", 100 << 10);
    void *out;
    uint64_t n;
    hdst_error error;
    make_rows(MOST);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    cr_assert_eq(hdst_collect(hdst_sort(read_rows(&j, MOST), "e"), &out, &n, &error), HDST_E_IO);
    cr_assert(strstr(error.message, "/nowhere/at/all") && *error.cause && strstr(error.hint, "TMPDIR"), "%s / %s / %s", error.message, error.cause, error.hint);
    cr_assert_null(out);
    setenv("TMPDIR", ".", 1);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){60000, 60000});
    cr_assert_eq(hdst_collect(hdst_sort(read_rows(&j, MOST), "e"), &out, &n, &error), HDST_E_IO);
    cr_assert(strstr(error.hint, "were written") && strstr(error.hint, "TMPDIR"), "%s", error.hint);
    cr_assert_eq(j.context->engine->runtime.memory.used, 0);
    hdst_context_destroy(j.context);
}

// --- Mistakes ---

static void expect_error(const job *j, const char *text, hdst_status status, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    void *out;
    uint64_t n;
    cr_assert_eq(hdst_collect(hdst_sort(read_rows(j, 10), text), &out, &n, &error), status, "\"%s\": %s", text ? text : "NULL", error.message);
    cr_assert(strstr(error.message, message), "\"%s\": %s", text ? text : "NULL", error.message);
    cr_assert(strstr(error.hint, hint), "\"%s\": %s", text ? text : "NULL", error.hint);
}

Test(sort, mistakes_in_keys)
{
    job j;
    cr_assert(open_job(&j, "interp"));
    expect_error(&j, "nmae", HDST_E_USAGE, "no field 'nmae'", "'name'");
    expect_error(&j, "", HDST_E_USAGE, "several fields", "");
    expect_error(&j, NULL, HDST_E_USAGE, "several fields", "");
    expect_error(&j, "a,", HDST_E_USAGE, "several fields", "");
    expect_error(&j, "a,,b", HDST_E_USAGE, "several fields", "");
    expect_error(&j, "desc", HDST_E_USAGE, "no field 'desc'", "");
    expect_error(&j, "a down", HDST_E_USAGE, "'a down' is no sort key", "desc");
    expect_error(&j, "a desc b", HDST_E_USAGE, "'a desc b' is no sort key", "desc");
    expect_error(&j, "v[3]", HDST_E_USAGE, "out of range 0..2", "");
    expect_error(&j, "v[0][1]", HDST_E_USAGE, "no array", "");
    expect_error(&j, "a[0]", HDST_E_USAGE, "no array", "");
    expect_error(&j, "v[x]", HDST_E_USAGE, "no number", "");
    expect_error(&j, "-a", HDST_E_USAGE, "no field '-a'", "");
    hdst_context_destroy(j.context);
}
