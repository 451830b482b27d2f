// SPDX-License-Identifier: Apache-2.0
// Texts of pieces. Only pieces that are named become part of a program, as people read it, and compilers spend time on every
// function, also on those that are never called.
#include "base/pieces.h"

#include <assert.h>
#include <string.h>

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (in_word(text[length])) length++;
    return length;
}

// --- Whole files ---

const char *hdst__pieces_text(hdst__arena *arena, const hdst__pieces *folder, const char *file)
{
    hdst__writer text = {.arena = arena};
    for (size_t i = 0; i < folder->count; i++)
        if (!strcmp(folder->items[i].file, file)) hdst__write_text(&text, folder->items[i].text);
    assert(text.text && "a file that was embedded");
    return hdst__writer_text(&text);
}

// --- Frames ---

static const hdst__filling *filling_of(const hdst__filling *fillings, size_t count, const char *word, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(fillings[i].macro) == length && !memcmp(fillings[i].macro, word, length)) return &fillings[i];
    return NULL;
}

static void fill_line(hdst__writer *writer, const char *line, const char *end, const hdst__filling *fillings, size_t count)
{
    const char *start = line;
    for (const char *at = line; at < end;) {
        const size_t length = word_length(at);
        const hdst__filling *filling = length ? filling_of(fillings, count, at, length) : NULL;
        if (filling) {
            hdst__write_bytes(writer, start, (size_t)(at - start));
            hdst__write_bytes(writer, filling->text, strlen(filling->text));
            start = at + length;
        }
        at += length ? length : 1;
    }
    hdst__write_bytes(writer, start, (size_t)(end - start));
    hdst__write_bytes(writer, "\n", 1);
}

void hdst__text_fill(hdst__writer *writer, const char *text, const hdst__filling *fillings, size_t count)
{
    for (const char *line = text; *line;) {
        const char *newline = strchr(line, '\n'), *end = newline ? newline : line + strlen(line), *word = line + strspn(line, " ");
        const size_t length = word_length(word);
        const hdst__filling *filling = length && word + length == end ? filling_of(fillings, count, word, length) : NULL;
        if (filling) hdst__write_section(writer, (unsigned)((word - line) / 4), filling->text);
        else fill_line(writer, line, end, fillings, count);
        line = newline ? newline + 1 : end;
    }
}

static bool is_one_of(const char *word, const char *names)
{
    const size_t wanted = strlen(word);
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        if (length == wanted && !memcmp(names, word, length)) return true;
    }
    return false;
}

static size_t count_names(const char *names)
{
    size_t count = *names != 0;
    for (; *names; names++) count += *names == ' ';
    return count;
}

void hdst__frame_write(hdst__writer *writer, const hdst__pieces *folder, const char *file, const hdst__filling *fillings, size_t count)
{
    const hdst__piece *frame = NULL;
    for (size_t i = 0; i < folder->count; i++)
        if (!strcmp(folder->items[i].file, file)) frame = &folder->items[i];
    assert(frame && "a file that was embedded");
    hdst__filling *own = HDST__NEW_ARRAY(writer->arena, hdst__filling, count);
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        if (is_one_of(fillings[i].macro, frame->macros)) own[filled++] = fillings[i];
    assert(filled + 1 == count_names(frame->macros) && "each macro but KERNEL is filled in");
    hdst__text_fill(writer, frame->text, own, filled);
}

// --- Words of a text ---

enum { LONGEST_WORD = 63 };         // of those that a piece may declare

bool hdst__words_have(const hdst__words *words, const char *word, size_t length)
{
    char copy[LONGEST_WORD + 1];
    if (length > LONGEST_WORD) return false;
    memcpy(copy, word, length);
    copy[length] = 0;
    return hdst__name_map_find(&words->seen, copy) != NULL;
}

void hdst__words_add(hdst__words *words, const char *text)
{
    while (*text) {
        const size_t length = word_length(text);
        if (text[0] == '/' && text[1] == '/') text += strcspn(text, "\n");
        else if (length && length <= LONGEST_WORD && !hdst__words_have(words, text, length))
            hdst__name_map_add(&words->seen, words->arena, hdst__arena_strndup(words->arena, text, length), words);
        else text += length ? length : 1;
    }
}

static bool name_any(const hdst__words *words, const char *names)
{
    while (*names) {
        const size_t length = strcspn(names, " ");
        if (hdst__words_have(words, names, length)) return true;
        names += length + (names[length] == ' ');
    }
    return false;
}

// --- Pieces by name ---

// Marks the pieces of a file that are named by now, in one scan. Returns whether there were any.
static bool mark_named(hdst__words *words, const hdst__piece_file *file, bool *marked)
{
    bool any = false;
    for (size_t i = 0; i < file->folder->count; i++) {
        const hdst__piece *piece = &file->folder->items[i];
        if (marked[i] || strcmp(piece->file, file->file) || !name_any(words, piece->names)) continue;
        marked[i] = any = true;
        hdst__words_add(words, piece->text);
    }
    return any;
}

static void write_marked(hdst__writer *out, const hdst__piece_file *file, const bool *marked)
{
    const hdst__piece *comment = NULL;
    for (size_t i = 0; i < file->folder->count; i++) {
        const hdst__piece *piece = &file->folder->items[i];
        if (strcmp(piece->file, file->file)) continue;
        if (!*piece->names) comment = piece;
        if (!marked[i]) continue;
        if (comment) hdst__write_text(out, comment->text);
        comment = NULL;
        hdst__write_text(out, piece->text);
    }
}

const char *hdst__pieces_needed(hdst__words *words, const hdst__piece_file *files, size_t count)
{
    hdst__writer text = {.arena = words->arena};
    bool **marked = HDST__NEW_ARRAY(words->arena, bool *, count);
    for (size_t f = 0; f < count; f++) marked[f] = HDST__NEW_ARRAY(words->arena, bool, files[f].folder->count);
    for (bool more = true; more;) {
        more = false;
        for (size_t f = 0; f < count; f++) more |= mark_named(words, &files[f], marked[f]);
    }
    for (size_t f = 0; f < count; f++) write_marked(&text, &files[f], marked[f]);
    return hdst__writer_text(&text);
}
