// SPDX-License-Identifier: Apache-2.0
// `hdst devices [--json|--reset-power]`: the devices that programs can use, their capabilities, what was measured of them, and why one cannot be used.
#include "base/diag.h"
#include "engine/engine.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/device_powers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const class_names[] = {[HDST__DEVICE_INTERP] = "interp", [HDST__DEVICE_CPU] = "cpu", [HDST__DEVICE_GPU] = "gpu"};

static void print_bytes(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void print_abilities(const hdst__device_info *device)
{
    char memory[32], local[32];
    print_bytes(device->memory_bytes, memory, sizeof memory);
    print_bytes(device->local_bytes, local, sizeof local);
    printf("           %s, driver %s, %s\n", device->platform, device->driver, device->cl_version);
    printf("           %" PRIu32 " compute units, %s memory, %s local; double %s, 64-bit atomics %s\n", device->compute_units, memory, local,
           device->has_double ? "yes" : "no", device->has_int64_atomics ? "yes" : "no");
    if (!device->usable) printf("           cannot be used: %s\n", device->why_not);
}

static void print_device(const hdst__device_info *device, const device_powers *powers)
{
    printf("%" PRIu32 "  %-6s  %s\n", device->index, class_names[device->class_], device->name);
    if (device->class_ == HDST__DEVICE_INTERP) puts("           runs everything, slowly, without a driver");
    else print_abilities(device);
    device_powers_print(powers, device);
}

// A JSON string with its quotes. Driver texts may hold anything.
static void print_json_string(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') printf("\\%c", *c);
        else if (*c < 0x20 || *c > 0x7e) printf("\\u%04x", *c);
        else putchar(*c);
    }
    putchar('"');
}

static void print_json_member(const char *name, const char *text)
{
    printf(", \"%s\": ", name);
    print_json_string(text);
}

static void print_json_device(const hdst__device_info *device, const device_powers *powers)
{
    printf("{\"index\": %" PRIu32, device->index);
    print_json_member("class", class_names[device->class_]);
    print_json_member("name", device->name);
    print_json_member("platform", device->platform);
    print_json_member("driver", device->driver);
    print_json_member("opencl", device->cl_version);
    printf(", \"compute_units\": %" PRIu32 ", \"max_group\": %" PRIu32, device->compute_units, device->max_group);
    printf(", \"memory_bytes\": %" PRIu64 ", \"max_alloc_bytes\": %" PRIu64, device->memory_bytes, device->max_alloc_bytes);
    printf(", \"local_bytes\": %" PRIu64, device->local_bytes);
    printf(", \"double\": %s, \"int64_atomics\": %s", device->has_double ? "true" : "false", device->has_int64_atomics ? "true" : "false");
    printf(", \"usable\": %s", device->usable ? "true" : "false");
    print_json_member("why_not", device->why_not);
    printf(", \"power\": ");
    device_powers_print_json(powers, device);
    putchar('}');
}

static void print_json(const hdst__device_info *devices, size_t count, const device_powers *powers, const char *note)
{
    printf("{\"devices\": [");
    for (size_t i = 0; i < count; i++) {
        if (i) printf(",\n ");
        print_json_device(&devices[i], powers);
    }
    printf("]");
    if (note) print_json_member("note", note);
    printf("}\n");
}

static int fail(const hdst_error *error)
{
    char text[2048];
    hdst_error_format(error, text, sizeof text);
    fprintf(stderr, "hdst devices: %s\n", text);
    return hdst_status_exit_code(error->code);
}

static void print_all(const hdst__device_info *devices, size_t count, const char *note, const device_powers *powers, bool json)
{
    if (json) {
        print_json(devices, count, powers, note);
        return;
    }
    for (size_t i = 0; i < count; i++) print_device(&devices[i], powers);
    if (note) fprintf(stderr, "note: %s\n", note);
}

static int print_devices(bool json)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst__engine *engine = hdst__engine_create(&(hdst__engine_options){0});
    device_powers powers = {0};
    if (!engine || !device_powers_read(&powers)) {
        if (engine) hdst__engine_destroy(engine);
        return fail((hdst__error_memory(&error, "the engine"), &error));
    }
    const hdst__device_info *devices;
    size_t count;
    const char *note;
    const hdst_status status = hdst__engine_devices(engine, &devices, &count, &note, &error);
    if (status == HDST_OK) print_all(devices, count, note, &powers, json);
    hdst__engine_destroy(engine);
    device_powers_free(&powers);
    return status == HDST_OK ? 0 : fail(&error);
}

static int reset_power(void)
{
    uint64_t count;
    if (device_powers_reset(&count)) {
        printf("removed %" PRIu64 " measured power%s\n", count, count == 1 ? "" : "s");
        return 0;
    }
    fprintf(stderr, "hdst devices: the kernel cache cannot be cleared of measured powers: %s\n", strerror(errno));
    return 6;
}

static int wrong_use(const char *word)
{
    static const char *const options[] = {"--json", "--reset-power", "--help"};
    return hdst_refuse_unknown("hdst devices", "unknown argument", word, options, 3);
}

int hdst_devices_command(int argc, char **argv)
{
    bool json = false, reset = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            puts("usage: hdst devices [--json|--reset-power]\n\n"
                 "Lists the devices of all OpenCL platforms and the interpreter. The number in front is what `--device` of the programs takes.\n"
                 "What a record and a slice take was measured by earlier runs, kernel by kernel, and is kept with the compiled kernels (`hdst cache`):\n"
                 "runs on several devices are divided by it. --reset-power forgets it.");
            return 0;
        }
        if (!strcmp(argv[i], "--json")) json = true;
        else if (!strcmp(argv[i], "--reset-power")) reset = true;
        else return wrong_use(argv[i]);
    }
    return reset ? reset_power() : print_devices(json);
}
