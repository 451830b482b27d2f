// SPDX-License-Identifier: Apache-2.0
// Records of users, functions and reductions over the records of each user, and what the tests of grouping ask of them: a job on a form of kernels, its
// results, the same in C. Included once by a test file.
#ifndef HDST_TESTS_GROUP_ROWS_H
#define HDST_TESTS_GROUP_ROWS_H

#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 6007, KEYS = 300, ROWS = 320 };

typedef struct day { uint16_t year; uint8_t month; } day;
typedef struct row { uint32_t user; int32_t at; float x; double w; uint64_t wide; day when; uint8_t code[5]; } row;
typedef struct pause { uint32_t user; int32_t longest; double sum; uint64_t n; } pause;
typedef struct affine { uint32_t p, q; } affine;

static const char kernels[] =
    "struct day { uint16_t year; uint8_t month; };\n"
    "struct row { uint32_t user; int32_t at; float x; double w; uint64_t wide; day when; uint8_t code[5]; };\n"
    "struct pause { uint32_t user; int32_t longest; double sum; uint64_t n; };\n"
    "struct affine { uint32_t p; uint32_t q; };\n"
    "struct code { uint8_t c[5]; };\n"
    "struct list { float x[3]; bool full; };\n"
    "group pauses(key uint32_t user, stream row s) -> pause\n"
    "{\n"
    "    pause p;\n"
    "    int32_t last = 0;\n"
    "    p.user = user;\n"
    "    for (row r : s) {\n"
    "        if (p.n > 0) p.longest = max(p.longest, r.at - last);\n"
    "        last = r.at;\n"
    "        p.sum = p.sum / 2 + r.w;\n"              // of the order of the records
    "        p.n++;\n"
    "    }\n"
    "    return p;\n"
    "}\n"
    "group count(key uint32_t k, stream row s) -> uint64_t { uint64_t n = 0; for (row r : s) n++; return n; }\n"
    "group by_wide(key uint64_t k, stream row s) -> (uint64_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (k, n); }\n"
    "group by_x(key float k, stream row s) -> (uint32_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (as_uint(k), n); }\n"
    "group by_day(key day when, stream row s) -> (uint32_t k, uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (when.year * 100u + when.month, n); }\n"
    "group by_code(key code k, stream row s) -> (uint8_t c[5], uint64_t n) { uint64_t n = 0; for (row r : s) n++; return (k.c, n); }\n"
    "group near(key uint32_t user, stream row s, broadcast float c[]) -> (uint32_t user, float least)\n"
    "{\n"
    "    float least = INFINITY;\n"
    "    for (row r : s)\n"
    "        for (uint32_t i = 0; i < len(c); i++) {\n"
    "            if (isnan(r.x)) continue;\n"
    "            least = min(least, fabs(r.x - c[i]));\n"
    "        }\n"
    "    return (user, least);\n"
    "}\n"
    "group second(key uint32_t user, stream row s) -> (uint32_t user, int32_t at)\n"
    "{\n"
    "    uint32_t n = 0;\n"
    "    for (row r : s) {\n"
    "        r.at = r.at * 2;\n"
    "        if (n == 1) return (user, r.at);\n"
    "        n++;\n"
    "    }\n"
    "    return (user, -1);\n"
    "}\n"
    "group mean(key uint32_t user, stream row s) -> (uint32_t user, int32_t each)\n"
    "{\n"
    "    int32_t sum = 0; int32_t n = 0;\n"
    "    for (row r : s) { sum += r.at; if (r.user % 50u != 7u) n++; }\n"
    "    return (user, sum / n);\n"
    "}\n"
    "map keyed(row r) -> (uint32_t p, key uint32_t k, uint32_t q) { return ((uint32_t)r.at | 1u, r.user, (uint32_t)(r.at * 77)); }\n"
    "map keyed_list(row r) -> (key int16_t k, float x[3], bool full) { list l; l.x[r.user % 3u] = r.x; return ((int16_t)r.user, l.x, r.at > 100); }\n"
    "associative reduce compose(affine a, affine b) identity { .p = 1 } { return (affine){ a.p * b.p, a.q * b.p + b.q }; }\n"
    // It is not associative: the tree shows.
    "associative reduce mix(affine a, affine b) identity { .p = 7 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "reduce ordered(affine a, affine b) identity { .p = 9, .q = 1 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "struct ends { int32_t first, last; };\n"
    "map compound(row r) -> (key uint64_t a, key uint8_t b, key int16_t c, int32_t first, int32_t last)\n"
    "{\n"
    "    return (r.wide, r.when.month, (int16_t)(r.user % 3u) - 1, r.at, r.at);\n"
    "}\n"
    "reduce span(ends a, ends b) { return (ends){ a.first, b.last }; }\n"
    "reduce bare(affine a, affine b) { return b; }\n"
    "reduce fill(list a, list b) identity { .full = true }\n"
    "{\n"
    "    list l = a;\n"
    "    for (uint32_t i = 0; i < 3; i++) if (b.x[i] != 0) l.x[i] = b.x[i];\n"
    "    l.full = a.full || !b.full;\n"
    "    return l;\n"
    "}\n"
    "group by_n(key uint64_t n, stream pause s) -> (uint64_t n, uint64_t users) { uint64_t c = 0; for (pause p : s) c++; return (n, c); }\n"
    "map doubled(pause p) -> pause { pause q = p; q.n = p.n * 2; return q; }\n";

static row rows[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *data;
} job;

static inline float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// User 5 has a fifth of all records; the values of `wide` are few, and neighbours.
static inline void fill_rows(void)
{
    const float few[] = {0.0f, -0.0f, NAN, from_bits(0x7fc00001), 1.5f, -3};
    srand(11);
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < N; i++) {
        row *r = &rows[i];
        r->user = rand() % 5 ? (uint32_t)(rand() % KEYS) : 5;
        r->at = i * 3 + rand() % 100;
        r->x = few[rand() % 6];
        r->w = rand() % 1000 / 7.0;
        r->wide = UINT64_MAX / 3 + (uint64_t)(rand() % 5) * 1000003;
        r->when = (day){(uint16_t)(1990 + rand() % 4), (uint8_t)(rand() % 12)};
        for (int c = 0; c < 5; c++) r->code[c] = (uint8_t)("ab"[rand() % 2]);
    }
}

static inline bool open_job(job *j, const char *form, hdst_on_error on_error)
{
    if (strcmp(form, "interp") && !have_cpu()) return false;
    fill_rows();
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu-form") ? form : "cpu";
    options.on_error = on_error;
    options.replay_dir = "";
    j->context = hdst_context_create(&options);
    if (j->context->engine) j->context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu-form");
    j->module = module_of(j->context, kernels);
    j->data = hdst_read(hdst_source_from_memory(j->context, rows, N, sizeof(row)), j->module, "row");
    return true;
}

#define ON_EACH_FORM(j) for (size_t form_ = 0; form_ < 3; form_++) if (open_job(&(j), forms[form_], HDST_ON_ERROR_FAIL))

static inline uint64_t collect(hdst_dataset *dataset, void **out)
{
    uint64_t n = 0;
    hdst_error error = HDST_ERROR_INIT;
    char text[2048];
    if (hdst_collect(dataset, out, &n, &error) == HDST_OK) return n;
    hdst_error_format(&error, text, sizeof text);
    cr_assert_fail("%s", text);
    return 0;
}

static inline void drop(hdst_dataset *dataset, void *out) { hdst_rows_destroy(((hdst__object *)dataset)->context, out); }

// --- The same in C ---

static inline pause pause_of(uint32_t user)
{
    pause p = {.user = user};
    int32_t last = 0;
    for (int i = 0; i < N; i++) {
        if (rows[i].user != user) continue;
        if (p.n && rows[i].at - last > p.longest) p.longest = rows[i].at - last;
        last = rows[i].at;
        p.sum = p.sum / 2 + rows[i].w;
        p.n++;
    }
    return p;
}

// The hash that orders results, from its published constants: shifts as divisions, in wide numbers.
static inline uint32_t mixed(uint32_t k)
{
    const uint64_t first = (uint64_t)(k ^ (k / 65536)) * 0x7feb352du % 4294967296u;
    const uint64_t second = (first ^ (first / 32768)) * 0x846ca68bu % 4294967296u;
    return (uint32_t)(second ^ (second / 65536));
}

static inline uint64_t present_users(void)
{
    uint64_t n = 0;
    for (uint32_t user = 0; user < KEYS; user++) n += pause_of(user).n > 0;
    return n;
}

static inline void expect_error(hdst_dataset *dataset, hdst_status code, const char *message, const char *hint)
{
    hdst_error error = HDST_ERROR_INIT;
    uint64_t n;
    void *out;
    cr_expect_eq(hdst_collect(dataset, &out, &n, &error), code);
    if (message) cr_expect_str_eq(error.message, message);
    if (hint) cr_expect_str_eq(error.hint, hint);
}

static inline bool job_with_memory(job *j, const char *form, uint64_t bytes)
{
    if (!open_job(j, form, HDST_ON_ERROR_FAIL)) return false;
    j->context->engine->runtime.memory.limit = bytes;       // no device is open yet
    return true;
}

#endif
