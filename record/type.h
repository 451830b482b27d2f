// SPDX-License-Identifier: Apache-2.0
// Types and records as the whole library sees them: the schema reader makes records, the checker types expressions with them, printers and the
// interpreter address fields through their leaves.
#ifndef HDST_RECORD_TYPE_H
#define HDST_RECORD_TYPE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Scalars come first so that an array indexed by kind covers them. HDST__TEXT is a scalar to the language and 16 bytes in memory.
typedef enum hdst__kind {
    HDST__BOOL,
    HDST__I8, HDST__I16, HDST__I32, HDST__I64,
    HDST__U8, HDST__U16, HDST__U32, HDST__U64,
    HDST__F32, HDST__F64,
    HDST__TEXT,
    HDST__RECORD,
    HDST__ARRAY,
    HDST__VOID,
    HDST__STREAM,           // of a `group` function
} hdst__kind;

enum { HDST__SCALAR_KINDS = HDST__TEXT + 1 };

typedef struct hdst__record hdst__record;
typedef struct hdst__type hdst__type;

struct hdst__type {
    hdst__kind kind;
    const hdst__record *record;     // HDST__RECORD
    const hdst__type *element;      // HDST__ARRAY, HDST__STREAM
    uint64_t count;                 // HDST__ARRAY: elements, at least 1
};

// What an integer counts from 1970-01-01T00:00:00Z on: known to who reads and writes it as text; kernels see the integer alone.
typedef enum hdst__time_unit { HDST__NO_TIME, HDST__DAYS, HDST__SECONDS, HDST__MILLISECONDS, HDST__MICROSECONDS, HDST__NANOSECONDS } hdst__time_unit;

// What a field holds whose cell of a table is empty.
typedef enum hdst__missing {
    HDST__MISSING_UNSAID,       // of fields only: an error, but of a text, or where another field says whether it is valid: zero
    HDST__MISSING_ERROR, HDST__MISSING_ZERO, HDST__MISSING_NAN,
    HDST__MISSING_SKIP,         // the row is left out
} hdst__missing;

// What a cell of a table may hold that says as much as an empty one: `NA`, `-`. Words are not ended by a NUL.
typedef struct hdst__null_value {
    const char *bytes;
    size_t length;                  // 1 or more
} hdst__null_value;

typedef struct hdst__null_values {
    const hdst__null_value *value;
    size_t count;
} hdst__null_values;

typedef enum hdst__layout { HDST__AOS, HDST__SOA, HDST__AOSOA, HDST__AOP } hdst__layout;

typedef struct hdst__field {
    const char *name;
    const hdst__type *type;         // arrays of arrays for `count: [H, D]`, outermost first
    uint64_t offset;                // bytes from the start of the C struct
    hdst__time_unit time;           // of `date32` (int32: days) and `timestamp` (int64), arrays of them too
    hdst__missing missing;
    const hdst__null_values *null_values;   // cells that count as empty, too; NULL: none
    const char *valid;              // the field beside it that is 1 where its cell held a value, 0 where it was empty; NULL: none
    bool is_key;                    // declared `key` in an operator's output list
} hdst__field;

// A leaf is a scalar or an innermost run of scalars of one type, reached without a choice: point.x (count D), quote.call, line[2].from.x ...
// An array of records gives one leaf per scalar field inside it, with several dimensions. The leaves of a record, in order of declaration, are what
// IR loads and stores name; `elements` numbers of a leaf are row-major over its dimensions.
enum { HDST__LEAF_DIMS = 8 };

typedef struct hdst__leaf {
    const char *path;               // "x", "from.x", "line.from.x" (dimensions not shown)
    hdst__kind kind;                // a scalar
    hdst__time_unit time;           // of a date or time
    hdst__missing missing;          // never UNSAID
    const hdst__null_values *null_values;   // NULL: none
    uint32_t valid;                 // the leaf, plus 1, that says whether it is valid, element by element; 0: none
    bool is_validity;               // it says so of another, so it takes no cell of a table
    uint64_t elements;              // product of the dimensions; 1 for a plain scalar
    uint32_t dims;
    struct {
        uint64_t count;             // of this dimension
        uint64_t stride;            // bytes between two neighbours in the C struct
    } dim[HDST__LEAF_DIMS];
    uint64_t offset;                // of element 0 in the C struct
    uint64_t first;                 // index of element 0 among all elements of the record: the SoA array number of the leaf's first element
} hdst__leaf;

struct hdst__record {
    const char *name;
    const hdst__field *fields;
    size_t field_count;
    const hdst__leaf *leaves;
    size_t leaf_count;
    uint64_t elements;              // over all leaves
    uint64_t size, align;           // of the C struct, bytes; size is a multiple of align
    uint64_t pack;                  // `align:` of the schema: fields are aligned to at most this; 0 means natural
    hdst__layout layout;
    uint64_t block;                 // HDST__AOSOA: records of a block, a power of two >= 64; else 0
    bool has_text;
    bool is_scalar;                 // wraps a bare scalar (`reduce add(double a, double b)`): one field called "value"
    uint32_t source, offset;        // where it was declared (hdst__span), for messages
};

uint64_t hdst__scalar_size(hdst__kind kind);            // bytes; bool 1, text 16
const char *hdst__scalar_c_name(hdst__kind kind);       // "uint32_t", "float" ...: the kernel language's and C's name
const char *hdst__scalar_yaml_name(hdst__kind kind);    // "uint32", "float32" ...
const char *hdst__scalar_cl_name(hdst__kind kind);      // "uint", "float" ...; bool is "uchar" in memory
uint64_t hdst__type_leaves(const hdst__type *type);     // of a record, its leaves; of a number or text, 1
const char *hdst__unsigned_cl_name(uint64_t bytes);     // of 1, 2, 4 or 8 bytes: "uchar" ... "ulong"
bool hdst__kind_is_integer(hdst__kind kind);            // bool is not
bool hdst__kind_is_signed(hdst__kind kind);
bool hdst__kind_is_float(hdst__kind kind);
bool hdst__kind_is_scalar(hdst__kind kind);             // everything up to HDST__TEXT

const hdst__type *hdst__type_scalar(hdst__kind kind);   // shared constants; HDST__VOID too
const hdst__type *hdst__type_array(hdst__arena *arena, const hdst__type *element, uint64_t count);
const hdst__type *hdst__type_record(hdst__arena *arena, const hdst__record *record);
bool hdst__type_equal(const hdst__type *a, const hdst__type *b);    // records by identity
const char *hdst__type_name(hdst__arena *arena, const hdst__type *type);   // "float[2]", "struct point", "uint32_t"
const hdst__type *hdst__type_base(const hdst__type *type);          // of an array of arrays ...: what the elements are
uint64_t hdst__type_size(const hdst__type *type);       // UINT64_MAX when it does not fit 64 bits
uint64_t hdst__type_align(const hdst__type *type, uint64_t pack);

// Computes offsets, size, align and the leaves from the fields' names and types, `pack`, `layout` and `block`. The record must not contain itself.
// `fields` is copied. With `pack` set the record's alignment is exactly that. Returns false, with *why set, when there are no fields, when it is too large
// (2^40 bytes, 10,000 leaves), a leaf has more than HDST__LEAF_DIMS dimensions, or what fields say of empty cells cannot be.
bool hdst__record_finish(hdst__arena *arena, hdst__record *record, const char **why);
bool hdst__record_is_packed(const hdst__record *record);                                 // `pack` leaves a field less aligned than its type
const hdst__field *hdst__record_field(const hdst__record *record, const char *name);     // NULL when absent
int hdst__record_leaf(const hdst__record *record, const char *path);                     // -1 when absent
uint64_t hdst__leaf_offset(const hdst__leaf *leaf, uint64_t element);                    // bytes in the C struct
bool hdst__leaf_is_aligned(const hdst__record *record, const hdst__leaf *leaf);          // each element of each record, where the first record is
bool hdst__leaf_is_dense(const hdst__leaf *leaf);       // in the C struct its elements lie side by side, whatever its dimensions

typedef struct hdst__param_value {      // a compile-time size or switch: `--param NAME=VALUE`, HDST_PARAM(...)
    const char *name;
    uint64_t bits;                      // as a signed or unsigned integer
    double real;                        // for floating params
    bool is_real;
    bool is_unsigned;                   // bits above INT64_MAX are a large number, not a negative one
} hdst__param_value;

#endif
