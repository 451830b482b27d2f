// SPDX-License-Identifier: Apache-2.0
// What was done when, as a file that Chrome and Perfetto show (base/timeline.h).
//
// Events gather in a buffer. It is written behind the events that the file has, over the few bytes that end it, and they are written again behind it.
#define _GNU_SOURCE     // gettid
#include "base/timeline.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 64 << 10,
    MOST_EVENT = 4 << 10,       // bytes of one: names are cut
    MOST_NAME = 200,            // bytes of one, before it is escaped
    MOST_THREADS = 512,         // that are named
    SHOWN_EACH_SECONDS = 1,
};

struct hdst__timeline {
    const hdst__allocator *allocator;
    const hdst__log *log;
    int file;
    long process;               // that records
    double zero;                // what the file's times count from
    pthread_mutex_t lock;       // of all below
    bool failed;                // nothing is written any more
    double shown;               // when a piece was written for those who look at the file meanwhile
    uint64_t written;           // bytes of the file in front of its end
    uint64_t flows;
    uint32_t threads;
    long thread[MOST_THREADS];  // which have a name
    size_t used;
    char piece[PIECE];
};

static const char file_begin[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file_end[] = "\n]}\n";

// --- The file ---

static bool write_at(int file, const char *bytes, size_t count, uint64_t at)
{
    while (count) {
        const ssize_t put = pwrite(file, bytes, count, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            if (put == 0) errno = ENOSPC;
            return false;
        }
        bytes += put, count -= (size_t)put, at += (uint64_t)put;
    }
    return true;
}

// What was written before stays, and the file whole.
static void fail(hdst__timeline *t)
{
    hdst__log_write(t->log, HDST__LOG_WARN, "the timeline ends here: cannot write to it: %s", strerror(errno));
    t->failed = true;
    if (ftruncate(t->file, (off_t)t->written) == 0) write_at(t->file, file_end, sizeof file_end - 1, t->written);
}

static void write_piece(hdst__timeline *t)
{
    if (t->failed) t->used = 0;
    if (!t->used) return;
    const bool whole = write_at(t->file, t->piece, t->used, t->written) && write_at(t->file, file_end, sizeof file_end - 1, t->written + t->used);
    if (whole) t->written += t->used;
    else fail(t);
    t->used = 0;
}

static hdst_status cannot(const char *path, const char *why, hdst_error *error)
{
    hdst__error_set(error, HDST_E_IO, "the timeline '%s' cannot be written: %s", path, why);
    hdst__error_hint(error, "a file in a folder that may be written to");
    return HDST_E_IO;
}

static hdst_status open_file(hdst__timeline *t, const char *path, hdst_error *error)
{
    struct stat is;
    t->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (t->file < 0) return cannot(path, strerror(errno), error);
    if (fstat(t->file, &is) != 0 || !S_ISREG(is.st_mode)) return cannot(path, "it is not a regular file", error);
    t->written = sizeof file_begin - 1;
    const bool begun = ftruncate(t->file, 0) == 0 && write_at(t->file, file_begin, sizeof file_begin - 1, 0) &&
                       write_at(t->file, file_end, sizeof file_end - 1, t->written);
    return begun ? HDST_OK : cannot(path, strerror(errno), error);
}

static void release(hdst__timeline *t)
{
    if (t->file >= 0) close(t->file);
    pthread_mutex_destroy(&t->lock);
    hdst__free(t->allocator, t);
}

hdst_status hdst__timeline_create(const hdst__allocator *allocator, const hdst__log *log, const char *path, hdst__timeline **out, hdst_error *error)
{
    hdst__timeline *t = hdst__alloc_zero(allocator, sizeof *t);
    if (!t) return hdst__error_memory(error, "a timeline");
    t->allocator = allocator;
    t->log = log;
    t->process = (long)getpid();
    t->zero = hdst__now();
    pthread_mutex_init(&t->lock, NULL);
    const hdst_status status = open_file(t, path, error);
    if (status != HDST_OK) {
        release(t);
        return status;
    }
    hdst__timeline_name_process(t, HDST__TIMELINE_HOST, "host");
    *out = t;
    return HDST_OK;
}

// False: this is another process than that which records, where nobody may hold the lock, or somebody for ever.
static bool lock(hdst__timeline *t)
{
    if (t->process != (long)getpid()) return false;
    pthread_mutex_lock(&t->lock);
    return true;
}

static void unlock(hdst__timeline *t) { pthread_mutex_unlock(&t->lock); }

void hdst__timeline_flush(hdst__timeline *t)
{
    if (!t || !lock(t)) return;
    write_piece(t);
    unlock(t);
}

void hdst__timeline_destroy(hdst__timeline *t)
{
    if (!t) return;
    hdst__timeline_flush(t);
    release(t);
}

// --- Text. With the lock held ---

__attribute__((format(printf, 2, 3))) static void put(hdst__timeline *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->piece + t->used, PIECE - t->used, format, args);       // there is room: see open_event
    va_end(args);
}

// Bytes of the character of UTF-8 at `text`, of which `left` are there; 0: it is none.
static size_t character_bytes(const unsigned char *text, size_t left)
{
    const size_t bytes = *text < 0x80 ? 1 : *text >= 0xc2 && *text < 0xe0 ? 2 : (*text & 0xf0) == 0xe0 ? 3 : *text >= 0xf0 && *text < 0xf5 ? 4 : 0;
    if (bytes > left) return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    return bytes;
}

static void put_name(hdst__timeline *t, const char *name)
{
    const size_t length = strnlen(name, MOST_NAME);
    put(t, "\"");
    for (size_t i = 0, bytes; i < length; i += bytes) {
        const unsigned char *at = (const unsigned char *)name + i;
        bytes = character_bytes(at, length - i);
        if (bytes == 0) put(t, "?");
        else if (*at == '"' || *at == '\\') put(t, "\\%c", *at);
        else if (*at < 0x20) put(t, "\\u%04x", *at);
        else put(t, "%.*s", (int)bytes, (const char *)at);
        if (bytes == 0) bytes = 1;
    }
    put(t, "\"");
}

static uint64_t nanoseconds(const hdst__timeline *t, double time) { return time > t->zero ? (uint64_t)((time - t->zero) * 1e9 + 0.5) : 0; }

// The format counts microseconds. Not as a float, which some locales write with a comma.
static void put_time(hdst__timeline *t, const char *name, uint64_t time)
{
    put(t, ",\"%s\":%llu.%03u", name, (unsigned long long)(time / 1000), (unsigned)(time % 1000));
}

static void put_number(hdst__timeline *t, const char *name, uint64_t number)
{
    put(t, "%s\"%s\":%llu", t->piece[t->used - 1] == '{' ? "" : ",", name, (unsigned long long)number);
}

// Whatever a locale has for a decimal point.
static void put_value(hdst__timeline *t, const char *name, double value)
{
    char text[40], *to = text;
    snprintf(text, sizeof text, "%.9g", value);
    for (const char *at = text; *at; at++) {
        const bool known = strchr("0123456789+-e", *at) != NULL;
        if (known || to == text || to[-1] != '.') *to++ = known ? *at : '.';
    }
    *to = 0;
    put(t, ",\"%s\":%s", name, text);
}

static void make_room(hdst__timeline *t, size_t events)
{
    if (PIECE - t->used < events * MOST_EVENT) write_piece(t);
}

// There is room.
static void open_event(hdst__timeline *t, char phase, uint32_t process, uint32_t track)
{
    const bool first = t->used == 0 && t->written == sizeof file_begin - 1;
    put(t, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", first ? "" : ",\n", phase, process, track);
}

// --- Events ---

static void put_meta(hdst__timeline *t, const char *what, uint32_t process, uint32_t track, const char *name)
{
    if (!lock(t)) return;
    make_room(t, 1);
    open_event(t, 'M', process, track);
    put(t, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    put_name(t, name);
    put(t, "}}");
    unlock(t);
}

void hdst__timeline_name_process(hdst__timeline *t, uint32_t process, const char *name) { put_meta(t, "process_name", process, 0, name); }

void hdst__timeline_name_track(hdst__timeline *t, uint32_t process, uint32_t track, const char *name) { put_meta(t, "thread_name", process, track, name); }

static void put_details(hdst__timeline *t, const hdst__timeline_span *span)
{
    put(t, ",\"args\":{");
    if (span->turn) put_number(t, "turn", span->turn);
    if (span->turn && isfinite(span->value)) put_value(t, "value", span->value);
    if (span->records) put_number(t, "records", span->records);
    if (span->bytes) put_number(t, "bytes", span->bytes);
    if (span->queued > 0) put_number(t, "queued_ns", nanoseconds(t, span->queued));
    if (span->submitted > 0) put_number(t, "submitted_ns", nanoseconds(t, span->submitted));
    if (span->function) {
        put(t, "%s\"function\":", t->piece[t->used - 1] == '{' ? "" : ",");
        put_name(t, span->function);
    }
    put(t, "}}");
}

void hdst__timeline_add(hdst__timeline *t, const hdst__timeline_span *span)
{
    const uint64_t begin = nanoseconds(t, span->begin), end = nanoseconds(t, span->end);
    if (!lock(t)) return;
    if (span->end > t->shown + SHOWN_EACH_SECONDS) write_piece(t), t->shown = span->end;
    make_room(t, 1);
    open_event(t, 'X', span->process, span->track);
    put_time(t, "ts", begin);
    put_time(t, "dur", end > begin ? end - begin : 0);
    put(t, ",\"name\":");
    put_name(t, span->name);
    put_details(t, span);
    unlock(t);
}

static void put_flow(hdst__timeline *t, char phase, const hdst__timeline_place *at)
{
    open_event(t, phase, at->process, at->track);
    put_time(t, "ts", nanoseconds(t, at->time));
    put(t, ",\"name\":\"slice\",\"cat\":\"slice\",\"id\":%llu%s}", (unsigned long long)t->flows, phase == 'f' ? ",\"bp\":\"e\"" : "");
}

// Both ends come into one piece, or none.
void hdst__timeline_flow(hdst__timeline *t, const hdst__timeline_place *from, const hdst__timeline_place *to)
{
    if (!lock(t)) return;
    make_room(t, 2);
    t->flows++;
    put_flow(t, 's', from);
    put_flow(t, 'f', to);
    unlock(t);
}

void hdst__timeline_count(hdst__timeline *t, uint32_t process, const char *name, uint64_t value)
{
    const uint64_t now = nanoseconds(t, hdst__now());
    if (!lock(t)) return;
    make_room(t, 1);
    open_event(t, 'C', process, 0);
    put_time(t, "ts", now);
    put(t, ",\"name\":");
    put_name(t, name);
    put(t, ",\"args\":{\"bytes\":%llu}}", (unsigned long long)value);
    unlock(t);
}

// --- The calling thread ---

double hdst__timeline_begin(const hdst__timeline *t) { return t ? hdst__now() : 0; }

// Whether a name is to be given to it now.
static bool is_new(hdst__timeline *t, long thread)
{
    if (!lock(t)) return false;
    bool is_known = t->threads == MOST_THREADS;
    for (uint32_t i = 0; i < t->threads && !is_known; i++) is_known = t->thread[i] == thread;
    if (!is_known) t->thread[t->threads++] = thread;
    unlock(t);
    return !is_known;
}

void hdst__timeline_name_thread(hdst__timeline *t, const char *name)
{
    if (!t) return;
    const long thread = (long)gettid();
    if (is_new(t, thread)) hdst__timeline_name_track(t, HDST__TIMELINE_HOST, (uint32_t)thread, name);
}

static void end_span(hdst__timeline *t, hdst__timeline_span span)
{
    if (!t) return;
    span.end = hdst__now();
    span.process = HDST__TIMELINE_HOST;
    span.track = (uint32_t)gettid();
    hdst__timeline_name_thread(t, "calling thread");
    hdst__timeline_add(t, &span);
}

void hdst__timeline_end(hdst__timeline *t, double begin, const char *name, const char *function, uint64_t records)
{
    end_span(t, (hdst__timeline_span){.name = name, .function = function, .begin = begin, .records = records});
}

void hdst__timeline_end_turn(hdst__timeline *t, double begin, uint64_t turn, uint64_t records, double value)
{
    end_span(t, (hdst__timeline_span){.name = "turn", .begin = begin, .records = records, .turn = turn, .value = value});
}
