// SPDX-License-Identifier: Apache-2.0
// Where each word of texts stands.
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct posting {        // as inverted-index.hk gives it
    hdst_text_span word;
    uint32_t file;
    uint64_t line;
} posting;

typedef struct job {
    bool lower;
    int pattern;                // 0: word; 1: space
    uint64_t lines, terms, postings;
} job;

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "terms", w->terms);
    json_uint(j, "postings", w->postings);
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    fprintf(out, "%" PRIu64 " different word%s on %" PRIu64 " line%s\n",
            w->terms, w->terms == 1 ? "" : "s", w->postings, w->postings == 1 ? "" : "s");
}

static bool same_word(const hdst_text_span *a, const hdst_text_span *b)
{
    return a->length == b->length && !memcmp(hdst_text_bytes(a), hdst_text_bytes(b), a->length);
}

// The postings lie by word.
static void count_terms(job *w, const posting *rows)
{
    for (uint64_t i = 0; i < w->postings; i++) w->terms += i == 0 || !same_word(&rows[i].word, &rows[i - 1].word);
}

// A line for each posting: the word, a tab, the file, a tab, the number of the line.
static hdst_status save(const job *w, const posting *rows, const hdst_source *source, const char *path, hdst_error *error)
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) return program_fail(error, HDST_E_IO, 0, "", "'%s' cannot be written: %s", path, strerror(errno));
    for (uint64_t i = 0; i < w->postings && !ferror(out); i++) {
        fwrite(hdst_text_bytes(&rows[i].word), 1, rows[i].word.length, out);
        fprintf(out, "\t%s\t%" PRIu64 "\n", hdst_source_file(source, rows[i].file), rows[i].line);
    }
    const bool failed = fflush(out) || ferror(out), closed = standard || !fclose(out);
    if (!failed && closed) return HDST_OK;
    return program_fail(error, HDST_E_IO, 0, "is the disk full?", "'%s' cannot be written: %s", path, strerror(errno));
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    const hdst_param params[] = {{"LOWER", w->lower}, {"BLANKS", w->pattern == 1}};
    hdst_module *module = NULL;
    hdst_result *index = NULL;
    hdst_status status = program_load(run, "inverted-index.hk", params, 2, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *lines = hdst_with_layout(hdst_read(run->source, module, "entry"), program_layout(run, HDST_AOS));
        hdst_dataset *found = hdst_flat_map_function(lines, module, "postings");
        index = hdst_result_create(hdst_sort(program_contained(run, hdst_distinct(found)), "word, file, line"));
        status = program_run_result(run, index, NULL, error);
    }
    if (status == HDST_OK) status = program_rows(run, &w->lines, error);        // the run has counted them
    const posting *rows = status == HDST_OK ? hdst_result_rows(index, NULL, &w->postings) : NULL;
    if (rows) count_terms(w, rows);
    if (status == HDST_OK) status = program_show(run, w->lines, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = save(w, rows, run->source, run->common->output, error);
    hdst_result_destroy(index);
    hdst_module_destroy(module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {0};
    common_options common;
    const option own[] = {
        {"lower", OPTION_FLAG, &w.lower, NULL, "take letters of ASCII as their small ones", true},
        {"pattern", OPTION_WORD, &w.pattern, "word|space", "what words are: letters, digits, _ and what is not ASCII; or what blanks separate", true},
        OPTION_CONTAINER(common),
    };
    const program_info info = {"inverted-index",
                               "Finds on which lines each word of texts stands. Says how many words and lines, and writes with --output all of them to a\n"
                               "file, in order: a word, a tab, the path of the file, a tab and the number of the line. Input may be compressed by gzip,\n"
                               "zstd or xz.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.lines = true, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
