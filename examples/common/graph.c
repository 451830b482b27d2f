// SPDX-License-Identifier: Apache-2.0
// What programs over graphs have in common (graph.h).
#include "graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char vertex_file[] = "struct vertex { int64_t number; };\n";

static hdst_status no_memory(hdst_error *error) { return program_fail(error, HDST_E_MEMORY, 0, "", "out of memory: the vertices of the graph"); }

static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits && !text[digits];
}

static hdst_status check_size(const graph *g, hdst_error *error)
{
    if (g->size <= GRAPH_NOWHERE) return HDST_OK;
    return program_fail(error, HDST_E_USAGE, 0, "number the vertices anew, without gaps", "vertex %" PRIu64 " is more than the tables of this program hold",
                        g->size - 1);
}

// All 0 ... N - 1 are there.
static hdst_status take_number(graph *g, hdst_error *error)
{
    errno = 0;
    const uint64_t count = strtoull(g->vertices, NULL, 10);
    if (errno) return program_fail(error, HDST_E_USAGE, 0, "", "--vertices %s is too large", g->vertices);
    if (count < g->size)
        return program_fail(error, HDST_E_USAGE, 0, "vertices are numbered from 0", "--vertices %s, but an edge has vertex %" PRIu64, g->vertices, g->size - 1);
    g->size = count;
    hdst_status status = check_size(g, error);
    if (status != HDST_OK) return status;
    g->is_there = malloc(count ? count : 1);
    if (!g->is_there) return no_memory(error);
    memset(g->is_there, true, count);
    return HDST_OK;
}

static hdst_status check_number(const graph *g, int64_t number, uint64_t line, hdst_error *error)
{
    if (number >= 0 && number < GRAPH_NOWHERE) return HDST_OK;
    return program_fail(error, HDST_E_FORMAT, 0, "vertices are numbered from 0 to 4294967294",
                        "'%s': %" PRId64 " (number %" PRIu64 " of the file) is no vertex", g->vertices, number, line);
}

static hdst_status take_rows(graph *g, const int64_t *rows, uint64_t count, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        status = check_number(g, rows[i], i + 1, error);
        if (status == HDST_OK && (uint64_t)rows[i] >= g->size) g->size = (uint64_t)rows[i] + 1;
    }
    if (status == HDST_OK) status = check_size(g, error);
    if (status != HDST_OK) return status;
    g->is_there = calloc(g->size ? g->size : 1, sizeof *g->is_there);
    if (!g->is_there) return no_memory(error);
    for (uint64_t i = 0; i < count; i++) g->is_there[rows[i]] = true;
    return HDST_OK;
}

// A file of numbers, one a row.
static hdst_status take_file(graph *g, program_run *run, hdst_error *error)
{
    hdst_module_options options = HDST_MODULE_OPTIONS_INIT;
    hdst_module *module = hdst_module_parse(run->context, "vertices", vertex_file, &options);
    hdst_source *source = hdst_source_open(run->context, g->vertices);
    uint64_t count = 0;
    void *rows = NULL;
    hdst_status status = hdst_source_status(source, error);
    if (status == HDST_OK) status = hdst_collect(hdst_read(source, module, "vertex"), &rows, &count, error);
    if (status == HDST_OK) status = take_rows(g, rows, count, error);
    hdst_rows_destroy(run->context, rows);
    hdst_source_destroy(source);
    hdst_module_destroy(module);
    return status;
}

hdst_status graph_count_edges(graph *g, program_run *run, hdst_error *error) { return program_rows(run, &g->edge_count, error); }

static hdst_status take_size(graph *g, program_run *run, uint64_t size, hdst_error *error)
{
    g->size = size;
    const hdst_status status = check_size(g, error);
    if (status != HDST_OK) return status;
    if (g->vertices) return is_number(g->vertices) ? take_number(g, error) : take_file(g, run, error);
    g->is_there = calloc(g->size ? g->size : 1, sizeof *g->is_there);
    return g->is_there ? HDST_OK : no_memory(error);
}

hdst_status graph_find_size(graph *g, program_run *run, hdst_status read, hdst_error *error)
{
    if (read != HDST_OK && read != HDST_E_FORMAT) return read;
    hdst_error told = HDST_ERROR_INIT;
    const uint64_t size = hdst_source_vertices(run->source);
    hdst_status status = hdst_source_status(run->source, &told);
    if (status == HDST_OK) status = take_size(g, run, size, &told);
    if (status != HDST_OK) *error = told;
    return status == HDST_OK ? read : status;
}

hdst_status graph_open(graph *g, program_run *run, hdst_error *error)
{
    const hdst_status status = graph_count_edges(g, run, error);
    return status == HDST_OK ? graph_find_size(g, run, HDST_OK, error) : status;
}

static hdst_dataset *read_edges(const graph *g, const program_run *run, hdst_module *module)
{
    return g->weighted ? hdst_map_function(hdst_read(run->source, module, "weighted"), module, "ends") : hdst_read(run->source, module, "edge");
}

hdst_dataset *graph_edges(const graph *g, const program_run *run, hdst_module *module)
{
    return hdst_cache(hdst_with_layout(read_edges(g, run, module), program_layout(run, HDST_AOS)));
}

hdst_dataset *graph_edges_by(const graph *g, const program_run *run, hdst_module *module, const char *end)
{
    const hdst_layout layout = program_layout(run, HDST_AOS);
    hdst_dataset *edges = hdst_arrange(read_edges(g, run, module), end);
    return layout == HDST_AOS ? edges : hdst_cache(hdst_with_layout(edges, layout));
}

hdst_status graph_check_count(const graph *g, hdst_error *error)
{
    if (g->count) return HDST_OK;
    return program_fail(error, HDST_E_USAGE, 0, "--vertices N adds vertices that have no edges", "the graph has no vertices");
}

void graph_close(graph *g)
{
    free(g->is_there);
    g->is_there = NULL;
}

hdst_status graph_mark(graph *g, program_run *run, hdst_dataset *edges, hdst_module *module, const char *function, hdst_error *error)
{
    hdst_status status = HDST_OK;
    if (g->edge_count) {
        hdst_map_spec *spec = hdst_map_spec_create(module, function);
        hdst_bind_accum(spec, "seen", g->size);
        hdst_result *result = hdst_result_create(hdst_map(edges, spec));
        status = program_run_result(run, result, NULL, error);
        const bool *seen = status == HDST_OK ? hdst_result_rows(result, "seen", NULL) : NULL;
        for (uint64_t i = 0; seen && i < g->size; i++) g->is_there[i] |= seen[i];
        if (status == HDST_OK && !seen) status = hdst_result_status(result, error);
        hdst_result_destroy(result);
        hdst_map_spec_destroy(spec);
    }
    g->count = 0;
    for (uint64_t i = 0; status == HDST_OK && i < g->size; i++) g->count += g->is_there[i];
    return status;
}

hdst_status graph_save(const graph *g, const char *path, void (*print)(FILE *out, uint64_t vertex, const void *user), const void *user, hdst_error *error)
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) return program_fail(error, HDST_E_IO, 0, "", "'%s' cannot be written: %s", path, strerror(errno));
    for (uint64_t i = 0; i < g->size && !ferror(out); i++) {
        if (!g->is_there[i]) continue;
        fprintf(out, "%" PRIu64 " ", i);
        print(out, i, user);
        fputc('\n', out);
    }
    const bool failed = fflush(out) || ferror(out), closed = standard || !fclose(out);
    if (!failed && closed) return HDST_OK;
    return program_fail(error, HDST_E_IO, 0, "is the disk full?", "'%s' cannot be written: %s", path, strerror(errno));
}
