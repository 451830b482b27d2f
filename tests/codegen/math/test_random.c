// SPDX-License-Identifier: Apache-2.0
// Random numbers in kernels: Philox against the published vectors, the draws against the C library, their distribution, equal bits of all back ends.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

// --- Philox 4x32-10 again, from the paper ---

static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t k[2] = {key[0], key[1]};
    memcpy(out, counter, 4 * sizeof *out);
    for (int round = 0; round < 10; round++, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) {
        const uint64_t p = (uint64_t)0xD2511F53u * out[0], q = (uint64_t)0xCD9E8D57u * out[2];
        const uint32_t next[4] = {(uint32_t)(q >> 32) ^ out[1] ^ k[0], (uint32_t)q, (uint32_t)(p >> 32) ^ out[3] ^ k[1], (uint32_t)p};
        memcpy(out, next, sizeof next);
    }
}

// The three vectors of Random123's kat_vectors for philox4x32 10
Test(random, the_reference_gives_the_published_vectors)
{
    static const uint32_t vectors[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        philox(vectors[i], vectors[i] + 4, out);
        cr_assert_arr_eq(out, vectors[i] + 6, sizeof out);
    }
}

// --- Draws in a kernel ---

enum { N = 200000 };

typedef struct place { uint64_t index, stream; } place;
typedef struct draws { uint64_t bits; double uniform, exponential, normal; float uniform_float, exponential_float, normal_float; uint32_t more; } draws;

static const char kernel[] =
    "struct place { uint64_t index, stream; };\n"
    "struct draws { uint64_t bits; double u, e, n; float uf, ef, nf; uint32_t more; };\n"
    "map draw(place p) -> draws\n"
    "{\n"
    "    return (draws){ rng(p.index, p.stream), uniform(p.index, p.stream), exponential(p.index, p.stream), normal(p.index, p.stream),\n"
    "                    uniform_float(p.index, p.stream), exponential_float(p.index, p.stream), normal_float(p.index, p.stream), 7 };\n"
    "}\n";

static place places[N];

// Most are one stream counted through, as a program does; the first ones are anything.
static void make_places(void)
{
    static const uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_C(1) << 32, 0x123456789abcdef0};
    for (uint64_t i = 0; i < N; i++) places[i] = i < 25 ? (place){odd[i / 5], odd[i % 5]} : (place){i, 42};
}

static draws *draw_on(const char *form, hdst_context **context)
{
    make_places();
    *context = context_in_form(form);
    hdst_module *module = module_of(*context, kernel);
    cr_assert_str_eq(hdst_module_diagnostics(module), "");
    hdst_map_spec *spec = hdst_map_spec_create(module, "draw");
    hdst_source *source = hdst_source_from_memory(*context, places, N, sizeof *places);
    void *rows = NULL;
    uint64_t count = 0;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_collect(hdst_map(hdst_read(source, module, "place"), spec), &rows, &count, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(count, N);
    hdst_map_spec_destroy(spec);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    return rows;
}

static void words_of(place p, uint32_t w[4])
{
    philox((uint32_t[]){(uint32_t)p.index, (uint32_t)(p.index >> 32), 0, 0}, (uint32_t[]){(uint32_t)p.stream, (uint32_t)(p.stream >> 32)}, w);
}

// The cosine of turn / 2^64 of a turn, from the nearest quarter, where it may be near 0
static long double cosine_of(uint64_t turn)
{
    const uint64_t quarter = (turn >> 62) + (turn >> 61 & 1);
    const long double r = (long double)(int64_t)(turn - (quarter << 62)) * 0x1p-64L * 6.283185307179586476925286766559L;
    const long double of[4] = {cosl(r), -sinl(r), -cosl(r), sinl(r)};
    return of[quarter & 3];
}

Test(random, draws_are_what_the_words_say)
{
    hdst_context *context;
    draws *got = draw_on("interp", &context);
    for (size_t i = 0; i < N; i++) {
        uint32_t w[4];
        words_of(places[i], w);
        const uint64_t low = (uint64_t)w[1] << 32 | w[0], high = (uint64_t)w[3] << 32 | w[2];
        cr_assert_eq(got[i].bits, low);
        cr_assert_eq(got[i].uniform, ldexp((double)(low >> 11), -53));
        cr_assert_eq(got[i].uniform_float, ldexpf((float)(w[0] >> 8), -24));
        const long double u = ((long double)(low >> 11) + 1) * 0x1p-53L, v = (long double)(((float)w[0] + 0.5f) * 0x1p-32f);
        const long double e = -logl(u), n = sqrtl(2 * e) * cosine_of(high);
        const long double ef = -logl(v), nf = sqrtl(2 * ef) * cosine_of((uint64_t)w[1] << 32);
        cr_assert(fabsl(got[i].exponential - e) <= 2e-16L * e, "%zu", i);
        cr_assert(fabsl(got[i].normal - n) <= 6e-16L * fabsl(n), "%zu: %.17g", i, got[i].normal);
        cr_assert(fabsl((long double)got[i].exponential_float - ef) <= 2e-7L * ef, "%zu", i);
        cr_assert(fabsl((long double)got[i].normal_float - nf) <= 3e-7L * fabsl(nf), "%zu: %.9g", i, (double)got[i].normal_float);
    }
    hdst_rows_destroy(context, got);
    hdst_context_destroy(context);
}

// --- Distributions: the largest distance between the draws' distribution and the right one (Kolmogorov and Smirnov), at a level of about 1e-6 ---

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fits(double *values, size_t n, double (*cumulative)(double), const char *what)
{
    double largest = 0;
    qsort(values, n, sizeof *values, by_size);
    for (size_t i = 0; i < n; i++) {
        const double right = cumulative(values[i]);
        largest = fmax(largest, fmax(fabs(right - (double)i / (double)n), fabs(right - (double)(i + 1) / (double)n)));
    }
    cr_assert(largest * sqrt((double)n) < 2.7, "%s: %g", what, largest * sqrt((double)n));
}

static double of_uniform(double x) { return x; }
static double of_exponential(double x) { return -expm1(-x); }
static double of_normal(double x) { return erfc(-x * M_SQRT1_2) / 2; }

Test(random, draws_are_distributed_as_they_say)
{
    static double values[6][N];
    hdst_context *context;
    draws *got = draw_on("interp", &context);
    const size_t first = 25, n = N - first;
    for (size_t i = 0; i < n; i++) {
        const draws *d = &got[first + i];
        values[0][i] = d->uniform, values[1][i] = d->exponential, values[2][i] = d->normal;
        values[3][i] = d->uniform_float, values[4][i] = d->exponential_float, values[5][i] = d->normal_float;
    }
    static double (*const right[])(double) = {of_uniform, of_exponential, of_normal};
    static const char *const names[] = {"uniform", "exponential", "normal", "uniform_float", "exponential_float", "normal_float"};
    for (size_t k = 0; k < 6; k++) fits(values[k], n, right[k % 3], names[k]);
    hdst_rows_destroy(context, got);
    hdst_context_destroy(context);
}

Test(random, back_ends_draw_the_same)
{
    if (!have_cpu()) return;
    hdst_context *context, *other;
    draws *right = draw_on("interp", &context);
    static const char *const forms[] = {"cpu", "gpu-form"};
    for (size_t i = 0; i < 2; i++) {
        draws *got = draw_on(forms[i], &other);
        cr_assert_arr_eq(got, right, N * sizeof *got, "%s", forms[i]);
        hdst_rows_destroy(other, got);
        hdst_context_destroy(other);
    }
    hdst_rows_destroy(context, right);
    hdst_context_destroy(context);
}

// A program may have functions of its own by these names.
Test(random, names_give_way)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, "float normal(float x) { return x; } map f(float x) -> float { return normal(x) + (float)uniform(1, 2); }");
    cr_assert_str_eq(hdst_module_diagnostics(module), "");
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}
