// SPDX-License-Identifier: Apache-2.0
// The representations of accumulators on a device (accum/*.cl, as the library has them), against the truth by another road (conformance.h), with
// work-items that add at the same moment, in each dialect that kernels are printed in. What a kernel leaves is read twice: by the host's functions, and by
// a kernel, which rounds the words as they are where that is allowed, and spills them to the superaccumulator and rounds that. The levels of block form
// need a kernel around them: tests/codegen/opencl/test_kernel_levels.c has them.
#include "accum/accum_pieces.h"
#include "accum/addends.h"
#include "accum/fixed_point.h"
#include "accum/overflow_table.h"
#include "accum/representation.h"
#include "accum/rounding.h"
#include "accum/superaccumulator.h"
#include "tests/accum/conformance.h"
#include "tests/accum/conformance_integers.h"
#include "tests/accum/conformance_kernels.h"
#include "tests/support/kernel_suite.h"

#include <inttypes.h>

TestSuite(conformance_device, .init = set_up, .fini = tear_down);

enum { LANES = 16, COPIES = 2 };

// What is tried of which representation. floats: there is no such form for doubles.
static const struct { const char *name; const hdst__representation *held; bool floats; } forms[FORMS] = {
    [SUPERACCUMULATOR] = {"superaccumulator", &hdst__superaccumulator},
    [ONE_WORD] = {"one word", &hdst__fixed_point},
    [TWO_WORDS] = {"two words", &hdst__fixed_point},
    [ONE_WORD_GPU] = {"one word, quick", &hdst__fixed_point},
    [TWO_WORDS_GPU] = {"two words, quick", &hdst__fixed_point},
    [LOCAL_WORDS] = {"words in local memory", &hdst__fixed_point},
    [AGGREGATED_WORD] = {"a row's word", &hdst__fixed_point},
    [AGGREGATED_WORDS] = {"a row's two words", &hdst__fixed_point},
    [FIRST_LEVEL] = {"words in front of a cell", &hdst__fixed_point},
    [BLOCK_WORD] = {"one word, singly", &hdst__fixed_point, .floats = true},
    [RUNNING_SUMS] = {"running sums", &hdst__levels},
    [OVERFLOW_TABLE] = {"overflow table", &hdst__overflow_table},
    [OVERFLOW_WORD] = {"a word before an overflow table", &hdst__overflow_table},
    [MAXIMUM] = {"maximum", &hdst__minmax_keys},
    [MINIMUM] = {"minimum", &hdst__minmax_keys},
};

// In an order in which what a file needs stands before it.
static const char *const files[] = {
    "integer_words.cl", "minmax_keys.cl", "minmax_keys_double.cl", "minmax_values.cl", "superaccumulator.cl", "fixed_point.cl", "superaccumulator_double.cl",
    "fixed_point_double.cl", "integer_words_local.cl", "fixed_point_local.cl", "levels_lane.cl", "levels_lane_double.cl", "overflow_table.cl",
    "overflow_table_double.cl", "first_level.cl", "rounding.cl", "rounding_double.cl",
};
enum { FILES = sizeof files / sizeof *files };

static bool is_compiled(const char *file, size_t length)
{
    for (size_t f = 0; f < FILES; f++)
        if (strlen(files[f]) == length && !memcmp(files[f], file, length)) return true;
    return false;
}

Test(conformance_device, every_representation_is_tried)
{
    for (size_t r = 0; r < hdst__representation_count; r++) {
        const hdst__representation *held = hdst__representations[r];
        int tried = held == &hdst__integers;        // below
        for (held_in form = 0; form < FORMS; form++) tried += forms[form].held == held;
        cr_expect_gt(tried, 0, "%s is not tried on a device", held->name);
        cr_assert_not_null(held->device_files, "%s has no OpenCL C", held->name);
        for (const char *at = held->device_files; *at; at += strcspn(at, " "), at += *at == ' ')
            cr_expect(is_compiled(at, strcspn(at, " ")), "%s: %s is not among what kernels are made of here", held->name, at);
    }
}

// --- Programs ---

static const char *const dialects[] = {"dialect_plain.cl", "dialect_clang.cl", "dialect_portable.cl"};
enum { DIALECTS = sizeof dialects / sizeof *dialects };

static const char *program_text(const char *dialect, const char *defines, const char *kernels)
{
    const char *head = hdst__pieces_text(&arena, &hdst__base_pieces, "head.cl"), *macros = hdst__pieces_text(&arena, &hdst__base_pieces, dialect);
    const char *source = hdst__arena_printf(&arena, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n%s%s", head, macros);
    source = hdst__arena_printf(&arena, "%s#define COPIES %d\n#define SUPERACCUMULATOR_LIMBS 69\n", source, COPIES);
    source = hdst__arena_printf(&arena, "%s%s", source, defines);
    for (size_t f = 0; f < FILES; f++) source = hdst__arena_printf(&arena, "%s%s", source, hdst__pieces_text(&arena, &hdst__accum_pieces, files[f]));
    return hdst__arena_printf(&arena, "%s%s", source, kernels);
}

static cl_kernel build(const char *text, const char *name)
{
    cl_kernel kernel = cl_run_build(&run, text, "-cl-std=CL1.2 -w", name);
    cr_assert_not_null(kernel, "%s", name);
    return kernel;
}

typedef struct device {
    hdst__kind kind;
    cl_kernel add, value;
} device;

static device device_of(hdst__kind kind, const char *dialect)
{
    const char *type = kind == HDST__F32 ? "float" : "double";
    const char *defines = hdst__arena_printf(&arena, "#define FLOAT %d\n#define REAL %s\n#define OF(name) name##_%s\n"
                                             "#define PREFIX(name) %s_##name\n#define OVERFLOW_CELL_WORDS %u\n",
                                             kind == HDST__F32, type, type, type, hdst__superaccumulator_digits(kind) + 1);
    const char *text = program_text(dialect, defines, kernels_of_reals);
    return (device){kind, build(text, "add"), build(text, "value")};
}

static void release(device *d)
{
    cl_run_release(d->add);
    cl_run_release(d->value);
}

// `adds` additions, of the case's addends again and again.
static void launch_add(const device *d, cl_mem memory, cl_mem v, size_t count, uint64_t adds, int32_t s, held_in form)
{
    const cl_uint n = (cl_uint)count, f = (cl_uint)form;
    const cl_ulong all = adds;
    const cl_int scale = s;
    clSetKernelArg(d->add, 0, sizeof memory, &memory);
    clSetKernelArg(d->add, 1, sizeof v, &v);
    clSetKernelArg(d->add, 2, sizeof n, &n);
    clSetKernelArg(d->add, 3, sizeof all, &all);
    clSetKernelArg(d->add, 4, sizeof scale, &scale);
    clSetKernelArg(d->add, 5, sizeof f, &f);
    cr_assert(cl_run_launch(&run, d->add, LANES, LANES));
}

static void launch_value(const device *d, cl_mem memory, int32_t s, held_in form)
{
    const cl_uint f = (cl_uint)form;
    const cl_int scale = s;
    clSetKernelArg(d->value, 0, sizeof memory, &memory);
    clSetKernelArg(d->value, 1, sizeof scale, &scale);
    clSetKernelArg(d->value, 2, sizeof f, &f);
    cr_assert(cl_run_launch(&run, d->value, LANES, LANES));
}

// --- Trials ---

// By the host's functions. s: of the words.
static uint64_t read_on_host(const addend_case *c, held_in form, int32_t s, int64_t *m)
{
    hdst__cell cell = hdst__cell_make(c->kind, form == MAXIMUM ? HDST__MAX : form == MINIMUM ? HDST__MIN : HDST__SUM, HDST__CLASS_TWO_WORDS);
    int64_t all[CELL_WORDS];
    if (!cell.digits) return hdst__cell_read(&cell, m + KEY);
    memcpy(all, m + CELL, sizeof all);
    hdst__overflow_table.spill(&cell, m + OVERFLOW, 0, all);
    return hdst__fixed_point.round(&cell, m + WORD, s, all);
}

// Whether the words are all of the value, and may be rounded by converting them.
static bool is_direct(const addend_case *c, int32_t s, const int64_t *m)
{
    for (int w = 0; w < CELL_WORDS; w++)
        if (m[CELL + w]) return false;
    return hdst__rounds_directly(c->kind, -s) && (m[WORD + 1] == 0 || hdst__rounds_directly(c->kind, -s - HDST__FIXED_BITS));
}

static void expect(uint64_t found, uint64_t expected, const addend_case *c, held_in form, int32_t s, const char *road)
{
    cr_expect_eq(found, expected, "%s, %s, scale %d, %s: %" PRIx64 " instead of %" PRIx64, forms[form].name, c->name, s, road, found, expected);
}

static void run_case(const device *d, const addend_case *c, uint64_t adds, held_in form, int32_t s, uint64_t expected)
{
    int64_t memory[MEMORY] = {[OVERFLOW] = PLACES - 1}, found[MEMORY];
    float single[MOST_ADDENDS];
    for (size_t i = 0; i < c->count; i++) single[i] = (float)c->v[i];
    const bool is_float = c->kind == HDST__F32;
    void *addends = is_float ? (void *)single : (void *)(uintptr_t)c->v;
    cl_mem m = cl_run_buffer(&run, memory, sizeof memory), v = cl_run_buffer(&run, addends, c->count * (is_float ? 4 : 8));
    const int32_t of_words = form == RUNNING_SUMS && is_float ? s + HDST__LANE_BITS : s;
    launch_add(d, m, v, c->count, adds, s, form);
    cr_assert(cl_run_read(&run, m, found, sizeof found));
    bool used = false;
    for (int at = 0; at < PLACES; at++) used |= found[OVERFLOW + HDST__OVERFLOW_OWNERS + at] != 0;
    cr_expect_eq((uint64_t)found[OVERFLOW + HDST__OVERFLOW_STATE], used ? HDST__OVERFLOW_USED : 0, "the overflow table has room, and says whether it is used");
    const bool overflow = form == OVERFLOW_TABLE || form == OVERFLOW_WORD, direct = is_direct(c, of_words, found) && form < MAXIMUM && !overflow;
    expect(read_on_host(c, form, of_words, found), expected, c, form, s, "on the host");
    if (!overflow) {
        launch_value(d, m, of_words, form);
        cr_assert(cl_run_read(&run, m, found, sizeof found));
        expect((uint64_t)found[FOUND], expected, c, form, s, "on the device");
        if (direct) expect((uint64_t)found[FOUND_DIRECTLY], expected, c, form, s, "words rounded on the device");
    }
    clReleaseMemObject(m);
    clReleaseMemObject(v);
}

static bool is_for(held_in form, hdst__kind kind) { return kind == HDST__F32 || !forms[form].floats; }

static void run_forms(const device *d, const addend_case *c, int32_t s)
{
    for (held_in form = SUPERACCUMULATOR; form < FORMS; form++) {
        const bool lanes = form == RUNNING_SUMS && c->kind == HDST__F32;
        const uint64_t expected = form == MAXIMUM || form == MINIMUM ? true_extreme(c, form == MINIMUM) : true_sum(c, 0);
        if (is_for(form, c->kind)) run_case(d, c, c->count, form, lanes && s < HDST__LANE_LEAST_SCALE ? HDST__LANE_LEAST_SCALE : s, expected);
    }
}

static void run_kind(hdst__kind kind, const char *dialect, uint64_t seeds)
{
    device d = device_of(kind, dialect);
    for (int which = 0; which < ADDEND_CASES; which++)
        for (uint64_t seed = 0; seed < (may_be_doubled(which) ? seeds : 1); seed++) {
            const addend_case c = addends_of(kind, which, seed);
            hdst__addends seen;
            hdst__addends_init(&seen);
            for (size_t i = 0; i < c.count; i++) hdst__addends_add(&seen, kind, bits_of_value(kind, c.v[i]));
            const int32_t scales[] = {hdst__addends_scale(&seen, kind, HDST__FIXED_BITS), 10, hdst__fixed_scale(kind, -2000), hdst__fixed_scale(kind, 2000)};
            for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) run_forms(&d, &c, scales[i]);
        }
    release(&d);
}

Test(conformance_device, floats) { run_kind(HDST__F32, dialects[0], 2); }
Test(conformance_device, doubles) { run_kind(HDST__F64, dialects[0], 2); }

Test(conformance_device, in_other_dialects)
{
    for (int i = 1; i < DIALECTS; i++) {
        run_kind(HDST__F32, dialects[i], 1);
        run_kind(HDST__F64, dialects[i], 1);
    }
}

Test(conformance_device, ties)
{
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        device d = device_of((hdst__kind)kind, dialects[0]);
        for (int exponent = -60; exponent <= 60; exponent += 20)
            for (int odd = 0; odd < 2; odd++)
                for (int beside = -1; beside <= 1; beside++) {
                    const addend_case c = tie_at((hdst__kind)kind, exponent, odd, beside);
                    run_forms(&d, &c, hdst__fixed_scale((hdst__kind)kind, 30 - exponent));
                    run_forms(&d, &c, 10);
                }
        for (int sign = -1; sign <= 1; sign += 2) {     // the last bit of two words decides
            addend_case c = tie_at((hdst__kind)kind, 39, sign < 0, 0);
            c.v[c.count++] = sign * 0x1p-40;
            run_forms(&d, &c, 0);
        }
        release(&d);
    }
}

// As many additions of the largest addend as words take between two flushes; first-level words overflow, and say so.
Test(conformance_device, additions_up_to_the_flush_and_beyond)
{
    static const struct { held_in form; int doublings; } trials[] = {{ONE_WORD, 23}, {TWO_WORDS, 23}, {ONE_WORD_GPU, 23}, {RUNNING_SUMS, 18}, {LOCAL_WORDS, 18},
                                                                     {FIRST_LEVEL, 24}, {SUPERACCUMULATOR, 23}};
    for (int kind = HDST__F32; kind <= HDST__F64; kind++) {
        device d = device_of((hdst__kind)kind, dialects[0]);
        for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const addend_case c = {.name = "largest addends", .kind = (hdst__kind)kind, .count = 1, .v = {sign * 0xffffffp16}};
                cr_assert(trials[i].form == FIRST_LEVEL || UINT64_C(1) << trials[i].doublings <= HDST__FLUSH_ADDS);
                run_case(&d, &c, UINT64_C(1) << trials[i].doublings, trials[i].form, 0, true_sum(&c, trials[i].doublings));
            }
        release(&d);
    }
}

// --- Integers ---

static const char kernels_of_integers[] =
    "__kernel void add(__global long *m, __global const TYPE *v, uint count)\n"
    "{\n"
    "    __local uint words[8 * COPIES];\n"
    "    const uint lane = get_local_id(0);\n"
    "    for (uint w = lane; w < 8 * COPIES; w += get_local_size(0)) words[w] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint i = lane; i < count; i += get_local_size(0)) {\n"
    "        __local uint *own = words + lane % COPIES;\n"
    "        const ulong bits = (ulong)(long)v[i];\n"
    "        device_add(m, (long)bits);\n"
    "        device_max(m + 1, MIN_KEY(v[i]));\n"
    "        device_max(m + 2, MAX_KEY(v[i]));\n"
    "        device_or(m + 3, ~bits);\n"
    "        device_or(m + 4, bits);\n"
    "        device_xor(m + 5, bits);\n"
    "        local_add64(own, (long)bits);\n"
    "        local_or64(own + 2 * COPIES, bits);\n"
    "        local_xor64(own + 4 * COPIES, bits);\n"
    "        strided_add64(words + 6 * COPIES, COPIES, (long)bits);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (lane != 0) return;\n"
    "    m[6] = (long)take_add64(words);\n"
    "    m[7] = (long)take_or64(words + 2 * COPIES);\n"
    "    m[8] = (long)take_xor64(words + 4 * COPIES);\n"
    "    m[9] = (long)take_add64(words + 6 * COPIES);\n"
    "}\n"
    // Kinds of 32 bits at most have words of 32 bits in local memory.
    "__kernel void add_narrow(__global long *m, __global const TYPE *v, uint count)\n"
    "{\n"
    "    __local uint words[5 * COPIES];\n"
    "    const uint lane = get_local_id(0);\n"
    "    for (uint w = lane; w < 5 * COPIES; w += get_local_size(0)) words[w] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint i = lane; i < count; i += get_local_size(0)) {\n"
    "        __local uint *own = words + lane % COPIES;\n"
    "        const ulong bits = (ulong)(long)v[i];\n"
    "        local_add32(own, (long)bits);\n"
    "        local_max32(own + COPIES, MIN_KEY(v[i]));\n"
    "        local_max32(own + 2 * COPIES, MAX_KEY(v[i]));\n"
    "        local_or32(own + 3 * COPIES, bits);\n"
    "        local_xor32(own + 4 * COPIES, bits);\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (lane != 0) return;\n"
    "    m[0] = (long)take_add32(words);\n"
    "    m[1] = (long)take_max32(words + COPIES);\n"
    "    m[2] = (long)take_max32(words + 2 * COPIES);\n"
    "    m[4] = (long)take_or32(words + 3 * COPIES);\n"
    "    m[5] = (long)take_xor32(words + 4 * COPIES);\n"
    "}\n";

// Words that a kernel leaves, and what each is of. Low bits of an AND are not kept in 32 bits by themselves.
enum { INTEGER_WORDS = 10, NARROW_WORDS = 6 };
static const hdst__accumulate_op op_of_word[INTEGER_WORDS] = {HDST__SUM, HDST__MIN, HDST__MAX, HDST__AND, HDST__OR, HDST__XOR,
                                                              HDST__SUM, HDST__OR, HDST__XOR, HDST__SUM};

static void run_integers(cl_kernel kernel, hdst__kind kind, const uint64_t *v, size_t count, bool narrow)
{
    const size_t size = hdst__scalar_size(kind);
    char packed[MOST_ADDENDS * 8];
    int64_t words[INTEGER_WORDS] = {0};
    for (size_t i = 0; i < count; i++) memcpy(packed + i * size, &v[i], size);      // little-endian hosts
    cl_mem m = cl_run_buffer(&run, words, sizeof words), from = cl_run_buffer(&run, packed, count * size);
    const cl_uint n = (cl_uint)count;
    clSetKernelArg(kernel, 0, sizeof m, &m);
    clSetKernelArg(kernel, 1, sizeof from, &from);
    clSetKernelArg(kernel, 2, sizeof n, &n);
    cr_assert(cl_run_launch(&run, kernel, LANES, LANES));
    cr_assert(cl_run_read(&run, m, words, sizeof words));
    for (int w = 0; w < (narrow ? NARROW_WORDS : INTEGER_WORDS); w++) {
        const hdst__cell cell = hdst__cell_make(kind, op_of_word[w], HDST__CLASS_PLAIN);
        if (narrow && op_of_word[w] == HDST__AND) continue;
        const uint64_t found = hdst__cell_read(&cell, &words[w]), expected = true_integer(kind, op_of_word[w], v, count);
        cr_expect_eq(found, expected, "word %d of kind %d%s: %" PRIx64 " instead of %" PRIx64, w, (int)kind, narrow ? ", narrow" : "", found, expected);
    }
    clReleaseMemObject(m);
    clReleaseMemObject(from);
}

Test(conformance_device, integers)
{
    static const struct { hdst__kind kind; const char *type; } kinds[] = {{HDST__I8, "char"}, {HDST__U8, "uchar"}, {HDST__I16, "short"}, {HDST__U16, "ushort"},
        {HDST__I32, "int"}, {HDST__U32, "uint"}, {HDST__I64, "long"}, {HDST__U64, "ulong"}};
    uint64_t seed = 3, v[MOST_ADDENDS];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const char *type = kinds[k].type;
        const char *defines = hdst__arena_printf(&arena,
                                                 "#define OVERFLOW_CELL_WORDS 10\n#define TYPE %s\n#define MIN_KEY min_key_%s\n#define MAX_KEY max_key_%s\n",
                                                 type, type, type);
        const char *text = program_text(dialects[k % DIALECTS], defines, kernels_of_integers);
        cl_kernel add = build(text, "add"), add_narrow = build(text, "add_narrow");
        for (int round = 0; round < 8; round++) {
            const size_t count = 1 + random_word(&seed) % MOST_ADDENDS;
            for (size_t i = 0; i < count; i++) v[i] = some_integer(kinds[k].kind, &seed, round % 2);
            run_integers(add, kinds[k].kind, v, count, false);
            if (hdst__scalar_size(kinds[k].kind) <= 4) run_integers(add_narrow, kinds[k].kind, v, count, true);
        }
        cl_run_release(add);
        cl_run_release(add_narrow);
    }
}
