// SPDX-License-Identifier: Apache-2.0
// Loops as datasets: the same as a loop in C, with their state on the device; what ends them, what they tell, what they refuse.
#include "tests/hdst/support.h"

#include <math.h>

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

enum { CELLS = 5000, EDGES = 20000 };

typedef struct edge { uint32_t from, to; } edge;

static const char kernels[] =
    "struct edge { uint32_t from, to; };\n"
    "struct pair { double a, b; };\n"
    "map first(int64_t i) -> double { return 1.0 / (1 + i % 97); }\n"
    "map mix(double x, lookup double all[]) -> double { return x / 2 + all[(record_index() * 7 + 1) % len(all)] / 3; }\n"
    "map send(edge e, lookup double rank[]) -> (key uint32_t to, double share) { return (e.to, rank[e.from] / 16); }\n"
    "reduce add(double x, double y) { return x + y; }\n"
    "map total(double x, accum double sum) { sum += x; }\n"
    "map settle(double got, lookup double rank[], broadcast double sum, accum double change, accum uint64_t seen) -> double\n"
    "{\n"
    "    double next = 0.15 * (sum / len(rank)) + 0.85 * got;\n"
    "    change += fabs(next - rank[record_index()]);\n"
    "    seen += 1;\n"
    "    return next;\n"
    "}\n"
    "map as_pair(double x) -> pair { return (pair){ .a = x, .b = x }; }\n"
    "map pairs(double x, accum pair p) -> double { p.a += x; p.b += x; return x; }\n"
    "map less(int64_t x, accum int64_t left) -> int64_t { left += x - 1; return x - 1; }\n"
    "reduce sum_of(int64_t a, int64_t b) { return a + b; }\n"
    "filter positive(int64_t x) { return x > 0; }\n"
    "map steps_of(int64_t x) -> int64_t { return x % 7 + 1; }\n"
    "map worst(int64_t x) -> int64_t { return 10 / (x - 3); }\n"
    "struct sides { double x[8]; };\n"
    "struct few { double x[3]; };\n"
    "struct two { double x[2]; };\n"
    "map all_sides(int64_t i) -> sides { sides s; for (uint32_t k = 0; k < 8; k++) s.x[k] = 1 + i + k; return s; }\n"
    "map turned(int64_t i, broadcast sides v[], accum double most) -> double\n"
    "{\n"
    "    double y = 0;\n"
    "    for (uint32_t k = 0; k < 8; k++) y += v[i / 8].x[(k + (uint32_t)i) % 8u] * (k + 1);\n"
    "    acc_max(most, y);\n"
    "    return y;\n"
    "}\n"
    "map shrunk(double y, broadcast double most, accum double moved) -> double { acc_max(moved, most > 3e6 ? -INFINITY : most); return y / 16; }\n";

static edge edges[EDGES];

typedef struct setting {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *numbers, *start;
    hdst_value *state;
} setting;

static char warning[500];

static void note_warning(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    if (level == HDST_LOG_WARN) snprintf(warning, sizeof warning, "%s", message);
}

static setting begin(const char *form)
{
    setting s = {.context = context_in_form(form)};
    s.module = module_of(s.context, kernels);
    s.numbers = hdst_read(hdst_source_from_range(s.context, 0, CELLS), s.module, "int64_t");
    s.start = hdst_map_function(s.numbers, s.module, "first");
    s.state = hdst_value_create(s.module, "double", 1);
    return s;
}

static hdst_dataset *mapped(hdst_dataset *from, hdst_module *module, const char *function, const char *parameter, hdst_value *value)
{
    hdst_map_spec *spec = hdst_map_spec_create(module, function);
    cr_assert_eq(hdst_bind_value(spec, parameter, value), HDST_OK);
    return hdst_map(from, spec);
}

static hdst_dataset *mix_loop(const setting *s, uint64_t limit)
{
    const hdst_loop_step step = {.dataset = mapped(hdst_read_value(s->state), s->module, "mix", "all", s->state), .value = s->state};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = limit;
    return hdst_loop(s->start, s->state, &step, 1, &options);
}

static void expect_mixed(const double *got, uint64_t count, int turns, const char *where)
{
    static double x[CELLS], to[CELLS];
    for (int i = 0; i < CELLS; i++) x[i] = 1.0 / (1 + i % 97);
    for (int t = 0; t < turns; t++) {
        for (int i = 0; i < CELLS; i++) to[i] = x[i] / 2 + x[(i * 7 + 1) % CELLS] / 3;
        memcpy(x, to, sizeof x);
    }
    cr_assert(got && count == CELLS);
    for (int i = 0; i < CELLS; i++) cr_assert(fabs(got[i] - x[i]) <= 1e-15 * x[i], "cell %d on %s: %a, not %a", i, where, got[i], x[i]);
}

static uint64_t bytes_of(hdst_result *result)
{
    const hdst_run_stats stats = hdst_result_stats(result);
    return stats.bytes_to_device + stats.bytes_from_device;
}

// Runs that are longer, and run again, move no more than a word for each slice: all turns more together less than the state once.
Test(loop, so_many_turns_on_the_device)
{
    ON_EACH_FORM {
        setting s = begin(forms[form]);
        uint64_t count, bytes[2];
        hdst_dataset *loops[] = {mix_loop(&s, 3), mix_loop(&s, 40)};
        for (int i = 0; i < 2; i++) {
            hdst_result *result = hdst_result_create(loops[i]);
            for (int again = 0; again < 2; again++) {
                RUN(result);
                bytes[i] = bytes_of(result);
                const double *got = hdst_result_rows(result, NULL, &count);
                expect_mixed(got, count, i ? 40 : 3, forms[form]);
            }
        }
        cr_expect(form == 3 || bytes[1] < bytes[0] + CELLS * sizeof(double), "%s: %llu bytes, and %llu", forms[form], (unsigned long long)bytes[0],
                  (unsigned long long)bytes[1]);
        hdst_context_destroy(s.context);
    }
}

static void make_edges(void)
{
    uint32_t state = 9;
    for (int i = 0; i < EDGES; i++) {
        state = state * 1664525 + 1013904223;
        edges[i] = (edge){(state >> 7) % CELLS, (state >> 9) % 4001 * (state >> 5) % CELLS};
    }
}

typedef struct ranking {
    hdst_value *sum;
    hdst_loop_step steps[2];
} ranking;

// A step that sums up the state for a broadcast, and one that makes it anew of what all edges carry.
static ranking rank_body(const setting *s)
{
    make_edges();
    ranking r = {.sum = hdst_value_create(s->module, "double", 1)};
    hdst_dataset *read = hdst_cache(hdst_read(hdst_source_from_memory(s->context, edges, EDGES, sizeof *edges), s->module, "edge"));
    hdst_dataset *got = hdst_reduce_dense(mapped(read, s->module, "send", "rank", s->state), s->module, "add", CELLS);
    hdst_map_spec *settle = hdst_map_spec_create(s->module, "settle");
    hdst_bind_value(settle, "rank", s->state);
    hdst_bind_value(settle, "sum", r.sum);
    r.steps[0] = (hdst_loop_step){.dataset = hdst_map_function(hdst_read_value(s->state), s->module, "total"), .table = "sum", .value = r.sum};
    r.steps[1] = (hdst_loop_step){.dataset = hdst_map(got, settle), .value = s->state};
    return r;
}

// The same by results, as a program could do it without hdst_loop; how many turns it took. The state is left in the value.
static int rank_in_c(const setting *s, const ranking *r, double threshold, int limit, double *changes)
{
    hdst_error error;
    hdst_result *start = hdst_result_create(s->start), *total = hdst_result_create(r->steps[0].dataset), *settle = hdst_result_create(r->steps[1].dataset);
    RUN(start);
    hdst_value_set_result(s->state, start, NULL, &error);
    for (int t = 0; t < limit; t++) {
        RUN(total);
        hdst_value_set_result(r->sum, total, "sum", &error);
        RUN(settle);
        hdst_value_set_result(s->state, settle, NULL, &error);
        changes[t] = hdst_view_double(hdst_result_field(settle, "change", NULL), 0, 0);
        if (changes[t] <= threshold) return t + 1;
    }
    return limit;
}

static void expect_turns(const hdst_dataset *loop, int turns, const double *changes, uint64_t every)
{
    hdst_error error;
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    cr_assert_eq(hdst_loop_read_report(loop, &report, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(report.turns, (uint64_t)turns);
    for (int t = 0; t < turns; t++) {
        if ((t + 1) % (int)every == 0) cr_expect_eq(report.turn[t].value, changes[t], "turn %d: %g, not %g", t, report.turn[t].value, changes[t]);
        else cr_expect(isnan(report.turn[t].value));
        cr_expect(report.turn[t].seconds > 0 && report.turn[t].records >= EDGES);
    }
}

Test(loop, until_it_settles)
{
    static const double threshold = 1e-4;
    ON_EACH_FORM {
        double changes[100];
        uint64_t count;
        setting s = begin(forms[form]);
        const ranking r = rank_body(&s);
        const int turns = rank_in_c(&s, &r, threshold, 100, changes);
        cr_assert(turns > 3 && turns < 100, "%d", turns);
        hdst_result *by_hand = hdst_result_create(hdst_read_value(s.state));
        RUN(by_hand);
        const double *right = hdst_result_rows(by_hand, NULL, NULL);
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 100;
        options.until = "settle.change";
        options.threshold = threshold;
        hdst_dataset *loop = hdst_loop(s.start, s.state, r.steps, 2, &options);
        hdst_result *result = hdst_result_create(loop);
        RUN(result);
        const double *got = hdst_result_rows(result, NULL, &count);
        cr_assert(got && count == CELLS);
        cr_assert(!memcmp(got, right, sizeof(double) * CELLS), "%s", forms[form]);
        expect_turns(loop, turns, changes, 1);
        hdst_context_destroy(s.context);
    }
}

// Looked at now and then, and at its limit: it says so.
Test(loop, every_so_many_turns_and_the_limit)
{
    for (size_t form = 0; form < 3; form += 2) {
        if (form && !have_cpu()) break;
        double changes[100];
        hdst_context_options with_log = HDST_CONTEXT_OPTIONS_INIT;
        with_log.device = form ? "cpu" : "interp";
        with_log.log = note_warning;
        setting s = begin("interp");
        hdst_context_destroy(s.context);
        s = (setting){.context = hdst_context_create(&with_log)};
        s.context->engine->options.gpu_form_on_cpu = form == 2;
        s.module = module_of(s.context, kernels);
        s.start = hdst_map_function(hdst_read(hdst_source_from_range(s.context, 0, CELLS), s.module, "int64_t"), s.module, "first");
        s.state = hdst_value_create(s.module, "double", 1);
        const ranking r = rank_body(&s);
        const int turns = rank_in_c(&s, &r, 1e-4, 100, changes);
        for (int t = turns; t < turns + 4; t++) changes[t] = NAN;
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.until = "change", options.threshold = 1e-4, options.limit = 100, options.every = 4;
        hdst_loop_report report = HDST_LOOP_REPORT_INIT;
        hdst_dataset *loop = hdst_loop(s.start, s.state, r.steps, 2, &options);
        hdst_result *result = hdst_result_create(loop);
        warning[0] = 0;
        RUN(result);
        hdst_loop_read_report(loop, &report, NULL);
        cr_assert(report.converged && report.turns == (uint64_t)(turns + 3) / 4 * 4, "%llu of %d", (unsigned long long)report.turns, turns);
        cr_expect(isnan(report.turn[0].value) && report.turn[3].value == changes[3]);
        cr_expect_str_empty(warning);
        options.every = 1, options.limit = 3;
        loop = hdst_loop(s.start, s.state, r.steps, 2, &options);
        result = hdst_result_create(loop);
        RUN(result);
        hdst_loop_read_report(loop, &report, NULL);
        cr_assert(!report.converged && report.turns == 3);
        cr_expect(strstr(warning, "limit of 3 turns") && strstr(warning, "'change'"), "%s", warning);
        options.quiet = 1;
        warning[0] = 0;
        loop = hdst_loop(s.start, s.state, r.steps, 2, &options);
        result = hdst_result_create(loop);
        RUN(result);
        hdst_loop_read_report(loop, &report, NULL);
        cr_expect(!report.converged && report.turns == 3 && !warning[0], "%s", warning);
        hdst_context_destroy(s.context);
    }
}

// A loop whose state shrinks, in a loop, behind a sort, and again: nothing of one run is left for the next.
Test(loop, loops_are_datasets_like_others)
{
    ON_EACH_FORM {
        setting s = begin(forms[form]);
        uint64_t count;
        hdst_value *inner_state = hdst_value_create(s.module, "int64_t", 1), *outer_state = hdst_value_create(s.module, "int64_t", 1);
        hdst_dataset *less = hdst_map_function(hdst_filter_function(hdst_read_value(inner_state), s.module, "positive"), s.module, "less");
        const hdst_loop_step inner_step = {.dataset = less, .value = inner_state};
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 3;
        hdst_dataset *inner = hdst_loop(hdst_read_value(outer_state), inner_state, &inner_step, 1, &options);
        const hdst_loop_step outer_step = {.dataset = inner, .value = outer_state};
        options.limit = 2;
        hdst_dataset *outer = hdst_loop(hdst_map_function(s.numbers, s.module, "steps_of"), outer_state, &outer_step, 1, &options);
        hdst_result *result = hdst_result_create(hdst_sort(outer, "value"));
        for (int again = 0; again < 2; again++) {
            RUN(result);
            const int64_t *got = hdst_result_rows(result, NULL, &count);
            // Of 1 ... 7, six turns with one less each: those that are above 0 before each are 6 and 7.
            uint64_t right = 0;
            for (int i = 0; i < CELLS; i++) right += i % 7 + 1 > 5;
            cr_assert_eq(count, right, "%llu rows on %s", (unsigned long long)count, forms[form]);
            cr_assert(got[0] == 0 && got[count - 1] == 1);
        }
        hdst_context_destroy(s.context);
    }
}

enum { PARTS = 8, ROWS = 100000 };

// A budget with room for the values of eight steps, and not for what each step keeps of its last run besides.
Test(loop, steps_give_back_what_they_keep_where_memory_is_short)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.memory = (uint64_t)12 << 20;
    setting s = {.context = hdst_context_create(&options)};
    s.module = module_of(s.context, kernels);
    hdst_value *values[PARTS];
    hdst_loop_step steps[PARTS];
    for (int i = 0; i < PARTS; i++) values[i] = hdst_value_create(s.module, "int64_t", 1);
    for (int i = 0; i < PARTS; i++)
        steps[i] = (hdst_loop_step){.dataset = hdst_map_function(hdst_read_value(values[i]), s.module, "less"), .value = values[(i + 1) % PARTS]};
    hdst_loop_options limit = HDST_LOOP_OPTIONS_INIT;
    limit.limit = 3;
    hdst_dataset *numbers = hdst_read(hdst_source_from_range(s.context, 0, ROWS), s.module, "int64_t");
    hdst_result *result = hdst_result_create(hdst_reduce(hdst_loop(numbers, values[0], steps, PARTS, &limit), s.module, "sum_of"));
    RUN(result);
    const int64_t *got = hdst_result_rows(result, NULL, NULL);
    cr_assert_eq(*got, (int64_t)ROWS * (ROWS - 1) / 2 - (int64_t)ROWS * 3 * PARTS);
    hdst_context_destroy(s.context);
}

// A loop that would not end in a lifetime ends when it is cancelled half way; another one over the same values begins anew, as does the next over its rows.
Test(loop, cancelled_half_way_and_gone_on_with)
{
    for (size_t form = 0; form < 2; form++) {
        if (form && !have_cpu()) break;
        setting s = begin(forms[form]);
        hdst_error error;
        uint64_t count;
        bool ended = false;
        hdst_result *result = hdst_result_create(mix_loop(&s, 1));
        RUN(result);                // its kernels are compiled
        hdst_dataset *endless = mix_loop(&s, UINT64_MAX);
        hdst_job *job = hdst_run_async(hdst_result_create(endless));
        cr_assert_eq(hdst_job_wait(job, 0.05, &ended, &error), HDST_OK);
        cr_assert(!ended);
        hdst_job_cancel(job);
        cr_assert_eq(hdst_job_wait(job, 60, &ended, &error), HDST_E_CANCELLED, "%s", error.message);
        hdst_job_destroy(job);
        result = hdst_result_create(mix_loop(&s, 3));
        RUN(result);
        void *rows;
        cr_assert_eq(hdst_collect(hdst_read_value(s.state), &rows, &count, &error), HDST_OK, "%s", error.message);
        expect_mixed(rows, count, 3, forms[form]);
        s.start = hdst_read(hdst_source_from_memory(s.context, rows, count, sizeof(double)), s.module, "double");
        result = hdst_result_create(mix_loop(&s, 4));
        RUN(result);
        expect_mixed(hdst_result_rows(result, NULL, &count), CELLS, 7, forms[form]);
        cr_expect_eq(count, CELLS);
        s.start = hdst_read_value(s.state);
        result = hdst_result_create(mix_loop(&s, 2));
        RUN(result);
        expect_mixed(hdst_result_rows(result, NULL, &count), CELLS, 9, forms[form]);
        hdst_rows_destroy(s.context, rows);
        hdst_context_destroy(s.context);
    }
}

// Numbers that a step leaves, a record for each, are rows of eight for the next one, whose state they are; a value made of a turn's accumulator is read in it.
static hdst_dataset *sides_loop(const setting *s, hdst_value *values[3], uint64_t limit)
{
    hdst_dataset *numbers = hdst_read(hdst_source_from_range(s->context, 0, 24), s->module, "int64_t");
    hdst_dataset *start = hdst_map_function(hdst_read(hdst_source_from_range(s->context, 0, 3), s->module, "int64_t"), s->module, "all_sides");
    values[0] = hdst_value_create(s->module, "sides", 1);
    values[1] = hdst_value_create(s->module, "double", 1);
    values[2] = hdst_value_create(s->module, "double", 1);
    hdst_dataset *turned = mapped(numbers, s->module, "turned", "v", values[0]);
    hdst_dataset *shrunk = mapped(hdst_read_value(values[1]), s->module, "shrunk", "most", values[2]);
    const hdst_loop_step steps[] = {{.dataset = turned, .value = values[1]}, {.dataset = turned, .table = "most", .value = values[2]},
                                    {.dataset = shrunk, .value = values[0]}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = limit, options.until = "moved", options.threshold = -INFINITY;
    return hdst_loop(start, values[0], steps, 3, &options);
}

static int sides_in_c(double x[24], int limit)
{
    double y[24], most = 0;
    for (int i = 0; i < 24; i++) x[i] = 1 + i / 8 + i % 8;
    for (int t = 0; t < limit; t++) {
        for (int i = 0; i < 24; i++) {
            y[i] = 0;
            for (int k = 0; k < 8; k++) y[i] += x[i / 8 * 8 + (k + i) % 8] * (k + 1);
        }
        most = 0;
        for (int i = 0; i < 24; i++) most = fmax(most, y[i]), x[i] = y[i] / 16;
        if (most > 3e6) return t + 1;
    }
    return limit;
}

Test(loop, numbers_of_a_step_are_rows_of_the_next)
{
    for (size_t form = 0; form < (have_cpu() ? 3 : 1); form++) {
        setting s = begin(forms[form]);
        hdst_value *values[3];
        hdst_dataset *loop = sides_loop(&s, values, 40);
        hdst_result *result = hdst_result_create(loop);
        double want[24];
        const int turns = sides_in_c(want, 40);
        RUN(result);
        uint64_t rows;
        const double *got = hdst_result_rows(result, NULL, &rows);
        hdst_loop_report report = HDST_LOOP_REPORT_INIT;
        cr_assert_eq(hdst_loop_read_report(loop, &report, NULL), HDST_OK);
        cr_assert(turns > 5 && turns < 40 && report.turns == (uint64_t)turns && report.converged, "%d turns on %s, not %d", (int)report.turns, forms[form],
                  turns);
        cr_assert_eq(rows, 3);
        for (int i = 0; i < 24; i++) cr_assert_eq(got[i], want[i], "number %d on %s: %g, not %g", i, forms[form], got[i], want[i]);
        hdst_context_destroy(s.context);
    }
}

Test(loop, numbers_that_are_no_whole_rows)
{
    hdst_context_options given = HDST_CONTEXT_OPTIONS_INIT;
    given.device = "interp", given.log = note_warning;
    setting s = {.context = hdst_context_create(&given)};
    s.module = module_of(s.context, kernels);
    hdst_value *values[3], *few = hdst_value_create(s.module, "few", 1), *other = hdst_value_create(s.module, "two", 1);
    warning[0] = 0;
    hdst_result *short_one = hdst_result_create(sides_loop(&s, values, 2));
    RUN(short_one);
    cr_expect_str_empty(warning, "%s", warning);
    hdst_dataset *ten = hdst_map_function(hdst_read(hdst_source_from_range(s.context, 0, 10), s.module, "int64_t"), s.module, "first");
    hdst_result *numbers = hdst_result_create(ten);
    RUN(numbers);
    hdst_error error;
    cr_assert_eq(hdst_value_set_result(few, numbers, NULL, &error), HDST_E_USAGE);
    cr_expect(strstr(error.message, "10 numbers of 'double' are no whole rows of 'few', which has 3"), "%s", error.message);
    cr_assert_eq(hdst_value_set_result(other, numbers, NULL, &error), HDST_OK, "%s", error.message);
    hdst_result *pairs = hdst_result_create(hdst_read_value(other));
    RUN(pairs);
    uint64_t rows;
    const double *got = hdst_result_rows(pairs, NULL, &rows);
    cr_assert_eq(rows, 5);
    for (int i = 0; i < 10; i++) cr_assert_eq(got[i], 1.0 / (1 + i));
    hdst_context_destroy(s.context);
}

Test(loop, what_is_no_loop_is_told)
{
    setting s = begin("interp");
    hdst_dataset *read = hdst_read_value(s.state), *pairs = hdst_map_function(read, s.module, "pairs");
    hdst_value *other = hdst_value_create(s.module, "double", 1);
    hdst_loop_step step = {.dataset = hdst_map_function(read, s.module, "as_pair"), .value = s.state};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = 5;
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "the body of the loop gives records of 'pair', and its value has rows of 'double'");
    expect_run_usage_error(hdst_loop(hdst_map_function(s.start, s.module, "as_pair"), s.state, &step, 1, &options), "starts with records of 'pair'");
    step = (hdst_loop_step){.dataset = pairs, .value = other};
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "no step of the loop makes its state");
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 0, &options), "0 steps");
    step.value = s.state;
    options.until = "chang";
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "no accumulator 'chang'");
    options.until = "p";
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "'p' cannot end a loop: it is a record");
    options.until = NULL;
    options.threshold = NAN;
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "NaN");
    options.threshold = 0;
    options.limit = 0;
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "without a limit");
    options.limit = 5;
    step.table = "p";
    expect_run_usage_error(hdst_loop(s.start, s.state, &step, 1, &options), "accumulator 'p' of the loop's body has rows of 'pair'");
    hdst_error error;
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    cr_assert_eq(hdst_loop_read_report(s.start, &report, &error), HDST_E_USAGE);
    hdst_context_destroy(s.context);
}

// Values that turns write, and what reads them in the same run.
Test(loop, what_reads_a_value_that_the_loop_writes)
{
    setting s = begin("interp");
    uint64_t count;
    hdst_dataset *loop = mix_loop(&s, 3), *read = hdst_read_value(s.state), *looks = mapped(s.start, s.module, "mix", "all", s.state);
    expect_run_usage_error(hdst_union(looks, loop), "'all' of 'mix' is bound to a value that a loop of the same run writes");
    expect_run_usage_error(hdst_union(loop, looks), "'all' of 'mix' is bound to a value that a loop of the same run writes");
    expect_run_usage_error(hdst_union(loop, read), "hdst_read_value reads a value that a loop of the same run writes");
    expect_run_usage_error(hdst_union(read, loop), "hdst_read_value reads a value that a loop of the same run writes");
    hdst_result *behind = hdst_result_create(mapped(loop, s.module, "mix", "all", s.state));       // reads what three turns left: a fourth
    RUN(behind);
    const double *got = hdst_result_rows(behind, NULL, &count);
    expect_mixed(got, count, 4, "interp");
    hdst_dataset *pairs = hdst_map_function(read, s.module, "pairs");
    const hdst_loop_step twice[] = {{.dataset = pairs, .value = s.state}, {.dataset = pairs, .value = s.state}};
    expect_usage_error(hdst_loop(s.start, s.state, twice, 2, NULL), "steps 0 and 1 of the loop give one value what one dataset made");
    hdst_dataset *same = hdst_map_function(pairs, s.module, "pairs");
    hdst_value *pair = hdst_value_create(s.module, "pair", 1);
    const hdst_loop_step two[] = {{.dataset = same, .value = s.state}, {.dataset = same, .table = "p", .value = pair}};
    expect_run_usage_error(hdst_loop(s.start, s.state, two, 2, NULL), "two accumulators are called 'p', one of 'pairs' and one of 'pairs'");
    hdst_map_spec *settle = hdst_map_spec_create(s.module, "settle");
    cr_expect_eq(hdst_bind_value(settle, "change", s.state), HDST_E_USAGE);         // an accumulator is bound to no value
    hdst_context_destroy(s.context);
}

static void expect_null(const hdst_dataset *loop, const char *argument)
{
    hdst_error error;
    cr_assert_eq(hdst_dataset_status(loop, &error), HDST_E_USAGE, "%s", argument);
    cr_expect(strstr(error.message, argument) && strstr(error.message, "NULL"), "'%s' has no '%s'", error.message, argument);
}

Test(loop, what_must_not_be_null)
{
    setting s = begin("interp");
    const hdst_loop_step step = {.dataset = s.start, .value = s.state}, none = {.value = s.state}, nowhere = {.dataset = s.start};
    expect_null(hdst_loop(NULL, s.state, &step, 1, NULL), "start");
    expect_null(hdst_loop(s.start, NULL, &step, 1, NULL), "state");
    expect_null(hdst_loop(s.start, s.state, NULL, 1, NULL), "steps");
    expect_null(hdst_loop(s.start, s.state, &none, 1, NULL), "steps[].dataset");
    expect_null(hdst_loop(s.start, s.state, &nowhere, 1, NULL), "steps[].value");
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    cr_expect_eq(hdst_loop_read_report(NULL, &report, NULL), HDST_E_USAGE);
    cr_expect_eq(hdst_loop_read_report(hdst_loop(s.start, s.state, &step, 1, NULL), NULL, NULL), HDST_E_USAGE);
    hdst_context_destroy(s.context);
}

// A record that fails in a turn ends the loop with its number; the next run begins anew.
Test(loop, a_record_that_fails_in_a_turn)
{
    ON_EACH_FORM {
        setting s = begin(forms[form]);
        hdst_value *state = hdst_value_create(s.module, "int64_t", 1);
        const hdst_loop_step step = {.dataset = hdst_map_function(hdst_read_value(state), s.module, "worst"), .value = state};
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 9;
        hdst_result *result = hdst_result_create(hdst_loop(s.numbers, state, &step, 1, &options));
        hdst_error error;
        for (int again = 0; again < 2; again++) {
            cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
            cr_assert_eq(error.record, 3, "record %llu on %s", (unsigned long long)error.record, forms[form]);
        }
        hdst_context_destroy(s.context);
    }
}
