// SPDX-License-Identifier: Apache-2.0
// Words of C-like texts (tests/support/words.h).
#include "tests/support/words.h"

#include "accum/accum_pieces.h"
#include "codegen/opencl/kernel_pieces.h"
#include "shuffle/aggregate/aggregate_kernels.h"
#include "shuffle/sort/sort_kernels.h"

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
    const bool is_number = isdigit((unsigned char)at[0]), is_hexadecimal = at[0] && at[1] == 'x';
    while (in_word(at[n]) || (n && is_number && (at[n] == '.' || ((at[n] == '+' || at[n] == '-') && strchr("eEpP", at[n - 1]) && !is_hexadecimal)))) n++;
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
        if (all->items[i][0] == word[0] && !strcmp(all->items[i], word)) return true;
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

void words_add_templates(hdst__arena *arena, words *all)
{
    const hdst__pieces *const folders[] = {&hdst__base_pieces, &hdst__accum_pieces, &hdst__kernel_pieces, &hdst__sort_pieces, &hdst__aggregate_pieces};
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        for (size_t i = 0; i < folders[f]->count; i++) words_add_identifiers(arena, all, folders[f]->items[i].text);
}
