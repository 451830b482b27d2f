// SPDX-License-Identifier: Apache-2.0
// From the text of a kernel file to a checked module.
#include "codegen/front/module.h"
#include "record/schema.h"

#include <string.h>

ast_function *hdst__module_function(const ast_module *module, const char *name)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (!strcmp(module->functions[i]->name, name)) return module->functions[i];
    return NULL;
}

hdst__record *hdst__module_record(const ast_module *module, const char *name)
{
    for (size_t i = 0; i < module->record_count; i++)
        if (!strcmp(module->records[i]->name, name)) return module->records[i];
    return NULL;
}

// --- What all files declare ---

static void twice(hdst__checker *c, hdst__span span, hdst__span first, const char *what, const char *name)
{
    hdst__diag_error(c->diags, span, NULL, "the %s '%s' is declared twice", what, name);
    if (first.source < c->diags->source_count) hdst__diag_note(c->diags, first, "first here");
}

static void collect_global(hdst__checker *c, ast_decl *decl)
{
    ast_decl *first = hdst__name_map_add(&c->globals, c->arena, decl->name, decl);
    if (first) twice(c, decl->span, first->span, "name", decl->name);
    else HDST__PUSH(c->arena, c->module->globals, c->module->global_count, c->module->global_capacity, decl);
}

static void collect_function(hdst__checker *c, ast_function *f)
{
    if (hdst__check_is_builtin(f->name)) {
        hdst__diag_error(c->diags, f->span, "choose another name", "'%s' is a built-in function", f->name);
        return;
    }
    ast_function *first = hdst__name_map_add(&c->functions, c->arena, f->name, f);
    if (first) twice(c, f->span, first->span, "function", f->name);
    else HDST__PUSH(c->arena, c->module->functions, c->module->function_count, c->module->function_capacity, f);
}

static void collect_struct(hdst__checker *c, ast_struct *s)
{
    ast_struct *first = hdst__name_map_add(&c->structs_by_name, c->arena, s->name, s);
    if (first) twice(c, s->span, first->span, "record", s->name);
    else HDST__PUSH(c->arena, c->structs, c->struct_count, c->struct_capacity, s);
}

static void collect(hdst__checker *c, const ast_file *file)
{
    for (size_t i = 0; i < file->global_count; i++) collect_global(c, file->globals[i]);
    for (size_t i = 0; i < file->struct_count; i++) collect_struct(c, file->structs[i]);
    for (size_t i = 0; i < file->function_count; i++) collect_function(c, file->functions[i]);
}

// --- Records from outside ---

static bool is_given(const hdst__checker *c, const hdst__record *record)
{
    for (size_t i = 0; i < c->options->record_count; i++)
        if (c->options->records[i] == record) return true;
    return false;
}

// `given`: the record comes from the caller, whose sources are not among the module's
static void add_record(hdst__checker *c, hdst__record *record, bool given)
{
    ast_struct *declared = hdst__name_map_find(&c->structs_by_name, record->name);
    const hdst__record *first = hdst__name_map_find(&c->records, record->name);
    if (first == record) return;
    hdst__span span = {given ? UINT32_MAX : record->source, given ? 0 : record->offset, 0};
    if (declared) {
        twice(c, declared->span, span, "record", record->name);
    } else if (first) {
        twice(c, span, (hdst__span){is_given(c, first) ? UINT32_MAX : first->source, first->offset, 0}, "record", record->name);
    } else {
        hdst__name_map_add(&c->records, c->arena, record->name, record);
        HDST__PUSH(c->arena, c->module->records, c->module->record_count, c->module->record_capacity, record);
    }
}

// Values of params for schemas: those that the caller gave, then the integer params of the module.
static hdst__param_value *schema_params(hdst__checker *c, size_t *count)
{
    hdst__param_value *params = HDST__NEW_ARRAY(c->arena, hdst__param_value, c->options->param_count + c->module->global_count);
    *count = 0;
    for (size_t i = 0; i < c->module->global_count; i++) {
        const ast_decl *decl = c->module->globals[i];
        if (decl->kind == AST_GLOBAL_PARAM && decl->type && hdst__kind_is_integer(decl->type->kind))
            params[(*count)++] = (hdst__param_value){.name = decl->name, .bits = decl->bits, .is_unsigned = !hdst__kind_is_signed(decl->type->kind)};
    }
    for (size_t i = 0; i < c->options->param_count; i++)
        if (!hdst__name_map_find(&c->globals, c->options->params[i].name)) params[(*count)++] = c->options->params[i];
    return params;
}

static void read_schemas(hdst__checker *c, const hdst__module_files *files)
{
    size_t count;
    const hdst__param_value *params = schema_params(c, &count);
    for (size_t i = 0; i < files->schema_count; i++) {
        const hdst__module_schema *file = &files->schemas[i];
        hdst__schema schema = {0};
        hdst__schema_read(c->diags, file->name, file->text, file->length, params, count, c->options->assume_params, &schema);
        for (size_t k = 0; k < schema.param_count; k++)
            HDST__PUSH(c->arena, c->schema_params, c->schema_param_count, c->schema_param_capacity, schema.params[k].name);
        for (size_t k = 0; k < schema.record_count; k++) add_record(c, schema.records[k], false);
    }
}

// A module and the schemas that it imports may each declare it.
static void add_once(const char **names, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(names[i], name)) return;
    names[(*count)++] = name;
}

// An error for a value whose param is not declared: a misspelt name would otherwise leave a default in effect unnoticed.
static void check_given_params(hdst__checker *c)
{
    for (size_t i = 0; i < c->options->param_count; i++) {
        const char *name = c->options->params[i].name;
        const ast_decl *decl = hdst__name_map_find(&c->globals, name);
        bool known = decl && decl->kind == AST_GLOBAL_PARAM;
        size_t count = 0;
        const char **names = HDST__NEW_ARRAY(c->arena, const char *, c->schema_param_count + c->module->global_count);
        for (size_t k = 0; k < c->schema_param_count; k++) {
            known |= !strcmp(c->schema_params[k], name);
            add_once(names, &count, c->schema_params[k]);
        }
        for (size_t k = 0; k < c->module->global_count; k++)
            if (c->module->globals[k]->kind == AST_GLOBAL_PARAM) add_once(names, &count, c->module->globals[k]->name);
        if (known || c->options->record_count) continue;        // given records may come from a schema with params of its own
        const char *hint =
            count ? hdst__check_near_or_all(c, "its params are", name, names, count) : hdst__arena_printf(c->arena, "declare it: param uint32_t %s;", name);
        hdst__diag_error(c->diags, (hdst__span){0, HDST__WHOLE_FILE, 0}, hint, "a value was given for the param '%s', which is not declared", name);
    }
}

// --- Checking ---

static void check_all(hdst__checker *c)
{
    ast_module *m = c->module;
    for (size_t i = 0; i < m->global_count; i++) hdst__check_global(c, m->globals[i]);
    for (size_t i = 0; i < c->struct_count; i++) hdst__check_struct(c, c->structs[i]);
    for (size_t i = 0; i < m->function_count; i++) hdst__check_signature(c, m->functions[i]);
    for (size_t i = 0; i < m->function_count; i++) hdst__check_function(c, m->functions[i]);
    hdst__check_math_functions(c);
    hdst__check_recursion(c);
    if (c->diags->errors) return;
    for (size_t i = 0; i < m->function_count; i++)
        if (m->functions[i]->kind == AST_REDUCE) hdst__check_reduce_class(c, m->functions[i]);
}

ast_module *hdst__module_compile(hdst__diags *diags, const char *name, const char *text, size_t length, const hdst__front_options *options)
{
    static const hdst__front_options none;
    ast_module *module = HDST__NEW(diags->arena, ast_module);
    module->diags = diags;
    hdst__checker *c = HDST__NEW(diags->arena, hdst__checker);
    *c = (hdst__checker){.diags = diags, .arena = diags->arena, .module = module, .options = options ? options : &none};
    hdst__module_files files = {.diags = diags, .options = c->options};
    size_t before = diags->errors;
    hdst__module_read(&files, name, text, length);
    if (diags->errors > before) return module;      // types of what was misread would only confuse
    for (size_t i = 0; i < files.file_count; i++) collect(c, files.files[i]);
    for (size_t i = 0; i < c->options->record_count; i++) add_record(c, c->options->records[i], true);
    before = diags->errors;
    hdst__check_params(c);
    if (diags->errors > before) return module;      // sizes that are not known would lead to errors everywhere
    read_schemas(c, &files);
    check_given_params(c);
    if (diags->errors > before) return module;
    check_all(c);
    return module;
}
