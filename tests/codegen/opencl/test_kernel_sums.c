// SPDX-License-Identifier: Apache-2.0
// Accumulators of printed kernels on PoCL, in both forms, against the interpreter (which is tested against big integers): every law and kind, addends over
// 200 binades with denormals and cancellation, every precision class, scales that are right, too fine and too coarse, flushes after few records, several
// strips and
// work-groups.
#include "accum/reduce.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"
#include "accum/fixed_point.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel_sums, .init = set_up, .fini = tear_down);

enum { N = 3000, ROWS = 3, LEAVES = 14 };

// What a record is and what is kept of it.
static const ir_field input_fields[] = {{"f", HDST__F32, 0}, {"d", HDST__F64, 0}, {"key", HDST__U32, 0},
                                        {"n", HDST__I32, 0}, {"b", HDST__I8, 0},  {"u", HDST__U64, 0}};
typedef struct input { float f; double d; uint32_t key; int32_t n; int8_t b; uint64_t u; } input;

static const struct { const char *name; hdst__kind kind; hdst__accumulate_op acc; uint32_t from; } kept[LEAVES] = {
    {"f", HDST__F32, HDST__SUM, 0}, {"d", HDST__F64, HDST__SUM, 1}, {"n", HDST__I32, HDST__SUM, 3}, {"u", HDST__U64, HDST__SUM, 5},
    {"f_min", HDST__F32, HDST__MIN, 0}, {"f_max", HDST__F32, HDST__MAX, 0}, {"d_min", HDST__F64, HDST__MIN, 1}, {"d_max", HDST__F64, HDST__MAX, 1},
    {"n_min", HDST__I32, HDST__MIN, 3}, {"b_max", HDST__I8, HDST__MAX, 4}, {"u_max", HDST__U64, HDST__MAX, 5}, {"u_and", HDST__U64, HDST__AND, 5},
    {"n_or", HDST__I32, HDST__OR, 3}, {"b_xor", HDST__I8, HDST__XOR, 4},
};

static uint32_t add_accum(ir_func *f, const char *name, bool is_table)
{
    ir_field fields[LEAVES];
    for (int l = 0; l < LEAVES; l++) fields[l] = (ir_field){kept[l].name, kept[l].kind, 0};
    const uint32_t param = ir_param_add(f, IR_ACCUM_TABLE, name, ir_record(&arena, name, 0, fields, LEAVES), is_table);
    f->params[param].leaf_op = HDST__NEW_ARRAY(&arena, hdst__accumulate_op, LEAVES);
    for (int l = 0; l < LEAVES; l++) f->params[param].leaf_op[l] = kept[l].acc;
    return param;
}

// Every law into a table by key and into one row.
static ir_func *make_func(void)
{
    ir_func *f = ir_new(&arena, "keep_all");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "input", 0, input_fields, 6), false);
    const uint32_t table = add_accum(f, "t", true), all = add_accum(f, "all", false);
    for (uint32_t l = 0; l < LEAVES; l++) {
        ir_accumulate(f, &f->body, table, l, ir_read(f, IR_FIELD, 0, 2, NULL, NULL), NULL, ir_read(f, IR_FIELD, 0, kept[l].from, NULL, NULL));
        ir_accumulate(f, &f->body, all, l, NULL, NULL, ir_read(f, IR_FIELD, 0, kept[l].from, NULL, NULL));
    }
    return f;
}

static uint64_t random_bits(uint64_t *state)      // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

// Pairs that cancel, over 200 binades of float and 2000 of double, with denormals.
static void fill(input *in, bool special)
{
    uint64_t state = 42;
    for (int i = 0; i < N; i++) {
        const double mantissa = (double)(random_bits(&state) >> 11) / 9007199254740992.0 + 0.5;
        const bool wild = random_bits(&state) % 4 == 0;
        in[i].f = ldexpf((float)mantissa, wild ? (int)(random_bits(&state) % 230) - 140 : (int)(random_bits(&state) % 4));
        in[i].d = ldexp(mantissa, wild ? (int)(random_bits(&state) % 2000) - 1060 : (int)(random_bits(&state) % 4));
        if (i % 2) in[i].f = -in[i - 1].f, in[i].d = -in[i - 1].d;
        if (random_bits(&state) % 8 == 0) in[i].f = ldexpf(in[i].f, -3);
        in[i].key = (uint32_t)(random_bits(&state) % ROWS);
        in[i].n = (int32_t)random_bits(&state);
        in[i].b = (int8_t)random_bits(&state);
        in[i].u = random_bits(&state);
    }
    if (!special) return;
    in[100].f = NAN, in[100].key = 0;
    in[200].f = INFINITY, in[201].f = INFINITY, in[200].key = in[201].key = 1;
    in[300].d = -INFINITY, in[300].key = 1;
    in[400].d = INFINITY, in[401].d = -INFINITY, in[400].key = in[401].key = 2;
}

// Digits that stand just below where they must pass a carry on.
static void fill_digits(const hdst__tables *tables, const uint64_t *rows, int64_t *table)
{
    for (size_t a = 0; a < tables->accum_count; a++)
        for (uint64_t r = 0; r < hdst__accum_rows(&tables->accum[a], rows); r++)
            for (int l = 0; l < 2; l++)
                for (uint32_t digit = 0; digit + 1 < tables->accum[a].cell[l].digits; digit++)
                    table[hdst__tables_device_first(tables, rows, a) + r * tables->accum[a].device_row_words + tables->accum[a].cell[l].device_first + digit] =
                        (digit + r) % 2 ? INT64_MAX / 2 - 5 : 5 - INT64_MAX / 2;
}

static bool nearly_full;        // start from fill_digits
static uint64_t local_bytes = 48 << 10;

static void check(int form, const hdst__precision_class *classes, const int32_t *scales, uint64_t flush, bool special)
{
    ir_func *f = make_func();
    cr_assert_null(hdst__passes_scalar(f));
    input *in = HDST__NEW_ARRAY(&arena, input, N);
    fill(in, special);
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, N);
    const uint64_t rows[] = {0, ROWS, 1};
    const hdst__target_facts facts = {form ? HDST__TARGET_GPU : HDST__TARGET_CPU, local_bytes, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = storage, .rows = rows, .classes = classes};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
    cr_assert_not_null(kernel);
    const uint64_t words = hdst__tables_device_words(kernel->tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, words), *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    if (nearly_full) fill_digits(kernel->tables, rows, device), fill_digits(kernel->tables, rows, reference);
    void *buffers[] = {in};
    void *made[2];
    for (int a = 0; a < 2; a++) made[a] = HDST__NEW_ARRAY(&arena, char, f->params[1 + a].record->size * (a ? 1 : ROWS));
    kernel_case c = {.kernel = kernel,
                     .func = f,
                     .input = storage,
                     .input_buffers = buffers,
                     .count = N,
                     .rows = rows,
                     .scales = scales,
                     .flush = flush,
                     .groups = 3,
                     .finished = made,
                     .device_table = device};
    cr_assert(kernel_run(&run, &c));
    hdst__interp_run interp = {.func = f,
                               .input = {storage},
                               .input_buffers = {(const void *const[]){in}},
                               .count = N,
                               .accum_rows = rows,
                               .tables = kernel->tables,
                               .device_table = reference};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    for (uint32_t a = 0; a < 2 && kernel->finish_name; a++) {
        const hdst__record *record = f->params[1 + a].record;
        char *wanted = HDST__NEW_ARRAY(&arena, char, record->size * ROWS);
        hdst__table_read_rows(kernel->tables, rows, reference, a, record, 0, a ? 1 : ROWS, wanted);
        for (uint32_t l = 0; l < LEAVES; l++)
            for (uint64_t r = 0; r < (a ? 1 : ROWS); r++)
                cr_expect_arr_eq((char *)made[a] + r * record->size + record->leaves[l].offset,
                                 wanted + r * record->size + record->leaves[l].offset,
                                 hdst__scalar_size(record->leaves[l].kind), "row %u %s, rounded by the kernel",
                                 (unsigned)r, kept[l].name);
    }
    for (uint32_t a = 0; a < 2; a++)
        for (uint64_t r = 0; r < (a ? 1 : ROWS); r++)
            for (uint32_t l = 0; l < LEAVES; l++) {
                const uint64_t got = hdst__table_read(kernel->tables, rows, device, a, r, l, 0),
                               want = hdst__table_read(kernel->tables, rows, reference, a, r, l, 0);
                cr_expect_eq(got, want, "form %d accumulator %u row %u %s: %llx, not %llx", form, a, (unsigned)r, kept[l].name, (unsigned long long)got,
                             (unsigned long long)want);
            }
}

static const int32_t good[] = {32, 32, 32, 32}, fine[] = {86, 900, 60, 300}, coarse[] = {-100, -1000, -20, -20};

Test(kernel_sums, every_law_has_the_interpreters_bits_in_the_form_for_cpu_devices)
{
    check(0, NULL, good, 1 << 23, false);
}

Test(kernel_sums, every_law_has_the_interpreters_bits_in_the_form_for_gpus)
{
    check(1, NULL, good, 1 << 23, false);
}

Test(kernel_sums, nan_and_infinities_come_out_as_such)
{
    check(0, NULL, good, 1 << 23, true);
    check(1, NULL, good, 1 << 23, true);
}

Test(kernel_sums, no_scale_changes_a_bit)
{
    for (int form = 0; form < 2; form++) {
        check(form, NULL, fine, 1 << 23, true);
        check(form, NULL, coarse, 1 << 23, false);
        check(form, NULL, (const int32_t[]){1000, -5000, 0, 5000}, 1 << 23, false);
    }
}

Test(kernel_sums, no_precision_class_changes_a_bit)
{
    static const hdst__precision_class swapped[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_ONE_WORD, HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_SUPERACCUMULATOR},
                            mixed[] = {HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_TWO_WORDS, HDST__CLASS_TWO_WORDS, HDST__CLASS_ONE_WORD};
    for (int form = 0; form < 2; form++) {
        check(form, swapped, good, 1 << 23, true);
        check(form, mixed, good, 1 << 23, false);
    }
}

Test(kernel_sums, flushes_after_few_records_change_no_bit)
{
    check(0, NULL, good, 1, false);
    check(0, NULL, good, 300, true);
    check(1, NULL, good, 1, true);
}

Test(kernel_sums, digits_that_are_nearly_full_carry)
{
    static const hdst__precision_class wide[] = {HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_ONE_WORD, HDST__CLASS_TWO_WORDS};
    nearly_full = true;
    check(0, wide, good, 1 << 23, false);
    check(1, wide, good, 1 << 23, false);
}

Test(kernel_sums, tables_that_work_groups_share_in_device_memory_hold_every_law)
{
    static const hdst__precision_class mixed[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_ONE_WORD, HDST__CLASS_ONE_WORD};
    local_bytes = 256;
    check(1, NULL, good, 1 << 23, true);
    check(1, mixed, coarse, 1 << 23, false);
}

// `adds` additions of each record to one sum, of which those numbered 0, `apart`, 2 * apart ... are great in one
// record of `every`: as great as a lane's running sum takes at this scale.
static const char *sum_great(int adds, int apart, int every)
{
    enum { LANES = 16, RECORDS = LANES * 300 };
    typedef struct two { float great, none; } two;
    ir_func *f = ir_new(&arena, "great");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "two", 0, (ir_field[]){{"great", HDST__F32, 0}, {"none", HDST__F32, 0}}, 2), false);
    const uint32_t all = ir_param_add(f, IR_ACCUM_TABLE, "all", ir_record(&arena, "sum", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), false);
    for (int i = 0; i < adds; i++) ir_accumulate(f, &f->body, all, 0, NULL, NULL, ir_read(f, IR_FIELD, 0, i % apart > 0, NULL, NULL));
    cr_assert_null(hdst__passes_scalar(f));
    two *in = HDST__NEW_ARRAY(&arena, two, RECORDS);
    double exact = 0;
    for (int i = 0; i < RECORDS; i++) {
        in[i].great = i / LANES % every ? 0 : 0x1.ff8p24f;
        exact += (double)in[i].great * ((adds + apart - 1) / apart);
    }
    const hdst__storage *storage = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, RECORDS);
    const hdst__target_facts facts = {HDST__TARGET_GPU, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = storage, .rows = (uint64_t[]){0, 1}, .shape = {.group = LANES, .records = 1}};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
    cr_assert(kernel && strstr(kernel->source, "lane_add("));
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(kernel->tables, options.rows));
    float sum = 0;
    kernel_case c = {.kernel = kernel,
                     .func = f,
                     .input = storage,
                     .input_buffers = (void *[]){in}, .count = RECORDS, .rows = options.rows,
                     .scales = (int32_t[]){20}, .flush = HDST__FLUSH_ADDS / (uint64_t)adds, .groups = 1,
                     .finished = (void *[]){&sum},
                     .device_table = device};
    cr_assert(kernel_run(&run, &c));
    cr_assert_eq(sum, (float)exact, "%d additions, great ones %d apart in one record of %d: %a, %a is right", adds, apart, every, (double)sum, exact);
    return kernel->source;
}

// In 1024 additions, which words in fixed point have room for, a lane's word would run over in each of these.
Test(kernel_sums, great_addends_that_fill_a_lanes_word)
{
    cr_assert_null(strstr(sum_great(5, 5, 6), "lane_room("), "the group merges soon enough");
    cr_assert_null(strstr(sum_great(17, 17, 1), "lane_room("), "the group merges soon enough");
    cr_assert_not_null(strstr(sum_great(68, 32, 1), "lane_room("), "a record has too many additions for that");
}
