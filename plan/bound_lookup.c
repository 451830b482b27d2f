// SPDX-License-Identifier: Apache-2.0
// What lookup parameters that are read by key are bound to (plan/bound_lookup.h).
#include "plan/bound_lookup.h"

#include "base/thread_pool.h"
#include "plan/dataset.h"
#include "plan/named_keys.h"
#include "plan/operator.h"

// --- Whether records fit the parameter ---

static hdst_status first_fields(hdst__named_keys *keys, const hdst__allocator *allocator, const hdst__record *record, size_t wanted, hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < wanted && i < record->leaf_count && status == HDST_OK; i++)
        status = hdst__named_keys_add(keys, allocator, (hdst__field_place){.leaf = i, .elements = record->leaves[i].elements}, error);
    return status;
}

static hdst_status fields_by_default(hdst__named_keys *keys, const hdst__allocator *allocator, const ast_decl *parameter, const hdst_dataset *records,
                                     hdst_error *error)
{
    if (!parameter->has_stretches || !records->arranged) return first_fields(keys, allocator, records->record, hdst__type_leaves(parameter->key), error);
    return hdst__named_keys_add(keys, allocator, (hdst__field_place){.leaf = records->arranged - 1, .elements = 1}, error);
}

// The keyed record (codegen/front/check_lookup.c) has the leaves of the key first.
static hdst_status check_key(const hdst_map_spec *spec, const hdst__bound_lookup *lookup, hdst_error *error)
{
    const ast_decl *param = lookup->parameter;
    const size_t wanted = hdst__type_leaves(param->key);
    for (size_t i = 0; i < lookup->key_count && i < wanted; i++) {
        const hdst__leaf *is = &lookup->records->record->leaves[lookup->key[i].leaf], *due = &param->keyed->leaves[i];
        if (is->kind == due->kind && lookup->key[i].elements == due->elements) continue;
        hdst__error_set(error, HDST_E_USAGE, "key %zu of lookup '%s' of '%s' is %s; '%s' is %s%s", i + 1, param->name, spec->function->name,
                        hdst__scalar_c_name(due->kind), is->path, hdst__scalar_c_name(is->kind), lookup->key[i].elements > 1 ? "[]" : "");
        hdst__error_hint(error, "a map in front of it makes keys of the parameter's type");
        return HDST_E_USAGE;
    }
    if (lookup->key_count == wanted) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' has a key of %zu field%s, hdst_bind_lookup was given %zu", param->name, spec->function->name,
                    wanted, wanted == 1 ? "" : "s", lookup->key_count);
    hdst__error_hint(error, "name the fields of the records that are the key, with commas between");
    return HDST_E_USAGE;
}

// Where the rows of a key lie one behind another the dataset has them so, and keeps them: a layout of an arranged one, which is no cache, passes its order on.
static hdst_status check_order(const hdst_map_spec *spec, const hdst__bound_lookup *lookup, hdst_error *error)
{
    const hdst_dataset *records = lookup->records;
    const bool is_arranged = records->arranged == lookup->key->leaf + 1, is_kept = records->op->key_starts;
    if (!lookup->parameter->has_stretches || (is_arranged && is_kept)) return HDST_OK;
    const char *key = records->record->leaves[lookup->key->leaf].path;
    if (is_arranged) {
        hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' reads the rows of each key where they lie; the dataset is arranged, but does not keep them",
                        lookup->parameter->name, spec->function->name);
        hdst__error_hint(error, "bind what hdst_arrange gave, or put hdst_cache behind the layout");
        return HDST_E_USAGE;
    }
    hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' reads the rows of each key where they lie; the dataset is not arranged by '%s'",
                    lookup->parameter->name, spec->function->name, key);
    hdst__error_hint(error, "hdst_arrange(dataset, \"%s\") gives one that is", key);
    return HDST_E_USAGE;
}

static bool is_whole(const hdst__record *record, const hdst__type *value)
{
    if (value->kind == HDST__RECORD) return hdst__same_records(record, value->record);
    return record->is_scalar && record->leaves[0].kind == value->kind;
}

static bool is_key(const hdst__bound_lookup *lookup, uint32_t leaf)
{
    for (size_t i = 0; i < lookup->key_count; i++)
        if (lookup->key[i].leaf == leaf) return true;
    return false;
}

static bool is_rest(const hdst__bound_lookup *lookup)
{
    const hdst__record *record = lookup->records->record, *keyed = lookup->parameter->keyed;
    size_t at = hdst__type_leaves(lookup->parameter->key);
    for (uint32_t i = 0; i < record->leaf_count; i++) {
        if (is_key(lookup, i)) continue;
        if (at == keyed->leaf_count || record->leaves[i].kind != keyed->leaves[at].kind || record->leaves[i].elements != keyed->leaves[at].elements)
            return false;
        at++;
    }
    return at == keyed->leaf_count;
}

static hdst_status check_value(const hdst_map_spec *spec, hdst__bound_lookup *lookup, hdst_error *error)
{
    const ast_decl *param = lookup->parameter;
    lookup->rest = !is_whole(lookup->records->record, param->type);
    if (!lookup->rest || is_rest(lookup)) return HDST_OK;
    hdst__error_set(error, HDST_E_USAGE, "lookup '%s' of '%s' has rows of '%s'; the dataset has '%s'", param->name, spec->function->name,
                    param->type->kind == HDST__RECORD ? param->type->record->name : hdst__scalar_c_name(param->type->kind), lookup->records->record->name);
    hdst__error_hint(error, "the rows are the dataset's records, or what these have beside the key, in order");
    return HDST_E_USAGE;
}

// --- Made, copied, freed ---

hdst__bound_lookup *hdst__bound_lookup_make(const hdst_map_spec *spec, const ast_decl *parameter, hdst_dataset *records, const char *key, hdst_error *error)
{
    static const char call[] = "hdst_bind_lookup";
    const hdst__allocator *allocator = HDST__ALLOCATOR(spec);
    hdst__named_keys keys = {0};
    hdst_status status = hdst__dataset_has_records(records, call, error);
    if (status == HDST_OK && key) status = hdst__named_keys_read(&keys, allocator, call, records->record, key, error);
    else if (status == HDST_OK) status = fields_by_default(&keys, allocator, parameter, records, error);
    hdst__bound_lookup *lookup = status == HDST_OK ? hdst__alloc_zero(allocator, sizeof *lookup) : NULL;
    if (!lookup) {
        hdst__free(allocator, keys.place);
        if (status == HDST_OK) hdst__error_memory(error, "a lookup");
        return NULL;
    }
    *lookup = (hdst__bound_lookup){.records = records, .parameter = parameter, .key = keys.place, .key_count = keys.count};
    status = check_key(spec, lookup, error);
    if (status == HDST_OK) status = check_order(spec, lookup, error);
    if (status == HDST_OK) status = check_value(spec, lookup, error);
    if (status == HDST_OK) return lookup;
    hdst__bound_lookup_free(allocator, lookup);
    return NULL;
}

hdst__bound_lookup *hdst__bound_lookup_copy(const hdst__allocator *allocator, const hdst__bound_lookup *from)
{
    hdst__bound_lookup *copy = hdst__alloc(allocator, sizeof *copy);
    if (!copy) return NULL;
    *copy = *from;
    copy->key = hdst__alloc(allocator, from->key_count * sizeof *copy->key);
    if (copy->key) memcpy(copy->key, from->key, from->key_count * sizeof *copy->key);
    else hdst__free(allocator, copy);
    return copy->key ? copy : NULL;
}

void hdst__bound_lookup_free(const hdst__allocator *allocator, hdst__bound_lookup *lookup)
{
    if (lookup) hdst__free(allocator, lookup->key);
    hdst__free(allocator, lookup);
}

// --- From records to rows of the table ---

typedef struct mover {
    hdst__bytes_move *move;
    size_t count;
} mover;

void hdst__bytes_move_add(hdst__bytes_move *moves, size_t *count, uint64_t from, uint64_t to, uint64_t bytes)
{
    hdst__bytes_move *last = *count ? &moves[*count - 1] : NULL;
    if (last && last->from + last->bytes == from && last->to + last->bytes == to) last->bytes += bytes;
    else moves[(*count)++] = (hdst__bytes_move){from, to, bytes};
}

static void add(mover *m, uint64_t from, uint64_t to, uint64_t bytes) { hdst__bytes_move_add(m->move, &m->count, from, to, bytes); }

static void add_leaf(mover *m, const hdst__leaf *from, uint64_t first, const hdst__leaf *to)
{
    const uint64_t size = hdst__scalar_size(from->kind);
    for (uint64_t e = 0; e < to->elements; e++) add(m, hdst__leaf_offset(from, first + e), hdst__leaf_offset(to, e), size);
}

static uint64_t numbers_of(const hdst__record *record)
{
    uint64_t numbers = 0;
    for (size_t i = 0; i < record->leaf_count; i++) numbers += record->leaves[i].elements;
    return numbers;
}

// The value of a row: the record, or what it has beside the key.
static void add_value(mover *m, const hdst__bound_lookup *lookup)
{
    const hdst__record *record = lookup->records->record, *keyed = lookup->parameter->keyed;
    size_t at = lookup->key_count;
    if (!lookup->rest) add(m, 0, keyed->fields[1].offset, record->size);
    for (uint32_t i = 0; i < record->leaf_count && lookup->rest; i++)
        if (!is_key(lookup, i)) add_leaf(m, &record->leaves[i], 0, &keyed->leaves[at++]);
}

size_t hdst__bound_lookup_row_moves(hdst__arena *arena, const hdst__bound_lookup *lookup, hdst__bytes_move **moves)
{
    const hdst__record *keyed = lookup->parameter->keyed;
    mover m = {.move = HDST__NEW_ARRAY(arena, hdst__bytes_move, numbers_of(keyed) + 1)};
    add_value(&m, lookup);
    for (size_t i = 0; i < m.count; i++) m.move[i].to -= keyed->fields[1].offset;
    *moves = m.move;
    return m.count;
}

size_t hdst__bound_lookup_moves(hdst__arena *arena, const hdst__bound_lookup *lookup, hdst__bytes_move **moves)
{
    const hdst__record *record = lookup->records->record, *keyed = lookup->parameter->keyed;
    mover m = {.move = HDST__NEW_ARRAY(arena, hdst__bytes_move, numbers_of(keyed) + 1)};
    for (size_t k = 0; k < lookup->key_count; k++) add_leaf(&m, &record->leaves[lookup->key[k].leaf], lookup->key[k].element, &keyed->leaves[k]);
    add_value(&m, lookup);
    *moves = m.move;
    bool same = keyed->size == record->size;
    for (size_t i = 0; i < m.count; i++) same &= m.move[i].from == m.move[i].to;
    return same ? 0 : m.count;
}

// --- The rows ---

enum { PIECE = 1 << 14 };               // records that a thread takes

static void move_piece(void *user, uint64_t piece)
{
    const hdst__rows_to_move *r = user;
    const uint64_t first = piece * PIECE, end = r->count - first < PIECE ? r->count : first + PIECE;
    const hdst__bytes_move *only = r->move_count == 1 && r->moves->bytes == 4 ? r->moves : NULL;        // the other end of an edge
    for (uint64_t i = first; only && i < end; i++) memcpy(r->to + i * r->to_step + only->to, r->from + i * r->from_step + only->from, 4);
    for (uint64_t i = first; !only && i < end; i++)
        hdst__bytes_move_row(r->moves, r->move_count, r->from + i * r->from_step, r->to + i * r->to_step);
}

void hdst__bytes_move_rows(hdst__thread_pool *threads, const hdst__rows_to_move *rows)
{
    hdst__thread_pool_run(threads, (rows->count + PIECE - 1) / PIECE, move_piece, (void *)rows);
}
