// SPDX-License-Identifier: Apache-2.0
// NaNs on devices: what can be seen of them must be the same everywhere (bench/nan_cases.h).
//
// usage: nan_bits [--no-math] [DEVICE ...]        (default: interp and cpu; names as hdst_context_options has them: interp, cpu, gpu, 0, 1 ...)
// Prints a digest of the results of each case on each device, which must not differ, and what is wrong of each. Exit
// code 1 when something is; 4: no such device.
#include "bench/nan_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEVICES = 16, MOST_CASES = 512 };

typedef struct table {
    char name[MOST_CASES][80];
    uint64_t digest[MOST_CASES][MOST_DEVICES];
    size_t device, cases, at, wrong;
    const char *device_name;
} table;

static void see(void *user, const char *name, uint64_t digest, const char *wrong)
{
    table *t = user;
    if (t->at == MOST_CASES) return;
    if (!t->device) snprintf(t->name[t->cases++], sizeof *t->name, "%s", name);
    t->digest[t->at++][t->device] = digest;
    if (!wrong) return;
    printf("%s: %s: %s\n", t->device_name, name, wrong);
    t->wrong++;
}

static int run(table *t, const char *device, bool math)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    hdst_device_info info;
    hdst_error error = HDST_ERROR_INIT;
    options.device = t->device_name = device;
    hdst_context *context = hdst_context_create(&options);
    const nan_look look = {see, t};
    t->at = 0;
    int code = 0;
    if (hdst_device_chosen(context, &info, &error) != HDST_OK) {
        fprintf(stderr, "nan_bits: %s: %s\n", device, error.message);
        code = 4;
    } else {
        printf("%s is %s\n", device, info.name);
        if (!nan_cases_operations(context, &look) || !nan_cases_operators(context, &look) || (math && !nan_cases_math(context, &look))) code = 1;
    }
    hdst_context_destroy(context);
    t->device++;
    return code;
}

static size_t show(const table *t, char **devices)
{
    size_t differ = 0;
    printf("%-34s", "case");
    for (size_t d = 0; d < t->device; d++) printf(" %-16s", devices[d]);
    printf("\n");
    for (size_t i = 0; i < t->cases; i++) {
        bool same = true;
        printf("%-34s", t->name[i]);
        for (size_t d = 0; d < t->device; d++) {
            printf(" %016" PRIx64, t->digest[i][d]);
            same &= t->digest[i][d] == t->digest[i][0];
        }
        printf("%s\n", same ? "" : "   DIFFER");
        differ += !same;
    }
    printf("%zu cases, %zu differ, %zu times not as documented\n", t->cases, differ, t->wrong);
    return differ;
}

int main(int argc, char **argv)
{
    static table t;
    static char *usual[] = {"interp", "cpu"};
    const bool math = argc < 2 || strcmp(argv[1], "--no-math");
    char **devices = argv + (math ? 1 : 2);
    size_t count = (size_t)(argc - (math ? 1 : 2));
    if (!count) devices = usual, count = 2;
    if (count > MOST_DEVICES) return 2;
    for (size_t d = 0; d < count; d++) {
        const int code = run(&t, devices[d], math);
        if (code) return code;
    }
    return show(&t, devices) || t.wrong ? 1 : 0;
}
