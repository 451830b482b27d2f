// SPDX-License-Identifier: Apache-2.0
#include "codegen/names.h"

#include "codegen/templates.h"

#include <ctype.h>
#include <string.h>

// Words of OpenCL C that a kernel-language program may use as names. Vector types, as_*, convert_*, atom* and names in capitals are ruled out by their form.
static const char *const reserved[] = {
    "auto",     "break",     "case",      "char",      "const",    "constant", "continue", "default",   "do",        "double",    "else",       "enum",
    "event_t",  "extern",    "float",     "for",       "global",   "goto",     "half",     "if",        "image1d_t", "image2d_t", "image3d_t",  "inline",
    "int",      "intptr_t",  "kernel",    "local",     "long",     "pipe",     "private",  "ptrdiff_t", "quad",      "read_only", "read_write", "register",
    "restrict", "return",    "sampler_t", "short",     "signed",   "size_t",   "sizeof",   "static",    "struct",    "switch",    "typedef",    "uchar",
    "uint",     "uintptr_t", "ulong",     "uniform",   "union",    "unsigned", "ushort",   "void",      "volatile",  "while",     "write_only", "bool",
    "true",     "false",     "complex",   "imaginary", "asm",      "typeof",   "linux",    "unix",      "generic",   "constexpr", "barrier",    "clamp",
    "fabs",     "fma",       "max",       "min",       "mad",      "select",   "sqrt",     "rsqrt",     "sign",      "step",      "mix",        "dot",
    "cross",    "length",    "distance",  "normalize", "i386",     "main",     "printf",   "prefetch",  "rotate",    "upsample",  "popcount",   "clz",
    "ctz",      "any",       "all",       "shuffle",   "shuffle2", "i",        "r",
};

// What a name begins with, or is made of, that an underscore at its end does not mend.
static bool has_reserved_form(const char *name)
{
    static const char *const prefix[] = {"as_",  "convert_", "atom",   "get_", "vload",   "vstore", "image",      "read_image", "write_image", "__",
                                         "clk_", "cl_",      "async_", "is",   "native_", "half_",  "work_group", "sub_group",  "hdst_",       "reserved"};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0) return true;
    static const char *const vector[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half", "bool", "quad", "vec"};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        size_t length = strlen(vector[i]);
        if (strncmp(name, vector[i], length) == 0 && isdigit((unsigned char)name[length])) return true;
    }
    bool capitals = true;
    for (const char *c = name; *c; c++) capitals &= !islower((unsigned char)*c);
    return capitals;        // could be a macro of the driver: INFINITY, M_PI
}

static bool has_reserved_end(const char *name)
{
    const char *last = strrchr(name, '_');      // add_int and its like
    static const char *const suffix[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "bool"};
    for (size_t i = 0; last && i < sizeof suffix / sizeof *suffix; i++)
        if (strcmp(last + 1, suffix[i]) == 0) return true;
    return false;
}

static bool in_comment(const char *text, const char *at)
{
    for (; at > text && *at != '\n'; at--)
        if (at[0] == '/' && at[-1] == '/') return true;
    return false;
}

// Of a prelude file only what it defines or calls matters: names inside its functions are their own.
static bool uses_word(const char *text, const char *word, bool is_prelude)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        const bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        const bool ends = is_prelude ? at[length] == '(' : !(isalnum((unsigned char)at[length]) || at[length] == '_');
        if (starts && ends && !in_comment(text, at)) return true;
    }
    return false;
}

bool hdst__name_is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(name, reserved[i]) == 0) return true;
    if (has_reserved_form(name) || has_reserved_end(name)) return true;
    for (size_t i = 0; i < hdst__template_count; i++)
        if (uses_word(hdst__templates[i].text, name, !hdst__templates[i].is_kernel)) return true;
    for (size_t i = 0; i < hdst__piece_count; i++)
        if (uses_word(hdst__pieces[i].text, name, true)) return true;
    return false;
}

void hdst__names_init(hdst__names *names, hdst__arena *arena)
{
    *names = (hdst__names){.arena = arena};
}

// --- The table of names ---

// The slot of the name, or the free one where it would go: linear probing, in which what came last is taken out by emptying its slot.
static uint32_t *slot_of(const hdst__names *names, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;        // FNV-1a
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    for (size_t i = (size_t)(hash ^ hash >> 32);; i++) {
        uint32_t *slot = &names->slots[i & (names->slot_count - 1)];
        if (!*slot || strcmp(names->taken[*slot - 1], name) == 0) return slot;
    }
}

static void add_name(hdst__names *names, const char *name)
{
    if (2 * (names->count + 1) > names->slot_count) {
        names->slot_count = names->slot_count ? 2 * names->slot_count : 256;
        names->slots = HDST__NEW_ARRAY(names->arena, uint32_t, names->slot_count);
        for (size_t i = 0; i < names->count; i++) *slot_of(names, names->taken[i]) = (uint32_t)i + 1;
    }
    HDST__PUSH(names->arena, names->taken, names->count, names->capacity, name);
    *slot_of(names, name) = (uint32_t)names->count;
}

void hdst__names_give_back(hdst__names *names, size_t count)
{
    for (; names->count > count; names->count--) *slot_of(names, names->taken[names->count - 1]) = 0;
}

static bool is_taken(const hdst__names *names, const char *name)
{
    return (names->count && *slot_of(names, name)) || hdst__name_is_reserved(name);
}

const char *hdst__name_take(hdst__names *names, const char *wanted)
{
    // Underscores at the front could name something of the driver.
    while (*wanted == '_') wanted++;
    char *name = hdst__arena_strdup(names->arena, *wanted && !isdigit((unsigned char)*wanted) ? wanted : hdst__arena_printf(names->arena, "v%s", wanted));
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    if (has_reserved_form(name)) name = hdst__arena_printf(names->arena, "v_%s", name);
    while (is_taken(names, name)) {
        const char *longer = hdst__arena_printf(names->arena, "%s_", name);
        name = has_reserved_form(longer) ? hdst__arena_printf(names->arena, "v_%s", name) : hdst__arena_strdup(names->arena, longer); // half_ begins built-ins
    }
    add_name(names, name);
    return name;
}
