// SPDX-License-Identifier: Apache-2.0
// Printed kernels beyond sums: outputs, filters, checks, packed records, names; what their text must and must not contain.
#include "base/buffer.h"
#include "tests/support/comma_locale.h"
#include "tests/support/ir_make.h"
#include "tests/support/kernel_suite.h"
#include "tests/support/words.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernel_text, .init = set_up, .fini = tear_down);

static hdst__target_facts facts_of(int form)
{
    return (hdst__target_facts){form ? HDST__TARGET_GPU : HDST__TARGET_CPU, 48 << 10, 1024, 2, true, true, true, cl_run_is_simulated(&run)};
}

static const hdst__kernel *make(const ir_func *f, int form, const hdst__storage *input, const uint64_t *rows)
{
    const hdst__kernel_options options = {.facts = facts_of(form), .input = input, .rows = rows};
    return hdst__kernel_make(&arena, f, &options, &diags);
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) n++;
    return n;
}

static ir_stmt *store(ir_func *f, uint32_t param, uint32_t leaf, ir_expr *value)
{
    ir_stmt *stmt = ir_add(f, &f->body, IR_STORE);
    stmt->param = param;
    stmt->leaf = leaf;
    stmt->value = value;
    return stmt;
}

// --- Running ---

enum { N = 500 };
typedef struct __attribute__((packed)) odd { uint8_t tag; double d; int64_t l; float f; int16_t s; } odd;     // 23 bytes

// Swaps the fields of a packed record around, keeps the records with d < 0.5, fails for some tags.
static ir_func *make_odd(const char *name)
{
    ir_func *f = ir_new(&arena, name);
    ir_param_add(
        f, IR_INPUT, "p",
        ir_record(&arena, "odd", 1, (ir_field[]){{"tag", HDST__U8, 0}, {"d", HDST__F64, 0}, {"l", HDST__I64, 0}, {"f", HDST__F32, 0}, {"s", HDST__I16, 0}}, 5),
        false);
    const uint32_t out =
        ir_param_add(f, IR_OUTPUT, "out",
                     ir_record(&arena, "swapped", 1,
                               (ir_field[]){{"s", HDST__I16, 0}, {"tag", HDST__U8, 0}, {"f", HDST__F32, 0}, {"l", HDST__I64, 0}, {"d", HDST__F64, 0}}, 5),
                     false);
    static const uint32_t from[] = {4, 0, 3, 2, 1};
    const uint32_t check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_INDEX, .what = "tags"});
    ir_stmt *stmt = ir_add(f, &f->body, IR_CHECK);
    stmt->check = check;
    stmt->cond = ir_op2(f, IR_LT, ir_read(f, IR_FIELD, 0, 0, NULL, NULL), ir_number(f, HDST__U8, 200));
    for (uint32_t l = 0; l < 5; l++) store(f, out, l, ir_read(f, IR_FIELD, 0, from[l], NULL, NULL));
    stmt = ir_add(f, &f->body, IR_EMIT);
    stmt->cond = ir_op2(f, IR_LT, ir_read(f, IR_FIELD, 0, 1, NULL, NULL), ir_number(f, HDST__F64, 0.5));
    f->emits = true;
    return f;
}

static void check_odd(const char *name)
{
    typedef struct __attribute__((packed)) swapped { int16_t s; uint8_t tag; float f; int64_t l; double d; } swapped;
    ir_func *f = make_odd(name);
    cr_assert_null(hdst__passes_scalar(f));
    odd *in = HDST__NEW_ARRAY(&arena, odd, N);
    swapped *out = HDST__NEW_ARRAY(&arena, swapped, N);
    for (int i = 0; i < N; i++) in[i] = (odd){(uint8_t)(i == 333 || i == 222 || i == 499 ? 250 : i % 200), i / (double)N, INT64_MIN + i, (float)i, (int16_t)-i};
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, N);
    cr_assert_eq(f->params[0].record->size, sizeof(odd));
    void *buffers[] = {in};
    for (int form = 0; form < 2; form++) {
        const hdst__kernel *kernel = make(f, form, input, NULL);
        cr_assert_not_null(kernel);
        kernel_case c = {.kernel = kernel, .func = f, .input = input, .input_buffers = buffers, .first = 1000, .count = N, .groups = 2, .output = out,
                         .output_bytes = N * sizeof(swapped)};
        cr_assert(kernel_run(&run, &c));
        cr_expect_eq(c.error, UINT64_C(1222) << 16, "the first failing record of the input");
        size_t at = 0;
        for (int i = 0; i < N; i++) {
            if (!(in[i].d < 0.5)) continue;
            const swapped *o = &out[at++];
            cr_expect(o->s == in[i].s && o->tag == in[i].tag && o->f == in[i].f && o->l == in[i].l && o->d == in[i].d, "form %d record %d", form, i);
        }
        cr_expect_eq(c.emitted, at);
    }
}

Test(kernel_text, packed_records_filters_and_failing_records) { check_odd("swap"); }

// Drivers call files by them.
Test(kernel_text, functions_may_have_names_that_no_file_can_have)
{
    char name[1001] = "";
    memset(name, 'a', sizeof name - 1);
    check_odd(name);
}

// The program in which hdst runs may have set one.
Test(kernel_text, a_locale_with_decimal_commas_changes_no_number)
{
    static const double numbers[] = {0.5, -0.25, 1e-300, 1.25e30, 3, 1.7976931348623157e308, 4.9406564584124654e-324, 0.1};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    if (!set_comma_locale()) cr_skip_test("there is no locale with decimal commas");
    ir_func *f = ir_new(&arena, "numbers");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "one", 0, (ir_field[]){{"x", HDST__F64, 0}}, 1), false);
    const uint32_t out = ir_param_add(
        f, IR_OUTPUT, "out",
        ir_record(&arena, "pair", 0, (ir_field[]){{"d", HDST__F64, NUMBERS}, {"f", HDST__F32, NUMBERS}}, 2), false);
    for (uint32_t n = 0; n < NUMBERS; n++) {
        store(f, out, 0, ir_op2(f, IR_MUL, ir_read(f, IR_FIELD, 0, 0, NULL, NULL), ir_number(f, HDST__F64, numbers[n])))->index = ir_number(f, HDST__U32, n);
        store(f, out, 1, ir_number(f, HDST__F32, (float)numbers[n]))->index = ir_number(f, HDST__U32, n);
    }
    double in[] = {1, -2};
    struct { double d[NUMBERS]; float f[NUMBERS]; } got[2];
    void *buffers[] = {in};
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, 2);
    const hdst__kernel *kernel = make(f, 1, input, NULL);
    cr_assert_not_null(kernel);
    kernel_case c = {.kernel = kernel, .func = f, .input = input, .input_buffers = buffers, .count = 2, .groups = 1, .output = got, .output_bytes = sizeof got};
    cr_assert(kernel_run(&run, &c));
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < NUMBERS; n++)
            cr_expect(got[i].d[n] == in[i] * numbers[n] && got[i].f[n] == (float)numbers[n], "%g: %g, %g", numbers[n],
                      got[i].d[n], (double)got[i].f[n]);
}

// Records of a block are numbered by an int; where their bytes are more than it holds they are counted in 64 bits.
Test(kernel_text, blocks_of_output_beyond_two_gibibytes)
{
    enum { SMALL = 100, LARGE = 32000000 };
    for (int large = 0; large < 2; large++) {
        ir_func *f = ir_new(&arena, "wide");
        ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "one", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), false);
        const uint32_t out = ir_param_add(
            f, IR_OUTPUT, "out",
            ir_record(&arena, "row", 0, (ir_field[]){{"a", HDST__F32, large ? LARGE : SMALL}, {"b", HDST__F32, 0}}, 2),
            false);
        store(f, out, 1, ir_op2(f, IR_ADD, ir_read(f, IR_FIELD, 0, 0, NULL, NULL), ir_number(f, HDST__F32, 1)));
        cr_assert_null(hdst__passes_scalar(f));
        const hdst__kernel *kernel = make(f, 0, hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, N), NULL);
        cr_assert_not_null(kernel);
        cr_expect(strstr(kernel->source, "_BlockAt, r, 0) ="), "%s", kernel->source);
        cr_expect_eq(count_of(kernel->source, large ? "(at) + (ulong)(i) * 128000004" : "(at) + (i) * 404"), 2, "%s", kernel->source);
    }
}

// A struct that is one word, one of whose fields nobody reads: in vector loops the others are taken from the word.
Test(kernel_text, fields_of_a_struct_that_is_one_word)
{
    typedef struct small { int16_t s; uint8_t unread; int8_t b; float f; } small;
    typedef struct wide { float f; int16_t s; int8_t b; } wide;
    ir_func *f = ir_new(&arena, "parts");
    ir_param_add(
        f, IR_INPUT, "p",
        ir_record(&arena, "small", 0,
                  (ir_field[]){{"s", HDST__I16, 0}, {"unread", HDST__U8, 0}, {"b", HDST__I8, 0}, {"f", HDST__F32, 0}},
                  4),
        false);
    const uint32_t out = ir_param_add(
        f, IR_OUTPUT, "out",
        ir_record(&arena, "wide", 0, (ir_field[]){{"f", HDST__F32, 0}, {"s", HDST__I16, 0}, {"b", HDST__I8, 0}}, 3),
        false);
    static const uint32_t from[] = {3, 0, 2};
    for (uint32_t l = 0; l < 3; l++) store(f, out, l, ir_read(f, IR_FIELD, 0, from[l], NULL, NULL));
    cr_assert_null(hdst__passes_scalar(f));
    small *in = HDST__NEW_ARRAY(&arena, small, N);
    wide *got = HDST__NEW_ARRAY(&arena, wide, N);
    for (int i = 0; i < N; i++) in[i] = (small){(int16_t)(i * 131 - 30000), 0xff, (int8_t)(i * 7), (float)i * -1.5f};
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, N);
    cr_assert_eq(f->params[0].record->size, sizeof(small));
    void *buffers[] = {in};
    const hdst__kernel *kernel = make(f, 0, input, NULL);
    cr_assert_not_null(kernel);
    cr_expect_eq(count_of(kernel->source, "_Part(i + r)"), 3, "%s", kernel->source);
    cr_expect_eq(count_of(kernel->source, "_Of["), 0);
    kernel_case c = {.kernel = kernel, .func = f, .input = input, .input_buffers = buffers, .count = N, .groups = 2,
                     .output = got, .output_bytes = N * sizeof(wide)};
    cr_assert(kernel_run(&run, &c));
    for (int i = 0; i < N; i++) cr_expect(got[i].f == in[i].f && got[i].s == in[i].s && got[i].b == in[i].b, "record %d", i);
}

// Every word of the templates and of a kernel in both forms, and words of OpenCL C that stand in neither.
static words words_of_kernels(void)
{
    words all = {0};
    ir_func *f = ir_kmeans(&arena);
    cr_assert_null(hdst__passes_scalar(f));
    const uint64_t rows[] = {0, 50, 50, 1};
    words_add_templates(&arena, &all);
    for (int form = 0; form < 2; form++)
        words_add_identifiers(
            &arena, &all,
            make(f, form, hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, 1000), rows)->source);
    words_add_identifiers(
        &arena, &all,
        "half kernel barrier float4 image2d_t sampler_t global constant private atom_add INFINITY M_PI v v_ v_2 "
        "a_b a_b_ moved lost turns t_value_sum0");
    return all;
}

// A variable and a field of the input and the output for each word.
static ir_func *make_named(const words *names)
{
    ir_field *fields = HDST__NEW_ARRAY(&arena, ir_field, names->count);
    for (size_t n = 0; n < names->count; n++) fields[n] = (ir_field){names->items[n], HDST__U32, 0};
    ir_func *f = ir_new(&arena, "kernel");
    ir_param_add(f, IR_INPUT, "global", ir_record(&arena, "constant", 0, fields, names->count), false);
    const uint32_t out = ir_param_add(f, IR_OUTPUT, "private", ir_record(&arena, "sampler_t", 0, fields, names->count), false);
    ir_expr *sum = ir_number(f, HDST__U32, 0);
    for (uint32_t n = 0; n < names->count; n++) {
        const uint32_t var = hdst__ir_add_var(f, names->items[n], HDST__U32, 0);
        ir_assign(f, &f->body, var, ir_op2(f, IR_ADD, ir_op2(f, IR_MUL, sum, ir_number(f, HDST__U32, 3)), ir_read(f, IR_FIELD, 0, n, NULL, NULL)));
        sum = hdst__ir_var(f, var);
    }
    for (uint32_t n = 0; n < names->count; n++) store(f, out, n, hdst__ir_var(f, n));
    return f;
}

// What the function of these names gives in both forms, against the same sum worked out here.
static void check_named(const words *names)
{
    enum { RECORDS = 70 };
    ir_func *f = make_named(names);
    uint32_t *in = HDST__NEW_ARRAY(&arena, uint32_t, RECORDS * names->count), *got = HDST__NEW_ARRAY(&arena, uint32_t, RECORDS * names->count);
    for (uint32_t i = 0; i < RECORDS * names->count; i++) in[i] = i * 2654435761u;
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, RECORDS);
    void *buffers[] = {in};
    for (int form = 0; form < 2; form++) {      // as it stands: the passes would make fewer variables of it
        const hdst__kernel *kernel = make(f, form, input, NULL);
        cr_assert_not_null(kernel);
        kernel_case c = {.kernel = kernel, .func = f, .input = input, .input_buffers = buffers, .count = RECORDS, .groups = 2, .output = got,
                         .output_bytes = RECORDS * names->count * sizeof *got};
        cr_assert(kernel_run(&run, &c));
        for (size_t i = 0; i < RECORDS; i++) {
            uint32_t want = 0;
            for (size_t n = 0; n < names->count; n++) {
                want = want * 3 + in[i * names->count + n];
                cr_assert_eq(got[i * names->count + n], want, "form %d: '%s'", form, names->items[n]);
            }
        }
    }
}

Test(kernel_text, names_of_the_user_may_be_words_of_opencl_or_of_generated_text)
{
    enum { TOGETHER = 96, STEP = 7 };       // of all words, one in so many: compiling them all takes minutes (test_identifiers.c compares the text of all)
    const words all = words_of_kernels();
    cr_assert_gt(all.count, 1000);
    words names = {0};
    for (size_t n = 0; n < all.count; n++) {
        if (n % STEP == 0 || n + 40 > all.count) words_add(&arena, &names, all.items[n]);
        if (names.count < TOGETHER && n + 1 < all.count) continue;
        check_named(&names);
        names = (words){0};
    }
}

// --- Text ---

Test(kernel_text, kmeans_for_cpu_devices_has_blocks_vector_loops_and_no_barrier)
{
    ir_func *f = ir_kmeans(&arena);
    cr_assert_null(hdst__passes_scalar(f));
    const uint64_t rows[] = {0, 50, 50, 1};
    const hdst__kernel *kernel = make(f, 0, hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, 1000), rows);
    cr_assert_not_null(kernel);
    cr_expect_eq(count_of(kernel->source, "barrier"), 0);
    cr_expect_eq(count_of(kernel->source, "@"), 0, "a hole of the template was not filled");
    cr_expect_eq(count_of(kernel->source, "BLOCK; r++) {"), 6, "record loops: start, four centers, one center, addends, what does not fit, additions");
    cr_expect_eq(count_of(kernel->source, "    VECTOR_LOOP("), 4);
    cr_expect_eq(count_of(kernel->source, "vstore4("), 1, "one vector addition per record");
    cr_expect_eq(kernel->local_size, 1);
    cr_expect(kernel->one_group_per_strip);
}

Test(kernel_text, records_are_read_where_they_lie_unless_a_loop_reads_them_again)
{
    ir_func *kmeans = ir_kmeans(&arena), *swap = make_odd("swap"), *half = ir_new(&arena, "half");
    ir_param_add(half, IR_INPUT, "p", ir_record(&arena, "point", 0, (ir_field[]){{"x", HDST__F32, 0}, {"y", HDST__F64, 0}}, 2), false);
    ir_param_add(half, IR_OUTPUT, "out", ir_record(&arena, "number", 0, (ir_field[]){{"y", HDST__F64, 0}}, 1), false);
    store(half, 1, 0, ir_read(half, IR_FIELD, 0, 1, NULL, NULL));
    ir_func *const funcs[] = {kmeans, swap, half};
    static const char *const arrays[] = {"_Of[2][BLOCK]", "_Of[1][BLOCK]", "_Of[1][BLOCK]"};
    // Read again for each center; 23 bytes apart, two in a vector loop and of these one to count; one of two doubles would be gathered.
    static const size_t expected[] = {1, 3, 1};
    static const size_t ahead[] = {1, 2, 0};            // totals; a filter, counted and written; a record for each
    const uint64_t rows[] = {0, 50, 50, 1};
    for (int i = 0; i < 3; i++) {
        cr_assert_null(hdst__passes_scalar(funcs[i]));
        const hdst__record *record = funcs[i]->params[0].record;
        const hdst__kernel *aos = make(funcs[i], 0, hdst__storage_make(&arena, record, HDST__AOS, 0, 1000), rows);
        cr_expect_eq(count_of(aos->source, arrays[i]), expected[i], "%d: %s", i, aos->source);
        cr_expect_eq(count_of(aos->source, "PREFETCH_BYTES(p_At + i * "), ahead[i], "%d: %s", i, aos->source);
        hdst__kernel_options follows = {.facts = facts_of(0), .input = hdst__storage_make(&arena, record, HDST__AOS, 0, 1000), .rows = rows};
        follows.facts.follows_structs = true;
        cr_expect_eq(count_of(hdst__kernel_make(&arena, funcs[i], &follows, &diags)->source, "PREFETCH_BYTES(p_At"), 0, "%d: the processor asks", i);
        const hdst__kernel *aosoa = make(funcs[i], 0, hdst__storage_make(&arena, record, HDST__AOSOA, 256, 1000), rows);
        cr_expect_eq(count_of(aosoa->source, arrays[i]), 0);
        cr_expect_eq(count_of(aosoa->source, "#define BLOCK 256"), aosoa->count_name ? 2 : 1, "a block of the layout at a time");
        cr_expect_neq(count_of(aosoa->source, "_In[r]"), 0);
    }
}

Test(kernel_text, kmeans_for_gpus_keeps_centers_and_tables_in_local_memory_while_they_fit)
{
    ir_func *f = ir_kmeans(&arena);
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__SOA, 0, 1000);
    const hdst__kernel *small = make(f, 1, input, (const uint64_t[]){0, 50, 50, 1}), *large = make(f, 1, input, (const uint64_t[]){0, 100000, 100000, 1});
    cr_assert(small && large);
    cr_expect(small->tables_in_local);
    cr_expect_neq(count_of(small->source, "local_add64(t_Local"), 0);
    cr_expect_eq(count_of(small->source, "(__local const float *)"), 1, "centers");
    cr_expect(!large->tables_in_local);
    cr_expect_eq(count_of(large->source, " t_Local"), 0);
    cr_expect(large->merges && large->group_tables, "tables that work-groups share");
    cr_expect_eq(
        count_of(large->source, "device_add(&t_Own"), 25,
        "two coordinates, quick and settled, and the count: of the four records of a lane, and of the one at the "
        "end of a slice");
    cr_expect_eq(count_of(large->source, "@"), 0);
}

Test(kernel_text, fields_that_are_not_read_do_not_travel)
{
    ir_func *f = ir_new(&arena, "two_of_five");
    ir_param_add(
        f, IR_INPUT, "p",
        ir_record(&arena, "five", 0, (ir_field[]){{"a", HDST__F32, 0}, {"b", HDST__F32, 0}, {"c", HDST__F32, 0}, {"d", HDST__F32, 0}, {"e", HDST__F32, 0}}, 5),
        false);
    const uint32_t out = ir_param_add(f, IR_OUTPUT, "out", ir_record(&arena, "one", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), false);
    store(f, out, 0, ir_op2(f, IR_ADD, ir_read(f, IR_FIELD, 0, 1, NULL, NULL), ir_read(f, IR_FIELD, 0, 3, NULL, NULL)));
    cr_assert_null(hdst__passes_scalar(f));
    const hdst__kernel *kernel = make(f, 0, hdst__storage_make(&arena, f->params[0].record, HDST__AOP, 0, 100), NULL);
    cr_assert_not_null(kernel);
    size_t inputs = 0;
    for (size_t i = 0; i < kernel->arg_count; i++) inputs += kernel->args[i].kind == HDST__ARG_INPUT;
    cr_expect_eq(inputs, 2);
}

Test(kernel_text, private_memory_that_no_device_has_is_refused_with_the_arrays_name)
{
    ir_func *f = ir_new(&arena, "large");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "number", 0, (ir_field[]){{"x", HDST__U32, 0}}, 1), false);
    const uint32_t out = ir_param_add(f, IR_OUTPUT, "out", ir_record(&arena, "result", 0, (ir_field[]){{"x", HDST__U32, 0}}, 1), false);
    const uint32_t table = hdst__ir_add_var(f, "scratch", HDST__U32, 10 << 20);
    ir_stmt *set = ir_add(f, &f->body, IR_SET_ELEM);
    set->var = table;
    set->index = ir_op2(f, IR_REM, ir_read(f, IR_FIELD, 0, 0, NULL, NULL), ir_number(f, HDST__U32, 10 << 20));
    set->value = ir_number(f, HDST__U32, 1);
    ir_expr *element = hdst__ir_var(f, table);
    element->op = IR_ELEM;
    element->a = ir_number(f, HDST__U32, 5);
    store(f, out, 0, element);
    for (int form = 0; form < 2; form++) {
        hdst__diags_init(&diags, &arena);
        cr_expect_null(make(f, form, hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, 100), NULL));
        cr_assert_eq(diags.errors, 1);
    }
    cr_expect_neq(count_of(diags.items[0].message, "'scratch'"), 0, "%s", diags.items[0].message);
    cr_expect_neq(count_of(diags.items[0].message, "private memory"), 0);
}

Test(kernel_text, a_device_without_double_is_named_as_such)
{
    ir_func *f = make_odd("swap");
    cr_assert_null(hdst__passes_scalar(f));
    hdst__kernel_options options = {.facts = facts_of(0), .input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, 100)};
    options.facts.has_double = false;
    cr_expect_null(hdst__kernel_make(&arena, f, &options, &diags));
    cr_assert_eq(diags.errors, 1);
    cr_expect_neq(count_of(diags.items[0].message, "needs double"), 0, "%s", diags.items[0].message);
}

// Of each record so many floats are kept while all records of a block go through a loop.
static ir_func *make_kept(uint32_t floats)
{
    ir_func *f = ir_new(&arena, "kept");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "pair", 0, (ir_field[]){{"x", HDST__F32, 0}, {"y", HDST__F32, 0}}, 2), false);
    const uint32_t c = ir_param_add(f, IR_BROADCAST_TABLE, "c", ir_record(&arena, "center", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), true);
    const uint32_t sum = ir_param_add(f, IR_ACCUM_TABLE, "sum", ir_record(&arena, "sum", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), false);
    const uint32_t j = hdst__ir_add_var(f, "j", HDST__U32, 0), first = hdst__ir_add_var(f, "v", HDST__F32, 0);
    for (uint32_t v = 1; v < floats; v++) hdst__ir_add_var(f, "v", HDST__F32, 0);
    for (uint32_t v = 0; v < floats; v++)
        ir_assign(f, &f->body, first + v, ir_op2(f, IR_MUL, ir_read(f, IR_FIELD, 0, v % 2, NULL, NULL), ir_number(f, HDST__F32, v)));
    ir_stmt *loop = ir_add(f, &f->body, IR_FOR);
    loop->var = j;
    loop->lo = ir_number(f, HDST__U32, 0);
    loop->hi = hdst__ir_convert(f, HDST__U32, ir_length(f, c));
    loop->step = 1;
    for (uint32_t v = 0; v < floats; v++) {
        ir_expr *center = ir_read(f, IR_BROADCAST, c, 0, hdst__ir_var(f, j), NULL);
        ir_assign(f, &loop->body, first + v, ir_op2(f, IR_MUL, hdst__ir_var(f, first + v), ir_op2(f, IR_ADD, hdst__ir_var(f, first + v), center)));
    }
    ir_expr *all = hdst__ir_var(f, first);
    for (uint32_t v = 1; v < floats; v++) all = ir_op2(f, IR_ADD, all, hdst__ir_var(f, first + v));
    ir_accumulate(f, &f->body, sum, 0, NULL, NULL, all);
    return f;
}

// A block's structs are read at once there, and the next block's much later: no processor has asked for those by itself.
Test(kernel_text, structs_of_which_much_is_kept_are_asked_for_on_all_processors)
{
    static const struct { uint32_t floats; bool follows; size_t asked; const char *kept; } cases[] = {
        {31, false, 1, " 128 bytes kept"}, {31, true, 0, " 128 bytes kept"}, {32, false, 1, " 132 bytes kept"}, {32, true, 1, " 132 bytes kept"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_func *f = make_kept(cases[i].floats);
        cr_assert_null(hdst__passes_scalar(f));
        const uint64_t rows[] = {0, 50, 1};
        hdst__kernel_options options = {.facts = facts_of(0), .input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, 1000), .rows = rows};
        options.facts.follows_structs = cases[i].follows;
        const hdst__kernel *kernel = hdst__kernel_make(&arena, f, &options, &diags);
        cr_assert_eq(count_of(kernel->why, cases[i].kept), 1, "these and their sum: %s", kernel->why);
        cr_expect_eq(count_of(kernel->source, "PREFETCH_BYTES(p_At + i * 8 + 2048, 1024)"), cases[i].asked, "%zu", i);
    }
}

// Records of C structs that meet in a table of the core: what comes next is asked for there, or by a block where the table is not used. Wide ones, and
// columns, by a block.
Test(kernel_text, structs_are_asked_for_while_others_go_to_a_table)
{
    const hdst__record *pair = ir_record(&arena, "pair", 0, (ir_field[]){{"key", HDST__U32, 0}, {"value", HDST__F32, 0}}, 2);
    static const hdst__accumulate_op ops[] = {HDST__SUM, HDST__SUM};
    const hdst__combining combining = {.record = pair, .op = ops, .in_rows = true};
    static const struct { uint32_t more; hdst__layout layout; const char *ahead; size_t asked; } cases[] = {
        {2, HDST__AOS, "#define COMBINED_AHEAD 16\n", 1}, {15, HDST__AOS, "#define COMBINED_AHEAD 0\n", 0}, {2, HDST__SOA, "#define COMBINED_AHEAD 0\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ir_func *f = ir_new(&arena, "pairs");
        const ir_field fields[] = {{"key", HDST__U32, 0}, {"value", HDST__F32, 0}, {"more", HDST__F32, cases[i].more}};
        ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "order", 0, fields, 3), false);
        const uint32_t out = ir_param_add(f, IR_OUTPUT, "out", pair, false);
        for (uint32_t l = 0; l < 2; l++) store(f, out, l, ir_read(f, IR_FIELD, 0, l, NULL, NULL));
        cr_assert_null(hdst__passes_scalar(f));
        const hdst__kernel_options options = {.facts = facts_of(0), .combining = &combining,
                                              .input = hdst__storage_make(&arena, f->params[0].record, cases[i].layout, 0, 1000)};
        const char *source = hdst__kernel_make(&arena, f, &options, &diags)->source;
        cr_expect_eq(count_of(source, cases[i].ahead), 1, "%zu: %s", i, source);
        cr_expect_eq(count_of(source, "if (!combines) PREFETCH_BYTES(p_At + i * "), cases[i].asked, "%zu", i);
        cr_expect_eq(count_of(source, ", place, p_At + (i + 3 * BLOCK) * 16);") > 0, cases[i].asked > 0, "%zu: %s", i, source);
        hdst__kernel_options portable = options;
        portable.facts.portable = true;
        source = hdst__kernel_make(&arena, f, &portable, &diags)->source;
        cr_expect_eq(count_of(source, "__builtin_prefetch"), 0, "%zu: OpenCL C alone", i);
        cr_expect_eq(count_of(source, "#define PREFETCH_BYTES(FIRST, BYTES) ;\n"), 1, "%zu: it may stand behind an `if`", i);
    }
}

// p.x goes to row 0 of a table without rows, as it does when the check in front has failed.
Test(kernel_text, a_table_without_rows_takes_what_failed_records_add)
{
    ir_func *f = ir_new(&arena, "none");
    ir_param_add(f, IR_INPUT, "p", ir_record(&arena, "number", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), false);
    const uint32_t table = ir_param_add(f, IR_ACCUM_TABLE, "t", ir_record(&arena, "sum", 0, (ir_field[]){{"x", HDST__F32, 0}}, 1), true);
    const uint32_t after = ir_param_add(f, IR_ACCUM_TABLE, "n", ir_record(&arena, "count", 0, (ir_field[]){{"x", HDST__U64, 0}}, 1), true);
    ir_stmt *check = ir_add(f, &f->body, IR_CHECK);
    check->check = hdst__ir_add_check(f, (ir_check){.kind = IR_CHECK_TABLE_INDEX, .what = "t"});
    check->cond = ir_op2(f, IR_LT, ir_number(f, HDST__U64, 0), ir_length(f, table));
    ir_accumulate(f, &f->body, table, 0, ir_number(f, HDST__U64, 0), NULL, ir_read(f, IR_FIELD, 0, 0, NULL, NULL));
    ir_accumulate(f, &f->body, after, 0, ir_number(f, HDST__U64, 2), NULL, ir_number(f, HDST__U64, 1));
    cr_assert_null(hdst__passes_scalar(f));
    float in[N + 64];
    for (int i = 0; i < N; i++) in[i] = 1;
    const hdst__storage *input = hdst__storage_make(&arena, f->params[0].record, HDST__AOS, 0, N);
    void *buffers[] = {in};
    const uint64_t rows[] = {0, 0, 3};
    for (int form = 0; form < 2; form++) {
        const hdst__kernel *kernel = make(f, form, input, rows);
        cr_assert_not_null(kernel);
        int64_t device[10 + 3] = {0};
        kernel_case c = {.kernel = kernel,
                         .func = f,
                         .input = input,
                         .input_buffers = buffers,
                         .count = N,
                         .rows = rows,
                         .scales = (const int32_t[]){20},
                         .flush = 1 << 23,
                         .groups = 2,
                         .device_table = device};
        cr_assert_eq(hdst__tables_device_words(kernel->tables, rows), 13);
        cr_assert(kernel_run(&run, &c));
        cr_expect_eq(c.error, 0, "record 0, check 0");
        cr_expect_geq(device[10 + 2], N, "every record was added; a block that failed is gone through again");
        cr_expect(device[10] == 0 && device[11] == 0, "the next table is not touched");
    }
}
