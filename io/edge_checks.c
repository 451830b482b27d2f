// SPDX-License-Identifier: Apache-2.0
// Numbers of vertices, looked at as they are read.
#include "base/vector_targets.h"
#include "io/convert.h"
#include "io/edges.h"
#include "io/source_csv.h"

#include <string.h>

hdst_status hdst__edges_refuse(const hdst__source *source, uint64_t row, size_t column, hdst__kind kind, const void *value, hdst_error *error)
{
    const hdst__edges *edges = source->state;
    const hdst__matrix *matrix = &edges->matrix;
    char text[64];
    hdst__convert_text(kind, value, text, sizeof text);
    if (matrix->is_matrix)
        hdst__error_set(error, HDST_E_FORMAT, "%s is no %s of a matrix of %llu rows and %llu columns", text, column ? "column" : "row",
                        (unsigned long long)matrix->rows, (unsigned long long)matrix->columns);
    else hdst__error_set(error, HDST_E_FORMAT, "edge %llu: %s is no vertex", (unsigned long long)row, text);
    hdst__error_at(error, source->name, 0, 0);
    if (edges->inner->format->is_text) hdst__source_csv_locate(edges->inner, row, column, error);
    if (matrix->is_matrix) hdst__error_hint(error, "rows and columns are numbered from 1");
    else hdst__error_hint(error, "vertices are numbered from 0 to 2^63 - 1");
    return HDST_E_FORMAT;
}

// Of unsigned numbers, and of signed ones read so: a negative one is 2^31 or 2^63 at least.
HDST__WIDE_VECTORS static uint64_t largest_of(bool wide, const char *numbers, uint64_t stride, uint64_t count)
{
#define LARGEST(type, step)                                          \
    {                                                                \
        type most = 0;                                               \
        for (uint64_t i = 0; i < count; i++) {                       \
            type number;                                             \
            memcpy(&number, numbers + i * (step), sizeof number);    \
            most = number > most ? number : most;                    \
        }                                                            \
        return most;                                                 \
    }
    if (wide) LARGEST(uint64_t, stride)
    if (stride == 2 * sizeof(uint32_t)) LARGEST(uint32_t, 2 * sizeof(uint32_t))
    LARGEST(uint32_t, stride)
#undef LARGEST
}

bool hdst__edges_largest(hdst__kind kind, const char *numbers, uint64_t stride, uint64_t count, uint64_t *largest)
{
    const bool wide = kind == HDST__I64 || kind == HDST__U64;
    if (!wide && kind != HDST__I32 && kind != HDST__U32) return false;
    *largest = largest_of(wide, numbers, stride, count);
    return kind == HDST__I32 ? *largest <= INT32_MAX : *largest <= INT64_MAX;
}

// The first of `count` numbers, `stride` bytes apart, that is negative or 2^63 or more. It is looked for only where there is one.
HDST__WIDE_VECTORS static uint64_t first_outside(hdst__kind kind, const char *numbers, uint64_t stride, uint64_t count)
{
#define LOOK_ALL(type, step, then)                                 \
    for (uint64_t i = 0; i < count; i++) {                         \
        type value;                                                \
        memcpy(&value, numbers + i * (step), sizeof value);        \
        then;                                                      \
    }
#define LOOK(type, outside)                                                                                         \
    {                                                                                                               \
        bool any = false;                                                                                           \
        if (stride == 2 * sizeof(type)) LOOK_ALL(type, 2 * sizeof(type), any |= outside)                            \
        else LOOK_ALL(type, stride, any |= outside)                                                                 \
        if (any) LOOK_ALL(type, stride, if (outside) return i)                                                      \
    }                                                                                                               \
    break
    switch (kind) {
    case HDST__I8: LOOK(int8_t, value < 0);
    case HDST__I16: LOOK(int16_t, value < 0);
    case HDST__I32: LOOK(int32_t, value < 0);
    case HDST__I64: LOOK(int64_t, value < 0);
    case HDST__U64: LOOK(uint64_t, value >> 63);
    case HDST__F32: LOOK(float, value < 0 || value >= 0x1p63f);
    case HDST__F64: LOOK(double, value < 0 || value >= 0x1p63);
    default: break;
    }
#undef LOOK
#undef LOOK_ALL
    return count;
}

hdst_status hdst__edges_check(const hdst__source *source, size_t column, hdst__kind kind, uint64_t first, const void *numbers, uint64_t stride,
                              uint64_t count, hdst_error *error)
{
    uint64_t largest;
    if (column >= HDST__EDGE_WEIGHT) return HDST_OK;
    if (hdst__edges_largest(kind, numbers, stride, count, &largest)) {
        hdst__edges_see(source->state, column, first, count, largest);
        return HDST_OK;
    }
    const uint64_t bad = first_outside(kind, numbers, stride, count);
    return bad == count ? HDST_OK : hdst__edges_refuse(source, first + bad, column, kind, (const char *)numbers + bad * stride, error);
}
