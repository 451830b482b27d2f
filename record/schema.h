// SPDX-License-Identifier: Apache-2.0
// Schemas: records from YAML or made in C, and what is written from them (C headers, tables for people, NumPy dtypes).
#ifndef HDST_RECORD_SCHEMA_H
#define HDST_RECORD_SCHEMA_H

#include "base/buffer.h"
#include "base/diag.h"
#include "record/type.h"

typedef struct hdst__schema_param {     // an entry of `params:`
    const char *name;
    uint64_t value;                     // 0: none
    bool given;                         // by the caller; else assumed, or missing
    bool reported;                      // as missing
    hdst__span span;
} hdst__schema_param;

typedef struct hdst__schema {           // lives in an arena; zero-initialised: empty
    const char *name;                   // of the file, for messages and the header
    hdst__record **records;             // in order of declaration; all finished
    size_t record_count, record_capacity;
    hdst__schema_param *params;
    size_t param_count, param_capacity;
    struct hdst__schema_draft *draft;   // hdst__schema_add_record: the record that is not closed yet
} hdst__schema;

// --- From YAML (schema_yaml.c) ---

// Reads a schema from memory into the arena of diags, where the text is registered as a source. Returns false after
// errors, all of them in diags; *out then holds the records and params that were good. Values for names that the
// schema does not declare are ignored (a module passes its params to every schema). assume_params: a param without a
// value counts as 4, with a note.
bool hdst__schema_read(hdst__diags *diags, const char *name, const char *text, size_t length, const hdst__param_value *params, size_t param_count,
                       bool assume_params, hdst__schema *out);
hdst__record *hdst__schema_record(const hdst__schema *schema, const char *name);    // NULL when absent

// --- Made in C (schema_build.c) ---
// The same checks as for YAML. A record is open from hdst__schema_add_record to the next one or hdst__schema_close;
// after an error the open record is dropped by either. HDST_E_SCHEMA, or HDST_E_USAGE for a field without a record;
// out of memory leaves by the arena's handler.

hdst_status hdst__schema_add_record(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__layout layout, uint64_t align, uint64_t block,
                                    hdst_error *error);
// dims 0: a plain field; else an array with these counts, outermost first.
hdst_status hdst__schema_add_field(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__kind kind, const uint64_t *counts, size_t dims,
                                   hdst_error *error);
// A date or time: int32 of HDST__DAYS, else int64.
hdst_status hdst__schema_add_time(hdst__arena *arena, hdst__schema *schema, const char *name, hdst__time_unit time, const uint64_t *counts, size_t dims,
                                  hdst_error *error);
// What becomes of empty cells of the field that was added last; valid: the field (bool or uint8, of the same count) that says which were, or NULL.
hdst_status hdst__schema_set_missing(hdst__arena *arena, hdst__schema *schema, hdst__missing missing, const char *valid, hdst_error *error);
// Words that count as empty cells of that field, in place of those it had; they are copied.
hdst_status hdst__schema_set_null_values(hdst__arena *arena, hdst__schema *schema, const char *const *words, size_t count, hdst_error *error);
hdst_status hdst__schema_add_nested(hdst__arena *arena, hdst__schema *schema, const char *name, const char *record, const uint64_t *counts, size_t dims,
                                    hdst_error *error);
hdst_status hdst__schema_close(hdst__arena *arena, hdst__schema *schema, hdst_error *error);

// --- What is written from records ---
// `records` need not be in order; a nested record that is not among them is written too where the form needs it. The arena is for scratch memory.
// A buffer that ran out of memory has `failed` set.

// The C header, for C11 and C++11. `source` is named in its "do not edit" line and gives the include guard.
// HDST_E_SCHEMA when two fields need the same accessor.
hdst_status hdst__schema_header(hdst__arena *arena, const char *source, hdst__record *const *records, size_t count, hdst__buffer *out, hdst_error *error);
// Tables of fields, types, counts, offsets, sizes, padding, and where values lie in the record's layout.
void hdst__schema_show(hdst__arena *arena, hdst__record *const *records, size_t count, hdst__buffer *out);
// A YAML schema without params that reads back to the same records. A nested record must be among them.
void hdst__schema_write(hdst__record *const *records, size_t count, hdst__buffer *out);
// The argument of numpy.dtype() for the C struct of a record.
void hdst__schema_numpy(const hdst__record *record, hdst__buffer *out);

#endif
