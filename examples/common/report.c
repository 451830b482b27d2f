// SPDX-License-Identifier: Apache-2.0
// What examples say (report.h).
#include "report.h"

#include "progress_line.h"

#include <string.h>
#include <time.h>

int report_error(const char *program, const hdst_error *error)
{
    char text[2600];
    hdst_error_format(error, text, sizeof text);
    if (error->file[0]) fprintf(stderr, "%s\n", text);
    else fprintf(stderr, "%s: %s\n", program, text);
    return hdst_status_exit_code(error->code);
}

void report_log(hdst_log_level level, const char *message, void *user)
{
    static const char *const words[] = {"error: ", "warning: ", "note: ", "debug: "};
    flockfile(stderr);
    progress_line_clear();
    fprintf(stderr, "%s: %s%s\n", (const char *)user, words[level], message);
    funlockfile(stderr);
}

static void add_device(hdst_run_stats *sum, const hdst_device_use *use)
{
    enum { MOST = sizeof sum->device / sizeof *sum->device };
    uint32_t i = 0;
    while (i < sum->device_count && strcmp(sum->device[i].name, use->name)) i++;
    if (i == MOST) return;
    if (i == sum->device_count) {
        sum->device[sum->device_count++] = *use;
        return;
    }
    sum->device[i].slices += use->slices;
    sum->device[i].records += use->records;
    sum->device[i].busy_seconds += use->busy_seconds;
}

static void add_level(hdst_run_stats *sum, const hdst_level *level)
{
    enum { MOST = sizeof sum->level / sizeof *sum->level };
    uint32_t i = 0;
    while (i < sum->level_count && strcmp(sum->level[i].name, level->name)) i++;
    if (i == MOST) return;
    if (i == sum->level_count) {
        sum->level[sum->level_count++] = *level;
        return;
    }
    sum->level[i].in += level->in;
    sum->level[i].out += level->out;
}

void report_add(hdst_run_stats *sum, hdst_run_stats run)
{
    sum->records += run.records;
    sum->total_seconds += run.total_seconds;
    sum->read_seconds += run.read_seconds;
    sum->compile_seconds += run.compile_seconds;
    sum->run_seconds += run.run_seconds;
    sum->bytes_to_device += run.bytes_to_device;
    sum->bytes_from_device += run.bytes_from_device;
    if (run.host_peak_bytes > sum->host_peak_bytes) sum->host_peak_bytes = run.host_peak_bytes;
    if (run.device_peak_bytes > sum->device_peak_bytes) sum->device_peak_bytes = run.device_peak_bytes;
    if (run.records_skipped > sum->records_skipped) sum->records_skipped = run.records_skipped;
    if (run.fast_sums > sum->fast_sums) sum->fast_sums = run.fast_sums;
    for (uint32_t i = 0; i < run.device_count; i++) add_device(sum, &run.device[i]);
    for (uint32_t i = 0; i < run.level_count; i++) add_level(sum, &run.level[i]);
}

double report_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void report_json(json *j, const char *workload, uint64_t records, double total_seconds, const hdst_run_stats *sum)
{
    json_text(j, "workload", workload);
    json_uint(j, "records", records);
    json_uint(j, "records_skipped", sum->records_skipped);
    json_uint(j, "fast_sums", sum->fast_sums);
    json_open(j, "seconds", '{');
    json_double(j, "total", total_seconds);
    json_double(j, "read", sum->read_seconds);
    json_double(j, "compile", sum->compile_seconds);
    json_double(j, "run", sum->run_seconds);
    json_close(j, '}');
    json_open(j, "devices", '[');
    for (uint32_t i = 0; i < sum->device_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", sum->device[i].name);
        json_uint(j, "slices", sum->device[i].slices);
        json_uint(j, "records", sum->device[i].records);
        json_double(j, "busy_seconds", sum->device[i].busy_seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "bytes", '{');
    json_uint(j, "to_device", sum->bytes_to_device);
    json_uint(j, "from_device", sum->bytes_from_device);
    json_uint(j, "host_peak", sum->host_peak_bytes);
    json_uint(j, "device_peak", sum->device_peak_bytes);
    json_close(j, '}');
    json_open(j, "levels", '[');
    for (uint32_t i = 0; i < sum->level_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", sum->level[i].name);
        json_uint(j, "in", sum->level[i].in);
        json_uint(j, "out", sum->level[i].out);
        json_close(j, '}');
    }
    json_close(j, ']');
}
