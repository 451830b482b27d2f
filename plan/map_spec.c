// SPDX-License-Identifier: Apache-2.0
// Map specs: a function of a module with what its broadcast and accum parameters are bound to.
#include "plan/map_spec.h"

#include "plan/bound_lookup.h"

#include <string.h>

HDST__STAND_IN(hdst_map_spec, no_spec);

// --- Code that the program gives apart from the module ---

void hdst__map_spec_forget_text(hdst_map_spec *spec, hdst__separate *code)
{
    hdst__free(HDST__ALLOCATOR(spec), (char *)code->text);
    hdst__free(HDST__ALLOCATOR(spec), (char *)code->name);
    code->text = code->name = NULL;
}

static void free_code(hdst_map_spec *spec)
{
    for (int i = 0; i < 3; i++) hdst__map_spec_forget_text(spec, &spec->code[i]);
}

hdst_status hdst__map_spec_take_text(hdst_map_spec *spec, hdst__separate *code, const char *text, const char *name)
{
    code->text = hdst__strdup(HDST__ALLOCATOR(spec), text);
    code->name = hdst__strdup(HDST__ALLOCATOR(spec), name);
    if (code->text && code->name) return HDST_OK;
    hdst__map_spec_forget_text(spec, code);
    return HDST_E_MEMORY;
}

static hdst_status copy_code(hdst_map_spec *spec, const hdst_map_spec *from)
{
    spec->separate = from->separate;
    for (int i = 0; i < 3; i++) {
        spec->call[i] = from->call[i];
        spec->code[i] = (hdst__separate){.local_size = from->code[i].local_size, .call = from->code[i].call, .user = &spec->call[i],
                                          .filters = from->code[i].filters};
        if (from->code[i].text && hdst__map_spec_take_text(spec, &spec->code[i], from->code[i].text, from->code[i].name) != HDST_OK) return HDST_E_MEMORY;
    }
    return HDST_OK;
}

// --- The object ---

static void release_spec(hdst__object *object)
{
    hdst_map_spec *spec = (hdst_map_spec *)object;
    for (size_t i = 0; i < spec->binding_count; i++) {
        if (spec->bindings[i].value) hdst__object_drop(&spec->bindings[i].value->object);
        hdst__bound_lookup_free(HDST__ALLOCATOR(spec), spec->bindings[i].lookup);
    }
    hdst__free(HDST__ALLOCATOR(spec), spec->bindings);
    free_code(spec);
    if (spec->module) hdst__object_drop(&spec->module->object);
}

hdst_map_spec *hdst__map_spec_make(hdst_module *module, const char *function)
{
    hdst_map_spec *spec = hdst__object_create(module->object.context, sizeof *spec, release_spec, &no_spec);
    if (spec->object.error || hdst__object_inherit(&spec->object, &module->object) != HDST_OK) return spec;
    hdst_error error;
    spec->function = hdst__module_find_function(module, function, &error);
    if (spec->function && spec->function->unsupported) {
        const ast_function *f = spec->function;
        uint32_t line, column;
        hdst__span_position(&module->diags, f->unsupported_span, &line, &column);
        hdst__error_set(&error, HDST_E_UNSUPPORTED, "'%s' uses %s, which hdst cannot run yet", function, f->unsupported);
        hdst__error_at(&error, module->diags.sources[f->unsupported_span.source].name, line, column);
        spec->function = NULL;
    }
    if (!spec->function) {
        hdst__object_fail(&spec->object, &error);
        return spec;
    }
    spec->bindings = hdst__alloc_zero(HDST__ALLOCATOR(spec), spec->function->param_count * sizeof *spec->bindings);
    if (!spec->bindings) {
        hdst__object_fail(&spec->object, &hdst__no_memory);
        return spec;
    }
    spec->module = module;
    hdst__object_retain(&module->object);
    return spec;
}

hdst_map_spec *hdst__map_spec_fail(hdst_context *context, const hdst_error *error)
{
    hdst_map_spec *spec = hdst__object_create(context, sizeof *spec, release_spec, &no_spec);
    if (spec != &no_spec) hdst__object_fail(&spec->object, error);
    return spec;
}

bool hdst__map_spec_looks_up(const hdst_map_spec *spec)
{
    for (size_t i = 0; i < spec->binding_count; i++)
        if (spec->bindings[i].lookup) return true;
    return false;
}

bool hdst__map_spec_looks_up_in(const hdst_map_spec *spec, const hdst_dataset *dataset, hdst__dataset_in_plan *in_plan)
{
    for (size_t i = 0; i < spec->binding_count; i++)
        if (spec->bindings[i].lookup && in_plan(spec->bindings[i].lookup->records) == dataset) return true;
    return false;
}

hdst_status hdst__map_spec_complete(const hdst_map_spec *spec, hdst_error *error)
{
    for (size_t i = 0; i < spec->function->param_count; i++) {
        const ast_decl *param = spec->function->params[i];
        bool bound = false;
        for (size_t j = 0; j < spec->binding_count; j++) bound |= !strcmp(spec->bindings[j].parameter, param->name);
        const bool reads = param->qualifier == AST_BROADCAST || param->qualifier == AST_LOOKUP;
        if (bound || (!reads && (param->qualifier != AST_ACCUM || !param->is_table))) continue;
        hdst__error_set(error, HDST_E_USAGE, "parameter '%s' of '%s' is not bound", param->name, spec->function->name);
        hdst__error_hint(error, param->key ? "give it records with hdst_bind_lookup"
                         : reads ? "give it a value with hdst_bind_value" : "give it a number of rows with hdst_bind_accum");
        return HDST_E_USAGE;
    }
    if (spec->separate && hdst__map_spec_looks_up(spec)) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' has a lookup by key, which code that is given apart cannot read", spec->function->name);
        hdst__error_hint(error, "look up in a map in front of it");
        return HDST_E_USAGE;
    }
    if (spec->function->body || spec->separate) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "'%s' is only declared, and no code was given for it", spec->function->name);
    hdst__error_hint(error, "hdst_map_spec_set_opencl or hdst_map_spec_set_function, or a body in the kernel file");
    return HDST_E_USAGE;
}

static bool copy_bindings(hdst_map_spec *spec, const hdst_map_spec *from)
{
    for (size_t i = 0; i < from->binding_count; i++) {
        hdst__binding *binding = &spec->bindings[spec->binding_count++];
        *binding = from->bindings[i];
        if (binding->value) hdst__object_retain(&binding->value->object);
        if (binding->lookup && !(binding->lookup = hdst__bound_lookup_copy(HDST__ALLOCATOR(spec), from->bindings[i].lookup))) return false;
    }
    return true;
}

hdst_map_spec *hdst__map_spec_copy(const hdst_map_spec *from)
{
    if (!from->object.context) return &no_spec;
    hdst_map_spec *spec = hdst__object_create(from->object.context, sizeof *spec, release_spec, &no_spec);
    if (spec->object.error || hdst__object_inherit(&spec->object, &from->object) != HDST_OK) return spec;
    spec->bindings = hdst__alloc_zero(HDST__ALLOCATOR(spec), from->function->param_count * sizeof *spec->bindings);
    if (!spec->bindings) {
        hdst__object_fail(&spec->object, &hdst__no_memory);
        return spec;
    }
    spec->module = from->module;
    spec->function = from->function;
    hdst__object_retain(&spec->module->object);
    if (!copy_bindings(spec, from) || copy_code(spec, from) != HDST_OK) hdst__object_fail(&spec->object, &hdst__no_memory);
    return spec;
}
