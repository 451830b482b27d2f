// SPDX-License-Identifier: Apache-2.0
// Reads the header of .npy files, a Python dictionary in text: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }. Only
// the few literals that NumPy writes are read, and sizes are checked before they are used.
#include "io/npy_header.h"

#include "io/columns.h"

#include <stdio.h>
#include <string.h>

enum { MAX_HEADER = 1 << 20, MAX_DEPTH = 16, MAX_DIMS = HDST__NPY_DIMS, MAX_NAME = 512 };
#define MAX_ROW ((uint64_t)1 << 28)

typedef struct parser {
    hdst__npy_header *header;
    const hdst__file *file;
    const char *text, *at, *end;
    uint64_t text_offset;       // of `text` in the file
    hdst_error *error;
    bool failed;
    uint64_t shape[MAX_DIMS];
    size_t dims;
    bool fortran;
} parser;

static void fail_at(parser *p, const char *at, const char *message, const char *hint)
{
    if (p->failed) return;
    p->failed = true;
    hdst__error_set(p->error, HDST_E_FORMAT, "%s, at byte %llu", message, (unsigned long long)(p->text_offset + (uint64_t)(at - p->text)));
    hdst__error_at(p->error, p->file->path, 0, 0);
    char shown[81];
    size_t n = 0;
    for (const char *c = at; c < p->end && n < sizeof shown - 1 && *c != '\n'; c++) shown[n++] = *c >= 32 && *c < 127 ? *c : '?';
    shown[n] = 0;
    hdst__error_cause(p->error, "the header goes on with: %s", n ? shown : "nothing");
    if (hint) hdst__error_hint(p->error, "%s", hint);
}

static void fail(parser *p, const char *message) { fail_at(p, p->at, message, "the file is damaged, or was not written by NumPy's save()"); }

// --- Literals ---

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r')) p->at++;
}

static char peek(parser *p)
{
    skip_blanks(p);
    return p->at < p->end && !p->failed ? *p->at : 0;
}

static bool take(parser *p, char c)
{
    if (peek(p) != c || !c) return false;
    p->at++;
    return true;
}

static void expect(parser *p, char c, const char *message)
{
    if (!take(p, c)) fail(p, message);
}

// A quoted string without escapes, which NumPy does not write for plain names; *length is 0 after a failure.
static const char *read_string(parser *p, size_t *length)
{
    *length = 0;
    char quote = peek(p);
    if (quote != '\'' && quote != '"') {
        fail(p, "a quoted text is expected");
        return "";
    }
    const char *start = ++p->at;
    while (p->at < p->end && *p->at != quote && *p->at != '\\' && *p->at != '\n') p->at++;
    if (p->at == p->end || *p->at != quote) {
        fail(p, "a text does not end, or has an escape");
        return "";
    }
    *length = (size_t)(p->at++ - start);
    return start;
}

static uint64_t read_number(parser *p)
{
    uint64_t value = 0;
    char c = peek(p);
    if (c < '0' || c > '9') {
        fail(p, "a whole number is expected");
        return 0;
    }
    const char *start = p->at;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*p->at - '0'), &value)) {
            fail_at(p, start, "a number is too large", NULL);
            return 0;
        }
    if (p->at < p->end && *p->at == 'L') p->at++;       // written by Python 2
    return value;
}

// "(2, 3)", "(4,)", "()"; a plain number stands for one dimension where `bare` allows it.
static size_t read_tuple(parser *p, uint64_t *values, bool bare)
{
    size_t count = 0;
    if (bare && peek(p) != '(') {
        values[0] = read_number(p);
        return 1;
    }
    expect(p, '(', "a tuple of sizes is expected");
    while (!p->failed && peek(p) != ')') {
        if (count == MAX_DIMS) fail(p, "there are too many dimensions");
        else values[count++] = read_number(p);
        if (peek(p) != ')') expect(p, ',', "',' or ')' is expected");
    }
    expect(p, ')', "')' is expected");
    return count;
}

static bool read_bool(parser *p)
{
    skip_blanks(p);
    if (!p->failed && p->end - p->at >= 4 && !memcmp(p->at, "True", 4)) return p->at += 4, true;
    if (!p->failed && p->end - p->at >= 5 && !memcmp(p->at, "False", 5)) return p->at += 5, false;
    fail(p, "True or False is expected");
    return false;
}

// --- Types ---

static const struct {
    char type;
    uint64_t bytes;
    hdst__kind kind;
} number_types[] = {
    {'b', 1, HDST__BOOL}, {'?', 1, HDST__BOOL}, {'i', 1, HDST__I8}, {'i', 2, HDST__I16}, {'i', 4, HDST__I32}, {'i', 8, HDST__I64}, {'u', 1, HDST__U8},
    {'u', 2, HDST__U16}, {'u', 4, HDST__U32}, {'u', 8, HDST__U64}, {'f', 2, HDST__F32}, {'f', 4, HDST__F32}, {'f', 8, HDST__F64},
};

static const char *refused_type(char type)
{
    switch (type) {
    case 'O': return "Python objects";
    case 'S': case 'a': case 'U': return "texts";
    case 'c': return "complex numbers";
    case 'M': case 'm': return "dates or times";
    case 'V': return "raw bytes";
    case 'f': return "floats of this size";
    default: return "values of this type";
    }
}

// "<f4", "|b1", "?". *bytes is the size in the file; a void ("|V4") is only a gap.
static bool read_type(parser *p, hdst__npy_column *column, uint64_t *bytes, bool gap_allowed)
{
    skip_blanks(p);
    const char *place = p->at;
    size_t length;
    const char *text = read_string(p, &length), *end = text + length;
    char order = '|', type = 0;
    if (length && strchr("<>|=", *text)) order = *text++;
    if (text < end) type = *text++;
    uint64_t size = 0;
    for (; text < end && *text >= '0' && *text <= '9' && size < MAX_ROW; text++) size = size * 10 + (uint64_t)(*text - '0');
    if (type == '?') size = 1;
    *bytes = size;
    if (p->failed) return false;
    if (type == 'V' && gap_allowed && text == end) return true;
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types && text == end; i++) {
        if (number_types[i].type != type || number_types[i].bytes != size) continue;
        column->kind = number_types[i].kind;
        column->is_half = type == 'f' && size == 2;
        column->is_swapped = size > 1 && order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
        return true;
    }
    char message[160];
    snprintf(message, sizeof message, "the array holds %s (dtype '%.*s'), which are not read", refused_type(type), (int)(length < 40 ? length : 40),
             end - length);
    fail_at(p, place, message, "convert it first, for example: np.save(path, a.astype(np.float32))");
    return false;
}

static bool add_column(parser *p, const hdst__npy_column *column, const char *name)
{
    hdst__npy_header *h = p->header;
    if (h->column_count >= HDST__MAX_COLUMNS) return fail(p, "there are too many fields"), false;
    if ((h->column_count & (h->column_count - 1)) == 0) {       // the count is a power of two (or 0): double
        hdst__npy_column *columns = hdst__realloc(h->allocator, h->columns, (h->column_count ? 2 * h->column_count : 1) * sizeof *columns);
        if (!columns) return p->failed = true, hdst__error_memory(p->error, p->file->path), false;
        h->columns = columns;
    }
    h->columns[h->column_count] = *column;
    h->columns[h->column_count].name = name ? hdst__strdup(h->allocator, name) : NULL;
    if (name && !h->columns[h->column_count].name) return p->failed = true, hdst__error_memory(p->error, p->file->path), false;
    h->column_count++;
    return true;
}

static bool add_row_bytes(parser *p, uint64_t bytes, uint64_t count)
{
    uint64_t more, sum;
    if (__builtin_mul_overflow(bytes, count, &more) || __builtin_add_overflow(p->header->row_bytes, more, &sum) || sum > MAX_ROW)
        return fail(p, "a row of the array has more than 256 MiB"), false;
    p->header->row_bytes = sum;
    return true;
}

static void read_fields(parser *p, char *prefix, size_t prefix_length, int depth);

static uint64_t read_field_shape(parser *p)
{
    uint64_t shape[MAX_DIMS], count = 1;
    if (!take(p, ',') || peek(p) == ')') return 1;
    size_t dims = read_tuple(p, shape, true);
    for (size_t i = 0; i < dims; i++)
        if (__builtin_mul_overflow(count, shape[i], &count) || count > MAX_ROW) return fail(p, "a field is too large"), 0;
    return count;
}

// ('x', '<f4'), ('x', '<f4', (2,)), (('title', 'x'), '<f4'), ('from', [...]), ('', '|V4')
static void read_field(parser *p, char *prefix, size_t prefix_length, int depth)
{
    size_t length;
    expect(p, '(', "a field like ('x', '<f4') is expected");
    bool has_title = take(p, '(');
    const char *name = read_string(p, &length);
    if (has_title) {
        expect(p, ',', "the name of the field is expected");
        name = read_string(p, &length);
        expect(p, ')', "')' is expected");
    }
    expect(p, ',', "the type of the field is expected");
    if (prefix_length + length + 2 > MAX_NAME) fail(p, "the name of a field is too long");
    if (p->failed) return;
    memcpy(prefix + prefix_length, name, length);
    prefix[prefix_length + length] = 0;
    if (memchr(name, 0, length)) fail(p, "the name of a field has a zero byte");
    if (peek(p) == '[') {
        prefix[prefix_length + length] = '.';
        read_fields(p, prefix, prefix_length + length + 1, depth + 1);
        const char *place = p->at;
        if (read_field_shape(p) != 1) fail_at(p, place, "an array of nested records is not read", "save its fields as arrays of their own");
    } else {
        hdst__npy_column column = {.offset = p->header->row_bytes};
        uint64_t bytes = 0;
        if (!read_type(p, &column, &bytes, length == 0)) return;
        column.count = read_field_shape(p);
        if (p->failed || !add_row_bytes(p, bytes, column.count)) return;
        if (length && column.count) add_column(p, &column, prefix);     // without a name: a gap
    }
    expect(p, ')', "')' is expected after a field");
}

static void read_fields(parser *p, char *prefix, size_t prefix_length, int depth)
{
    if (depth > MAX_DEPTH) {
        fail(p, "fields are nested too deep");
        return;
    }
    expect(p, '[', "a list of fields is expected");
    while (!p->failed && peek(p) != ']') {
        read_field(p, prefix, prefix_length, depth);
        if (peek(p) != ']') expect(p, ',', "',' or ']' is expected");
    }
    expect(p, ']', "']' is expected");
}

static void read_descr(parser *p)
{
    if (peek(p) == '[') {
        char prefix[MAX_NAME];
        p->header->has_fields = true;
        read_fields(p, prefix, 0, 0);
        return;
    }
    hdst__npy_column column = {.count = 1};
    uint64_t bytes = 0;
    if (read_type(p, &column, &bytes, false) && add_row_bytes(p, bytes, 1)) add_column(p, &column, NULL);
}

// --- The dictionary ---

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4 };

static unsigned read_entry(parser *p)
{
    skip_blanks(p);
    const char *place = p->at;
    size_t length;
    const char *key = read_string(p, &length);
    expect(p, ':', "':' is expected after a key");
    if (p->failed) return 0;
    if (length == 5 && !memcmp(key, "descr", 5)) {
        if (p->header->column_count || p->header->has_fields) fail_at(p, place, "'descr' is there twice", NULL);
        else read_descr(p);
        return HAS_DESCR;
    }
    if (length == 13 && !memcmp(key, "fortran_order", 13)) return p->fortran = read_bool(p), HAS_ORDER;
    if (length == 5 && !memcmp(key, "shape", 5)) return p->dims = read_tuple(p, p->shape, false), HAS_SHAPE;
    fail_at(p, place, "the header has an unknown key", "known are descr, fortran_order and shape");
    return 0;
}

static void read_dictionary(parser *p)
{
    unsigned seen = 0;
    expect(p, '{', "the header does not start with '{'");
    while (!p->failed && peek(p) != '}') {
        seen |= read_entry(p);
        if (peek(p) != '}') expect(p, ',', "',' or '}' is expected");
    }
    expect(p, '}', "the header does not end with '}'");
    if (!p->failed && peek(p)) fail(p, "the header goes on after '}'");
    if (!p->failed && seen != (HAS_DESCR | HAS_ORDER | HAS_SHAPE)) fail(p, "the header lacks descr, fortran_order or shape");
}

// --- The shape ---

static hdst_status bad_shape(const parser *p, const char *what, const char *hint)
{
    char shape[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < p->dims && used < sizeof shape; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%llu", i ? ", " : "", (unsigned long long)p->shape[i]);
    hdst__error_set(p->error, HDST_E_FORMAT, "the array has shape (%s%s): %s", shape, p->dims == 1 ? "," : "", what);
    hdst__error_at(p->error, p->file->path, 0, 0);
    hdst__error_hint(p->error, "%s", hint);
    return HDST_E_FORMAT;
}

static hdst_status apply_shape(parser *p)
{
    hdst__npy_header *h = p->header;
    static const char *const want = "records are the rows of an array (m, d), the numbers of an array (m,), or a structured array (m,)";
    if (p->dims == 0) return bad_shape(p, "a single number is no table", want);
    if (h->has_fields && p->dims != 1) return bad_shape(p, "a structured array must have one dimension", "flatten it with a.ravel()");
    h->rows = p->shape[0];
    h->dims = p->dims - 1;
    uint64_t numbers = 1;           // in a row
    for (size_t d = 0; d < h->dims; d++) {
        h->dim[d] = p->shape[d + 1];
        if (__builtin_mul_overflow(numbers, h->dim[d], &numbers) || numbers > HDST__MAX_COLUMNS)
            return bad_shape(p, "there are more than 1,048,576 columns", "is it transposed? Rows are records");
    }
    if (h->dims) {
        h->columns[0].count = numbers;
        h->row_bytes *= numbers;
        h->column_major = p->fortran && numbers > 1;
    }
    if (h->row_bytes == 0 || h->column_count == 0) return bad_shape(p, "a row has no numbers", want);
    return HDST_OK;
}

static hdst_status check_size(const parser *p)
{
    const hdst__npy_header *h = p->header;
    uint64_t data = p->file->bytes - h->data_offset, wanted;
    if (__builtin_mul_overflow(h->rows, h->row_bytes, &wanted) || wanted > data) {
        hdst__error_set(p->error, HDST_E_FORMAT, "the file is truncated: the header promises %llu rows of %llu bytes, there are %llu bytes after it",
                        (unsigned long long)h->rows, (unsigned long long)h->row_bytes, (unsigned long long)data);
        hdst__error_at(p->error, p->file->path, 0, 0);
        hdst__error_hint(p->error, "copy or write the file again");
        return HDST_E_FORMAT;
    }
    if (wanted == data) return HDST_OK;
    hdst__error_set(p->error, HDST_E_FORMAT, "%llu bytes follow the array's data, which ends at byte %llu", (unsigned long long)(data - wanted),
                    (unsigned long long)(h->data_offset + wanted));
    hdst__error_at(p->error, p->file->path, 0, 0);
    hdst__error_hint(p->error, "one array per file; several files are given one by one");
    return HDST_E_FORMAT;
}

// --- The file's first bytes ---

static hdst_status not_npy(const hdst__file *file, const char *what, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "not an .npy file: %s", what);
    hdst__error_at(error, file->path, 0, 0);
    hdst__error_hint(error, "numpy.save() writes .npy files; text with numbers should be named .csv");
    return HDST_E_FORMAT;
}

static hdst_status read_start(const hdst__file *file, uint64_t *text_offset, uint64_t *text_bytes, hdst_error *error)
{
    unsigned char start[12];
    if (file->bytes == 0) return not_npy(file, "it is empty", error);
    uint64_t have = file->bytes < sizeof start ? file->bytes : sizeof start;
    hdst_status status = hdst__file_read(file, 0, start, have, error);
    if (status != HDST_OK) return status;
    if (have >= 2 && !memcmp(start, "PK", 2)) return not_npy(file, "it is a zip archive (.npz?)", error);
    if (have < 6 || memcmp(start, "\x93NUMPY", 6)) return not_npy(file, "it does not start with \\x93NUMPY", error);
    bool is_short = have > 6 && start[6] == 1;
    if (have < (is_short ? 10u : 12u)) return not_npy(file, "it ends within the first 12 bytes", error);
    if (start[6] < 1 || start[6] > 3) {
        hdst__error_set(error, HDST_E_FORMAT, ".npy version %d.%d is not known", start[6], start[7]);
        hdst__error_at(error, file->path, 0, 0);
        hdst__error_hint(error, "versions 1, 2 and 3 are read");
        return HDST_E_FORMAT;
    }
    *text_offset = is_short ? 10 : 12;
    *text_bytes = start[8] | (uint64_t)start[9] << 8;
    if (!is_short) *text_bytes |= (uint64_t)start[10] << 16 | (uint64_t)start[11] << 24;
    if (*text_bytes > file->bytes - *text_offset) return not_npy(file, "its header is longer than the file", error);
    if (*text_bytes > MAX_HEADER) return not_npy(file, "its header has more than 1 MiB", error);
    return HDST_OK;
}

static hdst_status parse(parser *p)
{
    read_dictionary(p);
    if (p->failed) return p->error->code;
    hdst_status status = apply_shape(p);
    return status == HDST_OK ? check_size(p) : status;
}

hdst_status hdst__npy_header_read(hdst__npy_header *header, const hdst__allocator *allocator, const hdst__file *file, hdst_error *error)
{
    *header = (hdst__npy_header){.allocator = allocator};
    uint64_t offset, bytes;
    hdst_status status = read_start(file, &offset, &bytes, error);
    if (status != HDST_OK) return status;
    char *text = hdst__alloc(allocator, bytes);
    if (!text) return hdst__error_memory(error, file->path);
    header->data_offset = offset + bytes;
    hdst_error own = HDST_ERROR_INIT;       // the code is needed even when the caller wants no words
    status = hdst__file_read(file, offset, text, bytes, &own);
    parser p = {.header = header, .file = file, .text = text, .at = text, .end = text + bytes, .text_offset = offset, .error = &own};
    if (status == HDST_OK) status = parse(&p);
    hdst__free(allocator, text);
    if (status != HDST_OK) {
        if (error) *error = own;
        hdst__npy_header_destroy(header);
    }
    return status;
}

void hdst__npy_header_destroy(hdst__npy_header *header)
{
    for (size_t i = 0; i < header->column_count; i++) hdst__free(header->allocator, header->columns[i].name);
    hdst__free(header->allocator, header->columns);
    header->columns = NULL;
    header->column_count = 0;
}

uint64_t hdst__npy_fortran_place(const hdst__npy_header *header, uint64_t number)
{
    uint64_t stride = 1, place = 0;
    for (size_t d = 0; d < header->dims; d++) stride *= header->dim[d];
    for (size_t d = header->dims; d-- > 0; number /= header->dim[d]) {
        stride /= header->dim[d];       // of the dimensions before this one
        place += number % header->dim[d] * stride;
    }
    return place;
}

uint64_t hdst__npy_scalar_bytes(const hdst__npy_column *column) { return column->is_half ? 2 : hdst__scalar_size(column->kind); }
