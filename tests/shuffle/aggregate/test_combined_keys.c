// SPDX-License-Identifier: Apache-2.0
// Keys that are short texts become one in tables of a CPU's cores, before their records leave the kernel: the rows are those of the interpreter, which has no
// such tables, whatever the tables hold; what cannot be combined so is not.
#include "tests/hdst/support.h"

#include <stdlib.h>
#include <unistd.h>

static const char functions[] =
    "flat_map words(text line) -> (key text word, uint64_t n)\n"
    "{\n"
    "    if (len(line) % 7 == 0) emit(line[0:0], 1);\n"          // a key without bytes
    "    for (text w : tokens(line, WORD)) emit(lower(w), 1);\n"
    "}\n"
    "reduce add(uint64_t a, uint64_t b) { return a + b; }\n"
    "struct seen { uint32_t least; int32_t most; uint64_t bits, odd; uint32_t all, sum; };\n"
    "flat_map looks(text line) -> (uint32_t least, int32_t most, uint64_t bits, key text word, uint64_t odd, uint32_t all, uint32_t sum)\n"
    "{\n"
    "    for (text w : tokens(line, WORD))\n"
    "        emit((uint32_t)len(line), (int32_t)len(line) - 40, 1ul << len(line) % 64, w,\n"
    "              len(line) * 0x100000001ul, ~(uint32_t)len(line), (uint32_t)len(line) << 24);\n"
    "}\n"
    "reduce look(seen a, seen b)\n"
    "{\n"
    "    return (seen){ .least = min(a.least, b.least), .most = max(a.most, b.most), .bits = a.bits | b.bits, .odd = a.odd ^ b.odd, .all = a.all & b.all,\n"
    "                   .sum = a.sum + b.sum };\n"
    "}\n"
    "flat_map shares(text line) -> (key text word, float n) { for (text w : tokens(line, WORD)) emit(w, 1.0f / (float)len(line)); }\n"
    "reduce share(float a, float b) { return a + b; }\n";

static const char says[] = "become one in a table of each core";

static char path[64];
static uint32_t state = 2463534242u;

static uint32_t next(uint32_t below)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % below;
}

// Words of 1 to 30 bytes, those of 12 and 13 among them, of about so many different ones.
static void write_lines(uint32_t lines, uint32_t different)
{
    strcpy(path, "/tmp/hdst-combined-XXXXXX");
    const int file = mkstemp(path);
    FILE *out = fdopen(file, "w");
    cr_assert(file >= 0 && out);
    for (uint32_t line = 0; line < lines; line++) {
        for (uint32_t words = next(14); words--;) {
            const uint32_t which = next(different);
            fprintf(out, "%.*s%u ", (int)(which % 4 * 5), which % 2 ? "abcdefghijklmnopqrst" : "ABCDefghijKLMNopqrst", which);
        }
        fputc('\n', out);
    }
    fclose(out);
}

typedef struct case_ {
    const char *map, *reduce;
    uint64_t least;                     // limits of the context
    uint32_t bits;
    bool combined;                      // whether the kernel says that it does so
    bool cached;                        // lines lie on the devices, a part with each
} case_;

static hdst_result *result_of(hdst_context *context, const case_ *c)
{
    hdst_module *module = module_of(context, functions);
    hdst_dataset *lines = hdst_read(hdst_source_open_lines(context, path), module, "text");
    return hdst_result_create(hdst_reduce_by_key(hdst_flat_map_function(c->cached ? hdst_cache(lines) : lines, module, c->map), module, c->reduce));
}

static hdst_context *limited(hdst_context *context, const case_ *c)
{
    context->engine->limits.combine_least = c->least;
    context->engine->limits.combine_bits = c->bits;
    context->engine->limits.slice_records = 512;
    return context;
}

static hdst_context *cpu_for(const case_ *c) { return limited(context_on("cpu"), c); }

// The same rows in the same order: texts by their bytes, numbers by theirs (what lies between fields may be anything).
static void expect_same_rows(hdst_result *a, hdst_result *b, const char *const *fields)
{
    uint64_t n, m;
    (void)hdst_result_rows(a, NULL, &n);
    (void)hdst_result_rows(b, NULL, &m);
    cr_assert_eq(n, m);
    cr_assert_gt(n, 100);
    for (; *fields; fields++) {
        hdst_view x = hdst_result_field(a, NULL, *fields), y = hdst_result_field(b, NULL, *fields);
        for (uint64_t i = 0; i < n; i++) {
            const hdst_text u = hdst_view_text(x, i, 0), v = hdst_view_text(y, i, 0);
            cr_assert(u.length == v.length && (!u.length || !memcmp(u.data, v.data, u.length)), "key %d", (int)i);
            cr_assert_eq(hdst_view_int64(x, i, 0), hdst_view_int64(y, i, 0), "%s of key %d", *fields, (int)i);
        }
    }
}

static void check_on(hdst_context *context, const case_ *c, const char *const *fields)
{
    hdst_context *interp = context_on("interp");
    hdst_result *right = result_of(interp, c), *found = result_of(context, c);
    RUN(right);
    for (int run = 0; run < 2; run++) {             // the second one begins with nothing of the first
        RUN(found);
        expect_same_rows(right, found, fields);
    }
    const char *text = hdst_explain(found, NULL);
    cr_assert_eq(strstr(text, says) != NULL, c->combined, "%s: %s", c->map, text);
    hdst_context_destroy(interp);
    hdst_context_destroy(context);
}

static void check(const case_ *c, const char *const *fields) { check_on(cpu_for(c), c, fields); }

static const char *const counted[] = {"word", "n", NULL};
static const char *const looked[] = {"word", "least", "most", "bits", "odd", "all", "sum", NULL};

Test(combined_keys, rows_are_those_of_the_interpreter)
{
    if (!has_cpu()) return;
    write_lines(6000, 900);
    check(&(case_){"words", "add", 100, 0, true}, counted);
    check(&(case_){"looks", "look", 100, 0, true}, looked);
    unlink(path);
}

// Of 64 places; then of 4096, which grow to 16384 and would have to again.
Test(combined_keys, what_a_full_table_has_no_place_for_goes_on)
{
    if (!has_cpu()) return;
    write_lines(6000, 20000);
    check(&(case_){"words", "add", 100, 6, true}, counted);
    check(&(case_){"words", "add", 100, 14, true}, counted);
    unlink(path);
}

// Each half of the CPU has tables of its own, whose records come when both have ended; the interpreter, which has none, takes part. Some tables are full.
Test(combined_keys, several_devices_have_tables_each)
{
    if (!have_team()) return;
    const case_ few = {"words", "add", 100, 0, true}, looks = {"looks", "look", 100, 0, true}, full = {"words", "add", 100, 6, true},
                 parts = {"words", "add", 100, 0, true, true};
    write_lines(6000, 900);
    check_on(limited(context_of_team(), &few), &few, counted);
    check_on(limited(context_of_team(), &looks), &looks, looked);
    check_on(limited(context_of_team(), &full), &full, counted);
    check_on(limited(context_of_team(), &parts), &parts, counted);
    unlink(path);
}

// As many words as records: after 65,536 the tables are no longer looked at.
Test(combined_keys, words_that_come_once)
{
    if (!has_cpu()) return;
    write_lines(40000, 1u << 30);
    check(&(case_){"words", "add", 0, 7, true}, counted);
    unlink(path);
}

Test(combined_keys, sums_of_floats_see_all_addends)
{
    if (!has_cpu()) return;
    write_lines(1000, 300);
    hdst_context *cpu = cpu_for(&(case_){.least = 100});
    hdst_result *shares = result_of(cpu, &(case_){"shares", "share", 100, 0, false});
    RUN(shares);
    cr_assert(!strstr(hdst_explain(shares, NULL), says), "%s", hdst_explain(shares, NULL));
    hdst_context_destroy(cpu);
    unlink(path);
}

// Each record then goes to its partition as it comes.
Test(combined_keys, not_where_blocks_combine_nothing)
{
    if (!has_cpu()) return;
    write_lines(1000, 300);
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    options.device = "cpu";
    options.hpr = HDST_HPR_NONE;
    hdst_context *none = hdst_context_create(&options);
    hdst_result *counts = result_of(none, &(case_){.map = "words", .reduce = "add"});
    RUN(counts);
    cr_assert(!strstr(hdst_explain(counts, NULL), says), "%s", hdst_explain(counts, NULL));
    hdst_context_destroy(none);
    unlink(path);
}
