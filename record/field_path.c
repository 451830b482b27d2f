// SPDX-License-Identifier: Apache-2.0
// Fields that a program names by a text (record/field_path.h).
#include "record/field_path.h"
#include "record/text_span.h"

#include "base/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    const hdst__record *record; // of the whole path
    const char *path, *at;      // as given; what is left of it
    const hdst__type *type;     // of what the path up to here names
    uint64_t offset;            // bytes in the C struct
    uint64_t element;           // row-major over the dimensions so far
    hdst_error *error;
} walk;

static bool unknown(const walk *w, const hdst__record *inside, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST];
    const size_t count = inside->field_count < MOST ? inside->field_count : MOST;
    for (size_t i = 0; i < count; i++) names[i] = inside->fields[i].name;
    hdst__error_set(w->error, HDST_E_USAGE, "record '%s' has no field '%s'", inside->name, name);
    hdst__error_suggest(w->error, "its fields are", name, names, count);
    return false;
}

static bool enter_field(walk *w, const hdst__record *inside)
{
    char name[128];
    const size_t length = strcspn(w->at, ".[");
    if (!length || length >= sizeof name) {
        hdst__error_set(w->error, HDST_E_USAGE, "'%s' is no path to a field of '%s'", w->path, w->record->name);
        hdst__error_hint(w->error, "write it as in a kernel: 'x', 'from.x', 'line[2].x'");
        return false;
    }
    memcpy(name, w->at, length);
    name[length] = 0;
    const hdst__field *field = hdst__record_field(inside, name);
    if (!field) return unknown(w, inside, name);
    w->at += length;
    w->type = field->type;
    w->offset += field->offset;
    return true;
}

static bool enter_element(walk *w)
{
    char *end;
    const uint64_t index = w->at[1] >= '0' && w->at[1] <= '9' ? strtoull(w->at + 1, &end, 10) : 0;
    if (w->at[1] < '0' || w->at[1] > '9' || *end != ']') {
        hdst__error_set(w->error, HDST_E_USAGE, "the index in '%s' is no number", w->path);
        return false;
    }
    if (w->type->kind != HDST__ARRAY) {
        hdst__error_set(w->error, HDST_E_USAGE, "'%.*s' is no array", (int)(w->at - w->path), w->path);
        return false;
    }
    if (index >= w->type->count) {
        hdst__error_set(w->error, HDST_E_USAGE, "index %" PRIu64 " in '%s' is out of range 0..%" PRIu64, index, w->path, w->type->count - 1);
        return false;
    }
    w->at = end + 1;
    w->element = w->element * w->type->count + index;
    w->type = w->type->element;
    w->offset += index * hdst__type_size(w->type);
    return true;
}

static bool walk_path(walk *w)
{
    const hdst__record *inside = w->record;
    for (;;) {
        if (!enter_field(w, inside)) return false;
        while (*w->at == '[')
            if (!enter_element(w)) return false;
        if (!*w->at) return true;
        if (*w->at != '.' || w->type->kind != HDST__RECORD) {
            hdst__error_set(w->error, HDST_E_USAGE, "'%.*s' of '%s' is no record, so '%s' is no field", (int)(w->at - w->path), w->path, w->record->name,
                            w->path);
            return false;
        }
        inside = w->type->record;
        w->at++;
    }
}

// The leaf that begins at the place of the path, or has an element there.
static uint32_t leaf_at(const walk *w, uint64_t element)
{
    uint32_t l = 0;
    while (l < w->record->leaf_count) {
        const hdst__leaf *leaf = &w->record->leaves[l];
        if (element < leaf->elements && hdst__leaf_offset(leaf, element) == w->offset) break;
        l++;
    }
    return l;
}

static void list_fields(const hdst__record *record, hdst_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST];
    size_t count = 0;
    for (; count < record->field_count && count < MOST; count++) names[count] = record->fields[count].name;
    hdst__error_suggest(error, "its fields are", "", names, count);
}

static hdst_status field_find(const hdst__record *record, const char *path, hdst__field_place *place, hdst_error *error)
{
    const bool named = path && *path;
    if (!named && record->leaf_count != 1) {
        hdst__error_set(error, HDST_E_USAGE, "record '%s' has several fields: name one", record->name);
        list_fields(record, error);
        return HDST_E_USAGE;
    }
    if (!named) {
        *place = (hdst__field_place){.elements = record->leaves[0].elements};
        return HDST_OK;
    }
    walk w = {.record = record, .path = path, .at = path, .error = error};
    if (!walk_path(&w)) return HDST_E_USAGE;
    uint64_t elements = 1, element = w.element;
    for (const hdst__type *t = w.type; t->kind == HDST__ARRAY; t = t->element) {
        elements *= t->count;
        element *= t->count;
    }
    const hdst__type *base = hdst__type_base(w.type);
    if (base->kind == HDST__RECORD) {
        hdst__error_set(error, HDST_E_USAGE, "'%s' of '%s' is a record", path, record->name);
        hdst__error_hint(error, "name one of its fields, as '%s.%s'", path, base->record->fields[0].name);
        return HDST_E_USAGE;
    }
    *place = (hdst__field_place){.leaf = leaf_at(&w, element), .element = element, .elements = elements};
    return HDST_OK;
}

hdst_status hdst__field_find_part(const hdst__record *record, const char *text, size_t length, hdst__field_place *place, hdst_error *error)
{
    char path[256];
    if (length >= sizeof path) return hdst__error_set(error, HDST_E_USAGE, "'%.60s...' is no path to a field of '%s': it is too long", text, record->name);
    memcpy(path, text, length);
    path[length] = 0;
    return field_find(record, path, place, error);
}

hdst_status hdst__field_find_scalar(const hdst__record *record, const char *path, hdst__field_place *place, hdst_error *error)
{
    hdst_status status = field_find(record, path, place, error);
    if (status != HDST_OK || place->elements == 1) return status;
    const char *name = path && *path ? path : record->leaves[0].path;
    hdst__error_set(error, HDST_E_USAGE, "'%s' of '%s' is an array of %" PRIu64 " numbers", name, record->name, place->elements);
    hdst__error_hint(error, "name one of them, as '%s[0]'", name);
    return HDST_E_USAGE;
}

// --- Values ---

// In quotes, without what terminals take amiss; of a long one its beginning.
static size_t describe_text(const char *at, char *text, size_t size)
{
    enum { SHOWN = 60 };
    hdst__text_span span;
    char shown[SHOWN + 1];
    memcpy(&span, at, sizeof span);
    const uint32_t length = span.length < SHOWN ? span.length : SHOWN;
    const char *bytes = hdst__text_bytes(&span);
    for (uint32_t i = 0; i < length; i++) shown[i] = (unsigned char)bytes[i] < ' ' || bytes[i] == 127 ? '?' : bytes[i];
    shown[length] = 0;
    return (size_t)snprintf(text, size, "'%s'%s", shown, span.length > SHOWN ? "..." : "");
}

static size_t describe_value(const hdst__leaf *leaf, const char *at, char *text, size_t size)
{
    uint64_t bits = 0;
    const uint32_t bytes = (uint32_t)hdst__scalar_size(leaf->kind);
    double real;
    float narrow;
    if (leaf->kind == HDST__TEXT) return describe_text(at, text, size);
    memcpy(&bits, at, bytes);
    memcpy(&narrow, &bits, sizeof narrow);
    memcpy(&real, &bits, sizeof real);
    if (leaf->kind == HDST__F32) return (size_t)snprintf(text, size, "%.9g", (double)narrow);
    if (leaf->kind == HDST__F64) return (size_t)snprintf(text, size, "%.17g", real);
    if (!hdst__kind_is_signed(leaf->kind)) return (size_t)snprintf(text, size, "%" PRIu64, bits);
    return (size_t)snprintf(text, size, "%" PRId64, (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

void hdst__fields_describe(const hdst__record *record, const hdst__field_place *fields, size_t count, const char *row, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && length + 1 < size; i++) {
        const hdst__leaf *leaf = &record->leaves[fields[i].leaf];
        length += (size_t)snprintf(text + length, size - length, "%s%s = ", i ? ", " : "", leaf->path);
        if (length + 1 < size) length += describe_value(leaf, row + hdst__leaf_offset(leaf, fields[i].element), text + length, size - length);
        if (fields[i].elements > 1 && length + 1 < size) length += (size_t)snprintf(text + length, size - length, " ...");
    }
}
