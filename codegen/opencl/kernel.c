// SPDX-License-Identifier: Apache-2.0
// From a checked function to a kernel: the form that the device class asks for, and what a launch of one needs.
#include "codegen/opencl/kernel.h"

#include "base/costs_gpu.h"
#include "codegen/opencl/kernel_emit.h"
#include "codegen/opencl/kernel_form.h"

#include "base/costs_cpu.h"

enum { HEAD_WORDS = 8, HOT_WORDS = 4096, CHUNK_WORDS = 6 };     // as in partition_gpu.cl

const hdst__kernel *hdst__kernel_make(hdst__arena *arena, const ir_func *func, const hdst__kernel_options *options, hdst__diags *diags)
{
    if (options->facts.target != HDST__TARGET_GPU) return hdst__kernel_make_cpu(arena, func, options, diags);
    const hdst__kernel *rows = options->writes_rows ? hdst__kernel_make_rows_gpu(arena, func, options, diags) : NULL;
    return rows ? rows : hdst__kernel_make_gpu(arena, func, options, diags);
}

enum { PIECES_AT = 4, PIECES_WORDS = 2 };        // templates/combined_pieces_gpu.cl: of all work-items, of each

uint64_t hdst__kernel_places(const hdst__kernel *kernel, uint32_t compute_units, uint64_t items, uint64_t records)
{
    if (kernel->output_way == IR_OUTPUT_DENSE) return 0;
    if (kernel->output_way == IR_OUTPUT_BOUNDED) return 2 * items;
    const uint64_t most = (uint64_t)compute_units * HDST__GPU_COMBINE_GROUPS_PER_UNIT * kernel->local_size;
    const uint64_t kept = kernel->token_pieces ? PIECES_AT + PIECES_WORDS * (items < most ? items : most) : 2 + (records + 1) / 2;
    const uint64_t marks = kernel->combine_name ? kept : 0, tiles = (records + kernel->local_size - 1) / kernel->local_size;
    if (marks > 1 + tiles) return marks;
    return kernel->one_group_per_strip ? HDST__COUNTS_AT + items * (kernel->at_most ? 3 : 1) : 1 + tiles;
}

uint64_t hdst__kernel_runs_at(const hdst__kernel *kernel, uint64_t items) { return kernel->at_most ? HDST__COUNTS_AT + items : 0; }

// One for each core, if there are enough records: more strips even nothing out here, and each adds up its table.
uint64_t hdst__kernel_strips(const hdst__kernel *kernel, uint64_t items, uint64_t cores, uint64_t records)
{
    if (!kernel->splits_few || records >= items * HDST__CPU_STRIP_STEP) return items;
    const uint64_t most = cores < items ? cores : items, strips = records / HDST__CPU_FEW_RECORDS;
    return strips < 1 ? 1 : strips < most ? strips : most;
}

// Work-groups that others count on, by tables, places or parts of their own, are as many as ever.
uint64_t hdst__kernel_items(const hdst__kernel *kernel, uint64_t items, uint64_t records)
{
    const hdst__gpu_shape *shape = &kernel->shape;
    const uint64_t span = kernel->rows_tile ? kernel->rows_tile : shape->span ? shape->span : (uint64_t)shape->group * shape->records;
    if (!span || kernel->one_group_per_strip || kernel->merges || kernel->tuple_kernel_count || kernel->output_way != IR_OUTPUT_DENSE) return items;
    const uint64_t groups = records ? (records - 1) / span + 1 : 1, needed = groups * kernel->local_size;
    return needed < items ? needed : items;
}

uint64_t hdst__kernel_finish_groups(const hdst__kernel *kernel, const uint64_t *rows)
{
    uint64_t most = 1;
    for (size_t a = 0; a < kernel->tables->accum_count; a++)
        for (size_t leaf = 0; leaf < kernel->tables->accum[a].leaf_count; leaf++) {
            const uint64_t cells = hdst__accum_rows(&kernel->tables->accum[a], rows) * kernel->tables->accum[a].cell[leaf].elements;
            if (cells > most) most = cells;
        }
    return (most - 1) / kernel->local_size + 1;
}

uint64_t hdst__kernel_spare(const hdst__kernel *kernel, uint64_t items) { return items * kernel->spare_records; }

uint64_t hdst__kernel_part_words(const hdst__kernel *kernel, uint64_t groups)
{
    const uint64_t high = kernel->partitions_high, low = kernel->partitions_low, chunks = groups + high;
    const uint64_t counters = high * groups > low * chunks ? high * groups : low * chunks;
    return HEAD_WORDS + high + 1 + high * low + 1 + HOT_WORDS + groups + CHUNK_WORDS * chunks + counters;
}
