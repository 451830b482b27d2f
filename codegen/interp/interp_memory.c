// SPDX-License-Identifier: Apache-2.0
// Memory of the interpreter outside its registers: fields of input records in any layout, broadcast rows, local arrays,
// accumulators, outputs.
#include "record/bit_pattern.h"
#include "codegen/interp/interp_state.h"
#include "accum/addends.h"
#include "accum/representation.h"

#include <string.h>

// --- One scalar in memory (at any alignment) ---

static uint64_t load(hdst__kind kind, const char *from)
{
#define CASE(KIND, s, T) case KIND: { T v; memcpy(&v, from, sizeof v); return HDST__OF_##s(v); }
    switch (kind) {
        HDST__INTEGER_KINDS(CASE)
        HDST__FLOAT_KINDS(CASE)
    default: return *from != 0;         // bool, whatever byte the input holds
    }
#undef CASE
}

static void load_run(hdst__kind kind, const char *from, uint64_t stride, size_t n, uint64_t *out)
{
#define CASE(KIND, s, T)                                                        \
    case KIND:                                                                  \
        for (size_t i = 0; i < n; i++) {                                        \
            T v;                                                                \
            memcpy(&v, from + i * stride, sizeof v);                            \
            out[i] = HDST__OF_##s(v);                                           \
        }                                                                       \
        break;
    switch (kind) {
        HDST__INTEGER_KINDS(CASE)
        HDST__FLOAT_KINDS(CASE)
    default:
        for (size_t i = 0; i < n; i++) out[i] = from[i * stride] != 0;
        break;
    }
#undef CASE
}

static uint64_t load_any(interp_state *s, hdst__kind kind, const char *from)
{
    return kind == HDST__TEXT ? hdst__interp_text_load(s, from) : load(kind, from);
}

static void save(hdst__kind kind, char *to, uint64_t bits)      // little-endian hosts
{
    if (kind == HDST__TEXT) hdst__interp_text_save(to, bits);
    else
    memcpy(to, &bits, hdst__scalar_size(kind));
}

static uint64_t clamped(uint64_t index, uint64_t limit)
{
    return index < limit ? index : 0;
}

// An index out of range in an active lane is wrong, except 0: row 0 has storage in every table. Masked lanes may hold any index.
void hdst__interp_guard(interp_state *s, lanes index, uint64_t limit, const char *what)
{
    if (!s->run->strict || (index.uniform && (index.v[0] < limit || index.v[0] == 0))) return;
    if (index.uniform && s->mask->active) s->wrong = what;
    for (size_t i = 0; i < s->n && !index.uniform; i++)
        if (s->mask->bits[i] && index.v[i] >= limit && index.v[i]) s->wrong = what;
}

// --- Input records ---

// Reads element `element` of the leaf for all records of the block: a run of memory for each AoSoA block, one in other layouts.
static void field_runs(interp_state *s, const ir_expr *e, uint64_t element, uint64_t *out)
{
    const hdst__interp_run *run = s->run;
    const hdst__storage *storage = run->input[e->param];
    const hdst__leaf_address *address = &storage->leaf[e->leaf];
    const char *buffer = run->input_buffers[e->param][address->buffer];
    for (size_t done = 0; done < s->n;) {
        const uint64_t record = run->input_skip[e->param] + s->block + done;
        uint64_t count = s->n - done;
        if (storage->block && storage->block - record % storage->block < count) count = storage->block - record % storage->block;
        const char *from = buffer + hdst__storage_offset(storage, e->leaf, record, element);
        if (e->kind != HDST__TEXT) load_run(e->kind, from, address->stride, count, out + done);
        for (uint64_t i = 0; i < count && e->kind == HDST__TEXT; i++) out[done + i] = hdst__interp_text_load(s, from + i * address->stride);
        done += count;
    }
}

lanes hdst__interp_field(interp_state *s, const ir_expr *e, size_t at)
{
    const hdst__interp_run *run = s->run;
    const hdst__storage *storage = run->input[e->param];
    const uint64_t elements = storage->record->leaves[e->leaf].elements, zero = 0;
    const lanes index = e->a ? hdst__interp_eval(s, e->a, at) : (lanes){&zero, true};
    uint64_t *out = hdst__interp_slab(s, at);
    hdst__interp_guard(s, index, elements, "an unguarded index of a field");
    if (index.uniform) {
        field_runs(s, e, clamped(index.v[0], elements), out);
        return (lanes){out, false};
    }
    const char *buffer = run->input_buffers[e->param][storage->leaf[e->leaf].buffer];
    for (size_t i = 0; i < s->n; i++)
        out[i] = load_any(s, e->kind, buffer + hdst__storage_offset(storage, e->leaf, run->input_skip[e->param] + s->block + i, clamped(index.v[i], elements)));
    return (lanes){out, false};
}

lanes hdst__interp_record_index(interp_state *s, size_t at)
{
    uint64_t *out = hdst__interp_slab(s, at);
    for (size_t i = 0; i < s->n; i++) out[i] = s->run->first + s->block + i;
    return (lanes){out, false};
}

// --- Broadcasts ---

static uint64_t table_rows(const interp_state *s, uint32_t param)
{
    const ir_param *p = &s->func->params[param];
    if (!p->is_table) return 1;
    return p->kind == IR_BROADCAST_TABLE ? s->run->broadcast[param].rows : s->run->accum_rows[param];
}

const uint64_t *hdst__interp_length(interp_state *s, uint32_t param, uint64_t *one)
{
    *one = table_rows(s, param);
    return one;
}

lanes hdst__interp_broadcast(interp_state *s, const ir_expr *e, size_t at)
{
    const hdst__record *record = s->func->params[e->param].record;
    const hdst__leaf *leaf = &record->leaves[e->leaf];
    const uint64_t rows = table_rows(s, e->param), zero = 0;
    const char *data = s->run->broadcast[e->param].data;
    const lanes row = e->a ? hdst__interp_eval(s, e->a, at) : (lanes){&zero, true};
    const lanes element = e->b ? hdst__interp_eval(s, e->b, at + 1) : (lanes){&zero, true};
    const bool uniform = row.uniform && element.uniform;
    hdst__interp_guard(s, row, rows, "an unguarded row of a broadcast");
    hdst__interp_guard(s, element, leaf->elements, "an unguarded index of a broadcast's field");
    uint64_t *out = hdst__interp_slab(s, at);
    const uint64_t row0 = row.v[0], element0 = element.v[0];       // `out` may be the slab that either lies in
    for (size_t i = 0; i < (uniform ? 1 : s->n); i++) {
        const uint64_t r = clamped(row.uniform ? row0 : row.v[i], rows), x = clamped(element.uniform ? element0 : element.v[i], leaf->elements);
        out[i] = rows ? load_any(s, e->kind, data + r * record->size + hdst__leaf_offset(leaf, x)) : 0;
    }
    return (lanes){out, uniform};
}

// --- Local arrays ---

lanes hdst__interp_element(interp_state *s, const ir_expr *e, size_t at)
{
    const interp_var *var = &s->vars[e->var];
    const lanes index = hdst__interp_eval(s, e->a, at);
    uint64_t *out = hdst__interp_slab(s, at);
    hdst__interp_guard(s, index, var->elements, "an unguarded index of an array");
    if (index.uniform) {
        const uint64_t x = clamped(index.v[0], var->elements);
        const bool uniform = s->func->block && !s->in_records;      // all lanes hold the same there
        return var->constant ? (lanes){var->v + x, true} : (lanes){var->v + x * s->width, uniform};
    }
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t x = clamped(index.v[i], var->elements);
        out[i] = var->constant ? var->v[x] : var->v[x * s->width + i];
    }
    return (lanes){out, false};
}

void hdst__interp_set_element(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const interp_var *var = &s->vars[stmt->var];
    const lanes index = hdst__interp_eval(s, stmt->index, s->top);
    hdst__interp_guard(s, index, var->elements, "an unguarded index of an array that is written");
    const uint64_t *value = hdst__interp_eval_lanes(s, stmt->value, s->top + 1);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t x = index.v[index.uniform ? 0 : i];
        if (mask->bits[i] && x < var->elements) var->v[x * s->width + i] = value[i];
    }
}

// --- Outputs ---

static lanes index_or_zero(interp_state *s, const ir_expr *e, size_t at)
{
    static const uint64_t zero = 0;
    return e ? hdst__interp_eval(s, e, at) : (lanes){&zero, true};
}

void hdst__interp_accumulate(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const hdst__accum *accum = s->accum[stmt->param];
    const hdst__cell *cell = &accum->cell[stmt->leaf];
    int64_t *table = s->accum_table[stmt->param];
    const uint64_t rows = table_rows(s, stmt->param);
    hdst__addends *addends = s->run->addends && cell->scale >= 0 ? &s->run->addends[cell->scale] : NULL;
    hdst__rows_seen *seen = accum->is_table && stmt->leaf == 0 ? s->run->rows_seen : NULL;
    const lanes row = index_or_zero(s, stmt->index, s->top), element = index_or_zero(s, stmt->index2, s->top + 1);
    hdst__interp_guard(s, row, rows, "an unguarded row of an accumulator");
    hdst__interp_guard(s, element, cell->elements, "an unguarded index of an accumulator's field");
    const uint64_t *value = hdst__interp_eval_lanes(s, stmt->value, s->top + 2);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t r = row.v[row.uniform ? 0 : i], x = element.v[element.uniform ? 0 : i];
        if (!mask->bits[i] || r >= rows || x >= cell->elements) continue;
        if (table) hdst__cell_accumulate(cell, table + r * accum->device_row_words + cell->device_first + x * cell->device_words, value[i]);
        if (seen && seen->count < HDST__ROWS_SEEN) seen->row[seen->count++] = r;
        if (addends) hdst__addends_add(addends, cell->kind, value[i]);
    }
}

void hdst__interp_store(interp_state *s, const ir_stmt *stmt, const interp_mask *mask)
{
    const hdst__record *record = s->func->params[stmt->param].record;
    const hdst__leaf *leaf = &record->leaves[stmt->leaf];
    const lanes element = index_or_zero(s, stmt->index, s->top);
    hdst__interp_guard(s, element, leaf->elements, "an unguarded index of the output");
    const uint64_t *value = hdst__interp_eval_lanes(s, stmt->value, s->top + 1);
    char *to = s->func->emits ? s->given.next : s->run->output ? (char *)s->run->output + s->block * record->size : NULL;
    if (!to) return;
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t x = element.v[element.uniform ? 0 : i];
        if (mask->bits[i] && x < leaf->elements) save(leaf->kind, to + i * record->size + hdst__leaf_offset(leaf, x), value[i]);
    }
}
