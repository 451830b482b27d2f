// SPDX-License-Identifier: Apache-2.0
// Several datasets as one, one behind the other.
#include "plan/plan.h"

// --- The node ---

static void describe(const hdst_dataset *dataset, hdst__buffer *out)
{
    (void)dataset;
    hdst__buffer_puts(out, ", one after another");
}

static hdst_status fill_from_union(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                   hdst_error *error)
{
    const hdst__node *node = user;
    for (size_t i = 0; i < node->input_count && count; i++) {
        const hdst__reader *from = &node->inputs[i]->reader;
        if (first >= from->records) {
            first -= from->records;
            continue;
        }
        uint64_t part = from->records - first < count ? from->records - first : count;
        hdst_status status = from->fill(from->user, first, part, storage, buffers, to_first, error);
        if (status != HDST_OK) return status;
        first = 0;
        count -= part;
        to_first += part;
    }
    return HDST_OK;
}

static hdst_status run(hdst__plan *plan, hdst__node *node, hdst_error *error)
{
    (void)plan;
    hdst__reader *reader = &node->reader;
    const hdst__reader *from = &node->inputs[0]->reader;
    *reader = (hdst__reader){fill_from_union, node, 0, from->record, from->layout, from->block, false, true};
    for (size_t i = 0; i < node->input_count; i++)
        if (node->inputs[i]->reader.text_bytes > reader->text_bytes) reader->text_bytes = node->inputs[i]->reader.text_bytes;
    for (size_t i = 0; i < node->input_count; i++) reader->makes_texts |= node->inputs[i]->reader.makes_texts;
    for (size_t i = 0; i < node->input_count; i++) reader->held |= node->inputs[i]->reader.held, reader->concurrent &= node->inputs[i]->reader.concurrent;
    for (size_t i = 0; i < node->input_count; i++) reader->on_device |= node->inputs[i]->reader.on_device;
    for (size_t i = 0; i < node->input_count; i++)
        if (__builtin_add_overflow(reader->records, node->inputs[i]->reader.records, &reader->records))
            return hdst__error_set(error, HDST_E_USAGE, "a union of more than 2^64 records");
    return HDST_OK;
}

const hdst__operator hdst__op_union = {.name = "hdst_union", .gives = HDST__GIVES_OTHERS, .describe = describe, .run = run, .known = hdst__node_inputs_known};

// --- The dataset ---

static hdst_status fill_union(hdst_dataset *dataset, const char *call, const char *const names[2], hdst_dataset *const *inputs, size_t count, hdst_error *error)
{
    dataset->inputs = hdst__alloc_zero(HDST__ALLOCATOR(dataset), count * sizeof *dataset->inputs);
    if (!dataset->inputs) return hdst__error_memory(error, "a union");
    for (size_t i = 0; i < count; i++) {
        hdst_status status = hdst__check_object(dataset->object.context, call, names[i > 0], inputs[i], error);
        if (status == HDST_OK) status = hdst__dataset_has_records(inputs[i], "hdst_union", error);
        if (status != HDST_OK) return status;
        if (!hdst__same_records(inputs[i]->record, inputs[0]->record)) {
            hdst__error_set(error, HDST_E_USAGE, "a union of records of '%s' and of '%s'", inputs[0]->record->name, inputs[i]->record->name);
            hdst__error_hint(error, "records of a union have the same fields; a map makes them so");
            return HDST_E_USAGE;
        }
        dataset->inputs[i] = inputs[i];
        dataset->input_count++;
        if (inputs[i]->nested > dataset->nested) dataset->nested = inputs[i]->nested;
    }
    return HDST_OK;
}

static const hdst_error nothing_to_unite = {.code = HDST_E_USAGE, .message = "a union of no datasets",
                                            .hint = "give one at least: it says which record there is"};
static hdst_dataset no_union = {.object = {.error = (hdst_error *)&nothing_to_unite}};

// names: of the first dataset, of others.
static hdst_dataset *unite(const char *call, const char *const names[2], hdst_dataset *const *datasets, size_t count)
{
    hdst_context *context = datasets[0]->object.context;
    hdst__lock(context);
    hdst_dataset *dataset = hdst__dataset_new(context, &hdst__op_union, datasets[0]);
    hdst_error error = HDST_ERROR_INIT;
    if (!dataset->object.error && fill_union(dataset, call, names, datasets, count, &error) != HDST_OK) hdst__dataset_fail(dataset, &error);
    hdst__unlock(context);
    return dataset;
}

hdst_dataset *hdst_union_all(hdst_dataset *const *datasets, size_t count)
{
    static const char *const names[] = {"datasets", "datasets"};
    if (count == 0) return &no_union;
    HDST__NEEDS(hdst_dataset, datasets ? datasets[0] : NULL, "datasets");
    return unite(__func__, names, datasets, count);
}

hdst_dataset *hdst_union(hdst_dataset *first, hdst_dataset *second)
{
    static const char *const names[] = {"first", "second"};
    HDST__NEEDS(hdst_dataset, first, "first");
    return unite(__func__, names, (hdst_dataset *[]){first, second}, 2);
}
