// SPDX-License-Identifier: Apache-2.0
// Inside of the IR text reader: the place in the text, and words.
#ifndef HDST_TESTS_IR_TEXT_WORDS_H
#define HDST_TESTS_IR_TEXT_WORDS_H

#include "tests/support/ir_text.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 256 };

typedef struct reader {
    hdst__arena *arena;
    ir_func *func;
    const char *at;
    int line;
    const char **wrong;
    jmp_buf stop;
} reader;

static const hdst__span nowhere = {UINT32_MAX, 0, 0};

// --- Words ---

static inline _Noreturn void fail(reader *r, const char *what)
{
    const size_t rest = strcspn(r->at, "\n");
    *r->wrong = hdst__arena_printf(r->arena, "line %d: %s at '%.*s'", r->line, what, (int)(rest < 60 ? rest : 60), r->at);
    longjmp(r->stop, 1);
}

static inline void blank(reader *r)
{
    while (*r->at == ' ') r->at++;
}

static inline void end_line(reader *r)
{
    blank(r);
    if (*r->at != '\n' && *r->at) fail(r, "the line should end");
    for (; *r->at == '\n'; r->at++) r->line++;
    blank(r);
}

static inline bool accept(reader *r, const char *text)         // spaces in front are skipped, those in the text must be there
{
    blank(r);
    const size_t length = strlen(text);
    if (strncmp(r->at, text, length)) return false;
    if (isalnum((unsigned char)text[length - 1]) && (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')) return false;
    r->at += length;
    return true;
}

static inline void expect(reader *r, const char *text)
{
    if (!accept(r, text)) fail(r, hdst__arena_printf(r->arena, "'%s' is missing", text));
}

static inline bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static inline const char *name(reader *r, bool dots)
{
    blank(r);
    size_t length = 0;
    while (in_name(r->at[length]) || (dots && r->at[length] == '.')) length++;
    if (!length || length >= LONGEST_NAME || isdigit((unsigned char)*r->at)) fail(r, "a name is missing");
    const char *text = hdst__arena_strndup(r->arena, r->at, length);
    r->at += length;
    return text;
}

static inline uint64_t whole(reader *r)
{
    blank(r);
    if (!isdigit((unsigned char)*r->at)) fail(r, "a number is missing");
    char *end;
    const uint64_t value = strtoull(r->at, &end, 10);
    r->at = end;
    return value;
}

static const char *const kinds[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "text"};

static inline int kind_of(const char *text)
{
    for (int k = 0; k < HDST__SCALAR_KINDS; k++)
        if (!strcmp(text, kinds[k])) return k;
    return -1;
}

static inline hdst__kind kind(reader *r)
{
    const int k = kind_of(name(r, false));
    if (k < 0) fail(r, "a type should stand before");
    return (hdst__kind)k;
}

static inline uint32_t param(reader *r, const char *text)
{
    for (size_t i = 0; i < r->func->param_count; i++)
        if (!strcmp(r->func->params[i].name, text)) return (uint32_t)i;
    fail(r, hdst__arena_printf(r->arena, "no parameter '%s'", text));
}

// ir_text_places.c: declarations of where accumulators are, behind their first word.
void ir_text_placement(reader *r);
void ir_text_tables(reader *r);
void ir_text_tuples(reader *r);
void ir_text_shape(reader *r);
const ir_tile *ir_text_tile(reader *r);
const ir_product *ir_text_product(reader *r);
void ir_text_output(reader *r);

static inline ir_op op_of(reader *r, const char *text)
{
    for (int op = IR_LENGTH; op <= IR_KEY_MAX; op++)
        if (!strcmp(hdst__ir_op_name((ir_op)op), text)) return (ir_op)op;
    fail(r, hdst__arena_printf(r->arena, "no operation '%s'", text));
}

#endif
