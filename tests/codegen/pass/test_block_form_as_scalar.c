// SPDX-License-Identifier: Apache-2.0
// The block form. Its structure, counted in the dump; and its meaning: turned back into scalar form with blocks of one record, where everything that must not
// live across record loops is overwritten before each, it gives the bits of the scalar form.
#include "tests/support/ir_text.h"
#include "tests/support/program_suite.h"
#include "codegen/ir/accum_tables.h"
#include "codegen/front/front.h"
#include "codegen/lower/lower.h"
#include "codegen/pass/passes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(block, .init = set_up, .fini = tear_down);

static ir_func *scalar_form(const char *name)
{
    ir_func *func = hdst__lower(&arena, module, hdst__module_function(module, name));
    cr_assert_not_null(func);
    const char *wrong = hdst__passes_scalar(func);
    cr_assert_null(wrong, "%s", wrong);
    return func;
}

static ir_func *block_form(const ir_func *scalar, const hdst__precision_class *classes)
{
    ir_func *func = hdst__ir_copy_func(&arena, scalar);
    const char *wrong = hdst__passes_block(func, hdst__ir_accum_tables(&arena, func, classes));
    cr_assert_null(wrong, "%s: %s", scalar->name, wrong);
    return func;
}

static const char *dump(const ir_func *func)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(func, &text);
    char *copy = hdst__arena_strdup(&arena, hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
    return copy;
}

// How often a part stands in the body (not among the variables).
static int count(const char *text, const char *part)
{
    int found = 0;
    for (text = strstr(text, "\n{\n"); (text = strstr(text, part)); text += strlen(part)) found++;
    return found;
}

#define EXPECT_COUNT(text, part, n) cr_expect_eq(count((text), (part)), (n), "%d of '%s' in\n%s", count((text), (part)), (part), (text))

// --- Structure ---

Test(block, kmeans_has_the_uniform_loop_outside_unrolled_by_four)
{
    const char *text = dump(block_form(scalar_form("kmeans"), NULL));
    EXPECT_COUNT(text, "jammed 4", 1);
    EXPECT_COUNT(text, "for j", 2);                 // and the remainder
    EXPECT_COUNT(text, "records vectorize", 4);     // start, four centers, one center, conversion
    EXPECT_COUNT(text, "records (rare", 1);
    EXPECT_COUNT(text, "records (additions", 1);
    EXPECT_COUNT(text, "taken = lt(d, best_d)", 5);
    EXPECT_COUNT(text, "= mul(e, e)", 5);           // the sum starts with the first square
    EXPECT_COUNT(text, "= fma(e_2, e_2, d)", 5);    // each turn of the unrolled loop has a variable of its own
    EXPECT_COUNT(text, "= c[", 10);                 // centers are loaded into scalars, none in a record loop
    EXPECT_COUNT(text, "c[", 10);
    EXPECT_COUNT(text, "check", 1);                 // best against the rows of t: the loop proves all others
    EXPECT_COUNT(text, "words t[row]", 3);
    EXPECT_COUNT(text, "block inertia.value", 1);
    EXPECT_COUNT(text, "reduce", 1);                // exceptions
}

Test(block, sums_of_doubles_take_the_block)
{
    const char *text = dump(block_form(scalar_form("laws"), NULL));
    EXPECT_COUNT(text, "block real.value += addend", 3);        // both branches; and in a loop that records leave apart
    EXPECT_COUNT(text, "superaccumulator real.value", 0);
    EXPECT_COUNT(text, "reduce exceptions", 0);
}

Test(block, loops_that_records_leave_apart_are_vectorised)
{
    const char *text = dump(block_form(scalar_form("loops"), NULL));
    EXPECT_COUNT(text, "records (", 0);
    EXPECT_COUNT(text, "block 64", 0);              // of the body, that is: it stands in front
    cr_expect(strstr(text, "  block 64\n"));
}

Test(block, additions_to_a_table_in_a_loop_that_records_leave_apart_stay_inside_and_say_why)
{
    const char *text = dump(block_form(scalar_form("collatz"), NULL));
    EXPECT_COUNT(text, "records (records leave a loop at different turns)", 1);
}

Test(block, a_conditional_continue_in_a_uniform_loop_becomes_selects)
{
    const char *text = dump(block_form(scalar_form("far_from_all"), NULL));
    EXPECT_COUNT(text, "records (", 0);
}

// --- Meaning ---

static ir_stmt *garbage(ir_func *func, uint32_t var)
{
    hdst__kind kind = func->vars[var].kind;
    uint64_t bits = kind == HDST__BOOL ? 1 : kind == HDST__F32 ? 0x7fc12345u : kind == HDST__F64 ? 0x7ff8000012345678u : 77;
    return hdst__ir_set(func, var, hdst__ir_const(func, kind, bits));
}

static void spoil(ir_func *func, ir_block *out, bool all)
{
    for (uint32_t v = 0; v < func->var_count; v++) {
        const ir_var *var = &func->vars[v];
        if (!var->elements && (all || (var->varying && !var->per_record))) hdst__ir_push(func, out, garbage(func, v));
    }
}

static ir_op reduction(hdst__accumulate_op acc)
{
    return acc == HDST__SUM ? IR_ADD : acc == HDST__OR ? IR_OR : acc == HDST__XOR ? IR_XOR : IR_MAX;
}

// A word of an integer back to what was accumulated. Keys of minimum and maximum have no way back: programs with them are left to the tests with drivers.
static void unword(ir_func *func, ir_stmt *s)
{
    const ir_param *param = &func->params[s->param];
    hdst__kind kind = param->record->leaves[s->leaf].kind;
    s->acc = param->leaf_op[s->leaf];
    s->value = hdst__ir_convert(func, kind, s->value);
    if (s->acc == HDST__AND) s->value = hdst__ir_unary(func, kind == HDST__BOOL ? IR_NOT : IR_BITNOT, kind, s->value);
    s->kind = IR_ACCUM;
}

static void unblock(ir_func *func, ir_block *block)
{
    ir_block out = {0};
    for (size_t i = 0; i < block->count; i++) {
        ir_stmt *s = block->items[i];
        ir_block *nested[HDST__IR_NESTED];
        for (int n = 0, nests = hdst__ir_nested(s, nested); n < nests; n++) unblock(func, nested[n]);
        if (s->kind == IR_REDUCE) {
            s->value = hdst__ir_binary(func, reduction(s->acc), s->value->kind, hdst__ir_var(func, s->var), s->value);
            s->kind = IR_SET;
        } else if (s->kind == IR_ACCUM_WORDS) {
            unword(func, s);
        } else if (s->kind == IR_ACCUM_SUPERACCUMULATOR) {
            s->kind = IR_ACCUM;
            s->acc = HDST__SUM;
        } else if (s->kind == IR_ACCUM_BLOCK) {
            s->kind = IR_ACCUM;
            s->value = hdst__ir_convert(func, func->params[s->param].record->leaves[s->leaf].kind, s->value);
        }
        if (s->kind == IR_RECORDS) {
            spoil(func, &out, false);
            for (size_t k = 0; k < s->body.count; k++) hdst__ir_push(func, &out, s->body.items[k]);
        } else {
            hdst__ir_push(func, &out, s);
        }
    }
    *block = out;
}

static void compare_forms(const char *name)
{
    ir_func *scalar = scalar_form(name);
    hdst__precision_class classes[64];
    for (int i = 0; i < 64; i++) classes[i] = HDST__CLASS_SUPERACCUMULATOR;
    ir_func *func = block_form(scalar, classes);
    const char *text = dump(func);
    unblock(func, &func->body);
    ir_block all = {0};
    spoil(func, &all, true);
    for (size_t i = 0; i < func->body.count; i++) hdst__ir_push(func, &all, func->body.items[i]);
    func->body = all;
    func->block = 0;
    cr_assert_null(hdst__ir_verify(func), "%s\n%s", hdst__ir_verify(func), text);
    for (unsigned seed = 0; seed < 8; seed++) {
        program_result a = program_run(&arena, scalar, seed), b = program_run(&arena, func, seed);
        cr_assert(program_same(&a, &b), "%s, seed %u\n%s", name, seed, text);
    }
}

Test(block, form_computes_what_the_scalar_form_computes)
{
    static const char *const names[] = {"kmeans", "far_away", "arithmetic", "choices", "helpers", "loops", "returns", "fails", "laws", "steps", "far_from_all",
                                        "positive", "picky", "shrink", "checked", "few", "count", "add"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) compare_forms(names[i]);
}

Test(block, the_counter_of_a_loop_inside_a_record_loop_lives_there_only)
{
    const char *wrong = NULL;
    ir_func *func = ir_text_read(&arena,
                                 "func f\n"
                                 "  input p p {u32 n}\n"
                                 "  accum uint64_t t {u64 value}\n"
                                 "  accum uint64_t u[] {u64 value}\n"
                                 "  var u32 i\n"
                                 "  var u32 j\n"
                                 "  var u32 a\n"
                                 "{\n"
                                 "  a = p.n\n"
                                 "  i = 0u\n"
                                 "  loop while lt(i, 3u) {\n"
                                 "    for j = 0u to p.n {\n"
                                 "      a = add(a, 7u)\n"
                                 "      accum u[select(lt(u64(a), length(u)), u64(a), 0ul)].value += 1ul\n"
                                 "    }\n"
                                 "    i = add(i, 1u)\n"
                                 "  }\n"
                                 "  accum t.value += u64(a)\n"
                                 "}\n",
                                 &wrong);
    cr_assert_not_null(func, "%s", wrong);
    hdst__pass_uniformity(func);
    wrong = hdst__passes_block(func, hdst__ir_accum_tables(&arena, func, NULL));
    cr_assert_null(wrong, "%s", wrong);
    for (size_t v = 0; v < func->var_count; v++) {
        if (!strcmp(func->vars[v].name, "j")) cr_expect(func->vars[v].varying && !func->vars[v].per_record);
        if (!strcmp(func->vars[v].name, "a")) cr_expect(func->vars[v].per_record, "it goes from turn to turn");
    }
}
