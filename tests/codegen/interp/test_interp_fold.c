// SPDX-License-Identifier: Apache-2.0
// Reduces that are functions of two records, in the interpreter: over the fixed tree and in the order of the records, against the same in plain C.
#include "codegen/interp/interp.h"
#include "tests/support/ir_make.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(interp_fold, .init = set_up, .fini = tear_down);

typedef struct number { uint32_t v; } number;

static ir_expr *value_of(ir_func *f, uint32_t param) { return ir_read(f, IR_FIELD, param, 0, NULL, NULL); }

// 3 a - b: neither associative nor commutative, so that the tree shows. 0xdead fails.
static ir_func *uneven(void)
{
    const ir_field fields[] = {{"v", HDST__U32, 0}};
    const hdst__record *record = ir_record(&arena, "number", 0, fields, 1);
    ir_func *f = ir_new(&arena, "uneven");
    const uint32_t a = ir_param_add(f, IR_INPUT, "a", record, false), b = ir_param_add(f, IR_INPUT, "b", record, false),
                   out = ir_param_add(f, IR_OUTPUT, "result", record, false);
    ir_stmt *check = ir_add(f, &f->body, IR_CHECK);
    check->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_DIVISION});
    check->cond = ir_op2(f, IR_NE, value_of(f, b), ir_number(f, HDST__U32, 0xdead));
    ir_stmt *store = ir_add(f, &f->body, IR_STORE);
    store->param = out;
    store->value = ir_op2(f, IR_SUB, ir_op2(f, IR_MUL, value_of(f, a), ir_number(f, HDST__U32, 3)), value_of(f, b));
    const char *wrong = hdst__ir_verify(f);
    cr_assert_null(wrong, "%s", wrong);
    return f;
}

static hdst__interp_run run_numbers(const ir_func *f, const number *numbers, uint64_t count, void *output)
{
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, count);
    const void **buffers = HDST__NEW_ARRAY(&arena, const void *, 1);
    buffers[0] = numbers;
    return (hdst__interp_run){.func = f, .input = {storage, storage}, .input_buffers = {buffers, buffers}, .count = count, .output = output};
}

static uint32_t tree(const uint32_t *v, uint64_t n)
{
    uint32_t *level = malloc(n * sizeof *level);
    memcpy(level, v, n * sizeof *level);
    while (n > 1) {
        uint64_t runs = (n + 63) / 64;
        for (uint64_t r = 0; r < runs; r++) {
            uint32_t so_far = level[r * 64];
            for (uint64_t j = r * 64 + 1; j < n && j < r * 64 + 64; j++) so_far = 3 * so_far - level[j];
            level[r] = so_far;
        }
        n = runs;
    }
    const uint32_t result = level[0];
    free(level);
    return result;
}

Test(interp_fold, folds_follow_the_fixed_tree)
{
    const ir_func *f = uneven();
    const uint64_t counts[] = {1, 2, 63, 64, 65, 128, 1000, 4096, 4097, 20000};
    static number numbers[20000];
    for (uint32_t i = 0; i < 20000; i++) numbers[i].v = i * 2654435761u;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        number result = {0};
        hdst__interp_run run = run_numbers(f, numbers, counts[i], &result);
        cr_assert_eq(hdst__interpret_fold(&run, NULL), HDST_OK);
        cr_expect_eq(run.failed_record, UINT64_MAX);
        cr_expect_eq(result.v, tree(&numbers[0].v, counts[i]), "%llu records", (unsigned long long)counts[i]);
        uint32_t so_far = numbers[0].v;
        for (uint64_t k = 1; k < counts[i]; k++) so_far = 3 * so_far - numbers[k].v;
        cr_assert_eq(hdst__interpret_fold_ordered(&run, NULL), HDST_OK);
        cr_expect_eq(result.v, so_far);
    }
    number untouched = {77};
    hdst__interp_run none = run_numbers(f, numbers, 0, &untouched);
    cr_expect_eq(hdst__interpret_fold(&none, NULL), HDST_OK);
    cr_expect_eq(hdst__interpret_fold_ordered(&none, NULL), HDST_OK);
    cr_expect_eq(untouched.v, 77);
}

Test(interp_fold, a_fold_reports_the_first_failing_pair)
{
    const ir_func *f = uneven();
    static number numbers[1000];
    for (uint32_t i = 0; i < 1000; i++) numbers[i].v = i;
    numbers[700].v = numbers[300].v = 0xdead;
    number result;
    hdst__interp_run run = run_numbers(f, numbers, 1000, &result);
    cr_assert_eq(hdst__interpret_fold(&run, NULL), HDST_OK);
    cr_expect_eq(run.failed_record, 300);
    cr_assert_eq(hdst__interpret_fold_ordered(&run, NULL), HDST_OK);
    cr_expect_eq(run.failed_record, 300);
}

// A pair that fails far behind the first step is not come to.
Test(interp_fold, what_is_cancelled_goes_no_further)
{
    enum { N = 100000 };
    static number numbers[N], result;
    hdst__cancel cancel = {0};
    hdst_error error = HDST_ERROR_INIT;
    numbers[N - 1].v = 0xdead;
    for (int ordered = 0; ordered < 2; ordered++) {
        hdst_status (*run_fold)(hdst__interp_run *, hdst_error *) = ordered ? hdst__interpret_fold_ordered : hdst__interpret_fold;
        hdst__interp_run run = run_numbers(uneven(), numbers, N, &result);
        run.cancel = &cancel;
        hdst__cancel_begin(&cancel);
        cr_assert_eq(run_fold(&run, &error), HDST_OK);
        cr_expect_eq(run.failed_record, N - 1);
        hdst__cancel_ask(&cancel);
        cr_expect_eq(run_fold(&run, &error), HDST_E_CANCELLED);
        cr_expect_eq(run.failed_record, UINT64_MAX, "%d", ordered);
        hdst__cancel_end(&cancel);
    }
}
