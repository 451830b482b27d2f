// SPDX-License-Identifier: Apache-2.0
// Dates and times of text (io/iso_time.h). Days are counted by years that begin in March, so that the leap day is a year's last.
#include "io/iso_time.h"

#include <stdio.h>
#include <string.h>

enum { MOST_YEAR_DIGITS = 12, DAY_SECONDS = 86400, ERA_DAYS = 146097, ERA_YEARS = 400, NANO_DIGITS = 9 };

static const int64_t per_second[] = {[HDST__SECONDS] = 1, [HDST__MILLISECONDS] = 1000, [HDST__MICROSECONDS] = 1000000, [HDST__NANOSECONDS] = 1000000000};
static const int digits_of[] = {[HDST__SECONDS] = 0, [HDST__MILLISECONDS] = 3, [HDST__MICROSECONDS] = 6, [HDST__NANOSECONDS] = 9};

// --- The calendar ---

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int days_of_month(int64_t year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

// Since 1970-01-01.
static int64_t days_from_date(int64_t year, int month, int day)
{
    const int64_t y = year - (month < 3), era = floor_divide(y, ERA_YEARS), of_era = y - era * ERA_YEARS;
    const int64_t of_year = (153 * (month + (month < 3 ? 9 : -3)) + 2) / 5 + day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    days += 719468;
    const int64_t era = floor_divide(days, ERA_DAYS), of_era = days - era * ERA_DAYS;
    const int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    const int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    const int m = (int)((5 * of_year + 2) / 153);
    *day = (int)(of_year - (153 * m + 2) / 5) + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = era * ERA_YEARS + years + (*month < 3);
}

// --- Reading ---

typedef struct iso_reader {
    const char *at, *limit;
} iso_reader;

static bool next_is(const iso_reader *r, char c) { return r->at < r->limit && *r->at == c; }
static bool next_is_digit(const iso_reader *r) { return r->at < r->limit && *r->at >= '0' && *r->at <= '9'; }

static bool take(iso_reader *r, char c)
{
    const bool is = next_is(r, c);
    r->at += is;
    return is;
}

// Exactly `count` digits.
static bool take_digits(iso_reader *r, int count, int *value)
{
    for (*value = 0; count > 0; count--, r->at++) {
        if (!next_is_digit(r)) return false;
        *value = *value * 10 + (*r->at - '0');
    }
    return true;
}

static bool take_year(iso_reader *r, int64_t *year)
{
    const bool negative = next_is(r, '-'), is_signed = negative || next_is(r, '+');
    r->at += is_signed;
    int digits = 0;
    for (*year = 0; digits < MOST_YEAR_DIGITS && next_is_digit(r); digits++) *year = *year * 10 + (*r->at++ - '0');
    if (negative) *year = -*year;
    return is_signed ? digits >= 6 : digits == 4;
}

static hdst__iso_status read_date(iso_reader *r, int64_t *days)
{
    int64_t year;
    int month, day;
    if (!take_year(r, &year) || !take(r, '-') || !take_digits(r, 2, &month) || !take(r, '-') || !take_digits(r, 2, &day)) return HDST__ISO_MALFORMED;
    if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return HDST__ISO_NO_SUCH_TIME;
    *days = days_from_date(year, month, day);
    return HDST__ISO_OK;
}

// Digits behind the point, at least one; *rest: whether there are others than 0 beyond a nanosecond.
static bool read_fraction(iso_reader *r, int64_t *nanoseconds, bool *rest)
{
    int digits = 0;
    for (; next_is_digit(r); r->at++, digits++) {
        if (digits < NANO_DIGITS)
            *nanoseconds = *nanoseconds * 10 + (*r->at - '0');
        else
            *rest |= *r->at != '0';
    }
    for (int i = digits; i < NANO_DIGITS; i++) *nanoseconds *= 10;
    return digits > 0;
}

// "12:34", "12:34:56", "12:34:56.789"
static hdst__iso_status read_clock(iso_reader *r, int64_t *seconds, int64_t *nanoseconds, bool *rest)
{
    int hour, minute, second = 0;
    if (!take_digits(r, 2, &hour) || !take(r, ':') || !take_digits(r, 2, &minute)) return HDST__ISO_MALFORMED;
    if (take(r, ':')) {
        if (!take_digits(r, 2, &second)) return HDST__ISO_MALFORMED;
        if (take(r, '.') && !read_fraction(r, nanoseconds, rest)) return HDST__ISO_MALFORMED;
    }
    if (hour > 23 || minute > 59 || second > 59) return HDST__ISO_NO_SUCH_TIME;
    *seconds = (hour * 60 + minute) * 60 + second;
    return HDST__ISO_OK;
}

// "Z", "+01:00", "-0530", "+01", or nothing: the seconds by which the clock is ahead of UTC.
static hdst__iso_status read_offset(iso_reader *r, int64_t *ahead)
{
    int hours, minutes = 0;
    *ahead = 0;
    if (take(r, 'Z') || take(r, 'z') || (!next_is(r, '+') && !next_is(r, '-'))) return HDST__ISO_OK;
    const bool behind = *r->at++ == '-';
    if (!take_digits(r, 2, &hours)) return HDST__ISO_MALFORMED;
    if ((take(r, ':') || next_is_digit(r)) && !take_digits(r, 2, &minutes)) return HDST__ISO_MALFORMED;
    if (hours > 23 || minutes > 59) return HDST__ISO_NO_SUCH_TIME;
    *ahead = (hours * 60 + minutes) * 60;
    if (behind) *ahead = -*ahead;
    return HDST__ISO_OK;
}

// Whether a time of day follows.
static bool take_separator(iso_reader *r, bool with_blank)
{
    if (take(r, 'T') || take(r, 't')) return true;
    if (!with_blank || r->limit - r->at < 2 || *r->at != ' ' || r->at[1] < '0' || r->at[1] > '9') return false;
    r->at++;
    return true;
}

static hdst__iso_status store_days(int64_t days, void *value)
{
    const int32_t stored = (int32_t)days;
    if (stored != days) return HDST__ISO_TOO_FAR;
    memcpy(value, &stored, sizeof stored);
    return HDST__ISO_OK;
}

static hdst__iso_status store_time(int64_t days, int64_t seconds, int64_t nanoseconds, hdst__time_unit unit, void *value)
{
    const __int128 all = ((__int128)days * DAY_SECONDS + seconds) * per_second[unit] + nanoseconds / (per_second[HDST__NANOSECONDS] / per_second[unit]);
    const int64_t stored = (int64_t)all;
    if (nanoseconds % (per_second[HDST__NANOSECONDS] / per_second[unit])) return HDST__ISO_NOT_WHOLE;
    if (stored != all) return HDST__ISO_TOO_FAR;
    memcpy(value, &stored, sizeof stored);
    return HDST__ISO_OK;
}

static hdst__iso_status read_time(iso_reader *r, hdst__time_unit unit, bool with_blank, void *value)
{
    int64_t days, seconds = 0, nanoseconds = 0, ahead = 0;
    bool rest = false;
    hdst__iso_status status = read_date(r, &days);
    const bool has_clock = status == HDST__ISO_OK && take_separator(r, with_blank);
    if (has_clock) status = read_clock(r, &seconds, &nanoseconds, &rest);
    if (has_clock && status == HDST__ISO_OK) status = read_offset(r, &ahead);
    if (status != HDST__ISO_OK) return status;
    if (rest || (has_clock && unit == HDST__DAYS)) return HDST__ISO_NOT_WHOLE;
    return unit == HDST__DAYS ? store_days(days, value) : store_time(days, seconds - ahead, nanoseconds, unit, value);
}

hdst__iso_status hdst__iso_read(const char *text, const char *limit, hdst__time_unit unit, bool with_blank, void *value, const char **end)
{
    iso_reader r = {text, limit};
    const hdst__iso_status status = read_time(&r, unit, with_blank, value);
    *end = r.at;
    return status;
}

hdst__iso_status hdst__iso_parse(const char *text, size_t length, hdst__time_unit unit, void *value)
{
    const char *end;
    const hdst__iso_status status = hdst__iso_read(text, text + length, unit, true, value, &end);
    return end == text + length || status == HDST__ISO_NO_SUCH_TIME ? status : HDST__ISO_MALFORMED;
}

bool hdst__iso_is(const char *text, size_t length)
{
    int64_t value;
    const hdst__iso_status status = hdst__iso_parse(text, length, HDST__SECONDS, &value);
    return status == HDST__ISO_OK || status == HDST__ISO_NOT_WHOLE;
}

// --- Writing ---

static size_t write_date(char *text, int64_t days)
{
    int64_t year;
    int month, day;
    date_from_days(days, &year, &month, &day);
    const bool plain = year >= 0 && year <= 9999;
    const int length = plain ? snprintf(text, HDST__ISO_TEXT, "%04d", (int)year)
                             : snprintf(text, HDST__ISO_TEXT, "%c%06lld", year < 0 ? '-' : '+', (long long)(year < 0 ? -year : year));
    return (size_t)length + (size_t)snprintf(text + length, (size_t)(HDST__ISO_TEXT - length), "-%02d-%02d", month, day);
}

size_t hdst__iso_write(char text[HDST__ISO_TEXT], hdst__time_unit unit, const void *value)
{
    int32_t days;
    int64_t count;
    if (unit == HDST__DAYS) return memcpy(&days, value, sizeof days), write_date(text, days);
    memcpy(&count, value, sizeof count);
    const int64_t seconds = floor_divide(count, per_second[unit]), day = floor_divide(seconds, DAY_SECONDS);
    const int clock = (int)(seconds % DAY_SECONDS + (seconds % DAY_SECONDS < 0 ? DAY_SECONDS : 0));
    const int part = (int)(count % per_second[unit] + (count % per_second[unit] < 0 ? per_second[unit] : 0));
    size_t length = write_date(text, day);
    length += (size_t)snprintf(text + length, HDST__ISO_TEXT - length, "T%02d:%02d:%02d", clock / 3600, clock / 60 % 60, clock % 60);
    if (unit != HDST__SECONDS) length += (size_t)snprintf(text + length, HDST__ISO_TEXT - length, ".%0*d", digits_of[unit], part);
    return length + (size_t)snprintf(text + length, HDST__ISO_TEXT - length, "Z");
}
