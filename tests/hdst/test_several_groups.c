// SPDX-License-Identifier: Apache-2.0
// Groups, and reductions that need all records of a key together, whose keys several devices share: halves of a CPU, and the interpreter beside them.
// What the functions give depends on the order of a key's records, so one in another place shows; each result has the bits of plain C.
#include "tests/hdst/random_split.h"
#include "tests/hdst/random_team.h"
#include "tests/hdst/support.h"

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 8 };
#else
enum { SEEDS = 20 };
#endif
enum { RECORDS = 30000, ROWS = 900 };

typedef struct row { uint32_t k, p, q; } row;
typedef struct affine { uint32_t p, q; } affine;
typedef struct walk { uint32_t k, n; double w; } walk;

static const char text[] =
    "struct row { uint32_t k, p, q; };\n"
    "struct affine { uint32_t p, q; };\n"
    "struct walk { uint32_t k, n; double w; };\n"
    "group walks(key uint32_t k, stream row s, broadcast uint32_t step[]) -> walk\n"
    "{\n"
    "    walk v = (walk){ .k = k };\n"
    "    for (row r : s) { v.w = v.w / 2 + (double)(r.p % 1000u) * (double)step[v.n % 3u]; v.n++; }\n"
    "    return v;\n"
    "}\n"
    "group strict(key uint32_t k, stream row s) -> walk\n"
    "{\n"
    "    walk v = (walk){ .k = k };\n"
    "    for (row r : s) { v.n += 1000u / (r.q - 77u); }\n"
    "    return v;\n"
    "}\n"
    "map keyed(row r) -> (key uint32_t k, uint32_t p, uint32_t q) { return (r.k, r.p, r.q); }\n"
    "associative reduce mix(affine a, affine b) identity { .p = 7 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n"
    "reduce ordered(affine a, affine b) identity { .p = 9, .q = 1 } { return (affine){ a.p * 3u + b.p, a.q * 5u + b.q * b.p }; }\n";

static const uint32_t steps[3] = {3, 1, 2};
static row rows[RECORDS];

// A fifth of all records are of one key; rows 600 and up of a dense result stay empty.
static void fill(void)
{
    uint64_t state = 88172645463325252;
    for (uint32_t i = 0; i < RECORDS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        rows[i] = (row){state % 5 ? (uint32_t)(state >> 20) % 600 : 5, (uint32_t)(state >> 13) | 1, i * 77 + 1000};
    }
}

// --- The same in C ---

static affine mix(affine a, affine b) { return (affine){a.p * 3 + b.p, a.q * 5 + b.q * b.p}; }

static size_t of_key(uint32_t k, row *to)
{
    size_t n = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        if (rows[i].k == k) to[n++] = rows[i];
    return n;
}

static affine in_order(const affine *from, size_t count)
{
    affine a = from[0];
    for (size_t i = 1; i < count; i++) a = mix(a, from[i]);
    return a;
}

static affine by_tree(affine *from, size_t count)
{
    while (count > 1) {
        size_t to = 0;
        for (size_t at = 0; at < count; at += 64) from[to++] = in_order(from + at, count - at < 64 ? count - at : 64);
        count = to;
    }
    return from[0];
}

static affine reduced(uint32_t k, bool tree, affine nothing)
{
    static row own[RECORDS];
    static affine values[RECORDS];
    const size_t n = of_key(k, own);
    for (size_t i = 0; i < n; i++) values[i] = (affine){own[i].p, own[i].q};
    return !n ? nothing : tree ? by_tree(values, n) : in_order(values, n);
}

static walk walk_of(uint32_t k)
{
    walk v = {.k = k};
    for (uint32_t i = 0; i < RECORDS; i++) {
        if (rows[i].k != k) continue;
        v.w = v.w / 2 + (double)(rows[i].p % 1000) * (double)steps[v.n % 3];
        v.n++;
    }
    return v;
}

// The hash that orders results, from its published constants.
static uint32_t mixed(uint32_t k)
{
    k = (k ^ (k >> 16)) * 0x7feb352du;
    k = (k ^ (k >> 15)) * 0x846ca68bu;
    return k ^ (k >> 16);
}

static int by_hash(const void *a, const void *b)
{
    const uint32_t x = mixed(*(const uint32_t *)a), y = mixed(*(const uint32_t *)b);
    return x < y ? -1 : x > y;
}

// All keys, in the order of results.
static uint32_t keys_in_order(uint32_t *keys)
{
    static row own[RECORDS];
    uint32_t count = 0;
    for (uint32_t k = 0; k < ROWS; k++)
        if (of_key(k, own)) keys[count++] = k;
    qsort(keys, count, sizeof *keys, by_hash);
    return count;
}

// --- Jobs ---

typedef enum kind { WALKS, TREE, ORDERED, DENSE, DENSE_TREE, KINDS } kind;

typedef struct answer {
    char *bytes;
    uint64_t rows, size;
} answer;

static bool is_dense(kind k) { return k == DENSE || k == DENSE_TREE; }

static answer right_answer(kind wanted)
{
    uint32_t keys[ROWS];
    const bool tree = wanted == TREE || wanted == DENSE_TREE;
    answer a = {.rows = is_dense(wanted) ? ROWS : keys_in_order(keys)};
    a.size = wanted == WALKS ? sizeof(walk) : is_dense(wanted) ? sizeof(affine) : sizeof(row);
    a.bytes = malloc(a.rows * a.size);
    for (uint64_t i = 0; i < a.rows; i++) {
        const uint32_t k = is_dense(wanted) ? (uint32_t)i : keys[i];
        const affine v = reduced(k, tree, tree ? (affine){.p = 7} : (affine){9, 1});
        if (wanted == WALKS) ((walk *)a.bytes)[i] = walk_of(k);
        else if (is_dense(wanted)) ((affine *)a.bytes)[i] = v;
        else ((row *)a.bytes)[i] = (row){k, v.p, v.q};
    }
    return a;
}

static hdst_module *begin_job(hdst_context *context, hdst_dataset **data)
{
    cr_assert_eq(hdst_context_status(context, NULL), HDST_OK);
    hdst_module *module = module_of(context, text);
    *data = hdst_read(hdst_source_from_memory(context, rows, RECORDS, sizeof(row)), module, "row");
    return module;
}

static hdst_result *make(hdst_context *context, kind k)
{
    hdst_dataset *data;
    hdst_module *module = begin_job(context, &data);
    hdst_dataset *keyed = hdst_map_function(data, module, "keyed");
    if (is_dense(k)) return hdst_result_create(hdst_reduce_dense(keyed, module, k == DENSE ? "ordered" : "mix", ROWS));
    if (k != WALKS) return hdst_result_create(hdst_reduce_by_key(keyed, module, k == TREE ? "mix" : "ordered"));
    hdst_value *step = hdst_value_create(module, "uint32_t", 3);
    cr_assert_eq(hdst_value_set(step, steps, 3), HDST_OK);
    hdst_map_spec *spec = hdst_map_spec_create(module, "walks");
    hdst_bind_value(spec, "step", step);
    return hdst_result_create(hdst_group(data, NULL, spec));
}

static void expect(const answer *right, hdst_result *r, kind k, const char *what)
{
    uint64_t got_rows;
    const char *got = hdst_result_rows(r, NULL, &got_rows);
    cr_assert_eq(got_rows, right->rows, "%s, kind %d: %llu rows", what, (int)k, (unsigned long long)got_rows);
    for (uint64_t i = 0; i < got_rows; i++)
        cr_assert(!memcmp(got + i * right->size, right->bytes + i * right->size, right->size), "%s, kind %d, row %llu", what, (int)k, (unsigned long long)i);
}

static hdst_context *team(const char *device, hdst_on_error on_error)
{
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = device;
    options.cpu_parts = 2;
    options.on_error = on_error;
    options.replay_dir = "";
    hdst_context *context = hdst_context_create(&options);
    hdst__engine_limits(context->engine)->share_bytes = 0;
    return context;
}

// --- Results ---

Test(several_groups, results_have_the_bits_of_plain_c_on_any_team)
{
    char words[100];
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const answer right = right_answer(k);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            hdst_context *context = random_team(seed * KINDS + k, (hdst_context_options)HDST_CONTEXT_OPTIONS_INIT, words);
            hdst_result *r = make(context, k);
            for (int run = 0; run < 2; run++) {             // the second with what the first learnt
                RUN(r);
                expect(&right, r, k, words);
            }
            hdst_context_destroy(context);
        }
        free(right.bytes);
    }
}

// Every device gets keys, and explain tells who had a part; so the test above is about several.
Test(several_groups, each_device_has_some_of_the_keys)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const answer right = right_answer(k);
        hdst_context *context = team("0,1,2", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(context->engine)->policy = &random_split;
        hdst_result *r = make(context, k);
        uint64_t had[3] = {0};
        for (random_split_seed = 0; random_split_seed < 50; random_split_seed++) {
            random_split_backwards = random_split_seed % 2;
            RUN(r);
            expect(&right, r, k, "a random split");
            const hdst_run_stats stats = hdst_result_stats(r);
            for (uint32_t i = 0; i < stats.device_count; i++) had[i] += stats.device[i].records;
            if (k == WALKS) cr_assert_eq(stats.device[0].records + stats.device[1].records + stats.device[2].records, right.rows, "every key once");
        }
        cr_assert(had[0] && had[1] && had[2], "kind %d", (int)k);
        const char *explained = hdst_explain(r, NULL), *group = strstr(explained, "group ");
        cr_assert(group && strstr(group, "shares: policy at random"), "%s", explained);
        cr_assert(!strstr(group, "other devices: not used"), "%s", explained);
        hdst_context_destroy(context);
        free(right.bytes);
    }
}

// Where memory is short keys come in parts, each of which is shared.
Test(several_groups, parts_of_the_keys_are_shared_too)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (kind k = 0; k < KINDS; k++) {
        const answer right = right_answer(k);
        hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
        context->engine->runtime.memory.limit = 3 << 20;        // no device is open yet
        hdst_result *r = make(context, k);
        RUN(r);
        expect(&right, r, k, "with little memory");
        cr_assert(strstr(hdst_explain(r, NULL), "memory was short: keys in"), "kind %d", (int)k);
        hdst_context_destroy(context);
        free(right.bytes);
    }
}

// --- Which of them share ---

// What there is to do lies in the records of the keys, not in the runs of them that a device is given.
Test(several_groups, how_much_there_is_to_do_tells_whether_they_share)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    const uint64_t bytes[] = {RECORDS * sizeof(row) - 1, 2 * RECORDS * sizeof(row)};
    for (int i = 0; i < 2; i++) {
        hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
        hdst__engine_limits(context->engine)->share_bytes = bytes[i];
        hdst_result *r = make(context, WALKS);
        RUN(r);
        const char *explained = hdst_explain(r, NULL);
        cr_assert_eq(strstr(explained, "shares: policy ") != NULL, i == 0, "%s", explained);
        cr_assert_eq(strstr(explained, "other devices: not used: its input is too small for that to pay") != NULL, i == 1, "%s", explained);
        hdst_context_destroy(context);
    }
}

Test(several_groups, a_few_keys_are_for_one)
{
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    for (uint32_t i = 0; i < RECORDS; i++) rows[i].k %= 64;
    hdst_context *context = team("0,1", HDST_ON_ERROR_FAIL);
    hdst_result *r = make(context, WALKS);
    RUN(r);
    const char *explained = hdst_explain(r, NULL);
    cr_assert(strstr(explained, "other devices: not used: it has no more than 64 records, or keys, which a device takes at once"), "%s", explained);
    hdst_context_destroy(context);
}

// --- Records that fail ---

static hdst_result *strict(hdst_context *context)
{
    hdst_dataset *data;
    hdst_module *module = begin_job(context, &data);
    return hdst_result_create(hdst_group_function(data, NULL, module, "strict"));
}

// Of the keys that fail the first of the result's order is told, whoever came to which of them first.
Test(several_groups, of_keys_that_fail_the_first_is_told)
{
    uint32_t keys[ROWS];
    char wanted[80];
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    const uint32_t count = keys_in_order(keys), first = count / 3;
    for (uint32_t i = 0; i < RECORDS; i++)
        if (rows[i].k == keys[first] || rows[i].k == keys[first + 1] || rows[i].k == keys[count - 1]) rows[i].q = 77;
    snprintf(wanted, sizeof wanted, "division by zero in the records with k = %u", (unsigned)keys[first]);
    hdst_context *context = team("0,1,2", HDST_ON_ERROR_FAIL);
    hdst__engine_limits(context->engine)->policy = &random_split;
    hdst_result *r = strict(context);
    for (random_split_seed = 0; random_split_seed < 10; random_split_seed++) {
        hdst_error error;
        random_split_backwards = random_split_seed % 2;
        cr_assert_eq(hdst_run(r, &error), HDST_E_RECORD);
        cr_assert_str_eq(error.message, wanted);
        cr_assert_eq(error.record, first);
    }
    hdst_context_destroy(context);
}

Test(several_groups, keys_that_fail_are_left_out_and_counted)
{
    uint32_t keys[ROWS];
    uint64_t got_rows;
    fill();
    if (!random_team_have()) cr_skip("no halves\n");
    const uint32_t count = keys_in_order(keys);
    for (uint32_t i = 0; i < RECORDS; i++)
        for (uint32_t bad = 3; bad < count; bad += 100)
            if (rows[i].k == keys[bad]) rows[i].q = 77;
    hdst_context *context = team("0,1,2", HDST_ON_ERROR_SKIP);
    hdst_result *r = strict(context);
    RUN(r);
    const walk *got = hdst_result_rows(r, NULL, &got_rows);
    cr_assert_eq(hdst_result_stats(r).records_skipped, (count - 3 + 99) / 100);
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i % 100 == 3) continue;
        cr_assert(at < got_rows && got[at++].k == keys[i], "key %u", (unsigned)keys[i]);
    }
    cr_assert_eq(at, got_rows);
    hdst_context_destroy(context);
}
