// SPDX-License-Identifier: Apache-2.0
// A record that failed, as a file that `hdst replay` runs again: MessagePack, a map with the keys below (docs/errors.md). The file
// has all that the function needs: sources, params, the record, bound values.
#ifndef HDST_IO_REPLAY_FILE_H
#define HDST_IO_REPLAY_FILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "record/type.h"

typedef struct hdst__replay_table {     // bound to a parameter
    const char *parameter;
    uint64_t rows;
    const void *data;                   // a broadcast: C structs; NULL: an accumulator
    uint64_t bytes;
} hdst__replay_table;

typedef struct hdst__replay_key {       // a leaf of a group's key
    uint32_t leaf;                      // of the records of its stream
    uint64_t element;
} hdst__replay_key;

typedef struct hdst__replay {
    const char *message;                // of the run that failed
    const char *module, *function;      // the file's name among `sources`
    const hdst__source_text *sources;   // kernel files and schemas
    size_t source_count;
    const hdst__param_value *params;
    size_t param_count;
    const char *records;                // a schema of the records that no source declares; "": none
    uint64_t record;                    // its number in the input of the run
    const void *input;                  // one C struct: what the function was called with
    uint64_t input_bytes;
    const void *next;                   // of a reduce: the second one, which `record` counts; the first is what came of those before. NULL: none
    uint64_t next_bytes;
    const hdst__replay_table *tables;   // of a group: the first one is its stream, and `input` says {0, how many rows}
    size_t table_count;
    const char *texts;                  // bytes of the long texts of all records above, whose spans have offsets into them for addresses
    uint64_t text_bytes;
    const hdst__replay_key *keys;       // of a group; NULL: it is none
    size_t key_count;
} hdst__replay;

enum { HDST__REPLAY_BYTES = 64 << 20 };     // of a file; a record with larger tables is not saved

// Whole or not at all (io/file.h). HDST_E_IO; HDST_E_UNSUPPORTED when it would be too large.
hdst_status hdst__replay_write(const hdst__replay *replay, const hdst__allocator *allocator, const char *path, hdst_error *error);
// What is read lives in the arena; running out of memory jumps to the arena's handler. HDST_E_IO, HDST_E_FORMAT.
hdst_status hdst__replay_read(const char *path, hdst__arena *arena, hdst__replay *replay, hdst_error *error);

#endif
