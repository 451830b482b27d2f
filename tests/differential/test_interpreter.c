// SPDX-License-Identifier: Apache-2.0
// Random programs on the interpreter against their C translations: outputs, kept records, accumulators and the first failing record, bit for bit.
//
// HDST_DIFF_PROGRAMS: how many (400 unless given); HDST_DIFF_SEED: the first seed (1); HDST_DIFF_RECORDS: over how
// many records each (300); HDST_DIFF_THEMES: how many of a hundred have a theme (12); HDST_DIFF_SHOW: writes the
// programs too. A difference prints the seed, the program and what differs.
#include "harness.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 100, RECORDS = 300, THEMES = 12 /* percent */, SHOWN = 3, PROGRESS = 1000 /* programs between two lines */ };

typedef struct tally {
    int programs, failing, different, shown, endless /* for all data that were tried */, too_large;
} tally;

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void report(tally *t, const diff_program *program, const char *form, const char *what)
{
    t->different++;
    if (t->shown++ >= SHOWN) {
        fprintf(stderr, "seed %" PRIu64 " (%s): %s\n", program->seed, form, what);
        return;
    }
    fprintf(stderr, "--- seed %" PRIu64 " (%s): %s\n%s", program->seed, form, what, program->hk);
}

// A layout each, so that all meet all forms.
static bool try_form(hdst__arena *arena, tally *t, const diff_program *program, const diff_exports *exports, const diff_data *data, const diff_result *expected,
                     diff_form form)
{
    static const char *const names[] = {"as lowered", "scalar passes", "block form", "row form", "block form over rows", "skipping form"};
    hdst__diags diags;
    const diff_compiled compiled = diff_compile(arena, program, &diags, form);
    const char *wrong = compiled.wrong;
    if (!wrong) {
        const hdst__layout layout = (hdst__layout)((program->seed + form) % 4);
        const diff_result found = diff_interpret(arena, program, exports, data, &compiled, layout, &wrong);
        if (!wrong) wrong = diff_compare(arena, program, exports, data, expected, &found);
    }
    if (wrong == diff_too_large) t->too_large += form == DIFF_LOWERED;
    else if (wrong) report(t, program, names[form], wrong);
    return !wrong;
}

// How many records fail when each is run by itself.
static uint64_t failing_alone(hdst__arena *arena, const diff_program *program, const diff_exports *exports, const diff_data *data)
{
    uint64_t failing = 0;
    for (uint64_t i = 0; i < data->count; i++) {
        diff_data one = *data;
        one.records = (char *)data->records + i * exports->in_size;
        one.first = data->first + i;
        one.count = 1;
        diff_result found = {0};
        diff_instead(arena, program, exports, &one, &found);
        failing += found.failed_record != UINT64_MAX;
    }
    return failing;
}

static void run_program(const diff_library *library, tally *t, const diff_program *program)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_watch(program->seed);
    const diff_exports *exports = diff_library_find(library, program);
    cr_assert_not_null(exports);
    diff_data data = diff_make_data(&arena, program, exports, setting("HDST_DIFF_RECORDS", RECORDS), false);
    if (!data.count) {
        t->endless++;
        hdst__arena_destroy(&arena);
        return;
    }
    diff_result expected = diff_reference(&arena, program, exports, &data);
    data.room = expected.outputs;
    t->programs++;
    if (getenv("HDST_DIFF_TEXT") && !diff_instead(&arena, program, exports, &data, &expected)) t->endless++;
    t->failing += expected.failed_record != UINT64_MAX;
    const diff_form last = program->shape == DIFF_FOLD ? DIFF_SCALAR : DIFF_BLOCK_OF_ROWS;
    for (diff_form form = DIFF_LOWERED; form <= last; form++)
        if (!try_form(&arena, t, program, exports, &data, &expected, form)) break;
    if (expected.failed_record != UINT64_MAX) {
        data.skip = true;
        diff_result rest = diff_reference(&arena, program, exports, &data);
        if (getenv("HDST_DIFF_TEXT")) rest.skipped = failing_alone(&arena, program, exports, &data);
        data.room = rest.outputs;
        try_form(&arena, t, program, exports, &data, &rest, DIFF_SKIP);
    }
    hdst__arena_destroy(&arena);
}

static void run_batch(uint64_t first, int count, bool arrays, tally *t)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) cr_assert_fail("out of memory");
    diff_program *programs[BATCH];
    const diff_options options = {.themes = (int)setting("HDST_DIFF_THEMES", THEMES), .arrays = arrays};
    for (int i = 0; i < count; i++) programs[i] = diff_generate(&arena, first + (uint64_t)i, &options);
    if (getenv("HDST_DIFF_TEXT")) programs[0]->hk = diff_text_of(&arena, getenv("HDST_DIFF_TEXT"));
    for (int i = 0; i < count && getenv("HDST_DIFF_SHOW"); i++) printf("%s", programs[i]->hk);
    diff_library library = {0};
    cr_assert(diff_library_open(&library, programs, count), "the C translations of seeds %" PRIu64 "... do not compile", first);
    for (int i = 0; i < count; i++) run_program(&library, t, programs[i]);
    diff_library_close(&library);
    hdst__arena_destroy(&arena);
}

static tally run_programs(uint64_t count, bool arrays)
{
    const uint64_t first = setting("HDST_DIFF_SEED", 1);
    tally t = {0};
    for (uint64_t done = 0; done < count; done += BATCH) {
        run_batch(first + done, count - done < BATCH ? (int)(count - done) : BATCH, arrays, &t);
        if (count > PROGRESS && (done + BATCH) % PROGRESS == 0) fprintf(stderr, "%d of %" PRIu64 " programs, %d differ\n", t.programs, count, t.different);
    }
    fprintf(stderr,
            "%d programs from seed %" PRIu64
            ", %d with a failing record; %d more without data for which they end, %d too large\n",
            t.programs, first, t.failing, t.endless, t.too_large);
    cr_expect_leq(t.too_large, 2 + t.programs / 100, "%d programs are too large", t.too_large);
    cr_expect_eq(t.different, 0, "%d programs differ", t.different);
    return t;
}

Test(differential, random_programs_give_the_bits_of_their_c_translations)
{
    const uint64_t count = setting("HDST_DIFF_PROGRAMS", 400);
    const tally t = run_programs(count, false);
    if (count >= 100) cr_expect(t.failing > 0 && t.failing < t.programs / 4, "%d of %d programs fail: they say little", t.failing, t.programs);
    if (count >= 100) cr_expect(t.endless < 5 + t.programs / 20, "%d programs besides %d have no data: they say nothing", t.endless, t.programs);
}

Test(differential, programs_of_loops_over_arrays_give_the_bits_of_their_c_translations)
{
    const tally t = run_programs(setting("HDST_DIFF_PROGRAMS", 400) / 4, true);
    cr_expect_gt(t.programs, t.endless, "%d programs have no data", t.endless);
}
