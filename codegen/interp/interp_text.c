// SPDX-License-Identifier: Apache-2.0
// Texts in the interpreter. A pattern is the address of a text value, which never changes; values are made by the thousand, so they lie in pieces of memory,
// and when there are many, those that variables hold are moved to new pieces and the old ones go.
#include "codegen/interp/interp_state.h"
#include "record/text_span.h"

typedef struct interp_text_piece {
    struct interp_text_piece *next;
    size_t count;
    hdst__text_value text[];
} text_piece;

enum { PIECE_TEXTS = 4096, MANY_TEXTS = 1 << 18 };

uint64_t hdst__interp_text_new(interp_state *s, hdst__text_value text)
{
    interp_texts *texts = &s->texts;
    if (!text.length || texts->out_of_memory) return 0;
    if (!texts->pieces || texts->pieces->count == PIECE_TEXTS) {
        text_piece *piece = hdst__alloc(s->run->allocator, sizeof *piece + PIECE_TEXTS * sizeof *piece->text);
        texts->out_of_memory = !piece;
        if (!piece) return 0;
        *piece = (text_piece){.next = texts->pieces};
        texts->pieces = piece;
    }
    text_piece *piece = texts->pieces;
    texts->made++;
    piece->text[piece->count] = text;
    return (uint64_t)(uintptr_t)&piece->text[piece->count++];
}

static void free_pieces(interp_state *s, text_piece *piece)
{
    for (text_piece *next; piece; piece = next) {
        next = piece->next;
        hdst__free(s->run->allocator, piece);
    }
}

void hdst__interp_texts_close(interp_state *s)
{
    free_pieces(s, s->texts.pieces);
    s->texts.pieces = NULL;
}

// Texts of the program are no variable's own, and stay.
void hdst__interp_texts_move(interp_state *s)
{
    if (s->texts.made < MANY_TEXTS) return;
    text_piece *old = s->texts.pieces;
    s->texts.pieces = NULL;
    for (size_t i = 0; i < s->func->var_count; i++) {
        interp_var *var = &s->vars[i];
        if (s->func->vars[i].kind != HDST__TEXT || var->constant) continue;
        const size_t count = var->elements ? var->elements * s->width : var->uniform ? 1 : s->n;
        for (size_t k = 0; k < count; k++)
            if (var->v[k]) var->v[k] = hdst__interp_text_new(s, *(const hdst__text_value *)(uintptr_t)var->v[k]);
    }
    s->texts.made = 0;
    free_pieces(s, old);
}

uint64_t hdst__interp_text_load(interp_state *s, const char *at)
{
    hdst__text_span span;
    memcpy(&span, at, sizeof span);
    if (hdst__text_is_inline(&span)) return hdst__interp_text_new(s, (hdst__text_value){at + offsetof(hdst__text_span, start), span.length, 0});
    const uint64_t bytes = span.address << 2 >> 2;         // without the view
    return hdst__interp_text_new(s, (hdst__text_value){(const char *)(uintptr_t)bytes, span.length, (uint32_t)(span.address >> HDST__TEXT_VIEW_BIT)});
}

// A short text has its bytes as they are looked at; a long one says how its bytes are.
void hdst__interp_text_save(char *to, uint64_t pattern)
{
    const hdst__text_value *text = (const hdst__text_value *)(uintptr_t)pattern;
    hdst__text_span span = {.length = text ? text->length : 0};
    uint64_t word[2] = {hdst__text_word(text, 0), hdst__text_word(text, 8)};
    memcpy(span.start, word, sizeof span.start);
    if (span.length <= HDST__TEXT_INLINE) memcpy(span.rest, (const char *)word + sizeof span.start, sizeof span.rest);
    else span.address = hdst__text_address(text->at, text->view);
    memcpy(to, &span, sizeof span);
}

static const hdst__text_value *text_of(uint64_t pattern) { return (const hdst__text_value *)(uintptr_t)pattern; }

static uint64_t apply(interp_state *s, const ir_expr *e, const hdst__text_value *text, uint64_t b, uint64_t c)
{
    switch (e->op) {
    case IR_TEXT_LENGTH: return text ? text->length : 0;
    case IR_TEXT_BYTE: return hdst__text_byte(text, b);
    case IR_TEXT_BITS: return hdst__text_bits(text, b, c);
    case IR_TEXT_WORD: return hdst__text_word(text, b);
    case IR_TEXT_TOKENS: return text ? hdst__interp_text_new(s, *text) : 0;
    case IR_TEXT_VIEW: return text ? hdst__interp_text_new(s, (hdst__text_value){text->at, text->length, (uint32_t)e->bits}) : 0;
    default: return hdst__interp_text_new(s, hdst__text_slice(text, b, c));
    }
}

lanes hdst__interp_text(interp_state *s, const ir_expr *e, size_t at)
{
    static const uint64_t zero = 0;
    const lanes nothing = {&zero, true}, a = hdst__interp_eval(s, e->a, at);
    const lanes b = e->b ? hdst__interp_eval(s, e->b, at + 1) : nothing, c = e->c ? hdst__interp_eval(s, e->c, at + 2) : nothing;
    const bool uniform = a.uniform && b.uniform && c.uniform;
    const uint64_t one[3] = {a.v[0], b.v[0], c.v[0]};      // `out` may be the slab that any of them lies in
    uint64_t *out = hdst__interp_slab(s, at);
    for (size_t i = 0; i < (uniform ? 1 : s->n); i++)
        out[i] = apply(s, e, text_of(a.uniform ? one[0] : a.v[i]), b.uniform ? one[1] : b.v[i], c.uniform ? one[2] : c.v[i]);
    return (lanes){out, uniform};
}

// As it is looked at.
void hdst__interp_text_quote(uint64_t pattern, char quoted[HDST__CHECK_TEXT])
{
    const hdst__text_value *text = text_of(pattern);
    char bytes[HDST__CHECK_TEXT];
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)hdst__text_byte(text, i);
    hdst__quote_text(bytes, text ? text->length : 0, quoted);
}
