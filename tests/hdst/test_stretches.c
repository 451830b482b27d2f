// SPDX-License-Identifier: Apache-2.0
// Lookup tables with any number of rows of a key: in all forms loops over t[k], its length and its rows are those that loops over all records give in C; keys
// that are not there have none; what the rows are made of is told where it does not fit.
#include "tests/hdst/support.h"

static const char *const forms[] = {"interp", "cpu", "gpu-form", "team"};

#define ON_EACH_FORM                                      \
    for (size_t form = 0; form < 4; form++)               \
        if (!form || (form == 3 ? have_team() : have_cpu()))

typedef struct road { int32_t from; uint32_t to; hdst_text_span name; } road;
typedef struct toll { uint32_t at; float price; } toll;
typedef struct seen { uint64_t sum, count, all, letters; float tolls; uint32_t first, last, known; } seen;

static const char kernels[] =
    "struct road { int32_t from; uint32_t to; text name; };\n"
    "struct plain { uint32_t to; int32_t from; };\n"
    "struct toll { uint32_t at; float price; };\n"
    "struct seen { uint64_t sum, count, all, letters; float tolls; uint32_t first, last, known; };\n"
    "map look(int32_t v, lookup road out[int32_t][], lookup float tolls[uint32_t][]) -> seen\n"
    "{\n"
    "    seen s;\n"
    "    for (road r : out[v]) {\n"
    "        if (r.to % 3u == 0) continue;\n"
    "        if (s.known == 5u) break;\n"
    "        s.known += 1;\n"
    "        s.sum += r.to;\n"
    "        s.letters += len(r.name);\n"
    "    }\n"
    "    for (float price : tolls[(uint32_t)v]) s.tolls += price;\n"
    "    s.count = len(out[v]);\n"
    "    s.all = len(out);\n"
    "    s.known += has(tolls, (uint32_t)v) ? 100 : 0;\n"
    "    if (s.count > 0) { s.first = out[v][0].to; s.last = out[v][s.count - 1].to; }\n"
    "    return s;\n"
    "}\n"
    "flat_map pairs(plain p, lookup uint32_t out[int32_t][], accum uint64_t ways) -> uint32_t\n"
    "{\n"
    "    for (uint32_t a : out[p.from]) for (uint32_t b : out[(int32_t)a]) { ways += 1; if (b == p.to) emit(a); }\n"
    "}\n"
    "map chase(int32_t v, lookup uint32_t out[int32_t][]) -> uint64_t\n"
    "{\n"
    "    uint64_t sum = 0;\n"
    "    int32_t at = v;\n"
    "    for (uint64_t turn = 0; turn < len(out[at]); turn++) {\n"
    "        if (turn == 50u) break;\n"
    "        uint64_t count = len(out[at]);\n"
    "        at = (int32_t)out[at][0];\n"
    "        sum += count * 1000 + at;\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "map row(int32_t v, lookup uint32_t out[int32_t][]) -> uint32_t { return out[v / 10][v % 10]; }\n"
    "map plain_of(road r) -> plain { return (plain){ r.to, r.from }; }\n"
    "map upside(road r) -> plain { return (plain){ r.to, -r.from }; }\n";

enum { ROADS = 4000, PLACES = 300, TOLLS = 500, PAIRED = 200, BUSY = 7, FIRST = -4, ASKED = PLACES + 12 };

static road roads[ROADS];
static toll tolls[TOLLS];
static int32_t asked[ASKED];
static char names[40][40];

// Every fifth place has no road, one has a quarter of all.
static void fill(void)
{
    uint32_t state = 3;
    for (int i = 0; i < 40; i++) snprintf(names[i], sizeof names[i], i % 2 ? "%d" : "the road with the number %d", i);
    for (int i = 0; i < ROADS; i++) {
        state = state * 1664525 + 1013904223;
        const int32_t from = i % 4 ? (int32_t)((state >> 8) % PLACES) : BUSY;
        const char *name = names[(state >> 4) % 40];
        roads[i] = (road){from - (from % 5 == 0), (state >> 12) % PLACES, hdst_text_span_of(name, (uint32_t)strlen(name))};
        if (roads[i].from < 0) roads[i].from = 1;
    }
    for (int i = 0; i < TOLLS; i++) tolls[i] = (toll){(uint32_t)(i * 37 % PLACES), 0.25f * (float)i};
}

static seen expected(int32_t v)
{
    seen s = {.all = ROADS};
    bool ended = false;
    for (int i = 0; i < ROADS; i++) {
        if (roads[i].from != v) continue;
        s.first = s.count ? s.first : roads[i].to;
        s.last = roads[i].to;
        s.count++;
        if (roads[i].to % 3 == 0) continue;
        ended |= s.known == 5;
        if (ended) continue;
        s.known++;
        s.sum += roads[i].to;
        s.letters += roads[i].name.length;
    }
    bool pays = false;
    for (int i = 0; i < TOLLS; i++)
        if (tolls[i].at == (uint32_t)v) s.tolls += tolls[i].price, pays = true;
    s.known += pays ? 100 : 0;
    return s;
}

typedef struct map_of { hdst_context *context; hdst_module *module; hdst_dataset *roads, *tolls, *places; } map_of;

static map_of open_map(hdst_context *context)
{
    map_of m = {.context = context};
    fill();
    m.module = module_of(context, kernels);
    m.roads = hdst_read(hdst_source_from_memory(context, roads, ROADS, sizeof *roads), m.module, "road");
    m.tolls = hdst_read(hdst_source_from_memory(context, tolls, TOLLS, sizeof *tolls), m.module, "toll");
    for (int i = 0; i < ASKED; i++) asked[i] = i + FIRST;
    m.places = hdst_read(hdst_source_from_memory(context, asked, ASKED, sizeof *asked), m.module, "int32_t");
    return m;
}

static void check_seen(const seen *got, int32_t v, const char *form)
{
    const seen want = expected(v);
    cr_assert(got->sum == want.sum && got->count == want.count && got->all == want.all && got->letters == want.letters && got->tolls == want.tolls,
              "place %d on %s: %d %d %d %d %g", v, form, (int)got->sum, (int)got->count, (int)got->all, (int)got->letters, got->tolls);
    cr_assert(got->first == want.first && got->last == want.last && got->known == want.known, "place %d on %s: %u %u %u", v, form, got->first, got->last,
              got->known);
}

Test(stretches, loops_lengths_and_rows)
{
    ON_EACH_FORM {
        map_of m = open_map(context_in_form(forms[form]));
        hdst_map_spec *look = hdst_map_spec_create(m.module, "look");
        cr_assert_eq(hdst_bind_lookup(look, "out", hdst_arrange(m.roads, "from"), NULL), HDST_OK);
        cr_assert_eq(hdst_bind_lookup(look, "tolls", hdst_arrange(m.tolls, "at"), "at"), HDST_OK);
        hdst_result *result = hdst_result_create(hdst_map(m.places, look));
        for (int run = 0; run < 2; run++) {
            RUN(result);
            const seen *got = hdst_result_rows(result, NULL, NULL);
            for (int i = 0; i < ASKED; i++) check_seen(&got[i], i + FIRST, forms[form]);
        }
        hdst_context_destroy(m.context);
    }
}

// Ends of the roads that leave each place, by hand.
static void list_ends(uint32_t *count, uint32_t (*ends)[ROADS])
{
    for (int i = 0; i < ROADS; i++) ends[roads[i].from][count[roads[i].from]++] = roads[i].to;
}

// The key may stand behind the row's fields, and one stretch within another's loop.
Test(stretches, paths_of_two_roads)
{
    static uint32_t count_of[PLACES], ends[PLACES][ROADS];
    uint64_t ways = 0, found = 0, by_first = 0;
    fill();
    list_ends(count_of, ends);
    for (int i = 0; i < PAIRED; i++)
        for (uint32_t j = 0; j < count_of[roads[i].from]; j++) {
            const uint32_t by = ends[roads[i].from][j];
            for (uint32_t k = 0; k < count_of[by]; k++) {
                ways++;
                if (ends[by][k] != roads[i].to) continue;
                found++;
                by_first += by;
            }
        }
    for (size_t form = 0; form < (have_cpu() ? 3 : 1); form++) {
        map_of m = open_map(context_in_form(forms[form]));
        hdst_dataset *plain = hdst_map_function(m.roads, m.module, "plain_of");
        hdst_map_spec *pairs = hdst_map_spec_create(m.module, "pairs");
        cr_assert_eq(hdst_bind_lookup(pairs, "out", hdst_arrange(plain, "from"), NULL), HDST_OK);
        hdst_result *result = hdst_result_create(hdst_flat_map(hdst_slice(plain, 0, PAIRED), pairs));
        RUN(result);
        uint64_t count, sum = 0;
        const uint32_t *got = hdst_result_rows(result, NULL, &count);
        for (uint64_t i = 0; i < count; i++) sum += got[i];
        cr_assert(count == found && sum == by_first, "%d records on %s, not %d", (int)count, forms[form], (int)found);
        cr_assert_eq((uint64_t)hdst_view_int64(hdst_result_field(result, "ways", NULL), 0, 0), ways, "on %s", forms[form]);
        hdst_context_destroy(m.context);
    }
}

static hdst_context *interpreter(void)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "interp";
    return hdst_context_create(&options);
}

// Where the rows of a key lie is found in front of a loop only if the key stays.
Test(stretches, keys_that_loops_change)
{
    map_of m = open_map(interpreter());
    hdst_map_spec *chase = hdst_map_spec_create(m.module, "chase");
    cr_assert_eq(hdst_bind_lookup(chase, "out", hdst_arrange(hdst_map_function(m.roads, m.module, "plain_of"), "from"), NULL), HDST_OK);
    hdst_result *result = hdst_result_create(hdst_map(m.places, chase));
    RUN(result);
    const uint64_t *got = hdst_result_rows(result, NULL, NULL);
    static seen of[ASKED];
    for (int i = 0; i < ASKED; i++) of[i] = expected(i + FIRST);
    for (int i = 0; i < ASKED; i++) {
        int32_t v = i + FIRST;
        uint64_t sum = 0;
        for (uint64_t turn = 0; turn < of[v - FIRST].count && turn < 50; turn++) {
            sum += of[v - FIRST].count * 1000 + of[v - FIRST].first;
            v = (int32_t)of[v - FIRST].first;
        }
        cr_assert_eq(got[i], sum, "place %d: %d, not %d", i + FIRST, (int)got[i], (int)sum);
    }
    hdst_context_destroy(m.context);
}

static void fails(hdst_dataset *dataset, hdst_status status, const char *part)
{
    hdst_error error = HDST_ERROR_INIT;
    hdst_result *result = hdst_result_create(dataset);
    cr_assert_eq(hdst_run(result, &error), status, "%s", error.message);
    cr_assert(strstr(error.message, part), "%s", error.message);
    hdst_result_destroy(result);
}

Test(stretches, what_does_not_fit_is_told)
{
    map_of m = open_map(interpreter());
    hdst_error error = HDST_ERROR_INIT;
    hdst_map_spec *loose = hdst_map_spec_create(m.module, "look"), *other = hdst_map_spec_create(m.module, "look");
    cr_assert_eq(hdst_bind_lookup(loose, "out", m.roads, "from"), HDST_E_USAGE);
    hdst_map_spec_status(loose, &error);
    cr_assert(strstr(error.message, "the dataset is not arranged by 'from'") && strstr(error.hint, "hdst_arrange(dataset, \"from\")"), "%s", error.message);
    cr_assert_eq(hdst_bind_lookup(other, "out", hdst_arrange(m.roads, "to"), "from"), HDST_E_USAGE);
    hdst_dataset *plain = hdst_arrange(hdst_map_function(m.roads, m.module, "plain_of"), "from");
    hdst_map_spec *passing = hdst_map_spec_create(m.module, "pairs");
    cr_assert_eq(hdst_bind_lookup(passing, "out", hdst_with_layout(plain, HDST_SOA), "from"), HDST_E_USAGE);
    hdst_map_spec_status(passing, &error);
    cr_assert(strstr(error.message, "does not keep them") && strstr(error.hint, "hdst_cache"), "%s", error.message);
    hdst_dataset *upside = hdst_arrange(hdst_map_function(m.roads, m.module, "upside"), "from");
    hdst_map_spec *negative = hdst_map_spec_create(m.module, "row"), *beyond = hdst_map_spec_create(m.module, "row");
    cr_assert_eq(hdst_bind_lookup(negative, "out", upside, NULL), HDST_OK);
    fails(hdst_map(m.places, negative), HDST_E_RECORD, "lookup 'out' has a negative key, -299, in record 0");
    cr_assert_eq(hdst_bind_lookup(beyond, "out", hdst_arrange(hdst_map_function(m.roads, m.module, "plain_of"), "from"), NULL), HDST_OK);
    fails(hdst_map(m.places, beyond), HDST_E_RECORD, "index -4 out of range: out[k] has no rows");
    hdst_context_destroy(m.context);
}

Test(stretches, a_cpu_reads_rows_where_they_lie)
{
    if (!have_cpu()) return;
    map_of m = open_map(context_on("cpu"));
    hdst_dataset *plain = hdst_cache(hdst_map_function(m.roads, m.module, "plain_of"));
    hdst_map_spec *pairs = hdst_map_spec_create(m.module, "pairs");
    cr_assert_eq(hdst_bind_lookup(pairs, "out", hdst_arrange(plain, "from"), NULL), HDST_OK);
    hdst_result *result = hdst_result_create(hdst_flat_map(hdst_slice(plain, 0, 20), pairs));
    RUN(result);
    cr_assert_lt(hdst_result_stats(result).bytes_to_device, ROADS * sizeof(uint32_t));
    hdst_context_destroy(m.context);
}

// No records, and rows that are kept from run to run with an arranged dataset.
Test(stretches, none_and_the_same_ones_again)
{
    map_of m = open_map(interpreter());
    hdst_dataset *plain = hdst_cache(hdst_map_function(m.roads, m.module, "plain_of"));
    hdst_dataset *arranged = hdst_arrange(plain, "from"), *none = hdst_arrange(hdst_slice(plain, 0, 0), "from");
    hdst_dataset *const of[] = {arranged, none, hdst_cache(hdst_with_layout(arranged, HDST_SOA))};
    uint64_t full = 0;
    for (int i = 0; i < 3; i++) {
        hdst_map_spec *pairs = hdst_map_spec_create(m.module, "pairs");
        cr_assert_eq(hdst_bind_lookup(pairs, "out", of[i], NULL), HDST_OK);
        hdst_result *result = hdst_result_create(hdst_flat_map(hdst_slice(plain, 0, 20), pairs));
        RUN(result);
        RUN(result);
        uint64_t count;
        hdst_result_rows(result, NULL, &count);
        if (i == 0) full = count;
        cr_assert(full > 0 && count == (i == 1 ? 0 : full), "%d records", (int)count);
        cr_expect(strstr(hdst_explain(result, NULL), "which the dataset had already"), "%s", hdst_explain(result, NULL));
        hdst_result_destroy(result);
    }
    hdst_context_destroy(m.context);
}
