// SPDX-License-Identifier: Apache-2.0
// Partials as bytes: size and checksum are made right first, for no fuzzer would find them. What is accepted can be merged, and is written as the same
// bytes again and again, also by way of a merge into what was empty.
#include "accum/partial_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL_AT = 16, LEAST = 64, MOST_BYTES = 1 << 16 };

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);    \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

static hdst__partial *from_bytes(const void *bytes, size_t size, hdst__partial_label *label)
{
    hdst__partial *partial = NULL;
    hdst_error error = HDST_ERROR_INIT;
    const hdst_status status = hdst__partial_from_bytes(NULL, bytes, size, &partial, label, &error);
    CHECK(status == HDST_OK ? partial && !error.code : !partial && error.code == status && error.message[0]);
    return partial;
}

static hdst__buffer written(const hdst__partial *partial, const hdst__partial_label *label)
{
    hdst__buffer out;
    hdst__buffer_init(&out, NULL);
    CHECK(hdst__partial_write(partial, label, &out, NULL) == HDST_OK);
    return out;
}

static void check_partial(hdst__partial *partial, const hdst__partial_label *label)
{
    hdst__partial_label again;
    hdst__buffer first = written(partial, label);
    hdst__partial *other = from_bytes(first.data, first.length, &again);
    CHECK(other);
    hdst__buffer second = written(other, &again);
    CHECK(first.length == second.length && !memcmp(first.data, second.data, first.length));
    hdst__partial_reset(partial);
    CHECK(hdst__partial_merge(partial, other, NULL) == HDST_OK);
    hdst__buffer third = written(partial, label);
    CHECK(first.length == third.length && !memcmp(first.data, third.data, first.length));
    CHECK(hdst__partial_merge(partial, other, NULL) == HDST_OK);
    hdst__partial_destroy(other);
    hdst__buffer_destroy(&first);
    hdst__buffer_destroy(&second);
    hdst__buffer_destroy(&third);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdst__partial_label label;
    hdst__partial_destroy(from_bytes(data, size, &label));      // as it is
    if (size < LEAST || size > MOST_BYTES) return 0;
    uint8_t *bytes = malloc(size);
    CHECK(bytes);
    memcpy(bytes, data, size);
    const uint64_t total = size;
    hdst__hash checksum = HDST__HASH_INIT;
    memcpy(bytes + TOTAL_AT, &total, sizeof total);
    hdst__hash_add(&checksum, bytes, size - sizeof checksum);
    memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
    hdst__partial *partial = from_bytes(bytes, size, &label);
    if (partial) check_partial(partial, &label);
    hdst__partial_destroy(partial);
    free(bytes);
    return 0;
}
