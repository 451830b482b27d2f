// SPDX-License-Identifier: Apache-2.0
// Records of every shape (nested, arrays of records, short vectors of 12 bytes, packed to odd sizes) through several
// stages, in all layouts, on all forms; and as files.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 1501 };

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

static const char schema[] =
    "records:\n"
    "  vec:\n"
    "    align: 4\n"
    "    fields:\n"
    "      - {name: x, type: float32, count: 3}\n"
    "  inner:\n"
    "    fields:\n"
    "      - {name: a, type: int16}\n"
    "      - {name: b, type: float64}\n"
    "  shape:\n"
    "    fields:\n"
    "      - {name: id, type: uint8}\n"
    "      - {name: pair, type: inner, count: 2}\n"
    "      - {name: v, type: vec}\n"
    "  odd:\n"
    "    align: 1\n"
    "    fields:\n"
    "      - {name: flag, type: bool}\n"
    "      - {name: wide, type: int64}\n"
    "      - {name: small, type: uint16, count: 3}\n";

static const char kernels[] =
    "filter some(shape s) { return s.id % 3 != 0; }\n"
    "map swap(shape s) -> shape\n"
    "{\n"
    "    shape r = s;\n"
    "    r.pair[0] = s.pair[1];\n"
    "    r.pair[1].a = (int16_t)(s.pair[0].a + 1);\n"
    "    r.pair[1].b = s.pair[0].b * 2;\n"
    "    for (uint32_t i = 0; i < 3; i++) r.v.x[i] = s.v.x[2 - i] + (float)(record_index() % 5);\n"
    "    return r;\n"
    "}\n"
    "map flip(odd o) -> odd { return (odd){ .flag = !o.flag, .wide = o.wide * 3, .small = { o.small[2], o.small[0], (uint16_t)(o.small[1] + 1) } }; }\n"
    "filter flagged(odd o) { return o.flag; }\n"
    "map long_of(vec v) -> vec { vec r = v; r.x[0] = v.x[0] + v.x[1] + v.x[2]; return r; }\n";

// What C makes of the records.
typedef struct inner { int16_t a; double b; } inner;
typedef struct vec { float x[3]; } vec;
typedef struct shape { uint8_t id; inner pair[2]; vec v; } shape;
typedef struct __attribute__((packed)) odd { uint8_t flag; int64_t wide; uint16_t small[3]; } odd;

_Static_assert(sizeof(vec) == 12 && sizeof(odd) == 15 && sizeof(shape) == 56, "sizes that the schema gives");

static shape shapes[N];
static odd odds[N];
static vec vecs[N];

static void make_records(void)
{
    srand(5);
    memset(shapes, 0, sizeof shapes);
    for (int i = 0; i < N; i++) {
        shapes[i].id = (uint8_t)rand();
        for (int p = 0; p < 2; p++) shapes[i].pair[p].a = (int16_t)rand(), shapes[i].pair[p].b = rand() / 8.0;
        for (int e = 0; e < 3; e++) shapes[i].v.x[e] = vecs[i].x[e] = (float)(rand() % 1000) / 4;
        odds[i] = (odd){(uint8_t)(rand() & 1), (int64_t)rand() << 20, {(uint16_t)rand(), (uint16_t)rand(), (uint16_t)rand()}};
    }
}

typedef struct job {
    hdst_context *context;
    hdst_module *module;
} job;

static job open_job(const char *form)
{
    job j = {.context = context_in_form(form)};
    hdst_schema *s = hdst_schema_parse(j.context, "shapes.yaml", schema, HDST_NO_PARAMS);
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    options.schemas = &s;
    options.schema_count = 1;
    j.module = hdst_module_parse(j.context, "shapes.hk", kernels, &options);
    cr_assert_eq(hdst_module_status(j.module, NULL), HDST_OK, "%s", hdst_module_diagnostics(j.module));
    make_records();
    return j;
}

static hdst_dataset *read_rows(const job *j, const void *rows, uint64_t size, const char *record)
{
    return hdst_read(hdst_source_from_memory(j->context, rows, N, size), j->module, record);
}

static void *collect(hdst_dataset *dataset, uint64_t expected)
{
    void *rows;
    uint64_t count;
    hdst_error error;
    cr_assert_eq(hdst_collect(dataset, &rows, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(count, expected);
    return rows;
}

static shape swapped(const shape *s, uint64_t index)
{
    shape r = *s;
    r.pair[0] = s->pair[1];
    r.pair[1] = (inner){(int16_t)(s->pair[0].a + 1), s->pair[0].b * 2};
    for (int i = 0; i < 3; i++) r.v.x[i] = s->v.x[2 - i] + (float)(index % 5);
    return r;
}

static bool same_shape(const shape *a, const shape *b)
{
    bool same = a->id == b->id && !memcmp(&a->v, &b->v, sizeof a->v);
    for (int p = 0; p < 2; p++) same &= a->pair[p].a == b->pair[p].a && a->pair[p].b == b->pair[p].b;
    return same;
}

Test(records, nested_ones_through_three_stages)
{
    ON_EACH_FORM {
        job j = open_job(forms[form]);
        static shape expected[N];
        uint64_t n = 0;
        for (int i = 0; i < N; i++)
            if (shapes[i].id % 3) expected[n] = shapes[i], expected[n] = swapped(&expected[n], n), n++;
        for (uint64_t i = 0; i < n; i++) expected[i] = swapped(&expected[i], i);
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_dataset *first = hdst_filter_function(hdst_with_layout(read_rows(&j, shapes, sizeof(shape), "shape"), (hdst_layout)layout), j.module, "some");
            hdst_dataset *second = hdst_map_function(hdst_with_layout(first, (hdst_layout)(3 - layout)), j.module, "swap");
            shape *out = collect(hdst_map_function(hdst_cache(second), j.module, "swap"), n);
            for (uint64_t i = 0; i < n; i++)
                cr_assert(same_shape(&out[i], &expected[i]), "shape %llu in layout %d on %s", (unsigned long long)i, layout, forms[form]);
            hdst_rows_destroy(j.context, out);
        }
        hdst_context_destroy(j.context);
    }
}

static odd flipped(const odd *o) { return (odd){!o->flag, o->wide * 3, {o->small[2], o->small[0], (uint16_t)(o->small[1] + 1)}}; }

Test(records, odd_sizes_through_two_stages)
{
    ON_EACH_FORM {
        job j = open_job(forms[form]);
        static odd expected[2 * N];
        uint64_t n = 0;
        for (int i = 0; i < N; i++) expected[n++] = flipped(&odds[i]);
        for (int i = 0; i < N; i++) {
            expected[n] = flipped(&expected[i]);
            n += expected[n].flag;
        }
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_dataset *once = hdst_cache(hdst_map_function(hdst_with_layout(read_rows(&j, odds, sizeof(odd), "odd"), (hdst_layout)layout),
                                                              j.module, "flip"));
            hdst_dataset *twice = hdst_map_function(hdst_with_layout(once, (hdst_layout)((layout + 1) % 4)), j.module, "flip");
            odd *out = collect(hdst_union(once, hdst_filter_function(twice, j.module, "flagged")), n);
            for (uint64_t i = 0; i < n; i++)
                cr_assert_eq(memcmp(&out[i], &expected[i], sizeof(odd)), 0, "odd %llu in layout %d on %s", (unsigned long long)i, layout, forms[form]);
            hdst_rows_destroy(j.context, out);
        }
        hdst_context_destroy(j.context);
    }
}

Test(records, vectors_of_twelve_bytes)
{
    ON_EACH_FORM {
        job j = open_job(forms[form]);
        for (int layout = HDST_AOS; layout <= HDST_AOP; layout++) {
            hdst_dataset *d = hdst_map_function(hdst_with_layout(read_rows(&j, vecs, sizeof(vec), "vec"), (hdst_layout)layout), j.module, "long_of");
            vec *out = collect(hdst_slice(d, 1, N), N - 1);
            for (int i = 1; i < N; i++) {
                cr_assert_eq(out[i - 1].x[0], vecs[i].x[0] + vecs[i].x[1] + vecs[i].x[2]);
                cr_assert_eq(out[i - 1].x[2], vecs[i].x[2]);
            }
            hdst_rows_destroy(j.context, out);
        }
        hdst_context_destroy(j.context);
    }
}

// --- Files ---

static char folder[] = "/tmp/hdst-records-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// Of the file and of it beside itself; not beside one of text, nor of a column that is not there.
static void check_types(const job *j, const hdst_source *plain)
{
    hdst_error error;
    hdst_type type = HDST_TEXT;
    cr_assert(hdst_source_column_type(plain, 2, &type));
    cr_assert_eq(type, HDST_FLOAT32);
    cr_assert_not(hdst_source_column_type(plain, 3, &type));
    char binary[100], text[100];
    snprintf(binary, sizeof binary, "%s", path_of("vecs.npy"));
    snprintf(text, sizeof text, "%s", path_of("vecs.csv"));
    cr_assert_eq(hdst_save(read_rows(j, vecs, sizeof(vec), "vec"), text, &error), HDST_OK);
    hdst_source *twice = hdst_source_open_all(j->context, (const char *[]){binary, binary}, 2, NULL);
    hdst_source *mixed = hdst_source_open_all(j->context, (const char *[]){binary, text}, 2, NULL);
    cr_assert(hdst_source_column_type(twice, 1, &type));
    cr_assert_eq(hdst_source_rows(mixed), 2 * N);
    cr_assert_not(hdst_source_column_type(mixed, 1, &type));
    unlink(text);
}

Test(records, what_is_saved_reads_back)
{
    job j = open_job("interp");
    hdst_error error;
    cr_assert_not_null(mkdtemp(folder));
    hdst_dataset *d = read_rows(&j, shapes, sizeof(shape), "shape");
    static const char *const names[] = {"shapes.npy", "shapes.csv", "shapes.raw"};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(hdst_save(d, path_of(names[i]), &error), HDST_OK, "%s", error.message);
        hdst_source *saved = i == 2 ? hdst_source_open_raw(j.context, path_of(names[i])) : hdst_source_open(j.context, path_of(names[i]));
        hdst_type type = HDST_TEXT;
        cr_assert_eq(hdst_source_column_type(saved, 0, &type), i == 0, "text and raw bytes do not tell");
        cr_assert_eq(type, i == 0 ? HDST_UINT8 : HDST_TEXT);
        shape *back = collect(hdst_read(saved, j.module, "shape"), N);
        for (int r = 0; r < N; r++) cr_assert(same_shape(&back[r], &shapes[r]), "%s, record %d", names[i], r);
        hdst_rows_destroy(j.context, back);
        unlink(path_of(names[i]));
    }
    // One field is an array, not a structured one.
    cr_assert_eq(hdst_save(hdst_with_layout(read_rows(&j, vecs, sizeof(vec), "vec"), HDST_SOA), path_of("vecs.npy"), &error), HDST_OK);
    hdst_source *plain = hdst_source_open(j.context, path_of("vecs.npy"));
    cr_assert_eq(hdst_source_columns(plain), 3);
    cr_assert_null(hdst_source_column_name(plain, 0));
    check_types(&j, plain);
    vec *back = collect(hdst_read(plain, j.module, "vec"), N);
    cr_assert_eq(memcmp(back, vecs, sizeof vecs), 0);
    hdst_rows_destroy(j.context, back);
    unlink(path_of("vecs.npy"));
    rmdir(folder);
    hdst_context_destroy(j.context);
}

// An array of as many dimensions as the field has, and one: (N, 2, 3), (N, 2, 1, 3).
Test(records, a_field_of_several_dimensions_reads_back)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "struct grid { float v[2][3]; };\nstruct cell { float x[3]; };\nstruct cells { cell at[2][1]; };\n");
    static float numbers[N][2][3];
    for (int i = 0; i < N * 6; i++) numbers[i / 6][i / 3 % 2][i % 3] = (float)i / 8;
    cr_assert_not_null(mkdtemp(folder));
    static const char *const names[] = {"grid", "cells"};
    for (size_t i = 0; i < 2; i++) {
        hdst_error error;
        cr_assert_eq(hdst_save(hdst_read(hdst_source_from_memory(context, numbers, N, sizeof *numbers), module, names[i]), path_of("a.npy"), &error),
                     HDST_OK, "%s", error.message);
        hdst_source *saved = hdst_source_open(context, path_of("a.npy"));
        cr_expect_eq(hdst_source_columns(saved), 6);
        void *back = collect(hdst_read(saved, module, names[i]), N);
        cr_expect_eq(memcmp(back, numbers, sizeof numbers), 0, "%s", names[i]);
        hdst_rows_destroy(context, back);
        unlink(path_of("a.npy"));
    }
    rmdir(folder);
    hdst_context_destroy(context);
}

// Programs ask for it again in each turn of a loop: for each value, each dataset of numbers.
Test(records, the_record_around_a_number_is_made_once)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "struct pair { uint32_t a; float b; };\n");
    uint64_t before = 0;
    for (int i = 0; i < 20000; i++) {
        cr_assert(hdst_module_record_size(module, "float") == 4 && hdst_module_record_size(module, "uint64_t") == 8);
        if (i == 100) before = atomic_load(&context->engine->runtime.memory.small) + atomic_load(&context->engine->runtime.memory.used);
    }
    cr_assert_leq(atomic_load(&context->engine->runtime.memory.small) + atomic_load(&context->engine->runtime.memory.used), before);
    hdst_context_destroy(context);
}
