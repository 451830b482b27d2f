// SPDX-License-Identifier: Apache-2.0
// The text of the progress line.
#include "progress_line.h"

#include <criterion/criterion.h>
#include <math.h>

static const hdst_progress two = {
    .function = "assign", .records = 123400000, .of = 210000000, .seconds = 0.1, .device_count = 2,
    .device = {{"NVIDIA H200", HDST_DEVICE_GPU, 120932000}, {"pthread-AMD EPYC", HDST_DEVICE_CPU, 2468000}},
};

static void expect(const hdst_progress *progress, const char *words)
{
    char text[200];
    progress_line_text(text, sizeof text, "kmeans", progress);
    cr_expect_str_eq(text, words);
}

Test(progress_line, two_devices_have_shares)
{
    hdst_progress p = two;
    expect(&p, "kmeans: 123.4 M of 210 M records, 1.2 G/s, H200 98 %, CPU 2 %, 0:00 left");
    p.seconds = 10;
    expect(&p, "kmeans: 123.4 M of 210 M records, 12.3 M/s, H200 98 %, CPU 2 %, 0:07 left");
    p.seconds = 20000;
    expect(&p, "kmeans: 123.4 M of 210 M records, 6170/s, H200 98 %, CPU 2 %, 3:53:56 left");
    p.seconds = 100;
    expect(&p, "kmeans: 123.4 M of 210 M records, 1.2 M/s, H200 98 %, CPU 2 %, 1:10 left");
}

Test(progress_line, one_device_has_none)
{
    hdst_progress p = {.records = 9999, .of = 20000, .seconds = 1, .device_count = 1, .device = {{"interpreter", HDST_DEVICE_INTERP, 9999}}};
    expect(&p, "kmeans: 9999 of 20 k records, 9999/s, interpreter, 0:01 left");
    p.records = p.device[0].records = p.of;
    expect(&p, "kmeans: 20 k of 20 k records, 20 k/s, interpreter");
}

Test(progress_line, what_is_not_known_is_left_out)
{
    hdst_progress p = {.records = 10000, .seconds = 0};
    expect(&p, "kmeans: 10 k records");
    p.seconds = 2;
    expect(&p, "kmeans: 10 k records, 5000/s");
    p.records = 0, p.of = 5;
    expect(&p, "kmeans: 0 of 5 records");
}

Test(progress_line, units_change_where_digits_would_be_five)
{
    hdst_progress p = {.seconds = 0};
    const struct { uint64_t records; const char *words; } cases[] = {
        {9999, "kmeans: 9999 records"}, {10000, "kmeans: 10 k records"}, {999949, "kmeans: 999.9 k records"}, {999951, "kmeans: 1 M records"},
        {1049999999, "kmeans: 1 G records"}, {1050000000, "kmeans: 1.1 G records"}, {UINT64_MAX, "kmeans: 18446.7 P records"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p.records = cases[i].records;
        expect(&p, cases[i].words);
    }
}

Test(progress_line, turns_of_a_loop_stand_at_its_end)
{
    hdst_progress p = {.records = 5, .of = 5, .turn = 1, .turns = 100, .until = "moved", .turn_value = NAN};
    expect(&p, "kmeans: 5 of 5 records, turn 1 of 100");
    p.turn = 12, p.turn_seconds = 0.01234;
    expect(&p, "kmeans: 5 of 5 records, turn 12 of 100, 0.0123 s each");
    p.turn_value = 0.5625;
    expect(&p, "kmeans: 5 of 5 records, turn 12 of 100: moved 0.562, 0.0123 s each");
    p.until = NULL;
    expect(&p, "kmeans: 5 of 5 records, turn 12 of 100, 0.0123 s each");
}

Test(progress_line, it_is_cut_at_its_size)
{
    char text[20];
    progress_line_text(text, sizeof text, "kmeans", &two);
    cr_expect_str_eq(text, "kmeans: 123.4 M of ");
    progress_line_text(text, 1, "kmeans", &two);
    cr_expect_str_eq(text, "");
}
