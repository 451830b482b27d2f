// SPDX-License-Identifier: Apache-2.0
// What was probably meant where the grammar ends: words that are misspelt or come from another language.
#include "codegen/front/parse.h"

#include <string.h>

const char *hdst__parse_found(const hdst__parser *p, const hdst__token *token)
{
    return token->kind == TOKEN_NAME ? hdst__arena_printf(p->arena, "'%s'", token->text) : hdst__token_name(token->kind);
}

const char *hdst__parse_instead(const hdst__parser *p, const hdst__token *token)
{
    if (token->kind == TOKEN_NAME && token > p->tokens && token[-1].kind == TOKEN_RBRACKET) return "the brackets of an array stand behind its name: float x[3]";
    static const struct { const char *word, *instead; } words[] = {
        {"and", "write &&"}, {"or", "write ||"}, {"not", "write !"}, {"then", "leave it out: if (condition) statement"}, {"mod", "write %"},
    };
    for (size_t i = 0; token->kind == TOKEN_NAME && i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, token->text)) return words[i].instead;
    return NULL;
}

const char *hdst__parse_near(hdst__parser *p, const char *name, const char *const *names, size_t count, const char *otherwise)
{
    const char *near = p->panic ? NULL : hdst__nearest_name(name, names, count);
    return near ? hdst__arena_printf(p->arena, "did you mean '%s'?", near) : otherwise;
}

// `brodcast T x`: a type, and then two names.
bool hdst__parse_unknown_qualifier(hdst__parser *p, size_t type, const char *const *words, size_t count, const char *form)
{
    const hdst__token *word = &p->tokens[type];
    if (p->panic || word->kind != TOKEN_NAME || p->at != type + 2 || !hdst__parse_is(p, TOKEN_NAME)) return false;
    hdst__parse_error(p, word->span, hdst__parse_near(p, word->text, words, count, form), "unknown word '%s' in front of the type '%s'", word->text,
                      p->tokens[type + 1].text);
    return true;
}

// `float[3] x`
bool hdst__parse_brackets_of_type(hdst__parser *p, const ast_type_name *type)
{
    if (p->panic || !hdst__parse_is(p, TOKEN_LBRACKET)) return false;
    hdst__parse_error(p, p->tokens[p->at].span, hdst__arena_printf(p->arena, "write %s NAME[...]", type->name),
                      "the brackets of an array stand behind its name");
    return true;
}

// `whlie (a) b;`, `fro (...; ...; ...)`: what looks like a call and goes on as no call does.
bool hdst__parse_unknown_statement(hdst__parser *p)
{
    static const char *const words[] = {"if", "for", "while", "switch"};
    const hdst__token *word = hdst__parse_peek(p, 0), *token = hdst__parse_peek(p, 1);
    if (p->panic || word->kind != TOKEN_NAME || token->kind != TOKEN_LPAREN) return false;
    bool clauses = false, closed = false;
    enum { MOST = 1000 };       // tokens that are looked at: a file of unclosed calls must not be read over and over
    for (int depth = 0; !closed && token->kind != TOKEN_END && token - word < MOST; token++) {
        if (token->kind == TOKEN_LPAREN) depth++;
        if (token->kind == TOKEN_SEMICOLON && depth == 1) clauses = true;
        if (token->kind == TOKEN_LBRACE || token->kind == TOKEN_RBRACE) clauses &= depth == 0;
        closed = token->kind == TOKEN_RPAREN && --depth == 0;
    }
    if (!closed) return false;
    // `token` is what stands behind the ')'
    if (!clauses && token->kind != TOKEN_LBRACE && (token->kind != TOKEN_NAME || token->starts_line)) return false;
    const bool elif = !strcmp(word->text, "elif") || !strcmp(word->text, "elseif") || !strcmp(word->text, "elsif");
    const char *hint = elif ? "write else if (...)" : hdst__parse_near(p, word->text, words, sizeof words / sizeof *words, NULL);
    if (!hint && token->kind == TOKEN_NAME) return false;         // more likely a call without its ';'
    hdst__parse_error(p, word->span, hint ? hint : "there are if, for, while, do, switch", "unknown kind of statement '%s'", word->text);
    p->at = (size_t)(token - p->tokens);        // what stands between the brackets would be misread
    return true;
}
