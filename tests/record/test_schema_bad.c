// SPDX-License-Identifier: Apache-2.0
// Every file of schema/bad is a schema with mistakes. Its comments say which errors must come, all of them and no other:
//     # expect: LINE:COLUMN: message | hint         (" | hint" may be left out when there is none)
//     # param: NAME=VALUE                           given from outside
#include "record/schema.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 64 };

typedef struct lines {
    char *line[MAX_LINES];
    size_t count;
} lines;

static void add_line(lines *l, char *text)
{
    cr_assert_lt(l->count, MAX_LINES);
    l->line[l->count++] = text;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 16);
    *length = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

// What stands behind "# word: " in the comments of the file.
static void collect(const char *text, const char *word, lines *found)
{
    char mark[32];
    snprintf(mark, sizeof mark, "\n# %s: ", word);
    for (const char *at = text; (at = strstr(at, mark));) {
        at += strlen(mark);
        add_line(found, strndup(at, strcspn(at, "\n")));
    }
}

static hdst__param_value parse_param(char *text)
{
    char *value = strchr(text, '=');
    *value++ = 0;
    if (strchr(value, '.')) return (hdst__param_value){.name = text, .real = strtod(value, NULL), .is_real = true};
    return (hdst__param_value){.name = text, .bits = (uint64_t)strtoll(value, NULL, 10)};
}

static void collect_errors(const hdst__diags *diags, lines *found)
{
    for (size_t i = 0; i < diags->count; i++) {
        const hdst__diag *diag = &diags->items[i];
        if (diag->severity != HDST__ERROR) continue;
        uint32_t line, column;
        hdst__span_position(diags, diag->span, &line, &column);
        char text[1024];
        snprintf(text, sizeof text, "%u:%u: %s%s%s", line, column, diag->message, diag->hint ? " | " : "", diag->hint ? diag->hint : "");
        add_line(found, strdup(text));
    }
}

static bool take(lines *l, const char *text)
{
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->line[i], text)) continue;
        free(l->line[i]);
        l->line[i] = l->line[--l->count];
        return true;
    }
    return false;
}

static void check_file(const char *path, const char *name)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags diags;
    hdst__diags_init(&diags, &arena);
    size_t length;
    char *text = read_file(path, &length);
    lines expected = {0}, param_texts = {0}, found = {0};
    collect(text, "expect", &expected);
    collect(text, "param", &param_texts);
    cr_assert_gt(expected.count, 0, "%s expects nothing", name);
    hdst__param_value params[MAX_LINES];
    for (size_t i = 0; i < param_texts.count; i++) params[i] = parse_param(param_texts.line[i]);
    hdst__schema schema;
    cr_expect_not(hdst__schema_read(&diags, name, text, length, params, param_texts.count, false, &schema), "%s is accepted", name);
    collect_errors(&diags, &found);
    for (size_t i = 0; i < expected.count; i++) cr_expect(take(&found, expected.line[i]), "%s: this did not come: %s", name, expected.line[i]);
    for (size_t i = 0; i < found.count; i++) cr_expect(false, "%s: this came: %s", name, found.line[i]);
    for (size_t i = 0; i < found.count; i++) free(found.line[i]);
    for (size_t i = 0; i < expected.count; i++) free(expected.line[i]);
    for (size_t i = 0; i < param_texts.count; i++) free(param_texts.line[i]);
    free(text);
    hdst__arena_destroy(&arena);
}

Test(schema_bad, every_mistake_gets_its_message_and_place)
{
    DIR *folder = opendir(HDST_BAD_SCHEMAS);
    cr_assert_not_null(folder);
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".yaml")) continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", HDST_BAD_SCHEMAS, entry->d_name);
        check_file(path, entry->d_name);
        files++;
    }
    closedir(folder);
    cr_assert_gt(files, 40);
}
