// SPDX-License-Identifier: Apache-2.0
// Reductions by key on a GPU (kernels as a GPU gets them, on a CPU device) by the number of parts and of rounds in which tuples come to them, against sums in
// plain C: as many keys as one round takes and one more, tiles that are not full, keys that crowd in one part.
#include "tests/hdst/support.h"
#include "tests/support/key_unmix.h"

#include <stdlib.h>

typedef struct row { uint32_t key; float v; } row;

static const char kernels[] = "struct row { uint32_t key; float v; };\n"
                              "reduce add(float a, float b) { return a + b; }\n";

enum { N = 280000, LONG = 530000, KEY_FACTOR = 0x3779b1 };     // factor: odd, so numbers and keys belong to each other one by one
static row rows[LONG];
static uint32_t numbers[LONG];
static double sums[LONG];

typedef struct setting {
    uint32_t table_bits, part_bits;
    uint64_t local_bytes;
} setting;

static void make_rows(uint64_t count, uint32_t keys)
{
    for (uint64_t i = 0; i < count; i++) numbers[i] = (uint32_t)(i * UINT64_C(7919) % keys);
    for (uint64_t i = 0; i < count; i++) rows[i] = (row){numbers[i] * (uint32_t)KEY_FACTOR, (float)(i % 1000) - 300};
}

static void check_rows(const row *got, uint64_t got_count, uint64_t count, uint32_t keys, const char *how)
{
    const uint32_t inverse = (uint32_t)odd_inverse(KEY_FACTOR);
    memset(sums, 0, sizeof sums);
    for (uint64_t i = 0; i < count; i++) sums[numbers[i]] += (double)rows[i].v;
    cr_assert_eq(got_count, count < keys ? count : keys, "%llu rows of %llu records and %u keys\n%s", (unsigned long long)got_count,
                 (unsigned long long)count, keys, how);
    for (uint64_t k = 0; k < got_count; k++) {
        const uint32_t number = got[k].key * inverse;
        cr_assert(number < keys && (double)got[k].v == sums[number], "key %u of %u: %g, not %g\n%s", number, keys, (double)got[k].v, sums[number], how);
        sums[number] = 0.5;         // no other row has it
    }
}

// What explain says then.
static const char *run_and_check(hdst_result *result, uint64_t records, uint32_t keys)
{
    uint64_t count;
    RUN(result);
    const row *got = hdst_result_rows(result, NULL, &count);
    const char *how = hdst_explain(result, NULL);
    check_rows(got, count, records, keys, how);
    return how;
}

// told: in what explain says after the second run, which knows how many keys there are.
static void check(const setting *s, uint64_t count, uint32_t keys, const char *told)
{
    hdst_context *context = context_in_form("gpu-form");
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = s->table_bits;
    context->engine->limits.by_key_partition_bits = s->part_bits;
    context->engine->options.local_bytes = s->local_bytes;
    hdst_module *module = module_of(context, kernels);
    hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, rows, count, sizeof(row)), module, "row"));
    hdst_result *result = hdst_result_create(hdst_reduce_by_key(data, module, "add"));
    make_rows(count, keys);
    for (int run = 0; run < 2; run++) run_and_check(result, count, keys);
    cr_assert(strstr(hdst_explain(result, NULL), told), "%llu records, %u keys: no \"%s\"\n%s", (unsigned long long)count, keys, told,
              hdst_explain(result, NULL));
    hdst_context_destroy(context);
}

// A table of 256 rows is for 100.8 keys where tuples are few.
enum { IN_ONE_ROUND = 103219 };

Test(key_rounds, as_many_keys_as_one_round_takes)
{
    if (!have_cpu()) return;
    const setting s = {.table_bits = 8};
    check(&s, N, IN_ONE_ROUND, "1024 parts by hash in 1 round,");
    check(&s, N, IN_ONE_ROUND + 1, "2048 parts by hash in 2 rounds");
    check(&s, N, IN_ONE_ROUND / 2 + 1, "1024 parts by hash in 1 round,");
    check(&s, N, IN_ONE_ROUND / 2, "512 parts by hash in 1 round,");
    check(&s, N, N, "4096 parts by hash in 2 rounds");
}

// A table of 64 rows is for 25.2 keys, or for 18 where it has two tuples for each row, unless that would take another round.
Test(key_rounds, tables_of_long_parts_are_emptier)
{
    if (!have_cpu()) return;
    const setting s = {.table_bits = 6};
    check(&s, N, 128 * 18, "128 parts by hash in 1 round,");
    check(&s, N, 128 * 18 + 1, "256 parts by hash in 1 round,");
    check(&s, 30000, 128 * 25, "128 parts by hash in 1 round,");
    check(&s, N, 1024 * 25, "1024 parts by hash in 1 round,");
    check(&s, N, 1024 * 26, "2048 parts by hash in 2 rounds");
    check(&s, LONG, 2048 * 20, "4096 parts by hash in 2 rounds");
}

// A device with little local memory has half as many parts in a round.
Test(key_rounds, in_little_local_memory)
{
    if (!have_cpu()) return;
    const setting s = {.table_bits = 8, .local_bytes = 16 << 10};
    check(&s, N, IN_ONE_ROUND / 2, "512 parts by hash in 1 round,");
    check(&s, N, IN_ONE_ROUND / 2 + 1, "1024 parts by hash in 2 rounds");
}

// A tile has 12288 of these tuples, of which 4096 are in local memory at once.
Test(key_rounds, tiles_that_are_not_full)
{
    if (!have_cpu()) return;
    static const uint64_t counts[] = {1, 4096, 8193, 12287, 12289, 2 * 12288 + 4097};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        check(&(setting){.part_bits = 10}, counts[c], (uint32_t)counts[c], "1024 parts by hash in 1 round,");
    check(&(setting){.part_bits = 10}, 8193, 1, "device hash");
}

Test(key_rounds, no_records)
{
    if (!have_cpu()) return;
    check(&(setting){.part_bits = 10}, 0, 1, "");
}

static uint32_t key_of_hash(uint32_t hash)
{
    uint32_t x = (uint32_t)unshift(hash, 16) * (uint32_t)odd_inverse(0x846ca68bu);
    x = (uint32_t)unshift(x, 15) * (uint32_t)odd_inverse(0x7feb352du);
    return (uint32_t)unshift(x, 16);
}

// 500 keys whose hashes agree in ten bits, and a table of 64 rows: nothing is lost, more parts are made, and the next run knows.
static void check_crowded(uint32_t part_bits)
{
    enum { CROWDED = 500, COUNT = 60000 };
    double expected[CROWDED] = {0};
    hdst_context *context = context_in_form("gpu-form");
    context->engine->limits.by_key_device_least = 1;
    context->engine->limits.by_key_table_bits = 6;
    context->engine->limits.by_key_partition_bits = part_bits;
    for (uint32_t i = 0; i < COUNT; i++) {
        rows[i] = (row){key_of_hash(0x2ac00000u + i % CROWDED * 8389u), (float)(i % 77)};
        expected[i % CROWDED] += (double)rows[i].v;
    }
    hdst_module *module = module_of(context, kernels);
    hdst_result *result = hdst_result_create(
        hdst_reduce_by_key(hdst_cache(hdst_read(hdst_source_from_memory(context, rows, COUNT, sizeof(row)), module, "row")), module, "add"));
    for (int run = 0; run < 2; run++) {
        uint64_t count;
        RUN(result);
        const row *got = hdst_result_rows(result, NULL, &count);
        const char *how = hdst_explain(result, NULL);
        cr_assert_eq(count, CROWDED);
        for (uint32_t k = 0; k < CROWDED; k++)          // in the order of their hashes
            cr_assert(got[k].key == rows[k].key && (double)got[k].v == expected[k], "row %u: %g, not %g", k, (double)got[k].v, expected[k]);
        cr_assert_eq(strstr(how, "runs again with more room, as a table was too small") != NULL, run == 0, "run %d\n%s", run, how);
    }
    hdst_context_destroy(context);
}

Test(key_rounds, keys_that_crowd_in_one_part)
{
    if (!have_cpu()) return;
    check_crowded(10);
    check_crowded(0);
}

// A driver that refuses the large work-groups, when it compiles them or when they are to run: two rounds, and nobody sees an error.
static hdst__device_ops refusing;
static const hdst__device_ops *usual;
static uint32_t refused_group;

static hdst_status refuse_load(hdst__device *device, const hdst__code *code, hdst__program **program, hdst_error *error)
{
    if (code->kernel->local_size == refused_group) return hdst__error_set(error, HDST_E_DRIVER, "it takes too many registers");
    return usual->load(device, code, program, error);
}

static hdst_status refuse_work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                               hdst_error *error)
{
    if (local == refused_group) return hdst__error_set(error, HDST_E_DRIVER, "it takes too much local memory");
    return usual->work(device, program, args, count, groups, local, error);
}

Test(key_rounds, a_driver_that_refuses_large_work_groups)
{
    if (!have_cpu()) return;
    for (int runs = 0; runs < 2; runs++) {
        hdst_context *context = context_in_form("gpu-form");
        hdst__device *device;
        context->engine->limits.by_key_device_least = 1;
        context->engine->limits.by_key_table_bits = 8;
        cr_assert_eq(hdst__engine_open(context->engine, &device, NULL), HDST_OK);
        usual = device->ops;
        refusing = *usual;
        if (runs) refusing.work = refuse_work;
        else refusing.load = refuse_load;
        refused_group = 1024;
        device->ops = &refusing;
        hdst_module *module = module_of(context, kernels);
        hdst_dataset *data = hdst_cache(hdst_read(hdst_source_from_memory(context, rows, N, sizeof(row)), module, "row"));
        hdst_result *result = hdst_result_create(hdst_reduce_by_key(data, module, "add"));
        make_rows(N, IN_ONE_ROUND);
        for (int run = 0; run < 2; run++) {
            const char *how = run_and_check(result, N, IN_ONE_ROUND);
            if (run) cr_assert(strstr(how, "1024 parts by hash in 2 rounds"), "%s", how);
            if (run) cr_assert(strstr(how, "no more than 512 parts in a round, as the driver refused work-groups for more"), "%s", how);
        }
        hdst_result *again = hdst_result_create(hdst_reduce_by_key(data, module, "add"));
        refused_group = 512;            // nor those that are smaller: then it is an error
        hdst_error error;
        cr_assert_eq(hdst_run(again, &error), HDST_E_DRIVER);
        device->ops = usual;
        hdst_context_destroy(context);
    }
}
