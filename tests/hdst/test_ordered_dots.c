// SPDX-License-Identifier: Apache-2.0
// Sums over a record's row that are written as loops, in a loop over rows of a broadcast: a layer of a net, the nearest of many points. In all forms and
// layouts each sum has its addends in the order of the loop, so it has the bits of the same loop in C.
#include "tests/hdst/support.h"

#include <math.h>
#include <stdlib.h>

enum { N = 150, WIDE = 37 /* no whole number of steps */, UNITS = 70 /* nor of turns */, POINTS = 45 };

typedef struct row { float x[WIDE]; uint32_t k; } row;
typedef struct weights { float w[UNITS][WIDE]; float b[UNITS]; } weights;
typedef struct layer { float y[UNITS]; } layer;
typedef struct near { uint32_t j; float d; } near;

static row rows[N];
static weights net;
static float points[POINTS][WIDE];
static layer layers[N];
static near nearest[N];
static const char *const forms[] = {"interp", "cpu", "gpu-form"};

static const char text[] = "struct row { float x[37]; uint32_t k; };\n"
                           "struct weights { float w[70][37]; float b[70]; };\n"
                           "struct layer { float y[70]; };\nstruct point { float x[37]; };\nstruct near { uint32_t j; float d; };\n"
                           "map activate(row r, broadcast weights n) -> layer\n{\n"
                           "    layer u;\n"
                           "    for (uint32_t h = 0; h < 70; h++) {\n"
                           "        float d = n.b[h];\n"
                           "        for (uint32_t i = 0; i < 37; i++) d += n.w[h][i] * r.x[i];\n"
                           "        u.y[h] = d > 0 ? d : 0;\n"
                           "    }\n"
                           "    return u;\n}\n"
                           "map find(row r, broadcast point c[]) -> near\n{\n"
                           "    near best = {0, INFINITY};\n"
                           "    for (uint32_t j = 0; j < len(c); j++) {\n"
                           "        float d = 0;\n"
                           "        for (uint32_t i = 0; i < 37; i++) { float e = r.x[i] - c[j].x[i]; d += e * e; }\n"
                           "        if (d < best.d) { best.d = d; best.j = j + r.k; }\n"
                           "    }\n"
                           "    return best;\n}\n";

static float number(void) { return ((float)rand() / (float)RAND_MAX - 0.5f) * ldexpf(1, rand() % 8); }

static void make_all(void)
{
    srand(11);
    for (int h = 0; h < UNITS; h++) {
        net.b[h] = number();
        for (int i = 0; i < WIDE; i++) net.w[h][i] = number();
    }
    for (int j = 0; j < POINTS; j++)
        for (int i = 0; i < WIDE; i++) points[j][i] = number();
    for (int r = 0; r < N; r++) {
        rows[r].k = (uint32_t)r;
        for (int i = 0; i < WIDE; i++) rows[r].x[i] = number();
        for (int h = 0; h < UNITS; h++) {
            float d = net.b[h];
            for (int i = 0; i < WIDE; i++) d = fmaf(net.w[h][i], rows[r].x[i], d);
            layers[r].y[h] = d > 0 ? d : 0;
        }
        nearest[r] = (near){0, INFINITY};
        for (int j = 0; j < POINTS; j++) {
            float d = 0;
            for (int i = 0; i < WIDE; i++) d = fmaf(rows[r].x[i] - points[j][i], rows[r].x[i] - points[j][i], d);
            if (d < nearest[r].d) nearest[r] = (near){(uint32_t)(j + r), d};
        }
    }
}

typedef struct asked { const char *function, *parameter, *type; const void *bound, *expected; uint64_t bound_rows; size_t size; } asked;

static void expect_bits(const char *form, hdst_layout layout, const asked *a)
{
    hdst_context *context = context_in_form(form);
    if (context->engine) context->engine->options.local_bytes = 48 << 10;
    hdst_module *module = module_of(context, text);
    hdst_map_spec *spec = hdst_map_spec_create(module, a->function);
    hdst_value *value = hdst_value_create(module, a->type, a->bound_rows);
    hdst_value_set(value, a->bound, a->bound_rows);
    hdst_bind_value(spec, a->parameter, value);
    hdst_source *source = hdst_source_from_memory(context, rows, N, sizeof *rows);
    hdst_dataset *data = hdst_cache(hdst_with_layout(hdst_read(source, module, "row"), layout));
    hdst_result *result = hdst_result_create(hdst_map(data, spec));
    hdst_error error;
    uint64_t count = 0;
    RUN(result);
    const char *got = hdst_result_rows(result, NULL, &count);
    cr_assert_eq(count, N);
    cr_expect(!memcmp(got, a->expected, N * a->size), "%s of layout %d in form %s", a->function, (int)layout, form);
    const char *why = hdst_explain(result, &error);
    if (!strcmp(form, "gpu-form")) cr_expect_not_null(strstr(why, "tiles: sums over 37 elements"), "%s", why);
    hdst_result_destroy(result);
    hdst_source_destroy(source);
    hdst_value_destroy(value);
    hdst_map_spec_destroy(spec);
    hdst_module_destroy(module);
    hdst_context_destroy(context);
}

static void expect_everywhere(const asked *a)
{
    make_all();
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        if (form && !have_cpu()) return;
        expect_bits(forms[form], HDST_AOS, a);
        if (form == 2) expect_bits(forms[form], HDST_SOA, a);
    }
}

Test(ordered_dots, a_layer_has_the_sums_of_its_loops)
{
    expect_everywhere(&(asked){"activate", "n", "weights", &net, layers, 1, sizeof *layers});
}

Test(ordered_dots, the_nearest_of_many_points_is_found_by_distances_in_order)
{
    expect_everywhere(&(asked){"find", "c", "point", points, nearest, POINTS, sizeof *nearest});
}

// --- One dot of a row ---

// Its loads are many at a time, and then one by one: 256 elements of the 16 lanes at once, and what is left.
Test(ordered_dots, one_of_a_wide_row)
{
    static const uint32_t widths[] = {255, 256, 300, 785};
    enum { MOST = 785, ROWS = 70 };
    static float x[ROWS * MOST], v[MOST], right[ROWS];
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        const uint32_t width = widths[w];
        for (uint32_t i = 0; i < ROWS * width; i++) x[i] = number();
        for (uint32_t i = 0; i < width; i++) v[i] = number();
        for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
            if (form && !have_cpu()) return;
            char code[300];
            snprintf(code, sizeof code, "struct wide { float x[%u]; };\nmap one(wide r, broadcast wide v) -> float { return dot(r.x, v.x); }\n", width);
            hdst_context *context = context_in_form(forms[form]);
            hdst_module *module = module_of(context, code);
            hdst_map_spec *spec = hdst_map_spec_create(module, "one");
            hdst_value *value = hdst_value_create(module, "wide", 1);
            hdst_value_set(value, v, 1);
            hdst_bind_value(spec, "v", value);
            hdst_result *r = hdst_result_create(hdst_map(hdst_read(hdst_source_from_memory(context, x, ROWS, width * sizeof *x), module, "wide"), spec));
            RUN(r);
            uint64_t count;
            const float *got = hdst_result_rows(r, NULL, &count);
            cr_assert_eq(count, ROWS);
            if (form == 0) memcpy(right, got, sizeof right);
            cr_expect(!memcmp(got, right, sizeof right), "%u elements in form %s", width, forms[form]);
            hdst_context_destroy(context);
        }
    }
}
