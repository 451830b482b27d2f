// SPDX-License-Identifier: Apache-2.0
// Values that take the records of a result: in a loop they stay on the device, and are the same for whoever asks for them on the host.
#include "tests/hdst/support.h"

#include <stdlib.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form"};

#define ON_EACH_FORM for (size_t form = 0; form < 3; form++) if (!strcmp(forms[form], "interp") || have_cpu())

enum { CELLS = 500, TURNS = 5 };

static const char kernels[] =
    "map next(uint32_t i, broadcast uint64_t v[]) -> uint64_t\n"
    "{\n"
    "    uint64_t sum = i;\n"
    "    for (uint64_t k = 0; k < len(v); k++) sum = sum * 3 + v[k];\n"
    "    return sum;\n"
    "}\n"
    "map pick(uint32_t i, broadcast uint64_t v[]) -> uint64_t { return v[i]; }\n"
    "filter odd(uint64_t x) { return x % 2 == 1; }\n";

// What `next` makes of the cells.
static void step(uint64_t *cells)
{
    uint64_t to[CELLS];
    for (uint64_t i = 0; i < CELLS; i++) {
        to[i] = i;
        for (int k = 0; k < CELLS; k++) to[i] = to[i] * 3 + cells[k];
    }
    memcpy(cells, to, sizeof to);
}

typedef struct loop {
    hdst_context *context;
    hdst_module *module;
    hdst_value *v;
    hdst_dataset *indices, *next;
    hdst_result *result;
    uint64_t cells[CELLS];          // as C computes them
} loop;

static void begin(loop *l, const char *form)
{
    static uint32_t index[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) index[i] = i, l->cells[i] = i * i;
    l->context = context_in_form(form);
    l->module = module_of(l->context, kernels);
    l->v = hdst_value_create(l->module, "uint64_t", CELLS);
    hdst_value_set(l->v, l->cells, CELLS);
    hdst_map_spec *next = hdst_map_spec_create(l->module, "next");
    hdst_bind_value(next, "v", l->v);
    l->indices = hdst_cache(hdst_read(hdst_source_from_memory(l->context, index, CELLS, sizeof *index), l->module, "uint32_t"));
    l->next = hdst_map(l->indices, next);
    l->result = hdst_result_create(l->next);
}

static void turn(loop *l)
{
    hdst_error error;
    RUN(l->result);
    cr_assert_eq(hdst_value_set_result(l->v, l->result, NULL, &error), HDST_OK, "%s", error.message);
    step(l->cells);
}

static void check(loop *l, hdst_result *result, const char *where)
{
    uint64_t count;
    const uint64_t *rows = hdst_result_rows(result, NULL, &count);
    cr_assert(rows && count == CELLS);
    for (int i = 0; i < CELLS; i++) cr_assert_eq(rows[i], l->cells[i], "cell %d, %s", i, where);
}

Test(values_on_device, nothing_crosses_in_a_loop)
{
    ON_EACH_FORM {
        loop l;
        begin(&l, forms[form]);
        for (int t = 0; t < TURNS; t++) {
            turn(&l);
            const hdst_run_stats stats = hdst_result_stats(l.result);
            cr_assert(t == 0 || stats.compile_seconds == 0, "the first run compiles");
            // One word comes back: whether a record failed.
            cr_assert(t < 2 || (stats.bytes_to_device == 0 && stats.bytes_from_device <= sizeof(uint64_t)),
                      "turn %d on %s: %llu bytes to the device, %llu from it", t, forms[form],
                      (unsigned long long)stats.bytes_to_device, (unsigned long long)stats.bytes_from_device);
        }
        check(&l, l.result, forms[form]);
        hdst_context_destroy(l.context);
    }
}

Test(values_on_device, a_loop_may_look_at_every_turn)
{
    ON_EACH_FORM {
        loop l;
        begin(&l, forms[form]);
        for (int t = 0; t < TURNS; t++) {
            turn(&l);
            check(&l, l.result, forms[form]);
            cr_assert_eq(hdst_result_rows(l.result, NULL, NULL), hdst_result_rows(l.result, NULL, NULL), "rows stay until the next run");
        }
        hdst_context_destroy(l.context);
    }
}

// The value keeps what it took when the result runs again or ends, and a stage that is compiled only now finds it.
Test(values_on_device, a_value_is_a_snapshot)
{
    ON_EACH_FORM {
        loop l;
        begin(&l, forms[form]);
        for (int t = 0; t < 3; t++) turn(&l);
        RUN(l.result);
        hdst_result_destroy(l.result);
        hdst_map_spec *pick = hdst_map_spec_create(l.module, "pick");
        hdst_bind_value(pick, "v", l.v);
        hdst_result *picked = hdst_result_create(hdst_map(l.indices, pick));
        RUN(picked);
        check(&l, picked, forms[form]);
        hdst_value_set(l.v, l.cells, CELLS / 2);        // fewer rows, from the host
        hdst_error error;
        cr_assert_eq(hdst_run(picked, &error), HDST_E_RECORD);
        cr_assert_eq(error.record, CELLS / 2);
        hdst_context_destroy(l.context);
    }
}

// The message of a failed record is made on the host, of the rows on the device.
Test(values_on_device, failed_records_are_explained)
{
    ON_EACH_FORM {
        loop l;
        begin(&l, forms[form]);
        hdst_result *odd = hdst_result_create(hdst_filter_function(l.next, l.module, "odd"));
        hdst_value *some = hdst_value_create(l.module, "uint64_t", 1);
        uint64_t kept = 0;
        for (int t = 0; t < 3; t++) {       // v stays, the records are the same each time
            hdst_error error;
            RUN(odd);
            cr_assert_eq(hdst_value_set_result(some, odd, NULL, &error), HDST_OK, "%s", error.message);
        }
        step(l.cells);
        for (int i = 0; i < CELLS; i++) kept += l.cells[i] % 2;
        cr_assert(kept > 0 && kept < CELLS);
        hdst_map_spec *pick = hdst_map_spec_create(l.module, "pick");
        hdst_bind_value(pick, "v", some);
        hdst_result *picked = hdst_result_create(hdst_map(l.indices, pick));
        hdst_error error;
        cr_assert_eq(hdst_run(picked, &error), HDST_E_RECORD);
        cr_assert_eq(error.record, kept, "%s", error.message);
        hdst_context_destroy(l.context);
    }
}

// Without room for the value on the device its rows go through the host: a warning, the same numbers.
static int warnings;

static void count_warnings(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    warnings += level == HDST_LOG_WARN && strstr(message, "become a value go through the host") != NULL;
}

Test(values_on_device, no_room_on_the_device)
{
    enum { MANY = 1 << 18 };
    static uint32_t data[MANY];
    if (!have_cpu()) return;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.log = count_warnings;
    hdst_context *context = hdst_context_create(&options);
    context->engine->options.gpu_form_on_cpu = true;
    hdst_module *m = module_of(context, "map twice(uint32_t i) -> uint64_t { return (uint64_t)i * 2; }\n"
                                        "map pick(uint32_t i, broadcast uint64_t v[]) -> uint64_t { return v[i]; }\n");
    for (uint32_t i = 0; i < MANY; i++) data[i] = i;
    hdst_dataset *indices = hdst_read(hdst_source_from_memory(context, data, MANY, sizeof *data), m, "uint32_t");
    hdst_result *twice = hdst_result_create(hdst_map_function(indices, m, "twice"));
    hdst_value *v = hdst_value_create(m, "uint64_t", 1);
    hdst_error error;
    for (int t = 0; t < 2; t++) {
        RUN(twice);
        hdst__budget *const of_device = &context->engine->worker[0].device->budget;
        if (t == 1) of_device->limit = atomic_load(&of_device->used) + 4096;        // nothing more fits
        cr_assert_eq(hdst_value_set_result(v, twice, NULL, &error), HDST_OK, "%s", error.message);
    }
    cr_assert_eq(warnings, 1);
    context->engine->worker[0].device->budget.limit = UINT64_MAX;
    hdst_map_spec *pick = hdst_map_spec_create(m, "pick");
    hdst_bind_value(pick, "v", v);
    hdst_result *picked = hdst_result_create(hdst_map(indices, pick));
    RUN(picked);
    const uint64_t *rows = hdst_result_rows(picked, NULL, NULL);
    for (uint64_t i = 0; i < MANY; i++) cr_assert_eq(rows[i], 2 * i);
    hdst_context_destroy(context);
}

// --- Records between stages that all come from the first slices ---

Test(values_on_device, later_slices_may_leave_nothing)
{
    enum { MANY = 6 << 20, KEPT = 10 };
    uint32_t *data = malloc(MANY * sizeof *data);
    for (uint32_t i = 0; i < MANY; i++) data[i] = i;
    for (size_t form = 1; form < 3 && have_cpu(); form++) {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *m = module_of(context, "filter first(uint32_t i) { return i < 10; }\n"
                                            "map numbered(uint32_t i) -> uint64_t { return i * 100 + record_index(); }\n");
        hdst_dataset *records = hdst_read(hdst_source_from_memory(context, data, MANY, sizeof *data), m, "uint32_t");
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_filter_function(records, m, "first"), m, "numbered"));
        uint64_t count;
        RUN(r);
        const uint64_t *rows = hdst_result_rows(r, NULL, &count);
        cr_assert_eq(count, KEPT);
        for (uint64_t i = 0; i < KEPT; i++) cr_assert_eq(rows[i], i * 101);
        hdst_context_destroy(context);
    }
    free(data);
}

// A C function reads the rows on the host. They are those of the last result each time, not the first one's.
static bool add_first(const hdst_part *part, char *message, void *user)
{
    (void)message, (void)user;
    for (uint64_t i = 0; i < part->count; i++)
        ((float *)part->output)[i] = ((const float *)part->records)[i] + ((const float *)part->values[0])[(part->first + i) % part->value_rows[0]];
    return true;
}

static void check_rows_on_host(const char *device)
{
    enum { RECORDS = 70000 };
    static float x[RECORDS];
    hdst_context *context = context_on(device);
    hdst_module *module = module_of(context, "map scaled(float x, broadcast float by) -> float { return x * by; }\n"
                                             "map plus(float x, broadcast float rows[]) -> float;\n");
    for (int i = 0; i < RECORDS; i++) x[i] = (float)(i % 1000);
    hdst_value *by = hdst_value_create(module, "float", 1), *rows = hdst_value_create(module, "float", 1);
    hdst_map_spec *scaled = hdst_map_spec_create(module, "scaled"), *plus = hdst_map_spec_create(module, "plus");
    hdst_bind_value(scaled, "by", by);
    hdst_bind_value(plus, "rows", rows);
    hdst_map_spec_set_function(plus, HDST_DEVICE_INTERP, add_first, NULL);
    hdst_map_spec_set_function(plus, HDST_DEVICE_CPU, add_first, NULL);
    hdst_dataset *numbers = hdst_read(hdst_source_from_floats(context, x, RECORDS, 1), module, "float");
    hdst_result *first = hdst_result_create(hdst_map(numbers, scaled)), *second = hdst_result_create(hdst_map(numbers, plus));
    for (int turn = 1; turn < 5; turn++) {
        hdst_error error;
        cr_assert_eq(hdst_value_set(by, &(float){(float)turn}, 1), HDST_OK);
        RUN(first);
        cr_assert_eq(hdst_value_set_result(rows, first, NULL, &error), HDST_OK, "%s", error.message);
        RUN(second);
        const float *got = hdst_result_rows(second, NULL, NULL);
        for (int i = 0; i < RECORDS; i++) cr_assert_eq(got[i], x[i] * (float)(turn + 1), "%s, turn %d: record %d is %g", device, turn, i, (double)got[i]);
    }
    hdst_context_destroy(context);
}

Test(values_on_device, rows_that_are_read_on_the_host_are_the_last_ones)
{
    check_rows_on_host("interp");
    if (have_cpu()) check_rows_on_host("cpu");
}

// Rows of a result, on the device, and then rows of the program's own: the next run has those.
static void check_rows_in_turn(const char *form)
{
    enum { RECORDS = 5000, ROWS = 7 };
    static float x[RECORDS], own[ROWS];
    hdst_context *context = context_in_form(form);
    hdst_module *module = module_of(context, "map scaled(float x, broadcast float by) -> float { return x * by; }\n"
                                             "map plus(float x, broadcast float rows[]) -> float { return x + rows[3]; }\n");
    for (int i = 0; i < RECORDS; i++) x[i] = (float)i;
    hdst_value *by = hdst_value_create(module, "float", 1), *rows = hdst_value_create(module, "float", 1);
    hdst_map_spec *scaled = hdst_map_spec_create(module, "scaled"), *plus = hdst_map_spec_create(module, "plus");
    hdst_bind_value(scaled, "by", by);
    hdst_bind_value(plus, "rows", rows);
    hdst_dataset *numbers = hdst_read(hdst_source_from_floats(context, x, RECORDS, 1), module, "float");
    hdst_result *first = hdst_result_create(hdst_map(numbers, scaled)), *second = hdst_result_create(hdst_map(numbers, plus));
    for (int turn = 1; turn < 7; turn++) {
        const bool from_result = turn % 3 != 0;
        hdst_error error;
        own[3] = (float)(turn * 100);
        cr_assert_eq(hdst_value_set(by, &(float){(float)turn}, 1), HDST_OK);
        RUN(first);
        cr_assert_eq(from_result ? hdst_value_set_result(rows, first, NULL, &error) : hdst_value_set(rows, own, ROWS), HDST_OK);
        RUN(second);
        const float *got = hdst_result_rows(second, NULL, NULL);
        cr_assert_eq(got[1], 1 + (from_result ? 3 * (float)turn : own[3]), "%s, turn %d: %g", form, turn, (double)got[1]);
    }
    hdst_context_destroy(context);
}

Test(values_on_device, rows_of_a_result_and_of_the_program_in_turn)
{
    check_rows_in_turn("interp");
    if (!have_cpu()) return;
    check_rows_in_turn("cpu");
    check_rows_in_turn("gpu-form");
}
