// SPDX-License-Identifier: Apache-2.0
// Records with a key, as operators by key take them (plan/keyed_records.h).
#include "plan/keyed_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Whether the leaf is the field, or lies in it.
static bool is_in(const hdst__leaf *leaf, const char *field)
{
    const size_t length = strlen(field);
    return !strncmp(leaf->path, field, length) && (leaf->path[length] == 0 || leaf->path[length] == '.');
}

bool hdst__is_key_leaf(const hdst__record *record, uint32_t leaf)
{
    bool declared = false;
    for (size_t i = 0; i < record->field_count; i++) {
        declared |= record->fields[i].is_key;
        if (record->fields[i].is_key && is_in(&record->leaves[leaf], record->fields[i].name)) return true;
    }
    return !declared && is_in(&record->leaves[leaf], "key");
}

uint32_t hdst__key_leaves(const hdst__record *record, uint32_t *leaves)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < record->leaf_count; i++)
        if (hdst__is_key_leaf(record, i)) leaves[count++] = i;
    return count;
}

const char *hdst__leaf_text(const hdst__leaf *leaf, char text[160])
{
    if (leaf->dims) snprintf(text, 160, "%s[%" PRIu64 "] '%.100s'", hdst__scalar_c_name(leaf->kind), leaf->elements, leaf->path);
    else snprintf(text, 160, "%s '%.100s'", hdst__scalar_c_name(leaf->kind), leaf->path);
    return text;
}

// Leaf `path` of the keyed record is leaf `name` of the reduce's record, itself or inside a nested one.
static bool ends_with(const char *path, const char *name)
{
    const size_t length = strlen(path), end = strlen(name);
    return length >= end && !strcmp(path + length - end, name) && (length == end || path[length - end - 1] == '.');
}

static hdst_status misfit(const hdst__record *keyed, const ast_function *reduce, uint32_t position, const hdst__leaf *is, const char *wanted, hdst_error *error)
{
    char text[160];
    hdst__error_set(error, HDST_E_USAGE, "'%s' takes %s as value %u; '%s' has %s there", reduce->name, wanted, position, keyed->name,
                    is ? hdst__leaf_text(is, text) : "nothing");
    hdst__error_hint(error, "the fields beside the key are those of the reduce's record, in order and with their names");
    return HDST_E_USAGE;
}

hdst_status hdst__keyed_values_fit(const hdst__record *keyed, const ast_function *reduce, hdst_error *error)
{
    const hdst__type *type = reduce->params[0]->type;
    const hdst__record *values = type->kind == HDST__RECORD ? type->record : NULL;
    const uint32_t wanted = values ? (uint32_t)values->leaf_count : 1;
    uint32_t position = 0;
    char text[160];
    for (uint32_t i = 0; i < keyed->leaf_count; i++) {
        const hdst__leaf *leaf = &keyed->leaves[i], *to = values && position < wanted ? &values->leaves[position] : NULL;
        if (hdst__is_key_leaf(keyed, i)) continue;
        position++;
        if (position > wanted) return misfit(keyed, reduce, position, leaf, "nothing", error);
        if (to && (leaf->kind != to->kind || leaf->elements != to->elements || !ends_with(leaf->path, to->path)))
            return misfit(keyed, reduce, position, leaf, hdst__leaf_text(to, text), error);
        if (!to && (leaf->kind != type->kind || leaf->dims)) return misfit(keyed, reduce, position, leaf, hdst__scalar_c_name(type->kind), error);
    }
    if (position == wanted) return HDST_OK;
    return misfit(keyed, reduce, position + 1, NULL, values ? hdst__leaf_text(&values->leaves[position], text) : hdst__scalar_c_name(type->kind), error);
}
