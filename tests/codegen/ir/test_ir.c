// SPDX-License-Identifier: Apache-2.0
// Building, copying, dumping and verifying IR, on functions made by hand.
#include "codegen/ir/ir.h"

#include <criterion/criterion.h>
#include <string.h>

static hdst__arena arena;
static jmp_buf out_of_memory;
static ir_func *func;
static hdst__record point;

static const hdst__span nowhere;

static void set_up(void)
{
    hdst__arena_init(&arena, NULL, &out_of_memory);
    const char *why = NULL;
    hdst__field fields[] = {{.name = "x", .type = hdst__type_array(&arena, hdst__type_scalar(HDST__F32), 2)},
                            {.name = "n", .type = hdst__type_scalar(HDST__U32)}};
    point = (hdst__record){.name = "point", .fields = fields, .field_count = 2};
    cr_assert(hdst__record_finish(&arena, &point, &why));
    func = HDST__NEW(&arena, ir_func);
    func->arena = &arena;
    func->name = "f";
    hdst__ir_add_param(func, (ir_param){.kind = IR_INPUT, .name = "p", .record = &point});
    hdst__ir_add_param(func, (ir_param){.kind = IR_ACCUM_TABLE, .name = "t", .record = &point, .is_table = true});
}

static void tear_down(void) { hdst__arena_destroy(&arena); }

TestSuite(ir, .init = set_up, .fini = tear_down);

static ir_expr *field(uint32_t leaf, hdst__kind kind, ir_expr *element)
{
    ir_expr *e = hdst__ir_const(func, kind, 0);
    e->op = IR_FIELD;
    e->leaf = leaf;
    e->a = element;
    return e;
}

// for (i = 0; i < 2; i++) if (p.x[i] < 1) t[p.n].x[i] += p.x[i];
static ir_stmt *make_loop(void)
{
    uint32_t i = hdst__ir_add_var(func, "i", HDST__U32, 0);
    ir_stmt *loop = hdst__ir_for(func, i, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, 2), 1);
    ir_expr *x = field(0, HDST__F32, hdst__ir_var(func, i));
    ir_stmt *test = hdst__ir_if(func, hdst__ir_binary(func, IR_LT, HDST__BOOL, x, hdst__ir_const(func, HDST__F32, 0x3f800000)));
    ir_stmt *add = hdst__ir_stmt(func, IR_ACCUM, nowhere);
    add->param = 1;
    add->index = field(1, HDST__U32, NULL);
    add->index2 = hdst__ir_var(func, i);
    add->value = hdst__ir_copy(func, x);
    hdst__ir_push(func, &test->then, add);
    hdst__ir_push(func, &loop->body, test);
    hdst__ir_push(func, &func->body, loop);
    return loop;
}

static void assert_dump(const ir_func *f, const char *expected)
{
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__ir_dump(f, &text);
    cr_expect_str_eq(hdst__buffer_text(&text), expected, "%s", hdst__buffer_text(&text));
    hdst__buffer_destroy(&text);
}

static const char *const loop_text = "func f\n"
                                     "  input point p {f32 x[2], u32 n}\n"
                                     "  accum point t[] {f32 x[2], u32 n}\n"
                                     "  var u32 i\n"
                                     "{\n"
                                     "  for i = 0u to 2u {\n"
                                     "    if lt(p.x[i], 1f) {\n"
                                     "      accum t[p.n].x[i] += p.x[i]\n"
                                     "    }\n"
                                     "  }\n"
                                     "}\n";

Test(ir, dump_shows_structure_and_leaves_by_name)
{
    make_loop();
    cr_assert_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
    assert_dump(func, loop_text);
}

Test(ir, a_copy_is_independent_of_its_original)
{
    ir_stmt *loop = make_loop();
    ir_func *copy = hdst__ir_copy_func(&arena, func);
    loop->hi->bits = 7;
    loop->body.items[0]->cond->op = IR_GE;
    func->vars[0].name = "j";
    assert_dump(copy, loop_text);
}

Test(ir, names_of_variables_are_unique)
{
    hdst__ir_add_var(func, "d", HDST__F32, 0);
    uint32_t second = hdst__ir_add_var(func, "d", HDST__F32, 0), third = hdst__ir_add_var(func, "d", HDST__F32, 0);
    cr_expect_str_eq(func->vars[second].name, "d_2");
    cr_expect_str_eq(func->vars[third].name, "d_3");
}

Test(ir, reads_and_writes_are_counted_in_nested_statements)
{
    ir_stmt *loop = make_loop();
    cr_expect_eq(hdst__ir_block_reads(&func->body, loop->var), 3);
    cr_expect_eq(hdst__ir_block_writes(&func->body, loop->var), 1);
    hdst__ir_substitute(func, &loop->body, loop->var, hdst__ir_const(func, HDST__U32, 1));
    cr_expect_eq(hdst__ir_block_reads(&func->body, loop->var), 0);
}

static void assert_wrong(const char *expected)
{
    const char *wrong = hdst__ir_verify(func);
    cr_assert_not_null(wrong);
    cr_expect_str_eq(wrong, expected);
}

Test(ir, verifier_finds_operands_of_two_types)
{
    make_loop()->body.items[0]->cond->b->kind = HDST__F64;
    assert_wrong("f: operands of two types in 'lt'");
}

Test(ir, verifier_finds_a_missing_operand)
{
    make_loop()->body.items[0]->cond->b = NULL;
    assert_wrong("f: operand missing in 'lt'");
}

Test(ir, verifier_finds_a_loop_variable_written_in_its_loop)
{
    ir_stmt *loop = make_loop();
    hdst__ir_push(func, &loop->body, hdst__ir_set(func, loop->var, hdst__ir_const(func, HDST__U32, 9)));
    assert_wrong("f: a loop's variable is written in it in 'set'");
}

Test(ir, verifier_finds_a_bound_written_in_its_loop)
{
    ir_stmt *loop = make_loop();
    const uint32_t begin = hdst__ir_add_var(func, "begin", HDST__U32, 0);
    loop->lo = hdst__ir_var(func, begin);
    cr_expect_null(hdst__ir_verify(func));
    hdst__ir_push(func, &func->body, hdst__ir_set(func, begin, hdst__ir_const(func, HDST__U32, 9)));
    cr_expect_null(hdst__ir_verify(func), "behind it all is well");
    hdst__ir_push(func, &loop->body, hdst__ir_set(func, begin, hdst__ir_const(func, HDST__U32, 9)));
    assert_wrong("f: what a loop's bounds read is written in it in 'set'");
}

Test(ir, verifier_finds_a_loop_that_counts_by_its_own_bound)
{
    ir_stmt *loop = make_loop(),
            *inner = hdst__ir_for(func, hdst__ir_add_var(func, "end", HDST__U32, 0), hdst__ir_const(func, HDST__U32, 0),
                                  hdst__ir_const(func, HDST__U32, 3), 1);
    loop->hi = hdst__ir_var(func, inner->var);
    hdst__ir_push(func, &loop->body, inner);
    assert_wrong("f: what a loop's bounds read is written in it in 'for'");
}

Test(ir, verifier_finds_an_accumulation_into_an_input)
{
    make_loop()->body.items[0]->then.items[0]->param = 0;
    assert_wrong("f: wrong kind of parameter in 'accum'");
}

Test(ir, verifier_finds_a_break_outside_of_loops)
{
    hdst__ir_push(func, &func->body, hdst__ir_stmt(func, IR_BREAK, nowhere));
    assert_wrong("f: outside of a loop in 'break'");
}

Test(ir, verifier_finds_record_loops_in_scalar_form)
{
    hdst__ir_push(func, &func->body, hdst__ir_stmt(func, IR_RECORDS, nowhere));
    assert_wrong("f: record loop out of place in 'records'");
}

Test(ir, verifier_finds_control_flow_in_a_vectorised_record_loop)
{
    make_loop();
    ir_stmt *records = hdst__ir_stmt(func, IR_RECORDS, nowhere);
    records->body = func->body;
    func->body = (ir_block){0};
    func->block = 64;
    hdst__ir_push(func, &func->body, records);
    func->vars[0].varying = true;
    cr_expect_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
    records->vectorize = true;
    assert_wrong("f: a vectorised record loop holds in 'for'");
}

Test(ir, verifier_finds_input_read_outside_of_record_loops)
{
    make_loop();
    func->block = 64;
    assert_wrong("f: input read outside of a record loop in 'field'");
}

Test(ir, verifier_finds_a_counter_of_record_loops_read_outside)
{
    const uint32_t sum = hdst__ir_add_var(func, "sum", HDST__U32, 0), i = hdst__ir_add_var(func, "i", HDST__U32, 0);
    ir_stmt *records = hdst__ir_stmt(func, IR_RECORDS, nowhere), *read = hdst__ir_set(func, sum, hdst__ir_var(func, i));
    hdst__ir_push(func, &records->body, hdst__ir_for(func, i, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, 3), 1));
    func->block = 64;
    hdst__ir_push(func, &func->body, read);
    cr_expect_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
    hdst__ir_push(func, &func->body, records);
    assert_wrong("f: variable that only counts within record loops, outside of one in 'var'");
    ir_stmt *around = hdst__ir_for(func, i, hdst__ir_const(func, HDST__U32, 0), hdst__ir_const(func, HDST__U32, 3), 1);
    hdst__ir_push(func, &around->body, read);
    func->body.items[0] = around;
    cr_expect_null(hdst__ir_verify(func), "%s", hdst__ir_verify(func));
}
