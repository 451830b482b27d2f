// SPDX-License-Identifier: Apache-2.0
// Values of options (option_value.h).
#include "option_value.h"


#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- Values ---

static hdst_status not_a(const option *o, const char *what, const char *value, const char *hint, hdst_error *error)
{
    return options_misuse(error, hint, "--%s: not %s: '%.200s'", o->name, what, value);
}

static hdst_status read_count(const option *o, const char *value, hdst_error *error)
{
    char hint[100], *end;
    if (o->most == UINT64_MAX) snprintf(hint, sizeof hint, "%" PRIu64 " or more", o->least);
    else snprintf(hint, sizeof hint, "%" PRIu64 " to %" PRIu64, o->least, o->most);
    size_t digits = strspn(value + (value[0] == '-'), "0123456789");
    if (digits == 0 || value[digits + (value[0] == '-')]) return not_a(o, "a whole number", value, hint, error);
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (errno || value[0] == '-' || number < o->least || number > o->most) return options_misuse(error, hint, "--%s: out of range: %.200s", o->name, value);
    *(uint64_t *)o->to = number;
    return HDST_OK;
}

static hdst_status read_number(const option *o, const char *value, hdst_error *error)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || isspace((unsigned char)value[0])) return not_a(o, "a number", value, "such as 0.001 or 1e-3", error);
    if (!isfinite(number) || number < 0) return options_misuse(error, "0 or more, and finite", "--%s: out of range: %.200s", o->name, value);
    *(double *)o->to = number;
    return HDST_OK;
}

// The factor of "", "K", "KB", "KiB" (or k ... T); 0 for anything else.
static double unit_factor(const char *unit)
{
    if (!unit[0] || !strcmp(unit, "B")) return 1;
    const char *letters = "KMGT", *letter = strchr(letters, toupper((unsigned char)unit[0]));
    if (!letter) return 0;
    double base = !strcmp(unit + 1, "B") ? 1000 : !unit[1] || !strcmp(unit + 1, "iB") ? 1024 : 0;
    return pow(base, (double)(letter - letters + 1));
}

static hdst_status read_size(const option *o, const char *value, hdst_error *error)
{
    static const char example[] = "such as 1000000, 512MiB or 1.5G";
    size_t length = strspn(value, "0123456789.");
    char *end, number[32];
    if (length == 0 || length >= sizeof number || !isdigit((unsigned char)value[0])) return not_a(o, "a size", value, example, error);
    memcpy(number, value, length);
    number[length] = 0;
    double bytes = strtod(number, &end) * unit_factor(value + length);
    if (*end || unit_factor(value + length) == 0) return not_a(o, "a size", value, example, error);
    if (bytes < 1 || bytes > 0x1p62) return options_misuse(error, example, "--%s: out of range: %.200s", o->name, value);
    *(uint64_t *)o->to = (uint64_t)bytes;
    return HDST_OK;
}

// Which of "a|b|c" the word is, or -1.
static int find_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int at = 0; words; at++) {
        if (!strncmp(words, word, length) && (words[length] == '|' || !words[length])) return at;
        words = strchr(words, '|');
        if (words) words++;
    }
    return -1;
}

static hdst_status unknown_word(const option *o, const char *value, hdst_error *error)
{
    enum { MOST = 16 };
    char words[200], hint[250];
    const char *names[MOST];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", o->value);
    for (char *at = words; at && count < MOST;) {
        names[count++] = at;
        at = strchr(at, '|');
        if (at) *at++ = 0;
    }
    const char *near_name = strchr(value, '|') ? NULL : hdst_nearest_name(value, names, count);
    if (near_name) snprintf(hint, sizeof hint, "did you mean '%s'? %s", near_name, o->value);
    return not_a(o, "one of its words", value, near_name ? hint : o->value, error);
}

static hdst_status read_word(const option *o, const char *value, hdst_error *error)
{
    int at = value[0] && !strchr(value, '|') ? find_word(o->value, value) : -1;
    if (at < 0) return unknown_word(o, value, error);
    if (o->missing && find_word(o->missing, value) >= 0)
        return options_misuse(error, "leave the option out; --help says which words there are", "--%s %s is not available yet", o->name, value);
    *(int *)o->to = at;
    return HDST_OK;
}

hdst_status option_read_value(const option *o, const char *value, hdst_error *error)
{
    switch (o->kind) {
    case OPTION_COUNT: return read_count(o, value, error);
    case OPTION_NUMBER: return read_number(o, value, error);
    case OPTION_SIZE: return read_size(o, value, error);
    case OPTION_WORD: return read_word(o, value, error);
    default: break;
    }
    if (!value[0]) return options_misuse(error, o->value, "--%s: the value is empty", o->name);
    if (o->kind == OPTION_TEXT) *(const char **)o->to = value;
    if (o->kind == OPTION_TEXTS) ((text_list *)o->to)->items[((text_list *)o->to)->count++] = value;
    return HDST_OK;
}
