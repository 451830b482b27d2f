// SPDX-License-Identifier: Apache-2.0
// Tables of strips are added to the device's before a word could overflow, and no oftener: how often a loop adds says nothing where words cannot overflow, and
// of a row's sums only those take superaccumulators that a record may add to without bound. Sums are those of plain C.
#include "tests/hdst/support.h"

#include <stdlib.h>

enum { RECORDS = 2000, ROWS = 5000, LINKS = 20011 };

typedef struct from { uint32_t vertex; uint32_t far; } from;
typedef struct vertex { uint32_t nearest; uint32_t last; float once; float flow; uint64_t ways; uint32_t marks; } vertex;

static const char text[] =
    "struct from { uint32_t vertex; uint32_t far; };\n"
    "struct vertex { uint32_t nearest; uint32_t last; float once; float flow; uint64_t ways; uint32_t marks; };\n"
    "map visit(from f, lookup uint64_t first[], lookup uint32_t end[], accum vertex t[])\n"
    "{\n"
    "    t[f.vertex].once += 0.25f;\n"
    "    for (uint64_t e = first[f.vertex]; e < first[f.vertex + 1]; e++) {\n"
    "        acc_min(t[end[e]].nearest, f.far + 1);\n"
    "        acc_max(t[end[e]].last, f.far);\n"
    "        t[end[e]].flow += 0.5f;\n"
    "        t[end[e]].ways += 1;\n"
    "        t[end[e]].marks |= 1u << (f.far % 32u);\n"
    "    }\n"
    "}\n"
    "map often(from f, accum vertex t[])\n"
    "{\n"
    "    uint32_t turns = f.far % 3u;\n"
    "    for (uint32_t i = 0; i < 100000; i++)\n"
    "        if (i < turns) t[f.vertex].flow += 0.5f;\n"
    "}\n";

static from items[RECORDS];
static uint64_t first[ROWS + 1];
static uint32_t end[LINKS];

static uint32_t turn(uint32_t *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

// Vertex 0 has a fifth of all links.
static void make_graph(void)
{
    uint32_t state = 7;
    for (uint32_t i = 0; i <= ROWS; i++) first[i] = i ? LINKS / 5 + (uint64_t)(LINKS - LINKS / 5) * (i - 1) / (ROWS - 1) : 0;
    for (uint32_t e = 0; e < LINKS; e++) end[e] = turn(&state) % ROWS;
    for (uint32_t i = 0; i < RECORDS; i++) items[i] = (from){i ? turn(&state) % ROWS : 0, turn(&state) % 1000};
}

static vertex *right_visit(void)
{
    vertex *right = calloc(ROWS, sizeof *right);
    for (uint32_t k = 0; k < ROWS; k++) right[k].nearest = UINT32_MAX;
    for (uint32_t i = 0; i < RECORDS; i++) {
        right[items[i].vertex].once += 0.25f;
        for (uint64_t e = first[items[i].vertex]; e < first[items[i].vertex + 1]; e++) {
            vertex *v = &right[end[e]];
            if (items[i].far + 1 < v->nearest) v->nearest = items[i].far + 1;
            if (items[i].far > v->last) v->last = items[i].far;
            v->flow += 0.5f;
            v->ways++;
            v->marks |= 1u << items[i].far % 32;
        }
    }
    return right;
}

static void bind_graph(hdst_map_spec *spec, hdst_module *m)
{
    hdst_value *firsts = hdst_value_create(m, "uint64_t", ROWS + 1), *ends = hdst_value_create(m, "uint32_t", LINKS);
    hdst_value_set(firsts, first, ROWS + 1);
    hdst_value_set(ends, end, LINKS);
    hdst_bind_value(spec, "first", firsts);
    hdst_bind_value(spec, "end", ends);
}

static void check(const char *form, const char *function, const vertex *right, const char *has, const char *has_not)
{
    const bool gpu_form = !strcmp(form, "gpu-form");
    hdst_context *context = context_on(gpu_form ? "cpu" : form);
    if (context->engine) context->engine->options.gpu_form_on_cpu = gpu_form;
    hdst_module *m = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(m, function);
    if (!strcmp(function, "visit")) bind_graph(spec, m);
    hdst_bind_accum(spec, "t", ROWS);
    hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "from"), spec));
    RUN(r);
    const vertex *got = hdst_result_rows(r, "t", NULL);
    for (uint32_t k = 0; k < ROWS; k++) {
        const vertex *a = &got[k], *b = &right[k];
        cr_assert(a->nearest == b->nearest && a->last == b->last && a->once == b->once && a->flow == b->flow && a->ways == b->ways && a->marks == b->marks,
                  "%s: row %u", form, (unsigned)k);
    }
    const char *told = hdst_explain(r, NULL);
    if (has) cr_assert(strstr(told, has), "%s: no '%s' in %s", form, has, told);
    if (has_not) cr_assert(!strstr(told, has_not), "%s: '%s' in %s", form, has_not, told);
    hdst_context_destroy(context);
}

// A loop of any length: keys, bits and integers take what comes, and one of two sums is exact without words.
Test(strip_tables, words_that_cannot_overflow_stay)
{
    make_graph();
    vertex *right = right_visit();
    check("interp", "visit", right, NULL, NULL);
    if (has_cpu()) {
        check("cpu", "visit", right, "t.flow: superaccumulators at once, for a record may add too often to one cell", "records, before a word could overflow");
        check("cpu", "visit", right, "first words only", "t.once: superaccumulators");
        check("gpu-form", "visit", right, NULL, NULL);
    }
    free(right);
}

// A long one has a bound: 2^23 / 100,000.
Test(strip_tables, words_that_can_overflow_are_added_before)
{
    if (!has_cpu()) return;
    make_graph();
    vertex *right = calloc(ROWS, sizeof *right);
    for (uint32_t i = 0; i < RECORDS; i++) right[items[i].vertex].flow += 0.5f * (float)(items[i].far % 3);
    check("cpu", "often", right, "added to the device's every 83 records", NULL);
    free(right);
}
