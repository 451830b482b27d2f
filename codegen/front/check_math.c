// SPDX-License-Identifier: Apache-2.0
// Mathematics: a call of exp() becomes a call of the helper function exp_float or exp_double of codegen/math/. A file of that
// folder is read when the first of its functions is called. Its functions see those of the folder and nothing of the user's, and
// are checked after the user's.
#include "codegen/front/check.h"
#include "codegen/front/math.h"

#include <assert.h>
#include <string.h>

// Switches the visible names to those of the mathematics, or back to the user's.
static void change_names(hdst__checker *c)
{
    const hdst__names now = {c->globals, c->functions, c->structs_by_name, c->records};
    c->globals = c->other.globals, c->functions = c->other.functions, c->structs_by_name = c->other.structs, c->records = c->other.records;
    c->other = now;
    c->in_math = !c->in_math;
}

static void read_file(hdst__checker *c, size_t number)
{
    const hdst__math_file *file = &hdst__math_files[number];
    if (!c->math_read) c->math_read = HDST__NEW_ARRAY(c->arena, bool, hdst__math_file_count);
    if (c->math_read[number]) return;
    c->math_read[number] = true;
    const ast_file *parsed = hdst__parse(c->diags, hdst__diags_add_source(c->diags, file->name, file->text, file->length));
    for (size_t i = 0; i < parsed->global_count; i++) hdst__name_map_add(&c->globals, c->arena, parsed->globals[i]->name, parsed->globals[i]);
    for (size_t i = 0; i < parsed->struct_count; i++) hdst__name_map_add(&c->structs_by_name, c->arena, parsed->structs[i]->name, parsed->structs[i]);
    for (size_t i = 0; i < parsed->function_count; i++) {
        parsed->functions[i]->of_hdst = true;
        hdst__name_map_add(&c->functions, c->arena, parsed->functions[i]->name, parsed->functions[i]);
    }
}

ast_function *hdst__check_find_math(hdst__checker *c, const char *name)
{
    size_t at = 0;
    while (at < hdst__math_function_count && strcmp(hdst__math_functions[at].name, name)) at++;
    if (at == hdst__math_function_count) return NULL;
    const bool outside = !c->in_math;
    if (outside) change_names(c);
    read_file(c, hdst__math_functions[at].file);
    ast_function *f = hdst__name_map_find(&c->functions, name);
    assert(f);      // embed.py found it there
    if (!f->result) {
        hdst__check_signature(c, f);
        HDST__PUSH(c->arena, c->math_called, c->math_called_count, c->math_called_capacity, f);
    }
    if (outside) change_names(c);
    return f;
}

ast_function *hdst__check_math_of(hdst__checker *c, const char *name, hdst__kind kind)
{
    ast_function *f = hdst__check_find_math(c, hdst__arena_printf(c->arena, "%s_%s", name, kind == HDST__F32 ? "float" : "double"));
    assert(f);      // every name in builtins.h has both
    return f;
}

// Checks the functions that are called; they may call others, which are added behind them.
void hdst__check_math_functions(hdst__checker *c)
{
    change_names(c);
    for (size_t i = 0; i < c->math_called_count; i++) hdst__check_function(c, c->math_called[i]);
    change_names(c);
}
