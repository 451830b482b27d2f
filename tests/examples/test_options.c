// SPDX-License-Identifier: Apache-2.0
// The shared command line: what is read, and what every misuse is told.
#include "options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint64_t clusters;
static double tolerance;
static const option own[] = {
    {"clusters", OPTION_COUNT, &clusters, "K", "number of clusters", true, NULL, 1, 1000},
    {"tolerance", OPTION_NUMBER, &tolerance, "T", "least way", true, NULL, 0, 0},
};
static const program_info program = {"example", "An example.", own, 2};

enum { MOST = 12 };
#define PARSE(...) parse((const char *[MOST]){"example", __VA_ARGS__})

static common_options common;
static hdst_error error;

static hdst_status parse(const char *const *words)
{
    char *argv[MOST];
    int argc = 0;
    for (; argc < MOST && words[argc]; argc++) argv[argc] = (char *)words[argc];
    clusters = 8;
    tolerance = 0.5;
    options_free(&common);
    return options_parse(&program, &common, argc, argv, &error);
}

static void end(void) { options_free(&common); }
TestSuite(options, .fini = end);

Test(options, defaults_stay_when_nothing_is_given)
{
    cr_assert_eq(parse((const char *[MOST]){"example"}), HDST_OK);
    cr_assert_eq(common.inputs.count, 0);
    cr_assert_null(common.output);
    cr_assert_eq(common.layout, -1);
    cr_assert_eq(common.memory, 0);
    cr_assert_not(common.json);
    cr_assert_eq(clusters, 8);
}

Test(options, values_follow_after_a_space_or_an_equals_sign)
{
    cr_assert_eq(PARSE("--clusters", "12", "--tolerance=1e-3", "--output=a=b.npy", "--json"), HDST_OK, "%s", error.message);
    cr_assert_eq(clusters, 12);
    cr_assert_eq(tolerance, 1e-3);
    cr_assert_str_eq(common.output, "a=b.npy");
    cr_assert(common.json);
}

Test(options, input_is_repeatable_and_keeps_its_order)
{
    cr_assert_eq(PARSE("--input", "a.npy", "--quiet", "--input=b.npy"), HDST_OK);
    cr_assert_eq(common.inputs.count, 2);
    cr_assert_str_eq(common.inputs.items[0], "a.npy");
    cr_assert_str_eq(common.inputs.items[1], "b.npy");
}

Test(options, layouts_are_the_librarys)
{
    const char *const words[] = {"aos", "soa", "aosoa", "aop"};
    const hdst_layout layouts[] = {HDST_AOS, HDST_SOA, HDST_AOSOA, HDST_AOP};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(PARSE("--layout", words[i]), HDST_OK);
        cr_assert_eq(common.layout, (int)layouts[i]);
    }
}

Test(options, sizes_have_units)
{
    const struct { const char *text; uint64_t bytes; } cases[] = {
        {"1", 1}, {"4096", 4096}, {"100B", 100}, {"1K", 1024}, {"1k", 1024}, {"1KiB", 1024}, {"1KB", 1000}, {"512MiB", 536870912}, {"1.5G", 1610612736},
        {"2GB", 2000000000}, {"1T", 1099511627776}, {"3TiB", 3298534883328},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(PARSE("--memory", cases[i].text), HDST_OK, "%s: %s", cases[i].text, error.message);
        cr_assert_eq(common.memory, cases[i].bytes, "%s", cases[i].text);
    }
}

Test(options, the_largest_seed_is_read_whole)
{
    cr_assert_eq(PARSE("--seed", "18446744073709551615"), HDST_OK);
    cr_assert_eq(common.seed, UINT64_MAX);
}

Test(options, help_ends_the_reading)
{
    cr_assert_eq(PARSE("--help", "--nonsense"), HDST_OK);
    cr_assert(common.help);
}

typedef struct misuse {
    const char *words[3], *message, *hint;
} misuse;

static void expect_misuses(const misuse *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const *w = cases[i].words;
        cr_expect_eq(PARSE(w[0], w[1], w[2]), HDST_E_USAGE, "%s", w[0]);
        cr_expect_str_eq(error.message, cases[i].message);
        cr_expect_str_eq(error.hint, cases[i].hint);
    }
}
#define EXPECT_MISUSES(cases) expect_misuses(cases, sizeof(cases) / sizeof *(cases))

Test(options, misspelt_names_get_the_near_one)
{
    const misuse cases[] = {
        {{"--clsters", "3"}, "unknown option '--clsters'", "did you mean '--clusters'?"},
        {{"--clutsers=3"}, "unknown option '--clutsers'", "did you mean '--clusters'?"},
        {{"--tol", "3"}, "unknown option '--tol'", "did you mean '--tolerance'?"},
        {{"--jsno"}, "unknown option '--jsno'", "did you mean '--json'?"},
        {{"--device_memory", "1G"}, "unknown option '--device_memory'", "did you mean '--device-memory'?"},
        {{"--frobnicate"}, "unknown option '--frobnicate'", "--help lists the options"},
        {{"--x"}, "unknown option '--x'", "--help lists the options"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, arguments_that_are_no_options_are_told)
{
    const misuse cases[] = {
        {{"points.npy"}, "unexpected argument 'points.npy'", "files to read are given as --input points.npy"},
        {{"-k", "3"}, "unexpected argument '-k'", "options start with two dashes; --help lists them"},
        {{"--"}, "unexpected argument '--'", "options start with two dashes; --help lists them"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, missing_and_unwanted_values_are_told)
{
    const misuse cases[] = {
        {{"--clusters"}, "no value for '--clusters'", "--clusters K"},
        {{"--output", "--json"}, "no value for '--output'", "--output PATH; write --output=--json if that is the value"},
        {{"--json=yes"}, "--json takes no value", ""},
        {{"--output="}, "--output: the value is empty", "PATH"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, counts_outside_their_bounds_are_told)
{
    const misuse cases[] = {
        {{"--clusters", "0"}, "--clusters: out of range: 0", "1 to 1000"},
        {{"--clusters", "-3"}, "--clusters: out of range: -3", "1 to 1000"},
        {{"--clusters", "1001"}, "--clusters: out of range: 1001", "1 to 1000"},
        {{"--clusters", "99999999999999999999999"}, "--clusters: out of range: 99999999999999999999999", "1 to 1000"},
        {{"--clusters", "three"}, "--clusters: not a whole number: 'three'", "1 to 1000"},
        {{"--clusters", "2.5"}, "--clusters: not a whole number: '2.5'", "1 to 1000"},
        {{"--clusters", " 2"}, "--clusters: not a whole number: ' 2'", "1 to 1000"},
        {{"--clusters="}, "--clusters: not a whole number: ''", "1 to 1000"},
        {{"--seed", "-1"}, "--seed: out of range: -1", "0 or more"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, numbers_that_are_none_are_told)
{
    const misuse cases[] = {
        {{"--tolerance", "small"}, "--tolerance: not a number: 'small'", "such as 0.001 or 1e-3"},
        {{"--tolerance", "1e-3x"}, "--tolerance: not a number: '1e-3x'", "such as 0.001 or 1e-3"},
        {{"--tolerance", "-1"}, "--tolerance: out of range: -1", "0 or more, and finite"},
        {{"--tolerance", "nan"}, "--tolerance: out of range: nan", "0 or more, and finite"},
        {{"--tolerance", "1e999"}, "--tolerance: out of range: 1e999", "0 or more, and finite"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, sizes_that_are_none_are_told)
{
    static const char hint[] = "such as 1000000, 512MiB or 1.5G";
    const misuse cases[] = {
        {{"--memory", "much"}, "--memory: not a size: 'much'", hint},   {{"--memory", "1X"}, "--memory: not a size: '1X'", hint},
        {{"--memory", "1GiBs"}, "--memory: not a size: '1GiBs'", hint}, {{"--memory", "1.2.3G"}, "--memory: not a size: '1.2.3G'", hint},
        {{"--memory", "-1G"}, "--memory: not a size: '-1G'", hint},     {{"--memory", "0"}, "--memory: out of range: 0", hint},
        {{"--memory", "9999999999T"}, "--memory: out of range: 9999999999T", hint},
    };
    EXPECT_MISUSES(cases);
}

Test(options, words_that_are_none_are_told)
{
    const misuse cases[] = {
        {{"--layout", "soaa"}, "--layout: not one of its words: 'soaa'", "did you mean 'soa'? aos|soa|aosoa|aop"},
        {{"--layout", "ao"}, "--layout: not one of its words: 'ao'", "did you mean 'aos'? aos|soa|aosoa|aop"},
        {{"--layout", "aos|soa"}, "--layout: not one of its words: 'aos|soa'", "aos|soa|aosoa|aop"},
        {{"--hpr", "nodes"}, "--hpr: not one of its words: 'nodes'", "did you mean 'node'? none|block|device|node|cluster"},
        {{"--layout="}, "--layout: not one of its words: ''", "aos|soa|aosoa|aop"},
    };
    EXPECT_MISUSES(cases);
}

Test(options, what_is_not_there_yet_is_refused_by_name)
{
    static const char option_hint[] = "leave the option out; --help says which there are";
    const misuse cases[] = {
        {{"--verify", "5"}, "--verify is not available yet", option_hint},
        {{"--checkpoint", "d"}, "--checkpoint is not available yet", option_hint},
        {{"--checkpoint-every=3"}, "--checkpoint-every is not available yet", option_hint},
        {{"--resume"}, "--resume is not available yet", option_hint},
    };
    EXPECT_MISUSES(cases);
    cr_assert_eq(PARSE("--hpr", "cluster", "--policy=dynamic", "--on-error", "fail"), HDST_OK);
}

Test(options, help_lists_every_option_of_the_contract)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    options_print_help(&program, out);
    fclose(out);
    const char *const names[] = {"input", "columns", "output", "device", "policy", "layout", "memory", "device-memory", "seed", "explain",
                                 "trace", "hpr", "unchecked", "fast-sums", "on-error",
                                 "verify", "checkpoint", "checkpoint-every", "resume", "quiet", "json", "help", "clusters", "tolerance"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64];
        snprintf(line, sizeof line, "\n  --%s ", names[i]);
        cr_expect(strstr(text, line), "--%s is not in the help", names[i]);
    }
    free(text);
}
