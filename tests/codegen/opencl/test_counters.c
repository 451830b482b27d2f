// SPDX-License-Identifier: Apache-2.0
// Loops whose counter is narrower than what it is compared with wrap and go round until something leaves them: the
// interpreter and the kernels of both forms give what the same loops give as plain C (which wraps unsigned numbers,
// and is made to wrap signed ones).
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "tests/support/kernel_suite.h"

#include <stdlib.h>
#include <string.h>

TestSuite(counters, .init = set_up, .fini = tear_down);

static const char program[] =
    "struct bounds { uint32_t n; int32_t s; int64_t l; uint8_t b; int8_t low; };\n"
    "struct turns { uint32_t a, b, c, d, e, f, g, h, i, j, k, m, o; int32_t p; uint32_t q, r, s, u, v, w; };\n"
    "uint32_t first(uint32_t n, uint32_t most) { uint32_t t = 0; for (uint8_t k = 0; k < n; k++) { t += 3; if (t >= most) return t + k; } return t; }\n"
    "map turn(bounds r, broadcast uint32_t u, broadcast int64_t w, broadcast uint8_t c[]) -> turns\n"
    "{\n"
    "    turns t;\n"
    "    for (uint8_t k = 0; k < r.n; k++) { t.a++; if (t.a == 1000) break; }\n"
    "    uint8_t k = 0;\n"
    "    while (k < r.n) { t.b++; k++; if (t.b == 1000) break; }\n"
    "    for (uint8_t k = 5; k <= r.b; k++) { t.c += k; if (t.c >= 70000) break; }\n"
    "    for (int8_t k = -3; k < r.s; k++) { t.d += 2; if (t.d > 700) break; }\n"
    "    for (uint8_t k = 0; k < u; k++) { t.e++; if (t.e == 777) break; }\n"
    "    for (uint16_t k = 65000; k != r.n; k++) { t.f++; if (t.f == 2000) break; }\n"
    "    for (int32_t i = 2147483640; i < r.l; i++) { t.g++; if (t.g == 100) break; }\n"
    "    for (int32_t i = 2147483600; i < w; i++) { t.h++; if (i < 0) break; }\n"
    "    for (uint8_t k = 0; k < len(c); k++) { t.i += c[k]; if (t.i > 50000) break; }\n"
    "    t.j = first(r.n, 1500);\n"
    "    for (uint8_t k = 0; k < (r.n & 127u); k++) { t.k += k; if (t.k == 66) break; }\n"
    "    for (uint8_t q = 1; q < r.n; q++) { for (uint8_t k = q; k < r.n; k++) { t.m++; if (t.m % 300 == 0) break; } if (t.m > 3000) break; }\n"
    "    for (uint32_t k = 0; 1u + (k & 3u) > k; k++) t.q += k + r.n;\n"        // what is compared with looks at the counter
    "    for (uint8_t k = 0; k <= r.low; k++) t.r++;\n"                      // not once below 0
    "    for (int8_t k = -128; k <= r.low - 100; k++) t.s++;\n"
    "    for (uint32_t k = 0; k <= (int64_t)r.low; k++) t.u++;\n"
    "    for (uint8_t k = 0; k < r.low; k++) t.v++;\n"
    "    for (uint8_t k = 0; k < 200; k += 300) t.w += k + 1;\n"            // a step beyond the counter's type
    "    for (uint8_t k = 0; k <= u; k++) { if (k == 9) continue; t.o++; switch (t.o) { case 5: break; case 600: return t; default: t.p -= 1; } }\n"
    "    return t;\n"
    "}\n";

typedef struct bounds {
    uint32_t n;
    int32_t s;
    int64_t l;
    uint8_t b;
    int8_t low;
} bounds;

typedef struct turns {
    uint32_t a, b, c, d, e, f, g, h, i, j, k, m, o;
    int32_t p;
    uint32_t q, r, s, u, v, w;
} turns;

enum { RECORDS = 200, SKIP = 64, ROWS = 300 };

static const uint32_t shared = 300;
static const volatile uint64_t rows = ROWS;     // so that no compiler sees what k cannot reach
static const int64_t beyond = INT64_C(3000000000);
static uint8_t table[ROWS];

// --- The same in C ---

static int32_t after(int32_t i) { return (int32_t)((uint32_t)i + 1); }     // wraps (gcc and clang convert modulo 2^32)

static uint32_t first(uint32_t n, uint32_t most)
{
    uint32_t t = 0;
    for (uint8_t k = 0; k < n; k++) {
        t += 3;
        if (t >= most) return t + k;
    }
    return t;
}

static turns narrow_unsigned(const bounds *r)
{
    turns t = {0};
    for (uint8_t k = 0; k < r->n; k++)
        if (++t.a == 1000) break;
    for (uint8_t k = 0; k < r->n;) {
        t.b++, k++;
        if (t.b == 1000) break;
    }
    for (uint8_t k = 5; k <= r->b; k++) {
        t.c += k;
        if (t.c >= 70000) break;
    }
    for (uint8_t k = 0; k < shared; k++)
        if (++t.e == 777) break;
    for (uint16_t k = 65000; k != r->n; k++)
        if (++t.f == 2000) break;
    for (uint8_t k = 0; k < rows; k++) {
        t.i += table[k];
        if (t.i > 50000) break;
    }
    t.j = first(r->n, 1500);
    for (uint8_t k = 0; k < (r->n & 127u); k++) {
        t.k += k;
        if (t.k == 66) break;
    }
    for (uint8_t q = 1; q < r->n; q++) {
        for (uint8_t k = q; k < r->n; k++)
            if (++t.m % 300 == 0) break;
        if (t.m > 3000) break;
    }
    for (uint32_t k = 0; 1u + (k & 3u) > k; k++) t.q += k + r->n;
    return t;
}

static void signed_bounds(const bounds *r, turns *t)
{
    for (uint8_t k = 0; k <= r->low; k++) t->r++;
    for (int8_t k = -128; k <= r->low - 100; k++) t->s++;
    for (uint32_t k = 0; k <= (int64_t)r->low; k++) t->u++;
    for (uint8_t k = 0; k < r->low; k++) t->v++;
    for (uint8_t k = 0; k < 200; k = (uint8_t)(k + 300)) t->w += k + 1;
}

static turns expected(const bounds *r)
{
    turns t = narrow_unsigned(r);
    signed_bounds(r, &t);
    for (int8_t k = -3; k < r->s; k = (int8_t)(uint8_t)(k + 1)) {
        t.d += 2;
        if (t.d > 700) break;
    }
    for (int32_t i = 2147483640; i < r->l; i = after(i))
        if (++t.g == 100) break;
    for (int32_t i = 2147483600; i < beyond; i = after(i)) {
        t.h++;
        if (i < 0) break;
    }
    for (uint8_t k = 0; k <= shared; k++) {
        if (k == 9) continue;
        if (++t.o == 600) return t;
        if (t.o != 5) t.p -= 1;
    }
    return t;
}

// --- Running ---

typedef struct setting {
    const ir_func *func;
    bounds records[RECORDS];
    hdst__interp_table broadcast[5];
} setting;

static void make_setting(setting *s)
{
    ast_module *module = hdst__module_compile(&diags, "counters.hk", program, sizeof program - 1, NULL);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "turn"));
    cr_assert_null(hdst__passes_scalar(func));
    *s = (setting){.func = func};
    for (int i = 0; i < ROWS; i++) table[i] = (uint8_t)(i * 7);
    for (int i = 0; i < RECORDS; i++) {
        static const int64_t ends[] = {2147483641, 2147483647, 2147483648, 5000000000, 0, INT64_MAX};
        s->records[i] = (bounds){.n = (uint32_t)(i * 3), .s = i - 20 + (i % 7 == 0) * 5000, .l = ends[i % 6], .b = (uint8_t)(256 - i), .low = (int8_t)(i - 90)};
    }
    s->broadcast[1] = (hdst__interp_table){&shared, 1};
    s->broadcast[2] = (hdst__interp_table){&beyond, 1};
    s->broadcast[3] = (hdst__interp_table){table, ROWS};
}

static void compare(const setting *s, const turns *got, const char *who)
{
    for (int i = 0; i < RECORDS; i++) {
        const turns want = expected(&s->records[i]);
        const uint32_t *w = (const uint32_t *)&want, *g = (const uint32_t *)&got[i];
        for (size_t k = 0; k < sizeof want / sizeof *w; k++)
            cr_assert_eq(g[k], w[k], "%s, record %d, field %c: %u, not %u", who, i, "abcdefghijkmopqrsuvw"[k], g[k], w[k]);
    }
}

Test(counters, the_interpreter_wraps_as_c_does)
{
    setting s;
    make_setting(&s);
    turns got[RECORDS];
    const hdst__storage *storage = hdst__storage_make(&arena, s.func->params[0].record, HDST__AOS, 0, RECORDS);
    hdst__interp_run interp = {.func = s.func, .input = {storage}, .input_buffers = {(const void *const[]){s.records}}, .count = RECORDS,
                               .broadcast = s.broadcast, .output = got};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK, "%s", error.message);
    compare(&s, got, "interpreter");
}

static void check_kernel(hdst__layout layout, hdst__target target)
{
    setting s;
    make_setting(&s);
    const hdst__record *record = s.func->params[0].record;
    const hdst__storage *from = hdst__storage_make(&arena, record, HDST__AOS, 0, RECORDS);
    const hdst__storage *input = hdst__storage_make(&arena, record, layout, 64, RECORDS + SKIP);
    void *buffers[8] = {0};
    for (uint32_t b = 0; b < input->buffers; b++) {
        buffers[b] = aligned_alloc(4096, (input->buffer_bytes[b] + 8191) / 4096 * 4096);
        memset(buffers[b], 0, input->buffer_bytes[b]);
    }
    hdst__storage_copy(input, buffers, SKIP, from, (const void *const[]){s.records}, 0, RECORDS);
    const hdst__target_facts facts = {target, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = (const uint64_t[]){0, 1, 1, ROWS, 0}};
    static turns got[RECORDS];
    memset(got, 0xee, sizeof got);
    const hdst__kernel *kernel = hdst__kernel_make(&arena, s.func, &options, &diags);
    cr_assert_not_null(kernel);
    kernel_case c = {.kernel = kernel, .func = s.func, .input = input, .input_buffers = buffers, .skip = SKIP, .count = RECORDS, .broadcast = s.broadcast,
                     .groups = 2, .output = got, .output_bytes = sizeof got};
    cr_assert(kernel_run(&run, &c));
    compare(&s, got, target == HDST__TARGET_GPU ? "form for GPUs" : "form for CPU devices");
    for (uint32_t b = 0; b < input->buffers; b++) free(buffers[b]);
}

Test(counters, kernels_wrap_as_c_does)
{
    check_kernel(HDST__AOS, HDST__TARGET_CPU);
    check_kernel(HDST__SOA, HDST__TARGET_CPU);
    check_kernel(HDST__SOA, HDST__TARGET_GPU);
}

static bool count_loop(ir_stmt *s, void *user)
{
    size_t *loops = user;
    loops[0] += s->kind == IR_FOR;
    loops[1] += s->kind == IR_LOOP;
    return true;
}

// What cannot wrap stays a counted loop, which can be interchanged with the records.
Test(counters, bounds_in_reach_are_counted)
{
    static const char counted[] = "struct p { uint8_t b; uint32_t n; int32_t s; };\n"
                                  "map f(p r, broadcast uint32_t c[], broadcast int64_t w) -> uint32_t\n"
                                  "{\n"
                                  "    uint32_t t = 0;\n"
                                  "    for (uint32_t j = 0; j < len(c); j++) { t += c[j]; if (t > 9) break; }\n"
                                  "    for (int j = 0; j < len(c); j++) { t += c[j]; if (t > 99) break; }\n"
                                  "    for (uint8_t k = 0; k < r.b; k++) { t++; if (t > 999) return t; }\n"
                                  "    for (uint8_t k = 0; k <= (r.n & 31u); k++) { t++; if (t > 999) break; }\n"
                                  "    for (int32_t i = 0; i < r.s; i++) { t++; if (t > 9999) break; }\n"
                                  "    for (int32_t i = 0; i < (w & 1023); i++) { t++; if (t > 9999) break; }\n"
                                  "    for (uint8_t k = 0; k < 200; k += 4) { t++; if (t > 9999) break; }\n"
                                  "    for (int32_t i = 0; i < w; i++) t += 2;\n"              // never left in another way
                                  "    return t;\n"
                                  "}\n";
    ast_module *module = hdst__module_compile(&diags, "counted.hk", counted, sizeof counted - 1, NULL);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "f"));
    size_t loops[2] = {0};
    hdst__ir_visit_stmts(&func->body, count_loop, loops);
    cr_expect_eq(loops[0], 8);
    cr_expect_eq(loops[1], 0, "%zu are general loops", loops[1]);
}
