// SPDX-License-Identifier: Apache-2.0
// The row form: which kernels get it, what its passes leave (counted in the dump), and that its kernels have the
// interpreter's bits, exact sums with addends that do not fit included. That random programs keep their bits in it is
// shown by tests/differential.
#include "accum/reduce.h"
#include "tests/support/kernel_run.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/front/ast.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

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
TestSuite(row, .init = set_up, .fini = tear_down);

static const char program[] =
    "param uint32_t D;\n"
    "struct point { uint8_t kind; float x[D]; double z[D]; };\n"
    "struct total { float x[D]; double z[D]; int64_t n[D]; uint32_t count; };\n"
    "map dots(point p, broadcast point c[]) -> float { float s = 0; "
    "for (uint32_t j = 0; j < len(c); j++) s += dot(p.x, c[j].x); return s; }\n"
    "map in_order(point p, broadcast point c) -> float { float s = 0; "
    "for (uint32_t i = 0; i < D; i++) s += p.x[i] * c.x[i]; return s; }\n"
    "map add_up(point p, broadcast point c[], accum total t[], accum total all, accum double spread)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    float best_d = -INFINITY;\n"
    "    for (uint32_t j = 0; j < len(c); j++) {\n"
    "        float d = dot(p.x, c[j].x);\n"
    "        if (d > best_d) { best_d = d; best = j; }\n"
    "    }\n"
    "    for (uint32_t i = 0; i < D; i++) {\n"
    "        float half = p.x[i] * 0.5f;\n"
    "        t[best].x[i] += p.x[i];\n"
    "        t[best].z[i] += p.z[i];\n"
    "        t[best].n[i] += (int64_t)half;\n"
    "        all.x[i] += half - 1;\n"
    "    }\n"
    "    t[best].count += 1;\n"
    "    spread += best_d;\n"
    "}\n"
    "map add_in_order(point p, broadcast point c[], accum total t[], accum total all, accum double spread)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    float best_d = -INFINITY;\n"
    "    for (uint32_t j = 0; j < len(c); j++) {\n"
    "        float d = 0;\n"
    "        for (uint32_t i = 0; i < D; i++) d += p.x[i] * c[j].x[i];\n"
    "        if (d > best_d) { best_d = d; best = j; }\n"
    "    }\n"
    "    for (uint32_t i = 0; i < D; i++) { t[best].x[i] += p.x[i]; t[best].z[i] += p.z[i]; "
    "all.n[i] -= (int32_t)p.x[i]; }\n"
    "    t[best].count += 1;\n"
    "    spread += best_d;\n"
    "}\n"
    "struct tally { uint32_t kinds[256]; int64_t weighed[256]; double real[256]; };\n"
    "map place_counts(point p, accum tally t) { t.kinds[p.kind] += 1; t.weighed[p.kind >> 1] -= p.kind; }\n"
    "struct kind_count { uint64_t n; };\n"
    "map count_rows(point p, accum kind_count t[]) { t[p.kind].n += 1; }\n"
    "map place_in_rows(point p, accum total t[]) { t[p.kind & 3].n[0] += 1; t[p.kind & 3].count |= p.kind; }\n"
    "map place_sums(point p, accum tally t) { t.real[p.kind] += p.x[0]; }\n"
    "map shared_rows(point p, broadcast point c[], accum total t[], accum total all, accum double spread)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    uint32_t last = (uint32_t)len(c) - 1;\n"
    "    double z = c[best].z[0];\n"
    "    for (uint32_t i = 0; i < D; i++) all.x[i] += c[best].x[i];\n"
    "    for (uint32_t i = 0; i < D; i++) { double w = c[last].z[i] + z; all.z[i] += w; "
    "all.n[i] += (int64_t)w; }\n"
    "    while (last > 3) { last--; for (uint32_t i = 0; i < D; i++) t[last].z[i] += z * c[last].x[i]; }\n"
    "    for (uint32_t j = 0; j < len(c); j++) {\n"
    "        if (c[j].kind > 100) break;\n"
    "        best = j;\n"
    "        for (uint32_t i = 0; i < D; i++) { float e = c[best].x[i]; e = e * 0.5f; t[j].x[i] += e; "
    "t[best].n[i] += 1; }\n"
    "    }\n"
    "    if (p.kind == 0) { for (uint32_t i = 0; i < D; i++) t[best].z[i] += z; }\n"
    "    uint32_t turns = 0;\n"
    "    do { for (uint32_t i = 0; i < D; i++) { turns = i; all.z[i] += c[turns & 3u].z[i]; } best++; } "
    "while (best < 9);\n"
    "    spread += z;\n"
    "}\n"
    "map shared_row(point p, broadcast point c[], accum total all) { uint32_t best = 0; "
    "for (uint32_t i = 0; i < D; i++) all.z[i] += c[best].z[0]; }\n"
    "map shared_counts(point p, broadcast point c[], accum total t[], accum total all)\n"
    "{\n"
    "    for (uint32_t i = 0; i < D; i++) { all.n[i] += c[0].kind + i; t[1].n[i] -= (int64_t)c[2].x[i]; }\n"
    "}\n"
    "map place_far(point p, accum tally t) { t.kinds[hash(p.kind) & 255] += 1; }\n";

static ir_func *compile(const char *name, uint32_t elements)
{
    const hdst__param_value params[] = {{.name = "D", .bits = elements}};
    const hdst__front_options front = {.params = params, .param_count = 1};
    ast_module *module = hdst__module_compile(&diags, "row.hk", program, sizeof program - 1, &front);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_null(hdst__passes_scalar(func));
    return func;
}

// --- Which form, and what stands in it ---

static ir_func *form_of(const char *name, uint32_t elements, hdst__layout layout)
{
    ir_func *func = compile(name, elements);
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, layout, 0, 1000);
    const char *wrong = hdst__passes_blocks_or_rows(func, hdst__ir_accum_tables(&arena, func, NULL), input);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static int count(const ir_func *func, const char *part)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(func, &text);
    int found = 0;
    for (const char *at = strstr(hdst__buffer_text(&text), "\n{\n"); (at = strstr(at, part)); at += strlen(part)) found++;
    hdst__buffer_destroy(&text);
    return found;
}

Test(row, wide_records_whose_elements_lie_side_by_side_go_row_by_row)
{
    cr_expect(form_of("dots", 784, HDST__AOS)->rows);
    cr_expect(form_of("dots", 32, HDST__AOS)->rows);
    cr_expect_not(form_of("dots", 31, HDST__AOS)->rows);
    cr_expect_not(form_of("dots", 784, HDST__SOA)->rows);
    cr_expect_not(form_of("dots", 784, HDST__AOP)->rows);
    cr_expect_not(form_of("in_order", 784, HDST__AOS)->rows, "each addition waits for the one before: records side by side");
    cr_expect_not_null(strstr(form_of("dots", 784, HDST__AOS)->form_why, "784 elements of x"));
}

Test(row, additions_that_the_record_places_go_record_by_record)
{
    const ir_func *func = form_of("place_counts", 40, HDST__SOA);
    cr_expect_eq(func->block, 0);
    cr_expect_not_null(strstr(func->form_why, "record by record"));
    cr_expect_eq(count(func, "accum t."), 2);
    cr_expect_eq(form_of("place_in_rows", 40, HDST__AOS)->block, 0);
    cr_expect_neq(form_of("place_sums", 40, HDST__SOA)->block, 0, "sums of floats are made side by side");
    cr_expect_neq(form_of("place_far", 40, HDST__SOA)->block, 0, "so is what takes longer than an addition");
}

Test(row, lanes_stand_side_by_side_and_four_rows_are_taken_at_once)
{
    const ir_func *func = form_of("dots", 784, HDST__AOS);
    cr_expect_eq(count(func, "jammed 4"), 1);
    cr_expect_eq(count(func, "jammed 2"), 1);
    cr_expect_eq(count(func, "to 784u step 16"), 3);                // four rows, two, one
    cr_expect_eq(count(func, "to 16u vectorize"), 6);               // zeroes and lanes of each
    cr_expect_eq(count(func, "= fma(p.x["), 7);
    cr_expect_eq(count(form_of("dots", 790, HDST__AOS), "= fma(p.x["), 7 * (1 + 6), "six elements are left");
}

Test(row, exact_sums_over_elements_are_marked)
{
    const ir_func *func = form_of("add_up", 784, HDST__AOS);
    cr_expect_eq(count(func, "words t["), 1 + 2, "a double takes two words");
    cr_expect_eq(count(func, "words all.x["), 1);
    cr_expect_eq(count(func, "superaccumulator t["), 2);
    cr_expect_eq(count(func, "if exceptions"), 1);
    cr_expect_eq(count(func, "accum t["), 2, "integers need no test");
    cr_expect_eq(count(func, "accum spread"), 1);
}

Test(row, sums_in_order_have_records_side_by_side_but_rows_are_added_whole)
{
    const ir_func *func = form_of("add_in_order", 784, HDST__AOS);
    cr_expect_eq(func->block, 32, "their columns stay near: 9 KiB of each record are read");
    cr_expect_eq(form_of("in_order", 784, HDST__AOS)->block, 64);
    cr_expect_eq(form_of("in_order", 784, HDST__SOA)->block, 128);
    cr_expect_eq(count(func, "records (the elements of a row lie side by side)"), 1);
    cr_expect_eq(count(func, "to 784u vectorize"), 1);
    cr_expect_eq(count(func, "words t[row"), 3 + 1, "x in one word, z in two, count");
}

// --- Kernels ---

enum { RECORDS = 333, SKIP = 64, ROWS = 7 };

// Small multiples of 2^-5; some that do not fit, a denormal, NaN and infinities.
static char *make_rows(const hdst__record *record, uint64_t count_of, bool special)
{
    char *rows = HDST__NEW_ARRAY(&arena, char, count_of * record->size);
    const hdst__leaf *x = &record->leaves[1], *z = &record->leaves[2];
    for (uint64_t i = 0; i < count_of; i++)
        for (uint64_t e = 0; e < x->elements; e++) {
            const int odd = special ? rand() % 1000 : 999;
            float v = ldexpf((float)(rand() % 20000 - 10000), odd < 3 ? -149 : odd < 6 ? 90 : -5);
            if (odd == 7 && i % 50 == 0) v = i % 100 ? NAN : INFINITY;
            double w = ldexp((double)(rand() - rand()), odd < 5 ? -1000 : -20);
            memcpy(rows + i * record->size + x->offset + e * sizeof v, &v, sizeof v);
            memcpy(rows + i * record->size + z->offset + e * sizeof w, &w, sizeof w);
        }
    return rows;
}

static void compare_tables(const ir_func *func, const hdst__tables *tables, const uint64_t *rows, const int64_t *got, const int64_t *want)
{
    for (size_t a = 0; a < tables->accum_count; a++) {
        const hdst__record *record = func->params[tables->accum[a].param].record;
        for (uint64_t r = 0; r < hdst__accum_rows(&tables->accum[a], rows); r++)
            for (uint32_t l = 0; l < record->leaf_count; l++)
                for (uint64_t e = 0; e < record->leaves[l].elements; e++)
                    cr_assert_eq(hdst__table_read(tables, rows, got, (uint32_t)a, r, l, e), hdst__table_read(tables, rows, want, (uint32_t)a, r, l, e),
                                 "accumulator %d row %d leaf %d element %d", (int)a, (int)r, (int)l, (int)e);
    }
}

static void check(const char *function, uint32_t elements, hdst__layout layout, hdst__target target, bool special, const hdst__precision_class *classes)
{
    srand(elements);
    cl_run run;
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "these tests need PoCL");
    const ir_func *func = compile(function, elements);
    const hdst__record *record = func->params[0].record;
    char *points = make_rows(record, RECORDS, special), *centers = make_rows(record, ROWS, false);
    const hdst__storage *from = hdst__storage_make(&arena, record, HDST__AOS, 0, RECORDS);
    const hdst__storage *input = hdst__storage_make(&arena, record, layout, 64, RECORDS + SKIP);
    void *buffers[3] = {0};
    for (uint32_t b = 0; b < input->buffers; b++) cr_assert_not_null(buffers[b] = calloc(1, input->buffer_bytes[b]));
    hdst__storage_copy(input, buffers, SKIP, from, (const void *const[]){points}, 0, RECORDS);

    const uint64_t rows[] = {0, ROWS, ROWS, 1, 1};
    const int32_t scales[] = {20, 30, 20, 5, 10};
    const hdst__interp_table broadcast[] = {{0}, {centers, ROWS}, {0}, {0}, {0}};
    const hdst__target_facts facts = {target, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = rows, .classes = classes};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, func, &options, &diags);
    cr_assert_not_null(kernel);
    const uint64_t words = hdst__tables_device_words(kernel->tables, rows);
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, words), *reference = HDST__NEW_ARRAY(&arena, int64_t, words);
    kernel_case c = {.kernel = kernel, .func = func, .input = input, .input_buffers = buffers, .skip = SKIP, .count = RECORDS, .broadcast = broadcast,
                     .rows = rows, .scales = scales, .flush = 1 << 23, .groups = 2, .device_table = device};
    cr_assert(kernel_run(&run, &c));
    hdst__interp_run interp = {.func = func, .input = {from}, .input_buffers = {(const void *const[]){points}}, .count = RECORDS, .broadcast = broadcast,
                               .accum_rows = rows, .tables = kernel->tables, .device_table = reference};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK);
    compare_tables(func, kernel->tables, rows, device, reference);
    for (uint32_t b = 0; b < input->buffers; b++) free(buffers[b]);
    cl_run_close(&run);
}

Test(row, rows_have_the_interpreters_bits)
{
    check("add_up", 784, HDST__AOS, HDST__TARGET_CPU, false, NULL);
    check("add_up", 45, HDST__AOS, HDST__TARGET_CPU, true, NULL);
}

Test(row, so_have_blocks_and_the_form_for_gpus)
{
    check("add_up", 45, HDST__SOA, HDST__TARGET_CPU, true, NULL);
    check("add_up", 45, HDST__AOSOA, HDST__TARGET_CPU, true, NULL);
    check("add_up", 45, HDST__AOS, HDST__TARGET_GPU, true, NULL);
}

Test(row, rows_that_are_added_whole_in_block_form)
{
    check("add_in_order", 784, HDST__AOS, HDST__TARGET_CPU, false, NULL);
    check("add_in_order", 45, HDST__AOS, HDST__TARGET_CPU, true, NULL);
}

// What a loop over a row works out is of each record, also where it is the same for all.
Test(row, additions_of_what_all_records_share)
{
    static const uint32_t sizes[] = {8, 31, 32, 33, 64, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int layout = HDST__AOS; layout <= HDST__AOP; layout++) {
            form_of("shared_row", sizes[i], (hdst__layout)layout);
            form_of("shared_rows", sizes[i], (hdst__layout)layout);
        }
    check("shared_rows", 45, HDST__AOS, HDST__TARGET_CPU, true, NULL);
    check("shared_rows", 33, HDST__SOA, HDST__TARGET_CPU, true, NULL);
    check("shared_counts", 45, HDST__AOS, HDST__TARGET_CPU, true, NULL);
    check("shared_counts", 33, HDST__SOA, HDST__TARGET_CPU, true, NULL);
}

Test(row, additions_that_the_record_places)
{
    check("place_counts", 40, HDST__SOA, HDST__TARGET_CPU, false, NULL);
    check("place_in_rows", 40, HDST__AOS, HDST__TARGET_CPU, false, NULL);
    check("place_far", 40, HDST__AOS, HDST__TARGET_CPU, false, NULL);
}

// --- Two tables of a strip, which records take in turn ---

static const hdst__kernel *kernel_of(const ir_func *func, const hdst__storage *input, const uint64_t *rows, bool simulated)
{
    const hdst__kernel_options options = {.facts = {HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, simulated}, .input = input, .rows = rows};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, func, &options, &diags);
    cr_assert_not_null(kernel);
    return kernel;
}

static bool has_two_tables(const char *name, uint64_t table_rows)
{
    const ir_func *func = compile(name, 40);
    const uint64_t rows[] = {0, table_rows, 1, 1, 1};
    return kernel_of(func, hdst__storage_make(&arena, func->params[0].record, HDST__SOA, 0, 100), rows, false)->strips_twice;
}

Test(row, small_tables_of_counts_are_there_twice)
{
    cr_expect(has_two_tables("place_counts", 1));
    cr_expect(has_two_tables("count_rows", 1024));
    cr_expect_not(has_two_tables("count_rows", 1025), "two would take most of a first-level cache");
    cr_expect_not(has_two_tables("place_in_rows", 7), "bits are or-ed, not added");
    cr_expect_not(has_two_tables("place_sums", 1));
}

// Three of four records are of kind 7. `flush`: the tables are emptied in between.
static void check_counts(cl_run *run, hdst__layout layout)
{
    static const struct {
        uint64_t skip, count, flush;
        size_t groups;
    } cases[] = {{64, 333, 1 << 23, 2}, {0, 333, 1 << 23, 1}, {0, 1, 1 << 23, 3}, {3, 334, 1, 2}, {1, 331, 7, 3}, {0, 300, 64, 1}};
    const ir_func *func = compile("place_counts", 1);
    const hdst__record *record = func->params[0].record;
    const uint64_t rows[] = {0, 1};
    const hdst__storage *from = hdst__storage_make(&arena, record, HDST__AOS, 0, 400), *input = hdst__storage_make(&arena, record, layout, 64, 400);
    char *points = HDST__NEW_ARRAY(&arena, char, 400 * record->size);
    void *buffers[3] = {0};
    for (uint64_t i = 0; i < 400; i++) points[i * record->size + record->leaves[0].offset] = (char)(i % 4 ? 7 : i * 37);
    for (uint32_t b = 0; b < input->buffers; b++) cr_assert_not_null(buffers[b] = calloc(1, input->buffer_bytes[b]));
    hdst__storage_copy(input, buffers, 0, from, (const void *const[]){points}, 0, 400);
    const hdst__kernel *kernel = kernel_of(func, input, rows, cl_run_is_simulated(run));
    cr_assert(kernel->strips_twice);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t kinds[256] = {0}, weighed[256] = {0};
        for (uint64_t i = cases[k].skip; i < cases[k].skip + cases[k].count; i++) {
            const uint8_t kind = i % 4 ? 7 : (uint8_t)(i * 37);
            kinds[kind]++;
            weighed[kind >> 1] -= kind;
        }
        int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(kernel->tables, rows));
        kernel_case c = {.kernel = kernel, .func = func, .input = input, .input_buffers = buffers, .skip = cases[k].skip, .count = cases[k].count, .rows = rows,
                         .scales = (const int32_t[]){10}, .flush = cases[k].flush, .groups = cases[k].groups, .device_table = device};
        cr_assert(kernel_run(run, &c));
        for (uint32_t e = 0; e < 256; e++) {
            cr_assert_eq((int64_t)hdst__table_read(kernel->tables, rows, device, 0, 0, 0, e), kinds[e], "case %d, kind %u", (int)k, e);
            cr_assert_eq((int64_t)hdst__table_read(kernel->tables, rows, device, 0, 0, 1, e), weighed[e], "case %d, weighed %u", (int)k, e);
        }
    }
    for (uint32_t b = 0; b < input->buffers; b++) free(buffers[b]);
}

Test(row, both_tables_of_a_strip_come_to_the_counts)
{
    cl_run run;
    cr_assert(cl_run_open(&run, CL_DEVICE_TYPE_CPU), "these tests need PoCL");
    check_counts(&run, HDST__SOA);
    check_counts(&run, HDST__AOS);
    cl_run_close(&run);
}

Test(row, every_precision_class_of_sums)
{
    static const hdst__precision_class classes[] = {HDST__CLASS_TWO_WORDS, HDST__CLASS_ONE_WORD, HDST__CLASS_SUPERACCUMULATOR, HDST__CLASS_ONE_WORD,
                                                    HDST__CLASS_TWO_WORDS};
    check("add_up", 33, HDST__AOS, HDST__TARGET_CPU, true, classes);
}
