// SPDX-License-Identifier: Apache-2.0
// Any bytes as a schema: they are read or refused, and what is read can be written in every form and laid out.
#include "record/layout.h"
#include "record/schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static void write_all_forms(hdst__arena *arena, const hdst__schema *schema)
{
    hdst__buffer out;
    hdst__buffer_init(&out, NULL);
    hdst_error error = HDST_ERROR_INIT;
    hdst_status status = hdst__schema_header(arena, schema->name, schema->records, schema->record_count, &out, &error);
    require(status == HDST_OK || (status == HDST_E_SCHEMA && *error.message));
    hdst__schema_show(arena, schema->records, schema->record_count, &out);
    for (size_t i = 0; i < schema->record_count; i++) hdst__schema_numpy(schema->records[i], &out);
    hdst__buffer_destroy(&out);
}

// The last value of a record lies inside its storage, whatever the layout.
static void lay_out(hdst__arena *arena, const hdst__record *record)
{
    enum { RECORDS = 100 };
    require(record->size % record->align == 0 && record->leaf_count > 0);
    for (int layout = HDST__AOS; layout <= HDST__AOP; layout++) {
        const hdst__storage *storage = hdst__storage_make(arena, record, (hdst__layout)layout, 0, RECORDS);
        if (!storage) continue;
        uint32_t last = (uint32_t)record->leaf_count - 1;
        const hdst__leaf *leaf = &record->leaves[last];
        uint64_t end = hdst__storage_offset(storage, last, RECORDS - 1, leaf->elements - 1) + hdst__scalar_size(leaf->kind);
        require(end <= storage->buffer_bytes[storage->leaf[last].buffer]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__arena_init(&arena, NULL, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&arena);
        return 0;
    }
    hdst__diags diags;
    hdst__diags_init(&diags, &arena);
    const hdst__param_value params[] = {{.name = "D", .bits = 3}, {.name = "Z", .bits = 0}, {.name = "R", .real = 0.5, .is_real = true}};
    hdst__schema schema;
    bool good = hdst__schema_read(&diags, "fuzz.yaml", (const char *)data, size, params, 3, size % 2 == 0, &schema);
    require(good == (diags.errors == 0) && (!good || schema.record_count > 0));
    hdst__buffer text;
    hdst__buffer_init(&text, NULL);
    hdst__diags_render(&diags, &text);
    hdst__buffer_destroy(&text);
    if (good) write_all_forms(&arena, &schema);
    for (size_t i = 0; i < schema.record_count; i++) lay_out(&arena, schema.records[i]);
    hdst__arena_destroy(&arena);
    return 0;
}
