// SPDX-License-Identifier: Apache-2.0
// The join of bench_join as hand-written OpenCL: a hash table with linear probing, at most half full, whose slots of 16 bytes hold a key, whether they are
// taken, and the value; a lane probes it with a record at a time. Plain double sums, a group's in local memory. All that is joined lies on the device.
//   bare_join [--records N] [--small N] [--cpu]
#include "bench/bare.h"
#include "bench/bench.h"

enum { RUNS = 9, GROUP = 256, GROUPS = 132 * 8 };

typedef struct record { cl_uint key; double value; } record;

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "inline uint place_of(uint key, uint mask) { return (uint)(key * 0x9e3779b97f4a7c15ul >> 32) & mask; }\n"
    "__kernel void build(__global const uint4 *restrict records, uint count, volatile __global uint *slots, uint mask)\n"
    "{\n"
    "    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
    "        const uint4 r = records[i];\n"
    "        uint at = place_of(r.x, mask);\n"
    "        while (atomic_cmpxchg(&slots[4 * at + 1], 0u, 1u) != 0) at = (at + 1) & mask;\n"
    "        slots[4 * at] = r.x;\n"
    "        slots[4 * at + 2] = r.z;\n"
    "        slots[4 * at + 3] = r.w;\n"
    "    }\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
    "void probe(__global const uint4 *restrict records, ulong count, __global const uint4 *restrict slots, uint mask, __global double *restrict sums)\n"
    "{\n"
    "    __local double part[256];\n"
    "    const uint lane = get_local_id(0);\n"
    "    double sum = 0;\n"
    "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
    "        const uint4 r = records[i];\n"
    "        for (uint at = place_of(r.x, mask);; at = (at + 1) & mask) {\n"
    "            const uint4 slot = slots[at];\n"
    "            if (!slot.y) break;\n"
    "            if (slot.x == r.x) sum += as_double(r.zw) * as_double(slot.zw);\n"
    "        }\n"
    "    }\n"
    "    part[lane] = sum;\n"
    "    for (uint reach = 128; reach > 0; reach /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (lane < reach) part[lane] += part[lane + reach];\n"
    "    }\n"
    "    if (lane == 0) sums[get_group_id(0)] = part[0];\n"
    "}\n";

typedef struct gpu {
    bare opencl;
    cl_kernel build, probe;
    cl_mem large, small, slots, sums;
    size_t slot_bytes;
} gpu;

static gpu open_gpu(cl_device_id device)
{
    gpu g = {.opencl = bare_open(device)};
    cl_program program = bare_program(&g.opencl, source, "");
    g.build = bare_kernel(program, "build");
    g.probe = bare_kernel(program, "probe");
    return g;
}

// As bench_join has them.
static record *make_large(cl_ulong count, cl_uint few)
{
    record *large = bench_allocate(count * sizeof *large);
    uint64_t state = 1;
    for (uint64_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        large[i] = (record){(cl_uint)((state >> 33) % (2 * (uint64_t)few)) * 2654435761u, (double)(i % 8)};
    }
    return large;
}

static record *make_small(cl_uint few)
{
    record *small = bench_allocate(few * sizeof *small);
    for (cl_uint i = 0; i < few; i++) small[i] = (record){i * 2654435761u, (double)(i % 16)};
    return small;
}

static void fill(gpu *g, cl_ulong count, cl_uint few)
{
    record *large = make_large(count, few), *small = make_small(few);
    cl_uint capacity = 16;
    while (capacity < 2 * few) capacity *= 2;
    const cl_uint mask = capacity - 1;
    g->slot_bytes = capacity * (size_t)16;
    g->large = bare_buffer(&g->opencl, count * sizeof *large, large);
    g->small = bare_buffer(&g->opencl, few * sizeof *small, small);
    g->slots = bare_buffer(&g->opencl, g->slot_bytes, NULL);
    g->sums = bare_buffer(&g->opencl, GROUPS * sizeof(double), NULL);
    must(clSetKernelArg(g->build, 0, sizeof g->small, &g->small) | clSetKernelArg(g->build, 1, sizeof few, &few) |
             clSetKernelArg(g->build, 2, sizeof g->slots, &g->slots) | clSetKernelArg(g->build, 3, sizeof mask, &mask),
         "clSetKernelArg");
    must(clSetKernelArg(g->probe, 0, sizeof g->large, &g->large) | clSetKernelArg(g->probe, 1, sizeof count, &count) |
             clSetKernelArg(g->probe, 2, sizeof g->slots, &g->slots) | clSetKernelArg(g->probe, 3, sizeof mask, &mask) |
             clSetKernelArg(g->probe, 4, sizeof g->sums, &g->sums),
         "clSetKernelArg");
    free(large);
    free(small);
}

static void join(gpu *g)
{
    const size_t lanes = GROUP, items = (size_t)GROUPS * GROUP;
    const cl_uint zero = 0;
    double sums[GROUPS], sum = 0;
    cl_event clear, build, probe;
    const double start = bench_seconds();
    must(clEnqueueFillBuffer(g->opencl.queue, g->slots, &zero, sizeof zero, 0, g->slot_bytes, 0, NULL, &clear), "clEnqueueFillBuffer");
    must(clEnqueueNDRangeKernel(g->opencl.queue, g->build, 1, NULL, &items, &lanes, 0, NULL, &build), "clEnqueueNDRangeKernel");
    must(clEnqueueNDRangeKernel(g->opencl.queue, g->probe, 1, NULL, &items, &lanes, 0, NULL, &probe), "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(g->opencl.queue, g->sums, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL), "clEnqueueReadBuffer");
    const double wall = (bench_seconds() - start) * 1e3;
    for (int i = 0; i < GROUPS; i++) sum += sums[i];
    printf("join: table %.3f ms, probes %.3f ms, in all %.3f ms; sum %.17g\n", span(clear, build), span(probe, probe), wall, sum);
    clReleaseEvent(clear);
    clReleaseEvent(build);
    clReleaseEvent(probe);
}

int main(int argc, char **argv)
{
    const cl_ulong count = (cl_ulong)bench_option(argc, argv, "--records", 100000000);
    const cl_uint few = (cl_uint)bench_option(argc, argv, "--small", 1000000);
    gpu g = open_gpu(find_device(argc > 1 && !strcmp(argv[argc - 1], "--cpu") ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU));
    fill(&g, count, few);
    for (int run = 0; run < RUNS; run++) join(&g);
    return 0;
}
