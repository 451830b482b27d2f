// SPDX-License-Identifier: Apache-2.0
// The command line that all examples share, and a table for what each adds to it (options.h).
#include "options.h"

#include "option_value.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64 };

typedef struct option_table {
    option rows[MOST_OPTIONS];
    size_t count;
} option_table;

// The outward contract. An option whose feature does not exist yet is here too, so that it is told from a misspelt one.
static option_table list_options(const program_info *program, common_options *c)
{
    const option common[] = {
        {"input", OPTION_TEXTS, &c->inputs, "PATH", "records to read: .npy, .csv; may be repeated", true},
        {"columns", OPTION_TEXT, &c->columns, "LIST", "columns to read, by name or index from 0: x,y or 0,3-5", true},
        {"output", OPTION_TEXT, &c->output, "PATH", "where the results go; - is standard output", true},
        {"device", OPTION_TEXT, &c->device, "WHICH", "all, cpu, gpu, interp, or indices as `hdst devices` lists them", true},
        {"policy", OPTION_WORD, &c->policy, "auto|static|dynamic", "how the work is shared among devices", true},
        {"layout", OPTION_WORD, &c->layout, "aos|soa|aosoa|aop", "how the records lie in memory", true},
        {"memory", OPTION_SIZE, &c->memory, "SIZE", "host memory to stay within: 512MiB, 1.5G", true},
        {"device-memory", OPTION_SIZE, &c->device_memory, "SIZE", "memory to take on each device", true},
        {"seed", OPTION_COUNT, &c->seed, "N", "of all that is drawn at random; the same seed draws the same", true, NULL, 0, UINT64_MAX},
        {"explain", OPTION_FLAG, &c->explain, NULL, "say on standard error how the work will be done", true},
        {"trace", OPTION_TEXT, &c->trace, "FILE", "write a timeline for Chrome or Perfetto", true},
        {"hpr", OPTION_WORD, &c->hpr, "none|block|device|node|cluster", "the highest level that combines partial results", true},
        {"unchecked", OPTION_FLAG, &c->unchecked, NULL, "leave out the checks inside kernels", true},
        {"fast-sums", OPTION_FLAG, &c->fast_sums, NULL, "float sums may be plain, rounded at each addition, where that is faster", true},
        {"on-error", OPTION_WORD, &c->on_error, "fail|skip", "what a record with an error does: end the run, or take no part in it", true},
        {"verify", OPTION_NUMBER, &c->verify, "PERCENT", "compute a part of the work twice and compare", false},
        {"checkpoint", OPTION_TEXT, &c->checkpoint, "DIR", "keep snapshots to resume from", false},
        {"checkpoint-every", OPTION_COUNT, &c->checkpoint_every, "K", "steps between snapshots", false, NULL, 1, UINT64_MAX},
        {"resume", OPTION_FLAG, &c->resume, NULL, "go on from the last snapshot", false},
        {"quiet", OPTION_FLAG, &c->quiet, NULL, "only errors on standard error", true},
        {"json", OPTION_FLAG, &c->json, NULL, "one JSON object with results and statistics on standard output", true},
        {"help", OPTION_FLAG, &c->help, NULL, "this text", true},
    };
    option_table table = {.count = 0};
    for (size_t i = 0; i < program->own_count && table.count < MOST_OPTIONS; i++) table.rows[table.count++] = program->own[i];
    for (size_t i = 0; i < sizeof common / sizeof *common && table.count < MOST_OPTIONS; i++) table.rows[table.count++] = common[i];
    return table;
}

hdst_status options_misuse(hdst_error *error, const char *hint, const char *format, ...)
{
    *error = (hdst_error)HDST_ERROR_INIT;
    error->code = HDST_E_USAGE;
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    return HDST_E_USAGE;
}

// Finds "--name" or "--name=value"; *value is NULL in the first case.
static const option *find_option(const option_table *table, const char *argument, const char **value)
{
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    *value = equals ? equals + 1 : NULL;
    for (size_t i = 0; i < table->count; i++)
        if (strlen(table->rows[i].name) == length - 2 && !memcmp(table->rows[i].name, argument + 2, length - 2)) return &table->rows[i];
    return NULL;
}

static hdst_status unknown_option(const option_table *table, const char *argument, hdst_error *error)
{
    char name[64], hint[128] = "--help lists the options";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    const char *names[MOST_OPTIONS];
    for (size_t i = 0; i < table->count; i++) names[i] = table->rows[i].name;
    const char *near_name = hdst_nearest_name(name, names, table->count);
    if (near_name) snprintf(hint, sizeof hint, "did you mean '--%s'?", near_name);
    return options_misuse(error, hint, "unknown option '--%s'", name);
}

static hdst_status not_an_option(const char *argument, hdst_error *error)
{
    char hint[300];
    if (argument[0] == '-') snprintf(hint, sizeof hint, "options start with two dashes; --help lists them");
    else snprintf(hint, sizeof hint, "files to read are given as --input %.250s", argument);
    return options_misuse(error, hint, "unexpected argument '%.300s'", argument);
}

static hdst_status not_yet(const option *o, hdst_error *error)
{
    return options_misuse(error, "leave the option out; --help says which there are", "--%s is not available yet", o->name);
}

// The value stands behind '=' or is the next argument; one that looks like an option was more likely forgotten.
static hdst_status find_value(const option *o, int argc, char **argv, int *at, const char **value, hdst_error *error)
{
    if (*value) return HDST_OK;
    char hint[300];
    snprintf(hint, sizeof hint, "--%s %s", o->name, o->value);
    if (*at + 1 >= argc) return options_misuse(error, hint, "no value for '--%s'", o->name);
    if (!strncmp(argv[*at + 1], "--", 2)) {
        snprintf(hint, sizeof hint, "--%s %s; write --%s=%.100s if that is the value", o->name, o->value, o->name, argv[*at + 1]);
        return options_misuse(error, hint, "no value for '--%s'", o->name);
    }
    *value = argv[++*at];
    return HDST_OK;
}

static hdst_status read_argument(const option_table *table, int argc, char **argv, int *at, hdst_error *error)
{
    const char *argument = argv[*at], *value;
    if (strncmp(argument, "--", 2) || !argument[2]) return not_an_option(argument, error);
    const option *o = find_option(table, argument, &value);
    if (!o) return unknown_option(table, argument, error);
    if (!o->available) return not_yet(o, error);
    if (o->kind == OPTION_FLAG) {
        if (value) return options_misuse(error, "", "--%s takes no value", o->name);
        *(bool *)o->to = true;
        return HDST_OK;
    }
    hdst_status status = find_value(o, argc, argv, at, &value, error);
    return status == HDST_OK ? option_read_value(o, value, error) : status;
}

hdst_status options_parse(const program_info *program, common_options *common, int argc, char **argv, hdst_error *error)
{
    *common = (common_options){.layout = -1, .hpr = -1, .inputs.items = calloc(argc > 0 ? (size_t)argc : 1, sizeof(char *))};
    *error = (hdst_error)HDST_ERROR_INIT;
    if (!common->inputs.items) {
        error->code = HDST_E_MEMORY;
        snprintf(error->message, sizeof error->message, "out of memory: the command line");
        return error->code;
    }
    option_table table = list_options(program, common);
    for (int i = 1; i < argc && !common->help; i++)
        if (read_argument(&table, argc, argv, &i, error) != HDST_OK) return error->code;
    return HDST_OK;
}

void options_free(common_options *common)
{
    free(common->inputs.items);
    common->inputs = (text_list){NULL, 0};
}

// --- Help ---

static void print_option(const option *o, FILE *out)
{
    char left[80];
    snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (strlen(left) > 28) fprintf(out, "  %s\n  %-28s", left, "");
    else fprintf(out, "  %-28s", left);
    fprintf(out, "  %s", o->help);
    if (!o->available) fputs(" (not available yet)", out);
    if (o->missing) {
        fputs(" (not yet: ", out);
        for (const char *c = o->missing; *c; c++) *c == '|' ? fputs(", ", out) : fputc(*c, out);
        fputc(')', out);
    }
    fputc('\n', out);
}

void options_print_help(const program_info *program, FILE *out)
{
    common_options ignored;
    option_table table = list_options(program, &ignored);
    fprintf(out, "usage: %s --input PATH [OPTION]...\n\n%s\n\n", program->name, program->summary);
    for (size_t i = 0; i < table.count; i++) {
        if (i == program->own_count && i) fputs("\nOptions of all examples:\n", out);
        print_option(&table.rows[i], out);
    }
    fputs("\nA value follows as --name VALUE or --name=VALUE. Sizes: K, M, G, T and KiB, MiB ... are powers of 1024; KB, MB ... powers of 1000.\n"
          "Exit codes: 0 ok, 1 internal error, 2 usage, 3 schema or kernel error, 4 no such device, 5 out of memory, 6 input/output, 7 error in a record,\n"
          "75 stopped but resumable, 130 interrupted.\n", out);
}
