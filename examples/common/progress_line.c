// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says how far a run is (progress_line.h). What is shown is a property of the process's terminal, hence at file scope.
#define _DEFAULT_SOURCE     // flockfile, TIOCGWINSZ
#include "progress_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_COLUMNS = 200 };

static int shown;           // characters of the line that is there; guarded by the lock of stderr

bool progress_line_wanted(void) { return isatty(STDERR_FILENO); }

static size_t columns(void)
{
    struct winsize size = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
}

// --- Text ---

// Four digits at most, and a unit: 9999, 12.3 k, 210 M, 1.2 G.
static const char *short_number(double number, char text[24])
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    if (number >= 10000)
        while (number >= 999.95 && unit + 1 < sizeof units / sizeof *units) number /= 1000, unit++;
    const double tenths = (double)(uint64_t)(number * 10 + 0.5);
    const uint64_t whole = (uint64_t)(tenths / 10), tenth = (uint64_t)tenths % 10;
    if (unit && tenth) snprintf(text, 24, "%" PRIu64 ".%" PRIu64 "%s", whole, tenth, units[unit]);
    else snprintf(text, 24, "%" PRIu64 "%s", unit ? whole : (uint64_t)(number + 0.5), units[unit]);
    return text;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

// As one speaks of it: there is one kind of CPU in a machine, and a GPU is known without its maker.
static const char *short_name(const hdst_progress_device *device)
{
    static const char maker[] = "NVIDIA ";
    if (device->device_class == HDST_DEVICE_CPU) return "CPU";
    return strncmp(device->name, maker, sizeof maker - 1) ? device->name : device->name + sizeof maker - 1;
}

static void append_devices(char *text, size_t size, const hdst_progress *p)
{
    for (uint32_t i = 0; i < p->device_count; i++) {
        append(text, size, ", %s", short_name(&p->device[i]));
        if (p->device_count > 1 && p->records) append(text, size, " %.0f %%", 100 * (double)p->device[i].records / (double)p->records);
    }
}

static void append_time(char *text, size_t size, double seconds)
{
    if (seconds > 1e8) return;
    const uint64_t left = (uint64_t)(seconds + 0.5), hours = left / 3600, minutes = left / 60 % 60, rest = left % 60;
    if (hours) append(text, size, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", hours, minutes, rest);
    else append(text, size, ", %" PRIu64 ":%02" PRIu64 " left", minutes, rest);
}

static void append_turn(char *text, size_t size, const hdst_progress *p)
{
    if (!p->turn) return;
    append(text, size, ", turn %" PRIu64 " of %" PRIu64, p->turn, p->turns);
    if (p->turn == 1) return;
    if (p->until && !isnan(p->turn_value)) append(text, size, ": %s %.3g", p->until, p->turn_value);
    append(text, size, ", %.3g s each", p->turn_seconds);
}

void progress_line_text(char *text, size_t size, const char *program, const hdst_progress *p)
{
    char done[24], of[24], rate[24];
    const double each = p->seconds > 0 ? (double)p->records / p->seconds : 0;
    snprintf(text, size, "%s: %s", program, short_number((double)p->records, done));
    if (p->of) append(text, size, " of %s", short_number((double)p->of, of));
    append(text, size, " records");
    if (each > 0) append(text, size, ", %s/s", short_number(each, rate));
    append_devices(text, size, p);
    if (each > 0 && p->of > p->records) append_time(text, size, (double)(p->of - p->records) / each);
    append_turn(text, size, p);
}

// --- The terminal ---

// Spaces over what was there: every terminal understands them.
void progress_line_clear(void)
{
    if (shown) fprintf(stderr, "\r%*s\r", shown, "");
    shown = 0;
}

void progress_line_show(const hdst_progress *progress, void *user)
{
    char text[MOST_COLUMNS];
    const size_t size = columns();          // with its zero the text has a column less
    progress_line_text(text, size, user, progress);
    const int length = (int)strlen(text);
    flockfile(stderr);
    fprintf(stderr, "\r%s", text);
    if (shown > length) fprintf(stderr, "%*s", shown - length, "");
    fflush(stderr);
    shown = length;
    funlockfile(stderr);
}
