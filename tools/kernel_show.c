// SPDX-License-Identifier: Apache-2.0
// hdst kernel show: what is made of a module's functions: OpenCL C for CPU devices or GPUs, or the intermediate representation.
#include "tools/kernel_command.h"

#include "base/buffer.h"
#include "codegen/front/ast.h"
#include "codegen/ir/ir.h"
#include "codegen/lower/fuse.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/kernel.h"
#include "codegen/pass/passes.h"
#include "record/layout.h"
#include "record/target.h"

#include <string.h>

enum { SHOWN_ROWS = 64, SHOWN_RECORDS = 1 << 20 };      // sizes of tables and of the input are known at run time only; places are chosen for these

typedef struct show {
    const hdst_kernel_request *request;
    const ast_module *module;
    hdst__arena *arena;
    hdst__buffer *out, *messages;
    size_t failed;
} show;

static hdst__target target_of(const hdst_kernel_request *r)
{
    if (!r->target || !strcmp(r->target, "cpu")) return HDST__TARGET_CPU;
    return !strcmp(r->target, "gpu") ? HDST__TARGET_GPU : HDST__TARGET_INTERP;
}

static hdst__target_facts usual_facts(hdst__target target)
{
    return (hdst__target_facts){.target = target, .local_bytes = 48 << 10, .max_group = 1024, .compute_units = 2, .correctly_rounded = true, .has_double = true,
                                .has_int64_atomics = true};
}

static const hdst__kernel *make_kernel(show *s, const ast_function *function, const ir_func *func)
{
    const hdst__record *record = func->params[0].record;
    uint64_t *rows = HDST__NEW_ARRAY(s->arena, uint64_t, func->param_count);
    for (size_t i = 0; i < func->param_count; i++) rows[i] = func->params[i].is_table ? SHOWN_ROWS : 1;
    const hdst__kernel_options options = {.facts = usual_facts(target_of(s->request)),
                                          .input = hdst__storage_make(s->arena, record, record->layout, record->block, SHOWN_RECORDS),
                                          .rows = rows, .texts_apart = target_of(s->request) == HDST__TARGET_GPU,
                                          .fast_sums = s->request->fast_sums};
    hdst__diags diags;
    hdst__diags_init(&diags, s->arena);
    diags.sources = s->module->diags->sources;
    diags.source_count = s->module->diags->source_count;
    const bool folds = function->kind == AST_REDUCE && function->reduce_class != AST_FIELD_WISE;
    const hdst__kernel *kernel = !options.input ? NULL
                                 : folds        ? hdst__kernel_make_fold(s->arena, func, &options, &diags)
                                                : hdst__kernel_make(s->arena, func, &options, &diags);
    hdst__diags_render(&diags, s->messages);
    return kernel;
}

static void print_kernel(show *s, const hdst__kernel *kernel)
{
    if (s->request->ir) {
        hdst__ir_dump(kernel->func, s->out);
        return;
    }
    hdst__buffer_printf(s->out, "/*\n%sprivate memory: %llu bytes per work-item\nbuild options: %s\n*/\n%s", kernel->why,
                        (unsigned long long)kernel->private_bytes, kernel->build_options, kernel->source);
}

// The interpreter runs the scalar form itself.
static bool runs_on_host(const ast_function *function, hdst__target target)
{
    return target == HDST__TARGET_INTERP || (function->kind == AST_REDUCE && function->reduce_class == AST_ORDERED);
}

static void show_function(show *s, const ast_function *function)
{
    if (function->unsupported) {
        hdst__buffer_printf(s->messages, "note: '%s' cannot run yet: %s\n", function->name, function->unsupported);
        return;
    }
    if (!function->body) {
        hdst__buffer_printf(s->messages, "note: '%s' is declared only: the program gives its code\n", function->name);
        return;
    }
    const size_t told = s->module->diags->count, errors = s->module->diags->errors;
    ir_func *func = hdst__lower(s->arena, s->module, function);
    if (!func && s->module->diags->errors > errors) {       // too large with its helpers in place
        for (size_t i = told; i < s->module->diags->count; i++) hdst__diag_render(s->module->diags, &s->module->diags->items[i], s->messages);
        s->failed++;
        return;
    }
    if (!func) {
        hdst__buffer_printf(s->messages, "note: '%s' cannot be shown: no field of its records has the name and type of its key, which the program names\n",
                            function->name);
        return;
    }
    if (function->kind == AST_FILTER && func) func = hdst__fuse(s->arena, &func, 1);       // alone, it gives its input records
    const char *wrong = hdst__passes_scalar(func);
    if (wrong) {
        hdst__buffer_printf(s->messages, "internal error: %s\n", wrong);
        s->failed++;
        return;
    }
    if (s->request->ir && !s->request->target) {
        hdst__ir_dump(func, s->out);
        return;
    }
    if (runs_on_host(function, target_of(s->request))) {
        hdst__buffer_printf(s->out, "// '%s' as the interpreter runs it\n", function->name);
        hdst__ir_dump(func, s->out);
        return;
    }
    const hdst__kernel *kernel = make_kernel(s, function, func);
    if (kernel) print_kernel(s, kernel);
    else s->failed++;
}

// What is made of a function goes before the next one's turn: many together would come to the limit of one.
static hdst_status show_apart(show *s, const ast_function *function, hdst_error *error)
{
    hdst__arena own, *const outer = s->arena;
    jmp_buf failed, *const handler = outer->out_of_memory;
    hdst__arena_init(&own, outer->allocator, &failed);
    hdst__arena_compiles(&own, outer->cancel);
    outer->out_of_memory = &failed;         // messages are kept there
    hdst_status status = HDST_OK;
    if (setjmp(failed)) {
        status = hdst__arena_error(outer->ended ? outer : &own, "compiling the kernel", error);
    } else {
        s->arena = &own;
        show_function(s, function);
    }
    s->arena = outer;
    outer->out_of_memory = handler;
    hdst__arena_destroy(&own);
    return status;
}

static const ast_function *find_function(show *s, hdst_error *error)
{
    const ast_module *module = s->module;
    const char **names = HDST__NEW_ARRAY(s->arena, const char *, module->function_count + 1);
    for (size_t i = 0; i < module->function_count; i++) {
        names[i] = module->functions[i]->name;
        if (!strcmp(names[i], s->request->function)) return module->functions[i];
    }
    hdst__error_set(error, HDST_E_USAGE, "there is no function '%s'", s->request->function);
    hdst__error_suggest(error, "its functions are", s->request->function, names, module->function_count);
    return NULL;
}

hdst_status hdst_kernel_show(const hdst_kernel_request *request, const ast_module *module, hdst__arena *arena, hdst__buffer *out, hdst__buffer *messages,
                             hdst_error *error)
{
    show s = {request, module, arena, out, messages, 0};
    hdst_status status = HDST_OK;
    if (request->function) {
        const ast_function *function = find_function(&s, error);
        if (!function) return HDST_E_USAGE;
        if (function->kind == AST_HELPER)
            return hdst__error_set(error, HDST_E_USAGE, "'%s' is a helper: it is printed inside the functions that call it", function->name);
        status = show_apart(&s, function, error);
    } else {
        for (size_t i = 0; i < module->function_count && !status; i++)
            if (module->functions[i]->kind != AST_HELPER) status = show_apart(&s, module->functions[i], error);
    }
    return status ? status : s.failed ? HDST_E_KERNEL : HDST_OK;
}
