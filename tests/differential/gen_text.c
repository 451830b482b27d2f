// SPDX-License-Identifier: Apache-2.0
// The generator's dice, names and text; C's rules of promotion.
#include "gen.h"

uint64_t gen_next(gen *g)       // splitmix64
{
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool gen_chance(gen *g, int percent) { return gen_next(g) % 100 < (uint64_t)percent; }

int gen_below(gen *g, int n) { return (int)(gen_next(g) % (uint64_t)n); }

const char *gen_print(gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = hdst__arena_vprintf(g->arena, format, args);
    va_end(args);
    return text;
}

const char *gen_name(gen *g, const char *prefix) { return gen_print(g, "%s%d", prefix, g->names++); }

static void line(gen *g, hdst__buffer *out, const char *format, va_list args, const char *end)
{
    for (int i = 0; i < g->indent; i++) hdst__buffer_puts(out, "    ");
    hdst__buffer_vprintf(out, format, args);
    hdst__buffer_puts(out, end);
}

// Now and then a comment, without dice: it changes no program. Not in texts that somebody looks for places in.
static const char *end_of_line(const gen *g)
{
    const uint64_t which = (g->hk.length + g->program->seed) % 61;
    return g->options.plain_names ? "\n" : which == 0 ? " /* a ** / \" ' // comment */\n" : which == 1 ? "   // and /* another\n" : "\n";
}

void gen_hk(gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line(g, &g->hk, format, args, end_of_line(g));
    va_end(args);
}

void gen_c(gen *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line(g, &g->c, format, args, "\n");
    va_end(args);
}

const char *gen_c_type(diff_kind kind)
{
    static const char *const names[K_COUNT] = {"bool",     "int8_t",   "int16_t",  "int32_t", "int64_t", "uint8_t",
                                               "uint16_t", "uint32_t", "uint64_t", "float",   "double"};
    return names[kind];
}

const char *gen_suffix(diff_kind kind)
{
    static const char *const names[K_COUNT] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
    return names[kind];
}

bool gen_is_float(diff_kind kind) { return kind == K_F32 || kind == K_F64; }

bool gen_is_signed(diff_kind kind) { return kind >= K_I8 && kind <= K_I64; }

diff_kind gen_promote(diff_kind kind)
{
    return kind == K_BOOL || kind == K_I8 || kind == K_I16 || kind == K_U8 || kind == K_U16 ? K_I32 : kind;
}

diff_kind gen_common(diff_kind a, diff_kind b)
{
    a = gen_promote(a);
    b = gen_promote(b);
    if (a == K_F64 || b == K_F64) return K_F64;
    if (a == K_F32 || b == K_F32) return K_F32;
    if (a == K_U64 || b == K_U64) return K_U64;
    if (a == K_I64 || b == K_I64) return K_I64;
    return a == K_U32 || b == K_U32 ? K_U32 : K_I32;
}

// Floats and the kinds that arithmetic happens in come up most.
diff_kind gen_kind(gen *g)
{
    static const diff_kind kinds[] = {K_BOOL, K_I8, K_I16, K_I32, K_I32, K_I64, K_U8, K_U16, K_U32, K_U32, K_U64, K_F32, K_F32, K_F32, K_F64, K_F64};
    const int first = g->floating && gen_chance(g, 70) ? 11 : 0;
    const diff_kind kind = kinds[first + gen_below(g, (int)(sizeof kinds / sizeof *kinds) - first)];
    return kind == K_F64 && g->options.no_double ? K_F32 : kind;
}
