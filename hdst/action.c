// SPDX-License-Identifier: Apache-2.0
// Actions that need no result object: each makes a plan, runs it, gives back what it took. Caches that are filled on the way stay filled.
#include "plan/join_node.h"
#include "plan/op_slice.h"
#include "plan/stage_node.h"

#include "engine/engine.h"
#include "io/write.h"
#include "base/costs_host.h"

#include <string.h>

// --- A plan for one run ---

typedef hdst_status (*plan_user)(hdst__plan *plan, const hdst__reader *records, void *user, hdst_error *error);

// *made: whether there is a plan that ran, well or not.
static hdst_status make_and_run(hdst__arena *arena, hdst_dataset *dataset, hdst__plan *plan, bool *made, hdst_error *error)
{
    const hdst_status status = hdst__plan_make(arena, dataset, plan, error);
    *made = status == HDST_OK;
    return *made ? hdst__plan_run(plan, error) : status;
}

static void forget(hdst__arena *arena, hdst__plan *plan)
{
    hdst__plan_release(plan);
    hdst__arena_destroy(arena);
    *plan = (hdst__plan){.may_run_again = true};
}

static hdst_status run_locked(hdst_dataset *dataset, plan_user use, void *user, hdst_error *error)
{
    hdst__plan plan = {.may_run_again = true};
    hdst__arena arena;
    bool made, goes_on = true;
    hdst__arena_init(&arena, HDST__ALLOCATOR(dataset), NULL);
    hdst__plan_begin_run(dataset->object.context, 0);
    hdst_status status = make_and_run(&arena, dataset, &plan, &made, error);
    while (status != HDST_OK && goes_on) {
        goes_on = made && hdst__plan_runs_otherwise(&plan, status);
        forget(&arena, &plan);
        goes_on = goes_on || hdst__plan_has_more_memory(dataset->object.context, status, NULL, error);
        if (!goes_on) break;
        *error = (hdst_error)HDST_ERROR_INIT;
        status = make_and_run(&arena, dataset, &plan, &made, error);
    }
    if (status == HDST_OK) status = use(&plan, &plan.target->reader, user, error);
    forget(&arena, &plan);
    return status;
}

// What an action runs, made of the dataset that it was given; to be dropped. A stand-in where there is no memory.
typedef hdst_dataset *(*derive)(hdst_dataset *from, const void *user);

// Runs the dataset, or what `make` makes of it (not NULL), and gives its records to `use`. One lock around all: a cancel concerns what happens
// between two of them.
static hdst_status run_derived(hdst_dataset *dataset, derive make, const char *what, plan_user use, void *user, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    *error = (hdst_error)HDST_ERROR_INIT;
    hdst_status status = hdst__check_alive(what, "dataset", dataset, error);
    if (status != HDST_OK) return status;
    hdst_context *context = dataset->object.context;
    hdst__lock(context);
    status = hdst__dataset_has_records(dataset, what, error);
    hdst_dataset *run = status == HDST_OK && make ? make(dataset, user) : dataset;
    if (status == HDST_OK) status = hdst__object_status(&run->object, error);
    if (status == HDST_OK) status = run_locked(run, use, user, error);
    if (run != dataset) hdst__object_drop(&run->object);
    hdst__explain_memory(context, error);
    hdst__unlock(context);
    return status;
}

static hdst_status run_for(hdst_dataset *dataset, const char *what, plan_user use, void *user, hdst_error *error)
{
    return run_derived(dataset, NULL, what, use, user, error);
}

// --- Taking records ---

static hdst_status copy_batches(const hdst__plan *plan, const hdst__reader *reader, uint64_t first, uint64_t count,
                                const hdst__storage *storage, void *rows, hdst_error *error)
{
    const uint64_t batch = HDST__HOST_BATCH_BYTES / reader->record->size + 1;
    hdst__thread_pool *threads = hdst__engine_threads(plan->context->engine);
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK; done += batch) {
        status = hdst__cancel_check(&plan->context->cancel, done, count, error);
        const uint64_t part = count - done < batch ? count - done : batch;
        if (status == HDST_OK) status = hdst__reader_fill(reader, threads, first + done, part, storage, &rows, done, error);
    }
    return status;
}

static hdst_status copy_rows(hdst__plan *plan, const hdst__reader *reader, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    if (count == 0) return HDST_OK;
    hdst__arena_init(&arena, &plan->context->allocator, &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records");
    } else {
        const hdst__storage *storage = hdst__storage_make(&arena, reader->record, HDST__AOS, 0, count);
        status = storage ? copy_batches(plan, reader, first, count, storage, rows, error) : hdst__error_memory(error, "records");
    }
    hdst__arena_destroy(&arena);
    return status;
}

typedef struct taking {
    uint64_t first, count, taken;
    bool all;                   // of them must be there
    void *rows;
} taking;

static hdst_status too_many(const taking *t, uint64_t records, hdst_error *error)
{
    hdst__error_set(error, HDST_E_USAGE, "%llu record%s from number %llu on are asked for, there are %llu in all",
                    (unsigned long long)t->count, t->count == 1 ? "" : "s",
                    (unsigned long long)t->first, (unsigned long long)records);
    hdst__error_hint(error, "records count from 0; hdst_count says how many there are, and hdst_slice takes as many as there are");
    return HDST_E_USAGE;
}

static hdst_status take(hdst__plan *plan, const hdst__reader *records, void *user, hdst_error *error)
{
    taking *t = user;
    uint64_t left = t->first < records->records ? records->records - t->first : 0;
    if (t->all && (t->first > records->records || t->count > left))
        return too_many(t, records->records, error);
    t->taken = t->count < left ? t->count : left;
    return copy_rows(plan, records, t->first, t->taken, t->rows, error);
}

hdst_status hdst_dataset_take(hdst_dataset *dataset, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    taking t = {.first = first, .count = count, .all = true, .rows = rows};
    if (count && hdst__check_pointer(__func__, "rows", rows, error) != HDST_OK) return HDST_E_USAGE;
    return run_for(dataset, "hdst_dataset_take", take, &t, error);
}

static hdst_dataset *first_records(hdst_dataset *from, const void *user)
{
    return hdst__dataset_slice(from, 0, ((const taking *)user)->count);
}

hdst_status hdst_take(hdst_dataset *dataset, uint64_t count, void *rows, uint64_t *taken, hdst_error *error)
{
    taking t = {.count = count, .rows = rows};
    if (taken) *taken = 0;
    hdst_status status = count ? hdst__check_pointer(__func__, "rows", rows, error) : HDST_OK;
    if (status == HDST_OK) status = run_derived(dataset, first_records, "hdst_take", take, &t, error);
    if (taken && status == HDST_OK) *taken = t.taken;
    return status;
}

// A copy that is the caller's. Where it is a file that is read like memory, the context knows it by its address.
static hdst_status collect(hdst__plan *plan, const hdst__reader *records, void *user, hdst_error *error)
{
    hdst__rows *rows = user;
    hdst_context *context = plan->context;
    hdst__run_stats ignored = {0};
    hdst_status status = hdst__rows_read_all(hdst__engine_runtime(context->engine), records, true, rows, &ignored, error);
    if (status != HDST_OK || !rows->mapped) return status;
    hdst__rows *grown = hdst__realloc(&context->allocator, context->mapped, (context->mapped_count + 1) * sizeof *grown);
    if (!grown) {
        hdst__rows_free(hdst__engine_runtime(context->engine), rows);
        return hdst__error_memory(error, "records");
    }
    context->mapped = grown;
    context->mapped[context->mapped_count++] = *rows;
    return HDST_OK;
}

hdst_status hdst_collect(hdst_dataset *dataset, void **rows, uint64_t *count, hdst_error *error)
{
    hdst__rows all = {0};
    if (rows) *rows = NULL;
    if (count) *count = 0;
    hdst_status status = hdst__check_pointer(__func__, "rows", rows, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "count", count, error);
    if (status != HDST_OK) return status;
    status = run_for(dataset, "hdst_collect", collect, &all, error);
    *rows = status == HDST_OK ? all.records : NULL;
    *count = status == HDST_OK ? all.count : 0;
    return status;
}

void hdst_rows_destroy(hdst_context *context, void *rows)
{
    if (!context || !context->object.context || !rows) return;
    hdst__lock(context);
    size_t i = 0;
    while (i < context->mapped_count && context->mapped[i].records != rows) i++;
    if (i == context->mapped_count) {
        hdst__free(&context->allocator, rows);
    } else {
        hdst__rows_free(hdst__engine_runtime(context->engine), &context->mapped[i]);
        context->mapped[i] = context->mapped[--context->mapped_count];
    }
    hdst__unlock(context);
}

// --- Counting ---

static hdst_status read_count(hdst__plan *plan, const hdst__reader *records, void *user, hdst_error *error)
{
    (void)error;
    const hdst__node *target = plan->target;
    if (target->dataset->op->gives == HDST__GIVES_NONE) memcpy(user, target->tables[target->table_count - 1].rows, sizeof(uint64_t));
    else *(uint64_t *)user = records->records;
    return HDST_OK;
}

// A map makes one record of each, unless those that fail are left out, and a sort changes none, so what they make is not computed to be counted. What
// a cache holds is computed.
static hdst_dataset *same_count(hdst_dataset *dataset)
{
    const bool may_leave_out = hdst__engine_settings(dataset->object.context->engine)->skip_failed;
    while (dataset->op->gives == HDST__GIVES_EACH && !dataset->op->below && !(dataset->spec && may_leave_out)) dataset = dataset->parent;
    return dataset;
}

// Pairs of a join that can be a lookup are counted as they are found, so that neither side is ordered for it.
static bool is_counted(const hdst_dataset *dataset)
{
    return hdst__join_looks_up(dataset) || (dataset->op->lower && dataset->op->gives != HDST__GIVES_OTHERS);
}

static hdst_dataset *counting(hdst_dataset *from, const void *user)
{
    (void)user;
    return hdst__dataset_new(from->object.context, &hdst__op_count, from);
}

hdst_status hdst_count(hdst_dataset *dataset, uint64_t *count, hdst_error *error)
{
    hdst_status status = hdst__check_pointer(__func__, "count", count, error);
    if (status != HDST_OK) return status;
    *count = 0;
    if (!dataset || dataset->object.error || !dataset->record) return run_for(dataset, "hdst_count", read_count, count, error);
    dataset = same_count(dataset);
    return run_derived(dataset, is_counted(dataset) ? counting : NULL, "hdst_count", read_count, count, error);
}

// --- Saving ---

// A record of one field is an array.
static hdst__file_writer *begin_npy(const hdst__allocator *allocator, const char *path, const hdst__record *record, uint64_t count, hdst_error *error)
{
    if (record->leaf_count != 1 || record->has_text) return hdst__records_npy.begin(allocator, path, record, count, error);
    const hdst__leaf *leaf = &record->leaves[0];
    uint64_t shape[HDST__LEAF_DIMS + 1] = {count};
    for (uint32_t d = 0; d < leaf->dims; d++) shape[d + 1] = leaf->dim[d].count;
    return hdst__npy_begin(allocator, path, leaf->kind, shape, leaf->dims + 1, error);
}

static void add_npy(hdst__file_writer *writer, const hdst__record *record, const void *rows, uint64_t count)
{
    hdst__records_npy.add(writer, record, rows, count);
}

static const hdst__record_format npy = {begin_npy, add_npy};

// NULL: there is no such format.
static const hdst__record_format *format_of(const char *path)
{
    static const struct { const char *ending; const hdst__record_format *format; } formats[] = {
        {".npy", &npy}, {".csv", &hdst__records_csv}, {".tsv", &hdst__records_tsv}, {".txt", &hdst__records_lines},
        {".raw", &hdst__records_raw}, {".bin", &hdst__records_raw}};
    size_t length = strlen(path);
    if (!strcmp(path, "-")) return &npy;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (length > 4 && !strcmp(path + length - 4, formats[i].ending)) return formats[i].format;
    return NULL;
}

typedef struct saving {
    const char *path;
    const hdst__record_format *format;
    const hdst__record *record;
    hdst__file_writer *writer;
} saving;

static hdst_status save_piece(void *user, const void *rows, uint64_t count, hdst_error *error)
{
    const saving *s = user;
    s->format->add(s->writer, s->record, rows, count);
    return hdst__file_writer_add(s->writer, "", 0, error);      // which tells what failed
}

static hdst_status save(hdst__plan *plan, const hdst__reader *records, void *user, hdst_error *error)
{
    saving *s = user;
    const hdst__allocator *allocator = &plan->context->allocator;
    const hdst__node *target = plan->target;
    if (hdst__node_stage(target) || target->rows)
        return hdst__records_write(s->format, allocator, s->path, records->record, target->rows, records->records, error);
    s->record = records->record;
    s->writer = s->format->begin(allocator, s->path, records->record, records->records, error);
    if (!s->writer) return error->code;
    hdst_status status = hdst__rows_stream(hdst__engine_runtime(plan->context->engine), records, save_piece, s, &plan->stats, error);
    if (status == HDST_OK) return hdst__file_writer_commit(s->writer, error);
    hdst__file_writer_abandon(s->writer);
    return status;
}

hdst_status hdst_save(hdst_dataset *dataset, const char *path, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    hdst_status status = hdst__check_alive(__func__, "dataset", dataset, error);
    if (status == HDST_OK) status = hdst__check_pointer(__func__, "path", path, error);
    if (status != HDST_OK) return status;
    saving s = {.path = path, .format = format_of(path)};
    if (s.format) return run_for(dataset, "hdst_save", save, &s, error);
    hdst__error_set(error, HDST_E_USAGE, "'%s' names no format that records can be saved in", path);
    hdst__error_hint(error, "end the name in .npy, .csv, .tsv, .txt (records that are one text), or .raw (the bytes of the C structs)");
    return HDST_E_USAGE;
}
