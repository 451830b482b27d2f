// SPDX-License-Identifier: Apache-2.0
// Rows of a text are counted when they are asked for or read: what is wrong with them is told then, and what is odd is said once.
#include "tests/hdst/support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/hdst-text-XXXXXX.csv";
static int notes;

static void write_text(const char *text)
{
    strcpy(path, "/tmp/hdst-text-XXXXXX.csv");
    FILE *file = fdopen(mkstemps(path, 4), "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    notes = 0;
}

static void count_notes(hdst_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    notes += strstr(message, "2 numbers are nan or inf") != NULL;
}

static hdst_context *open_context(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    options.log = count_notes;
    options.log_level = HDST_LOG_INFO;
    return hdst_context_create(&options);
}

static hdst_module *pairs(hdst_context *context) { return hdst_module_parse(context, "pair.hk", "struct pair { double x; double y; };\n", NULL); }

Test(text_source, a_mistake_is_told_when_rows_are_counted_or_read)
{
    hdst_context *context = open_context();
    hdst_error error = HDST_ERROR_INIT;
    write_text("1,2\n3,4\n5\n");
    hdst_source *source = hdst_source_open(context, path);
    cr_assert_eq(hdst_source_status(source, &error), HDST_OK, "%s", error.message);
    cr_assert_eq(hdst_source_columns(source), 2);
    hdst_dataset *read = hdst_read(source, pairs(context), "pair");
    cr_assert_eq(hdst_dataset_status(read, &error), HDST_OK, "%s", error.message);      // opening and reading go through nothing
    uint64_t count;
    cr_assert_eq(hdst_count(read, &count, &error), HDST_E_FORMAT);
    cr_assert_str_eq(error.message, "the row has 1 field, line 1 has 2");
    cr_assert_eq(error.line, 3);
    cr_assert_eq(hdst_source_status(source, NULL), HDST_OK);        // it was asked for nothing yet
    for (int turn = 0; turn < 2; turn++) {
        cr_assert_eq(hdst_source_rows(source), 0);
        cr_assert_eq(hdst_source_status(source, &error), HDST_E_FORMAT);
        cr_assert_eq(error.line, 3);
        cr_assert_eq(hdst_source_columns(source), 0);
    }
    unlink(path);
    hdst_context_destroy(context);
}

Test(text_source, rows_are_counted_once)
{
    hdst_context *context = open_context();
    hdst_error error = HDST_ERROR_INIT;
    write_text("1,2\nnan,4\n5,inf\n");
    hdst_source *source = hdst_source_open(context, path);
    cr_assert_str_eq(hdst_source_note(source), "");
    double taken[6];
    cr_assert_eq(hdst_dataset_take(hdst_read(source, pairs(context), "pair"), 0, 3, taken, &error), HDST_OK, "%s", error.message);
    cr_assert(taken[0] == 1 && taken[3] == 4 && taken[4] == 5);
    cr_assert_eq(notes, 1);
    unlink(path);                   // nobody looks for it again
    cr_assert_eq(hdst_source_rows(source), 3);
    cr_assert_eq(hdst_source_rows(source), 3);
    cr_assert_eq(notes, 1);
    cr_assert(strstr(hdst_source_note(source), "2 numbers are nan or inf"));
    hdst_context_destroy(context);
}

// Between what was put together and the run that reads it.
Test(text_source, a_text_that_changes_before_it_is_read)
{
    for (int grows = 0; grows < 2; grows++) {
        hdst_context *context = open_context();
        hdst_error error = HDST_ERROR_INIT;
        write_text("1,2\n3,4\n5,6\n");
        hdst_dataset *read = hdst_read(hdst_source_open(context, path), pairs(context), "pair");
        cr_assert_eq(hdst_dataset_status(read, &error), HDST_OK, "%s", error.message);
        FILE *file = fopen(path, grows ? "a" : "w");
        cr_assert(file && fputs("7,8\n", file) >= 0 && fclose(file) == 0);
        cr_assert_eq(hdst_run(hdst_result_create(read), &error), HDST_E_IO);
        cr_assert(strstr(error.message, grows ? "has 16 bytes although it had 12" : "ends at byte 4 although it had 12"), "%s", error.message);
        cr_assert_str_eq(error.file, path);
        cr_assert_eq(hdst_status_exit_code(HDST_E_IO), 6);
        unlink(path);
        hdst_context_destroy(context);
    }
}
