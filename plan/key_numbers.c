// SPDX-License-Identifier: Apache-2.0
// Which number a key has.
#include "plan/key_numbers.h"

enum { PIECE = 4096 };      // records of the dictionary that are read at once

static uint64_t bits_of(hdst__kind kind, const void *value)
{
    uint64_t bits = 0;
    memcpy(&bits, value, hdst__scalar_size(kind));
    return bits;
}

// The slot of the key, or the free one where it would stand.
static uint64_t find_number(const hdst__key_numbers *numbers, uint64_t bits)
{
    uint64_t at = hdst__key_mix64(bits + HDST__KEY_STEP) & numbers->mask;
    while (numbers->slots[at] && numbers->bits[numbers->slots[at] - 1] != bits) at = (at + 1) & numbers->mask;
    return at;
}

static uint64_t find_text(const hdst__key_numbers *numbers, const hdst__text_span *span)
{
    uint64_t at = hdst__text_span_hash(span) & numbers->mask;
    while (numbers->slots[at] && !hdst__text_equal(&numbers->texts[numbers->slots[at] - 1], span)) at = (at + 1) & numbers->mask;
    return at;
}

uint64_t hdst__key_numbers_find(const hdst__key_numbers *numbers, const void *value)
{
    if (!numbers->slots) return UINT64_MAX;
    const bool is_text = numbers->kind == HDST__TEXT;
    const uint64_t slot = numbers->slots[is_text ? find_text(numbers, value) : find_number(numbers, bits_of(numbers->kind, value))];
    return slot - 1;        // of a free one the largest number
}

static hdst_status take_memory(hdst__key_numbers *numbers, hdst_error *error)
{
    uint64_t slots = 2;
    while (slots < 2 * numbers->count) slots *= 2;
    numbers->mask = slots - 1;
    if (numbers->kind == HDST__TEXT) numbers->texts = hdst__alloc(numbers->allocator, numbers->count * sizeof *numbers->texts);
    else numbers->bits = hdst__alloc(numbers->allocator, numbers->count * sizeof *numbers->bits);
    numbers->slots = hdst__alloc_zero(numbers->allocator, slots * sizeof *numbers->slots);
    return numbers->slots && (numbers->texts || numbers->bits) ? HDST_OK : hdst__error_memory(error, "the numbers of keys");
}

// The first of equal keys stays.
static void take_piece(hdst__key_numbers *numbers, uint64_t first, uint64_t count, const char *rows, uint64_t size)
{
    for (uint64_t i = 0; i < count; i++, rows += size) {
        uint64_t at;
        if (numbers->texts) {
            memcpy(&numbers->texts[first + i], rows, sizeof *numbers->texts);
            at = find_text(numbers, &numbers->texts[first + i]);
        } else {
            numbers->bits[first + i] = bits_of(numbers->kind, rows);
            at = find_number(numbers, numbers->bits[first + i]);
        }
        if (!numbers->slots[at]) numbers->slots[at] = first + i + 1;
    }
}

static hdst_status read_keys(hdst__key_numbers *numbers, const hdst__reader *dictionary, const hdst__cancel *cancel, char *rows, hdst_error *error)
{
    jmp_buf out_of_memory;
    hdst__arena arena;
    hdst_status status = HDST_OK;
    hdst__arena_init(&arena, numbers->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return hdst__error_memory(error, "the numbers of keys");
    }
    const hdst__storage *storage = hdst__storage_make(&arena, dictionary->record, HDST__AOS, 0, PIECE);
    for (uint64_t first = 0; first < numbers->count && status == HDST_OK; first += PIECE) {
        const uint64_t left = numbers->count - first, count = left < PIECE ? left : PIECE;
        void *buffers[] = {rows};
        status = hdst__cancel_check(cancel, first, numbers->count, error);
        if (status == HDST_OK) status = dictionary->fill(dictionary->user, first, count, storage, buffers, 0, error);
        if (status == HDST_OK) take_piece(numbers, first, count, rows, dictionary->record->size);
    }
    hdst__arena_destroy(&arena);
    return status;
}

hdst_status hdst__key_numbers_fill(hdst__key_numbers *numbers, const hdst__allocator *allocator, const hdst__reader *dictionary, hdst__kind kind,
                                   const hdst__cancel *cancel, hdst_error *error)
{
    *numbers = (hdst__key_numbers){.allocator = allocator, .kind = kind, .count = dictionary->records};
    if (!numbers->count) return HDST_OK;
    char *rows = hdst__alloc(allocator, PIECE * dictionary->record->size);
    hdst_status status = rows ? take_memory(numbers, error) : hdst__error_memory(error, "the numbers of keys");
    if (status == HDST_OK) status = read_keys(numbers, dictionary, cancel, rows, error);
    hdst__free(allocator, rows);
    if (status != HDST_OK) hdst__key_numbers_free(numbers);
    return status;
}

void hdst__key_numbers_free(hdst__key_numbers *numbers)
{
    if (!numbers->allocator) return;
    hdst__free(numbers->allocator, numbers->texts);
    hdst__free(numbers->allocator, numbers->bits);
    hdst__free(numbers->allocator, numbers->slots);
    *numbers = (hdst__key_numbers){0};
}
