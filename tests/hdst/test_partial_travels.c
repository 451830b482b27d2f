// SPDX-License-Identifier: Apache-2.0
// A partial of a fold has all that its function needs: another process merges it without the kernel file.
#include "tests/hdst/support.h"

#include <stdlib.h>

typedef struct row { uint32_t k, n; double w; } row;

static row chain(row a, row b) { return (row){a.k * 31 + b.k, a.n + b.n, a.w * 0.5 + b.w}; }

// The fixed tree: 64 to one, and so on.
static row by_tree(const row *from, uint64_t count)
{
    row *level = malloc(count * sizeof *level);
    memcpy(level, from, count * sizeof *level);
    while (count > 1) {
        const uint64_t runs = (count + 63) / 64;
        for (uint64_t r = 0; r < runs; r++) {
            row sum = level[64 * r];
            for (uint64_t i = 64 * r + 1; i < 64 * r + 64 && i < count; i++) sum = chain(sum, level[i]);
            level[r] = sum;
        }
        count = runs;
    }
    const row result = level[0];
    free(level);
    return result;
}

#define GOOD(call)                                                                          \
    do {                                                                                    \
        hdst_error good_error = HDST_ERROR_INIT, *e = &good_error;                          \
        cr_assert_eq((call), HDST_OK, "%s", e->message);                                    \
    } while (0)

static hdst_partial *carry(hdst_partial *partial, hdst_context *to)
{
    const void *bytes;
    uint64_t size;
    GOOD(hdst_partial_write(partial, &bytes, &size, e));
    hdst_partial *arrived = hdst_partial_from_bytes(to, bytes, size);
    GOOD(hdst_partial_status(arrived, e));
    hdst_partial_destroy(partial);
    return arrived;
}

// Module, params and schemas travel along: the kernel file is not there any more.
Test(partial_travels, functions_travel_with_their_module)
{
    static const char main_text[] = "import \"lib.hk\";\nimport \"row.yaml\";\nparam uint32_t FACTOR;\n"
                                    "associative reduce mixed(pair a, pair b) { return (pair){ .k = mix(a.k, FACTOR) + b.k, .w = a.w * 0.5 + b.w }; }\n";
    hdst_error error;
    struct { hdst_context *context; hdst_module *module; } s = {.context = context_in_form("interp")}, other = {.context = context_in_form("interp")};
    char name[] = "/tmp/hdst-parts-XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(name));
    const char *const files[][2] = {{"main.hk", main_text}, {"lib.hk", "uint32_t mix(uint32_t a, uint32_t f) { return a * f; }\n"},
                                    {"row.yaml", "records:\n  pair:\n    fields:\n      - {name: k, type: uint32}\n      - {name: w, type: float64}\n"}};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", name, files[i][0]);
        FILE *file = fopen(path, "w");
        cr_assert(file && fputs(files[i][1], file) >= 0 && fclose(file) == 0);
    }
    snprintf(path, sizeof path, "%s/main.hk", name);
    const hdst_param factor = {"FACTOR", 31};
    s.module = hdst_module_load(s.context, path, &factor, 1);
    cr_assert_eq(hdst_module_status(s.module, &error), HDST_OK, "%s", hdst_module_diagnostics(s.module));
    struct { uint32_t k; double w; } pairs[200];
    hdst_partial *p[2];
    for (int i = 0; i < 200; i++) pairs[i].k = (uint32_t)i * 77, pairs[i].w = i;
    for (int i = 0; i < 2; i++) {
        hdst_result *result = hdst_result_create(hdst_reduce(
            hdst_read(hdst_source_from_memory(s.context, pairs + 90 * i, i ? 110 : 90, sizeof *pairs), s.module, "pair"), s.module, "mixed"));
        GOOD(hdst_result_keep_partial_at(result, 90 * (uint64_t)i, e));
        RUN(result);
        p[i] = hdst_partial_from_result(result);
        hdst_result_destroy(result);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", name, files[i][0]);
        remove(path);
    }
    remove(name);
    for (int i = 0; i < 2; i++) p[i] = carry(p[i], other.context);
    hdst_context_destroy(s.context);
    GOOD(hdst_partial_merge(p[0], p[1], e));
    row plain[200];
    for (int i = 0; i < 200; i++) plain[i] = (row){pairs[i].k, 1, pairs[i].w};
    const row wanted = by_tree(plain, 200);
    cr_expect_eq(hdst_view_double(hdst_partial_field(p[0], NULL, "k"), 0, 0), wanted.k);
    cr_expect_eq(hdst_view_double(hdst_partial_field(p[0], NULL, "w"), 0, 0), wanted.w);
    hdst_context_destroy(other.context);
}
