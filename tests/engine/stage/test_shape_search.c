// SPDX-License-Identifier: Apache-2.0
// The search for a quick shape, with made-up times; and stages that run it on PoCL (GPU form on the CPU), whose results no shape may change.
#include "engine/engine_state.h"
#include "engine/stage/launch_shape.h"
#include "engine/stage/stage.h"
#include "tests/engine/fixture.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 1000 };
static const hdst__tuning_shape rule = {256, 2, 32}, least = {64, 1, 1}, most = {512, 8, 1024};

// --- The search alone ---

typedef double (*cost)(const hdst__tuning_shape *shape);

static void sample(hdst__tuning *t, cost of, uint64_t records)
{
    const uint32_t try = hdst__tuning_next(t, records);
    hdst__tuning_note(t, try, of(&t->tries[try].shape) * (double)records, records, true);
    if (hdst__tuning_is_measured(t)) hdst__tuning_advance(t);
}

// Slices of one length until nothing is left to try; how many there were.
static int search(hdst__tuning *t, cost of)
{
    int slices = 0;
    hdst__tuning_start(t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    for (; t->round != HDST__TUNING_DONE; slices++) {
        cr_assert_lt(slices, 10000, "the search does not end");
        sample(t, of, 5000);
    }
    return slices;
}

static void expect_best(const hdst__tuning *t, uint32_t group, uint32_t records, uint32_t units)
{
    const hdst__tuning_shape *best = &t->tries[t->best].shape;
    cr_assert(best->group == group && best->records == records && best->units == units, "%u work-items, %u records, %u groups", best->group,
              best->records, best->units);
}

static double doublings(double from, double to)
{
    double count = 0;
    for (; from < to * 0.75; from *= 2) count++;
    for (; from > to * 1.5; from /= 2) count++;
    return count;
}

// Least at one shape, more by a tenth for each doubling away from it.
static double valley(const hdst__tuning_shape *s, uint32_t group, uint32_t records, uint32_t lanes)
{
    return 1e-9 * (1 + 0.1 * (doublings(s->group, group) + doublings(s->records, records) + doublings(s->units * s->group, lanes)));
}

static double many_records_small_groups(const hdst__tuning_shape *s) { return valley(s, 128, 8, 8 * 256); }
static double one_record_large_groups(const hdst__tuning_shape *s) { return valley(s, 512, 1, 64 * 256); }
static double as_the_rule(const hdst__tuning_shape *s) { return valley(s, 256, 2, 32 * 256); }
static double nearly_flat(const hdst__tuning_shape *s) { return 1e-9 * (1 - 0.001 * s->records); }

Test(tuning, finds_the_least_of_a_valley)
{
    hdst__tuning t;
    search(&t, many_records_small_groups);
    expect_best(&t, 128, 8, 16);
    search(&t, one_record_large_groups);
    expect_best(&t, 512, 1, 32);
}

Test(tuning, keeps_the_rules_shape_when_nothing_is_clearly_quicker)
{
    hdst__tuning t;
    search(&t, as_the_rule);
    expect_best(&t, 256, 2, 32);
    search(&t, nearly_flat);            // eight records are 0.6 % quicker
    expect_best(&t, 256, 2, 32);
}

Test(tuning, no_more_slices_than_said_and_each_shape_at_most_three_times_a_round)
{
    hdst__tuning t;
    cost all[] = {many_records_small_groups, one_record_large_groups, as_the_rule, nearly_flat};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int slices = search(&t, all[i]);
        cr_assert_leq(slices, HDST__GPU_TUNING_SLICES);
        cr_assert_leq(slices, 2 * HDST__GPU_TUNING_TRIES * HDST__GPU_TUNING_SAMPLES, "%d slices", slices);
        cr_assert_leq(t.count, HDST__GPU_TUNING_TRIES);
    }
}

static double cliff(const hdst__tuning_shape *s) { return s->units > 32 ? 1e-8 : as_the_rule(s); }

Test(tuning, a_shape_that_is_far_slower_gets_one_slice)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    while (t.round == HDST__TUNING_UNITS) sample(&t, cliff, 5000);
    for (uint32_t i = 0; i < t.count; i++)
        if (t.tries[i].shape.units > 32)
            cr_assert(t.tries[i].out && t.tries[i].samples == 1, "%u groups: %u slices", t.tries[i].shape.units, t.tries[i].samples);
    expect_best(&t, 256, 2, 32);
}

// One slice in three takes twice its time: a median of three does not mind when no shape meets two of them.
Test(tuning, a_slow_slice_now_and_then_does_not_decide)
{
    hdst__tuning t;
    int met[HDST__GPU_TUNING_TRIES] = {0};
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    while (t.round == HDST__TUNING_UNITS) {
        const uint32_t try = hdst__tuning_next(&t, 5000);
        const double slow = met[try]++ == 1 ? 2 : 1;
        hdst__tuning_note(&t, try, slow * many_records_small_groups(&t.tries[try].shape) * 5000, 5000, true);
        if (hdst__tuning_is_measured(&t)) hdst__tuning_advance(&t);
    }
    cr_assert_eq(t.tries[t.best].shape.units, 8);
}

Test(tuning, short_slices_run_in_the_best_shape_and_say_nothing)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    for (int i = 0; i < 1000; i++) {
        const uint32_t try = hdst__tuning_next(&t, LEAST - 1);
        cr_assert_eq(try, 0);
        hdst__tuning_note(&t, try, 1e-6, LEAST - 1, true);
    }
    cr_assert_not(hdst__tuning_is_measured(&t));
}

// Long slices have another price than short ones: what compares is what is equally long.
static double by_length(const hdst__tuning_shape *s, uint64_t records)
{
    return records > 10000 ? valley(s, 256, 2, 64 * 256) : valley(s, 256, 2, 8 * 256) / 2;
}

Test(tuning, times_of_short_and_of_long_slices_are_not_mixed)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    for (int i = 0; t.round == HDST__TUNING_UNITS; i++) {
        const uint64_t records = i < 5 || i % 4 == 0 ? 2000 : 50000;
        const uint32_t try = hdst__tuning_next(&t, records);
        hdst__tuning_note(&t, try, by_length(&t.tries[try].shape, records) * (double)records, records, true);
        if (hdst__tuning_is_measured(&t)) hdst__tuning_advance(&t);
    }
    cr_assert_eq(t.tries[t.best].shape.units, 64);
}

// What is hopeless for short slices may be best for long ones.
static double hopeless_when_short(const hdst__tuning_shape *s, uint64_t records)
{
    return s->units == 64 && records < 10000 ? 1e-7 : valley(s, 256, 2, 64 * 256);
}

Test(tuning, long_slices_give_every_shape_another_chance)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    for (int i = 0; t.round == HDST__TUNING_UNITS; i++) {
        const uint64_t records = i < 9 ? 2000 : 50000;
        const uint32_t try = hdst__tuning_next(&t, records);
        hdst__tuning_note(&t, try, hopeless_when_short(&t.tries[try].shape, records) * (double)records, records, true);
        if (hdst__tuning_is_measured(&t)) hdst__tuning_advance(&t);
    }
    cr_assert_eq(t.tries[t.best].shape.units, 64);
}

Test(tuning, ends_whatever_the_slices_are)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    uint64_t state = 1;
    int slices = 0;
    for (; t.round != HDST__TUNING_DONE; slices++) {
        cr_assert_lt(slices, 10 * HDST__GPU_TUNING_SLICES);
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t records = (uint64_t)LEAST << (state >> 60);
        const uint32_t try = hdst__tuning_next(&t, records);
        hdst__tuning_note(&t, try, (double)(state >> 40) * 1e-9, records, state >> 59 & 1);
        if (hdst__tuning_is_measured(&t)) hdst__tuning_advance(&t);
    }
    cr_assert_leq(t.count, HDST__GPU_TUNING_TRIES);
}

Test(tuning, a_shape_that_cannot_run_is_not_asked_for)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    cr_assert_eq(t.count, 4);
    hdst__tuning_drop(&t, 1);
    for (int i = 0; t.round == HDST__TUNING_UNITS; i++) {
        cr_assert_lt(i, 100);
        const uint32_t try = hdst__tuning_next(&t, 5000);
        cr_assert_neq(try, 1);
        hdst__tuning_note(&t, try, 1e-6, 5000, true);
        if (hdst__tuning_is_measured(&t)) hdst__tuning_advance(&t);
    }
}

Test(tuning, a_run_that_ended_early_is_made_good)
{
    hdst__tuning t;
    hdst__tuning_start(&t, rule, HDST__TUNING_UNITS, least, most, LEAST);
    for (int run = 0; t.round == HDST__TUNING_UNITS; run++) {
        cr_assert_lt(run, 100);
        hdst__tuning_resume(&t);
        sample(&t, as_the_rule, 5000);
        hdst__tuning_next(&t, 5000);    // its slice fails
    }
    expect_best(&t, 256, 2, 32);
}

// --- Stages ---

static char root[64];

static void set_up(void)
{
    snprintf(root, sizeof root, "/tmp/hdst-test-tuning-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void tear_down(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(tuned_stage, .init = set_up, .fini = tear_down);

static double device_clock(const hdst__tuning_shape *shape, uint64_t records, void *user)
{
    (void)user;
    return many_records_small_groups(shape) * (double)records;
}

static void open_with(fixture *f, fixture_options options, hdst__tuning_mode mode)
{
    options.device = "cpu";
    options.gpu_form = options.cached = true;
    options.cache_dir = root;
    options.binary_after = 1;
    cr_assert_eq(fixture_open(f, &options), HDST_OK);
    f->engine->options.tuning = mode;
    f->engine->limits.tuning_least = LEAST;
    f->engine->limits.tuning_clock = device_clock;
}

static void open_tuned(fixture *f, bool filters, hdst__tuning_mode mode)
{
    open_with(f, (fixture_options){.layout = HDST__SOA, .records = 20000, .accumulates = !filters, .outputs = filters, .filters = filters}, mode);
}

static void run_right(fixture *f)
{
    hdst_status status = fixture_run(f);
    cr_assert_eq(status, HDST_OK, "%s %s %s", f->error.message, f->error.cause, f->error.hint);
    fixture_expect_right(f);
}

static const hdst__tuning *search_of(const fixture *f) { return f->stage->plan->tuning ? &f->stage->plan->tuning->search : NULL; }

static void run_until_done(fixture *f)
{
    for (int runs = 0; runs == 0 || search_of(f)->round != HDST__TUNING_DONE; runs++) {
        cr_assert_lt(runs, HDST__GPU_TUNING_SLICES);
        run_right(f);
    }
    run_right(f);
}

static const char *explain(fixture *f, hdst__buffer *text)
{
    hdst__buffer_init(text, NULL);
    cr_assert_eq(hdst__stage_explain(f->stage, &f->values, text, &f->error), HDST_OK);
    return hdst__buffer_text(text);
}

static void expect_explained(fixture *f, const char *wanted)
{
    hdst__buffer text;
    cr_assert(strstr(explain(f, &text), wanted), "no '%s' in\n%s", wanted, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

// The path of the only note in the cache; false when there is none.
static bool find_note(char path[256])
{
    DIR *directory = opendir(root);
    int notes = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strstr(entry->d_name, ".note")) {
            snprintf(path, 256, "%s/%.100s", root, entry->d_name);
            notes++;
        }
    closedir(directory);
    cr_assert_leq(notes, 1);
    return notes == 1;
}

Test(tuned_stage, every_shape_gives_the_same_results_and_the_second_process_starts_with_the_best)
{
    fixture f;
    char note[256];
    open_tuned(&f, false, HDST__TUNING_FULL);
    run_until_done(&f);
    expect_best(search_of(&f), 128, 8, 16);
    cr_assert_eq(f.stage->plan->kernel->local_size, 128);
    cr_assert_eq(f.stage->plan->items, f.stage->device->info->compute_units * 16 * 128);
    expect_explained(&f, "128 work-items a group, 8 records a lane, 16 groups per compute unit: 1.0000 ns a record");
    expect_explained(&f, "measured in this process");
    expect_explained(&f, "tried: 512 work-items a group, 8 records a lane, 4 groups per compute unit: 1.2000 ns a record");
    fixture_close(&f);
    cr_assert(find_note(note));

    open_tuned(&f, false, HDST__TUNING_FULL);
    run_right(&f);
    cr_assert_eq(search_of(&f)->round, HDST__TUNING_DONE);
    expect_best(search_of(&f), 128, 8, 16);
    cr_assert(strstr(f.log, "from the kernel cache") && !strstr(f.log, "compiled"), "%s", f.log);
    expect_explained(&f, "from the kernel cache");
    fixture_close(&f);
}

static int live;        // allocations of the engine

static void *count_allocate(size_t bytes, void *user)
{
    (void)user;
    live++;
    return malloc(bytes);
}

static void *count_reallocate(void *old, size_t bytes, void *user)
{
    (void)user;
    live += !old;
    return realloc(old, bytes);
}

static void count_release(void *old, void *user)
{
    (void)user;
    live -= old != NULL;
    free(old);
}

Test(tuned_stage, a_stage_may_end_at_any_point_of_the_search_and_leaves_nothing_behind)
{
    const hdst__allocator allocator = {count_allocate, count_reallocate, count_release, NULL};
    for (int runs = 0; runs < 40; runs += runs < 14 ? 1 : 5) {
        fixture f;
        fixture_options options = {.layout = HDST__SOA, .records = 2000, .accumulates = true, .allocator = &allocator};
        open_with(&f, options, HDST__TUNING_FULL);
        for (int run = 0; run < runs; run++) run_right(&f);
        fixture_close(&f);
        cr_assert_eq(live, 0, "%d left after %d runs", live, runs);
    }
}

Test(tuned_stage, filters_take_part)
{
    fixture f;
    open_tuned(&f, true, HDST__TUNING_FULL);
    run_until_done(&f);
    cr_assert_eq(f.stage->plan->way, IR_OUTPUT_COUNTED);
    cr_assert_eq(search_of(&f)->tries[search_of(&f)->best].shape.group, 128);
    fixture_close(&f);
}

// Tables in device memory: what was taken for the rules' groups must do for all shapes.
static void large_tables(uint32_t rows, uint32_t width, bool own)
{
    fixture f;
    open_with(&f, (fixture_options){.layout = HDST__AOS, .records = 2000, .accumulates = true, .rows = rows, .width = width}, HDST__TUNING_FULL);
    run_right(&f);
    const hdst__launch_plan *plan = f.stage->plan;
    cr_assert_eq(plan->kernel->merges && !plan->kernel->group_tables, own, "%d %u", (int)plan->kernel->merges, plan->kernel->group_tables);
    const uint32_t groups = plan->items / plan->kernel->local_size;
    run_until_done(&f);
    for (uint32_t i = 0; i < search_of(&f)->count; i++) {
        const hdst__tuning_shape *shape = &search_of(&f)->tries[i].shape;
        if (own) cr_assert_leq(shape->units * f.stage->device->info->compute_units, groups);
    }
    fixture_close(&f);
}

Test(tuned_stage, work_groups_with_tables_of_their_own_are_never_more_than_tables) { large_tables(200, 784, true); }
Test(tuned_stage, tables_that_work_groups_share_do_for_any_number_of_groups) { large_tables(30000, 1, false); }

Test(tuned_stage, without_asking_only_what_needs_no_compiler_is_tried_at_first)
{
    fixture f;
    open_tuned(&f, false, HDST__TUNING_AUTO);
    for (int i = 0; i < 40; i++) run_right(&f);
    cr_assert(search_of(&f)->round == HDST__TUNING_MORE_RECORDS || search_of(&f)->round == HDST__TUNING_FEWER_RECORDS);
    cr_assert_eq(search_of(&f)->tries[search_of(&f)->best].shape.units, 8);
    cr_assert_eq(f.stage->plan->kernel->local_size, 256);
    expect_explained(&f, "more will be tried");
    f.stage->plan->tuning->busy_seconds = 1e6;      // by now it pays
    run_right(&f);
    cr_assert_not_null(f.stage->plan->tuning->program[search_of(&f)->first]);
    fixture_close(&f);
}

Test(tuned_stage, off_means_the_rules_and_no_file)
{
    fixture f;
    char note[256];
    open_tuned(&f, false, HDST__TUNING_OFF);
    for (int i = 0; i < 5; i++) run_right(&f);
    cr_assert_null(search_of(&f));
    fixture_close(&f);
    cr_assert_not(find_note(note));
}

Test(tuned_stage, inputs_that_are_small_try_nothing)
{
    fixture f;
    char note[256];
    open_tuned(&f, false, HDST__TUNING_FULL);
    f.engine->limits.tuning_least = 1 << 20;
    for (int i = 0; i < 20; i++) run_right(&f);
    cr_assert_eq(search_of(&f)->slices, 0);
    cr_assert_eq(search_of(&f)->least_records, 1 << 20);       // of 8 bytes
    fixture_close(&f);
    cr_assert_not(find_note(note));
}

Test(tuned_stage, fewer_records_do_when_they_are_large)
{
    fixture f;
    open_with(&f, (fixture_options){.layout = HDST__AOS, .records = 100, .accumulates = true, .rows = 3, .width = 127}, HDST__TUNING_FULL);
    f.engine->limits.tuning_least = 1 << 20;
    run_right(&f);
    cr_assert_eq(search_of(&f)->least_records, 1 << 14);       // of 512 bytes
    fixture_close(&f);
}

static void spoil(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

// A note with the right key and checksum that says something that cannot be.
static void write_note(const hdst__hash *key, const char *text)
{
    hdst__program_cache cache;
    hdst__program_cache_init(&cache, NULL, NULL, root);
    hdst__program_cache_write_note(&cache, key, text);
    hdst__program_cache_destroy(&cache);
}

Test(tuned_stage, files_that_are_broken_or_make_no_sense_are_ignored)
{
    static const char *const wrong[] = {
        "", "hdst shape 2\n", "hdst shape 1\ngroup 100\nrecords 2\nunits 8\nround 4\nseconds_per_record 1e-9\nby_rule 1e-9\n",
        "hdst shape 1\ngroup 4294967295\nrecords 2\nunits 8\nround 4\nseconds_per_record 1e-9\nby_rule 1e-9\n",
        "hdst shape 1\ngroup 128\nrecords 0\nunits 8\nround 4\nseconds_per_record 1e-9\nby_rule 1e-9\n",
        "hdst shape 1\ngroup 128\nrecords 2\nunits 99999999\nround 4\nseconds_per_record 1e-9\nby_rule 1e-9\n",
        "hdst shape 1\ngroup 128\nrecords 2\nunits 8\nround 9\nseconds_per_record 1e-9\nby_rule 1e-9\n",
        "hdst shape 1\ngroup 128\nrecords 2\nunits 8\nround 4\nseconds_per_record nan\nby_rule 1e-9\n",
    };
    fixture f;
    char note[256];
    open_tuned(&f, false, HDST__TUNING_AUTO);
    for (int i = 0; i < 13; i++) run_right(&f);
    const hdst__hash key = f.stage->plan->tuning->key;
    fixture_close(&f);
    cr_assert(find_note(note));
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        if (i == 0) spoil(note, "no note");
        else write_note(&key, wrong[i - 1]);
        open_tuned(&f, false, HDST__TUNING_AUTO);
        run_right(&f);
        cr_assert_not(f.stage->plan->tuning->was_kept, "note %zu", i);
        expect_best(search_of(&f), 256, search_of(&f)->tries[0].shape.records, 32);
        cr_assert_eq(f.warnings, 0, "%s", f.log);
        fixture_close(&f);
    }
}

Test(tuned_stage, the_environment_chooses_where_the_program_does_not)
{
    static const struct { const char *text; hdst__tuning_mode asked, wanted; } cases[] = {
        {"off", HDST__TUNING_AUTO, HDST__TUNING_OFF}, {"full", HDST__TUNING_AUTO, HDST__TUNING_FULL}, {"auto", HDST__TUNING_OFF, HDST__TUNING_OFF},
        {"off", HDST__TUNING_FULL, HDST__TUNING_FULL}, {"", HDST__TUNING_AUTO, HDST__TUNING_AUTO}, {"often", HDST__TUNING_AUTO, HDST__TUNING_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("HDST_TUNING", cases[i].text, 1);
        hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = "interp", .tuning = cases[i].asked});
        cr_assert_eq(engine->options.tuning, cases[i].wanted, "%s", cases[i].text);
        hdst__engine_destroy(engine);
    }
}
