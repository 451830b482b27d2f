// SPDX-License-Identifier: Apache-2.0
// OpenCL programs: from memory, from the disk cache or from the driver's compiler; arguments and launch.
#include "engine/device/device_opencl.h"
#include "base/costs_cpu.h"
#include "base/costs_gpu.h"

#include "engine/device/driver_gate.h"
#include "engine/device/opencl_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Building ---

static char *build_log(const hdst__opencl_device *self, cl_program program)
{
    const hdst__allocator *allocator = self->base.runtime->allocator;
    size_t length = 0;
    if (self->cl->clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length) != CL_SUCCESS || length == 0) return NULL;
    char *text = hdst__alloc(allocator, length + 1);
    if (!text) return NULL;
    text[0] = 0;
    self->cl->clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, length, text, NULL);
    text[length] = 0;
    return text;
}

static hdst_status refused(hdst__opencl_device *self, cl_program program, const hdst__kernel *kernel, const hdst__hash *key, cl_int code, hdst_error *error)
{
    const hdst__allocator *allocator = self->base.runtime->allocator;
    char *log = build_log(self, program);
    hdst_status status = hdst__error_set(error, HDST_E_DRIVER, "%s: %s", self->base.info->name, hdst__opencl_error_words(code));
    hdst__error_cause(error, "%s", log && *log ? log : "the driver gives no log");
    char path[400];
    if (hdst__program_cache_keep_source(self->base.cache, key, kernel->source, path, sizeof path))
        hdst__error_hint(error, "the generated source is kept in %s; --device interp runs without a driver", path);
    else
        hdst__error_hint(error, "--device interp runs without a driver");
    if (log) hdst__log_write(&self->base.runtime->log, HDST__LOG_ERROR, "build log of %s:\n%s", kernel->name, log);
    hdst__free(allocator, log);
    return status;
}

static hdst_status build_from_source(hdst__opencl_device *self, const hdst__kernel *kernel, const hdst__hash *key, cl_program *out, hdst_error *error)
{
    cl_int code;
    const char *text = kernel->source;
    cl_program program = self->cl->clCreateProgramWithSource(self->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS) return hdst__opencl_failed(self, "clCreateProgramWithSource", code, error);
    code = self->cl->clBuildProgram(program, 1, &self->device, kernel->build_options, NULL, NULL);
    if (code != CL_SUCCESS) {
        hdst_status status = refused(self, program, kernel, key, code, error);
        self->cl->clReleaseProgram(program);
        return status;
    }
    *out = program;
    return HDST_OK;
}

// False when there is no usable binary on disk.
static bool build_from_disk(hdst__opencl_device *self, const hdst__kernel *kernel, const hdst__hash *key, cl_program *out)
{
    const hdst__allocator *allocator = self->base.runtime->allocator;
    size_t length;
    unsigned char *bytes = hdst__program_cache_read(self->base.cache, key, &length);
    if (!bytes) return false;
    cl_int code, status = CL_SUCCESS;
    const unsigned char *binary = bytes;
    cl_program program = self->cl->clCreateProgramWithBinary(self->context, 1, &self->device, &length, &binary, &status, &code);
    if (code == CL_SUCCESS && status == CL_SUCCESS) code = self->cl->clBuildProgram(program, 1, &self->device, kernel->build_options, NULL, NULL);
    else if (code == CL_SUCCESS) code = status;
    hdst__free(allocator, bytes);
    if (code == CL_SUCCESS) {
        *out = program;
        return true;
    }
    hdst__log_write(&self->base.runtime->log, HDST__LOG_DEBUG, "a program in the kernel cache is of no use to %s: %s", self->base.info->name,
                    hdst__opencl_error_words(code));
    if (program) self->cl->clReleaseProgram(program);
    return false;
}

static hdst_status find_or_build(hdst__opencl_device *self, const hdst__kernel *kernel, hdst__built **out, hdst_error *error)
{
    hdst__hash key = hdst__device_program_key(&self->base, kernel);
    for (hdst__built *built = self->built; built; built = built->next)
        if (built->key.high == key.high && built->key.low == key.low) {
            *out = built;
            return HDST_OK;
        }
    hdst__built *built = hdst__alloc_zero(self->base.runtime->allocator, sizeof *built);
    if (!built) return hdst__error_memory(error, "a program");
    built->key = key;
    hdst__timeline *timeline = self->base.runtime->timeline;
    const double begin = hdst__timeline_begin(timeline);
    built->on_disk = build_from_disk(self, kernel, &key, &built->program);
    hdst_status status = built->on_disk ? HDST_OK : build_from_source(self, kernel, &key, &built->program, error);
    hdst__timeline_end(timeline, begin, built->on_disk ? "load a compiled kernel" : "compile", kernel->func ? kernel->func->name : kernel->name, 0);
    hdst__log_write(&self->base.runtime->log, HDST__LOG_DEBUG, "kernel %s for %s: %s", kernel->name, self->base.info->name,
                    built->on_disk ? "from the kernel cache" : status == HDST_OK ? "compiled" : "refused");
    if (status != HDST_OK) {
        hdst__free(self->base.runtime->allocator, built);
        return status;
    }
    built->next = self->built;
    self->built = built;
    *out = built;
    return HDST_OK;
}

void hdst__opencl_forget_built(hdst__opencl_device *self)
{
    for (hdst__built *built = self->built, *next; built; built = next) {
        next = built->next;
        self->cl->clReleaseProgram(built->program);
        hdst__free(self->base.runtime->allocator, built);
    }
    self->built = NULL;
}

static hdst_status create_kernel(hdst__opencl_device *self, const hdst__built *built, const char *name, cl_kernel *kernel, hdst_error *error)
{
    cl_int result;
    if (!name) return HDST_OK;
    *kernel = self->cl->clCreateKernel(built->program, name, &result);
    if (result == CL_SUCCESS) return HDST_OK;
    *kernel = NULL;
    return hdst__opencl_failed(self, "clCreateKernel", result, error);
}

static void release_kernels(hdst__opencl_device *self, hdst__program *program)
{
    cl_kernel *const kernels[] = {&program->kernel, &program->count, &program->scan, &program->products, &program->merge, &program->finish, &program->spare,
                                &program->combine, &program->gather};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (*kernels[i]) self->cl->clReleaseKernel(*kernels[i]);
        *kernels[i] = NULL;
    }
    for (size_t i = 0; i < HDST__TUPLE_KERNELS; i++) {
        if (program->tuple_kernel[i]) self->cl->clReleaseKernel(program->tuple_kernel[i]);
        program->tuple_kernel[i] = NULL;
    }
}

static hdst_status create_kernels(hdst__opencl_device *self, hdst__program *program, const hdst__kernel *kernel, hdst_error *error)
{
    const hdst__built *built = program->built;
    hdst_status status = create_kernel(self, built, kernel->name, &program->kernel, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->count_name, &program->count, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->scan_name, &program->scan, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->combine_name, &program->combine, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->gather_name, &program->gather, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->products_name, &program->products, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->merge_name, &program->merge, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->finish_name, &program->finish, error);
    if (status == HDST_OK) status = create_kernel(self, built, kernel->overflow_name, &program->spare, error);
    for (uint32_t i = 0; i < kernel->tuple_kernel_count && status == HDST_OK; i++) status = create_kernel(self, built, kernel->tuple_kernel_name[i],
        &program->tuple_kernel[i], error);
    return status;
}

// A binary that the driver took, but that lacks a kernel: it is worth no more than a damaged one. Kernels of it that are in use keep it.
static hdst_status build_anew(hdst__opencl_device *self, hdst__program *program, const hdst__kernel *kernel, hdst_error *error)
{
    hdst__built *built = program->built;
    cl_program made = NULL;
    release_kernels(self, program);
    hdst__log_write(&self->base.runtime->log, HDST__LOG_DEBUG, "the program in the kernel cache has no kernel %s: compiled anew", kernel->name);
    hdst_status status = build_from_source(self, kernel, &built->key, &made, error);
    if (status != HDST_OK) return status;
    self->cl->clReleaseProgram(built->program);
    built->program = made;
    built->on_disk = false;
    return create_kernels(self, program, kernel, error);
}

hdst_status hdst__opencl_load(hdst__device *device, const hdst__code *code, hdst__program **out, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    hdst__program *program = hdst__alloc_zero(device->runtime->allocator, sizeof *program);
    if (!program) return hdst__error_memory(error, "a program");
    program->code = *code;
    if (code->callback) {
        *out = program;
        return HDST_OK;
    }
    hdst_status status = find_or_build(self, code->kernel, &program->built, error);
    if (status == HDST_OK) {
        const bool on_disk = program->built->on_disk;
        status = create_kernels(self, program, code->kernel, on_disk ? NULL : error);       // what goes well in the end leaves no error
        if (status != HDST_OK && on_disk) status = build_anew(self, program, code->kernel, error);
    }
    if (status == HDST_OK) *out = program;
    else hdst__opencl_unload(device, program);
    return status;
}

void hdst__opencl_unload(hdst__device *device, hdst__program *program)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    if (!program) return;
    release_kernels(self, program);
    hdst__free(device->runtime->allocator, program);
}

// PoCL keeps machine code in a cache of its own, and makes another one of each kernel for a binary that is asked for. So it is asked for by the process in
// which what it saves has come to about as much. A suite of tests, each a process, is through long before that pays: HDST_BINARY_STARTS is another number.
static uint32_t starts_before_binary(const hdst__opencl_device *self)
{
    const char *kept = getenv("POCL_KERNEL_CACHE"), *starts = getenv("HDST_BINARY_STARTS");
    if (self->base.limits->binary_after) return self->base.limits->binary_after;
    if (starts && atol(starts) > 0) return (uint32_t)atol(starts);
    return hdst__platform_is_pocl(self->base.info->platform) && !(kept && !strcmp(kept, "0")) ? HDST__CPU_BINARY_STARTS : 1;
}

// Counts this process. The count is of no consequence but for time: two processes that count at once may count as one.
static bool binary_pays(hdst__opencl_device *self, const hdst__built *built)
{
    const uint32_t enough = starts_before_binary(self);
    if (enough <= 1) return true;
    hdst__hash key = built->key;
    hdst__hash_add_text(&key, "starts");
    size_t length;
    char *note = hdst__program_cache_read_note(self->base.cache, &key, &length), text[16] = "";
    if (note) memcpy(text, note, length < sizeof text ? length : sizeof text - 1);
    hdst__free(self->base.runtime->allocator, note);
    const unsigned long starts = strtoul(text, NULL, 10) + 1;
    if (starts >= enough) return true;
    snprintf(text, sizeof text, "%lu", starts);
    hdst__program_cache_write_note(self->base.cache, &key, text);
    return false;
}

// After the first launch, because PoCL makes machine code only then.
static void save(hdst__opencl_device *self, const hdst__built *built)
{
    const hdst__allocator *allocator = self->base.runtime->allocator;
    size_t length = 0;
    if (!hdst__program_cache_usable(self->base.cache) || !binary_pays(self, built)) return;
    if (self->cl->clGetProgramInfo(built->program, CL_PROGRAM_BINARY_SIZES, sizeof length, &length, NULL) != CL_SUCCESS || length == 0) return;
    unsigned char *binary = hdst__alloc(allocator, length);
    if (!binary) return;
    if (self->cl->clGetProgramInfo(built->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        hdst__program_cache_write(self->base.cache, &built->key, binary, length);
    hdst__free(allocator, binary);
}

bool hdst__opencl_proven(hdst__device *device, hdst__program *program)
{
    hdst__built *built = program->built;
    if (!built || built->on_disk) return true;      // a C function has nothing to keep
    if (!hdst__driver_save_begin()) return false;
    save((hdst__opencl_device *)device, built);
    hdst__driver_save_end();
    built->on_disk = true;
    return true;
}

// --- Arguments ---

typedef struct argument {       // as clSetKernelArg wants it
    size_t size;
    const void *value;
    cl_ulong number;
    cl_mem object;
} argument;

static void set_number(argument *arg, uint64_t number)
{
    arg->number = number;
    arg->size = sizeof arg->number;
    arg->value = &arg->number;
}

static void set_memory(argument *arg, const hdst__memory *memory)
{
    arg->object = memory ? memory->object : NULL;
    arg->size = sizeof arg->object;
    arg->value = &arg->object;
}

static uint64_t local_bytes(const hdst__arg *arg, const ir_func *func, const uint64_t *rows)
{
    uint64_t bytes = arg->local_constant;
    for (size_t i = 0; arg->local_per_row && i < func->param_count; i++)
        if (arg->local_per_row[i]) bytes += arg->local_per_row[i] * rows[i];
    return bytes ? bytes : 8;
}

// Set at a time when `arg` stays where it is: the values point into it.
static void fill_argument(const hdst__code *code, const hdst__arg *what, const hdst__launch *at, argument *arg)
{
    switch (what->kind) {
    case HDST__ARG_FIRST: set_number(arg, at->first); break;
    case HDST__ARG_SKIP: set_number(arg, at->skip); break;
    case HDST__ARG_COUNT: set_number(arg, at->count); break;
    case HDST__ARG_INPUT: set_memory(arg, at->input[what->index]); break;
    case HDST__ARG_INPUT_OFFSET: set_number(arg, at->storage->leaf[what->index].offset); break;
    case HDST__ARG_INPUT_STRIDE: set_number(arg, at->storage->leaf[what->index].element_stride); break;
    case HDST__ARG_BROADCAST: set_memory(arg, at->broadcast[what->index]); break;
    case HDST__ARG_ROWS: set_number(arg, at->rows[what->index]); break;
    case HDST__ARG_DEVICE_TABLE: set_memory(arg, at->table); break;
    case HDST__ARG_PRIVATE_TABLES: set_memory(arg, at->strips); break;
    case HDST__ARG_FACTORS: set_memory(arg, at->factors); break;
    case HDST__ARG_SCALES: set_memory(arg, at->scales); break;
    case HDST__ARG_OVERFLOW: set_memory(arg, at->overflow); break;
    case HDST__ARG_PARTITIONS: set_memory(arg, at->partitions); break;
    case HDST__ARG_TUPLES: set_memory(arg, at->tuples); break;
    case HDST__ARG_FLUSH: set_number(arg, at->flush); break;
    case HDST__ARG_BATCH: set_number(arg, at->batch); break;
    case HDST__ARG_OUTPUT: set_memory(arg, at->output); break;
    case HDST__ARG_ROOM: set_number(arg, at->room); break;
    case HDST__ARG_PLACES: set_memory(arg, at->places); break;
    case HDST__ARG_COMBINED: set_memory(arg, at->combined); break;
    case HDST__ARG_COMBINED_TABLES: set_number(arg, at->combined_tables); break;
    case HDST__ARG_COMBINED_BITS: set_number(arg, at->combined_bits); break;
    case HDST__ARG_ERROR: set_memory(arg, at->error); break;
    case HDST__ARG_CLEARS: set_number(arg, at->clears); break;
    case HDST__ARG_FIRST_ROW: set_number(arg, at->first_row); break;
    case HDST__ARG_FINISHED: set_memory(arg, at->finished[what->index]); break;
    case HDST__ARG_TEXTS: set_memory(arg, at->texts); break;
    case HDST__ARG_TEXT_BYTES: set_number(arg, at->text_bytes); break;
    case HDST__ARG_TEXT_HOST: set_number(arg, at->text_host); break;
    case HDST__ARG_TEXT_CONSTANTS: set_memory(arg, at->text_constants); break;
    case HDST__ARG_TEXT_CONSTANTS_HOST: set_number(arg, at->text_constants_host); break;
    case HDST__ARG_LOCAL:
        arg->size = local_bytes(what, code->kernel->func, at->rows);
        arg->value = NULL;
        break;
    }
}

static hdst_status set_listed(hdst__opencl_device *self, const hdst__code *code, const hdst__arg *args, size_t count, cl_kernel kernel,
                              const hdst__launch *at, hdst_error *error)
{
    for (size_t i = 0; i < count; i++) {
        argument arg = {0};
        fill_argument(code, &args[i], at, &arg);
        HDST__CL_TRY(self->cl, self->base.info->name, error, clSetKernelArg, kernel, (cl_uint)i, arg.size, arg.value);
    }
    return HDST_OK;
}

static hdst_status set_arguments(hdst__opencl_device *self, const hdst__code *code, cl_kernel kernel, const hdst__launch *at, hdst_error *error)
{
    return set_listed(self, code, code->kernel->args, code->kernel->arg_count, kernel, at, error);
}

// For the timeline: what the kernel is to its program.
static const char *name_of(const hdst__program *program, cl_kernel kernel)
{
    return kernel == program->kernel ? (program->code.func ? program->code.func->name : program->code.kernel->name)
        : kernel == program->combine ? "combine"
        : kernel == program->gather ? "gather rows"
        : kernel == program->count ? "count output"
        : kernel == program->scan ? "place output"
        : kernel == program->products ? "add up products"
        : kernel == program->merge ? "merge accumulators"
        : kernel == program->finish || kernel == program->spare ? "finish accumulators" : "sort tuples";
}

// Kernels of one launch follow each other in the queue.
static hdst_status enqueue(hdst__opencl_device *self, const hdst__program *program, cl_kernel kernel, uint64_t records, size_t global, size_t local,
                           hdst_error *error)
{
    cl_event event;
    const bool waits = self->last_in && !self->in_awaited;
    HDST__CL_TRY(self->cl, self->base.info->name, error, clEnqueueNDRangeKernel, self->compute, kernel, 1, NULL, &global, &local, waits ? 1 : 0,
                 waits ? &self->last_in : NULL, hdst__opencl_event(self, &event));
    hdst__opencl_record(self, HDST__TRACK_COMPUTE, event, name_of(program, kernel), records, 0);
    return hdst__opencl_launched(self, event, error);
}

// The launch's time begins with the kernel that was submitted last.
static hdst_status begins_here(hdst__opencl_device *self, hdst_error *error)
{
    if (self->begun) self->cl->clReleaseEvent(self->begun);
    self->begun = self->last_launch;
    if (!self->begun) return HDST_OK;           // it hurries
    HDST__CL_TRY(self->cl, self->base.info->name, error, clRetainEvent, self->begun);
    return HDST_OK;
}

// What goes to tables of work-groups, or of stretches of records, and from these to the device's.
static hdst_status merge_after(hdst__opencl_device *self, const hdst__program *program, const hdst__launch *at, size_t global, size_t local, hdst_error *error)
{
    hdst_status status = program->count ? HDST_OK : begins_here(self, error);
    if (program->products) global = program->code.product_groups * local;
    if (status == HDST_OK && program->products) status = set_arguments(self, &program->code, program->products, at, error);
    if (status == HDST_OK && program->products) status = enqueue(self, program, program->products, at->count, global, local, error);
    if (status == HDST_OK) status = set_arguments(self, &program->code, program->merge, at, error);
    return status == HDST_OK ? enqueue(self, program, program->merge, at->count, global, local, error) : status;
}

static hdst_status count_first(hdst__opencl_device *self, const hdst__program *program, const hdst__launch *at, size_t global, size_t local, hdst_error *error)
{
    hdst_status status = set_arguments(self, &program->code, program->count, at, error);
    if (status == HDST_OK) status = enqueue(self, program, program->count, at->count, global, local, error);
    if (status != HDST_OK) return status;
    status = begins_here(self, error);
    if (status != HDST_OK || !program->scan) return status;
    status = set_arguments(self, &program->code, program->scan, at, error);
    return status == HDST_OK ? enqueue(self, program, program->scan, at->count, local, local, error) : status;
}

// In place of the kernels that write records: the one that puts them into a table, or makes records of its rows.
static hdst_status combine(hdst__opencl_device *self, const hdst__program *program, const hdst__launch *at, size_t global, size_t local, hdst_error *error)
{
    const cl_kernel kernel = at->gathers ? program->gather : program->combine;
    const size_t most = self->base.info->compute_units * HDST__GPU_COMBINE_GROUPS_PER_UNIT * local;
    if (global > most) global = most;       // as each has keys of its own to add up
    const hdst_status status = at->gathers ? set_listed(self, &program->code, hdst__gather_args, HDST__GATHER_ARGS, kernel, at, error)
                                           : set_arguments(self, &program->code, kernel, at, error);
    return status == HDST_OK ? enqueue(self, program, kernel, at->gathers ? 0 : at->count, global, local, error) : status;
}

// All whole tiles of the slice. *rest is what is left of it.
static hdst_status launch_parts(hdst__opencl_device *self, const hdst__program *program, const hdst__launch *at, size_t global, size_t local,
                                hdst__launch *rest, hdst_error *error)
{
    const hdst__kernel *kernel = program->code.kernel;
    hdst_status status = HDST_OK;
    for (uint32_t i = 0; i < kernel->tuple_kernel_count && status == HDST_OK; i++) {
        status = set_arguments(self, &program->code, program->tuple_kernel[i], at, error);
        if (status == HDST_OK) status = enqueue(self, program, program->tuple_kernel[i], at->count, global, local, error);
        if (status == HDST_OK && i == 0) status = begins_here(self, error);
    }
    const uint64_t whole = at->count / kernel->tuple_tile * kernel->tuple_tile;
    *rest = *at;
    rest->first += whole;
    rest->skip += whole;
    rest->count -= whole;
    return status;
}

hdst_status hdst__opencl_launch(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const hdst__kernel *kernel = program->code.kernel;
    if (program->code.callback) return hdst__opencl_call(self, program, at, error);
    size_t local = kernel->local_size ? kernel->local_size : 1, global = (size_t)program->code.items;
    if (program->code.fold) {           // a work-item for each output record
        size_t runs = (size_t)((at->count + HDST__FOLD_RECORDS - 1) / HDST__FOLD_RECORDS);
        global = (runs + local - 1) / local * local;
    }
    global = (size_t)hdst__kernel_strips(kernel, global, self->base.info->compute_units, at->count);
    global = (size_t)hdst__kernel_items(kernel, global, at->count);
    if (program->combine && at->combined) return combine(self, program, at, global, local, error);
    hdst_status status = program->count ? count_first(self, program, at, global, local, error) : HDST_OK;
    hdst__launch rest;
    if (status == HDST_OK && kernel->tuple_kernel_count) {
        status = launch_parts(self, program, at, global, local, &rest, error);
        if (status != HDST_OK || rest.count == 0) return status;
        at = &rest;
    }
    if (status == HDST_OK) status = set_arguments(self, &program->code, program->kernel, at, error);
    if (status == HDST_OK) status = enqueue(self, program, program->kernel, at->count, global, local, error);
    return status == HDST_OK && program->merge ? merge_after(self, program, at, global, local, error) : status;
}

hdst_status hdst__opencl_finish_table(hdst__device *device, hdst__program *program, const hdst__launch *at, hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    const hdst__kernel *kernel = program->code.kernel;
    const size_t local = kernel->local_size, most = device->info->compute_units * HDST__GPU_FINISH_GROUPS_PER_UNIT * local;
    hdst_status status = self->begun || !self->last_launch ? HDST_OK : begins_here(self, error);
    const size_t needed = (size_t)hdst__kernel_finish_groups(kernel, at->rows) * local, global = needed < most ? needed : most;
    if (status == HDST_OK && program->finish)
        status = set_listed(self, &program->code, kernel->finish_args, kernel->finish_arg_count, program->finish, at, error);
    if (status == HDST_OK && program->finish) status = enqueue(self, program, program->finish, 0, global, local, error);
    if (status != HDST_OK || !program->spare) return status;
    status = set_listed(self, &program->code, kernel->finish_args, kernel->finish_arg_count, program->spare, at, error);
    return status == HDST_OK ? enqueue(self, program, program->spare, 0, most, local, error) : status;
}

hdst_status hdst__opencl_work(hdst__device *device, hdst__program *program, const hdst__work_arg *args, size_t count, uint64_t groups, uint32_t local,
                              hdst_error *error)
{
    hdst__opencl_device *self = (hdst__opencl_device *)device;
    for (size_t i = 0; i < count; i++) {
        argument arg = {0};
        if (args[i].memory) set_memory(&arg, args[i].memory);
        else set_number(&arg, args[i].number);
        HDST__CL_TRY(self->cl, device->info->name, error, clSetKernelArg, program->kernel, (cl_uint)i, arg.size, arg.value);
    }
    return enqueue(self, program, program->kernel, 0, (size_t)groups * local, local, error);
}
