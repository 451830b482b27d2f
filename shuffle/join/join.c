// SPDX-License-Identifier: Apache-2.0
// Joins (shuffle/join/join.h).
#include "shuffle/join/join.h"

#include "base/clock.h"
#include "base/costs_host.h"
#include "shuffle/join/join_filter.h"
#include "shuffle/join/join_walk.h"

#include <inttypes.h>

struct hdst__join {
    hdst__engine *engine;
    hdst__join_spec spec;
    uint64_t has[2];                // where a pair says whether it has the record; UINT64_MAX: nowhere
    hdst__join_side side[2];
    hdst__join_walk walk;
    // Places on the way, `each` results or more apart: who reads results begins at the one before.
    hdst__join_place *place;
    uint64_t places, each;
    uint64_t results;
    uint64_t read[2];               // records of the sides in the last run
    int filtered;                   // the side of which only records were ordered that may have a partner; -1: neither
    uint64_t ordered;               // how many
    bool held;                      // results can be read
    bool kept[2];                   // sides that were ordered by an earlier run
    hdst__run_stats stats;
};

// --- The object ---

static void find_flags(hdst__join *join)
{
    size_t field = 2;
    join->has[0] = join->has[1] = UINT64_MAX;
    for (int i = 0; i < 2 && join->spec.kind == HDST__JOIN_PAIRS; i++)
        if (join->spec.optional[i]) join->has[i] = join->spec.result->fields[field++].offset;
}

hdst__join *hdst__join_create(hdst__engine *engine, const hdst__join_spec *spec, hdst_error *error)
{
    const hdst__allocator *allocator = hdst__engine_owned(engine, HDST__OWNER_SORTS);
    hdst__join *join = hdst__alloc_zero(allocator, sizeof *join);
    if (!join) {
        hdst__error_memory(error, "a join");
        return NULL;
    }
    join->engine = engine;
    join->spec = *spec;
    find_flags(join);
    const bool pairs = spec->kind == HDST__JOIN_PAIRS;
    join->walk = (hdst__join_walk){.left = &join->side[0], .right = &join->side[1], .pairs = pairs, .partners = spec->kind != HDST__JOIN_ANTI,
                                   .left_alone = spec->kind == HDST__JOIN_ANTI || (pairs && spec->optional[1]), .right_alone = pairs && spec->optional[0]};
    hdst_status status = HDST_OK;
    for (int i = 0; i < 2 && status == HDST_OK; i++)
        status = hdst__join_side_init(&join->side[i], engine, spec->record[i], spec->key[i], spec->key_count, error);
    if (status == HDST_OK) return join;
    hdst__join_destroy(join);
    return NULL;
}

static void forget_places(hdst__join *join)
{
    hdst__free(hdst__engine_owned(join->engine, HDST__OWNER_SORTS), join->place);
    join->place = NULL;
    join->places = 0;
}

void hdst__join_forget(hdst__join *join)
{
    for (int i = 0; i < 2; i++) hdst__join_side_forget(&join->side[i]);
    forget_places(join);
    join->held = false;
}

void hdst__join_destroy(hdst__join *join)
{
    if (!join) return;
    for (int i = 0; i < 2; i++) hdst__join_side_release(&join->side[i]);
    forget_places(join);
    hdst__free(hdst__engine_owned(join->engine, HDST__OWNER_SORTS), join);
}

const hdst__run_stats *hdst__join_stats(const hdst__join *join) { return &join->stats; }

// --- Counting ---

// Where there is no room for one more place every other one goes, and the next ones are twice as far apart.
static void note_place(hdst__join *join, const hdst__join_place *at)
{
    if (join->places && at->result - join->place[join->places - 1].result < join->each) return;
    if (join->places == HDST__HOST_JOIN_PLACES) {
        for (uint64_t i = 0; i < join->places / 2; i++) join->place[i] = join->place[2 * i];
        join->places /= 2;
        join->each *= 2;
    }
    join->place[join->places++] = *at;
}

static hdst_status count_results(hdst__join *join, hdst_error *error)
{
    hdst__join_place at = {0}, before = at;
    hdst__join_match run;
    bool overflow = false;
    uint64_t runs = 0;
    join->each = HDST__HOST_JOIN_PLACE_RESULTS;
    join->place = hdst__budget_alloc(hdst__engine_memory(join->engine), HDST__OWNER_SORTS, HDST__HOST_JOIN_PLACES * sizeof *join->place, "a join", error);
    if (!join->place) return HDST_E_MEMORY;
    for (; hdst__join_next(&join->walk, &at, &run, &overflow); before = at) {
        note_place(join, &before);
        if (++runs % HDST__HOST_CANCEL_RECORDS == 0 && hdst__cancel_asked(hdst__engine_cancel(join->engine))) break;
    }
    join->results = at.result;
    if (overflow) return hdst__error_set(error, HDST_E_USAGE, "a join of more than 2^64 pairs");
    return hdst__cancel_check(hdst__engine_cancel(join->engine), 0, 0, error);
}

// --- Sides ---

// The side, the larger one by far, whose records are of no use without a partner; -1: there is none.
static int choose_filtered(const hdst__join *join, const hdst__reader *const input[2])
{
    const int large = input[1]->records > input[0]->records;
    const bool alone = large ? join->walk.right_alone : join->walk.left_alone;
    return !alone && hdst__join_filter_pays(input[!large]->records, input[large]->records) ? large : -1;
}

// The small side is ordered.
static hdst_status order_filtered(hdst__join *join, const hdst__reader *input, hdst_error *error)
{
    hdst__join_filter filter;
    hdst__join_side *large = &join->side[join->filtered];
    bool kept;
    hdst_status status = hdst__join_filter_run(&filter, &join->side[!join->filtered], large, input, &kept, &join->stats, error);
    if (status != HDST_OK) return status;
    if (!kept) join->filtered = -1;
    const hdst__reader some = kept ? hdst__join_filter_reader(&filter) : *input;
    join->ordered = some.records;
    status = hdst__join_side_order(large, &some, &join->stats, error);
    hdst__join_filter_end(&filter);
    return status;
}

// A side of which only some were ordered last time, for the other one's sake, is of no use with others there. If it is the same again it is ordered in whole
// now, so that it need not be a third time.
static void choose_kept(hdst__join *join, const bool same[2])
{
    for (int i = 0; i < 2; i++) {
        join->kept[i] = join->held && same[i] && join->filtered != i;
        if (!join->kept[i]) hdst__join_side_forget(&join->side[i]);
    }
}

static hdst_status order_sides(hdst__join *join, const hdst__reader *const input[2], const bool same[2], hdst_error *error)
{
    const int before = join->filtered, large = choose_filtered(join, input);
    hdst_status status = HDST_OK;
    choose_kept(join, same);
    join->filtered = large >= 0 && !join->kept[large] && !(join->held && same[large] && before == large) ? large : -1;
    join->held = false;
    for (int i = 0; i < 2 && status == HDST_OK; i++)
        if (i != join->filtered && !join->kept[i]) status = hdst__join_side_order(&join->side[i], input[i], &join->stats, error);
    if (status == HDST_OK && join->filtered >= 0) status = order_filtered(join, input[large], error);
    for (int i = 0; i < 2; i++) join->read[i] = input[i]->records;
    join->walk.end_left = join->side[0].count;
    join->walk.end_right = join->side[1].count;
    return status;
}

static hdst_status order_and_count(hdst__join *join, const hdst__reader *const input[2], const bool same[2], hdst_error *error)
{
    forget_places(join);
    const hdst_status status = order_sides(join, input, same, error);
    return status == HDST_OK ? count_results(join, error) : status;
}

hdst_status hdst__join_run(hdst__join *join, const hdst__reader *const input[2], const bool same[2], hdst_error *error)
{
    const double start = hdst__now();
    hdst_status status = HDST_OK;
    join->stats = (hdst__run_stats){0};
    if (join->held && same[0] && same[1]) join->kept[0] = join->kept[1] = true;
    else status = order_and_count(join, input, same, error);
    join->stats.records = join->read[0] + join->read[1];
    join->stats.total_seconds = hdst__now() - start;
    if (status != HDST_OK) hdst__join_forget(join);
    join->held = status == HDST_OK;
    return status;
}

// --- Results ---

static void write_side(const hdst__join *join, int i, char *to, uint64_t row, bool there)
{
    const hdst__record *record = join->spec.record[i];
    char *at = to + join->spec.result->fields[i].offset;
    if (there) memcpy(at, hdst__join_row(&join->side[i], row), record->size);
    if (join->has[i] != UINT64_MAX) to[join->has[i]] = there;
}

// Result number `n` of a run.
static void write_result(const hdst__join *join, const hdst__join_match *run, uint64_t n, char *to)
{
    if (join->spec.kind != HDST__JOIN_PAIRS) {
        memcpy(to, hdst__join_row(&join->side[0], run->left + n), join->spec.result->size);
        return;
    }
    memset(to, 0, join->spec.result->size);
    const uint64_t rights = run->rights && run->lefts ? run->rights : 1;
    write_side(join, 0, to, run->left + n / rights, run->lefts);
    write_side(join, 1, to, run->right + (run->lefts ? n % rights : n), run->rights);
}

// The last place that is not behind the result.
static hdst__join_place place_before(const hdst__join *join, uint64_t result)
{
    uint64_t low = 0, high = join->places;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (join->place[middle].result <= result) low = middle;
        else high = middle;
    }
    return join->place[low];
}

static void write_results(const hdst__join *join, uint64_t first, uint64_t count, char *to)
{
    const uint64_t size = join->spec.result->size, end = first + count;
    hdst__join_place at = place_before(join, first);
    hdst__join_match run;
    bool overflow;
    for (uint64_t next = first; next < end && hdst__join_next(&join->walk, &at, &run, &overflow);)
        for (; next < end && next - run.first < run.results; next++, to += size) write_result(join, &run, next - run.first, to);
}

// For who wants no C structs: a few at a time.
static hdst_status write_scattered(const hdst__join *join, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                                   uint64_t to_first, hdst_error *error)
{
    const uint64_t fit = HDST__HOST_JOIN_PIECE_BYTES / join->spec.result->size + 1, most = count < fit ? count : fit;
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, hdst__engine_owned(join->engine, HDST__OWNER_SORTS), &out_of_memory);
    hdst_status status = HDST_OK;
    if (setjmp(out_of_memory)) {
        status = hdst__error_memory(error, "results of a join");
    } else {
        const hdst__storage *structs = hdst__storage_make(&arena, join->spec.result, HDST__AOS, 0, most);
        char *rows = hdst__arena_alloc(&arena, most * join->spec.result->size);
        const void *from[] = {rows};
        for (uint64_t done = 0, part; done < count; done += part) {
            part = count - done < most ? count - done : most;
            write_results(join, first + done, part, rows);
            hdst__storage_copy(storage, buffers, to_first + done, structs, from, 0, part);
        }
    }
    hdst__arena_destroy(&arena);
    return status;
}

static hdst_status fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first, hdst_error *error)
{
    const hdst__join *join = user;
    if (!count) return HDST_OK;
    if (storage->layout != HDST__AOS) return write_scattered(join, first, count, storage, buffers, to_first, error);
    write_results(join, first, count, (char *)buffers[0] + to_first * join->spec.result->size);
    return HDST_OK;
}

hdst__reader hdst__join_reader(hdst__join *join)
{
    return (hdst__reader){.fill = fill, .user = join, .records = join->results, .record = join->spec.result, .layout = HDST__AOS, .held = true,
                          .concurrent = true};
}

void hdst__join_explain(const hdst__join *join, hdst__buffer *out)
{
    hdst__buffer_printf(out, "  last run: %" PRIu64 " of %" PRIu64 " records (%s) and %" PRIu64 " (%s)\n", join->results, join->read[0],
                        join->side[0].way, join->read[1], join->side[1].way);
    static const char *const kept[] = {"the left side", "the right side", "both sides"};
    if (join->kept[0] || join->kept[1])
        hdst__buffer_printf(out, "  %s in the order in which an earlier run left them\n", kept[join->kept[0] && join->kept[1] ? 2 : join->kept[1]]);
    if (join->filtered < 0) return;
    hdst__buffer_printf(out, "  of the %s side only %" PRIu64 " records were ordered, whose hashes the other one has\n", join->filtered ? "right" : "left",
                        join->ordered);
}
