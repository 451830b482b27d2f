// SPDX-License-Identifier: Apache-2.0
// The records with the largest (or smallest) values of a field, picked while all records pass by
// (shuffle/sort/top_k.h).
#include "shuffle/sort/top_k.h"

#include "engine/engine.h"
#include "engine/stage/executor.h"
#include "record/key_field.h"
#include "shuffle/sort/radix_sort.h"
#include "base/clock.h"
#include "base/costs_host.h"

#include <string.h>

// Who holds the input may have some bytes beside each record; a cache has a copy of what it reads.
enum { BESIDE_RECORD = 8, HELD_TWICE = 2 };

void hdst__top_k_init(hdst__top_k *top, hdst__engine *engine, const hdst__record *record, uint32_t leaf, uint64_t element, uint64_t wanted, bool largest)
{
    *top = (hdst__top_k){.engine = engine, .record = record, .offset = hdst__leaf_offset(&record->leaves[leaf], element),
                         .kind = record->leaves[leaf].kind, .wanted = wanted, .largest = largest};
}

void hdst__top_k_release(hdst__top_k *top)
{
    if (!top->engine) return;
    hdst__free(hdst__engine_owned(top->engine, HDST__OWNER_SORTS), top->rows);
    hdst__text_heap_drop(top->texts);
    top->rows = NULL;
    top->texts = NULL;
    top->row_count = 0;
}

// --- Values ---

// The bits of a number of this kind; signed integers extended. Always inline, so that loops over many numbers know the kind.
static inline __attribute__((always_inline)) uint64_t bits_at(const char *at, hdst__kind kind)
{
    uint64_t wide;
    uint32_t word;
    switch (kind) {
    case HDST__I64: case HDST__U64: case HDST__F64: memcpy(&wide, at, sizeof wide); return wide;
    case HDST__U32: case HDST__F32: memcpy(&word, at, sizeof word); return word;
    case HDST__I32: memcpy(&word, at, sizeof word); return (uint64_t)(int64_t)(int32_t)word;
    default: return hdst__key_field_read(&(hdst__key_field){0, kind}, at);
    }
}

// Floats: the sign moved so that all bits count upward (Herf, "Radix tricks", 2001).
static inline __attribute__((always_inline)) uint64_t float_number(uint64_t bits, unsigned width)
{
    const uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1), magnitude = bits & (sign - 1), infinity = width == 32
        ? 0x7f800000 : 0x7ff0000000000000;
    if (magnitude > infinity) return 0;
    if (magnitude == 0) return sign;
    return bits & sign ? ~bits & all : bits | sign;
}

// The value as a number that grows with it; NaN is 0, and nothing else of the floats.
static inline __attribute__((always_inline)) uint64_t number_at(const char *at, hdst__kind kind)
{
    const uint64_t bits = bits_at(at, kind);
    if (kind == HDST__F32 || kind == HDST__F64) return float_number(bits, kind == HDST__F32 ? 32 : 64);
    return kind >= HDST__I8 && kind <= HDST__I64 ? bits ^ (uint64_t)1 << 63 : bits;
}

static hdst__text_span text_at(const char *at)
{
    hdst__text_span span;
    memcpy(&span, at, sizeof span);
    return span;
}

// The first 8 bytes, the first one highest; what is behind the end of the text is zero. So texts of equal numbers may differ.
static uint64_t text_number(const char *at)
{
    const hdst__text_span span = text_at(at);
    char start[sizeof(uint64_t)] = {0};
    uint64_t word;
    memcpy(start, hdst__text_bytes(&span), span.length < sizeof start ? span.length : sizeof start);
    memcpy(&word, start, sizeof word);
    return __builtin_bswap64(word);     // little-endian hosts
}

hdst__kind hdst__top_k_value_kind(const hdst__top_k *top) { return top->kind == HDST__TEXT ? HDST__U64 : top->kind; }

uint64_t hdst__top_k_value(const hdst__top_k *top, const char *row)
{
    return top->kind == HDST__TEXT ? text_number(row + top->offset) : hdst__key_field_read(&(hdst__key_field){top->offset, top->kind}, row);
}

// --- Candidates ---

typedef struct picking {
    hdst__top_k *top;
    hdst__radix_entry *entries, *scratch;   // keys are complements: the smallest is the best; index: the row's place in `rows`
    char *rows, *spare;
    uint64_t count, room;
    bool full;                      // `wanted` were found: from then on only better ones than the worst of them come in
    uint64_t worst;                 // its key
    const char *worst_row;
    hdst__text_writer texts;        // of the records in `rows`, with garbage of those that left
} picking;

static void swap_rows(picking *p)
{
    char *rows = p->rows;
    p->rows = p->spare;
    p->spare = rows;
}

static int compare_texts(const hdst__top_k *top, const char *a, const char *b)
{
    const hdst__text_span x = text_at(a + top->offset), y = text_at(b + top->offset);
    const int order = hdst__text_compare(&x, &y);
    return top->largest ? -order : order;
}

static int compare_tied(const void *user, uint64_t a, uint64_t b)
{
    const picking *p = user;
    const uint64_t size = p->top->record->size;
    return compare_texts(p->top, p->rows + a * size, p->rows + b * size);
}

// Texts that begin alike, in order: those of equal numbers, whose records lie in the order of the input. `words`: room for two numbers for each.
static void order_tied(const picking *p, hdst__radix_entry *entries, uint64_t *words, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) words[i] = entries[i].index;
    const uint64_t *sorted = hdst__merge_sort_words(words, words + count, count, compare_tied, p);
    for (uint64_t i = 0; i < count; i++) entries[i].index = sorted[i];
}

static hdst__radix_entry *sort_candidates(const picking *p)
{
    hdst__radix_entry *sorted = hdst__radix_sort_entries(p->entries, p->scratch, p->count, NULL), *other = sorted == p->entries ? p->scratch : p->entries;
    for (uint64_t i = 0, n; p->top->kind == HDST__TEXT && i < p->count; i += n) {
        for (n = 1; i + n < p->count && sorted[i + n].key == sorted[i].key;) n++;
        if (n > 1) order_tied(p, sorted + i, (uint64_t *)(other + i), n);
    }
    return sorted;
}

static bool keeps_texts(const hdst__top_k *top) { return top->engine && top->record->has_text; }

// Texts of records that left are garbage: those of the others move to a heap of their own.
static hdst_status move_texts(picking *p, hdst_error *error)
{
    const hdst__top_k *top = p->top;
    hdst__text_writer fresh = {hdst__text_heap_create(hdst__engine_runtime(top->engine), HDST__OWNER_SORTS), NULL, NULL};
    if (!fresh.heap) return hdst__error_memory(error, "texts of the largest records");
    const hdst_status status = hdst__text_keep_rows(&fresh, top->record, p->rows, p->count, error);
    hdst__text_heap_drop(status == HDST_OK ? p->texts.heap : fresh.heap);
    if (status == HDST_OK) p->texts = fresh;
    return status;
}

// The best `wanted`, in order.
static hdst_status cut(picking *p, hdst_error *error)
{
    const hdst__top_k *top = p->top;
    const uint64_t size = top->record->size, count = p->count < top->wanted ? p->count : top->wanted;
    const bool drops = count < p->count;
    const hdst__radix_entry *sorted = sort_candidates(p);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(p->spare + i * size, p->rows + sorted[i].index * size, size);
        p->entries[i] = (hdst__radix_entry){sorted[i].key, i};
    }
    swap_rows(p);
    p->count = count;
    p->full = count == top->wanted;
    if (count) p->worst = p->entries[count - 1].key, p->worst_row = p->rows + (count - 1) * size;
    return drops && keeps_texts(top) ? move_texts(p, error) : HDST_OK;
}

// Whether it comes in where all places are taken: of equal ones the earlier stays.
static inline __attribute__((always_inline)) bool is_better(const picking *p, const char *record, uint64_t key)
{
    if (key != p->worst) return key < p->worst;
    return p->top->kind == HDST__TEXT && compare_texts(p->top, record, p->worst_row) < 0;
}

static hdst_status take(hdst__top_k *top, picking *p, const char *record, uint64_t key, hdst_error *error)
{
    const uint64_t size = top->record->size;
    hdst_status status = p->count == p->room ? cut(p, error) : HDST_OK;
    if (status != HDST_OK || (p->full && !is_better(p, record, key))) return status;
    char *to = p->rows + p->count * size;
    memcpy(to, record, size);
    if (keeps_texts(top)) status = hdst__text_keep_rows(&p->texts, top->record, to, 1, error);
    p->entries[p->count] = (hdst__radix_entry){key, p->count};
    p->count += status == HDST_OK;
    top->kept++;
    return status;
}

// Smaller for what comes earlier; NaN comes last.
static inline __attribute__((always_inline)) uint64_t key_of(const hdst__top_k *top, const char *record, hdst__kind kind)
{
    const uint64_t number = kind == HDST__TEXT ? text_number(record + top->offset) : number_at(record + top->offset, kind);
    return top->largest ? ~number : hdst__kind_is_float(kind) ? number - 1 : number;
}

int hdst__top_k_order(const hdst__top_k *top, const char *a, const char *b)
{
    if (top->kind == HDST__TEXT) return compare_texts(top, a, b);
    const uint64_t x = key_of(top, a, top->kind), y = key_of(top, b, top->kind);
    return (x > y) - (x < y);
}

static inline __attribute__((always_inline)) hdst_status look_at_kind(hdst__top_k *top, picking *p, const char *records, uint64_t count, hdst__kind kind,
                                                                      hdst_error *error)
{
    const uint64_t size = top->record->size;
    hdst_status status = HDST_OK;
    for (uint64_t i = 0; i < count && status == HDST_OK; i++) {
        const uint64_t key = key_of(top, records + i * size, kind);
        if (!p->full || key < p->worst || (kind == HDST__TEXT && is_better(p, records + i * size, key))) status = take(top, p, records + i * size, key, error);
    }
    return status;
}

static hdst_status look_at(void *user, const void *records, uint64_t count, hdst_error *error)
{
    picking *p = user;
    hdst__top_k *top = p->top;
    top->seen += count;
    switch (top->kind) {
    case HDST__F32: return look_at_kind(top, p, records, count, HDST__F32, error);
    case HDST__F64: return look_at_kind(top, p, records, count, HDST__F64, error);
    case HDST__I32: return look_at_kind(top, p, records, count, HDST__I32, error);
    case HDST__U32: return look_at_kind(top, p, records, count, HDST__U32, error);
    default: return look_at_kind(top, p, records, count, top->kind, error);
    }
}

// --- Memory ---

static hdst_status take_memory(hdst__top_k *top, picking *p, const hdst__reader *from, hdst_error *error)
{
    static const char what[] = "the records with the largest values";
    hdst__budget *budget = hdst__engine_memory(top->engine);
    const uint64_t records = from->records, size = top->record->size, wanted = top->wanted < records ? top->wanted : records,
        fit = HDST__HOST_TOP_LEAST_BYTES / size + 1, least = fit < HDST__HOST_TOP_LEAST_RECORDS ? fit : HDST__HOST_TOP_LEAST_RECORDS;
    p->room = wanted > records / 2 ? records : 2 * wanted > least ? 2 * wanted : least < records ? least : records;
    uint64_t bytes, input;
    if (__builtin_mul_overflow(p->room, 2 * (size + sizeof *p->entries), &bytes)) bytes = UINT64_MAX;
    if (__builtin_mul_overflow(records, HELD_TWICE * (size + BESIDE_RECORD), &input)) input = UINT64_MAX;
    if (!from->held) input = 0;
    if (bytes > hdst__budget_left(budget)) return hdst__budget_error_of_all(budget, bytes, wanted * size, input, what, error);      // and the result
    p->rows = hdst__budget_alloc(budget, HDST__OWNER_SORTS, p->room * size, what, error);
    p->spare = p->rows ? hdst__budget_alloc(budget, HDST__OWNER_SORTS, p->room * size, what, error) : NULL;
    p->entries = p->spare ? hdst__budget_alloc(budget, HDST__OWNER_SORTS, p->room * sizeof *p->entries, what, error) : NULL;
    p->scratch = p->entries ? hdst__budget_alloc(budget, HDST__OWNER_SORTS, p->room * sizeof *p->scratch, what, error) : NULL;
    if (!p->scratch) return HDST_E_MEMORY;
    if (!keeps_texts(top)) return HDST_OK;
    p->texts.heap = hdst__text_heap_create(hdst__engine_runtime(top->engine), HDST__OWNER_SORTS);
    return p->texts.heap ? HDST_OK : hdst__error_memory(error, "texts of the largest records");
}

static void end_picking(hdst__top_k *top, picking *p)
{
    const hdst__allocator *allocator = hdst__engine_owned(top->engine, HDST__OWNER_SORTS);
    hdst__free(allocator, p->rows);
    hdst__free(allocator, p->spare);
    hdst__free(allocator, p->entries);
    hdst__free(allocator, p->scratch);
    hdst__text_heap_drop(p->texts.heap);
}

// --- Running ---

// What is left is the result's; it is as large as what was wanted.
static hdst_status give(hdst__top_k *top, picking *p, hdst_error *error)
{
    const uint64_t size = top->record->size;
    const hdst_status status = cut(p, error);
    if (status != HDST_OK) return status;
    top->rows = hdst__budget_alloc(hdst__engine_memory(top->engine), HDST__OWNER_SORTS, p->count * size, "the records with the largest values", error);
    if (!top->rows) return HDST_E_MEMORY;
    memcpy(top->rows, p->rows, p->count * size);
    top->row_count = p->count;
    top->texts = hdst__text_heap_hold(p->texts.heap);
    return HDST_OK;
}

hdst_status hdst__top_k_run(hdst__top_k *top, const hdst__reader *input, hdst_error *error)
{
    const double start = hdst__now();
    picking p = {.top = top};
    hdst__top_k_release(top);
    top->seen = top->kept = 0;
    top->stats = (hdst__run_stats){0};
    if (input->records == 0 || top->wanted == 0) return HDST_OK;
    hdst_status status = take_memory(top, &p, input, error);
    if (status == HDST_OK) status = hdst__rows_stream(hdst__engine_runtime(top->engine), input, look_at, &p, &top->stats, error);
    if (status == HDST_OK) status = give(top, &p, error);
    if (status != HDST_OK) hdst__top_k_release(top);
    end_picking(top, &p);
    top->stats.records = top->seen;
    top->stats.total_seconds = top->stats.read_seconds = hdst__now() - start;
    return status;
}

hdst_status hdst__top_k_append(hdst__top_k *top, const void *rows, uint64_t count, hdst_error *error)
{
    const uint64_t size = top->record->size, bytes = count * size;
    if (count == 0) return HDST_OK;
    char *grown = hdst__budget_realloc(hdst__engine_memory(top->engine), HDST__OWNER_SORTS, top->rows, (top->row_count + count) * size,
                                       "the records with the largest values", error);
    if (!grown) return HDST_E_MEMORY;
    memcpy(grown + top->row_count * size, rows, bytes);
    top->rows = grown;
    top->row_count += count;
    if (!keeps_texts(top)) return HDST_OK;
    hdst__text_writer writer = {hdst__text_heap_hold(top->texts), NULL, NULL};
    if (!writer.heap) writer.heap = hdst__text_heap_create(hdst__engine_runtime(top->engine), HDST__OWNER_SORTS);
    if (!writer.heap) return hdst__error_memory(error, "texts of the largest records");
    if (!top->texts) top->texts = hdst__text_heap_hold(writer.heap);
    const hdst_status status = hdst__text_keep_rows(&writer, top->record, grown + (top->row_count - count) * size, count, error);
    hdst__text_heap_drop(writer.heap);
    return status;
}
