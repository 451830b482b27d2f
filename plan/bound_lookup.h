// SPDX-License-Identifier: Apache-2.0
// What a lookup parameter that is read by key is bound to: records, and which of their fields are the key. The context's lock is held.
#ifndef HDST_PLAN_BOUND_LOOKUP_H
#define HDST_PLAN_BOUND_LOOKUP_H

#include "plan/map_spec.h"
#include "record/field_path.h"

#include <string.h>

struct hdst__bound_lookup {
    hdst_dataset *records;
    const ast_decl *parameter;      // belongs to the module's tree
    hdst__field_place *key;         // in the records, in the order of the key type's leaves
    size_t key_count;
    bool rest;                      // a row is what the record has beside the key; else the record
};

// `key` names fields of the records; NULL: the first ones, as many as the parameter's key has. NULL with the error filled: they do not fit the parameter.
hdst__bound_lookup *hdst__bound_lookup_make(const hdst_map_spec *spec, const ast_decl *parameter, hdst_dataset *records, const char *key, hdst_error *error);
hdst__bound_lookup *hdst__bound_lookup_copy(const hdst__allocator *allocator, const hdst__bound_lookup *from);     // NULL: out of memory
void hdst__bound_lookup_free(const hdst__allocator *allocator, hdst__bound_lookup *lookup);        // NULL is fine

// Bytes of a record that a row of the table has.
typedef struct hdst__bytes_move { uint64_t from, to, bytes; } hdst__bytes_move;
// One more; bytes that follow those of the last one on both sides join it.
void hdst__bytes_move_add(hdst__bytes_move *moves, size_t *count, uint64_t from, uint64_t to, uint64_t bytes);
// One record to one row. Words of four and eight bytes, which most are, by themselves: a call for each would take longer.
static inline void hdst__bytes_move_row(const hdst__bytes_move *moves, size_t count, const char *from, char *to)
{
    for (size_t m = 0; m < count; m++) {
        const hdst__bytes_move *move = &moves[m];
        if (move->bytes == 4) memcpy(to + move->to, from + move->from, 4);
        else if (move->bytes == 8) memcpy(to + move->to, from + move->from, 8);
        else memcpy(to + move->to, from + move->from, move->bytes);
    }
}
// In the arena; returns how many. None: rows of the table are the records as they are.
size_t hdst__bound_lookup_moves(hdst__arena *arena, const hdst__bound_lookup *lookup, hdst__bytes_move **moves);
// The same for rows without the key, V alone; there are always some.
size_t hdst__bound_lookup_row_moves(hdst__arena *arena, const hdst__bound_lookup *lookup, hdst__bytes_move **moves);

// Records and the rows that are made of them.
typedef struct hdst__rows_to_move {
    const hdst__bytes_move *moves;
    size_t move_count;
    const char *from;
    char *to;
    uint64_t count, from_step, to_step;     // records; bytes of a record, of a row
} hdst__rows_to_move;
// All of them, by all threads of the pool.
void hdst__bytes_move_rows(struct hdst__thread_pool *threads, const hdst__rows_to_move *rows);

#endif
