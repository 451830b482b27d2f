// SPDX-License-Identifier: Apache-2.0
// The representations of accumulators on a device (accum/*.cl, as the library has them), against the truth by another
// road (conformance.h), with work-items that add at the same moment. What a kernel leaves is read twice: by the
// host's functions, and by the kernel itself, which spills it to the superaccumulator and rounds that. The levels of
// block form need a kernel around them: tests/codegen/opencl/test_kernel_levels.c has them.
#include "accum/accum_pieces.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "accum/representation.h"
#include "accum/superaccumulator.h"
#include "tests/accum/conformance.h"
#include "tests/support/kernel_suite.h"

#include <inttypes.h>

TestSuite(conformance_device, .init = set_up, .fini = tear_down);

// Of the kernels' memory: a superaccumulator, two words, a key, the value found; then an overflow table of so many places.
enum { CELL = 0, WORD = 67, KEY = 69, FOUND = 70, OVERFLOW = 72, PLACES = 4, CELL_WORDS = 67, MEMORY = OVERFLOW + 2 + PLACES + (PLACES + 1) * CELL_WORDS, LANES = 16 };
typedef enum held_in { SUPERACCUMULATOR, ONE_WORD, TWO_WORDS, ONE_WORD_GPU, TWO_WORDS_GPU, RUNNING_SUMS, OVERFLOW_TABLE, MAXIMUM, MINIMUM, FORMS } held_in;
static const char *const form_name[FORMS] = {"superaccumulator", "one word", "two words", "one word, quick", "two words, quick", "running sums", "overflow table", "maximum", "minimum"};

// T: the type, B: unsigned integers of its size
#define KERNEL(T, B, LAST, LOWEST, ROUND, VALUE)                                                                                                          \
    "__kernel void add_" #T "(__global long *m, __global const " #T " *v, uint count, int scale, uint form)\n"                                            \
    "{\n"                                                                                                                                                 \
    "    __local uint words[4];\n"                                                                                                                        \
    "    const uint lane = get_local_id(0);\n"                                                                                                            \
    "    const int s = " #T "_scale(scale);\n"                                                                                                            \
    "    const " #T " up = " #T "_power(s), down = " #T "_power(-s);\n"                                                                                   \
    "    for (uint i = lane; i < count && form != 5; i += get_local_size(0)) {\n"                                                                         \
    "        long high, low;\n"                                                                                                                           \
    "        bool fits;\n"                                                                                                                                \
    "        if (form == 0) wide_add_" #T "(m, v[i]);\n"                                                                                                  \
    "        if (form == 6) wide_add_" #T "(spare_cell(m + 72, i % 3), v[i]);\n"                                                                          \
    "        if (form == 7) device_max(m + 69, max_key_" #T "(v[i]));\n"                                                                                  \
    "        if (form == 8) device_max(m + 69, min_key_" #T "(v[i]));\n"                                                                                  \
    "        if (form < 1 || form > 4) continue;\n"                                                                                                       \
    "        if (form == 1) { fits = fits_" #T "(v[i], up, down); high = fixed_" #T "(v[i], up, down); low = 0; }\n"                                      \
    "        if (form == 2) { fits = fits_two_" #T "(v[i], up, down); high = fixed_two_" #T "(v[i], up, down); low = rest_two_" #T "(v[i], up, down); }\n"  \
    "        if (form >= 3) fits = quick_" #T "(m, v[i], up, down, s, form, &high, &low);\n"                                                              \
    "        device_add(m + 67, high);\n"                                                                                                                 \
    "        device_add(m + 68, low);\n"                                                                                                                  \
    "        if (!fits) wide_add_" #T "(m, v[i]);\n"                                                                                                      \
    "    }\n"                                                                                                                                             \
    "    if (form == 5 && lane == 0) running_" #T "(m, v, count, scale, words);\n"                                                                        \
    "}\n"                                                                                                                                                 \
    "__kernel void round_" #T "(__global long *m, __global const " #T " *v, uint count, int scale, uint form)\n"                                          \
    "{\n"                                                                                                                                                 \
    "    if (get_local_id(0) != 0) return;\n"                                                                                                             \
    "    if (form == 7 || form == 8) m[70] = (long)value_of_key((ulong)m[69], form == 8, " VALUE ");\n"                                                    \
    "    if (form == 7 || form == 8) return;\n"                                                                                                           \
    "    wide_add_fixed(m, " #LAST ", " #LOWEST ", m[67], scale);\n"                                                                                      \
    "    wide_add_fixed(m, " #LAST ", " #LOWEST ", m[68], scale + 40);\n"                                                                                 \
    "    m[70] = (long)wide_round(m, " ROUND ");\n"                                                                                                       \
    "}\n"

static const char kernels[] =
    "inline bool quick_float(__global long *m, float v, float up, float down, int s, uint form, long *high, long *low)\n"
    "{\n"
    "    bool fits;\n"
    "    *high = likely_float(v, up, float_least(s), &fits);\n"
    "    *low = 0;\n"
    "    if (!fits) *high = settle_float(m, v, up, down);\n"
    "    return true;\n"
    "}\n"
    "inline bool quick_double(__global long *m, double v, double up, double down, int s, uint form, long *high, long *low)\n"
    "{\n"
    "    bool fits;\n"
    "    if (form == 4) return split_double(v, up, high, low);\n"
    "    *high = likely_double(v, up, down, &fits);\n"
    "    *low = 0;\n"
    "    return fits;\n"
    "}\n"
    "inline void running_float(__global long *m, __global const float *v, uint count, int s, __local uint *words)\n"
    "{\n"
    "    float sum[3];\n"
    "    lane_start(sum, s);\n"
    "    for (uint i = 0; i < count; i++) {\n"
    "        const float old0 = sum[0], old1 = sum[1], old2 = sum[2];\n"
    "        uint moved = 0, lost = 0;\n"
    "        lane_add(sum, v[i], &moved, &lost);\n"
    "        if (lane_failed(moved, lost)) {\n"
    "            sum[0] = old0; sum[1] = old1; sum[2] = old2;\n"
    "            wide_add_float(m, v[i]);\n"
    "        }\n"
    "        if (i % 32 == 31 || i + 1 == count) m[67] = lane_room(m[67] + lane_take(sum, s), m, FLOAT_LAST, FLOAT_LOWEST, s + 13);\n"
    "    }\n"
    "}\n"
    "inline void running_double(__global long *m, __global const double *v, uint count, int s, __local uint *words)\n"
    "{\n"
    "    double sum[2];\n"
    "    for (uint w = 0; w < 4; w++) words[w] = 0;\n"
    "    pair_start(sum, s);\n"
    "    for (uint i = 0; i < count; i++)\n"
    "        if (!pair_add(sum, v[i], s)) settle_pair(words, m, v[i], double_power(s));\n"
    "    pair_take(sum, s, words);\n"
    "    m[67] = (long)((ulong)words[1] << 32 | words[0]);\n"
    "    m[68] = (long)((ulong)words[3] << 32 | words[2]);\n"
    "}\n"
    KERNEL(float, uint, FLOAT_LAST, FLOAT_LOWEST, "9, 23, 255, 0x80000000UL, 0x7f800000UL", "0x80000000UL, 0x7f800000UL, 0x7fc00000UL")
    KERNEL(double, ulong, DOUBLE_LAST, DOUBLE_LOWEST, "66, 52, 2047, 0x8000000000000000UL, 0x7ff0000000000000UL",
           "0x8000000000000000UL, 0x7ff0000000000000UL, 0x7ff8000000000000UL");

static cl_kernel build(const char *name)
{
    static const char *const files[] = {"integer_words.cl", "minmax_keys.cl", "minmax_keys_double.cl", "superaccumulator.cl", "fixed_point.cl", "superaccumulator_double.cl", "fixed_point_double.cl", "integer_words_local.cl", "levels_lane.cl", "levels_lane_double.cl", "overflow_table.cl",
                                        "rounding.cl", "minmax_values.cl"};
    const char *head = hdst__pieces_text(&arena, &hdst__base_pieces, "head.cl"), *dialect = hdst__pieces_text(&arena, &hdst__base_pieces, "dialect_plain.cl");
    const char *source = hdst__arena_printf(&arena, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n%s%s#define COPIES 1\n#define SPARE_WORDS 67\n#define WIDE_LIMBS 69\n", head, dialect);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        source = hdst__arena_printf(&arena, "%s%s", source, hdst__pieces_text(&arena, &hdst__accum_pieces, files[f]));
    source = hdst__arena_printf(&arena, "%s%s", source, kernels);
    cl_kernel kernel = cl_run_build(&run, source, "-cl-std=CL1.2 -w", name);
    cr_assert_not_null(kernel, "%s", name);
    return kernel;
}

static void launch(cl_kernel kernel, cl_mem memory, cl_mem v, size_t count, int32_t s, held_in form)
{
    const cl_uint n = (cl_uint)count, f = (cl_uint)form;
    const cl_int scale = s;
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clSetKernelArg(kernel, 1, sizeof v, &v);
    clSetKernelArg(kernel, 2, sizeof n, &n);
    clSetKernelArg(kernel, 3, sizeof scale, &scale);
    clSetKernelArg(kernel, 4, sizeof f, &f);
    cr_assert(cl_run_launch(&run, kernel, LANES, LANES));
}

// By the host's functions. s: of the words.
static uint64_t read_on_host(const addend_case *c, held_in form, int32_t s, int64_t *m)
{
    hdst__cell cell = hdst__cell_make(c->kind, form == MAXIMUM ? HDST__MAX : form == MINIMUM ? HDST__MIN : HDST__SUM, HDST__TIER_TWO);
    if (!cell.digits) return hdst__cell_read(&cell, m + KEY);
    for (int place = 0; place <= PLACES; place++) (void)hdst__superaccumulator.merge(&cell, m + CELL, m + OVERFLOW + 2 + PLACES + place * CELL_WORDS);
    return hdst__fixed_point.round(&cell, m + WORD, s, m + CELL);
}

static void run_case(cl_kernel add, cl_kernel round, const addend_case *c, held_in form, int32_t s)
{
    int64_t memory[MEMORY] = {[OVERFLOW] = PLACES - 1}, found[MEMORY];
    float single[MOST_ADDENDS];
    for (size_t i = 0; i < c->count; i++) single[i] = (float)c->v[i];
    const bool is_float = c->kind == HDST__F32;
    cl_mem m = cl_run_buffer(&run, memory, sizeof memory), v = cl_run_buffer(&run, is_float ? (void *)single : (void *)(uintptr_t)c->v, c->count * (is_float ? 4 : 8));
    const uint64_t expected = form == MAXIMUM || form == MINIMUM ? true_extreme(c, form == MINIMUM) : true_sum(c, 0);
    const int32_t of_words = form == RUNNING_SUMS && is_float ? s + HDST__LANE_BITS : s;
    launch(add, m, v, c->count, s, form);
    cr_assert(cl_run_read(&run, m, found, sizeof found));
    cr_expect_eq(found[OVERFLOW + 1], 0, "the overflow table has room");
    const uint64_t host = read_on_host(c, form, of_words, found);
    cr_expect_eq(host, expected, "%s, %s, scale %d: %" PRIx64 " instead of %" PRIx64, form_name[form], c->name, s, host, expected);
    if (form != OVERFLOW_TABLE) {
        launch(round, m, v, c->count, of_words, form);
        cr_assert(cl_run_read(&run, m, found, sizeof found));
        cr_expect_eq((uint64_t)found[FOUND], expected, "%s, %s, scale %d, on the device: %" PRIx64 " instead of %" PRIx64, form_name[form], c->name, s, (uint64_t)found[FOUND], expected);
    }
    clReleaseMemObject(m);
    clReleaseMemObject(v);
}

static void run_kind(hdst__kind kind, cl_kernel add, cl_kernel round)
{
    enum { SEEDS = 2 };
    for (int which = 0; which < ADDEND_CASES; which++)
        for (uint64_t seed = 0; seed < (may_be_doubled(which) ? SEEDS : 1); seed++) {
            const addend_case c = addends_of(kind, which, seed);
            hdst__addends seen;
            hdst__addends_init(&seen);
            for (size_t i = 0; i < c.count; i++) hdst__addends_add(&seen, kind, bits_of_value(kind, c.v[i]));
            const int32_t scales[] = {hdst__addends_scale(&seen, kind, HDST__FIXED_BITS), 10, hdst__fixed_scale(kind, -2000), hdst__fixed_scale(kind, 2000)};
            for (held_in form = SUPERACCUMULATOR; form < FORMS; form++)
                for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
                    const bool lanes = form == RUNNING_SUMS && kind == HDST__F32;
                    run_case(add, round, &c, form, lanes && scales[i] < HDST__LANE_LEAST_SCALE ? HDST__LANE_LEAST_SCALE : scales[i]);
                }
        }
    cl_run_release(add);
    cl_run_release(round);
}

Test(conformance_device, floats) { run_kind(HDST__F32, build("add_float"), build("round_float")); }
Test(conformance_device, doubles) { run_kind(HDST__F64, build("add_double"), build("round_double")); }
