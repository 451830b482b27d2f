// SPDX-License-Identifier: Apache-2.0
// Hand-written OpenCL C, built into the library in pieces (base/embed_pieces.py), and how a program's text is made of them: by
// name, each piece with those that it names in turn, or as a *frame*, kernels that are filled in with printed text.
//
// Each folder with .cl files has a table of its own; all of it is constant and may be used from any thread.
#ifndef HDST_BASE_PIECES_H
#define HDST_BASE_PIECES_H

#include "base/name_map.h"
#include "base/writer.h"

#include <stddef.h>

typedef struct hdst__piece {
    const char *file;       // "integers.cl"
    const char *names;      // what it declares, with spaces between; "": the comment of its file, which comes first, or a frame
    const char *text;
    const char *macros;     // of a frame: the words that are filled in, with spaces between
} hdst__piece;

typedef struct hdst__pieces {       // of a folder; those of a file stand together, in its order
    const hdst__piece *items;
    size_t count;
} hdst__pieces;

extern const hdst__pieces hdst__base_pieces;

// --- Whole files ---

// All pieces of a file that exists, in the arena.
const char *hdst__pieces_text(hdst__arena *arena, const hdst__pieces *folder, const char *file);

// --- Frames ---

typedef struct hdst__filling {
    const char *macro, *text;
} hdst__filling;

// Writes the kernels of a frame, filled in: there is a filling for each of its macros but KERNEL, which stays;
// fillings that are none of its macros are left alone.
void hdst__frame_write(hdst__writer *writer, const hdst__pieces *folder, const char *file, const hdst__filling *fillings, size_t count);

// Writes `text` with the word `macro` of each filling replaced. Alone on its line, the filling takes the line's
// indentation, and the line goes when there is nothing to fill in.
// What is filled in is not looked at again.
void hdst__text_fill(hdst__writer *writer, const char *text, const hdst__filling *fillings, size_t count);

// --- Pieces by name ---

typedef struct hdst__words {        // of a text, comments left out
    hdst__arena *arena;
    hdst__name_map seen;
} hdst__words;

void hdst__words_add(hdst__words *words, const char *text);
bool hdst__words_have(const hdst__words *words, const char *word, size_t length);

typedef struct hdst__piece_file {
    const hdst__pieces *folder;
    const char *file;
} hdst__piece_file;

// The pieces of these files that the words name, and those that these name in turn, in the files' order; the words of
// the pieces are added. In the words' arena.
const char *hdst__pieces_needed(hdst__words *words, const hdst__piece_file *files, size_t count);

#endif
