// SPDX-License-Identifier: Apache-2.0
// Every file of front/bad is a kernel with mistakes. Its comments say which errors must come, all of them and no other:
//     // expect: LINE:COLUMN: message | hint        (" | hint" may be left out when there is none)
//     // param: NAME=VALUE                          given from outside
#include "codegen/front/front.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 64, MAX_FILE = 1 << 16 };

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
    char *text = calloc(1, MAX_FILE);
    *length = fread(text, 1, MAX_FILE - 1, file);
    fclose(file);
    return text;
}

// What stands behind "// word: " in the comments of the file.
static void collect(const char *text, const char *word, lines *found)
{
    char mark[32];
    snprintf(mark, sizeof mark, "// %s: ", word);
    for (const char *at = text; (at = strstr(at, mark));) {
        at += strlen(mark);
        add_line(found, strndup(at, strcspn(at, "\n")));
    }
}

static void collect_errors(const hdst__diags *diags, lines *found)
{
    for (size_t i = 0; i < diags->count; i++) {
        const hdst__diag *diag = &diags->items[i];
        if (diag->severity != HDST__ERROR) continue;
        uint32_t line, column;
        hdst__span_position(diags, diag->span, &line, &column);
        char text[2048];
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

static bool no_file(const char *name, const char *importing, char **text, size_t *length, const hdst__allocator *allocator, void *user)
{
    (void)name, (void)importing, (void)text, (void)length, (void)allocator, (void)user;
    return false;
}

static void check_file(const char *name)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", BAD_KERNELS, name);
    size_t length;
    char *text = read_file(path, &length);
    lines expected = {0}, found = {0}, given = {0};
    hdst__param_value params[MAX_LINES];
    collect(text, "expect", &expected);
    collect(text, "param", &given);
    for (size_t i = 0; i < given.count; i++) {
        char *value = strchr(given.line[i], '=');
        *value++ = 0;
        params[i] = (hdst__param_value){.name = given.line[i], .bits = (uint64_t)strtoll(value, NULL, 10)};
    }

    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__diags diags;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    hdst__diags_init(&diags, &arena);
    hdst__front_options options = {.params = params, .param_count = given.count, .read_import = no_file};
    hdst__module_compile(&diags, name, text, length, &options);
    collect_errors(&diags, &found);
    cr_expect_gt(expected.count, 0, "%s expects nothing", name);
    for (size_t i = 0; i < found.count; i++) cr_expect(take(&expected, found.line[i]), "%s: unexpected %s", name, found.line[i]);
    for (size_t i = 0; i < expected.count; i++) cr_expect(false, "%s: missing %s", name, expected.line[i]);
    for (size_t i = 0; i < found.count; i++) free(found.line[i]);
    for (size_t i = 0; i < given.count; i++) free(given.line[i]);
    hdst__arena_destroy(&arena);
    free(text);
}

Test(bad_kernels, each_gives_the_errors_that_its_comments_say)
{
    DIR *folder = opendir(BAD_KERNELS);
    cr_assert_not_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".hk")) continue;
        check_file(entry->d_name);
        count++;
    }
    closedir(folder);
    cr_assert_gt(count, 40);
}
