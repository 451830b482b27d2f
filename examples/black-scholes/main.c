// SPDX-License-Identifier: Apache-2.0
// The black-scholes program: prices European options, each as a call and as a put.
#include "program.h"

#include <inttypes.h>

typedef struct terms {      // as in black-scholes.hk
    double rate, dividend, volatility;
} terms;

typedef struct settings {
    common_options common;
    terms terms;
} settings;

typedef struct totals {
    uint64_t options;
    double sum_call, sum_put;
} totals;

static void write_members(json *j, const void *user)
{
    const totals *t = user;
    json_uint(j, "options", t->options);
    json_double(j, "sum_call", t->sum_call);
    json_double(j, "sum_put", t->sum_put);
}

static void write_text(FILE *out, const void *user)
{
    const totals *t = user;
    char call[32], put[32];
    fprintf(out, "%" PRIu64 " options\nsum of the calls %s\nsum of the puts  %s\n", t->options, shortest_double(t->sum_call, call),
            shortest_double(t->sum_put, put));
}

// The options of the input: six numbers each, or three where the command line has the others.
static hdst_dataset *read_options(program_run *run, const terms *given, hdst_module *module, hdst_value **value)
{
    bool short_rows = hdst_source_columns(run->source) == 3;
    hdst_dataset *rows = hdst_with_layout(hdst_read(run->source, module, short_rows ? "quote" : "option"), program_layout(run, HDST_SOA));
    *value = NULL;
    if (!short_rows) return rows;
    *value = hdst_value_create(module, "terms", 1);
    hdst_value_set(*value, given, 1);
    hdst_map_spec *spec = hdst_map_spec_create(module, "with_terms");
    hdst_bind_value(spec, "t", *value);
    hdst_dataset *options = hdst_map(rows, spec);
    hdst_map_spec_destroy(spec);
    return options;
}

static hdst_status add_up(program_run *run, hdst_dataset *options, hdst_module *module, totals *t, hdst_error *error)
{
    hdst_result *r = hdst_result_create(hdst_map_function(options, module, "total"));
    hdst_status status = program_run_result(run, r, NULL, error);
    uint64_t unusable = 0, first = 0;
    if (status == HDST_OK) {
        t->sum_call = hdst_view_double(hdst_result_field(r, "sum_call", NULL), 0, 0);
        t->sum_put = hdst_view_double(hdst_result_field(r, "sum_put", NULL), 0, 0);
        unusable = (uint64_t)hdst_view_int64(hdst_result_field(r, "unusable", NULL), 0, 0);
        first = (uint64_t)hdst_view_int64(hdst_result_field(r, "first", NULL), 0, 0);
    }
    hdst_result_destroy(r);
    if (unusable == 0) return status;
    return program_fail(error, HDST_E_RECORD, first, "spot and strike must be above 0, volatility and years at least 0, and all numbers finite",
                        "%" PRIu64 " option%s no price; the first is record %" PRIu64 " (counted from 0)", unusable, unusable == 1 ? " has" : "s have", first);
}

static hdst_status work(program_run *run, void *user, hdst_error *error)
{
    settings *s = user;
    totals t = {.options = hdst_source_rows(run->source)};
    hdst_module *module;
    hdst_value *value = NULL;
    hdst_status status = program_load(run, "black-scholes.hk", HDST_NO_PARAMS, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *options = read_options(run, &s->terms, module, &value);
        status = add_up(run, options, module, &t, error);
        if (status == HDST_OK && s->common.output) status = hdst_save(hdst_map_function(options, module, "price_options"), s->common.output, error);
    }
    if (status == HDST_OK) status = program_show(run, t.options, write_members, write_text, &t, error);
    hdst_value_destroy(value);
    hdst_module_destroy(module);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.terms = {0.02, 0, 0.3}};
    const option own[] = {
        {"rate", OPTION_NUMBER, &s.terms.rate, "R", "interest per year, where the input has three columns (0.02)", true},
        {"dividend", OPTION_NUMBER, &s.terms.dividend, "Q", "dividends per year, likewise (0)", true},
        {"volatility", OPTION_NUMBER, &s.terms.volatility, "V", "volatility per year, likewise (0.3)", true},
    };
    const program_info info = {"black-scholes", "Prices European options by the formula of Black, Scholes and Merton, each as a call and as a put.\n"
        "Input: spot, strike, rate, dividend, volatility, years; or spot, strike, years. Writes the sums to standard output,\n"
        "and with --output both prices of each option to a .npy or .csv file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.work = work};
    return program_main(&info, &s.common, &steps, &s, argc, argv);
}
