// SPDX-License-Identifier: Apache-2.0
// A plain program: runs pipelines that a script describes, on any kind of device, and writes their records down as text. The generator of programs over texts
// (text_plans.py) finds the answers itself, in Python.
//
// Standard input, a command in a line, words between blanks ("-" is none); NAME is a dataset or a function's parameter:
//     form interp|cpu|gpu-form|team|gpu-team|gpu|pair    a new context, of which the next lines say more (gpu: a real one; pair: the first two devices):
//     memory BYTES, skip, limit NAME NUMBER
//     module PATH                                 opens it, and the kernel file
//     lines NAME PATH RECORD, csv NAME PATH RECORD, raw NAME PATH RECORD
//     OPERATOR NAME INPUT ARGUMENTS...            as in the table `operators`
//     spec FUNCTION, bind PARAMETER DATASET KEY   for the next map, flat_map or filter called "bound"
//     show NAME FIELD...                          runs it: "rows N" and a row in a line; or "error CODE RECORD" and the words
//     end                                         of the context
#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 64, MOST_WORDS = 24, LONGEST_LINE = 4096 };

typedef struct scene {
    hdst_context_options options;
    const char *form;
    uint64_t limit_value[16];
    const struct limit *limit[16];
    size_t limits;
    hdst_context *context;
    hdst_module *module;
    hdst_map_spec *spec;
    char name[MOST_NAMES][32];
    hdst_dataset *dataset[MOST_NAMES];
    size_t names;
} scene;

typedef struct limit { const char *name; size_t offset, size; } limit;
#define LIMIT(member) {#member, offsetof(hdst__limits, member), sizeof(((hdst__limits *)0)->member)}
static const limit known_limits[] = {
    LIMIT(slice_records), LIMIT(combine_least), LIMIT(combine_bits), LIMIT(combine_room), LIMIT(by_key_slice_least), LIMIT(by_key_slice_rows),
    LIMIT(by_key_slice_homes), LIMIT(by_key_device_least), LIMIT(by_key_table_bits), LIMIT(by_key_partition_bits), LIMIT(sort_least),
    LIMIT(sort_large_least), LIMIT(pick_least),
};

static void give_up(const char *why, const char *what)
{
    fprintf(stderr, "run_plans: %s '%s'\n", why, what);
    exit(2);
}

static const char *none(const char *word) { return word && strcmp(word, "-") ? word : NULL; }

// --- The context ---

static void choose_form(scene *s, const char *form)
{
    static const struct { const char *name, *device; uint32_t parts; } forms[] = {
        {"interp", "interp", 0}, {"cpu", "cpu", 0}, {"gpu-form", "cpu", 0}, {"team", "0,1,2", 2}, {"gpu-team", "0,1", 2},
        {"gpu", "gpu", 0}, {"pair", "0,1", 0}};
    *s = (scene){.options = HDST_CONTEXT_OPTIONS_INIT};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(form, forms[i].name)) s->form = forms[i].name, s->options.device = forms[i].device, s->options.cpu_parts = forms[i].parts;
    if (!s->form) give_up("no such form:", form);
}

static void choose_limit(scene *s, const char *name, const char *number)
{
    for (size_t i = 0; i < sizeof known_limits / sizeof *known_limits; i++) {
        if (strcmp(name, known_limits[i].name)) continue;
        s->limit[s->limits] = &known_limits[i];
        s->limit_value[s->limits++] = strtoull(number, NULL, 10);
        return;
    }
    give_up("no such limit:", name);
}

// What decides how records are cut and where keys have a place, which no result may depend on.
static void set_limits(scene *s)
{
    hdst__limits *limits = hdst__engine_limits(s->context->engine);
    limits->share_bytes = 0;
    for (size_t i = 0; i < s->limits; i++) {
        void *at = (char *)limits + s->limit[i]->offset;
        if (s->limit[i]->size == sizeof(uint32_t)) *(uint32_t *)at = (uint32_t)s->limit_value[i];
        else *(uint64_t *)at = s->limit_value[i];
    }
}

static void open_module(scene *s, const char *path)
{
    s->options.replay_dir = "";
    s->context = hdst_context_create(&s->options);
    if (!s->context->engine) give_up("no context on", s->form);
    s->context->engine->options.gpu_form_on_cpu = !strncmp(s->form, "gpu", 3);
    set_limits(s);
    s->module = hdst_module_load(s->context, path, NULL, 0);
    if (hdst_module_status(s->module, NULL) != HDST_OK) printf("%s\n", hdst_module_diagnostics(s->module));
}

// --- Datasets ---

static hdst_dataset *find(const scene *s, const char *name)
{
    for (size_t i = 0; i < s->names; i++)
        if (!strcmp(s->name[i], name)) return s->dataset[i];
    give_up("no such dataset:", name);
    return NULL;
}

static void keep(scene *s, const char *name, hdst_dataset *dataset)
{
    if (s->names == MOST_NAMES || strlen(name) >= sizeof s->name[0]) give_up("no room for", name);
    strcpy(s->name[s->names], name);
    s->dataset[s->names++] = dataset;
}

// `a` are the words behind the operator's own name and input, NULL where there are none.
typedef hdst_dataset *operator_function(scene *s, hdst_dataset *in, char **a);

static hdst_map_spec *spec_of(scene *s, const char *function)
{
    return strcmp(function, "bound") ? hdst_map_spec_create(s->module, function) : s->spec;
}

static hdst_dataset *do_map(scene *s, hdst_dataset *in, char **a) { return hdst_map(in, spec_of(s, a[0])); }
static hdst_dataset *do_flat_map(scene *s, hdst_dataset *in, char **a) { return hdst_flat_map(in, spec_of(s, a[0])); }
static hdst_dataset *do_filter(scene *s, hdst_dataset *in, char **a) { return hdst_filter(in, spec_of(s, a[0])); }
static hdst_dataset *do_reduce(scene *s, hdst_dataset *in, char **a) { return hdst_reduce(in, s->module, a[0]); }
static hdst_dataset *do_by_key(scene *s, hdst_dataset *in, char **a)
{
    hdst_dataset *reduced = hdst_reduce_by_key(in, s->module, a[0]);
    return a[1] ? hdst_with_container(reduced, (hdst_container)atoi(a[1])) : reduced;
}
static hdst_dataset *do_count(scene *s, hdst_dataset *in, char **a) { return hdst_count_by_key(in, s->module, a[0]); }
static hdst_dataset *do_distinct(scene *s, hdst_dataset *in, char **a) { return (void)s, (void)a, hdst_distinct(in); }
static hdst_dataset *do_sort(scene *s, hdst_dataset *in, char **a)
{
    (void)s;
    for (char *c = a[0]; *c; c++) *c = *c == '_' ? ' ' : *c;        // "t_desc,n"
    return hdst_sort(in, a[0]);
}
static hdst_dataset *do_top(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_top(in, strtoull(a[0], NULL, 10), a[1]); }
static hdst_dataset *do_min_by(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_min_by(in, a[0]); }
static hdst_dataset *do_max_by(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_max_by(in, a[0]); }
static hdst_dataset *do_partition(scene *s, hdst_dataset *in, char **a) { return hdst_partition(in, s->module, a[0], strtoull(a[1], NULL, 10)); }
static hdst_dataset *do_group(scene *s, hdst_dataset *in, char **a) { return hdst_group_function(in, none(a[0]), s->module, a[1]); }
static hdst_dataset *do_join(scene *s, hdst_dataset *in, char **a) { return hdst_join(in, a[0], find(s, a[1]), a[2], s->module, a[3]); }
static hdst_dataset *do_semi_join(scene *s, hdst_dataset *in, char **a) { return hdst_semi_join(in, a[0], find(s, a[1]), a[2]); }
static hdst_dataset *do_anti_join(scene *s, hdst_dataset *in, char **a) { return hdst_anti_join(in, a[0], find(s, a[1]), a[2]); }
static hdst_dataset *do_co_group(scene *s, hdst_dataset *in, char **a) { return hdst_co_group(in, a[0], find(s, a[1]), a[2], s->module, a[3]); }
static hdst_dataset *do_union(scene *s, hdst_dataset *in, char **a) { return hdst_union(in, find(s, a[0])); }
static hdst_dataset *do_slice(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_slice(in, strtoull(a[0], NULL, 10), strtoull(a[1], NULL, 10)); }
static hdst_dataset *do_cache(scene *s, hdst_dataset *in, char **a) { return (void)s, (void)a, hdst_cache(in); }
static hdst_dataset *do_layout(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_with_layout(in, (hdst_layout)atoi(a[0])); }
static hdst_dataset *do_arrange(scene *s, hdst_dataset *in, char **a) { return (void)s, hdst_arrange(in, a[0]); }

static const struct { const char *name; operator_function *make; size_t words; } operators[] = {
    {"map", do_map, 1}, {"flat_map", do_flat_map, 1}, {"filter", do_filter, 1}, {"reduce", do_reduce, 1}, {"reduce_by_key", do_by_key, 1},
    {"count_by_key", do_count, 1}, {"distinct", do_distinct, 0}, {"sort", do_sort, 1}, {"top", do_top, 2}, {"min_by", do_min_by, 1}, {"max_by", do_max_by, 1},
    {"partition", do_partition, 2}, {"group", do_group, 2}, {"join", do_join, 4}, {"semi_join", do_semi_join, 3}, {"anti_join", do_anti_join, 3},
    {"co_group", do_co_group, 4}, {"union", do_union, 1}, {"slice", do_slice, 2}, {"cache", do_cache, 0}, {"layout", do_layout, 1},
    {"arrange", do_arrange, 1},
};

static void operate(scene *s, char **word, size_t words)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(word[0], operators[i].name)) continue;
        if (words < 3 + operators[i].words) give_up("too few words behind", word[0]);
        keep(s, word[1], operators[i].make(s, find(s, word[2]), word + 3));
        return;
    }
    give_up("no such command:", word[0]);
}

static hdst_source *open_source(scene *s, const char *kind, const char *path)
{
    return !strcmp(kind, "lines") ? hdst_source_open_lines(s->context, path)
         : !strcmp(kind, "csv")   ? hdst_source_open(s->context, path)
                                  : hdst_source_open_raw(s->context, path);
}

// --- What comes out ---

static void show_text(hdst_text text)
{
    putchar('x');
    for (uint64_t i = 0; i < text.length; i++) printf("%02x", (unsigned char)text.data[i]);
}

static void show_value(const hdst_view *view, uint64_t row)
{
    const void *at = (const char *)view->base + row * view->stride;
    if (view->type == HDST_TEXT) show_text(hdst_view_text(*view, row, 0));
    else if (view->type == HDST_FLOAT64) printf("%016" PRIx64, *(const uint64_t *)at);
    else if (view->type == HDST_FLOAT32) printf("%08" PRIx32, *(const uint32_t *)at);
    else if (view->type == HDST_UINT64) printf("%" PRIu64, *(const uint64_t *)at);
    else printf("%" PRId64, hdst_view_int64(*view, row, 0));
}

static void show_rows(hdst_result *result, char **field, size_t fields)
{
    hdst_view view[MOST_WORDS];
    uint64_t rows = 0;
    (void)hdst_result_rows(result, NULL, &rows);
    for (size_t f = 0; f < fields; f++) {
        view[f] = hdst_result_field(result, NULL, field[f]);
        if (rows && !view[f].base) give_up("no such field:", field[f]);
    }
    printf("rows %" PRIu64 "\n", rows);
    for (uint64_t row = 0; row < rows; row++)
        for (size_t f = 0; f < fields; f++) {
            show_value(&view[f], row);
            putchar(f + 1 < fields ? ' ' : '\n');
        }
}

static void show(scene *s, char **word, size_t words)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(find(s, word[1]));
    if (hdst_run(result, &error) == HDST_OK) {
        show_rows(result, word + 2, words - 2);
        printf("skipped %" PRIu64 "\n", hdst_result_stats(result).records_skipped);
    } else {
        char text[4096];
        hdst_error_format(&error, text, sizeof text);
        for (char *c = text; *c; c++) *c = *c == '\n' ? '|' : *c;
        printf("error %d %" PRIu64 " %s\n", error.code, error.record, text);
    }
    hdst_result_destroy(result);
}

static void obey(scene *s, char **word, size_t words)
{
    const char *what = word[0];
    if (!strcmp(what, "form")) choose_form(s, word[1]);
    else if (!strcmp(what, "memory")) s->options.memory = strtoull(word[1], NULL, 10);
    else if (!strcmp(what, "skip")) s->options.on_error = HDST_ON_ERROR_SKIP;
    else if (!strcmp(what, "limit")) choose_limit(s, word[1], word[2]);
    else if (!strcmp(what, "module")) open_module(s, word[1]);
    else if (!strcmp(what, "lines") || !strcmp(what, "csv") || !strcmp(what, "raw"))
        keep(s, word[1], hdst_read(open_source(s, what, word[2]), s->module, word[3]));
    else if (!strcmp(what, "spec")) s->spec = hdst_map_spec_create(s->module, word[1]);
    else if (!strcmp(what, "bind")) (void)hdst_bind_lookup(s->spec, word[1], find(s, word[2]), none(word[3]));
    else if (!strcmp(what, "show")) show(s, word, words);
    else if (!strcmp(what, "end")) hdst_context_destroy(s->context), puts("end"), fflush(stdout);
    else operate(s, word, words);
}

int main(void)
{
    static char line[LONGEST_LINE];
    static scene s;
    while (fgets(line, sizeof line, stdin)) {
        char *word[MOST_WORDS + 1] = {NULL};
        size_t words = 0;
        for (char *w = strtok(line, " \n"); w && words < MOST_WORDS; w = strtok(NULL, " \n")) word[words++] = w;
        if (words) obey(&s, word, words);
    }
    return 0;
}
