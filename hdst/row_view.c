// SPDX-License-Identifier: Apache-2.0
// Views of rows: fields of C structs by their names (hdst/row_view.h).
#include "hdst/row_view.h"

#include "base/error_object.h"

#include <string.h>

static const hdst__leaf *find_leaf(const hdst__record *record, const char *field, hdst_error *error)
{
    if (!field && record->leaf_count == 1) return &record->leaves[0];
    enum { MOST = 64 };
    const char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; i < record->leaf_count; i++) {
        if (field && !strcmp(record->leaves[i].path, field)) return &record->leaves[i];
        if (n < MOST) names[n++] = record->leaves[i].path;
    }
    hdst__error_set(error, HDST_E_USAGE, field ? "record '%s' has no field '%s'" : "record '%s' has several fields: name one%.0s",
                    record->name, field ? field : "");
    hdst__error_suggest(error, "its fields are", field ? field : "", names, n);
    return NULL;
}

static hdst_view make_view(const hdst__row_block *block, const hdst__leaf *leaf)
{
    static const char empty[1];     // an empty result is still a view
    const char *base = block->rows ? (const char *)block->rows + leaf->offset : empty;
    return (hdst_view){base, block->record->size, block->count, leaf->elements, (hdst_type)leaf->kind};
}

// Elements of a leaf inside nested arrays do not lie one after another, which a view cannot say.
static bool is_packed(const hdst__leaf *leaf)
{
    uint64_t expected = hdst__scalar_size(leaf->kind);
    for (uint32_t d = leaf->dims; d-- > 0;) {
        if (leaf->dim[d].stride != expected) return false;
        expected *= leaf->dim[d].count;
    }
    return true;
}

hdst_view hdst__row_view(const hdst__row_block *block, const char *field, hdst_error *error)
{
    const hdst__leaf *leaf = find_leaf(block->record, field, error);
    if (leaf && is_packed(leaf)) return make_view(block, leaf);
    if (leaf) hdst__error_set(error, HDST_E_UNSUPPORTED, "field '%s' lies scattered in its record; take the rows", leaf->path);
    return (hdst_view){0};
}
