// SPDX-License-Identifier: Apache-2.0
// The rules of schemas, the same for YAML and for records made in C (record/schema_check.h).
#include "record/schema_check.h"

#include <stdarg.h>
#include <string.h>

const char *const hdst__layout_names[4] = {[HDST__AOS] = "aos", [HDST__SOA] = "soa", [HDST__AOSOA] = "aosoa", [HDST__AOP] = "aop"};

const hdst__complaint *hdst__complain(hdst__arena *arena, const char *hint, const char *format, ...)
{
    hdst__complaint *complaint = HDST__NEW(arena, hdst__complaint);
    va_list args;
    va_start(args, format);
    *complaint = (hdst__complaint){hdst__arena_vprintf(arena, format, args), hint};
    va_end(args);
    return complaint;
}

const char *hdst__quoted(hdst__arena *arena, const char *text)
{
    enum { LONGEST = 80 };
    size_t length = strlen(text), shown = length;
    if (length > LONGEST)
        for (shown = LONGEST; ((unsigned char)text[shown] & 0xC0) == 0x80; shown--) continue;     // not in the middle of a character
    char *quoted = hdst__arena_printf(arena, "'%.*s%s'", (int)shown, text, length > shown ? "..." : "");
    for (char *c = quoted; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    return quoted;
}

static bool is_listed(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, list[i])) return true;
    return false;
}

#define IS_LISTED(name, list) is_listed((name), (list), sizeof(list) / sizeof *(list))

// The integer types of <stdint.h>, which the header includes, and their limits: uint_fast8_t, UINT_FAST8_MAX.
static bool is_of_stdint(const char *name, bool limit)
{
    static const char *const types[2][6] = {{"int", "uint", "int_fast", "uint_fast", "int_least", "uint_least"},
                                            {"INT", "UINT", "INT_FAST", "UINT_FAST", "INT_LEAST", "UINT_LEAST"}};
    static const char *const sizes[2][6] = {{"8_", "16_", "32_", "64_", "ptr_", "max_"}, {"8_", "16_", "32_", "64_", "PTR_", "MAX_"}};
    for (size_t t = 0; t < 6; t++) {
        const size_t length = strlen(types[limit][t]);
        if (strncmp(name, types[limit][t], length)) continue;
        for (size_t s = 0; s < 6; s++) {
            const char *end = name + length + strlen(sizes[limit][s]);
            if (strncmp(name + length, sizes[limit][s], strlen(sizes[limit][s]))) continue;
            if (limit ? !strcmp(end, "MIN") || !strcmp(end, "MAX") : !strcmp(end, "t")) return true;
        }
    }
    return false;
}

// Field names become names of C and C++ members, so the keywords of both are out, and the object-like macros that
// their compilers and headers are known to define. The kernel language's words are C's; those it adds (map, filter,
// key ...) mean something only in their places and stay free.
static const char *reserved_as(const char *name)
{
    static const char *const c[] = {
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline",
        "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
        "volatile", "while", "bool", "true", "false", "asm", "typeof", "alignas", "alignof", "constexpr", "nullptr", "static_assert", "thread_local",
    };
    static const char *const cpp[] = {
        "and", "and_eq", "bitand", "bitor", "catch", "char8_t", "char16_t", "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept",
        "const_cast", "consteval", "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept",
        "not", "not_eq", "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast", "requires", "static_cast", "template", "this",
        "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    };
    static const char *const macros[] = {
        "NULL", "offsetof", "linux", "unix", "i386", "SIZE_MAX", "PTRDIFF_MIN", "PTRDIFF_MAX", "SIG_ATOMIC_MIN", "SIG_ATOMIC_MAX",
        "WCHAR_MIN", "WCHAR_MAX", "WINT_MIN", "WINT_MAX",
    };
    static const char *const types[] = {"size_t", "ptrdiff_t", "max_align_t"};
    if (IS_LISTED(name, c)) return "a keyword of C";
    if (IS_LISTED(name, cpp)) return "a keyword of C++";
    if (IS_LISTED(name, macros) || is_of_stdint(name, true)) return "a macro of C";
    if (IS_LISTED(name, types) || is_of_stdint(name, false)) return "the name of a type";
    for (int kind = 0; kind < HDST__TEXT; kind++)
        if (!strcmp(name, hdst__scalar_c_name(kind))) return "the name of a type";
    return NULL;
}

// Why a well-formed identifier cannot be a name here, or NULL.
static const char *name_refusal(hdst__arena *arena, const char *what, const char *name)
{
    if (!strncmp(name, "__", 2) || (name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z')) return "C keeps such names for the compiler";
    if (!strncmp(name, "hdst_", 5) || !strncmp(name, "HDST_", 5)) return "names that start with 'hdst_' belong to the library";
    const char *reserved = reserved_as(name), *near;
    hdst__time_unit time;
    const bool of_record = !reserved && !strcmp(what, "record");
    if (of_record && (hdst__schema_scalar_type(arena, name, &near) || hdst__schema_time_type(name, &time))) reserved = "the name of a type";
    return reserved ? hdst__arena_printf(arena, "it is %s", reserved) : NULL;
}

const hdst__complaint *hdst__check_name(hdst__arena *arena, const char *what, const char *name)
{
    static const char rule[] = "a name has letters, digits and '_', and starts with a letter or '_'";
    if (!*name) return hdst__complain(arena, rule, "the name of a %s is empty", what);
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', digit = c >= '0' && c <= '9';
        if (!letter && !(digit && i)) return hdst__complain(arena, rule, "%s cannot be the name of a %s", hdst__quoted(arena, name), what);
    }
    if (length > HDST__MAX_NAME)
        return hdst__complain(arena, NULL, "the name of a %s has at most %d characters, this one has %zu", what, HDST__MAX_NAME, length);
    const char *refusal = name_refusal(arena, what, name);
    if (!refusal) return NULL;
    const char *hint = strncmp(refusal, "it is", 5) ? NULL : hdst__arena_printf(arena, "for example '%s_'", name);
    return hdst__complain(arena, hint, "'%s' cannot be the name of a %s: %s", name, what, refusal);
}

static bool is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }

const hdst__complaint *hdst__check_align(hdst__arena *arena, uint64_t align)
{
    if (is_power_of_two(align) && align <= HDST__MAX_ALIGN) return NULL;
    return hdst__complain(arena, NULL, "align must be a power of two from 1 to %d", HDST__MAX_ALIGN);
}

const hdst__complaint *hdst__check_block(hdst__arena *arena, uint64_t block)
{
    if (is_power_of_two(block) && block >= HDST__MIN_BLOCK && block <= HDST__MAX_BLOCK) return NULL;
    return hdst__complain(arena, NULL, "the block of an aosoa layout must be a power of two from %d to %d records", HDST__MIN_BLOCK, HDST__MAX_BLOCK);
}

const hdst__complaint *hdst__check_count(hdst__arena *arena, uint64_t count)
{
    if (count && count <= HDST__MAX_COUNT) return NULL;
    if (!count || count > INT64_MAX) return hdst__complain(arena, NULL, "a count must be at least 1, not %lld", (long long)count);
    return hdst__complain(arena, NULL, "a count must be at most 2^40, not %llu", (unsigned long long)count);
}

// "float32x3": an array, packed as in C. Text comes in no vectors.
static const hdst__type *vector_type(hdst__arena *arena, hdst__kind kind, const char *lanes)
{
    if (kind == HDST__TEXT || lanes[0] != 'x') return NULL;
    static const struct { const char *text; uint64_t count; } sizes[] = {{"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(lanes + 1, sizes[i].text)) return hdst__type_array(arena, hdst__type_scalar(kind), sizes[i].count);
    return NULL;
}

// Names that other languages and libraries use for the same thing.
static const char *known_elsewhere(const char *name)
{
    static const struct { const char *theirs, *ours; } names[] = {
        {"float", "float32"}, {"double", "float64"}, {"int", "int32"}, {"long", "int64"}, {"short", "int16"}, {"char", "int8"}, {"byte", "uint8"},
        {"unsigned", "uint32"}, {"uint", "uint32"}, {"ulong", "uint64"}, {"ushort", "uint16"}, {"uchar", "uint8"}, {"boolean", "bool"}, {"string", "text"},
        {"str", "text"}, {"f32", "float32"}, {"f64", "float64"}, {"i8", "int8"}, {"i16", "int16"}, {"i32", "int32"}, {"i64", "int64"}, {"u8", "uint8"},
        {"u16", "uint16"}, {"u32", "uint32"}, {"u64", "uint64"}, {"date", "date32"}, {"datetime", "timestamp"}, {"time", "timestamp"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].theirs)) return names[i].ours;
    for (int kind = 0; kind < HDST__TEXT; kind++)
        if (!strcmp(name, hdst__scalar_c_name(kind))) return hdst__scalar_yaml_name(kind);
    return NULL;
}

const hdst__type *hdst__schema_scalar_type(hdst__arena *arena, const char *name, const char **near)
{
    *near = NULL;
    for (int kind = 0; kind < HDST__SCALAR_KINDS; kind++) {
        const char *scalar = hdst__scalar_yaml_name(kind);
        size_t length = strlen(scalar);
        if (strncmp(name, scalar, length)) continue;
        const hdst__type *type = name[length] ? vector_type(arena, kind, name + length) : hdst__type_scalar(kind);
        if (type) return type;
    }
    *near = known_elsewhere(name);
    return NULL;
}

const char *const hdst__missing_names[5] = {[HDST__MISSING_ERROR] = "error", [HDST__MISSING_ZERO] = "zero", [HDST__MISSING_NAN] = "nan",
                                             [HDST__MISSING_SKIP] = "skip"};

// --- Dates and times ---

const char *const hdst__time_unit_names[6] = {[HDST__SECONDS] = "s", [HDST__MILLISECONDS] = "ms", [HDST__MICROSECONDS] = "us", [HDST__NANOSECONDS] = "ns"};

const char *hdst__time_type_name(hdst__time_unit time) { return time == HDST__NO_TIME ? NULL : time == HDST__DAYS ? "date32" : "timestamp"; }

bool hdst__schema_time_type(const char *name, hdst__time_unit *time)
{
    const bool is_date = !strcmp(name, "date32");
    *time = is_date ? HDST__DAYS : HDST__NO_TIME;
    return is_date || !strcmp(name, "timestamp");
}

const hdst__type *hdst__time_type(hdst__time_unit time)
{
    return time == HDST__NO_TIME ? NULL : hdst__type_scalar(time == HDST__DAYS ? HDST__I32 : HDST__I64);
}
