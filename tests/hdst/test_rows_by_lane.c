// SPDX-License-Identifier: Apache-2.0
// Loops over the elements of two rows, where the form for GPUs reads several elements ahead of the loop: also where each turn has a row of its own, where only
// some turns read, and where what stands behind the last element is another record's.
#include "tests/hdst/support.h"

enum { RECORDS = 1000, ROWS = 3, ELEMENTS = 12 };

typedef struct item { float x[2 * ELEMENTS]; uint32_t k, pad[3]; } item;
typedef struct row { float c[2][ELEMENTS]; } row;

static const char kernels[] =
    "struct item { float x[24]; uint32_t k; uint32_t pad[3]; };\n"
    "struct row { float c[2][12]; };\n"
    "map f(item p, accum float t, accum float u, accum float v, broadcast row b[])\n"
    "{\n"
    "    float s = 0, w = 0, z = 0;\n"
    "    for (uint32_t l = 0; l < 12; l++) { uint32_t r = (p.k >> l) % 3u; s += b[r].c[1][l] * p.x[12 + l]; }\n"
    "    for (uint32_t l = 0; l < 12; l++) { if (p.k < len(b)) w += b[p.k].c[1][l]; if (l < 4) w += p.x[20 + l]; }\n"
    "    for (uint32_t l = 0; l < 12; l++) z += b[(uint32_t)b[1].c[0][l]].c[1][l] * p.x[12 + l];\n"
    "    t += s;\n"
    "    u += w;\n"
    "    v += z;\n"
    "}\n";

static item items[RECORDS];
static row rows[ROWS];

static void fill(void)
{
    for (uint32_t i = 0; i < RECORDS; i++) {
        for (uint32_t e = 0; e < 2 * ELEMENTS; e++) items[i].x[e] = (float)((i * 7 + e * 5) % 23) - 11;
        items[i].k = i * 2654435761u >> (i % 32);
    }
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t e = 0; e < ELEMENTS; e++) rows[r].c[0][e] = (float)((r + e) % ROWS), rows[r].c[1][e] = (float)((r * 13 + e * 3) % 9) - 4;
}

// Whole numbers, of which all sums are exact.
static void expected(double *sums)
{
    for (uint32_t i = 0; i < RECORDS; i++)
        for (uint32_t l = 0; l < ELEMENTS; l++) {
            const item *p = &items[i];
            sums[0] += (double)rows[(p->k >> l) % 3].c[1][l] * (double)p->x[12 + l];
            sums[1] += (p->k < ROWS ? (double)rows[p->k].c[1][l] : 0) + (l < 4 ? (double)p->x[20 + l] : 0);
            sums[2] += (double)rows[(uint32_t)rows[1].c[0][l]].c[1][l] * (double)p->x[12 + l];
        }
}

static void check(const char *form, hdst_layout layout)
{
    double sums[3] = {0};
    hdst_error error = HDST_ERROR_INIT;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = strcmp(form, "gpu form") ? form : "cpu";
    hdst_context *context = hdst_context_create(&options);
    cr_assert_not_null(context->engine);
    context->engine->options.gpu_form_on_cpu = !strcmp(form, "gpu form");
    hdst_module *m = module_of(context, kernels);
    hdst_value *b = hdst_value_create(m, "row", ROWS);
    hdst_map_spec *f = hdst_map_spec_create(m, "f");
    fill();
    expected(sums);
    cr_assert_eq(hdst_value_set(b, rows, ROWS), HDST_OK);
    hdst_bind_value(f, "b", b);
    hdst_result *r = hdst_result_create(
        hdst_map(hdst_with_layout(hdst_read(hdst_source_from_memory(context, items, RECORDS, sizeof *items), m, "item"), layout), f));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s: %s %s", form, error.message, error.cause);
    static const char *const names[] = {"t", "u", "v"};
    for (int i = 0; i < 3; i++) {
        const double got = hdst_view_double(hdst_result_field(r, names[i], NULL), 0, 0);
        cr_expect_eq(got, sums[i], "%s, layout %d, %s: %g, not %g", form, (int)layout, names[i], got, sums[i]);
    }
    hdst_context_destroy(context);
}

static void check_layouts(const char *form)
{
    check(form, HDST_AOS);
    check(form, HDST_SOA);
}

Test(rows_by_lane, in_the_interpreter) { check_layouts("interp"); }
Test(rows_by_lane, on_a_cpu)
{
    if (has_cpu()) check_layouts("cpu");
}
Test(rows_by_lane, in_the_gpu_form)
{
    if (has_cpu()) check_layouts("gpu form");
}
