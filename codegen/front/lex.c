// SPDX-License-Identifier: Apache-2.0
// The words of the kernel language (codegen/front/lex.h).
#include "codegen/front/lex.h"

#include <string.h>

#include "codegen/front/lex_number.h"

typedef struct lexer {
    hdst__diags *diags;
    hdst__arena *arena;
    uint32_t source;
    const char *text;
    size_t at, length;
    hdst__token *tokens;
    size_t count, capacity;
    bool said_encoding;         // one message about strange characters is enough
} lexer;

static const struct { const char *text; hdst__token_kind kind; } puncts[] = {
#define ENTRY(id, text) {text, TOKEN_##id},
    HDST__PUNCT_MAP(ENTRY)
}, words[] = {
    HDST__WORD_MAP(ENTRY)
#undef ENTRY
};

enum { PUNCTS = sizeof puncts / sizeof *puncts, WORDS = sizeof words / sizeof *words };

const char *hdst__token_name(hdst__token_kind kind)
{
    switch (kind) {
    case TOKEN_END: return "the end of the file";
    case TOKEN_NAME: return "a name";
    case TOKEN_NUMBER: return "a number";
    case TOKEN_STRING: return "a text";
#define ENTRY(id, text) case TOKEN_##id: return "'" text "'";
    HDST__PUNCT_MAP(ENTRY)
    HDST__WORD_MAP(ENTRY)
#undef ENTRY
    }
    return "?";
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char peek(const lexer *l, size_t ahead) { return l->at + ahead < l->length ? l->text[l->at + ahead] : 0; }

static hdst__span span_of(const lexer *l, size_t start, size_t end)
{
    return (hdst__span){l->source, (uint32_t)start, (uint32_t)(end - start)};
}

static hdst__token *add(lexer *l, hdst__token_kind kind, size_t start)
{
    hdst__token token = {.kind = kind, .span = span_of(l, start, l->at), .starts_line = start == 0 || l->text[start - 1] == '\n'};
    HDST__PUSH(l->arena, l->tokens, l->count, l->capacity, token);
    return &l->tokens[l->count - 1];
}

static void skip_comment(lexer *l)
{
    size_t start = l->at;
    if (peek(l, 1) == '/') {
        while (l->at < l->length && l->text[l->at] != '\n') l->at++;
        return;
    }
    for (l->at += 2; l->at < l->length; l->at++) {
        if (l->text[l->at] == '*' && peek(l, 1) == '/') {
            l->at += 2;
            return;
        }
    }
    hdst__diag_error(l->diags, span_of(l, start, start + 2), "end it with */", "this comment never ends");
}

// A preprocessor line (there is no preprocessor), with its continuation lines: reported and skipped.
static void directive(lexer *l)
{
    size_t start = l->at, word = l->at + 1;
    while (word < l->length && (l->text[word] == ' ' || l->text[word] == '\t')) word++;
    size_t end = word;
    while (end < l->length && is_letter(l->text[end])) end++;
    const char *name = l->text + word;
    size_t n = end - word;
    const char *hint = "every line of a kernel file is read as it stands";
    if (n == 6 && !memcmp(name, "define", 6)) hint = "write `const float NAME = 1.5f;` or `enum { NAME = 10 };`, and `param` for what the program sets";
    else if (n == 7 && !memcmp(name, "include", 7)) hint = "write `import \"file.yaml\";` or `import \"file.hk\";`";
    else if (n && name[0] == 'i') hint = "write `param bool NAME;` and an `if`: a branch that never runs costs nothing";
    hdst__diag_error(l->diags, span_of(l, start, end), hint, "there is no preprocessor in kernel files");
    while (l->at < l->length && (l->text[l->at] != '\n' || l->text[l->at - 1] == '\\')) l->at++;
}

// The byte whose digits follow: as many as there are, `most` at most.
static char byte_of_digits(lexer *l, size_t start, int base, int most)
{
    int value = 0, digits = 0;
    for (; digits < most && hdst__digit_value(peek(l, 0)) < base; digits++, l->at++)
        if (value < 256) value = value * base + hdst__digit_value(l->text[l->at]);
    if (!digits) hdst__diag_error(l->diags, span_of(l, start, l->at), "write \\x and hexadecimal digits, as \"\\xff\"", "a byte without digits");
    if (value > 255) {
        const char *hint = base == 16 ? "\\x takes all hexadecimal digits that follow, as in C: \"\\x41\" \"b\" has two bytes" : "a byte is \\0 to \\377";
        hdst__diag_error(l->diags, span_of(l, start, l->at), hint, "a number that is no byte");
    }
    return (char)value;
}

// Reads one character of a text or character constant, and unescapes it as C does; begins at the character or its backslash.
static char character(lexer *l)
{
    const size_t start = l->at;
    char c = l->text[l->at++];
    if (c != '\\' || l->at >= l->length) return c;
    static const char from[] = "nrtabfv?\\\"'", to[] = "\n\r\t\a\b\f\v?\\\"'";
    if (hdst__digit_value(l->text[l->at]) < 8) return byte_of_digits(l, start, 8, 3);
    char escaped = l->text[l->at++];
    if (escaped == 'x') return byte_of_digits(l, start, 16, 1 << 30);
    const char *found = escaped ? strchr(from, escaped) : NULL;
    if (found) return to[found - from];
    hdst__diag_error(l->diags, span_of(l, start, l->at),
                     "the escapes are \\n \\r \\t \\a \\b \\f \\v \\? \\\\ \\\" \\', \\0 to \\377, \\x0 to \\xff", "unknown escape");
    return escaped;
}

static void string(lexer *l)
{
    size_t start = l->at++, n = 0;
    size_t longest = 0;         // up to the quote that ends it, or the line
    for (const char *at = l->text + l->at; l->at + longest < l->length && at[longest] != '\n' && at[longest] != '"'; longest++)
        if (at[longest] == '\\' && l->at + longest + 1 < l->length) longest++;
    char *bytes = hdst__arena_alloc(l->arena, longest + 1);
    while (l->at < l->length && l->text[l->at] != '"' && l->text[l->at] != '\n') bytes[n++] = character(l);
    if (peek(l, 0) == '"') l->at++;
    else hdst__diag_error(l->diags, span_of(l, start, start + 1), "a text ends on its own line with \"", "this text never ends");
    hdst__token *token = add(l, TOKEN_STRING, start);
    token->text = bytes;
    token->length = n;
}

// 'a' is a number, as in C.
static void char_constant(lexer *l)
{
    size_t start = l->at++;
    uint64_t value = 0;
    const bool empty = peek(l, 0) == '\'';
    if (l->at < l->length && !empty && l->text[l->at] != '\n') value = (unsigned char)character(l);
    if (peek(l, 0) == '\'' && !empty) l->at++;
    else {
        hdst__diag_error(l->diags, span_of(l, start, l->at), "it holds one byte, as 'a'; a text is written \"...\"", "bad character constant");
        while (is_letter(peek(l, 0))) l->at++;
        if (peek(l, 0) == '\'') l->at++;
    }
    hdst__token *token = add(l, TOKEN_NUMBER, start);
    token->number_kind = HDST__I32;
    token->bits = value;
}

static void number(lexer *l)
{
    size_t start = l->at;
    bool hex = peek(l, 0) == '0' && (peek(l, 1) | 32) == 'x';
    for (;; l->at++) {      // a "preprocessing number" of C: takes what belongs together even when it is wrong
        char c = peek(l, 0);
        if (is_letter(c) || is_digit(c) || c == '.') continue;
        char before = l->at > start ? (char)(l->text[l->at - 1] | 32) : 0;
        if ((c == '+' || c == '-') && (before == (hex ? 'p' : 'e'))) continue;
        break;
    }
    char *text = hdst__arena_strndup(l->arena, l->text + start, l->at - start);
    hdst__number value;
    const char *wrong = hdst__number_parse(text, &value);
    if (wrong) hdst__diag_error(l->diags, span_of(l, start, l->at), NULL, "%s", wrong);
    hdst__token *token = add(l, TOKEN_NUMBER, start);
    token->number_kind = value.kind;
    token->bits = value.bits;
}

static void name(lexer *l)
{
    size_t start = l->at;
    while (is_letter(peek(l, 0)) || is_digit(peek(l, 0))) l->at++;
    char *text = hdst__arena_strndup(l->arena, l->text + start, l->at - start);
    hdst__token_kind kind = TOKEN_NAME;
    for (size_t i = 0; i < WORDS; i++)
        if (!strcmp(words[i].text, text)) kind = words[i].kind;
    add(l, kind, start)->text = text;
}

static void strange(lexer *l)
{
    size_t start = l->at++;
    while (l->at < l->length && ((unsigned char)l->text[l->at] & 0xC0) == 0x80) l->at++;
    unsigned char c = (unsigned char)l->text[start];
    if (c >= 0x80 && l->said_encoding) return;
    if (c >= 0x80) {
        l->said_encoding = true;
        hdst__diag_error(l->diags, span_of(l, start, l->at), "names are made of a-z, A-Z, 0-9 and _", "this character is not part of the language");
    } else if (c < 32 || c == 127) {
        hdst__diag_error(l->diags, span_of(l, start, l->at), "is this a text file?", "stray control character 0x%02x", c);
    } else {
        hdst__diag_error(l->diags, span_of(l, start, l->at), NULL, "stray '%c'", c);
    }
}

static void punct(lexer *l)
{
    for (size_t i = 0; i < PUNCTS; i++) {
        size_t n = strlen(puncts[i].text);
        if (l->length - l->at < n || memcmp(l->text + l->at, puncts[i].text, n)) continue;
        size_t start = l->at;
        l->at += n;
        add(l, puncts[i].kind, start);
        return;
    }
    strange(l);
}

const hdst__token *hdst__lex(hdst__diags *diags, uint32_t source, size_t *count)
{
    const hdst__source_text *s = &diags->sources[source];
    lexer l = {.diags = diags, .arena = diags->arena, .source = source, .text = s->text, .length = s->length};
    if (l.length >= 3 && !memcmp(l.text, "\xEF\xBB\xBF", 3)) l.at = 3;     // a byte order mark is harmless
    while (l.at < l.length) {
        char c = l.text[l.at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') l.at++;
        else if (c == '/' && (peek(&l, 1) == '/' || peek(&l, 1) == '*')) skip_comment(&l);
        else if (c == '#') directive(&l);
        else if (c == '"') string(&l);
        else if (c == '\'') char_constant(&l);
        else if (is_digit(c) || (c == '.' && is_digit(peek(&l, 1)))) number(&l);
        else if (is_letter(c)) name(&l);
        else punct(&l);
    }
    add(&l, TOKEN_END, l.at);
    *count = l.count;
    return l.tokens;
}
