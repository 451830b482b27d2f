// SPDX-License-Identifier: Apache-2.0
// Matrix Market's coordinate format as edges: https://math.nist.gov/MatrixMarket/formats.html. The first line tells which numbers follow, the first row that is
// no comment the sizes; then comes an entry a row, its row and column counted from 1. A symmetric matrix has its lower triangle alone: the edges are all
// entries, in their order, then those off the diagonal with their ends exchanged. For these a bit for each entry says whether it is on the diagonal.
#define _GNU_SOURCE
#include "io/edges.h"

#include "base/cancel.h"
#include "base/costs_host.h"
#include "io/convert.h"
#include "io/source_csv.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char magic[] = "%%MatrixMarket";
enum { MAGIC = sizeof magic - 1, WORD = 20, BLOCK = 1 << 15 };      // BLOCK: entries whose bits a thread finds at once

// --- What kind of matrix ---

bool hdst__matrix_begins(const char *bytes, size_t count) { return count >= MAGIC && !strncasecmp(bytes, magic, MAGIC); }

static hdst_status refuse_banner(hdst_status code, const char *line, const char *message, hdst_error *error)
{
    hdst__error_set(error, code, "%s", message);
    hdst__error_at(error, NULL, 1, 1);
    hdst__error_cause(error, "    %s", line);
    hdst__error_hint(error, "what is read: %s matrix coordinate pattern|integer|real general|symmetric", magic);
    return code;
}

hdst_status hdst__matrix_banner(hdst__matrix *matrix, const char *bytes, size_t count, hdst_error *error)
{
    char line[128] = "", object[WORD] = "", form[WORD] = "", numbers[WORD] = "", symmetry[WORD] = "";
    const char *end = memchr(bytes, '\n', count);
    size_t length = end ? (size_t)(end - bytes) : count;
    if (length && bytes[length - 1] == '\r') length--;
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), bytes);
    matrix->is_matrix = true;
    const int words = sscanf(line + MAGIC, "%19s %19s %19s %19s", object, form, numbers, symmetry);
    if (words != 4 || strcasecmp(object, "matrix")) return refuse_banner(HDST_E_FORMAT, line, "the first line does not say which matrix follows", error);
    if (strcasecmp(form, "coordinate")) return refuse_banner(HDST_E_UNSUPPORTED, line, "a dense matrix is no list of edges", error);
    matrix->has_values = strcasecmp(numbers, "pattern") != 0;
    matrix->symmetric = !strcasecmp(symmetry, "symmetric");
    if (matrix->has_values && strcasecmp(numbers, "real") && strcasecmp(numbers, "integer"))
        return refuse_banner(HDST_E_UNSUPPORTED, line, "a matrix of such numbers is not read", error);
    if (!matrix->symmetric && strcasecmp(symmetry, "general"))
        return refuse_banner(HDST_E_UNSUPPORTED, line, "a matrix of such symmetry is not read", error);
    return HDST_OK;
}

// --- Its sizes ---

static hdst_status refuse_sizes(const hdst__source *source, uint64_t line, const char *row, const char *message, hdst_error *error)
{
    hdst__error_set(error, HDST_E_FORMAT, "%s", message);
    hdst__error_at(error, source->name, (uint32_t)line, 1);
    hdst__error_cause(error, "    %s", row);
    hdst__error_hint(error, "the first row says how many rows, columns and entries there are: 7 7 15");
    return HDST_E_FORMAT;
}

hdst_status hdst__matrix_sizes(hdst__source *source, hdst_error *error)
{
    hdst__edges *edges = source->state;
    hdst__matrix *matrix = &edges->matrix;
    uint64_t line;
    unsigned long long rows, columns, entries;
    char behind;
    const char *row = hdst__source_csv_first_row(edges->inner, &line);
    if (strchr(row, '-') || sscanf(row, "%llu %llu %llu %c", &rows, &columns, &entries, &behind) != 3)
        return refuse_sizes(source, line, row, "these are no sizes of a matrix", error);
    matrix->rows = rows;
    matrix->columns = columns;
    matrix->entries = entries;
    if ((rows | columns) >> 63) return refuse_sizes(source, line, row, "a matrix has at most 2^63 - 1 rows and columns", error);
    if (matrix->symmetric && rows != columns) return refuse_sizes(source, line, row, "a symmetric matrix has as many rows as columns", error);
    const size_t due = matrix->has_values ? HDST__EDGE_COLUMNS : 2;
    edges->vertices = rows > columns ? rows : columns;
    edges->has_vertices = true;
    const uint64_t model = hdst__source_csv_model_line(edges->inner);
    if (!model || edges->inner->column_count == due) return HDST_OK;
    hdst__error_set(error, HDST_E_FORMAT, "an entry has %zu numbers, and %zu are due by the first line", edges->inner->column_count, due);
    hdst__error_at(error, source->name, (uint32_t)model, 1);
    hdst__error_hint(error, "its row and column, and its value unless the first line says pattern");
    return HDST_E_FORMAT;
}

// --- Entries ---

// Both numbers from 1, as int64, become ones from 0.
static hdst_status take_entries(const hdst__source *source, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const hdst__matrix *matrix = &((const hdst__edges *)source->state)->matrix;
    const int64_t limit[] = {(int64_t)matrix->rows, (int64_t)matrix->columns};
    for (uint64_t i = 0; i < count; i++)
        for (size_t c = 0; c < HDST__EDGE_WEIGHT; c++) {
            char *cell = rows + i * source->row_bytes + source->columns[c].offset;
            int64_t number;
            memcpy(&number, cell, sizeof number);
            if (number < 1 || number > limit[c]) return hdst__edges_refuse(source, first + i, c, HDST__I64, cell, error);
            number--;
            memcpy(cell, &number, sizeof number);
        }
    return HDST_OK;
}

static hdst_status read_entries(const hdst__source *source, hdst__cell_form weight, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    const hdst__edges *edges = source->state;
    hdst__cell_form cells[HDST__EDGE_COLUMNS] = {{.kind = HDST__I64}, {.kind = HDST__I64}, weight};
    const hdst__row_form as = {cells, edges->inner->column_count};
    hdst_status status = edges->inner->format->read(edges->inner, &as, first, count, rows, error);
    return status == HDST_OK ? take_entries(source, first, count, rows, error) : status;
}

// --- Which are on the diagonal ---

typedef struct search {
    const hdst__source *source;
    _Atomic uint64_t failed;        // the first block that could not be read
} search;

static uint64_t entries_of(const hdst__matrix *matrix, uint64_t block)
{
    const uint64_t first = block * BLOCK;
    return matrix->entries - first < BLOCK ? matrix->entries - first : BLOCK;
}

static hdst_status look_at_block(const hdst__source *source, uint64_t block, hdst_error *error)
{
    hdst__edges *edges = source->state;
    uint64_t *bits = edges->matrix.diagonal + block * (BLOCK / 64);
    const uint64_t count = entries_of(&edges->matrix, block), bytes = source->row_bytes;
    char *rows = hdst__alloc(source->allocator, count * bytes);
    if (!rows) return hdst__error_memory(error, source->name);
    hdst_status status = hdst__cancel_check(edges->cancel, 0, 0, error);
    if (status == HDST_OK) status = read_entries(source, (hdst__cell_form){.kind = HDST__VOID}, block * BLOCK, count, rows, error);
    memset(bits, 0, BLOCK / 8);
    for (uint64_t i = 0; i < count && status == HDST_OK; i++)
        bits[i / 64] |= (uint64_t)!memcmp(rows + i * bytes + source->columns[0].offset, rows + i * bytes + source->columns[1].offset, 8) << i % 64;
    for (uint64_t i = count; i < BLOCK; i++) bits[i / 64] |= UINT64_C(1) << i % 64;
    hdst__free(source->allocator, rows);
    return status;
}

static void work(void *user, uint64_t block)
{
    search *s = user;
    if (look_at_block(s->source, block, NULL) == HDST_OK) return;
    uint64_t before = atomic_load(&s->failed);
    while (block < before && !atomic_compare_exchange_weak(&s->failed, &before, block)) {}
}

static uint64_t off_diagonal(const uint64_t *bits, uint64_t words)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < words; i++) count += (uint64_t)__builtin_popcountll(~bits[i]);
    return count;
}

static void forget_diagonal(const hdst__allocator *allocator, hdst__matrix *matrix)
{
    hdst__free(allocator, matrix->diagonal);
    hdst__free(allocator, matrix->off_before);
    matrix->diagonal = matrix->off_before = NULL;
    matrix->off = 0;
}

static hdst_status find_diagonal(hdst__source *source, hdst_error *error)
{
    hdst__matrix *matrix = &((hdst__edges *)source->state)->matrix;
    matrix->blocks = matrix->entries / BLOCK + (matrix->entries % BLOCK > 0);
    matrix->diagonal = hdst__alloc(source->allocator, matrix->blocks * BLOCK / 8 + 1);
    matrix->off_before = hdst__alloc(source->allocator, (matrix->blocks + 1) * sizeof *matrix->off_before);
    if (!matrix->diagonal || !matrix->off_before) return hdst__error_memory(error, source->name);
    search s = {source, UINT64_MAX};
    if (source->threads) hdst__thread_pool_run(source->threads, matrix->blocks, work, &s);
    else for (uint64_t i = 0; i < matrix->blocks; i++) work(&s, i);
    if (s.failed != UINT64_MAX) {
        hdst_status status = look_at_block(source, s.failed, error);
        if (status != HDST_OK) return status;
        return hdst__error_set(error, HDST_E_IO, "'%s' changed while it was read", source->name);
    }
    for (uint64_t i = 0; i < matrix->blocks; i++) {
        matrix->off_before[i] = matrix->off;
        matrix->off += off_diagonal(matrix->diagonal + i * (BLOCK / 64), BLOCK / 64);
    }
    matrix->off_before[matrix->blocks] = matrix->off;
    return HDST_OK;
}

hdst_status hdst__matrix_count(hdst__source *source, hdst_error *error)
{
    hdst__edges *edges = source->state;
    hdst__matrix *matrix = &edges->matrix;
    if (source->rows != matrix->entries) {
        uint64_t line;
        char message[128];
        const char *row = hdst__source_csv_first_row(edges->inner, &line);
        snprintf(message, sizeof message, "there are %llu entries, and %llu are due", (unsigned long long)source->rows, (unsigned long long)matrix->entries);
        return refuse_sizes(source, line, row, message, error);
    }
    if (!matrix->symmetric) return HDST_OK;
    hdst_status status = find_diagonal(source, error);
    if (status != HDST_OK) forget_diagonal(source->allocator, matrix);      // whoever counts again begins anew
    else source->rows = matrix->entries + matrix->off;
    return status;
}

// --- Edges ---

// The entry that is the `number`th, from 0, off the diagonal.
static uint64_t find_off(const hdst__matrix *matrix, uint64_t number)
{
    uint64_t low = 0, high = matrix->blocks;        // off_before[low] <= number < off_before[high]
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (matrix->off_before[middle] <= number) low = middle;
        else high = middle;
    }
    uint64_t left = number - matrix->off_before[low], word = low * (BLOCK / 64);
    for (uint64_t here; left >= (here = off_diagonal(matrix->diagonal + word, 1)); word++) left -= here;
    uint64_t off = ~matrix->diagonal[word];
    while (left--) off &= off - 1;
    return word * 64 + (uint64_t)__builtin_ctzll(off);
}

static bool is_on_diagonal(const hdst__matrix *matrix, uint64_t entry) { return matrix->diagonal[entry / 64] >> entry % 64 & 1; }

// Edges whose ends are those of entries off the diagonal, exchanged, from the `first`th of these on.
static hdst_status read_mirrored(const hdst__source *source, hdst__cell_form weight, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    const hdst__matrix *matrix = &((const hdst__edges *)source->state)->matrix;
    const uint64_t bytes = source->row_bytes, most = HDST__HOST_SCRATCH_BYTES / bytes, from = source->columns[0].offset, to = source->columns[1].offset;
    if (!count) return HDST_OK;
    char *scratch = hdst__alloc(source->allocator, most * bytes);
    if (!scratch) return hdst__error_memory(error, source->name);
    hdst_status status = HDST_OK;
    for (uint64_t entry = find_off(matrix, first), last = find_off(matrix, first + count - 1); entry <= last && status == HDST_OK;) {
        const uint64_t part = last + 1 - entry < most ? last + 1 - entry : most;
        status = read_entries(source, weight, entry, part, scratch, error);
        for (uint64_t i = 0; i < part && status == HDST_OK; i++) {
            const char *row = scratch + i * bytes;
            if (is_on_diagonal(matrix, entry + i)) continue;
            memcpy(rows, row, bytes);
            memcpy(rows + from, row + to, 8);
            memcpy(rows + to, row + from, 8);
            rows += bytes;
        }
        entry += part;
    }
    hdst__free(source->allocator, scratch);
    return status;
}

// Numbers as the fields want them.
static hdst_status convert(const hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, char *rows, hdst_error *error)
{
    for (size_t c = 0; c < HDST__EDGE_WEIGHT; c++) {
        if (as->cell[c].kind == HDST__VOID) continue;
        char *cells = rows + source->columns[c].offset;
        const uint64_t fit = hdst__convert_strided(as->cell[c].kind, cells, source->row_bytes, HDST__I64, cells, source->row_bytes, count);
        if (fit == count) continue;
        char text[64];
        hdst__convert_text(HDST__I64, cells + fit * source->row_bytes, text, sizeof text);
        hdst__error_set(error, HDST_E_FORMAT, "edge %llu: vertex %s is too large for %s", (unsigned long long)(first + fit), text,
                        hdst__scalar_yaml_name(as->cell[c].kind));
        hdst__error_at(error, source->name, 0, 0);
        hdst__error_hint(error, "declare the field with a type that holds it");
        return HDST_E_FORMAT;
    }
    return HDST_OK;
}

hdst_status hdst__matrix_read(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error)
{
    const hdst__matrix *matrix = &((const hdst__edges *)source->state)->matrix;
    const hdst__cell_form weight = source->column_count == HDST__EDGE_COLUMNS ? as->cell[HDST__EDGE_WEIGHT] : (hdst__cell_form){.kind = HDST__VOID};
    const uint64_t left = first < matrix->entries ? matrix->entries - first : 0, plain = count < left ? count : left;
    hdst_status status = plain ? read_entries(source, weight, first, plain, rows, error) : HDST_OK;
    if (status == HDST_OK)
        status = read_mirrored(source, weight, first + plain - matrix->entries, count - plain, (char *)rows + plain * source->row_bytes, error);
    return status == HDST_OK ? convert(source, as, first, count, rows, error) : status;
}
