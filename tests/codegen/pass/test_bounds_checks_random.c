// SPDX-License-Identifier: Apache-2.0
// Which checks are proved away and which must stay; random programs must fail in the same record at the same check with and without the pass.
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include "tests/support/random_checks.h"

#include <criterion/criterion.h>
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

TestSuite(checks, .init = set_up, .fini = tear_down);

static ir_func *lowered(const char *text)
{
    const char *source = hdst__arena_printf(&arena, "%s%s", RANDOM_CHECKS_DECLARATIONS, text);
    hdst__front_options options = {0};
    hdst__diags_init(&diags, &arena);
    const ast_module *module = hdst__module_compile(&diags, "t.hk", source, strlen(source), &options);
    if (diags.errors) return NULL;
    return hdst__lower(&arena, module, hdst__module_function(module, "f"));
}

static void run_pass(ir_func *func, void (*pass)(ir_func *func))
{
    pass(func);
    cr_assert_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
}

static void prove_all(ir_func *func)
{
    run_pass(func, hdst__pass_structured_exits);
    run_pass(func, hdst__pass_constant_folding);
    run_pass(func, hdst__pass_bounds_checks);
    run_pass(func, hdst__pass_constant_folding);
}

static bool count_check(ir_stmt *s, void *user)
{
    *(int *)user += s->kind == IR_CHECK;
    return true;
}

static int checks_of(ir_func *func)
{
    int count = 0;
    hdst__ir_visit_stmts(&func->body, count_check, &count);
    return count;
}

static bool count_clamp(ir_expr **e, void *user)
{
    *(int *)user += (*e)->op == IR_SELECT && (*e)->a->op == IR_LT && (*e)->a->a->kind == HDST__U64;
    return true;
}

// How many checks and how many clamps the body of a map keeps.
static void expect(const char *body, int checks, int clamps)
{
    ir_func *func = lowered(hdst__arena_printf(
        &arena, "map f(in p, broadcast row t[], broadcast row w[], broadcast int32_t one, accum int64_t r) { %s }",
        body));
    cr_assert_not_null(func, "%s: %s", body, diags.count ? diags.items[0].message : "");
    prove_all(func);
    int left = 0;
    hdst__ir_visit_exprs(&func->body, count_clamp, &left);
    cr_expect_eq(checks_of(func), checks, "%s: %d checks", body, checks_of(func));
    cr_expect_eq(left, clamps, "%s: %d clamps", body, left);
}

// --- What is proved, clamps included: whatever way leads there ---

Test(checks, narrow_types_masks_and_remainders)
{
    expect("int32_t big[256]; r += big[p.c];", 0, 0);
    expect("r += FEW[p.b & 3] + FEW[p.b % 6] + FEW[p.c >> 6] + FEW[5 - (p.b & 1)];", 0, 0);
    expect("r += FEW[p.a & 3] + FEW[(p.a % 3 + 3) % 3] + FEW[p.d / 64 + 2];", 0, 0);
    expect("r += FEW[p.a < 0 ? 0 : p.a > 5 ? 5 : p.a];", 0, 0);
    expect("r += FEW[FEW[p.b & 3]] + FEW[min(p.b, 5u)] + FEW[max(min(p.a, 5), 0)];", 0, 0);
    expect("r += 100 / ((p.a & 7) + 1) + 100 % max(p.c, 1);", 0, 0);
}

Test(checks, variables_that_are_set_to_proved_values_only)
{
    expect("uint32_t k = 0; if (p.x > 1) k = 1; else if (p.x > 0) k = 2; r += FEW[k];", 0, 0);
    expect("int32_t best = 0; for (int32_t i = 0; i < 6; i++) if (FEW[i] > p.a) best = i; r += FEW[best];", 0, 0);
}

Test(checks, lengths_of_tables)
{
    expect("for (uint32_t j = 0; j < len(t); j++) r += t[j].v[0];", 0, 0);
    expect("for (uint32_t j = 1; j < len(t); j++) r += t[j - 1].v[0] + t[j / 2].v[1];", 0, 0);
    expect("uint32_t n = len(t); for (uint32_t j = 0; j < n; j++) { uint32_t k = j; r += t[k].v[0]; }", 0, 0);
    expect("r += t[p.b % len(t)].v[0];", 1, 0);                   // that of the division
}

// --- What is proved here only: the clamp stays ---

Test(checks, conditions_on_the_way)
{
    expect("if (p.a >= 0 && p.a < 6) r += FEW[p.a];", 0, 1);
    expect("int32_t i = p.a; if (i < 0) i = 0; if (i > 5) i = 5; r += FEW[i];", 0, 1);
    expect("if (p.a < 0) return; if (p.a > 5) return; r += FEW[p.a];", 0, 1);
    expect("for (uint32_t k = 0; k < 3; k++) { if (p.b > 5) break; r += FEW[p.b]; }", 0, 1);
    expect("if (p.b < 5 && FEW[p.b] > 2) r += FEW[p.b + 1];", 0, 2);
    expect("if (p.b >= 5 || FEW[p.b] > 2) return; r += FEW[p.b + 1];", 0, 2);
    expect("for (uint32_t j = 0; j < min(len(t), len(w)); j++) r += t[j].v[0] + w[j].v[0];", 0, 2);
    expect("if (p.b < len(t)) r += t[p.b].v[0];", 0, 1);
    expect("uint32_t j = 0; while (j < len(t) && t[j].v[0] < p.a) j++; if (j < len(t)) r += t[j].v[1];", 0, 2);
    expect("if (len(t) > 0) r += p.b / len(t);", 0, 0);
    expect("if (p.a != 0) r += 100 / p.a;", 0, 0);
    expect("r += t[p.b].v[0]; if (p.x > 0) r += t[p.b].v[1];", 1, 2);       // checked already
}

// --- What must stay ---

Test(checks, what_may_fail_stays)
{
    expect("for (uint32_t j = 0; j < len(t); j++) r += w[j].v[0];", 1, 1);  // of another table
    expect("for (uint32_t j = 0; j <= 6; j++) r += FEW[j];", 1, 1);
    expect("for (int32_t j = p.a; j < 6; j++) r += FEW[j];", 1, 1);
    expect("for (uint32_t j = 0; j < len(t); j++) r += t[j + 1].v[0];", 1, 1);
    expect("for (uint32_t j = 0; j < len(t); j++) r += t[j - 1].v[0];", 1, 1);
    expect("r += FEW[p.a % 6]; r += FEW[p.a & 7]; r += FEW[abs(p.a)];", 3, 3);
    expect("r += t[min(p.b, (uint32_t)len(t) - 1)].v[0];", 1, 1);           // there may be no row
    expect("if (p.a < 6) r += FEW[p.a];", 1, 1);                            // may be negative
    expect("if (p.a >= 0 || p.a < 6) r += FEW[p.a];", 1, 1);
    expect("if (p.b < 6) { } r += FEW[p.b];", 1, 1);
    expect("r += 1 / p.a; r += 1 % p.d; r += 1 / (p.a * p.a);", 3, 0);
}

Test(checks, a_variable_that_was_set_since_is_no_longer_known)
{
    expect("uint32_t i = p.b; if (i < 6) { i = i + 1; r += FEW[i]; }", 1, 1);
    expect("uint32_t i = p.b; r += FEW[i]; i = i + 1; r += FEW[i];", 2, 2);
    expect("uint32_t i = p.b; if (i < 6) for (uint32_t k = 0; k < 3; k++) { r += FEW[i]; i = i * 2; }", 1, 1);
    expect("uint32_t i = p.b; uint32_t k = i; i = 0; if (i < 6) r += FEW[k];", 1, 1);
    expect("bool ok = p.b < 6; uint32_t i = p.b; if (p.x > 0) ok = true; if (ok) r += FEW[i];", 1, 1);
    expect("uint32_t i = p.b; bool ok = i < 6; i = p.c; if (ok) r += FEW[i];", 1, 1);
    expect("uint32_t i = 0; while (i < 6) { i = i + 3; r += FEW[i]; }", 1, 1);
    expect("uint32_t i = p.b; if (p.x > 0) { if (i > 5) i = 5; } r += FEW[i];", 1, 1);
}

// --- Random programs ---

enum { RECORDS = 48 };

typedef struct outcome {
    uint64_t failed;
    uint32_t check;
    int64_t result;
} outcome;

static outcome run_record(const ir_func *func, const random_record *record, const int32_t *rows, uint64_t t_rows)
{
    outcome o = {0};
    const void *const buffers[] = {record};
    const hdst__interp_table tables[] = {{0}, {rows, t_rows}, {rows, 6}, {0}};
    const uint64_t row_counts[] = {0, t_rows, 6, 0};
    hdst__interp_run run = {.strict = true, .func = func,
                            .input = {hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, 1)},
                            .input_buffers = {buffers}, .count = 1, .broadcast = tables, .accum_rows = row_counts,
                            .output = &o.result};
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__interpret(&run, &error), HDST_OK, "%s", error.message);
    o.failed = run.failed_record;
    o.check = run.failed_record == UINT64_MAX ? 0 : run.failed_check;
    return o;
}

// One random program; false when the checker refuses it (a constant index out of range, a division by a constant 0).
static bool try_program(unsigned seed, int *dropped, int *failures)
{
    const char *text = random_checks(&arena, seed);
    ir_func *func = lowered(text);
    if (!func) return false;
    run_pass(func, hdst__pass_structured_exits);
    ir_func *proved = hdst__ir_copy_func(&arena, func);
    prove_all(proved);
    *dropped += checks_of(func) - checks_of(proved);
    const uint64_t t_rows = (uint64_t)rand() % 8;
    int32_t rows[8 * 3];
    for (int n = 0; n < 24; n++) rows[n] = rand() % 9 - 1;
    for (int n = 0; n < RECORDS; n++) {
        const random_record record = random_checks_record();
        const outcome a = run_record(func, &record, rows, t_rows), b = run_record(proved, &record, rows, t_rows);
        *failures += a.failed == 0;
        cr_assert(a.failed == b.failed && a.check == b.check && a.result == b.result,
                  "seed %u, a %d b %u c %u d %d, %d rows: check %d of %d, after it check %d of %d\n"
                  "%s",
                  seed, record.a, record.b, record.c, record.d, (int)t_rows, (int)a.check, (int)a.failed, (int)b.check,
                  (int)b.failed, text);
    }
    return true;
}

Test(checks, random_programs_fail_at_the_same_check)
{
    const char *many = getenv("HDST_CHECK_PROGRAMS");
    const unsigned programs = many ? (unsigned)atoi(many) : 300;
    unsigned accepted = 0;
    int dropped = 0, failures = 0;
    for (unsigned seed = 1; seed <= programs; seed++) {
        accepted += try_program(seed, &dropped, &failures);
        tear_down();
        set_up();
    }
    cr_log_info("%u of %u programs, %d checks dropped, %d records failed", accepted, programs, dropped, failures);
    cr_expect(accepted > programs / 3 && dropped > (int)programs / 4 && failures > (int)programs,
              "%u programs, %d checks dropped, %d records failed", accepted, dropped, failures);
}
