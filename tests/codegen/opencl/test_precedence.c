// SPDX-License-Identifier: Apache-2.0
// Every pair of operators, one within the other on either side, wherever an expression may stand: as the bound of a
// loop, an index, an argument of a macro, a condition, an addend, a value that is stored or emitted, and what decides
// whether one is. Kernels of both forms and the interpreter give what the same operators come to here.
#include "codegen/front/front.h"
#include "codegen/interp/interp.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "accum/reduce.h"
#include "tests/support/kernel_suite.h"
#include "codegen/ir/accum_tables.h"

#include <string.h>

TestSuite(precedence, .init = set_up, .fini = tear_down);

static const char *const operators[] = {"+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
enum {
    OPERATORS = sizeof operators / sizeof *operators, PAIRS = OPERATORS * OPERATORS,
    SUMS = 36 /* pairs of a kernel */, RECORDS = 150, ROOM = 64, MOST_TURNS = 40
};

typedef struct record { uint32_t a, b, c, v[ROOM]; } record;

// What an operator gives; false: it divides by zero.
static bool apply(int op, uint32_t a, uint32_t b, uint32_t *result)
{
    switch (op) {
    case 0: *result = a + b; break;
    case 1: *result = a - b; break;
    case 2: *result = a * b; break;
    case 3: if (b) *result = a / b; return b;
    case 4: if (b) *result = a % b; return b;
    case 5: *result = a << (b & 31); break;
    case 6: *result = a >> (b & 31); break;
    case 7: *result = a & b; break;
    case 8: *result = a | b; break;
    case 9: *result = a ^ b; break;
    case 10: *result = a < b; break;
    case 11: *result = a <= b; break;
    case 12: *result = a > b; break;
    case 13: *result = a >= b; break;
    case 14: *result = a == b; break;
    case 15: *result = a != b; break;
    case 16: *result = a && b; break;
    default: *result = a || b;
    }
    return true;
}

// --- Expressions ---

typedef struct nest {           // (x inner y) outer (y inner z)
    int outer, inner;
    int slot[3];                // x, y, z: 0 is a, 1 is b, 2 is c
    uint32_t most;              // that it comes to, of all records
} nest;

static bool value_of(const nest *n, const record *r, uint32_t *value)
{
    const uint32_t of[] = {r->a, r->b, r->c};
    uint32_t left, right;
    return apply(n->inner, of[n->slot[0]], of[n->slot[1]], &left) &&
           apply(n->inner, of[n->slot[1]], of[n->slot[2]], &right) && apply(n->outer, left, right, value);
}

static bool suits(nest *n, const record *records, size_t count)
{
    n->most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        if (!value_of(n, &records[i], &value)) return false;
        if (value > n->most) n->most = value;
    }
    return true;
}

// The operands that suit best: nothing is divided by zero, and it is small enough to count to if that can be.
static nest nest_of(int outer, int inner, const record *records)
{
    nest best = {.slot = {-1}};
    for (int choice = 0; choice < 27; choice++) {
        nest n = {outer, inner, {choice % 3, (choice / 3 + 1) % 3, (choice / 9 + 2) % 3}, 0};
        if (!suits(&n, records, RECORDS)) continue;
        if (best.slot[0] < 0 || (best.most > MOST_TURNS && n.most <= MOST_TURNS)) best = n;
    }
    cr_assert_geq(best.slot[0], 0, "%s in %s: no operands suit", operators[inner], operators[outer]);
    return best;
}

static const char *text_of(const nest *n, const char *of)
{
    const char x = "abc"[n->slot[0]], y = "abc"[n->slot[1]], z = "abc"[n->slot[2]];
    return hdst__arena_printf(&arena, "(%s.%c %s %s.%c) %s (%s.%c %s %s.%c)", of, x, operators[n->inner], of, y,
                              operators[n->outer], of, y, operators[n->inner], of, z);
}

// --- Programs ---

static record records[RECORDS], shared[2];
static uint32_t constants[ROOM];

static void make_records(void)
{
    for (uint32_t k = 0; k < ROOM; k++) constants[k] = k * k + 11;
    for (uint32_t i = 0; i < RECORDS; i++) {
        records[i] = (record){.a = 8 + i % 5, .b = 4 + i / 5 % 3, .c = 1 + i % 3};
        for (uint32_t k = 0; k < ROOM; k++) records[i].v[k] = 1000 * i + 17 * k;
    }
    for (uint32_t row = 0; row < 2; row++) {
        shared[row] = records[7 + row];
        for (uint32_t k = 0; k < ROOM; k++) shared[row].v[k] = 70000 * (row + 1) + 13 * k;
    }
}

static const char *head(void)
{
    const char *text = "struct record { uint32_t a, b, c; uint32_t v[64]; };\n"
                       "struct result { uint32_t s[36]; };\n"
                       "struct totals { uint64_t whole; };\n"
                       "const uint32_t w[64] = {";
    for (int k = 0; k < ROOM; k++) text = hdst__arena_printf(&arena, "%s%s%u", text, k ? ", " : " ", constants[k]);
    return hdst__arena_printf(&arena, "%s };\n", text);
}

// As a bound, an index of an array, of a field, of a row, a condition, an addend, a value.
static const char *map_text(const nest *n, bool loops)
{
    const char *text = hdst__arena_printf(&arena, "%smap all(record r, broadcast record q[], accum totals t[]) -> result\n{\n    result o;\n", head());
    for (int k = 0; k < SUMS; k++) {
        const char *own = text_of(&n[k], "r"), *alike = text_of(&n[k], "q[1]"), *all = hdst__arena_printf(&arena, "    uint32_t s%d = %s;\n", k, own);
        if (loops && n[k].most <= MOST_TURNS)
            all = hdst__arena_printf(&arena,
                                     "%s    for (uint32_t i = 0; i < (%s); i++) s%d = s%d * 3 + i;\n"
                                     "    for (uint32_t i = 0; i < (%s); i++) s%d += i * w[i];\n",
                                     all, own, k, k, alike, k);
        if (!loops && n[k].most < ROOM) all = hdst__arena_printf(&arena, "%s    s%d += w[%s] + r.v[%s] * 3 + q[0].v[%s];\n", all, k, own, own, own);
        if (!loops) all = hdst__arena_printf(&arena, "%s    if (%s) s%d += 77777;\n    t[(%s) & 3].whole += %s;\n", all, own, k, own, own);
        all = hdst__arena_printf(&arena, "%s    o.s[%d] = s%d;\n", all, k, k);
        text = hdst__arena_printf(&arena, "%s%s", text, all);
    }
    return hdst__arena_printf(&arena, "%s%s    return o;\n}\n", text, loops ? "    t[0].whole += 1;\n" : "");
}

static const char *emit_text(const nest *n)
{
    const char *text = hdst__arena_printf(&arena, "%sflat_map some(record r) -> uint32_t\n{\n", head());
    for (int k = 0; k < SUMS; k++)
        text = hdst__arena_printf(&arena, "%s    %semit(%s);\n", text,
                                  k % 8 ? hdst__arena_printf(&arena, "if (%s) ", text_of(&n[k], "r")) : "",
                                  text_of(&n[(k * 5 + 1) % SUMS], "r"));
    return hdst__arena_printf(&arena, "%s}\n", text);
}

// --- What is expected ---

typedef struct result { uint32_t s[SUMS]; } result;

static result sums_of(const nest *n, bool loops, const record *r, uint64_t totals[4])
{
    result o;
    for (int k = 0; k < SUMS; k++) {
        uint32_t own, alike, s;
        cr_assert(value_of(&n[k], r, &own) && value_of(&n[k], &shared[1], &alike));
        s = own;
        for (uint32_t i = 0; loops && n[k].most <= MOST_TURNS && i < own; i++) s = s * 3 + i;
        for (uint32_t i = 0; loops && n[k].most <= MOST_TURNS && i < alike; i++) s += i * constants[i];
        if (!loops && n[k].most < ROOM) s += constants[own] + r->v[own] * 3 + shared[0].v[own];
        if (!loops && own) s += 77777;
        if (!loops) totals[own & 3] += own;
        o.s[k] = s;
    }
    return o;
}

static size_t emitted_of(const nest *n, uint32_t *out)
{
    size_t count = 0;
    for (int i = 0; i < RECORDS; i++)
        for (int k = 0; k < SUMS; k++) {
            uint32_t condition, value;
            cr_assert(value_of(&n[k], &records[i], &condition) && value_of(&n[(k * 5 + 1) % SUMS], &records[i], &value));
            if (k % 8 == 0 || condition) out[count++] = value;
        }
    return count;
}

// --- Running ---

static ir_func *lowered(const char *text, const char *name)
{
    ast_module *module = hdst__module_compile(&diags, "precedence.hk", text, strlen(text), NULL);
    cr_assert_eq(diags.errors, 0, "%s\n%s", diags.items[0].message, text);
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_null(hdst__passes_scalar(func));
    return func;
}

static const uint64_t rows[] = {0, 2, 4, 0, 0};

// `plain`: record by record. Of loops around blocks of records the driver's compiler makes a hundred times as much; the text of their bounds is the same.
static kernel_case case_of(const ir_func *func, int form, bool plain, const hdst__storage *input, void *const *buffers, const hdst__interp_table *broadcast)
{
    const hdst__kernel_options options = {.facts = {form ? HDST__TARGET_GPU : HDST__TARGET_CPU, 48 << 10, 1024, 2, true,
                                                    true, true, cl_run_is_simulated(&run)},
                                          .input = input, .rows = rows, .no_blocks = plain};
    const hdst__kernel *kernel = hdst__kernel_make(&arena, func, &options, &diags);
    cr_assert_not_null(kernel);
    return (kernel_case){.kernel = kernel, .func = func, .input = input, .input_buffers = buffers, .count = RECORDS,
                         .broadcast = broadcast, .rows = rows, .flush = 1 << 20, .groups = 2};
}

static void expect_results(const nest *n, bool loops, const char *who, const result *got, const hdst__tables *tables, const int64_t *table)
{
    uint64_t totals[4] = {0};
    for (int i = 0; i < RECORDS; i++) {
        const result want = sums_of(n, loops, &records[i], totals);
        for (int k = 0; k < SUMS; k++)
            cr_assert_eq(got[i].s[k], want.s[k], "%s, record %d: %s gives %u, not %u", who, i, text_of(&n[k], "r"),
                         got[i].s[k], want.s[k]);
    }
    if (loops) totals[0] = RECORDS;
    for (uint64_t row = 0; row < 4; row++) cr_assert_eq(hdst__table_read(tables, rows, table, 0, row, 0, 0), totals[row], "%s: total of row %d", who, (int)row);
}

static const char *const forms[] = {"form for CPU devices", "form for GPUs"};

static void check_map(const nest *n, bool loops)
{
    ir_func *func = lowered(map_text(n, loops), "all");
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS);
    void *buffers[] = {records};
    const hdst__interp_table broadcast[] = {{0}, {shared, 2}, {0}, {0}};
    static result got[RECORDS];
    int64_t table[64] = {0};
    hdst__interp_run interp = {.func = func, .input = {input}, .input_buffers = {(const void *const[]){records}},
                               .count = RECORDS, .broadcast = broadcast, .accum_rows = rows,
                               .tables = hdst__ir_accum_tables(&arena, func, NULL), .device_table = table,
                               .output = got};
    hdst_error error;
    cr_assert_eq(hdst__interpret(&interp, &error), HDST_OK, "%s", error.message);
    expect_results(n, loops, "interpreter", got, interp.tables, table);
    for (int form = 0; form < 2; form++) {
        memset(table, 0, sizeof table);
        memset(got, 0xee, sizeof got);
        kernel_case c = case_of(func, form, loops, input, buffers, broadcast);
        c.device_table = table;
        c.output = got;
        c.output_bytes = sizeof got;
        cr_assert(kernel_run(&run, &c));
        expect_results(n, loops, forms[form], got, c.kernel->tables, table);
    }
}

static void check_emits(const nest *n)
{
    static uint32_t got[RECORDS * SUMS], want[RECORDS * SUMS];
    const size_t expected = emitted_of(n, want);
    ir_func *func = lowered(emit_text(n), "some");
    const hdst__storage *input = hdst__storage_make(&arena, func->params[0].record, HDST__AOS, 0, RECORDS);
    void *buffers[] = {records};
    for (int form = 0; form < 2; form++) {
        kernel_case c = case_of(func, form, false, input, buffers, NULL);
        c.output = got;
        c.output_bytes = sizeof got;
        cr_assert(kernel_run(&run, &c));
        cr_assert_eq(c.emitted, expected, "%s: %d records come out, not %zu", forms[form], (int)c.emitted, expected);
        for (size_t i = 0; i < expected; i++) cr_assert_eq(got[i], want[i], "%s: record %zu that comes out", forms[form], i);
    }
}

static void nests_from(int first, nest n[SUMS])
{
    for (int k = 0; k < SUMS; k++) {
        const int pair = first + k;
        n[k] = nest_of(pair / OPERATORS, pair % OPERATORS, records);
    }
}

// Operators of neighbouring lines of C's table stand in each kernel, so each part is a test of its own.
static void check_part(int part)
{
    nest n[SUMS];
    make_records();
    nests_from(part * SUMS, n);
    check_map(n, false);
    check_map(n, true);
    check_emits(n);
}

_Static_assert(PAIRS == 9 * SUMS, "a part for all pairs");
Test(precedence, within_plus_and_minus) { check_part(0); }
Test(precedence, within_times_and_division) { check_part(1); }
Test(precedence, within_remainder_and_left_shift) { check_part(2); }
Test(precedence, within_right_shift_and_bitwise_and) { check_part(3); }
Test(precedence, within_bitwise_or_and_exclusive_or) { check_part(4); }
Test(precedence, within_less_and_at_most) { check_part(5); }
Test(precedence, within_greater_and_at_least) { check_part(6); }
Test(precedence, within_equal_and_unequal) { check_part(7); }
Test(precedence, within_logical_and_and_or) { check_part(8); }
