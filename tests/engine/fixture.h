// SPDX-License-Identifier: Apache-2.0
// A stage made by hand, its input and the same sums in plain C: what the tests of the engine share.
//
//     map total(point p, broadcast weight w[], accum sum t[]) -> pick      // point {uint32_t k; float v[WIDTH];}
//     { for (e in 0 .. WIDTH) t[p.k].s[e] += p.v[e] * w[0].by;  t[p.k].n += 1;  if (!(p.v[0] > 0)) drop; return (pick){ p.v[0] + w[0].by, p.k }; }
//
// Values are multiples of 1/8 that are far from overflow, so plain double sums are exact and must be met to the last bit.
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include "engine/engine.h"
#include "engine/memory/host_rows.h"
#include "engine/stage/stage_run.h"

#include <stdio.h>

typedef struct fixture_options {
    const char *device;
    bool gpu_form;
    hdst__layout layout;
    uint64_t block, records, memory, device_memory;
    uint64_t private_bytes;         // of a local array; 0: none
    uint32_t rows, width;           // of t, of v; 0: 7 rows, 1 value
    bool accumulates, outputs, filters, cached;
    uint64_t fail_at;               // the reader fails when asked for this record; 0: never
    uint64_t waits_at, wait_fills;  // the reader takes its time from this call on (1: the first), so many times,
    double wait_seconds;            //     and so much each time
    uint64_t bad[2];                // records whose key is out of range; 0: none
    const hdst__allocator *allocator;
    const char *cache_dir;
    uint32_t binary_after;          // as the engine has it; 0: as it is for users
    uint32_t cpu_parts;             // CPU devices are taken as so many; 0: whole
    uint64_t share_bytes;           // of input that several devices share; 0: as it is for users
} fixture_options;

typedef struct fixture_pick { float y; uint32_t k; } fixture_pick;

typedef struct fixture {
    fixture_options options;
    hdst__arena arena;
    jmp_buf out_of_memory;
    hdst__cancel cancel;            // of the engine; whoever cancels begins and ends the call
    hdst__engine *engine;
    hdst__dataset_cache *cache;
    hdst__stage *stage;
    hdst__reader reader;
    ir_func *func;
    uint64_t fills;                 // calls of the reader
    int warnings;
    char log[4096];
    float weight;                   // w[0].by; bump `version` after a change
    uint64_t version;
    const void *broadcast[4];
    uint64_t rows[4], versions[4];
    hdst__stage_values values;
    hdst__stage_output output;
    hdst_error error;
} fixture;

// A failing step is left in the return value and `error`; fixture_close may always be called.
hdst_status fixture_open(fixture *f, const fixture_options *options);
void fixture_bind(fixture *f);          // sets `values` as a run does
hdst_status fixture_run(fixture *f);
void fixture_close(fixture *f);

float fixture_value(uint64_t record, uint32_t element);
uint32_t fixture_key(const fixture *f, uint64_t record);
// Compares tables and records of the last run with plain C; asserts.
void fixture_expect_right(const fixture *f);

#endif
