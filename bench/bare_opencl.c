// SPDX-License-Identifier: Apache-2.0
// The least a C program can do to get an answer from an OpenCL device: open the first one (of the wanted class), load a program binary that an earlier
// run saved, launch one kernel on 1,000 numbers, read them, look at them. bench/run.py measures hdst's start-up against it.
// usage: bare_opencl BINARY-FILE [cpu|gpu]     (builds from source and writes the file when it is not there)
#include "bench/bare.h"

#include <string.h>

enum { RECORDS = 1000 };

static const char source[] = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void twice(__global float *x, uint n)\n"
                             "{\n"
                             "    size_t strips = get_global_size(0), s = get_global_id(0);\n"
                             "    for (uint i = n * s / strips; i < n * (s + 1) / strips; i++) x[i] *= 2.0f;\n"
                             "}\n";

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    if (data && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

static void save_binary(cl_program program, const char *path)
{
    size_t size = 0;
    must(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), "CL_PROGRAM_BINARY_SIZES");
    unsigned char *binary = malloc(size + 1);
    must(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), "CL_PROGRAM_BINARIES");
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(binary, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(6);
    }
    free(binary);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bare_opencl BINARY-FILE [cpu|gpu]\n");
        return 2;
    }
    cl_int status;
    cl_device_id device = find_device(argc > 2 && !strcmp(argv[2], "gpu") ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    must(status, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    must(status, "clCreateCommandQueue");

    size_t size = 0;
    const unsigned char *binary = read_file(argv[1], &size);
    const char *text = source;
    cl_program program = binary ? clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, &status)
                                : clCreateProgramWithSource(context, 1, &text, NULL, &status);
    must(status, "creating the program");
    must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "twice", &status);
    must(status, "clCreateKernel");

    float numbers[RECORDS];
    for (int i = 0; i < RECORDS; i++) numbers[i] = (float)i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &status);
    must(status, "clCreateBuffer");
    cl_uint n = RECORDS;
    must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    must(clSetKernelArg(kernel, 1, sizeof n, &n), "clSetKernelArg");
    size_t global = 16, local = 1;
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (int i = 0; i < RECORDS; i++)
        if (numbers[i] != 2.0f * (float)i) {
            fprintf(stderr, "bare_opencl: wrong result at %d\n", i);
            return 1;
        }
    // Saved after the launch: PoCL makes machine code only then.
    if (!binary) save_binary(program, argv[1]);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    free((void *)binary);
    puts(binary ? "ok, from the saved binary" : "ok, built and saved");
    return 0;
}
