// SPDX-License-Identifier: Apache-2.0
// Sorting on an OpenCL device (shuffle/sort/sort_device.h).
#include "shuffle/sort/sort_device.h"

#include "engine/engine.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"
#include "engine/device/library_kernel.h"
#include "shuffle/sort/sort_kernels.h"

#include <string.h>

enum { DIGITS = 256 };

static const char what[] = "kernels of a sort";

typedef struct pass_program {       // of a word, by where keys come from and whether it is the word's last pass
    struct pass_program *next;
    hdst__sort_word word;
    hdst__sort_source source;
    bool last, large;
    hdst__kernel kernel[2];
    hdst__program *count, *move;
} pass_program;

struct hdst__device_sort {
    hdst__device *device;
    const hdst__record *record;
    const hdst__sort_field *fields;
    size_t field_count;
    hdst__arena arena;              // of the kernels' texts
    bool gpu;
    bool pairs;                     // an index moves with the keys
    bool by_hash;                   // of all fields
    bool large;                     // of this run: a GPU's tiles
    uint64_t large_least;
    uint32_t groups;                // of this run
    uint32_t passes;
    pass_program *programs;
    hdst__kernel kernel[2];
    hdst__program *scan, *gather;
    hdst__memory *counters, *masks, *state, *key[2], *index[2];
};

hdst__device_sort *hdst__device_sort_create(hdst__device *device, const hdst__record *record, const hdst__sort_field *fields, size_t count,
                                           uint64_t large_least)
{
    hdst__device_sort *sort = hdst__alloc_zero(device->runtime->allocator, sizeof *sort);
    if (!sort) return NULL;
    hdst__sort_word word;
    const size_t left = hdst__sort_word_of(fields, count, &word);
    sort->device = device;
    sort->record = record;
    sort->fields = fields;
    sort->field_count = count;
    sort->large_least = large_least;
    sort->gpu = device->facts.target == HDST__TARGET_GPU;
    sort->pairs = left > 0 || !hdst__sort_is_key(record, &word);
    hdst__arena_init(&sort->arena, device->runtime->allocator, NULL);
    return sort;
}

void hdst__device_sort_set_by_hash(hdst__device_sort *sort) { sort->by_hash = sort->pairs = true; }

// Returns how many of the fields are left.
static size_t word_of(const hdst__device_sort *sort, size_t left, hdst__sort_word *word)
{
    if (!sort->by_hash) return hdst__sort_word_of(sort->fields, left, word);
    hdst__sort_mixed_word_of(sort->fields, left, word);
    return 0;
}

static void release(hdst__device_sort *sort, hdst__memory **memory)
{
    sort->device->ops->release(sort->device, *memory);
    *memory = NULL;
}

void hdst__device_sort_rest(hdst__device_sort *sort)
{
    release(sort, &sort->counters);
    release(sort, &sort->masks);
    release(sort, &sort->state);
    for (int i = 0; i < 2; i++) {
        release(sort, &sort->key[i]);
        release(sort, &sort->index[i]);
    }
}

void hdst__device_sort_destroy(hdst__device_sort *sort)
{
    if (!sort) return;
    const hdst__device_ops *ops = sort->device->ops;
    for (pass_program *p = sort->programs; p; p = p->next) {
        ops->unload(sort->device, p->count);
        ops->unload(sort->device, p->move);
    }
    ops->unload(sort->device, sort->scan);
    ops->unload(sort->device, sort->gather);
    hdst__device_sort_rest(sort);
    hdst__arena_destroy(&sort->arena);
    hdst__free(sort->device->runtime->allocator, sort);
}

bool hdst__device_sort_can(const hdst__device_sort *sort, uint64_t records)
{
    const hdst__target_facts *facts = &sort->device->facts;
    if (!sort->device->ops->work || records >= UINT32_MAX / 4) return false;        // places on GPUs have 30 bits
    return !sort->gpu || (facts->max_group >= HDST__GPU_SORT_GROUP && facts->local_bytes >= HDST__GPU_SORT_LOCAL_BYTES);
}

static uint64_t key_bytes(const hdst__device_sort *sort)
{
    uint64_t widest = 4;
    for (size_t left = sort->field_count; left > 0;) {
        hdst__sort_word word;
        left = word_of(sort, left, &word);
        if (word.bits > 32) widest = 8;
    }
    return widest;
}

uint64_t hdst__device_sort_bytes(const hdst__device_sort *sort)
{
    return (sort->pairs ? 2 * (key_bytes(sort) + sizeof(uint32_t)) : key_bytes(sort)) + sort->gpu;      // a GPU's tiles keep less than a byte for each record
}

uint32_t hdst__device_sort_passes(const hdst__device_sort *sort) { return sort->passes; }
bool hdst__device_sort_moves_keys(const hdst__device_sort *sort) { return !sort->pairs; }

// --- Programs ---

static uint32_t lanes_of(const hdst__device_sort *sort) { return sort->gpu ? HDST__GPU_SORT_GROUP : 1; }
static uint64_t bytes_of(const hdst__sort_word *word) { return word->bits > 32 ? 8 : 4; }

typedef struct new_pass {
    const hdst__device_sort *sort;
    const hdst__sort_word *word;
    hdst__sort_source source;
    bool last;
    const hdst__sort_tile *tile;        // a GPU's
    pass_program **program;             // made with its text
} new_pass;

static void write_pass(hdst__writer *out, const void *user)
{
    const new_pass *pass = user;
    hdst__sort_pass_text(out, pass->sort->record, pass->word, pass->source, pass->sort->pairs, pass->last, pass->tile);
    *pass->program = HDST__NEW(out->arena, pass_program);
}

static hdst_status find_program(hdst__device_sort *sort, const hdst__sort_word *word, hdst__sort_source source, bool last, pass_program **out,
                                hdst_error *error)
{
    for (pass_program *p = sort->programs; p; p = p->next)
        if (p->word.fields == word->fields && p->source == source && p->last == last && p->large == sort->large) {
            *out = p;
            return HDST_OK;
        }
    const hdst__sort_tile tile = hdst__sort_tile_of(bytes_of(word), sort->large);
    pass_program *p;
    const new_pass pass = {sort, word, source, last, sort->gpu ? &tile : NULL, &p};
    const char *text;
    hdst_status status = hdst__library_kernel_text(&sort->arena, write_pass, &pass, what, &text, error);
    if (status != HDST_OK) return status;
    *p = (pass_program){sort->programs, *word, source, last, sort->large};
    sort->programs = *out = p;
    status = hdst__library_kernel_load(sort->device, text, "sort_count", lanes_of(sort), &p->kernel[0], &p->count, error);
    return status == HDST_OK ? hdst__library_kernel_load(sort->device, text, "sort_move", sort->gpu ? tile.lanes : 1, &p->kernel[1], &p->move, error) : status;
}

static void write_gather(hdst__writer *out, const void *user)
{
    const hdst__device_sort *sort = user;
    hdst__sort_gather_text(out, sort->record, sort->gpu);
}

static hdst_status load_gather(hdst__device_sort *sort, hdst_error *error)
{
    if (sort->gather) return HDST_OK;
    const char *text;
    hdst_status status = hdst__library_kernel_text(&sort->arena, write_gather, sort, what, &text, error);
    if (status == HDST_OK) status = hdst__library_kernel_load(sort->device, text, "sort_scan", lanes_of(sort), &sort->kernel[0], &sort->scan, error);
    return status == HDST_OK ? hdst__library_kernel_load(sort->device, text, "sort_gather", lanes_of(sort), &sort->kernel[1], &sort->gather, error) : status;
}

// --- Memory ---

static hdst_status provide(hdst__device_sort *sort, hdst__memory **memory, uint64_t bytes, hdst_error *error)
{
    const hdst__device *device = sort->device;
    if (*memory && (*memory)->bytes >= bytes) return HDST_OK;
    release(sort, memory);
    const hdst__memory_kind kind = device->unified ? HDST__MEMORY_SHARED : HDST__MEMORY_DEVICE;
    hdst_status status = device->ops->alloc(sort->device, kind, HDST__OWNER_SORTS, bytes, "a sort", memory, error);
    return status == HDST_OK ? device->ops->to_device(sort->device, *memory, error) : status;
}

// Tiles of a GPU's pass over keys of so many bytes.
static uint64_t tiles_of(const hdst__device_sort *sort, uint64_t records, uint64_t bytes)
{
    const hdst__sort_tile tile = hdst__sort_tile_of(bytes, sort->large);
    const uint64_t keys = (uint64_t)tile.lanes * tile.rows;
    return (records + keys - 1) / keys;
}

static uint64_t state_words(uint64_t tiles) { return tiles * (DIGITS / 2) + 1; }     // of 64 bits: a half for each digit, and who comes next

static hdst_status provide_all(hdst__device_sort *sort, uint64_t records, hdst_error *error)
{
    const uint32_t units = sort->device->facts.compute_units;
    const uint64_t most = records / HDST__CPU_SORT_LEAST_STRIP + 1, each = key_bytes(sort),
        wanted = (uint64_t)units * (sort->gpu ? HDST__GPU_SORT_GROUPS_PER_UNIT : HDST__CPU_SORT_STRIPS_PER_UNIT);
    sort->groups = (uint32_t)(wanted < most ? wanted : most);
    hdst_status status = provide(sort, &sort->counters, (sort->gpu ? each : (uint64_t)sort->groups) * DIGITS * sizeof(uint32_t), error);
    if (status == HDST_OK && sort->gpu) status = provide(sort, &sort->state, state_words(tiles_of(sort, records, each)) * sizeof(uint64_t), error);
    if (status == HDST_OK) status = provide(sort, &sort->masks, (uint64_t)sort->groups * 2 * sizeof(uint64_t), error);
    for (int i = 0; i < (sort->pairs ? 2 : 1) && status == HDST_OK; i++) status = provide(sort, &sort->key[i], records * each, error);
    for (int i = 0; i < 2 && sort->pairs && status == HDST_OK; i++) status = provide(sort, &sort->index[i], records * sizeof(uint32_t), error);
    return status;
}

// --- Passes ---

typedef struct run {
    hdst__device_sort *sort;
    uint64_t records;
    const hdst__memory *input;
    hdst__memory *output;
    int index;                      // which holds the order so far; -1: the input's own
} run;

static hdst_status work(run *r, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, hdst_error *error)
{
    return r->sort->device->ops->work(r->sort->device, program, args, count, groups, lanes_of(r->sort), error);
}

// What a pass reads, as arguments: the records, an index, or keys of the pass before.
static size_t sources(const run *r, hdst__sort_source source, const hdst__memory *keys, hdst__work_arg *args)
{
    size_t n = 0;
    args[n++].memory = source == HDST__SORT_KEYS ? keys : r->input;
    if (source == HDST__SORT_INDEXED || (source == HDST__SORT_KEYS && r->sort->pairs)) args[n++].memory = r->sort->index[r->index];
    return n;
}

static hdst_status count_digits(run *r, const pass_program *p, const hdst__memory *keys, uint32_t shift, hdst_error *error)
{
    hdst__work_arg args[8] = {{.number = r->records}, {.number = shift}};
    size_t n = 2 + sources(r, p->source, keys, args + 2);
    args[n++].memory = r->sort->counters;
    args[n++].memory = r->sort->masks;
    return work(r, p->count, args, n, r->sort->groups, error);
}

// Places from counts: on a CPU device of each strip's digits, on a GPU of the digits of all bytes of a word.
static hdst_status scan(run *r, const hdst__sort_word *word, hdst_error *error)
{
    const hdst__device_sort *sort = r->sort;
    const uint64_t rows = !sort->gpu ? sort->groups : bytes_of(word);
    const hdst__work_arg args[] = {{.number = rows * DIGITS}, {.memory = sort->counters}};
    return work(r, sort->scan, args, 2, 1, error);
}

static hdst_status move(run *r, const pass_program *p, const hdst__memory *keys, const hdst__memory *to, uint32_t shift, hdst_error *error)
{
    hdst__device_sort *sort = r->sort;
    const uint64_t tiles = tiles_of(sort, r->records, bytes_of(&p->word));
    hdst__work_arg args[8] = {{.number = r->records}, {.number = shift}};
    size_t n = 2 + sources(r, p->source, keys, args + 2);
    args[n++].memory = sort->counters;
    if (sort->gpu) args[n++].memory = sort->state;
    if (to) args[n++].memory = to;
    const int next = r->index == 0;
    if (sort->pairs) args[n++].memory = sort->index[next];
    sort->passes++;
    hdst_status status = sort->gpu ? sort->device->ops->fill(sort->device, sort->state, state_words(tiles), 0, error) : HDST_OK;
    const uint64_t groups = sort->gpu ? tiles : sort->groups;
    const uint32_t lanes = sort->gpu ? hdst__sort_tile_of(bytes_of(&p->word), sort->large).lanes : 1;
    if (status == HDST_OK) status = sort->device->ops->work(sort->device, p->move, args, n, groups, lanes, error);
    if (sort->pairs) r->index = next;
    return status;
}

// The bits in which keys of the word differ, from the counting of its lowest digit.
static hdst_status read_masks(run *r, uint64_t *differ, hdst_error *error)
{
    hdst__device_sort *sort = r->sort;
    const uint64_t count = 2 * (uint64_t)sort->groups;
    uint64_t any = 0, all = ~(uint64_t)0, *masks = hdst__alloc(hdst__budget_owned(&sort->device->runtime->memory, HDST__OWNER_SORTS), count * sizeof *masks);
    if (!masks) return hdst__error_memory(error, "a sort");
    hdst_status status = sort->device->ops->read(sort->device, sort->masks, 0, masks, count * sizeof *masks, true, error);
    for (uint64_t i = 0; i < count && status == HDST_OK; i += 2) {
        any |= masks[i];
        all &= masks[i + 1];
    }
    hdst__free(sort->device->runtime->allocator, masks);
    *differ = any & ~all;
    return status;
}

// Where the next pass's digit begins, 64 when no pass is left. A GPU has counted the digits of whole bytes.
static uint32_t next_digit(const hdst__device_sort *sort, uint64_t differ, uint32_t from)
{
    if (from >= 64 || differ >> from == 0) return 64;
    const uint32_t at = from + (uint32_t)__builtin_ctzll(differ >> from);
    return sort->gpu ? at / 8 * 8 : at;
}

// Counts the word's lowest digit, on a GPU all digits.
static hdst_status survey(run *r, const hdst__sort_word *word, hdst__sort_source source, uint64_t *differ, hdst_error *error)
{
    hdst__device_sort *sort = r->sort;
    pass_program *p;
    hdst_status status = find_program(sort, word, source, false, &p, error);
    if (status == HDST_OK && sort->gpu) status = sort->device->ops->fill(sort->device, sort->counters, sort->counters->bytes / 8, 0, error);
    if (status == HDST_OK) status = count_digits(r, p, NULL, 0, error);
    if (status == HDST_OK && sort->gpu) status = scan(r, word, error);
    return status == HDST_OK ? read_masks(r, differ, error) : status;
}

static hdst_status wait(hdst__device *device, hdst_error *error)
{
    hdst__ticket ticket = {.notify = false};
    hdst_status status = device->ops->mark(device, &ticket, error);
    return status == HDST_OK ? device->ops->settle(device, &ticket, error) : status;
}

// Between passes on a CPU device, which take long enough that a wait costs nothing beside them: whether to go on.
static hdst_status pause(hdst__device_sort *sort, hdst_error *error)
{
    hdst_status status = wait(sort->device, error);
    return status == HDST_OK ? hdst__cancel_check(sort->device->runtime->cancel, 0, 0, error) : status;
}

// Passes over one word. Keys alone go back and forth between the output and the memory for keys, so that the last pass writes the output.
static hdst_status sort_word(run *r, const hdst__sort_word *word, hdst_error *error)
{
    hdst__device_sort *sort = r->sort;
    hdst__sort_source source = r->index < 0 ? HDST__SORT_RECORDS : HDST__SORT_INDEXED;
    const hdst__memory *keys = NULL;
    uint64_t differ;
    hdst_status status = survey(r, word, source, &differ, error);
    if (status != HDST_OK) return status;
    uint32_t left = 0, shift = next_digit(sort, differ, 0);
    bool counted = shift == 0;
    for (uint32_t s = shift; s < 64; s = next_digit(sort, differ, s + 8)) left++;
    for (; shift < 64 && status == HDST_OK; shift = next_digit(sort, differ, shift + 8), source = HDST__SORT_KEYS, counted = false) {
        const bool last = --left == 0;
        const hdst__memory *to = sort->pairs ? (last ? NULL : sort->key[keys == sort->key[0]]) : left % 2 ? sort->key[0] : r->output;
        pass_program *p;
        status = find_program(sort, word, source, last, &p, error);
        if (status == HDST_OK && !sort->gpu) status = pause(sort, error);
        if (status == HDST_OK && !sort->gpu && !counted) status = count_digits(r, p, keys, shift, error);
        if (status == HDST_OK && !sort->gpu) status = scan(r, word, error);
        if (status == HDST_OK) status = move(r, p, keys, to, shift, error);
        keys = to;
    }
    return status;
}

// Records to where they belong, or as they are when no pass was needed.
static hdst_status finish(run *r, hdst_error *error)
{
    hdst__device_sort *sort = r->sort;
    const uint64_t bytes = r->records * sort->record->size;
    if (sort->passes == 0) return sort->device->ops->copy(sort->device, r->output, 0, r->input, 0, bytes, error);
    if (!sort->pairs) return HDST_OK;
    const hdst__work_arg args[] = {{.number = r->records}, {.memory = r->input}, {.memory = sort->index[r->index]}, {.memory = r->output}};
    return work(r, sort->gather, args, 4, sort->gpu ? (uint64_t)sort->groups * 4 : sort->groups, error);
}

hdst_status hdst__device_sort_run(hdst__device_sort *sort, const hdst__memory *input, uint64_t records, hdst__memory *output, hdst_error *error)
{
    run r = {sort, records, input, output, -1};
    const hdst__target_facts *facts = &sort->device->facts;
    sort->passes = 0;
    sort->large = sort->gpu && !sort->pairs && records >= sort->large_least && facts->max_group >= HDST__GPU_SORT_LARGE_GROUP &&
        facts->local_bytes >= HDST__GPU_SORT_LARGE_LOCAL_BYTES;
    hdst_status status = provide_all(sort, records, error);
    if (status == HDST_OK) status = load_gather(sort, error);
    for (size_t left = sort->field_count; left > 0 && status == HDST_OK;) {
        hdst__sort_word word;
        left = word_of(sort, left, &word);
        status = sort_word(&r, &word, error);
    }
    if (status == HDST_OK && !sort->gpu) status = pause(sort, error);
    if (status == HDST_OK) status = finish(&r, error);
    if (status == HDST_OK) status = wait(sort->device, error);
    if (status != HDST_OK) {
        sort->device->ops->finish(sort->device);
        return status;
    }
    for (pass_program *p = sort->programs; p; p = p->next) sort->device->ops->proven(sort->device, p->move);
    sort->device->ops->proven(sort->device, sort->scan);
    return HDST_OK;
}
