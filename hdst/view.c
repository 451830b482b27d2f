// SPDX-License-Identifier: Apache-2.0
// Reading numbers through a view, and writing one as a file.
#include "base/error_object.h"
#include "hdst/hdst.h"
#include "io/write.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const uint8_t type_bytes[] = {[HDST_BOOL] = 1, [HDST_INT8] = 1, [HDST_INT16] = 2, [HDST_INT32] = 4, [HDST_INT64] = 8, [HDST_UINT8] = 1,
                                     [HDST_UINT16] = 2, [HDST_UINT32] = 4, [HDST_UINT64] = 8, [HDST_FLOAT32] = 4, [HDST_FLOAT64] = 8, [HDST_TEXT] = 16};

// The number as the widest type of its family: exactly one of the two is set.
typedef struct number {
    bool real;
    double d;
    int64_t i;
} number;

#define READ(type)                              \
    do {                                        \
        type value;                             \
        memcpy(&value, p, sizeof value);        \
        return (number){false, 0, (int64_t)value}; \
    } while (0)

static number read_number(hdst_view view, uint64_t row, uint64_t element)
{
    const char *p = (const char *)view.base + row * view.stride + element * type_bytes[view.type];
    float f;
    double d;
    switch (view.type) {
    case HDST_BOOL:
    case HDST_UINT8: READ(uint8_t);
    case HDST_INT8: READ(int8_t);
    case HDST_INT16: READ(int16_t);
    case HDST_INT32: READ(int32_t);
    case HDST_INT64: READ(int64_t);
    case HDST_UINT16: READ(uint16_t);
    case HDST_UINT32: READ(uint32_t);
    case HDST_UINT64: READ(uint64_t);
    case HDST_FLOAT32: memcpy(&f, p, sizeof f); return (number){true, f, 0};
    case HDST_FLOAT64: memcpy(&d, p, sizeof d); return (number){true, d, 0};
    case HDST_TEXT: break;
    }
    return (number){false, 0, 0};
}

static bool in_range(hdst_view view, uint64_t row, uint64_t element)
{
    return view.base && row < view.rows && element < view.elements && (unsigned)view.type <= HDST_TEXT;
}

double hdst_view_double(hdst_view view, uint64_t row, uint64_t element)
{
    if (!in_range(view, row, element)) return 0;
    number n = read_number(view, row, element);
    if (n.real) return n.d;
    return view.type == HDST_UINT64 ? (double)(uint64_t)n.i : (double)n.i;
}

int64_t hdst_view_int64(hdst_view view, uint64_t row, uint64_t element)
{
    if (!in_range(view, row, element)) return 0;
    number n = read_number(view, row, element);
    if (!n.real) return n.i;
    if (isnan(n.d)) return 0;
    return n.d >= 0x1p63 ? INT64_MAX : n.d < -0x1p63 ? INT64_MIN : (int64_t)n.d;
}

hdst_text hdst_view_text(hdst_view view, uint64_t row, uint64_t element)
{
    if (!in_range(view, row, element) || view.type != HDST_TEXT) return (hdst_text){"", 0};
    const char *at = (const char *)view.base + row * view.stride + element * sizeof(hdst_text_span);
    hdst_text_span span;
    memcpy(&span, at, sizeof span);         // which packed records do not align
    const char *inside = at + offsetof(hdst_text_span, start);
    return (hdst_text){hdst_text_bytes(&span) == (const char *)&span + offsetof(hdst_text_span, start) ? inside : hdst_text_bytes(&span), span.length};
}

hdst_text hdst_result_text(hdst_result *result, const char *table, const char *field, uint64_t row)
{
    return hdst_view_text(hdst_result_field(result, table, field), row, 0);
}

// --- Writing ---

static hdst_status write_rows(hdst__file_writer *writer, hdst_view view, hdst_error *error)
{
    uint64_t row_bytes = view.elements * type_bytes[view.type];
    hdst_status status = HDST_OK;
    if (row_bytes == view.stride) return hdst__file_writer_add(writer, view.base, view.rows * row_bytes, error);
    for (uint64_t row = 0; row < view.rows && status == HDST_OK; row++)
        status = hdst__file_writer_add(writer, (const char *)view.base + row * view.stride, row_bytes, error);
    return status;
}

hdst_status hdst_view_save(hdst_view view, const char *path, hdst_error *error)
{
    hdst_error own;
    if (!error) error = &own;
    if (!path) return hdst__error_set(error, HDST_E_USAGE, "hdst_view_save was given NULL for 'path'");
    if (!view.base) return hdst__error_set(error, HDST_E_USAGE, "there is nothing to save: the view is empty");
    if ((unsigned)view.type >= HDST_TEXT) return hdst__error_set(error, HDST_E_UNSUPPORTED, "text fields cannot be saved as .npy");
    uint64_t shape[2] = {view.rows, view.elements};
    hdst__file_writer *writer = hdst__npy_begin(NULL, path, (hdst__kind)view.type, shape, view.elements == 1 ? 1 : 2, error);
    if (!writer) return error->code;
    hdst_status status = write_rows(writer, view, error);
    if (status != HDST_OK) {
        hdst__file_writer_abandon(writer);
        return status;
    }
    return hdst__file_writer_commit(writer, error);
}
