// SPDX-License-Identifier: Apache-2.0
#include "tests/support/words.h"

#include "base/pieces.h"

#include <ctype.h>
#include <string.h>

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
bool words_is_identifier(const char *token) { return isalpha((unsigned char)token[0]) || token[0] == '_'; }

static size_t skipped(const char *at)
{
    if (isspace((unsigned char)*at)) return 1;
    if (at[0] == '/' && at[1] == '/') return strcspn(at, "\n");
    return 0;
}

static size_t length_of(const char *at)
{
    size_t n = 0;
    if (*at == '"') return 2 + strcspn(at + 1, "\"");
    while (in_word(at[n]) || (n && isdigit((unsigned char)at[0]) && (at[n] == '.' || ((at[n] == '+' || at[n] == '-') && strchr("eEpP", at[n - 1]) && at[1] != 'x')))) n++;
    return n ? n : 1;
}

words words_tokens(hdst__arena *arena, const char *text)
{
    words all = {0};
    while (*text) {
        const size_t skip = skipped(text), length = skip ? skip : length_of(text);
        if (!skip) HDST__PUSH(arena, all.items, all.count, all.capacity, hdst__arena_strndup(arena, text, length));
        text += length;
    }
    return all;
}

bool words_has(const words *all, const char *word)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->items[i], word)) return true;
    return false;
}

void words_add(hdst__arena *arena, words *all, const char *word)
{
    if (!words_has(all, word)) HDST__PUSH(arena, all->items, all->count, all->capacity, hdst__arena_strdup(arena, word));
}

void words_add_identifiers(hdst__arena *arena, words *all, const char *text)
{
    const words tokens = words_tokens(arena, text);
    for (size_t i = 0; i < tokens.count; i++)
        if (words_is_identifier(tokens.items[i])) words_add(arena, all, tokens.items[i]);
}

// A hole may be part of a word: a letter stands for it.
static const char *filled(hdst__arena *arena, const char *text)
{
    char *all = hdst__arena_strdup(arena, text), *end = all;
    for (const char *at = text; *at;) {
        size_t length = 1;
        while (*at == '@' && in_word(at[length])) length++;
        const bool hole = *at == '@' && length > 1 && at[length] == '@';
        *end++ = hole ? 'h' : *at;
        at += hole ? length + 1 : 1;
    }
    *end = '\0';
    return all;
}

void words_add_templates(hdst__arena *arena, words *all)
{
    for (size_t i = 0; i < hdst__template_count; i++) words_add_identifiers(arena, all, filled(arena, hdst__templates[i].text));
    for (size_t i = 0; i < hdst__piece_count; i++) words_add_identifiers(arena, all, hdst__pieces[i].text);
    for (size_t i = 0; i < hdst__program_text_count; i++) words_add_identifiers(arena, all, hdst__program_texts[i].text);
}
