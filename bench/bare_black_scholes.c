// SPDX-License-Identifier: Apache-2.0
// Call and put prices of float options as hand-written OpenCL for a GPU: the twin of `bench_math --case price`. The
// formula of math.hk with the device's own exp, log and sqrt (none of the native ones, which are rougher), beside a
// kernel that only copies as many bytes: the memory's roof. Once as the compiler divides by itself, which may be 2.5
// units off, and once with divisions and roots rounded correctly, as hdst's are.
//   bare_black_scholes [--records N] [--cpu]
#include "bench/bare.h"
#include "bench/bench.h"

enum { RUNS = 9, LANES = 256 };

static const char source[] =
    "float below(float x)\n"
    "{\n"
    "    const float k = 1.0f / (1.0f + 0.2316419f * fabs(x));\n"
    "    const float sum = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));\n"
    "    const float tail = 0.39894228040143f * exp(-0.5f * x * x) * sum;\n"
    "    return x > 0.0f ? 1.0f - tail : tail;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
    "void price(__global const float *restrict spot, __global const float *restrict strike, __global const float *restrict years, uint n, "
    "__global float2 *restrict prices)\n"
    "{\n"
    "    const float rate = 0.02f, volatility = 0.30f;\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i >= n) return;\n"
    "    const float s = spot[i], x = strike[i], t = years[i], root = sqrt(t);\n"
    "    const float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;\n"
    "    const float n1 = below(d1), n2 = below(d2), worth = x * exp(-rate * t);\n"
    "    prices[i] = (float2)(s * n1 - worth * n2, worth * (1.0f - n2) - s * (1.0f - n1));\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
    "void copy(__global const float *restrict spot, __global const float *restrict strike, __global const float *restrict years, uint n, "
    "__global float2 *restrict prices)\n"
    "{\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i < n) prices[i] = (float2)(spot[i], strike[i] + years[i]);\n"
    "}\n";

typedef struct gpu {
    bare opencl;
    cl_program quick, correct;
    cl_mem column[3], prices;
    cl_uint records;
} gpu;

static gpu open_gpu(cl_device_id device, cl_uint records)
{
    gpu g = {.opencl = bare_open(device), .records = records};
    g.quick = bare_program(&g.opencl, source, "");
    g.correct = bare_program(&g.opencl, source, "-cl-fp32-correctly-rounded-divide-sqrt");
    return g;
}

static void fill(gpu *g)
{
    const size_t bytes = g->records * sizeof(float);
    float *column[3];
    for (int c = 0; c < 3; c++) column[c] = bench_allocate(bytes);
    for (cl_uint r = 0; r < g->records; r++) {
        float option[3];
        bench_option_at(r, option);
        for (int c = 0; c < 3; c++) column[c][r] = option[c];
    }
    for (int c = 0; c < 3; c++) {
        g->column[c] = bare_buffer(&g->opencl, bytes, column[c]);
        free(column[c]);
    }
    g->prices = bare_buffer(&g->opencl, 2 * bytes, NULL);
}

static int by_size(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

// The median of several runs, by the device's clock.
static void measure(const gpu *g, cl_program program, const char *name, const char *how)
{
    const size_t lanes = LANES, items = (g->records + lanes - 1) / lanes * lanes;
    double times[RUNS];
    cl_kernel kernel = bare_kernel(program, name);
    for (cl_uint c = 0; c < 3; c++) must(clSetKernelArg(kernel, c, sizeof g->column[c], &g->column[c]), "clSetKernelArg");
    must(clSetKernelArg(kernel, 3, sizeof g->records, &g->records) | clSetKernelArg(kernel, 4, sizeof g->prices, &g->prices), "clSetKernelArg");
    for (int r = 0; r < RUNS; r++) {
        cl_event event;
        must(clEnqueueNDRangeKernel(g->opencl.queue, kernel, 1, NULL, &items, &lanes, 0, NULL, &event), "clEnqueueNDRangeKernel");
        must(clFinish(g->opencl.queue), "clFinish");
        times[r] = span(event, event);
        clReleaseEvent(event);
    }
    qsort(times, RUNS, sizeof *times, by_size);
    printf("%s%s: %.3f ms, %.0f GB/s read and written\n", name, how, times[RUNS / 2], 20e-6 * (double)g->records / times[RUNS / 2]);
    clReleaseKernel(kernel);
}

int main(int argc, char **argv)
{
    gpu g = open_gpu(find_device(argc > 1 && !strcmp(argv[argc - 1], "--cpu") ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU),
                     (cl_uint)bench_option(argc, argv, "--records", 20000000));
    fill(&g);
    measure(&g, g.quick, "copy", "");
    measure(&g, g.quick, "price", "");
    measure(&g, g.correct, "price", ", rounded correctly");
    float *prices = bench_allocate(2 * (size_t)g.records * sizeof *prices);
    must(clEnqueueReadBuffer(g.opencl.queue, g.prices, CL_TRUE, 0, 2 * (size_t)g.records * sizeof *prices, prices, 0, NULL, NULL), "clEnqueueReadBuffer");
    double sums[3] = {0};
    for (cl_uint r = 0; r < g.records; r++) bench_add_prices(r, (double)prices[2 * (size_t)r], (double)prices[2 * (size_t)r + 1], sums);
    printf("check price %.9g %.9g %.9g\n", sums[0], sums[1], sums[2]);
    free(prices);
    return 0;
}
