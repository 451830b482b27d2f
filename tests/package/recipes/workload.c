// SPDX-License-Identifier: Apache-2.0
// A workload: counts the rows of its input.
#include "program.h"

#include <inttypes.h>

static void write_json(json *j, const void *user) { json_uint(j, "rows", *(const uint64_t *)user); }

static void write_text(FILE *out, const void *user) { fprintf(out, "recipe: a workload counts %" PRIu64 " rows\n", *(const uint64_t *)user); }

static hdst_status work(program_run *run, void *settings, hdst_error *error)
{
    (void)settings;
    const uint64_t rows = hdst_source_rows(run->source);
    return program_show(run, rows, write_json, write_text, &rows, error);
}

int main(int argc, char **argv)
{
    common_options common = {0};
    const program_info info = {.name = "recipe", .summary = "counts rows"};
    const program_steps steps = {.work = work};
    return program_main(&info, &common, &steps, NULL, argc, argv);
}
