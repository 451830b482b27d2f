// SPDX-License-Identifier: Apache-2.0
// The kernels that add words of tables from other devices, and make them narrow on their way (engine/stage/word_addition.h).
#include "engine/stage/word_addition.h"

#include "accum/accum_pieces.h"
#include "base/costs_gpu.h"
#include "engine/device/library_kernel.h"

enum { ADD, SPAN, NARROW, ADD_NARROW };

static void write_text(hdst__writer *out, const void *user)
{
    (void)user;
    hdst__write_text(out, hdst__pieces_text(out->arena, &hdst__accum_pieces, "add_words.cl"));
}

static hdst_status load(hdst__word_addition *addition, int kernel, hdst_error *error)
{
    static const char *const names[] = {[ADD] = "add_words", [SPAN] = "span_words", [NARROW] = "narrow_words", [ADD_NARROW] = "add_narrow_words"};
    return hdst__library_kernel_load(addition->device, addition->text, names[kernel], HDST__WORD_ADDITION_GROUP, &addition->kernel[kernel],
                                     &addition->program[kernel], error);
}

hdst_status hdst__word_addition_load(hdst__word_addition *addition, hdst__device *device, hdst_error *error)
{
    if (addition->device == device && addition->program[ADD]) return HDST_OK;
    hdst__word_addition_unload(addition);
    addition->device = device;
    hdst__arena_init(&addition->arena, device->runtime->allocator, NULL);
    const hdst_status status = hdst__library_kernel_text(&addition->arena, write_text, NULL, "the addition of tables", &addition->text, error);
    return status == HDST_OK ? load(addition, ADD, error) : status;
}

void hdst__word_addition_unload(hdst__word_addition *addition)
{
    hdst__device *device = addition->device;
    if (!device) return;
    for (int i = 0; i < HDST__WORD_KERNELS; i++) device->ops->unload(device, addition->program[i]);
    device->ops->release(device, addition->narrow);
    device->ops->release(device, addition->spans);
    hdst__free(device->runtime->allocator, addition->spans_here);
    hdst__arena_destroy(&addition->arena);
    *addition = (hdst__word_addition){.device = NULL};
}

static uint64_t groups_for(const hdst__word_addition *addition, uint64_t words)
{
    return hdst__device_groups(addition->device, (words + HDST__WORD_ADDITION_GROUP - 1) / HDST__WORD_ADDITION_GROUP, HDST__GPU_FINISH_GROUPS_PER_UNIT);
}

static hdst_status run(const hdst__word_addition *addition, int kernel, const hdst__work_arg *args, size_t count, uint64_t words, hdst_error *error)
{
    if (words == 0) return HDST_OK;
    return addition->device->ops->work(addition->device, addition->program[kernel], args, count, groups_for(addition, words), HDST__WORD_ADDITION_GROUP,
                                       error);
}

hdst_status hdst__word_addition_add(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t at,
                                    uint64_t words, uint64_t tables, hdst__word_op op, hdst_error *error)
{
    const hdst__work_arg args[] = {{.memory = to}, {.number = first}, {.memory = from},
                                    {.number = at}, {.number = words}, {.number = tables}, {.number = op}};
    return tables ? run(addition, ADD, args, sizeof args / sizeof *args, words, error) : HDST_OK;
}

// --- Narrow words ---

static uint64_t span_bytes(const hdst__word_addition *addition, uint64_t words) { return groups_for(addition, words) * 2 * sizeof(uint64_t); }

static hdst_status take_narrow_memory(hdst__word_addition *addition, uint64_t words, hdst_error *error)
{
    static const char what[] = "accumulators on their way";
    hdst__device *device = addition->device;
    hdst_status status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, words * sizeof(uint32_t), what, &addition->narrow, error);
    if (status == HDST_OK)
        status = device->ops->alloc(device, HDST__MEMORY_DEVICE, HDST__OWNER_ACCUMULATORS, span_bytes(addition, words), what, &addition->spans, error);
    if (status != HDST_OK) return status;
    addition->spans_here = hdst__alloc_zero(device->runtime->allocator, span_bytes(addition, words));
    return addition->spans_here ? HDST_OK : hdst__error_memory(error, what);
}

hdst_status hdst__word_addition_may_narrow(hdst__word_addition *addition, uint64_t words, hdst_error *error)
{
    const hdst__device_ops *ops = addition->device->ops;
    hdst_status status = HDST_OK;
    if (addition->spans_here) return HDST_OK;
    for (int i = SPAN; i < HDST__WORD_KERNELS && status == HDST_OK; i++) status = load(addition, i, error);
    if (status == HDST_OK) status = take_narrow_memory(addition, words, error);
    if (status == HDST_OK) return status;
    ops->release(addition->device, addition->narrow);
    ops->release(addition->device, addition->spans);
    addition->narrow = addition->spans = NULL;
    return status;
}

// A sum keeps its sign in the 32 bits, and loses zeros at its end; other words have none to lose.
static bool fits(const hdst__word_addition *addition, uint64_t words, hdst__word_op op, uint32_t *shift)
{
    uint64_t bits = 0, size = 0;
    for (uint64_t i = 0; i < groups_for(addition, words); i++) {
        bits |= addition->spans_here[2 * i];
        size |= addition->spans_here[2 * i + 1];
    }
    *shift = 0;
    if (op != HDST__WORD_ADD) return bits <= UINT32_MAX;
    *shift = bits ? (uint32_t)__builtin_ctzll(bits) : 0;
    return size >> *shift <= INT32_MAX;
}

hdst_status hdst__word_addition_narrow(const hdst__word_addition *addition, const hdst__memory *table, uint64_t words, hdst__word_op op, bool *narrow,
                                       uint32_t *shift, hdst_error *error)
{
    hdst__device *device = addition->device;
    const hdst__work_arg look[] = {{.memory = table}, {.number = words}, {.memory = addition->spans}};
    *narrow = false;
    hdst_status status = run(addition, SPAN, look, sizeof look / sizeof *look, words, error);
    if (status == HDST_OK) status = device->ops->read(device, addition->spans, 0, addition->spans_here, span_bytes(addition, words), true, error);
    if (status != HDST_OK || !fits(addition, words, op, shift)) return status;
    *narrow = true;
    const hdst__work_arg take[] = {{.memory = table}, {.number = words}, {.number = *shift}, {.memory = addition->narrow}};
    return run(addition, NARROW, take, sizeof take / sizeof *take, words, error);
}

hdst_status hdst__word_addition_add_narrow(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t at,
                                           uint64_t words, uint32_t shift, hdst__word_op op, hdst_error *error)
{
    const hdst__work_arg args[] = {{.memory = to}, {.number = first}, {.memory = from}, {.number = at}, {.number = words}, {.number = shift}, {.number = op}};
    return run(addition, ADD_NARROW, args, sizeof args / sizeof *args, words, error);
}
