// SPDX-License-Identifier: Apache-2.0
// What the cases of nan_cases.h share (nan_rule.h).
#include "bench/nan_rule.h"

#include <stdio.h>
#include <stdlib.h>

void nan_make_records(record *records)
{
    for (uint32_t i = 0; i < RECORDS; i++)
        records[i] = (record){numbers_float[i / NUMBERS], numbers_float[i % NUMBERS], numbers_double[i / NUMBERS], numbers_double[i % NUMBERS], i, i % PARTS};
}

// --- Telling ---

uint64_t nan_mix(uint64_t z)     // splitmix64 (Steele, Lea and Flood, OOPSLA 2014)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// `count` numbers of `size` bytes, `stride` apart, that must equal those in `right`.
void nan_tell(const nan_look *look, const char *name, const void *got, const void *right, size_t size, size_t stride, size_t count)
{
    uint64_t digest = 0;
    char words[200];
    const char *wrong = NULL;
    for (size_t i = 0; i < count; i++) {
        uint64_t a = 0, b = 0;
        memcpy(&a, (const char *)got + i * stride, size);
        memcpy(&b, (const char *)right + i * stride, size);
        digest = nan_mix(digest ^ a);
        if (a == b || wrong) continue;
        snprintf(words, sizeof words, "at %zu (of pairs of %d numbers): %0*llx, must be %0*llx", i, (int)NUMBERS, (int)(2 * size), (unsigned long long)a,
                 (int)(2 * size), (unsigned long long)b);
        wrong = words;
    }
    look->see(look->user, name, digest, wrong);
}

// Records of whole words.
void nan_tell_records(const nan_look *look, const char *name, const void *got, size_t got_count, const void *right, size_t count, size_t bytes)
{
    char words[200];
    if (got_count == count) {
        nan_tell(look, name, got, right, 4, 4, count * bytes / 4);
        return;
    }
    snprintf(words, sizeof words, "%zu records, must be %zu", got_count, count);
    look->see(look->user, name, nan_mix(got_count), words);
}

// --- Running ---

void nan_fail(job *j, const char *what, const hdst_error *error)
{
    char words[4096];
    hdst_error_format(error, words, sizeof words);
    fprintf(stderr, "%s: %s\n", what, words);
    j->failed = true;
}

void nan_open_job(job *j, hdst_context *context, const nan_look *look, const char *text, const record *records)
{
    hdst_error error = HDST_ERROR_INIT;
    *j = (job){.context = context, .look = look, .records = records};
    j->module = hdst_module_parse(context, "nans.hk", text, NULL);
    if (hdst_module_status(j->module, &error) != HDST_OK) nan_fail(j, hdst_module_diagnostics(j->module), &error);
    hdst_source *source = hdst_source_from_memory(context, records, RECORDS, sizeof *records);
    j->raw = hdst_read(source, j->module, "rec");
    hdst_source_destroy(source);
}

bool nan_close_job(job *j)
{
    hdst_module_destroy(j->module);
    return !j->failed;
}

// The records of `d`, to be freed. NULL: told.
void *nan_collect(job *j, const char *name, hdst_dataset *d, size_t bytes, uint64_t *count)
{
    void *rows = NULL, *own = NULL;
    hdst_error error = HDST_ERROR_INIT;
    *count = 0;
    if (j->failed) return NULL;
    if (hdst_collect(d, &rows, count, &error) != HDST_OK) nan_fail(j, name, &error);
    if (!j->failed) own = malloc(*count * bytes + 1);
    if (own) memcpy(own, rows, *count * bytes);
    hdst_rows_destroy(j->context, rows);
    return own;
}
