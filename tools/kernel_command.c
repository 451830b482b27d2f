// SPDX-License-Identifier: Apache-2.0
// hdst kernel check|show|header FILE [--schema FILE] [--param NAME=VALUE]...
#include "tools/kernel_command.h"

#include "record/schema.h"
#include "tools/commands.h"
#include "codegen/front/ast.h"
#include "codegen/front/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tool[] = "hdst kernel";
static const char usage[] = "usage: hdst kernel check|show|header FILE [--schema FILE] [--param NAME=VALUE]...\n"
                            "       show: [--function NAME] [--target cpu|gpu|interp] [--ir] [--fast-sums]\n"
                            "\n"
                            "  check   says whether the kernel file is right, how freely its reduces can be regrouped and why, and what cannot run yet\n"
                            "  show    prints what is made of its functions for a target, or with --ir the intermediate representation\n"
                            "  header  prints the C structs of its records (C11, C++11)\n"
                            "\n"
                            "--schema makes the records of a schema known without an import. A param without a value counts as 4 for check, with a note.\n";

static int refuse(const char *what, const char *subject) { return hdst_refuse_argument(tool, what, subject); }

// --- The command line ---

static int value_of(const char **to, const char *option, int *i, int argc, char **argv)
{
    if (*i + 1 >= argc) return refuse("no value for", option);
    *to = argv[++*i];
    return 0;
}

static int option(hdst_kernel_request *r, int *i, int argc, char **argv)
{
    char *word = argv[*i];
    if (!strcmp(word, "--schema")) return value_of(&r->schema, word, i, argc, argv);
    if (!strncmp(word, "--schema=", 9)) return r->schema = word + 9, 0;
    if (!strcmp(word, "--target")) return value_of(&r->target, word, i, argc, argv);
    if (!strncmp(word, "--target=", 9)) return r->target = word + 9, 0;
    if (!strcmp(word, "--function")) return value_of(&r->function, word, i, argc, argv);
    if (!strncmp(word, "--function=", 11)) return r->function = word + 11, 0;
    if (!strcmp(word, "--ir")) return r->ir = true, 0;
    if (!strcmp(word, "--fast-sums")) return r->fast_sums = true, 0;
    if (!strcmp(word, "--param")) return *i + 1 < argc ? hdst_take_param(tool, &r->params, argv[++*i]) : refuse("no value for", word);
    if (!strncmp(word, "--param=", 8)) return hdst_take_param(tool, &r->params, word + 8);
    static const char *const options[] = {"--schema", "--target", "--function", "--ir", "--fast-sums", "--param", "--help"};
    return hdst_refuse_unknown(tool, "unknown option", word, options, sizeof options / sizeof *options);
}

static int check_action(const hdst_kernel_request *r)
{
    static const char *const actions[] = {"check", "show", "header"}, *const targets[] = {"cpu", "gpu", "interp"};
    size_t action = 0, target = 0;
    if (!r->action) return fputs(usage, stderr), hdst_status_exit_code(HDST_E_USAGE);
    while (action < 3 && strcmp(r->action, actions[action])) action++;
    while (r->target && target < 3 && strcmp(r->target, targets[target])) target++;
    if (action == 3) return hdst_refuse_unknown(tool, "unknown action", r->action, actions, 3);
    if (target == 3) return hdst_refuse_unknown(tool, "the targets are cpu, gpu and interp, not", r->target, targets, 3);
    if (strcmp(r->action, "show") && (r->ir || r->target || r->function || r->fast_sums))
        return refuse("--ir, --target, --function and --fast-sums belong to show, not to", r->action);
    return r->file ? 0 : refuse("no FILE given to", r->action);
}

static int parse_arguments(hdst_kernel_request *r, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int code = 0;
        if (argv[i][0] == '-' && argv[i][1]) code = option(r, &i, argc, argv);
        else if (!r->action) r->action = argv[i];
        else if (!r->file) r->file = argv[i];
        else code = refuse("one file at a time, not also", argv[i]);
        if (code) return code;
    }
    return check_action(r);
}

// --- check ---

static const char *kind_word(ast_function_kind kind)
{
    static const char *const words[] = {"helper", "map", "filter", "flat_map", "reduce", "group", "join"};
    return words[kind];
}

static const char *class_words(ast_reduce_class class)
{
    static const char *const words[] = {
        "ordered", "associative: combined in the order of the input, in parts", "associative and commutative: combined in any grouping",
        "field-wise: accumulates, exact, in any order",
    };
    return words[class];
}

static void print_function(const ast_module *module, const ast_function *f, hdst__buffer *out)
{
    hdst__buffer_printf(out, "  %s %s", kind_word(f->kind), f->name);
    if (f->kind == AST_REDUCE) hdst__buffer_printf(out, ", %s", class_words(f->reduce_class));
    hdst__buffer_puts(out, "\n");
    if (f->class_reason) hdst__buffer_printf(out, "    %s\n", f->class_reason);
    if (!f->body) hdst__buffer_puts(out, "    declared only: the program gives its code\n");
    if (!f->unsupported) return;
    uint32_t line, column;
    hdst__span_position(module->diags, f->unsupported_span, &line, &column);
    hdst__buffer_printf(out, "    not available yet: %s, at %s:%u:%u\n", f->unsupported, module->diags->sources[f->unsupported_span.source].name, line, column);
}

// HDST_E_UNSUPPORTED when a function cannot run yet: the file is right, but not for this version.
static hdst_status print_check(const hdst_kernel_request *r, const ast_module *module, hdst__buffer *out, hdst_error *error)
{
    size_t missing = 0;
    for (size_t i = 0; i < module->function_count; i++) missing += module->functions[i]->unsupported != NULL;
    hdst__buffer_printf(out, "%s: %s, %zu function%s, %zu record%s\n", r->file, missing ? "not available yet" : "ok", module->function_count,
                        module->function_count == 1 ? "" : "s", module->record_count, module->record_count == 1 ? "" : "s");
    for (size_t i = 0; i < module->function_count; i++) print_function(module, module->functions[i], out);
    if (!missing) return HDST_OK;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "%zu of its functions use%s what is not available yet", missing, missing == 1 ? "s" : "");
}

// --- All actions ---

static hdst_status act(const hdst_kernel_request *r, const ast_module *module, hdst__arena *arena, hdst__buffer *out, hdst__buffer *messages, hdst_error *error)
{
    if (!strcmp(r->action, "check")) return print_check(r, module, out, error);
    if (!strcmp(r->action, "header")) return hdst__schema_header(arena, r->file, module->records, module->record_count, out, error);
    return hdst_kernel_show(r, module, arena, out, messages, error);
}

typedef struct texts {
    char *kernel, *schema;
    size_t kernel_length, schema_length;
} texts;

static bool read_schema(const hdst_kernel_request *r, const texts *t, hdst__diags *diags, bool assume, hdst__schema *schema)
{
    *schema = (hdst__schema){0};
    return !t->schema || hdst__schema_read(diags, r->schema, t->schema, t->schema_length, r->params.items, r->params.count, assume, schema);
}

// Output is collected in `out`, messages in `messages`, so that nothing is half printed.
static hdst_status run(const hdst_kernel_request *r, const texts *t, hdst__arena *arena, hdst__buffer *out, hdst__buffer *messages, hdst_error *error)
{
    hdst__diags diags;
    hdst__diags_init(&diags, arena);
    bool assume = !strcmp(r->action, "check");
    hdst__schema schema;
    bool good = read_schema(r, t, &diags, assume, &schema);
    hdst__front_options options = {.params = r->params.items, .param_count = r->params.count, .records = schema.records,
        .record_count = schema.record_count, .assume_params = assume};
    const ast_module *module = good ? hdst__module_compile(&diags, r->file, t->kernel, t->kernel_length, &options) : NULL;
    hdst__diags_render(&diags, messages);
    if (diags.errors) return good ? HDST_E_KERNEL : HDST_E_SCHEMA;
    return act(r, module, arena, out, messages, error);
}

static hdst_status run_in_arena(const hdst_kernel_request *r, const texts *t, hdst__buffer *out, hdst__buffer *messages, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__arena_compiles(&arena, NULL);
    if (setjmp(out_of_memory)) {
        const hdst_status status = hdst__arena_error(&arena, "compiling the kernel", error);
        hdst__arena_destroy(&arena);
        return status;
    }
    hdst_status status = run(r, t, &arena, out, messages, error);
    hdst__arena_destroy(&arena);
    return out->failed ? hdst__error_memory(error, "printing") : status;
}

static int run_and_print(const hdst_kernel_request *r, const texts *t)
{
    hdst__buffer out, messages;
    hdst__buffer_init(&out, NULL);
    hdst__buffer_init(&messages, NULL);
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = run_in_arena(r, t, &out, &messages, &error);
    fputs(hdst__buffer_text(&messages), stderr);
    // A file that only waits for a later hdst is reported in full.
    if (status == HDST_OK || status == HDST_E_UNSUPPORTED) fputs(hdst__buffer_text(&out), stdout);
    if (*error.message) fprintf(stderr, "hdst kernel: %s: %s\n", r->file, error.message);
    if (*error.hint) fprintf(stderr, "hint: %s\n", error.hint);
    hdst__buffer_destroy(&out);
    hdst__buffer_destroy(&messages);
    return hdst_status_exit_code(status);
}

int hdst_kernel_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return fputs(usage, stdout) < 0 ? hdst_status_exit_code(HDST_E_IO) : 0;
    hdst_kernel_request r = {0};
    int code = parse_arguments(&r, argc, argv);
    if (code) return code;
    texts t = {0};
    t.kernel = hdst_read_file(tool, r.file, &t.kernel_length);
    if (t.kernel && r.schema) t.schema = hdst_read_file(tool, r.schema, &t.schema_length);
    code = t.kernel && (!r.schema || t.schema) ? run_and_print(&r, &t) : hdst_status_exit_code(HDST_E_IO);
    free(t.kernel);
    free(t.schema);
    return code;
}
