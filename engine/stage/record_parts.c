// SPDX-License-Identifier: Apache-2.0
// A record with a long text as records with parts of it (engine/stage/record_parts.h).
#include "engine/stage/record_parts.h"
#include "codegen/ir/text_value.h"
#include "codegen/pass/token_pieces.h"
#include "record/text_span.h"

#include <string.h>

typedef struct uses {
    const ir_expr *text;
    size_t of_text, others;     // how often the text is read, what tells records of the input apart
} uses;

static bool count_uses(ir_expr **slot, void *user)
{
    uses *u = user;
    const ir_expr *e = *slot;
    if (e->op == IR_RECORD_INDEX) u->others++;
    if (e->op == IR_FIELD && e->param == u->text->param && e->leaf == u->text->leaf) u->of_text++;
    return true;
}

typedef struct reads {
    uint32_t var;
    size_t count;
} reads;

static bool count_reads(ir_expr **slot, void *user)
{
    reads *r = user;
    r->count += (*slot)->op == IR_VAR && (*slot)->var == r->var;
    return true;
}

static bool is_read_once(const ir_func *func, uint32_t var)
{
    reads r = {.var = var};
    hdst__ir_visit_exprs((ir_block *)&func->body, count_reads, &r);
    return r.count == 1;
}

static bool find_tokens(ir_expr **slot, void *user)
{
    const ir_expr **found = user;
    if ((*slot)->op == IR_TEXT_TOKENS) *found = *slot;
    return !*found;
}

// On the way from the text to its tokens nobody else has it, so nobody sees that it is another one.
static bool is_alone(const ir_func *func, const ir_expr *tokens)
{
    for (const ir_expr *e = tokens->a; e; e = e->op == IR_VAR ? hdst__ir_only_value(func, e->var) : e->a) {
        if (e->op == IR_VAR && !is_read_once(func, e->var)) return false;
        if (e->op == IR_FIELD) return true;
    }
    return false;
}

hdst__record_parts hdst__record_parts_of(const ir_func *func)
{
    const ir_expr *tokens = NULL, *text = func->block || func->rows || !hdst__takes_token_pieces(func) ? NULL : hdst__token_pieces_text(func);
    if (!text) return (hdst__record_parts){.divides = false};
    uses u = {.text = text};
    hdst__ir_visit_exprs((ir_block *)&func->body, count_uses, &u);
    hdst__ir_visit_exprs((ir_block *)&func->body, find_tokens, &tokens);
    const bool divides = u.of_text == 1 && !u.others && !text->a && func->params[text->param].kind == IR_INPUT && tokens->b->op == IR_CONST;
    if (!divides || !is_alone(func, tokens)) return (hdst__record_parts){.divides = false};
    return (hdst__record_parts){.divides = true, .leaf = text->leaf, .ranges = tokens->b->bits, .bytes_of_tokens = (uint32_t)tokens->bits};
}

// --- Parts ---

uint64_t hdst__record_parts_cut(const hdst__record_parts *parts, const char *text, uint64_t length, uint64_t at)
{
    const hdst__text_value value = {text, (uint32_t)length, parts->bytes_of_tokens & IR_TOKENS_LOWER ? HDST__TEXT_LOWER : HDST__TEXT_AS_IT_IS};
    for (; at < length; at += 64) {
        const uint64_t within = length - at < 64 ? ~(UINT64_MAX << (length - at)) : UINT64_MAX, in_ranges = hdst__text_bits(&value, at, parts->ranges);
        const uint64_t between = (parts->bytes_of_tokens & IR_TOKENS_BETWEEN ? in_ranges : ~in_ranges) & within;
        if (between) return at + (uint64_t)__builtin_ctzll(between);
    }
    return length;
}

static hdst__text_span *span_of(const hdst__record_parts *parts, const hdst__segment *segment, uint64_t i)
{
    const hdst__storage *storage = segment->storage;
    return (hdst__text_span *)((char *)segment->memory[storage->leaf[parts->leaf].buffer]->host + hdst__storage_offset(storage, parts->leaf, i, 0));
}

uint64_t hdst__record_parts_bytes(const hdst__record_parts *parts, const hdst__segment *segment, uint64_t i) { return span_of(parts, segment, i)->length; }

static void copy_record(hdst__segment *to, uint64_t to_first, const hdst__segment *from, uint64_t i)
{
    const hdst__storage *a = to->storage, *b = from->storage;
    for (uint32_t leaf = 0; leaf < a->record->leaf_count; leaf++)
        for (uint64_t e = 0; e < a->record->leaves[leaf].elements; e++)
            memcpy((char *)to->memory[a->leaf[leaf].buffer]->host + hdst__storage_offset(a, leaf, to_first, e),
                   (const char *)from->memory[b->leaf[leaf].buffer]->host + hdst__storage_offset(b, leaf, i, e),
                   hdst__scalar_size(a->record->leaves[leaf].kind));
}

uint64_t hdst__record_parts_fill(const hdst__record_parts *parts, hdst__segment *to, const hdst__segment *from, uint64_t i, uint64_t each, uint64_t *at)
{
    const hdst__text_span *span = span_of(parts, from, i);
    const char *text = hdst__text_bytes(span);
    const uint64_t length = span->length;
    uint64_t count = 0;
    for (; *at < length && count < to->storage->capacity; count++) {
        const uint64_t behind = length - *at <= each ? length : hdst__record_parts_cut(parts, text, length, *at + each);
        copy_record(to, count, from, i);
        *span_of(parts, to, count) = hdst__text_span_of(text + *at, (uint32_t)(behind - *at));
        *at = behind;
    }
    return count;
}
