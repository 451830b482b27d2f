// SPDX-License-Identifier: Apache-2.0
// What compiling takes grows as the text does: the bytes that the compiler's arena hands out for a program of some
// shape, four times as long, and what it may take at most.
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "base/writer.h"

#include <criterion/criterion.h>
#include <stdlib.h>

typedef void shape(hdst__buffer *text, int n);

static void constants(hdst__buffer *text, int n)
{
    hdst__buffer_printf(text, "struct p { uint32_t a; };\nconst int32_t W[%d] = { 0", n);
    for (int i = 1; i < n; i++) hdst__buffer_printf(text, ", %d", i * 7);
    hdst__buffer_printf(text, " };\nmap f(p r) -> int32_t { return W[r.a %% %d]; }\n", n);
}

static void fields(hdst__buffer *text, int n)
{
    hdst__buffer_puts(text, "struct p {");
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, " float f%d;", i);
    hdst__buffer_puts(text, " };\nmap f(p r, accum p g)\n{\n");
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    g.f%d += r.f%d;\n", i, i);
    hdst__buffer_puts(text, "}\n");
}

static void begin(hdst__buffer *text)
{
    hdst__buffer_puts(text, "struct p { uint32_t x; };\n"
                            "map f(p r, broadcast uint32_t c[], accum uint64_t g)\n"
                            "{\n"
                            "    uint32_t v = r.x;\n");
}

static void assignments(hdst__buffer *text, int n)
{
    begin(text);
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    { uint32_t w = v * %du; v = w + (v >> 3); }\n", i + 3);
    hdst__buffer_puts(text, "    g += v;\n}\n");
}

static void loops_of_all(hdst__buffer *text, int n)
{
    begin(text);
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    for (uint32_t i = 0; i < len(c); i++) v = v * 3u + c[i];\n");
    hdst__buffer_puts(text, "    g += v;\n}\n");
}

static void loops_apart(hdst__buffer *text, int n)
{
    begin(text);
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    while (v %% 7u != %du) v++;\n", i % 7);
    hdst__buffer_puts(text, "    g += v;\n}\n");
}

static void branches(hdst__buffer *text, int n)
{
    begin(text);
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    if (v > %du) { v = v * 3u; g += v; }\n", i);
    hdst__buffer_puts(text, "}\n");
}

static void returns(hdst__buffer *text, int n)
{
    hdst__buffer_puts(text, "struct p { uint32_t x; };\nmap f(p r) -> uint32_t\n{\n");
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    if (r.x == %du) return %du;\n", i, 2 * i);
    hdst__buffer_puts(text, "    return 0;\n}\n");
}

// A switch whose cases are found by a chain of selects.
static void cases(hdst__buffer *text, int n)
{
    begin(text);
    hdst__buffer_puts(text, "    switch (r.x) {\n");
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    case %d: v += %du;\n", i, 3 * i);
    hdst__buffer_puts(text, "    }\n    g += v;\n}\n");
}

// Each is set to zero by a loop that is unrolled.
static void arrays(hdst__buffer *text, int n)
{
    begin(text);
    for (int i = 0; i < n; i++) hdst__buffer_printf(text, "    { uint32_t a[4]; a[v & 3u] = v; v = a[(v + 1u) & 3u] + %du; }\n", i);
    hdst__buffer_puts(text, "    g += v;\n}\n");
}

// Each is filled by one loop and read by another: its elements become expressions.
static void filled_arrays(hdst__buffer *text, int n)
{
    hdst__buffer_puts(text, "struct p { uint32_t x[100]; };\nmap f(p r, accum uint64_t g)\n{\n    uint32_t v = 0;\n");
    for (int i = 0; i < n; i++) {
        hdst__buffer_printf(text, "    uint32_t a%d[100];\n    for (uint32_t i = 0; i < 100; i++) a%d[i] = r.x[i] + %du;\n", i, i, i);
        hdst__buffer_printf(text, "    for (uint32_t i = 0; i < 100; i++) v = v * 3u + a%d[i];\n", i);
    }
    hdst__buffer_puts(text, "    g += v;\n}\n");
}

// Each is filled from the one before.
static void arrays_of_arrays(hdst__buffer *text, int n)
{
    hdst__buffer_puts(text, "struct p { uint32_t x[100]; };\n"
                            "map f(p r, accum uint64_t g)\n"
                            "{\n"
                            "    uint32_t v = 0, a0[100];\n"
                            "    for (uint32_t i = 0; i < 100; i++) a0[i] = r.x[i];\n");
    for (int i = 1; i < n; i++)
        hdst__buffer_printf(text,
                            "    uint32_t a%d[100];\n"
                            "    for (uint32_t i = 0; i < 100; i++) a%d[i] = a%d[i] ^ %du;\n",
                            i, i, i - 1, i);
    hdst__buffer_printf(text, "    for (uint32_t i = 0; i < 100; i++) v = v * 3u + a%d[i];\n    g += v;\n}\n", n - 1);
}

// The bytes of all that is made of it for a target: tree, IR, passes, text.
static size_t bytes_of(shape *write, int n, hdst__target target)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__diags diags;
    hdst__buffer text;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    hdst__buffer_init(&text, NULL);
    write(&text, n);
    ast_module *module = hdst__module_compile(&diags, "long.hk", hdst__buffer_text(&text), text.length, NULL);
    cr_assert_eq(diags.errors, 0, "%s", diags.count ? diags.items[0].message : "");
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, "f"));
    cr_assert_not_null(func);
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    uint64_t rows[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const hdst__kernel_options options = {.facts = {target, 48 << 10, 1024, 2, true, true, true, false}, .rows = rows,
                                          .input = hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, 1000)};
    cr_assert_not_null(hdst__kernel_make(&arena, func, &options, &diags), "%s", diags.count ? diags.items[diags.count - 1].message : "");
    const size_t bytes = arena.bytes;
    hdst__buffer_destroy(&text);
    hdst__arena_destroy(&arena);
    return bytes;
}

// What does not depend on the length is in all three. Of twice the step twice as much; arrays that double make it a
// little more, the square makes it four times.
static void expect_linear(const char *what, shape *write, int n)
{
    for (int target = 0; target < 2; target++) {
        const hdst__target to = target ? HDST__TARGET_GPU : HDST__TARGET_CPU;
        const double once = (double)bytes_of(write, n, to), twice = (double)bytes_of(write, 2 * n, to), four = (double)bytes_of(write, 4 * n, to);
        cr_expect_lt((four - twice) / (twice - once), 2.5, "%s for %s: %.0f, %.0f, %.0f bytes", what, target ? "GPUs" : "CPU devices", once, twice, four);
        cr_expect_lt(four, (double)HDST__COMPILE_BYTES, "%s: %.0f bytes", what, four);
    }
}

Test(compile_bytes, constant_arrays) { expect_linear("constants", constants, 8000); }
Test(compile_bytes, fields_of_records) { expect_linear("fields", fields, 400); }
Test(compile_bytes, statements)
{
    expect_linear("assignments", assignments, 400);
    expect_linear("branches", branches, 300);
}
Test(compile_bytes, loops)
{
    expect_linear("loops that all records make alike", loops_of_all, 200);
    expect_linear("loops that records leave apart", loops_apart, 200);
}
Test(compile_bytes, early_returns) { expect_linear("early returns", returns, 300); }
Test(compile_bytes, local_arrays)
{
    expect_linear("local arrays", arrays, 400);
    expect_linear("arrays filled by a loop", filled_arrays, 200);
    expect_linear("arrays filled from arrays", arrays_of_arrays, 200);
}
Test(compile_bytes, cases) { expect_linear("cases of a switch", cases, 500); }

// What is written is kept once, with the room that it grows into, however many short pieces it comes in.
Test(compile_bytes, short_texts_leave_nothing_behind)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    cr_assert(setjmp(out_of_memory) == 0);
    hdst__writer writer = {.arena = &arena};
    for (int i = 0; i < 100000; i++) hdst__write(&writer, "%d;", i % 10);
    cr_expect_eq(writer.length, 200000);
    cr_expect_leq(arena.bytes, 4 * writer.length + 1000, "%zu bytes", arena.bytes);
    hdst__arena_destroy(&arena);
}
