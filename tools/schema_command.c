// SPDX-License-Identifier: Apache-2.0
// hdst schema check|show|header|numpy FILE [--param NAME=VALUE]...
#include "record/schema.h"
#include "tools/arguments.h"
#include "tools/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *action, *file;
    hdst_params params;
} request;

static const char tool[] = "hdst schema";

static const char usage[] = "usage: hdst schema check|show|header|numpy FILE [--param NAME=VALUE]...\n"
                            "\n"
                            "  check   says whether the schema is right and names its records\n"
                            "  show    prints fields, types, offsets, padding and the layout of every record\n"
                            "  header  prints the C header (C11, C++11)\n"
                            "  numpy   prints a dtype for every record, as a Python dictionary\n"
                            "\n"
                            "A param without a value counts as 4 for check and show, with a note; header and numpy need it.\n";

static int refuse(const char *what, const char *subject) { return hdst_refuse_argument(tool, what, subject); }

static int parse_arguments(request *r, int argc, char **argv)
{
    static const char *const options[] = {"--param", "--help"};
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        int code = 0;
        if (!strcmp(word, "--param")) code = i + 1 < argc ? hdst_take_param(tool, &r->params, argv[++i]) : refuse("no value for", word);
        else if (!strncmp(word, "--param=", 8)) code = hdst_take_param(tool, &r->params, word + 8);
        else if (word[0] == '-' && word[1]) code = hdst_refuse_unknown(tool, "unknown option", word, options, sizeof options / sizeof *options);
        else if (!r->action) r->action = word;
        else if (!r->file) r->file = word;
        else code = refuse("one file at a time, not also", word);
        if (code) return code;
    }
    static const char *const actions[] = {"check", "show", "header", "numpy"};
    for (size_t i = 0; r->action && i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(r->action, actions[i])) return r->file ? 0 : refuse("no FILE given to", r->action);
    if (r->action) {
        return hdst_refuse_unknown(tool, "unknown action", r->action, actions, sizeof actions / sizeof *actions);
    }
    fputs(usage, stderr);
    return hdst_status_exit_code(HDST_E_USAGE);
}

static void print_check(const request *r, const hdst__schema *schema, hdst__buffer *out)
{
    hdst__buffer_printf(out, "%s: ok, %zu record%s\n", r->file, schema->record_count, schema->record_count == 1 ? "" : "s");
    for (size_t i = 0; i < schema->record_count; i++)
        hdst__buffer_printf(out, "  %s: %zu field%s, %llu byte%s\n", schema->records[i]->name, schema->records[i]->field_count,
                            schema->records[i]->field_count == 1 ? "" : "s", (unsigned long long)schema->records[i]->size,
                            schema->records[i]->size == 1 ? "" : "s");
}

static void print_numpy(const hdst__schema *schema, hdst__buffer *out)
{
    hdst__buffer_puts(out, "{");
    for (size_t i = 0; i < schema->record_count; i++) {
        hdst__buffer_printf(out, "%s'%s': ", i ? ",\n " : "", schema->records[i]->name);
        hdst__schema_numpy(schema->records[i], out);
    }
    hdst__buffer_puts(out, "}\n");
}

static hdst_status print_action(const request *r, const hdst__schema *schema, hdst__arena *arena, hdst__buffer *out, hdst_error *error)
{
    if (!strcmp(r->action, "check")) print_check(r, schema, out);
    else if (!strcmp(r->action, "show")) hdst__schema_show(arena, schema->records, schema->record_count, out);
    else if (!strcmp(r->action, "numpy")) print_numpy(schema, out);
    else return hdst__schema_header(arena, r->file, schema->records, schema->record_count, out, error);
    return HDST_OK;
}

// A value for a param that the schema does not have is a slip of the user.
static hdst_status check_params(const request *r, const hdst__schema *schema, hdst__arena *arena, hdst_error *error)
{
    for (size_t i = 0; i < r->params.count; i++) {
        const char **names = HDST__NEW_ARRAY(arena, const char *, schema->param_count);
        bool known = false;
        for (size_t j = 0; j < schema->param_count; j++) known |= !strcmp(names[j] = schema->params[j].name, r->params.items[i].name);
        if (known) continue;
        hdst__error_set(error, HDST_E_USAGE, "the schema has no param '%s'", r->params.items[i].name);
        hdst__error_suggest(error, "its params are", r->params.items[i].name, names, schema->param_count);
        return HDST_E_USAGE;
    }
    return HDST_OK;
}

// Reads the schema and does what is asked. Output is collected in `out`, messages in `messages`, so that nothing is half printed.
static hdst_status run(const request *r, const char *text, size_t length, hdst__arena *arena, hdst__buffer *out, hdst__buffer *messages, hdst_error *error)
{
    hdst__diags diags;
    hdst__diags_init(&diags, arena);
    bool assume = !strcmp(r->action, "check") || !strcmp(r->action, "show");
    hdst__schema schema;
    bool good = hdst__schema_read(&diags, r->file, text, length, r->params.items, r->params.count, assume, &schema);
    hdst__diags_render(&diags, messages);
    if (!good) return HDST_E_SCHEMA;
    hdst_status status = check_params(r, &schema, arena, error);
    return status == HDST_OK ? print_action(r, &schema, arena, out, error) : status;
}

static hdst_status run_in_arena(const request *r, const char *text, size_t length, hdst__buffer *out, hdst__buffer *messages, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return hdst__error_memory(error, "reading the schema");
    }
    hdst_status status = run(r, text, length, &arena, out, messages, error);
    hdst__arena_destroy(&arena);
    return out->failed ? hdst__error_memory(error, "printing the schema") : status;
}

int hdst_schema_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return fputs(usage, stdout) < 0 ? hdst_status_exit_code(HDST_E_IO) : 0;
    request r = {0};
    int code = parse_arguments(&r, argc, argv);
    if (code) return code;
    size_t length;
    char *text = hdst_read_file(tool, r.file, &length);
    if (!text) return hdst_status_exit_code(HDST_E_IO);

    hdst__buffer out, messages;
    hdst__buffer_init(&out, NULL);
    hdst__buffer_init(&messages, NULL);
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = run_in_arena(&r, text, length, &out, &messages, &error);
    fputs(hdst__buffer_text(&messages), stderr);
    if (status == HDST_OK) fputs(hdst__buffer_text(&out), stdout);
    if (*error.message) fprintf(stderr, "hdst schema: %s: %s\n", r.file, error.message);
    if (*error.hint) fprintf(stderr, "hint: %s\n", error.hint);
    hdst__buffer_destroy(&out);
    hdst__buffer_destroy(&messages);
    free(text);
    return hdst_status_exit_code(status);
}
