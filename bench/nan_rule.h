// SPDX-License-Identifier: Apache-2.0
// What the cases of nan_cases.h share: the rule, the numbers that go through everything, what comes of them told.
#ifndef HDST_BENCH_NAN_RULE_H
#define HDST_BENCH_NAN_RULE_H

#include "bench/nan_cases.h"

#include <stddef.h>
#include <string.h>
#include <tgmath.h>

// --- The rule ---

static const uint32_t one_nan_float = 0x7fc00000;
static const uint64_t one_nan_double = UINT64_C(0x7ff8000000000000);

static inline uint32_t bits_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000 ? one_nan_float : bits;
}

static inline uint64_t bits_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits << 1 > UINT64_C(0xffe0000000000000) ? one_nan_double : bits;
}

static inline float of_bits_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double of_bits_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t one_float(uint32_t bits) { return bits_float(of_bits_float(bits)); }
static inline uint64_t one_double(uint64_t bits) { return bits_double(of_bits_double(bits)); }

// --- Numbers ---

// Signalling and quiet ones of both signs, the ones that processors make (x86: negative; NVIDIA: all ones), and numbers.
static const uint32_t numbers_float[] = {
    0x7f800001, 0xff800001, 0x7fa00000, 0xffa55aa5, 0x7fbfffff, 0x7fc00000, 0xffc00000, 0x7fc00001, 0xffc12345, 0x7fdeadbe, 0x7fffffff, 0xffffffff,
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40200000, 0xc2f60000, 0x7f800000, 0xff800000, 0x00000001, 0x7f7fffff,
};
static const uint64_t numbers_double[] = {
    0x7ff0000000000001, 0xfff0000000000001, 0x7ff4000000000000, 0xfff5a5a5a5a5a5a5, 0x7ff7ffffffffffff, 0x7ff8000000000000,
    0xfff8000000000000, 0x7ff8000000000001, 0xfff8000012345678, 0x7ffdeadbeefcafe0, 0x7fffffffffffffff, 0xffffffffffffffff,
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4004000000000000, 0xc05ec00000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x0000000000000001, 0x7fefffffffffffff,
};
enum { NUMBERS = sizeof numbers_float / sizeof *numbers_float, RECORDS = NUMBERS * NUMBERS, PARTS = 5 };
_Static_assert(NUMBERS == sizeof numbers_double / sizeof *numbers_double, "pairs");

typedef struct record {         // uint32_t, so that nothing of ours passes through a floating-point register
    uint32_t x, y;
    uint64_t u, v;
    uint32_t n, part;
} record;

void nan_make_records(record *records);

// min and max of the kernel language.
#define LESSER(x, y) (isnan(x) || isnan(y) ? (x) + (y) : (x) == (y) ? signbit(x) ? (x) : (y) : (x) < (y) ? (x) : (y))
#define GREATER(x, y) (isnan(x) || isnan(y) ? (x) + (y) : (x) == (y) ? signbit(x) ? (y) : (x) : (x) > (y) ? (x) : (y))

// --- Telling (nan_rule.c) ---

uint64_t nan_mix(uint64_t z);
// `count` numbers of `size` bytes, `stride` apart, that must equal those in `right`.
void nan_tell(const nan_look *look, const char *name, const void *got, const void *right, size_t size, size_t stride, size_t count);
// Records of whole words.
void nan_tell_records(const nan_look *look, const char *name, const void *got, size_t got_count, const void *right, size_t count, size_t bytes);

// --- Running (nan_rule.c) ---

typedef struct job {
    hdst_context *context;
    hdst_module *module;
    hdst_dataset *raw;              // the records as they are
    const record *records;
    const nan_look *look;
    bool failed;
} job;

void nan_fail(job *j, const char *what, const hdst_error *error);
void nan_open_job(job *j, hdst_context *context, const nan_look *look, const char *text, const record *records);
bool nan_close_job(job *j);
void *nan_collect(job *j, const char *name, hdst_dataset *d, size_t bytes, uint64_t *count);    // the records of `d`, to be freed; NULL: told

#define NAN_RECORD_TEXT "struct rec { float x, y; double u, v; uint32_t n, part; };\n"

#endif
