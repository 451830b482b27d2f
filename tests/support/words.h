// SPDX-License-Identifier: Apache-2.0
// Words of C-like texts: tokens without comments, and the identifiers that generated kernels are made of.
#ifndef HDST_TESTS_WORDS_H
#define HDST_TESTS_WORDS_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct words {
    const char **items;
    size_t count, capacity;
} words;

words words_tokens(hdst__arena *arena, const char *text);                   // identifiers, numbers, literals, single characters
bool words_is_identifier(const char *token);
bool words_has(const words *all, const char *word);
void words_add(hdst__arena *arena, words *all, const char *word);           // once
void words_add_identifiers(hdst__arena *arena, words *all, const char *text);
// What a text is made of that the templates hold: those of the kernels, of the prelude and of the engine's own programs.
void words_add_templates(hdst__arena *arena, words *all);

#endif
