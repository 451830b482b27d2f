// SPDX-License-Identifier: Apache-2.0
// How kernels read values (accum/value_text.h).
#include "accum/value_text.h"

#include "accum/minmax_keys.h"

#include <inttypes.h>

static const char *type_of(const hdst__cell *cell) { return cell->kind == HDST__F32 ? "float" : "double"; }
static const char *bits_of(const hdst__cell *cell) { return cell->kind == HDST__F32 ? "as_uint" : "as_ulong"; }

static const char *key_text(hdst__arena *arena, const hdst__cell *cell, const char *word)
{
    const char *is_min = cell->acc == HDST__MIN ? "true" : "false";
    if (hdst__kind_is_float(cell->kind)) return hdst__arena_printf(arena, "%s_of_key((ulong)%s, %s)", type_of(cell), word, is_min);
    const uint64_t none = hdst__key_decode(cell->kind, cell->acc, 0);       // keys are counted from what key 0 stands for
    return hdst__arena_printf(arena, "0x%" PRIx64 "UL %c (ulong)%s", none, cell->acc == HDST__MAX ? '+' : '-', word);
}

const char *hdst__word_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word)
{
    const bool inverted = cell->acc == HDST__AND;
    if (hdst__is_key(cell->acc)) return key_text(arena, cell, word);
    if (cell->kind == HDST__BOOL) return hdst__arena_printf(arena, inverted ? "~(ulong)%s & 1" : "%s != 0", word);
    return hdst__arena_printf(arena, inverted ? "~(ulong)%s" : "(ulong)%s", word);
}

const char *hdst__fixed_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word, const char *unit)
{
    return hdst__arena_printf(arena, "%s(round_%s(%s, %s))", bits_of(cell), type_of(cell), word, unit);
}

const char *hdst__fixed_two_value_text(hdst__arena *arena, const hdst__cell *cell, const char *high, const char *low, const char *s, const char *bits)
{
    return hdst__arena_printf(arena, "%s(round_two_%s(%s, %s, %s, %s))", bits_of(cell), type_of(cell), high, low, s, bits);
}

const char *hdst__superaccumulator_value_text(hdst__arena *arena, const hdst__cell *cell, const char *word)
{
    return hdst__arena_printf(arena, "superaccumulator_round_%s(%s)", type_of(cell), word);
}
