// SPDX-License-Identifier: Apache-2.0
// What the main function of every example does around its workload: options, context, input, statistics, results, exit code.
#ifndef EXAMPLES_PROGRAM_H
#define EXAMPLES_PROGRAM_H

#include "json.h"
#include "options.h"

typedef struct program_run {
    const program_info *info;
    const common_options *common;
    hdst_context *context;
    hdst_source *source;        // all of --input; NULL for a program without input
    double started;             // of report_clock
    hdst_run_stats stats;       // the sum of its runs (program_run_result)
    const hdst_dataset *loop;   // whose turns the JSON object tells of (turns.h), with `decides` for what `until` was; NULL: none
    const char *decides;
} program_run;

typedef struct program_steps {
    bool no_input;                                                      // --input and --columns are refused; otherwise at least one --input is needed
    bool lines;                                                         // the input is lines of text; --columns is refused
    const hdst_edges_options *edges;                                    // the input is a graph (graph.h); --columns is refused. NULL: it is none
    const bool *lines_wanted;                                           // the same where the user asks for it; NULL: he cannot
    hdst_status (*check)(void *settings, hdst_error *error);            // of the program's own options; may be NULL
    hdst_status (*work)(program_run *run, void *settings, hdst_error *error);
} program_steps;

// The whole program. `settings` is passed through; `common` is part of it or lies beside it. Returns the exit code, with errors told on standard error.
int program_main(const program_info *info, common_options *common, const program_steps *steps, void *settings, int argc, char **argv);

// An option of programs that read a table, or lines of a certain form.
#define OPTION_LINES(wanted, what) {"lines", OPTION_FLAG, &(wanted), NULL, what, true}

// How many records the input has. A text is gone through for it, and what is wrong with its rows told here.
hdst_status program_rows(const program_run *run, uint64_t *rows, hdst_error *error);
// Of the input as records of the module: the rows, less those that --on-error skip leaves out, which the input itself knows nothing of.
hdst_status program_records(const program_run *run, hdst_module *module, const char *record, uint64_t *records, hdst_error *error);

// Loads a kernel file of the example: an error sticks to the module, or is told here when the file is not found (*module is NULL then).
hdst_status program_load(program_run *run, const char *file, const hdst_param *params, size_t count, hdst_module **module, hdst_error *error);

// The layout that --layout names, else `usual`.
hdst_layout program_layout(const program_run *run, hdst_layout usual);

// The reduction by key in the container that --container names.
hdst_dataset *program_contained(const program_run *run, hdst_dataset *reduction);

// Explains the result where --explain asks for it, runs it and adds its statistics. *explained keeps a loop from telling it again; NULL: tell it.
hdst_status program_run_result(program_run *run, hdst_result *result, bool *explained, hdst_error *error);

// With --json one object on standard output, its "result" filled by `members`; else what `text` prints, on standard error when --output - has the other stream.
// Nothing is printed after an error.
hdst_status program_show(const program_run *run, uint64_t records, void (*members)(json *j, const void *user), void (*text)(FILE *out, const void *user),
                         const void *user, hdst_error *error);

// Fills the error and returns its code; `record` (from 0) is used with HDST_E_RECORD only. hint may be "".
hdst_status program_fail(hdst_error *error, hdst_status code, uint64_t record, const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
