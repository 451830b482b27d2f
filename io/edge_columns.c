// SPDX-License-Identifier: Apache-2.0
// Which fields of a record are an edge's vertices and its weight.
#include "io/edges.h"
#include "io/source_csv.h"

#include <string.h>

const char *const hdst__edge_names[HDST__EDGE_COLUMNS] = {"from", "to", "weight"};

// What records call the two ends. A record without such a pair has its fields in order.
static const char *const pairs[][2] = {{"from", "to"}, {"src", "dst"}, {"source", "target"}};

static uint32_t find_leaf(const hdst__record *record, const char *name)
{
    uint32_t i = 0;
    while (i < record->leaf_count && (strcmp(record->leaves[i].path, name) || record->leaves[i].elements != 1)) i++;
    return i;
}

// By number of the record: its column.
static void choose(const hdst__record *record, size_t column[])
{
    for (size_t i = 0; i < record->elements; i++) column[i] = i;
    if (record->leaf_count != record->elements) return;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        const uint32_t from = find_leaf(record, pairs[p][0]), to = find_leaf(record, pairs[p][1]);
        if (from == record->leaf_count || to == record->leaf_count) continue;
        for (size_t i = 0; i < record->elements; i++) column[i] = HDST__EDGE_WEIGHT;
        column[from] = HDST__EDGE_FROM;
        column[to] = HDST__EDGE_TO;
        return;
    }
}

static hdst_status refuse_width(const hdst__source *source, const hdst__record *record, hdst_error *error)
{
    const hdst__edges *edges = source->state;
    const uint64_t line = edges->inner->format->is_text ? hdst__source_csv_model_line(edges->inner) : 0;
    const bool surplus = source->width == HDST__EDGE_COLUMNS && record->elements == 2;
    hdst__error_set(error, HDST_E_FORMAT, "edges of '%s' have %llu numbers, record '%s' takes %llu", source->name, (unsigned long long)source->width,
                    record->name, (unsigned long long)record->elements);
    hdst__error_at(error, source->name, (uint32_t)line, 0);
    if (surplus) hdst__error_hint(error, "the third one is a weight: give the record a third field for it");
    else if (record->elements == HDST__EDGE_COLUMNS) hdst__error_hint(error, "they have no weights: read them as a record of two integers");
    else hdst__error_hint(error, "a record of edges has two integers, and a third field where edges have weights");
    return HDST_E_FORMAT;
}

static hdst_status refuse_kind(const hdst__source *source, const hdst__record *record, const hdst__leaf *leaf, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "field '%s' of record '%s' is a %s, and takes numbers of vertices", leaf->path, record->name,
                    hdst__scalar_yaml_name(leaf->kind));
    hdst__error_at(error, source->name, 0, 0);
    hdst__error_hint(error, "declare it as an integer (uint32, uint64), or, in lists of text, as a text");
    return HDST_E_FORMAT;
}

static bool takes_vertices(const hdst__source *source, hdst__kind kind)
{
    const hdst__edges *edges = source->state;
    if (kind == HDST__TEXT) return edges->inner->format->is_text && !edges->matrix.is_matrix;
    return kind != HDST__BOOL && !hdst__kind_is_float(kind);
}

// As far as it is known before edges are counted.
static bool has_none(const hdst__source *source)
{
    const hdst__edges *edges = source->state;
    if (source->is_counted) return !source->rows;
    return edges->inner->format->is_text && !hdst__source_csv_model_line(edges->inner);
}

hdst_status hdst__edge_columns_match(const hdst__source *source, const hdst__record *record, size_t column[], hdst_error *error)
{
    const bool no_edges = has_none(source), fits = record->elements == 2 || record->elements == HDST__EDGE_COLUMNS;
    if (!fits || (!no_edges && record->elements != source->width)) return refuse_width(source, record, error);
    choose(record, column);
    for (size_t i = 0, number = 0; i < record->leaf_count; number += record->leaves[i++].elements)
        for (uint64_t e = 0; e < record->leaves[i].elements; e++)
            if (column[number + e] != HDST__EDGE_WEIGHT && !takes_vertices(source, record->leaves[i].kind))
                return refuse_kind(source, record, &record->leaves[i], error);
    for (size_t i = 0; i < record->elements; i++)       // of no edges nobody reads a weight
        if (column[i] >= source->column_count) column[i] = source->column_count - 1;
    return HDST_OK;
}
