// SPDX-License-Identifier: Apache-2.0
// Where records come from: files of numbers, raw records, memory, ranges, callbacks. A source is opened (its columns are then known), its rows are counted,
// it is bound to a record (columns are matched to fields), and then fills segments of any layout with ranges of records.
//
// Threads: fill may be called from one thread at a time, or for different records from several where the source is `concurrent`. Memory: a bounded staging
// buffer for each of them, and for .csv an index of rows.
#ifndef HDST_IO_SOURCE_H
#define HDST_IO_SOURCE_H

#include "base/alloc.h"
#include "base/error_object.h"
#include "base/runtime.h"
#include "io/line_search.h"
#include "io/open_end.h"
#include "record/layout.h"
#include "record/line_blocks.h"

typedef struct hdst__source hdst__source;
typedef struct hdst__bound_source hdst__bound_source;

typedef struct hdst__column {
    const char *name;           // NULL: the format has no names
    hdst__kind kind;            // as stored
    uint64_t offset;            // bytes within a raw row
    uint64_t count;             // numbers of this column in a row (structured .npy may have arrays), packed
} hdst__column;

enum { HDST__MOST_MATCHED = 8 };

typedef struct hdst__cell_form {        // as what a field of text is read
    hdst__kind kind;            // HDST__VOID: not at all
    hdst__time_unit time;       // of an integer that is written as a date or time
    hdst__missing missing;      // what it is where the field is empty (HDST__MISSING_ERROR: an error)
    uint32_t valid;             // the cell (uint8), plus 1, that says whether it was not; 0: none
    const hdst__null_values *null_values;       // of the record: what says as much as an empty field does, but in quotes in a text; NULL: nothing
} hdst__cell_form;

static inline bool hdst__may_be_empty(const hdst__cell_form *form) { return form->missing == HDST__MISSING_ZERO || form->missing == HDST__MISSING_NAN; }

enum { HDST__TEXT_CELL_BYTES = 8 };     // of a number in a row of text that was read

typedef struct hdst__row_form {         // as what a row of text is read
    hdst__cell_form *cell;      // by column
    size_t count;               // cells of a row: of the columns, and behind them those that say whether others were empty
    bool skips_malformed;       // rows that do not parse are left out
    bool skips_missing;         // rows with an empty cell of HDST__MISSING_SKIP are
    void *kept;                 // the format's own: which rows are kept, once they are counted; NULL: all
} hdst__row_form;

// One format: a struct of functions. A NULL slot is an operation that the format does not have.
typedef struct hdst__source_format {
    const char *name;           // ".npy", "memory" ...
    // Finds source->rows, and may add to the note; called once. NULL: they are known when the source is opened, or (raw records) bound.
    hdst_status (*count)(hdst__source *source, hdst_error *error);
    // Of a source with an open end: what is worth knowing before records are read that nobody counted (source->text_bytes). It may find the end. NULL: nothing.
    hdst_status (*begin)(hdst__source *source, hdst_error *error);
    // Of one whose rows are not read: goes on until it is known whether there is this record.
    hdst_status (*look)(hdst__source *source, uint64_t record, hdst_error *error);
    // Writes `count` raw rows (columns at their offsets) to `rows`. NULL when the source has `direct` rows. `as` is NULL unless `is_text`.
    hdst_status (*read)(hdst__source *source, const hdst__row_form *as, uint64_t first, uint64_t count, void *rows, hdst_error *error);
    // Of a source whose numbers lie column by column: `count` numbers of a column's element, one behind the other, of the column's kind.
    hdst_status (*read_numbers)(hdst__source *source, size_t column, uint64_t element, uint64_t first, uint64_t count, void *numbers, hdst_error *error);
    // Writes records of a bound source itself, where rows would be a detour (io/bound.h): as hdst__bound_source_fill.
    hdst_status (*fill)(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                        uint64_t to_first, hdst_error *error);
    // The same for records with texts only, whose bytes rows of numbers have no room for. NULL: it has none, or `fill` does it.
    hdst_status (*fill_texts)(const hdst__bound_source *bound, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers,
                              uint64_t to_first, hdst_error *error);
    // Columns are text: `as` says as what the binding wants them read, so that numbers are rounded once. A cell has 8 bytes.
    bool is_text;
    // What the source needs to know of the record before reading (a callback, raw records: the row is the C struct). NULL: columns are matched.
    hdst_status (*bind)(hdst__source *source, const hdst__record *record, hdst_error *error);
    // Of a format that knows itself which column each number of a record comes from, column[element] by element in the order of the fields; `column` has room
    // for HDST__MOST_MATCHED, records of more are refused. NULL: by name or in order (hdst__source_bind).
    hdst_status (*match)(const hdst__source *source, const hdst__record *record, size_t column[], hdst_error *error);
    // Of a bound source that may leave rows out: finds which are kept (bound->as.kept), how many (bound->kept_rows), how many are not, and why the first is
    // not. NULL: it never leaves rows out.
    hdst_status (*keep)(hdst__bound_source *bound, hdst_error *error);
    void (*forget)(hdst__bound_source *bound);      // frees what keep made
    void (*close)(hdst__source *source);
    void (*rest)(hdst__source *source);     // gives its file's descriptor back, where it can (hdst__file_rest); NULL: it has none of its own
    const char *(*file)(const hdst__source *source, uint64_t number);       // the path of one of its files, NULL behind the last; NULL: there is one, or none
    bool finds_texts;           // fill looks at bound->search
    // Of a bound source: which leaves take what of lines, of which fill may say where they are (storage->lines). NULL: no record is made elsewhere.
    bool (*find_lines)(const hdst__bound_source *bound, hdst__line_leaves *leaves);
    bool in_process;            // rows are made in this process: addresses in the spans of texts are its own
} hdst__source_format;

struct hdst__source {
    const hdst__source_format *format;
    const hdst__allocator *allocator;
    char *name;                 // the path, or "memory" ...: for messages
    uint64_t rows;              // when they are counted
    bool is_counted;
    bool skips_malformed;       // rows that are none for their number of fields do not count
    hdst__open_end *open_end;   // not NULL: they can be read before they are counted, and this tells where they end
    uint64_t text_bytes;        // of a row's texts, about, once the rows are counted, or begun
    hdst__thread_pool *threads; // for counting; NULL: the calling thread alone
    uint64_t row_bytes;         // of a raw row
    hdst__column *columns;      // NULL: rows are C structs of the record it is bound to
    size_t column_count;
    uint64_t width;             // numbers in a row: the columns' counts added up
    bool in_order;              // the user chose the columns: they fill the fields in that order, whatever their names
    bool concurrent;            // what reads may be called from several threads at once
    bool parts_itself;          // before rows are counted, each call of fill reads by all of `threads`: their pieces are cut as they are read
    bool by_column;             // through format->read_numbers; else
    const void *direct;         // rows in memory, row_bytes apart; NULL: through format->read
    char note[512];             // what a reader should know, or ""
    void *state;                // the format's own
    hdst__source **parts;       // of a concatenation, else NULL
    size_t part_count;
};

typedef struct hdst__lines_options {
    bool strip_returns;             // a \r before the end of a line is no part of it
    uint32_t longest;               // bytes of a line, at most; a longer one is an error. 0: what a text can have
    const hdst__cancel *cancel;     // polled while rows are counted; outlives the source. NULL: never
    hdst__runtime *runtime;  // in which temporary files count; outlives the source. NULL: nowhere
} hdst__lines_options;

// All return NULL with the error filled on failure. Paths are copied; memory is not and must outlive the source.
// columns: names or 0-based numbers and ranges, comma-separated ("x,y", "0,2-4"); NULL: all.
// cancel: polled while rows are counted, so it must outlive the source; NULL: never.
hdst__source *hdst__source_open(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel,
                                hdst_error *error); // by the name's ending; a folder as its files
hdst__source *hdst__source_npy(const hdst__allocator *allocator, const char *path, const char *columns, hdst_error *error);
hdst__source *hdst__source_csv(const hdst__allocator *allocator, const char *path, const char *columns, const hdst__cancel *cancel, hdst_error *error);
// Lines of texts (io/text_input.h says which files paths name): columns `text`; `offset` (uint64, of its first byte in the file, unpacked), `source` (uint32,
// the file's number in the list), `line` (uint64, from 1 in each file). A record that is one text, of any name, gets the first. What is unpacked counts in
// the runtime (NULL: nowhere).
hdst__source *hdst__source_lines(const hdst__allocator *allocator, const char *const *paths, size_t count, const hdst__lines_options *options,
                                 hdst_error *error);
hdst__source *hdst__source_raw(const hdst__allocator *allocator, const char *path, const hdst__cancel *cancel, hdst_error *error);
hdst__source *hdst__source_memory(const hdst__allocator *allocator, const void *rows, uint64_t count, uint64_t row_bytes, hdst_error *error);
hdst__source *hdst__source_floats(const hdst__allocator *allocator, const float *table, uint64_t rows, uint32_t columns, hdst_error *error);
hdst__source *hdst__source_range(const hdst__allocator *allocator, int64_t begin, int64_t end, hdst_error *error);
bool hdst__source_is_range(const hdst__source *source, int64_t *begin);     // of a range: its first number
// Writes records as C structs; returns false to fail, with `message` (HDST__CALLBACK_MESSAGE bytes) filled or left empty.
enum { HDST__CALLBACK_MESSAGE = 512 };
typedef bool (*hdst__source_callback)(uint64_t first, uint64_t count, void *records, char *message, void *user);
hdst__source *hdst__source_from_callback(const hdst__allocator *allocator, uint64_t count, hdst__source_callback fill, void *user, bool concurrent,
                                          hdst_error *error);
// The same without a number: writes up to `count` records and says how many (*given); *ended: there are none behind them. It may be called again for the same
// records, also for ones behind the end. Records may be read before they are counted: those behind the end are then zeroes (open_end.h).
typedef bool (*hdst__uncounted_callback)(uint64_t first, uint64_t count, void *records, uint64_t *given, bool *ended, char *message, void *user);
hdst__source *hdst__source_from_uncounted_callback(const hdst__allocator *allocator, hdst__uncounted_callback fill, void *user, bool concurrent,
                                                   const hdst__cancel *cancel, hdst_error *error);
// Sources of equal columns one after another. Takes the parts over, also on failure.
hdst__source *hdst__source_concat(const hdst__allocator *allocator, hdst__source **parts, size_t count, hdst_error *error);
// Of one of several that are read together, number `number` of them: it keeps no file open where there are many.
void hdst__source_is_one_of_many(hdst__source *source, size_t number);
void hdst__source_close(hdst__source *source);

// Finds source->rows, unless they are known: a text file is gone through, by all threads of the pool (NULL: the calling one), a callback that does not
// tell is asked for all that it has not given yet, once the source was bound.
hdst_status hdst__source_count(hdst__source *source, hdst__thread_pool *threads, hdst_error *error);

// Of one with an open end that is read without being counted: before records are read, by the threads of the pool too (NULL: the calling one). It may find
// the end, which of short texts costs nothing.
hdst_status hdst__source_begin(hdst__source *source, hdst__thread_pool *threads, hdst_error *error);

// Of one with an open end that was bound: asks for this record, of which the end then knows whether it is there.
hdst_status hdst__source_look(hdst__source *source, uint64_t record, hdst_error *error);

// Whether they are known without going through anything.
bool hdst__source_knows_rows(const hdst__source *source);

// For formats: a source with its name copied; NULL when out of memory.
hdst__source *hdst__source_new(const hdst__allocator *allocator, const hdst__source_format *format, const char *name, hdst_error *error);
bool hdst__source_add_column(hdst__source *source, const char *name, hdst__kind kind, uint64_t offset, uint64_t count);

// Matches columns to the record's fields: in order when the columns were chosen; else by name when every field has a column of its
// name; else in order, when no field has one and there are as many numbers as in the record.
// The source must outlive it. Rows are not counted by it; where they were not, that has to be done before the source is read, unless it has an open end.
hdst_status hdst__source_bind_uncounted(hdst__source *source, const hdst__record *record, hdst__bound_source **bound, hdst_error *error);
// The same, and counts.
hdst_status hdst__source_bind(hdst__source *source, const hdst__record *record, hdst__bound_source **bound, hdst_error *error);
void hdst__source_unbind(hdst__bound_source *bound);
// Whether it is read by a format that can look for a text.
bool hdst__bound_source_finds(const hdst__bound_source *bound);
// The same source bound to the same record, of which those alone matter that have a text (`search`, which outlives it and may change between runs): others may
// come as records of nothing, an empty text and zeroes, in their place.
hdst_status hdst__source_bind_search(const hdst__bound_source *as, const hdst__line_search *search, hdst__bound_source **bound, hdst_error *error);
// Rows that do not parse are left out from now on, where the format can do that; before rows are counted.
void hdst__bound_source_skip_malformed(hdst__bound_source *bound);
bool hdst__bound_source_leaves_out(const hdst__bound_source *bound);    // or may
// Counts the records of the bound source: its source's rows, less those that are left out. Once. Errors: as hdst__source_count.
hdst_status hdst__bound_source_count(hdst__bound_source *bound, hdst__thread_pool *threads, hdst_error *error);
uint64_t hdst__bound_source_records(const hdst__bound_source *bound);           // once they are counted
// How many rows are left out, and why the first of them is (unless there are none).
uint64_t hdst__bound_source_left_out(const hdst__bound_source *bound, hdst_error *first);
// As hdst__reader.fill; user is the hdst__bound_source.
hdst_status hdst__bound_source_fill(void *user, uint64_t first, uint64_t count, const hdst__storage *storage, void *const *buffers, uint64_t to_first,
                                    hdst_error *error);
// Where the rows lie in memory as the record's C structs to the byte, aligned as they; NULL: they do not.
const void *hdst__bound_source_rows(const hdst__bound_source *bound);
// Whether it may be called from several threads at once.
bool hdst__bound_source_concurrent(const hdst__bound_source *bound);
// Of a record's texts, about.
uint64_t hdst__bound_source_text_bytes(const hdst__bound_source *bound);
// Whether it brings the bytes of texts, for which fill wants a place (storage->text).
bool hdst__bound_source_makes_texts(const hdst__bound_source *bound);
// Which leaves take what of lines, where its records are lines that may be made elsewhere (storage->lines); NULL: fill writes them.
const hdst__line_leaves *hdst__bound_source_lines(const hdst__bound_source *bound);
// "float64 converted to float32" or NULL, decided by the binding.
const char *hdst__bound_source_note(const hdst__bound_source *bound);

#endif
