// SPDX-License-Identifier: Apache-2.0
// The command line that all examples share, and a table for what each adds to it.
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include "hdst/hdst.h"

#include <stdio.h>

typedef enum option_kind {
    OPTION_FLAG,        // bool
    OPTION_TEXT,        // const char *
    OPTION_TEXTS,       // text_list: the option may be repeated
    OPTION_COUNT,       // uint64_t
    OPTION_NUMBER,      // double, finite and at least 0
    OPTION_SIZE,        // uint64_t bytes: 1000000, 512MiB, 1.5G
    OPTION_WORD,        // int: which of the words in `value`
} option_kind;

typedef struct text_list {
    const char **items;
    size_t count;
} text_list;

typedef struct option {
    const char *name;           // without the dashes
    option_kind kind;
    void *to;                   // of the kind's type; untouched when the option is not given
    const char *value;          // as the help calls it: "PATH"; of OPTION_WORD all words: "auto|static|dynamic"
    const char *help;
    bool available;             // false: the feature does not exist yet, so the option is refused
    const char *missing;        // words of an OPTION_WORD that do not exist yet, "static|dynamic", or NULL
    uint64_t least, most;       // bounds of OPTION_COUNT
} option;

typedef struct common_options {
    text_list inputs;
    const char *columns, *output, *device, *trace;      // NULL: not given
    int policy, layout, on_error, hpr; // layout: an hdst_layout, or -1 when not given; on_error: an hdst_on_error; hpr: as layout, levels from 0 (none)
    int container;                              // an hdst_container; an option of programs that have OPTION_CONTAINER
    uint64_t memory, device_memory, seed;       // bytes, 0: the library's default
    bool explain, quiet, json, help, unchecked, fast_sums;
    // Not available yet:
    double verify;
    uint64_t checkpoint_every;
    const char *checkpoint;
    bool resume;
} common_options;

// An own option of programs that reduce by key.
#define OPTION_CONTAINER(common) \
    {"container", OPTION_WORD, &(common).container, "auto|dense|table|parts|sorted", "what totals are kept in while they are made (auto)", true}

typedef struct program_info {
    const char *name, *summary;
    const option *own;          // options beside the common ones
    size_t own_count;
} program_info;

// Fills `common` with defaults and what argv says, and what the program's own options point at. `--help` ends the reading: then only common->help counts.
// Texts point into argv. HDST_E_USAGE with a hint for every misuse. options_free is due in any case.
hdst_status options_parse(const program_info *program, common_options *common, int argc, char **argv, hdst_error *error);
void options_free(common_options *common);
void options_print_help(const program_info *program, FILE *out);

// For checks of the program itself: fills the error with HDST_E_USAGE; hint may be "".
hdst_status options_misuse(hdst_error *error, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
