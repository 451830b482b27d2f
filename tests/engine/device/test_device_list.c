// SPDX-License-Identifier: Apache-2.0
// The order of devices, and what users ask for among those of a machine that is made up.
#include "engine/device/device_list.h"
#include "engine/device/opencl_devices.h"
#include "engine/engine.h"
#include "engine/common/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A machine with a CPU, two GPUs, a third that cannot be used, and the interpreter.
static hdst__device_info machine[] = {
    {.index = 0, .class_ = HDST__DEVICE_CPU, .name = "Old Iron", .compute_units = 64, .usable = true},
    {.index = 1, .class_ = HDST__DEVICE_GPU, .name = "Small", .compute_units = 10, .usable = true},
    {.index = 2, .class_ = HDST__DEVICE_GPU, .name = "Large", .compute_units = 100, .usable = true},
    {.index = 3, .class_ = HDST__DEVICE_GPU, .name = "Lame", .compute_units = 1000, .usable = false, .why_not = "it has no OpenCL 1.2"},
    {.index = 4, .class_ = HDST__DEVICE_INTERP, .name = "interpreter", .compute_units = 1, .usable = true},
};
static hdst__device_list list = {.info = machine, .count = 5};

// "2 1 0": the places, the fastest first.
static const char *choose(const char *wanted)
{
    static char text[64];
    hdst__device_choice choice;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__device_list_choose(&list, wanted, &choice, &error), HDST_OK, "%s: %s", wanted, error.message);
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < choice.count; i++) used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", i ? " " : "", choice.at[i]);
    return text;
}

static hdst_error refuse(const char *wanted, hdst_status status)
{
    hdst__device_choice choice;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__device_list_choose(&list, wanted, &choice, &error), status, "%s", wanted);
    return error;
}

Test(device_list, all_names_every_usable_device_the_fastest_first)
{
    cr_assert_str_eq(choose("all"), "2 1 0");
}

Test(device_list, classes_and_indices)
{
    cr_assert_str_eq(choose("cpu"), "0");
    cr_assert_str_eq(choose("gpu"), "2 1");
    cr_assert_str_eq(choose("interp"), "4");
    cr_assert_str_eq(choose("1"), "1");
    cr_assert_str_eq(choose("0,1"), "1 0");
    cr_assert_str_eq(choose("4,0,2"), "2 0 4");
    cr_assert_str_eq(choose("4"), "4");
}

Test(device_list, a_device_named_twice_is_wrong_use)
{
    hdst_error error = refuse("0,1,0", HDST_E_USAGE);
    cr_assert(strstr(error.message, "names device 0 twice"), "%s", error.message);
}

Test(device_list, of_equal_devices_those_found_first_are_taken_as_far_as_a_run_can_use)
{
    enum { MANY = HDST__MOST_WORKERS + 4 };
    static hdst__device_info equal[MANY];
    for (uint32_t i = 0; i < MANY; i++) equal[i] = (hdst__device_info){.index = i, .class_ = HDST__DEVICE_GPU, .compute_units = 7, .usable = true};
    const hdst__device_list many = {.info = equal, .count = MANY};
    hdst__device_choice choice;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__device_list_choose(&many, "gpu", &choice, &error), HDST_OK);
    cr_assert_eq(choice.count, HDST__MOST_WORKERS);
    cr_assert_eq(choice.left_out, 4);
    for (size_t i = 0; i < choice.count; i++) cr_assert_eq(choice.at[i], i);
    char all[256] = "0";
    for (size_t i = 1; i < MANY; i++) snprintf(all + strlen(all), sizeof all - strlen(all), ",%zu", i);
    cr_assert_eq(hdst__device_list_choose(&many, all, &choice, &error), HDST_E_USAGE);
}

Test(device_list, a_device_that_is_not_there_is_a_device_error_that_lists_what_is)
{
    hdst_error error = refuse("7", HDST_E_DEVICE);
    cr_assert(strstr(error.message, "'7'"));
    cr_assert(strstr(error.hint, "0 Old Iron (cpu), 1 Small (gpu), 2 Large (gpu), 3 Lame (gpu, not usable: it has no OpenCL 1.2), 4 interpreter (interp)"),
              "%s", error.hint);
    error = refuse("3", HDST_E_DEVICE);
    cr_assert(strstr(error.message, "OpenCL 1.2"), "%s", error.message);
    refuse("18446744073709551616", HDST_E_DEVICE);
}

Test(device_list, what_is_no_device_name_is_wrong_use)
{
    static const char *const wrong[] = {"", "CPU", "fast", "1,", ",1", "1;2", "-1", "1,,2", "0x1", "all,0", " 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(wrong[i], HDST_E_USAGE);
}

// --- Through an engine, with and without OpenCL. Every test is a process of its own, so the environment is its own too. ---

static int warnings;

static void count_warnings(int level, const char *message, void *user)
{
    (void)message, (void)user;
    warnings += level == HDST__LOG_WARN;
}

static hdst__engine *engine_for(const char *device)
{
    static hdst__log log = {.write = count_warnings, .level = HDST__LOG_DEBUG};
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){.device = device, .log = &log});
    cr_assert_not_null(engine);
    return engine;
}

static void expect_interp_only(void)
{
    hdst__engine *engine = engine_for("all");
    const hdst__device_info *device;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_device(engine, &device, &error), HDST_OK);
    cr_assert_eq(device->class_, HDST__DEVICE_INTERP);
    cr_assert_eq(warnings, 1, "falling back to the interpreter must be said once");
    cr_assert_eq(hdst__engine_device(engine, &device, &error), HDST_OK);
    cr_assert_eq(warnings, 1);
    const hdst__device_info *all;
    size_t count;
    const char *note = NULL;
    cr_assert_eq(hdst__engine_devices(engine, &all, &count, &note, &error), HDST_OK);
    cr_assert_eq(count, 1);
    cr_assert_not_null(note);
    hdst__engine_destroy(engine);

    engine = engine_for("cpu");
    cr_assert_eq(hdst__engine_device(engine, &device, &error), HDST_E_DEVICE);
    cr_assert_neq(error.cause[0], 0, "the reason why there is no OpenCL must be told");
    hdst__engine_destroy(engine);
}

Test(device_list, without_a_loader_all_means_the_interpreter_and_cpu_is_an_error)
{
    setenv("HDST_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so.1", 1);
    expect_interp_only();
}

Test(device_list, a_library_that_is_no_loader_is_as_none)
{
    setenv("HDST_OPENCL_LIBRARY", "libm.so.6", 1);
    expect_interp_only();
}

Test(device_list, without_a_driver_all_means_the_interpreter_and_cpu_is_an_error)
{
    char root[] = "/tmp/hdst-test-vendors-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    setenv("OCL_ICD_VENDORS", root, 1);
    expect_interp_only();
    rmdir(root);
}

Test(device_list, a_driver_that_gives_no_device_is_named_with_what_helps)
{
    // PoCL wants to write below HOME; /proc takes nothing, not even from root.
    unsetenv("POCL_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/proc", 1);
    hdst__engine *engine = engine_for("all");
    const hdst__device_info *all;
    size_t count;
    const char *note = NULL;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_devices(engine, &all, &count, &note, &error), HDST_OK);
    if (count == 1) cr_assert(note && strstr(note, "POCL_CACHE_DIR"), "%s", note ? note : "no note");   // other drivers do not mind
    hdst__engine_destroy(engine);
}

Test(device_list, interp_opens_no_loader)
{
    // A loader that cannot be opened would be noted; the choice of the interpreter must not even try.
    setenv("HDST_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so.1", 1);
    hdst__engine *engine = engine_for("interp");
    const hdst__device_info *device;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_device(engine, &device, &error), HDST_OK);
    cr_assert_eq(device->class_, HDST__DEVICE_INTERP);
    cr_assert_eq(warnings, 0);
    hdst__engine_destroy(engine);
}

Test(device_list, indices_count_from_0_and_the_interpreter_is_last)
{
    hdst__engine *engine = engine_for("all");
    const hdst__device_info *all;
    size_t count;
    const char *note;
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst__engine_devices(engine, &all, &count, &note, &error), HDST_OK, "%s", error.message);
    cr_assert_geq(count, 1);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(all[i].index, i);
        cr_assert_eq(all[i].class_ == HDST__DEVICE_INTERP, i + 1 == count);
        cr_assert_neq(all[i].name[0], 0);
        cr_assert_eq(all[i].usable, all[i].why_not[0] == 0);
        if (all[i].usable) cr_assert_gt(all[i].memory_bytes, 0);
    }
    cr_assert_eq(note == NULL, count > 1);
    hdst__engine_destroy(engine);
}

// The driver names the processor behind what it compiles for.
Test(device_list, which_processors_ask_for_structs_by_themselves)
{
    static const struct { const char *name; bool follows; } cases[] = {
        {"pthread-skylake-avx512-AMD EPYC", true}, {"pthread-AMD Ryzen 7 5800X 8-Core Processor", true}, {"cpu-znver4-AMD EPYC 9R14 96-Core Processor", true},
        {"pthread-skylake-avx512-Intel(R) Xeon(R) Processor", false}, {"pthread-cortex-a72", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(hdst__processor_follows_structs(cases[i].name), cases[i].follows, "%s", cases[i].name);
}
