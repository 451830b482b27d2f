// SPDX-License-Identifier: Apache-2.0
// What makes the library quick can be switched off for measurements (bench/README.md): each switch does what it says, and results stay as they are.
#include "tests/hdst/support.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 20000 };

typedef struct row { uint32_t k; float v; } row;

static const char text[] =
    "struct row { uint32_t k; float v; };\n"
    "struct sums { double v; uint64_t n; };\n"
    "map add(row r, accum sums s) { s.v += sqrt(r.v); s.n += 1; }\n";

typedef struct outcome {
    double v;
    uint64_t slices, to_device;
    bool vectors_off;
    unsigned warnings;
} outcome;

static void count_warning(hdst_log_level level, const char *message, void *user)
{
    (void)message;
    if (level <= HDST_LOG_WARN) ++*(unsigned *)user;
}

static outcome run(const char *folder)
{
    static row rows[RECORDS];
    outcome o = {0};
    hdst_error error = HDST_ERROR_INIT;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.cache_dir = folder;
    options.log = count_warning;
    options.log_user = &o.warnings;
    hdst_context *context = hdst_context_create(&options);
    for (uint32_t i = 0; i < RECORDS; i++) rows[i] = (row){i, (float)(i % 97) * (float)(i % 97)};
    hdst_module *module = hdst_module_parse(context, "switches.hk", text, NULL);
    hdst_dataset *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), module, "row");
    hdst_result *result = hdst_result_create(hdst_map_function(data, module, "add"));
    cr_assert_eq(hdst_run(result, &error), HDST_OK, "%s", error.message);
    o.v = hdst_view_double(hdst_result_field(result, "s", "v"), 0, 0);
    cr_assert_eq(hdst_view_int64(hdst_result_field(result, "s", "n"), 0, 0), RECORDS);
    const hdst_run_stats stats = hdst_result_stats(result);
    o.slices = stats.device[0].slices;
    o.to_device = stats.bytes_to_device;
    o.vectors_off = strstr(hdst_explain(result, &error), "vectors are switched off");
    hdst_context_destroy(context);
    double expected = 0;
    for (uint32_t i = 0; i < RECORDS; i++) expected += i % 97;
    cr_assert_eq(o.v, expected, "roots of squares, whose sum no addition rounds");
    return o;
}

static unsigned files_in(const char *folder)
{
    unsigned count = 0;
    DIR *all = opendir(folder);
    for (struct dirent *entry; all && (entry = readdir(all));) count += *entry->d_name != '.';
    if (all) closedir(all);
    return count;
}

static outcome run_with(const char *name, const char *value, const char *folder)
{
    setenv(name, value, 1);
    const outcome o = run(folder);
    unsetenv(name);
    return o;
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_expect_eq(system(command), 0);
}

Test(switches, do_what_they_say)
{
    char folder[] = "/tmp/hdst-switches-XXXXXX";
    if (!has_cpu()) return;
    cr_assert(mkdtemp(folder));
    setenv("HDST_KERNEL_CACHE", "off", 1);
    run(folder);
    cr_expect_eq(files_in(folder), 0, "compiled kernels were kept");
    unsetenv("HDST_KERNEL_CACHE");
    const outcome plain = run(folder);
    cr_expect_gt(files_in(folder), 0);
    cr_expect_eq(plain.to_device, 0, "a CPU reads where the host wrote");
    cr_expect_lt(plain.slices, 20);
    cr_expect_not(plain.vectors_off);
    cr_expect_geq(run_with("HDST_MAPPING", "off", folder).to_device, RECORDS * sizeof(row));
    cr_expect(run_with("HDST_VECTORS", "off", folder).vectors_off);
    cr_expect_geq(run_with("HDST_SLICE_RECORDS", "640", folder).slices, RECORDS / 640);
    cr_expect_leq(run_with("HDST_SLICE_RECORDS", "640", folder).slices, RECORDS / 640 + 4);
    remove_folder(folder);
}

Test(switches, that_say_something_else_are_told_and_change_nothing)
{
    static const char *const names[] = {"HDST_KERNEL_CACHE", "HDST_MAPPING", "HDST_VECTORS", "HDST_SLICE_RECORDS"};
    char folder[] = "/tmp/hdst-switches-XXXXXX";
    if (!has_cpu()) return;
    cr_assert(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const outcome o = run_with(names[i], "-1x", folder);
        cr_expect_eq(o.warnings, 1, "%s", names[i]);
        cr_expect_eq(o.to_device, 0);
        cr_expect_not(o.vectors_off);
    }
    cr_expect_eq(run_with("HDST_MAPPING", "on", folder).warnings, 0);
    remove_folder(folder);
}
