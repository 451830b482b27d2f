// SPDX-License-Identifier: Apache-2.0
// The kernel that adds words of tables from other devices (engine/stage/word_addition.h).
#include "engine/stage/word_addition.h"

#include "accum/accum_pieces.h"
#include "base/costs_gpu.h"

hdst_status hdst__word_addition_load(hdst__word_addition *addition, hdst__device *device, hdst_error *error)
{
    jmp_buf out_of_memory;
    if (addition->program && addition->device == device) return HDST_OK;
    hdst__word_addition_unload(addition);
    addition->device = device;
    hdst__arena_init(&addition->text, device->runtime->allocator, &out_of_memory);
    if (setjmp(out_of_memory)) {
        hdst__arena_destroy(&addition->text);
        return hdst__error_memory(error, "the addition of tables");
    }
    hdst__kernel *kernel = HDST__NEW(&addition->text, hdst__kernel);
    *kernel = (hdst__kernel){.name = "add_words", .source = hdst__pieces_text(&addition->text, &hdst__accum_pieces, "add_words.cl"),
                             .build_options = "-cl-std=CL1.2 -w", .local_size = HDST__WORD_ADDITION_GROUP};
    addition->text.out_of_memory = NULL;
    return device->ops->load(device, &(hdst__code){.kernel = kernel}, &addition->program, error);
}

void hdst__word_addition_unload(hdst__word_addition *addition)
{
    if (addition->program) addition->device->ops->unload(addition->device, addition->program);
    if (addition->device) hdst__arena_destroy(&addition->text);
    *addition = (hdst__word_addition){.device = NULL};
}

hdst_status hdst__word_addition_add(const hdst__word_addition *addition, hdst__memory *to, uint64_t first, const hdst__memory *from, uint64_t words,
                                    uint64_t tables, hdst__word_op op, hdst_error *error)
{
    hdst__device *device = addition->device;
    const uint64_t most = device->info->compute_units * HDST__GPU_FINISH_GROUPS_PER_UNIT,
                   groups = (words + HDST__WORD_ADDITION_GROUP - 1) / HDST__WORD_ADDITION_GROUP;
    const hdst__work_arg args[] = {{.memory = to}, {.number = first}, {.memory = from}, {.number = words}, {.number = tables}, {.number = op}};
    if (words == 0 || tables == 0) return HDST_OK;
    return device->ops->work(device, addition->program, args, sizeof args / sizeof *args, groups < most ? groups : most, HDST__WORD_ADDITION_GROUP, error);
}
