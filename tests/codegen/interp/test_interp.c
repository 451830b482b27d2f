// SPDX-License-Identifier: Apache-2.0
// The reference interpreter on hand-made IR, against the same computation in plain C.
#include "codegen/interp/interp.h"
#include "accum/addends.h"
#include "accum/superaccumulator.h"
#include "codegen/ir/accum_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;

static void set_up(void) { hdst__arena_init(&arena, NULL, &out_of_memory); }
static void tear_down(void) { hdst__arena_destroy(&arena); }
TestSuite(interp, .init = set_up, .fini = tear_down);

static const hdst__span nowhere = {0, 0, 0};

static uint64_t f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

// --- Building blocks ---

typedef struct field {
    const char *name;
    hdst__kind kind;
    uint64_t count;         // 0: a scalar
} field;

static hdst__record *make_record(const char *name, const field *fields, size_t count)
{
    hdst__record *record = HDST__NEW(&arena, hdst__record);
    hdst__field *f = HDST__NEW_ARRAY(&arena, hdst__field, count);
    for (size_t i = 0; i < count; i++) {
        const hdst__type *scalar = hdst__type_scalar(fields[i].kind);
        f[i] = (hdst__field){.name = fields[i].name, .type = fields[i].count ? hdst__type_array(&arena, scalar, fields[i].count) : scalar};
    }
    record->name = name;
    record->fields = f;
    record->field_count = count;
    const char *why = NULL;
    cr_assert(hdst__record_finish(&arena, record, &why), "%s", why);
    return record;
}

static ir_func *new_func(void)
{
    ir_func *func = HDST__NEW(&arena, ir_func);
    func->arena = &arena;
    func->name = "f";
    return func;
}

static uint32_t add_param(ir_func *func, ir_param_kind kind, const char *name, const hdst__record *record, bool is_table)
{
    return hdst__ir_add_param(func, (ir_param){.kind = kind, .name = name, .record = record, .is_table = is_table, .bind = name});
}

static ir_expr *u32(ir_func *f, uint64_t v) { return hdst__ir_const(f, HDST__U32, v); }
static ir_expr *u64(ir_func *f, uint64_t v) { return hdst__ir_const(f, HDST__U64, v); }
static ir_expr *var(ir_func *f, uint32_t v) { return hdst__ir_var(f, v); }
static ir_expr *wide(ir_func *f, ir_expr *e) { return hdst__ir_convert(f, HDST__U64, e); }
static ir_expr *op(ir_func *f, ir_op o, ir_expr *a, ir_expr *b)
{
    const bool compares = o >= IR_LT && o <= IR_NE;
    return hdst__ir_binary(f, o, compares ? HDST__BOOL : a->kind, a, b);
}

static ir_expr *leaf(ir_func *f, ir_op o, uint32_t param, uint32_t leaf_index, ir_expr *a, ir_expr *b)
{
    ir_expr *e = hdst__ir_const(f, f->params[param].record->leaves[leaf_index].kind, 0);
    e->op = o;
    e->param = param;
    e->leaf = leaf_index;
    e->a = a;
    e->b = b;
    return e;
}

static ir_expr *special(ir_func *f, ir_op o, uint32_t param)
{
    ir_expr *e = u64(f, 0);
    e->op = o;
    e->param = param;
    return e;
}

static ir_stmt *push(ir_func *f, ir_block *block, ir_stmt *stmt)
{
    hdst__ir_push(f, block, stmt);
    return stmt;
}

static ir_stmt *add(ir_func *f, ir_block *block, ir_stmt_kind kind) { return push(f, block, hdst__ir_stmt(f, kind, nowhere)); }

static void set(ir_func *f, ir_block *block, uint32_t v, ir_expr *value) { push(f, block, hdst__ir_set(f, v, value)); }

static ir_stmt *loop(ir_func *f, ir_block *block, uint32_t v, ir_expr *lo, ir_expr *hi)
{
    ir_stmt *s = add(f, block, IR_FOR);
    s->var = v;
    s->lo = lo;
    s->hi = hi;
    s->step = 1;
    return s;
}

static ir_stmt *branch(ir_func *f, ir_block *block, ir_expr *cond)
{
    ir_stmt *s = add(f, block, IR_IF);
    s->cond = cond;
    return s;
}

static void accumulate(ir_func *f, ir_block *block, uint32_t param, uint32_t leaf_index, ir_expr *row, ir_expr *element, ir_expr *value)
{
    ir_stmt *s = add(f, block, IR_ACCUM);
    s->param = param;
    s->leaf = leaf_index;
    s->index = row;
    s->index2 = element;
    s->value = value;
    s->acc = HDST__SUM;
}

static void store(ir_func *f, ir_block *block, uint32_t param, uint32_t leaf_index, ir_expr *value)
{
    ir_stmt *s = add(f, block, IR_STORE);
    s->param = param;
    s->leaf = leaf_index;
    s->value = value;
}

static void expect_sound(const ir_func *f)
{
    const char *wrong = hdst__ir_verify(f);
    cr_assert_null(wrong, "%s", wrong);
}

// --- KMeans, in every layout ---

enum { POINTS = 1000, CENTERS = 7, DIM = 2 };

typedef struct point { float x[DIM]; } point;
typedef struct total { float x[DIM]; uint32_t n; } total;

// The program of the README: nearest center, totals of its points, inertia.
static ir_func *kmeans(void)
{
    ir_func *f = new_func();
    const field x[] = {{"x", HDST__F32, DIM}, {"n", HDST__U32, 0}}, value[] = {{"value", HDST__F64, 0}};
    const uint32_t p = add_param(f, IR_INPUT, "p", make_record("point", x, 1), false),
                   c = add_param(f, IR_BROADCAST_TABLE, "c", make_record("center", x, 1), true);
    const uint32_t t = add_param(f, IR_ACCUM_TABLE, "t", make_record("total", x, 2), true),
                   in = add_param(f, IR_ACCUM_TABLE, "inertia", make_record("double", value, 1), false);
    const uint32_t best = hdst__ir_add_var(f, "best", HDST__U32, 0), best_d = hdst__ir_add_var(f, "best_d", HDST__F32, 0),
                   j = hdst__ir_add_var(f, "j", HDST__U64, 0);
    const uint32_t d = hdst__ir_add_var(f, "d", HDST__F32, 0), i = hdst__ir_add_var(f, "i", HDST__U64, 0), e = hdst__ir_add_var(f, "e", HDST__F32, 0);
    const uint32_t i2 = hdst__ir_add_var(f, "i", HDST__U64, 0);
    set(f, &f->body, best_d, hdst__ir_const(f, HDST__F32, f32(INFINITY)));
    ir_stmt *centers = loop(f, &f->body, j, u64(f, 0), special(f, IR_LENGTH, c));
    set(f, &centers->body, d, hdst__ir_const(f, HDST__F32, 0));
    ir_stmt *dims = loop(f, &centers->body, i, u64(f, 0), u64(f, DIM));
    set(f, &dims->body, e, op(f, IR_SUB, leaf(f, IR_FIELD, p, 0, var(f, i), NULL), leaf(f, IR_BROADCAST, c, 0, var(f, j), var(f, i))));
    ir_expr *fma = op(f, IR_MUL, var(f, e), var(f, e));
    fma->op = IR_FMA;
    fma->c = var(f, d);
    set(f, &dims->body, d, fma);
    ir_stmt *nearer = branch(f, &centers->body, op(f, IR_LT, var(f, d), var(f, best_d)));
    set(f, &nearer->then, best_d, var(f, d));
    set(f, &nearer->then, best, hdst__ir_convert(f, HDST__U32, var(f, j)));
    ir_stmt *add_up = loop(f, &f->body, i2, u64(f, 0), u64(f, DIM));
    accumulate(f, &add_up->body, t, 0, wide(f, var(f, best)), var(f, i2), leaf(f, IR_FIELD, p, 0, var(f, i2), NULL));
    accumulate(f, &f->body, t, 1, wide(f, var(f, best)), NULL, u32(f, 1));
    accumulate(f, &f->body, in, 0, NULL, NULL, hdst__ir_convert(f, HDST__F64, var(f, best_d)));
    expect_sound(f);
    return f;
}

static float random_float(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((int64_t)(*state >> 33) - (1 << 30)) * 0x1p-28f;
}

// Sums of floats below 2^3 with last bits above 2^-60 are exact in a long double of 64 bits for a thousand of them.
static void kmeans_in_c(const point *p, const point *c, total *t, double *inertia)
{
    long double x[CENTERS][DIM] = {{0}}, all = 0;
    for (int i = 0; i < POINTS; i++) {
        float best_d = INFINITY;
        uint32_t best = 0;
        for (uint32_t j = 0; j < CENTERS; j++) {
            const float e0 = p[i].x[0] - c[j].x[0], e1 = p[i].x[1] - c[j].x[1];
            const float d = fmaf(e1, e1, fmaf(e0, e0, 0));
            if (d < best_d) {
                best_d = d;
                best = j;
            }
        }
        for (int k = 0; k < DIM; k++) x[best][k] += p[i].x[k];
        t[best].n++;
        all += best_d;
    }
    for (int j = 0; j < CENTERS; j++)
        for (int k = 0; k < DIM; k++) t[j].x[k] = (float)x[j][k];
    *inertia = (double)all;
}

static uint64_t read_word_sum(const hdst__tables *tables, const uint64_t *rows, const int64_t *table, size_t accum, uint64_t row, uint32_t l, uint64_t e)
{
    const hdst__accum *a = &tables->accum[accum];
    const hdst__cell *cell = &a->cell[l];
    const int64_t *word = table + hdst__tables_device_first(tables, rows, accum) + row * a->device_row_words + cell->device_first + e * cell->device_words;
    return cell->digits ? hdst__superaccumulator_round(word, cell->kind) : (uint64_t)*word;
}

static void run_kmeans(hdst__layout layout, uint64_t block, uint64_t skip)
{
    const ir_func *f = kmeans();
    point points[POINTS], centers[CENTERS];
    uint64_t state = 1;
    for (int i = 0; i < POINTS; i++) points[i] = (point){{random_float(&state), random_float(&state)}};
    for (int j = 0; j < CENTERS; j++) centers[j] = (point){{random_float(&state), random_float(&state)}};
    const hdst__record *record = f->params[0].record;
    const hdst__storage *plain = hdst__storage_make(&arena, record, HDST__AOS, 0, POINTS),
                        *storage = hdst__storage_make(&arena, record, layout, block, POINTS + skip);
    const void *plain_buffers[1] = {points};
    void **buffers = HDST__NEW_ARRAY(&arena, void *, storage->buffers);
    for (uint32_t b = 0; b < storage->buffers; b++) buffers[b] = hdst__arena_alloc(&arena, storage->buffer_bytes[b]);
    hdst__storage_copy(storage, buffers, skip, plain, plain_buffers, 0, POINTS);

    const uint64_t rows[4] = {0, 0, CENTERS, 1};
    const hdst__interp_table broadcast[4] = {{0}, {centers, CENTERS}};
    const hdst__tables *tables = hdst__ir_accum_tables(&arena, f, NULL);
    hdst__interp_run run = {.func = f, .input = {storage}, .input_buffers = {(const void *const *)buffers}, .input_skip = {skip}, .count = POINTS,
                            .broadcast = broadcast, .accum_rows = rows, .tables = tables};
    run.device_table = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(tables, rows));
    hdst__addends addends[2] = {{0}};
    run.addends = addends;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__interpret(&run, &error), HDST_OK, "%s", error.message);
    cr_expect_eq(run.failed_record, UINT64_MAX);

    total expected[CENTERS] = {{{0}, 0}};
    double inertia;
    kmeans_in_c(points, centers, expected, &inertia);
    for (uint64_t j = 0; j < CENTERS; j++) {
        for (uint64_t k = 0; k < DIM; k++) cr_expect_eq(read_word_sum(tables, rows, run.device_table, 0, j, 0, k), f32(expected[j].x[k]));
        cr_expect_eq(read_word_sum(tables, rows, run.device_table, 0, j, 1, 0), expected[j].n);
    }
    uint64_t bits;
    memcpy(&bits, &inertia, 8);
    cr_expect_eq(read_word_sum(tables, rows, run.device_table, 1, 0, 0, 0), bits);
    cr_expect_eq(addends[0].count, POINTS * DIM);
    cr_expect_leq(addends[0].highest, 2);
}

Test(interp, kmeans_array_of_structs) { run_kmeans(HDST__AOS, 0, 0); }
Test(interp, kmeans_struct_of_arrays) { run_kmeans(HDST__SOA, 0, 64); }
Test(interp, kmeans_blocks_of_64) { run_kmeans(HDST__AOSOA, 64, 128); }
Test(interp, kmeans_arrays_of_pointers) { run_kmeans(HDST__AOP, 0, 0); }

// --- Masks: every way out of a loop, on lanes that differ ---

typedef struct number { uint32_t v; } number;

static uint32_t ways_out(uint32_t v)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < v % 13; i++) {
        if (i == 5 && v % 3 == 0) break;
        if (i % 2 == v % 2) continue;
        if (v % 7 == 6 && i == 4) return 1000 + sum;
        for (uint32_t j = i; j < 20; j++) {
            if (j * i > v % 50) break;
            sum += j;
        }
        sum += i * v;
    }
    while (sum % 5 != 0) {
        sum++;
        if (sum % 11 == 0) break;
        if (sum % 3 == 0) continue;
        sum += v;
    }
    return sum;
}

static ir_expr *rem(ir_func *f, uint32_t v, uint64_t by) { return op(f, IR_REM, var(f, v), u32(f, by)); }

static ir_func *ways_out_func(void)
{
    ir_func *f = new_func();
    const field fields[] = {{"v", HDST__U32, 0}};
    const uint32_t in = add_param(f, IR_INPUT, "a", make_record("number", fields, 1), false),
                   out = add_param(f, IR_OUTPUT, "result", f->params[0].record, false);
    const uint32_t v = hdst__ir_add_var(f, "v", HDST__U32, 0), sum = hdst__ir_add_var(f, "sum", HDST__U32, 0), i = hdst__ir_add_var(f, "i", HDST__U32, 0);
    const uint32_t j = hdst__ir_add_var(f, "j", HDST__U32, 0);
    set(f, &f->body, v, leaf(f, IR_FIELD, in, 0, NULL, NULL));
    ir_stmt *outer = loop(f, &f->body, i, u32(f, 0), rem(f, v, 13));
    ir_stmt *stop = branch(f, &outer->body, op(f, IR_AND, op(f, IR_EQ, var(f, i), u32(f, 5)), op(f, IR_EQ, rem(f, v, 3), u32(f, 0))));
    add(f, &stop->then, IR_BREAK);
    ir_stmt *skip = branch(f, &outer->body, op(f, IR_EQ, rem(f, i, 2), rem(f, v, 2)));
    add(f, &skip->then, IR_CONTINUE);
    ir_stmt *leave = branch(f, &outer->body, op(f, IR_AND, op(f, IR_EQ, rem(f, v, 7), u32(f, 6)), op(f, IR_EQ, var(f, i), u32(f, 4))));
    store(f, &leave->then, out, 0, op(f, IR_ADD, u32(f, 1000), var(f, sum)));
    add(f, &leave->then, IR_RETURN);
    ir_stmt *inner = loop(f, &outer->body, j, var(f, i), u32(f, 20));
    ir_stmt *enough = branch(f, &inner->body, op(f, IR_GT, op(f, IR_MUL, var(f, j), var(f, i)), rem(f, v, 50)));
    add(f, &enough->then, IR_BREAK);
    set(f, &inner->body, sum, op(f, IR_ADD, var(f, sum), var(f, j)));
    set(f, &outer->body, sum, op(f, IR_ADD, var(f, sum), op(f, IR_MUL, var(f, i), var(f, v))));
    ir_stmt *again = add(f, &f->body, IR_LOOP);
    again->cond = op(f, IR_NE, rem(f, sum, 5), u32(f, 0));
    set(f, &again->body, sum, op(f, IR_ADD, var(f, sum), u32(f, 1)));
    ir_stmt *eleven = branch(f, &again->body, op(f, IR_EQ, rem(f, sum, 11), u32(f, 0)));
    add(f, &eleven->then, IR_BREAK);
    ir_stmt *three = branch(f, &again->body, op(f, IR_EQ, rem(f, sum, 3), u32(f, 0)));
    add(f, &three->then, IR_CONTINUE);
    set(f, &again->body, sum, op(f, IR_ADD, var(f, sum), var(f, v)));
    store(f, &f->body, out, 0, var(f, sum));
    expect_sound(f);
    return f;
}

static hdst__interp_run run_numbers(const ir_func *f, const number *numbers, uint64_t count, void *output)
{
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, count);
    const void **buffers = HDST__NEW_ARRAY(&arena, const void *, 1);
    buffers[0] = numbers;
    hdst__interp_run run = {.func = f, .input = {storage, storage}, .input_buffers = {buffers, buffers}, .count = count, .output = output};
    return run;
}

Test(interp, break_continue_and_return_of_lanes_that_differ)
{
    enum { N = 777 };
    number in[N], out[N];
    for (uint32_t i = 0; i < N; i++) in[i].v = i * i + 3;
    hdst__interp_run run = run_numbers(ways_out_func(), in, N, out);
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    for (uint32_t i = 0; i < N; i++) cr_expect_eq(out[i].v, ways_out(in[i].v), "v = %u: %u", in[i].v, out[i].v);
}

// Two loops of v turns, one in the other: emits in each turn of the inner one, or stores how many there were.
static ir_func *turning_func(bool emits)
{
    ir_func *f = new_func();
    const field fields[] = {{"v", HDST__U32, 0}};
    const uint32_t in = add_param(f, IR_INPUT, "a", make_record("number", fields, 1), false);
    const uint32_t out = add_param(f, IR_OUTPUT, "result", f->params[0].record, false);
    const uint32_t i = hdst__ir_add_var(f, "i", HDST__U32, 0), j = hdst__ir_add_var(f, "j", HDST__U32, 0), sum = hdst__ir_add_var(f, "sum", HDST__U32, 0);
    ir_stmt *outer = loop(f, &f->body, i, u32(f, 0), leaf(f, IR_FIELD, in, 0, NULL, NULL));
    ir_stmt *inner = loop(f, &outer->body, j, u32(f, 0), leaf(f, IR_FIELD, in, 0, NULL, NULL));
    set(f, &inner->body, sum, op(f, IR_ADD, var(f, sum), u32(f, 1)));
    if (emits) add(f, &inner->body, IR_EMIT);
    f->emits = emits;
    if (!emits) store(f, &f->body, out, 0, var(f, sum));
    expect_sound(f);
    return f;
}

Test(interp, loops_end_where_enough_was_seen)
{
    number in[3] = {{2}, {3000}, {7}}, out[3];
    hdst__interp_run run = run_numbers(turning_func(false), in, 3, out);
    run.most_turns = 20;            // all in the first turn of the outer loop
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    cr_expect(out[0].v == 2 && out[1].v == 20 && out[2].v == 7, "%u %u %u", out[0].v, out[1].v, out[2].v);
    run = run_numbers(turning_func(true), in, 3, NULL);
    run.most_emitted = 1000;
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    cr_expect(run.emitted >= 1000 && run.emitted < 1003, "%llu", (unsigned long long)run.emitted);
    run = run_numbers(turning_func(true), in + 2, 1, NULL);
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    cr_expect_eq(run.emitted, 49, "any number");
}

// --- Local arrays, const arrays, filters ---

Test(interp, local_arrays_are_indexed_by_lane)
{
    ir_func *f = new_func();
    const field fields[] = {{"v", HDST__U32, 0}};
    const uint32_t in = add_param(f, IR_INPUT, "a", make_record("number", fields, 1), false),
                   out = add_param(f, IR_OUTPUT, "result", f->params[0].record, false);
    const uint32_t a = hdst__ir_add_var(f, "a", HDST__U32, 8), c = hdst__ir_add_var(f, "c", HDST__U32, 4), v = hdst__ir_add_var(f, "v", HDST__U32, 0);
    static const uint64_t constants[4] = {10, 20, 30, 40};
    f->vars[c].init = constants;
    set(f, &f->body, v, leaf(f, IR_FIELD, in, 0, NULL, NULL));
    ir_stmt *put = add(f, &f->body, IR_SET_ELEM);       // a[v % 8] = v
    put->var = a;
    put->index = wide(f, rem(f, v, 8));
    put->value = var(f, v);
    ir_expr *first = hdst__ir_unary(f, IR_ELEM, HDST__U32, u64(f, 3)), *constant = hdst__ir_unary(f, IR_ELEM, HDST__U32, wide(f, rem(f, v, 4)));
    first->var = a;
    constant->var = c;
    store(f, &f->body, out, 0, op(f, IR_ADD, first, constant));
    expect_sound(f);
    enum { N = 300 };
    number numbers[N], result[N];
    for (uint32_t i = 0; i < N; i++) numbers[i].v = i;
    hdst__interp_run run = run_numbers(f, numbers, N, result);
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    for (uint32_t i = 0; i < N; i++) cr_expect_eq(result[i].v, (i % 8 == 3 ? i : 0) + constants[i % 4]);
}

Test(interp, a_filter_emits_what_it_keeps)
{
    ir_func *f = new_func();
    const field fields[] = {{"v", HDST__U32, 0}};
    const uint32_t in = add_param(f, IR_INPUT, "a", make_record("number", fields, 1), false);
    ir_stmt *keep = add(f, &f->body, IR_EMIT);
    keep->cond = op(f, IR_LT, op(f, IR_REM, leaf(f, IR_FIELD, in, 0, NULL, NULL), u32(f, 10)), u32(f, 3));
    f->emits = true;
    expect_sound(f);
    enum { N = 600 };
    number numbers[N];
    uint32_t kept[N];
    for (uint32_t i = 0; i < N; i++) numbers[i].v = i;
    hdst__interp_run run = run_numbers(f, numbers, N, NULL);
    run.emits_of = kept;
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    for (uint32_t i = 0; i < N; i++) cr_expect_eq(kept[i], i % 10 < 3);
    cr_expect_eq(run.emitted, N / 10 * 3);
}

// --- Checks ---

static ir_func *checked_func(hdst__diags *diags)
{
    static const char text[] = "map f(number a) -> number\n{\n    return c[a.v];\n}\n";
    hdst__diags_init(diags, &arena);
    const uint32_t source = hdst__diags_add_source(diags, "check.hk", text, strlen(text));
    ir_func *f = new_func();
    f->diags = diags;
    const field fields[] = {{"v", HDST__U32, 0}};
    const uint32_t in = add_param(f, IR_INPUT, "a", make_record("number", fields, 1), false),
                   c = add_param(f, IR_BROADCAST_TABLE, "c", f->params[0].record, true);
    const uint32_t out = add_param(f, IR_OUTPUT, "result", f->params[0].record, false);
    ir_expr *index = wide(f, leaf(f, IR_FIELD, in, 0, NULL, NULL)), *limit = special(f, IR_LENGTH, c);
    const hdst__span where = {source, (uint32_t)(strstr(text, "c[") - text), 6};
    ir_stmt *check = hdst__ir_stmt(f, IR_CHECK, where);
    check->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_TABLE_INDEX, .span = where, .what = "c"});
    check->index = index;
    check->index2 = limit;
    check->cond = op(f, IR_LT, hdst__ir_copy(f, index), hdst__ir_copy(f, limit));
    push(f, &f->body, check);
    ir_stmt *divide = hdst__ir_stmt(f, IR_CHECK, where);
    divide->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_DIVISION, .span = where});
    divide->cond = op(f, IR_NE, leaf(f, IR_FIELD, in, 0, NULL, NULL), u32(f, 13));
    push(f, &f->body, divide);
    store(f, &f->body, out, 0, leaf(f, IR_BROADCAST, c, 0, hdst__ir_copy(f, index), NULL));
    expect_sound(f);
    return f;
}

static hdst__interp_run run_checked(const ir_func *f, uint32_t at, uint32_t bad, uint32_t also_at, uint32_t also_bad)
{
    static number numbers[600], result[600], table[50];
    static const hdst__interp_table broadcast[3] = {{0}, {table, 50}};
    for (uint32_t i = 0; i < 600; i++) numbers[i].v = i % 12;
    numbers[also_at].v = also_bad;
    numbers[at].v = bad;
    hdst__interp_run run = run_numbers(f, numbers, 600, result);
    run.broadcast = broadcast;
    run.first = 1048576;
    cr_assert_eq(hdst__interpret(&run, NULL), HDST_OK);
    return run;
}

Test(interp, the_smallest_failing_record_is_reported_with_its_values)
{
    hdst__diags diags;
    const ir_func *f = checked_func(&diags);
    hdst__interp_run run = run_checked(f, 0, 3, 0, 3);
    cr_expect_eq(run.failed_record, UINT64_MAX);
    run = run_checked(f, 40, 13, 70, 53);       // the later record fails the earlier check
    cr_expect_eq(run.failed_record, 1048576 + 40);
    cr_expect_eq(run.failed_check, 1);
    run = run_checked(f, 300, 53, 500, 99);
    cr_expect_eq(run.failed_record, 1048576 + 300);
    cr_expect_eq(run.failed_check, 0);
    cr_expect_eq(run.failed_index, 53);
    cr_expect_eq(run.failed_limit, 50);
}

Test(interp, the_message_names_place_values_and_record)
{
    hdst__diags diags;
    const ir_func *f = checked_func(&diags);
    const hdst__interp_run run = run_checked(f, 1, 53, 1, 53);
    hdst_error error = HDST_ERROR_INIT;
    hdst__check_to_error(f, run.failed_check, run.failed_index, run.failed_limit, NULL, run.failed_record, &error);
    cr_expect_eq(error.code, HDST_E_RECORD);
    cr_expect_str_eq(error.message, "index 53 out of range 0..49 in record 1,048,577");
    cr_expect_str_eq(error.file, "check.hk");
    cr_expect_eq(error.line, 3);
    cr_expect_eq(error.column, 12);
    cr_expect_eq(error.record, 1048577);
    hdst__check_to_error(f, 0, (uint64_t)-3, 50, NULL, 7, &error);
    cr_expect_str_eq(error.message, "index -3 out of range 0..49 in record 7");
    hdst__check_to_error(f, 0, 0, 0, NULL, 999, &error);
    cr_expect_str_eq(error.message, "index 0 out of range: c has no rows in record 999");
    hdst__check_to_error(f, 1, 0, 0, NULL, 12345, &error);
    cr_expect_str_eq(error.message, "division by zero in record 12,345");
}

Test(interp, block_form_in_scalar_form_is_refused_not_misread)
{
    ir_func *f = new_func();
    add(f, &f->body, IR_RECORDS);
    hdst__interp_run run = {.func = f};
    hdst_error error = HDST_ERROR_INIT;
    cr_expect_eq(hdst__interpret(&run, &error), HDST_E_INTERNAL);
}

static void *refuse(size_t bytes, void *user)
{
    int *left = user;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}

static void give_back(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

Test(interp, every_failed_allocation_is_reported)
{
    number in[10] = {{1}}, out[10];
    hdst__interp_run run = run_numbers(ways_out_func(), in, 10, out);
    for (int allowed = 0; allowed < 20; allowed++) {
        int left = allowed;
        const hdst__allocator allocator = {refuse, NULL, give_back, &left};
        run.allocator = &allocator;
        hdst_error error = HDST_ERROR_INIT;
        const hdst_status status = hdst__interpret(&run, &error);
        if (status == HDST_OK) return;
        cr_expect_eq(status, HDST_E_MEMORY);
    }
    cr_assert_fail("never succeeded");
}

// A record that fails far behind the first block is not come to.
Test(interp, what_is_cancelled_goes_no_further)
{
    enum { N = 100000 };
    static number numbers[N], table[50], result[N];
    static const hdst__interp_table broadcast[3] = {{0}, {table, 50}};
    hdst__diags diags;
    hdst__cancel cancel = {0};
    hdst_error error = HDST_ERROR_INIT;
    numbers[N - 1].v = 53;
    hdst__interp_run run = run_numbers(checked_func(&diags), numbers, N, result);
    run.broadcast = broadcast;
    run.cancel = &cancel;
    hdst__cancel_begin(&cancel);
    cr_assert_eq(hdst__interpret(&run, &error), HDST_OK);
    cr_expect_eq(run.failed_record, N - 1);
    hdst__cancel_ask(&cancel);
    cr_expect_eq(hdst__interpret(&run, &error), HDST_E_CANCELLED);
    cr_expect_eq(run.failed_record, UINT64_MAX);
    hdst__cancel_end(&cancel);
}
