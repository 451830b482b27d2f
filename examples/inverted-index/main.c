// SPDX-License-Identifier: Apache-2.0
// Where each word of texts stands.
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

typedef struct numbered {       // these as inverted-index.hk has them
    hdst_text_span word;
    uint32_t number;
} numbered;

typedef struct posting {
    uint32_t word, file;
    uint64_t line;
} posting;

typedef struct job {
    bool lower;
    int pattern;                // 0: word; 1: space
    uint64_t lines, terms, postings;
    const hdst_text_span *term; // all words in order: their places are their numbers
    const posting *found;       // by word; a word that is on a line several times is there as often, one behind the other
    uint64_t all_found;
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

// Whether a posting is not the one in front of it once more: without a branch for each field, of which the last ones nobody could predict.
static bool is_first(const posting *row)
{
    return (row->word != row[-1].word) | (row->file != row[-1].file) | (row->line != row[-1].line);
}

static void count_postings(job *w)
{
    w->postings = w->all_found > 0;
    for (uint64_t i = 1; i < w->all_found; i++) w->postings += is_first(&w->found[i]);
}

// A line for each posting: the word, a tab, the file, a tab, the number of the line.
static hdst_status save(const job *w, const hdst_source *source, const char *path, hdst_error *error)
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) return program_fail(error, HDST_E_IO, 0, "", "'%s' cannot be written: %s", path, strerror(errno));
    for (uint64_t i = 0; i < w->all_found && !ferror(out); i++) {
        if (i && !is_first(&w->found[i])) continue;
        const hdst_text_span *word = &w->term[w->found[i].word];
        fwrite(hdst_text_bytes(word), 1, word->length, out);
        fprintf(out, "\t%s\t%" PRIu64 "\n", hdst_source_file(source, w->found[i].file), w->found[i].line);
    }
    const bool failed = fflush(out) || ferror(out), closed = standard || !fclose(out);
    if (!failed && closed) return HDST_OK;
    return program_fail(error, HDST_E_IO, 0, "is the disk full?", "'%s' cannot be written: %s", path, strerror(errno));
}

// All words, in the order of their bytes, get numbers: postings are small then, and in order without a look at bytes.
static hdst_status find_words(program_run *run, job *w, hdst_result *words, hdst_error *error)
{
    const hdst_status status = program_run_result(run, words, NULL, error);
    if (status != HDST_OK) return status;
    w->term = hdst_result_rows(words, NULL, &w->terms);
    if (w->terms > UINT32_MAX) return program_fail(error, HDST_E_MEMORY, 0, "", "more than 2^32 different words");
    return HDST_OK;
}

// Words with their numbers, as the table of them asks: a list of our own would lie beside the memory budget.
static bool give_numbers(uint64_t first, uint64_t count, void *records, char *message, void *from)
{
    const job *w = from;
    numbered *number = records;
    (void)message;
    for (uint64_t i = 0; i < count; i++) number[i] = (numbered){w->term[first + i], (uint32_t)(first + i)};
    return true;
}

// Lines come in the order of files and numbers, and sorts leave postings of a word as they came.
static hdst_status find_postings(program_run *run, job *w, hdst_module *module, hdst_dataset *lines, hdst_result **index, hdst_error *error)
{
    hdst_source *words = hdst_source_from_concurrent_callback(run->context, w->terms, give_numbers, w);
    hdst_map_spec *postings = hdst_map_spec_create(module, "postings");
    hdst_bind_lookup(postings, "number", hdst_read(words, module, "numbered"), "word");
    *index = hdst_result_create(hdst_sort(hdst_flat_map(lines, postings), "word"));
    const hdst_status status = program_run_result(run, *index, NULL, error);
    if (status == HDST_OK) w->found = hdst_result_rows(*index, NULL, &w->all_found);
    count_postings(w);
    return status;
}

static hdst_status work(program_run *run, void *from, hdst_error *error)
{
    job *w = from;
    const hdst_param params[] = {{"LOWER", w->lower}, {"BLANKS", w->pattern == 1}};
    hdst_module *module = NULL;
    hdst_result *words = NULL, *index = NULL;
    hdst_dataset *lines = NULL;
    hdst_status status = program_load(run, "inverted-index.hk", params, 2, &module, error);
    if (status == HDST_OK) {
        lines = hdst_with_layout(hdst_read(run->source, module, "entry"), program_layout(run, HDST_AOS));
        hdst_dataset *found = hdst_flat_map_function(lines, module, "words");
        words = hdst_result_create(hdst_sort(program_contained(run, hdst_distinct(found)), "word"));
        status = find_words(run, w, words, error);
    }
    if (status == HDST_OK) status = program_rows(run, &w->lines, error);        // the run has counted them
    if (status == HDST_OK) status = find_postings(run, w, module, lines, &index, error);
    if (status == HDST_OK) status = program_show(run, w->lines, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = save(w, run->source, run->common->output, error);
    hdst_result_destroy(index);
    hdst_result_destroy(words);
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
