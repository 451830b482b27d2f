// SPDX-License-Identifier: Apache-2.0
// Records in the order of parts that the program names for them, those of a part in input order
// (shuffle/group/repartition.h).
#include "shuffle/group/repartition.h"

#include "engine/engine.h"
#include "shuffle/sort/sort.h"
#include "base/costs_host.h"

#include <inttypes.h>
#include <string.h>

struct hdst__repartition {
    hdst__engine *engine;
    hdst__arena arena;
    const hdst__record *record;         // as C structs
    const hdst__record *numbered;       // {uint32_t part; the record}
    uint64_t value_at;                  // of the record in it
    uint64_t parts;
    hdst__sort *sort;
    hdst__run_stats stats;
    uint64_t *counts;                   // of each part, and last of the records that have none
    uint64_t seen;                      // numbers, so far
    uint64_t bad_record;
    uint32_t bad_number;
    const hdst__reader *records, *numbers;      // in a run
    const hdst__storage *record_piece, *number_piece, *numbered_piece;      // of a few records each
    char *record_memory, *numbered_memory;
    uint32_t *number_memory;
};

static const hdst__record *add_number(hdst__arena *arena, const hdst__record *record, const char **why)
{
    hdst__record *numbered = HDST__NEW(arena, hdst__record);
    hdst__field *fields = HDST__NEW_ARRAY(arena, hdst__field, 2);
    fields[0] = (hdst__field){.name = "part", .type = hdst__type_scalar(HDST__U32)};
    fields[1] = (hdst__field){.name = "record", .type = hdst__type_record(arena, record)};
    numbered->name = "record behind its part";
    numbered->fields = fields;
    numbered->field_count = 2;
    return hdst__record_finish(arena, numbered, why) ? numbered : NULL;
}

static bool make_pieces(hdst__repartition *p)
{
    const uint64_t share = hdst__budget_left(hdst__engine_memory(p->engine)) / HDST__HOST_REPARTITION_PIECE_SHARE,
        fit = (share < HDST__HOST_REPARTITION_PIECE_BYTES ? share : HDST__HOST_REPARTITION_PIECE_BYTES) / p->numbered->size + 1;
    p->record_piece = hdst__storage_make(&p->arena, p->record, HDST__AOS, 0, fit);
    p->numbered_piece = hdst__storage_make(&p->arena, p->numbered, HDST__AOS, 0, fit);
    if (!p->record_piece || !p->numbered_piece) return false;
    p->record_memory = hdst__arena_alloc(&p->arena, fit * p->record->size);
    p->numbered_memory = hdst__arena_alloc(&p->arena, fit * p->numbered->size);
    p->number_memory = HDST__NEW_ARRAY(&p->arena, uint32_t, fit);
    p->counts = HDST__NEW_ARRAY(&p->arena, uint64_t, p->parts + 1);
    memset(p->numbered_memory, 0, fit * p->numbered->size);     // padding is nobody's secret when it goes to a file
    return true;
}

hdst__repartition *hdst__repartition_create(hdst__engine *engine, const hdst__record *record, uint64_t parts, const char **why)
{
    static const hdst__sort_key by_part = {.leaf = 0};
    jmp_buf out_of_memory;
    *why = NULL;
    hdst__repartition *p = hdst__alloc_zero(hdst__engine_owned(engine, HDST__OWNER_SORTS), sizeof *p);
    if (!p) return NULL;
    p->engine = engine;
    p->record = record;
    p->parts = parts;
    hdst__arena_init(&p->arena, hdst__engine_owned(engine, HDST__OWNER_SORTS), &out_of_memory);
    if (setjmp(out_of_memory) || !(p->numbered = add_number(&p->arena, record, why)) || !make_pieces(p) ||
        !(p->sort = hdst__sort_create(engine, p->numbered, &by_part, 1))) {
        hdst__repartition_destroy(p);
        return NULL;
    }
    p->value_at = p->numbered->fields[1].offset;
    p->arena.out_of_memory = NULL;
    return p;
}

void hdst__repartition_forget(hdst__repartition *p) { hdst__sort_forget(p->sort); }

void hdst__repartition_destroy(hdst__repartition *p)
{
    if (!p) return;
    hdst__sort_destroy(p->sort);
    hdst__arena_destroy(&p->arena);
    hdst__free(hdst__engine_owned(p->engine, HDST__OWNER_SORTS), p);
}

void hdst__repartition_bad(const hdst__repartition *p, uint64_t *record, uint32_t *number)
{
    *record = p->bad_record;
    *number = p->bad_number;
}

const uint64_t *hdst__repartition_counts(const hdst__repartition *p) { return p->counts; }
const hdst__run_stats *hdst__repartition_stats(const hdst__repartition *p) { return &p->stats; }

// --- Counting ---

static hdst_status count_numbers(void *user, const void *records, uint64_t count, hdst_error *error)
{
    hdst__repartition *p = user;
    const uint32_t *number = records;
    for (uint64_t i = 0; i < count; i++) {
        const bool bad = number[i] >= p->parts;
        p->counts[bad ? p->parts : number[i]]++;
        if (!bad || p->bad_record != UINT64_MAX) continue;
        p->bad_record = p->seen + i;
        p->bad_number = number[i];
        if (!hdst__engine_settings(p->engine)->skip_failed) return hdst__error_set(error, HDST_E_RECORD, "no such part");
    }
    p->seen += count;
    return HDST_OK;
}

// --- Sorting ---

// A few records behind their numbers. Those without a part come last.
static hdst_status fill_piece(hdst__repartition *p, uint64_t first, uint64_t count, char *to, hdst_error *error)
{
    void *record_buffers[] = {p->record_memory}, *number_buffers[] = {p->number_memory};
    hdst_status status = p->records->fill(p->records->user, first, count, p->record_piece, record_buffers, 0, error);
    if (status == HDST_OK) status = p->numbers->fill(p->numbers->user, first, count, p->number_piece, number_buffers, 0, error);
    if (status == HDST_OK) status = hdst__cancel_check(hdst__engine_cancel(p->engine), first, p->records->records, error);
    const uint64_t size = p->record->size, step = p->numbered->size;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        const uint32_t number = p->number_memory[i] < p->parts ? p->number_memory[i] : (uint32_t)p->parts;
        memset(to + i * step, 0, step);
        memcpy(to + i * step, &number, sizeof number);
        memcpy(to + i * step + p->value_at, p->record_memory + i * size, size);
    }
    return status;
}

static hdst_status fill_numbered(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                 uint64_t to_first, hdst_error *error)
{
    hdst__repartition *p = user;
    const uint64_t most = p->numbered_piece->capacity, step = storage->record->size;    // only ever read as AoS: the reader says so
    hdst_status status = HDST_OK;
    for (uint64_t done = 0; done < count && status == HDST_OK; done += most)
        status = fill_piece(p, first + done, count - done < most ? count - done : most, (char *)buffers[0] + (to_first + done) * step, error);
    return status;
}

static hdst_status sort_records(hdst__repartition *p, const hdst__reader *records, const hdst__reader *numbers, hdst_error *error)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, hdst__engine_owned(p->engine, HDST__OWNER_SORTS), &out_of_memory);
    hdst_status status;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "records in parts");
    } else {
        const hdst__reader input = {fill_numbered, p, records->records, p->numbered, HDST__AOS, 0,
                                    .on_device = records->on_device || numbers->on_device};
        p->records = records;
        p->numbers = numbers;
        p->number_piece = hdst__storage_make(&arena, numbers->record, HDST__AOS, 0, p->numbered_piece->capacity);
        status = p->number_piece ? hdst__sort_run(p->sort, &input, NULL, NULL, false, error) : hdst__error_memory(error, "records in parts");
    }
    hdst__arena_destroy(&arena);
    p->records = p->numbers = NULL;
    p->number_piece = NULL;
    return status;
}

hdst_status hdst__repartition_run(hdst__repartition *p, const hdst__reader *records, const hdst__reader *numbers, hdst_error *error)
{
    p->stats = (hdst__run_stats){0};
    memset(p->counts, 0, (p->parts + 1) * sizeof *p->counts);
    p->seen = 0;
    p->bad_record = UINT64_MAX;
    if (numbers->records != records->records)
        return hdst__error_set(error, HDST_E_RECORD, "%" PRIu64 " of %" PRIu64 " records have no part, as their function failed",
                               records->records - numbers->records,
                               records->records);
    hdst_status status = hdst__rows_stream(hdst__engine_runtime(p->engine), numbers, count_numbers, p, &p->stats, error);
    if (status == HDST_OK) status = sort_records(p, records, numbers, error);
    const hdst__run_stats *sorted = hdst__sort_stats(p->sort);
    p->stats.records = sorted->records;
    p->stats.skipped = p->counts[p->parts];
    p->stats.read_seconds += sorted->read_seconds;
    p->stats.run_seconds += sorted->run_seconds;
    p->stats.total_seconds += sorted->total_seconds;
    return status;
}

// --- The result ---

static hdst_status fill_partitioned(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                               uint64_t to_first, hdst_error *error)
{
    hdst__repartition *p = user;
    const hdst__reader sorted = hdst__sort_reader(p->sort);
    const uint64_t most = p->numbered_piece->capacity, size = p->record->size;
    void *pieces[] = {p->numbered_memory};
    const void *rows[] = {p->record_memory};
    hdst_status status = HDST_OK;
    for (uint64_t done = 0, part; done < count && status == HDST_OK; done += part) {
        part = count - done < most ? count - done : most;
        status = sorted.fill(sorted.user, first + done, part, p->numbered_piece, pieces, 0, error);
        for (uint64_t i = 0; i < part; i++) memcpy(p->record_memory + i * size, p->numbered_memory + i * p->numbered->size + p->value_at, size);
        if (status == HDST_OK) hdst__storage_copy(storage, buffers, to_first + done, p->record_piece, rows, 0, part);
    }
    return status;
}

hdst__reader hdst__repartition_reader(hdst__repartition *p)
{
    return (hdst__reader){fill_partitioned, p, p->seen - p->counts[p->parts], p->record, HDST__AOS, 0, true,
                          .on_device = hdst__sort_reader(p->sort).on_device};
}

void hdst__repartition_explain(const hdst__repartition *p, hdst__buffer *out)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t i = 0; i < p->parts; i++) {
        if (p->counts[i] < least) least = p->counts[i];
        if (p->counts[i] > most) most = p->counts[i];
    }
    hdst__buffer_printf(out, "  last run: %" PRIu64 " parts of %" PRIu64 " to %" PRIu64 " records\n", p->parts, least, most);
    hdst__sort_explain(p->sort, out);
}
