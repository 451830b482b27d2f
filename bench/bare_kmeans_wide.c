// SPDX-License-Identifier: Apache-2.0
// KMeans step over wide points (784 coordinates, 10 centers) as hand-written OpenCL for a GPU: the twin of
// `bench_kmeans --problem wide --layout soa`. Plain float sums. Two kernels over columns that are resident: `assign`
// reads each coordinate once for all centers; `total` gives a work-group to each column.
//   bare_kmeans_wide [--records N] [--cpu]
#include "bench/bare.h"
#include "bench/bench.h"

enum { COLUMNS = 784, CLUSTERS = 10, RUNS = 9 };

static const char source[] =
    "#define D 784\n"
    "#define K 10\n"
    "#define TILE 112\n"
    "__kernel __attribute__((reqd_work_group_size(128, 1, 1)))\n"
    "void assign(__global const float *restrict x, __global const float *restrict c, uint n, __global uchar *restrict best_of, "
    "__global float *restrict distance_of)\n"
    "{\n"
    "    __local float center[TILE][K];\n"
    "    const uint lane = get_local_id(0), r = get_global_id(0), at = min(r, n - 1);\n"
    "    float d[K] = {0};\n"
    "    for (uint first = 0; first < D; first += TILE) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (uint w = lane; w < TILE * K; w += 128) center[w / K][w % K] = c[w % K * D + first + w / K];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (uint i = 0; i < TILE; i++) {\n"
    "            const float v = x[(ulong)(first + i) * n + at];\n"
    "            for (int j = 0; j < K; j++) { float e = v - center[i][j]; d[j] = fma(e, e, d[j]); }\n"
    "        }\n"
    "    }\n"
    "    uint best = 0;\n"
    "    for (uint j = 1; j < K; j++) best = d[j] < d[best] ? j : best;\n"
    "    if (r < n) { best_of[r] = best; distance_of[r] = d[best]; }\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
    "void total(__global const float *restrict x, __global const uchar *restrict best_of, uint n, __global float *restrict sums)\n"
    "{\n"
    "    __local float part[256];\n"
    "    const uint lane = get_local_id(0), column = get_group_id(0);\n"
    "    float own[K] = {0};\n"
    "    for (uint r = lane; r < n; r += 256) {\n"
    "        const float v = x[(ulong)column * n + r];\n"
    "        const uint best = best_of[r];\n"
    "        for (uint j = 0; j < K; j++) own[j] += best == j ? v : 0.0f;\n"
    "    }\n"
    "    for (uint j = 0; j < K; j++) {\n"
    "        part[lane] = own[j];\n"
    "        for (uint reach = 128; reach > 0; reach /= 2) {\n"
    "            barrier(CLK_LOCAL_MEM_FENCE);\n"
    "            if (lane < reach) part[lane] += part[lane + reach];\n"
    "        }\n"
    "        if (lane == 0) sums[j * D + column] = part[0];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "}\n";

typedef struct gpu {
    bare opencl;
    cl_kernel assign, total;
    cl_mem x, centers, best, distance, sums;
} gpu;

static gpu open_gpu(cl_device_id device)
{
    gpu g = {.opencl = bare_open(device)};
    cl_program program = bare_program(&g.opencl, source, "");
    g.assign = bare_kernel(program, "assign");
    g.total = bare_kernel(program, "total");
    return g;
}

static void fill(gpu *g, cl_uint records)
{
    float *x = bench_allocate((size_t)records * COLUMNS * sizeof *x), *c = bench_allocate(COLUMNS * CLUSTERS * sizeof *c);
    for (cl_uint r = 0; r < records; r++)
        for (uint32_t i = 0; i < COLUMNS; i++) x[(size_t)i * records + r] = bench_coordinate(r, i, COLUMNS);
    for (uint32_t j = 0; j < CLUSTERS; j++)
        for (uint32_t i = 0; i < COLUMNS; i++) c[j * COLUMNS + i] = bench_center(j, i, COLUMNS);
    g->x = bare_buffer(&g->opencl, (size_t)records * COLUMNS * sizeof *x, x);
    g->centers = bare_buffer(&g->opencl, COLUMNS * CLUSTERS * sizeof *c, c);
    g->best = bare_buffer(&g->opencl, records, NULL);
    g->distance = bare_buffer(&g->opencl, records * sizeof(float), NULL);
    g->sums = bare_buffer(&g->opencl, COLUMNS * CLUSTERS * sizeof(float), NULL);
    must(clSetKernelArg(g->assign, 0, sizeof g->x, &g->x) | clSetKernelArg(g->assign, 1, sizeof g->centers, &g->centers) |
             clSetKernelArg(g->assign, 2, sizeof records, &records) | clSetKernelArg(g->assign, 3, sizeof g->best, &g->best) |
             clSetKernelArg(g->assign, 4, sizeof g->distance, &g->distance),
         "clSetKernelArg");
    must(clSetKernelArg(g->total, 0, sizeof g->x, &g->x) | clSetKernelArg(g->total, 1, sizeof g->best, &g->best) |
             clSetKernelArg(g->total, 2, sizeof records, &records) | clSetKernelArg(g->total, 3, sizeof g->sums, &g->sums),
         "clSetKernelArg");
}

static void step(gpu *g, cl_uint records)
{
    const size_t lanes = 128, items = (records + lanes - 1) / lanes * lanes, column_lanes = 256, column_items = COLUMNS * column_lanes;
    cl_event first, last;
    const double start = bench_seconds();
    must(clEnqueueNDRangeKernel(g->opencl.queue, g->assign, 1, NULL, &items, &lanes, 0, NULL, &first), "clEnqueueNDRangeKernel");
    must(clEnqueueNDRangeKernel(g->opencl.queue, g->total, 1, NULL, &column_items, &column_lanes, 0, NULL, &last), "clEnqueueNDRangeKernel");
    must(clFinish(g->opencl.queue), "clFinish");
    printf("step: kernels %.3f ms, in all %.3f ms\n", span(first, last), (bench_seconds() - start) * 1e3);
    clReleaseEvent(first);
    clReleaseEvent(last);
}

int main(int argc, char **argv)
{
    const cl_uint records = (cl_uint)bench_option(argc, argv, "--records", 60000);
    gpu g = open_gpu(find_device(argc > 1 && !strcmp(argv[argc - 1], "--cpu") ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU));
    fill(&g, records);
    for (int run = 0; run < RUNS; run++) step(&g, records);
    uint8_t *best = bench_allocate(records);
    float *sums = bench_allocate(COLUMNS * CLUSTERS * sizeof *sums);
    must(clEnqueueReadBuffer(g.opencl.queue, g.best, CL_TRUE, 0, records, best, 0, NULL, NULL), "clEnqueueReadBuffer");
    must(clEnqueueReadBuffer(g.opencl.queue, g.sums, CL_TRUE, 0, COLUMNS * CLUSTERS * sizeof *sums, sums, 0, NULL, NULL), "clEnqueueReadBuffer");
    unsigned count = 0;
    for (cl_uint r = 0; r < records; r++) count += best[r] == 3;
    printf("center 3: %g %g %u\n", (double)sums[3 * COLUMNS], (double)sums[4 * COLUMNS - 1], count);
    return 0;
}
