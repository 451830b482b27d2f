// SPDX-License-Identifier: Apache-2.0
// A plain program: builds pipelines that a script describes and runs them again and again, while what they read changes. again.py makes the scripts, and finds
// the answers itself. Allocations fail and runs are cancelled on demand; what is allocated, and not given back, is counted.
//
// Standard input, a command in a line, words between blanks ("-" is none, "~" stands for a blank within a word); things of each kind have numbers:
//     context FORM MEMORY DEVICE-MEMORY [skip] [LIMIT=NUMBER...]      FORM: interp, cpu, gpu (the form for GPUs, on the CPU), team, two (that on two halves)
//     module PATH
//     memory N ROW-BYTES PATH REGISTERED, callback N ..., uncounted N ... CONCURRENT       a source; rows as in the file (below)
//     raw N PATH, lines N PATH, text N PATH       a source of a file (text: separated)
//     change N PATH                               other rows for a source in memory
//     value N RECORD, set N ROW-BYTES PATH [TEXT-OFFSET...]           answers with the status
//     read D SOURCE RECORD, read_value D VALUE    a dataset; then OPERATOR D INPUT ARGUMENTS..., as in the table `operators`
//     spec S FUNCTION, bind_value S PARAMETER VALUE, bind_lookup S PARAMETER DATASET KEY, bind_accum S PARAMETER ROWS
//     loop D START STATE LIMIT UNTIL THRESHOLD STEPS..., delta D START STATE FIRST WORK LIMIT UNTIL THRESHOLD STEPS...     a step: DATASET:TABLE:VALUE
//     uncache D
//     result R DATASET ROW-BYTES TABLE [TEXT-OFFSET...]; drop R
//     run R PATH [cancel MICROSECONDS | fail NUMBER | late NUMBER]    writes the rows; "ok ROWS FAILED SKIPPED" or "error CODE FAILED RECORD words"
//     also R TABLE ROW-BYTES PATH                 the rows of another table of the last run; answers as a run
//     together CANCELLED MICROSECONDS R PATH...   a job for each, of which number CANCELLED (-1: none) is cancelled; answers as so many runs
//     explain R                                   in one line
//     peak                                        bytes in use, at most, and now
//     end                                         of the context: "end BLOCKS BYTES PEAK": not given back, and in use at most
// A file of rows: their C structs. Where these have texts: in what is read the number of rows in front (64 bits), and behind them, row by row, each text's
// length (32 bits) and bytes.
#include "engine/engine_state.h"
#include "hdst/hdst.h"
#include "plan/object.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256, MOST_JOBS = 8, MOST_WORDS = 160, LONGEST_LINE = 16384, MOST_TEXTS = 120 };

static void give_up(const char *why, const char *what)
{
    fprintf(stderr, "run_again: %s '%s'\n", why, what);
    exit(2);
}

static void *room_for(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p) give_up("no memory", "for the program itself");
    return p;
}

// --- The allocator: its n-th call fails, or all from then on; each block tells its size in front ---

static struct {
    atomic_long until_failure;      // calls; -1: none fails
    atomic_bool failed, for_good;
    atomic_long blocks, used, peak;
} heap = {.until_failure = -1};

static bool fails(void)
{
    if (heap.for_good && heap.failed) return true;
    if (heap.until_failure < 0 || heap.until_failure-- != 0) return false;
    return heap.failed = true;
}

static void count(long bytes)
{
    const long used = heap.used += bytes;
    long peak = heap.peak;
    while (used > peak && !atomic_compare_exchange_weak(&heap.peak, &peak, used)) {}
}

static void *give(size_t bytes, void *user)
{
    (void)user;
    size_t *block = fails() ? NULL : malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    heap.blocks++;
    count((long)bytes);
    return (char *)block + 16;
}

static void *give_more(void *old, size_t bytes, void *user)
{
    if (!old) return give(bytes, user);
    size_t *block = (size_t *)((char *)old - 16);
    const size_t before = *block;
    block = fails() ? NULL : realloc(block, bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    count((long)bytes - (long)before);
    return (char *)block + 16;
}

static void take_back(void *old, void *user)
{
    (void)user;
    if (!old) return;
    size_t *block = (size_t *)((char *)old - 16);
    count(-(long)*block);
    heap.blocks--;
    free(block);
}

// --- Things of the script ---

typedef struct texts { uint64_t offset[MOST_TEXTS]; size_t count; } texts;
typedef struct rows { char *data; uint64_t count, row_bytes, capacity; char *file; } rows;
typedef struct answer { hdst_result *result; uint64_t row_bytes; texts texts; char table[80]; } answer;

static struct {
    hdst_context *context;
    hdst_module *module;
    rows rows[MOST];
    hdst_source *source[MOST];
    hdst_value *value[MOST];
    hdst_dataset *dataset[MOST];
    hdst_map_spec *spec[MOST];
    answer answer[MOST];
} all;

static size_t number(const char *word)
{
    const unsigned long n = word ? strtoul(word, NULL, 10) : MOST;
    if (n >= MOST) give_up("no number of a thing:", word ? word : "");
    return n;
}

static uint64_t amount(const char *word) { return word ? strtoull(word, NULL, 10) : 0; }

static const char *phrase(char *word)
{
    if (!word || !strcmp(word, "-")) return NULL;
    for (char *c = word; *c; c++) *c = *c == '~' ? ' ' : *c;
    return word;
}

static texts texts_of(char **word)
{
    texts t = {.count = 0};
    for (; word[t.count]; t.count++) {
        if (t.count == MOST_TEXTS) give_up("no room for the text at", word[t.count]);
        t.offset[t.count] = amount(word[t.count]);
    }
    return t;
}

static char *whole_file(const char *path, uint64_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) give_up("no file", path);
    fseek(file, 0, SEEK_END);
    *size = (uint64_t)ftell(file);
    rewind(file);
    char *data = room_for(*size);
    if (fread(data, 1, *size, file) != *size) give_up("cannot read", path);
    fclose(file);
    return data;
}

// Rows of a file; texts refer to it, so it stays as long as they do.
static rows rows_of(const char *path, uint64_t row_bytes, const texts *t)
{
    uint64_t size, count = 0;
    char *file = whole_file(path, &size);
    if (!t->count) return (rows){file, size / row_bytes, row_bytes, size, NULL};
    memcpy(&count, file, sizeof count);
    rows r = {room_for(count * row_bytes), count, row_bytes, count * row_bytes, file};
    memcpy(r.data, file + 8, count * row_bytes);
    const char *at = file + 8 + count * row_bytes;
    for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < t->count; k++) {
            uint32_t length;
            memcpy(&length, at, sizeof length);
            const hdst_text_span span = hdst_text_span_of(at + 4, length);
            memcpy(r.data + i * row_bytes + t->offset[k], &span, sizeof span);
            at += 4 + length;
        }
    return r;
}

static void drop_rows(rows *r)
{
    free(r->data);
    free(r->file);
    *r = (rows){NULL, 0, 0, 0, NULL};
}

// --- The context ---

typedef struct limit { const char *name; size_t offset, size; } limit;
#define LIMIT(member) {#member, offsetof(hdst__limits, member), sizeof(((hdst__limits *)0)->member)}
static const limit limits[] = {
    LIMIT(share_bytes), LIMIT(slice_records), LIMIT(combine_least), LIMIT(combine_bits), LIMIT(combine_room), LIMIT(most_row_passes), LIMIT(pick_least),
    LIMIT(sort_least), LIMIT(sort_large_least), LIMIT(sort_sample_bytes), LIMIT(sort_dealing_threads), LIMIT(sort_by_kernels), LIMIT(by_key_device_least),
    LIMIT(by_key_slice_least), LIMIT(by_key_slice_rows), LIMIT(by_key_slice_homes), LIMIT(by_key_table_bits), LIMIT(by_key_partition_bits),
    LIMIT(by_key_look_after), LIMIT(by_key_full), LIMIT(copies_after), LIMIT(by_key_least_cells), LIMIT(scatter_least), LIMIT(scatter_piece),
};

static void set_limit(char *word)
{
    char *equals = strchr(word, '=');
    if (!equals) give_up("no limit:", word);
    *equals = 0;
    const uint64_t value = amount(equals + 1);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (strcmp(limits[i].name, word)) continue;
        memcpy((char *)hdst__engine_limits(all.context->engine) + limits[i].offset, &value, limits[i].size);
        return;
    }
    give_up("no such limit:", word);
}

static void end_context(void)
{
    for (size_t i = 0; i < MOST; i++)
        if (all.answer[i].result) hdst_result_destroy(all.answer[i].result);
    if (all.context) hdst_context_destroy(all.context);
    for (size_t i = 0; i < MOST; i++) drop_rows(&all.rows[i]);
    memset(&all, 0, sizeof all);
}

static void do_context(char **w)
{
    static const struct { const char *name, *device; uint32_t parts; bool gpu; } forms[] = {
        {"interp", "interp", 0, false}, {"cpu", "cpu", 0, false}, {"gpu", "cpu", 0, true}, {"team", "0,1,2", 2, false}, {"two", "0,1", 2, true}};
    end_context();
    heap.until_failure = -1;
    heap.failed = heap.for_good = false;
    heap.blocks = heap.used = heap.peak = 0;
    hdst_context_options options = HDST_CONTEXT_OPTIONS_INIT;
    size_t f = 0;
    while (f < sizeof forms / sizeof *forms && strcmp(forms[f].name, w[1])) f++;
    if (f == sizeof forms / sizeof *forms) give_up("no such form:", w[1]);
    options.device = forms[f].device, options.cpu_parts = forms[f].parts;
    options.memory = amount(w[2]), options.device_memory = amount(w[3]);
    options.allocator = (hdst_allocator){give, give_more, take_back, NULL};
    options.replay_dir = "";
    size_t k = 4;
    if (w[k] && !strcmp(w[k], "skip")) options.on_error = HDST_ON_ERROR_SKIP, k++;
    all.context = hdst_context_create(&options);
    if (!all.context->engine) give_up("no context on", w[1]);
    all.context->engine->options.gpu_form_on_cpu = forms[f].gpu;
    hdst__engine_limits(all.context->engine)->grace_seconds = 600;
    for (; w[k]; k++) set_limit(w[k]);
}

static void do_module(char **w)
{
    all.module = hdst_module_load(all.context, w[1], NULL, 0);
    if (hdst_module_status(all.module, NULL) != HDST_OK) fprintf(stderr, "%s\n", hdst_module_diagnostics(all.module));
}

// --- Sources and values ---

static bool fill(uint64_t first, uint64_t count, void *records, char *message, void *user)
{
    (void)message;
    const rows *r = user;
    memcpy(records, r->data + first * r->row_bytes, count * r->row_bytes);
    return true;
}

static bool fill_some(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user)
{
    const rows *r = user;
    const uint64_t left = first >= r->count ? 0 : r->count - first;
    *given = left < count ? left : count;
    *ended = first + *given >= r->count;
    return fill(first, *given, records, message, user);
}

static void do_memory(char **w)
{
    const size_t n = number(w[1]);
    rows *r = &all.rows[n];
    const texts t = texts_of(w + 5);
    *r = rows_of(w[3], amount(w[2]), &t);
    if (!strcmp(w[0], "callback")) all.source[n] = hdst_source_from_callback(all.context, r->count, fill, r);
    else if (!strcmp(w[0], "uncounted")) all.source[n] = hdst_source_from_uncounted_callback(all.context, fill_some, amount(w[4]), r);
    else {
        if (amount(w[4]) && r->count) (void)hdst_memory_register(all.context, r->data, r->count * r->row_bytes, NULL);
        all.source[n] = hdst_source_from_memory(all.context, r->data, r->count, r->row_bytes);
    }
}

// The new rows lie where the old ones did, and are as many.
static void do_change(char **w)
{
    rows *r = &all.rows[number(w[1])];
    const texts t = texts_of(w + 3);
    rows other = rows_of(w[2], r->row_bytes, &t);
    if (other.count != r->count) give_up("other rows are more, or fewer, in", w[2]);
    memcpy(r->data, other.data, r->count * r->row_bytes);
    free(other.data);
    free(r->file);
    r->file = other.file;
}

static void do_file(char **w)
{
    hdst_source *source = !strcmp(w[0], "raw")   ? hdst_source_open_raw(all.context, w[2])
                        : !strcmp(w[0], "lines") ? hdst_source_open_lines(all.context, w[2])
                                                 : hdst_source_open(all.context, w[2]);
    all.source[number(w[1])] = source;
}

static void do_value(char **w) { all.value[number(w[1])] = hdst_value_create(all.module, w[2], 1); }

static void do_set(char **w)
{
    const texts t = texts_of(w + 4);
    rows r = rows_of(w[3], amount(w[2]), &t);
    printf("set %d\n", hdst_value_set(all.value[number(w[1])], r.data, r.count));
    drop_rows(&r);
}

// --- Datasets: `a` are the words behind the operator's own name, its dataset and its input ---

typedef hdst_dataset *operator_function(hdst_dataset *in, char **a);

static hdst_dataset *other(char **a, size_t i) { return all.dataset[number(a[i])]; }
static hdst_dataset *do_map(hdst_dataset *in, char **a) { return hdst_map_function(in, all.module, a[0]); }
static hdst_dataset *do_filter(hdst_dataset *in, char **a) { return hdst_filter_function(in, all.module, a[0]); }
static hdst_dataset *do_flat_map(hdst_dataset *in, char **a) { return hdst_flat_map_function(in, all.module, a[0]); }
static hdst_dataset *do_spec_map(hdst_dataset *in, char **a) { return hdst_map(in, all.spec[number(a[0])]); }
static hdst_dataset *do_spec_filter(hdst_dataset *in, char **a) { return hdst_filter(in, all.spec[number(a[0])]); }
static hdst_dataset *do_spec_flat_map(hdst_dataset *in, char **a) { return hdst_flat_map(in, all.spec[number(a[0])]); }
static hdst_dataset *do_sort(hdst_dataset *in, char **a) { return hdst_sort(in, phrase(a[0])); }
static hdst_dataset *do_top(hdst_dataset *in, char **a) { return hdst_top(in, amount(a[0]), phrase(a[1])); }
static hdst_dataset *do_max_by(hdst_dataset *in, char **a) { return hdst_max_by(in, phrase(a[0])); }
static hdst_dataset *do_min_by(hdst_dataset *in, char **a) { return hdst_min_by(in, phrase(a[0])); }
static hdst_dataset *do_group(hdst_dataset *in, char **a) { return hdst_group_function(in, phrase(a[0]), all.module, a[1]); }
static hdst_dataset *do_reduce(hdst_dataset *in, char **a) { return hdst_reduce(in, all.module, a[0]); }
static hdst_dataset *do_by_key(hdst_dataset *in, char **a) { return hdst_reduce_by_key(in, all.module, a[0]); }
static hdst_dataset *do_dense(hdst_dataset *in, char **a) { return hdst_reduce_dense(in, all.module, a[0], amount(a[1])); }
static hdst_dataset *do_count(hdst_dataset *in, char **a) { return hdst_count_by_key(in, all.module, a[0]); }
static hdst_dataset *do_distinct(hdst_dataset *in, char **a) { return (void)a, hdst_distinct(in); }
static hdst_dataset *do_container(hdst_dataset *in, char **a) { return hdst_with_container(in, (hdst_container)amount(a[0])); }
static hdst_dataset *do_partition(hdst_dataset *in, char **a) { return hdst_partition(in, all.module, a[0], amount(a[1])); }
static hdst_dataset *do_join(hdst_dataset *in, char **a) { return hdst_join(in, phrase(a[0]), other(a, 1), phrase(a[2]), all.module, a[3]); }
static hdst_dataset *do_co_group(hdst_dataset *in, char **a) { return hdst_co_group(in, phrase(a[0]), other(a, 1), phrase(a[2]), all.module, a[3]); }
static hdst_dataset *do_semi_join(hdst_dataset *in, char **a) { return hdst_semi_join(in, phrase(a[0]), other(a, 1), phrase(a[2])); }
static hdst_dataset *do_anti_join(hdst_dataset *in, char **a) { return hdst_anti_join(in, phrase(a[0]), other(a, 1), phrase(a[2])); }
static hdst_dataset *do_cross(hdst_dataset *in, char **a) { return hdst_cross(in, other(a, 0), all.module, a[1]); }
static hdst_dataset *do_layout(hdst_dataset *in, char **a) { return hdst_with_layout(in, (hdst_layout)amount(a[0])); }
static hdst_dataset *do_cache(hdst_dataset *in, char **a) { return (void)a, hdst_cache(in); }
static hdst_dataset *do_arrange(hdst_dataset *in, char **a) { return hdst_arrange(in, phrase(a[0])); }
static hdst_dataset *do_slice(hdst_dataset *in, char **a) { return hdst_slice(in, amount(a[0]), amount(a[1])); }
static hdst_dataset *do_union(hdst_dataset *in, char **a) { return hdst_union(in, other(a, 0)); }
static hdst_dataset *do_zip(hdst_dataset *in, char **a) { return hdst_zip_with_index(in, all.module, a[0]); }
static hdst_dataset *do_window(hdst_dataset *in, char **a) { return hdst_window(in, all.module, a[0], amount(a[1]), amount(a[2]), phrase(a[3])); }
static hdst_dataset *do_scan(hdst_dataset *in, char **a)
{
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    options.within = phrase(a[1]), options.exclusive = amount(a[2]);
    return hdst_scan(in, phrase(a[0]), &options);
}
static hdst_dataset *do_scan_function(hdst_dataset *in, char **a)
{
    hdst_scan_options options = HDST_SCAN_OPTIONS_INIT;
    options.within = phrase(a[1]), options.exclusive = amount(a[2]);
    return hdst_scan_function(in, all.module, a[0], &options);
}

static const struct { const char *name; operator_function *make; size_t words; } operators[] = {
    {"map", do_map, 1}, {"filter", do_filter, 1}, {"flat_map", do_flat_map, 1}, {"spec_map", do_spec_map, 1}, {"spec_filter", do_spec_filter, 1},
    {"spec_flat_map", do_spec_flat_map, 1}, {"sort", do_sort, 1}, {"top", do_top, 2}, {"max_by", do_max_by, 1}, {"min_by", do_min_by, 1},
    {"group", do_group, 2}, {"reduce", do_reduce, 1}, {"reduce_by_key", do_by_key, 1}, {"reduce_dense", do_dense, 2}, {"count_by_key", do_count, 1},
    {"distinct", do_distinct, 0}, {"container", do_container, 1}, {"partition", do_partition, 2}, {"join", do_join, 4}, {"co_group", do_co_group, 4},
    {"semi_join", do_semi_join, 3}, {"anti_join", do_anti_join, 3}, {"cross", do_cross, 2}, {"layout", do_layout, 1}, {"cache", do_cache, 0},
    {"arrange", do_arrange, 1}, {"slice", do_slice, 2}, {"union", do_union, 1}, {"zip_with_index", do_zip, 1}, {"window", do_window, 4},
    {"scan", do_scan, 3}, {"scan_function", do_scan_function, 3},
};

static void operate(char **w, size_t words)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(w[0], operators[i].name)) continue;
        if (words < 3 + operators[i].words) give_up("too few words behind", w[0]);
        all.dataset[number(w[1])] = operators[i].make(all.dataset[number(w[2])], w + 3);
        return;
    }
    give_up("no such command:", w[0]);
}

static void do_spec(char **w) { all.spec[number(w[1])] = hdst_map_spec_create(all.module, w[2]); }
static void do_bind_value(char **w) { (void)hdst_bind_value(all.spec[number(w[1])], w[2], all.value[number(w[3])]); }
static void do_bind_lookup(char **w) { (void)hdst_bind_lookup(all.spec[number(w[1])], w[2], all.dataset[number(w[3])], phrase(w[4])); }
static void do_bind_accum(char **w) { (void)hdst_bind_accum(all.spec[number(w[1])], w[2], amount(w[3])); }

static size_t steps_of(char **w, hdst_loop_step *steps)
{
    size_t n = 0;
    for (; w[n] && n < MOST_WORDS; n++) {
        char *table = strchr(w[n], ':'), *value = table ? strchr(table + 1, ':') : NULL;
        if (!value) give_up("no step:", w[n]);
        *table++ = 0, *value++ = 0;
        steps[n] = (hdst_loop_step){all.dataset[number(w[n])], phrase(table), all.value[number(value)]};
    }
    return n;
}

static void do_loop(char **w)
{
    hdst_loop_step steps[MOST_WORDS];
    hdst_loop_options options = HDST_LOOP_OPTIONS_INIT;
    const bool delta = !strcmp(w[0], "delta");
    char **rest = w + (delta ? 6 : 4);
    options.limit = amount(rest[0]), options.until = phrase(rest[1]), options.threshold = strtod(rest[2], NULL), options.quiet = 1;
    hdst_dataset *start = all.dataset[number(w[2])];
    hdst_value *state = all.value[number(w[3])];
    const size_t count = steps_of(rest + 3, steps);
    all.dataset[number(w[1])] = delta ? hdst_delta_loop(start, state, all.dataset[number(w[4])], all.value[number(w[5])], steps, count, &options)
                                      : hdst_loop(start, state, steps, count, &options);
}

// --- Runs ---

static void do_result(char **w)
{
    answer *a = &all.answer[number(w[1])];
    *a = (answer){hdst_result_create(all.dataset[number(w[2])]), amount(w[3]), texts_of(w + 5), ""};
    snprintf(a->table, sizeof a->table, "%s", w[4]);
}

static void do_drop(char **w)
{
    hdst_result_destroy(all.answer[number(w[1])].result);
    all.answer[number(w[1])].result = NULL;
}

static atomic_bool run_is_over;
static long cancel_after;

static void *cancel(void *user)
{
    (void)user;
    usleep((useconds_t)cancel_after);
    if (!run_is_over) hdst_context_cancel(all.context);
    return NULL;
}

static void write_rows(const answer *a, const char *data, uint64_t count, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) give_up("cannot write", path);
    if (count) fwrite(data, a->row_bytes, count, file);
    for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < a->texts.count; k++) {
            const hdst_text_span *span = (const hdst_text_span *)(data + i * a->row_bytes + a->texts.offset[k]);
            fwrite(&span->length, sizeof span->length, 1, file);
            fwrite(hdst_text_bytes(span), 1, span->length, file);
        }
    fclose(file);
}

static void tell_error(const hdst_error *error)
{
    char text[4000];
    hdst_error_format(error, text, sizeof text);
    for (char *c = text; *c; c++) *c = *c == '\n' ? '|' : *c;
    printf("error %d %d %" PRIu64 " %s\n", (int)error->code, (int)heap.failed, error->record, text);
}

// What a run came to.
static void tell_rows(const answer *a, hdst_status status, hdst_error *error, const char *path)
{
    uint64_t count = 0;
    const char *table = strcmp(a->table, "-") ? a->table : NULL;
    const void *data = status == HDST_OK ? hdst_result_rows(a->result, table, &count) : NULL;
    if (status == HDST_OK && !data) status = hdst_result_status(a->result, error);
    if (status != HDST_OK) { tell_error(error); return; }
    write_rows(a, data, count, path);
    printf("ok %" PRIu64 " %d %" PRIu64 "\n", count, (int)heap.failed, hdst_result_stats(a->result).records_skipped);
}

static void do_run(char **w)
{
    answer *a = &all.answer[number(w[1])];
    const bool cancels = w[3] && !strcmp(w[3], "cancel"), starves = w[3] && !cancels;
    hdst_error error = HDST_ERROR_INIT;
    pthread_t canceller;
    heap.failed = false;
    heap.for_good = starves && !strcmp(w[3], "late");
    if (starves) heap.until_failure = (long)amount(w[4]);
    if (cancels) {
        cancel_after = (long)amount(w[4]), run_is_over = false;
        if (pthread_create(&canceller, NULL, cancel, NULL)) give_up("no thread", "");
    }
    hdst_status status = hdst_run(a->result, &error);
    heap.until_failure = -1;
    heap.for_good = false;
    if (cancels) {
        run_is_over = true;
        pthread_join(canceller, NULL);
    }
    tell_rows(a, status, &error, w[2]);
}

static void do_also(char **w)
{
    answer other = {.result = all.answer[number(w[1])].result, .row_bytes = amount(w[3])};
    hdst_error error = HDST_ERROR_INIT;
    snprintf(other.table, sizeof other.table, "%s", w[2]);
    tell_rows(&other, HDST_OK, &error, w[4]);
}

static void do_together(char **w)
{
    const long cancelled = strtol(w[1], NULL, 10);
    hdst_job *job[MOST_JOBS];
    long jobs = 0;
    heap.failed = false;
    for (; w[3 + 2 * jobs] && jobs < MOST_JOBS; jobs++) job[jobs] = hdst_run_async(all.answer[number(w[3 + 2 * jobs])].result);
    if (cancelled >= 0 && cancelled < jobs) {
        usleep((useconds_t)amount(w[2]));
        hdst_job_cancel(job[cancelled]);
    }
    hdst_status status[MOST_JOBS];
    hdst_error error[MOST_JOBS];
    for (long i = 0; i < jobs; i++) {
        error[i] = (hdst_error)HDST_ERROR_INIT;
        status[i] = hdst_job_wait(job[i], -1, NULL, &error[i]);
        hdst_job_destroy(job[i]);
    }
    for (long i = 0; i < jobs; i++) tell_rows(&all.answer[number(w[3 + 2 * i])], status[i], &error[i], w[4 + 2 * i]);
}

static void do_explain(char **w)
{
    const char *text = hdst_explain(all.answer[number(w[1])].result, NULL);
    for (const char *c = text; *c; c++) putchar(*c == '\n' ? '|' : *c);
    putchar('\n');
}

static void do_uncache(char **w) { hdst_uncache(all.dataset[number(w[1])]); }
static void do_peak(char **w) { (void)w, printf("peak %ld %ld\n", (long)heap.peak, (long)heap.used); }
static void do_end(char **w)
{
    (void)w;
    end_context();
    printf("end %ld %ld %ld\n", (long)heap.blocks, (long)heap.used, (long)heap.peak);
}

static void do_read(char **w) { all.dataset[number(w[1])] = hdst_read(all.source[number(w[2])], all.module, w[3]); }
static void do_read_value(char **w) { all.dataset[number(w[1])] = hdst_read_value(all.value[number(w[2])]); }

static const struct { const char *name; void (*obey)(char **w); size_t words; } commands[] = {
    {"context", do_context, 4}, {"module", do_module, 2}, {"memory", do_memory, 5}, {"callback", do_memory, 5}, {"uncounted", do_memory, 5},
    {"raw", do_file, 3}, {"lines", do_file, 3}, {"text", do_file, 3}, {"change", do_change, 3}, {"value", do_value, 3}, {"set", do_set, 4},
    {"read", do_read, 4}, {"read_value", do_read_value, 3}, {"spec", do_spec, 3}, {"bind_value", do_bind_value, 4}, {"bind_lookup", do_bind_lookup, 5},
    {"bind_accum", do_bind_accum, 4}, {"loop", do_loop, 8}, {"delta", do_loop, 10}, {"uncache", do_uncache, 2}, {"result", do_result, 5},
    {"drop", do_drop, 2}, {"run", do_run, 3}, {"also", do_also, 5}, {"together", do_together, 5},
    {"explain", do_explain, 2}, {"peak", do_peak, 1}, {"end", do_end, 1},
};

static void obey(char **w, size_t words)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(w[0], commands[i].name)) continue;
        if (words < commands[i].words) give_up("too few words behind", w[0]);
        commands[i].obey(w);
        return;
    }
    operate(w, words);
}

int main(void)
{
    static char line[LONGEST_LINE];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        char *word[MOST_WORDS + 2] = {NULL};
        size_t words = 0;
        for (char *w = strtok(line, " \n"); w && words < MOST_WORDS; w = strtok(NULL, " \n")) word[words++] = w;
        if (words) obey(word, words);
    }
    end_context();
    return 0;
}
