// SPDX-License-Identifier: Apache-2.0
// What programs name their locals, parameters, fields, records, functions, constants: plain names, words of generated
// texts, and names that printers make of other names. The C translation has names of its own, so that only the side
// under test can mistake one for another. Names have dice of their own: with other names a program is the same.
#include "gen.h"

#include "gen_words.h"

#include <ctype.h>

// What C, C++, the language or this generator's own texts mean by a word: nobody's name.
static const char *const kept[] = {
    // C and C++
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "bool",
    "true",
    "false",
    "asm",
    "typeof",
    "alignas",
    "alignof",
    "constexpr",
    "nullptr",
    "static_assert",
    "thread_local",
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constinit",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_cast",
    "template",
    "this",
    "throw",
    "try",
    "typeid",
    "typename",
    "using",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    "NULL",
    "offsetof",
    "linux",
    "unix",
    "i386",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "intmax_t",
    "uintmax_t",
    // types and constants of the language
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "text",
    "INFINITY",
    "NAN",
    "M_PI",
    "M_E",
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "DBL_EPSILON",
    "INT8_MIN",
    "INT16_MIN",
    "INT32_MIN",
    "INT64_MIN",
    "INT8_MAX",
    "INT16_MAX",
    "INT32_MAX",
    "INT64_MAX",
    "UINT8_MAX",
    "UINT16_MAX",
    "UINT32_MAX",
    "UINT64_MAX",
    "WORD",
    "LINE",
    // functions that are nobody else's, and those that the generator calls
    "sqrt",
    "fabs",
    "fma",
    "abs",
    "min",
    "max",
    "isnan",
    "isinf",
    "as_uint",
    "as_int",
    "as_float",
    "as_ulong",
    "as_long",
    "as_double",
    "len",
    "dot",
    "sum",
    "hash",
    "copysign",
    "record_index",
    "acc_min",
    "acc_max",
    "emit",
    "tokens",
    "chars",
    "lower",
    "upper",
    "find",
    "starts_with",
    "ends_with",
    "parse_int",
    "parse_double",
    "parse_float",
    "has",
    "records_skipped",
    // types of YAML, and what YAML takes for something else
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "null",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "Y",
    "N",
    "params",
    "records",
};

static const char *const suffixes[] = {
    "at",   "block_at", "step",  "offset", "of",    "in",    "rows",   "words", "part",  "stored",     "total", "out",
    "own",  "turn",     "front", "local",  "up",    "down",  "least",  "s",     "value", "value_sum0", "sum0",  "sum1",
    "data", "data0",    "count", "finish", "merge", "spare", "0",      "1",     "2",     "_",          "x",     "tile",
    "high", "low",      "moved", "lost",   "turns", "cell",  "shared", "as",    "row",   "key",
};
static const char *const prefixes[] = {"v",  "own",  "addend", "fits", "tmp", "u",    "h",   "k",
                                       "p",  "next", "acc",    "best", "sum", "lane", "old", "new_",
                                       "hk", "is",   "get",    "t",    "r",   "local"};

static uint64_t dice(gen *g)
{
    const uint64_t outer = g->random;
    g->random = g->name_random;
    const uint64_t thrown = gen_next(g);
    g->name_random = g->random;
    g->random = outer;
    return thrown;
}

static int dice_below(gen *g, size_t n) { return (int)(dice(g) % n); }

static bool is_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
    if (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]) || !name[1])) return false;
    if (!strncmp(name, "hdst_", 5) || !strncmp(name, "HDST_", 5) || strlen(name) > 60) return false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strcmp(kept[i], name)) return false;
    return true;
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static bool is_used(const gen *g, const char *name) { return is_among(g->used, g->used_count, name); }

static const char *word(gen *g)
{
    const size_t count = g->options.word_count, fixed = sizeof diff_words / sizeof *diff_words;
    if (count && dice_below(g, 100) < 60) return g->options.words[dice_below(g, count)];
    return diff_words[dice_below(g, fixed)];
}

static const char *base(gen *g) { return g->used_count && dice_below(g, 100) < 65 ? g->used[dice_below(g, g->used_count)] : word(g); }

static const char *candidate(gen *g)
{
    const int which = dice_below(g, 100);
    if (which < 45) return word(g);
    if (which < 75) return gen_print(g, "%s_%s", base(g), suffixes[dice_below(g, sizeof suffixes / sizeof *suffixes)]);
    if (which < 85) return gen_print(g, "%s_%s", base(g), base(g));
    if (which < 92) return gen_print(g, "%s_%s", prefixes[dice_below(g, sizeof prefixes / sizeof *prefixes)], base(g));
    return gen_print(g, dice_below(g, 2) ? "%s%d" : "%s_%d", base(g), dice_below(g, 4));
}

// Nobody else's in the program.
const char *gen_user_name(gen *g, const char *plain)
{
    const char *name = gen_print(g, "%s%d", plain, g->names++);
    if (g->options.plain_names) return name;
    const bool simple = dice_below(g, 100) < 30;
    for (int tries = 0; !simple && tries < 20; tries++) {
        const char *other = candidate(g);
        if (!is_name(other) || is_used(g, other)) continue;
        name = other;
        break;
    }
    while (is_used(g, name)) name = gen_print(g, "%s_", name);      // somebody may be called like a plain name by chance
    HDST__PUSH(g->arena, g->used, g->used_count, g->used_capacity, name);
    return name;
}

// Of a field or a record: these have name spaces of their own, so it may be something else's too, but not one of these.
const char *gen_inner_name(gen *g, const char *plain, const char *const *others, int count)
{
    if (g->options.plain_names) return plain;
    for (int tries = 0; tries < 20; tries++) {
        const char *name = g->used_count && dice_below(g, 100) < 25 ? g->used[dice_below(g, g->used_count)] : dice_below(g, 100) < 30 ? plain : candidate(g);
        if (!is_name(name) || is_among(others, (size_t)count, name)) continue;
        HDST__PUSH(g->arena, g->used, g->used_count, g->used_capacity, name);
        return name;
    }
    while (is_among(others, (size_t)count, plain)) plain = gen_print(g, "%s_", plain);
    return plain;
}

// The words of a text, for programs that are named like it.
size_t diff_words_of(hdst__arena *arena, const char *text, const char ***words)
{
    size_t count = 0, capacity = 0;
    *words = NULL;
    while (*text) {
        if (!isalpha((unsigned char)*text) && *text != '_') {
            while (isdigit((unsigned char)*text) || *text == '.') text++;       // not the letters of a number
            if (*text && !isalpha((unsigned char)*text) && *text != '_') text++;
            continue;
        }
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
        const char *found = hdst__arena_printf(arena, "%.*s", (int)length, text);
        bool known = false;
        for (size_t i = 0; i < count && !known; i++) known = !strcmp((*words)[i], found);
        if (!known) HDST__PUSH(arena, *words, count, capacity, found);
        text += length;
    }
    return count;
}
