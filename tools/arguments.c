// SPDX-License-Identifier: Apache-2.0
// What the subcommands read alike (tools/arguments.h).
#include "tools/arguments.h"

#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hdst_refuse_argument(const char *tool, const char *what, const char *subject)
{
    fprintf(stderr, "%s: %s '%s'\nhint: `%s --help` lists actions and options\n", tool, what, subject, tool);
    return hdst_status_exit_code(HDST_E_USAGE);
}

int hdst_refuse_unknown(const char *tool, const char *what, const char *subject, const char *const *words, size_t count)
{
    char word[80];              // without the value of --option=VALUE
    snprintf(word, sizeof word, "%.*s", (int)strcspn(subject, "="), subject);
    const char *near_name = hdst__nearest_name(word, words, count);
    if (!near_name) return hdst_refuse_argument(tool, what, subject);
    fprintf(stderr, "%s: %s '%s'\nhint: did you mean '%s'?\n", tool, what, subject, near_name);
    return hdst_status_exit_code(HDST_E_USAGE);
}

int hdst_take_param(const char *tool, hdst_params *params, char *text)
{
    char *value = strchr(text, '='), *end;
    if (!value || value == text || !value[1]) return hdst_refuse_argument(tool, "a param is NAME=VALUE, not", text);
    if (params->count == HDST_MAX_PARAMS) return hdst_refuse_argument(tool, "too many params: no room for", text);
    hdst__param_value param = {.name = text};
    errno = 0;
    param.is_unsigned = value[1] != '-';
    param.bits = value[1] == '-' ? (uint64_t)strtoll(value + 1, &end, 10) : strtoull(value + 1, &end, 10);
    if (*end || end == value + 1) {
        param.is_real = true;
        param.real = strtod(value + 1, &end);
    }
    if (*end || end == value + 1 || errno == ERANGE) return hdst_refuse_argument(tool, "no number:", value + 1);
    *value = 0;
    for (size_t i = 0; i < params->count; i++)
        if (!strcmp(params->items[i].name, text)) return hdst_refuse_argument(tool, "param given twice:", text);
    params->items[params->count++] = param;
    return 0;
}

// What hdst reads here is small: what is beyond 64 MiB is not read on.
char *hdst_read_file(const char *tool, const char *path, size_t *length)
{
    enum { MOST = 64 << 20 };
    errno = 0;
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    while (file && !ferror(file) && !feof(file) && *length < MOST) {
        if (capacity - *length < 2) {
            char *bigger = realloc(text, capacity = capacity ? capacity * 2 : 65536);
            if (!bigger) break;
            text = bigger;
        }
        *length += fread(text + *length, 1, capacity - *length - 1, file);
    }
    bool whole = file && feof(file) && !ferror(file);
    if (!whole) fprintf(stderr, "%s: cannot read '%s': %s\n", tool, path, errno ? strerror(errno) : "it is larger than 64 MiB");
    if (file) fclose(file);
    if (whole) return text;
    free(text);
    return NULL;
}
