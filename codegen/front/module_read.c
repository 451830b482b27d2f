// SPDX-License-Identifier: Apache-2.0
// Imports: every file is read once, however often it is imported, so cycles and diamonds are harmless.
#include "codegen/front/module.h"

#include "base/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && !strcmp(name + n - m, end);
}

// Removes "./", "//" and "name/..", so that one file has one name.
static char *normalise(hdst__arena *arena, const char *path)
{
    char *out = hdst__arena_strdup(arena, path), *to = out;
    const char *root = *path == '/' ? out + 1 : out;
    if (*path == '/') to++;
    for (const char *at = path; *at;) {
        while (*at == '/') at++;
        size_t n = strcspn(at, "/");
        char *last = to;        // where the part before begins
        if (n == 0 || (n == 1 && *at == '.')) {
            at += n;
            continue;
        }
        if (last > root) {
            last--;
            while (last > root && last[-1] != '/') last--;
        }
        if (n == 2 && at[0] == '.' && at[1] == '.' && to > root && strncmp(last, "../", 3)) {
            to = last;
        } else {
            memmove(to, at, n);
            to += n;
            *to++ = '/';
        }
        at += n;
    }
    if (to > root) to--;
    *to = 0;
    return out;
}

const char *hdst__module_path(hdst__arena *arena, const char *name, const char *importing)
{
    const char *slash = strrchr(importing, '/');
    if (*name == '/' || !slash) return normalise(arena, name);
    return normalise(arena, hdst__arena_printf(arena, "%.*s/%s", (int)(slash - importing), importing, name));
}

static const char *refuse(char reason[HDST__REASON_BYTES], const char *words)
{
    snprintf(reason, HDST__REASON_BYTES, "%s", words);
    return reason;
}

// The default reader. Returns NULL, or `reason` with the cause.
static const char *read_file(const char *path, char **text, size_t *length, const hdst__allocator *allocator, char reason[HDST__REASON_BYTES])
{
    enum { STEP = 64 * 1024 };
    const int fd = hdst__open_regular(path, 0, reason);
    if (fd < 0) return reason;
    *text = NULL;
    *length = 0;
    const char *wrong = NULL;
    for (ssize_t n = 1; n && !wrong && *length <= HDST__MAX_SOURCE;) {
        char *grown = hdst__realloc(allocator, *text, *length + STEP);
        if (grown) *text = grown;
        do n = grown ? read(fd, grown + *length, STEP) : 0;
        while (n < 0 && errno == EINTR);
        if (!grown || n < 0) wrong = refuse(reason, grown ? "it cannot be read" : "out of memory");
        else *length += (size_t)n;
    }
    close(fd);
    if (wrong) hdst__free(allocator, *text);
    return wrong;
}

// Copies into the arena and frees `given`, also when the arena is out of memory.
static const char *take(hdst__arena *arena, char *given, size_t length)
{
    jmp_buf here, *around = arena->out_of_memory;
    arena->out_of_memory = &here;
    if (setjmp(here)) {
        hdst__free(arena->allocator, given);
        arena->out_of_memory = around;
        longjmp(*around, 1);
    }
    char *copy = hdst__arena_strndup(arena, given, length);
    arena->out_of_memory = around;
    hdst__free(arena->allocator, given);
    return copy;
}

// NULL, or why not.
static const char *read_import(hdst__module_files *m, const char *name, const char *importing, const char *path, const char **text, size_t *length,
                               char reason[HDST__REASON_BYTES])
{
    hdst__arena *arena = m->diags->arena;
    hdst__import_reader read = m->options->read_import;
    char *given = NULL;
    if (read) {
        if (!read(name, importing, &given, length, arena->allocator, m->options->import_user) || !given) return refuse(reason, "there is no such file");
    } else if (read_file(path, &given, length, arena->allocator, reason)) {
        return reason;
    }
    if (*length > HDST__MAX_SOURCE) *length = HDST__MAX_SOURCE + 1;
    *text = take(arena, given, *length);
    return NULL;
}

static void import_one(hdst__module_files *m, const ast_import *import, const char *importing)
{
    hdst__diags *diags = m->diags;
    bool schema = ends_with(import->name, ".yaml") || ends_with(import->name, ".yml");
    if (!schema && !ends_with(import->name, ".hk")) {
        hdst__diag_error(diags, import->span, NULL, "an import is a schema (.yaml, .yml) or a kernel file (.hk)");
        return;
    }
    const char *path = hdst__module_path(diags->arena, import->name, importing), *text;
    size_t length;
    if (hdst__name_map_find(&m->seen, path)) return;
    if (++m->imports > HDST__MAX_IMPORTS) {
        if (m->imports == HDST__MAX_IMPORTS + 1) hdst__diag_error(diags, import->span, NULL, "more than %d files are imported", HDST__MAX_IMPORTS);
        return;
    }
    char reason[HDST__REASON_BYTES];
    const char *wrong = read_import(m, import->name, importing, path, &text, &length, reason);
    if (wrong) {
        hdst__diag_error(diags, import->span, "names are relative to the importing file", "cannot read '%s': %s", path, wrong);
        return;
    }
    if (schema) {
        hdst__name_map_add(&m->seen, diags->arena, path, m);
        HDST__PUSH(diags->arena, m->schemas, m->schema_count, m->schema_capacity, ((hdst__module_schema){path, text, length}));
    } else {
        hdst__module_read(m, path, text, length);
    }
}

void hdst__module_read(hdst__module_files *m, const char *name, const char *text, size_t length)
{
    hdst__diags *diags = m->diags;
    hdst__name_map_add(&m->seen, diags->arena, normalise(diags->arena, name), m);
    bool too_large = length > HDST__MAX_SOURCE;
    uint32_t source = hdst__diags_add_source(diags, name, text, too_large ? 0 : length);
    if (too_large) {
        hdst__diag_error(diags, (hdst__span){source, 0, 0}, NULL, "a kernel file of more than %d bytes", HDST__MAX_SOURCE);
        return;
    }
    ast_file *file = hdst__parse(diags, source);
    HDST__PUSH(diags->arena, m->files, m->file_count, m->file_capacity, file);
    for (size_t i = 0; i < file->import_count; i++) import_one(m, &file->imports[i], name);
}
