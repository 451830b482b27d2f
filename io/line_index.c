// SPDX-License-Identifier: Apache-2.0
// Where lines are (io/line_index.h).
#include "io/line_index.h"

#include "base/costs_host.h"
#include "io/newlines.h"

#include <stdatomic.h>
#include <string.h>

typedef struct file_lines {
    uint64_t before, lines;     // of files in front; its own
    uint64_t first_block, blocks;
} file_lines;

struct hdst__line_index {
    const hdst__allocator *allocator;
    const hdst__text_input *input;
    const hdst__cancel *cancel;
    uint64_t block_bytes;
    file_lines *file;
    size_t files, current;      // current: the first one that is not counted to its end
    uint64_t inside;            // line ends of that one that were counted
    uint64_t *ends;             // of each block of each file: line ends in front of it in the file; while they are counted, in it
    uint64_t blocks;
    // How far it goes, for those who ask while it grows: what lies behind that may be written meanwhile.
    _Atomic uint64_t counted;   // blocks
    _Atomic uint64_t begun;     // files of which `before` is known
    _Atomic uint64_t lines;
};

static uint64_t block_length(const hdst__line_index *index, size_t file, uint64_t block)
{
    const uint64_t left = hdst__text_input_bytes(index->input, file) - block * index->block_bytes;
    return left < index->block_bytes ? left : index->block_bytes;
}

// --- Counting ---

typedef struct counting {
    hdst__line_index *index;
    uint64_t begin, end;        // blocks
    hdst_error *error;          // of the first one that failed
    _Atomic uint64_t failed;    // its number, or UINT64_MAX
    pthread_mutex_t mutex;
} counting;

// The file that has a block: the last that begins at it or in front of it and is not empty.
static size_t file_of_block(const hdst__line_index *index, uint64_t block)
{
    size_t low = 0, high = index->files;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->file[middle].first_block <= block) low = middle;
        else high = middle;
    }
    return low;
}

// Blocks from `block` on that are read at once: of one file, and as many as there is room for. *count: at most so many, then how many.
static hdst_status count_blocks(hdst__line_index *index, char *bytes, uint64_t room, uint64_t block, uint64_t *count, hdst_error *error)
{
    const size_t file = file_of_block(index, block);
    file_lines *lines = &index->file[file];
    const uint64_t number = block - lines->first_block, begin = number * index->block_bytes, left = hdst__text_input_bytes(index->input, file) - begin;
    const uint64_t most = room / index->block_bytes < *count ? room / index->block_bytes * index->block_bytes : *count * index->block_bytes;
    const uint64_t length = left < most ? left : most;
    *count = (length + index->block_bytes - 1) / index->block_bytes;
    hdst_status status = hdst__cancel_check(index->cancel, 0, 0, error);
    if (status == HDST_OK) status = hdst__text_input_read(index->input, file, begin, bytes, length, error);
    for (uint64_t i = 0; i < *count && status == HDST_OK; i++)
        index->ends[block + i] = hdst__newlines_count(bytes + i * index->block_bytes, block_length(index, file, number + i));
    // A last line without an end counts as if it had one.
    if (status == HDST_OK && length == left) lines->lines = bytes[length - 1] != '\n';
    return status;
}

static void fail(counting *run, uint64_t group, const hdst_error *error)
{
    pthread_mutex_lock(&run->mutex);
    if (group < run->failed) {
        run->failed = group;
        if (run->error) *run->error = *error;
    }
    pthread_mutex_unlock(&run->mutex);
}

static void count_group(void *user, uint64_t group)
{
    counting *run = user;
    hdst__line_index *index = run->index;
    const uint64_t begin = run->begin + group * HDST__HOST_TEXT_GROUP_BLOCKS, left = run->end - begin;
    const uint64_t count = left < HDST__HOST_TEXT_GROUP_BLOCKS ? left : HDST__HOST_TEXT_GROUP_BLOCKS;
    hdst_error error = HDST_ERROR_INIT;
    if (group > run->failed) return;
    const uint64_t room = index->block_bytes < HDST__HOST_TEXT_READ_BYTES ? HDST__HOST_TEXT_READ_BYTES : index->block_bytes;
    char *bytes = hdst__alloc(index->allocator, room);
    hdst_status status = bytes ? HDST_OK : hdst__error_memory(&error, "the lines of a text");
    for (uint64_t i = 0, some; i < count && status == HDST_OK; i += some) {
        some = count - i;
        status = count_blocks(index, bytes, room, begin + i, &some, &error);
    }
    hdst__free(index->allocator, bytes);
    if (status != HDST_OK) fail(run, group, &error);
}

// --- Growing ---

static void publish(hdst__line_index *index, uint64_t counted)
{
    const bool whole = index->current == index->files;
    const file_lines *file = &index->file[whole ? index->files - 1 : index->current];
    atomic_store(&index->begun, whole ? index->files : index->current + 1);
    atomic_store(&index->counted, counted);
    atomic_store(&index->lines, file->before + (whole ? file->lines : index->inside));
}

// Files without bytes have no block that would end them.
static void end_files(hdst__line_index *index)
{
    do {
        file_lines *file = &index->file[index->current++];
        file->lines = index->inside;
        index->inside = 0;
        if (index->current < index->files) index->file[index->current].before = file->before + file->lines;
    } while (index->current < index->files && index->file[index->current].blocks == 0);
}

// The next block that was not counted yet has so many line ends; `open`: behind the last of them, where it is a file's last block, is a line without one.
static void add_block(hdst__line_index *index, uint64_t ends, bool open)
{
    const uint64_t block = atomic_load(&index->counted);
    const file_lines *file = &index->file[index->current];
    index->ends[block] = index->inside;
    index->inside += ends;
    if (block + 1 == file->first_block + file->blocks) {
        index->inside += open;
        end_files(index);
    }
    publish(index, block + 1);
}

static void add_counted(hdst__line_index *index, uint64_t end)
{
    for (uint64_t block = atomic_load(&index->counted); block < end; block++) add_block(index, index->ends[block], index->file[index->current].lines);
}

// Blocks up to `end`, by all threads.
static hdst_status count_to(hdst__line_index *index, uint64_t end, hdst__thread_pool *threads, hdst_error *error)
{
    hdst_error first = HDST_ERROR_INIT;
    counting run = {.index = index, .error = &first, .failed = UINT64_MAX, .begin = atomic_load(&index->counted), .end = end};
    const uint64_t groups = (end - run.begin + HDST__HOST_TEXT_GROUP_BLOCKS - 1) / HDST__HOST_TEXT_GROUP_BLOCKS;
    pthread_mutex_init(&run.mutex, NULL);
    if (threads) hdst__thread_pool_run(threads, groups, count_group, &run);
    else for (uint64_t i = 0; i < groups; i++) count_group(&run, i);
    pthread_mutex_destroy(&run.mutex);
    if (first.code && error) *error = first;
    if (!first.code) add_counted(index, end);
    return first.code;
}

bool hdst__line_index_is_whole(const hdst__line_index *index) { return atomic_load(&index->counted) == index->blocks; }

hdst_status hdst__line_index_grow(hdst__line_index *index, uint64_t lines, hdst__thread_pool *threads, hdst_error *error)
{
    uint64_t some = threads ? hdst__thread_pool_size(threads) * HDST__HOST_TEXT_GROUP_BLOCKS : HDST__HOST_TEXT_GROUP_BLOCKS;
    hdst_status status = HDST_OK;
    if (lines == UINT64_MAX) some = index->blocks;
    while (status == HDST_OK && !hdst__line_index_is_whole(index) && hdst__line_index_lines(index) < lines) {
        const uint64_t counted = atomic_load(&index->counted), left = index->blocks - counted;
        status = count_to(index, counted + (left < some ? left : some), threads, error);
        if (some <= index->blocks) some *= 2;
    }
    return status;
}

void hdst__line_index_note(hdst__line_index *index, const hdst__line_place *from, uint64_t end, const uint64_t *ends, bool open)
{
    const file_lines *file = &index->file[from->file];
    const uint64_t bytes = hdst__text_input_bytes(index->input, from->file), first = from->offset / index->block_bytes;
    for (uint64_t block = first; block < file->blocks; block++) {
        const uint64_t behind = (block + 1) * index->block_bytes, counted = atomic_load(&index->counted);
        if ((behind < bytes ? behind : bytes) > end || file->first_block + block > counted) return;
        if (file->first_block + block < counted) continue;
        add_block(index, ends[block - first] + (block == first ? from->line - index->inside : 0), open);
    }
}

static hdst_status lay_out(hdst__line_index *index, hdst_error *error)
{
    index->file = hdst__alloc_zero(index->allocator, index->files * sizeof *index->file);
    if (!index->file) return hdst__error_memory(error, "the lines of a text");
    for (size_t i = 0; i < index->files; i++) {
        const uint64_t bytes = hdst__text_input_bytes(index->input, i);
        index->file[i].first_block = index->blocks;
        index->file[i].blocks = bytes / index->block_bytes + (bytes % index->block_bytes > 0);
        index->blocks += index->file[i].blocks;
    }
    index->ends = hdst__alloc(index->allocator, index->blocks * sizeof *index->ends);
    if (!index->ends) return hdst__error_memory(error, "the lines of a text");
    if (index->files && index->file[0].blocks == 0) end_files(index);
    if (index->files) publish(index, 0);
    return HDST_OK;
}

static uint64_t choose_block(const hdst__text_input *input)
{
    uint64_t bytes = 0, block = HDST__HOST_TEXT_BLOCK_BYTES;
    for (size_t i = 0; i < hdst__text_input_files(input); i++) bytes += hdst__text_input_bytes(input, i);
    while (bytes / block > HDST__HOST_TEXT_MOST_BLOCKS) block *= 2;
    return block;
}

hdst_status hdst__line_index_begin(const hdst__text_input *input, const hdst__allocator *allocator, uint64_t block_bytes, const hdst__cancel *cancel,
                                   hdst__line_index **out, hdst_error *error)
{
    hdst__line_index *index = hdst__alloc_zero(allocator, sizeof *index);
    *out = NULL;
    if (!index) return hdst__error_memory(error, "the lines of a text");
    *index = (hdst__line_index){.allocator = allocator, .input = input, .cancel = cancel, .files = hdst__text_input_files(input),
                                .block_bytes = block_bytes ? block_bytes : choose_block(input)};
    hdst_status status = lay_out(index, error);
    if (status == HDST_OK) *out = index;
    else hdst__line_index_free(index);
    return status;
}

hdst_status hdst__line_index_make(const hdst__text_input *input, const hdst__allocator *allocator, uint64_t block_bytes, hdst__thread_pool *threads,
                                  const hdst__cancel *cancel, hdst__line_index **out, hdst_error *error)
{
    hdst_status status = hdst__line_index_begin(input, allocator, block_bytes, cancel, out, error);
    if (status == HDST_OK) status = hdst__line_index_grow(*out, UINT64_MAX, threads, error);
    if (status == HDST_OK) return HDST_OK;
    hdst__line_index_free(*out);
    *out = NULL;
    return status;
}

void hdst__line_index_free(hdst__line_index *index)
{
    if (!index) return;
    hdst__free(index->allocator, index->file);
    hdst__free(index->allocator, index->ends);
    hdst__free(index->allocator, index);
}

// --- Asking ---

uint64_t hdst__line_index_lines(const hdst__line_index *index) { return atomic_load(&index->lines); }
uint64_t hdst__line_index_counted_bytes(const hdst__line_index *index) { return atomic_load(&index->counted) * index->block_bytes; }
uint64_t hdst__line_index_block_bytes(const hdst__line_index *index) { return index->block_bytes; }

static bool is_counted(const hdst__line_index *index, size_t file)
{
    return file + 1 < atomic_load(&index->begun) || hdst__line_index_is_whole(index);
}

uint64_t hdst__line_index_file_lines(const hdst__line_index *index, size_t file)
{
    return is_counted(index, file) ? index->file[file].lines : UINT64_MAX;
}

// The file that has the line: the last one that begins at it or in front of it, and has lines.
static size_t file_of_line(const hdst__line_index *index, uint64_t number)
{
    size_t low = 0, high = atomic_load(&index->begun);
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->file[middle].before <= number) low = middle;
        else high = middle;
    }
    return low;
}

// The last block of the file, of those that were counted, with fewer than `ends` line ends in front of it.
static uint64_t block_of_end(const hdst__line_index *index, const file_lines *file, uint64_t ends)
{
    const uint64_t counted = atomic_load(&index->counted) - file->first_block;
    uint64_t low = 0, high = counted < file->blocks ? counted : file->blocks;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (index->ends[file->first_block + middle] < ends) low = middle;
        else high = middle;
    }
    return low;
}

// Behind line end number `ends` of a file, which it has.
static hdst_status find_end(const hdst__line_index *index, size_t file, uint64_t ends, uint64_t *offset, hdst_error *error)
{
    const uint64_t block = block_of_end(index, &index->file[file], ends), length = block_length(index, file, block);
    char *bytes = hdst__alloc(index->allocator, length);
    if (!bytes) return hdst__error_memory(error, "the lines of a text");
    hdst_status status = hdst__text_input_read(index->input, file, block * index->block_bytes, bytes, length, error);
    const uint64_t wanted = ends - index->ends[index->file[file].first_block + block];
    if (status == HDST_OK) *offset = block * index->block_bytes + hdst__newlines_find(bytes, length, wanted);
    hdst__free(index->allocator, bytes);
    return status;
}

hdst_status hdst__line_index_find(const hdst__line_index *index, uint64_t number, hdst__line_place *place, hdst_error *error)
{
    const size_t file = file_of_line(index, number);
    const file_lines *lines = &index->file[file];
    *place = (hdst__line_place){file, 0, number - lines->before};
    if (is_counted(index, file) && place->line >= lines->lines) place->offset = hdst__text_input_bytes(index->input, file);
    else if (place->line) return find_end(index, file, place->line, &place->offset, error);
    return HDST_OK;
}

// Where the block with the line begins, counted over all files.
static uint64_t roughly(const hdst__line_index *index, uint64_t number)
{
    const size_t file = file_of_line(index, number);
    const file_lines *lines = &index->file[file];
    const uint64_t line = number - lines->before;
    const uint64_t block = line >= lines->lines ? lines->blocks : line ? block_of_end(index, lines, line) : 0;
    return (lines->first_block + block) * index->block_bytes;
}

uint64_t hdst__line_index_bytes(const hdst__line_index *index, uint64_t first, uint64_t count)
{
    return roughly(index, first + count) - roughly(index, first) + 2 * index->block_bytes;
}

// --- Without an index ---

hdst_status hdst__line_begins(const hdst__text_input *input, size_t file, uint64_t offset, uint64_t *begins, hdst_error *error)
{
    enum { LOOK_BYTES = 4096 };
    const uint64_t end = hdst__text_input_bytes(input, file);
    char bytes[LOOK_BYTES];
    *begins = offset < end ? offset : end;
    for (uint64_t at = offset - 1; offset && at < end; at += LOOK_BYTES) {
        const uint64_t left = end - at, length = left < LOOK_BYTES ? left : LOOK_BYTES;
        hdst_status status = hdst__text_input_read(input, file, at, bytes, length, error);
        if (status != HDST_OK) return status;
        const char *newline = memchr(bytes, '\n', length);
        *begins = newline ? at + (uint64_t)(newline - bytes) + 1 : end;
        if (newline) break;
    }
    return HDST_OK;
}
