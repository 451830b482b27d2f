// SPDX-License-Identifier: Apache-2.0
// Separated text where it lies, or unpacked.
#include "io/csv_file.h"

#include "io/spool.h"
#include "io/text_stream.h"
#include "io/unpack.h"

#include <stddef.h>
#include <string.h>

static hdst_status unpack(hdst__csv_file *file, const hdst__allocator *allocator, const hdst__cancel *cancel, hdst_error *error)
{
    hdst_status status = hdst__text_input_open(allocator, &file->path, 1, cancel, NULL, &file->unpacked, error);
    if (status == HDST_OK) status = hdst__text_input_prepare(file->unpacked, NULL, error);
    if (status == HDST_OK) file->bytes = hdst__text_input_bytes(file->unpacked, 0);
    hdst__file_close(&file->plain);
    return status;
}

// Binary files are told apart by their first bytes where they are opened by name; what comes by is taken for a text.
static hdst_status spool(hdst__csv_file *file, const hdst__allocator *allocator, const hdst__cancel *cancel, hdst_error *error)
{
    static const char binary[] = "\x93NUMPY";
    char start[sizeof binary - 1];
    hdst_status status = hdst__spool_open(&file->plain, allocator, file->path, true, cancel, error);
    file->bytes = file->plain.bytes;
    if (status != HDST_OK || file->bytes < sizeof start) return status;
    status = hdst__file_read(&file->plain, 0, start, sizeof start, error);
    if (status != HDST_OK || memcmp(start, binary, sizeof start)) return status;
    hdst__error_set(error, HDST_E_FORMAT, "what comes through '%s' is a .npy file, not a text", file->path);
    hdst__error_at(error, file->path, 0, 0);
    hdst__error_hint(error, "write it to a file, and read that");
    return HDST_E_FORMAT;
}

hdst_status hdst__csv_file_open(hdst__csv_file *file, const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst_error *error)
{
    unsigned char start[HDST__UNPACK_START];
    *file = (hdst__csv_file){.path = path};
    if (hdst__spool_needed(path)) return spool(file, allocator, cancel, error);
    hdst_status status = hdst__file_open(&file->plain, path, error);
    file->bytes = file->plain.bytes;
    const uint64_t have = file->bytes < sizeof start ? file->bytes : sizeof start;
    if (status == HDST_OK) status = hdst__file_read(&file->plain, 0, start, have, error);
    if (status != HDST_OK) return status;
    const char *unknown = hdst__unpack_unknown(start, have);
    if (unknown) return hdst__text_stream_refuse(path, unknown, error);
    return hdst__unpacker_of(start, have) ? unpack(file, allocator, cancel, error) : HDST_OK;
}

void hdst__csv_file_close(hdst__csv_file *file)
{
    hdst__file_close(&file->plain);
    hdst__text_input_close(file->unpacked);
    file->unpacked = NULL;
}

hdst_status hdst__csv_file_read(const hdst__csv_file *file, uint64_t offset, void *data, uint64_t bytes, hdst_error *error)
{
    if (file->unpacked) return hdst__text_input_read(file->unpacked, 0, offset, data, bytes, error);
    return hdst__file_read(&file->plain, offset, data, bytes, error);
}
