// SPDX-License-Identifier: Apache-2.0
// Printed kernels on PoCL, both forms, against the interpreter: the same bits.
#include "accum/reduce.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel, .init = set_up, .fini = tear_down);

static const hdst__target_facts facts_of[] = {
    {HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, false},
    {HDST__TARGET_GPU, 48 << 10, 1024, 2, true, true, true, false},
};

enum { RECORDS = 1000, SKIP = 64, ROWS = 5 };

static uint64_t layout_block = 64;      // of AoSoA

// Mostly small integers times 2^-5; now and then 2^-60 of them (does not fit the scale), a denormal, NaN and infinities.
static float *make_points(bool special)
{
    float *x = HDST__NEW_ARRAY(&arena, float, 2 * RECORDS);
    srand(7);
    for (int i = 0; i < 2 * RECORDS; i++) x[i] = ldexpf((float)(rand() % 20000 - 10000), i % 7 == 0 ? -60 : i % 11 == 0 ? -149 : i % 13 == 0 ? 100 : -5);
    if (special) x[20] = NAN, x[31] = INFINITY, x[500] = -INFINITY, x[501] = INFINITY;
    return x;
}

static void *page(uint64_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
    cr_assert_not_null(memory);
    memset(memory, 0, bytes);
    return memory;
}

// Runs KMeans from one layout in one form with one flush limit; every cell must have the interpreter's bits.
static void check_kmeans(hdst__layout layout, int form, uint64_t flush, bool special, bool portable)
{
    static const float centers[ROWS][2] = {{0, 0}, {100, 100}, {-100, 50}, {200, -200}, {-200, -100}};
    const uint64_t rows[] = {0, ROWS, ROWS, 1};
    const int32_t scales[] = {20, 10};
    const hdst__interp_table broadcast[] = {{0}, {centers, ROWS}, {0}, {0}};
    ir_func *f = ir_kmeans(&arena);
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *rows_of_points = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, RECORDS);
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, layout, layout_block, RECORDS + SKIP);
    float *x = make_points(special);
    void *buffers[] = {page(input->buffer_bytes[0])};
    hdst__storage_copy(input, buffers, SKIP, rows_of_points, (const void *const[]){x}, 0, RECORDS);

    hdst__target_facts facts = facts_of[form];
    facts.portable = portable || cl_run_is_simulated(&run);
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = rows};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
    cr_assert_not_null(kernel);
    int64_t device[ROWS * 21 + 67] = {0}, reference[ROWS * 21 + 67] = {0};
    kernel_case c = {.kernel = kernel,
                     .func = f,
                     .input = input,
                     .input_buffers = buffers,
                     .skip = SKIP,
                     .count = RECORDS,
                     .broadcast = broadcast,
                     .rows = rows,
                     .scales = scales,
                     .flush = flush,
                     .groups = 3,
                     .device_table = device};
    cr_assert(kernel_run(&run, &c));
    hdst__interp_run interp = {.func = f, .input = {rows_of_points}, .input_buffers = {(const void *const[]){x}}, .count = RECORDS, .broadcast = broadcast,
                               .accum_rows = rows, .tables = kernel->tables, .device_table = reference};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    for (uint64_t r = 0; r < ROWS; r++)
        for (uint64_t cell = 0; cell < 3; cell++)
            cr_expect_eq(hdst__table_read(kernel->tables, rows, device, 0, r, cell == 2, cell == 1),
                         hdst__table_read(kernel->tables, rows, reference, 0, r, cell == 2, cell == 1), "layout %d form %d row %d cell %d", (int)layout, form,
                         (int)r, (int)cell);
    cr_expect_eq(hdst__table_read(kernel->tables, rows, device, 1, 0, 0, 0), hdst__table_read(kernel->tables, rows, reference, 1, 0, 0, 0), "inertia");
    free(buffers[0]);
}

Test(kernel, kmeans_of_arrays_of_structs_has_the_interpreters_bits)
{
    check_kmeans(HDST__AOS, 0, 1 << 23, false, false);
    check_kmeans(HDST__AOS, 1, 1 << 23, false, false);
}

Test(kernel, kmeans_of_structs_of_arrays_has_the_interpreters_bits_nan_and_infinities_too)
{
    check_kmeans(HDST__SOA, 0, 1 << 23, true, false);
    check_kmeans(HDST__SOA, 1, 1 << 23, true, false);
}

Test(kernel, kmeans_of_blocks_of_arrays_has_the_interpreters_bits)
{
    check_kmeans(HDST__AOSOA, 0, 1 << 23, false, false);
    check_kmeans(HDST__AOSOA, 1, 1 << 23, false, false);
}

// The slice starts within one; blocks of the kernel must not cross them.
Test(kernel, kmeans_of_larger_blocks_of_arrays_has_the_interpreters_bits)
{
    layout_block = 256;
    check_kmeans(HDST__AOSOA, 0, 1 << 23, false, false);
    check_kmeans(HDST__AOSOA, 0, 100, false, false);
    layout_block = 1024;
    check_kmeans(HDST__AOSOA, 0, 1 << 23, false, false);
}

Test(kernel, kmeans_of_separate_arrays_has_the_interpreters_bits)
{
    check_kmeans(HDST__AOP, 0, 1 << 23, false, false);
    check_kmeans(HDST__AOP, 1, 1 << 23, false, false);
}

Test(kernel, flushing_after_few_records_changes_no_bit)
{
    check_kmeans(HDST__SOA, 0, 100, false, false);
    check_kmeans(HDST__SOA, 1, 100, false, true);
}

// --- Folds ---

typedef struct affine { uint64_t mul, add; } affine;     // x -> x * mul + add: associative, not commutative

static affine compose(affine a, affine b) { return (affine){a.mul * b.mul, a.add * b.mul + b.add}; }

static ir_func *make_compose(void)
{
    ir_func *f = ir_new(&arena, "compose");
    hdst__record *record = ir_record(&arena, "affine", 0, (ir_field[]){{"mul", HDST__U64, 0}, {"add", HDST__U64, 0}}, 2);
    ir_param_add(f, IR_INPUT, "a", record, false);
    ir_param_add(f, IR_INPUT, "b", record, false);
    const uint32_t out = ir_param_add(f, IR_OUTPUT, "out", record, false);
    ir_expr *product[2];
    for (uint32_t l = 0; l < 2; l++) product[l] = ir_op2(f, IR_MUL, ir_read(f, IR_FIELD, 0, l, NULL, NULL), ir_read(f, IR_FIELD, 1, 0, NULL, NULL));
    product[1] = ir_op2(f, IR_ADD, product[1], ir_read(f, IR_FIELD, 1, 1, NULL, NULL));
    for (uint32_t l = 0; l < 2; l++) {
        ir_stmt *store = ir_add(f, &f->body, IR_STORE);
        store->param = out;
        store->leaf = l;
        store->value = product[l];
    }
    return f;
}

Test(kernel, a_fold_combines_runs_of_64_in_order)
{
    enum { N = 64 * 2 + 3, SKIPPED = 64 };
    affine in[SKIPPED + N], out[3] = {{0}};
    for (uint64_t i = 0; i < SKIPPED + N; i++) in[i] = (affine){2 * i + 3, i * i + 1};
    ir_func *f = make_compose();
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, SKIPPED + N);
    void *buffers[] = {in};
    for (int form = 0; form < 2; form++) {
        const hdst__kernel_options options = {.facts = facts_of[form], .input = input};
        const hdst__kernel *kernel = hdst__kernel_make_fold(&arena, f, &options, &diags);
        cr_assert_not_null(kernel);
        kernel_case c = {.kernel = kernel,
                         .func = f,
                         .input = input,
                         .input_buffers = buffers,
                         .skip = SKIPPED,
                         .count = N,
                         .groups = form ? 1 : 3,
                         .output = out,
                         .output_bytes = sizeof out};
        cr_assert(kernel_run(&run, &c));
        for (int run_of = 0; run_of < 3; run_of++) {
            affine want = in[SKIPPED + 64 * run_of];
            for (int i = 1; i < 64 && 64 * run_of + i < N; i++) want = compose(want, in[SKIPPED + 64 * run_of + i]);
            cr_expect(out[run_of].mul == want.mul && out[run_of].add == want.add, "form %d run %d", form, run_of);
        }
    }
}

// Columns lie aligned where the packed records that come out do not.
Test(kernel, a_fold_of_packed_records_reads_columns_and_writes_bytes)
{
    enum { N = 100 };
    affine in[N], out[2];
    for (uint64_t i = 0; i < N; i++) in[i] = (affine){2 * i + 3, i * i + 1};
    ir_func *f = make_compose();
    hdst__record packed = *f->params[0].record;
    packed.align = 4;
    for (int i = 0; i < 3; i++) f->params[i].record = &packed;
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *input = hdst__storage_make(&arena, &packed, HDST__SOA, 0, N), *plain = hdst__storage_make(&arena, &packed, HDST__AOS, 0, N);
    void *buffers[] = {hdst__arena_alloc(&arena, input->buffer_bytes[0])};
    const void *from[] = {in};
    hdst__storage_copy(input, buffers, 0, plain, from, 0, N);
    for (int form = 0; form < 2; form++) {
        const hdst__kernel_options options = {.facts = facts_of[form], .input = input};
        const hdst__kernel *kernel = hdst__kernel_make_fold(&arena, f, &options, &diags);
        cr_assert_not_null(kernel);
        kernel_case c = {.kernel = kernel,
                         .func = f,
                         .input = input,
                         .input_buffers = buffers,
                         .count = N,
                         .groups = form ? 1 : 2,
                         .output = out,
                         .output_bytes = sizeof out};
        cr_assert(kernel_run(&run, &c));
        for (int run_of = 0; run_of < 2; run_of++) {
            affine want = in[64 * run_of];
            for (int i = 1; i < 64 && 64 * run_of + i < N; i++) want = compose(want, in[64 * run_of + i]);
            cr_expect(out[run_of].mul == want.mul && out[run_of].add == want.add, "form %d run %d", form, run_of);
        }
    }
}

// Work-groups of a GPU that would find no records are not launched, unless others count on all of them.
Test(kernel, work_groups_that_find_records)
{
    const hdst__kernel each = {.local_size = 256, .shape = {.group = 256, .records = 8}}, tiles = {.local_size = 128, .shape = {.group = 128, .span = 8}},
                       rows = {.local_size = 256, .rows_tile = 1024}, fold = {.local_size = 64};
    const struct { const hdst__kernel *kernel; uint64_t items, records, needed; } cases[] = {
        {&each, 1 << 20, 1, 256}, {&each, 1 << 20, 2048, 256}, {&each, 1 << 20, 2049, 512}, {&each, 1 << 20, 8192, 1024}, {&each, 512, 1 << 30, 512},
        {&each, 512, UINT64_MAX, 512}, {&each, 1 << 20, 0, 256}, {&tiles, 1 << 20, 8192, 1024 * 128}, {&rows, 1 << 20, 4097, 5 * 256}, {&fold, 640, 3, 640},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(hdst__kernel_items(cases[i].kernel, cases[i].items, cases[i].records), cases[i].needed, "%zu", i);
    hdst__kernel all[] = {each, each, each, each};
    all[0].merges = true, all[1].tuple_kernel_count = 1, all[2].output_way = IR_OUTPUT_COUNTED, all[3].one_group_per_strip = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cr_expect_eq(hdst__kernel_items(&all[i], 1 << 20, 1), 1 << 20, "%zu", i);
}

// So many that each cell of the widest leaf has a work-item.
Test(kernel, work_groups_that_make_rows)
{
    const hdst__cell one = {.elements = 1}, wide = {.elements = 100};
    const hdst__accum accums[] = {{.param = 1, .leaf_count = 1, .cell = &one}, {.param = 2, .is_table = true, .leaf_count = 1, .cell = &wide}};
    const hdst__tables tables = {.accum = accums, .accum_count = 2}, first = {.accum = accums, .accum_count = 1};
    const hdst__kernel both = {.local_size = 256, .tables = &tables}, scalar = {.local_size = 256, .tables = &first};
    cr_expect_eq(hdst__kernel_finish_groups(&scalar, (uint64_t[]){0, 1, 0}), 1);
    cr_expect_eq(hdst__kernel_finish_groups(&both, (uint64_t[]){0, 1, 0}), 1);
    cr_expect_eq(hdst__kernel_finish_groups(&both, (uint64_t[]){0, 1, 64}), 25);
    cr_expect_eq(hdst__kernel_finish_groups(&both, (uint64_t[]){0, 1, 65}), 26);
}

// Few records for each core: a strip a core, none with fewer than it takes to add up its table. Kernels whose records are quick keep theirs.
Test(kernel, strips_of_few_records)
{
    const hdst__kernel wide = {.splits_few = true}, quick = {.splits_few = false};
    const struct { uint64_t items, cores, records, strips; } cases[] = {
        {4, 2, 1, 1}, {4, 2, 95, 1}, {4, 2, 96, 2}, {4, 2, 255, 2}, {4, 2, 256, 4}, {32, 16, 150, 3}, {32, 16, 2047, 16}, {1, 16, 150, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(hdst__kernel_strips(&wide, cases[i].items, cases[i].cores, cases[i].records), cases[i].strips, "%zu", i);
        cr_expect_eq(hdst__kernel_strips(&quick, cases[i].items, cases[i].cores, cases[i].records), cases[i].items);
    }
}
