// SPDX-License-Identifier: Apache-2.0
// Rows of values as records: each run reads what the value has then, on the device where it was left, and nobody sees it change behind a run.
#include "tests/hdst/support.h"

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!form || have_cpu())

enum { ROWS = 40000, TURNS = 4 };

typedef struct cell { double x; uint32_t k; } cell;

static const char kernels[] =
    "struct cell { double x; uint32_t k; };\n"
    "map step(cell c, lookup cell others[]) -> cell { return (cell){ .x = c.x / 2 + others[(c.k * 7 + 1) % len(others)].x, .k = c.k }; }\n"
    "map total(cell c, accum double x, accum uint64_t k) { x += c.x; k += c.k; }\n"
    "map key_of(cell c) -> uint32_t { return c.k; }\n"
    "map length(text t) -> uint64_t { return len(t); }\n";

static cell cells[ROWS];

static void make_cells(void)
{
    for (uint32_t i = 0; i < ROWS; i++) cells[i] = (cell){1.0 / (1 + i % 1024), i};
}

static void step(void)
{
    static cell to[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) to[i] = (cell){cells[i].x / 2 + cells[(cells[i].k * 7 + 1) % ROWS].x, cells[i].k};
    memcpy(cells, to, sizeof to);
}

typedef struct loop {
    hdst_context *context;
    hdst_module *module;
    hdst_value *v;
    hdst_result *next, *total;
} loop;

static loop begin(const char *form)
{
    loop l = {.context = context_in_form(form)};
    make_cells();
    l.module = module_of(l.context, kernels);
    l.v = hdst_value_create(l.module, "cell", ROWS);
    hdst_value_set(l.v, cells, ROWS);
    hdst_map_spec *spec = hdst_map_spec_create(l.module, "step");
    hdst_bind_value(spec, "others", l.v);
    hdst_dataset *rows = hdst_read_value(l.v);
    l.next = hdst_result_create(hdst_map(rows, spec));
    l.total = hdst_result_create(hdst_map_function(rows, l.module, "total"));
    return l;
}

static void expect_cells(const cell *got, uint64_t count, const char *where)
{
    cr_assert(got && count == ROWS, "%s", where);
    for (int i = 0; i < ROWS; i++) cr_assert(got[i].x == cells[i].x && got[i].k == cells[i].k, "row %d on %s: %a, not %a", i, where, got[i].x, cells[i].x);
}

// A loop whose state is read both as records and as a table: nothing of it crosses but what is asked for.
Test(read_value, a_loop_over_its_own_rows)
{
    ON_EACH_FORM {
        loop l = begin(forms[form]);
        hdst_error error;
        uint64_t count;
        for (int t = 0; t < TURNS; t++) {
            RUN(l.next);
            cr_assert_eq(hdst_value_set_result(l.v, l.next, NULL, &error), HDST_OK, "%s", error.message);
            step();
            const hdst_run_stats stats = hdst_result_stats(l.next);
            const uint64_t moved = stats.bytes_to_device + stats.bytes_from_device;
            cr_assert(t < 2 || moved < 4096 /* a word of each slice */, "turn %d on %s: %llu bytes", t, forms[form], (unsigned long long)moved);
            RUN(l.total);
            int64_t k = hdst_view_int64(hdst_result_field(l.total, "k", NULL), 0, 0);
            cr_assert_eq(k, (int64_t)ROWS * (ROWS - 1) / 2);
        }
        const cell *got = hdst_result_rows(l.next, NULL, &count);
        expect_cells(got, count, forms[form]);
        hdst_context_destroy(l.context);
    }
}

// Results and caches hold the rows of the run that read them; the next run reads the new ones, be they more or fewer.
Test(read_value, rows_are_those_of_the_run)
{
    ON_EACH_FORM {
        loop l = begin(forms[form]);
        hdst_error error;
        uint64_t count;
        hdst_dataset *rows = hdst_read_value(l.v), *kept = hdst_cache(hdst_slice(rows, 1, ROWS));
        hdst_result *direct = hdst_result_create(rows), *cached = hdst_result_create(hdst_map_function(kept, l.module, "key_of"));
        RUN(l.next);
        cr_assert_eq(hdst_value_set_result(l.v, l.next, NULL, &error), HDST_OK);
        step();
        RUN(direct);
        RUN(cached);
        static const cell two[] = {{1, 5}, {2, 6}};
        hdst_value_set(l.v, two, 2);
        const cell *got = hdst_result_rows(direct, NULL, &count);
        expect_cells(got, count, forms[form]);
        RUN(cached);
        const uint32_t *keys = hdst_result_rows(cached, NULL, &count);
        cr_assert_eq(count, ROWS - 1);
        for (uint32_t i = 1; i < ROWS; i++) cr_assert_eq(keys[i - 1], i);
        RUN(direct);
        got = hdst_result_rows(direct, NULL, &count);
        cr_assert(count == 2 && got[1].k == 6);
        hdst_value_set(l.v, NULL, 0);
        RUN(direct);
        hdst_result_rows(direct, NULL, &count);
        cr_assert_eq(count, 0);
        RUN(l.total);
        cr_assert_eq(hdst_view_int64(hdst_result_field(l.total, "k", NULL), 0, 0), 0);
        hdst_context_destroy(l.context);
    }
}

// The dataset keeps the value that the program gave away; sorts and reductions take its rows as any others.
Test(read_value, other_operators_and_a_value_that_was_destroyed)
{
    ON_EACH_FORM {
        loop l = begin(forms[form]);
        hdst_dataset *largest = hdst_slice(hdst_sort(hdst_read_value(l.v), "k desc"), 0, 3);
        hdst_value_destroy(l.v);
        hdst_result *result = hdst_result_create(largest);
        RUN(result);
        uint64_t count;
        const cell *got = hdst_result_rows(result, NULL, &count);
        cr_assert(count == 3 && got[0].k == ROWS - 1 && got[2].k == ROWS - 3);
        hdst_context_destroy(l.context);
    }
}

Test(read_value, texts)
{
    ON_EACH_FORM {
        loop l = begin(forms[form]);
        static const char *const words[] = {"", "short", "a text that does not fit into its span"};
        hdst_text_span texts[3];
        for (int i = 0; i < 3; i++) texts[i] = hdst_text_span_of(words[i], (uint32_t)strlen(words[i]));
        hdst_value *v = hdst_value_create(l.module, "text", 3);
        hdst_value_set(v, texts, 3);
        hdst_result *lengths = hdst_result_create(hdst_map_function(hdst_read_value(v), l.module, "length"));
        RUN(lengths);
        uint64_t count;
        const uint64_t *got = hdst_result_rows(lengths, NULL, &count);
        cr_assert_eq(count, 3);
        for (int i = 0; i < 3; i++) cr_assert_eq(got[i], strlen(words[i]), "text %d on %s", i, forms[form]);
        hdst_context_destroy(l.context);
    }
}

Test(read_value, a_value_with_an_error)
{
    hdst_context *context = context_on("interp");
    hdst_module *m = module_of(context, kernels);
    hdst_error error;
    cr_assert_eq(hdst_dataset_status(hdst_read_value(hdst_value_create(m, "cel", 1)), &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, "cel"), "%s", error.message);
    hdst_value *v = hdst_value_create(m, "cell", 1);
    hdst_result *r = hdst_result_create(hdst_read_value(v));
    hdst_value_set(v, NULL, 4);
    cr_assert_eq(hdst_run(r, &error), HDST_E_USAGE);
    hdst_context_destroy(context);
}
