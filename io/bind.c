// SPDX-License-Identifier: Apache-2.0
// Matches columns to fields: by name, in order, or as the bytes of the C struct.
#include "io/bound.h"

#include "io/columns.h"
#include "io/convert.h"
#include "base/costs_host.h"

#include <stdio.h>
#include <string.h>

enum { NONE = -1, SEVERAL = -2 };

static int find_column(const hdst__source *source, const char *name)
{
    int found = NONE;
    for (size_t i = 0; i < source->column_count; i++)
        if (source->columns[i].name && !strcmp(source->columns[i].name, name)) found = found == NONE ? (int)i : SEVERAL;
    return found;
}

// Whether columns from `first` on are called x[0], x[1] ... as our own writer does.
static bool are_elements(const hdst__source *source, const hdst__leaf *leaf, int first)
{
    if (first < 0 || leaf->elements > source->column_count - (size_t)first) return false;
    for (uint64_t e = 0; e < leaf->elements; e++) {
        const hdst__column *column = &source->columns[(size_t)first + e];
        char name[512];
        size_t length = hdst__element_name(leaf, e, name, sizeof name);
        if (length >= sizeof name || !column->name || strcmp(column->name, name) || column->count != 1) return false;
    }
    return true;
}

// A column of the field's name and of as many numbers, or the first of columns for its elements; NONE otherwise.
static int matching_column(const hdst__source *source, const hdst__leaf *leaf)
{
    int column = find_column(source, leaf->path);
    if (column >= 0 && source->columns[column].count == leaf->elements) return column;
    if (column != NONE || !leaf->dims) return NONE;         // arrays of one element are x[0] too
    char name[512];
    if (hdst__element_name(leaf, 0, name, sizeof name) >= sizeof name) return NONE;
    column = find_column(source, name);
    return are_elements(source, leaf, column) ? column : NONE;
}

// Whether its numbers come from columns. In text a field that says whether another is valid has none: the other's empty cells say it.
static bool takes_columns(const hdst__source *source, const hdst__leaf *leaf) { return !source->format->is_text || !leaf->is_validity; }

static bool has_column(const hdst__source *source, const hdst__leaf *leaf) { return takes_columns(source, leaf) && matching_column(source, leaf) >= 0; }

static size_t count_matches(const hdst__source *source, const hdst__record *record)
{
    size_t matches = 0;
    for (size_t i = 0; i < record->leaf_count; i++) matches += has_column(source, &record->leaves[i]);
    return matches;
}

// How many fields and numbers of a record come from columns.
static uint64_t count_taken(const hdst__source *source, const hdst__record *record, size_t *leaves)
{
    uint64_t numbers = 0;
    *leaves = 0;
    for (size_t i = 0; i < record->leaf_count; i++) {
        if (!takes_columns(source, &record->leaves[i])) continue;
        numbers += record->leaves[i].elements;
        ++*leaves;
    }
    return numbers;
}

// Some fields have a column of their name, others not: taking the columns in order could swap them silently.
static hdst_status half_named(const hdst__source *source, const hdst__record *record, hdst_error *error)
{
    const hdst__leaf *missing = record->leaves;
    while (!takes_columns(source, missing) || has_column(source, missing)) missing++;
    int same_name = find_column(source, missing->path);
    if (same_name == SEVERAL) hdst__error_set(error, HDST_E_FORMAT, "several columns are named '%s'", missing->path);
    else if (same_name >= 0)
        hdst__error_set(error, HDST_E_FORMAT, "column '%s' has %llu number%s, field '%s' of record '%s' has %llu", missing->path,
                        (unsigned long long)source->columns[same_name].count, source->columns[same_name].count == 1 ? "" : "s", missing->path, record->name,
                        (unsigned long long)missing->elements);
    else
        hdst__error_set(error, HDST_E_FORMAT, "there is no column for field '%s' of record '%s', though other fields have one of their name", missing->path,
                        record->name);
    hdst__error_at(error, source->name, 0, 0);
    hdst__error_hint(error, "rename the column or the field, or choose the columns in the order of the fields");
    return HDST_E_FORMAT;
}

static void bind_by_name(hdst__bound_source *bound)
{
    for (size_t i = 0; i < bound->record->leaf_count; i++) {
        const hdst__leaf *leaf = &bound->record->leaves[i];
        if (!takes_columns(bound->source, leaf)) continue;
        const hdst__column *column = &bound->source->columns[matching_column(bound->source, leaf)];
        for (uint64_t e = 0; e < leaf->elements; e += column->count, column++)
            bound->moves[bound->move_count++] = (hdst__move){(uint32_t)i, e, column->count, column->kind, column->offset,
                                                             (size_t)(column - bound->source->columns), 0};
    }
}

// Matches in the order of columns and of fields, number by number; a run within one column and one leaf is one move.
static void bind_in_order(hdst__bound_source *bound)
{
    const hdst__source *source = bound->source;
    size_t column = 0;
    uint64_t used = 0;
    for (size_t i = 0; i < bound->record->leaf_count; i++) {
        const uint64_t elements = takes_columns(source, &bound->record->leaves[i]) ? bound->record->leaves[i].elements : 0;
        for (uint64_t element = 0; element < elements;) {
            const hdst__column *c = &source->columns[column];
            uint64_t left = elements - element, count = c->count - used < left ? c->count - used : left;
            bound->moves[bound->move_count++] = (hdst__move){(uint32_t)i, element, count, c->kind, c->offset + used * hdst__scalar_size(c->kind),
                                                             column, used};
            element += count;
            used += count;
            if (used == c->count) column++, used = 0;
        }
    }
}

static void add_part(char *text, size_t size, const char *part)
{
    enum { END = 5 };           // " ..." and the NUL
    const size_t used = strlen(text);
    if (used >= 4 && !strcmp(text + used - 4, " ...")) return;
    if (used + strlen(part) + 2 + END <= size) snprintf(text + used, size - used, "%s%s", used ? ", " : "", part);
    else snprintf(text + used, size - used, " ...");
}

// "x, y[3]" and "lon, lat", as far as they fit.
static void list_numbers(const hdst__source *source, const hdst__record *record, char *fields, char *columns, size_t size)
{
    fields[0] = columns[0] = 0;
    for (uint32_t i = 0; i < record->leaf_count; i++) {
        char part[100];
        const hdst__leaf *leaf = &record->leaves[i];
        if (!takes_columns(source, leaf)) continue;
        if (leaf->elements > 1) snprintf(part, sizeof part, "%.70s[%llu]", leaf->path, (unsigned long long)leaf->elements);
        else snprintf(part, sizeof part, "%.90s", leaf->path);
        add_part(fields, size, part);
    }
    for (size_t i = 0; i < source->column_count; i++)
        if (source->columns[i].name) add_part(columns, size, source->columns[i].name);
}

static hdst_status width_error(const hdst__source *source, const hdst__record *record, hdst_error *error)
{
    size_t leaves;
    hdst__error_set(error, HDST_E_FORMAT, "'%s' has %llu number%s in a row, record '%s' takes %llu", source->name, (unsigned long long)source->width,
                    source->width == 1 ? "" : "s", record->name, (unsigned long long)count_taken(source, record, &leaves));
    hdst__error_at(error, source->name, 0, 0);
    char fields[150], columns[150];
    list_numbers(source, record, fields, columns, sizeof fields);
    hdst__error_hint(error, "'%.60s' takes %s%s%s; choose columns, or set the record's sizes (params) to fit", record->name, fields,
                     *columns ? ", the file has " : "", columns);
    return HDST_E_FORMAT;
}

// "float64 converted to float32 (rounded to nearest)", each pair of types once.
static void note_conversions(hdst__bound_source *bound)
{
    bool seen[HDST__SCALAR_KINDS][HDST__SCALAR_KINDS] = {{false}};
    size_t length = 0;
    for (size_t i = 0; i < bound->move_count; i++) {
        const hdst__move *m = &bound->moves[i];
        hdst__kind to = bound->record->leaves[m->leaf].kind;
        if (m->from == to || seen[m->from][to]) continue;
        seen[m->from][to] = true;
        const char *how = !hdst__convert_may_round(to, m->from) ? "exactly" : to == HDST__BOOL ? "true when not 0" : "rounded to nearest";
        int n = snprintf(bound->note + length, sizeof bound->note - length, "%s%s%s converted to %s (%s)", length ? "; " : bound->source->name,
                         length ? "" : ": ", hdst__scalar_yaml_name(m->from), hdst__scalar_yaml_name(to), how);
        if (n < 0 || (length += (size_t)n) >= sizeof bound->note) return;
    }
}

// The cells that say whether others were empty lie behind those of the columns.
static void add_validity(hdst__bound_source *bound, size_t of)
{
    const hdst__move *m = &bound->moves[of];
    const uint32_t valid = bound->record->leaves[m->leaf].valid;
    if (!valid) return;
    const size_t cell = bound->as.count++;
    bound->as.cell[m->column].valid = (uint32_t)cell + 1;
    bound->moves[bound->move_count++] = (hdst__move){valid - 1, m->element, 1, HDST__U8, cell * HDST__TEXT_CELL_BYTES, cell, 0};
}

// A text is parsed as the type of its field, so nothing is converted.
static hdst_status choose_forms(hdst__bound_source *bound, hdst_error *error)
{
    const hdst__source *source = bound->source;
    bound->as = (hdst__row_form){.cell = hdst__alloc(source->allocator, source->column_count * sizeof *bound->as.cell), .count = source->column_count};
    if (!bound->as.cell) return hdst__error_memory(error, source->name);
    for (size_t i = 0; i < source->column_count; i++) bound->as.cell[i] = (hdst__cell_form){.kind = HDST__VOID};
    const size_t taken = bound->move_count;
    for (size_t i = 0; i < taken; i++) {
        hdst__move *m = &bound->moves[i];
        const hdst__leaf *leaf = &bound->record->leaves[m->leaf];
        m->from = leaf->kind;
        bound->as.cell[m->column] = (hdst__cell_form){leaf->kind, leaf->time, leaf->missing, 0, leaf->null_values};
        bound->as.skips_missing |= leaf->missing == HDST__MISSING_SKIP;
        if (!source->format->match) add_validity(bound, i);
    }
    bound->row_bytes = bound->as.count * HDST__TEXT_CELL_BYTES;
    return HDST_OK;
}

// Numbers are no texts, nor are texts numbers.
static hdst_status check_texts(const hdst__bound_source *bound, hdst_error *error)
{
    for (size_t i = 0; i < bound->move_count; i++) {
        const hdst__move *m = &bound->moves[i];
        const hdst__leaf *leaf = &bound->record->leaves[m->leaf];
        if ((m->from == HDST__TEXT) == (leaf->kind == HDST__TEXT)) continue;
        const char *column = bound->source->columns[m->column].name;
        hdst__error_set(error, HDST_E_FORMAT, "field '%s' of record '%s' is a %s, column '%s' holds %s", leaf->path, bound->record->name,
                        leaf->kind == HDST__TEXT ? "text" : "number", column ? column : "of its place", m->from == HDST__TEXT ? "text" : "numbers");
        hdst__error_at(error, bound->source->name, 0, 0);
        hdst__error_hint(error, "declare the field as %s in the schema, or read it from another column", hdst__scalar_yaml_name(m->from));
        return HDST_E_FORMAT;
    }
    return HDST_OK;
}

// A record that is a text and nothing else, whatever its name, and a source whose first column is one.
static bool is_one_text(const hdst__source *source, const hdst__record *record)
{
    return record->elements == 1 && record->leaves[0].kind == HDST__TEXT && source->columns[0].kind == HDST__TEXT;
}

// A header that names no field may be data: words stand in the first row of a table of texts, too.
static void note_header(hdst__bound_source *bound)
{
    const hdst__source *source = bound->source;
    if (!source->columns[0].name || source->in_order) return;
    snprintf(bound->note, sizeof bound->note, "%.300s: the first row ('%.60s' ...) is taken for a header", source->name, source->columns[0].name);
}

// Number by number, as the format says.
static hdst_status bind_matched(hdst__bound_source *bound, hdst_error *error)
{
    const hdst__source *source = bound->source;
    size_t columns[HDST__MOST_MATCHED], *from = columns;
    bound->moves = hdst__alloc(source->allocator, HDST__MOST_MATCHED * sizeof *bound->moves);
    hdst_status status = bound->moves ? source->format->match(source, bound->record, columns, error) : hdst__error_memory(error, source->name);
    for (size_t i = 0; i < bound->record->leaf_count && status == HDST_OK; i++)
        for (uint64_t e = 0; e < bound->record->leaves[i].elements; e++, from++) {
            const hdst__column *c = &source->columns[*from];
            bound->moves[bound->move_count++] = (hdst__move){(uint32_t)i, e, 1, c->kind, c->offset, *from, 0};
        }
    if (status != HDST_OK || source->format->is_text) return status == HDST_OK ? choose_forms(bound, error) : status;
    note_conversions(bound);
    return HDST_OK;
}

static hdst_status bind_columns(hdst__bound_source *bound, hdst_error *error)
{
    if (bound->source->format->match) return bind_matched(bound, error);
    const hdst__record *record = bound->record;
    const bool one_text = is_one_text(bound->source, record);
    size_t matches = bound->source->in_order || one_text ? 0 : count_matches(bound->source, record);
    size_t leaves;
    const uint64_t numbers = count_taken(bound->source, record, &leaves);
    bool by_name = matches && matches == leaves;
    if (matches && !by_name) return half_named(bound->source, record, error);
    if (!by_name && !one_text && bound->source->width != numbers) return width_error(bound->source, record, error);
    bound->moves = hdst__alloc(bound->source->allocator, (record->leaf_count + 2 * bound->source->column_count) * sizeof *bound->moves);
    if (!bound->moves) return hdst__error_memory(error, bound->source->name);
    if (by_name) bind_by_name(bound);
    else bind_in_order(bound);
    if (bound->source->format->is_text && record->has_text && !by_name) note_header(bound);
    if (bound->source->format->is_text) return choose_forms(bound, error);
    hdst_status status = check_texts(bound, error);
    if (status == HDST_OK) note_conversions(bound);
    return status;
}

static hdst_status bind_structs(hdst__bound_source *bound, hdst_error *error)
{
    hdst__source *source = bound->source;
    if (bound->record->has_text && !source->format->in_process)
        return hdst__error_set(error, HDST_E_UNSUPPORTED, "record '%s' has a text field, which cannot be read yet", bound->record->name);
    hdst_status status = source->format->bind(source, bound->record, error);
    if (status != HDST_OK) return status;
    jmp_buf out_of_memory;
    bound->arena.out_of_memory = &out_of_memory;
    if (setjmp(out_of_memory)) return hdst__error_memory(error, source->name);
    // A capacity that no index reaches: only the rule of the addresses is wanted.
    bound->rows_as_structs = hdst__storage_make(&bound->arena, bound->record, HDST__AOS, 0, (uint64_t)1 << 20);
    bound->arena.out_of_memory = NULL;
    return HDST_OK;
}

static bool are_numbers_alike(const hdst__bound_source *bound)
{
    for (size_t i = 0; i < bound->move_count; i++)
        if (bound->moves[i].from != bound->record->leaves[bound->moves[i].leaf].kind) return false;
    return true;
}

// Whether a row of numbers, as stored, is the record's C struct to the byte, if these are values of its fields.
static bool may_rows_be_structs(const hdst__bound_source *bound)
{
    if (bound->rows_as_structs) return true;
    if (bound->source->by_column || bound->source->format->fill || hdst__bound_fills_texts(bound)) return false;
    if (bound->source->row_bytes != bound->record->size) return false;
    for (size_t i = 0; i < bound->move_count; i++) {
        const hdst__move *m = &bound->moves[i];
        const hdst__leaf *leaf = &bound->record->leaves[m->leaf];
        if (m->from != leaf->kind && !hdst__convert_keeps_bytes(leaf->kind, m->from)) return false;
        uint64_t size = hdst__scalar_size(m->from), start = hdst__leaf_offset(leaf, m->element);
        // Elements of a leaf lie at growing offsets, so the last one's place says whether all are packed.
        if (start != m->offset || hdst__leaf_offset(leaf, m->element + m->count - 1) != start + (m->count - 1) * size) return false;
    }
    return true;
}

static hdst_status add_staging(hdst__bound_source *bound, hdst_error *error)
{
    const hdst__source *source = bound->source;
    if (source->direct || source->format->fill || hdst__bound_fills_texts(bound)) return HDST_OK;
    bound->staging_rows = HDST__HOST_BOUND_STAGING_BYTES / (bound->row_bytes ? bound->row_bytes : 1);
    if (source->is_counted && bound->staging_rows > source->rows) bound->staging_rows = source->rows;
    if (!bound->staging_rows) bound->staging_rows = 1;
    bound->staging_bytes = bound->staging_rows * bound->row_bytes;
    bound->staging = hdst__alloc(source->allocator, (size_t)bound->staging_bytes);
    return bound->staging ? HDST_OK : hdst__error_memory(error, source->name);
}

// There may be thousands of parts: all read by way of one block, the largest of theirs.
static void share_staging(hdst__bound_source *whole, hdst__bound_source *part)
{
    part->whole = whole;
    void *spare = part->staging;
    if (part->staging_bytes > whole->staging_bytes) {
        spare = whole->staging;
        whole->staging = part->staging;
        whole->staging_bytes = part->staging_bytes;
    }
    part->staging = NULL;
    hdst__free(whole->source->allocator, spare);
}

// Binds each part of a concatenated source by itself: files may have the same columns in different types or orders.
static hdst_status bind_parts(hdst__bound_source *bound, hdst_error *error)
{
    hdst__source *source = bound->source;
    bound->parts = hdst__alloc_zero(source->allocator, source->part_count * sizeof *bound->parts);
    if (!bound->parts) return hdst__error_memory(error, source->name);
    source->is_counted = false;     // raw parts know their rows only now
    for (size_t i = 0; i < source->part_count; i++) {
        hdst_status status = hdst__source_bind_uncounted(source->parts[i], bound->record, &bound->parts[i], error);
        if (status != HDST_OK) return status;
        share_staging(bound, bound->parts[i]);
        const char *note = hdst__bound_source_note(bound->parts[i]);
        if (note && !bound->note[0]) snprintf(bound->note, sizeof bound->note, "%s", note);
    }
    return HDST_OK;
}

static hdst_status bind_single(hdst__bound_source *bound, hdst_error *error)
{
    hdst_status status = bound->source->columns ? bind_columns(bound, error) : bind_structs(bound, error);
    if (!bound->row_bytes) bound->row_bytes = bound->source->row_bytes;
    if (status == HDST_OK) status = add_staging(bound, error);
    bound->rows_may_be_structs = status == HDST_OK && may_rows_be_structs(bound);
    bound->rows_are_structs = bound->rows_may_be_structs && are_numbers_alike(bound);
    if (status == HDST_OK && bound->source->format->find_lines) bound->has_lines = bound->source->format->find_lines(bound, &bound->lines);
    return status;
}

hdst_status hdst__source_bind_uncounted(hdst__source *source, const hdst__record *record, hdst__bound_source **out, hdst_error *error)
{
    *out = NULL;
    hdst__bound_source *bound = hdst__alloc_zero(source->allocator, sizeof *bound);
    if (!bound) return hdst__error_memory(error, source->name);
    bound->source = source;
    bound->record = record;
    pthread_mutex_init(&bound->staging_lock, NULL);
    hdst__arena_init(&bound->arena, source->allocator, NULL);
    const hdst_status status = source->parts ? bind_parts(bound, error) : bind_single(bound, error);
    if (status == HDST_OK) *out = bound;
    else hdst__source_unbind(bound);
    return status;
}

hdst_status hdst__source_bind(hdst__source *source, const hdst__record *record, hdst__bound_source **out, hdst_error *error)
{
    hdst_status status = hdst__source_bind_uncounted(source, record, out, error);
    if (status == HDST_OK) status = hdst__bound_source_count(*out, NULL, error);
    if (status == HDST_OK) return HDST_OK;
    if (*out) hdst__source_unbind(*out);
    *out = NULL;
    return status;
}

bool hdst__bound_source_finds(const hdst__bound_source *bound) { return bound->source->format->finds_texts; }

hdst_status hdst__source_bind_search(const hdst__bound_source *as, const hdst__line_search *search, hdst__bound_source **bound, hdst_error *error)
{
    const hdst_status status = hdst__source_bind_uncounted(as->source, as->record, bound, error);
    if (status == HDST_OK) (*bound)->search = search;
    return status;
}

void hdst__source_unbind(hdst__bound_source *bound)
{
    if (!bound) return;
    const hdst__allocator *allocator = bound->source->allocator;
    for (size_t i = 0; bound->parts && i < bound->source->part_count; i++) hdst__source_unbind(bound->parts[i]);
    hdst__free(allocator, bound->parts);
    hdst__free(allocator, bound->part_end);
    if (bound->as.kept) bound->source->format->forget(bound);
    hdst__arena_destroy(&bound->arena);
    hdst__free(allocator, bound->moves);
    hdst__free(allocator, bound->as.cell);
    hdst__free(allocator, bound->staging);
    pthread_mutex_destroy(&bound->staging_lock);
    hdst__free(allocator, bound);
}

const void *hdst__bound_source_rows(const hdst__bound_source *bound)
{
    const hdst__record *record = bound->record;
    if (bound->source->parts || !bound->source->direct || !bound->rows_are_structs || (uintptr_t)bound->source->direct % record->align) return NULL;
    for (size_t i = 0; i < record->leaf_count; i++)
        if (record->leaves[i].kind == HDST__BOOL) return NULL;      // of which any byte but 0 becomes 1
    return bound->source->direct;
}

bool hdst__bound_source_concurrent(const hdst__bound_source *bound)
{
    if (!bound->source->parts) return bound->source->concurrent;
    for (size_t i = 0; i < bound->source->part_count; i++)
        if (!hdst__bound_source_concurrent(bound->parts[i])) return false;
    return true;
}

bool hdst__bound_source_makes_texts(const hdst__bound_source *bound)
{
    return bound->record->has_text && bound->source->columns;       // C structs have texts that lie elsewhere
}

uint64_t hdst__bound_source_text_bytes(const hdst__bound_source *bound)
{
    const hdst__source *source = bound->source;
    uint64_t most = source->parts || (source->format->is_text && !bound->record->has_text) ? 0 : source->text_bytes;
    for (size_t i = 0; i < source->part_count; i++) {
        const uint64_t bytes = hdst__bound_source_text_bytes(bound->parts[i]);
        if (bytes > most) most = bytes;
    }
    return most;
}

const hdst__line_leaves *hdst__bound_source_lines(const hdst__bound_source *bound) { return bound->has_lines ? &bound->lines : NULL; }

const char *hdst__bound_source_note(const hdst__bound_source *bound) { return bound->note[0] ? bound->note : NULL; }
