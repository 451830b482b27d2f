// SPDX-License-Identifier: Apache-2.0
// First-level accumulators of a device table (accum/first_level.cl) where they overflow: word, low word and cell together are the sum, which 128-bit
// integers say.
#include "accum/accum_pieces.h"
#include "tests/support/kernel_suite.h"
#include "accum/fixed_point.h"
#include "accum/superaccumulator.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

TestSuite(front, .init = set_up, .fini = tear_down);

enum { ADDENDS = 64, SCALE = 10, CELL = 600, CELL_WORDS = 10, TABLE_WORDS = CELL + CELL_WORDS };     // a cell on the second page
// Of the kernels' memory: marks, word and low word, cells.
enum { MARKS = 2, WORD = MARKS, CELLS = WORD + 2, MEMORY = CELLS + TABLE_WORDS };

static const char kernels[] =
    "__kernel void add(__global long *memory, __global const long *v, uint count)\n"
    "{\n"
    "    __global long *cell = memory + 4 + 600;\n"
    "    for (uint i = 0; i < count; i++)\n"
    "        if (first_level_add(memory + 2, v[i])) first_level_carry(marked(memory, memory + 4, cell, 10), FLOAT_LAST, FLOAT_LOWEST, v[i], 10);\n"
    "}\n"
    "__kernel void add_all(__global long *to, __global const long *from, uint count) { if (!first_level_add_all(to, from, count)) to[0] = 77; }\n"
    "__kernel void strips(__global long *memory, __global const long *own, uint count)\n"
    "{\n"
    "    __global long *words = memory + 5, *cells = words + 2 * count;\n"
    "    for (uint turn = 0; turn < 20; turn++) {\n"
    "        for (ulong n = 0, part; n < count; n += part) {\n"
    "            part = min(count - n, first_level_page_rest(words, words + n));\n"
    "            volatile __global uint *lock = first_level_lock(memory, words, words + n);\n"
    "            if (!first_level_add_all(words + n, own + n, part)) words[0] = 1L << 60;\n"
    "            first_level_unlock(lock);\n"
    "        }\n"
    "        for (uint n = 7; n < count; n += 100) first_level_add_both(memory, cells, cells, words + n, count, 1000, 3, 10);\n"
    "    }\n"
    "}\n"
    "__kernel void settle(__global long *memory, __global const float *v, uint count)\n"
    "{\n"
    "    for (uint i = 0; i < count; i++) first_level_exception_float(memory, memory + 4, memory + 4 + 600, memory + 2, 1, v[i], 0x1p10f, 0x1p-10f, 10);\n"
    "}\n";

static cl_kernel build(const char *name)
{
    const char *head = hdst__pieces_text(&arena, &hdst__base_pieces, "head.cl"), *dialect = hdst__pieces_text(&arena, &hdst__base_pieces, "dialect_plain.cl");
    const char *source = hdst__arena_printf(&arena, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n%s%s", head, dialect);
    const char *exact = hdst__arena_printf(&arena, "%s%s",
                                           hdst__pieces_text(&arena, &hdst__accum_pieces, "superaccumulator.cl"),
                                           hdst__pieces_text(&arena, &hdst__accum_pieces, "fixed_point.cl")),
               *front = hdst__pieces_text(&arena, &hdst__accum_pieces, "first_level.cl");
    source = hdst__arena_printf(&arena, "%s%s%s", source, exact, front);
    cl_kernel kernel = cl_run_build(&run, hdst__arena_printf(&arena, "%s%s", source, kernels), "-cl-std=CL1.2 -w", name);
    cr_assert_not_null(kernel);
    return kernel;
}

// Runs so many work-items of the kernel over `count` addends of `size` bytes; `memory`, of `words`, comes and goes.
static void run_items(size_t items, const char *name, int64_t *memory, size_t words, const void *addends, size_t size, cl_uint count)
{
    cl_kernel kernel = build(name);
    cl_mem table = cl_run_buffer(&run, memory, words * sizeof *memory), v = cl_run_buffer(&run, (void *)(uintptr_t)addends, size * count);
    clSetKernelArg(kernel, 0, sizeof table, &table);
    clSetKernelArg(kernel, 1, sizeof v, &v);
    clSetKernelArg(kernel, 2, sizeof count, &count);
    cr_assert(cl_run_launch(&run, kernel, items, 1));
    cr_assert(cl_run_read(&run, table, memory, words * sizeof *memory));
    clReleaseMemObject(table);
    clReleaseMemObject(v);
    cl_run_release(kernel);
}

static void run_on(const char *name, int64_t *memory, size_t words, const void *addends, size_t size, cl_uint count)
{
    run_items(1, name, memory, words, addends, size, count);
}

static uint64_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

// The float next to the sum of all three.
static uint64_t rounded(const int64_t *memory)
{
    int64_t cell[CELL_WORDS];
    memcpy(cell, memory + CELLS + CELL, sizeof cell);
    hdst__superaccumulator_add_fixed(cell, HDST__F32, memory[WORD], SCALE);
    hdst__superaccumulator_add_fixed(cell, HDST__F32, memory[WORD + 1], SCALE + HDST__FIXED_BITS);
    return hdst__superaccumulator_round(cell, HDST__F32);
}

static bool is_marked(const int64_t *memory) { return memory[1] != 0; }

static void add(const int64_t *v, size_t count, bool overflows)
{
    int64_t memory[MEMORY] = {0};
    __int128 sum = 0;
    for (size_t i = 0; i < count; i++) sum += v[i];
    run_on("add", memory, MEMORY, v, sizeof *v, (cl_uint)count);
    cr_expect_eq(rounded(memory), bits_of((float)sum * 0x1p-10f));
    cr_expect_eq(is_marked(memory), overflows);
    cr_expect_eq(memory[0], 0);
}

Test(front, a_word_that_overflows_carries_to_the_cell)
{
    int64_t v[ADDENDS];
    for (int i = 0; i < ADDENDS; i++) v[i] = INT64_MAX - 1000003 * i;
    add(v, ADDENDS, true);
    for (int i = 0; i < ADDENDS; i++) v[i] = INT64_MIN + 1000003 * i;
    add(v, ADDENDS, true);
    for (int i = 0; i < ADDENDS; i++) v[i] = (i % 3 ? 1 : -1) * (INT64_C(1) << 62) + i;      // past both ends, and back
    add(v, ADDENDS, true);
    for (int i = 0; i < ADDENDS; i++) v[i] = (INT64_C(1) << 56) + i;
    add(v, ADDENDS, false);
}

Test(front, all_together_only_where_none_can_overflow)
{
    enum { COUNT = 37 };
    int64_t to[COUNT], from[COUNT], expected[COUNT];
    for (int big = 0; big < 3; big++) {
        for (int i = 0; i < COUNT; i++) {
            to[i] = i * INT64_C(123456789012345) - 1;
            from[i] = -to[i] / 3 + 5;
        }
        if (big == 1) from[30] = INT64_C(1) << 62;
        if (big == 2) to[3] = -(INT64_C(1) << 62) - 1;
        for (int i = 0; i < COUNT; i++) expected[i] = big ? to[i] : to[i] + from[i];
        if (big) expected[0] = 77;
        run_on("add_all", to, COUNT, from, sizeof *from, COUNT);
        cr_expect(!memcmp(to, expected, sizeof to), "%d", big);
    }
}

static void settle(const float *v, size_t count, bool in_cell)
{
    int64_t memory[MEMORY] = {0};
    __int128 sum = 0;       // of multiples of 2^-60
    for (size_t i = 0; i < count; i++) sum += (__int128)ldexp(v[i], 60);        // a whole number below 2^92
    run_on("settle", memory, MEMORY, v, sizeof *v, (cl_uint)count);
    cr_expect_eq(rounded(memory), bits_of((float)sum * 0x1p-60f));
    cr_expect_eq(is_marked(memory), in_cell);
}

Test(front, what_one_word_does_not_take_goes_to_two_or_to_the_cell)
{
    float v[ADDENDS];
    for (int i = 0; i < ADDENDS; i++) v[i] = (i % 2 ? -1.0f : 1.0f) * ldexpf(1.0f + (float)i / 64, i % 20 - 30);       // last bits down to 2^-36
    settle(v, ADDENDS, false);
    v[5] = 0x1.8p31f;       // too large
    settle(v, ADDENDS, true);
    v[5] = 0x1.8p-55f;      // too small for the low word
    settle(v, ADDENDS, true);
}

// Strips at the same pages, and exceptions between them; no lock is left.
Test(front, strips_add_their_tables_a_page_at_a_time)
{
    enum { STRIPS = 16, TURNS = 20, COUNT = 1300, MARKS_OF_ALL = 5, WORDS = MARKS_OF_ALL + 2 * COUNT + CELL_WORDS };
    static int64_t memory[WORDS], own[COUNT];
    for (int64_t n = 0; n < COUNT; n++) own[n] = n * n * (n % 2 ? 1000003 : -1000003);
    run_items(STRIPS, "strips", memory, WORDS, own, sizeof *own, COUNT);
    for (int n = 0; n < MARKS_OF_ALL; n++) cr_assert_eq(memory[n], 0);
    for (int64_t n = 0; n < COUNT; n++) {
        const bool both = n % 100 == 7;
        cr_assert_eq(memory[MARKS_OF_ALL + n], STRIPS * TURNS * (own[n] + (both ? 1000 : 0)), "word %" PRId64, n);
        cr_assert_eq(memory[MARKS_OF_ALL + COUNT + n], both ? STRIPS * TURNS * 3 : 0, "low word %" PRId64, n);
    }
}
