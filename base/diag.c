// SPDX-License-Identifier: Apache-2.0
// Diagnostics of everything that reads source text (schemas, kernels) (base/diag.h).
#include "base/diag.h"

#include <string.h>

void hdst__diags_init(hdst__diags *diags, hdst__arena *arena) { *diags = (hdst__diags){.arena = arena}; }

static const char *next_line(const char *at, const char *end)
{
    const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return newline ? newline + 1 : NULL;
}

static void find_lines(hdst__arena *arena, hdst__source_text *source)
{
    const char *text = source->text, *end = text + source->length;
    size_t count = 1;
    for (const char *at = text; (at = next_line(at, end));) count++;
    uint32_t *lines = HDST__NEW_ARRAY(arena, uint32_t, count);
    for (const char *at = text; (at = next_line(at, end));) lines[++source->line_count] = (uint32_t)(at - text);
    source->line_count = count;
    source->lines = lines;
}

uint32_t hdst__diags_add_source(hdst__diags *d, const char *name, const char *text, size_t length)
{
    hdst__source_text source = {.name = hdst__arena_strdup(d->arena, name), .text = hdst__arena_strndup(d->arena, text, length), .length = length};
    find_lines(d->arena, &source);
    HDST__PUSH(d->arena, d->sources, d->source_count, d->source_capacity, source);
    return (uint32_t)d->source_count - 1;
}

static void report(hdst__diags *d, hdst__severity severity, hdst__span span, const char *hint, const char *format, va_list args)
{
    const hdst__diag *last = d->count ? &d->items[d->count - 1] : NULL;
    if (severity == HDST__ERROR && last && last->severity == HDST__ERROR && last->span.source == span.source && last->span.offset == span.offset) return;
    if (severity == HDST__ERROR) d->errors++;
    if (d->errors > HDST__DIAG_LIMIT) return;
    if (severity != HDST__ERROR && d->count - d->errors >= HDST__DIAG_LIMIT) return;        // all errors so far are among the kept ones
    hdst__diag diag = {severity, span, hdst__arena_vprintf(d->arena, format, args), hint ? hdst__arena_strdup(d->arena, hint) : NULL};
    HDST__PUSH(d->arena, d->items, d->count, d->capacity, diag);
}

#define REPORT(severity, hint)                              \
    va_list args;                                           \
    va_start(args, format);                                 \
    report(diags, severity, span, hint, format, args);      \
    va_end(args)

void hdst__diag_error(hdst__diags *diags, hdst__span span, const char *hint, const char *format, ...) { REPORT(HDST__ERROR, hint); }
void hdst__diag_warning(hdst__diags *diags, hdst__span span, const char *hint, const char *format, ...) { REPORT(HDST__WARNING, hint); }
void hdst__diag_note(hdst__diags *diags, hdst__span span, const char *format, ...) { REPORT(HDST__NOTE, NULL); }

static const hdst__source_text *source_of(const hdst__diags *d, hdst__span span)
{
    return span.source < d->source_count ? &d->sources[span.source] : NULL;
}

void hdst__span_position(const hdst__diags *d, hdst__span span, uint32_t *line, uint32_t *column)
{
    const hdst__source_text *source = source_of(d, span);
    *line = *column = span.offset != HDST__WHOLE_FILE;
    if (!source || !*line) return;
    const size_t offset = span.offset < source->length ? span.offset : source->length;
    size_t first = 0, end = source->line_count;     // the last line that begins at the place or before it
    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        if (source->lines[middle] <= offset) first = middle;
        else end = middle;
    }
    *line = (uint32_t)first + 1;
    *column = (uint32_t)(offset - source->lines[first]) + 1;
}

// The source line and the marks under it. Tabs are copied into the margin so that the caret stands under its character.
static void render_line(const hdst__source_text *source, hdst__span span, hdst__buffer *out)
{
    enum { WIDEST = 160 };      // of a longer line only the part around the place is shown
    size_t offset = span.offset < source->length ? span.offset : source->length, start = offset, end = offset;
    while (start > 0 && source->text[start - 1] != '\n' && offset - start <= WIDEST) start--;
    while (end < source->length && source->text[end] != '\n' && source->text[end] != '\r' && end - offset <= WIDEST) end++;
    if (offset - start > WIDEST) start = offset - WIDEST / 2;
    if (end - start > WIDEST) end = start + WIDEST;
    hdst__buffer_puts(out, "    ");
    for (size_t i = start; i < end; i++) {
        unsigned char c = (unsigned char)source->text[i];
        hdst__buffer_add(out, c < 32 && c != '\t' ? "?" : (const char *)&source->text[i], 1);
    }
    hdst__buffer_puts(out, "\n    ");
    for (size_t i = start; i < offset; i++)
        if (((unsigned char)source->text[i] & 0xC0) != 0x80) hdst__buffer_puts(out, source->text[i] == '\t' ? "\t" : " ");
    hdst__buffer_puts(out, "^");
    for (size_t i = offset + 1; i < offset + span.length && i < end; i++)
        if (((unsigned char)source->text[i] & 0xC0) != 0x80) hdst__buffer_puts(out, "~");
}

void hdst__diag_render(const hdst__diags *d, const hdst__diag *diag, hdst__buffer *out)
{
    static const char *const words[] = {"error", "warning", "note"};
    const hdst__source_text *source = source_of(d, diag->span);
    uint32_t line, column;
    hdst__span_position(d, diag->span, &line, &column);
    hdst__buffer_puts(out, source ? source->name : "?");
    if (line) hdst__buffer_printf(out, ":%u:%u", line, column);
    hdst__buffer_printf(out, ": %s: %s\n", words[diag->severity], diag->message);
    if (source && source->length && line) {
        render_line(source, diag->span, out);
        hdst__buffer_puts(out, "\n");
    }
    if (diag->hint) hdst__buffer_printf(out, "    hint: %s\n", diag->hint);
}

void hdst__diags_render(const hdst__diags *d, hdst__buffer *out)
{
    for (size_t i = 0; i < d->count; i++) hdst__diag_render(d, &d->items[i], out);
    if (d->errors > HDST__DIAG_LIMIT) hdst__buffer_printf(out, "... %zu errors in all\n", d->errors);
}

hdst_status hdst__diags_to_error(const hdst__diags *d, hdst_status code, hdst_error *error)
{
    if (!d->errors) return HDST_OK;
    for (size_t i = 0; i < d->count; i++) {
        const hdst__diag *diag = &d->items[i];
        if (diag->severity != HDST__ERROR) continue;
        const hdst__source_text *source = source_of(d, diag->span);
        uint32_t line, column;
        hdst__span_position(d, diag->span, &line, &column);
        hdst__error_set(error, code, "%s", diag->message);
        hdst__error_at(error, source ? source->name : "", line, column);
        if (diag->hint) hdst__error_hint(error, "%s", diag->hint);
        hdst__buffer text;
        hdst__buffer_init(&text, d->arena->allocator);
        if (source && source->length && line) render_line(source, diag->span, &text);
        if (d->errors > 1) hdst__buffer_printf(&text, "\n(and %zu more error%s)", d->errors - 1, d->errors > 2 ? "s" : "");
        hdst__error_cause(error, "%s", hdst__buffer_text(&text));
        hdst__buffer_destroy(&text);
        return code;
    }
    return hdst__error_set(error, code, "%zu errors", d->errors);
}
