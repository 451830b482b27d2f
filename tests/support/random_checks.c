// SPDX-License-Identifier: Apache-2.0
// Random functions full of checks (tests/support/random_checks.h).
#include "tests/support/random_checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct generator {
    char text[1 << 16];
    size_t length;
    unsigned around[8], loops;      // the counters of the loops around
    unsigned counters;
} generator;

__attribute__((format(printf, 2, 3))) static void put(generator *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int written = vsnprintf(g->text + g->length, sizeof g->text - g->length, format, args);
    va_end(args);
    g->length += (size_t)written < sizeof g->text - g->length ? (size_t)written : sizeof g->text - g->length - 1;
}

static int any(int n) { return rand() % n; }

static void number(generator *g, int depth);

static void leaf(generator *g)
{
    static const char *const names[] = {"p.a", "p.b", "p.c", "p.d", "i", "j", "u", "i", "u"};
    const int which = any(12);
    if (which < 9) put(g, "%s", names[which]);
    else if (which < 11 && g->loops) put(g, "k%u", g->around[any((int)g->loops)]);
    else put(g, "%d", any(6));
}

// Mostly in range, or every record would fail at once.
static void index_of(generator *g, int depth)
{
    static const char *const plain[] = {"i", "j", "u", "p.b", "p.a"};
    const int which = any(8);
    if (which < 3) {
        put(g, "%s", g->loops && any(2) ? "p.c" : plain[any(5)]);
        return;
    }
    if (which < 4) number(g, depth);
    else {
        put(g, which < 6 ? "(" : "(uint32_t)(");
        number(g, depth);
        put(g, which < 6 ? ") & 3" : ") %% 6");
    }
}

static void condition(generator *g, int depth)
{
    static const char *const comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
    const int which = depth > 0 ? any(6) : 3;
    if (which == 0) put(g, "!(");
    else put(g, "(");
    if (which < 3) condition(g, depth - 1);
    else number(g, 1);
    if (which == 1) put(g, " && ");
    if (which == 2) put(g, " || ");
    if (which > 2) put(g, " %s ", comparisons[any(6)]);
    if (which == 1 || which == 2) condition(g, depth - 1);
    if (which > 2) any(2) ? put(g, "%d", any(8)) : number(g, 1);
    put(g, ")");
}

static void number(generator *g, int depth)
{
    static const char *const operators[] = {"+", "-", "*", "+", "-", "|", "^"};
    if (depth <= 0 || any(3) == 0) {
        leaf(g);
        return;
    }
    const int which = any(12);
    put(g, which == 0 ? "min(" : which == 1 ? "max(" : which == 2 ? "FEW[" : which == 3 ? "w[" : "(");
    if (which == 4) {
        condition(g, 1);
        put(g, " ? ");
    }
    if (which == 2 || which == 3) index_of(g, depth - 1);
    else number(g, depth - 1);
    if (which < 2) {
        put(g, ", ");
        number(g, depth - 1);
    } else if (which == 2) put(g, "]");
    else if (which == 3) put(g, "].v[1]");
    else if (which == 4) {
        put(g, " : ");
        number(g, depth - 1);
    } else if (which < 9) {
        put(g, " %s ", operators[any(7)]);
        number(g, depth - 1);
    } else if (which == 9) put(g, " & %d", any(8));
    else if (which == 10) put(g, any(2) ? " %% %d" : " / %d", any(6) + 1);
    else {
        put(g, any(2) ? " %% (p.c - " : " / (p.a + ");
        number(g, depth - 1);
        put(g, ")");
    }
    if (which != 2 && which != 3) put(g, ")");
}

static void statements(generator *g, int depth);

static void statement(generator *g, int depth)
{
    static const char *const variables[] = {"i", "j", "u"};
    const int which = any(depth > 0 ? 12 : 6);
    if (which < 2) {
        put(g, "%s = ", variables[any(3)]);
        number(g, 2);
        put(g, ";\n");
    } else if (which < 4) {
        put(g, "s += FEW[");
        index_of(g, 2);
        put(g, "];\n");
    } else if (which == 4) {
        put(g, any(3) ? "if (len(t) > 3) s += t[" : "s += t[");
        index_of(g, 2);
        put(g, "].v[0];\n");
    } else if (which == 5) {
        put(g, "own[");
        index_of(g, 1);
        put(g, "] = (int32_t)s;\n");
    } else if (which < 10) {
        put(g, "if (");
        condition(g, 2);
        put(g, ") {\n");
        statements(g, depth - 1);
        if (any(4) == 0) put(g, g->loops ? any(2) ? "break;\n" : "continue;\n" : "return (out){ s };\n");
        put(g, any(2) ? "} else {\n" : "} {\n");
        statements(g, depth - 1);
        put(g, "}\n");
    } else {
        static const char *const bounds[] = {"len(t)", "6", "3", "(p.b & 7)", "len(w)"};
        const unsigned k = ++g->counters;
        put(g, "for (uint32_t k%u = %d; k%u < %s; k%u++) {\n", k, any(2), k, bounds[any(5)], k);
        g->around[g->loops++] = k;
        statements(g, depth - 1);
        g->loops--;
        put(g, "}\n");
    }
}

static void statements(generator *g, int depth)
{
    for (int n = any(4); n >= 0; n--) statement(g, depth);
}

static uint32_t random_word(void)
{
    const int which = any(40);
    if (which < 37) return (uint32_t)(any(7) - (any(8) == 0));
    if (which == 37) return UINT32_MAX >> any(2);
    if (which == 38) return UINT32_C(1) << 31;
    return (uint32_t)rand() * 2654435761u;
}

random_record random_checks_record(void)
{
    return (random_record){(int32_t)random_word(), random_word(), (uint8_t)random_word(), (int8_t)random_word(), random_word(), 0};
}

const char *random_checks(hdst__arena *arena, unsigned seed)
{
    srand(seed);
    generator g = {0};
    put(&g, "map f(in p, broadcast row t[], broadcast row w[]) -> out {\nint64_t s = 0; int32_t i = p.a; int32_t j = 0; uint32_t u = p.b; int32_t own[6];\n");
    for (int n = 0; n < 3; n++) statements(&g, 2);
    put(&g, "return (out){ s + i + j + u + own[2] };\n}\n");
    return hdst__arena_strdup(arena, g.text);
}
