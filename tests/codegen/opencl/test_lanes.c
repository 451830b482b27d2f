// SPDX-License-Identifier: Apache-2.0
// dot and sum: the interpreter and the kernels of both forms, from all layouts, have the bits of the definition in
// docs/kernel-language.md, written here once more in C. Records are wide or odd: 1, 15, 16, 17, 33 and 784 elements.
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "tests/support/kernel_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static hdst__diags diags;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
}

static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(lanes, .init = set_up, .fini = tear_down);

static const char program[] = "param uint32_t D;\n"
                              "struct wide { int16_t k[D]; float x[D]; double z[D]; };\n"
                              "struct answer { double zz; double z; float xc; float xx; float x; int32_t k; int32_t kk; };\n"
                              "float twice(float a[D], float b[D]) { return dot(a, b) + dot(b, a); }\n"
                              "map measure(wide p, broadcast wide c[]) -> answer\n"
                              "{\n"
                              "    answer a;\n"
                              "    float e[D];\n"
                              "    for (uint32_t i = 0; i < D; i++) e[i] = p.x[i] - c[0].x[i];\n"
                              "    a.xx = dot(e, e);\n"
                              "    for (uint32_t j = 0; j < len(c); j++) a.xc += twice(p.x, c[j].x);\n"
                              "    a.x = sum(p.x);\n"
                              "    a.z = sum(p.z);\n"
                              "    a.zz = dot(p.z, c[1].z);\n"
                              "    a.k = sum(p.k);\n"
                              "    a.kk = dot(p.k, p.k);\n"
                              "    return a;\n"
                              "}\n";

typedef struct answer {
    double zz, z;
    float xc, xx, x;
    int32_t k, kk;
} answer;

// --- The definition, in C ---

#define IN_LANES(T, NAME, FMA)                                                                                           \
    static T NAME(const T *a, const T *b, uint32_t n)       /* b NULL: a sum */                                          \
    {                                                                                                                    \
        T lane[16] = {0};                                                                                                \
        for (uint32_t i = 0; i < n; i++) lane[i % 16] = b ? FMA(a[i], b[i], lane[i % 16]) : lane[i % 16] + a[i];         \
        for (uint32_t apart = 8; apart; apart /= 2)                                                                      \
            for (uint32_t l = 0; l < apart; l++)                                                                         \
                if (l + apart < n) lane[l] += lane[l + apart];                                                           \
        return lane[0];                                                                                                  \
    }
IN_LANES(float, lanes_of_float, fmaf)
IN_LANES(double, lanes_of_double, fma)

typedef struct wide {           // the record's leaves, wherever it has them
    const int16_t *k;
    const float *x;
    const double *z;
} wide;

static wide wide_at(const hdst__record *record, const char *rows, uint64_t i)
{
    const char *row = rows + i * record->size;
    return (wide){(const int16_t *)(row + record->leaves[0].offset), (const float *)(row + record->leaves[1].offset),
                  (const double *)(row + record->leaves[2].offset)};
}

static answer expected(const hdst__record *record, const char *records, uint64_t i, const char *centers, uint64_t rows, uint32_t n)
{
    const wide p = wide_at(record, records, i), first = wide_at(record, centers, 0);
    answer a = {.z = lanes_of_double(p.z, NULL, n), .x = lanes_of_float(p.x, NULL, n), .zz = lanes_of_double(p.z, wide_at(record, centers, 1).z, n)};
    float e[1024] = {0};
    for (uint32_t d = 0; d < n; d++) e[d] = p.x[d] - first.x[d];
    a.xx = lanes_of_float(e, e, n);
    for (uint64_t j = 0; j < rows; j++) {
        const float once = lanes_of_float(p.x, wide_at(record, centers, j).x, n);
        a.xc += once + once;
    }
    uint32_t k = 0, kk = 0;
    for (uint32_t d = 0; d < n; d++) k += (uint32_t)p.k[d], kk += (uint32_t)p.k[d] * (uint32_t)p.k[d];
    a.k = (int32_t)k;
    a.kk = (int32_t)kk;
    return a;
}

// --- Running ---

enum { RECORDS = 300, SKIP = 64, ROWS = 3, MANY_ROWS = 9 /* of a lane with several records */ };

static char *make_rows(const hdst__record *record, uint64_t count, bool special)
{
    char *rows = HDST__NEW_ARRAY(&arena, char, count * record->size);
    for (uint64_t i = 0; i < count; i++) {
        const wide w = wide_at(record, rows, i);
        for (uint64_t d = 0; d < record->leaves[0].elements; d++) {
            ((int16_t *)w.k)[d] = (int16_t)(rand() - rand());
            ((float *)w.x)[d] = ldexpf((float)(rand() % 200000 - 100000), rand() % 30 - 15);
            ((double *)w.z)[d] = ldexp((double)(rand() - rand()), rand() % 30 - 15);
        }
        if (special && i % 5 == 0) ((float *)w.x)[(uint64_t)rand() % record->leaves[1].elements] = i % 2 ? INFINITY : -0.0f;
        if (special && i % 7 == 0) memset((void *)w.x, 0x80, 4);        // a denormal
    }
    return rows;
}

typedef struct setting {
    const ir_func *func;
    const hdst__record *record;
    const char *records, *centers;
    uint32_t elements, rows;
    hdst__interp_table broadcast[3];
} setting;

static void make_setting(setting *s, uint32_t elements, uint32_t rows)
{
    const hdst__param_value params[] = {{.name = "D", .bits = elements}};
    const hdst__front_options front = {.params = params, .param_count = 1};
    ast_module *module = hdst__module_compile(&diags, "lanes.hk", program, sizeof program - 1, &front);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "measure"));
    cr_assert_null(hdst__passes_scalar(func));
    srand(elements);
    *s = (setting){.func = func, .record = func->params[0].record, .elements = elements, .rows = rows};
    s->records = make_rows(s->record, RECORDS, true);
    s->centers = make_rows(s->record, rows, false);
    s->broadcast[1] = (hdst__interp_table){s->centers, rows};
}

static bool same_float(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void compare(const setting *s, const answer *got, const char *who)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        const answer want = expected(s->record, s->records, i, s->centers, s->rows, s->elements);
        const bool same = same_double(got[i].zz, want.zz) && same_double(got[i].z, want.z) && same_float(got[i].xc, want.xc) &&
                          same_float(got[i].xx, want.xx) && same_float(got[i].x, want.x) && got[i].k == want.k && got[i].kk == want.kk;
        cr_assert(same, "%s, %u elements, record %d: dot %a, not %a; sum %a, not %a; dot of doubles %a, not %a; e %a, not %a", who, s->elements, (int)i,
                  (double)got[i].xc, (double)want.xc, (double)got[i].x, (double)want.x, got[i].zz, want.zz, (double)got[i].xx, (double)want.xx);
    }
}

static void *page(uint64_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
    cr_assert_not_null(memory);
    memset(memory, 0, bytes);
    return memory;
}

static void check_interpreter(uint32_t elements)
{
    setting s;
    make_setting(&s, elements, ROWS);
    answer *got = HDST__NEW_ARRAY(&arena, answer, RECORDS);
    const hdst__storage *storage = hdst__storage_make(&arena, s.record, HDST__AOS, 0, RECORDS);
    hdst__interp_run interp = {.func = s.func, .input = {storage}, .input_buffers = {(const void *const[]){s.records}}, .count = RECORDS,
                               .broadcast = s.broadcast, .output = got};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    compare(&s, got, "interpreter");
}

static void check_kernel_of(uint32_t rows, uint32_t elements, hdst__layout layout, hdst__target target)
{
    setting s;
    make_setting(&s, elements, rows);
    cl_run run;
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "these tests need PoCL");
    const hdst__storage *from = hdst__storage_make(&arena, s.record, HDST__AOS, 0, RECORDS);
    const hdst__storage *input = hdst__storage_make(&arena, s.record, layout, 64, RECORDS + SKIP);
    void *buffers[3] = {0};
    for (uint32_t b = 0; b < input->buffers; b++) buffers[b] = page(input->buffer_bytes[b]);
    hdst__storage_copy(input, buffers, SKIP, from, (const void *const[]){s.records}, 0, RECORDS);
    const hdst__target_facts facts = {target, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = (const uint64_t[]){0, rows, 0}};
    answer *got = HDST__NEW_ARRAY(&arena, answer, RECORDS);
    const hdst__kernel *kernel = hdst__kernel_make(&arena, s.func, &options, &diags);
    cr_assert_not_null(kernel);
    kernel_case c = {.kernel = kernel, .func = s.func, .input = input, .input_buffers = buffers, .skip = SKIP, .count = RECORDS, .broadcast = s.broadcast,
                     .groups = 2, .output = got, .output_bytes = RECORDS * sizeof *got};
    cr_assert(kernel_run(&run, &c));
    compare(&s, got, target == HDST__TARGET_GPU ? "form for GPUs" : "form for CPU devices");
    for (uint32_t b = 0; b < input->buffers; b++) free(buffers[b]);
    cl_run_close(&run);
}

static void check_kernel(uint32_t elements, hdst__layout layout, hdst__target target) { check_kernel_of(ROWS, elements, layout, target); }

Test(lanes, the_interpreter_has_the_bits_of_the_definition)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 9, 15, 16, 17, 31, 32, 33, 784};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) check_interpreter(sizes[i]);
}

Test(lanes, few_elements_in_kernels)
{
    check_kernel(1, HDST__AOS, HDST__TARGET_CPU);
    check_kernel(15, HDST__SOA, HDST__TARGET_CPU);
    check_kernel(16, HDST__AOSOA, HDST__TARGET_CPU);
    check_kernel(15, HDST__AOP, HDST__TARGET_GPU);
}

Test(lanes, a_remainder_in_kernels)
{
    for (int layout = HDST__AOS; layout <= HDST__AOP; layout++) check_kernel(17, (hdst__layout)layout, HDST__TARGET_CPU);
    check_kernel(33, HDST__AOS, HDST__TARGET_CPU);
    check_kernel(17, HDST__AOS, HDST__TARGET_GPU);
    check_kernel(33, HDST__AOSOA, HDST__TARGET_GPU);
}

Test(lanes, wide_records_in_kernels)
{
    for (int layout = HDST__AOS; layout <= HDST__AOP; layout++) check_kernel(784, (hdst__layout)layout, HDST__TARGET_CPU);
    check_kernel(784, HDST__AOS, HDST__TARGET_GPU);
    check_kernel(784, HDST__SOA, HDST__TARGET_GPU);
}

// So many that a lane has several records of a tile.
Test(lanes, many_rows_in_kernels)
{
    check_kernel_of(MANY_ROWS, 33, HDST__AOS, HDST__TARGET_GPU);
    check_kernel_of(MANY_ROWS, 33, HDST__SOA, HDST__TARGET_GPU);
}
