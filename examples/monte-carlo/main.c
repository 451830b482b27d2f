// SPDX-License-Identifier: Apache-2.0
// The monte-carlo program: the value of a European option from paths drawn at random.
#include "program.h"

#include <inttypes.h>
#include <math.h>

typedef struct drawn_option {       // `option` of monte-carlo.hk
    double spot, strike, rate, dividend, volatility, years, sign, center;
    uint64_t seed;
} drawn_option;

typedef struct settings {
    common_options common;
    drawn_option option;
    uint64_t paths;
    int kind;
} settings;

typedef struct outcome {
    uint64_t paths;
    double estimate, standard_error;
} outcome;

static void write_members(json *j, const void *user)
{
    json_double(j, "estimate", ((const outcome *)user)->estimate);
    json_double(j, "standard_error", ((const outcome *)user)->standard_error);
}

static void write_text(FILE *out, const void *user)
{
    const outcome *o = user;
    char estimate[32];
    fprintf(out, "estimate %s, standard error %.3g, of %" PRIu64 " paths\n", shortest_double(o->estimate, estimate), o->standard_error, o->paths);
}

// What the option pays if the share goes as it is expected to.
static double expected_payoff(const drawn_option *o)
{
    double gain = o->sign * (o->spot * exp(-o->dividend * o->years) - o->strike * exp(-o->rate * o->years));
    return gain > 0 ? gain : 0;
}

// Mean and its standard error from the sum and the squares of the distances from `center`.
static void conclude(double sum, double squares, double center, outcome *o)
{
    double n = (double)o->paths, away = fma(-n, center, sum), variance = fma(-away / n, away, squares) / (n - 1);
    o->estimate = sum / n;
    o->standard_error = sqrt((variance > 0 ? variance : 0) / n);
}

static hdst_dataset *bind(hdst_dataset *paths, hdst_module *module, const char *function, hdst_value *terms)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    hdst_bind_value(spec, "o", terms);
    hdst_dataset *d = hdst_map(paths, spec);
    hdst_map_spec_destroy(spec);
    return d;
}

static hdst_status add_up(program_run *run, hdst_dataset *payoffs, double center, outcome *o, hdst_error *error)
{
    hdst_result *r = hdst_result_create(payoffs);
    hdst_status status = program_run_result(run, r, NULL, error);
    if (status == HDST_OK) {
        double sum = hdst_view_double(hdst_result_field(r, "sum", NULL), 0, 0), squares = hdst_view_double(hdst_result_field(r, "squares", NULL), 0, 0);
        conclude(sum, squares, center, o);
        if (!isfinite(sum) || !isfinite(squares))
            status = options_misuse(error, "give a smaller spot, rate, volatility or time", "payoffs are beyond the range of double");
    }
    hdst_result_destroy(r);
    return status;
}

static hdst_status work(program_run *run, void *user, hdst_error *error)
{
    settings *s = user;
    outcome o = {.paths = s->paths};
    hdst_module *module;
    hdst_status status = program_load(run, "monte-carlo.hk", HDST_NO_PARAMS, &module, error);
    s->option.sign = s->kind == 0 ? 1 : -1;
    s->option.center = expected_payoff(&s->option);
    s->option.seed = s->common.seed;
    if (status == HDST_OK) {
        hdst_source *numbers = hdst_source_from_range(run->context, 0, (int64_t)s->paths);
        hdst_value *terms = hdst_value_create(module, "option", 1);
        hdst_value_set(terms, &s->option, 1);
        hdst_dataset *paths = hdst_read(numbers, module, "int64_t");
        status = add_up(run, bind(paths, module, "total", terms), s->option.center, &o, error);
        if (status == HDST_OK && s->common.output) status = hdst_save(bind(paths, module, "each_payoff", terms), s->common.output, error);
        hdst_value_destroy(terms);
        hdst_source_destroy(numbers);
    }
    if (status == HDST_OK) status = program_show(run, o.paths, write_members, write_text, &o, error);
    hdst_module_destroy(module);
    return status;
}

int main(int argc, char **argv)
{
    settings s = {.paths = 1000000, .option = {.spot = 100, .strike = 100, .rate = 0.05, .volatility = 0.2, .years = 1}};
    const option own[] = {
        {"paths", OPTION_COUNT, &s.paths, "N", "paths to draw (1000000)", true, NULL, 2, INT64_MAX},
        {"kind", OPTION_WORD, &s.kind, "call|put", "what the option is (call)", true},
        {"spot", OPTION_NUMBER, &s.option.spot, "S", "price of the share today (100)", true},
        {"strike", OPTION_NUMBER, &s.option.strike, "K", "price at which it may be bought or sold (100)", true},
        {"rate", OPTION_NUMBER, &s.option.rate, "R", "interest per year (0.05)", true},
        {"dividend", OPTION_NUMBER, &s.option.dividend, "Q", "dividends per year (0)", true},
        {"volatility", OPTION_NUMBER, &s.option.volatility, "V", "volatility per year (0.2)", true},
        {"years", OPTION_NUMBER, &s.option.years, "T", "until the option expires (1)", true},
    };
    const program_info info = {"monte-carlo", "Values a European option by paths drawn at random. Writes the mean and its standard error to standard output,\n"
        "and with --output what the option pays on each path, as it is worth today, to a .npy or .csv file.", own, sizeof own / sizeof *own};
    const program_steps steps = {.no_input = true, .work = work};
    return program_main(&info, &s.common, &steps, &s, argc, argv);
}
