// SPDX-License-Identifier: Apache-2.0
// Every operation of the IR on every kind, printed in both forms and run on PoCL, has the bits of the shared
// arithmetic (codegen/ir/eval.c, itself tested against C). Operands are the corners of each kind and some ordinary
// values, all pairs.
#include "codegen/interp/interp.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"
#include "record/scalar_convert.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel_ops, .init = set_up, .fini = tear_down);

// --- Operands ---

enum { VALUES = 22, PAIRS = VALUES * VALUES };

static uint64_t bits_of(hdst__kind kind, double v)
{
    uint64_t bits = 0;
    const float f = (float)v;
    if (kind == HDST__F32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    return bits;
}

static uint64_t value(hdst__kind kind, int n)
{
    static const double real[VALUES] = {0,
                                        -0.0,
                                        1,
                                        -1,
                                        0.5,
                                        -2.5,
                                        3,
                                        1e-40,
                                        -1e-45,
                                        127.9,
                                        -128.5,
                                        255.5,
                                        65535.9,
                                        -32769,
                                        2147483647,
                                        -2147483649.0,
                                        4294967296.0,
                                        1.8446744e19,
                                        -9.3e18,
                                        INFINITY,
                                        -INFINITY,
                                        NAN};
    static const int64_t integer[VALUES] = {0,        1,         -1,        2,         -2,        3,         7,         -7, 100, -100, INT8_MAX,
                                            INT8_MIN, INT16_MAX, INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 31, 33,  64,   0x123456789abcdef};
    if (hdst__kind_is_float(kind)) return bits_of(kind, real[n]);
    return hdst__scalar_convert(kind, HDST__I64, (uint64_t)integer[n]);
}

// --- One function: out[k] = operation k of (a, b) ---

typedef struct builder {
    ir_func *f;
    hdst__kind kind;
    ir_expr *value[64];
    size_t count;
} builder;

static ir_expr *operand(builder *b, uint32_t leaf) { return ir_read(b->f, IR_FIELD, 0, leaf, NULL, NULL); }
static ir_expr *of(builder *b, ir_op op, hdst__kind kind) { return hdst__ir_binary(b->f, op, kind, operand(b, 0), operand(b, 1)); }

static void add_common(builder *b)
{
    static const ir_op same[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_MIN, IR_MAX}, compare[] = {IR_LT, IR_LE, IR_GT, IR_GE, IR_EQ, IR_NE};
    for (size_t i = 0; i < 6; i++) b->value[b->count++] = of(b, same[i], b->kind);
    for (size_t i = 0; i < 6; i++) b->value[b->count++] = of(b, compare[i], HDST__BOOL);
    b->value[b->count++] = hdst__ir_unary(b->f, IR_NEG, b->kind, operand(b, 0));
    b->value[b->count++] = hdst__ir_unary(b->f, IR_ABS, b->kind, operand(b, 0));
    b->value[b->count++] = hdst__ir_select(b->f, of(b, IR_LT, HDST__BOOL), of(b, IR_ADD, b->kind), operand(b, 1));
    b->value[b->count++] = hdst__ir_unary(b->f, IR_NOT, HDST__BOOL, of(b, IR_LT, HDST__BOOL));
    for (hdst__kind to = HDST__BOOL; to <= HDST__F64; to++)
        if (to != b->kind) b->value[b->count++] = hdst__ir_convert(b->f, to, operand(b, 0));
}

static void add_float(builder *b)
{
    ir_expr *fma = of(b, IR_FMA, b->kind);
    fma->c = operand(b, 0);
    b->value[b->count++] = fma;
    b->value[b->count++] = hdst__ir_unary(b->f, IR_SQRT, b->kind, operand(b, 0));
    b->value[b->count++] = hdst__ir_unary(b->f, IR_ISNAN, HDST__BOOL, operand(b, 0));
    b->value[b->count++] = hdst__ir_unary(b->f, IR_BITCAST, b->kind == HDST__F32 ? HDST__U32 : HDST__U64, operand(b, 0));
    b->value[b->count++] = hdst__ir_unary(b->f, IR_BITCAST, b->kind == HDST__F32 ? HDST__I32 : HDST__I64, operand(b, 0));
}

static void add_integer(builder *b)
{
    static const ir_op same[] = {IR_REM, IR_AND, IR_OR, IR_XOR};
    for (size_t i = 0; i < 4; i++) b->value[b->count++] = of(b, same[i], b->kind);
    b->value[b->count++] = hdst__ir_unary(b->f, IR_BITNOT, b->kind, operand(b, 0));
    for (ir_op op = IR_SHL; op <= IR_SHR; op++)
        b->value[b->count++] = hdst__ir_binary(b->f, op, b->kind, operand(b, 0), hdst__ir_convert(b->f, HDST__U32, operand(b, 1)));
    if (hdst__scalar_size(b->kind) == 4) b->value[b->count++] = hdst__ir_unary(b->f, IR_BITCAST, HDST__F32, operand(b, 0));
    if (hdst__scalar_size(b->kind) == 8) b->value[b->count++] = hdst__ir_unary(b->f, IR_BITCAST, HDST__F64, operand(b, 0));
}

static void make_func(builder *b, hdst__kind kind)
{
    *b = (builder){.f = ir_new(&arena, "operations"), .kind = kind};
    ir_param_add(b->f, IR_INPUT, "p", ir_record(&arena, "pair", 0, (ir_field[]){{"a", kind, 0}, {"b", kind, 0}}, 2), false);
    add_common(b);
    if (hdst__kind_is_float(kind)) add_float(b);
    else add_integer(b);
    ir_field fields[64];
    for (size_t i = 0; i < b->count; i++) fields[i] = (ir_field){hdst__arena_printf(&arena, "o%zu", i), b->value[i]->kind, 0};
    const uint32_t out = ir_param_add(b->f, IR_OUTPUT, "out", ir_record(&arena, "results", 0, fields, b->count), false);
    for (size_t i = 0; i < b->count; i++) {
        ir_stmt *store = ir_add(b->f, &b->f->body, IR_STORE);
        store->param = out;
        store->leaf = (uint32_t)i;
        store->value = b->value[i];
    }
}

// --- Running ---

static bool both_nan(hdst__kind kind, const void *a, const void *b)
{
    float f[2];
    double d[2];
    if (kind == HDST__F32) return memcpy(&f[0], a, 4), memcpy(&f[1], b, 4), isnan(f[0]) && isnan(f[1]);
    if (kind == HDST__F64) return memcpy(&d[0], a, 8), memcpy(&d[1], b, 8), isnan(d[0]) && isnan(d[1]);
    return false;
}

static void compare(const builder *b, const ir_func *f, int form, const char *got, const char *want)
{
    const hdst__record *record = f->params[1].record;
    int shown = 0;
    for (uint64_t i = 0; i < PAIRS; i++)
        for (size_t l = 0; l < record->leaf_count; l++) {
            const hdst__leaf *leaf = &record->leaves[l];
            const char *x = got + i * record->size + leaf->offset, *y = want + i * record->size + leaf->offset;
            if (!memcmp(x, y, hdst__scalar_size(leaf->kind)) || both_nan(leaf->kind, x, y) || shown++ > 4) continue;
            cr_expect(false, "form %d: %s of %s, values %d and %d, to %s", form, hdst__ir_op_name(b->value[l]->op), hdst__scalar_c_name(b->kind),
                      (int)(i / VALUES), (int)(i % VALUES), hdst__scalar_c_name(leaf->kind));
        }
}

static void check_kind(hdst__kind kind, bool correctly_rounded)
{
    builder b;
    make_func(&b, kind);
    cr_assert_null(hdst__ir_verify(b.f));
    ir_func *f = hdst__ir_copy_func(&arena, b.f);
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, PAIRS);
    const uint64_t size = hdst__scalar_size(kind), out_bytes = f->params[1].record->size * PAIRS;
    char *in = HDST__NEW_ARRAY(&arena, char, 2 * size * PAIRS), *got = HDST__NEW_ARRAY(&arena, char, out_bytes),
         *want = HDST__NEW_ARRAY(&arena, char, out_bytes);
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t x = value(kind, i / VALUES), y = value(kind, i % VALUES);
        memcpy(in + 2 * i * size, &x, size);
        memcpy(in + (2 * i + 1) * size, &y, size);
    }
    void *buffers[] = {in};
    hdst__interp_run interp = {.func = b.f, .input = {storage}, .input_buffers = {(const void *const[]){in}}, .count = PAIRS, .output = want};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    for (int form = 0; form < 2; form++) {
        const hdst__target_facts facts = {
            form ? HDST__TARGET_GPU : HDST__TARGET_CPU, 48 << 10, 1024, 2, correctly_rounded, true, true, cl_run_is_simulated(&run)};
        const hdst__kernel_options options = {.facts = facts, .input = storage};
        const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
        cr_assert_not_null(kernel);
        memset(got, 0, out_bytes);
        kernel_case c = {
            .kernel = kernel, .func = f, .input = storage, .input_buffers = buffers, .count = PAIRS, .groups = 2, .output = got, .output_bytes = out_bytes};
        cr_assert(kernel_run(&run, &c));
        compare(&b, f, form, got, want);
    }
}

Test(kernel_ops, int8) { check_kind(HDST__I8, true); }
Test(kernel_ops, int16) { check_kind(HDST__I16, true); }
Test(kernel_ops, int32) { check_kind(HDST__I32, true); }
Test(kernel_ops, int64) { check_kind(HDST__I64, true); }
Test(kernel_ops, uint8) { check_kind(HDST__U8, true); }
Test(kernel_ops, uint16) { check_kind(HDST__U16, true); }
Test(kernel_ops, uint32) { check_kind(HDST__U32, true); }
Test(kernel_ops, uint64) { check_kind(HDST__U64, true); }
Test(kernel_ops, float32) { check_kind(HDST__F32, true); }
Test(kernel_ops, float32_where_the_device_rounds_loosely) { check_kind(HDST__F32, false); }
Test(kernel_ops, float64) { check_kind(HDST__F64, true); }
