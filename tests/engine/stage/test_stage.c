// SPDX-License-Identifier: Apache-2.0
// Stages against plain C, on the interpreter and on PoCL (CPU form, and the GPU form on the CPU).
#include "tests/engine/fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

enum { INTERP, CPU, GPU_FORM, FORMS };

static fixture_options options_for(int form, uint64_t records)
{
    return (fixture_options){.device = form == INTERP ? "interp" : "cpu", .gpu_form = form == GPU_FORM, .layout = HDST__SOA, .records = records,
                             .accumulates = true};
}

static void run_right(fixture *f)
{
    hdst_status status = fixture_run(f);
    cr_assert_eq(status, HDST_OK, "%s %s %s", f->error.message, f->error.cause, f->error.hint);
    fixture_expect_right(f);
}

static void once(const fixture_options *options)
{
    fixture f;
    cr_assert_eq(fixture_open(&f, options), HDST_OK);
    run_right(&f);
    fixture_close(&f);
}

// --- Counts of records ---

static void every_count(int form)
{
    static const uint64_t counts[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4095, 4096, 4097, 100003};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fixture_options options = options_for(form, counts[i]);
        options.outputs = options.filters = true;
        once(&options);
    }
}

Test(stage, interp_is_right_for_every_count_of_records) { every_count(INTERP); }
Test(stage, cpu_form_is_right_for_every_count_of_records) { every_count(CPU); }
Test(stage, gpu_form_is_right_for_every_count_of_records) { every_count(GPU_FORM); }

// --- Several devices ---

static void run_length(fixture *f, uint64_t records, uint32_t devices)
{
    f->options.records = f->reader.records = records;
    cr_assert_eq(hdst__stage_set_input(f->stage, &f->reader, NULL, NULL), HDST_OK);
    run_right(f);
    cr_assert_eq(hdst__stage_stats(f->stage)->device_count, devices, "%llu records", (unsigned long long)records);
}

// The plans of both stay; what both have accumulated before is not told again.
Test(stage, one_device_runs_a_short_input_between_long_ones)
{
    const hdst__device_info *device;
    fixture f;
    const fixture_options options = {.device = "0,1", .cpu_parts = 2, .share_bytes = 100000, .records = 50000, .accumulates = true, .outputs = true,
                                     .filters = true};
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    if (hdst__engine_device(f.engine, &device, NULL) != HDST_OK || device->class_ != HDST__DEVICE_CPU) cr_skip("no CPU device that can be halved\n");
    run_length(&f, 500, 1);
    run_length(&f, 50000, 2);
    run_length(&f, 777, 1);
    run_length(&f, 60001, 2);
    run_length(&f, 0, 1);
    run_length(&f, 50000, 2);
    hdst__stage_set_input(f.stage, &f.reader, NULL, NULL);
    run_length(&f, 500, 1);
    run_length(&f, 500, 1);         // it stays so short: a plan for one
    hdst__buffer words;
    hdst__buffer_init(&words, NULL);
    cr_assert_eq(hdst__stage_explain(f.stage, &f.values, &words, NULL), HDST_OK);
    cr_assert(strstr(words.data, "other devices: not used: its input is too small for that to pay"), "%s", words.data);
    hdst__buffer_destroy(&words);
    fixture_close(&f);
}

// --- Layouts and kinds of results ---

static void every_layout(int form)
{
    static const hdst__layout layouts[] = {HDST__AOS, HDST__SOA, HDST__AOSOA, HDST__AOP};
    for (size_t i = 0; i < 4; i++)
        for (int cached = 0; cached < 2; cached++) {
            fixture_options options = options_for(form, 5000);
            options.layout = layouts[i];
            options.block = layouts[i] == HDST__AOSOA ? 128 : 0;
            options.outputs = true;
            options.cached = cached;
            once(&options);
        }
}

Test(stage, interp_reads_every_layout_streamed_and_cached) { every_layout(INTERP); }
Test(stage, cpu_form_reads_every_layout_streamed_and_cached) { every_layout(CPU); }
Test(stage, gpu_form_reads_every_layout_streamed_and_cached) { every_layout(GPU_FORM); }

Test(stage, a_cached_dataset_reaches_device_memory_piece_by_piece)
{
    for (hdst__layout layout = HDST__AOS; layout <= HDST__AOP; layout++) {
        fixture_options options = options_for(GPU_FORM, 1500001);      // 12 MB: three pieces
        options.layout = layout;
        options.block = layout == HDST__AOSOA ? 256 : 0;
        options.cached = true;
        fixture f;
        cr_assert_eq(fixture_open(&f, &options), HDST_OK);
        run_right(&f);
        cr_assert_geq(f.fills, 3);
        run_right(&f);
        fixture_close(&f);
    }
}

static void many_slices(int form)
{
    fixture_options options = options_for(form, 3000000);       // 24 MB: several segments of the ring
    options.memory = 32 << 20;
    options.outputs = options.filters = form == INTERP ? false : true;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    run_right(&f);
    cr_assert_gt(hdst__stage_stats(f.stage)->device[0].slices, 3);
    cr_assert_eq(hdst__stage_stats(f.stage)->device[0].records, options.records);
    run_right(&f);
    fixture_close(&f);
}

Test(stage, interp_streams_more_than_the_ring_holds) { many_slices(INTERP); }
Test(stage, cpu_form_streams_more_than_the_ring_holds) { many_slices(CPU); }
Test(stage, gpu_form_streams_more_than_the_ring_holds) { many_slices(GPU_FORM); }

// --- Tables that fit no cache and records that fit no register ---

static void large_tables(int form)
{
    fixture_options options = options_for(form, 20000);
    options.rows = 100000;
    once(&options);
}

Test(stage, interp_takes_a_table_of_100000_rows) { large_tables(INTERP); }
Test(stage, cpu_form_takes_a_table_of_100000_rows) { large_tables(CPU); }
Test(stage, gpu_form_takes_a_table_of_100000_rows) { large_tables(GPU_FORM); }

static void wide_records(int form)
{
    fixture_options options = options_for(form, 3000);
    options.width = 784;
    once(&options);
    options.layout = HDST__AOS;
    options.rows = 100;
    options.cached = true;
    once(&options);
}

Test(stage, interp_takes_records_of_784_values) { wide_records(INTERP); }
Test(stage, cpu_form_takes_records_of_784_values) { wide_records(CPU); }
Test(stage, gpu_form_takes_records_of_784_values) { wide_records(GPU_FORM); }

// Tables that local memory has no room for: the loop over the values is the work-group's, in a table of its own; where that would be too large, in one of all.
Test(stage, gpu_form_adds_wide_records_to_wide_tables)
{
    static const uint64_t counts[] = {1, 127, 3001};
    for (size_t i = 0; i < 3; i++) {
        fixture_options options = options_for(GPU_FORM, counts[i]);
        options.width = 200;
        options.rows = 900;
        options.layout = i % 2 ? HDST__AOS : HDST__SOA;
        once(&options);
        options.rows = 2000;
        if (i == 2) once(&options);
    }
}

// Few rows: a lane keeps an element of each in local memory meanwhile.
Test(stage, gpu_form_adds_wide_records_to_few_wide_rows)
{
    fixture_options options = options_for(GPU_FORM, 301);
    options.width = 7001;
    options.rows = 15;
    once(&options);
    options.layout = HDST__AOSOA;
    options.block = 64;
    once(&options);
}

Test(stage, gpu_form_runs_again_after_a_record_failed_over_a_wide_table)
{
    fixture_options options = options_for(GPU_FORM, 5000);
    options.width = 200;
    options.rows = 900;
    options.bad[0] = 4321;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    cr_assert_eq(fixture_run(&f), HDST_E_RECORD, "%s", f.error.message);
    cr_assert_eq(f.error.record, 4321);
    f.options.bad[0] = 0;
    run_right(&f);
    run_right(&f);
    fixture_close(&f);
}

// --- Loops ---

// Each slice reports one word for errors; how many slices there are follows the clock.
static uint64_t table_bytes_of(const hdst__run_stats *stats) { return stats->bytes_from_device - stats->device[0].slices * sizeof(uint64_t); }

static void a_loop(int form)
{
    fixture_options options = options_for(form, 50000);
    options.cached = true;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    uint64_t table_bytes = 0, fills = 0;
    for (int i = 0; i < 4; i++) {
        f.weight = 0.5f * (float)(i + 1);
        f.version++;
        run_right(&f);
        const hdst__run_stats *stats = hdst__stage_stats(f.stage);
        if (i == 0) {
            // A device with a memory of its own got all records once; the interpreter's and a CPU's memory is the host's.
            cr_assert_eq(stats->bytes_to_device >= options.records * 8, form == GPU_FORM);
            fills = f.fills;
            table_bytes = table_bytes_of(stats);
            continue;
        }
        cr_assert_eq(stats->bytes_to_device, sizeof(float), "iteration %d moved %llu bytes", i, (unsigned long long)stats->bytes_to_device);
        cr_assert_eq(table_bytes_of(stats), table_bytes);
        cr_assert_eq(f.fills, fills, "the cached input was read again");
    }
    run_right(&f);
    cr_assert_eq(hdst__stage_stats(f.stage)->bytes_to_device, 0, "nothing changed, so nothing may move");
    fixture_close(&f);
}

Test(stage, interp_loop_moves_the_broadcast_only) { a_loop(INTERP); }
Test(stage, cpu_loop_moves_the_broadcast_only) { a_loop(CPU); }
Test(stage, gpu_form_loop_moves_the_broadcast_only) { a_loop(GPU_FORM); }

Test(stage, a_cached_dataset_over_budget_is_streamed_with_one_warning)
{
    fixture_options options = options_for(INTERP, 2000000);     // 16 MB
    options.cached = true;
    options.memory = 8 << 20;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    run_right(&f);
    run_right(&f);
    cr_assert_eq(f.warnings, 1, "%s", f.log);
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    cr_assert_eq(hdst__stage_explain(f.stage, &f.values, &text, &f.error), HDST_OK);
    cr_assert(strstr(hdst__buffer_text(&text), "read again in every run"), "%s", hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    fixture_close(&f);
}

Test(stage, a_budget_too_small_for_anything_is_a_memory_error_with_a_hint)
{
    fixture_options options = options_for(INTERP, 1000);
    options.memory = 4096;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    cr_assert_eq(fixture_run(&f), HDST_E_MEMORY);
    cr_assert(strstr(f.error.hint, "--memory"), "%s", f.error.hint);
    fixture_close(&f);
}

// --- Errors ---

static void bad_records(int form)
{
    fixture_options options = options_for(form, 700000);
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    run_right(&f);              // what it leaves on the device must not hide the errors of the next run
    f.options.bad[0] = 650001;
    f.options.bad[1] = 300123;
    cr_assert_eq(fixture_run(&f), HDST_E_RECORD, "%s", f.error.message);
    cr_assert_eq(f.error.record, 300123, "the smallest failing record, not %llu", (unsigned long long)f.error.record);
    cr_assert(strstr(f.error.message, "index 30 out of range 0..6"), "%s", f.error.message);
    f.options.bad[0] = f.options.bad[1] = 0;
    run_right(&f);              // the stage is usable again
    fixture_close(&f);
}

Test(stage, interp_reports_the_smallest_failing_record) { bad_records(INTERP); }
Test(stage, cpu_form_reports_the_smallest_failing_record) { bad_records(CPU); }
Test(stage, gpu_form_reports_the_smallest_failing_record) { bad_records(GPU_FORM); }

static void failing_reader(int form)
{
    fixture_options options = options_for(form, 3000000);
    options.memory = 32 << 20;
    options.fail_at = 2000000;
    fixture f;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    cr_assert_eq(fixture_run(&f), HDST_E_IO);
    cr_assert_str_eq(f.error.message, "record 2000000 cannot be read");
    f.options.bad[0] = 100;     // a record before it failed: that one counts
    cr_assert_eq(fixture_run(&f), HDST_E_RECORD);
    cr_assert_eq(f.error.record, 100);
    fixture_close(&f);
}

Test(stage, interp_passes_on_what_the_reader_says) { failing_reader(INTERP); }
Test(stage, cpu_passes_on_what_the_reader_says) { failing_reader(CPU); }

Test(stage, a_kernel_with_too_much_private_memory_is_a_kernel_error_on_devices_and_runs_in_the_interpreter)
{
    for (int form = INTERP; form < FORMS; form++) {
        fixture_options options = options_for(form, 100);
        options.private_bytes = 64 << 20;
        if (form == INTERP) {
            once(&options);
            continue;
        }
        fixture f;
        cr_assert_eq(fixture_open(&f, &options), HDST_OK);
        cr_assert_eq(fixture_run(&f), HDST_E_KERNEL, "%s", f.error.message);
        cr_assert(strstr(f.error.message, "private memory"), "%s", f.error.message);
        cr_assert_neq(f.error.hint[0], 0);
        fixture_close(&f);
    }
}

// --- Threads ---

typedef struct one_of_two {
    hdst__engine *engine;
    const fixture *other;
    hdst_status status;
} one_of_two;

static void *run_stage_of_its_own(void *user)
{
    one_of_two *job = user;
    hdst_error error = HDST_ERROR_INIT;
    hdst__stage *stage = hdst__stage_create(job->engine, &(hdst__stage_spec){.kind = HDST__STAGE_MAP, .func = job->other->func, .reader = job->other->reader});
    hdst__stage_output output;
    for (int i = 0; i < 20 && job->status == HDST_OK; i++) job->status = hdst__stage_run(stage, &job->other->values, &output, &error);
    hdst__stage_destroy(stage);
    return NULL;
}

Test(stage, two_threads_may_use_one_engine)
{
    fixture_options options = options_for(CPU, 5000);
    fixture f;
    pthread_t thread;
    cr_assert_eq(fixture_open(&f, &options), HDST_OK);
    run_right(&f);
    one_of_two job = {f.engine, &f, HDST_OK};
    cr_assert_eq(pthread_create(&thread, NULL, run_stage_of_its_own, &job), 0);
    hdst__stage_output output;
    hdst_error error = HDST_ERROR_INIT;
    for (int i = 0; i < 20; i++) cr_assert_eq(hdst__stage_run(f.stage, &f.values, &output, &error), HDST_OK);
    pthread_join(thread, NULL);
    cr_assert_eq(job.status, HDST_OK);
    f.output = output;
    fixture_expect_right(&f);
    fixture_close(&f);
}

// --- Cancelling ---

// Whether a run that is cancelled ends early, in records: tests/hdst/test_cancel.c.
Test(stage, a_cancelled_engine_ends_its_run_and_works_again)
{
    for (int form = INTERP; form <= CPU; form++) {
        fixture_options options = options_for(form, 100000);
        fixture f;
        cr_assert_eq(fixture_open(&f, &options), HDST_OK);
        hdst__cancel_begin(&f.cancel);
        hdst__cancel_ask(&f.cancel);
        cr_assert_eq(fixture_run(&f), HDST_E_CANCELLED);
        hdst__cancel_end(&f.cancel);
        run_right(&f);
        fixture_close(&f);
    }
}
