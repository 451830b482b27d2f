// SPDX-License-Identifier: Apache-2.0
// A node's input as C structs one after another (plan/row_source.h).
#include "plan/row_source.h"

#include <string.h>

static const hdst__reader *reader_of(const hdst__row_source *source) { return &source->node->inputs[0]->reader; }

void hdst__row_source_make(hdst__arena *arena, const hdst__node *node, const hdst__named_keys *key, hdst__row_source *source)
{
    const hdst__record *record = node->inputs[0]->dataset->record;
    hdst__key_field *fields = NULL;
    const size_t count = key->count ? hdst__named_keys_fields(arena, key, record, &fields) : 0;
    *source = (hdst__row_source){.node = node, .record = record, .key = hdst__key_fields_of(fields, count)};
    source->storage = hdst__storage_make(arena, record, HDST__AOS, 0, (uint64_t)1 << 20);      // the rule of the addresses alone is wanted
}

uint64_t hdst__row_source_count(const hdst__row_source *source) { return reader_of(source)->records; }

hdst_status hdst__row_source_read(const hdst__row_source *source, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const hdst__reader *from = reader_of(source);
    void *buffers[] = {rows};
    return count ? from->fill(from->user, first, count, source->storage, buffers, 0, error) : HDST_OK;
}

bool hdst__row_source_differs(const hdst__row_source *source, const char *a, const char *b)
{
    const hdst__key_fields *key = &source->key;
    if (key->has_text) return hdst__key_fields_compare(key, a, b) != 0;
    for (size_t i = 0; i < key->count; i++)
        if (memcmp(a + key->field[i].offset, b + key->field[i].offset, hdst__scalar_size(key->field[i].kind))) return true;
    return false;
}

const hdst__allocator *hdst__row_source_allocator(const hdst__row_source *source)
{
    return hdst__owned_by(source->node->dataset->object.context, HDST__OWNER_READERS);
}

hdst__reader hdst__row_source_reader(const hdst__row_source *source, const hdst__record *record, uint64_t records)
{
    const hdst__reader *from = reader_of(source);
    return (hdst__reader){.records = records, .record = record, .layout = HDST__AOS, .held = from->held, .concurrent = from->concurrent,
                          .on_device = from->on_device};
}
