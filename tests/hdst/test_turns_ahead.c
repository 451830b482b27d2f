// SPDX-License-Identifier: Apache-2.0
// Turns of a loop that are enqueued ahead of the host give what turns one by one give: wherever the loop ends, whatever a turn meets.
#include "tests/hdst/support.h"

#include "plan/loop_turns.h"

#include <math.h>

enum { CELLS = 3000 };

static const char kernels[] =
    "map first(int64_t i) -> double { return 1.0 / (1 + i % 97); }\n"
    "map mix(double x, lookup double all[], accum double moved) -> double\n"
    "{\n"
    "    double next = x / 2 + all[(record_index() * 7 + 1) % len(all)] / 3;\n"
    "    acc_max(moved, fabs(next - x));\n"
    "    return next;\n"
    "}\n"
    "map total(double x, accum double sum) { sum += x; }\n"
    "map grow(double x, broadcast double sum, accum uint64_t seen) -> double { seen += 1; return x * 1.5 + sum / 4096; }\n"
    "map leap(double x, broadcast double sum, accum uint64_t seen) -> double { seen += 1; return x * 1000 + sum / 4096; }\n"
    "struct odd { double a; int32_t b; };\n"
    "map open(double x, accum odd o[]) -> odd\n"
    "{\n"
    "    o[record_index() % 5].a += x;\n"
    "    o[record_index() % 5].b += 1;\n"
    "    return (odd){ .a = x / 2, .b = (int32_t)(record_index() % 5) };\n"
    "}\n"
    "map close(odd y, lookup odd all[], broadcast odd o[]) -> double\n"
    "{\n"
    "    odd other = all[(record_index() * 3 + 1) % len(all)];\n"
    "    return y.a + other.a / 4 + o[other.b].a / 65536 + o[y.b].b;\n"
    "}\n"
    "map same(int64_t i) -> int64_t { return i; }\n"
    "map up(int64_t x, accum int64_t most, accum int64_t left) -> int64_t\n"
    "{\n"
    "    acc_max(most, x);\n"
    "    acc_min(left, 100012 - x);\n"
    "    return x + 1 + 0 / (x - 100012);\n"
    "}\n"
    "map count_down(int64_t x) -> int64_t { return x - 1; }\n"
    "filter positive(int64_t x) { return x > 0; }\n"
    "map stairs(int64_t i) -> int64_t { return i % 5 * 6 + 7; }\n";

typedef struct setting {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *numbers;
    hdst_value *state;
    const char *form;
} setting;

static setting begin(const char *form, const char *record, hdst_context *context)
{
    setting s = {.context = context ? context : context_in_form(form), .form = form};
    s.module = module_of(s.context, kernels);
    s.numbers = hdst_read(hdst_source_from_range(s.context, 0, CELLS), s.module, "int64_t");
    s.state = hdst_value_create(s.module, record, 1);
    return s;
}

static hdst_dataset *mapped(hdst_dataset *from, const setting *s, const char *function, const char *parameter, hdst_value *value)
{
    hdst_map_spec *spec = hdst_map_spec_create(s->module, function);
    if (parameter) cr_assert_eq(hdst_bind_value(spec, parameter, value), HDST_OK);
    return hdst_map(from, spec);
}

static hdst_loop_options until(const char *what, double threshold, uint64_t limit)
{
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.until = what, options.threshold = threshold, options.limit = limit, options.quiet = 1;
    return options;
}

static hdst_dataset *mixing(const setting *s, const hdst_loop_options *options)
{
    const hdst_loop_step step = {.dataset = mapped(hdst_read_value(s->state), s, "mix", "all", s->state), .value = s->state};
    return hdst_loop(hdst_map_function(s->numbers, s->module, "first"), s->state, &step, 1, options);
}

static hdst_loop_report report_of(const hdst_dataset *loop)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    cr_assert_eq(hdst_loop_read_report(loop, &report, NULL), HDST_OK);
    return report;
}

static uint64_t ahead_of(const hdst_dataset *loop) { return ((const hdst__loop *)loop->own)->ahead.turns; }

// Both have the same rows, made the same turns and were told the same in each.
static void expect_same(hdst_dataset *loop, hdst_result *result, hdst_dataset *right_loop, hdst_result *right_result)
{
    uint64_t count, right_count;
    const void *rows = hdst_result_rows(result, NULL, &count), *right_rows = hdst_result_rows(right_result, NULL, &right_count);
    const hdst_loop_report report = report_of(loop), right = report_of(right_loop);
    cr_assert(rows && right_rows);
    cr_assert_eq(count, right_count);
    cr_assert(!memcmp(rows, right_rows, 8 * count));
    cr_assert_eq(report.turns, right.turns, "%llu turns, not %llu", (unsigned long long)report.turns, (unsigned long long)right.turns);
    cr_assert_eq(report.converged, right.converged);
    for (uint64_t t = 0; t < report.turns; t++) {
        const hdst_loop_turn *turn = &report.turn[t], *other = &right.turn[t];
        cr_assert(turn->value == other->value || (isnan(turn->value) && isnan(other->value)), "turn %llu: %g, not %g", (unsigned long long)t, turn->value,
                  other->value);
        cr_assert(turn->records == other->records && turn->seconds > 0);
    }
    cr_assert_eq(hdst_result_stats(result).records, hdst_result_stats(right_result).records);
}

// The rounds of memory for a state are three, and two turns are in flight: each place of the end among them. `every` makes it look at some turns alone.
Test(turns_ahead, the_end_comes_anywhere)
{
    if (!have_cpu()) return;
    setting s = begin("gpu-form", "double", NULL), plain = begin("interp", "double", NULL);
    for (uint64_t every = 1; every <= 3; every += 2)
        for (int i = 0; i < 9; i++) {
            hdst_loop_options options = until("moved", i < 8 ? 0.004 * pow(0.8, i) : -INFINITY, i < 8 ? 60 : 31);
            options.every = every;
            hdst_dataset *loop = mixing(&s, &options), *right = mixing(&plain, &options);
            hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
            RUN(right_result);
            for (int again = 0; again < 2; again++) {
                RUN(result);
                expect_same(loop, result, right, right_result);
            }
            const uint64_t turns = report_of(loop).turns;
            cr_assert(turns > 10 && (turns < 60 || every > 1), "%llu turns", (unsigned long long)turns);
            cr_expect(ahead_of(loop) > turns / 2, "%llu of %llu turns ahead", (unsigned long long)ahead_of(loop), (unsigned long long)turns);
            cr_expect_eq(ahead_of(right), 0);
        }
    hdst_context_destroy(s.context);
    hdst_context_destroy(plain.context);
}

Test(turns_ahead, the_limit_is_any_number)
{
    if (!have_cpu()) return;
    setting s = begin("gpu-form", "double", NULL), plain = begin("interp", "double", NULL);
    for (uint64_t limit = 1; limit < 13; limit++) {
        const hdst_loop_options options = until(NULL, 0, limit);
        hdst_dataset *loop = mixing(&s, &options), *right = mixing(&plain, &options);
        hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
        RUN(result);
        RUN(right_result);
        expect_same(loop, result, right, right_result);
        cr_expect(limit < 8 || ahead_of(loop) > 2, "%llu of %llu turns ahead", (unsigned long long)ahead_of(loop), (unsigned long long)limit);
    }
    hdst_context_destroy(s.context);
    hdst_context_destroy(plain.context);
}

static hdst_dataset *growing(const setting *s, const char *by, uint64_t limit)
{
    hdst_value *sum = hdst_value_create(s->module, "double", 1);
    const hdst_loop_step steps[] = {{.dataset = hdst_map_function(hdst_read_value(s->state), s->module, "total"), .table = "sum", .value = sum},
                                    {.dataset = mapped(hdst_read_value(s->state), s, by, "sum", sum), .value = s->state}};
    const hdst_loop_options options = until("seen", -INFINITY, limit);
    return hdst_loop(hdst_map_function(s->numbers, s->module, "first"), s->state, steps, 2, &options);
}

// Sums stay on the device, exact; those that leave their words after some turns are found out behind them.
Test(turns_ahead, sums_that_no_longer_fit)
{
    static const char *const by[] = {"grow", "leap"};
    if (!have_cpu()) return;
    for (int i = 0; i < 2; i++) {
        setting s = begin("gpu-form", "double", NULL), plain = begin("interp", "double", NULL);
        hdst_dataset *loop = growing(&s, by[i], 40), *right = growing(&plain, by[i], 40);
        hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
        RUN(result);
        RUN(right_result);
        expect_same(loop, result, right, right_result);
        cr_expect(ahead_of(loop) > 0, "%s: %llu turns ahead", by[i], (unsigned long long)ahead_of(loop));
        hdst_context_destroy(s.context);
        hdst_context_destroy(plain.context);
    }
}

// Records of a step go to two values, its accumulator to a third, of rows with a gap; a later step reads all of them. `state` is read behind the loop, too.
static hdst_dataset *handing_on(const setting *s, hdst_value *values[3], uint64_t limit)
{
    hdst_map_spec *open = hdst_map_spec_create(s->module, "open"), *close = hdst_map_spec_create(s->module, "close");
    for (int i = 0; i < 3; i++) values[i] = hdst_value_create(s->module, "odd", 1);
    hdst_bind_accum(open, "o", 5);
    hdst_bind_value(close, "all", values[1]);
    hdst_bind_value(close, "o", values[2]);
    hdst_dataset *opened = hdst_map(hdst_read_value(s->state), open);
    const hdst_loop_step steps[] = {{.dataset = opened, .value = values[0]}, {.dataset = opened, .value = values[1]},
                                    {.dataset = opened, .table = "o", .value = values[2]},
                                    {.dataset = hdst_map(hdst_read_value(values[0]), close), .value = s->state}};
    const hdst_loop_options options = until(NULL, 0, limit);
    return hdst_loop(hdst_map_function(s->numbers, s->module, "first"), s->state, steps, 4, &options);
}

Test(turns_ahead, what_steps_hand_on)
{
    if (!have_cpu()) return;
    for (uint64_t limit = 12; limit < 15; limit++) {
        hdst_value *values[3], *right_values[3];
        setting s = begin("gpu-form", "double", NULL), plain = begin("interp", "double", NULL);
        hdst_dataset *loop = handing_on(&s, values, limit), *right = handing_on(&plain, right_values, limit);
        hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
        RUN(right_result);
        for (int again = 0; again < 2; again++) {
            RUN(result);
            expect_same(loop, result, right, right_result);
            cr_expect(ahead_of(loop) > limit / 2, "%llu turns ahead", (unsigned long long)ahead_of(loop));
            for (int i = 0; i < 3; i++) {
                hdst_result *got = hdst_result_create(hdst_read_value(values[i])), *expected = hdst_result_create(hdst_read_value(right_values[i]));
                uint64_t count, right_count;
                RUN(got);
                RUN(expected);
                const void *rows = hdst_result_rows(got, NULL, &count), *right_rows = hdst_result_rows(expected, NULL, &right_count);
                cr_assert_eq(count, right_count);
                for (uint64_t k = 0; k < count; k++) {
                    const bool same = !memcmp((const char *)rows + 16 * k, (const char *)right_rows + 16 * k, 12);     // behind which there is a gap
                    cr_assert(same, "value %d, row %llu", i, (unsigned long long)k);
                }
            }
        }
        hdst_context_destroy(s.context);
        hdst_context_destroy(plain.context);
    }
}

// Every cell grows by one in a turn, and the largest, which comes to 100012, fails in the turn behind it.
static hdst_dataset *climbing(const setting *s, uint64_t from, const hdst_loop_options *options)
{
    const hdst_loop_step step = {.dataset = hdst_map_function(hdst_read_value(s->state), s->module, "up"), .value = s->state};
    hdst_source *source = hdst_source_from_range(s->context, from, from + CELLS);
    return hdst_loop(hdst_map_function(hdst_read(source, s->module, "int64_t"), s->module, "same"), s->state, &step, 1, options);
}

// In turn `turn`; in the one behind it, in flight already, another cell does. Then a loop that is not to meet it.
Test(turns_ahead, a_record_that_fails_while_the_next_turn_runs)
{
    if (!have_cpu()) return;
    for (uint64_t turn = 1; turn < 14; turn += 3) {
        setting s = begin("gpu-form", "int64_t", NULL);
        const hdst_loop_options options = until("most", -INFINITY, 30);
        hdst_dataset *loop = climbing(&s, 100012 - CELLS + 2 - turn, &options);
        hdst_result *result = hdst_result_create(loop);
        for (int again = 0; again < 2; again++) {
            hdst_error error;
            cr_assert_eq(hdst_run(result, &error), HDST_E_RECORD);
            cr_assert_eq(error.record, CELLS - 1, "record %llu", (unsigned long long)error.record);
            const hdst_loop_report report = report_of(loop);
            cr_assert_eq(report.turns, turn - 1, "failed in turn %llu, not %llu", (unsigned long long)report.turns + 1, (unsigned long long)turn);
            if (turn > 1) cr_assert_eq(report.turn[turn - 2].value, 100011);
            cr_expect(turn < 10 || ahead_of(loop) > 0);
        }
        hdst_dataset *other = climbing(&s, 0, &options);
        result = hdst_result_create(other);
        RUN(result);
        const int64_t *rows = hdst_result_rows(result, NULL, NULL);
        for (int i = 0; i < CELLS; i++) cr_assert_eq(rows[i], i + 30);
        hdst_context_destroy(s.context);
    }
}

// The loop settles in the turn before the one that fails, which is in flight by then: nobody hears of it, and what it left is not met again.
Test(turns_ahead, a_turn_too_many_fails)
{
    if (!have_cpu()) return;
    for (uint64_t turns = 11; turns < 14; turns++) {
        setting s = begin("gpu-form", "int64_t", NULL);
        const hdst_loop_options options = until("left", 1, 100);
        hdst_dataset *loop = climbing(&s, 100012 - CELLS + 1 - turns, &options);
        hdst_result *result = hdst_result_create(loop);
        for (int again = 0; again < 2; again++) {
            RUN(result);
            const hdst_loop_report report = report_of(loop);
            const int64_t *rows = hdst_result_rows(result, NULL, NULL);
            cr_assert(report.turns == turns && report.converged, "%llu turns", (unsigned long long)report.turns);
            for (int i = 0; i < CELLS; i++) cr_assert_eq(rows[i], 100012 - CELLS + 1 + i);
            cr_expect(ahead_of(loop) > 0);
        }
        hdst_context_destroy(s.context);
    }
}

static hdst_dataset *descending(const setting *s, uint64_t limit)
{
    hdst_dataset *left = hdst_map_function(hdst_filter_function(hdst_read_value(s->state), s->module, "positive"), s->module, "count_down");
    const hdst_loop_step step = {.dataset = left, .value = s->state};
    const hdst_loop_options options = until(NULL, 0, limit);
    return hdst_loop(hdst_map_function(s->numbers, s->module, "stairs"), s->state, &step, 1, &options);
}

// A fifth of the records goes every six turns, which the host must be told of.
Test(turns_ahead, the_state_becomes_smaller_now_and_then)
{
    if (!have_cpu()) return;
    for (uint64_t limit = 10; limit < 34; limit += 11) {
        setting s = begin("gpu-form", "int64_t", NULL), plain = begin("interp", "int64_t", NULL);
        hdst_dataset *loop = descending(&s, limit), *right = descending(&plain, limit);
        hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
        RUN(result);
        RUN(right_result);
        if (limit < 32) expect_same(loop, result, right, right_result);
        else cr_assert_eq(hdst_result_stats(result).records, hdst_result_stats(right_result).records);
        hdst_context_destroy(s.context);
        hdst_context_destroy(plain.context);
    }
}

typedef struct watcher {
    hdst_context *context;
    uint64_t turn, calls;
} watcher;

static void cancel_far_on(const hdst_progress *progress, void *user)
{
    watcher *w = user;
    w->calls++;
    w->turn = progress->turn;
    if (progress->turn > 50) hdst_context_cancel(w->context);
}

// A loop that would not end in a lifetime tells how far it is, and is cancelled with a turn in flight; what runs next begins anew.
Test(turns_ahead, told_and_cancelled_on_the_way)
{
    if (!have_cpu()) return;
    watcher w = {0};
    hdst_context_options with_progress = HDST_CONTEXT_OPTIONS_INIT;
    with_progress.device = "cpu", with_progress.progress = cancel_far_on, with_progress.progress_user = &w;
    w.context = hdst_context_create(&with_progress);
    w.context->engine->options.gpu_form_on_cpu = true;
    setting s = begin("gpu-form", "double", w.context), plain = begin("interp", "double", NULL);
    hdst_loop_options options = until("moved", -INFINITY, UINT64_MAX);
    hdst_dataset *endless = mixing(&s, &options);
    hdst_error error;
    cr_assert_eq(hdst_run(hdst_result_create(endless), &error), HDST_E_CANCELLED, "%s", error.message);
    cr_expect(ahead_of(endless) > 0 && report_of(endless).turns >= ahead_of(endless));
    cr_expect(w.calls > 0 && w.turn > 50 && report_of(endless).turns + 1 >= w.turn);
    options.limit = 20;
    hdst_dataset *loop = mixing(&s, &options), *right = mixing(&plain, &options);
    hdst_result *result = hdst_result_create(loop), *right_result = hdst_result_create(right);
    RUN(result);
    RUN(right_result);
    expect_same(loop, result, right, right_result);
    hdst_context_destroy(s.context);
    hdst_context_destroy(plain.context);
}

static void expect_told(const char *form, hdst_context *context, const char *words, uint64_t turns)
{
    setting s = begin(form, "double", context);
    const hdst_loop_options options = until("moved", -INFINITY, turns);
    hdst_error error;
    hdst_dataset *loop = mixing(&s, &options);
    hdst_result *result = hdst_result_create(loop);
    RUN(result);
    const char *text = hdst_explain(result, &error);
    cr_assert_not_null(text, "%s", error.message);
    cr_expect(strstr(text, words), "on %s no '%s' in:\n%s", form, words, text);
    hdst_context_destroy(s.context);
}

Test(turns_ahead, explain_tells_which_or_why_none)
{
    expect_told("interp", NULL, "turns are not enqueued ahead: the device works in the host's memory", 20);
    if (have_cpu()) expect_told("gpu-form", NULL, "of its turns were enqueued ahead of the host", 20);
    if (have_cpu()) expect_told("gpu-form", NULL, "turns are not enqueued ahead: there were too few of them", 2);
    if (have_team()) expect_told("two GPUs", pair_of_gpus(0, 0), "turns are not enqueued ahead: several devices share its stages", 20);
}
