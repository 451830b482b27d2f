// SPDX-License-Identifier: Apache-2.0
// The state of the printers: names of parameters and variables, the text under way.
#include "codegen/opencl/printer.h"

#include <inttypes.h>
#include <string.h>

// --- Names ---

static void name_params(hdst__printer *p)
{
    const ir_func *func = p->func;
    p->param_name = HDST__NEW_ARRAY(p->arena, const char *, func->param_count);
    p->leaf_name = HDST__NEW_ARRAY(p->arena, const char **, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) {
        const ir_param *param = &func->params[i];
        p->param_name[i] = hdst__name_take(p->names, param->name && param->name[0] ? param->name : param->kind == IR_OUTPUT ? "result" : "value");
        p->leaf_name[i] = HDST__NEW_ARRAY(p->arena, const char *, param->record->leaf_count);
        for (size_t l = 0; l < param->record->leaf_count; l++)
            p->leaf_name[i][l] = hdst__name_take(p->names, hdst__arena_printf(p->arena, "%s%s", p->param_name[i], param->record->leaves[l].path));
    }
}

// The forms of a function share its constants; functions that were fused may have others of the same name.
static bool is_same_constant(const ir_var *a, const ir_var *b)
{
    if (a->kind != b->kind || a->elements != b->elements || strcmp(a->name, b->name)) return false;
    return a->init == b->init || !memcmp(a->init, b->init, a->elements * sizeof *a->init);
}

static const char *constant_name(hdst__printer *p, const ir_var *var)
{
    for (size_t i = 0; i < p->constant_count; i++)
        if (is_same_constant(p->constants[i].var, var)) return p->constants[i].name;
    hdst__constant_array constant = {hdst__name_take(p->names, var->name), var};
    HDST__PUSH(p->arena, p->constants, p->constant_count, p->constant_capacity, constant);
    return constant.name;
}

void hdst__printer_use(hdst__printer *p, const ir_func *func)
{
    p->func = func;
    p->in_block = func->block > 0;
    for (size_t v = 0; v < func->var_count; v++)        // constants stay for all forms
        if (func->vars[v].init) constant_name(p, &func->vars[v]);
    p->var_name = HDST__NEW_ARRAY(p->arena, const char *, func->var_count + 1);
    p->array_name = HDST__NEW_ARRAY(p->arena, const char *, func->var_count + 1);
    p->form_names = hdst__names_create(p->arena, p->names);     // another form's variables live in a scope of their own
    for (size_t v = 0; v < func->var_count; v++) {
        const ir_var *var = &func->vars[v];
        if (var->init) p->var_name[v] = constant_name(p, var);
        else p->var_name[v] = hdst__name_take(p->form_names, var->name && var->name[0] ? var->name : "tmp");
        if (var->per_record && !var->elements) p->array_name[v] = hdst__arena_printf(p->arena, "%sOf", p->var_name[v]);
    }
}

hdst__printer_scope hdst__printer_scope_of(const hdst__printer *p)
{
    return (hdst__printer_scope){p->func, p->var_name, p->array_name, p->form_names};
}

void hdst__printer_return(hdst__printer *p, hdst__printer_scope scope)
{
    p->func = scope.func;
    p->var_name = scope.var_name;
    p->array_name = scope.array_name;
    p->form_names = scope.form_names;
}

const char *hdst__leaf_name(hdst__printer *p, uint32_t param, uint32_t leaf)
{
    return p->leaf_name[param][leaf];
}

bool hdst__leaf_is_used(const ir_param *param, size_t leaf)
{
    return !param->leaf_used || param->leaf_used[leaf];
}

// --- The printer ---

static bool find_check(ir_stmt *stmt, void *user)
{
    *(bool *)user |= stmt->kind == IR_CHECK;
    return true;
}

static bool checks_anything(const ir_func *func)       // what the passes could not prove
{
    bool found = false;
    ir_block body = func->body;
    hdst__ir_visit_stmts(&body, find_check, &found);
    return found;
}

hdst__printer *hdst__printer_create(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options,
    const hdst__tables *tables, const hdst__form *form)
{
    hdst__printer *p = HDST__NEW(arena, hdst__printer);
    *p = (hdst__printer){.arena = arena, .func = func, .options = options, .tables = tables, .form = form, .output = hdst__ir_output(func)};
    p->out = p->arg_text = (hdst__writer){.arena = arena};
    p->names = p->form_names = hdst__names_create(arena, NULL);
    p->gpu = options->facts.target == HDST__TARGET_GPU;
    p->has_checks = checks_anything(func);
    p->plan = HDST__NEW_ARRAY(arena, hdst__accum_plan, tables->accum_count + 1);
    name_params(p);
    for (size_t a = 0; a < tables->accum_count; a++) {
        p->plan[a].accum = &tables->accum[a];
        p->plan[a].name = p->param_name[tables->accum[a].param];
    }
    return p;
}

// --- Text ---

const char *hdst__print_section(hdst__printer *p, void (*print)(hdst__printer *p))
{
    hdst__writer outer = p->out;
    p->out = (hdst__writer){.arena = p->arena};
    print(p);
    const char *text = hdst__writer_text(&p->out);
    p->out = outer;
    return text;
}

void hdst__print_source_line(hdst__printer *p, const ir_stmt *stmt)
{
    const char *source = NULL;
    uint32_t line = 0, column = 0;
    if (stmt->span.offset + stmt->span.length == 0) return;     // made by a pass
    if (p->func->diags && stmt->span.source < p->func->diags->source_count) {
        hdst__span_position(p->func->diags, stmt->span, &line, &column);
        const char *name = p->func->diags->sources[stmt->span.source].name, *slash = strrchr(name, '/');
        source = slash ? slash + 1 : name;
    }
    if (source && (p->last_source != stmt->span.source || p->last_line != line)) hdst__write_line(&p->out, "// %s:%" PRIu32, source, line);
    p->last_source = stmt->span.source;
    p->last_line = line;
}
