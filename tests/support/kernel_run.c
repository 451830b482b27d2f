// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_run.h"

#include <stdio.h>
#include <string.h>

static cl_mem keep_buffer(kernel_bound *bound, cl_mem buffer)
{
    if (buffer && bound->buffers < sizeof bound->buffer / sizeof *bound->buffer) bound->buffer[bound->buffers++] = buffer;
    return buffer;
}

static uint64_t rows_of(const kernel_case *c, uint32_t param)
{
    return c->func->params[param].kind == IR_BROADCAST_TABLE ? c->broadcast[param].rows : c->rows[param];
}

static uint64_t local_bytes(const kernel_case *c, const hdst__arg *arg)
{
    uint64_t bytes = arg->local_constant;
    for (uint32_t i = 0; i < c->func->param_count; i++)
        if (arg->local_per_row[i]) bytes += arg->local_per_row[i] * rows_of(c, i);
    return bytes;
}

// Tables have storage for one row at least, as a failed record may touch row 0 of a table without rows.
static size_t words_of(uint64_t words)
{
    return (size_t)(words + 1024) * sizeof(int64_t);
}

static cl_mem buffer_for(cl_run *run, const kernel_case *c, kernel_bound *bound, const hdst__arg *arg)
{
    const hdst__tables *tables = c->kernel->tables;
    switch (arg->kind) {
    case HDST__ARG_INPUT: return keep_buffer(bound, cl_run_wrap(run, c->input_buffers[arg->index], c->input->buffer_bytes[arg->index]));
    case HDST__ARG_BROADCAST: {
        const uint64_t size = c->func->params[arg->index].record->size, rows = c->broadcast[arg->index].rows;
        return keep_buffer(bound, cl_run_buffer(run, rows ? (void *)c->broadcast[arg->index].data : NULL, rows ? rows * size : size));
    }
    case HDST__ARG_DEVICE_TABLE: {
        const uint64_t words = hdst__tables_device_words(tables, c->rows);
        bound->device_table = keep_buffer(bound, cl_run_buffer(run, NULL, words_of(words)));
        return c->device_table && bound->device_table && cl_run_write(run, bound->device_table, c->device_table, words * sizeof(int64_t)) ? bound->device_table
                                                                                                                                          : NULL;
    }
    case HDST__ARG_STRIP_TABLES: return keep_buffer(bound, cl_run_buffer(run, NULL, words_of(hdst__tables_strip_words(tables, c->rows) * c->groups)));
    case HDST__ARG_SCALES: return keep_buffer(bound, cl_run_buffer(run, (void *)c->scales, tables->scale_count * sizeof(int32_t)));
    case HDST__ARG_OUTPUT: return bound->output = keep_buffer(bound, cl_run_buffer(run, NULL, c->output_bytes));
    case HDST__ARG_KEEP: return bound->keep = keep_buffer(bound, cl_run_buffer(run, NULL, c->count));
    default: return bound->error = keep_buffer(bound, cl_run_buffer(run, (void *)&(uint64_t){UINT64_MAX}, sizeof(uint64_t)));
    }
}

static bool set_number(const kernel_bound *bound, cl_uint position, uint64_t value)
{
    return clSetKernelArg(bound->kernel, position, sizeof value, &value) == CL_SUCCESS;
}

static bool set_arg(cl_run *run, const kernel_case *c, kernel_bound *bound, cl_uint position, const hdst__arg *arg)
{
    switch (arg->kind) {
    case HDST__ARG_FIRST: return set_number(bound, position, c->first);
    case HDST__ARG_SKIP: return set_number(bound, position, c->skip);
    case HDST__ARG_COUNT: return set_number(bound, position, c->count);
    case HDST__ARG_INPUT_OFFSET: return set_number(bound, position, c->input->leaf[arg->index].offset);
    case HDST__ARG_INPUT_STRIDE: return set_number(bound, position, c->input->leaf[arg->index].element_stride);
    case HDST__ARG_ROWS: return set_number(bound, position, rows_of(c, arg->index));
    case HDST__ARG_FLUSH: return set_number(bound, position, c->flush);
    case HDST__ARG_LOCAL: return clSetKernelArg(bound->kernel, position, local_bytes(c, arg), NULL) == CL_SUCCESS;
    default: {
        cl_mem buffer = buffer_for(run, c, bound, arg);
        return buffer && clSetKernelArg(bound->kernel, position, sizeof buffer, &buffer) == CL_SUCCESS;
    }
    }
}

bool kernel_bind(cl_run *run, const kernel_case *c, kernel_bound *bound)
{
    *bound = (kernel_bound){0};
    bound->kernel = cl_run_build(run, c->kernel->source, c->kernel->build_options, c->kernel->name);
    if (!bound->kernel) return false;
    for (cl_uint i = 0; i < c->kernel->arg_count; i++)
        if (!set_arg(run, c, bound, i, &c->kernel->args[i])) {
            fprintf(stderr, "kernel_run: argument %u was refused\n", i);
            return false;
        }
    return true;
}

bool kernel_launch(cl_run *run, const kernel_case *c, const kernel_bound *bound)
{
    const size_t local = c->kernel->local_size;
    return cl_run_launch(run, bound->kernel, c->groups * local, local);
}

bool kernel_collect(cl_run *run, kernel_case *c, const kernel_bound *bound)
{
    bool ok = true;
    if (bound->device_table)
        ok &= cl_run_read(run, bound->device_table, c->device_table, hdst__tables_device_words(c->kernel->tables, c->rows) * sizeof(int64_t));
    if (bound->output) ok &= cl_run_read(run, bound->output, c->output, c->output_bytes);
    if (bound->keep) ok &= cl_run_read(run, bound->keep, c->keep, c->count);
    c->error = UINT64_MAX;
    if (bound->error) ok &= cl_run_read(run, bound->error, &c->error, sizeof c->error);
    return ok;
}

void kernel_unbind(kernel_bound *bound)
{
    cl_run_release(bound->kernel);
    for (size_t i = 0; i < bound->buffers; i++) clReleaseMemObject(bound->buffer[i]);
    *bound = (kernel_bound){0};
}

bool kernel_run(cl_run *run, kernel_case *c)
{
    kernel_bound bound;
    const bool ok = kernel_bind(run, c, &bound) && kernel_launch(run, c, &bound) && kernel_collect(run, c, &bound);
    kernel_unbind(&bound);
    return ok;
}
