// SPDX-License-Identifier: Apache-2.0
// Rows of a record's array added to a table of few wide rows, which the work-group does together with an element of each row in local memory, on PoCL: against
// sums of integers of 128 bits, rounded once. Numbers that the words hold, some with bits below their units, and some that are too small or too large for them.
#include "accum/fixed_point.h"
#include "accum/reduce.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"
#include "tests/support/kernel_suite.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(tile_sums, .init = set_up, .fini = tear_down);

enum { MOST_BUFFERS = 8, COLUMNS = 200, ROWS = 5, RECORDS = 1001, GROUP = 64, GROUPS = 16, LOWEST = -60 };

static const char program[] = "struct point { float x[200]; uint32_t row; };\n"
                              "struct total { float x[200]; uint32_t n; };\n"
                              "map assign(point p, accum total t[])\n"
                              "{\n"
                              "    for (uint32_t i = 0; i < 200; i++) t[p.row].x[i] += p.x[i];\n"
                              "    t[p.row].n += 1;\n"
                              "}\n";

typedef struct point { float x[COLUMNS]; uint32_t row; } point;

// Whole numbers of units of 2^`usual`; of every so many pairs of records both have units of 2^`other`. The usual ones of a pair cancel out where there are
// others, so that these alone are left.
typedef struct numbers { int usual, other; uint32_t every; } numbers;

static bool is_other(const numbers *n, uint32_t record, uint32_t column) { return n->every && (record / 2 + column) % n->every == 0; }

static int64_t integer_at(const numbers *n, uint32_t record, uint32_t column)
{
    const int64_t v = (int64_t)((record / 2 * 2654435761u + column * 40503u) % 4001) - 2000;
    if (n->every && record == RECORDS - 1) return 0;        // it has no partner
    return n->every && record % 2 && !is_other(n, record, column) ? -v : v;
}

static int exponent_at(const numbers *n, uint32_t record, uint32_t column) { return is_other(n, record, column) ? n->other : n->usual; }
static uint32_t row_of(uint32_t record) { return record / 2 * 7919u % 13 % ROWS; }

static float expected(const numbers *n, uint32_t row, uint32_t column)
{
    __int128 sum = 0;
    for (uint32_t r = 0; r < RECORDS; r++)
        if (row_of(r) == row) sum += integer_at(n, r, column) * ((__int128)1 << (exponent_at(n, r, column) - LOWEST));
    return ldexpf((float)sum, LOWEST);
}

static const hdst__kernel *make_kernel(const ir_func *func, const hdst__storage *input)
{
    static const hdst__precision_class one[] = {HDST__CLASS_ONE_WORD};
    const hdst__target_facts facts = {HDST__TARGET_GPU, 4 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
    const hdst__kernel_options options = {.facts = facts, .input = input, .rows = (uint64_t[]){0, ROWS}, .classes = one, .shape = {.group = GROUP}};
    return hdst__kernel_make(&arena, func, &options, &diags);
}

static ir_func *make_func(const char *text, const char *name)
{
    const hdst__front_options front = {0};
    ast_module *module = hdst__module_compile(&diags, "tile.hk", text, strlen(text), &front);
    cr_assert_eq(diags.errors, 0);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_null(hdst__passes_scalar(func));
    return func;
}

static const point *make_points(const numbers *n)
{
    point *in = HDST__NEW_ARRAY(&arena, point, RECORDS);
    for (uint32_t r = 0; r < RECORDS; r++) {
        in[r].row = row_of(r);
        for (uint32_t c = 0; c < COLUMNS; c++) in[r].x[c] = ldexpf((float)integer_at(n, r, c), exponent_at(n, r, c));
    }
    return in;
}

static void *cache_lines(uint64_t bytes)
{
    char *memory = HDST__NEW_ARRAY(&arena, char, bytes + 64);
    return memory + (64 - (uintptr_t)memory % 64) % 64;
}

static void check(const numbers *n, int32_t scale, hdst__layout layout)
{
    const ir_func *func = make_func(program, "assign");
    const hdst__storage *rows_of_points = hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS);
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, layout, 64, RECORDS);
    void *buffers[MOST_BUFFERS] = {0};
    for (uint32_t b = 0; b < input->buffers; b++) buffers[b] = cache_lines(input->buffer_bytes[b]);
    hdst__storage_copy(input, buffers, 0, rows_of_points, (const void *const[]){make_points(n)}, 0, RECORDS);
    const hdst__kernel *kernel = make_kernel(func, input);
    cr_assert(kernel && strstr(kernel->source, "tile_add(&tile_sums"), "sums are doubles in local memory");
    cr_assert(strstr(kernel->source, "device_add(&t_Own[row"), "nobody waits for the table's words");
    const uint64_t rows[] = {0, ROWS};
    int64_t *device = HDST__NEW_ARRAY(&arena, int64_t, hdst__tables_device_words(kernel->tables, rows));
    kernel_case c = {.kernel = kernel, .func = func, .input = input, .input_buffers = buffers, .count = RECORDS, .rows = rows,
                     .scales = (int32_t[]){scale}, .flush = HDST__FLUSH_ADDS, .groups = GROUPS, .device_table = device};
    cr_assert(kernel_run(&run, &c));
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < COLUMNS; i++) {
            const uint32_t bits = (uint32_t)hdst__table_read(kernel->tables, rows, device, 0, r, 0, i);
            float got;
            memcpy(&got, &bits, sizeof got);
            cr_assert_eq(got, expected(n, r, i), "row %u, column %u: %a, not %a", r, i, (double)got, (double)expected(n, r, i));
        }
}

Test(tile_sums, of_whole_units_are_exact)
{
    check(&(numbers){-10, -10, 0}, 20, HDST__AOS);
    check(&(numbers){-10, -10, 0}, 20, HDST__SOA);
}

Test(tile_sums, with_a_few_bits_below_the_unit_are_exact) { check(&(numbers){-10, -14, 3}, 11, HDST__AOSOA); }

Test(tile_sums, with_numbers_too_small_or_too_large_for_words_are_exact)
{
    check(&(numbers){-10, -50, 97}, 20, HDST__SOA);
    check(&(numbers){-10, 45, 97}, 20, HDST__AOS);
}

// What is no sum is found in the same tables, where another work-group changes the word meanwhile.
Test(tile_sums, what_is_no_sum_goes_to_a_shared_table_atomically)
{
    static const char others[] = "struct spot { uint32_t x[200]; uint32_t row; };\n"
                                 "struct top { uint32_t x[200]; };\n"
                                 "map rise(spot p, accum top t[]) { for (uint32_t i = 0; i < 200; i++) acc_max(t[p.row].x[i], p.x[i]); }\n"
                                 "map join(spot p, accum top t[]) { for (uint32_t i = 0; i < 200; i++) t[p.row].x[i] |= p.x[i]; }\n"
                                 "map mix(spot p, accum top t[]) { for (uint32_t i = 0; i < 200; i++) t[p.row].x[i] ^= p.x[i]; }\n";
    static const char *const names[] = {"rise", "join", "mix"};
    static const char *const additions[] = {"device_max(&t_Own[row", "device_or(&t_Own[row", "device_xor(&t_Own[row"};
    for (size_t n = 0; n < 3; n++) {
        const ir_func *func = make_func(others, names[n]);
        const hdst__kernel *kernel = make_kernel(func, hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS));
        cr_assert(kernel && kernel->group_tables == 8, "%s", names[n]);
        cr_assert(strstr(kernel->source, additions[n]), "%s: no %s\n%s", names[n], additions[n], kernel->source);
    }
}
