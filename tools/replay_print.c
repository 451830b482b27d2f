// SPDX-License-Identifier: Apache-2.0
// The steps of a record through a function, as a text for people (tools/replay_print.h).
#include "tools/replay_print.h"

#include "codegen/interp/interp.h"
#include "record/text_span.h"

#include <stdarg.h>
#include <string.h>

typedef hdst_replay_printer printer;
typedef unsigned long long ull;

enum { SHOWN_ELEMENTS = 8 };

void hdst_replay_printer_init(printer *p, const ir_func *func, hdst__buffer *out)
{
    memset(p, 0, sizeof *p);
    p->func = func;
    p->out = out;
}

// --- Text, into the innermost loop whose turns wait ---

static hdst__buffer *sink(printer *p)
{
    for (size_t i = p->depth; i-- > 0;)
        if (p->loops[i].waits) return &p->loops[i].text;
    return p->out;
}

__attribute__((format(printf, 2, 3))) static void put(printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hdst__buffer_vprintf(sink(p), format, args);
    va_end(args);
}

static void put_value(hdst__buffer *out, hdst__kind kind, uint64_t bits)
{
    float single;
    double real;
    memcpy(&single, &bits, sizeof single);
    memcpy(&real, &bits, sizeof real);
    if (kind == HDST__TEXT) {
        char quoted[HDST__CHECK_TEXT];
        hdst__interp_text_quote(bits, quoted);
        hdst__buffer_puts(out, quoted);
    } else if (kind == HDST__BOOL) hdst__buffer_puts(out, bits ? "true" : "false");
    else if (kind == HDST__F32) hdst__buffer_printf(out, "%.9g", (double)single);
    else if (kind == HDST__F64) hdst__buffer_printf(out, "%.17g", real);
    else if (hdst__kind_is_signed(kind)) hdst__buffer_printf(out, "%lld", (long long)bits);
    else hdst__buffer_printf(out, "%llu", (ull)bits);
}

static uint64_t load(hdst__kind kind, const char *at)
{
    uint64_t bits = 0;
    const size_t size = hdst__scalar_size(kind);
    memcpy(&bits, at, size);
    if (!hdst__kind_is_signed(kind) || size == 8) return bits;
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (bits ^ sign) - sign;
}

static void put_text(hdst__buffer *out, const char *at)
{
    hdst__text_span span;
    char quoted[HDST__CHECK_TEXT];
    memcpy(&span, at, sizeof span);
    hdst__quote_text(hdst__text_bytes(&span), span.length, quoted);
    hdst__buffer_puts(out, quoted);
}

void hdst_replay_leaf(const hdst__leaf *leaf, const void *row, hdst__buffer *out)
{
    if (leaf->elements > 1) hdst__buffer_puts(out, "[");
    for (uint64_t e = 0; e < leaf->elements && e < SHOWN_ELEMENTS; e++) {
        if (e) hdst__buffer_puts(out, ", ");
        const char *at = (const char *)row + hdst__leaf_offset(leaf, e);
        if (leaf->kind == HDST__TEXT) put_text(out, at);
        else put_value(out, leaf->kind, load(leaf->kind, at));
    }
    if (leaf->elements > SHOWN_ELEMENTS) hdst__buffer_printf(out, ", ... (%llu)", (ull)leaf->elements);
    if (leaf->elements > 1) hdst__buffer_puts(out, "]");
}

// The start of a line below the source line: further to the right the deeper the loop.
static void put_margin(printer *p, size_t depth) { put(p, "      |   %*s", (int)(2 * depth), ""); }

// --- Source lines ---

static const char *line_start(const hdst__source_text *source, uint32_t offset)
{
    const char *start = source->text + offset;
    while (start > source->text && start[-1] != '\n') start--;
    return start;
}

static void put_line(printer *p, hdst__span span)
{
    const hdst__diags *diags = p->func->diags;
    if (!diags || span.source >= diags->source_count || (!span.offset && !span.length)) return;     // made by the compiler
    uint32_t line, column;
    hdst__span_position(diags, span, &line, &column);
    if (p->line && p->source == span.source && p->line == line) return;
    if (p->source != span.source && diags->source_count > 1) put(p, "      -- %s\n", diags->sources[span.source].name);
    const char *start = line_start(&diags->sources[span.source], span.offset);
    put(p, "%5u | %.*s\n", line, (int)strcspn(start, "\n"), start);
    p->source = span.source;
    p->line = line;
}

static void put_caret(printer *p, hdst__span span)
{
    const hdst__diags *diags = p->func->diags;
    if (!diags || span.source >= diags->source_count) return;
    p->line = 0;
    put_line(p, span);
    put(p, "      | ");
    for (const char *c = line_start(&diags->sources[span.source], span.offset); c < diags->sources[span.source].text + span.offset; c++)
        put(p, "%c", *c == '\t' ? '\t' : ' ');
    for (uint32_t i = 0; i < (span.length ? span.length : 1); i++) put(p, "%c", i ? '~' : '^');
    put(p, "\n");
}

// --- Loops ---

// Lines are shown anew in every turn, except that of the loop itself.
static void stay_on(printer *p, hdst__span span)
{
    uint32_t column;
    p->source = span.source;
    p->line = 0;
    if (p->func->diags && span.source < p->func->diags->source_count) hdst__span_position(p->func->diags, span, &p->line, &column);
}

static void begin_turn(printer *p, const hdst__trace_event *event)
{
    stay_on(p, event->stmt->span);
    if (!p->depth) return;
    hdst_replay_loop *loop = &p->loops[p->depth - 1];
    loop->turn = event->index;
    if (loop->turn > HDST_REPLAY_TURNS) {
        if (loop->waits) hdst__buffer_destroy(&loop->text);
        hdst__buffer_init(&loop->text, NULL);
        loop->waits = true;
    }
    put_margin(p, p->depth - 1);
    put(p, "turn %llu", (ull)loop->turn);
    if (event->stmt->kind == IR_FOR) {
        put(p, ": %s = ", p->func->vars[event->stmt->var].name);
        put_value(sink(p), event->value_kind, event->value);
    }
    put(p, "\n");
}

static void end_loop(printer *p)
{
    if (!p->depth) return;
    hdst_replay_loop *loop = &p->loops[p->depth - 1];
    hdst__buffer text = loop->text;
    const bool waited = loop->waits;
    const uint64_t first = HDST_REPLAY_TURNS + 1, last = loop->turn;
    p->depth--;
    p->line = 0;
    if (!waited) return;
    if (last > first) put_margin(p, p->depth);
    if (last == first + 1) put(p, "(turn %llu is like these)\n", (ull)first);
    else if (last > first) put(p, "(turns %llu to %llu are like these)\n", (ull)first, (ull)last - 1);
    put(p, "%s", hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

static void begin_loop(printer *p, const ir_stmt *stmt)
{
    put_line(p, stmt->span);
    if (p->depth < HDST_REPLAY_DEPTH) p->loops[p->depth++] = (hdst_replay_loop){0};
}

// --- Statements ---

static void put_set(printer *p, const hdst__trace_event *event)
{
    put_line(p, event->stmt->span);
    put_margin(p, p->depth);
    put(p, "%s", p->func->vars[event->stmt->var].name);
    if (event->kind == HDST__TRACE_SET_ELEM) put(p, "[%llu]", (ull)event->index);
    put(p, " = ");
    put_value(sink(p), event->value_kind, event->value);
    put(p, "\n");
}

static void put_cell(printer *p, const hdst__trace_event *event)
{
    static const char *const operators[] = {
        [HDST__SUM] = "+=", [HDST__MIN] = "min=", [HDST__MAX] = "max=", [HDST__AND] = "&=", [HDST__OR] = "|=", [HDST__XOR] = "^="};
    const ir_param *param = &p->func->params[event->stmt->param];
    const hdst__leaf *leaf = &param->record->leaves[event->stmt->leaf];
    const bool accumulates = event->kind == HDST__TRACE_ACCUM;
    put_line(p, event->stmt->span);
    put_margin(p, p->depth);
    put(p, "%s", param->name && *param->name ? param->name : "result");
    if (accumulates && param->is_table) put(p, "[%llu]", (ull)event->index);
    if (!param->record->is_scalar) put(p, ".%s", leaf->path);
    if (leaf->elements > 1) put(p, "[%llu]", (ull)(accumulates ? event->limit : event->index));
    put(p, " %s ", accumulates ? operators[event->stmt->acc] : "=");
    put_value(sink(p), event->value_kind, event->value);
    put(p, "\n");
}

static void put_failure(printer *p, const hdst__trace_event *event)
{
    while (p->depth) end_loop(p);
    const ir_check *check = &p->func->checks[event->stmt->check];
    put_caret(p, check->span);
    if (check->kind == IR_CHECK_DIVISION) put(p, "      | division by zero: the record fails here\n");
    else if (check->kind == IR_CHECK_NUMBER) put(p, "      | the text is %s: the record fails here\n", event->limit == 2 ? "out of range" : "no number");
    else if (check->kind == IR_CHECK_LENGTH)
        put(p, "      | %lld bytes of '%s', which has %llu: the record fails here\n", (long long)event->index, check->what, (ull)event->limit);
    else if (check->kind == IR_CHECK_LOOKUP || check->kind == IR_CHECK_LOOKUP_TEXT)
        put(p, "      | '%s' has no such key: the record fails here\n", check->what);
    else if (!event->limit) put(p, "      | index %lld, and %s has no rows: the record fails here\n", (long long)event->index, check->what);
    else put(p, "      | index %lld is not in 0..%llu: the record fails here\n", (long long)event->index, (ull)event->limit - 1);
    p->failed = true;
}

// The mathematics is written in the kernel language too; its steps say nothing to the reader.
static bool in_mathematics(const printer *p, const ir_stmt *stmt)
{
    const hdst__diags *diags = p->func->diags;
    return diags && stmt->span.source < diags->source_count && !strncmp(diags->sources[stmt->span.source].name, "hdst:", 5);
}

void hdst_replay_event(void *user, const hdst__trace_event *event)
{
    static const char *const exits[] = {[IR_BREAK] = "break", [IR_CONTINUE] = "continue", [IR_RETURN] = "return"};
    printer *p = user;
    if (p->failed || in_mathematics(p, event->stmt)) return;
    switch (event->kind) {
    case HDST__TRACE_SET: case HDST__TRACE_SET_ELEM: put_set(p, event); break;
    case HDST__TRACE_BRANCH:
        put_line(p, event->stmt->span);
        put_margin(p, p->depth);
        put(p, "the condition is %s\n", event->value ? "true" : "false");
        break;
    case HDST__TRACE_LOOP: begin_loop(p, event->stmt); break;
    case HDST__TRACE_TURN: begin_turn(p, event); break;
    case HDST__TRACE_LOOP_END: end_loop(p); break;
    case HDST__TRACE_EXIT:
        put_line(p, event->stmt->span);
        put_margin(p, p->depth);
        put(p, "%s\n", exits[event->stmt->kind]);
        break;
    case HDST__TRACE_CHECK:
        if (!event->value) put_failure(p, event);
        break;
    case HDST__TRACE_ACCUM: case HDST__TRACE_STORE: put_cell(p, event); break;
    case HDST__TRACE_EMIT:
        put_line(p, event->stmt->span);
        put_margin(p, p->depth);
        put(p, "a record %s\n", event->value ? "comes out" : "is dropped");
        break;
    }
}
