// SPDX-License-Identifier: Apache-2.0
// Status codes and the caller-owned error object (base/error_object.h).
#include "base/error_object.h"

#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

static const struct {
    hdst_status status;
    const char *text;
    int exit_code;
} statuses[] = {
#define ROW(name, value, text, exit_code) {name, text, exit_code},
    HDST_STATUS_MAP(ROW)
#undef ROW
};

const char *hdst_status_text(hdst_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].text;
    return "unknown status";
}

int hdst_status_exit_code(hdst_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].exit_code;
    return 1;
}

// A cut inside a multi-byte character would make the text invalid UTF-8, so the cut moves back to the character's start.
static void trim_utf8(char *text, size_t length)
{
    size_t i = length;
    while (i > 0 && ((unsigned char)text[i - 1] & 0xC0) == 0x80) i--;
    if (i == 0) return;
    unsigned char lead = (unsigned char)text[i - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (i - 1) < need) text[i - 1] = 0;
}

static void write_text(char *field, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(field, size, format, args);
    if (length < 0) field[0] = 0;
    else if ((size_t)length >= size) trim_utf8(field, size - 1);
}

static hdst_status error_vset(hdst_error *error, hdst_status code, const char *format, va_list args)
{
    if (!error) return code;
    *error = (hdst_error){.code = code};
    write_text(error->message, sizeof error->message, format, args);
    return code;
}

hdst_status hdst__error_set(hdst_error *error, hdst_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_vset(error, code, format, args);
    va_end(args);
    return code;
}

hdst_status hdst__error_memory(hdst_error *error, const char *what)
{
    hdst__error_set(error, HDST_E_MEMORY, "out of memory: %s", what);
    if (error) error->retriable = true;
    return HDST_E_MEMORY;
}

void hdst__error_cause(hdst_error *error, const char *format, ...)
{
    if (!error) return;
    va_list args;
    va_start(args, format);
    write_text(error->cause, sizeof error->cause, format, args);
    va_end(args);
}

void hdst__error_hint(hdst_error *error, const char *format, ...)
{
    if (!error) return;
    va_list args;
    va_start(args, format);
    write_text(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

void hdst__error_suggest(hdst_error *error, const char *what, const char *name, const char *const *names, size_t count)
{
    enum { MOST = 300 };        // a hint that is read
    if (error) hdst__suggest(error->hint, MOST, what, name, names, count);
}

void hdst__error_at(hdst_error *error, const char *file, uint32_t line, uint32_t column)
{
    if (!error) return;
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = line;
    error->column = column;
}

// "cannot open 'x.csv'" needs no "x.csv: " in front.
static bool is_named(const char *message, const char *file)
{
    const char *at = strstr(message, file);
    return at && at > message && at[-1] == '\'' && at[strlen(file)] == '\'';
}

uint64_t hdst_error_format(const hdst_error *e, char *text, uint64_t size)
{
    char place[300] = "";
    if (size && !text) size = 0;
    if (!e) {
        if (size) *text = 0;
        return 0;
    }
    if (e->file[0] && e->line && e->column) snprintf(place, sizeof place, "%s:%u:%u: ", e->file, e->line, e->column);
    else if (e->file[0] && e->line) snprintf(place, sizeof place, "%s:%u: ", e->file, e->line);
    else if (e->file[0] && !is_named(e->message, e->file)) snprintf(place, sizeof place, "%s: ", e->file);
    int length = snprintf(text, (size_t)size, "%s%s%s%s%s%s", place, e->message[0] ? e->message : hdst_status_text(e->code),
                          e->cause[0] ? "\n" : "", e->cause, e->hint[0] ? "\nhint: " : "", e->hint);
    return length < 0 ? 0 : (uint64_t)length;
}
