// SPDX-License-Identifier: Apache-2.0
// The lowering against C: functions of pass/programs.hk written again in C, compiled by the C compiler, give the same bits.
#include "tests/support/program_suite.h"
#include "codegen/front/front.h"
#include "codegen/ir/ir.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(lower, .init = set_up, .fini = tear_down);

// --- The records ---

typedef struct vec { float x[3]; int32_t n; } vec;
typedef struct line { vec from, to; float w; double z; uint8_t small; int64_t big; bool on; } line;
typedef struct answer { float a; double b; int32_t c; uint64_t d; bool e; } answer;

static const float A[5] = {0.319381530f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};

// --- The functions. Integers wrap (unsigned arithmetic), fma stands where the language's rule puts it. ---

static int32_t wrap(uint32_t v) { return (int32_t)v; }

static answer loops(line l)
{
    int32_t n = l.from.n & 15, turns = 0;
    while (n > 1) {
        if ((n & 1) == 1) n = 3 * n + 1;
        else n = n / 2;
        turns++;
        if (turns > 20) break;
    }
    uint32_t sum = 0;
    for (unsigned i = 0; i < l.small; i++) {
        if (i == 7) continue;
        sum += i;
    }
    do {
        sum -= 3;
        turns += 1;
        if (turns == 5) continue;
    } while (sum > 4000000000u && turns < 40);
    for (int32_t i = 10; i > n; i -= 3) sum ^= (uint32_t)i;
    for (int32_t i = 0; i <= turns; i++)
        for (int32_t k = i; k < 4; k++) {
            sum += (uint32_t)k;
            if (sum > 1000) break;
        }
    return (answer){.c = turns, .d = sum, .a = (float)n};
}

static answer returns(line l, uint64_t *seen)
{
    answer r = {0};
    if (l.w < 0) return r;
    *seen += 1;
    if (l.on) {
        r.b = 1;
        if (l.small > 5) return r;
        r.b = 2;
    }
    for (uint32_t i = 0; i < 3; i++) {
        r.a += l.from.x[i];
        if (r.a > 2) {
            r.c = 1;
            return r;
        }
        for (uint32_t k = 0; k < 2; k++) {
            if (l.to.x[k] < r.a) return (answer){.c = 2, .a = (float)k};
            r.b += l.to.x[k];
        }
    }
    r.c = 3;
    return r;
}

static answer choices(line l, const vec *v)
{
    float s = l.w;
    if (l.on) {
        s = l.w * 2;
        if (l.from.n > 0) s += 1;
        else s -= l.to.x[2];
    } else if (l.small > 100) {
        s = v->x[1];
    }
    int32_t n = 0;
    if (v->n > 0) {
        n = v->n;
        if (s < 0) n = wrap(0u - (uint32_t)n);
    }
    switch (l.from.n & 7) {
    case 0: n = wrap((uint32_t)n + 1); break;
    case 1: case 2: n = wrap((uint32_t)n + 10); /* fall through */
    case 3: n = wrap((uint32_t)n + 100); break;
    case 4:
        if (s > 0) break;
        n = wrap((uint32_t)n + 1000);
        break;
    default: n = wrap((uint32_t)n - 1);
    }
    switch (l.to.n & 3) {
    case 0: s = 1; break;
    case 1: s = 2; break;
    default: s += 3;
    }
    return (answer){.a = s, .c = n, .e = s > v->x[0] ? l.on : n < 3, .b = l.on ? s : l.z};
}

static answer arithmetic(line l)
{
    answer r = {0};
    r.a = fmaf(l.w, l.from.x[0], l.to.x[1] * l.from.x[1]) - l.w;
    r.a = fmaf(-l.w, 2, r.a);
    r.b = fma(-(double)l.w, l.z, l.z);
    r.b += (double)(l.w * l.w);
    r.b += (double)(float)(l.w * l.w);
    r.c = wrap((uint32_t)l.from.n << (l.small & 31));
    r.c ^= l.to.n >> 1;
    r.c = wrap((uint32_t)r.c * 3 - (uint32_t)(l.from.n & 7) + ~(uint32_t)l.to.n);
    r.d = (uint64_t)(l.big / 3) + (uint64_t)(l.big % 7) + (uint64_t)l.small / 2;
    r.e = (l.on && l.w < 1) || (!(l.z >= 2) && l.from.n != l.to.n);
    return r;
}

static answer steps(line l, const vec *c, uint64_t rows)
{
    int32_t k = 1;
    float s = l.w * (float)k, t = 0;
    k = wrap((uint32_t)k + (uint32_t)c[0].n);
    s = fmaf(l.w, (float)k, s);
    for (uint32_t i = 0; i < rows; i++) {
        t = fmaf(s, (float)k, t);
        k = wrap((uint32_t)k * 2 + (uint32_t)c[i].n);
        if (k > 50) k = 3;
        t = fmaf(-l.from.x[0], (float)k, t);
    }
    uint32_t n = 0;
    for (int32_t i = 9; i > 0; i -= 4) n = n * 3 + (uint32_t)i * (uint32_t)l.from.n;
    float horner = 0;
    for (int32_t i = 4; i >= 0; i--) horner = l.w * (A[i] + horner);
    return (answer){.a = s, .b = t + horner, .c = wrap((uint32_t)k + n)};
}

// --- Comparing ---

// NaNs that functions give are one (docs/kernel-language.md); C's are what the processor makes.
static answer with_one_nan(answer a)
{
    if (isnan(a.a)) a.a = NAN;
    if (isnan(a.b)) a.b = NAN;
    return a;
}

static bool same(const answer *a, const answer *b)
{
    return !memcmp(&a->a, &b->a, 4) && !memcmp(&a->b, &b->b, 8) && a->c == b->c && a->d == b->d && a->e == b->e;
}

static program_result run(const char *name, unsigned seed)
{
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_not_null(func);
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    return program_run(&arena, func, seed);
}

enum { SEEDS = 20 };

#define EXPECT_AS_IN_C(name, call)                                                                                     \
    for (unsigned seed = 0; seed < SEEDS; seed++) {                                                                    \
        program_result result = run(name, seed);                                                                       \
        const line *input = result.input;                                                                              \
        const vec *table = result.broadcast;                                                                           \
        (void)table;                                                                                                   \
        for (size_t i = 0; i < result.records; i++) {                                                                  \
            line l = input[i];                                                                                         \
            answer expected = with_one_nan(call);                                                                      \
            cr_assert(same(&expected, (const answer *)result.output + i), name " seed %u record %zu", seed, i);        \
        }                                                                                                              \
    }

Test(lower, loops_are_as_in_c) { EXPECT_AS_IN_C("loops", loops(l)) }
Test(lower, branches_and_switches_are_as_in_c) { EXPECT_AS_IN_C("choices", choices(l, table)) }
Test(lower, arithmetic_and_fma_are_as_specified) { EXPECT_AS_IN_C("arithmetic", arithmetic(l)) }
Test(lower, uniform_numbers_change_between_uses) { EXPECT_AS_IN_C("steps", steps(l, table, 4)) }

Test(lower, early_returns_are_as_in_c)
{
    uint64_t seen = 0, counted = 0;
    EXPECT_AS_IN_C("returns", returns(l, &seen))
    for (unsigned seed = 0; seed < SEEDS; seed++) counted += (uint64_t)run("returns", seed).table[0];
    cr_expect_eq(counted, seen);
}
