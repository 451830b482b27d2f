// SPDX-License-Identifier: Apache-2.0
// Ranges of numbers, which kernels make themselves: the same bits as from memory that holds the numbers, and nothing that grows with the range.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <sys/resource.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

enum { BEGIN = -1000, COUNT = 5000 };

static int64_t numbers[COUNT];

static const char kernels[] =
    "map tell(int64_t v, accum int64_t sum, accum double third, accum uint64_t index) { sum += v; third += v / 3.0; "
    "index += record_index() * record_index(); }\n"
    "filter odd(int64_t v) { return (v & 1) != 0; }\n"
    "map share(int64_t v) -> (int64_t v, float part, uint64_t at) { return (v, 1.0f / v, record_index()); }\n"
    "map divide(int64_t v, accum int64_t sum) { sum += 5040 / (v - 7); }\n"
    "associative reduce later(int64_t a, int64_t b) { return a * 3 > b ? a ^ b : b - a; }\n"
    "map narrow(int32_t v, accum int64_t sum) { sum += v; }\n";

// The range (way 0), and memory with its numbers.
static hdst_dataset *read_as(hdst_context *context, hdst_module *module, int way, const char *type)
{
    for (int64_t i = 0; i < COUNT; i++) numbers[i] = BEGIN + i;
    hdst_source *source = way ? hdst_source_from_memory(context, numbers, COUNT, sizeof *numbers) : hdst_source_from_range(context, BEGIN, BEGIN + COUNT);
    return hdst_read(source, module, type);
}

// --- Accumulators ---

enum { SHAPES = 6 };

static hdst_dataset *in_shape(int shape, hdst_dataset *d)
{
    switch (shape) {
    case 0: return d;
    case 1: return hdst_slice(d, 123, 3000);
    case 2: return hdst_slice(hdst_with_layout(hdst_slice(d, 17, 4900), HDST_SOA), 4000, 3000);
    case 3: return hdst_union(hdst_slice(d, 4500, 100), d);
    case 4: return hdst_cache(d);
    default: return hdst_slice(d, 6000, 10);        // beyond its end
    }
}

typedef struct totals {
    int64_t sum, index;
    double third;
} totals;

static totals totals_of(hdst_dataset *d, hdst_module *m)
{
    hdst_result *r = hdst_result_create(hdst_map_function(d, m, "tell"));
    RUN(r);
    return (totals){hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0), hdst_view_int64(hdst_result_field(r, "index", NULL), 0, 0),
                    hdst_view_double(hdst_result_field(r, "third", NULL), 0, 0)};
}

Test(ranges, sums_are_those_of_the_same_numbers_in_memory)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, kernels);
        for (int shape = 0; shape < SHAPES; shape++) {
            const totals range = totals_of(in_shape(shape, read_as(context, m, 0, "int64_t")), m),
                memory = totals_of(in_shape(shape, read_as(context, m, 1, "int64_t")), m);
            cr_assert_eq(range.sum, memory.sum, "%s, shape %d: %lld, not %lld", forms[form], shape, (long long)range.sum, (long long)memory.sum);
            cr_assert_eq(range.index, memory.index, "%s, shape %d", forms[form], shape);
            cr_assert_arr_eq(&range.third, &memory.third, sizeof range.third, "%s, shape %d: %a, not %a", forms[form], shape, range.third, memory.third);
        }
        hdst_context_destroy(context);
    }
}

// --- Records ---

static hdst_dataset *records_in(int shape, hdst_dataset *d, hdst_module *m)
{
    switch (shape) {
    case 0: return hdst_filter_function(d, m, "odd");
    case 1: return hdst_map_function(d, m, "share");
    case 2: return hdst_map_function(hdst_filter_function(d, m, "odd"), m, "share");
    case 3: return hdst_slice(hdst_filter_function(d, m, "odd"), 100, 150);
    case 4: return hdst_slice(hdst_map_function(d, m, "share"), 900, 200);
    case 5: return hdst_sample(d, 0.25, 99);
    default: return hdst_reduce(d, m, "later");
    }
}

Test(ranges, records_are_those_of_the_same_numbers_in_memory)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, kernels);
        for (int shape = 0; shape < 7; shape++) {
            void *rows[2];
            uint64_t count[2];
            hdst_error error;
            for (int way = 0; way < 2; way++)
                cr_assert_eq(hdst_collect(records_in(shape, read_as(context, m, way, "int64_t"), m), &rows[way], &count[way], &error),
                             HDST_OK, "%s", error.message);
            const size_t size = shape == 1 || shape == 2 || shape == 4 ? 24 : 8;
            cr_assert_eq(count[0], count[1], "%s, shape %d", forms[form], shape);
            cr_assert_gt(count[0], 0);
            for (uint64_t i = 0; i < count[0]; i++)         // but for the padding
                for (size_t b = 0; b < size; b++)
                    if (size == 8 || b < 12 || b >= 16)
                        cr_assert_eq(((char *)rows[0])[i * size + b], ((char *)rows[1])[i * size + b], "%s, shape %d, record %llu",
                                     forms[form], shape, (unsigned long long)i);
            for (int way = 0; way < 2; way++) hdst_rows_destroy(context, rows[way]);
        }
        hdst_context_destroy(context);
    }
}

// --- Errors ---

Test(ranges, a_record_that_fails_is_named_and_can_be_skipped)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, kernels);
        hdst_error error;
        cr_assert_eq(hdst_run(hdst_result_create(hdst_map_function(hdst_slice(read_as(context, m, 0, "int64_t"), 7, 4000), m, "divide")), &error),
                     HDST_E_RECORD);
        cr_assert_eq(error.record, 1000, "%llu", (unsigned long long)error.record);       // 7 - BEGIN, less what was left out
        hdst_context_destroy(context);

        hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
        options.device = form ? "cpu" : "interp";
        options.on_error = HDST_ON_ERROR_SKIP;
        context = hdst_context_create(&options);
        context->engine->options.gpu_form_on_cpu = form == 2;
        m = module_of(context, kernels);
        hdst_result *r = hdst_result_create(hdst_map_function(read_as(context, m, 0, "int64_t"), m, "divide"));
        RUN(r);
        int64_t sum = 0;
        for (int64_t v = BEGIN; v < BEGIN + COUNT; v++)
            if (v != 7) sum += 5040 / (v - 7);
        cr_assert_eq(hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0), sum);
        cr_assert_eq(hdst_result_stats(r).records_skipped, 1);
        hdst_context_destroy(context);
    }
}

Test(ranges, numbers_of_another_type_are_converted_where_they_are_read)
{
    hdst_context *context = context_in_form("interp");
    hdst_module *m = module_of(context, kernels);
    hdst_result *r = hdst_result_create(hdst_map_function(read_as(context, m, 0, "int32_t"), m, "narrow"));
    RUN(r);
    cr_assert_eq(hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0), (int64_t)COUNT * BEGIN + (int64_t)COUNT * (COUNT - 1) / 2);
    hdst_error error;
    cr_assert_neq(hdst_run(hdst_result_create(hdst_map_function(hdst_read(hdst_source_from_range(context, INT32_MAX, (int64_t)INT32_MAX + 2), m, "int32_t"),
                                                                m, "narrow")), &error), HDST_OK);
}

// --- Long ones ---

static const char few[] = "filter few(int64_t v) { return (v & 1048575) == 5; }\n"
                          "map tell(int64_t v, accum int64_t n, accum int64_t sum) { n += 1; sum += v >> 20; }\n"
                          "map ends(int64_t v, accum int64_t least, accum int64_t most, accum int64_t sum) { acc_min(least, v); "
                          "acc_max(most, v); sum += v; }\n";

Test(ranges, all_64_bits_of_a_number_are_right)
{
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, few);
        hdst_dataset *all = hdst_read(hdst_source_from_range(context, INT64_MIN, INT64_MAX), m, "int64_t");
        const struct { uint64_t first, count; int64_t least; } parts[] = {
            {0, 100, INT64_MIN}, {((uint64_t)1 << 63) - 50, 100, -50},
            {((uint64_t)1 << 63) + ((uint64_t)1 << 32) - 5, 10, ((int64_t)1 << 32) - 5}, {UINT64_MAX - 7, 100, INT64_MAX - 7}};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            hdst_result *r = hdst_result_create(hdst_map_function(hdst_slice(all, parts[i].first, parts[i].count), m, "ends"));
            RUN(r);
            const int64_t least = parts[i].least;
            const uint64_t count = i == 3 ? 7 : parts[i].count;
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "least", NULL), 0, 0), least, "%s, part %zu", forms[form], i);
            cr_assert_eq(hdst_view_int64(hdst_result_field(r, "most", NULL), 0, 0), (int64_t)((uint64_t)least + count - 1), "%s, part %zu", forms[form], i);
            cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(r, "sum", NULL), 0, 0),
                         (uint64_t)least * count + count * (count - 1) / 2, "%s, part %zu", forms[form], i);
        }
        hdst_context_destroy(context);
    }
}

static long peak_kib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

Test(ranges, a_long_one_takes_no_memory)
{
    if (!have_cpu()) return;
    hdst_context *context = context_in_form("cpu");
    hdst_module *m = module_of(context, few);
    const int64_t half = (int64_t)1 << 32;
    hdst_result *small = hdst_result_create(hdst_map_function(hdst_filter_function(hdst_read(hdst_source_from_range(context, 0, 1000000), m, "int64_t"),
            m, "few"), m, "tell"));
    hdst_result *large = hdst_result_create(hdst_map_function(hdst_filter_function(hdst_read(hdst_source_from_range(context, -half, half), m, "int64_t"),
            m, "few"), m, "tell"));
    RUN(small);             // the compiler's memory
    const long before = peak_kib();
    RUN(large);
    cr_assert_lt(peak_kib() - before, 16 << 10, "%ld KiB more", peak_kib() - before);
    cr_assert_eq(hdst_view_int64(hdst_result_field(large, "n", NULL), 0, 0), 8192);
    cr_assert_eq(hdst_view_int64(hdst_result_field(large, "sum", NULL), 0, 0), -4096);     // of -4096 ... 4095
    cr_assert_eq(hdst_result_stats(large).records, (uint64_t)1 << 33);
    hdst_context_destroy(context);
}

// Hardly any record comes out, so room for the output does not make slices short.
Test(ranges, slices_of_candidates_are_long)
{
    if (!have_cpu()) return;
    hdst_context *context = context_on("cpu");
    hdst_module *module = module_of(context,
        "map mixed(int64_t x) -> (uint64_t h, uint64_t x) { return ((uint64_t)x * 2654435761u % 1000003u, (uint64_t)x); }\n");
    hdst_dataset *range = hdst_read(hdst_source_from_range(context, 0, 1 << 20), module, "int64_t");
    hdst_result *result = hdst_result_create(hdst_top(hdst_map_function(range, module, "mixed"), 4, "h"));
    RUN(result);
    unsigned long long records = 0;
    const char *told = strstr(hdst_explain(result, NULL), "slices: up to ");
    cr_assert(told && sscanf(told, "slices: up to %llu records", &records) == 1, "%s", hdst_explain(result, NULL));
    cr_expect_eq(records, 1 << 20);
    hdst_context_destroy(context);
}
