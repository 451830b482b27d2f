// SPDX-License-Identifier: Apache-2.0
// How often each word of a text occurs.
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct total {          // as word-count.hk gives it
    hdst_text_span word;
    uint64_t count;
} total;

typedef struct job {
    bool lower;
    int pattern;                // 0: word; 1: space
    uint64_t top, lines, words, distinct;
    const total *all;           // by word where they are written, else in no order
    const total **sorted;       // the most frequent ones first, as many as are shown
} job;

static int by_word(const void *a, const void *b)
{
    const hdst_text_span *x = &(*(const total *const *)a)->word, *y = &(*(const total *const *)b)->word;
    const int order = memcmp(hdst_text_bytes(x), hdst_text_bytes(y), x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_count(const void *a, const void *b)
{
    const total *x = *(const total *const *)a, *y = *(const total *const *)b;
    return x->count == y->count ? by_word(a, b) : x->count < y->count ? 1 : -1;
}

static uint64_t shown(const job *w) { return w->top < w->distinct ? w->top : w->distinct; }

static void swap(const total **a, const total **b)
{
    const total *was = *a;
    *a = *b;
    *b = was;
}

// `heap`: each comes in order before none of the two below it, but perhaps for the one at `at`.
static void sink(const total **heap, uint64_t count, uint64_t at)
{
    for (uint64_t below = 2 * at + 1; below < count; at = below, below = 2 * at + 1) {
        if (below + 1 < count && by_count(&heap[below], &heap[below + 1]) < 0) below++;
        if (by_count(&heap[at], &heap[below]) >= 0) return;
        swap(&heap[at], &heap[below]);
    }
}

// Those that are shown are mostly few: a heap of the best so far, whose last one is at its top, meets each of the others once.
static void sort_shown(job *w)
{
    const uint64_t n = shown(w);
    for (uint64_t i = 0; i < n; i++) w->sorted[i] = &w->all[i];
    for (uint64_t at = n / 2; at-- > 0;) sink(w->sorted, n, at);
    for (uint64_t i = n; i < w->distinct; i++) {
        const total *next = &w->all[i];
        if (by_count(&next, &w->sorted[0]) >= 0) continue;
        w->sorted[0] = next;
        sink(w->sorted, n, 0);
    }
    qsort(w->sorted, n, sizeof *w->sorted, by_count);
}

static hdst_status take_totals(job *w, hdst_result *counts, hdst_error *error)
{
    w->all = hdst_result_rows(counts, NULL, &w->distinct);
    for (uint64_t i = 0; i < w->distinct; i++) w->words += w->all[i].count;
    w->sorted = malloc((shown(w) + 1) * sizeof *w->sorted);
    if (!w->sorted) return program_fail(error, HDST_E_MEMORY, 0, "a smaller --top", "out of memory: the words that are shown");
    sort_shown(w);
    return HDST_OK;
}

static void write_json(json *j, const void *from)
{
    const job *w = from;
    json_uint(j, "words", w->words);
    json_uint(j, "distinct", w->distinct);
    json_open(j, "top", '[');
    for (uint64_t i = 0; i < shown(w); i++) {
        const hdst_text_span *word = &w->sorted[i]->word;
        char *text = strndup(hdst_text_bytes(word), word->length);
        json_open(j, NULL, '{');
        json_text(j, "word", text ? text : "?");
        json_uint(j, "count", w->sorted[i]->count);
        json_close(j, '}');
        free(text);
    }
    json_close(j, ']');
}

static void write_text(FILE *out, const void *from)
{
    const job *w = from;
    for (uint64_t i = 0; i < shown(w); i++) {
        fprintf(out, "%12" PRIu64 " ", w->sorted[i]->count);
        fwrite(hdst_text_bytes(&w->sorted[i]->word), 1, w->sorted[i]->word.length, out);
        fputc('\n', out);
    }
    fprintf(out, "%" PRIu64 " word%s, %" PRIu64 " of them different\n", w->words, w->words == 1 ? "" : "s", w->distinct);
}

// All words in the order of their bytes, a line each: the word, a tab, how often.
static hdst_status save(const job *w, const char *path, hdst_error *error)
{
    const bool standard = !strcmp(path, "-");
    FILE *out = standard ? stdout : fopen(path, "w");
    if (!out) return program_fail(error, HDST_E_IO, 0, "", "'%s' cannot be written: %s", path, strerror(errno));
    for (uint64_t i = 0; i < w->distinct && !ferror(out); i++) {
        fwrite(hdst_text_bytes(&w->all[i].word), 1, w->all[i].word.length, out);
        fprintf(out, "\t%" PRIu64 "\n", w->all[i].count);
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
    hdst_result *counts = NULL;
    hdst_status status = program_load(run, "word-count.hk", params, 2, &module, error);
    if (status == HDST_OK) {
        hdst_dataset *lines = hdst_with_layout(hdst_read(run->source, module, "text"), program_layout(run, HDST_AOS));
        hdst_dataset *words = hdst_flat_map_function(lines, module, "words");
        hdst_dataset *totals = program_contained(run, hdst_reduce_by_key(words, module, "add"));
        counts = hdst_result_create(run->common->output ? hdst_sort(totals, "word") : totals);
        status = program_run_result(run, counts, NULL, error);
    }
    if (status == HDST_OK) status = program_rows(run, &w->lines, error);        // the run has counted them
    if (status == HDST_OK) status = take_totals(w, counts, error);
    if (status == HDST_OK) status = program_show(run, w->lines, write_json, write_text, w, error);
    if (status == HDST_OK && run->common->output) status = save(w, run->common->output, error);
    free(w->sorted);
    hdst_result_destroy(counts);
    hdst_module_destroy(module);
    return status;
}

int main(int argc, char **argv)
{
    job w = {.top = 10};
    common_options common;
    const option own[] = {
        {"lower", OPTION_FLAG, &w.lower, NULL, "count letters of ASCII as their small ones", true},
        {"pattern", OPTION_WORD, &w.pattern, "word|space", "what words are: letters, digits, _ and what is not ASCII; or what blanks separate", true},
        {"top", OPTION_COUNT, &w.top, "N", "how many words are shown (10)", true, NULL, 1, UINT64_MAX},
        OPTION_CONTAINER(common),
    };
    const program_info info = {"word-count",
                               "Counts how often each word of a text occurs. Writes the most frequent words to standard output, and with --output all of them\n"
                               "to a file: a word, a tab and its number in a line, in the order of bytes. Input may be compressed by gzip, zstd or xz.",
                               own, sizeof own / sizeof *own};
    const program_steps steps = {.lines = true, .work = work};
    return program_main(&info, &common, &steps, &w, argc, argv);
}
