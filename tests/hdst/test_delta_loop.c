// SPDX-License-Identifier: Apache-2.0
// Delta loops: only what changed goes on. Breadth-first search beside plain C, what a turn tells, how loops go on from rows that others left, misuse.
#include "tests/hdst/support.h"

#include <malloc.h>
#include <stdlib.h>

enum { GPU_FORM = 2 };
static const char *const forms[] = {"interp", "cpu", [GPU_FORM] = "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

enum { CELLS = 3000, EDGES = 7000, FAR = 1000000 };

typedef struct cell { uint32_t depth; double cost; } cell;          // as the kernels have it
typedef struct reached { uint32_t row, depth; double cost; } reached;

static const char kernels[] =
    "struct cell { uint32_t depth; double cost; };\n"
    "struct reached { uint32_t row; uint32_t depth; double cost; };\n"
    "struct odd { uint32_t row; double cost; uint32_t depth; };\n"
    "struct named { text name; };\n"
    "param uint32_t FAR = 1000000;\n"
    "map far(int64_t i) -> cell { return (cell){ .depth = i == 7 ? 0 : FAR, .cost = i == 7 ? 0.0 : 1e9 }; }\n"
    "map source(int64_t i) -> reached { return (reached){ .row = 7, .depth = 0, .cost = 0 }; }\n"
    "flat_map visit(reached r, lookup uint32_t first[], lookup uint32_t end[], lookup cell c[], accum uint64_t touched)\n"
    "    -> (key uint32_t row, uint32_t depth, double cost)\n"
    "{\n"
    "    touched += first[r.row + 1] - first[r.row];\n"
    "    for (uint32_t e = first[r.row]; e < first[r.row + 1]; e++)\n"
    "        if (r.depth + 1 < c[end[e]].depth) emit(end[e], r.depth + 1, r.cost + 0.25);\n"
    "}\n"
    "reduce least(cell a, cell b) { return (cell){ .depth = min(a.depth, b.depth), .cost = min(a.cost, b.cost) }; }\n"
    "map less(int64_t i, accum int64_t sum) -> int64_t { sum += i; return i - 1; }\n"
    "filter positive(int64_t i) { return i > 0; }\n"
    "map twice(int64_t i) -> (int64_t at, int64_t value) { return (i / 2, i); }\n"
    "map spread(int64_t i) -> (int64_t at, int64_t value) { return (i * 7919 % 20011 + 10000, i); }\n"
    "filter negative(int64_t i) { return i < 0; }\n"
    "map shifted(int64_t i, broadcast int64_t by) -> (int64_t at, int64_t value) { return (i + by, i); }\n"
    "map as_odd(reached r) -> odd { return (odd){ .row = r.row, .cost = r.cost, .depth = r.depth }; }\n"
    "map name(reached r) -> named { return (named){ .name = \"a\" }; }\n"
    "map change_of_name(reached r) -> (uint32_t row, text name) { return (0, \"b\"); }\n"
    "map endless(int64_t i) -> (int64_t at, int64_t value) { return (i % 10, i); }\n"
    "map same(int64_t i) -> int64_t { return i; }\n"
    "flat_map near(int64_t i) -> (key int8_t at, int64_t value) { if (i % 3) emit((int8_t)(i % 3 - 2), i); }\n"
    "reduce lesser(int64_t a, int64_t b) { return min(a, b); }\n"
    "struct sums { double high; uint64_t n; int32_t low; uint32_t bits; };\n"
    "struct found { uint16_t row; double high; uint64_t n; int32_t low; uint32_t bits; };\n"
    "map none(int64_t i) -> sums { return (sums){ .n = (uint64_t)i }; }\n"
    "map begin(int64_t i) -> found { return (found){ .row = (uint16_t)i, .n = (uint64_t)i * 3 }; }\n"
    "flat_map throw(found f, broadcast uint32_t rows) -> (key uint16_t row, double high, uint64_t n, int32_t low, uint32_t bits)\n"
    "{\n"
    "    for (uint32_t k = 0; k < f.row % 5; k++) {\n"
    "        uint32_t x = ((uint32_t)f.n + f.row * 31u + k) * 2654435761u;\n"
    "        emit((uint16_t)((x >> 7) % rows), x % 1000 ? -(double)x : 1.0 / 0.0, x * 5ul, (int32_t)x, 1u << x % 32);\n"
    "    }\n"
    "}\n"
    "reduce all_laws(sums a, sums b)\n"
    "{\n"
    "    return (sums){ .high = max(a.high, b.high), .n = a.n + b.n, .low = min(a.low, b.low), .bits = a.bits | b.bits };\n"
    "}\n";

// --- A graph ---

static uint32_t first[CELLS + 1], ends[EDGES];

static void make_graph(void)
{
    static uint32_t from[EDGES], to[EDGES];
    uint32_t state = 5, place[CELLS + 1];
    memset(first, 0, sizeof first);
    for (int i = 0; i < EDGES; i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (state >> 8) % CELLS;
        to[i] = (from[i] + 1 + (state >> 5) % 60) % CELLS;      // near ones, so that ways are long
        first[from[i] + 1]++;
    }
    for (int i = 0; i < CELLS; i++) first[i + 1] += first[i];
    memcpy(place, first, sizeof place);
    for (int i = 0; i < EDGES; i++) ends[place[from[i]]++] = to[i];
}

typedef struct search { cell cells[CELLS]; uint64_t work[CELLS], touched[CELLS], turns; } search;

// What each turn finds, by plain C. `limit`: turns at most.
static const search *searched(uint64_t limit)
{
    static search s;
    uint64_t found = 1;
    for (int i = 0; i < CELLS; i++) s.cells[i] = i == 7 ? (cell){0, 0} : (cell){FAR, 1e9};
    for (s.turns = 0; found && s.turns < limit; s.turns++) {
        s.work[s.turns] = found;
        s.touched[s.turns] = found = 0;
        for (int v = 0; v < CELLS; v++) {
            if (s.cells[v].depth != s.turns) continue;
            s.touched[s.turns] += first[v + 1] - first[v];
            for (uint32_t e = first[v]; e < first[v + 1]; e++) {
                cell *to = &s.cells[ends[e]];
                if (to->depth != FAR) continue;
                *to = (cell){(uint32_t)s.turns + 1, s.cells[v].cost + 0.25};
                found++;
            }
        }
    }
    return &s;
}

typedef struct setting {
    hdst_context *context;
    hdst_module *module;
    hdst_value *state, *work;
    hdst_dataset *start, *source;
    hdst_loop_step steps[2];
} setting;

static hdst_value *value_of(const setting *s, const char *type, const void *rows, uint64_t count)
{
    hdst_value *value = hdst_value_create(s->module, type, 1);
    cr_assert_eq(hdst_value_set(value, rows, count), HDST_OK);
    return value;
}

static hdst_dataset *numbers(const setting *s, int64_t count) { return hdst_read(hdst_source_from_range(s->context, 0, count), s->module, "int64_t"); }

// Numbers that a function makes, so that they lie on the device.
static hdst_dataset *made_numbers(const setting *s, int64_t count) { return hdst_map_function(numbers(s, count), s->module, "same"); }

// Who is reached through the work set's edges, each once: a change of its cell, and the next work set.
static hdst_dataset *visit(const setting *s)
{
    hdst_map_spec *spec = hdst_map_spec_create(s->module, "visit");
    hdst_bind_value(spec, "first", value_of(s, "uint32_t", first, CELLS + 1));
    hdst_bind_value(spec, "end", value_of(s, "uint32_t", ends, EDGES));
    hdst_bind_value(spec, "c", s->state);
    return hdst_reduce_by_key(hdst_flat_map(hdst_read_value(s->work), spec), s->module, "least");
}

static setting begin_in(hdst_context *context)
{
    setting s = {.context = context};
    s.module = module_of(s.context, kernels);
    s.state = hdst_value_create(s.module, "cell", 1);
    s.work = hdst_value_create(s.module, "reached", 1);
    s.start = hdst_map_function(numbers(&s, CELLS), s.module, "far");
    s.source = hdst_map_function(numbers(&s, 1), s.module, "source");
    hdst_dataset *found = visit(&s);
    s.steps[0] = (hdst_loop_step){.dataset = found, .value = s.state};
    s.steps[1] = (hdst_loop_step){.dataset = found, .value = s.work};
    return s;
}

static setting begin(const char *form) { return begin_in(context_in_form(form)); }

static hdst_dataset *search_from(const setting *s, hdst_dataset *start, hdst_dataset *work, uint64_t limit)
{
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = limit;
    options.until = "touched";
    options.threshold = -1;
    return hdst_delta_loop(start, s->state, work, s->work, s->steps, 2, &options);
}

static void expect_cells(hdst_result *result, const cell *right, const char *where)
{
    uint64_t count;
    const cell *got = hdst_result_rows(result, NULL, &count);
    cr_assert(got && count == CELLS, "%s", where);
    for (int i = 0; i < CELLS; i++)
        cr_assert(got[i].depth == right[i].depth && got[i].cost == right[i].cost, "cell %d on %s: %u, not %u", i, where, got[i].depth, right[i].depth);
}

static void expect_turns(const hdst_dataset *loop, const search *right)
{
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    cr_assert_eq(hdst_loop_read_report(loop, &report, NULL), HDST_OK);
    cr_assert_eq(report.turns, right->turns);
    cr_expect(report.converged);
    for (uint64_t t = 0; t < right->turns; t++) {
        cr_assert_eq(report.turn[t].work, right->work[t], "turn %llu", (unsigned long long)t);
        cr_assert_eq(report.turn[t].value, (double)right->touched[t]);
        cr_assert_eq(report.turn[t].changes, t + 1 < right->turns ? right->work[t + 1] : 0);
        cr_expect(report.turn[t].seconds > 0);
    }
}

static void expect_explained(hdst_result *result, const char *words)
{
    const char *text = hdst_explain(result, NULL);
    cr_expect(text && strstr(text, words), "no '%s' in\n%s", words, text);
}

static void *rows_of(hdst_value *value, uint64_t *count)
{
    hdst_error error;
    void *rows = NULL;
    cr_assert_eq(hdst_collect(hdst_read_value(value), &rows, count, &error), HDST_OK, "%s", error.message);
    return rows;
}

// --- What they give ---

Test(delta_loop, only_what_changed_goes_on)
{
    make_graph();
    const search *right = searched(CELLS);
    cr_assert_gt(right->turns, 20);
    ON_EACH_FORM {
        setting s = begin(forms[form]);
        hdst_dataset *loop = search_from(&s, s.start, s.source, CELLS);
        hdst_result *result = hdst_result_create(loop);
        for (int again = 0; again < 2; again++) {
            RUN(result);
            expect_cells(result, right->cells, forms[form]);
            expect_turns(loop, right);
        }
        if (form == GPU_FORM) expect_explained(result, "rows of its state were changed on the device in ");
        hdst_context_destroy(s.context);
    }
}

// What is offered lies where the state does, so it is reduced there, in a table with a row for each cell.
Test(delta_loop, a_device_reduces_what_is_offered)
{
    make_graph();
    if (!have_cpu()) return;
    setting s = begin(forms[GPU_FORM]);
    hdst_result *result = hdst_result_create(search_from(&s, s.start, s.source, 9));
    for (int again = 0; again < 2; again++) {
        RUN(result);
        expect_cells(result, searched(9)->cells, "nine turns");
        expect_explained(result, "container: device rows: one for each key below 3000,");
        expect_explained(result, "rows of its state were changed on the device in 9 turns");
    }
    hdst_context_destroy(s.context);
}

// A state that the host made stays with it, and explain says so where the device has memory of its own.
Test(delta_loop, rows_that_lie_on_the_host_are_told)
{
    static cell from[CELLS];
    make_graph();
    const search *right = searched(CELLS);
    for (int i = 0; i < CELLS; i++) from[i] = i == 7 ? (cell){0, 0} : (cell){FAR, 1e9};
    ON_EACH_FORM {
        setting s = begin(forms[form]);
        hdst_result *result = hdst_result_create(search_from(&s, hdst_read_value(value_of(&s, "cell", from, CELLS)), s.source, CELLS));
        RUN(result);
        expect_cells(result, right->cells, forms[form]);
        const char *text = hdst_explain(result, NULL), *words = "rows of its state are changed on the host: they lie in the host's memory";
        cr_expect_eq(strstr(text, words) != NULL, form == GPU_FORM, "%s:\n%s", forms[form], text);
        hdst_context_destroy(s.context);
    }
}

enum { ROWS_OF_SUMS = 5003, BEGUN = 9000, SUMS_SIZE = 24, FOUND_SIZE = 32 };
typedef struct thrown { void *state, *work; uint64_t rows, records; hdst_error error; } thrown;

static void *copy_of(const setting *s, hdst_value *value, uint64_t size, uint64_t *count)
{
    void *rows = rows_of(value, count), *copy = malloc(*count * size);
    memcpy(copy, rows, *count * size);
    hdst_rows_destroy(s->context, rows);
    return copy;
}

// Two turns that give rows below `below`: what they left, or the error. `made`: how the reduction went, at last.
static thrown throw(const char *form, uint32_t below, const char *made)
{
    setting s = {.context = context_in_form(form)};
    s.module = module_of(s.context, kernels);
    s.state = hdst_value_create(s.module, "sums", 1);
    s.work = hdst_value_create(s.module, "found", 1);
    hdst_map_spec *spec = hdst_map_spec_create(s.module, "throw");
    hdst_bind_value(spec, "rows", value_of(&s, "uint32_t", &below, 1));
    hdst_dataset *found = hdst_reduce_by_key(hdst_flat_map(hdst_read_value(s.work), spec), s.module, "all_laws");
    const hdst_loop_step steps[] = {{.dataset = found, .value = s.state}, {.dataset = found, .value = s.work}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = 2;
    hdst_result *result = hdst_result_create(hdst_delta_loop(hdst_map_function(numbers(&s, ROWS_OF_SUMS), s.module, "none"), s.state,
                                                             hdst_map_function(numbers(&s, BEGUN), s.module, "begin"), s.work, steps, 2, &options));
    thrown t = {0};
    if (hdst_run(result, &t.error) == HDST_OK) {
        t.state = copy_of(&s, s.state, SUMS_SIZE, &t.rows);
        t.work = copy_of(&s, s.work, FOUND_SIZE, &t.records);
    }
    if (made) expect_explained(result, made);
    hdst_context_destroy(s.context);
    return t;
}

// Minima, maxima, sums and bits of keys below the number of rows: the records of the next work set, and their order, too.
Test(delta_loop, devices_make_the_same_records_in_the_same_order)
{
    if (!have_cpu()) return;
    thrown right = throw("interp", ROWS_OF_SUMS, NULL), got = throw("gpu-form", ROWS_OF_SUMS, "container: device rows: one for each key below 5003,");
    cr_assert_eq(right.error.code, HDST_OK, "%s", right.error.message);
    cr_assert_eq(right.rows, ROWS_OF_SUMS);
    cr_assert_gt(right.records, 2000);
    cr_assert(got.rows == right.rows && got.records == right.records);
    cr_expect_arr_eq(got.state, right.state, right.rows * SUMS_SIZE);
    cr_expect_arr_eq(got.work, right.work, right.records * FOUND_SIZE);
    free(right.state);
    free(right.work);
    free(got.state);
    free(got.work);
}

// A key that names no row is one of a reduction all the same: what is wrong is the change.
Test(delta_loop, a_key_that_is_no_row_is_told_by_its_change)
{
    if (!have_cpu()) return;
    const thrown right = throw("interp", ROWS_OF_SUMS + 3, NULL), got = throw("gpu-form", ROWS_OF_SUMS + 3, NULL);
    cr_assert_eq(right.error.code, HDST_E_RECORD);
    cr_expect(strstr(right.error.message, "is of row 500"), "%s", right.error.message);
    cr_expect_str_eq(got.error.message, right.error.message);
    cr_expect_eq(got.error.record, right.error.record);
}

// Negative keys of one byte, whose bits are those of a small number.
Test(delta_loop, a_negative_key_is_no_row)
{
    hdst_error errors[2];
    for (size_t form = 0; form <= GPU_FORM && have_cpu(); form += GPU_FORM) {
        setting s = {.context = context_in_form(forms[form])};
        s.module = module_of(s.context, kernels);
        hdst_value *state = hdst_value_create(s.module, "int64_t", 1), *work = hdst_value_create(s.module, "int64_t", 1);
        hdst_dataset *changed = hdst_reduce_by_key(hdst_flat_map_function(hdst_read_value(work), s.module, "near"), s.module, "lesser");
        const hdst_loop_step steps[] = {{.dataset = changed, .value = state}, {.dataset = hdst_read_value(work), .value = work}};
        hdst_result *result = hdst_result_create(hdst_delta_loop(made_numbers(&s, 1000), state, numbers(&s, 500), work, steps, 2, NULL));
        cr_assert_eq(hdst_run(result, &errors[form != 0]), HDST_E_RECORD);
        cr_expect(strstr(errors[form != 0].message, "is of row -1, and there are 1000 rows"), "%s", errors[form != 0].message);
        hdst_context_destroy(s.context);
    }
    if (have_cpu()) cr_expect_str_eq(errors[0].message, errors[1].message);
}

static char warning[500];

static void note_warning(hdst_log_level level, const char *message, void *user)
{
    (void)user;
    if (level == HDST_LOG_WARN) snprintf(warning, sizeof warning, "%s", message);
}

// The rows of both values after nine turns, taken into another context, are all that its loop needs.
Test(delta_loop, they_go_on_from_what_others_left)
{
    make_graph();
    hdst_context_options with_log = HDST_CONTEXT_OPTIONS_INIT;
    with_log.device = "interp";
    with_log.log = note_warning;
    setting s = begin_in(hdst_context_create(&with_log));
    hdst_dataset *begun = search_from(&s, s.start, s.source, 9);
    hdst_result *result = hdst_result_create(begun);
    RUN(result);
    expect_cells(result, searched(9)->cells, "nine turns");
    cr_expect(strstr(warning, "limit of 9 turns with") && strstr(warning, "work set"), "'%s'", warning);
    uint64_t cells, left;
    void *state = rows_of(s.state, &cells), *work = rows_of(s.work, &left);
    const search *right = searched(CELLS);
    cr_assert_eq(left, right->work[9]);
    setting next = begin(have_cpu() ? "cpu" : "interp");
    hdst_dataset *loop = search_from(&next, hdst_read(hdst_source_from_memory(next.context, state, cells, sizeof(cell)), next.module, "cell"),
                                     hdst_read(hdst_source_from_memory(next.context, work, left, sizeof(reached)), next.module, "reached"), CELLS);
    hdst_result *rest = hdst_result_create(loop);
    RUN(rest);
    expect_cells(rest, right->cells, "the rest of the turns");
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    hdst_loop_read_report(loop, &report, NULL);
    cr_expect_eq(report.turns + 9, right->turns);
    hdst_context_destroy(next.context);
    hdst_rows_destroy(s.context, state);
    hdst_rows_destroy(s.context, work);
    hdst_context_destroy(s.context);
}

Test(delta_loop, an_empty_work_set_makes_no_turn)
{
    make_graph();
    setting s = begin("interp");
    hdst_dataset *loop = search_from(&s, s.start, hdst_slice(s.source, 0, 0), 5);
    hdst_result *result = hdst_result_create(loop);
    hdst_loop_report report = HDST_LOOP_REPORT_INIT;
    RUN(result);
    expect_cells(result, searched(0)->cells, "no turns");
    cr_assert_eq(hdst_loop_read_report(loop, &report, NULL), HDST_OK);
    cr_expect(report.turns == 0 && report.converged);
    hdst_context_destroy(s.context);
}

// Rows 0 ... 4 are each changed by two records, of which the later one counts; in a loop of loops, which begins anew each time.
Test(delta_loop, the_last_change_counts_and_loops_nest)
{
    ON_EACH_FORM {
        setting s = {.context = context_in_form(forms[form])};
        s.module = module_of(s.context, kernels);
        hdst_value *outer = hdst_value_create(s.module, "int64_t", 1), *inner = hdst_value_create(s.module, "int64_t", 1);
        hdst_value *work = hdst_value_create(s.module, "int64_t", 1);
        hdst_dataset *less = hdst_map_function(hdst_filter_function(hdst_read_value(work), s.module, "positive"), s.module, "less");
        hdst_dataset *twice = hdst_map_function(hdst_read_value(work), s.module, "twice");
        const hdst_loop_step turn[] = {{.dataset = twice, .value = inner}, {.dataset = less, .value = work}};
        hdst_dataset *loop = hdst_delta_loop(hdst_map_function(hdst_read_value(outer), s.module, "same"), inner, numbers(&s, 10), work, turn, 2, NULL);
        const hdst_loop_step around = {.dataset = loop, .value = outer};
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 2;
        hdst_result *result = hdst_result_create(hdst_loop(numbers(&s, 10), outer, &around, 1, &options));
        RUN(result);
        uint64_t count;
        const int64_t *got = hdst_result_rows(result, NULL, &count);
        int64_t right[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, left[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        for (int many = 10; many;) {
            int kept = 0;
            for (int i = 0; i < many; i++) right[left[i] / 2] = left[i];
            for (int i = 0; i < many; i++)
                if (left[i] > 0) left[kept++] = left[i] - 1;
            many = kept;
        }
        cr_assert(got && count == 10);
        for (int i = 0; i < 10; i++) cr_assert_eq(got[i], right[i], "row %d on %s: %lld, not %lld", i, forms[form], (long long)got[i], (long long)right[i]);
        hdst_context_destroy(s.context);
    }
}

// So many that threads share them: of the records with one number, some of which come after 20,000 others, the last one counts.
Test(delta_loop, many_changes_of_one_turn)
{
    enum { ROWS = 30011, CHANGES = 50001 };     // no number of parts divides the rows, and the last one changes
    static int64_t right[ROWS];
    for (int64_t i = 0; i < ROWS; i++) right[i] = i;
    for (int64_t i = 0; i < CHANGES; i++) right[i * 7919 % 20011 + 10000] = i;
    ON_EACH_FORM {
        setting s = {.context = context_in_form(forms[form])};
        s.module = module_of(s.context, kernels);
        hdst_value *state = hdst_value_create(s.module, "int64_t", 1), *work = hdst_value_create(s.module, "int64_t", 1);
        const hdst_loop_step steps[] = {{.dataset = hdst_map_function(hdst_read_value(work), s.module, "spread"), .value = state},
                                        {.dataset = hdst_filter_function(hdst_read_value(work), s.module, "negative"), .value = work}};
        hdst_result *result = hdst_result_create(hdst_delta_loop(made_numbers(&s, ROWS), state, numbers(&s, CHANGES), work, steps, 2, NULL));
        RUN(result);
        uint64_t count;
        const int64_t *got = hdst_result_rows(result, NULL, &count);
        cr_assert(got && count == ROWS);
        for (int i = 0; i < ROWS; i++)
            cr_assert_eq(got[i], right[i], "row %d on %s: %lld, not %lld", i, forms[form], (long long)got[i], (long long)right[i]);
        hdst_context_destroy(s.context);
    }
}

// Of all small sizes the C library has as many chunks as it keeps for one thread, so that the next ones that are given back are the next that are cleared.
static void keep_no_chunk_for_this_thread(void)
{
    void *chunk[7];
    for (size_t bytes = 24; bytes <= 1032; bytes += 16) {
        for (int i = 0; i < 7; i++) chunk[i] = malloc(bytes);
        for (int i = 0; i < 7; i++) free(chunk[i]);
    }
}

// What says which change of a row was the last one is as large as the state: a larger state finds it clear, whatever the memory held before.
Test(delta_loop, a_run_with_more_rows)
{
    enum { LEAST = 1000, DOUBLED = 7 };
    static int64_t begun[LEAST << DOUBLED];
    mallopt(M_PERTURB, 0x55);       // memory that nobody has cleared is not clear
    ON_EACH_FORM {
        setting s = {.context = context_in_form(forms[form])};
        s.module = module_of(s.context, kernels);
        hdst_value *from = hdst_value_create(s.module, "int64_t", 1), *state = hdst_value_create(s.module, "int64_t", 1);
        hdst_value *work = hdst_value_create(s.module, "int64_t", 1);
        const hdst_loop_step steps[] = {{.dataset = hdst_map_function(hdst_read_value(work), s.module, "twice"), .value = state},
                                        {.dataset = hdst_filter_function(hdst_read_value(work), s.module, "negative"), .value = work}};
        hdst_dataset *start = hdst_map_function(hdst_read_value(from), s.module, "same");
        hdst_result *result = hdst_result_create(hdst_delta_loop(start, state, numbers(&s, 2000), work, steps, 2, NULL));
        for (uint64_t rows = LEAST; rows <= LEAST << DOUBLED; rows *= 2) {
            cr_assert_eq(hdst_value_set(from, begun, rows), HDST_OK);
            keep_no_chunk_for_this_thread();
            RUN(result);
            uint64_t count;
            const int64_t *got = hdst_result_rows(result, NULL, &count);
            cr_assert(got && count == rows);
            for (uint64_t i = 0; i < count; i++)
                cr_assert_eq(got[i], i < LEAST ? (int64_t)i * 2 + 1 : 0, "row %llu of %llu on %s: %lld", (unsigned long long)i,
                             (unsigned long long)count, forms[form], (long long)got[i]);
        }
        hdst_context_destroy(s.context);
    }
}

// --- What they refuse ---

Test(delta_loop, changes_of_rows_that_there_are_not)
{
    for (size_t form = 0; form < 3; form++) {
        if (form && !have_cpu()) break;
        setting s = {.context = context_in_form(forms[form])};
        s.module = module_of(s.context, kernels);
        hdst_value *state = hdst_value_create(s.module, "int64_t", 1), *work = hdst_value_create(s.module, "int64_t", 1);
        hdst_value *by = hdst_value_create(s.module, "int64_t", 1);
        hdst_map_spec *spec = hdst_map_spec_create(s.module, "shifted");
        hdst_bind_value(spec, "by", by);
        const hdst_loop_step steps[] = {{.dataset = hdst_map(hdst_read_value(work), spec), .value = state}, {.dataset = hdst_read_value(work), .value = work}};
        hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
        options.limit = 2;
        hdst_result *result = hdst_result_create(hdst_delta_loop(made_numbers(&s, 10), state, numbers(&s, 4), work, steps, 2, &options));
        const int64_t shifts[] = {7, -1, 6};
        const struct { hdst_status status; uint64_t record; const char *words; } right[] = {
            {HDST_E_RECORD, 3, "change 3 is of row 10, and there are 10 rows"}, {HDST_E_RECORD, 0, "change 0 is of row -1"}, {HDST_OK, 0, ""}};
        for (int i = 0; i < 3; i++) {
            hdst_error error;
            hdst_value_set(by, &shifts[i], 1);
            cr_assert_eq(hdst_run(result, &error), right[i].status, "%s: %s", forms[form], error.message);
            cr_expect(strstr(error.message, right[i].words), "'%s' has no '%s'", error.message, right[i].words);
            if (right[i].status == HDST_E_RECORD) cr_expect_eq(error.record, right[i].record);
        }
        hdst_context_destroy(s.context);
    }
}

Test(delta_loop, what_is_no_delta_loop_is_told)
{
    make_graph();
    setting s = begin("interp");
    hdst_dataset *found = s.steps[0].dataset;
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, s.work, s.steps, 1, NULL), "no step of the loop makes its work set");
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, s.work, s.steps + 1, 1, NULL), "no step of the loop makes its state");
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.start, s.work, s.steps, 2, NULL), "starts with records of 'cell' has a work of 'reached'");
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.start, s.state, s.steps, 2, NULL), "one value is both");
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, NULL, s.work, s.steps, 2, NULL), "first");
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, NULL, s.steps, 2, NULL), "work");
    hdst_loop_step steps[] = {{.dataset = hdst_map_function(found, s.module, "as_odd"), .value = s.state}, s.steps[1]};
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, s.work, steps, 2, NULL), "records of 'odd' cannot change rows of 'cell'");
    steps[0] = (hdst_loop_step){.dataset = s.start, .value = s.state};
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, s.work, steps, 2, NULL), "records of 'cell' cannot change rows of 'cell'");
    steps[0] = (hdst_loop_step){.dataset = found, .table = "touched", .value = s.state};
    expect_run_usage_error(hdst_delta_loop(s.start, s.state, s.source, s.work, steps, 2, NULL), "not by accumulator 'touched'");
    hdst_value *names = hdst_value_create(s.module, "named", 1);
    steps[0] = (hdst_loop_step){.dataset = hdst_map_function(s.source, s.module, "change_of_name"), .value = names};
    expect_run_usage_error(hdst_delta_loop(hdst_map_function(s.source, s.module, "name"), names, s.source, s.work, steps, 2, NULL), "texts");
    hdst_context_destroy(s.context);
}

// A loop whose work set never gets empty ends when it is cancelled; the next one runs as ever.
Test(delta_loop, one_that_never_ends_can_be_cancelled)
{
    setting s = {.context = context_on("interp")};
    s.module = module_of(s.context, kernels);
    hdst_value *state = hdst_value_create(s.module, "int64_t", 1), *work = hdst_value_create(s.module, "int64_t", 1);
    const hdst_loop_step steps[] = {{.dataset = hdst_map_function(hdst_read_value(work), s.module, "endless"), .value = state},
                                    {.dataset = hdst_map_function(hdst_read_value(work), s.module, "same"), .value = work}};
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    options.limit = UINT64_MAX;
    hdst_result *result = hdst_result_create(hdst_delta_loop(numbers(&s, 10), state, numbers(&s, 100), work, steps, 2, &options));
    hdst_error error;
    bool ended = false;
    hdst_job *job = hdst_run_async(result);
    cr_assert_eq(hdst_job_wait(job, 0.05, &ended, &error), HDST_OK);
    cr_assert(!ended);
    hdst_job_cancel(job);
    cr_assert_eq(hdst_job_wait(job, 60, &ended, &error), HDST_E_CANCELLED, "%s", error.message);
    hdst_job_destroy(job);
    hdst_context_destroy(s.context);
}
