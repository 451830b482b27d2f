// SPDX-License-Identifier: Apache-2.0
// A loaded kernel file (plan/kernel_module.h).
#include "plan/kernel_module.h"
#include "codegen/front/front.h"

#include <string.h>

// A one-field record "value" around a scalar, made the first time it is asked for.
static const hdst__record *scalar_record(hdst_module *module, hdst__kind kind)
{
    if (module->scalar[kind]) return module->scalar[kind];
    hdst__record *record = HDST__NEW(&module->arena, hdst__record);
    hdst__field *field = HDST__NEW(&module->arena, hdst__field);
    *field = (hdst__field){.name = "value", .type = hdst__type_scalar(kind)};
    *record = (hdst__record){.name = hdst__scalar_c_name(kind), .fields = field, .field_count = 1, .is_scalar = true};
    const char *why;
    return module->scalar[kind] = hdst__record_finish(&module->arena, record, &why) ? record : NULL;
}

static const hdst__record *find_record(hdst_module *module, const char *name, hdst_error *error)
{
    const hdst__record *record = hdst__module_record(module->tree, name);
    if (record) return record;
    for (int kind = 0; kind <= HDST__TEXT; kind++)
        if (!strcmp(name, hdst__scalar_c_name((hdst__kind)kind)) || !strcmp(name, hdst__scalar_yaml_name((hdst__kind)kind)))
            return scalar_record(module, (hdst__kind)kind);
    const char **names = HDST__NEW_ARRAY(&module->arena, const char *, module->tree->record_count);
    for (size_t i = 0; i < module->tree->record_count; i++) names[i] = module->tree->records[i]->name;
    hdst__error_set(error, HDST_E_USAGE, "the module has no record '%s'", name);
    hdst__error_suggest(error, "its records are", name, names, module->tree->record_count);
    return NULL;
}

const hdst__record *hdst__module_find_record(hdst_module *module, const char *name, hdst_error *error)
{
    jmp_buf out_of_memory;
    module->arena.out_of_memory = &out_of_memory;
    const hdst__record *volatile record = NULL;
    if (setjmp(out_of_memory)) hdst__error_memory(error, "a record of a module");
    else record = find_record(module, name, error);
    module->arena.out_of_memory = NULL;
    return record;
}

const ast_function *hdst__module_find_function(hdst_module *module, const char *name, hdst_error *error)
{
    const ast_function *function = hdst__module_function(module->tree, name);
    if (function) return function;
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; i < module->tree->function_count && n < MOST; i++) names[n++] = module->tree->functions[i]->name;
    hdst__error_set(error, HDST_E_USAGE, "the module has no function '%s'", name);
    hdst__error_suggest(error, "its functions are", name, names, n);
    return NULL;
}
