// SPDX-License-Identifier: Apache-2.0
// Numbers in place of keys: a dictionary has each value once, in the order of its hash, and records with numbers lead back to what they were.
#include "tests/hdst/support.h"

#include "record/key_hash.h"

#include <stdlib.h>
#include <unistd.h>

static const char kernels[] =
    "struct edge { uint64_t from; float weight; uint64_t to; };\n"
    "struct numbered { uint32_t a; float w; int64_t b; };\n"
    "struct id { uint64_t value; };\n"
    "struct named { text from; text to; };\n"
    "struct name { text value; };\n"
    "struct plain { uint32_t from; uint64_t to; };\n"
    "struct small { uint8_t from; float weight; uint64_t to; };\n"
    "struct mixed { uint64_t a; uint32_t b; uint64_t c[2]; };\n"
    "map turn(numbered e) -> numbered { return (numbered){ .a = e.a, .w = e.w * 2, .b = e.b }; }\n";

typedef struct edge { uint64_t from; float weight; uint64_t to; } edge;
typedef struct numbered { uint32_t a; float w; int64_t b; } numbered;

enum { EDGES = 30000, LEAST = 900 };
static edge edges[EDGES];

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};
#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

static uint64_t hash_of(uint64_t value) { return hdst__key_hash(&value, sizeof value); }

// Numbers of all sizes, up to 2^63 - 1.
static void make_edges(void)
{
    uint64_t state = 3;
    for (int i = 0; i < EDGES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const uint64_t from = state >> 40 & 511, to = state >> 20 & 511;
        edges[i] = (edge){hdst__key_mix64(from) >> (1 + from % 60), (float)i, hdst__key_mix64(to) >> (1 + to % 60)};
    }
}

static void check_dictionary(const uint64_t *ids, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        cr_assert(hash_of(ids[i - 1]) < hash_of(ids[i]) || (hash_of(ids[i - 1]) == hash_of(ids[i]) && ids[i - 1] < ids[i]), "place %d", (int)i);
    for (int i = 0; i < EDGES; i++) {
        bool found = false;
        for (uint64_t k = 0; k < count && !found; k++) found = ids[k] == edges[i].from;
        cr_assert(found, "edge %d", i);
        i += 100;
    }
}

Test(renumber, numbers_of_all_sizes)
{
    make_edges();
    static uint64_t first[EDGES];
    uint64_t first_count = 0;
    ON_EACH_FORM {
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *all = hdst_read(hdst_source_from_memory(context, edges, EDGES, sizeof *edges), module, "edge");
        hdst_dataset *dictionary = hdst_cache(hdst_dictionary(all, "from, to", module, "id"));
        hdst_result *ids = hdst_result_create(dictionary);
        hdst_result *r = hdst_result_create(hdst_map_function(hdst_renumber(all, "to,from", dictionary, module, "numbered"), module, "turn"));
        RUN(ids);
        RUN(r);
        uint64_t count, rows;
        const uint64_t *id = hdst_result_rows(ids, NULL, &count);
        const numbered *got = hdst_result_rows(r, NULL, &rows);
        if (!form) {
            check_dictionary(id, count);
            memcpy(first, id, count * sizeof *id);
            first_count = count;
        }
        cr_assert(count == first_count && !memcmp(id, first, count * sizeof *id), "%s: another dictionary", forms[form]);
        cr_assert_eq(rows, EDGES);
        for (int i = 0; i < EDGES; i++)
            cr_assert(got[i].a < count && (uint64_t)got[i].b < count && id[got[i].a] == edges[i].from && id[got[i].b] == edges[i].to &&
                      got[i].w == 2 * (float)i, "%s: edge %d", forms[form], i);
        hdst_context_destroy(context);
    }
}

static hdst_source *source_of_names(hdst_context *context, char *path)
{
    strcpy(path, "/tmp/hdst-test-renumber-XXXXXX");
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("# names\nlibc6\tlibgcc-s1\nlibgcc-s1 libc6\nbash a-name-of-more-than-twelve-bytes\na-name-of-more-than-twelve-bytes libc6\n", file);
    fclose(file);
    hdst_source *source = hdst_source_open_edges(context, path);
    cr_assert_eq(hdst_source_status(source, NULL), HDST_OK);
    return source;
}

Test(renumber, names)
{
    static const char *const want[][2] = {{"libc6", "libgcc-s1"}, {"libgcc-s1", "libc6"}, {"bash", "a-name-of-more-than-twelve-bytes"},
                                          {"a-name-of-more-than-twelve-bytes", "libc6"}};
    ON_EACH_FORM {
        char path[64];
        hdst_context *context = context_in_form(forms[form]);
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *all = hdst_read(source_of_names(context, path), module, "named");
        hdst_dataset *dictionary = hdst_dictionary(all, "from, to", module, "name");
        hdst_result *names = hdst_result_create(dictionary), *r = hdst_result_create(hdst_renumber(all, "from, to", dictionary, module, "plain"));
        RUN(names);
        RUN(r);
        hdst_view from = hdst_result_field(r, NULL, "from"), to = hdst_result_field(r, NULL, "to"), name = hdst_result_field(names, NULL, "value");
        cr_assert(name.rows == 4 && from.rows == 4, "%s: %d names", forms[form], (int)name.rows);
        for (uint64_t i = 0; i < 4; i++) {
            const hdst_text a = hdst_view_text(name, (uint64_t)hdst_view_int64(from, i, 0), 0);
            const hdst_text b = hdst_view_text(name, (uint64_t)hdst_view_int64(to, i, 0), 0);
            cr_assert(a.length == strlen(want[i][0]) && !memcmp(a.data, want[i][0], a.length), "%s: edge %d", forms[form], (int)i);
            cr_assert(b.length == strlen(want[i][1]) && !memcmp(b.data, want[i][1], b.length), "%s: edge %d", forms[form], (int)i);
        }
        unlink(path);
        hdst_context_destroy(context);
    }
}

// Any records are a dictionary: numbers are places, of equal ones the first; what is missing is an error of the record.
Test(renumber, dictionaries_of_the_program)
{
    static const uint64_t ids[] = {7, 5, 7, 9}, values[] = {9, 7, 5, 7};
    static const edge some[] = {{9, 1, 7}, {5, 2, 7}}, other[] = {{9, 1, 7}, {5, 2, 8}};
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *dictionary = hdst_read(hdst_source_from_memory(context, ids, 4, sizeof *ids), module, "id");
    hdst_dataset *two = hdst_read(hdst_source_from_memory(context, some, 2, sizeof *some), module, "edge");
    hdst_result *r = hdst_result_create(hdst_renumber(two, "from, to", dictionary, module, "numbered"));
    RUN(r);
    const numbered *got = hdst_result_rows(r, NULL, NULL);
    cr_assert(got[0].a == 3 && got[0].b == 0 && got[1].a == 1 && got[1].b == 0);
    hdst_dataset *missing = hdst_read(hdst_source_from_memory(context, other, 2, sizeof *other), module, "edge");
    hdst_error error = HDST_ERROR_INIT;
    r = hdst_result_create(hdst_renumber(missing, "from, to", dictionary, module, "numbered"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
    cr_assert(strstr(error.message, "field 'to' of record 1 has a value that the dictionary does not have") && error.record == 1, "%s", error.message);
    hdst_dataset *none = hdst_slice(dictionary, 0, 0);
    cr_assert_eq(hdst_run(hdst_result_create(hdst_renumber(two, "from", none, module, "numbered")), &error), HDST_E_USAGE, "%s", error.message);
    hdst_dataset *one = hdst_read(hdst_source_from_memory(context, values, 4, sizeof *values), module, "id");
    r = hdst_result_create(hdst_renumber(one, NULL, none, module, "id"));
    cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD, "%s", error.message);
    r = hdst_result_create(hdst_renumber(hdst_slice(one, 0, 0), NULL, none, module, "id"));
    cr_assert_eq(hdst_run(r, &error), HDST_OK, "%s", error.message);
    hdst_context_destroy(context);
}

static void expect(hdst_dataset *dataset, const char *words)
{
    hdst_error error = HDST_ERROR_INIT;
    cr_assert_eq(hdst_dataset_status(dataset, &error) == HDST_OK, false, "%s", words);
    cr_assert(strstr(error.message, words), "'%s' for '%s'", error.message, words);
}

Test(renumber, misuse_is_told)
{
    hdst_context *context = context_on("interp");
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *all = hdst_read(hdst_source_from_memory(context, edges, 1, sizeof *edges), module, "edge");
    hdst_dataset *mixed = hdst_read(hdst_source_from_memory(context, edges, 0, 32), module, "mixed");
    hdst_dataset *ids = hdst_dictionary(all, "from", module, "id");
    expect(hdst_dictionary(all, "form", module, "id"), "form");
    expect(hdst_dictionary(all, "from", module, "plain"), "record 'plain' does not hold a value of 'from'");
    expect(hdst_dictionary(all, "from, weight", module, "id"), "are of two types");
    expect(hdst_renumber(all, "from", ids, module, "small"), "record 'small' does not hold the fields of 'edge'");
    expect(hdst_renumber(all, "from", all, module, "numbered"), "records of 'edge' are no dictionary of 'from'");
    expect(hdst_renumber(all, "from, to", ids, module, "id"), "record 'id' does not hold");
    expect(hdst_dictionary(mixed, "c", module, "id"), "field 'c' of record 'mixed' is an array");
    hdst_context_destroy(context);
}
