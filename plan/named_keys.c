// SPDX-License-Identifier: Apache-2.0
// Keys that a program names (plan/named_keys.h).
#include "plan/named_keys.h"

#include <ctype.h>
#include <string.h>

hdst_status hdst__named_keys_add(hdst__named_keys *keys, const hdst__allocator *allocator, hdst__field_place place, hdst_error *error)
{
    hdst__field_place *grown = hdst__realloc(allocator, keys->place, (keys->count + 1) * sizeof *grown);
    if (!grown) return hdst__error_memory(error, "a key");
    keys->place = grown;
    grown[keys->count++] = place;
    return HDST_OK;
}

static hdst_status add_named(hdst__named_keys *keys, const hdst__allocator *allocator, const char *call, const hdst__record *record, const char *name,
                             size_t length, hdst_error *error)
{
    hdst__field_place place;
    while (length && isspace((unsigned char)*name)) name++, length--;
    while (length && isspace((unsigned char)name[length - 1])) length--;
    if (!length && !record->is_scalar) {
        hdst__error_set(error, HDST_E_USAGE, "a key of %s has no name", call);
        hdst__error_hint(error, "name the fields with commas between: \"user, day\"");
        return HDST_E_USAGE;
    }
    hdst_status status = hdst__field_find_part(record, name, length, &place, error);
    return status == HDST_OK ? hdst__named_keys_add(keys, allocator, place, error) : status;
}

hdst_status hdst__named_keys_read(hdst__named_keys *keys, const hdst__allocator *allocator, const char *call, const hdst__record *record, const char *text,
                                  hdst_error *error)
{
    hdst_status status = HDST_OK;
    for (bool more = true; more && status == HDST_OK;) {
        const size_t length = strcspn(text, ",");
        status = add_named(keys, allocator, call, record, text, length, error);
        more = text[length] == ',';
        text += length + more;
    }
    return status;
}

hdst_status hdst__named_keys_check_size(uint64_t elements, hdst_error *error)
{
    if (elements <= HDST__KEY_WORDS) return HDST_OK;
    return hdst__error_set(error, HDST_E_UNSUPPORTED, "a key of %llu numbers; %d are possible", (unsigned long long)elements, HDST__KEY_WORDS);
}

size_t hdst__named_keys_fields(hdst__arena *arena, const hdst__named_keys *keys, const hdst__record *record, hdst__key_field **fields)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < keys->count; i++) count += keys->place[i].elements;
    *fields = HDST__NEW_ARRAY(arena, hdst__key_field, count);
    for (size_t i = 0; i < keys->count; i++) {
        const hdst__leaf *leaf = &record->leaves[keys->place[i].leaf];
        for (uint64_t e = 0; e < keys->place[i].elements; e++)
            (*fields)[at++] = (hdst__key_field){hdst__leaf_offset(leaf, keys->place[i].element + e), leaf->kind};
    }
    return count;
}

void hdst__named_keys_describe_within(const hdst__named_keys *keys, const hdst__record *record, hdst__buffer *out)
{
    for (size_t i = 0; i < keys->count; i++) hdst__buffer_printf(out, "%s%s", i ? ", " : " within ", record->leaves[keys->place[i].leaf].path);
}
