// SPDX-License-Identifier: Apache-2.0
// Each change of a stage's mode, reached by what it is for: the results are those of plain C, the mode stays for later runs, and explain says what
// is done now and why.
#include "tests/engine/fixture.h"

#include "engine/engine_state.h"
#include "engine/stage/stage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 300000, ROWS = 5000 };

typedef struct situation {
    const char *name;
    hdst__mode_change change;
    fixture_options options;
    void (*arrange)(fixture *f);        // after the stage was made, before it is prepared
    void (*upset)(fixture *f);          // after it was prepared: from here on the first mode cannot end
    const char *line;                   // of explain, up to the reason
    const char *why;                    // in the reason
    uint64_t skipped;
} situation;

static void nothing(fixture *f) { (void)f; }
static void keep_output(fixture *f) { hdst__stage_keep_output(f->stage); }
static void allow_file(fixture *f) { f->stage->spec.may_spill = true; }
static void skip_failed(fixture *f) { f->engine->options.skip_failed = true; }

static void make_rows(fixture *f)
{
    f->stage->spec.takes_rows = true;
    f->engine->options.overflow_cells = 1;
    f->engine->options.local_bytes = 8 << 10;       // which the table does not fit, so it is in fixed point
}

static void leave(hdst__budget *budget, uint64_t bytes) { budget->limit = atomic_load(&budget->used) + bytes; }

static void fill_device(fixture *f) { leave(&f->engine->worker[0].device->budget, RECORDS * sizeof(fixture_pick) - 1); }

// Once the segments of the input have theirs.
static void fill_device_up(fixture *f)
{
    cr_assert_eq(fixture_run(f), HDST_OK, "%s", f->error.message);
    f->stage->spec.takes_rows = true;
    leave(&f->engine->worker[0].device->budget, ROWS * sizeof(float));
}

static void fill_host(fixture *f) { leave(&f->engine->runtime.memory, RECORDS * sizeof(fixture_pick)); }

// Addends of another size than those by which the plan chose the scale of its words.
static void grow_addends(fixture *f)
{
    f->weight = 0x1p60f;
    f->version++;
}

static const situation situations[] = {
    {"the device has no room for records", HDST__MODE_OUTPUT_ON_HOST, {.device = "cpu", .gpu_form = true, .outputs = true}, keep_output, fill_device,
     "  output: through the host (", "device memory", 0},
    {"the host has no room for records", HDST__MODE_OUTPUT_IN_FILE, {.device = "interp", .outputs = true}, allow_file, fill_host,
     "  output: through a temporary file (", "host memory", 0},
    {"the device has no room for rows", HDST__MODE_ROUND_ON_HOST, {.device = "cpu", .gpu_form = true, .accumulates = true, .rows = ROWS}, nothing,
        fill_device_up,
     "  accumulators: rounded on the host (", "device memory", 0},
    {"addends do not fit", HDST__MODE_SUPERACCUMULATORS, {.device = "cpu", .gpu_form = true, .accumulates = true, .rows = ROWS}, make_rows, grow_addends,
     "  accumulators: in superaccumulators (", "addends differ too much in size", 0},
    {"a record fails", HDST__MODE_SKIP_FAILED, {.device = "cpu", .accumulates = true, .bad = {1234, 4321}}, skip_failed, nothing,
     "  records with errors are left out: a first pass over each makes its checks (", "in record 1,234", 2},
};

static void expect_mode(const fixture *f, const situation *s, bool changed)
{
    for (int i = 0; i < HDST__MODE_CHANGES; i++)
        cr_assert_eq(f->stage->mode.is[i], changed && i == (int)s->change, "%s: change %d is %d", s->name, i, f->stage->mode.is[i]);
}

static void expect_explained(fixture *f, const situation *s)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    cr_assert_eq(hdst__stage_explain(f->stage, &f->values, &text, &f->error), HDST_OK, "%s: %s", s->name, f->error.message);
    const char *line = strstr(text.data, s->line), *end = line ? strchr(line, '\n') : NULL, *why = line ? strstr(line, s->why) : NULL;
    cr_assert(line && why && why < end, "%s: %s", s->name, text.data);
    hdst__buffer_destroy(&text);
}

typedef struct sum { float s; uint64_t n; } sum;

// Of a table that the device made rows of.
static void expect_rows(fixture *f, const situation *s)
{
    double *total = calloc(ROWS, sizeof *total);
    sum *rows = calloc(ROWS, sizeof *rows);
    for (uint64_t i = 0; i < RECORDS; i++) total[fixture_key(f, i)] += (double)(fixture_value(i, 0) * f->weight);
    cr_assert_eq(hdst__stage_read_finished(f->stage, 0, rows, &f->error), HDST_OK, "%s: %s", s->name, f->error.message);
    for (size_t row = 0; row < ROWS; row++) cr_assert_eq(rows[row].s, (float)total[row], "%s: sum of row %zu", s->name, row);
    free(total);
    free(rows);
}

static void run_right(fixture *f, const situation *s)
{
    cr_assert_eq(fixture_run(f), HDST_OK, "%s: %s", s->name, f->error.message);
    cr_assert_eq(hdst__stage_stats(f->stage)->skipped, s->skipped, "%s", s->name);
    if (f->options.accumulates && !f->output.table) expect_rows(f, s);
    else fixture_expect_right(f);
}

Test(stage_mode, each_change_is_reached_told_and_kept)
{
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        const situation *s = &situations[i];
        fixture f;
        fixture_options options = s->options;
        options.records = RECORDS;
        cr_assert_eq(fixture_open(&f, &options), HDST_OK, "%s: %s", s->name, f.error.message);
        s->arrange(&f);
        fixture_bind(&f);
        cr_assert_eq(hdst__stage_prepare(f.stage, &f.values, &f.error), HDST_OK, "%s: %s", s->name, f.error.message);
        expect_mode(&f, s, false);
        s->upset(&f);
        for (int run = 0; run < 2; run++) {
            run_right(&f, s);
            expect_mode(&f, s, true);
        }
        expect_explained(&f, s);
        fixture_close(&f);
    }
}
