// SPDX-License-Identifier: Apache-2.0
// Dates and times of text beside the C library's calendar; what is written reads back, to the ends of the integers; mistakes.
#define _GNU_SOURCE
#include "io/iso_time.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t read_time(const char *text, hdst__time_unit unit)
{
    int64_t value = 0;
    int32_t days;
    cr_assert_eq(hdst__iso_parse(text, strlen(text), unit, &value), HDST__ISO_OK, "%s", text);
    if (unit == HDST__DAYS) return memcpy(&days, &value, sizeof days), days;
    return value;
}

static const char *written(hdst__time_unit unit, int64_t value)
{
    static char text[HDST__ISO_TEXT];
    const int32_t days = (int32_t)value;
    const size_t length = hdst__iso_write(text, unit, unit == HDST__DAYS ? (const void *)&days : &value);
    cr_assert_eq(strlen(text), length);
    return text;
}

// About once a week, at another time of day each, in the years 1 to 9999.
Test(iso_time, seconds_are_those_of_the_c_library)
{
    for (int64_t t = -INT64_C(62135596800) + 5; t < INT64_C(253402300800); t += 604703) {
        struct tm parts;
        char text[64], dates[32];
        const time_t seconds = t;
        cr_assert(gmtime_r(&seconds, &parts));
        snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                 parts.tm_sec);
        cr_assert_eq(read_time(text, HDST__SECONDS), t, "%s", text);
        cr_assert_str_eq(written(HDST__SECONDS, t), text);
        snprintf(dates, sizeof dates, "%.10s", text);
        const int64_t days = (t - ((t % 86400) + 86400) % 86400) / 86400;
        cr_assert_eq(read_time(dates, HDST__DAYS), days, "%s", dates);
        cr_assert_str_eq(written(HDST__DAYS, days), dates);
    }
}

Test(iso_time, published_days)
{
    cr_assert_eq(read_time("1970-01-01", HDST__DAYS), 0);
    cr_assert_eq(read_time("2000-03-01", HDST__DAYS), 11017);
    cr_assert_eq(read_time("0000-03-01", HDST__DAYS), -719468);
    cr_assert_eq(read_time("1858-11-17", HDST__DAYS), -40587, "day 0 of the modified Julian date");
    cr_assert_eq(read_time("2001-09-09T01:46:40", HDST__SECONDS), 1000000000);
    cr_assert_eq(read_time("2038-01-19 03:14:07", HDST__SECONDS), INT32_MAX);
}

Test(iso_time, forms_of_a_time)
{
    const int64_t t = read_time("2024-02-29T12:34:56Z", HDST__MILLISECONDS);
    cr_assert_eq(t, INT64_C(1709210096000));
    static const char *const same[] = {"2024-02-29T12:34:56",      "2024-02-29 12:34:56",    "2024-02-29t12:34:56.000z",  "2024-02-29T13:34:56+01:00",
                                       "2024-02-29T13:34:56+0100", "2024-02-29T13:34:56+01", "2024-02-28T23:04:56-13:30", "+002024-02-29T12:34:56.0000000000Z"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) cr_assert_eq(read_time(same[i], HDST__MILLISECONDS), t, "%s", same[i]);
    cr_assert_eq(read_time("2024-02-29", HDST__SECONDS), INT64_C(1709164800));
    cr_assert_eq(read_time("2024-02-29T12:34", HDST__SECONDS), INT64_C(1709210040));
    cr_assert_eq(read_time("1969-12-31T23:59:59.75", HDST__MICROSECONDS), -250000);
    cr_assert_eq(read_time("1970-01-01T00:00:00.000000001", HDST__NANOSECONDS), 1);
    cr_assert_str_eq(written(HDST__MILLISECONDS, t + 7), "2024-02-29T12:34:56.007Z");
    cr_assert_str_eq(written(HDST__NANOSECONDS, -1), "1969-12-31T23:59:59.999999999Z");
}

Test(iso_time, the_ends_of_the_integers_read_back)
{
    for (int unit = HDST__DAYS; unit <= HDST__NANOSECONDS; unit++) {
        const int64_t ends[] = {unit == HDST__DAYS ? INT32_MIN : INT64_MIN, unit == HDST__DAYS ? INT32_MAX : INT64_MAX};
        for (int i = 0; i < 2; i++)
            cr_assert_eq(read_time(written((hdst__time_unit)unit, ends[i]), (hdst__time_unit)unit), ends[i], "%s", written((hdst__time_unit)unit, ends[i]));
    }
    cr_assert_str_eq(written(HDST__NANOSECONDS, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    cr_assert_str_eq(written(HDST__NANOSECONDS, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const hdst__time_unit unit = (hdst__time_unit)(HDST__DAYS + i % 5);
        const int64_t value = unit == HDST__DAYS ? (int32_t)(seed >> 32) : (int64_t)seed >> (i / 5 % 40);
        cr_assert_eq(read_time(written(unit, value), unit), value);
    }
}

Test(iso_time, mistakes_are_told_apart)
{
    static const struct {
        const char *text;
        hdst__time_unit unit;
        hdst__iso_status why;
    } cases[] = {
        {"2023-02-29", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"1900-02-29", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"2024-13-01", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"2024-00-01", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"2024-04-31", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"2024-01-00", HDST__DAYS, HDST__ISO_NO_SUCH_TIME},
        {"2024-01-01T24:00:00", HDST__SECONDS, HDST__ISO_NO_SUCH_TIME},
        {"2016-12-31T23:59:60Z", HDST__SECONDS, HDST__ISO_NO_SUCH_TIME},
        {"2024-01-01T10:60", HDST__SECONDS, HDST__ISO_NO_SUCH_TIME},
        {"2024-01-01T10:00+24:00", HDST__SECONDS, HDST__ISO_NO_SUCH_TIME},
        {"2024-01-01T00:00:00", HDST__DAYS, HDST__ISO_NOT_WHOLE},
        {"2024-01-01T00:00:00.5", HDST__SECONDS, HDST__ISO_NOT_WHOLE},
        {"2024-01-01T00:00:00.0000000001", HDST__NANOSECONDS, HDST__ISO_NOT_WHOLE},
        {"2024-01-01T00:00:00.0001", HDST__MILLISECONDS, HDST__ISO_NOT_WHOLE},
        {"+5881580-07-12", HDST__DAYS, HDST__ISO_TOO_FAR},
        {"-5877641-06-22", HDST__DAYS, HDST__ISO_TOO_FAR},
        {"2262-04-11T23:47:16.854775808Z", HDST__NANOSECONDS, HDST__ISO_TOO_FAR},
        {"9999-12-31", HDST__NANOSECONDS, HDST__ISO_TOO_FAR},
    };
    static const char *const malformed[] = {"",
                                            "2024",
                                            "2024-02",
                                            "2024-2-29",
                                            "24-02-29",
                                            "12024-02-29",
                                            "+2024-02-29",
                                            "2024/02/29",
                                            "29.02.2024",
                                            "2024-02-29T",
                                            "2024-02-29 ",
                                            "2024-02-29T12",
                                            "2024-02-29T12:3",
                                            "2024-02-29T12:34:5",
                                            "2024-02-29T12:34:56.",
                                            "2024-02-29T12:34:56,5",
                                            "2024-02-29T12:34+1",
                                            "2024-02-29T12:34+01:0",
                                            "2024-02-29T12:34:56Z+01:00",
                                            "2024-02-29T12:34:56ZZ",
                                            "2024-02-29  12:34",
                                            " 2024-02-29",
                                            "2024-02-29x"};
    int64_t value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(hdst__iso_parse(cases[i].text, strlen(cases[i].text), cases[i].unit, &value), cases[i].why, "%s", cases[i].text);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        cr_assert_eq(hdst__iso_parse(malformed[i], strlen(malformed[i]), HDST__SECONDS, &value), HDST__ISO_MALFORMED, "%s", malformed[i]);
}

Test(iso_time, no_byte_beyond_the_limit_is_read)
{
    static const char whole[] = "+012024-02-29T12:34:56.123456789+01:00";
    for (size_t n = 0; n < sizeof whole; n++) {
        char *cut = strndup(whole, n); // a sanitizer sees a byte too many
        const char *end;
        int64_t value;
        hdst__iso_read(cut, cut + n, HDST__NANOSECONDS, true, &value, &end);
        cr_assert(end >= cut && end <= cut + n);
        free(cut);
    }
}
