// SPDX-License-Identifier: Apache-2.0
// Runs a printed kernel once through cl_run, for tests and measurements (tests/support/kernel_run.h).
#include "tests/support/kernel_run.h"

#include "accum/first_level.h"

#include <stdio.h>
#include <stdlib.h>
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

static size_t place_bytes(const kernel_case *c)
{
    return hdst__kernel_places(c->kernel, 1, c->groups * c->kernel->local_size, c->count) * sizeof(uint64_t);
}

static uint64_t spare_bytes(const kernel_case *c)
{
    for (size_t i = 0; i < c->func->param_count; i++)
        if (c->func->params[i].kind == IR_OUTPUT) return hdst__kernel_spare(c->kernel, c->groups) * c->func->params[i].record->size;
    return 0;
}

static uint64_t room_of(const kernel_case *c)
{
    for (size_t i = 0; i < c->func->param_count; i++)
        if (c->func->params[i].kind == IR_OUTPUT) return c->output_bytes / c->func->params[i].record->size;
    return 0;
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
        const uint64_t words = hdst__tables_first_level_words(tables, c->rows) + hdst__tables_device_words(tables, c->rows);
        bound->device_table = keep_buffer(bound, cl_run_buffer(run, NULL, words_of(words)));
        return c->device_table && bound->device_table && cl_run_write(run, bound->device_table, c->device_table, words * sizeof(int64_t)) ? bound->device_table
                                                                                                                                          : NULL;
    }
    case HDST__ARG_PRIVATE_TABLES: {
        const uint64_t count = c->kernel->group_tables ? c->kernel->group_tables : c->groups;
        uint64_t (*private_words)(const hdst__tables *, const uint64_t *) = c->kernel->strips_twice ? hdst__tables_turns_words : hdst__tables_private_words;
        return keep_buffer(bound, cl_run_buffer(run, NULL, words_of(private_words(tables, c->rows) * count)));
    }
    case HDST__ARG_SCALES: return keep_buffer(bound, cl_run_buffer(run, (void *)c->scales, tables->scale_count * sizeof(int32_t)));
    case HDST__ARG_OUTPUT: return bound->output = keep_buffer(bound, cl_run_buffer(run, NULL, c->output_bytes + spare_bytes(c)));
    case HDST__ARG_PLACES: return bound->places = keep_buffer(bound, cl_run_buffer(run, NULL, place_bytes(c)));
    default: return bound->error = keep_buffer(bound, cl_run_buffer(run, (void *)&(uint64_t){UINT64_MAX}, sizeof(uint64_t)));
    }
}

static bool set(const kernel_bound *bound, cl_uint position, size_t size, const void *value)
{
    bool ok = true;
    for (size_t k = 0; k < 4; k++)
        if (bound->kernel[k]) ok &= clSetKernelArg(bound->kernel[k], position, size, value) == CL_SUCCESS;
    return ok;
}

static bool set_number(const kernel_bound *bound, cl_uint position, uint64_t value) { return set(bound, position, sizeof value, &value); }

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
    case HDST__ARG_BATCH: return set_number(bound, position, 0);
    case HDST__ARG_ROOM: return set_number(bound, position, room_of(c));
    case HDST__ARG_LOCAL: return set(bound, position, local_bytes(c, arg), NULL);
    default: {
        cl_mem buffer = buffer_for(run, c, bound, arg);
        return buffer && set(bound, position, sizeof buffer, &buffer);
    }
    }
}

static bool more_kernels(const hdst__kernel *kernel, kernel_bound *bound)
{
    cl_program program;
    cl_int code = clGetKernelInfo(bound->kernel[2], CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    if (code == CL_SUCCESS && kernel->count_name) bound->kernel[0] = clCreateKernel(program, kernel->count_name, &code);
    if (code == CL_SUCCESS && kernel->scan_name) bound->kernel[1] = clCreateKernel(program, kernel->scan_name, &code);
    if (code == CL_SUCCESS && kernel->merge_name) bound->kernel[3] = clCreateKernel(program, kernel->merge_name, &code);
    return code == CL_SUCCESS;
}

bool kernel_bind(cl_run *run, const kernel_case *c, kernel_bound *bound)
{
    *bound = (kernel_bound){0};
    bound->kernel[2] = cl_run_build(run, c->kernel->source, c->kernel->build_options, c->kernel->name);
    if (!bound->kernel[2] || !more_kernels(c->kernel, bound)) return false;
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
    if (bound->kernel[0] && !cl_run_launch(run, bound->kernel[0], c->groups * local, local)) return false;
    if (bound->kernel[1] && !cl_run_launch(run, bound->kernel[1], local, local)) return false;
    if (!cl_run_launch(run, bound->kernel[2], c->groups * local, local)) return false;
    return !bound->kernel[3] || cl_run_launch(run, bound->kernel[3], c->groups * local, local);
}

// The parts of the strips move together.
static bool collect_places(cl_run *run, kernel_case *c, const kernel_bound *bound)
{
    const size_t bytes = place_bytes(c), size = c->output_bytes / room_of(c);
    uint64_t *places = malloc(bytes);
    bool ok = places && cl_run_read(run, bound->places, places, bytes);
    c->emitted = ok && c->kernel->output_way == IR_OUTPUT_COUNTED ? places[0] : 0;
    for (size_t i = 0; ok && c->kernel->output_way == IR_OUTPUT_BOUNDED && i < bytes / sizeof *places; i += 2) {
        memmove((char *)c->output + c->emitted * size, (const char *)c->output + places[i] * size, places[i + 1] * size);
        c->emitted += places[i + 1];
    }
    free(places);
    return ok;
}

// Rows of the accumulators, made from the device table.
static bool collect_rows(cl_run *run, const kernel_case *c, const kernel_bound *bound)
{
    cl_program program;
    cl_int code = clGetKernelInfo(bound->kernel[2], CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
    cl_kernel finish = code == CL_SUCCESS ? clCreateKernel(program, c->kernel->finish_name, &code) : NULL;
    cl_mem rows[8] = {NULL};
    size_t bytes[8] = {0};
    bool ok = code == CL_SUCCESS;
    for (cl_uint i = 0; i < c->kernel->finish_arg_count && ok; i++) {
        const hdst__arg *arg = &c->kernel->finish_args[i];
        const uint64_t number = arg->kind == HDST__ARG_ROWS ? rows_of(c, arg->index) : 0;
        if (arg->kind == HDST__ARG_FINISHED) {
            const uint32_t param = c->kernel->tables->accum[arg->index].param;
            bytes[arg->index] = rows_of(c, param) * c->func->params[param].record->size;
            rows[arg->index] = cl_run_buffer(run, NULL, bytes[arg->index]);
        }
        const void *value = arg->kind == HDST__ARG_ROWS || arg->kind == HDST__ARG_CLEARS || arg->kind == HDST__ARG_FIRST_ROW ? (const void *)&number
                            : arg->kind == HDST__ARG_DEVICE_TABLE ? (const void *)&bound->device_table
                                                                  : (const void *)&rows[arg->index];
        ok = clSetKernelArg(finish, i, sizeof(uint64_t), value) == CL_SUCCESS;
    }
    ok = ok && cl_run_launch(run, finish, 3 * c->kernel->local_size, c->kernel->local_size);
    for (int a = 0; a < 8; a++) {
        if (rows[a]) ok = ok && cl_run_read(run, rows[a], c->finished[a], bytes[a]);
        if (rows[a]) clReleaseMemObject(rows[a]);
    }
    if (finish) clReleaseKernel(finish);
    return ok;
}

bool kernel_collect(cl_run *run, kernel_case *c, const kernel_bound *bound)
{
    bool ok = true;
    if (bound->device_table)
        ok &= cl_run_read(run, bound->device_table, c->device_table,
                          (hdst__tables_first_level_words(c->kernel->tables, c->rows) + hdst__tables_device_words(c->kernel->tables,
                              c->rows)) * sizeof(int64_t));
    if (c->finished && c->kernel->finish_name) ok &= collect_rows(run, c, bound);
    if (bound->output) ok &= cl_run_read(run, bound->output, c->output, c->output_bytes);
    if (bound->places) ok &= collect_places(run, c, bound);
    c->error = UINT64_MAX;
    if (bound->error) ok &= cl_run_read(run, bound->error, &c->error, sizeof c->error);
    return ok;
}

void kernel_unbind(kernel_bound *bound)
{
    for (size_t k = 0; k < 4; k++)
        if (k != 2 && bound->kernel[k]) clReleaseKernel(bound->kernel[k]);
    cl_run_release(bound->kernel[2]);
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
