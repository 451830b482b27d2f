// SPDX-License-Identifier: Apache-2.0
// The functions that stand in front of a kernel: of the templates' pieces (codegen/opencl/templates/) those that the kernel names, and those that these name in turn. People
// read kernels, and compilers pay for every function, also for those that nobody calls.
#include "codegen/opencl/prelude.h"

#include "base/name_map.h"
#include "base/pieces.h"

#include <inttypes.h>
#include <string.h>

static const char *const part_file[HDST__PART_COUNT] = {
    [HDST__PART_INTEGERS] = "integers.cl", [HDST__PART_FLOATS] = "floats.cl", [HDST__PART_DOUBLES] = "doubles.cl", [HDST__PART_IN_DOUBLE] = "in_double.cl",
    [HDST__PART_BYTES] = "bytes.cl", [HDST__PART_BYTES_DOUBLE] = "bytes_double.cl", [HDST__PART_PICK] = "pick.cl", [HDST__PART_PICK_DOUBLE] = "pick_double.cl",
    [HDST__PART_ATOMICS] = "atomics.cl", [HDST__PART_KEYS] = "minmax_keys.cl", [HDST__PART_KEYS_DOUBLE] = "minmax_keys_double.cl", [HDST__PART_EXACT] = "fixed_point.cl",
    [HDST__PART_EXACT_DOUBLE] = "fixed_point_double.cl", [HDST__PART_SUPERACCUMULATOR] = "superaccumulator.cl",
    [HDST__PART_SUPERACCUMULATOR_DOUBLE] = "superaccumulator_double.cl", [HDST__PART_LOCAL] = "local.cl", [HDST__PART_CHECKS] = "checks.cl",
    [HDST__PART_LEVELS] = "", [HDST__PART_LEVELS_DOUBLE] = "",      // made for the kernel (print_levels.c)
    [HDST__PART_FRONT] = "first_level.cl", [HDST__PART_LANES] = "lanes.cl", [HDST__PART_PAIRS] = "pairs.cl", [HDST__PART_SETTLE] = "settle.cl", [HDST__PART_SETTLE_DOUBLE] = "settle_double.cl",
    [HDST__PART_ROW_SUMS] = "row_sums.cl", [HDST__PART_SPARE] = "overflow_table.cl", [HDST__PART_SPARE_DOUBLE] = "overflow_table_double.cl",
};

const char *hdst__prelude_file(hdst__part part) { return part_file[part]; }

// --- Words of a text ---

enum { LONGEST_WORD = 63 };         // of those that a piece may declare

typedef struct words {
    hdst__arena *arena;
    hdst__name_map seen;
} words;

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(const words *w, const char *word, size_t length)
{
    char copy[LONGEST_WORD + 1];
    if (length > LONGEST_WORD) return false;
    memcpy(copy, word, length);
    copy[length] = 0;
    return hdst__name_map_find(&w->seen, copy) != NULL;
}

static void add_words(words *w, const char *text)
{
    while (*text) {
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (in_word(*text)) {
            size_t length = 0;
            while (in_word(text[length])) length++;
            if (length <= LONGEST_WORD && !has_word(w, text, length)) hdst__name_map_add(&w->seen, w->arena, hdst__arena_strndup(w->arena, text, length), w);
            text += length;
        } else {
            text++;
        }
    }
}

static bool names_any(const words *w, const char *names)
{
    while (*names) {
        const size_t length = strcspn(names, " ");
        if (has_word(w, names, length)) return true;
        names += length + (names[length] == ' ');
    }
    return false;
}

// --- Pieces ---

static int part_of(const char *file)
{
    int part = 0;
    while (part < HDST__PART_COUNT && strcmp(part_file[part], file) != 0) part++;
    return part;
}

static bool *choose_pieces(const hdst__printer *p, words *w)
{
    bool *kept = HDST__NEW_ARRAY(p->arena, bool, hdst__piece_count);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < hdst__piece_count; i++) {
            const hdst__piece *piece = &hdst__pieces[i];
            const int part = part_of(piece->file);
            if (kept[i] || part == HDST__PART_COUNT || !p->part[part] || !names_any(w, piece->names)) continue;
            kept[i] = more = true;
            add_words(w, piece->text);
        }
    }
    return kept;
}

// Whole, where they are used.
typedef struct made {
    const char *text[HDST__PART_COUNT];
} made;

static made make_parts(hdst__printer *p, words *w)
{
    made m = {{0}};
    if (p->part[HDST__PART_LEVELS]) m.text[HDST__PART_LEVELS] = hdst__levels_text(p, false);
    if (p->part[HDST__PART_LEVELS_DOUBLE]) m.text[HDST__PART_LEVELS_DOUBLE] = hdst__levels_text(p, true);
    for (int part = 0; part < HDST__PART_COUNT; part++)
        if (m.text[part]) add_words(w, m.text[part]);
    return m;
}

static const char *print_pieces(hdst__printer *p, const bool *kept, const made *m, const words *w)
{
    hdst__writer text = {.arena = p->arena};
    if (has_word(w, "COPIES", strlen("COPIES"))) hdst__write_line(&text, "#define COPIES %" PRIu32, p->func->tables->copies);
    if (has_word(w, "SPARE_WORDS", strlen("SPARE_WORDS"))) hdst__write_line(&text, "#define SPARE_WORDS %" PRIu32 "", p->func->tables->overflow_words);
    for (int part = 0; part < HDST__PART_COUNT; part++) {
        const hdst__piece *comment = NULL;
        if (m->text[part]) hdst__write(&text, "%s", m->text[part]);
        for (size_t i = 0; i < hdst__piece_count; i++) {
            const hdst__piece *piece = &hdst__pieces[i];
            if (strcmp(piece->file, part_file[part]) != 0) continue;
            if (!*piece->names) comment = piece;
            if (!kept[i]) continue;
            if (comment) hdst__write(&text, "%s", comment->text);
            comment = NULL;
            hdst__write(&text, "%s", piece->text);
        }
    }
    return hdst__writer_text(&text);
}

// --- Macros of the head ---

// Whether the line, a #define, is of a name that nobody uses; other lines are not.
static bool is_unused_macro(const words *w, const char *line)
{
    static const char define[] = "#define ";
    if (strncmp(line, define, strlen(define)) != 0) return false;
    const char *name = line + strlen(define);
    size_t length = 0;
    while (in_word(name[length])) length++;
    return !has_word(w, name, length);
}

// From the last line up, for a macro may use those above it.
static const char *used_lines(hdst__arena *arena, words *w, const char *head)
{
    const char *used = "", *end = head + strlen(head);
    while (end > head) {
        const char *start = end - 1;
        while (start > head && start[-1] != '\n') start--;
        const char *line = hdst__arena_strndup(arena, start, (size_t)(end - start));
        if (!is_unused_macro(w, line)) {
            const bool defines = !strncmp(line, "#define", strlen("#define"));
            if (defines) add_words(w, line);
            used = hdst__arena_printf(arena, "%s%s", line, used);
        }
        end = start;
    }
    return used;
}

void hdst__prelude(hdst__printer *p, const char *kernel, const char *head, const char **used_head, const char **used_pieces)
{
    words w = {.arena = p->arena};
    p->part[HDST__PART_SUPERACCUMULATOR] |= p->part[HDST__PART_EXACT];       // what does not fit fixed point goes there
    p->part[HDST__PART_SUPERACCUMULATOR_DOUBLE] |= p->part[HDST__PART_EXACT_DOUBLE];
    add_words(&w, kernel);
    const made made_parts = make_parts(p, &w);
    const bool *kept = choose_pieces(p, &w);
    *used_pieces = print_pieces(p, kept, &made_parts, &w);
    *used_head = used_lines(p->arena, &w, head);
}
